//! `tune`

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rosenblatt::registry::{Algorithm, PARAMETERS};
use rosenblatt::{
    Axis, Dataset, Family, MapKind, ParamError, Range, Rule, Search, Searched, Selection, Space, Strategy,
};
use rosenblatt_io::{ReadOptions, Table, check_writable, read, save};
use serde_json::{Value, json};

use super::data::read_weights;
use super::picture::{SearchText, summary};
use super::{emit, emit_json, note};
use crate::args::{Cli, TuneArgs};
use crate::failure::Failure;
use crate::parameters::algorithm_row;
use crate::progress::{Bar, uninterrupted};
use crate::search_args::flag_of;

pub(crate) fn run(cli: &Cli, args: &TuneArgs) -> Result<(), Failure> {
    let space = space(cli, args)?;
    if let Some(path) = &args.output {
        check_writable(path)?;
    }
    let start = Instant::now();
    let (data, origin) = read_data(args)?;
    let groups = args.search.groups.as_deref().map(|groups| read_groups(groups, args, &data)).transpose()?;
    let read = start.elapsed();
    let search = Search {
        folds: args.search.folds,
        repeats: args.search.repeats,
        groups,
        strategy: strategy(args),
        rule: args.search.rule.rule(),
        nested: args.search.nested,
        precision: args.search.search_gap,
        time_limit: args.search.time_limit.map(|limit| limit.as_secs_f64()),
        seed: cli.seed,
    };
    let mut bar = Bar::new(cli.quiet || cli.json);
    let found = search.run(&space, &data, &mut bar).map_err(|error| blame(&origin, error))?;
    drop(bar);
    let start = Instant::now();
    if let Some(path) = &args.output {
        uninterrupted(|| save(&found.fit, path))?;
    }
    let write = start.elapsed();
    let Some(selection) = &found.fit.report.selection else { return Ok(()) };
    if !(cli.quiet || cli.json || selection.complete) {
        note("stopped: this is the best of what was done until then");
    }
    match (cli.json, cli.quiet) {
        (true, _) => emit_json(&json(&found, selection, args, [read, write])),
        (false, true) => Ok(()),
        (false, false) => {
            let text = SearchText {
                found: &found,
                selection,
                origin: &origin,
                rows: data.n_rows(),
                top: args.search.top,
            };
            emit(&(text.show() + &next_step(args)))
        }
    }
}

fn blame(origin: &str, error: rosenblatt::Error) -> Failure {
    match error {
        rosenblatt::Error::Data(error) => Failure::bad(format!("{origin}: {error}")),
        other => other.into(),
    }
}

fn strategy(args: &TuneArgs) -> Strategy {
    match (args.search.random, args.search.halving) {
        (Some(draws), _) => Strategy::Random { draws },
        (None, Some(factor)) => Strategy::Halving { factor },
        (None, None) => Strategy::Grid,
    }
}

/// What is searched: each algorithm with those of the flags that it has.
fn space(cli: &Cli, args: &TuneArgs) -> Result<Space, Failure> {
    let rows: Vec<&Algorithm> =
        args.algorithm.iter().map(|name| algorithm_row(name)).collect::<Result<_, _>>()?;
    let owns = |row: &Algorithm, name: &str| row.parameters().any(|own| own.name == name);
    if let Some(name) = args.ranges.names().find(|name| !rows.iter().any(|row| owns(row, name))) {
        let all: Vec<String> = PARAMETERS
            .iter()
            .filter(|parameter| rows.iter().any(|row| owns(row, parameter.name)) && parameter.name != "seed")
            .map(|parameter| format!("--{}", flag_of(parameter.name)))
            .collect();
        let names = args.algorithm.join(", ");
        return Err(Failure::bad(format!("{names} has no --{}", flag_of(name)))
            .hint(format!("it has {}", all.join(", "))));
    }
    if args.ranges.has("c") && args.ranges.has("lambda") {
        return Err(ParamError::new("lambda", "give c or lambda, not both").into());
    }
    let families = rows.iter().map(|row| {
        let fixed = args.ranges.fixed.iter().filter(|(name, _)| owns(row, name));
        let mut axes: Vec<Axis> = args
            .ranges
            .ranges
            .iter()
            .filter(|(name, _)| owns(row, name))
            .map(|(name, range)| Axis::new(name.clone(), range.clone()))
            .collect();
        let costs = ["c", "lambda", "nu"].iter().any(|name| args.ranges.has(name));
        if axes.is_empty() && !costs && owns(row, "c") && owns(row, "gap") {
            let usual = Range::Span { low: 0.01, high: 100.0, steps: 5, whole: false };
            axes.push(Axis::new("c", usual));
        }
        let seed = owns(row, "seed").then(|| ("seed".to_owned(), json!(cli.seed)));
        let fixed = fixed.map(|(name, value)| (name.clone(), value.clone())).chain(seed).collect();
        Family { algorithm: row.name.to_owned(), fixed, axes }
    });
    let maps: Vec<Option<MapKind>> = args.map.iter().map(|map| map.0).collect();
    Ok(Space { families: families.collect(), maps, impute: args.impute, scale: args.scale.kind() })
}

fn is_precomputed(args: &TuneArgs) -> bool {
    args.ranges.fixed.get("kernel").is_some_and(|kernel| kernel == "precomputed")
}

fn read_data(args: &TuneArgs) -> Result<(Dataset<'static>, String), Failure> {
    let missing = args.impute.is_some();
    let options = ReadOptions { precomputed: is_precomputed(args), missing, ..args.read.options() };
    let column = args.search.groups.iter().filter(|groups| !Path::new(groups).is_file());
    let drop = options.drop.iter().chain(column).cloned().collect();
    let table: Table = read(&args.data, &ReadOptions { drop, ..options })?;
    let origin = table.origin.clone();
    let mut data = table.into_dataset()?;
    if let Some(path) = &args.read.weights {
        let weights = read_weights(path)?;
        data = data
            .with_weights(weights)
            .map_err(|error| Failure::bad(format!("{}: {error}", path.display())))?;
    }
    Ok((data, origin))
}

/// A number for each row: those of a group have the same.
fn read_groups(groups: &str, args: &TuneArgs, data: &Dataset<'_>) -> Result<Vec<u32>, Failure> {
    let path = Path::new(groups);
    if path.is_file() {
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::bad(format!("cannot read {}: {error}", path.display())))?;
        let names: Vec<&str> = text.lines().map(str::trim).collect();
        if names.len() != data.n_rows() {
            let (found, rows) = (names.len(), data.n_rows());
            return Err(Failure::bad(format!("{groups}: {found} lines, where there are {rows} rows"))
                .hint("the file needs the name of a group on each line, one for each row"));
        }
        return Ok(rosenblatt::Labels::new(names).encode().1);
    }
    if args.data == "-" {
        return Err(Failure::bad(format!("--groups {groups}: standard input can only be read once"))
            .hint("give a file as data, or a file with the group of each row"));
    }
    // The column is read as if it held the labels.
    let options = ReadOptions {
        label: Some(groups.to_owned()),
        missing: args.impute.is_some(),
        ..args.read.data.options(None)
    };
    Ok(read(&args.data, &options)?.into_dataset()?.y().to_vec())
}

fn json(found: &Searched, selection: &Selection, args: &TuneArgs, [read, write]: [Duration; 2]) -> Value {
    let report = &found.fit.report;
    let chosen = &selection.cells[selection.chosen];
    let [search, nested, train] = found.phases;
    let mut shown = json!(selection);
    if let Some(cells) = shown["cells"].as_array_mut() {
        cells.iter_mut().zip(&found.seconds).for_each(|(cell, seconds)| cell["seconds"] = json!(seconds));
    }
    let more = json!({
        "algorithm": chosen.algorithm,
        "parameters": report.parameters,
        "map": chosen.map,
        "accuracy": chosen.mean,
        "error": chosen.error,
        "fits": found.fits,
        "rows": report.rows,
        "features": found.fit.model.features.count,
        "classes": found.fit.model.classes,
        "objective": report.objective,
        "status": report.status.name(),
        "train_accuracy": report.train_accuracy,
        "support_vectors": report.support_vectors,
        "gap": report.gap,
        "seconds": {
            "read": read.as_secs_f64(), "search": search, "nested": nested, "train": train, "write": write.as_secs_f64(),
        },
        "model": args.output,
    });
    if let (Some(shown), Some(more)) = (shown.as_object_mut(), more.as_object()) {
        shown.extend(more.clone());
    }
    shown
}

fn next_step(args: &TuneArgs) -> String {
    match &args.output {
        Some(path) => format!("  model     {}\n", path.display()),
        None => "\nadd -o FILE to keep the model\n".to_owned(),
    }
}

/// For `inspect`.
pub(super) fn selection_line(selection: &Selection) -> String {
    let rule = match selection.rule {
        Rule::Best => "the best",
        Rule::OneSe => "the simplest within a standard error of the best",
    };
    format!("{rule} of {}", summary(selection))
}
