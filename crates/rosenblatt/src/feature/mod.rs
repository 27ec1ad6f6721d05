//! Explicit maps of features, for linear learners to go beyond lines.

mod monomials;

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::data::{Csr, DataError, Dense, Features, Float, Matrix, Rows};
use crate::error::ParamError;
use crate::model::RowStore;
use crate::with_rows;
use monomials::Monomials;

/// A map, as it is asked for: `poly:2`, `homogeneous:3`, `squares`, `lift`, `identity`.
///
/// ```
/// use rosenblatt::MapKind;
/// let map: MapKind = "poly:2".parse()?;
/// assert_eq!(map, MapKind::Poly(2));
/// # Ok::<(), rosenblatt::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MapKind {
    /// Each feature squared.
    Squares,
    /// (x, ‖x‖²): circles become planes.
    Lift,
    /// All products of up to so many features, 1 among them, weighted so that dot products are (u·v + 1)^d.
    Poly(u32),
    /// All products of exactly so many features, weighted so that dot products are (u·v)^d.
    Homogeneous(u32),
    /// A feature for each training row: any labelling of different rows can be separated. Other rows are 0.
    Identity,
}

/// The highest degree of products.
const STEEPEST: u32 = 64;

impl FromStr for MapKind {
    type Err = ParamError;

    fn from_str(text: &str) -> Result<Self, ParamError> {
        let degree = |digits: &str| {
            let degree = digits.parse().ok().filter(|degree| (1..=STEEPEST).contains(degree));
            degree.ok_or_else(|| {
                ParamError::new("map", format!("{text}: the degree is a whole number from 1 to {STEEPEST}"))
            })
        };
        match text.split_once(':') {
            None if text == "squares" => Ok(MapKind::Squares),
            None if text == "lift" => Ok(MapKind::Lift),
            None if text == "identity" => Ok(MapKind::Identity),
            Some(("poly", digits)) => degree(digits).map(MapKind::Poly),
            Some(("homogeneous", digits)) => degree(digits).map(MapKind::Homogeneous),
            _ => {
                let known = "squares, lift, poly:2 (up to degree 2), homogeneous:2 (exactly 2), identity";
                Err(ParamError::new("map", format!("{text:?} is none of {known}")))
            }
        }
    }
}

impl fmt::Display for MapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapKind::Squares => write!(f, "squares"),
            MapKind::Lift => write!(f, "lift"),
            MapKind::Poly(degree) => write!(f, "poly:{degree}"),
            MapKind::Homogeneous(degree) => write!(f, "homogeneous:{degree}"),
            MapKind::Identity => write!(f, "identity"),
        }
    }
}

/// A map of the features of some data, fitted once and stored in the model.
///
/// ```
/// use rosenblatt::{Dense, FeatureMap, Features, MapKind, Matrix, Rows};
/// let x: Matrix = Dense::new(vec![1.0, 3.0], 2)?.into();
/// let features = Features { count: 2, ..Features::default() };
/// let map = FeatureMap::fit(MapKind::Lift, &x, &features)?;
/// assert_eq!(map.apply(&x)?, Dense::new(vec![1.0, 3.0, 10.0], 3)?.into());
/// # Ok::<(), rosenblatt::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureMap {
    /// What it does.
    pub kind: MapKind,
    /// The features it is given.
    pub inputs: Features,
    /// The rows that it knows, of the identity map.
    pub(crate) rows: Option<Matrix<'static>>,
}

impl FeatureMap {
    /// Refuses more terms than weights could be had for.
    pub fn fit(kind: MapKind, x: &Matrix<'_>, inputs: &Features) -> Result<Self, DataError> {
        let rows = (kind == MapKind::Identity).then(|| distinct(x));
        let map = FeatureMap { kind, inputs: inputs.clone(), rows };
        map.check()?;
        map.check_room(x)?;
        Ok(map)
    }

    pub(crate) fn check(&self) -> Result<(), DataError> {
        /// A weight of each takes half a gigabyte.
        const MOST: u128 = 1 << 26;
        if let MapKind::Poly(degree) | MapKind::Homogeneous(degree) = self.kind
            && !(1..=STEEPEST).contains(&degree)
        {
            let problem = format!("{}: the degree is a whole number from 1 to {STEEPEST}", self.kind);
            return Err(DataError::Unsuitable(problem));
        }
        let terms = self.terms();
        if terms <= MOST {
            return Ok(());
        }
        Err(DataError::Unsuitable(format!(
            "{} makes {} terms of {} features, more than the {} that are allowed; a kernel needs none of them: \
             -a kernel-perceptron --kernel poly",
            self.kind,
            grouped(terms),
            grouped(self.inputs.count as u128),
            grouped(MOST)
        )))
    }

    /// Whether the mapped rows can be had at all.
    fn check_room(&self, x: &Matrix<'_>) -> Result<(), DataError> {
        let value = if x.is_single() { 4 } else { 8 };
        let bytes = match (self.monomials(), x.is_sparse()) {
            (Some(monomials), true) => {
                let mut entries = 0u128;
                with_rows!(x, x => for i in 0..x.n_rows() {
                    let mut stored = 0;
                    x.each(i, |_, v| stored += usize::from(v != 0.0));
                    entries = entries.saturating_add(monomials.of_entries(stored));
                });
                entries.saturating_mul(value + 4)
            }
            (None, true) => (x.entries() + x.n_rows()) as u128 * (value + 4),
            (_, false) => (x.n_rows() as u128).saturating_mul(self.terms()).saturating_mul(value),
        };
        let numbers = usize::try_from(bytes / 8).unwrap_or(usize::MAX);
        if self.kind == MapKind::Identity || Vec::<f64>::new().try_reserve_exact(numbers).is_ok() {
            return Ok(());
        }
        let gib = bytes as f64 / (1u64 << 30) as f64;
        Err(DataError::Unsuitable(format!(
            "{} makes {gib:.1} GiB of these rows, more than there is; a kernel needs none of it: -a kernel-perceptron --kernel poly",
            self.kind
        )))
    }

    fn monomials(&self) -> Option<Monomials> {
        let m = self.inputs.count;
        match self.kind {
            MapKind::Poly(degree) => Some(Monomials { m, degree, least: 0 }),
            MapKind::Homogeneous(degree) => Some(Monomials { m, degree, least: degree }),
            _ => None,
        }
    }

    fn terms(&self) -> u128 {
        let inputs = self.inputs.count as u128;
        match (self.monomials(), self.kind) {
            (Some(monomials), _) => monomials.count(),
            (None, MapKind::Lift) => inputs + 1,
            (None, MapKind::Identity) => self.rows.as_ref().map_or(0, |rows| rows.n_rows() as u128),
            (None, _) => inputs,
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
            (None, _) => self.inputs.name(j),
        }
    }

    /// The mapped rows, sparse where these are, and where most of the result is 0.
    pub fn apply(&self, x: &Matrix<'_>) -> Result<Matrix<'static>, DataError> {
        if x.n_cols() != self.inputs.count {
            return Err(DataError::Features { found: x.n_cols(), expected: self.inputs.count });
        }
        self.check_room(x)?;
        let known = self.rows.as_ref().map(|rows| Places::of(rows, rows.is_single() || x.is_single()));
        let mapped = match x {
            Matrix::DenseF32(x) if known.is_none() => Matrix::DenseF32(self.dense::<_, f32>(x)?),
            Matrix::DenseF64(x) if known.is_none() => Matrix::DenseF64(self.dense::<_, f64>(x)?),
            Matrix::DenseF32(x) => Matrix::CsrF32(self.sparse::<_, f32>(x, known.as_ref())?),
            Matrix::DenseF64(x) => Matrix::CsrF64(self.sparse::<_, f64>(x, known.as_ref())?),
            Matrix::CsrF32(x) => Matrix::CsrF32(self.sparse::<_, f32>(x, known.as_ref())?),
            Matrix::CsrF64(x) => Matrix::CsrF64(self.sparse::<_, f64>(x, known.as_ref())?),
        };
        mapped.check_values().map(|()| mapped)
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

/// Rows by their bits, in single precision where rows of both are compared.
struct Places {
    single: bool,
    places: HashMap<Vec<(usize, u64)>, usize>,
}

impl Places {
    fn of(rows: &Matrix<'static>, single: bool) -> Self {
        let mut known = Places { single, places: HashMap::new() };
        for i in 0..rows.n_rows() {
            let mut entries = Vec::new();
            rows.each(i, |j, v| entries.push((j, v)));
            known.places.entry(known.key(&entries)).or_insert(i);
        }
        known
    }

    fn key(&self, entries: &[(usize, f64)]) -> Vec<(usize, u64)> {
        let rounded = |v: f64| if self.single { f64::from(v as f32) } else { v };
        entries.iter().map(|&(j, v)| (j, rounded(v).to_bits())).collect()
    }

    fn get(&self, entries: &[(usize, f64)]) -> Option<usize> {
        self.places.get(&self.key(entries)).copied()
    }
}

fn distinct(x: &Matrix<'_>) -> Matrix<'static> {
    let mut store = RowStore::new();
    with_rows!(x, x => for i in 0..x.n_rows() {
        store.intern(x, i);
    });
    store.matrix(x.n_cols())
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
