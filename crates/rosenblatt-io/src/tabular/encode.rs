//! Cells become numbers.

use rosenblatt::{Dataset, Labels, Matrix};

use super::cells::{Cells, Tabular};
use super::plan::{Encoding, Plan, Step};
use super::records::find_column;
use crate::builder::{Builder, Value};
use crate::cell::{Cell, is_missing};
use crate::error::ReadError;
use crate::problem::{excerpt, listed};
use crate::text::TextRows;
use crate::{Lines, Problem, ReadOptions};

/// The content of a table.
pub(super) struct Encoded {
    pub(super) x: Matrix<'static>,
    pub(super) labels: Option<Labels>,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) lines: Lines,
}

pub(super) fn encode<S: Tabular, T: Value>(
    source: &S,
    plan: &Plan,
    options: &ReadOptions,
    mut texts: Vec<TextRows>,
) -> Result<Encoded, ReadError> {
    let (unlabelled, allowed) = (Unlabelled::of(plan, options), options.allows_missing());
    let mut builder = Builder::<T>::new(plan.width, plan.sparse);
    let mut labels = plan.label.map(|_| Labels::default());
    let mut weights = plan.weight.map(|_| Vec::new());
    let mut lines = Lines::counted_in(S::UNIT);
    source.each_row(plan.header, &plan.columns(), |row| {
        let place =
            |column: usize| move |problem| plan.place(ReadError::new(problem).at_line(row.line()), column);
        builder.begin_row();
        for step in &plan.steps {
            fill(&mut builder, row, step, (plan, allowed), &mut texts).map_err(place(step.column))?;
        }
        builder.end_row();
        if let (Some(labels), Some(column)) = (&mut labels, plan.label) {
            labels.push(label(&row.text(column), unlabelled, &plan.names[column]).map_err(place(column))?);
        }
        if let (Some(weights), Some(column)) = (&mut weights, plan.weight) {
            weights.push(weight(row, column).map_err(place(column))?);
        }
        lines.push(row.line());
        Ok(())
    })?;
    let x = builder.finish().map_err(|error| Problem::Data(error.to_string()))?;
    Ok(Encoded { x, labels, weights, lines })
}

fn fill<'r, T: Value>(
    builder: &mut Builder<T>,
    row: impl Cells<'r>,
    step: &Step,
    (plan, allowed): (&Plan, bool),
    texts: &mut [TextRows],
) -> Result<(), Problem> {
    let name = &plan.names[step.column];
    match &step.encoding {
        Encoding::Number => builder.set(step.feature, number::<T>(row, step.column, name, allowed)?),
        Encoding::Levels { of, sorted } => {
            let cell = &*row.text(step.column);
            match of.get(cell) {
                Some(level) => builder.set(step.feature + level, T::narrow(1.0)),
                // As much of each level as the model will make of it.
                None if allowed && is_missing(cell) => {
                    (0..sorted.len())
                        .for_each(|level| builder.set(step.feature + level, T::narrow(f64::NAN)));
                }
                None if is_missing(cell) => return Err(missing(cell, name)),
                None => return Err(Problem::UnknownLevel { text: excerpt(cell), levels: listed(sorted) }),
            }
        }
        Encoding::Text { number } => {
            texts[*number].next(|feature, value| builder.set(feature, T::narrow(value)));
        }
    }
    Ok(())
}

fn number<'r, T: Value>(row: impl Cells<'r>, column: usize, name: &str, allowed: bool) -> Result<T, Problem> {
    let value = match row.number(column) {
        Some(value) => Some(T::narrow(value)),
        None => row.text(column).parse().ok(),
    };
    if let Some(value) = value.filter(|value| value.wide().is_finite()) {
        return Ok(value);
    }
    let cell = &*row.text(column);
    let text = excerpt(cell);
    Err(match Cell::of(cell) {
        Cell::Missing if allowed => return Ok(T::narrow(f64::NAN)),
        Cell::Missing => missing(cell, name),
        Cell::Number { .. } | Cell::Infinite => Problem::NotFinite { text },
        Cell::CommaNumber => Problem::CommaInNumber { text, column: name.to_owned() },
        Cell::Text => Problem::NotANumber { text },
    })
}

fn missing(cell: &str, name: &str) -> Problem {
    Problem::MissingCell { text: excerpt(cell), column: name.to_owned(), among_texts: false }
}

fn weight<'r>(row: impl Cells<'r>, column: usize) -> Result<f64, Problem> {
    let weight = row.number(column).or_else(|| row.text(column).parse().ok());
    let weight = weight.filter(|weight| (0.0..=Dataset::LARGEST_WEIGHT).contains(weight));
    weight.ok_or_else(|| Problem::BadWeight { text: excerpt(&row.text(column)) })
}

/// Which labels are taken as missing and refused.
#[derive(Clone, Copy)]
enum Unlabelled {
    /// None: the rows are to be predicted.
    Accepted,
    /// Empty ones: the label column was declared to hold categories, so `none` is one.
    Empty,
    /// All that usually mean it.
    Markers,
}

impl Unlabelled {
    fn of(plan: &Plan, options: &ReadOptions) -> Self {
        let declared = |asked: &String| find_column(&plan.names, asked).ok() == plan.label;
        match options.features {
            Some(_) => Unlabelled::Accepted,
            None if options.categorical.iter().any(declared) => Unlabelled::Empty,
            None => Unlabelled::Markers,
        }
    }
}

fn label<'a>(cell: &'a str, unlabelled: Unlabelled, name: &str) -> Result<&'a str, Problem> {
    let is_refused = match unlabelled {
        Unlabelled::Accepted => false,
        Unlabelled::Empty => cell.is_empty(),
        Unlabelled::Markers => is_missing(cell),
    };
    match is_refused {
        true => Err(Problem::MissingLabel { text: excerpt(cell), column: name.to_owned() }),
        false => Ok(cell),
    }
}
