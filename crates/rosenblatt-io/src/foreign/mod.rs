//! Model files of LIBLINEAR and LIBSVM: what they say is kept, what they do not say is not made up.

mod liblinear;
mod libsvm;
mod lines;

use std::str::FromStr;

use rosenblatt::{Class, Classes, Fit, Link, Model, ModelError, Report, Tie};
use serde_json::Value;
use thiserror::Error;

use crate::UnknownName;

/// What a model file may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelFormat {
    /// Ours, which holds every model and its report.
    Rosenblatt,
    /// Of LIBSVM: kernel machines of two classes, or of pairs of classes.
    Libsvm,
    /// Of LIBLINEAR: a plane for two classes, or one a class.
    Liblinear,
    /// A plain document for other programs, which is only written ([`Fit::to_json`]).
    Json,
}

impl ModelFormat {
    /// All of them.
    pub const ALL: [ModelFormat; 4] =
        [ModelFormat::Rosenblatt, ModelFormat::Libsvm, ModelFormat::Liblinear, ModelFormat::Json];

    /// As the command line has it.
    pub fn name(self) -> &'static str {
        match self {
            ModelFormat::Rosenblatt => "rosenblatt",
            ModelFormat::Libsvm => "libsvm",
            ModelFormat::Liblinear => "liblinear",
            ModelFormat::Json => "json",
        }
    }

    /// By the first word of a file; what is neither LIBSVM's nor LIBLINEAR's must be ours.
    ///
    /// ```
    /// use rosenblatt_io::ModelFormat;
    /// assert_eq!(ModelFormat::of(b"svm_type c_svc\n"), ModelFormat::Libsvm);
    /// assert_eq!(ModelFormat::of(b"solver_type L2R_LR\n"), ModelFormat::Liblinear);
    /// assert_eq!(ModelFormat::of(b""), ModelFormat::Rosenblatt);
    /// ```
    pub fn of(bytes: &[u8]) -> Self {
        let mut words = bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        match words.next() {
            Some(b"svm_type") => ModelFormat::Libsvm,
            Some(b"solver_type") => ModelFormat::Liblinear,
            _ => ModelFormat::Rosenblatt,
        }
    }

    /// What a file in this format told that is not in the model it was read as.
    ///
    /// ```
    /// use rosenblatt_io::{ModelFormat, export, parse_model};
    /// let header = "svm_type nu_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0\nlabel 1 -1\nprobA -1\nprobB 0\nnr_sv 1 1\n";
    /// let fit = parse_model(format!("{header}SV\n1 1:1 \n-1 1:-1 \n").as_bytes(), "a.model".as_ref())?;
    /// assert_eq!(ModelFormat::Libsvm.dropped(&fit), ["probabilities (probA, probB)"]);
    /// assert!(export(&fit, ModelFormat::Libsvm)?.lost[0].contains("nu_svc"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dropped(self, fit: &Fit) -> Vec<String> {
        match self {
            ModelFormat::Libsvm => libsvm::dropped(fit),
            ModelFormat::Rosenblatt | ModelFormat::Liblinear | ModelFormat::Json => Vec::new(),
        }
    }

    /// The one of LIBSVM and LIBLINEAR that has models of this kind.
    pub fn foreign_for(model: &Model) -> Self {
        match &model.body {
            rosenblatt::Body::Kernel(_) => ModelFormat::Libsvm,
            _ => ModelFormat::Liblinear,
        }
    }
}

impl FromStr for ModelFormat {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let known = ModelFormat::ALL.into_iter().find(|format| format.name() == name);
        known.ok_or_else(|| UnknownName::new(name, ModelFormat::ALL.map(ModelFormat::name)))
    }
}

/// Why a model file of another program cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {problem}")]
pub struct ForeignError {
    /// Counted from 1.
    pub line: u64,
    /// What was expected, and what was found.
    pub problem: String,
    /// What may be done about it.
    pub hint: Option<String>,
}

impl ForeignError {
    fn new(line: u64, problem: impl Into<String>) -> Self {
        ForeignError { line, problem: problem.into(), hint: None }
    }

    fn hint(self, hint: &str) -> Self {
        ForeignError { hint: Some(hint.to_owned()), ..self }
    }
}

/// Why a model cannot be written in a format.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{problem}")]
pub struct ExportError {
    /// What the format does not have.
    pub problem: String,
    /// What is possible instead.
    pub hint: Option<String>,
}

impl ExportError {
    fn new(problem: impl Into<String>, hint: &str) -> Self {
        ExportError { problem: problem.into(), hint: Some(hint.to_owned()) }
    }
}

impl From<ModelError> for ExportError {
    fn from(error: ModelError) -> Self {
        ExportError { problem: error.to_string(), hint: None }
    }
}

/// A model as another program reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The file.
    pub bytes: Vec<u8>,
    /// What of the model is not in it.
    pub lost: Vec<String>,
}

/// Writes a model in a format. LIBSVM and LIBLINEAR give the same answers with it.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, Learner, LinearSvm};
/// use rosenblatt_io::{ModelFormat, export, parse_model};
/// let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0, 4.0, 1.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["1", "-1", "1"]))?;
/// let fit = LinearSvm::default().fit(&data, &mut ())?;
/// let file = export(&fit, ModelFormat::Liblinear)?;
/// assert!(file.bytes.starts_with(b"solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 2\nlabel 1 -1\n"));
/// let read = parse_model(&file.bytes, "a.model".as_ref())?.model;
/// assert_eq!(read.scores(data.x())?, fit.model.scores(data.x())?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn export(fit: &Fit, format: ModelFormat) -> Result<Export, ExportError> {
    match format {
        ModelFormat::Rosenblatt => Ok(Export { bytes: fit.to_bytes()?, lost: Vec::new() }),
        ModelFormat::Json => {
            let bytes = format!("{}\n", fit.to_json()?).into_bytes();
            Ok(Export { bytes, lost: Vec::new() })
        }
        ModelFormat::Libsvm => libsvm::write(fit),
        ModelFormat::Liblinear => liblinear::write(fit),
    }
}

/// Reads a file of another program.
pub(crate) fn read(bytes: &[u8], format: ModelFormat) -> Result<Fit, ForeignError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count() as u64;
        ForeignError::new(line, "expected text, found other bytes").hint("copy the file anew")
    })?;
    match format {
        ModelFormat::Liblinear => liblinear::read(text),
        _ => libsvm::read(text),
    }
}

/// A report that claims nothing but what the model is.
fn report(algorithm: &str, objective: String, parameters: Value) -> Report {
    Report { algorithm: algorithm.to_owned(), objective, parameters, ..Report::default() }
}

/// Two classes in class order, given the one that a score above 0 means and the other; whether scores must change their sign, and what a score of 0 means then.
fn two_classes(labels: &[f64]) -> (Classes, bool, Tie) {
    let classes = Classes::new(labels.iter().map(|&label| Class::from(label)).collect());
    match labels[0] > labels[1] {
        true => (classes, false, Tie::Negative),
        false => (classes, true, Tie::Positive),
    }
}

/// Both programs read labels as whole numbers of 32 bits.
fn labels(classes: &Classes) -> Result<Vec<i32>, ExportError> {
    let whole = |class: &Class| match class {
        Class::Number(value) if *value == f64::from(*value as i32) => Some(*value as i32),
        _ => None,
    };
    let all: Option<Vec<i32>> = classes.iter().map(whole).collect();
    all.ok_or_else(|| {
        let problem =
            format!("labels must be whole numbers in this format, but the classes are {}", classes.listed());
        ExportError::new(problem, "number the classes in the data and train on that, or use --to json")
    })
}

/// What no format but ours keeps.
fn lost(fit: &Fit) -> Vec<String> {
    let features = &fit.model.features;
    let told = [
        (fit.report.rows > 0, "report and parameters"),
        (features.names.is_some(), "names of features"),
        (
            features.schema.is_some() || !features.texts.is_empty() || features.hash.is_some(),
            "how features are made of the data",
        ),
        (fit.model.link.as_ref().is_some_and(Link::is_calibrated), "probabilities"),
    ];
    told.into_iter().filter(|(is_lost, _)| *is_lost).map(|(_, what)| what.to_owned()).collect()
}

/// The negative of a number; of 0 it is 0.
fn negative(value: f64) -> f64 {
    0.0 - value
}

/// As few digits as read back to the same bits.
fn digits(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}
