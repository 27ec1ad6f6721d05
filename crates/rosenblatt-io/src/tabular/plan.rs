//! Which cell goes where.

use std::collections::HashMap;

use rosenblatt::{Column, Role, Schema};

use super::header::Columns;
use crate::error::ReadError;

/// How to fill rows from cells.
pub(super) struct Plan {
    pub(super) header: bool,
    /// The names of the table's columns.
    pub(super) names: Vec<String>,
    /// In the order of the features, which need not be that of the columns.
    pub(super) steps: Vec<Step>,
    pub(super) label: Option<usize>,
    pub(super) weight: Option<usize>,
    pub(super) width: usize,
    pub(super) sparse: bool,
}

/// One column that makes features.
pub(super) struct Step {
    pub(super) column: usize,
    /// The first feature it makes.
    pub(super) feature: usize,
    pub(super) encoding: Encoding,
}

pub(super) enum Encoding {
    Number,
    /// One feature per level.
    Levels {
        of: HashMap<String, usize>,
        sorted: Vec<String>,
    },
    /// The n-grams of a text, by its number among the texts.
    Text {
        number: usize,
    },
}

/// What a column of the table is, seen from the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// The schema's column of this number.
    Feature(usize),
    Label,
    Weight,
    Ignored,
}

impl Plan {
    /// The table the schema was made from.
    pub(super) fn of_schema(schema: &Schema, columns: &Columns) -> Self {
        let part = |(number, column): (usize, &Column)| match column.role {
            Role::Numeric | Role::Categorical { .. } | Role::Text { .. } => Part::Feature(number),
            Role::Label => Part::Label,
            Role::Weight => Part::Weight,
            Role::Ignored => Part::Ignored,
        };
        let parts: Vec<Part> = schema.columns.iter().enumerate().map(part).collect();
        Plan::new(schema, columns, &parts)
    }

    /// A table whose columns are these parts.
    pub(super) fn new(schema: &Schema, columns: &Columns, parts: &[Part]) -> Self {
        let mut column_of = vec![None; schema.columns.len()];
        for (column, part) in parts.iter().enumerate() {
            if let Part::Feature(number) = *part {
                column_of[number] = Some(column);
            }
        }
        let mut steps = Vec::new();
        let (mut feature, mut texts) = (0, 0);
        for (described, column) in schema.columns.iter().zip(column_of) {
            if let (Some(column), Some(encoding)) = (column, Encoding::of(&described.role, texts)) {
                texts += usize::from(matches!(encoding, Encoding::Text { .. }));
                steps.push(Step { column, feature, encoding });
            }
            feature += described.width();
        }
        let find = |wanted: Part| parts.iter().position(|&part| part == wanted);
        Plan {
            header: columns.header,
            names: columns.names.clone(),
            sparse: is_sparse(columns, &steps, feature),
            steps,
            label: find(Part::Label),
            weight: find(Part::Weight),
            width: feature,
        }
    }

    /// The columns of the table that are looked at.
    pub(super) fn columns(&self) -> Vec<usize> {
        self.steps.iter().map(|step| step.column).chain(self.label).chain(self.weight).collect()
    }

    pub(super) fn place(&self, error: ReadError, column: impl Into<Option<usize>>) -> ReadError {
        match column.into() {
            Some(column) => error.at_column(column + 1).named(&self.names[column]),
            None => error,
        }
    }
}

impl Encoding {
    /// `texts` is the number of texts before it.
    fn of(role: &Role, texts: usize) -> Option<Self> {
        match role {
            Role::Numeric => Some(Encoding::Number),
            Role::Categorical { levels } => {
                let of = levels.iter().enumerate().map(|(j, level)| (level.clone(), j)).collect();
                Some(Encoding::Levels { of, sorted: levels.clone() })
            }
            Role::Text { .. } => Some(Encoding::Text { number: texts }),
            Role::Label | Role::Weight | Role::Ignored => None,
        }
    }
}

/// Sparse rows pay from 32 columns with three zeros in four; texts have few of all n-grams.
fn is_sparse(columns: &Columns, steps: &[Step], width: usize) -> bool {
    if steps.iter().any(|step| matches!(step.encoding, Encoding::Text { .. })) {
        return true;
    }
    let entries = |step: &Step| {
        let held = &columns.holdings[step.column];
        match step.encoding {
            Encoding::Number => held.numbers.count.saturating_sub(held.zeros),
            Encoding::Levels { .. } | Encoding::Text { .. } => columns.rows,
        }
    };
    let entries: usize = steps.iter().map(entries).sum();
    width >= 32 && (entries as f64) < 0.25 * width as f64 * columns.rows as f64
}
