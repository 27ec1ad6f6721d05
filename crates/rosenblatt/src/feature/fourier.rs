//! Random Fourier features.
//!
//! A kernel of the difference of its rows is the mean of cos(ω·(u − v)) over its Fourier transform (Bochner 1932), which for exp(−γ‖u − v‖²) is the normal distribution with variance 2γ. With a phase b, drawn
//! evenly from a whole turn, that is the mean of 2·cos(ω·u + b)·cos(ω·v + b): so many waves drawn, each times √(2/N), have dot products that differ from the kernel by about 1/√N (Rahimi and Recht 2007, NIPS 20,
//! algorithm 1).

use std::f64::consts::TAU;

use rayon::prelude::*;

use super::{MapKind, STREAM, check_bytes};
use crate::data::{DataError, Dense, Matrix, Rows};
use crate::gram::Gram;
use crate::kernel::Kernel;
use crate::rng::Rng;
use crate::simd::{Loop, cos_turns, widely};

/// Waves over the features, in whole turns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Waves {
    pub(crate) gamma: f64,
    /// ω/2π of each.
    pub(crate) directions: Dense<'static, f32>,
    /// b/2π of each.
    pub(crate) phases: Vec<f32>,
}

impl Waves {
    /// Each wave is drawn after the one before, so that more of them begin with the same.
    pub(super) fn draw(waves: usize, gamma: f64, x: &Matrix<'_>, seed: u64) -> Result<Self, DataError> {
        let n_cols = x.n_cols();
        // The directions lie in tiles, too, when they are used.
        let kind = MapKind::Fourier { waves, gamma: Some(gamma) };
        check_bytes(kind, waves as u128 * (8 * n_cols + 4 * x.n_rows()) as u128)?;
        let mut rng = Rng::stream(seed, STREAM);
        let spread = (2.0 * gamma).sqrt() / TAU;
        let mut directions = Vec::with_capacity(waves * n_cols);
        let mut phases = Vec::with_capacity(waves);
        for _ in 0..waves {
            directions.extend((0..n_cols).map(|_| (spread * rng.normal()) as f32));
            phases.push(rng.uniform() as f32);
        }
        Waves::new(gamma, directions, phases, n_cols)
    }

    pub(crate) fn new(
        gamma: f64,
        directions: Vec<f32>,
        phases: Vec<f32>,
        n_cols: usize,
    ) -> Result<Self, DataError> {
        Ok(Waves { gamma, directions: Dense::new(directions, n_cols)?, phases })
    }

    pub(super) fn len(&self) -> usize {
        self.phases.len()
    }

    /// √(2/N)·cos(ω·x + b) of all rows.
    pub(super) fn apply(&self, x: &Matrix<'_>) -> Result<Vec<f32>, DataError> {
        /// Rows that one task takes.
        const ROWS: usize = 64;
        // Angles are products in single precision, too: they are as good as distances are.
        let kernel = Kernel::Rbf { gamma: self.gamma }.into();
        Gram::check_plain(&kernel, x)?;
        let directions: Matrix<'_> = Dense::new(self.directions.values(), self.directions.n_cols())?.into();
        let (rows, waves) =
            (Gram::plain(&Kernel::Linear.into(), x), Gram::plain(&Kernel::Linear.into(), &directions));
        let (all, each): (Vec<usize>, Vec<usize>) = ((0..rows.len()).collect(), (0..self.len()).collect());
        let mut values = vec![0.0; all.len() * self.len()];
        rows.values(&rows.tiles(&waves, &each), &all, &mut values);
        let height = (2.0 / self.len() as f64).sqrt() as f32;
        let blocks = values.par_chunks_mut(ROWS * self.len());
        blocks.for_each(|rows| widely(Cosines { rows, phases: &self.phases, height }));
        Ok(values)
    }
}

/// Makes waves of turns.
struct Cosines<'a> {
    rows: &'a mut [f32],
    phases: &'a [f32],
    height: f32,
}

impl Loop for Cosines<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for row in self.rows.chunks_mut(self.phases.len()) {
            for (value, phase) in row.iter_mut().zip(self.phases) {
                *value = self.height * cos_turns(*value + phase);
            }
        }
    }
}
