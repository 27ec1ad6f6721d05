//! Kernels: similarities that are dot products in some space of features.

use serde::{Deserialize, Serialize};

use crate::data::{DataError, Dataset, Float, Matrix, Rows};
use crate::error::ParamError;
use crate::registry::KERNELS;
use crate::simd::{Loop, exp, power, tanh, widest};
use crate::with_rows;

/// K(u, v), with all its parameters.
///
/// ```
/// use rosenblatt::{Dense, Kernel};
/// let x = Dense::new(vec![1.0, 2.0, 3.0, 4.0], 2)?.into();
/// assert_eq!(Kernel::Poly { degree: 2, gamma: 1.0, coef0: 1.0 }.value(&x, 0, &x, 1), 144.0); // (1·3 + 2·4 + 1)²
/// assert_eq!(Kernel::Rbf { gamma: 0.5 }.value(&x, 0, &x, 1), (-4.0f64).exp()); // exp(−½·(2² + 2²))
/// # Ok::<(), rosenblatt::DataError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Kernel {
    /// u·v
    Linear,
    /// (γ·u·v + c)^d
    Poly {
        /// d
        degree: u32,
        /// γ
        gamma: f64,
        /// c
        coef0: f64,
    },
    /// exp(−γ·‖u − v‖²)
    Rbf {
        /// γ = 1/(2σ²)
        gamma: f64,
    },
    /// tanh(η·u·v + ν)
    Sigmoid {
        /// η
        gamma: f64,
        /// ν
        coef0: f64,
    },
    /// exp(−γ·‖u − v‖₁)
    Laplacian {
        /// γ
        gamma: f64,
    },
    /// u·v / (‖u‖·‖v‖)
    Cosine,
    /// exp(−γ·Σ (u − v)²/(u + v))
    Chi2 {
        /// γ
        gamma: f64,
    },
    /// What the data says: of n training rows, row i holds K(xᵢ, xⱼ) for every j; other rows hold theirs with the n training rows.
    Precomputed,
}

/// What of a pair of rows a kernel is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// Σ u·v, with ‖u‖² and ‖v‖²
    Product,
    /// Σ |u − v|
    Absolute,
    /// Σ (u − v)²/(u + v)
    Chi,
}

impl Kernel {
    pub(crate) fn pairing(self) -> Pairing {
        match self {
            Kernel::Laplacian { .. } => Pairing::Absolute,
            Kernel::Chi2 { .. } => Pairing::Chi,
            _ => Pairing::Product,
        }
    }

    /// Whether it depends on u − v alone, so that rows may be moved together.
    pub(crate) fn is_of_distance(self) -> bool {
        matches!(self, Kernel::Rbf { .. } | Kernel::Laplacian { .. })
    }

    /// γ, where values are made of how far rows are apart.
    pub(crate) fn width(self) -> Option<f64> {
        match self {
            Kernel::Rbf { gamma } | Kernel::Laplacian { gamma } | Kernel::Chi2 { gamma } => Some(gamma),
            _ => None,
        }
    }

    /// K of row `i` of `x` and row `j` of `z`, in double precision and without haste. If precomputed, `x` are the training rows, and the value is what row `j` of `z` says of
    /// number `i`.
    pub fn value(self, x: &Matrix<'_>, i: usize, z: &Matrix<'_>, j: usize) -> f64 {
        let of_number = |row: &[(usize, f64)]| row.iter().find(|(k, _)| *k == i).map_or(0.0, |(_, v)| *v);
        match self {
            Kernel::Precomputed => of_number(&entries(z, j)),
            _ => self.of_entries(&entries(x, i), &entries(z, j)),
        }
    }

    /// From the entries of two rows, summed up in the order of columns as LIBSVM does it; if precomputed, one of the rows is a number.
    pub(crate) fn of_entries(self, u: &[(usize, f64)], v: &[(usize, f64)]) -> f64 {
        let product = || paired(u, v, |u, v| u * v);
        let square = |row: &[(usize, f64)]| row.iter().map(|(_, v)| v * v).sum::<f64>();
        match self {
            Kernel::Linear | Kernel::Precomputed => product(),
            Kernel::Poly { degree, gamma, coef0 } => (gamma * product() + coef0).powi(degree.cast_signed()),
            Kernel::Rbf { gamma } => (-gamma * paired(u, v, |u, v| (u - v) * (u - v))).exp(),
            Kernel::Sigmoid { gamma, coef0 } => (gamma * product() + coef0).tanh(),
            Kernel::Laplacian { gamma } => (-gamma * paired(u, v, |u, v| (u - v).abs())).exp(),
            Kernel::Cosine => {
                let lengths = (square(u) * square(v)).sqrt();
                if lengths > 0.0 { product() / lengths } else { 0.0 }
            }
            Kernel::Chi2 { gamma } => {
                let apart = |u: f64, v: f64| if u + v > 0.0 { (u - v) * (u - v) / (u + v) } else { 0.0 };
                (-gamma * paired(u, v, apart)).exp()
            }
        }
    }

    /// Whether it is known to be a dot product in some space (positive semi-definite): what duality proves, it proves of these.
    ///
    /// ```
    /// use rosenblatt::Kernel;
    /// assert!(Kernel::Rbf { gamma: 0.5 }.is_positive());
    /// assert!(!Kernel::Sigmoid { gamma: 0.5, coef0: 0.0 }.is_positive());
    /// ```
    pub fn is_positive(self) -> bool {
        match self {
            Kernel::Sigmoid { .. } | Kernel::Precomputed => false,
            Kernel::Poly { coef0, .. } => coef0 >= 0.0,
            _ => true,
        }
    }

    /// From a sum over the columns where the first of two rows is not zero and what each brings by itself, in double precision.
    pub(crate) fn of_sums(self, paired: f64, own: f64, other: f64) -> f64 {
        match self {
            Kernel::Linear | Kernel::Precomputed => paired,
            Kernel::Poly { degree, gamma, coef0 } => (gamma * paired + coef0).powi(degree.cast_signed()),
            Kernel::Rbf { gamma } => (-gamma * (own + other - 2.0 * paired).max(0.0)).exp(),
            Kernel::Sigmoid { gamma, coef0 } => (gamma * paired + coef0).tanh(),
            Kernel::Laplacian { gamma } | Kernel::Chi2 { gamma } => {
                (-gamma * (paired + other).max(0.0)).exp()
            }
            Kernel::Cosine if own > 0.0 && other > 0.0 => paired / (own * other).sqrt(),
            Kernel::Cosine => 0.0,
        }
    }

    /// How far a value of single precision may be off, given the lengths of both rows; generously.
    pub(crate) fn coarseness(self, u: f64, v: f64) -> f64 {
        const ROUNDING: f64 = 4e-6;
        let size = match self {
            Kernel::Linear | Kernel::Precomputed => u * v,
            Kernel::Poly { degree, gamma, coef0 } => {
                f64::from(degree) * (gamma * u * v + coef0.abs()).powi(degree.cast_signed())
            }
            Kernel::Rbf { gamma } => 1.0 + gamma * (u * u + v * v),
            Kernel::Sigmoid { gamma, coef0 } => 1.0 + gamma * u * v + coef0.abs(),
            Kernel::Laplacian { .. } | Kernel::Cosine | Kernel::Chi2 { .. } => 0.0,
        };
        ROUNDING * size
    }

    /// K(u, u), given ‖u‖².
    pub(crate) fn own(self, square: f64) -> f64 {
        match self {
            Kernel::Linear => square,
            Kernel::Poly { degree, gamma, coef0 } => (gamma * square + coef0).powi(degree.cast_signed()),
            Kernel::Sigmoid { gamma, coef0 } => (gamma * square + coef0).tanh(),
            Kernel::Cosine => f64::from(u8::from(square > 0.0)),
            Kernel::Rbf { .. } | Kernel::Laplacian { .. } | Kernel::Chi2 { .. } => 1.0,
            // Only its matrix knows.
            Kernel::Precomputed => f64::NAN,
        }
    }

    pub(crate) fn check_parameters(self) -> Result<(), ParamError> {
        /// Powers far beyond this are 0 or too large for all but a few rows.
        const STEEPEST: u32 = 64;
        let gamma = |gamma: f64| {
            let fits = gamma > 0.0 && (gamma as f32).is_normal();
            ParamError::unless(fits, "gamma", "must be more than 0, and a number of single precision")
        };
        let coef0 = |coef0: f64| {
            let fits = (coef0 as f32).is_finite();
            ParamError::unless(fits, "coef0", "must be a finite number of single precision")
        };
        match self {
            Kernel::Linear | Kernel::Cosine | Kernel::Precomputed => Ok(()),
            Kernel::Rbf { gamma: g } | Kernel::Laplacian { gamma: g } | Kernel::Chi2 { gamma: g } => gamma(g),
            Kernel::Sigmoid { gamma: g, coef0: c } => gamma(g).and(coef0(c)),
            Kernel::Poly { degree, gamma: g, coef0: c } => {
                let fits = (1..=STEEPEST).contains(&degree);
                ParamError::unless(fits, "degree", "must be from 1 to 64")?;
                gamma(g).and(coef0(c))
            }
        }
    }

    /// The kernel with its parameters, as a formula.
    ///
    /// ```
    /// use rosenblatt::Kernel;
    /// assert_eq!(Kernel::Poly { degree: 2, gamma: 1.0, coef0: 1.0 }.formula(), "(u·v + 1)^2");
    /// assert_eq!(Kernel::Rbf { gamma: 0.5 }.formula(), "exp(−0.5·‖u − v‖²)");
    /// ```
    pub fn formula(self) -> String {
        let times = |gamma: f64| if gamma == 1.0 { String::new() } else { format!("{gamma}·") };
        let plus = |c: f64| match c {
            0.0 => String::new(),
            c if c < 0.0 => format!(" − {}", -c),
            c => format!(" + {c}"),
        };
        match self {
            Kernel::Linear => "u·v".to_owned(),
            Kernel::Poly { degree, gamma, coef0 } => format!("({}u·v{})^{degree}", times(gamma), plus(coef0)),
            Kernel::Rbf { gamma } => format!("exp(−{}‖u − v‖²)", times(gamma)),
            Kernel::Sigmoid { gamma, coef0 } => format!("tanh({}u·v{})", times(gamma), plus(coef0)),
            Kernel::Laplacian { gamma } => format!("exp(−{}‖u − v‖₁)", times(gamma)),
            Kernel::Cosine => "u·v / (‖u‖·‖v‖)".to_owned(),
            Kernel::Chi2 { gamma } => format!("exp(−{}Σ (u − v)²/(u + v))", times(gamma)),
            Kernel::Precomputed => "as given".to_owned(),
        }
    }

    /// Refuses rows that it is not defined for, or whose values single precision cannot hold, wherever they lie.
    pub(crate) fn check_range(self, x: &Matrix<'_>, first: u64) -> Result<(), DataError> {
        if let Kernel::Chi2 { .. } = self
            && let Some((row, column, value)) = with_rows!(x, x => first_negative(x))
        {
            return Err(DataError::Unsuitable(format!(
                "row {}, column {}: the χ² kernel is for values that are not negative, found {value}; use rbf or laplacian",
                row as u64 + first + 1,
                column + 1
            )));
        }
        if self == Kernel::Precomputed {
            return check_size(with_rows!(x, x => largest(x.values())));
        }
        // |u·v| is at most the largest ‖u‖².
        let longest = with_rows!(x, x => (0..x.n_rows()).map(|i| x.sq_norm(i)).fold(0.0, f64::max));
        let largest = match self {
            Kernel::Poly { degree, gamma, coef0 } => {
                (gamma * longest + coef0.abs()).powi(degree.cast_signed())
            }
            _ => longest,
        };
        check_size(largest)
    }

    /// Makes kernel values of sums: one row's with each of a set, given what they bring by themselves.
    pub(crate) fn finish(self, sums: &mut [f32], row: f32, set: &[f32]) {
        widest(Finish { kernel: self, sums, row, set });
    }
}

/// Which kernel, its parameters apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelName {
    /// u·v
    Linear,
    /// (γ·u·v + c)^d
    Poly,
    /// exp(−γ·‖u − v‖²)
    #[default]
    Rbf,
    /// tanh(η·u·v + ν)
    Sigmoid,
    /// exp(−γ·‖u − v‖₁)
    Laplacian,
    /// u·v / (‖u‖·‖v‖)
    Cosine,
    /// exp(−γ·Σ (u − v)²/(u + v))
    Chi2,
    /// The data holds the values.
    Precomputed,
}

impl KernelName {
    /// As the command line has it.
    pub fn name(self) -> &'static str {
        match self {
            KernelName::Linear => "linear",
            KernelName::Poly => "poly",
            KernelName::Rbf => "rbf",
            KernelName::Sigmoid => "sigmoid",
            KernelName::Laplacian => "laplacian",
            KernelName::Cosine => "cosine",
            KernelName::Chi2 => "chi2",
            KernelName::Precomputed => "precomputed",
        }
    }

    /// Whether it has a parameter.
    pub(crate) fn takes(self, parameter: &str) -> bool {
        let row = KERNELS.iter().find(|row| row.name == self.name());
        row.is_some_and(|row| row.parameters.contains(&parameter))
    }
}

/// A kernel as it is asked for: what is left open depends on the data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KernelChoice {
    /// The kernel.
    pub kernel: KernelName,
    /// γ; if neither it nor σ is given, 1 for `poly`, else 1 / (features · variance).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    /// σ, another way to give γ = 1/(2σ²).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sigma: Option<f64>,
    /// d of `poly`.
    pub degree: u32,
    /// c of `poly` (1 if not given), ν of `sigmoid` (0).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coef0: Option<f64>,
}

impl Default for KernelChoice {
    /// The Gaussian, as wide as the data.
    fn default() -> Self {
        KernelChoice { kernel: KernelName::Rbf, gamma: None, sigma: None, degree: 3, coef0: None }
    }
}

impl KernelChoice {
    /// With γ as the data suggest it, unless it is known.
    pub(crate) fn completed(self, data: &Dataset<'_>) -> Self {
        let gamma = self.gamma().unwrap_or_else(|| usual_gamma(data));
        KernelChoice { gamma: self.kernel.takes("gamma").then_some(gamma), sigma: None, ..self }
    }

    /// γ, if it was given or does not depend on the data.
    pub(crate) fn gamma(self) -> Option<f64> {
        let plain = matches!(
            self.kernel,
            KernelName::Linear | KernelName::Poly | KernelName::Cosine | KernelName::Precomputed
        );
        let of_width = self.sigma.map(|sigma| 1.0 / (2.0 * sigma * sigma));
        self.gamma.or(of_width).or(plain.then_some(1.0))
    }

    /// The kernel, γ being known.
    pub(crate) fn with(self, gamma: f64) -> Kernel {
        let (degree, coef0) = (self.degree, self.coef0);
        match self.kernel {
            KernelName::Linear => Kernel::Linear,
            KernelName::Poly => Kernel::Poly { degree, gamma, coef0: coef0.unwrap_or(1.0) },
            KernelName::Rbf => Kernel::Rbf { gamma },
            KernelName::Sigmoid => Kernel::Sigmoid { gamma, coef0: coef0.unwrap_or(0.0) },
            KernelName::Laplacian => Kernel::Laplacian { gamma },
            KernelName::Cosine => Kernel::Cosine,
            KernelName::Chi2 => Kernel::Chi2 { gamma },
            KernelName::Precomputed => Kernel::Precomputed,
        }
    }

    /// Refuses parameters that the kernel has not: they would say nothing.
    fn check_taken(self) -> Result<(), ParamError> {
        let given = [
            ("gamma", self.gamma.is_some()),
            ("sigma", self.sigma.is_some()),
            ("degree", self.degree != KernelChoice::default().degree),
            ("coef0", self.coef0.is_some()),
        ];
        let Some((name, _)) = given.into_iter().find(|&(name, given)| given && !self.kernel.takes(name))
        else {
            return Ok(());
        };
        let kernel = self.kernel.name();
        let taken = KERNELS.iter().find(|row| row.name == kernel).map_or(&[][..], |row| row.parameters);
        let takes = if taken.is_empty() { "no parameters".to_owned() } else { taken.join(", ") };
        Err(ParamError::new(name, format!("is not for the kernel {kernel}, which takes {takes}")))
    }

    pub(crate) fn check(self) -> Result<(), ParamError> {
        let one = self.gamma.is_none() || self.sigma.is_none();
        ParamError::unless(one, "sigma", "γ = 1/(2σ²): give one of gamma and sigma")?;
        self.check_taken()?;
        let width = self.sigma.unwrap_or(1.0);
        let fits = width > 0.0 && ((1.0 / (2.0 * width * width)) as f32).is_normal();
        ParamError::unless(fits, "sigma", "must be more than 0, and 1/(2σ²) a number of single precision")?;
        self.with(self.gamma().unwrap_or(1.0)).check_parameters()
    }
}

/// 1 / (features · variance of all entries), which makes squared distances about 2 whatever the scale; to four digits, so that neither the
/// order of sums nor the way rows are stored shows.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, usual_gamma};
/// let x = Dense::new(vec![1.0, 3.0, -1.0, -3.0], 2)?; // a variance of 5
/// assert_eq!(usual_gamma(&Dataset::new(x, &Labels::new(["a", "b"]))?), 0.1);
/// # Ok::<(), rosenblatt::DataError>(())
/// ```
pub fn usual_gamma(data: &Dataset<'_>) -> f64 {
    let weights: f64 = (0..data.n_rows()).map(|i| data.weight(i)).sum();
    let cells = weights * data.n_features() as f64;
    let mean = weighted_sum(data, |v| v) / cells;
    let left_out = cells - weighted_sum(data, |_| 1.0);
    let spread = weighted_sum(data, |v| (v - mean) * (v - mean)) + left_out * mean * mean;
    let gamma = cells / (data.n_features() as f64 * spread);
    let digits = format!("{gamma:.3e}").parse().unwrap_or(1.0);
    if gamma > 0.0 && (gamma as f32).is_normal() { digits } else { 1.0 }
}

fn weighted_sum(data: &Dataset<'_>, f: impl Fn(f64) -> f64) -> f64 {
    let mut sum = 0.0;
    with_rows!(data.x(), x => for i in 0..x.n_rows() {
        let weight = data.weight(i);
        x.each(i, |_, v| sum += weight * f(v));
    });
    sum
}

/// Single precision ends at 3.4e38; sums of what is below this can still be told from infinity.
pub(crate) const LARGEST: f64 = 1e35;

fn check_size(largest: f64) -> Result<(), DataError> {
    if largest < LARGEST {
        return Ok(());
    }
    Err(DataError::Unsuitable(format!(
        "kernel values of up to {largest:.0e} do not fit single precision; scale the features (--scale unit, --scale maxabs), or make gamma or the degree smaller"
    )))
}

pub(crate) fn largest<T: Float>(values: &[T]) -> f64 {
    values.iter().map(|value| value.wide().abs()).fold(0.0, f64::max)
}

/// What is stored of a row.
pub(crate) fn entries(x: &Matrix<'_>, i: usize) -> Vec<(usize, f64)> {
    let mut entries = Vec::new();
    x.each(i, |j, v| entries.push((j, v)));
    entries
}

/// Σ f(u, v) over the columns of two rows, given by their entries in order.
fn paired(u: &[(usize, f64)], v: &[(usize, f64)], f: impl Fn(f64, f64) -> f64) -> f64 {
    let (mut sum, mut a, mut b) = (0.0, 0, 0);
    loop {
        let (column, other) = (u.get(a), v.get(b));
        let place = |entry: Option<&(usize, f64)>| entry.map_or(usize::MAX, |(column, _)| *column);
        let next = place(column).min(place(other));
        if next == usize::MAX {
            return sum;
        }
        let value =
            |entry: Option<&(usize, f64)>| entry.filter(|(column, _)| *column == next).map(|(_, v)| *v);
        let (mine, theirs) = (value(column), value(other));
        sum += f(mine.unwrap_or(0.0), theirs.unwrap_or(0.0));
        a += usize::from(mine.is_some());
        b += usize::from(theirs.is_some());
    }
}

fn first_negative(x: &impl Rows) -> Option<(usize, usize, f64)> {
    (0..x.n_rows()).find_map(|i| {
        let mut found = None;
        x.each(i, |j, v| {
            if v < 0.0 && found.is_none() {
                found = Some((i, j, v));
            }
        });
        found
    })
}

struct Finish<'a> {
    kernel: Kernel,
    sums: &'a mut [f32],
    row: f32,
    set: &'a [f32],
}

impl Loop for Finish<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Finish { kernel, sums, row, set } = self;
        let pairs = sums.iter_mut().zip(set);
        match kernel {
            Kernel::Linear | Kernel::Precomputed => {}
            Kernel::Poly { degree, gamma, coef0 } => raise(sums, degree, gamma as f32, coef0 as f32),
            Kernel::Rbf { gamma } => {
                let gamma = gamma as f32;
                for (sum, own) in pairs {
                    *sum = exp(-gamma * (row + own - 2.0 * *sum).max(0.0));
                }
            }
            Kernel::Sigmoid { gamma, coef0 } => {
                let (gamma, coef0) = (gamma as f32, coef0 as f32);
                for sum in sums {
                    *sum = tanh(gamma * *sum + coef0);
                }
            }
            Kernel::Laplacian { gamma } | Kernel::Chi2 { gamma } => {
                let gamma = gamma as f32;
                for sum in sums {
                    *sum = exp(-gamma * sum.max(0.0));
                }
            }
            Kernel::Cosine => {
                for (sum, own) in pairs {
                    let lengths = row.sqrt() * own.sqrt();
                    *sum = if lengths > 0.0 { *sum / lengths } else { 0.0 };
                }
            }
        }
    }
}

/// (γ·s + c)^d of all sums; the same power for all lanes of a register.
#[inline(always)]
fn raise(sums: &mut [f32], degree: u32, gamma: f32, coef0: f32) {
    let (chunks, rest) = sums.as_chunks_mut::<16>();
    for chunk in chunks {
        let mut square = chunk.map(|sum| gamma * sum + coef0);
        let (mut result, mut left) = ([1.0; 16], degree);
        while left > 0 {
            if left & 1 == 1 {
                result.iter_mut().zip(square).for_each(|(result, square)| *result *= square);
            }
            square.iter_mut().for_each(|square| *square *= *square);
            left >>= 1;
        }
        *chunk = result;
    }
    for sum in rest {
        *sum = power(gamma * *sum + coef0, degree);
    }
}
