//! `convert`

use std::path::Path;

use rosenblatt::Fit;
use rosenblatt_io::{Export, ModelFormat, export, load_with_format, write_atomically};
use serde_json::json;

use super::data::describe_classes;
use super::inspect::kind;
use super::{emit, emit_json};
use crate::args::{Cli, ConvertArgs};
use crate::failure::Failure;
use crate::format::plural;
use crate::progress::uninterrupted;

pub(crate) fn run(cli: &Cli, args: &ConvertArgs) -> Result<(), Failure> {
    let (fit, from) = load_with_format(&args.model)?;
    let to = args.to.unwrap_or_else(|| usual(&fit, from, &args.output));
    let Export { bytes, lost } = export(&fit, to)?;
    let lost = [from.dropped(&fit), lost].concat();
    uninterrupted(|| write_atomically(&args.output, |out| out.write_all(&bytes)))?;
    match (cli.json, cli.quiet) {
        (true, _) => emit_json(&json!({
            "model": args.model, "from": from.name(), "output": args.output, "to": to.name(), "bytes": bytes.len(),
            "classes": fit.model.classes, "features": fit.model.features.count, "lost": lost,
        })),
        (false, true) => Ok(()),
        (false, false) => emit(&text(&fit, &args.output, to, &lost)),
    }
}

/// JSON by the name of the file; else from theirs to ours, or the other way.
fn usual(fit: &Fit, from: ModelFormat, output: &Path) -> ModelFormat {
    let is_json = output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    match from {
        _ if is_json => ModelFormat::Json,
        ModelFormat::Libsvm | ModelFormat::Liblinear => ModelFormat::Rosenblatt,
        ModelFormat::Rosenblatt | ModelFormat::Json => ModelFormat::foreign_for(&fit.model),
    }
}

fn text(fit: &Fit, output: &Path, to: ModelFormat, lost: &[String]) -> String {
    let features = plural(fit.model.features.count as u64, "feature", "features");
    let classes = describe_classes(&fit.model.classes);
    let lost = if lost.is_empty() { "nothing".to_owned() } else { lost.join("; ") };
    format!(
        "Wrote {} ({}): {}, {features}, {classes}.\nLost: {lost}.\n",
        output.display(),
        to.name(),
        kind(fit)
    )
}
