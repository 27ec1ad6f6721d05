//! `train --stream`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rosenblatt::{Scale, Status};
use rosenblatt_io::{StreamOptions, Streamed, check_writable, train_stream};
use serde_json::json;

use super::note;
use super::outcome::{Outcome, StreamPart};
use super::train::say;
use crate::args::{Cli, TrainArgs};
use crate::failure::Failure;
use crate::format::bytes;
use crate::progress::{Bar, uninterrupted};

/// How often a run that can be taken up again writes itself down, unless told.
const EVERY: Duration = Duration::from_secs(60);

pub(super) fn run(cli: &Cli, args: &TrainArgs) -> Result<(), Failure> {
    refuse_unstreamable(args)?;
    let options = options(args);
    let mut defaults = vec![("seed", json!(cli.seed)), ("order", json!("cyclic")), ("pocket", json!(false))];
    if options.once {
        defaults.push(("passes", json!(1)));
    }
    let learner = args.learner.learner(&defaults)?;
    if let Some(path) = &options.model {
        check_writable(path)?;
    }
    let start = Instant::now();
    let mut bar = Bar::new(cli.quiet || cli.json);
    let Streamed { fit, progressive, resumed, cached, weighted, hashing } =
        train_stream(learner.as_ref(), &args.data, &args.read.options(), &options, &mut bar)?;
    drop(bar);
    if !(cli.quiet || cli.json) {
        match resumed {
            Some((1, rows)) => note(&format!("went on from row {rows} of pass 1")),
            Some((pass, rows)) => note(&format!(
                "went on from row {rows} of pass {pass}: the rows were kept, {} is not read again",
                args.data
            )),
            None if options.resume => note("there was no checkpoint yet: began at the beginning"),
            None => {}
        }
    }
    let trained = start.elapsed();
    let start = Instant::now();
    let stopped = matches!(fit.report.status, Status::Interrupted | Status::TimeLimit);
    if options.model.is_some() {
        uninterrupted(|| options.save(&fit))?;
        if options.checkpoint.is_some() && !stopped {
            options.clean_up();
        }
    }
    let rows = match options.once {
        true => "not kept".to_owned(),
        false => format!("{} on disk while it was needed", bytes(cached as usize)),
    };
    let go_on = options.model.as_ref().filter(|_| stopped && options.checkpoint.is_some()).map(|model| {
        let model = model.display();
        format!("Stopped. The same command with `--resume {model}` goes on from here.")
    });
    let outcome = Outcome {
        origin: if args.data == "-" { "standard input".to_owned() } else { args.data.clone() },
        fit,
        weighted,
        hashing,
        audit: None,
        obstacle: None,
        seconds: [Duration::ZERO, trained, start.elapsed()],
        rows,
        stream: Some(StreamPart { progressive, resumed, cached, go_on }),
        output: options.model.as_deref(),
    };
    say(cli, &outcome)
}

/// `--resume MODEL` says where the model goes, too.
fn options(args: &TrainArgs) -> StreamOptions {
    let stream = &args.stream;
    let model: Option<PathBuf> = args.output.clone().or_else(|| stream.resume.clone());
    StreamOptions {
        model,
        checkpoint: stream.checkpoint.or_else(|| stream.resume.is_some().then_some(EVERY)),
        resume: stream.resume.is_some(),
        once: stream.once,
        classes: (!stream.classes.is_empty()).then(|| stream.classes.clone()),
        unit: args.learner.scale.kind() == Some(Scale::Unit),
        block: stream.block,
    }
}

/// What needs all rows at once.
fn refuse_unstreamable(args: &TrainArgs) -> Result<(), Failure> {
    let refuse =
        |what: &str, hint: &str| Err(Failure::bad(format!("a stream cannot have {what}")).hint(hint));
    if args.holdout.is_some() {
        return refuse(
            "--holdout",
            "progressive validation tells how it does on rows it has not learned from",
        );
    }
    if args.audit {
        return refuse("--audit", "audit a part of the data that fits into memory");
    }
    if args.read.weights.is_some() {
        return refuse("--weights FILE", "put the weights into the data: --weight COLUMN");
    }
    if args.learner.impute.is_some() {
        return refuse("--impute", "fill in the cells before, or leave the columns out with --drop");
    }
    if args.learner.map.is_some() {
        return refuse("--map", "map a part of the data that fits into memory, or use a kernel");
    }
    match args.learner.scale.kind() {
        None | Some(Scale::Unit) => {}
        Some(_) => return refuse("this --scale", "`--scale unit` needs to see no more than one row"),
    }
    match (&args.output, &args.stream.resume) {
        (Some(output), Some(resume)) if output != resume => {
            Err(Failure::bad("-o and --resume name two models")
                .hint("--resume names the model; leave -o out"))
        }
        (None, None) if args.stream.checkpoint.is_some() => {
            Err(Failure::bad("--checkpoint is kept beside the model, and there is none")
                .hint("add `-o FILE.model`"))
        }
        _ => Ok(()),
    }
}
