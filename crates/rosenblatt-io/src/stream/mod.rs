//! Rows that need not fit into memory.
//!
//! [`input`] gives bytes, [`chunks`] whole lines, [`source`] rows. [`train`] learns from them as they come and keeps them in a [`cache`]
//! for later passes, [`checkpoint`] is how it survives being killed. [`blocks`] are rows to be predicted as they come.

mod blocks;
mod cache;
mod checkpoint;
mod chunks;
mod input;
mod labels;
mod ledger;
mod reader;
mod source;
mod table;
mod train;

pub use blocks::Blocks;
pub use train::{StreamOptions, Streamed, Stretch, train_stream};

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::{ReadError, WriteError};

/// Why a stream could not be learned from to its end.
#[derive(Debug, Error)]
pub enum StreamError {
    /// The input is wrong.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The rows or the parameters do not suit the learner.
    #[error(transparent)]
    Learn(#[from] rosenblatt::Error),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The rows kept for later passes could not be written or read.
    #[error("cannot keep the rows in {}: {source}", path.display())]
    Cache {
        /// The file, or the folder of a temporary one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A checkpoint cannot be taken up again.
    #[error("the checkpoint {}: {reason}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The stream was stopped before anything could be learned.
    #[error("stopped before anything was learned: only {rows} rows were read")]
    TooEarly {
        /// Rows read until then.
        rows: u64,
    },
    /// What was asked for cannot be done on a stream.
    #[error("{0}")]
    Unsuitable(String),
}
