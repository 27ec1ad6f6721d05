//! Model files, and the models that are always there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rosenblatt::{Class, Classes, Decision, Features, Fit, Model, ModelError, Planes, Report, Status, Tie};
use thiserror::Error;

use crate::foreign::{self, ForeignError, ModelFormat};
use crate::{WriteError, write_atomically};

/// Why a model could not be loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not a model.
    #[error("{}: {source}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ModelError,
    },
    /// It is a model of LIBSVM or LIBLINEAR, but damaged, or of a kind that is not known here.
    #[error("{}, {source}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: ForeignError,
    },
}

/// Why a model could not be saved.
#[derive(Debug, Error)]
pub enum SaveError {
    /// It cannot be put into a file.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The file could not be written; nothing was left behind.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Loads a model by path, or by the name of an embedded one; model files of LIBSVM and LIBLINEAR are known by their first word.
///
/// ```
/// let topics = rosenblatt_io::load("worked-2-topics")?.model;
/// assert_eq!(topics.classes.listed(), "POLITICS, SPORTS, TECH");
/// # Ok::<(), rosenblatt_io::LoadError>(())
/// ```
pub fn load(model: &str) -> Result<Fit, LoadError> {
    Ok(load_with_format(model)?.0)
}

/// The same, and what the file was.
///
/// ```
/// use rosenblatt_io::{ModelFormat, load_with_format};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("linear.model");
/// std::fs::write(&path, "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 1\nbias -1\nw\n0.5 \n")?;
/// let (fit, format) = load_with_format(&path.to_string_lossy())?;
/// assert_eq!((format, fit.report.algorithm.as_str()), (ModelFormat::Liblinear, "logistic"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load_with_format(model: &str) -> Result<(Fit, ModelFormat), LoadError> {
    let path = Path::new(model);
    match embedded_model(model) {
        Some(fit) if !path.exists() => Ok((fit, ModelFormat::Rosenblatt)),
        _ => {
            let bytes = fs::read(path).map_err(|source| LoadError::Read { path: path.to_owned(), source })?;
            Ok((parse_model(&bytes, path)?, ModelFormat::of(&bytes)))
        }
    }
}

/// A model from the bytes of a file, whatever they are; errors name the path.
///
/// ```
/// use rosenblatt_io::parse_model;
/// let error = parse_model(b"svm_type epsilon_svr\nkernel_type rbf\nSV\n", "a.model".as_ref()).unwrap_err();
/// assert!(error.to_string().starts_with("a.model, line 1: expected"));
/// ```
pub fn parse_model(bytes: &[u8], path: &Path) -> Result<Fit, LoadError> {
    let path = || path.to_owned();
    match ModelFormat::of(bytes) {
        ModelFormat::Rosenblatt | ModelFormat::Json => {
            Fit::from_bytes(bytes).map_err(|source| LoadError::Model { path: path(), source })
        }
        format => foreign::read(bytes, format).map_err(|source| LoadError::Foreign { path: path(), source }),
    }
}

/// Saves a model: at every moment the old file or the new one is there, whole.
///
/// ```
/// use rosenblatt_io::{load, save};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("spam.model");
/// let fit = load("worked-2-spam")?;
/// save(&fit, &path)?;
/// assert_eq!(load(&path.to_string_lossy())?, fit);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save(fit: &Fit, path: &Path) -> Result<(), SaveError> {
    let bytes = fit.to_bytes()?;
    Ok(write_atomically(path, |out| out.write_all(&bytes))?)
}

/// Weights by feature for each class, as a lecture would write them on the board.
struct Board {
    name: &'static str,
    features: &'static [&'static str],
    classes: &'static [&'static str],
    /// For each plane its bias and its weights in feature order.
    planes: &'static [(f64, &'static [f64])],
}

/// The two models of named features that the worked examples explain.
const BOARDS: &[Board] = &[
    Board {
        name: "worked-2-spam",
        features: &["free", "money"],
        classes: &["ham", "spam"],
        planes: &[(-3.0, &[4.0, 2.0])],
    },
    Board {
        name: "worked-2-topics",
        features: &["game", "the", "vote", "win"],
        classes: &["POLITICS", "SPORTS", "TECH"],
        planes: &[(1.0, &[0.0, 0.0, 4.0, 2.0]), (-2.0, &[4.0, 0.0, 0.0, 4.0]), (2.0, &[2.0, 0.0, 0.0, 0.0])],
    },
];

fn embedded_model(name: &str) -> Option<Fit> {
    let board = BOARDS.iter().find(|board| board.name == name)?;
    let weights = (0..board.features.len()).flat_map(|j| board.planes.iter().map(move |(_, w)| w[j]));
    let bias = board.planes.iter().map(|(bias, _)| *bias).collect();
    let decision = if board.planes.len() == 1 { Decision::Sign(Tie::Negative) } else { Decision::Highest };
    let model = Model {
        classes: Classes::new(board.classes.iter().map(|&name| Class::from(name)).collect()),
        features: Features {
            count: board.features.len(),
            names: Some(board.features.iter().map(|&name| name.to_owned()).collect()),
            ..Features::default()
        },
        scaling: None,
        map: None,
        link: None,
        decision,
        body: rosenblatt::Body::Linear(Planes::from_parts(weights.collect(), bias, true)?),
    };
    let report = Report {
        algorithm: "perceptron".to_owned(),
        objective: "weights given by a worked example".to_owned(),
        status: Status::Converged,
        ..Report::default()
    };
    Some(Fit { model, report })
}
