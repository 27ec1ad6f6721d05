//! Rows to be predicted as they come.

use rosenblatt::Features;

use super::chunks::Haste;
use super::reader::Rows;
use super::source::{Pace, Source};
use crate::error::ReadError;
use crate::{Problem, ReadOptions, Table};

/// Data for a model, some rows at a time: what a pipe has to give is there at once, and a file need not fit into memory.
///
/// ```
/// use rosenblatt_io::{Blocks, ReadOptions, load};
/// let model = load("worked-2-spam")?.model;
/// let options = ReadOptions { features: Some(model.features.clone()), ..Default::default() };
/// let mut blocks = Blocks::open("worked-2-spam", &options)?;
/// while let Some(table) = blocks.next()? {
///     assert_eq!(model.predict(&table.x)?.len(), table.n_rows());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Blocks {
    source: Source,
    count: usize,
    any_row: bool,
}

impl Blocks {
    /// Opens a path, `-` for standard input, or the name of an embedded data set.
    pub fn open(data: &str, options: &ReadOptions) -> Result<Blocks, ReadError> {
        let count = options.features.as_ref().map_or(0, |model| model.count);
        Ok(Blocks {
            source: Source::open(data, options, Pace { block: None, haste: Haste::Soon, once: false }, None)?,
            count,
            any_row: false,
        })
    }

    /// The rows that follow. Their features are those of the model, which is not repeated in each table.
    #[allow(clippy::should_implement_trait, reason = "an iterator could not fail so simply")]
    pub fn next(&mut self) -> Result<Option<Table>, ReadError> {
        let Some(Rows { x, labels, weights, lines, unknown }) = self.source.next()? else {
            return match self.any_row {
                true => Ok(None),
                false => Err(ReadError::new(Problem::Empty).in_origin(self.source.origin())),
            };
        };
        self.any_row |= !lines.is_empty();
        let features = Features { count: self.count, ..Features::default() };
        let table = Table::new(x, labels, weights, features, lines);
        Ok(Some(Table { origin: self.source.origin().to_owned(), unknown, ..table }))
    }
}
