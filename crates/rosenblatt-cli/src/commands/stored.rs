//! Stored examples of a model with a kernel.

use rosenblatt::{Decision, Expansion, Fit, Rows};
use serde_json::{Map, Value, json};

use super::data::is_precomputed;
use super::inspect::titles;
use super::largest;
use crate::format::{count, number};
use crate::style::TITLE;
use crate::table::Table;

struct Stored {
    /// From 1.
    number: usize,
    /// Which of the training rows it was, from 1, where that is known.
    training_row: Option<u64>,
    /// For each plane.
    coefficients: Vec<f64>,
    /// How often it was added to each, where that is known and something else.
    counts: Option<Vec<f64>>,
    row: Row,
}

/// What is known of it.
enum Row {
    Features(Vec<(String, f64)>),
    /// Of precomputed values its place among the training rows, from 1.
    Number(usize),
}

/// Those that count most first; 0 is all.
fn those_that_count(fit: &Fit, expansion: &Expansion, top: usize) -> Vec<Stored> {
    let (all, counts) = (expansion.coefficients(), other_counts(expansion));
    let numbered: Vec<(usize, &[f64])> = all.chunks(fit.model.body.n_scores()).enumerate().collect();
    let size = |(_, a): &(usize, &[f64])| a.iter().fold(0.0, |most: f64, a| most.max(a.abs()));
    let stored = |(s, coefficients): (usize, &[f64])| {
        let (mut features, mut number) = (Vec::new(), 0);
        expansion.rows().each(s, |j, v| {
            features.push((fit.model.inner_name(j), v));
            number = j + 1;
        });
        let row = if is_precomputed(&fit.model.body) { Row::Number(number) } else { Row::Features(features) };
        let training_row = expansion.numbers().get(s).map(|row| row + 1);
        let planes = coefficients.len();
        let counts = counts.as_ref().map(|counts| counts[s * planes..][..planes].to_vec());
        Stored { number: s + 1, training_row, coefficients: coefficients.to_vec(), counts, row }
    };
    largest(numbered, top, size).into_iter().map(stored).collect()
}

/// How often examples were added to the planes, where their coefficients do not say so.
fn other_counts(expansion: &Expansion) -> Option<Vec<f64>> {
    let counts = expansion.counts();
    (!counts.is_empty() && counts != expansion.coefficients()).then_some(counts)
}

/// What the coefficients of a single plane are.
fn coefficients_title(expansion: &Expansion) -> &'static str {
    match expansion.counts() {
        _ if expansion.is_machine() => ">y·α",
        counts if counts == expansion.coefficients() => ">count",
        _ => ">coefficient",
    }
}

pub(super) fn json(fit: &Fit, expansion: &Expansion, top: usize) -> Vec<Value> {
    let stored = |stored: Stored| {
        let mut object = json!({ "stored": stored.number, "coefficients": stored.coefficients });
        if let Some(counts) = stored.counts {
            object["counts"] = json!(counts);
        }
        if let Some(row) = stored.training_row {
            object["training_row"] = json!(row);
        }
        match stored.row {
            Row::Number(number) => object["training_row"] = json!(number),
            Row::Features(row) => {
                object["row"] =
                    row.into_iter().map(|(name, v)| (name, json!(v))).collect::<Map<_, _>>().into();
            }
        }
        object
    };
    those_that_count(fit, expansion, top).into_iter().map(stored).collect()
}

pub(super) fn text(fit: &Fit, expansion: &Expansion, top: usize) -> String {
    const PLANES: usize = 12;
    let numbered = !expansion.numbers().is_empty();
    let machine = expansion.is_machine();
    let mut titles: Vec<String> = match fit.model.decision {
        Decision::Sign(_) => vec![coefficients_title(expansion).to_owned()],
        _ => titles(fit).into_iter().map(|title| format!(">{title}")).collect(),
    };
    if titles.len() > PLANES {
        titles.clear();
    }
    let counted = matches!(fit.model.decision, Decision::Sign(_)) && other_counts(expansion).is_some();
    let headings = [if numbered { ">row" } else { ">stored" }]
        .into_iter()
        .chain(counted.then_some(">count"))
        .chain(titles.iter().map(String::as_str))
        .chain([if machine { "features" } else { "row" }]);
    let mut table = Table::new(&headings.collect::<Vec<_>>());
    let shown = those_that_count(fit, expansion, top);
    for Stored { number: s, training_row, coefficients, counts, row } in &shown {
        let counts =
            counts.iter().flatten().take(usize::from(counted)).chain(coefficients.iter().take(titles.len()));
        let cells = counts.map(|&a| number(a, 4));
        table.row([count(training_row.unwrap_or(*s as u64))].into_iter().chain(cells).chain([row.shown()]));
    }
    let left = expansion.len() - shown.len();
    let rest = match left {
        0 => String::new(),
        left => format!("… and {} more; --top N shows more\n", count(left as u64)),
    };
    let title = if machine { "support vectors" } else { "stored examples" };
    format!("\n{TITLE}{title}{TITLE:#}, those that count most first\n{table}{rest}")
}

impl Row {
    fn shown(&self) -> String {
        const FEATURES: usize = 6;
        let row = match self {
            Row::Number(number) => return format!("training row {}", count(*number as u64)),
            Row::Features(row) => row,
        };
        let mut features: Vec<String> =
            row.iter().take(FEATURES).map(|(name, v)| format!("{name} {}", number(*v, 4))).collect();
        features.extend((row.len() > FEATURES).then(|| format!("… {} more", row.len() - FEATURES)));
        features.join(", ")
    }
}
