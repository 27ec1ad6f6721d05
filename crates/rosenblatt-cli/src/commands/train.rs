//! `train`

use std::path::Path;
use std::time::Instant;

use rosenblatt::{Calibration, Dataset, Fit, Learner, Task};
use rosenblatt_io::{check_writable, load, save};
use serde_json::json;

use super::data::Training;
use super::obstacle::Obstacle;
use super::outcome::{Outcome, in_memory};
use super::{audit, emit, emit_json, note, report, stream};
use crate::args::{Cli, TrainArgs};
use crate::failure::Failure;
use crate::progress::{Bar, uninterrupted};

pub(crate) fn run(cli: &Cli, args: &TrainArgs) -> Result<(), Failure> {
    let learner = args.learner.learner(&[("seed", json!(cli.seed))])?;
    if args.stream.is_asked(learner.as_ref()) {
        if args.calibrate.is_some() {
            return Err(Failure::bad(
                "--calibrate goes over the rows again and again, which a stream cannot",
            )
            .hint("leave out --stream and what goes with it"));
        }
        if args.report.is_some() {
            return Err(Failure::bad("--report draws the rows, which a stream does not keep")
                .hint("leave out --stream and what goes with it"));
        }
        return stream::run(cli, args);
    }
    let mut before = args.stream.resume.as_deref().map(|path| go_on_from(path, cli)).transpose()?.flatten();
    let output = args.output.as_deref().or(args.stream.resume.as_deref());
    for path in output.into_iter().chain(args.report.as_deref()) {
        // A long run must not end at a file that could never be written.
        check_writable(path)?;
    }
    let start = Instant::now();
    let (raw, training) = match args.report {
        Some(_) => read_twice(cli, args).map(|(raw, training)| (Some(raw), training))?,
        None => {
            let holdout = args.holdout.as_deref();
            (None, Training::read(&args.data, &args.read, &args.learner, holdout, cli.seed)?)
        }
    };
    let read = start.elapsed();
    let start = Instant::now();
    let method = args.calibration.method();
    let calibration = args.calibrate.map(|folds| Calibration { method, folds, seed: cli.seed });
    before.iter_mut().for_each(|fit| training.number_here(fit));
    let mut fit = learn(learner.as_ref(), calibration, &training, before.as_ref(), cli)?;
    training.number_in_file(&mut fit);
    let trained = start.elapsed();
    if !(cli.quiet || cli.json) {
        notes_of_calibration(calibration, &fit, before.as_ref());
    }
    let start = Instant::now();
    if let Some(path) = output {
        uninterrupted(|| save(&fit, path))?;
    }
    let seconds = [read, trained, start.elapsed()];
    let audit = match args.audit {
        true => {
            let mut bar = Bar::new(cli.quiet || cli.json);
            Some(audit::replay(learner.as_ref(), &training, args.separator.as_deref(), &mut bar)?)
        }
        false => None,
    };
    let obstacle = Obstacle::of(&fit, &training, trained, &mut Bar::new(cli.quiet || cli.json))?;
    let broken = audit.as_ref().is_some_and(|audit| !audit.holds);
    let outcome = Outcome {
        fit,
        weighted: training.data.weights().is_some(),
        hashing: training.hashing,
        audit,
        obstacle,
        seconds,
        rows: in_memory(training.data.x()),
        origin: training.origin.clone(),
        stream: None,
        output,
    };
    say(cli, &outcome)?;
    if let (Some(path), Some(raw)) = (&args.report, raw) {
        report::write(path, &outcome, &raw, &training.data)?;
        if !(cli.quiet || cli.json) {
            emit(&format!("Report: {}\n", path.display()))?;
        }
    }
    if broken { Err(audit::broken()) } else { Ok(()) }
}

fn read_twice(cli: &Cli, args: &TrainArgs) -> Result<(Dataset<'static>, Training), Failure> {
    Training::read_twice(&args.data, &args.read, &args.learner, args.holdout.as_deref(), cli.seed)
}

/// Where probabilities were asked for and are not there, or were there and are gone.
fn notes_of_calibration(asked: Option<Calibration>, fit: &Fit, before: Option<&Fit>) {
    match (asked, &fit.report.calibration) {
        (Some(_), None) => note(
            "stopped before the rows that were left out had told: the model has no calibrated probabilities",
        ),
        (None, None) if before.is_some_and(|fit| fit.report.calibration.is_some()) => {
            note("the model to start from was calibrated, this one is not: add --calibrate FOLDS")
        }
        _ => {}
    }
}

/// The model to start from, if there is one yet.
fn go_on_from(path: &Path, cli: &Cli) -> Result<Option<Fit>, Failure> {
    if path.exists() {
        return Ok(Some(load(&path.to_string_lossy())?));
    }
    if !(cli.quiet || cli.json) {
        note(&format!("there is no {} yet: began at the beginning", path.display()));
    }
    Ok(None)
}

fn learn(
    learner: &dyn Learner,
    calibration: Option<Calibration>,
    training: &Training,
    before: Option<&Fit>,
    cli: &Cli,
) -> Result<Fit, Failure> {
    let task = Task {
        data: &training.data,
        holdout: training.holdout.as_ref(),
        scaling: training.scaling.as_ref(),
        map: training.map.as_ref(),
        start: before.map(|fit| &fit.model),
    };
    let mut bar = Bar::new(cli.quiet || cli.json);
    let fit = match calibration {
        Some(calibration) => calibration.learn(learner, &task, &mut bar),
        None => learner.learn(&task, &mut bar),
    };
    fit.map_err(|error| training.blame(error))
}

pub(super) fn say(cli: &Cli, outcome: &Outcome<'_>) -> Result<(), Failure> {
    match (cli.json, cli.quiet) {
        (true, _) => emit_json(&outcome.json()),
        (false, true) => Ok(()),
        (false, false) => emit(&outcome.text()),
    }
}
