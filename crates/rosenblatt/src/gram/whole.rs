//! Rows of small whole numbers, and of such numbers over 255: pixels, counts, features that are there or not.
//!
//! Sums of their products are whole numbers that 32 bits hold, so that they are exact in any order, and bytes are multiplied four times as fast as numbers of single precision. What
//! is made of two such rows, their product or the square of their distance, is the exact result, rounded once: it depends neither on the storage nor on the processor, nor on which
//! of the two scales was taken where both fit (a result times 1/255² in double precision is so near that it rounds to the same number). Whether a row is such a row depends on
//! nothing but the row.

use rayon::prelude::*;

use crate::data::{Matrix, Rows};
use crate::kernel::Kernel;
use crate::simd::{Loop, widest};
use crate::with_rows;

/// What entries are whole numbers over; each has a bit, 1 and 2.
const SCALES: [f32; 2] = [1.0, 255.0];

/// A row's squares add up to less than this, so that the square of a distance fits 32 bits.
const LARGEST: u32 = 1 << 30;

/// Up to here single precision is exact, too.
const SMALL: u32 = 1 << 23;

/// Which of some rows are whole numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Whole {
    /// For each row the bits of the scales it has.
    pub(super) scales: Vec<u8>,
    /// Scales that all rows have.
    pub(super) all: u8,
    /// Scales that some row has.
    pub(super) any: u8,
    /// Scales on which single precision would not be exact for some row.
    pub(super) loose: u8,
}

/// One of the scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale(pub(super) u8);

impl Scale {
    /// Those of some bits.
    pub(super) fn of(bits: u8) -> impl Iterator<Item = Scale> {
        [1, 2].into_iter().filter(move |bit| bits & bit != 0).map(Scale)
    }

    fn over(self) -> f32 {
        SCALES[usize::from(self.0 >> 1)]
    }

    /// What a sum of products stands for.
    #[inline(always)]
    fn value(self, sum: i32) -> f32 {
        const UNITS: [f64; 2] = [1.0, 1.0 / (255.0 * 255.0)];
        (f64::from(sum) * UNITS[usize::from(self.0 >> 1)]) as f32
    }

    /// The entries of a row as bytes, zeros included; what is no whole number becomes anything.
    pub(super) fn bytes(self, x: &Matrix<'_>, i: usize, out: &mut [u8]) {
        let over = self.over();
        if let Matrix::DenseF32(x) = x {
            let row = x.row(i);
            out.iter_mut().zip(row).for_each(|(byte, &v)| *byte = nearest(v, over));
            return out[row.len()..].fill(0);
        }
        out.fill(0);
        with_rows!(x, x => x.each(i, |j, v| out[j] = nearest(v as f32, over)));
    }
}

/// What of whole numbers a kernel is made of: the product of two rows, or the square of their distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Product,
    Distance,
}

/// What is taken from every byte of one of two rows, so that it is a signed one.
const SHIFT: i32 = 128;

impl Meaning {
    pub(super) fn of(kernel: Kernel) -> Self {
        match kernel {
            Kernel::Rbf { .. } => Meaning::Distance,
            _ => Meaning::Product,
        }
    }

    /// What a row in a panel adds to its sums, and what it brings by itself.
    pub(super) fn of_panel(self, row: &[u8], scale: Scale) -> (i32, f32) {
        let shifted = SHIFT.wrapping_mul(sum(row, |byte| byte));
        let square = sum(row, |byte| byte * byte);
        match self {
            Meaning::Product => (shifted, scale.value(square)),
            Meaning::Distance => (square.wrapping_sub(shifted.wrapping_mul(2)), 0.0),
        }
    }

    /// The same for a row that is gone through, whose bytes are shifted.
    pub(super) fn of_line(self, row: &[u8], scale: Scale) -> (i32, f32) {
        let square = sum(row, |byte| byte * byte);
        match self {
            Meaning::Product => (0, scale.value(square)),
            Meaning::Distance => (square, 0.0),
        }
    }

    /// Products of one line with some of a panel as numbers from which kernels are made: distances as what a product would be if the rows had no length.
    pub(super) fn read(self, sums: &[i32], line: i32, panel: &[i32], scale: Scale, out: &mut [f32]) {
        widest(Reading { meaning: self, sums, line, panel, scale, out });
    }
}

fn sum(row: &[u8], f: impl Fn(i32) -> i32) -> i32 {
    row.iter().fold(0i32, |sum, &byte| sum.wrapping_add(f(i32::from(byte))))
}

struct Reading<'a> {
    meaning: Meaning,
    sums: &'a [i32],
    line: i32,
    panel: &'a [i32],
    scale: Scale,
    out: &'a mut [f32],
}

impl Loop for Reading<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Reading { meaning, sums, line, panel, scale, out } = self;
        let all = out.iter_mut().zip(sums).zip(panel);
        let product = |sum: i32, added: i32| sum.wrapping_add(added);
        let distance = |sum: i32, added: i32| line.wrapping_add(added).wrapping_sub(sum.wrapping_mul(2));
        match (meaning, scale.0) {
            (Meaning::Product, 1) => all.for_each(|((out, &sum), &added)| *out = product(sum, added) as f32),
            (Meaning::Product, _) => {
                all.for_each(|((out, &sum), &added)| *out = scale.value(product(sum, added)));
            }
            (Meaning::Distance, 1) => {
                all.for_each(|((out, &sum), &added)| *out = -0.5 * distance(sum, added) as f32);
            }
            (Meaning::Distance, _) => {
                all.for_each(|((out, &sum), &added)| *out = -0.5 * scale.value(distance(sum, added)));
            }
        }
    }
}

/// Whether a number of double precision is this share, and not only near it.
fn is_share(k: f32, over: f32, v: f64) -> bool {
    (f64::from(k) / f64::from(over) - v).abs() <= 2.0 * f64::EPSILON * v
}

/// For entries of a row of whole numbers: so near that half more is enough to round.
#[inline(always)]
fn nearest(v: f32, over: f32) -> u8 {
    (v * over + 0.5) as u8
}

impl Whole {
    pub(super) fn of(x: &Matrix<'_>) -> Self {
        let rows: Vec<(u8, u8)> =
            (0..x.n_rows()).into_par_iter().with_min_len(256).map(|i| look(x, i)).collect();
        let fold = |f: fn(u8, &(u8, u8)) -> u8, first| rows.iter().fold(first, f);
        Whole {
            all: fold(|all, row| all & row.0, 3),
            any: fold(|any, row| any | row.0, 0),
            loose: fold(|loose, row| loose | row.1, 0),
            scales: rows.iter().map(|row| row.0).collect(),
        }
    }
}

impl Whole {
    /// The scales of some rows.
    pub(super) fn of_rows(&self, rows: &[usize]) -> Vec<u8> {
        rows.iter().map(|&i| self.scales[i]).collect()
    }
}

/// The scales of a row, and those on which single precision is not exact.
///
/// A row that is nearly empty and not small is none: as bytes it would take too much room.
pub(super) fn look(x: &Matrix<'_>, i: usize) -> (u8, u8) {
    /// The least share of entries, as what it is one part of.
    const SPARSEST: usize = 64;
    let (mut scales, mut squares, mut entries, mut width) = (3u8, [0u32; 2], 0, 0);
    with_rows!(x, x => x.each(i, |j, wide| {
        let v = wide as f32;
        if scales == 0 || v == 0.0 {
            return;
        }
        (entries, width) = (entries + 1, j + 1);
        for (bit, (&over, square)) in SCALES.iter().zip(&mut squares).enumerate() {
            let k = f32::from(nearest(v, over));
            let fits = k / over == v && (f64::from(v) == wide || is_share(k, over, wide));
            *square = if fits { (*square + (k * k) as u32).min(LARGEST) } else { LARGEST };
            scales &= !(u8::from(*square == LARGEST) << bit);
        }
    }));
    let small = scales & 1 == 1 && squares[0] <= SMALL;
    if scales == 0 || (!small && entries * SPARSEST < width) {
        return (0, 0);
    }
    // On the second scale nothing is exact that is not on the first.
    (scales, if small { 0 } else { scales })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
mod tests {
    use super::*;
    use crate::data::{Csr, Dense};

    fn scales(row: &[f32]) -> (u8, u8) {
        look(&Dense::new(row, row.len()).unwrap().into(), 0)
    }

    #[test]
    fn whole_numbers_are_told_by_their_row() {
        assert_eq!(scales(&[0.0, 1.0, 255.0]), (1, 0));
        assert_eq!(scales(&[0.0, 1.0, 1.0]), (3, 0));
        assert_eq!(scales(&[0.0, 3.0 / 255.0, 1.0]), (2, 2));
        assert_eq!(scales(&[0.2, 0.4, 254.0 / 255.0]), (2, 2));
        assert_eq!(scales(&[255.0; 200]), (1, 1));
        for other in [[0.0, -1.0], [0.5, 1.0], [256.0, 0.0], [0.3, 0.1], [1e30, 0.0]] {
            assert_eq!(scales(&other), (0, 0), "{other:?}");
        }
        // Too few entries to be laid out, unless single precision does.
        let far = |value: f32, entries: u32| {
            let columns: Vec<u32> = (0..entries).map(|j| 10_000 + j).collect();
            let values = vec![value; columns.len()];
            look(&Csr::new(vec![0, u64::from(entries)], columns, values, 20_000).unwrap().into(), 0)
        };
        assert_eq!((far(200.0, 100), far(255.0, 140), far(255.0, 400)), ((1, 0), (0, 0), (1, 1)));
    }

    /// What single precision would round to a whole number is none.
    #[test]
    fn double_precision_is_not_rounded() {
        let scales = |row: Vec<f64>| look(&Dense::new(row, 1).unwrap().into(), 0).0;
        assert_eq!(scales(vec![100.0]), 1);
        assert_eq!(scales(vec![100.0 + 1e-7]), 0);
        assert_eq!((scales(vec![100.0 / 255.0]), scales(vec![f64::from(100.0f32 / 255.0)])), (2, 2));
        assert_eq!(scales(vec![100.0 / 255.0 + 1e-12]), 0);
    }

    #[test]
    fn every_byte_comes_back() {
        for scale in Scale::of(3) {
            let values: Vec<f32> = (0..=255u8).map(|k| f32::from(k) / scale.over()).collect();
            let x: Matrix<'_> = Dense::new(&values[..], 256).unwrap().into();
            let mut bytes = vec![7; 259];
            scale.bytes(&x, 0, &mut bytes);
            assert!(bytes.iter().zip(0..=255).all(|(&byte, k)| byte == k));
            assert_eq!(bytes[256..], [0; 3]);
        }
    }
}
