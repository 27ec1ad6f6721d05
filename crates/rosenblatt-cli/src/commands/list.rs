//! The registry as tables.

use rosenblatt::registry::{ALGORITHMS, Algorithm, KERNELS, KernelRow};
use rosenblatt_io::DATASETS;
use serde_json::{Value, json};

use super::{emit, emit_json};
use crate::args::Cli;
use crate::failure::Failure;
use crate::format::count;
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
