//! `plot tune`

use std::fs;

use rosenblatt_io::load;
use rosenblatt_plot::{Cell, Picture, Search, Size};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::args::TuneArgs;
use super::page;
use crate::args::Cli;
use crate::failure::Failure;
use crate::format::{percent, plural};

/// What `tune` keeps in a model and prints with `--json`, as far as it is drawn.
#[derive(Deserialize)]
struct Selection {
    cells: Vec<Candidate>,
    best: Option<usize>,
    chosen: Option<usize>,
    folds: Option<usize>,
}

#[derive(Deserialize)]
struct Candidate {
    #[serde(default)]
    algorithm: String,
    map: Option<String>,
    #[serde(default)]
    parameters: Map<String, Value>,
    rows: Option<u64>,
    mean: Option<f64>,
    error: Option<f64>,
}

pub(super) fn run(cli: &Cli, args: &TuneArgs) -> Result<(), Failure> {
    page::check(&args.page)?;
    let selection = read(&args.search)?;
    let picture = selection.picture(&args.search, args.page.size())?;
    page::write(cli, &args.page, &picture)
}

/// The search in a model, or in JSON: the whole object or one of its fields.
fn read(path: &str) -> Result<Selection, Failure> {
    let text = fs::read(path).ok().filter(|bytes| bytes.trim_ascii_start().starts_with(b"{"));
    let found = match text {
        Some(text) => {
            let object: Value = serde_json::from_slice(&text)
                .map_err(|error| Failure::bad(format!("{path}: not a whole JSON object: {error}")))?;
            let within = ["/selection", "/report/selection"];
            within.iter().find_map(|place| object.pointer(place)).cloned().unwrap_or(object)
        }
        None => {
            let report = serde_json::to_value(load(path)?.report).unwrap_or_default();
            report.get("selection").cloned().unwrap_or_default()
        }
    };
    if found.get("cells").is_none() {
        return Err(Failure::bad(format!("{path} holds no search"))
            .hint("`rosenblatt tune DATA … -o MODEL` keeps its search in the model, and --json prints it"));
    }
    serde_json::from_value(found).map_err(|error| Failure::bad(format!("{path}: not a search: {error}")))
}

fn written(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "–".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

impl Selection {
    fn picture(self, path: &str, size: Size) -> Result<Picture, Failure> {
        let columns = self.columns();
        let cells: Vec<Cell> = self
            .cells
            .iter()
            .map(|cell| Cell {
                values: columns.iter().map(|column| cell.value(column)).collect(),
                mean: cell.mean,
                error: cell.error,
            })
            .collect();
        let title = match &self.cells[..] {
            [one, rest @ ..] if rest.iter().all(|cell| cell.algorithm == one.algorithm) => {
                format!("search for {}", one.algorithm)
            }
            _ => format!("search in {path}"),
        };
        let within = |number: Option<usize>| number.filter(|&number| number < cells.len());
        let (best, chosen) = (within(self.best), within(self.chosen));
        let caption = self.caption(&columns, chosen.or(best));
        Ok(Search { title, caption, parameters: columns, cells, best, chosen, size }.draw()?)
    }

    /// What candidates differ in.
    fn columns(&self) -> Vec<String> {
        let mut names = vec!["algorithm".to_owned(), "map".to_owned()];
        for name in self.cells.iter().flat_map(|cell| cell.parameters.keys()) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        let differs = |name: &String| {
            let mut values = self.cells.iter().map(|cell| cell.value(name));
            let first = values.next();
            values.any(|value| Some(value) != first)
        };
        names.into_iter().filter(differs).collect()
    }

    fn caption(&self, columns: &[String], taken: Option<usize>) -> String {
        let mut parts = vec![plural(self.cells.len() as u64, "candidate", "candidates")];
        parts.extend(self.folds.map(|folds| format!("mean accuracy over {folds} folds")));
        if self.cells.iter().any(|cell| cell.rows != self.cells[0].rows) {
            parts.push("not all on as many rows".to_owned());
        }
        if let Some(cell) = taken.map(|taken| &self.cells[taken])
            && let Some(mean) = cell.mean
        {
            let choice: Vec<String> =
                columns.iter().map(|name| format!("{name} {}", cell.value(name))).collect();
            parts.push(format!("taken: {}, {}", choice.join(", "), percent(mean)));
        }
        parts.join("; ")
    }
}

impl Candidate {
    fn value(&self, name: &str) -> String {
        match name {
            "algorithm" => self.algorithm.clone(),
            "map" => self.map.clone().unwrap_or_else(|| "none".to_owned()),
            _ => written(self.parameters.get(name)),
        }
    }
}
