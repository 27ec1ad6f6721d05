//! One layer of units.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::Rows;
use crate::rng::Rng;
use crate::simd::{LANES, Loop, exp, multiply, tanh, widely};

/// How a hidden unit squashes what it receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// max(0, z)
    #[default]
    Relu,
    /// tanh z
    Tanh,
    /// 1/(1 + exp(−z))
    Logistic,
}

impl Activation {
    /// The word for it.
    ///
    /// ```
    /// assert_eq!(rosenblatt::Activation::default().name(), "relu");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Activation::Relu => "relu",
            Activation::Tanh => "tanh",
            Activation::Logistic => "logistic",
        }
    }

    /// φ(z)
    #[inline(always)]
    fn of(self, z: f32) -> f32 {
        match self {
            Activation::Relu => z.max(0.0),
            Activation::Tanh => tanh(z),
            Activation::Logistic => 1.0 / (1.0 + exp(-z)),
        }
    }

    /// φ′(z), by a = φ(z).
    #[inline(always)]
    pub(crate) fn slope(self, a: f32) -> f32 {
        match self {
            Activation::Relu => f32::from(u8::from(a > 0.0)),
            Activation::Tanh => 1.0 - a * a,
            Activation::Logistic => a * (1.0 - a),
        }
    }

    pub(crate) fn apply(self, values: &mut [f32]) {
        widely(Apply { activation: self, values });
    }
}

struct Apply<'a> {
    activation: Activation,
    values: &'a mut [f32],
}

impl Loop for Apply<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // A loop each, or none would fill wide registers.
        match self.activation {
            Activation::Relu => self.values.iter_mut().for_each(|z| *z = Activation::Relu.of(*z)),
            Activation::Tanh => self.values.iter_mut().for_each(|z| *z = Activation::Tanh.of(*z)),
            Activation::Logistic => self.values.iter_mut().for_each(|z| *z = Activation::Logistic.of(*z)),
        }
    }
}

/// The right side of a product: [`LANES`] columns side by side, row after row, panel after panel. Columns that are not there are 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Panels {
    rows: usize,
    values: Vec<f32>,
}

/// Columns with those that fill the last panel.
pub(crate) fn padded(columns: usize) -> usize {
    columns.next_multiple_of(LANES)
}

impl Panels {
    /// Of `rows` rows that lie `stride` apart, a whole number of panels.
    pub(crate) fn pack(&mut self, from: &[f32], rows: usize, stride: usize) {
        self.fill(rows, stride, |row, first, to| to.copy_from_slice(&from[row * stride + first..][..LANES]));
    }

    /// Of a matrix turned over: `rows` are its columns, and `columns` its rows, which lie `stride` apart.
    pub(crate) fn pack_turned(&mut self, from: &[f32], rows: usize, columns: usize, stride: usize) {
        self.fill(rows, padded(columns), |row, first, to| {
            for (lane, to) in to.iter_mut().enumerate() {
                *to = if first + lane < columns { from[(first + lane) * stride + row] } else { 0.0 };
            }
        });
    }

    /// `value(row, first, to)` says what columns from `first` on are in a row.
    pub(crate) fn fill(
        &mut self,
        rows: usize,
        columns: usize,
        value: impl Fn(usize, usize, &mut [f32]) + Sync,
    ) {
        self.rows = rows;
        self.values.resize(rows * columns, 0.0);
        self.values.par_chunks_mut((rows * LANES).max(1)).enumerate().for_each(|(panel, values)| {
            for (row, to) in values.chunks_exact_mut(LANES).enumerate() {
                value(row, panel * LANES, to);
            }
        });
    }

    /// out += left · these; rows of `out` lie `stride` apart, as wide as all panels.
    pub(crate) fn add_product(&self, left: &[&[f32]], out: &mut [f32], stride: usize) {
        let panel = (self.rows * LANES).max(1);
        for (pair, panels) in self.values.chunks(2 * panel).enumerate() {
            let panels: Vec<&[f32]> = panels.chunks(panel).collect();
            multiply(left, &panels, &mut out[pair * 2 * LANES..], stride);
        }
    }
}

/// Units that each see all inputs: the weights of an input lie side by side, filled up with zeros to `stride`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stage {
    pub(crate) inputs: usize,
    pub(crate) units: usize,
    pub(crate) stride: usize,
    pub(crate) weights: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    /// The weights once more, for products.
    pub(crate) panels: Panels,
}

impl Stage {
    /// Of weights without any filling; nothing where lengths do not fit.
    pub(crate) fn new(weights: &[f32], bias: &[f32], inputs: usize) -> Option<Self> {
        let (units, stride) = (bias.len(), padded(bias.len()));
        if units == 0 || inputs == 0 || Some(weights.len()) != units.checked_mul(inputs) {
            return None;
        }
        let mut stage = Stage {
            inputs,
            units,
            stride,
            weights: vec![0.0; inputs.checked_mul(stride)?],
            bias: vec![0.0; stride],
            panels: Panels::default(),
        };
        for (to, from) in stage.weights.chunks_exact_mut(stride).zip(weights.chunks_exact(units)) {
            to[..units].copy_from_slice(from);
        }
        stage.bias[..units].copy_from_slice(bias);
        stage.pack();
        Some(stage)
    }

    /// Weights drawn evenly from ±√(6/(inputs + outputs)) (Glorot and Bengio 2010), from ±√(6/inputs) before max(0, z) (He et al. 2015).
    pub(crate) fn random(inputs: usize, units: usize, before: Option<Activation>, rng: &mut Rng) -> Self {
        let fan = match before {
            Some(Activation::Relu) => inputs as f64,
            // Its slope is a quarter of that of tanh.
            Some(Activation::Logistic) => (inputs + units) as f64 / 16.0,
            _ => (inputs + units) as f64,
        };
        let reach = (6.0 / fan).sqrt().min(4.0);
        let stride = padded(units);
        let mut stage = Stage {
            inputs,
            units,
            stride,
            weights: vec![0.0; inputs * stride],
            bias: vec![0.0; stride],
            panels: Panels::default(),
        };
        for row in stage.weights.chunks_exact_mut(stride) {
            row[..units].iter_mut().for_each(|w| *w = (reach * (2.0 * rng.uniform() - 1.0)) as f32);
        }
        stage.pack();
        stage
    }

    pub(crate) fn pack(&mut self) {
        self.panels.pack(&self.weights, self.inputs, self.stride);
    }

    /// Weights and biases without filling.
    pub(crate) fn parts(&self) -> (Vec<f32>, &[f32]) {
        let rows = self.weights.chunks_exact(self.stride);
        (rows.flat_map(|row| &row[..self.units]).copied().collect(), &self.bias[..self.units])
    }

    /// Σ w², biases left out.
    pub(crate) fn sq_norm(&self) -> f64 {
        self.weights.iter().map(|&w| f64::from(w) * f64::from(w)).sum()
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.weights.iter().chain(&self.bias).all(|w| w.is_finite())
    }

    /// out += xᵢ·W
    pub(crate) fn add_row<R: Rows>(&self, x: &R, i: usize, out: &mut [f32]) {
        widely(RowProduct { x, i, weights: &self.weights, out });
    }
}

/// A row times a matrix, entry by entry, in the arithmetic of `simd::multiply`.
struct RowProduct<'a, R> {
    x: &'a R,
    i: usize,
    weights: &'a [f32],
    out: &'a mut [f32],
}

impl<R: Rows> Loop for RowProduct<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let RowProduct { x, i, weights, out } = self;
        let stride = out.len();
        x.each(i, |j, v| {
            let v = v as f32;
            if v != 0.0 {
                for (out, w) in out.iter_mut().zip(&weights[j * stride..][..stride]) {
                    *out = v.mul_add(*w, *out);
                }
            }
        });
    }
}

/// sums += value·row, fused.
pub(crate) struct Scaled<'a> {
    pub(crate) value: f32,
    pub(crate) row: &'a [f32],
    pub(crate) sums: &'a mut [f32],
}

impl Loop for Scaled<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (sum, v) in self.sums.iter_mut().zip(self.row) {
            *sum = self.value.mul_add(*v, *sum);
        }
    }
}
