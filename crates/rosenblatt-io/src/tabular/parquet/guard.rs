//! Panics of the parquet crate become errors.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use parquet::errors::ParquetError;

use super::pages::problem;
use crate::Problem;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs code of the parquet crate, which panics on some damaged files: it indexes by what pages say.
pub(super) fn guarded<T>(decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Problem> {
    silence();
    GUARDED.set(true);
    // What may be left half done is dropped: an error ends the reading.
    let result = catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(false);
    match result {
        Ok(result) => result.map_err(problem),
        Err(_) => Err(Problem::Parquet { reason: "it contradicts itself".to_owned() }),
    }
}

/// A library does not print, and the usual hook of panics would. All others are passed on to it.
fn silence() {
    static SILENCE: Once = Once::new();
    SILENCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                usual(panic);
            }
        }));
    });
}
