//! Products of rows of bytes, for many pairs of rows at a time: whole numbers, and so exact whatever the order.
//!
//! Sums are taken modulo 2³²: who knows that the end result fits need not care what is between.

use super::LANES;

/// Columns that are multiplied at a time.
pub const FOUR: usize = 4;

/// Bytes of a panel for four columns.
pub const LINE: usize = FOUR * LANES;

/// `sums[r·stride + p·LANES + l] += Σₖ rows[r][k] · panels[p][(k / 4)·LINE + 4·l + k % 4]`, for up to two panels.
///
/// Panels are as long as the rows, whose length is a multiple of four, sixteen times.
#[inline]
pub fn multiply_bytes(rows: &[&[i8]], panels: &[&[u8]], sums: &mut [i32], stride: usize) {
    let fours = panels.first().map_or(0, |panel| panel.len() / LINE);
    assert!(panels.iter().all(|panel| panel.len() == fours * LINE), "panels are as long as each other");
    assert!(rows.iter().all(|row| row.len() == fours * FOUR), "rows are as long as the panels");
    let width = panels.len() * LANES;
    assert!(
        stride >= width && sums.len() + stride >= rows.len() * stride + width,
        "there is room for all sums"
    );
    #[cfg(target_arch = "x86_64")]
    if has_wide_products() {
        // SAFETY: the processor has just said that it knows these instructions; lengths have been checked.
        return unsafe { vnni::multiply(rows, panels, sums, stride) };
    }
    for (p, panel) in panels.iter().enumerate() {
        let sums = &mut sums[p * LANES..];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: as above.
            unsafe { avx2::multiply(rows, panel, sums, stride) };
            continue;
        }
        plain_multiply(rows, panel, sums, stride);
    }
}

/// Whether products of bytes take a quarter of the time that products of numbers take.
#[inline]
pub fn has_wide_products() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

fn plain_multiply(rows: &[&[i8]], panel: &[u8], sums: &mut [i32], stride: usize) {
    for (r, row) in rows.iter().enumerate() {
        let sums = &mut sums[r * stride..][..LANES];
        for (u, lanes) in row.as_chunks::<FOUR>().0.iter().zip(panel.chunks_exact(LINE)) {
            for (sum, v) in sums.iter_mut().zip(lanes.as_chunks::<FOUR>().0) {
                let products = u.iter().zip(v).map(|(&u, &v)| i32::from(u) * i32::from(v));
                *sum = sum.wrapping_add(products.sum());
            }
        }
    }
}

/// Sixteen lanes of four products each in an instruction.
#[cfg(target_arch = "x86_64")]
mod vnni {
    use super::{FOUR, LANES, LINE};
    use crate::simd::ROWS;
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512vnni")]
    pub(super) fn multiply(rows: &[&[i8]], panels: &[&[u8]], sums: &mut [i32], stride: usize) {
        match *panels {
            [a, b] => by_rows(rows, [a, b], sums, stride),
            _ => panels.iter().enumerate().for_each(|(p, panel)| {
                by_rows(rows, [panel], &mut sums[p * LANES..], stride);
            }),
        }
    }

    #[target_feature(enable = "avx512f,avx512vnni")]
    fn by_rows<const P: usize>(rows: &[&[i8]], panels: [&[u8]; P], sums: &mut [i32], stride: usize) {
        const FEW: usize = 4;
        let (groups, rest) = rows.as_chunks::<ROWS>();
        let (fours, last) = rest.as_chunks::<FEW>();
        let mut first = 0;
        for &group in groups {
            tile(group, panels, &mut sums[first * stride..], stride);
            first += ROWS;
        }
        for &four in fours {
            tile(four, panels, &mut sums[first * stride..], stride);
            first += FEW;
        }
        for &row in last {
            tile([row], panels, &mut sums[first * stride..], stride);
            first += 1;
        }
    }

    #[target_feature(enable = "avx512f,avx512vnni")]
    fn tile<const R: usize, const P: usize>(
        rows: [&[i8]; R],
        panels: [&[u8]; P],
        sums: &mut [i32],
        stride: usize,
    ) {
        let mut kept: [[__m512i; P]; R] = std::array::from_fn(|r| {
            let sums = &sums[r * stride..][..P * LANES];
            // SAFETY: sixteen numbers for each panel lie there; the loads need no alignment.
            std::array::from_fn(|p| unsafe { _mm512_loadu_si512(sums.as_ptr().add(p * LANES).cast()) })
        });
        let (fours, rows) = (panels[0].len() / LINE, rows.map(<[i8]>::as_ptr));
        let panels = panels.map(<[u8]>::as_ptr);
        for k in 0..fours {
            // SAFETY: `super::multiply_bytes` has seen that all panels are as long as the first.
            let v: [__m512i; P] =
                std::array::from_fn(|p| unsafe { _mm512_loadu_si512(panels[p].add(k * LINE).cast()) });
            for r in 0..R {
                // SAFETY: `super::multiply_bytes` has seen that every row has four bytes for each line; the read needs no alignment.
                let u = _mm512_set1_epi32(unsafe { rows[r].add(k * FOUR).cast::<i32>().read_unaligned() });
                for p in 0..P {
                    kept[r][p] = _mm512_dpbusd_epi32(kept[r][p], v[p], u);
                }
            }
        }
        // By number: an iterator would take the registers through memory.
        for r in 0..R {
            let sums = &mut sums[r * stride..][..P * LANES];
            for (p, sum) in kept[r].iter().enumerate() {
                // SAFETY: there is room for sixteen numbers for each panel; the store needs no alignment.
                unsafe { _mm512_storeu_si512(sums.as_mut_ptr().add(p * LANES).cast(), *sum) };
            }
        }
    }
}

/// Bytes as numbers of sixteen bits, whose products are added in pairs.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{FOUR, LANES, LINE};
    use std::arch::x86_64::*;

    /// Registers for the sums of a row: two numbers for each lane.
    const PARTS: usize = 4;

    #[target_feature(enable = "avx2")]
    pub(super) fn multiply(rows: &[&[i8]], panel: &[u8], sums: &mut [i32], stride: usize) {
        let (pairs, last) = rows.as_chunks::<2>();
        for (at, &pair) in pairs.iter().enumerate() {
            tile(pair, panel, &mut sums[2 * at * stride..], stride);
        }
        for &row in last {
            tile([row], panel, &mut sums[2 * pairs.len() * stride..], stride);
        }
    }

    #[target_feature(enable = "avx2")]
    fn tile<const R: usize>(rows: [&[i8]; R], panel: &[u8], sums: &mut [i32], stride: usize) {
        let mut kept = [[_mm256_setzero_si256(); PARTS]; R];
        let rows = rows.map(<[i8]>::as_ptr);
        for (k, line) in panel.chunks_exact(LINE).enumerate() {
            let v: [__m256i; PARTS] = std::array::from_fn(|part| {
                // SAFETY: four times sixteen bytes lie there; the load needs no alignment.
                _mm256_cvtepu8_epi16(unsafe { _mm_loadu_si128(line.as_ptr().add(16 * part).cast()) })
            });
            for r in 0..R {
                // SAFETY: `super::multiply_bytes` has seen that every row has four bytes for each line; the read needs no alignment.
                let u = _mm_set1_epi32(unsafe { rows[r].add(k * FOUR).cast::<i32>().read_unaligned() });
                let u = _mm256_cvtepi8_epi16(u);
                for part in 0..PARTS {
                    kept[r][part] = _mm256_add_epi32(kept[r][part], _mm256_madd_epi16(v[part], u));
                }
            }
        }
        for (r, kept) in kept.iter().enumerate() {
            let sums = &mut sums[r * stride..][..LANES];
            for (half, sums) in sums.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                let mixed = _mm256_hadd_epi32(kept[2 * half], kept[2 * half + 1]);
                let ordered = _mm256_permute4x64_epi64::<0b11_01_10_00>(mixed);
                // SAFETY: eight numbers lie there; loads and stores need no alignment.
                unsafe {
                    let before = _mm256_loadu_si256(sums.as_ptr().cast());
                    _mm256_storeu_si256(sums.as_mut_ptr().cast(), _mm256_add_epi32(before, ordered));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn wide_products_of_bytes_are_plain_ones() {
        let mut rng = Rng::new(1);
        for round in 0..60 {
            let (n_rows, n_panels, fours) = (round % 31, 1 + round % 2, rng.below(40) as usize);
            let rows: Vec<Vec<i8>> = (0..n_rows)
                .map(|_| (0..fours * FOUR).map(|_| rng.below(256) as u8 as i8).collect())
                .collect();
            let panels: Vec<Vec<u8>> =
                (0..n_panels).map(|_| (0..fours * LINE).map(|_| rng.below(256) as u8).collect()).collect();
            let rows: Vec<&[i8]> = rows.iter().map(Vec::as_slice).collect();
            let panels: Vec<&[u8]> = panels.iter().map(Vec::as_slice).collect();
            let stride = n_panels * LANES + round % 3;
            let before: Vec<i32> = (0..n_rows * stride + LANES).map(|_| rng.bits() as i32).collect();
            let (mut wide, mut plain) = (before.clone(), before.clone());
            multiply_bytes(&rows, &panels, &mut wide, stride);
            for (p, panel) in panels.iter().enumerate() {
                plain_multiply(&rows, panel, &mut plain[p * LANES..], stride);
            }
            assert_eq!(wide, plain, "round {round}");
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                let mut half = before;
                for (p, panel) in panels.iter().enumerate() {
                    // SAFETY: the processor has just said that it knows these instructions.
                    unsafe { avx2::multiply(&rows, panel, &mut half[p * LANES..], stride) };
                }
                assert_eq!(half, plain, "round {round}");
            }
        }
    }
}
