//! A run on disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::source::Position;
use super::{StreamError, Stretch};
use crate::Hashing;
use crate::write::write_through_file;

/// All that is needed to go on; the rows read so far are in the cache beside it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// The name of the input, and its length where it is a plain file.
    pub(crate) data: String,
    pub(crate) length: Option<u64>,
    /// What was asked for; a checkpoint goes on with nothing else.
    pub(crate) settings: String,
    /// Where the input was read to; none once it has ended.
    pub(crate) position: Option<Position>,
    pub(crate) labels: Vec<String>,
    pub(crate) mass: Vec<f64>,
    pub(crate) rows: u64,
    pub(crate) entries: u64,
    pub(crate) weighted: bool,
    /// Where each block of the cache ends.
    pub(crate) cache: Vec<u64>,
    pub(crate) restarts: usize,
    /// The run as it was, if it had begun, and the block of the cache it goes on with.
    pub(crate) run: Option<Vec<u8>>,
    pub(crate) block: usize,
    /// What is known once the input has ended: the features as JSON, and the rest.
    pub(crate) features: Option<String>,
    pub(crate) hashing: Option<Hashing>,
    pub(crate) dense: bool,
    pub(crate) progressive: Vec<Stretch>,
}

const MAGIC: &[u8] = b"rosenblatt checkpoint 2\n";

pub(super) const DAMAGED: &str = "it is damaged; start anew without --resume";

impl Checkpoint {
    /// The old one stays until the new one is whole.
    pub(crate) fn save(&self, path: &Path) -> Result<(), StreamError> {
        let body = postcard::to_stdvec(self).map_err(|error| damaged(path, &error.to_string()))?;
        write_through_file(path, &new(path), |out| {
            out.write_all(MAGIC)?;
            out.write_all(&xxh3_64(&body).to_le_bytes())?;
            out.write_all(&body)
        })?;
        Ok(())
    }

    /// The checkpoint of this name, if there is one.
    pub(crate) fn load(path: &Path) -> Result<Option<Checkpoint>, StreamError> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(damaged(path, &error.to_string())),
        };
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| damaged(path, "it is not one of this version"))?;
        let body = match rest.split_first_chunk::<8>() {
            Some((checksum, body)) if xxh3_64(body).to_le_bytes() == *checksum => body,
            _ => return Err(damaged(path, DAMAGED)),
        };
        postcard::from_bytes(body).map(Some).map_err(|error| damaged(path, &error.to_string()))
    }
}

/// Where the next one is written until it is whole.
pub(super) fn new(path: &Path) -> PathBuf {
    path.with_extension("checkpoint-new")
}

fn damaged(path: &Path, reason: &str) -> StreamError {
    StreamError::Checkpoint { path: path.to_owned(), reason: reason.to_owned() }
}
