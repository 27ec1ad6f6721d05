//! What the processor can do beyond plain code: the only place for `unsafe` but for the mapping of files.
#![allow(unsafe_code, reason = "intrinsics are unsafe; each is wrapped here with its proof")]

/// Asks for the cache lines of a slice ahead of its use. Changes nothing but time.
#[inline]
pub fn prefetch<T>(slice: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE: usize = 64;
        for line in slice.chunks(LINE / size_of::<T>().clamp(1, LINE)) {
            // SAFETY: a prefetch reads nothing; any address will do, and this one is inside the slice.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
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
/// results are the same.
#[inline]
pub fn widely<L: Loop>(work: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn with_avx2<L: Loop>(work: L) -> L::Output {
            work.run()
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has just said that it knows these instructions.
            return unsafe { with_avx2(work) };
        }
    }
    work.run()
}

/// Numbers that are ranked at once: four wide registers of them, and four of ranks.
pub const RANKED: usize = 32;

/// How many of `all` are smaller than each of `some`.
#[inline]
pub fn ranks(some: &[u32; RANKED], all: &[u32]) -> [u32; RANKED] {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has just said that it knows these instructions.
        return unsafe { avx2::ranks(some, all) };
    }
    plain_ranks(some, all)
}

fn plain_ranks(some: &[u32; RANKED], all: &[u32]) -> [u32; RANKED] {
    some.map(|number| all.iter().map(|&other| u32::from(other < number)).sum())
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::RANKED;
    use std::arch::x86_64::*;

    /// Written out, for the compiler does not keep the ranks in registers: three times as fast.
    #[target_feature(enable = "avx2")]
    pub(super) fn ranks(some: &[u32; RANKED], all: &[u32]) -> [u32; RANKED] {
        // There are only signed comparisons; with the highest bit turned they order numbers without sign.
        let turned = |number: u32| (number ^ 0x8000_0000).cast_signed();
        let some = some.map(turned);
        let (some, _) = some.as_chunks::<8>();
        // SAFETY: each is eight numbers of 32 bits; the load needs no alignment.
        let some: [__m256i; 4] =
            std::array::from_fn(|k| unsafe { _mm256_loadu_si256(some[k].as_ptr().cast()) });
        let mut ranks = [_mm256_setzero_si256(); 4];
        for &other in all {
            let other = _mm256_set1_epi32(turned(other));
            for (rank, &some) in ranks.iter_mut().zip(&some) {
                // All bits, which is −1, where it is greater.
                *rank = _mm256_sub_epi32(*rank, _mm256_cmpgt_epi32(some, other));
            }
        }
        let mut out = [0; RANKED];
        for (out, rank) in out.as_chunks_mut::<8>().0.iter_mut().zip(ranks) {
            // SAFETY: there is room for eight numbers of 32 bits; the store needs no alignment.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), rank) };
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn wide_ranks_are_plain_ranks(
            some in prop::collection::vec(any::<u32>(), RANKED),
            all in prop::collection::vec(any::<u32>(), 0..100),
        ) {
            let mut some: [u32; RANKED] = some.try_into().unwrap_or([7; RANKED]);
            let shared = all.len().min(RANKED / 2);
            some[..shared].copy_from_slice(&all[..shared]);
            prop_assert_eq!(ranks(&some, &all), plain_ranks(&some, &all));
        }
    }
}
