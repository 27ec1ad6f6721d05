//! The registry as tables.

use rosenblatt::registry::ALGORITHMS;
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
        let row = |row: &rosenblatt::registry::Algorithm| {
            let parameters: Vec<Value> = row
                .parameters()
                .map(|parameter| {
                    let default = row.defaults()[parameter.name].clone();
                    json!({ "name": parameter.name, "help": parameter.help, "default": default })
                })
                .collect();
            json!({
                "name": row.name, "title": row.title, "rule": row.rule,
                "source": row.source, "parameters": parameters,
            })
        };
        return emit_json(&json!({ "algorithms": ALGORITHMS.iter().map(row).collect::<Vec<_>>() }));
    }
    let mut text = String::new();
    for row in ALGORITHMS {
        let parameters: Vec<String> =
            row.parameters().map(|parameter| format!("--{}", parameter.name.replace('_', "-"))).collect();
        text += &format!("{TITLE}{}{TITLE:#}  {}\n", row.name, row.title);
        text += &format!("  {}\n", row.rule);
        text += &format!("  {DIM}{}; {}{DIM:#}\n\n", row.source, parameters.join(" "));
    }
    text +=
        "Use one with `rosenblatt train DATA -a NAME`; `rosenblatt train --help` explains the parameters.\n";
    emit(&text)
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
    let mut sources: Vec<String> = Vec::new();
    for set in DATASETS {
        let line = format!("{DIM}{}: {} ({}){DIM:#}\n", set.name, set.source, set.licence);
        sources.push(line);
    }
    emit(&format!("{table}\nSources and licences\n{}", sources.concat()))
}
