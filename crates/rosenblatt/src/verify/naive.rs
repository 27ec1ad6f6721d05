//! Scores and lengths, one number after the other, in double precision and by the formulas alone. Nothing here is shared with what learns and predicts but the access to rows.

use rayon::prelude::*;

use crate::data::{Matrix, Rows};
use crate::kernel::Kernel;
use crate::model::{Body, Expansion, Planes, Sum};

/// A row by its entries that are not 0.
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
    /// ‖z‖² of each.
    squares: Vec<f64>,
    /// Columns up to the last with an entry.
    width: usize,
}

fn square(row: &Entries) -> f64 {
    row.iter().map(|(_, v)| v * v).sum()
}

fn width(row: &Entries) -> usize {
    row.last().map_or(0, |(j, _)| j + 1)
}

impl Known {
    /// Nothing for votes, and for kernels that are functions of a program.
    pub(super) fn of(body: &Body) -> Option<Known> {
        match body {
            Body::Linear(planes) => Some(Known::linear(planes)),
            Body::Kernel(expansion) => Known::kernel(expansion),
            Body::Voted(_) => None,
        }
    }

    fn linear(planes: &Planes) -> Known {
        let plane = |c: usize| (planes.normal(c), planes.bias()[c]);
        Known::Linear { planes: (0..planes.k()).map(plane).collect(), lifted: planes.is_lifted() }
    }

    fn kernel(expansion: &Expansion) -> Option<Known> {
        let Sum::Coefficients { planes, values } = &expansion.sum else { return None };
        let rows = (0..expansion.len()).map(|s| entries(&expansion.rows, s)).collect();
        let stored = Stored::new(expansion.kernel.kernel()?, rows);
        let offsets = expansion.offsets();
        let plane = |p: usize| (values.iter().skip(p).step_by(*planes).copied().collect(), offsets[p]);
        Some(Known::Kernel { stored, planes: (0..*planes).map(plane).collect(), lifted: expansion.lifted })
    }

    pub(super) fn is_kernel(&self) -> bool {
        matches!(self, Known::Kernel { .. })
    }

    /// g of every plane for every row, plane by plane.
    pub(super) fn scores(&self, x: &Matrix<'_>) -> Vec<Vec<f64>> {
        let rows: Vec<Vec<f64>> =
            (0..x.n_rows()).into_par_iter().map(|i| self.score(&entries(x, i))).collect();
        (0..self.planes().len()).map(|p| rows.iter().map(|row| row[p]).collect()).collect()
    }

    /// g of every plane for one row.
    pub(super) fn score(&self, row: &Entries) -> Vec<f64> {
        match self {
            Known::Linear { planes, .. } => {
                let score = |(w, b): &(Vec<f64>, f64)| {
                    row.iter().map(|&(j, v)| w.get(j).copied().unwrap_or(0.0) * v).sum::<f64>() + b
                };
                planes.iter().map(score).collect()
            }
            Known::Kernel { stored, planes, lifted } => {
                let lift = if *lifted { 1.0 } else { 0.0 };
                let values = stored.values(row);
                let score = |(a, b): &(Vec<f64>, f64)| {
                    a.iter().zip(&values).map(|(a, k)| a * (k + lift)).sum::<f64>() + b
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

    /// ‖w‖² of each plane, without any bias.
    pub(super) fn sq_norms(&self, x: &Matrix<'_>) -> Vec<f64> {
        match self {
            Known::Linear { planes, .. } => {
                planes.iter().map(|(w, _)| w.iter().map(|w| w * w).sum()).collect()
            }
            Known::Kernel { stored, planes, .. } => {
                let row = |(r, row): (usize, &Entries)| -> Vec<f64> {
                    let values = stored.values(&stored.features(row, x));
                    let times = |a: &[f64]| a[r] * a.iter().zip(&values).map(|(a, k)| a * k).sum::<f64>();
                    planes.iter().map(|(a, _)| times(a)).collect()
                };
                let rows: Vec<Vec<f64>> = stored.rows.par_iter().enumerate().map(row).collect();
                (0..planes.len()).map(|p| rows.iter().map(|row| row[p]).sum()).collect()
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
            Stored::new(kernel, vec![row.clone()]).values(&row)[0]
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

    pub(super) fn new(kernel: Kernel, rows: Vec<Entries>) -> Self {
        let (squares, width) = (rows.iter().map(square).collect(), rows.iter().map(width).max().unwrap_or(0));
        Stored { kernel, rows, squares, width }
    }

    /// What a stored row has to be compared by: itself, or, where values are precomputed, the row of values that it stands for.
    fn features(&self, row: &Entries, x: &Matrix<'_>) -> Entries {
        match (self.kernel, row.first()) {
            (Kernel::Precomputed, Some(&(number, _))) if number < x.n_rows() => entries(x, number),
            (Kernel::Precomputed, _) => Vec::new(),
            _ => row.clone(),
        }
    }

    /// K of a row with each stored one. What columns without an entry in the stored row add is known beforehand, so that only its entries are gone through.
    pub(super) fn values(&self, row: &Entries) -> Vec<f64> {
        let mut full = vec![0.0; self.width.max(width(row))];
        row.iter().for_each(|&(j, v)| full[j] = v);
        let (own, size): (f64, f64) = (square(row), row.iter().map(|(_, v)| v.abs()).sum());
        let value = |(z, &other): (&Entries, &f64)| {
            let product = || z.iter().map(|&(j, v)| full[j] * v).sum::<f64>();
            // Σ f(u, v), where f(u, 0) = |u|.
            let apart = |f: fn(f64, f64) -> f64| {
                size + z.iter().map(|&(j, v)| f(full[j], v) - full[j].abs()).sum::<f64>()
            };
            match self.kernel {
                Kernel::Linear | Kernel::Precomputed => product(),
                Kernel::Poly { degree, gamma, coef0 } => {
                    (gamma * product() + coef0).powi(degree.cast_signed())
                }
                Kernel::Rbf { gamma } => (-gamma * (own + other - 2.0 * product()).max(0.0)).exp(),
                Kernel::Sigmoid { gamma, coef0 } => (gamma * product() + coef0).tanh(),
                Kernel::Laplacian { gamma } => (-gamma * apart(|u, v| (u - v).abs())).exp(),
                Kernel::Chi2 { gamma } => {
                    (-gamma * apart(|u, v| (u - v).powi(2) / (u + v).max(f64::MIN_POSITIVE))).exp()
                }
                Kernel::Cosine => match own * other {
                    lengths if lengths > 0.0 => product() / lengths.sqrt(),
                    _ => 0.0,
                },
            }
        };
        self.rows.iter().zip(&self.squares).map(value).collect()
    }
}
