//! How many numbers of a list are smaller.

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
