//! Some lines after others, whatever their format.

use rosenblatt::{Features, Labels, Matrix};
use serde::{Deserialize, Serialize};

use crate::builder::Value;
use crate::error::ReadError;
use crate::named::{DenseWhen, NamedRows};
use crate::names::{Names, Unknown};
use crate::{Format, Hashing, Lines, Precision, Problem, ReadOptions, jsonl, libsvm, vw};

/// Some rows of a stream.
pub(crate) struct Rows {
    /// As wide as what has been seen so far.
    pub(crate) x: Matrix<'static>,
    pub(crate) labels: Option<Labels>,
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) lines: Lines,
    pub(crate) unknown: Option<Unknown>,
}

/// What a reader has learned from the lines before; another goes on with it.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Learned {
    /// The largest index of LIBSVM text.
    largest: usize,
    names: Option<Vec<String>>,
    fields: Vec<jsonl::Met>,
}

/// Reads whole lines, chunk after chunk.
pub(crate) trait LineReader: Send {
    fn read(&mut self, text: &[u8], first_line: u64) -> Result<Rows, ReadError>;
    /// The features met; an error if there are none.
    fn features(&self) -> Result<Features, ReadError>;
    /// What can be said only after the last line.
    fn end(&self) -> Result<(), ReadError> {
        Ok(())
    }
    fn learned(&self) -> Learned;
    /// Whether so many rows with so many entries would be kept dense if they were read at once.
    fn is_dense(&self, _rows: usize, _entries: usize) -> bool {
        false
    }
    fn hashing(&self) -> Option<Hashing> {
        None
    }
}

/// A reader of a format that is read line by line; `None` for others.
pub(crate) fn reader(
    format: Format,
    precision: Precision,
    options: &ReadOptions,
    learned: Learned,
) -> Result<Option<Box<dyn LineReader>>, ReadError> {
    match precision {
        Precision::F32 => reader_of::<f32>(format, options, learned),
        Precision::F64 => reader_of::<f64>(format, options, learned),
    }
}

fn reader_of<T: Value>(
    format: Format,
    options: &ReadOptions,
    learned: Learned,
) -> Result<Option<Box<dyn LineReader>>, ReadError> {
    let names = || match (learned.names, options.hash) {
        (None, _) => Names::new(options),
        (Some(names), None) => Names::learned_from(names),
        (Some(names), Some(bits)) => Names::hashed_from(bits, &names),
    };
    Ok(match format {
        Format::Libsvm => {
            options.refuse_columns("LIBSVM text")?;
            let (model, largest) = (options.features.clone(), learned.largest);
            let numbered = options.precomputed;
            Some(Box::new(Libsvm::<T> { model, numbered, largest, value: std::marker::PhantomData }))
        }
        Format::Vw => {
            options.refuse_columns("Vowpal Wabbit text")?;
            let reader = vw::Reader::with_names(names()?, options);
            let model = options.features.clone();
            Some(Box::new(Vw::<T> { reader, model, value: std::marker::PhantomData }))
        }
        Format::Jsonl => {
            if options.features.is_none() && !options.text.columns.is_empty() {
                return Err(Problem::TextsInStream.into());
            }
            let mut reader = jsonl::Reader::<T>::with_names(names()?, options)?;
            reader.take_over(&learned.fields)?;
            Some(Box::new(Jsonl { reader, options: options.clone() }))
        }
        _ => None,
    })
}

struct Libsvm<T> {
    model: Option<Features>,
    numbered: bool,
    largest: usize,
    value: std::marker::PhantomData<T>,
}

impl<T: Value> LineReader for Libsvm<T> {
    fn read(&mut self, text: &[u8], first_line: u64) -> Result<Rows, ReadError> {
        let lot = libsvm::read::<T>(text, first_line, self.model.as_ref(), self.numbered)?;
        self.largest = self.largest.max(lot.largest);
        let width = match &self.model {
            Some(model) if model.open => model.count.max(lot.largest),
            Some(model) => model.count,
            None => self.largest,
        };
        let width = width.max(1);
        let x = lot.x.widened(width).map_err(|error| Problem::Data(error.to_string()))?;
        Ok(Rows { x, labels: Some(lot.labels), weights: None, lines: lot.lines, unknown: None })
    }

    fn features(&self) -> Result<Features, ReadError> {
        self.model.clone().map_or_else(|| libsvm::features(self.largest), Ok)
    }

    fn learned(&self) -> Learned {
        Learned { largest: self.largest, ..Learned::default() }
    }
}

struct Vw<T> {
    reader: vw::Reader,
    model: Option<Features>,
    value: std::marker::PhantomData<T>,
}

impl<T: Value> LineReader for Vw<T> {
    fn read(&mut self, text: &[u8], first_line: u64) -> Result<Rows, ReadError> {
        let rows = self.reader.read::<T>(text, first_line)?;
        named(rows, self.reader.names())
    }

    fn features(&self) -> Result<Features, ReadError> {
        self.reader.names().features(self.model.as_ref())
    }

    fn learned(&self) -> Learned {
        Learned { names: self.reader.names().names(), ..Learned::default() }
    }

    fn hashing(&self) -> Option<Hashing> {
        self.reader.names().hashing()
    }
}

struct Jsonl<T> {
    reader: jsonl::Reader<T>,
    options: ReadOptions,
}

impl<T: Value> LineReader for Jsonl<T> {
    fn read(&mut self, text: &[u8], first_line: u64) -> Result<Rows, ReadError> {
        let rows = self.reader.read(text, first_line)?;
        let rows = named(rows, self.reader.names())?;
        let labels = rows.labels.filter(|_| self.reader.any_label());
        Ok(Rows { labels, ..rows })
    }

    fn features(&self) -> Result<Features, ReadError> {
        self.reader.names().features(self.options.features.as_ref())
    }

    fn end(&self) -> Result<(), ReadError> {
        self.reader.refuse_unused(&self.options)
    }

    fn is_dense(&self, rows: usize, entries: usize) -> bool {
        DenseWhen::Smaller.applies::<T>(rows, entries, self.reader.names().count())
    }

    fn learned(&self) -> Learned {
        let (names, fields) = (self.reader.names().names(), self.reader.fields());
        Learned { names, fields, ..Learned::default() }
    }

    fn hashing(&self) -> Option<Hashing> {
        self.reader.names().hashing()
    }
}

fn named<T: Value>(rows: NamedRows<T>, names: &Names) -> Result<Rows, ReadError> {
    let unknown = matches!(names, Names::Known(_)).then_some(rows.unknown);
    let lot = rows.into_lot(names.count().max(1), DenseWhen::Never)?;
    Ok(Rows { x: lot.x, labels: Some(lot.labels), weights: lot.weights, lines: lot.lines, unknown })
}
