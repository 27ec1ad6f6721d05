//! The rows of a stream so far.

use std::io;
use std::path::{Path, PathBuf};

use rosenblatt::{Class, Classes, DataError, Dataset, Matrix, Measure, Rows as _, Scale, Scaling};

use super::cache::{Block, Cache};
use super::labels::LabelBook;
use super::reader::Rows;
use super::{StreamError, StreamOptions};
use crate::error::ReadError;
use crate::tabular::refuse_no_classes_of;
use crate::{Lines, Problem};

/// What is known of the rows that have been read, and the rows themselves where they are kept.
pub(super) struct Ledger {
    pub(super) labels: LabelBook,
    pub(super) classes: Classes,
    /// Whether these are all there may be, for they were announced.
    told: bool,
    /// The class of each label.
    class_of: Vec<u32>,
    pub(super) rows: u64,
    /// Stored entries of all rows.
    pub(super) entries: u64,
    /// Whether any row has a weight of its own.
    pub(super) weighted: bool,
    unit: Option<Scaling>,
    cache: Option<Cache>,
    /// Of the cache, for messages.
    path: PathBuf,
}

impl Ledger {
    /// Empty, but for the blocks of a cache that end here.
    pub(super) fn new(options: &StreamOptions, ends: Vec<u64>) -> Result<Self, StreamError> {
        let names = options.classes.as_deref().unwrap_or_default();
        let classes = Classes::new(names.iter().map(|name| Class::from(name.as_str())).collect());
        let (path, cache) = match options.once {
            true => (PathBuf::new(), None),
            false => open_cache(options, ends).map(|(path, cache)| (path, Some(cache)))?,
        };
        Ok(Ledger {
            labels: LabelBook::default(),
            classes,
            told: options.classes.is_some(),
            class_of: Vec::new(),
            rows: 0,
            entries: 0,
            weighted: false,
            unit: options.unit.then(unit),
            cache,
            path,
        })
    }

    /// Takes up labels that were known before.
    pub(super) fn know(&mut self, labels: LabelBook) -> Result<(), StreamError> {
        self.labels = labels;
        let known = self.classes.listed();
        let unknown = |label| ReadError::new(Problem::NotAnnounced { label, known }).into();
        self.update_classes().map(|_| ()).map_err(unknown)
    }

    /// Numbers the labels of rows, encodes them, keeps them; and says whether classes appeared. Nothing if there are no rows.
    pub(super) fn take_in(
        &mut self,
        rows: Rows,
        origin: &str,
    ) -> Result<Option<(Dataset<'static>, bool)>, StreamError> {
        let Rows { x, labels, weights, lines, .. } = rows;
        if x.n_rows() == 0 {
            return Ok(None);
        }
        let at = |problem: Problem, row| {
            ReadError::new(problem).at_line(lines.get(row)).counted_in(lines.unit()).in_origin(origin)
        };
        let labels = labels.ok_or_else(|| ReadError::new(Problem::NoLabels).in_origin(origin))?;
        let row_of = |label: &str| (0..labels.len()).find(|&row| labels.text(row) == label);
        if let Some(row) = row_of("") {
            let problem = Problem::MissingLabel { text: String::new(), column: String::new() };
            return Err(at(problem, row).into());
        }
        let before = self.labels.texts().len();
        let numbers = self.labels.numbers(&labels, weights.as_deref());
        let changed = match self.labels.texts().len() > before {
            true => self.update_classes().map_err(|label| {
                let row = row_of(&label).unwrap_or_default();
                at(Problem::NotAnnounced { label, known: self.classes.listed() }, row)
            })?,
            false => false,
        };
        let x = self.scaled(x).map_err(|error| placed(&error, &lines, origin))?;
        self.rows += numbers.len() as u64;
        self.entries += x.entries() as u64;
        self.weighted |= weights.is_some();
        if let Some(cache) = &mut self.cache {
            let kept = cache.append(&numbers, weights.as_deref(), &x);
            kept.map_err(|source| StreamError::Cache { path: self.path.clone(), source })?;
        }
        Ok(Some((self.dataset(Block { labels: numbers, weights, x })?, changed)))
    }

    fn scaled(&self, x: Matrix<'static>) -> Result<Matrix<'static>, DataError> {
        x.check_values()?;
        match &self.unit {
            Some(unit) => unit.apply(x),
            None => Ok(x),
        }
    }

    /// Classes by the labels so far; whether there are others than before, or the label that is none of those told.
    fn update_classes(&mut self) -> Result<bool, String> {
        if self.told {
            let find = |label: &String| {
                self.classes.find(label).map(|class| class as u32).ok_or_else(|| label.clone())
            };
            self.class_of = self.labels.texts().iter().map(find).collect::<Result<_, _>>()?;
            return Ok(false);
        }
        let (classes, class_of) = self.labels.classes();
        let changed = classes != self.classes;
        (self.classes, self.class_of) = (classes, class_of);
        Ok(changed)
    }

    fn dataset(&self, block: Block) -> Result<Dataset<'static>, StreamError> {
        let data = Dataset::with_classes(block.x, self.encode(&block.labels), self.classes.clone());
        let data = data.and_then(|data| match block.weights {
            Some(weights) => data.with_weights(weights),
            None => Ok(data),
        });
        data.map_err(|error| StreamError::Learn(error.into()))
    }

    fn encode(&self, labels: &[u32]) -> Vec<u32> {
        labels.iter().map(|&label| self.class_of.get(label as usize).copied().unwrap_or_default()).collect()
    }

    /// The weight of all rows of each class.
    pub(super) fn mass(&self) -> Vec<f64> {
        let mut mass = vec![0.0; self.classes.len()];
        self.class_of
            .iter()
            .zip(self.labels.mass())
            .for_each(|(&class, weight)| mass[class as usize] += weight);
        mass
    }

    /// What can be said of the input only at its end.
    pub(super) fn check(&self) -> Result<(), Problem> {
        if self.rows == 0 {
            return Err(Problem::Empty);
        }
        refuse_no_classes_of(self.labels.texts(), self.rows as usize)?;
        match self.classes.len() {
            0 | 1 => Err(Problem::OneClass { class: self.classes.listed() }),
            _ => Ok(()),
        }
    }

    /// Whether rows can be read again.
    pub(super) fn keeps_rows(&self) -> bool {
        self.cache.is_some()
    }

    /// How many blocks of rows are kept.
    pub(super) fn n_blocks(&self) -> usize {
        self.cache.as_ref().map_or(0, Cache::len)
    }

    pub(super) fn cached_bytes(&self) -> u64 {
        self.cache.as_ref().map_or(0, Cache::bytes)
    }

    /// A block of rows, by number from 0.
    pub(super) fn block(&mut self, number: usize) -> Result<Dataset<'static>, StreamError> {
        let block = self.with_cache(|cache| cache.read(number))?;
        self.dataset(block)
    }

    /// Where each block ends, once all are safe on disk.
    pub(super) fn sync(&mut self) -> Result<Vec<u64>, StreamError> {
        match self.keeps_rows() {
            true => self.with_cache(|cache| cache.sync().map(|()| cache.ends().to_vec())),
            false => Ok(Vec::new()),
        }
    }

    fn with_cache<T>(&mut self, f: impl FnOnce(&mut Cache) -> io::Result<T>) -> Result<T, StreamError> {
        let done = match &mut self.cache {
            Some(cache) => f(cache),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        done.map_err(|source| StreamError::Cache { path: self.path.clone(), source })
    }

    /// Shows all rows that are kept to a measurement.
    pub(super) fn measure(&mut self, measure: &mut Measure) -> Result<(), StreamError> {
        for number in 0..self.n_blocks() {
            measure.rows(&self.block(number)?);
        }
        for number in 0..self.n_blocks() {
            let (labels, _) = self.with_cache(|cache| cache.read_labels(number))?;
            measure.labels(&self.encode(&labels));
        }
        for number in 0..if self.weighted { self.n_blocks() } else { 0 } {
            let (labels, weights) = self.with_cache(|cache| cache.read_labels(number))?;
            measure.weights(&weights.unwrap_or_else(|| vec![1.0; labels.len()]));
        }
        Ok(())
    }
}

/// Rows to unit length.
pub(super) fn unit() -> Scaling {
    Scaling { kind: Scale::Unit, shift: Vec::new(), factor: Vec::new() }
}

/// Beside the model where it has to be found again, else where nobody sees it.
fn open_cache(options: &StreamOptions, ends: Vec<u64>) -> Result<(PathBuf, Cache), StreamError> {
    let (path, opened) = match (options.cache_path(), options.checkpoint) {
        (Some(path), Some(_)) => {
            let opened = Cache::at(&path, ends);
            (path, opened)
        }
        (path, _) => {
            let folder =
                path.as_deref().and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).to_owned();
            // Who keeps no model may have no right to write here at all.
            let opened = Cache::temporary(&folder).or_else(|_| Cache::temporary(&std::env::temp_dir()));
            (folder, opened)
        }
    };
    match opened {
        Ok(cache) => Ok((path, cache)),
        Err(source) => Err(StreamError::Cache { path, source }),
    }
}

fn placed(error: &DataError, lines: &Lines, origin: &str) -> ReadError {
    let line = match error {
        DataError::NotFinite { row, .. } | DataError::TooLarge { row, .. } => lines.get(*row),
        _ => None,
    };
    let error = ReadError::new(Problem::Data(error.to_string())).at_line(line).counted_in(lines.unit());
    error.in_origin(origin)
}
