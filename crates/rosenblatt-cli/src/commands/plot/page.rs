//! Where a picture goes.

use std::path::Path;

use rosenblatt_io::{check_writable, write_atomically};
use rosenblatt_plot::{Picture, PictureError};
use serde_json::json;

use super::PageArgs;
use crate::args::Cli;
use crate::commands::{emit, emit_json};
use crate::failure::Failure;
use crate::progress::uninterrupted;
use crate::style::{DIM, TITLE};

/// Pixels a unit of length: screens have as many today.
const SCALE: f64 = 2.0;

#[derive(Clone, Copy)]
enum Kind {
    Svg,
    Png,
}

fn kind(path: &Path) -> Result<Kind, Failure> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("svg") => Ok(Kind::Svg),
        Some("png") => Ok(Kind::Png),
        _ => Err(Failure::bad(format!("--output: {} is neither .svg nor .png", path.display()))
            .hint("the extension chooses: -o picture.svg or -o picture.png")),
    }
}

fn output(page: &PageArgs) -> Result<&Path, Failure> {
    let missing = || Failure::bad("where does the picture go?").hint("add -o picture.svg or -o picture.png");
    page.output.as_deref().ok_or_else(missing)
}

/// Whether there is a place for the picture: asked before long work.
pub(super) fn check(page: &PageArgs) -> Result<(), Failure> {
    let path = output(page)?;
    kind(path)?;
    Ok(check_writable(path)?)
}

/// Writes it; how large it became.
pub(super) fn save(page: &PageArgs, picture: &Picture) -> Result<usize, Failure> {
    let path = output(page)?;
    let content = match kind(path)? {
        Kind::Svg => picture.svg(page.theme.theme()).into_bytes(),
        Kind::Png => picture.png(page.theme.theme(), SCALE)?,
    };
    uninterrupted(|| write_atomically(path, |out| out.write_all(&content)))?;
    Ok(content.len())
}

/// Writes it and says so.
pub(super) fn write(cli: &Cli, page: &PageArgs, picture: &Picture) -> Result<(), Failure> {
    let size = save(page, picture)?;
    let path = output(page)?.display();
    match (cli.json, cli.quiet) {
        (true, _) => emit_json(&json!({
            "picture": page.output,
            "title": picture.title(),
            "caption": picture.caption(),
            "bytes": size,
        })),
        (false, true) => Ok(()),
        (false, false) => {
            let caption: String =
                picture.caption().lines().map(|line| format!("  {DIM}{line}{DIM:#}\n")).collect();
            emit(&format!("{TITLE}{}{TITLE:#}\n{caption}\nWrote {path}\n", picture.title()))
        }
    }
}

impl From<PictureError> for Failure {
    fn from(error: PictureError) -> Self {
        match error {
            PictureError::Encoding(_) => Failure::failed(error.to_string()),
            PictureError::Size | PictureError::Data(_) | PictureError::Unsuitable(_) => {
                Failure::bad(error.to_string())
            }
        }
    }
}
