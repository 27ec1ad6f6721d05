//! Scores and lengths, one number after the other, in double precision and by the formulas alone. Nothing here is shared with what learns and predicts but the access to rows.

use rayon::prelude::*;

use crate::clock::Deadline;
use crate::data::{Matrix, Rows};
use crate::kernel::Kernel;
use crate::model::{Bayes, Body, Expansion, Likelihood, Planes, Sum};
use crate::network::Activation;

/// A row by its entries that are not 0, columns ascending.
pub(super) type Entries = Vec<(usize, f64)>;

pub(super) fn entries(x: &Matrix<'_>, i: usize) -> Entries {
    let mut row = Vec::new();
    x.each(i, |j, v| {
        if v != 0.0 {
            row.push((j, v));
        }
    });
    row
}

/// What a model knows, plane by plane.
pub(super) enum Known {
    /// w and b of each plane.
    Linear { planes: Vec<(Vec<f64>, f64)>, lifted: bool },
    /// Stored rows with their coefficients, plane by plane, and b.
    Kernel { stored: Stored, planes: Vec<(Vec<f64>, f64)>, lifted: bool },
}

/// The rows that kernel values are taken with.
pub(super) struct Stored {
    pub(super) kernel: Kernel,
    pub(super) rows: Vec<Entries>,
}

/// What planes make of rows.
pub(super) struct Scores {
    /// g of every row, plane by plane.
    pub(super) g: Vec<Vec<f64>>,
    /// The sum of the sizes of what was added up for it: rounding errors are a share of that.
    pub(super) size: Vec<Vec<f64>>,
}

fn square(row: &Entries) -> f64 {
    row.iter().map(|(_, v)| v * v).sum()
}

/// Sum and size of terms.
fn added(terms: impl Iterator<Item = f64>) -> (f64, f64) {
    terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()))
}

/// Every column in which one of two rows has an entry, with what each has there.
fn paired(u: &Entries, v: &Entries, mut each: impl FnMut(f64, f64)) {
    let column = |row: &Entries, at: usize| row.get(at).map_or(usize::MAX, |(j, _)| *j);
    let (mut a, mut b) = (0, 0);
    while a < u.len() || b < v.len() {
        let (i, j) = (column(u, a), column(v, b));
        each(if i <= j { u[a].1 } else { 0.0 }, if j <= i { v[b].1 } else { 0.0 });
        (a, b) = (a + usize::from(i <= j), b + usize::from(j <= i));
    }
}

/// K(u, v) by its formula.
fn value(kernel: Kernel, u: &Entries, v: &Entries) -> f64 {
    let sum = |term: fn(f64, f64) -> f64| {
        let mut sum = 0.0;
        paired(u, v, |u, v| sum += term(u, v));
        sum
    };
    let product = || sum(|u, v| u * v);
    match kernel {
        Kernel::Linear | Kernel::Precomputed => product(),
        Kernel::Poly { degree, gamma, coef0 } => (gamma * product() + coef0).powi(degree.cast_signed()),
        Kernel::Rbf { gamma } => (-gamma * sum(|u, v| (u - v).powi(2))).exp(),
        Kernel::Sigmoid { gamma, coef0 } => (gamma * product() + coef0).tanh(),
        Kernel::Laplacian { gamma } => (-gamma * sum(|u, v| (u - v).abs())).exp(),
        Kernel::Chi2 { gamma } => {
            (-gamma * sum(|u, v| (u - v).powi(2) / (u + v).max(f64::MIN_POSITIVE))).exp()
        }
        Kernel::Cosine => match square(u) * square(v) {
            lengths if lengths > 0.0 => product() / lengths.sqrt(),
            _ => 0.0,
        },
    }
}

impl Known {
    /// Nothing for votes, and for kernels that are functions of a program.
    pub(super) fn of(body: &Body) -> Option<Known> {
        match body {
            Body::Linear(planes) => Some(Known::linear(planes)),
            Body::Kernel(expansion) => Known::kernel(expansion),
            Body::Voted(_) | Body::Bayes(_) | Body::Layers(_) => None,
        }
    }

    fn linear(planes: &Planes) -> Known {
        let plane = |c: usize| (planes.normal(c), planes.bias()[c]);
        Known::Linear { planes: (0..planes.k()).map(plane).collect(), lifted: planes.is_lifted() }
    }

    fn kernel(expansion: &Expansion) -> Option<Known> {
        let Sum::Coefficients { planes, values } = &expansion.sum else { return None };
        let rows = (0..expansion.len()).map(|s| entries(&expansion.rows, s)).collect();
        let stored = Stored { kernel: expansion.kernel.kernel()?, rows };
        let offsets = expansion.offsets();
        let plane = |p: usize| (values.iter().skip(p).step_by(*planes).copied().collect(), offsets[p]);
        Some(Known::Kernel { stored, planes: (0..*planes).map(plane).collect(), lifted: expansion.lifted })
    }

    pub(super) fn is_kernel(&self) -> bool {
        matches!(self, Known::Kernel { .. })
    }

    /// Of every plane for every row; nothing where time is over before.
    pub(super) fn scores(&self, x: &Matrix<'_>, deadline: Deadline) -> Option<Scores> {
        let row = |i: usize| (!deadline.is_over()).then(|| self.score(&entries(x, i)));
        let rows: Vec<Vec<(f64, f64)>> = (0..x.n_rows()).into_par_iter().map(row).collect::<Option<_>>()?;
        let planes = |part: fn(&(f64, f64)) -> f64| -> Vec<Vec<f64>> {
            (0..self.planes().len()).map(|p| rows.iter().map(|row| part(&row[p])).collect()).collect()
        };
        Some(Scores { g: planes(|(g, _)| *g), size: planes(|(_, size)| *size) })
    }

    /// g of every plane for one row, and the size of its terms.
    fn score(&self, row: &Entries) -> Vec<(f64, f64)> {
        match self {
            Known::Linear { planes, .. } => {
                let score = |(w, b): &(Vec<f64>, f64)| {
                    let term = |&(j, v): &(usize, f64)| w.get(j).copied().unwrap_or(0.0) * v;
                    added(row.iter().map(term).chain([*b]))
                };
                planes.iter().map(score).collect()
            }
            Known::Kernel { stored, planes, lifted } => {
                let lift = if *lifted { 1.0 } else { 0.0 };
                let values = stored.values(row);
                let score = |(a, b): &(Vec<f64>, f64)| {
                    added(a.iter().zip(&values).map(|(a, k)| a * (k + lift)).chain([*b]))
                };
                planes.iter().map(score).collect()
            }
        }
    }

    /// Weights or coefficients, and the constant term.
    pub(super) fn planes(&self) -> &[(Vec<f64>, f64)] {
        match self {
            Known::Linear { planes, .. } | Known::Kernel { planes, .. } => planes,
        }
    }

    /// ‖w‖² of each plane, without any bias; nothing where time is over before.
    pub(super) fn sq_norms(&self, x: &Matrix<'_>, deadline: Deadline) -> Option<Vec<f64>> {
        match self {
            Known::Linear { planes, .. } => {
                Some(planes.iter().map(|(w, _)| w.iter().map(|w| w * w).sum()).collect())
            }
            Known::Kernel { stored, planes, .. } => {
                let planes: Vec<&[f64]> = planes.iter().map(|(a, _)| &a[..]).collect();
                stored.sq_norms(&planes, x, deadline)
            }
        }
    }

    /// The bias as a weight of a constant 1, where it is one.
    pub(super) fn lift(&self, plane: usize) -> f64 {
        match self {
            Known::Linear { planes, lifted: true } => planes[plane].1,
            Known::Kernel { planes, lifted, .. } => {
                let (a, b) = &planes[plane];
                b + if *lifted { a.iter().sum() } else { 0.0 }
            }
            Known::Linear { .. } => 0.0,
        }
    }

    /// max ‖x‖, in the space of the kernel where there is one, of (x, 1) where the bias is lifted.
    pub(super) fn radius(&self, x: &Matrix<'_>) -> f64 {
        let (kernel, lifted) = match self {
            Known::Linear { lifted, .. } => (Kernel::Linear, *lifted),
            Known::Kernel { stored, lifted, .. } => (stored.kernel, *lifted),
        };
        let square = |i: usize| {
            let row = entries(x, i);
            value(kernel, &row, &row)
        };
        let longest = (0..x.n_rows()).into_par_iter().map(square).reduce(|| 0.0, f64::max);
        (longest + if lifted { 1.0 } else { 0.0 }).sqrt()
    }
}

impl Stored {
    /// 1 where the kernel has none.
    pub(super) fn gamma(&self) -> f64 {
        match self.kernel {
            Kernel::Poly { gamma, .. }
            | Kernel::Rbf { gamma }
            | Kernel::Sigmoid { gamma, .. }
            | Kernel::Laplacian { gamma }
            | Kernel::Chi2 { gamma } => gamma,
            Kernel::Linear | Kernel::Cosine | Kernel::Precomputed => 1.0,
        }
    }

    /// Rows of the data, by their numbers.
    pub(super) fn of(kernel: Kernel, x: &Matrix<'_>, numbers: impl Iterator<Item = usize>) -> Self {
        let row = |i: usize| if kernel == Kernel::Precomputed { vec![(i, 1.0)] } else { entries(x, i) };
        Stored { kernel, rows: numbers.map(row).collect() }
    }

    /// What a stored row has to be compared by: itself, or, where values are precomputed, the row of values that it stands for.
    fn features(&self, row: &Entries, x: &Matrix<'_>) -> Entries {
        match (self.kernel, row.first()) {
            (Kernel::Precomputed, Some(&(number, _))) if number < x.n_rows() => entries(x, number),
            (Kernel::Precomputed, _) => Vec::new(),
            _ => row.clone(),
        }
    }

    /// K of a row with each stored one.
    fn values(&self, row: &Entries) -> Vec<f64> {
        self.rows.iter().map(|z| value(self.kernel, row, z)).collect()
    }

    /// ‖Σ aₛφ(zₛ)‖² for several lists of coefficients; nothing where time is over before.
    pub(super) fn sq_norms(&self, planes: &[&[f64]], x: &Matrix<'_>, deadline: Deadline) -> Option<Vec<f64>> {
        let row = |(r, row): (usize, &Entries)| -> Option<Vec<f64>> {
            if deadline.is_over() {
                return None;
            }
            let values = self.values(&self.features(row, x));
            let times = |a: &&[f64]| a[r] * a.iter().zip(&values).map(|(a, k)| a * k).sum::<f64>();
            Some(planes.iter().map(times).collect())
        };
        let rows: Vec<Vec<f64>> = self.rows.par_iter().enumerate().map(row).collect::<Option<_>>()?;
        Some((0..planes.len()).map(|p| rows.iter().map(|row| row[p]).sum()).collect())
    }
}

/// The scores of a row, each with the size of what was added up for it.
type Scorer<'a> = Box<dyn Fn(&[f64]) -> Vec<(f64, f64)> + Sync + 'a>;

/// Scores of distributions and networks; nothing for other bodies, and nothing inside where time is over before.
pub(super) fn rows_scores(body: &Body, x: &Matrix<'_>, deadline: Deadline) -> Option<Option<Scores>> {
    let score: Scorer<'_> = match body {
        Body::Bayes(bayes) => Box::new(|row| of_bayes(bayes, row)),
        Body::Layers(layers) => {
            let parts: Vec<_> = (0..layers.units().len()).filter_map(|layer| layers.layer(layer)).collect();
            Box::new(move |row| of_layers(&parts, layers.activation(), row))
        }
        Body::Linear(_) | Body::Voted(_) | Body::Kernel(_) => return None,
    };
    let row = |i: usize| {
        let mut row = vec![0.0; body.n_cols()];
        entries(x, i).into_iter().for_each(|(j, v)| row[j] = v);
        (!deadline.is_over()).then(|| score(&row))
    };
    let rows: Option<Vec<Vec<(f64, f64)>>> = (0..x.n_rows()).into_par_iter().map(row).collect();
    Some(rows.map(|rows| {
        let planes = |part: fn(&(f64, f64)) -> f64| -> Vec<Vec<f64>> {
            (0..body.n_scores()).map(|p| rows.iter().map(|row| part(&row[p])).collect()).collect()
        };
        Scores { g: planes(|(g, _)| *g), size: planes(|(_, size)| *size) }
    }))
}

/// log P(c) + Σ log p(xⱼ | c), and of two classes the difference.
fn of_bayes(bayes: &Bayes, row: &[f64]) -> Vec<(f64, f64)> {
    let k = bayes.n_classes();
    let term = |j: usize, c: usize| match &bayes.likelihood {
        Likelihood::Gaussian { means, variances } => {
            let (mean, variance) = (means[j * k + c], variances[j * k + c]);
            -((row[j] - mean).powi(2) / variance + (std::f64::consts::TAU * variance).ln()) / 2.0
        }
        Likelihood::Bernoulli { threshold, above, below } => {
            if row[j] > *threshold {
                above[j * k + c]
            } else {
                below[j * k + c]
            }
        }
    };
    let class = |c: usize| added((0..row.len()).map(|j| term(j, c)).chain([bayes.log_priors()[c]]));
    let classes: Vec<(f64, f64)> = (0..k).map(class).collect();
    match classes[..] {
        [(first, small), (second, large)] => vec![(second - first, small + large)],
        _ => classes,
    }
}

/// Layer by layer; the size of what was added up counts that of all layers before.
fn of_layers(layers: &[(Vec<f32>, Vec<f32>)], activation: Activation, row: &[f64]) -> Vec<(f64, f64)> {
    let mut values: Vec<(f64, f64)> = row.iter().map(|v| (*v, v.abs())).collect();
    for (layer, (weights, bias)) in layers.iter().enumerate() {
        let units = bias.len();
        let unit = |u: usize| {
            let start = (f64::from(bias[u]), f64::from(bias[u].abs()));
            values.iter().enumerate().fold(start, |(sum, size), (j, (value, before))| {
                let w = f64::from(weights[j * units + u]);
                (sum + w * value, size + w.abs() * before)
            })
        };
        let sums: Vec<(f64, f64)> = (0..units).map(unit).collect();
        values = match (layer + 1 == layers.len(), activation) {
            (true, _) => sums,
            (false, Activation::Relu) => sums.into_iter().map(|(z, size)| (z.max(0.0), size)).collect(),
            (false, Activation::Tanh) => sums.into_iter().map(|(z, size)| (z.tanh(), size)).collect(),
            (false, Activation::Logistic) => {
                sums.into_iter().map(|(z, size)| (1.0 / (1.0 + (-z).exp()), size)).collect()
            }
        };
    }
    values
}

/// −log of the probability of a class by its scores.
pub(super) fn log_loss(scores: &[f64], class: usize) -> f64 {
    let scores = match scores {
        [score] => vec![0.0, *score],
        many => many.to_vec(),
    };
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + scores.iter().map(|score| (score - most).exp()).sum::<f64>().ln() - scores[class]
}
