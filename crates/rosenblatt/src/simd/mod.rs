//! What the processor can do beyond plain code: the only place for `unsafe` but for the mapping of files.
#![allow(unsafe_code, reason = "intrinsics are unsafe; each is wrapped here with its proof")]

mod bytes;
mod columns;
mod distances;
mod elementary;
mod fused;
mod panels;
mod products;
mod ranks;
mod text;
mod tiles;

pub use bytes::{FOUR, LINE, has_wide_products, multiply_bytes};
pub use columns::Columns;
pub use distances::{Absolute, Apart, Chi, distances, total};
pub use elementary::{cos_turns, exp, exp_double, power, tanh};
pub use fused::{Arithmetic, FusedLoop, Plain, fused};
pub use panels::{PANEL, Sums, multiply_panel};
pub use products::{LANES, ROWS, most_lanes, multiply, pair};
pub use ranks::{RANKED, ranks};
pub use text::{Text, TextLoop, over_text};
pub use tiles::{BATCH, Line, Panel, SIDE, add_products};

/// Asks for the cache lines of a slice ahead of its use. Changes nothing but time.
#[inline]
pub fn prefetch<T>(slice: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        const LINE: usize = 64;
        for line in slice.chunks(LINE / size_of::<T>().clamp(1, LINE)) {
            // SAFETY: a prefetch reads nothing; any address will do, and this one is inside the slice.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slice;
}

/// A loop that gains from wide registers. Closures will not do: `run` is to be `#[inline(always)]`, or it is compiled apart.
pub trait Loop {
    /// What the loop gives.
    type Output;
    /// The loop.
    fn run(self) -> Self::Output;
}

/// Runs a loop compiled for wide registers where the processor has them. Each product and sum is rounded as in plain code, so the
/// results are the same; `mul_add` is an instruction there, and not a call.
#[inline]
pub fn widely<L: Loop>(work: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn with_avx2<L: Loop>(work: L) -> L::Output {
            work.run()
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has just said that it knows these instructions.
            return unsafe { with_avx2(work) };
        }
    }
    work.run()
}

/// The same with the widest registers there are, for loops that do much with each number.
#[inline]
pub fn widest<L: Loop>(work: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f")]
        fn with_avx512<L: Loop>(work: L) -> L::Output {
            work.run()
        }
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has just said that it knows these instructions.
            return unsafe { with_avx512(work) };
        }
    }
    widely(work)
}
