//! Tables: comma- or tab-separated text.
//!
//! The text is gone through up to three times rather than kept as cells: once to see what each column holds, once to
//! collect levels where there are categories, once to fill the matrix.

mod encode;
mod header;
mod matching;
mod plan;
mod quotes;
mod records;
mod roles;
mod survey;

use memchr::memchr;
use rosenblatt::{Column, Features, Labels, Role};

use crate::builder::Value;
use crate::error::ReadError;
use crate::{Problem, ReadOptions, Table};
use plan::Plan;
use survey::Survey;

/// The text of a table and what separates its cells.
#[derive(Clone, Copy)]
struct Source<'a> {
    text: &'a [u8],
    delimiter: u8,
}

pub(crate) fn parse<T: Value>(text: &[u8], delimiter: u8, options: &ReadOptions) -> Result<Table, ReadError> {
    let source = Source { text, delimiter };
    check_text(source)?;
    let survey = Survey::of(source)?;
    let (plan, features) = match &options.features {
        Some(model) => (matching::plan(survey, model, options)?, model.clone()),
        None => learn(source, survey, options)?,
    };
    let encoded = encode::encode::<T>(source, &plan, options)?;
    if let (None, Some(labels)) = (&options.features, &encoded.labels) {
        refuse_no_classes(labels).map_err(|problem| plan.place(problem.into(), plan.label))?;
    }
    Ok(Table::new(encoded.x, encoded.labels, encoded.weights, features, encoded.lines))
}

/// The first row of a table to be read for a model, and whether it is a header: then it belongs before every later part of the table.
pub(crate) fn header<'a>(
    text: &'a [u8],
    delimiter: u8,
    options: &ReadOptions,
) -> Result<Option<&'a [u8]>, ReadError> {
    let Some(schema) = options.features.as_ref().and_then(|model| model.schema.as_ref()) else {
        return Ok(None);
    };
    let source = Source { text, delimiter };
    let mut records = records::Records::of(source);
    let Some(first) = records.next()? else { return Ok(None) };
    let cells: Vec<String> = first.cells().map(str::to_owned).collect();
    let is_header = options.header.unwrap_or_else(|| matching::is_header(&cells, schema));
    Ok(is_header.then(|| &text[..records.position()]))
}

/// Decides what each column is for, and collects the levels of categories.
fn learn(source: Source<'_>, survey: Survey, options: &ReadOptions) -> Result<(Plan, Features), ReadError> {
    let columns = header::resolve(survey, options)?;
    let mut schema = roles::schema(&columns, options)?;
    roles::fill_levels(source, &mut schema)?;
    let plan = Plan::of_schema(&schema, &columns);
    let is_categorical = |column: &Column| matches!(column.role, Role::Categorical { .. });
    let is_named = schema.header || schema.columns.iter().any(is_categorical);
    let names = is_named.then(|| schema.feature_names());
    Ok((plan, Features { count: schema.n_features(), names, schema: Some(schema), hash: None }))
}

fn check_text(source: Source<'_>) -> Result<(), ReadError> {
    let text = source.text;
    if memchr(0, text).is_some() {
        return Err(Problem::NotData { what: "a binary file" }.into());
    }
    let Err(error) = std::str::from_utf8(text) else { return quotes::check(source) };
    let (line, column) = quotes::position(source, error.valid_up_to());
    Err(ReadError::new(Problem::NotUtf8).at_line(line).at_column(column))
}

/// A number to predict or a free text is not a class: nearly every row would be a class of its own.
pub(crate) fn refuse_no_classes(labels: &Labels) -> Result<(), Problem> {
    refuse_no_classes_of(labels.distinct(), labels.len())
}

/// The same by the distinct labels and the number of rows.
pub(crate) fn refuse_no_classes_of(labels: &[String], rows: usize) -> Result<(), Problem> {
    let distinct = labels.len();
    if rows < 20 || distinct <= rows / 2 {
        return Ok(());
    }
    let are_numbers = labels.iter().all(|text| text.parse::<f64>().is_ok());
    let like = if are_numbers { "a number to predict" } else { "free text" };
    Err(Problem::NoClasses { distinct, rows, like })
}
