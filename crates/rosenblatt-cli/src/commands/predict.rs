//! `predict`

use rosenblatt::{Decision, Evaluation, Matrix, Model};
use rosenblatt_io::{Table, load, write_atomically};
use serde_json::json;

use super::data::{json_unknown, note_unknown, read_for};
use super::{emit_json, emit_raw, note};
use crate::args::{Cli, PredictArgs};
use crate::failure::Failure;
use crate::format::{percent, plural};
use crate::progress::uninterrupted;

pub(crate) fn run(cli: &Cli, args: &PredictArgs) -> Result<(), Failure> {
    let fit = load(&args.model)?;
    if args.probabilities {
        let problem = format!("{} gives scores, not probabilities", fit.report.algorithm);
        return Err(Failure::bad(problem).hint("use --scores"));
    }
    let table = read_for(&fit, &args.data, &args.read)?;
    if !args.ignore_labels {
        table.check_labels(&fit.model.classes).map_err(|error| {
            Failure::from(error).hint("--ignore-labels predicts without looking at the labels")
        })?;
    }
    let predictions = Predictions::of(&fit.model, &table.x)?;
    let text = match (cli.json, args.scores) {
        (true, _) => format!("{:#}\n", predictions.json(&fit.model, &table, args)),
        (false, true) => predictions.csv(&fit.model),
        (false, false) => predictions.lines(&fit.model),
    };
    match &args.output {
        Some(path) => {
            uninterrupted(|| write_atomically(path, |out| out.write_all(text.as_bytes())))?;
            if cli.json {
                let rows = predictions.classes.len();
                emit_json(&json!({
                    "rows": rows, "output": path, "model": args.model, "unknown_features": json_unknown(&table),
                }))?;
            }
        }
        None => emit_raw(&text)?,
    }
    if !(cli.quiet || cli.json) {
        note_unknown(&table);
    }
    if !(cli.quiet || cli.json || args.ignore_labels) {
        say_accuracy(&fit.model, &table, &predictions.classes);
    }
    Ok(())
}

/// Where the data has labels, how many were met; beside the result, so that a pipe sees predictions only.
fn say_accuracy(model: &Model, table: &Table, predicted: &[u32]) {
    let truth = table.labels.as_ref().and_then(|labels| labels.encode_as(&model.classes).ok());
    if let Some(truth) = truth {
        let accuracy = Evaluation::new(&model.classes, &truth, predicted).accuracy;
        let rows = plural(predicted.len() as u64, "row", "rows");
        note(&format!("{} of {rows} as labelled", percent(accuracy)));
    }
}

struct Predictions {
    classes: Vec<u32>,
    scores: Vec<f64>,
    n_scores: usize,
}

impl Predictions {
    fn of(model: &Model, x: &Matrix<'_>) -> Result<Self, Failure> {
        let scores = model.scores(x)?;
        let n_scores = model.body.n_scores();
        let classes = scores.chunks(n_scores).map(|scores| model.decide(scores) as u32).collect();
        Ok(Predictions { classes, scores, n_scores })
    }

    fn lines(&self, model: &Model) -> String {
        let names: Vec<String> = model.classes.iter().map(|class| format!("{class}\n")).collect();
        self.classes.iter().map(|&class| names[class as usize].as_str()).collect()
    }

    /// A binary model has one score, that of its second class.
    fn shown_scores(&self, model: &Model) -> Vec<Vec<f64>> {
        let of_row = |scores: &[f64]| match model.decision {
            Decision::Sign(_) => scores.to_vec(),
            decision => decision.class_scores(scores, model.classes.len()),
        };
        self.scores.chunks(self.n_scores).map(of_row).collect()
    }

    fn csv(&self, model: &Model) -> String {
        let names: Vec<String> = model.classes.iter().map(|class| quoted(&class.to_string())).collect();
        let columns = match model.decision {
            Decision::Sign(_) => &names[names.len() - 1..],
            _ => &names[..],
        };
        let mut text = format!("predicted,{}\n", columns.join(","));
        for (&class, scores) in self.classes.iter().zip(self.shown_scores(model)) {
            let scores: Vec<String> = scores.iter().map(f64::to_string).collect();
            text += &format!("{},{}\n", names[class as usize], scores.join(","));
        }
        text
    }

    fn json(&self, model: &Model, table: &Table, args: &PredictArgs) -> serde_json::Value {
        let labels: Vec<_> = self.classes.iter().map(|&class| &model.classes[class as usize]).collect();
        let scores = args.scores.then(|| self.shown_scores(model));
        json!({
            "rows": labels.len(), "classes": model.classes, "predictions": labels,
            "scores": scores, "model": args.model, "unknown_features": json_unknown(table),
        })
    }
}

fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}
