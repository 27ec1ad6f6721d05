//! The model file: a safetensors container with raw arrays and one JSON document.
//!
//! Nothing in it can be executed. The same fit always gives the same bytes: the document is one metadata entry, its fields in a
//! fixed order, and it holds no times.

use safetensors::tensor::{SafeTensorError, SafeTensors};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::arrays::{Arrays, KEY, Reader};
use super::{Ballot, Bayes, Body, Decision, Expansion, Layers, Likelihood, Link, Model, Planes, Sum, Tie};
use crate::calibration::isotonic;
use crate::data::{Classes, Features, Rows, Scale, Scaling};
use crate::feature::{FeatureMap, MapKind};
use crate::kernel::Kernel;
use crate::learner::Fit;
use crate::network::{Activation, Stage};
use crate::report::Report;

/// The newest version; older ones stay readable, and are written where they suffice; what was read from one is written as one.
const VERSION: u32 = 8;

/// Since then a report says all that it could say.
const COMPLETE: u32 = 7;

/// Since then models may be those of other programs.
const FOREIGN: u32 = 6;

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
    #[error(
        "a model with a kernel of the user's own ({0}) cannot be written: a file holds no functions; train again where it is needed, or on the \
         precomputed values of the kernel"
    )]
    UserKernel(String),
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
    /// Since version 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    map: Option<MapKind>,
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
    Linear {
        lifted: bool,
    },
    Voted {
        ballots: Vec<BallotKind>,
    },
    /// Since version 3.
    Kernel {
        kernel: Kernel,
        lifted: bool,
        votes: Option<VotesKind>,
        /// Since version 4: whether it has a constant term for each plane, and numbers of its rows, which since version 6 need not be known.
        #[serde(default, skip_serializing_if = "is_false")]
        machine: bool,
    },
    /// Since version 8: means and variances of each feature in each class.
    Gaussian {},
    /// Since version 8: probabilities that features are above a threshold.
    Bernoulli {
        threshold: f64,
    },
    /// Since version 8: units of each layer, the scores last.
    Layers {
        activation: Activation,
        units: Vec<usize>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct VotesKind {
    tie: Tie,
    planes: Vec<usize>,
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
        let (description, arrays) = self.described()?;
        let json = serde_json::to_string(&description).map_err(damaged)?;
        arrays.serialize(json)
    }

    /// The same as a plain document for other programs: the description of the model file, and under `arrays` its arrays as lists (of lists).
    ///
    /// ```
    /// use rosenblatt::{Dataset, Dense, Labels, Learner, Perceptron};
    /// let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0], 2)?;
    /// let fit = Perceptron::default().fit(&Dataset::new(x, &Labels::new(["yes", "no"]))?, &mut ())?;
    /// let json = fit.to_json()?;
    /// assert_eq!(json["classes"][1], "yes");
    /// assert_eq!(json["arrays"]["weights"].as_array().map(Vec::len), Some(2)); // a list for each feature
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn to_json(&self) -> Result<Value, ModelError> {
        let (description, arrays) = self.described()?;
        let mut json = serde_json::to_value(&description).map_err(damaged)?;
        json["arrays"] = arrays.to_json();
        Ok(json)
    }

    fn described(&self) -> Result<(Description, Arrays), ModelError> {
        let mut arrays = Arrays::default();
        if let Some(scaling) = &self.model.scaling {
            arrays.put("shift", &scaling.shift, &[scaling.shift.len()]);
            arrays.put("factor", &scaling.factor, &[scaling.factor.len()]);
        }
        if let Some(map) = &self.model.map {
            arrays.put_map(map);
        }
        let body = match &self.model.body {
            Body::Linear(planes) => {
                arrays.put("weights", &planes.weights, &[planes.n_cols, planes.k()]);
                arrays.put("bias", &planes.bias, &[planes.k()]);
                BodyKind::Linear { lifted: planes.lifted }
            }
            Body::Voted(ballots) => {
                for (b, ballot) in ballots.iter().enumerate() {
                    arrays.put_rows(&format!("ballot.{b}"), &ballot.rows);
                    arrays.put_history(&format!("ballot.{b}"), &ballot.history);
                }
                let kind = |b: &Ballot| BallotKind { planes: b.planes(), tie: b.tie, lifted: b.lifted };
                BodyKind::Voted { ballots: ballots.iter().map(kind).collect() }
            }
            Body::Kernel(expansion) => put_expansion(&mut arrays, expansion)?,
            Body::Bayes(bayes) => put_bayes(&mut arrays, bayes),
            Body::Layers(layers) => put_layers(&mut arrays, layers),
        };
        let description = Description {
            version: match (&body, &self.model.link) {
                (BodyKind::Gaussian {} | BodyKind::Bernoulli { .. } | BodyKind::Layers { .. }, _) => VERSION,
                _ if is_newest(self) => VERSION,
                _ if !self.report.older => COMPLETE,
                _ if is_of_another_program(&self.model) => FOREIGN,
                (_, Some(Link::Calibrated { .. })) => 5,
                (BodyKind::Kernel { machine: true, .. }, _) => 4,
                _ if self.model.map.is_some() => 3,
                (BodyKind::Kernel { .. }, _) => 3,
                (_, Some(_)) => 2,
                (_, None) => 1,
            },
            classes: self.model.classes.clone(),
            features: arrays.put_features(&self.model.features),
            scale: self.model.scaling.as_ref().map(|scaling| scaling.kind),
            map: self.model.map.as_ref().map(|map| map.kind),
            decision: self.model.decision,
            body,
            link: self.model.link.clone(),
            report: self.report.clone(),
        };
        check(&self.model)?;
        check_finite(&self.model)?;
        Ok((description, arrays))
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
        let version = description.version;
        let mut fit = assemble(description, &Reader(file))?;
        fit.report.older = version < COMPLETE;
        check(&fit.model)?;
        if version < FOREIGN && is_of_another_program(&fit.model) {
            return Err(ModelError::Contradiction(format!(
                "before version {FOREIGN} classes must be distinct and in order, stored rows and features numbered, and ties of votes broken by scores"
            )));
        }
        Ok(fit)
    }
}

/// What files have since version 8: missing values filled in, curves of probabilities, and the search that a model came from.
fn is_newest(fit: &Fit) -> bool {
    let curve = matches!(fit.model.link, Some(Link::Platt { .. } | Link::Isotonic { .. }));
    curve || fit.model.features.filled.is_some() || fit.report.selection.is_some()
}

/// What only models of other programs have: since version 6.
fn is_of_another_program(model: &Model) -> bool {
    let body = matches!(&model.body, Body::Kernel(expansion) if expansion.is_of_another_program());
    body || model.decision == Decision::Votes || !model.classes.is_sorted() || model.features.open
}

fn damaged(error: serde_json::Error) -> ModelError {
    ModelError::Description(error.to_string())
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
    let map = description.map.map(|kind| arrays.map(kind, &description.features)).transpose()?;
    let n_features = map.as_ref().map_or(n_features, FeatureMap::n_outputs);
    let n_classes = description.classes.len();
    let n_scores = description.decision.n_scores(n_classes);
    let body = match description.body {
        BodyKind::Linear { lifted } => {
            let weights = arrays.floats("weights", &[n_features, n_scores])?;
            let bias = arrays.floats("bias", &[n_scores])?;
            Body::Linear(Planes { weights, bias, n_cols: n_features, lifted })
        }
        BodyKind::Voted { ballots } if !ballots_fit(ballots.iter().map(|b| b.planes), n_scores) => {
            return Err(scores_do_not_fit());
        }
        BodyKind::Voted { ballots } => Body::Voted(
            ballots
                .iter()
                .enumerate()
                .map(|(b, kind)| ballot(arrays, b, kind, n_features))
                .collect::<Result<_, _>>()?,
        ),
        BodyKind::Kernel { kernel, lifted, votes, machine } => {
            let rows = arrays.rows("stored", n_features)?;
            let sum = match votes {
                Some(kind) if !ballots_fit(kind.planes.iter().copied(), n_scores) => {
                    return Err(scores_do_not_fit());
                }
                None => {
                    let values = arrays.floats("coefficients", &[rows.n_rows(), n_scores])?;
                    Sum::Coefficients { planes: n_scores, values }
                }
                Some(kind) => votes_of(arrays, &kind, rows.n_rows())?,
            };
            check_kernel(kernel)?;
            let (numbers, offsets) = match machine {
                true => {
                    let known = if arrays.is_empty("numbers") { 0 } else { rows.n_rows() };
                    (arrays.vector("numbers", &[Some(known)])?, arrays.floats("offsets", &[n_scores])?)
                }
                false => (Vec::new(), Vec::new()),
            };
            let counts = match arrays.has("counts") {
                true => arrays.floats("counts", &[rows.n_rows(), n_scores])?,
                false => Vec::new(),
            };
            Body::Kernel(Expansion { kernel: kernel.into(), lifted, rows, numbers, offsets, counts, sum })
        }
        BodyKind::Gaussian {} => {
            let [means, variances] = by_class(arrays, ["means", "variances"], n_features, n_classes)?;
            bayes(arrays, n_features, n_classes, Likelihood::Gaussian { means, variances })?
        }
        BodyKind::Bernoulli { threshold } => {
            let [above, below] = by_class(arrays, ["above", "below"], n_features, n_classes)?;
            bayes(arrays, n_features, n_classes, Likelihood::Bernoulli { threshold, above, below })?
        }
        BodyKind::Layers { activation, units } => layers(arrays, activation, &units, n_features)?,
    };
    let Description { classes, features, decision, link, report, .. } = description;
    Ok(Fit { model: Model { classes, features, scaling, map, decision, body, link }, report })
}

fn put_expansion(arrays: &mut Arrays, expansion: &Expansion) -> Result<BodyKind, ModelError> {
    let kernel =
        expansion.kernel.kernel().ok_or_else(|| ModelError::UserKernel(expansion.kernel.formula()))?;
    arrays.put_rows("stored", &expansion.rows);
    let votes = match &expansion.sum {
        Sum::Coefficients { planes, values } => {
            arrays.put("coefficients", values, &[expansion.len(), *planes]);
            None
        }
        Sum::Votes { tie, histories } => {
            let histories = histories.iter().enumerate();
            let planes = histories.map(|(b, history)| {
                arrays.put_history(&format!("history.{b}"), history);
                history.planes
            });
            Some(VotesKind { tie: *tie, planes: planes.collect() })
        }
    };
    if !expansion.counts.is_empty() {
        arrays.put("counts", &expansion.counts, &[expansion.len(), expansion.planes()]);
    }
    let machine = !expansion.offsets.is_empty();
    if machine {
        arrays.put("numbers", &expansion.numbers, &[expansion.numbers.len()]);
        arrays.put("offsets", &expansion.offsets, &[expansion.offsets.len()]);
    }
    Ok(BodyKind::Kernel { kernel, lifted: expansion.lifted, votes, machine })
}

fn put_bayes(arrays: &mut Arrays, bayes: &Bayes) -> BodyKind {
    let shape = [bayes.n_cols(), bayes.n_classes()];
    arrays.put("priors", &bayes.priors, &[bayes.n_classes()]);
    match &bayes.likelihood {
        Likelihood::Gaussian { means, variances } => {
            arrays.put("means", means, &shape);
            arrays.put("variances", variances, &shape);
            BodyKind::Gaussian {}
        }
        Likelihood::Bernoulli { threshold, above, below } => {
            arrays.put("above", above, &shape);
            arrays.put("below", below, &shape);
            BodyKind::Bernoulli { threshold: *threshold }
        }
    }
}

fn put_layers(arrays: &mut Arrays, layers: &Layers) -> BodyKind {
    for (s, stage) in layers.stages.iter().enumerate() {
        let (weights, bias) = stage.parts();
        arrays.put(&format!("layer.{s}.weights"), &weights, &[stage.inputs, stage.units]);
        arrays.put(&format!("layer.{s}.bias"), bias, &[stage.units]);
    }
    BodyKind::Layers { activation: layers.activation, units: layers.units() }
}

/// Two arrays with a number for each feature and class.
fn by_class(
    arrays: &Reader<'_>,
    names: [&str; 2],
    n_features: usize,
    n_classes: usize,
) -> Result<[Vec<f64>; 2], ModelError> {
    let [first, second] = names.map(|name| arrays.floats(name, &[n_features, n_classes]));
    Ok([first?, second?])
}

fn bayes(
    arrays: &Reader<'_>,
    n_features: usize,
    n_classes: usize,
    likelihood: Likelihood,
) -> Result<Body, ModelError> {
    let priors = arrays.floats("priors", &[n_classes])?;
    let wrong = || {
        ModelError::Contradiction(
            "there are no such distributions: of two classes at least, with variances more than 0".to_owned(),
        )
    };
    Bayes::new(priors, n_features, likelihood).map(Body::Bayes).ok_or_else(wrong)
}

fn layers(
    arrays: &Reader<'_>,
    activation: Activation,
    units: &[usize],
    n_features: usize,
) -> Result<Body, ModelError> {
    let wrong = || ModelError::Contradiction("the layers have no units, or no weights".to_owned());
    let (mut stages, mut inputs) = (Vec::new(), n_features);
    for (s, &units) in units.iter().enumerate() {
        let weights: Vec<f32> = arrays.floats(&format!("layer.{s}.weights"), &[inputs, units])?;
        let bias: Vec<f32> = arrays.floats(&format!("layer.{s}.bias"), &[units])?;
        stages.push(Stage::new(&weights, &bias, inputs).ok_or_else(wrong)?);
        inputs = units;
    }
    Layers::new(activation, stages).map(Body::Layers).ok_or_else(wrong)
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(value: &bool) -> bool {
    !value
}

fn ballot(arrays: &Reader<'_>, b: usize, kind: &BallotKind, n_cols: usize) -> Result<Ballot, ModelError> {
    let name = format!("ballot.{b}");
    let rows = arrays.rows(&name, n_cols)?;
    let history = arrays.history(&name, kind.planes, rows.n_rows())?;
    Ok(Ballot { tie: kind.tie, lifted: kind.lifted, rows, history })
}

fn votes_of(arrays: &Reader<'_>, kind: &VotesKind, n_rows: usize) -> Result<Sum, ModelError> {
    let history = |(b, &planes): (usize, &usize)| arrays.history(&format!("history.{b}"), planes, n_rows);
    let histories = kind.planes.iter().enumerate().map(history).collect::<Result<_, _>>()?;
    Ok(Sum::Votes { tie: kind.tie, histories })
}

fn check_kernel(kernel: Kernel) -> Result<(), ModelError> {
    kernel.check_parameters().map_err(|error| ModelError::Contradiction(format!("kernel: {error}")))
}

/// One vote over all scores, or one for each.
fn ballots_fit(mut planes: impl ExactSizeIterator<Item = usize>, n_scores: usize) -> bool {
    match planes.len() {
        1 => planes.all(|planes| planes == n_scores),
        many => many == n_scores && planes.all(|planes| planes == 1),
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
        Body::Voted(ballots) => ("survivals", ballots.iter().all(|ballot| finite(&ballot.history.survivals))),
        Body::Kernel(expansion) => match &expansion.sum {
            Sum::Coefficients { values, .. } => {
                ("coefficients", finite(values) && finite(&expansion.offsets))
            }
            Sum::Votes { histories, .. } => {
                ("survivals", histories.iter().all(|history| finite(&history.survivals)))
            }
        },
        Body::Bayes(bayes) => match &bayes.likelihood {
            Likelihood::Gaussian { means, variances } => {
                ("means", finite(means) && finite(variances) && finite(&bayes.priors))
            }
            Likelihood::Bernoulli { above, below, .. } => {
                ("above", finite(above) && finite(below) && finite(&bayes.priors))
            }
        },
        Body::Layers(layers) => ("layer.0.weights", layers.stages.iter().all(Stage::is_finite)),
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
    let names: Vec<_> = model.classes.iter().cloned().collect();
    if names.is_empty() || Classes::ordered(names.clone()).is_none() {
        return contradiction("classes must be distinct and in order");
    }
    if matches!(model.decision, Decision::Sign(_)) && names.len() > 2 {
        return contradiction("one score cannot choose among more than two classes");
    }
    let steep = |slope: f64| slope > 0.0 && slope.is_finite();
    let classes = names.len();
    match &model.link {
        Some(Link::Calibrated { below, above }) if !(steep(*below) && steep(*above)) => {
            return contradiction("slopes of probabilities must be more than 0");
        }
        Some(Link::Platt { slope, offsets })
            if !steep(*slope) || offsets.len() != classes || !offsets.iter().all(|b| b.is_finite()) =>
        {
            return contradiction("probabilities need a slope above 0 and an offset for each class");
        }
        Some(Link::Isotonic { curves }) if !isotonic::are_sound(curves, classes) => {
            return contradiction("curves of probabilities must rise, from 0 to 1, one for each class");
        }
        _ => {}
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
    if let Some(filled) = &features.filled {
        filled.check(features.count).map_err(ModelError::Contradiction)?;
    }
    features.check_texts().map_err(ModelError::Contradiction)
}
