//! Sums of xxᵀ, the systems of solvers that look at all features at once.

use rayon::prelude::*;

use super::factor::Factor;
use super::{Binary, Example};
use crate::data::Rows;
use crate::simd::{BATCH, Line, Loop, Panel, SIDE, add_products, widely};

/// Columns that are added up side by side, for entries often lie next to each other, as pixels do, or all are stored.
const LANES: usize = SIDE / 2;

/// The lower half of 1 + Σ dᵢ·xᵢxᵢᵀ, row by row, with a row for the bias where there is one.
#[derive(Clone, Default)]
pub(crate) struct Normal {
    /// Whole lines, and rows for whole tiles; what is above the diagonal means nothing.
    a: Vec<Line>,
    size: usize,
    /// The dᵢ that it was made of, where only changes are to be added the next time.
    d: Vec<f64>,
    /// Room for the sums over parts of the rows, which is used again.
    spare: Vec<Vec<Line>>,
}

impl Normal {
    /// Bytes of the matrix of so many features, and of the parts that its sum over so many rows is taken in.
    pub(super) fn bytes(size: usize, rows: usize) -> usize {
        let side = size.next_multiple_of(SIDE);
        side.saturating_mul(side).saturating_mul(size_of::<f64>()).saturating_mul(parts(size, rows))
    }

    /// The matrix alone, for others to begin with.
    pub(super) fn alone(self) -> Normal {
        Normal { spare: Vec::new(), ..self }
    }

    /// Lines in a row.
    fn width(&self) -> usize {
        self.size.div_ceil(SIDE)
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
        self.d.clear();
        let width = self.width();
        self.a.clear();
        self.a.resize(SIDE * width * width, Line::default());
        (0..penalised).for_each(|j| self.a[j * width + j / SIDE].0.as_flattened_mut()[j % SIDE] = 1.0);
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

    /// Whether it is the sum for these d, and they were kept.
    pub(super) fn is_of(&self, d: &[f64]) -> bool {
        self.d == d
    }

    /// The next update will be a sum anew; whether there was anything to forget.
    pub(super) fn forget(&mut self) -> bool {
        !std::mem::take(&mut self.d).is_empty()
    }

    /// Whether it was made of row k, too, and only what changes is to be added the next time.
    pub(super) fn has(&self, k: usize) -> bool {
        self.d.get(k).is_some_and(|d| *d != 0.0)
    }

    /// From now on there are only these rows, of which all are that it has.
    pub(super) fn keep(&mut self, rows: &[usize]) {
        if !self.d.is_empty() {
            self.d = rows.iter().map(|&k| self.d[k]).collect();
        }
    }

    /// From now on there are so many rows, of which it has none of the new.
    pub(super) fn extend(&mut self, rows: usize) {
        if !self.d.is_empty() {
            self.d.resize(rows, 0.0);
        }
    }

    /// How many rows an update would look at.
    pub(super) fn changed(&self, d: &[f64]) -> usize {
        let differ = || d.iter().zip(&self.d).filter(|(d, before)| d != before).count();
        if self.d.len() == d.len() { differ().min(curved(d)) } else { curved(d) }
    }

    /// Adds Σ dᵢ·xᵢxᵢᵀ.
    fn add<R: Rows>(&mut self, problem: &Binary<'_, R>, d: &[f64]) {
        let width = self.width();
        let parts = parts(self.size, curved(d));
        self.spare.resize(parts - 1, Vec::new());
        self.spare.par_iter_mut().for_each(|part| {
            part.clear();
            part.resize(SIDE * width * width, Line::default());
        });
        let chunk = d.len().div_ceil(parts).max(1);
        let rows = problem.examples.par_chunks(chunk).zip(d.par_chunks(chunk));
        let mut sums = vec![&mut self.a];
        sums.extend(&mut self.spare);
        let tiled = problem.entries() >= LONG * problem.examples.len();
        sums.par_iter_mut().zip(rows).for_each(|(a, (examples, d))| {
            let products = Products { problem, examples, d, width, a };
            if tiled { products.by_tiles() } else { widely(products) }
        });
        if let [a, others @ ..] = &mut sums[..]
            && !others.is_empty()
        {
            let add = |(k, row): (usize, &mut [Line])| {
                for other in others.iter() {
                    row[..=k / SIDE]
                        .iter_mut()
                        .zip(&other[k * width..])
                        .for_each(|(sum, part)| add(sum, part));
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
            let rows = l.chunks_mut(self.size.max(1)).zip(self.a.chunks(self.width().max(1)));
            for (k, (to, row)) in rows.enumerate() {
                for (to, line) in to[..=k].chunks_mut(SIDE).zip(row) {
                    to.copy_from_slice(&line.0.as_flattened()[..to.len()]);
                }
            }
        });
    }
}

/// sum ← sum + part
fn add(sum: &mut Line, part: &Line) {
    sum.0.as_flattened_mut().iter_mut().zip(part.0.as_flattened()).for_each(|(sum, part)| *sum += part);
}

/// How many rows take part.
pub(super) fn curved(d: &[f64]) -> usize {
    d.iter().filter(|d| **d != 0.0).count()
}

/// Rows of so many entries on average are multiplied by tiles: several at once, so that a part of the matrix is read and written once for all of them.
const LONG: usize = 32;

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
    /// Lines in a row of a.
    width: usize,
    a: &'a mut [Line],
}

impl<R: Rows> Products<'_, R> {
    /// Calls `f` with each entry of a row, the bias last.
    #[inline(always)]
    fn each(problem: &Binary<'_, R>, example: &Example, mut f: impl FnMut(usize, f64)) {
        problem.x.each(example.row as usize, &mut f);
        if problem.bias.is_lifted() {
            f(problem.x.n_cols(), 1.0);
        }
    }

    fn by_tiles(self) {
        let Products { problem, examples, d, width, a } = self;
        let mut batch = Batch::new(width);
        for taken_away in [false, true] {
            for (example, &d) in examples.iter().zip(d) {
                if if taken_away { d < 0.0 } else { d > 0.0 } {
                    let factor = d.abs().sqrt();
                    Self::each(problem, example, |j, v| batch.put(j, factor * v));
                    batch.end_row();
                    if batch.rows == BATCH {
                        batch.add_to(a, taken_away);
                    }
                }
            }
            batch.add_to(a, taken_away);
        }
    }
}

impl<R: Rows> Loop for Products<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Products { problem, examples, d, width, a } = self;
        let mut row = Blocks::default();
        for (example, &d) in examples.iter().zip(d).filter(|(_, d)| **d != 0.0) {
            row.clear();
            Self::each(problem, example, |j, v| row.push(j, v));
            row.add_products(a, width, d);
        }
    }
}

/// Some rows, as panels of columns.
struct Batch {
    panels: Vec<Panel>,
    /// Which rows have entries in a panel, as bits.
    filled: Vec<u64>,
    rows: usize,
}

impl Batch {
    fn new(panels: usize) -> Self {
        Batch { panels: vec![[[0.0; SIDE]; BATCH]; panels], filled: vec![0; panels], rows: 0 }
    }

    /// An entry of the row under way.
    #[inline(always)]
    fn put(&mut self, column: usize, value: f64) {
        let panel = column / SIDE;
        self.panels[panel][self.rows][column % SIDE] = value;
        self.filled[panel] |= u64::from(value != 0.0) << self.rows;
    }

    fn end_row(&mut self) {
        self.rows += 1;
    }

    /// Adds all products to the lower half of a, and is empty again.
    fn add_to(&mut self, a: &mut [Line], taken_away: bool) {
        let width = self.panels.len();
        for (i, &rows) in self.filled.iter().enumerate().filter(|(_, rows)| **rows != 0) {
            for j in 0..=i {
                let both = rows & self.filled[j];
                if both != 0 {
                    let tile = &mut a[SIDE * i * width + j..];
                    add_products(&self.panels[i], &self.panels[j], both, taken_away, tile, width);
                }
            }
        }
        for (panel, filled) in self.panels.iter_mut().zip(&mut self.filled) {
            if std::mem::take(filled) != 0 {
                *panel = [[0.0; SIDE]; BATCH];
            }
        }
        self.rows = 0;
    }
}

/// A row of the data, in blocks of columns of which at least one is stored.
#[derive(Default)]
struct Blocks {
    columns: Vec<usize>,
    values: Vec<f64>,
    /// Which block it is, and its values.
    blocks: Vec<(usize, [f64; LANES])>,
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
            self.blocks.push((number, [0.0; LANES]));
        }
        if let Some((_, block)) = self.blocks.last_mut() {
            block[column % LANES] = value;
        }
    }

    /// Adds d·xxᵀ to the lower half of a, two rows at a time, so that each block is looked at half as often.
    #[inline(always)]
    fn add_products(&self, a: &mut [Line], width: usize, d: f64) {
        let add = |row: &mut [Line], k: usize, factor: f64, x: [f64; LANES]| {
            let block = &mut row[k / 2].0[k % 2];
            block.iter_mut().zip(x).for_each(|(to, x)| *to += factor * x);
        };
        let ((pairs, last), (values, last_value)) =
            (self.columns.as_chunks::<2>(), self.values.as_chunks::<2>());
        for (&[i, j], &[u, v]) in pairs.iter().zip(values) {
            let (above, below) = a.split_at_mut(j * width);
            let (upper, lower) = (&mut above[i * width..][..width], &mut below[..width]);
            let (u, v) = (d * u, d * v);
            for &(k, x) in &self.blocks {
                if k > j / LANES {
                    break;
                }
                if k <= i / LANES {
                    add(upper, k, u, x);
                }
                add(lower, k, v, x);
            }
        }
        if let (&[j], &[v]) = (last, last_value) {
            let row = &mut a[j * width..][..width];
            self.blocks.iter().for_each(|&(k, x)| add(row, k, d * v, x));
        }
    }
}
