//! A table for a model: its columns must be those the model knows.

use std::collections::{HashMap, HashSet};

use rosenblatt::{Column, Features, Role, Schema};

use super::header;
use super::plan::{Part, Plan};
use super::records::{dropped, find_column};
use super::survey::Survey;
use crate::error::ReadError;
use crate::{Problem, ReadOptions};

/// What the options say about columns, looked up in this table.
struct Asked {
    dropped: Vec<bool>,
    label: Option<usize>,
    weight: Option<usize>,
}

impl Asked {
    fn of(names: &[String], options: &ReadOptions) -> Result<Self, ReadError> {
        let find = |asked: &Option<String>| asked.as_deref().map(|name| find_column(names, name)).transpose();
        let (label, weight) = (find(&options.label)?, find(&options.weight)?);
        Ok(Asked { dropped: dropped(names, options)?, label, weight })
    }

    fn part(&self, column: usize) -> Option<Part> {
        match column {
            _ if self.label == Some(column) => Some(Part::Label),
            _ if self.weight == Some(column) => Some(Part::Weight),
            _ if self.dropped[column] => Some(Part::Ignored),
            _ => None,
        }
    }
}

pub(super) fn plan(survey: Survey, model: &Features, options: &ReadOptions) -> Result<Plan, ReadError> {
    let Some(schema) = &model.schema else { return plan_without_schema(survey, model, options) };
    let header = options.header.unwrap_or_else(|| is_header(&survey.first, model, schema));
    let columns = header::columns(survey, header)?;
    let asked = Asked::of(&columns.names, options)?;
    let parts = match header && schema.header {
        true => by_name(&columns.names, schema, &asked)?,
        false => by_position(columns.names.len(), schema, &asked)?,
    };
    Ok(Plan::new(schema, &columns, &parts))
}

/// Whether the first row of a table names the columns a model knows by name.
pub(super) fn is_header(first: &[String], model: &Features, schema: &Schema) -> bool {
    schema.header && names_columns(first, model, schema)
}

/// A model of LIBSVM text, words or JSON lines knows no table: the columns are its features and texts, and the last may be the
/// label.
fn plan_without_schema(survey: Survey, model: &Features, options: &ReadOptions) -> Result<Plan, ReadError> {
    let columns = header::resolve(survey, options)?;
    let mut asked = Asked::of(&columns.names, options)?;
    let free: Vec<usize> = (0..columns.names.len()).filter(|&column| asked.part(column).is_none()).collect();
    let count = n_columns(model);
    let has_label = asked.label.is_none() && free.len() == count + 1;
    if has_label {
        asked.label = free.last().copied();
    }
    if free.len() != count + usize::from(has_label) {
        let found = columns.names.len();
        let expected = match asked.label {
            None => format!("{count}, or {} with the label", count + 1),
            Some(_) => format!("{count} beside the label"),
        };
        return Err(Problem::ColumnCount { expected, found }.into());
    }
    let mut schema = Schema { header: true, columns: described(model) };
    if model.names.is_none() || !columns.header {
        let names = free.iter().map(|&column| columns.names[column].clone());
        schema.columns.iter_mut().zip(names).for_each(|(column, name)| column.name = name);
    }
    let parts = by_name(&columns.names, &schema, &asked)?;
    Ok(Plan::new(&schema, &columns, &parts))
}

/// How many columns a table needs: one for each feature that is not of a text, and one for each text.
fn n_columns(model: &Features) -> usize {
    let ngrams: usize = model.texts.iter().map(|text| text.frequencies.len()).sum();
    model.count - ngrams + model.texts.len()
}

/// These columns in the order of their features.
fn described(model: &Features) -> Vec<Column> {
    let mut columns = Vec::with_capacity(n_columns(model));
    let mut texts = model.texts.iter().peekable();
    let mut feature = 0;
    while feature < model.count {
        let column = match texts.next_if(|text| text.first == feature) {
            Some(text) => Column::new(&text.name, Role::Text { features: text.frequencies.len() }),
            None => Column::new(model.name(feature), Role::Numeric),
        };
        feature += column.width();
        columns.push(column);
    }
    columns
}

/// Whether at least half of the features are named here, or half of the cells are features. A text could be any cell, and so a
/// table with other names would pass for one without: where there are texts, there must be names.
fn names_columns(first: &[String], model: &Features, schema: &Schema) -> bool {
    if !model.texts.is_empty() {
        return true;
    }
    let cells: HashSet<&str> = first.iter().map(String::as_str).collect();
    let features = || schema.columns.iter().filter(|column| is_feature(column));
    let named = features().filter(|column| cells.contains(column.name.as_str())).count();
    2 * named >= features().count().min(first.len())
}

fn is_feature(column: &Column) -> bool {
    !matches!(column.role, Role::Label | Role::Weight | Role::Ignored)
}

fn by_name(names: &[String], schema: &Schema, asked: &Asked) -> Result<Vec<Part>, ReadError> {
    let known: HashMap<&str, usize> =
        schema.columns.iter().enumerate().map(|(number, column)| (column.name.as_str(), number)).collect();
    let mut parts = Vec::with_capacity(names.len());
    for (column, name) in names.iter().enumerate() {
        let number = known.get(name.as_str()).copied();
        let part = match (asked.part(column), number) {
            (Some(part), _) => part,
            (None, Some(number)) => part_of(schema, number, asked),
            (None, None) => {
                let error = ReadError::new(Problem::ExtraColumn { name: name.clone() });
                return Err(error.at_column(column + 1));
            }
        };
        parts.push(part);
    }
    let there: HashSet<Part> = parts.iter().copied().collect();
    let is_absent =
        |&number: &usize| is_feature(&schema.columns[number]) && !there.contains(&Part::Feature(number));
    match (0..schema.columns.len()).find(is_absent).map(|number| schema.columns[number].name.clone()) {
        None => Ok(parts),
        Some(name) if names.contains(&name) => Err(Problem::DroppedFeature { name }.into()),
        Some(name) => Err(Problem::MissingColumn { name }.into()),
    }
}

/// A label or weight column named in the options takes the place of the schema's own.
fn part_of(schema: &Schema, number: usize, asked: &Asked) -> Part {
    match schema.columns[number].role {
        Role::Numeric | Role::Categorical { .. } | Role::Text { .. } => Part::Feature(number),
        Role::Label if asked.label.is_none() => Part::Label,
        Role::Weight if asked.weight.is_none() => Part::Weight,
        Role::Label | Role::Weight | Role::Ignored => Part::Ignored,
    }
}

/// Without names, the columns are all of the schema's, or all but the label, or the features alone.
fn by_position(found: usize, schema: &Schema, asked: &Asked) -> Result<Vec<Part>, ReadError> {
    let pick = |keep: &dyn Fn(&Column) -> bool| -> Vec<usize> {
        (0..schema.columns.len()).filter(|&number| keep(&schema.columns[number])).collect()
    };
    let mut layouts = vec![pick(&|column| column.role != Role::Label), pick(&is_feature)];
    if asked.label.is_none() {
        layouts.insert(0, pick(&|_| true));
    }
    let own = |column: &usize| asked.label != Some(*column) && asked.weight != Some(*column);
    let all: Vec<usize> = (0..found).filter(own).collect();
    let kept: Vec<usize> = all.iter().copied().filter(|&column| !asked.dropped[column]).collect();
    let assign = |columns: &[usize], layout: &[usize]| assign(found, columns, layout, schema, asked);
    let assigned = layouts.iter().find_map(|layout| assign(&all, layout));
    assigned.or_else(|| layouts.iter().find_map(|layout| assign(&kept, layout))).ok_or_else(|| {
        let (features, expected) = (pick(&is_feature).len(), schema.columns.len());
        let expected = match schema.label() {
            Some(_) => format!("{expected} as in training, or the {features} that are features"),
            None => expected.to_string(),
        };
        Problem::ColumnCount { expected, found }.into()
    })
}

/// Lays the schema's columns onto the table's, unless the numbers differ or a feature would be left out.
fn assign(
    found: usize,
    columns: &[usize],
    layout: &[usize],
    schema: &Schema,
    asked: &Asked,
) -> Option<Vec<Part>> {
    if columns.len() != layout.len() {
        return None;
    }
    let mut parts: Vec<Part> = (0..found).map(|column| asked.part(column).unwrap_or(Part::Ignored)).collect();
    for (&column, &number) in columns.iter().zip(layout) {
        let part = part_of(schema, number, asked);
        match asked.dropped[column] {
            true if part != Part::Ignored => return None,
            _ => parts[column] = part,
        }
    }
    Some(parts)
}
