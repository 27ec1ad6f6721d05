//! Panics of the parquet crate become errors.

use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::ParquetError;

use super::pages::problem;
use crate::Problem;

/// Runs code of the parquet crate, which panics on some damaged files.
pub(super) fn guarded<T>(decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Problem> {
    // What may be left half done is dropped: an error ends the reading.
    match catch_unwind(AssertUnwindSafe(decode)) {
        Ok(result) => result.map_err(problem),
        Err(_) => Err(Problem::Parquet { reason: "it contradicts itself".to_owned() }),
    }
}
