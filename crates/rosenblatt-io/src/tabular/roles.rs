//! What each column of a table to learn from is for.

use std::collections::BTreeSet;

use rosenblatt::{Column, Role, Schema};

use super::cells::{Cells, Tabular};
use super::header::Columns;
use super::records::{chosen, dropped, find_column};
use super::survey::{Holdings, Spot};
use crate::cell::is_missing;
use crate::error::ReadError;
use crate::problem::excerpt;
use crate::{Problem, ReadOptions};

/// Roles by the options and by what the columns hold; levels and texts are still empty.
pub(super) fn schema(columns: &Columns, options: &ReadOptions) -> Result<Schema, ReadError> {
    let names = &columns.names;
    let dropped = dropped(names, options)?;
    let texts = chosen(names, &options.text.columns)?;
    let weight = options.weight.as_deref().map(|asked| find_column(names, asked)).transpose()?;
    let label = match &options.label {
        Some(asked) => find_column(names, asked)?,
        None => default_label(&dropped, &texts, weight)
            .ok_or(Problem::NoFeatureColumns { columns: names.len() })?,
    };
    refuse_two_roles(names, &dropped, label, weight)?;
    let categorical = chosen(names, &options.categorical)?;
    refuse_two_roles_of_text(names, &texts, |column| match column {
        _ if column == label => Some("the label"),
        _ if Some(column) == weight => Some("the weight"),
        _ if dropped[column] => Some("left out"),
        _ if categorical[column] => Some("categories"),
        _ => None,
    })?;
    let role = |column: usize| match column {
        _ if dropped[column] => Role::Ignored,
        _ if column == label => Role::Label,
        _ if Some(column) == weight => Role::Weight,
        _ if texts[column] => Role::Text { features: 0 },
        _ if categorical[column] || columns.holdings[column].texts.count > 0 => {
            Role::Categorical { levels: Vec::new() }
        }
        _ => Role::Numeric,
    };
    let roles: Vec<Role> = (0..names.len()).map(role).collect();
    refuse_bad_cells(columns, &roles, &categorical, options.allows_missing())?;
    match roles.iter().any(|role| !matches!(role, Role::Label | Role::Weight | Role::Ignored)) {
        true => {
            let described = names.iter().zip(roles).map(|(name, role)| Column::new(name, role));
            Ok(Schema { header: columns.header, columns: described.collect() })
        }
        false => Err(Problem::NoFeatureColumns { columns: names.len() }.into()),
    }
}

/// The last column that is free.
fn default_label(dropped: &[bool], texts: &[bool], weight: Option<usize>) -> Option<usize> {
    let is_free = |&column: &usize| !dropped[column] && !texts[column] && Some(column) != weight;
    (0..dropped.len()).rfind(is_free)
}

fn refuse_two_roles_of_text(
    names: &[String],
    texts: &[bool],
    other: impl Fn(usize) -> Option<&'static str>,
) -> Result<(), ReadError> {
    let conflict = |column: usize| texts[column].then(|| other(column))?.map(|other| (column, other));
    match (0..names.len()).find_map(conflict) {
        None => Ok(()),
        Some((column, other)) => {
            Err(Problem::TwoRoles { name: names[column].clone(), one: "a text", other }.into())
        }
    }
}

fn refuse_two_roles(
    names: &[String],
    dropped: &[bool],
    label: usize,
    weight: Option<usize>,
) -> Result<(), ReadError> {
    let conflict = if Some(label) == weight {
        (label, "the label", "the weight")
    } else if dropped[label] {
        (label, "the label", "left out")
    } else if let Some(weight) = weight.filter(|&weight| dropped[weight]) {
        (weight, "the weight", "left out")
    } else {
        return Ok(());
    };
    let (column, one, other) = conflict;
    Err(Problem::TwoRoles { name: names[column].clone(), one, other }.into())
}

/// Reports the bad cell that comes first in the file.
fn refuse_bad_cells(
    columns: &Columns,
    roles: &[Role],
    categorical: &[bool],
    missing: bool,
) -> Result<(), ReadError> {
    let fault = |column: usize| {
        let is_open =
            matches!(roles[column], Role::Numeric | Role::Categorical { .. }) && !categorical[column];
        let (spot, problem) =
            is_open.then(|| fault(&columns.holdings[column], &columns.names[column], missing))??;
        Some((spot.line, column, problem))
    };
    let faults = (0..roles.len()).filter_map(fault);
    match faults.min_by_key(|&(line, column, _)| (line, column)) {
        None => Ok(()),
        Some((line, column, problem)) => {
            let error = ReadError::new(problem).at_line(line).at_column(column + 1);
            Err(error.named(&columns.names[column]))
        }
    }
}

/// The first cell of a feature column that is neither a finite number among numbers nor a text among texts.
fn fault<'a>(column: &'a Holdings, name: &str, allowed: bool) -> Option<(&'a Spot, Problem)> {
    let name = name.to_owned();
    let (numbers, texts) = (column.numbers.count, column.texts.count);
    let mostly_numbers = numbers >= texts;
    let odd = match (numbers, texts) {
        (0, _) | (_, 0) => None,
        _ if mostly_numbers => column.texts.first.as_ref(),
        _ => column.numbers.first.as_ref(),
    };
    let mixed = |spot: &Spot| {
        let (text, column) = (excerpt(&spot.text), name.clone());
        Problem::MixedColumn { text, column, mostly_numbers }
    };
    let missing = |spot: &Spot| {
        let (text, column) = (excerpt(&spot.text), name.clone());
        Problem::MissingCell { among_texts: !text.is_empty() && texts > 0, text, column }
    };
    let infinite = |spot: &Spot| Problem::NotFinite { text: excerpt(&spot.text) };
    let comma = |spot: &Spot| Problem::CommaInNumber { text: excerpt(&spot.text), column: name.clone() };
    let faults = [
        odd.map(|spot| (spot, mixed(spot))),
        column.missing.first.as_ref().filter(|_| !allowed).map(|spot| (spot, missing(spot))),
        column.infinite.first.as_ref().map(|spot| (spot, infinite(spot))),
        column.comma_numbers.first.as_ref().map(|spot| (spot, comma(spot))),
    ];
    faults.into_iter().flatten().min_by_key(|(spot, _)| spot.line)
}

/// Collects the levels of categorical columns.
pub(super) fn fill_levels(
    source: &impl Tabular,
    schema: &mut Schema,
    options: &ReadOptions,
) -> Result<(), ReadError> {
    let is_categorical = |column: &usize| matches!(schema.columns[*column].role, Role::Categorical { .. });
    let categorical: Vec<usize> = (0..schema.columns.len()).filter(is_categorical).collect();
    if categorical.is_empty() {
        return Ok(());
    }
    // Of a column that was declared to hold categories, `none` is one.
    let names: Vec<String> = schema.columns.iter().map(|column| column.name.clone()).collect();
    let declared = chosen(&names, &options.categorical)?;
    let is_gap =
        |column: usize, cell: &str| options.allows_missing() && !declared[column] && is_missing(cell);
    let mut seen: Vec<BTreeSet<String>> = vec![BTreeSet::new(); categorical.len()];
    source.each_row(schema.header, &categorical, |row| {
        for (&column, levels) in categorical.iter().zip(&mut seen) {
            let cell = row.text(column);
            if !cell.is_empty() && !levels.contains(&*cell) && !is_gap(column, &cell) {
                levels.insert(cell.into_owned());
            }
        }
        Ok(())
    })?;
    for (column, found) in categorical.into_iter().zip(seen) {
        schema.columns[column].role = Role::Categorical { levels: found.into_iter().collect() };
    }
    Ok(())
}
