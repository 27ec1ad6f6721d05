//! A network of units.

use rayon::prelude::*;

use crate::data::{DataError, Matrix, Rows};
use crate::network::{Activation, Part, ROWS, Stage};
use crate::with_rows;

/// Layers of units, each of which sees all units of the layer before: hidden ones squash what they receive, the last are the scores.
///
/// ```
/// use rosenblatt::{Body, Dataset, Dense, Labels, Learner, Network};
/// let x = Dense::new(vec![0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["same", "same", "other", "other"]))?;
/// let network = Network { hidden: vec![8], passes: 3, ..Network::default() };
/// let Body::Layers(layers) = network.fit(&data, &mut ())?.model.body else { unreachable!() };
/// assert_eq!(layers.units(), [8, 1]);
/// assert_eq!(layers.n_weights(), 2 * 8 + 8 + 8 + 1);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Layers {
    pub(crate) activation: Activation,
    pub(crate) stages: Vec<Stage>,
}

/// Far larger values would leave single precision on their way.
const LARGEST: f64 = 1e15;

impl Layers {
    /// Nothing where stages do not follow each other.
    pub(crate) fn new(activation: Activation, stages: Vec<Stage>) -> Option<Self> {
        let follow = stages.windows(2).all(|pair| pair[0].units == pair[1].inputs);
        (follow && !stages.is_empty()).then_some(Layers { activation, stages })
    }

    /// How hidden units squash what they receive.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// Number of features.
    pub fn n_cols(&self) -> usize {
        self.stages.first().map_or(0, |stage| stage.inputs)
    }

    /// Units of each layer, the scores last.
    pub fn units(&self) -> Vec<usize> {
        self.stages.iter().map(|stage| stage.units).collect()
    }

    /// How many numbers were learned.
    pub fn n_weights(&self) -> usize {
        self.stages.iter().map(|stage| stage.units * (stage.inputs + 1)).sum()
    }

    /// Weights (input after input) and biases of a layer, from 0.
    ///
    /// ```
    /// # use rosenblatt::{Body, Dataset, Dense, Labels, Learner, Network};
    /// # let data = Dataset::new(Dense::new(vec![0.0, 1.0], 1)?, &Labels::new(["a", "b"]))?;
    /// # let network = Network { hidden: vec![4], passes: 1, ..Network::default() };
    /// # let Body::Layers(layers) = network.fit(&data, &mut ())?.model.body else { unreachable!() };
    /// let (weights, biases) = layers.layer(0).expect("there is a first");
    /// assert_eq!((weights.len(), biases.len()), (4, 4));
    /// assert!(layers.layer(2).is_none());
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn layer(&self, layer: usize) -> Option<(Vec<f32>, Vec<f32>)> {
        let (weights, bias) = self.stages.get(layer)?.parts();
        Some((weights, bias.to_vec()))
    }

    /// "784 → 100 relu → 10"
    pub fn shape(&self) -> String {
        let (last, hidden) = (self.stages.len() - 1, self.activation.name());
        let unit = |(s, stage): (usize, &Stage)| match s == last {
            true => format!(" → {}", stage.units),
            false => format!(" → {} {hidden}", stage.units),
        };
        self.n_cols().to_string() + &self.stages.iter().enumerate().map(unit).collect::<String>()
    }

    pub(crate) fn n_scores(&self) -> usize {
        self.stages.last().map_or(0, |stage| stage.units)
    }

    /// Whether rows fit single precision.
    pub(crate) fn check_rows(x: &Matrix<'_>) -> Result<(), DataError> {
        let large = with_rows!(x, x => (0..x.n_rows()).into_par_iter().find_map_first(|i| {
            let mut found = None;
            x.each(i, |j, v| {
                if v.abs() > LARGEST && found.is_none() {
                    found = Some((i, j, v));
                }
            });
            found
        }));
        match large {
            None => Ok(()),
            Some((i, j, v)) => Err(DataError::Unsuitable(format!(
                "row {}, column {}: values such as {v:e} do not fit single precision, in which networks compute; scale the features (--scale standard, --scale maxabs)",
                i + 1,
                j + 1
            ))),
        }
    }

    pub(crate) fn scores_while(&self, x: &Matrix<'_>, go_on: impl Fn() -> bool + Sync) -> Option<Vec<f64>> {
        /// Rows of one task, whose results do not depend on each other.
        const BLOCK: usize = 10 * ROWS;
        let (k, sparse) = (self.n_scores(), x.is_sparse());
        let mut all = vec![0.0; x.n_rows() * k];
        let finished = with_rows!(x, x => all.par_chunks_mut((BLOCK * k).max(1)).enumerate().all(|(block, out)| {
            let mut part = Part::new(&self.stages);
            for (p, out) in out.chunks_mut(ROWS * k).enumerate() {
                if !go_on() {
                    return false;
                }
                let first = block * BLOCK + p * ROWS;
                part.forward(&self.stages, self.activation, x, first..first + out.len() / k, sparse);
                self.copy_scores(&part, out);
            }
            true
        }));
        finished.then_some(all)
    }

    fn copy_scores(&self, part: &Part, out: &mut [f64]) {
        let (Some(stage), Some(scores)) = (self.stages.last(), part.activations.last()) else { return };
        for (out, scores) in out.chunks_exact_mut(stage.units).zip(scores.chunks_exact(stage.stride)) {
            // Weights of a file may be so large that nothing is a number any more.
            out.iter_mut()
                .zip(scores)
                .for_each(|(out, &z)| *out = if z.is_nan() { 0.0 } else { f64::from(z) });
        }
    }

    /// ∂g/∂xⱼ of every score at a row, feature after feature, in double precision.
    pub(crate) fn gradient(&self, row: &[f64]) -> Vec<f64> {
        let mut seen = vec![row.to_vec()];
        for stage in &self.stages {
            let input = seen.last().cloned().unwrap_or_default();
            let mut out: Vec<f32> = stage.bias[..stage.units].to_vec();
            for (value, weights) in input.iter().zip(stage.weights.chunks_exact(stage.stride)) {
                out.iter_mut().zip(weights).for_each(|(out, w)| *out += *value as f32 * w);
            }
            self.activation.apply(&mut out);
            seen.push(out.iter().map(|&a| f64::from(a)).collect());
        }
        let k = self.n_scores();
        let mut slopes: Vec<f64> = (0..k * k).map(|at| f64::from(u8::from(at % (k + 1) == 0))).collect();
        for (s, stage) in self.stages.iter().enumerate().rev() {
            if s + 1 < self.stages.len() {
                for (slopes, &a) in slopes.chunks_exact_mut(k).zip(&seen[s + 1]) {
                    let squashed = f64::from(self.activation.slope(a as f32));
                    slopes.iter_mut().for_each(|slope| *slope *= squashed);
                }
            }
            let mut before = vec![0.0; stage.inputs * k];
            for (before, weights) in before.chunks_exact_mut(k).zip(stage.weights.chunks_exact(stage.stride))
            {
                for (slopes, &w) in slopes.chunks_exact(k).zip(weights) {
                    before.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += f64::from(w) * slope);
                }
            }
            slopes = before;
        }
        slopes
    }
}
