//! Tables: comma- or tab-separated text, and Parquet.
//!
//! A table is gone through up to four times rather than kept as cells: once to see what each column holds, once to
//! collect levels where there are categories, once for n-grams where there are texts, once to fill the matrix.

mod cells;
mod encode;
mod header;
mod matching;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
mod plan;
mod quotes;
mod records;
mod roles;
mod survey;
mod texts;

use memchr::memchr;
use rosenblatt::{Column, Features, Labels, Role, Schema};

use crate::builder::Value;
use crate::error::ReadError;
use crate::text::TextRows;
use crate::{Problem, ReadOptions, Table};
use cells::Tabular;
use plan::Plan;
pub(crate) use quotes::last_row_end;
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
    table::<T>(&source, Survey::of(source)?, options)
}

/// The same for every format: roles or matching, then levels and n-grams, then numbers.
fn table<T: Value>(source: &impl Tabular, survey: Survey, options: &ReadOptions) -> Result<Table, ReadError> {
    let (plan, features, texts) = match &options.features {
        Some(model) => {
            let plan = matching::plan(survey, model, options)?;
            let texts = texts::read(source, &plan, model)?;
            (plan, model.clone(), texts)
        }
        None => learn(source, survey, options)?,
    };
    let encoded = encode::encode::<_, T>(source, &plan, options, texts)?;
    if let (None, Some(labels)) = (&options.features, &encoded.labels) {
        refuse_no_classes(labels).map_err(|problem| plan.place(problem.into(), plan.label))?;
    }
    let table = Table::new(encoded.x, encoded.labels, encoded.weights, features, encoded.lines);
    Ok(Table { missing: options.allows_missing(), ..table })
}

/// A table that has been gone through once, so that it is known how to read it in parts.
pub(crate) struct Parts {
    plan: Plan,
    header: bool,
    pub(crate) delimiter: u8,
    pub(crate) features: Features,
}

impl Parts {
    /// Goes through the whole table, which has no texts.
    pub(crate) fn learn(text: &[u8], delimiter: u8, options: &ReadOptions) -> Result<Self, ReadError> {
        let source = Source { text, delimiter };
        check_text(source)?;
        let (plan, features, _) = learn(&source, Survey::of(source)?, options)?;
        Ok(Parts { header: plan.header, plan, delimiter, features })
    }

    /// Reads whole rows, of which the first begins on this line.
    pub(crate) fn read<T: Value>(
        &mut self,
        text: &[u8],
        first_line: u64,
        options: &ReadOptions,
    ) -> Result<Table, ReadError> {
        self.plan.header = self.header && first_line == 1;
        let source = Source { text, delimiter: self.delimiter };
        let encoded = encode::encode::<_, T>(&source, &self.plan, options, Vec::new());
        let encoded = encoded.map_err(|error| error.lines_later(first_line - 1))?;
        let lines = encoded.lines.moved(|line| line + first_line - 1);
        let features = Features { count: self.features.count, ..Features::default() };
        Ok(Table::new(encoded.x, encoded.labels, encoded.weights, features, lines))
    }
}

/// The first row of a table to be read for a model, and whether it is a header: then it belongs before every later part of the table.
pub(crate) fn header<'a>(
    text: &'a [u8],
    delimiter: u8,
    options: &ReadOptions,
) -> Result<Option<&'a [u8]>, ReadError> {
    let Some(model) = &options.features else { return Ok(None) };
    let Some(schema) = &model.schema else { return Ok(None) };
    let source = Source { text, delimiter };
    let mut records = records::Records::of(source);
    let Some(first) = records.next()? else { return Ok(None) };
    let cells: Vec<String> = first.cells().map(str::to_owned).collect();
    let is_header = options.header.unwrap_or_else(|| matching::is_header(&cells, model, schema));
    Ok(is_header.then(|| &text[..records.position()]))
}

/// Decides what each column is for, and collects the levels of categories and the n-grams of texts.
fn learn(
    source: &impl Tabular,
    survey: Survey,
    options: &ReadOptions,
) -> Result<(Plan, Features, Vec<TextRows>), ReadError> {
    let columns = header::resolve(survey, options)?;
    let mut schema = roles::schema(&columns, options)?;
    roles::fill_levels(source, &mut schema, options)?;
    let learned = texts::learn(source, &mut schema, options)?;
    let plan = Plan::of_schema(&schema, &columns);
    let has_names = |column: &Column| matches!(column.role, Role::Categorical { .. } | Role::Text { .. });
    let is_named = schema.header || schema.columns.iter().any(has_names);
    let (mut texts, mut rows, mut ngrams) = (Vec::new(), Vec::new(), Vec::new());
    for learned in learned {
        texts.push(learned.column);
        rows.push(learned.rows);
        ngrams.push(learned.names);
    }
    let names = is_named.then(|| feature_names(&schema, ngrams));
    let features =
        Features { count: schema.n_features(), names, schema: Some(schema), texts, ..Features::default() };
    Ok((plan, features, rows))
}

fn feature_names(schema: &Schema, ngrams: Vec<Vec<String>>) -> Vec<String> {
    let mut ngrams = ngrams.into_iter();
    let names = |column: &Column| match column.role {
        Role::Text { .. } => ngrams.next().unwrap_or_default(),
        _ => column.feature_names(),
    };
    schema.columns.iter().flat_map(names).collect()
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
