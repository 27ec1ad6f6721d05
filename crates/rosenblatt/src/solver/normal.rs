//! Sums of xxᵀ, the systems of solvers that look at all features at once.

use rayon::prelude::*;

use super::factor::Factor;
use super::{Binary, Example};
use crate::data::Rows;
use crate::simd::{Loop, widely};

/// Columns that are added up side by side, for entries often lie next to each other, as pixels do, or all are stored.
const LANES: usize = 4;

/// Some columns side by side, none of which lies across two cache lines.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Block([f64; LANES]);

impl Block {
    #[inline(always)]
    fn add(&mut self, factor: f64, x: Block) {
        self.0.iter_mut().zip(x.0).for_each(|(to, x)| *to += factor * x);
    }
}

/// The lower half of 1 + Σ dᵢ·xᵢxᵢᵀ, row by row, with a row for the bias where there is one.
#[derive(Default)]
pub(super) struct Normal {
    /// Rows of whole blocks; what is above the diagonal means nothing.
    a: Vec<Block>,
    size: usize,
    /// The dᵢ that it was made of, where only changes are to be added the next time.
    d: Vec<f64>,
    /// Room for the sums over parts of the rows, which is used again.
    spare: Vec<Vec<Block>>,
}

impl Normal {
    /// Blocks in a row.
    fn width(&self) -> usize {
        self.size.div_ceil(LANES)
    }

    /// `penalised` features have the 1 on their diagonal; rows whose `d` is 0 are not looked at.
    pub(super) fn new<R: Rows>(problem: &Binary<'_, R>, d: &[f64], penalised: usize) -> Normal {
        let mut normal = Normal::default();
        normal.sum(problem, d, penalised);
        normal
    }

    /// Becomes the sum for other d.
    pub(super) fn sum<R: Rows>(&mut self, problem: &Binary<'_, R>, d: &[f64], penalised: usize) {
        self.size = problem.size();
        let width = self.width();
        self.a.clear();
        self.a.resize(self.size * width, Block::default());
        (0..penalised).for_each(|j| self.a[j * width + j / LANES].0[j % LANES] = 1.0);
        self.add(problem, d);
    }

    /// The same by what has changed since the last time, unless that is more than there is.
    pub(super) fn update<R: Rows>(&mut self, problem: &Binary<'_, R>, d: &[f64], penalised: usize) {
        if self.changed(d) < curved(d) {
            let changes: Vec<f64> = d.iter().zip(&self.d).map(|(d, before)| d - before).collect();
            self.add(problem, &changes);
        } else {
            self.sum(problem, d, penalised);
        }
        self.d.clear();
        self.d.extend_from_slice(d);
    }

    /// The next update will be a sum anew; whether there was anything to forget.
    pub(super) fn forget(&mut self) -> bool {
        !std::mem::take(&mut self.d).is_empty()
    }

    /// How many rows an update would look at.
    pub(super) fn changed(&self, d: &[f64]) -> usize {
        let differ = || d.iter().zip(&self.d).filter(|(d, before)| d != before).count();
        if self.d.len() == d.len() { differ().min(curved(d)) } else { curved(d) }
    }

    /// Adds Σ dᵢ·xᵢxᵢᵀ.
    fn add<R: Rows>(&mut self, problem: &Binary<'_, R>, d: &[f64]) {
        let (size, width) = (self.size, self.width());
        let parts = parts(size, curved(d));
        self.spare.resize(parts - 1, Vec::new());
        self.spare.par_iter_mut().for_each(|part| {
            part.clear();
            part.resize(size * width, Block::default());
        });
        let chunk = d.len().div_ceil(parts).max(1);
        let rows = problem.examples.par_chunks(chunk).zip(d.par_chunks(chunk));
        let mut sums = vec![&mut self.a];
        sums.extend(&mut self.spare);
        sums.par_iter_mut().zip(rows).for_each(|(a, (examples, d))| {
            widely(Products { problem, examples, d, width, a });
        });
        if let [a, others @ ..] = &mut sums[..]
            && !others.is_empty()
        {
            let add = |(k, row): (usize, &mut [Block])| {
                for other in others.iter() {
                    row[..=k / LANES]
                        .iter_mut()
                        .zip(&other[k * width..])
                        .for_each(|(sum, part)| sum.add(1.0, *part));
                }
            };
            a.par_chunks_mut(width.max(1)).with_min_len(32).enumerate().for_each(add);
        }
    }

    /// The lower Cholesky factor.
    pub(super) fn factored(&self) -> Factor {
        let mut factor = Factor::default();
        self.factor_into(&mut factor);
        factor
    }

    /// The same in the place of another.
    pub(super) fn factor_into(&self, factor: &mut Factor) {
        factor.renew(self.size, |l| {
            for row in self.a.chunks(self.width().max(1)) {
                l.extend(row.iter().flat_map(|block| block.0).take(self.size));
            }
        });
    }
}

/// How many rows take part.
pub(super) fn curved(d: &[f64]) -> usize {
    d.iter().filter(|d| **d != 0.0).count()
}

/// Parts that sums are taken in, each with a matrix of its own; they do not depend on the number of threads, and so no sum does.
fn parts(size: usize, rows: usize) -> usize {
    // A few rows are added up sooner than a second thread wakes up.
    let (least, most) = if size > 400 { (2, 2) } else { (1, 8) };
    (rows / (8 * size.max(1))).clamp(least, most)
}

/// Adds dᵢ·xᵢxᵢᵀ over some examples.
struct Products<'a, R> {
    problem: &'a Binary<'a, R>,
    examples: &'a [Example],
    d: &'a [f64],
    width: usize,
    a: &'a mut [Block],
}

impl<R: Rows> Loop for Products<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Products { problem, examples, d, width, a } = self;
        let mut row = Blocks::default();
        for (example, &d) in examples.iter().zip(d).filter(|(_, d)| **d != 0.0) {
            row.clear();
            problem.x.each(example.row as usize, |j, v| row.push(j, v));
            if problem.bias.is_lifted() {
                row.push(problem.x.n_cols(), 1.0);
            }
            row.add_products(a, width, d);
        }
    }
}

/// A row of the data, in blocks of columns of which at least one is stored.
#[derive(Default)]
struct Blocks {
    columns: Vec<usize>,
    values: Vec<f64>,
    /// Which block it is, and its values.
    blocks: Vec<(usize, Block)>,
}

impl Blocks {
    #[inline(always)]
    fn clear(&mut self) {
        self.columns.clear();
        self.values.clear();
        self.blocks.clear();
    }

    /// Columns come in order.
    #[inline(always)]
    fn push(&mut self, column: usize, value: f64) {
        self.columns.push(column);
        self.values.push(value);
        let number = column / LANES;
        // Made in its place: a block that is read whole right after one of its numbers was written keeps the processor waiting.
        if self.blocks.last().is_none_or(|(last, _)| *last != number) {
            self.blocks.push((number, Block::default()));
        }
        if let Some((_, block)) = self.blocks.last_mut() {
            block.0[column % LANES] = value;
        }
    }

    /// Adds d·xxᵀ to the lower half of a, two rows at a time, so that each block is looked at half as often.
    #[inline(always)]
    fn add_products(&self, a: &mut [Block], width: usize, d: f64) {
        let ((pairs, last), (values, last_value)) =
            (self.columns.as_chunks::<2>(), self.values.as_chunks::<2>());
        for (&[i, j], &[u, v]) in pairs.iter().zip(values) {
            let (above, below) = a.split_at_mut(j * width);
            let (upper, lower) = (&mut above[i * width..][..=i / LANES], &mut below[..=j / LANES]);
            let (u, v) = (d * u, d * v);
            for &(k, x) in &self.blocks {
                if k > j / LANES {
                    break;
                }
                if let Some(upper) = upper.get_mut(k) {
                    upper.add(u, x);
                }
                lower[k].add(v, x);
            }
        }
        if let (&[j], &[v]) = (last, last_value) {
            let row = &mut a[j * width..][..=j / LANES];
            self.blocks.iter().for_each(|&(k, x)| row[k].add(d * v, x));
        }
    }
}
