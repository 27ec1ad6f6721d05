//! Digits in text, many at a time.

/// A way to look at text. All ways see the same.
pub trait Text: Copy {
    /// Which bytes are no digits: a bit for each, the lowest for the first.
    fn no_digits(self, text: &[u8; 32]) -> u32;
    /// Which bytes may end a word: a colon, a bar, a space or what is below it.
    fn ends(self, text: &[u8; 32]) -> u32;
    /// The number that sixteen digits are; of no meaning where a byte is no digit.
    fn number(self, digits: &[u8; 16]) -> u64;
}

/// A loop over text; `run` is to be `#[inline(always)]`, or it is compiled apart.
pub trait TextLoop {
    /// What the loop gives.
    type Output;
    /// The loop.
    fn run(self, look: impl Text) -> Self::Output;
}

/// Runs a loop with what the processor has for text.
#[inline]
pub fn over_text<L: TextLoop>(work: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(look) = avx2::Avx2::found() {
        return look.run(work);
    }
    work.run(Plain)
}

/// Any processor.
#[derive(Clone, Copy)]
struct Plain;

impl Text for Plain {
    #[inline(always)]
    fn no_digits(self, text: &[u8; 32]) -> u32 {
        mask(text, |byte| !byte.is_ascii_digit())
    }

    #[inline(always)]
    fn ends(self, text: &[u8; 32]) -> u32 {
        mask(text, |byte| byte <= b' ' || byte == b':' || byte == b'|')
    }

    #[inline(always)]
    fn number(self, digits: &[u8; 16]) -> u64 {
        digits.iter().fold(0, |sum: u64, byte| sum.wrapping_mul(10).wrapping_add(u64::from(byte & 15)))
    }
}

fn mask(text: &[u8; 32], is: impl Fn(u8) -> bool) -> u32 {
    text.iter().rev().fold(0, |mask, &byte| mask << 1 | u32::from(is(byte)))
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Text, TextLoop};
    use std::arch::x86_64::*;

    /// Exists only where the processor has AVX2 and BMI.
    #[derive(Clone, Copy)]
    pub(super) struct Avx2(());

    impl Avx2 {
        #[inline]
        pub(super) fn found() -> Option<Avx2> {
            let has = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2");
            has.then_some(Avx2(()))
        }

        #[inline]
        pub(super) fn run<L: TextLoop>(self, work: L) -> L::Output {
            #[target_feature(enable = "avx2,bmi1,bmi2")]
            fn inside<L: TextLoop>(look: Avx2, work: L) -> L::Output {
                work.run(look)
            }
            // SAFETY: there is an `Avx2`, so the processor knows these instructions.
            unsafe { inside(self, work) }
        }
    }

    impl Text for Avx2 {
        #[inline(always)]
        fn no_digits(self, text: &[u8; 32]) -> u32 {
            // SAFETY: as in `run`.
            unsafe { no_digits(text) }
        }

        #[inline(always)]
        fn ends(self, text: &[u8; 32]) -> u32 {
            // SAFETY: as in `run`.
            unsafe { ends(text) }
        }

        #[inline(always)]
        fn number(self, digits: &[u8; 16]) -> u64 {
            // SAFETY: as in `run`.
            unsafe { number(digits) }
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    fn no_digits(text: &[u8; 32]) -> u32 {
        // SAFETY: there are 32 bytes, and the load needs no alignment.
        let text = unsafe { _mm256_loadu_si256(text.as_ptr().cast()) };
        let values = _mm256_xor_si256(text, _mm256_set1_epi8(0x30));
        let digits = _mm256_cmpeq_epi8(_mm256_min_epu8(values, _mm256_set1_epi8(9)), values);
        !_mm256_movemask_epi8(digits).cast_unsigned()
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    fn ends(text: &[u8; 32]) -> u32 {
        // SAFETY: there are 32 bytes, and the load needs no alignment.
        let text = unsafe { _mm256_loadu_si256(text.as_ptr().cast()) };
        let is = |mark: u8| _mm256_cmpeq_epi8(text, _mm256_set1_epi8(mark.cast_signed()));
        let low = _mm256_cmpeq_epi8(_mm256_min_epu8(text, _mm256_set1_epi8(0x20)), text);
        _mm256_movemask_epi8(_mm256_or_si256(low, _mm256_or_si256(is(b':'), is(b'|')))).cast_unsigned()
    }

    /// Of ones tens, of these hundreds, of these all (Muła; Lemire 2018 does the same in plain registers).
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    fn number(digits: &[u8; 16]) -> u64 {
        // SAFETY: there are sixteen bytes, and the load needs no alignment.
        let digits = unsafe { _mm_loadu_si128(digits.as_ptr().cast()) };
        let ones = _mm_and_si128(digits, _mm_set1_epi8(15));
        let twos = _mm_maddubs_epi16(ones, _mm_set1_epi16(1 << 8 | 10));
        let fours = _mm_madd_epi16(twos, _mm_set1_epi32(1 << 16 | 100));
        let eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10_000));
        let both = _mm_cvtsi128_si64(eights).cast_unsigned();
        (both & 0xFFFF_FFFF) * 100_000_000 + (both >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Look([u8; 32]);

    impl TextLoop for Look {
        type Output = (u32, u32, u64);
        #[inline(always)]
        fn run(self, look: impl Text) -> (u32, u32, u64) {
            let digits = std::array::from_fn(|k| b'0' + self.0[k] % 10);
            (look.no_digits(&self.0), look.ends(&self.0), look.number(&digits))
        }
    }

    proptest! {
        #[test]
        fn every_processor_sees_the_same(bytes in any::<[u8; 32]>(), text in "[0-9/:. |\\t!]{32}") {
            let text = *text.as_bytes().first_chunk().unwrap_or(&bytes);
            for text in [bytes, text] {
                prop_assert_eq!(over_text(Look(text)), Look(text).run(Plain));
            }
        }
    }
}
