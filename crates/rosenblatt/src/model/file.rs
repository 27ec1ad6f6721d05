//! The model file: a safetensors container with raw arrays and one JSON document.
//!
//! Nothing in it can be executed. The same fit always gives the same bytes: the document is one metadata entry, its fields in a
//! fixed order, and it holds no times.

use std::collections::HashMap;

use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Ballot, Body, Decision, Link, Model, Planes, Tie, Update};
use crate::data::{Classes, Csr, Features, Float, Matrix, Rows, Scale, Scaling, TextColumn};
use crate::learner::Fit;
use crate::report::Report;

/// The newest version; older ones stay readable, and are written where they suffice.
const VERSION: u32 = 2;
/// The one metadata entry.
const KEY: &str = "rosenblatt";

/// Why bytes are not a model.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages say what each field is")]
pub enum ModelError {
    #[error("the file is empty")]
    Empty,
    #[error("this is not a model file: {0}")]
    NotContainer(String),
    #[error("the model file is cut off or has bytes too many: its arrays do not fill it exactly")]
    Length,
    #[error("this is a safetensors file, but not a rosenblatt model")]
    NotOurs,
    #[error("the model's description is damaged: {0}")]
    Description(String),
    #[error("the model has format version {found}; this program reads up to {VERSION}: update it")]
    Version { found: u32 },
    #[error("the array {0:?} is missing")]
    Missing(String),
    #[error("the array {name:?} has type {found}, where {expected} was expected")]
    Type { name: String, expected: String, found: String },
    #[error("the array {name:?} has shape {found:?}, where {expected} was expected")]
    Shape { name: String, expected: String, found: Vec<usize> },
    #[error("the array {0:?} holds a value that is not a finite number")]
    NotFinite(String),
    #[error("the model contradicts itself: {0}")]
    Contradiction(String),
}

/// All that is not an array.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    version: u32,
    classes: Classes,
    features: Features,
    scale: Option<Scale>,
    decision: Decision,
    body: BodyKind,
    /// Since version 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    link: Option<Link>,
    report: Report,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum BodyKind {
    Linear { lifted: bool },
    Voted { ballots: Vec<BallotKind> },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BallotKind {
    planes: usize,
    tie: Tie,
    lifted: bool,
}

impl Fit {
    /// The model file.
    ///
    /// ```
    /// use rosenblatt::{Dataset, Dense, Fit, Labels, Learner, Perceptron};
    /// let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0, -2.0, -3.0], 2)?;
    /// let data = Dataset::new(x, &Labels::new(["yes", "no", "yes"]))?;
    /// let fit = Perceptron::default().fit(&data, &mut ())?;
    /// let bytes = fit.to_bytes()?;
    /// assert_eq!(Fit::from_bytes(&bytes)?, fit);
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        let mut arrays = Arrays::default();
        if let Some(scaling) = &self.model.scaling {
            arrays.put("shift", &scaling.shift, &[scaling.shift.len()]);
            arrays.put("factor", &scaling.factor, &[scaling.factor.len()]);
        }
        let body = match &self.model.body {
            Body::Linear(planes) => {
                arrays.put("weights", &planes.weights, &[planes.n_cols, planes.k()]);
                arrays.put("bias", &planes.bias, &[planes.k()]);
                BodyKind::Linear { lifted: planes.lifted }
            }
            Body::Voted(ballots) => {
                ballots.iter().enumerate().for_each(|(b, ballot)| arrays.put_ballot(b, ballot));
                let kind = |b: &Ballot| BallotKind { planes: b.planes, tie: b.tie, lifted: b.lifted };
                BodyKind::Voted { ballots: ballots.iter().map(kind).collect() }
            }
        };
        let description = Description {
            version: if self.model.link.is_some() { VERSION } else { 1 },
            classes: self.model.classes.clone(),
            features: arrays.put_features(&self.model.features),
            scale: self.model.scaling.as_ref().map(|scaling| scaling.kind),
            decision: self.model.decision,
            body,
            link: self.model.link,
            report: self.report.clone(),
        };
        check(&self.model)?;
        check_finite(&self.model)?;
        let json = serde_json::to_string(&description)
            .map_err(|error| ModelError::Description(error.to_string()))?;
        arrays.serialize(json)
    }

    /// Reads a model file, whatever the bytes are.
    pub fn from_bytes(bytes: &[u8]) -> Result<Fit, ModelError> {
        if bytes.is_empty() {
            return Err(ModelError::Empty);
        }
        let file = SafeTensors::deserialize(bytes).map_err(container_error)?;
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(container_error)?;
        let json = metadata.metadata().as_ref().and_then(|entries| entries.get(KEY));
        let description = describe(json.ok_or(ModelError::NotOurs)?)?;
        let fit = assemble(description, &Reader(file))?;
        check(&fit.model)?;
        Ok(fit)
    }
}

fn container_error(error: SafeTensorError) -> ModelError {
    match error {
        SafeTensorError::MetadataIncompleteBuffer | SafeTensorError::InvalidHeaderLength => {
            ModelError::Length
        }
        other => ModelError::NotContainer(other.to_string()),
    }
}

/// The version is looked at first: a newer description may have fields this program does not know.
fn describe(json: &str) -> Result<Description, ModelError> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    let damaged = |error: serde_json::Error| ModelError::Description(error.to_string());
    let Versioned { version: found } = serde_json::from_str(json).map_err(damaged)?;
    if found > VERSION {
        return Err(ModelError::Version { found });
    }
    serde_json::from_str(json).map_err(damaged)
}

fn assemble(mut description: Description, arrays: &Reader<'_>) -> Result<Fit, ModelError> {
    arrays.read_ngrams(&mut description.features)?;
    let n_features = description.features.count;
    let scaling = match description.scale {
        None => None,
        Some(kind) => {
            let length = if kind == Scale::Unit { 0 } else { n_features };
            let shift = arrays.floats("shift", &[length])?;
            let factor = arrays.floats("factor", &[length])?;
            Some(Scaling { kind, shift, factor })
        }
    };
    let n_scores = description.decision.n_scores(description.classes.len());
    let body = match description.body {
        BodyKind::Linear { lifted } => {
            let weights = arrays.floats("weights", &[n_features, n_scores])?;
            let bias = arrays.floats("bias", &[n_scores])?;
            Body::Linear(Planes { weights, bias, n_cols: n_features, lifted })
        }
        BodyKind::Voted { ballots } if !ballots_fit(&ballots, n_scores) => return Err(scores_do_not_fit()),
        BodyKind::Voted { ballots } => Body::Voted(
            ballots
                .iter()
                .enumerate()
                .map(|(b, kind)| arrays.ballot(b, kind, n_features))
                .collect::<Result<_, _>>()?,
        ),
    };
    let Description { classes, features, decision, link, report, .. } = description;
    Ok(Fit { model: Model { classes, features, scaling, decision, body, link }, report })
}

/// One vote over all scores, or one for each.
fn ballots_fit(ballots: &[BallotKind], n_scores: usize) -> bool {
    match ballots {
        [one] => one.planes == n_scores,
        all => all.len() == n_scores && all.iter().all(|ballot| ballot.planes == 1),
    }
}

fn scores_do_not_fit() -> ModelError {
    ModelError::Contradiction("the number of scores does not fit the classes".to_owned())
}

/// What is not a number would be refused on reading, when it is too late.
fn check_finite(model: &Model) -> Result<(), ModelError> {
    let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
    let (name, fits) = match &model.body {
        Body::Linear(planes) => ("weights", finite(&planes.weights) && finite(&planes.bias)),
        Body::Voted(ballots) => ("survivals", ballots.iter().all(|ballot| finite(&ballot.survivals))),
    };
    let scaling = model.scaling.as_ref();
    match fits && scaling.is_none_or(|scaling| finite(&scaling.shift) && finite(&scaling.factor)) {
        true => Ok(()),
        false => Err(ModelError::NotFinite(name.to_owned())),
    }
}

/// What one array cannot show.
fn check(model: &Model) -> Result<(), ModelError> {
    let contradiction = |what: &str| Err(ModelError::Contradiction(what.to_owned()));
    let names: Vec<_> = model.classes.iter().collect();
    if names.is_empty() || !names.windows(2).all(|pair| pair[0] < pair[1]) {
        return contradiction("classes must be distinct and in order");
    }
    if matches!(model.decision, Decision::Sign(_)) && names.len() > 2 {
        return contradiction("one score cannot choose among more than two classes");
    }
    let n_scores = model.decision.n_scores(names.len());
    if n_scores == 0 || model.body.n_scores() != n_scores {
        return Err(scores_do_not_fit());
    }
    let features = &model.features;
    if features.count as u64 > 1 << 32 {
        return contradiction("columns are 32-bit numbers, so there cannot be more than 2^32 features");
    }
    if features.names.as_ref().is_some_and(|names| names.len() != features.count) {
        return contradiction("the number of feature names is not the number of features");
    }
    if features.schema.as_ref().is_some_and(|schema| schema.n_features() != features.count) {
        return contradiction("the table's columns do not make the number of features");
    }
    if features.hash.is_some_and(|bits| 1u64.checked_shl(bits.into()) != Some(features.count as u64)) {
        return contradiction("the number of features is not the number of buckets");
    }
    features.check_texts().map_err(ModelError::Contradiction)
}

/// Arrays on their way into a file, in little-endian bytes.
#[derive(Default)]
struct Arrays(Vec<(String, Dtype, Vec<usize>, Vec<u8>)>);

/// A number that arrays are made of.
trait Number: Copy {
    const DTYPE: Dtype;
    fn write(self, bytes: &mut Vec<u8>);
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! number {
    ($($type:ty => $dtype:expr),*) => {$(
        impl Number for $type {
            const DTYPE: Dtype = $dtype;
            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
            fn read(bytes: &[u8]) -> Self {
                bytes.try_into().map(<$type>::from_le_bytes).unwrap_or_default()
            }
        }
    )*};
}
number!(u8 => Dtype::U8, f32 => Dtype::F32, f64 => Dtype::F64, u32 => Dtype::U32, i32 => Dtype::I32, u64 => Dtype::U64);

/// No plane, in an array of plane numbers.
const NONE: i32 = -1;

impl Arrays {
    fn put<T: Number>(&mut self, name: &str, values: &[T], shape: &[usize]) {
        let mut bytes = Vec::with_capacity(size_of_val(values));
        values.iter().for_each(|value| value.write(&mut bytes));
        self.0.push((name.to_owned(), T::DTYPE, shape.to_vec(), bytes));
    }

    /// What the description says of the features. Texts have more n-grams than it has room for, so that with them names and
    /// frequencies are arrays.
    fn put_features(&mut self, features: &Features) -> Features {
        if features.texts.is_empty() {
            return features.clone();
        }
        let (mut text, mut ends) = (Vec::new(), Vec::new());
        for name in features.names.iter().flatten() {
            text.extend_from_slice(name.as_bytes());
            ends.push(text.len() as u64);
        }
        self.put("names.text", &text, &[text.len()]);
        self.put("names.ends", &ends, &[ends.len()]);
        for (t, text) in features.texts.iter().enumerate() {
            self.put(&format!("text.{t}.frequencies"), &text.frequencies, &[text.frequencies.len()]);
        }
        let described =
            |text: &TextColumn| TextColumn { name: text.name.clone(), frequencies: Vec::new(), ..*text };
        let texts = features.texts.iter().map(described).collect();
        Features { names: None, schema: features.schema.clone(), texts, ..*features }
    }

    fn put_ballot(&mut self, b: usize, ballot: &Ballot) {
        let name = |part: &str| format!("ballot.{b}.{part}");
        match &ballot.rows {
            Matrix::CsrF32(rows) => self.put_rows(b, rows),
            Matrix::CsrF64(rows) => self.put_rows(b, rows),
            Matrix::DenseF32(_) | Matrix::DenseF64(_) => {}
        }
        let n = ballot.updates.len();
        let plane = |plane: Option<u32>| plane.map_or(NONE, |plane| plane as i32);
        let column = |f: fn(&Update) -> Option<u32>| -> Vec<i32> {
            ballot.updates.iter().map(|update| plane(f(update))).collect()
        };
        let rows: Vec<u32> = ballot.updates.iter().map(|update| update.row).collect();
        let sizes: Vec<f64> = ballot.updates.iter().map(|update| update.size).collect();
        self.put(&name("rows"), &rows, &[n]);
        self.put(&name("up"), &column(|update| update.up), &[n]);
        self.put(&name("down"), &column(|update| update.down), &[n]);
        self.put(&name("sizes"), &sizes, &[n]);
        self.put(&name("survivals"), &ballot.survivals, &[n + 1]);
    }

    fn put_rows<T: Float + Number>(&mut self, b: usize, rows: &Csr<'_, T>) {
        let name = |part: &str| format!("ballot.{b}.{part}");
        self.put(&name("pointers"), rows.pointers(), &[rows.pointers().len()]);
        self.put(&name("columns"), rows.columns(), &[rows.columns().len()]);
        self.put(&name("values"), rows.values(), &[rows.values().len()]);
    }

    fn serialize(self, json: String) -> Result<Vec<u8>, ModelError> {
        let wrong = |error: SafeTensorError| ModelError::NotContainer(error.to_string());
        let views = self.0.iter().map(|(name, dtype, shape, bytes)| {
            TensorView::new(*dtype, shape.clone(), bytes).map(|view| (name.as_str(), view))
        });
        let views: Vec<_> = views.collect::<Result<_, _>>().map_err(wrong)?;
        safetensors::serialize(views, Some(HashMap::from([(KEY.to_owned(), json)]))).map_err(wrong)
    }
}

/// Arrays of a file, checked as they are taken out.
struct Reader<'a>(SafeTensors<'a>);

impl Reader<'_> {
    fn vector<T: Number>(&self, name: &str, shape: &[Option<usize>]) -> Result<Vec<T>, ModelError> {
        let view = self.0.tensor(name).map_err(|_| ModelError::Missing(name.to_owned()))?;
        if view.dtype() != T::DTYPE {
            let (expected, found) = (format!("{:?}", T::DTYPE), format!("{:?}", view.dtype()));
            return Err(ModelError::Type { name: name.to_owned(), expected, found });
        }
        let found = view.shape().to_vec();
        let fits = found.len() == shape.len()
            && found.iter().zip(shape).all(|(found, wanted)| wanted.is_none_or(|wanted| wanted == *found));
        if !fits {
            let wanted = |length: &Option<usize>| length.map_or("any".to_owned(), |n| n.to_string());
            let expected = format!("[{}]", shape.iter().map(wanted).collect::<Vec<_>>().join(", "));
            return Err(ModelError::Shape { name: name.to_owned(), expected, found });
        }
        Ok(view.data().chunks_exact(size_of::<T>()).map(T::read).collect())
    }

    fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f64>, ModelError> {
        let shape: Vec<Option<usize>> = shape.iter().copied().map(Some).collect();
        let values: Vec<f64> = self.vector(name, &shape)?;
        match values.iter().all(|value| value.is_finite()) {
            true => Ok(values),
            false => Err(ModelError::NotFinite(name.to_owned())),
        }
    }

    /// What `put_features` put aside.
    fn read_ngrams(&self, features: &mut Features) -> Result<(), ModelError> {
        if features.texts.is_empty() {
            return Ok(());
        }
        let text: Vec<u8> = self.vector("names.text", &[None])?;
        let ends: Vec<u64> = self.vector("names.ends", &[Some(features.count)])?;
        let torn = || ModelError::Contradiction("the names of the features are torn".to_owned());
        let text = String::from_utf8(text).map_err(|_| torn())?;
        let (mut names, mut start) = (Vec::with_capacity(ends.len()), 0);
        for end in ends {
            let end = usize::try_from(end).map_err(|_| torn())?;
            names.push(text.get(start..end).ok_or_else(torn)?.to_owned());
            start = end;
        }
        if start != text.len() {
            return Err(torn());
        }
        features.names = Some(names);
        for (t, text) in features.texts.iter_mut().enumerate() {
            text.frequencies = self.vector(&format!("text.{t}.frequencies"), &[None])?;
        }
        Ok(())
    }

    fn ballot(&self, b: usize, kind: &BallotKind, n_cols: usize) -> Result<Ballot, ModelError> {
        let name = |part: &str| format!("ballot.{b}.{part}");
        let single = self.0.tensor(&name("values")).is_ok_and(|view| view.dtype() == Dtype::F32);
        let rows = match single {
            true => Matrix::CsrF32(self.rows(b, n_cols)?),
            false => Matrix::CsrF64(self.rows(b, n_cols)?),
        };
        if rows.check_values().is_err() {
            return Err(ModelError::NotFinite(name("values")));
        }
        let row: Vec<u32> = self.vector(&name("rows"), &[None])?;
        let n = row.len();
        let up: Vec<i32> = self.vector(&name("up"), &[Some(n)])?;
        let down: Vec<i32> = self.vector(&name("down"), &[Some(n)])?;
        let sizes = self.floats(&name("sizes"), &[n])?;
        let survivals = self.floats(&name("survivals"), &[n + 1])?;
        if survivals.iter().any(|&visits| visits < 0.0) {
            return Err(ModelError::Contradiction(format!("vote {b} counts visits below 0")));
        }
        let plane_fits = |&plane: &i32| (NONE..kind.planes as i32).contains(&plane);
        if row.iter().any(|&row| row as usize >= rows.n_rows()) || !up.iter().chain(&down).all(plane_fits) {
            let problem = format!("updates of vote {b} name rows or planes that do not exist");
            return Err(ModelError::Contradiction(problem));
        }
        let plane = |plane: i32| u32::try_from(plane).ok();
        let update =
            |i: usize| Update { row: row[i], up: plane(up[i]), down: plane(down[i]), size: sizes[i] };
        let updates = (0..n).map(update).collect();
        let BallotKind { planes, tie, lifted } = *kind;
        Ok(Ballot { planes, tie, lifted, rows, updates, survivals })
    }

    fn rows<T: Float + Number>(&self, b: usize, n_cols: usize) -> Result<Csr<'static, T>, ModelError> {
        let name = |part: &str| format!("ballot.{b}.{part}");
        let pointers: Vec<u64> = self.vector(&name("pointers"), &[None])?;
        let columns: Vec<u32> = self.vector(&name("columns"), &[None])?;
        let values: Vec<T> = self.vector(&name("values"), &[Some(columns.len())])?;
        Csr::new(pointers, columns, values, n_cols.max(1))
            .map_err(|error| ModelError::Contradiction(format!("stored rows of vote {b}: {error}")))
    }
}
