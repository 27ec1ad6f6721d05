//! What compares two rows: a kernel of ours, or a function of the user's own.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use serde::{Deserialize, Serialize, Serializer};

use crate::data::{DataError, Matrix, Rows};
use crate::kernel::{Kernel, LARGEST};
use crate::precomputed;

/// A kernel by its formula, or one that only the caller knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Similarity {
    /// One of ours.
    Kernel(Kernel),
    /// The user's own. No file holds a function, so that neither models nor checkpoints are written with it.
    #[serde(skip)]
    User(UserKernel),
}

impl From<Kernel> for Similarity {
    fn from(kernel: Kernel) -> Self {
        Similarity::Kernel(kernel)
    }
}

impl From<UserKernel> for Similarity {
    fn from(kernel: UserKernel) -> Self {
        Similarity::User(kernel)
    }
}

impl Similarity {
    /// The kernel, if it is one of ours.
    pub fn kernel(&self) -> Option<Kernel> {
        match self {
            Similarity::Kernel(kernel) => Some(*kernel),
            Similarity::User(_) => None,
        }
    }

    /// The kernel with its parameters, as a formula; the user's own by its name.
    pub fn formula(&self) -> String {
        match self {
            Similarity::Kernel(kernel) => kernel.formula(),
            Similarity::User(user) => user.name().to_owned(),
        }
    }

    /// Refuses rows that it is not defined for, wherever they lie; the first of them has this number.
    pub(crate) fn check_range(&self, x: &Matrix<'_>, first: u64) -> Result<(), DataError> {
        match self {
            Similarity::Kernel(kernel) => kernel.check_range(x, first),
            Similarity::User(user) => user.check(x, first),
        }
    }

    /// The same, and what goes wrong with it from now on is told to nobody else.
    pub(crate) fn watched(&self) -> Self {
        match self {
            Similarity::Kernel(kernel) => Similarity::Kernel(*kernel),
            Similarity::User(user) => Similarity::User(user.watched()),
        }
    }

    /// Whether a block has had a value that is no number of single precision. Ours are checked by their rows, before.
    pub(crate) fn is_flawed(&self) -> bool {
        match self {
            Similarity::Kernel(_) => false,
            Similarity::User(user) => user.flaw().is_some(),
        }
    }

    /// Tells of such a value, once, with the numbers that the two rows have among these, or else among the stored examples.
    pub(crate) fn sound(&self, x: &Matrix<'_>, first: u64, stored: &Matrix<'_>) -> Result<(), DataError> {
        let Similarity::User(user) = self else { return Ok(()) };
        let Some(Flaw { rows: [u, v], value }) = user.flaw().take() else { return Ok(()) };
        let place = |row: &Matrix<'_>| {
            let number = |x: &Matrix<'_>| (0..x.n_rows()).find(|&i| entries(x, i) == entries(row, 0));
            let known = number(x).map(|i| format!("row {}", i as u64 + first + 1));
            known.or_else(|| number(stored).map(|s| format!("stored example {}", s + 1)))
        };
        let unknown = || "an earlier row".to_owned();
        // A user thinks of the row that came, and then of what it met.
        let mut places = [place(&u), place(&v)].map(|place| place.unwrap_or_else(unknown));
        places.sort_by_key(|place| !place.starts_with("row"));
        Err(user.refused(&places.join(" and "), value))
    }

    /// What is asked of the rows that are learned from, and of no others.
    pub(crate) fn check_training(&self, x: &Matrix<'_>) -> Result<(), DataError> {
        match self {
            Similarity::Kernel(Kernel::Precomputed) => precomputed::check(x),
            _ => Ok(()),
        }
    }
}

/// A kernel of one's own, a whole block of values at a time: what a call costs (Python's, say) is paid once a block.
///
/// ```
/// use rosenblatt::{BlockKernel, Dense, Gram, Matrix, Rows, UserKernel};
/// /// Features that two rows have in common.
/// struct Common;
/// impl BlockKernel for Common {
///     fn block(&self, x: &Matrix<'_>, rows: &[usize], z: &Matrix<'_>, out: &mut [f32]) {
///         for (&i, out) in rows.iter().zip(out.chunks_mut(z.n_rows())) {
///             for (s, out) in out.iter_mut().enumerate() {
///                 let mut row = vec![0.0; x.n_cols().max(z.n_cols())];
///                 x.each(i, |j, v| row[j] = v);
///                 z.each(s, |j, v| *out += f32::from(v != 0.0 && row[j] != 0.0));
///             }
///         }
///     }
/// }
/// let x = Dense::new(vec![1.0, 0.0, 1.0, 1.0, 1.0, 0.0], 3)?.into();
/// let gram = Gram::new(UserKernel::new("common features", Common), &x)?;
/// let mut values = [0.0; 4];
/// gram.values(&gram.tiles(&gram, &[0, 1]), &[0, 1], &mut values);
/// assert_eq!(values, [2.0, 1.0, 1.0, 2.0]);
/// # Ok::<(), rosenblatt::DataError>(())
/// ```
pub trait BlockKernel: Send + Sync {
    /// K of each of these rows of `x` with each row of `z`, row after row: `out[r · z.n_rows() + s]` is for row `rows[r]` and row `s`. It comes filled with zeros.
    ///
    /// A value must depend on its two rows alone, or results would depend on blocks and threads, and be finite: learners and models refuse rows for which it is not. Where one
    /// matrix is narrower than the other, what it lacks is 0. Several threads may call at once.
    fn block(&self, x: &Matrix<'_>, rows: &[usize], z: &Matrix<'_>, out: &mut [f32]);
}

/// A kernel of one's own, with the name it has in reports.
///
/// ```
/// use rosenblatt::{Dataset, Dense, KernelPerceptron, Labels, Learner, UserKernel};
/// let overlap = UserKernel::from_fn("Σ min(u, v)", |u, v| u.iter().zip(v).map(|(u, v)| u.min(*v)).sum());
/// let x = Dense::new(vec![4.0, 0.0, 1.0, 0.0, 3.0, 2.0, 3.0, 1.0, 0.0, 1.0, 4.0, 2.0], 3)?;
/// let data = Dataset::new(x, &Labels::new(["yes", "no", "yes", "no"]))?;
/// let learner = KernelPerceptron { user: Some(overlap), ..KernelPerceptron::default() };
/// let fit = learner.fit(&data, &mut ())?;
/// assert_eq!(fit.report.train_accuracy, Some(1.0));
/// assert!(fit.to_bytes().unwrap_err().to_string().contains("Σ min(u, v)")); // no file holds a function
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone)]
pub struct UserKernel {
    name: Arc<str>,
    kernel: Arc<dyn BlockKernel>,
    /// The first value that was not a number, until somebody asks: blocks are evaluated far from where errors can be returned. Clones share it.
    flaw: Arc<Mutex<Option<Flaw>>>,
}

/// Two rows, and the value that a kernel must not have.
struct Flaw {
    rows: [Matrix<'static>; 2],
    value: f32,
}

impl UserKernel {
    /// From whole blocks.
    pub fn new(name: &str, kernel: impl BlockKernel + 'static) -> Self {
        UserKernel { name: name.into(), kernel: Arc::new(kernel), flaw: Arc::default() }
    }

    /// From a function of two rows, zeros included.
    pub fn from_fn(name: &str, f: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static) -> Self {
        UserKernel::new(name, Pairwise(f))
    }

    /// What it is called in reports.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Remembers the first value that is not a number.
    pub(crate) fn block(&self, x: &Matrix<'_>, rows: &[usize], z: &Matrix<'_>, out: &mut [f32]) {
        self.evaluate(x, rows, z, out);
        if let Some(at) = out.iter().position(|value| !is_usable(*value)) {
            let (r, s) = (at / z.n_rows(), at % z.n_rows());
            let rows = [x.select(&rows[r..=r]), z.select(&[s])];
            self.flaw().get_or_insert(Flaw { rows, value: out[at] });
        }
    }

    fn evaluate(&self, x: &Matrix<'_>, rows: &[usize], z: &Matrix<'_>, out: &mut [f32]) {
        if !out.is_empty() {
            out.fill(0.0);
            self.kernel.block(x, rows, z, out);
        }
    }

    fn flaw(&self) -> std::sync::MutexGuard<'_, Option<Flaw>> {
        self.flaw.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watched(&self) -> Self {
        UserKernel { flaw: Arc::default(), ..self.clone() }
    }

    fn refused(&self, rows: &str, value: f32) -> DataError {
        let name = &self.name;
        DataError::Unsuitable(format!(
            "the kernel {name} of {rows} is {value}, which is not a finite number of single precision"
        ))
    }

    /// A look at a few rows before anything else is done: what goes wrong mostly does so everywhere.
    fn check(&self, x: &Matrix<'_>, first: u64) -> Result<(), DataError> {
        const FEW: usize = 16;
        let rows: Vec<usize> = (0..x.n_rows().min(FEW)).collect();
        let mut values = vec![0.0; rows.len() * rows.len()];
        self.evaluate(x, &rows, &x.select(&rows), &mut values);
        let Some(at) = values.iter().position(|value| !is_usable(*value)) else { return Ok(()) };
        let row = |i: usize| format!("row {}", i as u64 + first + 1);
        let rows = [row(at / rows.len()), row(at % rows.len())].join(" and ");
        Err(self.refused(&rows, values[at]))
    }
}

impl fmt::Debug for UserKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UserKernel").field(&self.name).finish()
    }
}

/// The same function: two that compute the same cannot be told to.
impl PartialEq for UserKernel {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.kernel, &other.kernel)
    }
}

/// Its name, which is all that can be written down.
impl Serialize for UserKernel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

fn is_usable(value: f32) -> bool {
    f64::from(value.abs()) < LARGEST
}

/// What is not 0 of a row.
fn entries(x: &Matrix<'_>, i: usize) -> Vec<(usize, f64)> {
    let mut entries = Vec::new();
    x.each(i, |j, v| entries.extend((v != 0.0).then_some((j, v))));
    entries
}

/// A function of two rows, asked for each pair.
struct Pairwise<F>(F);

impl<F: Fn(&[f64], &[f64]) -> f64 + Send + Sync> BlockKernel for Pairwise<F> {
    fn block(&self, x: &Matrix<'_>, rows: &[usize], z: &Matrix<'_>, out: &mut [f32]) {
        let others: Vec<Vec<f64>> = (0..z.n_rows()).map(|s| full(z, s, x.n_cols())).collect();
        out.par_chunks_mut(others.len()).zip(rows).for_each(|(out, &i)| {
            let row = full(x, i, z.n_cols());
            out.iter_mut().zip(&others).for_each(|(out, other)| *out = (self.0)(&row, other) as f32);
        });
    }
}

/// A row with its zeros, as wide as the wider of two matrices.
fn full(x: &Matrix<'_>, i: usize, n_cols: usize) -> Vec<f64> {
    let mut row = vec![0.0; x.n_cols().max(n_cols)];
    x.each(i, |j, v| row[j] = v);
    row
}
