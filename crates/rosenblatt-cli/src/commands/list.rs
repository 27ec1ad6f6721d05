//! The registry as tables.

use rosenblatt::loss::{Hinge, Logistic, MarginLoss, PerceptronLoss, SquaredHinge};
use rosenblatt::registry::{ALGORITHMS, Algorithm, KERNELS, KernelRow};
use rosenblatt_io::DATASETS;
use serde_json::{Value, json};

use super::{emit, emit_json};
use crate::args::Cli;
use crate::failure::Failure;
use crate::format::{count, number};
use crate::style::{DIM, TITLE};
use crate::table::Table;

pub(crate) fn algorithms(cli: &Cli) -> Result<(), Failure> {
    if cli.json {
        let row = |row: &Algorithm| {
            let parameters: Vec<Value> = row
                .parameters()
                .map(|parameter| {
                    let default = row.defaults()[parameter.name].clone();
                    json!({ "name": parameter.name, "help": parameter.help, "default": default })
                })
                .collect();
            json!({
                "name": row.name, "title": row.title, "rule": row.rule,
                "source": row.source, "online": row.online, "parameters": parameters,
            })
        };
        return emit_json(&json!({ "algorithms": ALGORITHMS.iter().map(row).collect::<Vec<_>>() }));
    }
    let shared: Vec<&str> = names(&ALGORITHMS[0]).into_iter().filter(|name| is_shared(name)).collect();
    let mut text = String::new();
    for row in ALGORITHMS {
        let own: Vec<String> = names(row).into_iter().filter(|name| !is_shared(name)).map(flag).collect();
        text += &format!("{TITLE}{}{TITLE:#}: {}\n", row.name, row.title);
        text += &format!("  {}\n  {DIM}{}{DIM:#}\n", row.rule, row.source);
        if !own.is_empty() {
            text += &format!("  {DIM}{}{DIM:#}\n", own.join(" "));
        }
        text.push('\n');
    }
    let shared: Vec<String> = shared.into_iter().map(flag).collect();
    text += &format!("All take {}.\n", shared.join(" "));
    text += "Use one with `rosenblatt train DATA -a NAME`; `rosenblatt train --help` explains the flags.\n";
    emit(&text)
}

fn names(row: &Algorithm) -> Vec<&'static str> {
    row.parameters().map(|parameter| parameter.name).collect()
}

fn is_shared(name: &str) -> bool {
    ALGORITHMS.iter().all(|row| names(row).contains(&name))
}

fn flag(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

/// A loss by its margin m = y·g(x).
struct LossRow {
    name: &'static str,
    formula: &'static str,
    value: fn(f64) -> f64,
    used: &'static str,
}

const LOSSES: &[LossRow] = &[
    LossRow {
        name: "0/1",
        formula: "1 where m ≤ 0",
        value: |m| f64::from(u8::from(m <= 0.0)),
        used: "what is counted; no slope to follow",
    },
    LossRow {
        name: "perceptron",
        formula: "max(0, −m)",
        value: |m| PerceptronLoss.value(m),
        used: "perceptron",
    },
    LossRow {
        name: "hinge",
        formula: "max(0, 1 − m)",
        value: |m| Hinge.value(m),
        used: "linear-svm, svm, pegasos, subgradient, crammer-singer",
    },
    LossRow {
        name: "squared hinge",
        formula: "max(0, 1 − m)²",
        value: |m| SquaredHinge.value(m),
        used: "--loss squared-hinge, --slack squared",
    },
    LossRow {
        name: "squared",
        formula: "(1 − m)²",
        value: |m| (1.0 - m).powi(2),
        used: "least squares: also rows that are right by far cost",
    },
    LossRow {
        name: "logistic",
        formula: "log(1 + exp(−m))",
        value: |m| Logistic.value(m),
        used: "logistic, kernel-logistic, network",
    },
];

/// What errors cost: the margin m = y·g(x) is below 0 where the prediction is wrong.
pub(crate) fn losses(cli: &Cli) -> Result<(), Failure> {
    const MARGINS: [f64; 6] = [-2.0, -1.0, 0.0, 0.5, 1.0, 2.0];
    if cli.json {
        let row = |row: &LossRow| {
            let values: Vec<Value> =
                MARGINS.iter().map(|&m| json!({ "margin": m, "loss": (row.value)(m) })).collect();
            json!({ "name": row.name, "formula": row.formula, "used": row.used, "values": values })
        };
        return emit_json(&json!({ "losses": LOSSES.iter().map(row).collect::<Vec<_>>() }));
    }
    let margins = MARGINS.map(|m| format!(">m = {}", number(m, 3)));
    let headings: Vec<&str> =
        ["loss", "ℓ(m)"].into_iter().chain(margins.iter().map(String::as_str)).chain(["used by"]).collect();
    let mut table = Table::new(&headings);
    for row in LOSSES {
        let values = MARGINS.iter().map(|&m| number((row.value)(m), 4));
        let words = [row.name, row.formula].map(str::to_owned).into_iter();
        table.row(words.chain(values).chain([row.used.to_owned()]));
    }
    emit(&format!(
        "{table}\nm = y·g(x) is the margin: below 0 the prediction is wrong, from 1 on it is right by as much as is asked for.\n"
    ))
}

pub(crate) fn kernels(cli: &Cli) -> Result<(), Failure> {
    if cli.json {
        let row = |row: &KernelRow| {
            json!({
                "name": row.name, "title": row.title, "formula": row.formula,
                "parameters": row.parameters, "positive": row.positive,
            })
        };
        return emit_json(&json!({ "kernels": KERNELS.iter().map(row).collect::<Vec<_>>() }));
    }
    let mut table = Table::new(&["name", "K(u, v)", "flags", "what"]);
    for row in KERNELS {
        let flags: Vec<String> = row.parameters.iter().map(|name| flag(name)).collect();
        let title = format!(
            "{}{}",
            row.title,
            if row.positive { "" } else { "; not always a dot product, so without bounds" }
        );
        table.row([row.name.to_owned(), row.formula.to_owned(), flags.join(" "), title]);
    }
    let users: Vec<&str> =
        ALGORITHMS.iter().filter(|row| names(row).contains(&"kernel")).map(|row| row.name).collect();
    emit(&format!("{table}\nUse one with `rosenblatt train DATA -a {} --kernel NAME`.\n", users.join("|")))
}

pub(crate) fn datasets(cli: &Cli) -> Result<(), Failure> {
    if cli.json {
        let row = |set: &rosenblatt_io::Embedded| {
            json!({
                "name": set.name, "title": set.title, "rows": set.rows, "features": set.features,
                "classes": set.classes, "source": set.source, "licence": set.licence,
            })
        };
        return emit_json(&json!({ "datasets": DATASETS.iter().map(row).collect::<Vec<_>>() }));
    }
    let mut table = Table::new(&["name", ">rows", ">features", ">classes", "what"]);
    for set in DATASETS {
        let numbers = [set.rows, set.features, set.classes].map(|n| count(n as u64));
        table.row([set.name.to_owned()].into_iter().chain(numbers).chain([set.title.to_owned()]));
    }
    let mut text = format!("{table}\nSources and licences\n");
    for sets in DATASETS.chunk_by(|a, b| a.source == b.source) {
        let names: Vec<&str> = sets.iter().map(|set| set.name).collect();
        text += &format!("  {}: {DIM}{} ({}){DIM:#}\n", names.join(", "), sets[0].source, sets[0].licence);
    }
    emit(&text)
}
