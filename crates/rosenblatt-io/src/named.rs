//! Rows whose features have names instead of places.

use rosenblatt::{Csr, Dense, Features, Labels, Matrix};

use crate::builder::Value;
use crate::dictionary::{Dictionary, NoNumber, check_utf8};
use crate::error::ReadError;
use crate::problem::excerpt_bytes;
use crate::{Lines, Problem, Table};

/// How a name becomes a column.
enum Columns {
    /// Every name gets one, in order of first appearance.
    Learned(Dictionary),
    /// Those a model knows; others are zeros for it, as unseen words are.
    Known(Dictionary),
    /// A model without names: its features are numbers from 1.
    Numbered(u64),
}

/// Why a feature is refused; the byte is counted within its name.
pub(crate) enum Refused {
    NotUtf8(usize),
    Problem(Problem),
}

/// What a feature that appears twice in a row means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeats {
    Add,
    Refuse,
}

/// Rows on their way to a table.
pub(crate) struct NamedRows<T> {
    names: Columns,
    /// The row being read: column and order of appearance in one key, which sorts without memory of its own.
    row: Vec<(u64, T)>,
    pointers: Vec<u64>,
    columns: Vec<u32>,
    values: Vec<T>,
    labels: Labels,
    weights: Option<Vec<f64>>,
    lines: Lines,
}

impl<T: Value> NamedRows<T> {
    pub(crate) fn new(model: Option<&Features>) -> Result<Self, ReadError> {
        let names = match model {
            None => Columns::Learned(Dictionary::default()),
            Some(Features { names: Some(names), .. }) => Columns::Known(known(names)?),
            Some(features) => Columns::Numbered(features.count as u64),
        };
        Ok(NamedRows {
            names,
            row: Vec::new(),
            pointers: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
            labels: Labels::default(),
            weights: None,
            lines: Lines::default(),
        })
    }

    /// An entry of the row being read.
    #[inline]
    pub(crate) fn add(&mut self, name: &[u8], value: T) -> Result<(), Refused> {
        if let Some(column) = self.column(name)? {
            let order = self.row.len() as u64 & u64::from(u32::MAX);
            self.row.push((u64::from(column) << 32 | order, value));
        }
        Ok(())
    }

    #[inline]
    fn column(&mut self, name: &[u8]) -> Result<Option<u32>, Refused> {
        match &mut self.names {
            Columns::Learned(names) => names.intern(name).map(Some).map_err(refused),
            Columns::Known(names) => match names.get(name) {
                Some(column) => Ok(Some(column)),
                None => check_utf8(name).map(|()| None).map_err(refused),
            },
            Columns::Numbered(count) => numbered(name, *count).map(Some).map_err(Refused::Problem),
        }
    }

    /// Rows without a weight weigh 1, and so do all if none has one.
    pub(crate) fn end_row(
        &mut self,
        label: &str,
        weight: f64,
        line: u64,
        repeats: Repeats,
    ) -> Result<(), Problem> {
        self.end_entries(repeats)?;
        self.pointers.push(self.columns.len() as u64);
        if weight != 1.0 && self.weights.is_none() {
            self.weights = Some(vec![1.0; self.lines.len()]);
        }
        if let Some(weights) = &mut self.weights {
            weights.push(weight);
        }
        self.labels.push(label);
        self.lines.push(line);
        Ok(())
    }

    fn end_entries(&mut self, repeats: Repeats) -> Result<(), Problem> {
        if !self.row.is_sorted_by_key(|&(key, _)| key) {
            self.row.sort_unstable_by_key(|&(key, _)| key);
        }
        let column = |key: u64| (key >> 32) as u32;
        let mut at = 0;
        while let Some(&(key, mut value)) = self.row.get(at) {
            at += 1;
            while let Some(&(next, more)) = self.row.get(at).filter(|(next, _)| column(*next) == column(key))
            {
                if repeats == Repeats::Refuse {
                    return Err(Problem::FeatureTwice { name: self.name(column(next)) });
                }
                value = T::narrow(value.wide() + more.wide());
                at += 1;
            }
            if !value.wide().is_finite() {
                return Err(Problem::SumNotFinite { name: self.name(column(key)) });
            }
            if value.wide() != 0.0 {
                self.columns.push(column(key));
                self.values.push(value);
            }
        }
        self.row.clear();
        Ok(())
    }

    fn name(&self, column: u32) -> String {
        match &self.names {
            Columns::Learned(names) | Columns::Known(names) => excerpt_bytes(names.name(column)),
            Columns::Numbered(_) => (u64::from(column) + 1).to_string(),
        }
    }

    pub(crate) fn labels(&self) -> &Labels {
        &self.labels
    }

    /// `model` must be what the rows were begun with.
    pub(crate) fn into_table(self, model: Option<&Features>, dense: DenseWhen) -> Result<Table, ReadError> {
        if self.lines.is_empty() {
            return Err(Problem::Empty.into());
        }
        let features = match (model, &self.names) {
            (Some(model), _) => model.clone(),
            (None, Columns::Learned(names)) if names.len() > 0 => {
                Features { count: names.len(), names: Some(names.names()), schema: None }
            }
            _ => return Err(Problem::NoFeatures.into()),
        };
        let x = matrix(self.pointers, self.columns, self.values, features.count, dense)
            .map_err(|error| Problem::Data(error.to_string()))?;
        let (labels, weights, lines) = (Some(self.labels), self.weights, self.lines);
        Ok(Table { origin: String::new(), x, labels, weights, features, lines })
    }
}

/// When rows are better kept dense.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DenseWhen {
    Never,
    /// Zeros cost less than the columns of the other entries.
    Smaller,
}

fn matrix<T: Value>(
    pointers: Vec<u64>,
    columns: Vec<u32>,
    values: Vec<T>,
    width: usize,
    dense: DenseWhen,
) -> Result<Matrix<'static>, rosenblatt::DataError> {
    let (rows, entry) = (pointers.len() - 1, size_of::<T>());
    let sparse_bytes = columns.len() * (entry + size_of::<u32>()) + pointers.len() * size_of::<u64>();
    let dense_bytes = rows.saturating_mul(width).saturating_mul(entry);
    if dense == DenseWhen::Never || width == 0 || dense_bytes > sparse_bytes {
        return Csr::new(pointers, columns, values, width).map(T::sparse);
    }
    let mut cells = vec![T::narrow(0.0); rows * width];
    for (row, ends) in cells.chunks_exact_mut(width).zip(pointers.windows(2)) {
        for at in ends[0] as usize..ends[1] as usize {
            row[columns[at] as usize] = values[at];
        }
    }
    Dense::new(cells, width).map(T::dense)
}

/// Two features of one name could not be told apart.
fn known(names: &[String]) -> Result<Dictionary, ReadError> {
    let mut dictionary = Dictionary::default();
    for (column, name) in names.iter().enumerate() {
        if dictionary.intern(name.as_bytes()) != Ok(column as u32) {
            return Err(Problem::Data(format!("the model has two features named {name:?}")).into());
        }
    }
    Ok(dictionary)
}

fn refused(no_number: NoNumber) -> Refused {
    match no_number {
        NoNumber::NotUtf8(at) => Refused::NotUtf8(at),
        NoNumber::Full => Refused::Problem(Problem::IndexTooLarge { index: (1u64 << 32).to_string() }),
    }
}

fn numbered(name: &[u8], count: u64) -> Result<u32, Problem> {
    let digits = !name.is_empty() && name.iter().all(u8::is_ascii_digit);
    if !digits {
        return Err(Problem::ExpectedNumber { found: excerpt_bytes(name) });
    }
    let next = |sum: u64, digit: &u8| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    match name.iter().fold(0, next) {
        0 => Err(Problem::IndexZero),
        index if index > count => Err(Problem::IndexBeyondModel { index, count: count as usize }),
        index => u32::try_from(index - 1).map_err(|_| Problem::IndexTooLarge { index: index.to_string() }),
    }
}
