//! `predict`

use std::io::{self, Write};

use rosenblatt::{Class, Decision, Matrix, Model};
use rosenblatt_io::{Blocks, Table, Unknown, load, write_atomically};
use serde_json::{Value, json};

use super::data::{json_unknown, note_unknown, options_for};
use super::{emit_json, emit_raw, note};
use crate::args::{Cli, PredictArgs};
use crate::failure::Failure;
use crate::format::{percent, plural};
use crate::progress::{interrupted, uninterrupted};

pub(crate) fn run(cli: &Cli, args: &PredictArgs) -> Result<(), Failure> {
    let fit = load(&args.model)?;
    let model = &fit.model;
    if args.probabilities && !model.link.as_ref().is_some_and(|link| link.tells(model.decision)) {
        let problem = format!("{} gives scores, not probabilities", fit.report.algorithm);
        return Err(Failure::bad(problem).hint(
            "train it with `--calibrate 5`, or `-a logistic` without `--multiclass ovo`, or use --scores",
        ));
    }
    let blocks = Blocks::open(&args.data, &options_for(model, &args.read))?;
    let shown = match (args.scores, args.probabilities) {
        (_, true) => Some(Shown::Probabilities),
        (true, false) => Some(Shown::Scores),
        (false, false) => None,
    };
    let mut run = Run { args, shown, model, blocks, tally: Tally::default() };
    match (cli.json, &args.output) {
        (true, None) => emit_raw(&format!("{:#}\n", run.json()?))?,
        (_, Some(path)) => {
            let written = uninterrupted(|| write_atomically(path, |out| run.write(cli, out)));
            // What went wrong before the file did.
            run.tally.failure.take().map_or(Ok(()), Err)?;
            written?;
        }
        (false, None) => {
            let written = run.write(cli, &mut io::stdout().lock());
            run.tally.failure.take().map_or(Ok(()), Err)?;
            match written {
                // A reader that has seen enough (`| head`) is not an error.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                other => other?,
            }
        }
    }
    let Tally { rows, unknown, .. } = run.tally;
    if let (true, Some(path)) = (cli.json, &args.output) {
        emit_json(&json!({
            "rows": rows, "output": path, "model": args.model, "unknown_features": json_unknown(unknown),
        }))?;
    }
    if !(cli.quiet || cli.json) {
        note_unknown(unknown);
        run.say_accuracy();
    }
    Ok(())
}

/// Predictions as rows come.
struct Run<'a> {
    args: &'a PredictArgs,
    shown: Option<Shown>,
    model: &'a Model,
    blocks: Blocks,
    tally: Tally,
}

/// What has been predicted so far.
#[derive(Default)]
struct Tally {
    rows: u64,
    right: u64,
    /// Rows without a label to compare with.
    unlabelled: bool,
    unknown: Option<Unknown>,
    /// Why there are no more rows.
    failure: Option<Failure>,
}

impl Run<'_> {
    fn next(&mut self) -> Result<Option<Predictions>, Failure> {
        let Some(table) = self.blocks.next()? else { return Ok(None) };
        if !self.args.ignore_labels {
            table.check_labels(&self.model.classes).map_err(|error| {
                Failure::from(error).hint("--ignore-labels predicts without looking at the labels")
            })?;
        }
        let predictions = Predictions::of(self.model, &table.x)?;
        self.tally.count(self.model, &table, &predictions.classes);
        Ok(Some(predictions))
    }

    /// Block by block, each flushed: whoever waits for an answer has it. A failure that is not one of writing is put aside.
    fn write(&mut self, cli: &Cli, out: &mut dyn Write) -> io::Result<()> {
        if cli.json {
            let json = self.json().map_err(|failure| self.put_aside(failure))?;
            return out.write_all(format!("{json:#}\n").as_bytes());
        }
        if let Some(shown) = self.shown {
            out.write_all(csv_header(self.model, shown).as_bytes())?;
        }
        loop {
            if interrupted() {
                return Err(self.put_aside(Failure::failed("interrupted; nothing was written")));
            }
            let Some(predictions) = self.next().map_err(|failure| self.put_aside(failure))? else {
                return Ok(());
            };
            let text = match self.shown {
                Some(shown) => predictions.csv(self.model, shown),
                None => predictions.lines(self.model),
            };
            out.write_all(text.as_bytes())?;
            out.flush()?;
        }
    }

    fn put_aside(&mut self, failure: Failure) -> io::Error {
        self.tally.failure = Some(failure);
        io::Error::other("there are no more predictions")
    }

    fn json(&mut self) -> Result<Value, Failure> {
        let (mut labels, mut numbers): (Vec<&Class>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        let model = self.model;
        while let Some(predictions) = self.next()? {
            labels.extend(predictions.classes.iter().map(|&class| &model.classes[class as usize]));
            if let Some(shown) = self.shown {
                numbers.extend(predictions.numbers(model, shown));
            }
        }
        let (scores, probabilities) = match self.shown {
            None => (None, None),
            Some(Shown::Scores) => (Some(numbers), None),
            Some(Shown::Probabilities) => (None, Some(numbers)),
        };
        Ok(json!({
            "rows": labels.len(), "classes": model.classes, "predictions": labels,
            "scores": scores, "probabilities": probabilities, "model": self.args.model,
            "unknown_features": json_unknown(self.tally.unknown),
        }))
    }

    /// Where the data has labels, how many were met; beside the result, so that a pipe sees predictions only.
    fn say_accuracy(&self) {
        let Tally { rows, right, unlabelled, .. } = self.tally;
        if !unlabelled && !self.args.ignore_labels && rows > 0 {
            let accuracy = right as f64 / rows as f64;
            note(&format!("{} of {} as labelled", percent(accuracy), plural(rows, "row", "rows")));
        }
    }
}

impl Tally {
    fn count(&mut self, model: &Model, table: &Table, predicted: &[u32]) {
        self.rows += predicted.len() as u64;
        match table.labels.as_ref().map(|labels| labels.encode_as(&model.classes)) {
            Some(Ok(truth)) => {
                self.right += truth.iter().zip(predicted).filter(|(t, p)| t == p).count() as u64
            }
            _ => self.unlabelled |= !predicted.is_empty(),
        }
        if let Some(Unknown { entries, of }) = table.unknown {
            let sum = self.unknown.get_or_insert_default();
            sum.entries += entries;
            sum.of += of;
        }
    }
}

struct Predictions {
    classes: Vec<u32>,
    scores: Vec<f64>,
    n_scores: usize,
}

/// Numbers that stand beside the label.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Scores,
    Probabilities,
}

/// A binary model has one score, that of its second class.
fn csv_header(model: &Model, shown: Shown) -> String {
    let names = names(model);
    let columns = match (model.decision, shown) {
        (Decision::Sign(_), Shown::Scores) => &names[names.len() - 1..],
        _ => &names[..],
    };
    format!("predicted,{}\n", columns.join(","))
}

/// The classes as cells.
fn names(model: &Model) -> Vec<String> {
    model.classes.iter().map(|class| quoted(&class.to_string())).collect()
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

    fn numbers(&self, model: &Model, shown: Shown) -> Vec<Vec<f64>> {
        let of_row = |scores: &[f64]| match (shown, model.decision) {
            (Shown::Probabilities, _) => model.probabilities(scores).unwrap_or_default(),
            (Shown::Scores, Decision::Sign(_)) => scores.to_vec(),
            (Shown::Scores, decision) => decision.class_scores(scores, model.classes.len()),
        };
        self.scores.chunks(self.n_scores).map(of_row).collect()
    }

    fn csv(&self, model: &Model, shown: Shown) -> String {
        let (names, mut text) = (names(model), String::new());
        for (&class, numbers) in self.classes.iter().zip(self.numbers(model, shown)) {
            let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
            text += &format!("{},{}\n", names[class as usize], numbers.join(","));
        }
        text
    }
}

fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}
