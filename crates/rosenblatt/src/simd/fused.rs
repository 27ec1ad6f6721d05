//! Loops whose products are rounded together with the sums they are added to, where the processor can do that.

/// How a product is added to a sum.
pub trait Arithmetic {
    /// sum + a·b
    fn add_product(sum: f64, a: f64, b: f64) -> f64;
}

/// Rounded twice.
pub struct Plain;

impl Arithmetic for Plain {
    #[inline(always)]
    fn add_product(sum: f64, a: f64, b: f64) -> f64 {
        sum + a * b
    }
}

/// Rounded once. Without the instruction for it this takes a hundred times as long.
#[cfg(target_arch = "x86_64")]
struct Fused;

#[cfg(target_arch = "x86_64")]
impl Arithmetic for Fused {
    #[inline(always)]
    fn add_product(sum: f64, a: f64, b: f64) -> f64 {
        a.mul_add(b, sum)
    }
}

/// A loop of sums of products that gains from wide registers. `run` is to be `#[inline(always)]`, or it is compiled apart.
pub trait FusedLoop {
    /// The loop.
    fn run<A: Arithmetic>(self);
}

/// Runs a loop compiled for wide registers and fused operations where the processor has them. The last bits of the results depend on that, but on nothing else.
#[inline]
pub fn fused<L: FusedLoop>(work: L) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn with_fma<L: FusedLoop>(work: L) {
            work.run::<Fused>();
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has just said that it knows these instructions.
            return unsafe { with_fma(work) };
        }
    }
    work.run::<Plain>();
}
