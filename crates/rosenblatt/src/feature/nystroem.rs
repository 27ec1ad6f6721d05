//! The Nyström method.
//!
//! Of the rows in the space of a kernel this keeps what lies in the span of a few of them, the landmarks z: φ(x) = L⁻¹·(K(z₁, x), …, K(zₘ, x)), where L·Lᵀ are the kernel values of the landmarks with each other, so
//! that φ(u)·φ(v) = k(u)ᵀ·K⁻¹·k(v) (Williams and Seeger 2001, NIPS 13). They use K^(−1/2) instead of L⁻¹, which is the same space turned.
//!
//! Landmarks that are nearly in the span of others would have rounding errors divided by next to nothing. So K(z, z) is made a little larger, by ε, as if each landmark had a part of its own: no kernel value of
//! landmarks changes by more than ε, and no error grows by more than 1/√ε.
//!
//! Values of m landmarks with each other take m² numbers, and m is at most the number of rows, of which equal ones count once: where there is no room for them that is said before they are made.

use rayon::prelude::*;

use super::{MapKind, STREAM, check_bytes};
use crate::data::{DataError, Dataset, Dense, Matrix, Rows};
use crate::gram::Gram;
use crate::kernel::{Kernel, KernelChoice};
use crate::model::RowStore;
use crate::rng::Rng;
use crate::solver::Factor;
use crate::with_rows;

/// Rows to see others from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Landmarks {
    pub(crate) kernel: Kernel,
    pub(crate) rows: Matrix<'static>,
    /// L⁻¹
    pub(crate) factor: Dense<'static, f32>,
}

/// ε as a part of K(z, z), for so many landmarks. Kernel values are single precision: as a matrix, their errors grow with the root of its size.
fn own_part(landmarks: usize) -> f64 {
    1e-6 * (landmarks as f64).sqrt()
}

impl Landmarks {
    /// Draws so many different rows, or takes all there are.
    pub(super) fn draw(
        landmarks: usize,
        choice: KernelChoice,
        data: &Dataset<'_>,
        seed: u64,
    ) -> Result<Self, DataError> {
        let kind = MapKind::Nystroem { landmarks, kernel: choice };
        let kernel = choice.with(choice.gamma().unwrap_or(1.0));
        let most = landmarks.min(data.n_rows()) as u128;
        check_bytes(kind, most * (12 * most + 4 * data.n_rows() as u128))?;
        let drawn = draw_rows(landmarks, data, seed);
        let gram = Gram::new(kernel, &drawn)?;
        let (mut values, m) = (own_values(&gram), gram.len());
        (0..m).for_each(|i| values[i * m + i] *= 1.0 + own_part(m));
        // Only of what is no dot product, or 0, less is new.
        let new = if kernel.is_positive() { 0.5 * own_part(m) } else { 0.05 };
        let factor = Factor::of_new(values, m, new);
        let kept = factor.kept();
        if kept.is_empty() {
            let problem = format!("{kind}: K(u, u) is 0 for all rows that were drawn");
            return Err(DataError::Unsuitable(problem));
        }
        Landmarks::new(kernel, drawn.select(&kept), inverse(&factor, &kept))
    }

    pub(crate) fn new(kernel: Kernel, rows: Matrix<'static>, factor: Vec<f32>) -> Result<Self, DataError> {
        kernel.check_range(&rows, 0)?;
        let factor = Dense::new(factor, rows.n_rows())?;
        Ok(Landmarks { kernel, rows, factor })
    }

    pub(super) fn len(&self) -> usize {
        self.rows.n_rows()
    }

    /// L⁻¹·k(x) of all rows.
    pub(super) fn apply(&self, x: &Matrix<'_>) -> Result<Vec<f32>, DataError> {
        let landmarks = Gram::new(self.kernel, &self.rows)?;
        let factor: Matrix<'_> = Dense::new(self.factor.values(), self.len())?.into();
        let (rows, factor) = (landmarks.other(x)?, Gram::plain(&Kernel::Linear.into(), &factor));
        let (all, each): (Vec<usize>, Vec<usize>) = ((0..rows.len()).collect(), (0..self.len()).collect());
        let (set, lines) = (rows.tiles(&landmarks, &each), factor.tiles(&factor, &each));
        let block = block_of(self.len());
        let (mut seen, mut values) =
            (vec![0.0; block.min(all.len()) * self.len()], vec![0.0; all.len() * self.len()]);
        for (of_block, values) in all.chunks(block).zip(values.chunks_mut(block * self.len())) {
            let seen = &mut seen[..values.len()];
            rows.values(&set, of_block, seen);
            let seen: Matrix<'_> = Dense::new(&*seen, self.len())?.into();
            Gram::plain(&Kernel::Linear.into(), &seen).values(&lines, &all[..of_block.len()], values);
        }
        Ok(values)
    }
}

/// Rows whose values with so many landmarks are made at a time: enough for all threads, in a few megabytes.
fn block_of(landmarks: usize) -> usize {
    ((1 << 20) / landmarks.max(1)).max(192)
}

/// Without replacement, and none twice that occurs twice.
fn draw_rows(landmarks: usize, data: &Dataset<'_>, seed: u64) -> Matrix<'static> {
    let mut rng = Rng::stream(seed, STREAM);
    let mut rows: Vec<usize> = (0..data.n_rows()).filter(|&i| data.weight(i) > 0.0).collect();
    let mut store = RowStore::new();
    with_rows!(data.x(), x => for at in 0..rows.len() {
        if store.len() == landmarks {
            break;
        }
        let drawn = at + rng.below((rows.len() - at) as u64) as usize;
        rows.swap(at, drawn);
        store.intern(x, rows[at]);
    });
    store.matrix(data.n_features())
}

/// All kernel values of a few rows with each other.
fn own_values(gram: &Gram<'_>) -> Vec<f64> {
    let all: Vec<usize> = (0..gram.len()).collect();
    let set = gram.tiles(gram, &all);
    let mut room = Vec::new();
    let mut values = Vec::with_capacity(all.len() * all.len());
    for rows in all.chunks(block_of(all.len())) {
        room.resize(rows.len() * all.len(), 0.0);
        gram.values(&set, rows, &mut room);
        values.extend(room.iter().map(|&v| f64::from(v)));
    }
    values
}

/// L⁻¹ of what is kept, row by row.
fn inverse(factor: &Factor, kept: &[usize]) -> Vec<f32> {
    let column = |(at, &j): (usize, &usize)| {
        let column = factor.inverse_column(j);
        kept[at..].iter().map(|&i| column[i - j] as f32).collect::<Vec<f32>>()
    };
    let columns: Vec<Vec<f32>> = kept.par_iter().enumerate().map(column).collect();
    let mut inverse = vec![0.0; kept.len() * kept.len()];
    for (j, column) in columns.iter().enumerate() {
        for (i, &value) in (j..).zip(column) {
            inverse[i * kept.len() + j] = value;
        }
    }
    inverse
}
