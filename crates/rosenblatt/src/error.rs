//! What can go wrong. Not converging is a status, not an error.

use thiserror::Error;

use crate::data::DataError;
use crate::model::ModelError;
use crate::separability::Obstruction;

/// Why a request could not be carried out.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Error {
    /// The data cannot be learned from or predicted on.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A parameter is out of its range or does not exist.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// The bytes are not a model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// No plane keeps the rows of two classes apart, or none by as much as this.
    #[error(
        "no plane separates the classes{}{}; use linear-svm, which allows for rows on the wrong side",
        problem.as_ref().map(|problem| format!(" ({problem})")).unwrap_or_default(),
        out_of_reach(*margin, proof.as_ref())
    )]
    NotSeparable {
        /// The binary problem, where there are several.
        problem: Option<String>,
        /// The class that was to be above the plane.
        positive: usize,
        /// The margin that is out of reach, as far as double precision tells.
        margin: f64,
        /// Rows that prove that there is no plane with any margin, in exact arithmetic.
        proof: Option<Obstruction>,
    },
    /// No plane in the space of the kernel separates the classes.
    #[error(
        "no plane in the space of the kernel separates the classes{}{}; allow for errors (--slack linear or squared){}",
        problem.as_ref().map(|problem| format!(" ({problem})")).unwrap_or_default(),
        proof.as_ref().map(|proof| format!(": {} it", proof.proves())).unwrap_or_default(),
        if *equal { ", as no kernel tells equal rows apart" } else { ", or take a kernel that tells more rows apart" }
    )]
    Inseparable {
        /// The binary problem, where there are several.
        problem: Option<String>,
        /// The class that was to be above the plane.
        positive: usize,
        /// Rows that prove it, in exact arithmetic: of the linear kernel always, of others where equal rows differ in class.
        proof: Option<Obstruction>,
        /// Whether they are equal, so that no kernel tells them apart.
        equal: bool,
    },
    /// An answer in whole numbers that is not one.
    #[error(
        "what was found did not pass its exact check, and is not given out: this is a bug, please report it"
    )]
    Unproved,
    /// A model cannot be where a fit starts.
    #[error("the model to go on from {0}")]
    Start(String),
    /// A run cannot be taken up again.
    #[error("the checkpoint {0}")]
    Checkpoint(String),
}

fn out_of_reach(margin: f64, proof: Option<&Obstruction>) -> String {
    match proof {
        Some(proof) => format!(": {} it, as `separable` shows", proof.proves()),
        None => format!(" with a margin of {margin:.1e}, a millionth of the longest row, or more"),
    }
}

/// What is wrong with a parameter.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{name}: {problem}")]
pub struct ParamError {
    /// The parameter, as its field is named.
    pub name: String,
    /// What was expected.
    pub problem: String,
}

impl ParamError {
    /// An error about one parameter.
    pub fn new(name: impl Into<String>, problem: impl Into<String>) -> Self {
        ParamError { name: name.into(), problem: problem.into() }
    }

    /// Passes when `holds`.
    pub(crate) fn unless(holds: bool, name: &str, problem: &str) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(ParamError::new(name, problem)) }
    }
}
