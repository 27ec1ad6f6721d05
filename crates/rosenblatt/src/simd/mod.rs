//! What the processor can do beyond plain code: the only place for `unsafe` in this crate.
#![allow(unsafe_code, reason = "intrinsics are unsafe; each is wrapped here with its proof")]

/// Asks for the cache lines of a slice ahead of its use. Changes nothing but time.
#[inline]
pub(crate) fn prefetch<T>(slice: &[T]) {
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
