//! `compare`

use std::time::Duration;

use rosenblatt::registry::{ALGORITHMS, Algorithm, PARAMETERS, algorithm};
use rosenblatt::{Compared, Comparison, Contender, Dataset, Figures, Learner, ParamError, Status};
use rosenblatt_io::{ReadOptions, read};
use serde_json::{Map, Value, json};

use super::data::read_weights;
use super::{emit, emit_json, note};
use crate::args::{Cli, CompareArgs};
use crate::failure::Failure;
use crate::format::{bytes, count, number, percent, plural, time};
use crate::progress::Bar;
use crate::style::{DIM, GOOD, TITLE, WARN};
use crate::table::Table;

/// Seconds that one fit may take, where nothing is said.
const TIME_LIMIT: f64 = 60.0;
const HOLDOUT: f64 = 0.25;

pub(crate) fn run(cli: &Cli, args: &CompareArgs) -> Result<(), Failure> {
    let rows = chosen(args)?;
    let limit = args.parameters.0.get("time_limit").and_then(Value::as_f64).unwrap_or(TIME_LIMIT);
    let mut learners: Vec<Box<dyn Learner>> = Vec::new();
    let mut unable = Vec::new();
    for row in rows {
        match learner(row, args, limit, cli.seed) {
            Ok(learner) => learners.push(learner),
            Err(error) if args.algorithms.is_empty() => {
                unable.push((row.name, format!("--{}: {}", error.name.replace('_', "-"), error.problem)))
            }
            Err(error) => return Err(error.into()),
        }
    }
    let (origin, data, test) = read_rows(args)?;
    let comparison = Comparison {
        folds: args.folds,
        holdout: args.holdout.as_ref().and_then(|text| text.parse().ok()).unwrap_or(HOLDOUT),
        scale: args.scale.kind(),
        map: args.map,
        time_limit: Some(limit),
        seed: cli.seed,
    };
    let mut bar = Bar::new(cli.quiet || cli.json);
    let mut compared = comparison.run(&learners, &data, test.as_ref(), &mut bar)?;
    drop(bar);
    compared.contenders.extend(
        unable.into_iter().map(|(name, why)| Contender { algorithm: name.to_owned(), outcome: Err(why) }),
    );
    if compared.stopped && !(cli.quiet || cli.json) {
        note("stopped: learners that had not had their turn are left out");
    }
    match (cli.json, cli.quiet) {
        (true, _) => emit_json(&json(&compared)),
        (false, true) => Ok(()),
        (false, false) => emit(&text(&compared, &origin)),
    }
}

/// The learners asked for, or all.
fn chosen(args: &CompareArgs) -> Result<Vec<&'static Algorithm>, Failure> {
    if args.parameters.0.get("kernel").is_some_and(|kernel| kernel == "precomputed") {
        return Err(Failure::bad(
            "--kernel: precomputed values of some of the rows would leave their columns behind",
        ));
    }
    let named = |name: &String| {
        algorithm(name).ok_or_else(|| {
            let names: Vec<&str> = ALGORITHMS.iter().map(|row| row.name).collect();
            Failure::bad(format!("there is no algorithm {name:?}"))
                .hint(format!("choose of {}", names.join(", ")))
        })
    };
    let rows: Vec<&'static Algorithm> = match args.algorithms.is_empty() {
        true => ALGORITHMS.iter().collect(),
        false => args.algorithms.iter().map(named).collect::<Result<_, _>>()?,
    };
    let owned = |name: &str| rows.iter().any(|row| row.parameters().any(|own| own.name == name));
    match args.parameters.0.keys().find(|name| !owned(name)) {
        Some(name) => Err(Failure::bad(format!("none of these learners has --{}", name.replace('_', "-")))),
        None => Ok(rows),
    }
}

/// With what it has of the parameters given.
fn learner(
    row: &Algorithm,
    args: &CompareArgs,
    limit: f64,
    seed: u64,
) -> Result<Box<dyn Learner>, ParamError> {
    let owned = |name: &str| row.parameters().any(|own| own.name == name);
    let mut given: Map<String, Value> = PARAMETERS
        .iter()
        .filter(|parameter| owned(parameter.name))
        .filter_map(|parameter| {
            Some((parameter.name.to_owned(), args.parameters.0.get(parameter.name)?.clone()))
        })
        .collect();
    for (name, value) in [("time_limit", json!(limit)), ("seed", json!(seed))] {
        if owned(name) {
            given.insert(name.to_owned(), value);
        }
    }
    row.learner(&given)
}

/// Where from, all rows, and those to predict if they have a file of their own.
fn read_rows(args: &CompareArgs) -> Result<(String, Dataset<'static>, Option<Dataset<'static>>), Failure> {
    let table = read(&args.data, &args.read.options())?;
    let origin = table.origin.clone();
    let mut data = table.into_dataset()?;
    if let Some(path) = &args.read.weights {
        let weights = read_weights(path)?;
        data = data
            .with_weights(weights)
            .map_err(|error| Failure::bad(format!("{}: {error}", path.display())))?;
    }
    let file = args.holdout.as_ref().filter(|text| text.parse::<f64>().is_err());
    let options = || ReadOptions { ..args.read.data.options(Some(data.features().clone())) };
    let test = match file {
        Some(file) => Some(read(file, &options())?.into_dataset_with(data.classes())?),
        None => None,
    };
    Ok((origin, data, test))
}

fn json(compared: &Compared) -> Value {
    let contender = |contender: &Contender| match &contender.outcome {
        Ok(figures) => {
            let mut row = json!(figures);
            row["algorithm"] = json!(contender.algorithm);
            row
        }
        Err(why) => json!({ "algorithm": contender.algorithm, "why_not": why }),
    };
    json!({
        "train_rows": compared.train_rows,
        "test_rows": compared.test_rows,
        "splits": compared.splits,
        "test": compared.test,
        "stopped": compared.stopped,
        "learners": compared.contenders.iter().map(contender).collect::<Vec<_>>(),
    })
}

fn text(compared: &Compared, origin: &str) -> String {
    let (train, test) = (count(compared.train_rows as u64), plural(compared.test_rows as u64, "row", "rows"));
    let how = match compared.splits {
        1 => format!("trained on {train} rows, tested on {test}"),
        folds => format!("{folds} folds, each trained on {train} rows; {test} tested in all"),
    };
    let mut text = format!("{TITLE}{origin}{TITLE:#}: {how}\n\n");
    let mut table = Table::new(&[
        "learner",
        ">accuracy",
        "95% from to",
        "from the best",
        ">train",
        ">predict",
        ">model",
        ">margin",
        ">gap",
        "",
    ]);
    let mut refused = Table::new(&["", ""]);
    for Contender { algorithm, outcome } in &compared.contenders {
        match outcome {
            Ok(figures) => table.row(cells(algorithm, figures)),
            Err(why) => refused.row([algorithm.clone(), why.clone()]),
        }
    }
    text += &table.to_string();
    if compared.contenders.iter().any(|contender| contender.outcome.is_err()) {
        text += &format!("\n{DIM}Could not learn{DIM:#}\n{refused}");
    }
    text + &conclusion(compared)
}

fn cells(algorithm: &str, figures: &Figures) -> Vec<String> {
    let (low, high) = figures.interval;
    let spent = |seconds: f64| time(Duration::try_from_secs_f64(seconds).unwrap_or_default());
    let behind = match figures.p {
        None => "best".to_owned(),
        Some(p) if figures.noise => format!("noise, p {}", number(p, 2)),
        Some(p) if p < 1e-4 => "behind, p < 0.0001".to_owned(),
        Some(p) => format!("behind, p {}", number(p, 2)),
    };
    vec![
        algorithm.to_owned(),
        percent(figures.accuracy),
        format!("{} {}", percent(low), percent(high)),
        behind,
        spent(figures.train_seconds),
        spent(figures.predict_seconds),
        bytes(figures.bytes as usize),
        figures.margin.map(|margin| number(margin, 3)).unwrap_or_default(),
        figures.gap.map(|gap| format!("{gap:.1e}")).unwrap_or_default(),
        match figures.status {
            Status::Converged => String::new(),
            status => status.name().replace('_', " "),
        },
    ]
}

fn conclusion(compared: &Compared) -> String {
    let able: Vec<(&str, &Figures)> = compared
        .contenders
        .iter()
        .filter_map(|contender| Some((contender.algorithm.as_str(), contender.outcome.as_ref().ok()?)))
        .collect();
    let [(best, figures), others @ ..] = &able[..] else {
        return format!("\n{WARN}None of them could learn.{WARN:#}\n");
    };
    let alike: Vec<&str> =
        others.iter().filter(|(_, figures)| figures.noise).map(|(name, _)| *name).collect();
    let mut text = format!("\n{GOOD}{best}{GOOD:#} is best with {}", percent(figures.accuracy));
    text += &match (&alike[..], others.is_empty()) {
        (_, true) => ".\n".to_owned(),
        ([], _) => "; all others are behind by more than noise.\n".to_owned(),
        (few, _) if few.len() <= 6 => {
            format!("; that it is ahead of {} may be noise (p > 0.05).\n", few.join(", "))
        }
        (many, _) if many.len() == others.len() => {
            "; that it is ahead of the others may be noise, of each of them (p > 0.05).\n".to_owned()
        }
        (many, _) => format!("; that it is ahead of {} of the others may be noise (p > 0.05).\n", many.len()),
    };
    if let Some((_, baseline)) = others.iter().find(|(name, _)| *name == "naive-bayes") {
        let gain = number(100.0 * (figures.accuracy - baseline.accuracy), 3);
        text += &format!(
            "The baseline that only counts, naive-bayes, has {}: {gain} points less.\n",
            percent(baseline.accuracy)
        );
    }
    let test = if compared.splits == 1 { "McNemar's test" } else { "the corrected resampled t test" };
    text + &format!("{DIM}p by {test}, corrected for the number of learners (Holm).{DIM:#}\n")
}
