//! One file a command: each gathers what it shows, then writes it once.

pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod inspect;
pub(crate) mod list;
pub(crate) mod plan;
pub(crate) mod plot;
pub(crate) mod predict;
pub(crate) mod separable;
pub(crate) mod trace;
pub(crate) mod train;
pub(crate) mod tune;
pub(crate) mod verify;
pub(crate) mod welcome;

mod audit;
mod data;
mod learned;
mod obstacle;
mod outcome;
mod picture;
mod report;
mod stored;
mod stream;

use std::io::{self, Write};

use serde_json::Value;

use crate::failure::Failure;

/// Writes to standard output, with colours where they are wanted.
fn emit(text: &str) -> Result<(), Failure> {
    write_to(anstream::stdout().lock(), text)
}

/// Writes data to standard output, byte by byte as it is.
fn emit_raw(text: &str) -> Result<(), Failure> {
    write_to(io::stdout().lock(), text)
}

/// A reader that has seen enough (`| head`) is not an error.
fn write_to(mut out: impl Write, text: &str) -> Result<(), Failure> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

fn emit_json(value: &Value) -> Result<(), Failure> {
    emit(&format!("{value:#}\n"))
}

/// Says something beside the result.
fn note(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// The largest first, by absolute value; all if `top` is 0.
fn largest<T>(mut items: Vec<T>, top: usize, size: impl Fn(&T) -> f64) -> Vec<T> {
    items.sort_by(|a, b| size(b).abs().total_cmp(&size(a).abs()));
    if top > 0 {
        items.truncate(top);
    }
    items
}
