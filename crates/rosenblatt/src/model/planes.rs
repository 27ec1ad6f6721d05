//! Weight vectors of one or more hyperplanes over the same features.

use serde::{Deserialize, Serialize};

use crate::data::Rows;
use crate::simd::{Loop, prefetch, widely};

/// `k` hyperplanes g_c(x) = w_c·x + b_c.
///
/// Weights of one feature lie side by side for all planes, so that one sweep over a row gives all scores.
///
/// ```
/// use rosenblatt::{Dense, Planes};
/// let mut planes = Planes::zeros(1, 2, true);
/// let x = Dense::new(vec![3.0, 2.0], 2)?;
/// planes.add(&x, 0, 0, 1.0); // w ← w + x, b ← b + 1
/// let mut scores = [0.0];
/// planes.scores(&x, 0, &mut scores);
/// assert_eq!(scores, [14.0]); // 3·3 + 2·2 + 1
/// # Ok::<(), rosenblatt::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planes {
    pub(crate) weights: Vec<f64>,
    pub(crate) bias: Vec<f64>,
    pub(crate) n_cols: usize,
    pub(crate) lifted: bool,
}

/// The scores of row `i` on `K` planes, in the making.
struct Scores<'a, const K: usize, R> {
    x: &'a R,
    i: usize,
    weights: &'a [[f64; K]],
    sums: [f64; K],
}

impl<const K: usize, R: Rows> Loop for Scores<'_, K, R> {
    type Output = [f64; K];

    #[inline(always)]
    fn run(self) -> [f64; K] {
        // A variable of its own, or the sums would go to memory at every entry.
        let Scores { x, i, weights, mut sums } = self;
        x.each(i, |j, v| {
            for (sum, w) in sums.iter_mut().zip(&weights[j]) {
                *sum += v * w;
            }
        });
        sums
    }
}

/// A row of numbers added to the planes, feature by feature.
struct Addition<'a, const K: usize, R> {
    x: &'a R,
    i: usize,
    weights: &'a mut [[f64; K]],
    factors: [f64; K],
}

impl<const K: usize, R: Rows> Loop for Addition<'_, K, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Addition { x, i, weights, factors } = self;
        x.each(i, |j, v| {
            for (w, factor) in weights[j].iter_mut().zip(&factors) {
                *w += v * factor;
            }
        });
    }
}

/// The scores of row `i` on any number of planes: sixteen at a time, which fit into registers, then four.
struct AllScores<'a, R> {
    x: &'a R,
    i: usize,
    weights: &'a [f64],
    out: &'a mut [f64],
}

impl<R: Rows> Loop for AllScores<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let AllScores { x, i, weights, out } = self;
        let k = out.len();
        ask_for(x, i, weights, k);
        let (sixteens, rest) = out.as_chunks_mut::<16>();
        let (fours, ones) = rest.as_chunks_mut::<4>();
        // Loops, for closures would be compiled apart.
        let mut first = 0;
        for sums in sixteens {
            add_scores(x, i, weights, k, first, sums);
            first += 16;
        }
        for sums in fours {
            add_scores(x, i, weights, k, first, sums);
            first += 4;
        }
        for sum in ones {
            add_scores(x, i, weights, k, first, std::array::from_mut(sum));
            first += 1;
        }
    }
}

/// Asks for the weights of all features of row `i` at once: those of many classes seldom are in the nearest caches, and so all are on their way together.
#[inline(always)]
fn ask_for<R: Rows>(x: &R, i: usize, weights: &[f64], k: usize) {
    x.each(i, |j, _| prefetch(&weights[j * k..][..k]));
}

/// Adds the scores of row `i` on planes `first` to `first + C` of `k`.
#[inline(always)]
fn add_scores<const C: usize, R: Rows>(
    x: &R,
    i: usize,
    weights: &[f64],
    k: usize,
    first: usize,
    to: &mut [f64; C],
) {
    let mut sums = *to;
    x.each(i, |j, v| {
        for (sum, w) in sums.iter_mut().zip(&weights[j * k + first..][..C]) {
            *sum += v * w;
        }
    });
    *to = sums;
}

/// Adds a factor times row `i` to each of any number of planes.
struct AllAdditions<'a, R> {
    x: &'a R,
    i: usize,
    weights: &'a mut [f64],
    factors: &'a [f64],
}

impl<R: Rows> Loop for AllAdditions<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let AllAdditions { x, i, weights, factors } = self;
        let k = factors.len();
        ask_for(x, i, weights, k);
        let (fours, rest) = factors.as_chunks::<4>();
        x.each(i, |j, v| {
            let (weights, last) = weights[j * k..][..k].as_chunks_mut::<4>();
            for (weights, factors) in weights.iter_mut().zip(fours) {
                for (w, factor) in weights.iter_mut().zip(factors) {
                    *w += v * factor;
                }
            }
            for (w, factor) in last.iter_mut().zip(rest) {
                *w += v * factor;
            }
        });
    }
}

/// Calls a function for the number of planes where that is known to the compiler, which keeps up to 16 numbers in registers; what is computed is the same.
macro_rules! by_number {
    ($k:expr, $of:ident($($argument:expr),*), $any:expr) => {
        by_number!(@ $k, $of, ($($argument),*), $any, 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
    };
    (@ $k:expr, $of:ident, $arguments:tt, $any:expr, $($n:literal)*) => {
        match $k {
            $($n => by_number!(@call $of, $n, $arguments),)*
            _ => $any,
        }
    };
    (@call $of:ident, $n:literal, ($($argument:expr),*)) => { $of::<$n, R>($($argument),*) };
}

/// The scores of row `i` on planes given as a row of weights for each feature, with their biases.
#[inline]
pub(crate) fn scores<R: Rows>(weights: &[f64], bias: &[f64], x: &R, i: usize, out: &mut [f64]) {
    let k = bias.len();
    if k == 1 {
        out[0] = bias[0] + x.dot(i, weights);
        return;
    }
    by_number!(k, scores_of(weights, bias, x, i, out), {
        out.copy_from_slice(bias);
        widely(AllScores { x, i, weights, out });
    });
}

fn scores_of<const K: usize, R: Rows>(weights: &[f64], bias: &[f64], x: &R, i: usize, out: &mut [f64]) {
    let mut sums = [0.0; K];
    sums.copy_from_slice(bias);
    let (weights, _) = weights.as_chunks();
    out.copy_from_slice(&widely(Scores { x, i, weights, sums }));
}

/// Adds `factors[c]`·xᵢ to plane c, for all c.
#[inline]
pub(crate) fn add_to_all<R: Rows>(weights: &mut [f64], x: &R, i: usize, factors: &[f64]) {
    let k = factors.len();
    by_number!(k, add_of(weights, x, i, factors), {
        widely(AllAdditions { x, i, weights, factors });
    });
}

fn add_of<const K: usize, R: Rows>(weights: &mut [f64], x: &R, i: usize, row: &[f64]) {
    let mut factors = [0.0; K];
    factors.copy_from_slice(row);
    let (weights, _) = weights.as_chunks_mut();
    widely(Addition { x, i, weights, factors });
}

impl Planes {
    /// `k` planes of zeros; `lifted` gives every example a constant feature 1, whose weight is the bias.
    pub fn zeros(k: usize, n_cols: usize, lifted: bool) -> Self {
        Planes { weights: vec![0.0; k * n_cols], bias: vec![0.0; k], n_cols, lifted }
    }

    /// Planes from weights (feature after feature, `k` weights each) and `k` biases.
    pub fn from_parts(weights: Vec<f64>, bias: Vec<f64>, lifted: bool) -> Option<Self> {
        let k = bias.len();
        (k > 0 && weights.len().is_multiple_of(k)).then(|| {
            let n_cols = weights.len() / k;
            Planes { weights, bias, n_cols, lifted }
        })
    }

    /// Planes over the same features, one after the other.
    pub(crate) fn joined(parts: &[Planes]) -> Self {
        let k: usize = parts.iter().map(Planes::k).sum();
        let n_cols = parts.iter().map(Planes::n_cols).max().unwrap_or_default();
        let mut all = Planes::zeros(k, n_cols, parts.iter().any(|part| part.lifted));
        let mut first = 0;
        for part in parts {
            for j in 0..part.n_cols {
                let from = &part.weights[j * part.k()..(j + 1) * part.k()];
                all.weights[j * k + first..][..part.k()].copy_from_slice(from);
            }
            all.bias[first..first + part.k()].copy_from_slice(&part.bias);
            first += part.k();
        }
        all
    }

    /// Number of planes.
    pub fn k(&self) -> usize {
        self.bias.len()
    }

    /// Number of features.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// Whether the bias is the weight of a constant feature.
    pub fn is_lifted(&self) -> bool {
        self.lifted
    }

    /// The biases.
    pub fn bias(&self) -> &[f64] {
        &self.bias
    }

    /// The weight of feature `j` in plane `c`.
    pub fn weight(&self, c: usize, j: usize) -> f64 {
        self.weights[j * self.k() + c]
    }

    /// All weights of plane `c`.
    pub fn normal(&self, c: usize) -> Vec<f64> {
        self.weights.iter().skip(c).step_by(self.k()).copied().collect()
    }

    /// The scores of row `i` on all planes.
    #[inline]
    pub fn scores<R: Rows>(&self, x: &R, i: usize, out: &mut [f64]) {
        scores(&self.weights, &self.bias, x, i, out);
    }

    /// w_c ← w_c + a·xᵢ, and the bias with it where it is lifted.
    #[inline]
    pub fn add<R: Rows>(&mut self, x: &R, i: usize, c: usize, a: f64) {
        let k = self.k();
        match k {
            1 => x.axpy(a, i, &mut self.weights),
            _ => x.each(i, |j, v| self.weights[j * k + c] += a * v),
        }
        if self.lifted {
            self.bias[c] += a;
        }
    }

    /// Whether the arrays have the lengths of `k` planes over so many features: a file may claim anything.
    pub(crate) fn fits(&self, k: usize, n_cols: usize) -> bool {
        let lengths = (self.bias.len(), self.n_cols, self.weights.len());
        k.checked_mul(n_cols).is_some_and(|n_weights| lengths == (k, n_cols, n_weights))
    }

    /// ‖w‖² over all planes, biases left out.
    pub fn sq_norm(&self) -> f64 {
        self.weights.iter().map(|w| w * w).sum()
    }

    pub(crate) fn map(&mut self, f: impl Fn(f64) -> f64) {
        self.weights.iter_mut().chain(&mut self.bias).for_each(|w| *w = f(*w));
    }

    /// Room for features not seen so far, with weight `fill`.
    pub(crate) fn grow(&mut self, n_cols: usize, fill: f64) {
        if n_cols > self.n_cols {
            self.weights.resize(n_cols * self.k(), fill);
            self.n_cols = n_cols;
        }
    }

    /// A new plane of `fill` before plane `at`.
    pub(crate) fn insert(&mut self, at: usize, fill: f64) {
        let k = self.k();
        let mut weights = Vec::with_capacity((k + 1) * self.n_cols);
        for row in self.weights.chunks(k) {
            weights.extend_from_slice(&row[..at]);
            weights.push(fill);
            weights.extend_from_slice(&row[at..]);
        }
        self.weights = weights;
        self.bias.insert(at, if self.lifted { fill } else { 0.0 });
    }
}
