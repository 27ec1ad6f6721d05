//! Explicit maps of features, for linear learners to go beyond lines.

mod fourier;
mod identity;
mod kind;
mod monomials;
mod nystroem;

pub(crate) use fourier::Waves;
pub use kind::MapKind;
pub(crate) use monomials::Monomials;
pub(crate) use nystroem::Landmarks;

use crate::data::{Csr, DataError, Dataset, Dense, Features, Float, Matrix, Rows};
use crate::with_rows;
use identity::{Places, distinct};

/// The use that maps make of a run's seed.
const STREAM: u64 = u64::MAX - 1;

/// A map of the features of some data, fitted once and stored in the model.
///
/// ```
/// use rosenblatt::{Dataset, Dense, FeatureMap, Labels, Learner, MapKind, Perceptron, Rows, Status, Task};
/// let x = Dense::new(vec![1.0, 3.0, 2.0, 1.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["far", "near"]))?;
/// let map = FeatureMap::fit(MapKind::Lift, &data, 0)?;
/// assert_eq!(map.apply(data.x())?, Dense::new(vec![1.0, 3.0, 10.0, 2.0, 1.0, 5.0], 3)?.into());
///
/// // No line separates the corners of a square from each other. Waves along random directions do: their dot products come near exp(−γ‖u − v‖²).
/// let x = Dense::new(vec![1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["1", "-1", "1", "-1"]))?;
/// let map = FeatureMap::fit(MapKind::Fourier { waves: 500, gamma: Some(0.5) }, &data, 0)?;
/// let mapped = data.clone().mapped(&map)?;
/// assert!((mapped.x().inner(0, 1) - (-0.5 * 4f64).exp()).abs() < 0.1);
/// let fit = Perceptron::default().learn(&Task { map: Some(&map), ..Task::new(&mapped) }, &mut ())?;
/// assert_eq!(fit.report.status, Status::Converged);
/// assert_eq!(fit.model.predict(data.x())?, [1, 0, 1, 0]); // the model maps what it is given
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureMap {
    /// What it does; once fitted, with what the data had a say in.
    pub kind: MapKind,
    /// The features it is given.
    pub inputs: Features,
    pub(crate) fitted: Fitted,
}

/// What a map keeps of the rows and the seed it was fitted with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fitted {
    /// Nothing: it would be the same for any.
    Free,
    /// The rows that the identity map knows.
    Known(Matrix<'static>),
    /// What random Fourier features are made of.
    Waves(Waves),
    /// What the Nyström method sees rows from.
    Landmarks(Landmarks),
}

impl FeatureMap {
    /// Fitted to the rows of some data; what is random is drawn from the seed. Refuses more terms than weights could be had for.
    pub fn fit(kind: MapKind, data: &Dataset<'_>, seed: u64) -> Result<Self, DataError> {
        kind.check().map_err(|error| DataError::Unsuitable(error.to_string()))?;
        let kind = kind.completed(data);
        let mut map = FeatureMap { kind, inputs: data.features().clone(), fitted: Fitted::Free };
        map.check_terms()?;
        map.fitted = match kind {
            MapKind::Identity => Fitted::Known(distinct(data.x())),
            MapKind::Fourier { waves, gamma } => {
                Fitted::Waves(Waves::draw(waves, gamma.unwrap_or(1.0), data.x(), seed)?)
            }
            MapKind::Nystroem { landmarks, kernel } => {
                Fitted::Landmarks(Landmarks::draw(landmarks, kernel, data, seed)?)
            }
            _ => Fitted::Free,
        };
        map.check_terms()?;
        map.check_room(data.x())?;
        Ok(map)
    }

    /// Refuses what can only come from a file.
    pub(crate) fn check(&self) -> Result<(), DataError> {
        self.kind.check().map_err(|error| DataError::Unsuitable(error.to_string()))?;
        self.check_terms()
    }

    fn check_terms(&self) -> Result<(), DataError> {
        /// A weight of each takes half a gigabyte.
        const MOST: u128 = 1 << 26;
        let (terms, inputs) = (self.terms(), self.inputs.count as u128);
        // Directions have an entry for each feature, and landmarks may.
        let of_rows = matches!(self.kind, MapKind::Fourier { .. } | MapKind::Nystroem { .. });
        if terms <= MOST && (inputs <= MOST || !of_rows) {
            return Ok(());
        }
        Err(DataError::Unsuitable(format!(
            "{} makes {} terms of {} features, more than the {} that are allowed; {}",
            self.kind,
            grouped(terms),
            grouped(inputs),
            grouped(MOST),
            advice(self.kind)
        )))
    }

    /// Whether the mapped rows can be had at all.
    fn check_room(&self, x: &Matrix<'_>) -> Result<(), DataError> {
        let value = if x.is_single() { 4 } else { 8 };
        let all = (x.n_rows() as u128).saturating_mul(self.terms());
        let bytes = match (self.monomials(), &self.fitted) {
            (None, Fitted::Known(_)) => return Ok(()),
            (None, Fitted::Waves(_) | Fitted::Landmarks(_)) => all.saturating_mul(4),
            _ if !x.is_sparse() => all.saturating_mul(value),
            (Some(monomials), _) => {
                let mut entries = 0u128;
                with_rows!(x, x => for i in 0..x.n_rows() {
                    let mut stored = 0;
                    x.each(i, |_, v| stored += usize::from(v != 0.0));
                    entries = entries.saturating_add(monomials.of_entries(stored));
                });
                entries.saturating_mul(value + 4)
            }
            (None, _) => (x.entries() + x.n_rows()) as u128 * (value + 4),
        };
        check_bytes(self.kind, bytes)
    }

    pub(crate) fn monomials(&self) -> Option<Monomials> {
        let m = self.inputs.count;
        match self.kind {
            MapKind::Poly(degree) => Some(Monomials { m, degree, least: 0 }),
            MapKind::Homogeneous(degree) => Some(Monomials { m, degree, least: degree }),
            _ => None,
        }
    }

    fn terms(&self) -> u128 {
        let inputs = self.inputs.count as u128;
        match (self.monomials(), self.kind, &self.fitted) {
            (Some(monomials), ..) => monomials.count(),
            (None, _, Fitted::Known(rows)) => rows.n_rows() as u128,
            (None, _, Fitted::Landmarks(landmarks)) => landmarks.len() as u128,
            (None, MapKind::Fourier { waves, .. }, _) => waves as u128,
            (None, MapKind::Lift, _) => inputs + 1,
            (None, MapKind::Squares, _) => inputs,
            // Rows will tell.
            (None, ..) => 0,
        }
    }

    /// How many features it makes.
    pub fn n_outputs(&self) -> usize {
        usize::try_from(self.terms()).unwrap_or(usize::MAX)
    }

    /// What feature `j` of the result is.
    pub fn name(&self, j: usize) -> String {
        let input = |j: usize| match self.inputs.names {
            Some(_) => self.inputs.name(j),
            None => format!("x{}", j + 1),
        };
        match (self.monomials(), self.kind) {
            (Some(monomials), _) => product(&monomials.factors(j), input),
            (None, MapKind::Squares) => format!("{}²", input(j)),
            (None, MapKind::Lift) if j == self.inputs.count => "‖x‖²".to_owned(),
            (None, MapKind::Identity) => format!("row {}", j + 1),
            (None, MapKind::Fourier { .. }) => format!("wave {}", j + 1),
            (None, MapKind::Nystroem { .. }) => format!("landmark {}", j + 1),
            (None, _) => self.inputs.name(j),
        }
    }

    /// The mapped rows, sparse where these are, and where most of the result is 0; single precision where kernel values are.
    pub fn apply(&self, x: &Matrix<'_>) -> Result<Matrix<'static>, DataError> {
        if x.n_cols() != self.inputs.count {
            return Err(DataError::Features { found: x.n_cols(), expected: self.inputs.count });
        }
        self.check_room(x)?;
        let mapped = match &self.fitted {
            Fitted::Free => self.apply_terms(x, None)?,
            Fitted::Known(rows) => {
                self.apply_terms(x, Some(&Places::of(rows, rows.is_single() || x.is_single())))?
            }
            Fitted::Waves(waves) => Dense::new(waves.apply(x)?, waves.len())?.into(),
            Fitted::Landmarks(landmarks) => Dense::new(landmarks.apply(x)?, landmarks.len())?.into(),
        };
        mapped.check_values().map(|()| mapped)
    }

    /// Term by term.
    fn apply_terms(&self, x: &Matrix<'_>, known: Option<&Places>) -> Result<Matrix<'static>, DataError> {
        Ok(match x {
            Matrix::DenseF32(x) if known.is_none() => Matrix::DenseF32(self.dense(x)?),
            Matrix::DenseF64(x) if known.is_none() => Matrix::DenseF64(self.dense(x)?),
            Matrix::DenseF32(x) => Matrix::CsrF32(self.sparse(x, known)?),
            Matrix::DenseF64(x) => Matrix::CsrF64(self.sparse(x, known)?),
            Matrix::CsrF32(x) => Matrix::CsrF32(self.sparse(x, known)?),
            Matrix::CsrF64(x) => Matrix::CsrF64(self.sparse(x, known)?),
        })
    }

    fn dense<R: Rows, T: Float>(&self, x: &R) -> Result<Dense<'static, T>, DataError> {
        let width = self.n_outputs();
        let mut values = vec![T::narrow(0.0); x.n_rows() * width];
        for (i, row) in values.chunks_mut(width.max(1)).enumerate() {
            self.each(x, i, None, &mut |j, v| row[j] = T::narrow(v));
        }
        Dense::new(values, width)
    }

    fn sparse<R: Rows, T: Float>(&self, x: &R, known: Option<&Places>) -> Result<Csr<'static, T>, DataError> {
        let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..x.n_rows() {
            self.each(x, i, known, &mut |j, v| {
                columns.push(j as u32);
                values.push(T::narrow(v));
            });
            pointers.push(columns.len() as u64);
        }
        Csr::new(pointers, columns, values, self.n_outputs().max(1))
    }

    /// Calls `f(feature, value)` for what is not 0 of a mapped row, features ascending.
    fn each<R: Rows>(&self, x: &R, i: usize, known: Option<&Places>, f: &mut impl FnMut(usize, f64)) {
        let mut entries: Vec<(usize, f64)> = Vec::new();
        x.each(i, |j, v| entries.extend((v != 0.0).then_some((j, v))));
        match (self.monomials(), self.kind) {
            (Some(monomials), _) => monomials.each(&entries, f),
            (None, MapKind::Squares) => entries.iter().for_each(|&(j, v)| f(j, v * v)),
            (None, MapKind::Identity) => {
                if let Some(place) = known.and_then(|known| known.get(&entries)) {
                    f(place, 1.0);
                }
            }
            (None, _) => {
                entries.iter().for_each(|&(j, v)| f(j, v));
                let square: f64 = entries.iter().map(|(_, v)| v * v).sum();
                if square != 0.0 {
                    f(self.inputs.count, square);
                }
            }
        }
    }
}

/// What to do where a map asks for too much.
fn advice(kind: MapKind) -> &'static str {
    match kind {
        MapKind::Fourier { .. } | MapKind::Nystroem { .. } => "ask for fewer",
        _ => "a kernel needs none of them: -a kernel-perceptron --kernel poly",
    }
}

/// Refuses what memory has no room for, before any is taken.
fn check_bytes(kind: MapKind, bytes: u128) -> Result<(), DataError> {
    let numbers = usize::try_from(bytes / 8).unwrap_or(usize::MAX);
    if Vec::<f64>::new().try_reserve_exact(numbers).is_ok() {
        return Ok(());
    }
    let gib = bytes as f64 / (1u64 << 30) as f64;
    let problem = format!("{kind} makes {gib:.1} GiB of these rows, more than there is; {}", advice(kind));
    Err(DataError::Unsuitable(problem))
}

/// "x1²·x3", or 1.
fn product(factors: &[usize], name: impl Fn(usize) -> String) -> String {
    let powers = factors.chunk_by(|a, b| a == b).map(|run| match run.len() {
        1 => name(run[0]),
        2 => format!("{}²", name(run[0])),
        power => format!("{}^{power}", name(run[0])),
    });
    let text = powers.collect::<Vec<_>>().join("·");
    if text.is_empty() { "1".to_owned() } else { text }
}

/// With commas between thousands.
fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
