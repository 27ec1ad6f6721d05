//! `explain`

use rosenblatt::{Body, Decision, Explanation, Fit, Model, Rows};
use rosenblatt_io::load;
use serde_json::{Value, json};

use super::data::read_for;
use super::{emit, emit_json, largest};
use crate::args::{Cli, ExplainArgs};
use crate::failure::Failure;
use crate::format::{number, plural};
use crate::style::{DIM, TITLE};
use crate::table::Table;

pub(crate) fn run(cli: &Cli, args: &ExplainArgs) -> Result<(), Failure> {
    let fit = load(&args.model)?;
    let table = read_for(&fit, &args.data, &args.read)?;
    let row = args.row.get() - 1;
    if row >= table.x.n_rows() {
        let rows = plural(table.x.n_rows() as u64, "row", "rows");
        return Err(Failure::bad(format!("--row {}: {} has {rows}", args.row, table.origin)));
    }
    let why = fit.model.explain(&table.x, row)?;
    let label = table.labels.as_ref().map(|labels| labels.text(row).to_owned());
    match cli.json {
        true => emit_json(&json(&fit, &why, args, label)),
        false => emit(&text(&fit, &why, args, label)),
    }
}

fn json(fit: &Fit, why: &Explanation, args: &ExplainArgs, label: Option<String>) -> Value {
    let classes = &fit.model.classes;
    let class = |(c, name): (usize, &rosenblatt::Class)| {
        let contributions: Vec<Value> = why
            .contributions
            .iter()
            .map(|part| {
                json!({
                    "feature": fit.model.inner_name(part.feature), "value": part.value,
                    "weight": part.weights[c], "contribution": part.amounts[c],
                })
            })
            .collect();
        let examples: Vec<Value> = why
            .examples
            .iter()
            .map(|part| {
                json!({
                    "stored": part.stored + 1, "value": part.value,
                    "weight": part.weights[c], "contribution": part.amounts[c],
                })
            })
            .collect();
        json!({
            "class": name, "score": why.scores[c], "bias": why.bias[c],
            "contributions": contributions, "examples": examples,
        })
    };
    json!({
        "row": args.row,
        "predicted": classes[why.predicted],
        "label": label.and_then(|label| classes.find(&label)).map(|class| &classes[class]),
        "votes": why.votes,
        "distance": why.distance,
        "of_mean": why.of_mean,
        "of_slopes": why.of_slopes,
        "classes": classes.iter().enumerate().map(class).collect::<Vec<_>>(),
    })
}

/// A binary model shows its second class only: the first has the negatives.
fn shown_classes(fit: &Fit) -> Vec<usize> {
    match fit.model.decision {
        Decision::Sign(_) => vec![1.min(fit.model.classes.len() - 1)],
        _ => (0..fit.model.classes.len()).collect(),
    }
}

fn text(fit: &Fit, why: &Explanation, args: &ExplainArgs, label: Option<String>) -> String {
    let classes = &fit.model.classes;
    let labelled = label.filter(|label| !label.is_empty()).map(|label| format!(" (labelled {label})"));
    let mut text = format!(
        "Row {} is predicted {TITLE}{}{TITLE:#}{}\n\n",
        args.row,
        classes[why.predicted],
        labelled.unwrap_or_default()
    );
    let shown = shown_classes(fit);
    text += &table(fit, why, &shown, args.top).to_string();
    if let [c] = shown[..] {
        let sign = if why.scores[c] > 0.0 { "> 0" } else { "≤ 0" };
        let (score, class) = (number(why.scores[c], 6), &classes[why.predicted]);
        let distance = why.distance.map(|d| format!(", {} from the boundary", number(d.abs(), 4)));
        text += &format!("\n{score} {sign}: {class}{}\n", distance.unwrap_or_default());
    }
    if why.votes.is_some() {
        text += "\nScores are sums over pairs of classes; the pairs' votes decide.\n";
    }
    if why.of_mean {
        text += "\nThe model votes; these are the scores of the mean of its weight vectors.\n";
    }
    if why.of_slopes {
        text += "\nA network is no sum over features: each shows slope times value at this row, BIAS the rest of the score.\n";
    }
    if let Body::Bayes(bayes) = &fit.model.body {
        let what = if bayes.distribution() == "gaussian" { "density" } else { "probability" };
        text += &format!(
            "\nEach feature shows the logarithm of the {what} of its value, BIAS that of the class.\n"
        );
    }
    if let Some(note) = of_values(&fit.model) {
        text += &format!("\n{DIM}{note}{DIM:#}\n");
    }
    text
}

/// What the values are, where they are not those of the row.
fn of_values(model: &Model) -> Option<String> {
    match (&model.map, &model.scaling) {
        (None, None) => None,
        (None, Some(_)) => Some("Values are shown after scaling.".to_owned()),
        (Some(map), None) => Some(format!("Values are those of the map {}.", map.kind)),
        (Some(map), Some(_)) => Some(format!("Values are those of the map {}, after scaling.", map.kind)),
    }
}

fn table(fit: &Fit, why: &Explanation, shown: &[usize], top: usize) -> Table {
    let headings: Vec<String> = shown.iter().map(|&c| format!(">{}", fit.model.classes[c])).collect();
    let kernel = matches!(fit.model.body, Body::Kernel(_));
    let first = if kernel { ["stored example", ">kernel"] } else { ["feature", ">value"] };
    let headings: Vec<&str> = first.into_iter().chain(headings.iter().map(String::as_str)).collect();
    let mut table = Table::new(&headings);
    let cells = |amounts: &[f64]| -> Vec<String> { shown.iter().map(|&c| number(amounts[c], 6)).collect() };
    if !kernel {
        table.row(["BIAS".to_owned(), String::new()].into_iter().chain(cells(&why.bias)));
    }
    let features =
        why.contributions.iter().map(|part| (fit.model.inner_name(part.feature), part.value, &part.amounts));
    let examples =
        why.examples.iter().map(|part| (format!("number {}", part.stored + 1), part.value, &part.amounts));
    let all: Vec<(String, f64, &Vec<f64>)> = features.chain(examples).collect();
    let count = all.len();
    let size = |part: &(String, f64, &Vec<f64>)| part.2.iter().fold(0.0, |most: f64, a| most.max(a.abs()));
    let parts = largest(all, top, size);
    let left_out = count - parts.len();
    for (name, value, amounts) in parts {
        table.row([name, number(value, 6)].into_iter().chain(cells(amounts)));
    }
    if left_out > 0 {
        table.row([format!("… {left_out} smaller")]);
    }
    table.row(["score".to_owned(), String::new()].into_iter().chain(cells(&why.scores)));
    if let Some(votes) = &why.votes {
        table.row(["votes".to_owned(), String::new()].into_iter().chain(cells(votes)));
    }
    table
}
