//! A search as text: its table and its heat map.

use std::time::Duration;

use rosenblatt::{Cell, Searched, Selection, Strategy};
use serde_json::Value;

use super::data::describe_classes;
use super::outcome::accuracy_line;
use crate::format::{count, number, percent, plural, time};
use crate::search_args::flag_of;
use crate::style::{DIM, TITLE};
use crate::table::Table;

/// What a search has to say of itself.
pub(super) struct SearchText<'a> {
    pub(super) found: &'a Searched,
    pub(super) selection: &'a Selection,
    pub(super) origin: &'a str,
    pub(super) rows: usize,
    /// Candidates to show; 0 for all.
    pub(super) top: usize,
}

impl SearchText<'_> {
    pub(super) fn show(&self) -> String {
        let model = &self.found.fit.model;
        let mut text = format!(
            "{TITLE}search{TITLE:#} on {}: {} × {}, {}\n\n",
            self.origin,
            plural(self.rows as u64, "row", "rows"),
            plural(model.features.count as u64, "feature", "features"),
            describe_classes(&model.classes),
        );
        if let Some(map) = heat_map(self.selection) {
            text += &format!("{map}\n");
        }
        text += &format!("{}\n", self.table());
        for (name, value) in self.lines() {
            text += &format!("  {DIM}{name:<10}{DIM:#}{value}\n");
        }
        text
    }

    /// The best candidates, from the best.
    fn table(&self) -> Table {
        let Selection { cells, chosen, .. } = self.selection;
        let mut order: Vec<usize> = (0..cells.len()).collect();
        let score = |at: usize| (cells[at].rows, cells[at].mean.unwrap_or(f64::NEG_INFINITY));
        order.sort_by(|&a, &b| {
            let ((rows_a, a_mean), (rows_b, b_mean)) = (score(a), score(b));
            rows_b.cmp(&rows_a).then(b_mean.total_cmp(&a_mean)).then(a.cmp(&b))
        });
        let shown = if self.top == 0 { order.len() } else { self.top };
        let halving = cells.iter().any(|cell| cell.rows != cells[*chosen].rows);
        let mut headings = vec!["", "candidate", ">accuracy", ">± error"];
        headings.extend(halving.then_some(">rows"));
        headings.push("time");
        let mut table = Table::new(&headings);
        for &at in order.iter().take(shown) {
            let mut row = vec![if at == *chosen { "→".to_owned() } else { String::new() }];
            row.extend([title(&cells[at], self.selection), self.accuracy(&cells[at])]);
            row.push(cells[at].error.map_or(String::new(), percent));
            row.extend(halving.then(|| count(cells[at].rows)));
            row.push(time(Duration::from_secs_f64(self.found.seconds[at])));
            table.row(row);
        }
        if order.len() > shown {
            table.row([String::new(), format!("… and {} more; --top 0 shows all", order.len() - shown)]);
        }
        table
    }

    fn accuracy(&self, cell: &Cell) -> String {
        match (&cell.failure, cell.mean) {
            (Some(_), _) => "failed".to_owned(),
            (None, Some(mean)) => percent(mean),
            (None, None) => "stopped".to_owned(),
        }
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let (selection, report) = (self.selection, &self.found.fit.report);
        let Selection { cells, best, chosen, .. } = selection;
        let [search, _, last] = self.found.phases.map(|s| time(Duration::from_secs_f64(s)));
        let fits = plural(self.found.fits, "fit", "fits");
        let mut lines = vec![("search", format!("{}; {fits} in {search}", summary(selection)))];
        let failures = cells.iter().filter_map(|cell| cell.failure.as_ref());
        lines.extend(failures.take(1).map(|failure| ("failed", failure.clone())));
        lines.push(("chosen", title(&cells[*chosen], selection)));
        if best != chosen {
            let of = title(&cells[*best], selection);
            lines.push((
                "best",
                format!("{of}; the one chosen is simpler, and within a standard error of it"),
            ));
        }
        lines.extend(nested_line(selection).map(|line| ("nested", line)));
        lines.push(("rule", report.objective.clone()));
        lines.push(("status", format!("{} on all rows, in {last}", report.status.name().replace('_', " "))));
        lines.push(("accuracy", accuracy_line(report, false)));
        lines
    }
}

/// "64 candidates (grid), 84.91% ± 0.12% in 5 folds"
pub(super) fn summary(selection: &Selection) -> String {
    let Selection { cells, chosen, folds, repeats, grouped, .. } = selection;
    let strategy = match selection.strategy {
        Strategy::Grid => "grid".to_owned(),
        Strategy::Random { .. } => "at random".to_owned(),
        Strategy::Halving { factor } => format!("halving by {factor}"),
    };
    let score = match (cells[*chosen].mean, cells[*chosen].error) {
        (Some(mean), Some(error)) => format!("{} ± {}", percent(mean), percent(error)),
        _ => "not all scores known".to_owned(),
    };
    let times = if *repeats > 1 { format!(", {repeats} times") } else { String::new() };
    let whole = if *grouped { " of whole groups" } else { "" };
    let stopped = if selection.complete { "" } else { ", stopped before its end" };
    let candidates = plural(cells.len() as u64, "candidate", "candidates");
    format!("{candidates} ({strategy}), {score} in {folds} folds{whole}{times}{stopped}")
}

/// "84.7% ± 0.1% on rows that no search has seen (5 folds)"
pub(super) fn nested_line(selection: &Selection) -> Option<String> {
    let nested = selection.nested.as_ref()?;
    Some(format!(
        "{} ± {} on rows that the search had not seen ({} searches)",
        percent(nested.mean),
        percent(nested.error),
        nested.outer.len()
    ))
}

/// "svm, c 10, gamma 0.1"
fn title(cell: &Cell, selection: &Selection) -> String {
    let several = selection.axes.iter().any(|(name, _)| name == "algorithm");
    let mut parts: Vec<String> = Vec::new();
    parts.extend((several || cell.parameters.is_empty()).then(|| cell.algorithm.clone()));
    parts.extend(cell.map.iter().map(|map| format!("map {map}")));
    parts.extend(cell.parameters.iter().map(|(name, value)| format!("{} {}", flag_of(name), shown(value))));
    parts.join(", ")
}

fn shown(value: &Value) -> String {
    match value {
        Value::Number(number_) => number(number_.as_f64().unwrap_or_default(), 6),
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
}

/// Where two parameters or more have several values, the two with the most, others as they were chosen: the better, the darker.
fn heat_map(selection: &Selection) -> Option<String> {
    const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
    const WIDEST: usize = 12;
    let mut axes: Vec<&(String, Vec<Value>)> = selection.axes.iter().filter(|(_, v)| v.len() > 1).collect();
    axes.sort_by_key(|(_, values)| std::cmp::Reverse(values.len()));
    let [first, second, ..] = axes[..] else { return None };
    // The wider one goes down.
    let (down, across) = (first, second);
    if across.1.len() > WIDEST || matches!(selection.strategy, Strategy::Random { .. }) {
        return None;
    }
    let chosen = &selection.cells[selection.chosen];
    let fits = |cell: &&Cell| {
        let rest = selection.axes.iter().filter(|(name, _)| *name != down.0 && *name != across.0);
        rest.clone().all(|(name, _)| value_of(cell, name) == value_of(chosen, name))
    };
    let shown_cells: Vec<&Cell> = selection.cells.iter().filter(fits).collect();
    let means = || shown_cells.iter().filter_map(|cell| cell.mean);
    let (low, high) = means().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), m| (l.min(m), h.max(m)));
    let cell_text = |y: &Value, x: &Value| {
        let at = |cell: &&&Cell| value_of(cell, &down.0) == *y && value_of(cell, &across.0) == *x;
        let Some(cell) = shown_cells.iter().find(at) else { return String::new() };
        let Some(mean) = cell.mean else { return "·".to_owned() };
        let share = if high > low { (mean - low) / (high - low) } else { 1.0 };
        let shade = SHADES[((share * 4.0).round() as usize).min(4)];
        let mark = if std::ptr::eq(*cell, chosen) { '◂' } else { ' ' };
        format!("{shade}{shade} {:.2}{mark}", 100.0 * mean)
    };
    let mut headings = vec![format!("{} \\ {}", flag_of(&down.0), flag_of(&across.0))];
    headings.extend(across.1.iter().map(|value| format!(">{} ", shown(value))));
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let mut table = Table::new(&headings);
    for y in &down.1 {
        table.row([shown(y)].into_iter().chain(across.1.iter().map(|x| cell_text(y, x))));
    }
    Some(table.to_string())
}

fn value_of(cell: &Cell, axis: &str) -> Value {
    match axis {
        "algorithm" => Value::from(cell.algorithm.clone()),
        "map" => cell.map.clone().map_or(Value::Null, Value::from),
        name => cell.parameters.get(name).cloned().unwrap_or_default(),
    }
}
