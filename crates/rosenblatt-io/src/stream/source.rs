//! Rows as they come out of a file or a pipe.

use std::fs::{self, File};
use std::io;

use rosenblatt::Features;
use serde::{Deserialize, Serialize};

use super::chunks::{ChunkError, Chunks, Haste, Place};
use super::input::Input;
use super::reader::{Learned, LineReader, Rows, reader};
use super::table::{LearnedTable, TableReader};
use crate::error::ReadError;
use crate::read::{binary_format, check_model, check_names, no_such_file, unreadable, usual_precision};
use crate::{Embedded, Format, Hashing, Precision, Problem, ReadOptions, Table, parse, read, sniff};

/// A stream of rows.
pub(crate) struct Source {
    origin: String,
    from: From,
    /// Bytes of a plain file, from which the number of rows can be guessed.
    length: Option<u64>,
}

enum From {
    Lines {
        chunks: Chunks,
        reader: Box<dyn LineReader>,
        form: Form,
    },
    /// Formats that cannot be cut, read at once.
    Whole {
        table: Option<Box<Table>>,
        features: Features,
        hashing: Option<Hashing>,
    },
}

/// How the lines are to be taken.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Form {
    format: Format,
    precision: Precision,
}

/// Where a source has come to; another goes on from there.
#[derive(Serialize, Deserialize)]
pub(crate) struct Position {
    form: Form,
    place: Place,
    learned: Learned,
}

/// How much is read at a time, and when it is handed out.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) block: Option<usize>,
    pub(crate) haste: Haste,
    /// Whether nothing of it may be kept, not even on disk.
    pub(crate) once: bool,
}

/// Bytes of text that are read at a time, for each thread.
const BLOCK: usize = 1 << 20;

impl Source {
    /// Opens a path, `-` for standard input, or the name of an embedded data set.
    pub(crate) fn open(
        data: &str,
        options: &ReadOptions,
        pace: Pace,
        position: Option<Position>,
    ) -> Result<Source, ReadError> {
        let origin = if data == "-" { "standard input" } else { data };
        let opened = Source::open_at(data, origin, options, pace, position);
        opened.map_err(|error| if error.origin().is_empty() { error.in_origin(origin) } else { error })
    }

    fn open_at(
        data: &str,
        origin: &str,
        options: &ReadOptions,
        pace: Pace,
        position: Option<Position>,
    ) -> Result<Source, ReadError> {
        options.features.as_ref().map_or(Ok(()), check_model)?;
        let failed = |reason: io::Error| unreadable(origin, &reason);
        let Some((input, length)) = open_input(data).map_err(failed)? else {
            let set = Embedded::find(data).ok_or_else(|| no_such_file(data))?;
            return Ok(Source::whole(set.read(options)?));
        };
        let block = pace.block.unwrap_or(BLOCK * rayon::current_num_threads().max(2));
        let mut chunks = Chunks::new(input, block, pace.haste);
        let (form, place, learned) = match position {
            Some(Position { form, place, learned }) => (form, Some(place), learned),
            None => (Form::of(&mut chunks, origin, options)?, None, Learned::default()),
        };
        let Form { format, precision } = form;
        check_names(format, options)?;
        let mut found = reader(format, precision, options, learned)?;
        if matches!(format, Format::Csv | Format::Tsv) {
            found = match &options.features {
                Some(_) => TableReader::open(&mut chunks, format, precision, options)?,
                // To be gone through first it would have to be put into a file.
                None if pace.once && length.is_none() => return Err(Problem::TableOnce.into()),
                None => {
                    let text = chunks.whole_text().map_err(failed)?;
                    let table = LearnedTable::new(&text, format, precision, options)?;
                    chunks.mind_quotes(table.quotes_after());
                    Some(Box::new(table))
                }
            };
        }
        if let Some(place) = place {
            chunks.skip_to(place).map_err(problem)?;
        }
        match found {
            Some(reader) => {
                let from = From::Lines { chunks, reader, form };
                Ok(Source { origin: origin.to_owned(), from, length })
            }
            None if is_file(data) => Ok(Source::whole(read(data, options)?)),
            // What has been read of a pipe does not come a second time.
            None => {
                let bytes = chunks.rest().map_err(failed)?;
                Ok(Source::whole(parse(&bytes, origin, options)?))
            }
        }
    }

    fn whole(table: Table) -> Source {
        let (origin, features, hashing) = (table.origin.clone(), table.features.clone(), table.hashing);
        Source { origin, from: From::Whole { table: Some(Box::new(table)), features, hashing }, length: None }
    }

    /// The file, as messages name it.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// The rows that follow; none if a chunk had nothing but blank lines, nothing at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Rows>, ReadError> {
        let next = match &mut self.from {
            From::Lines { chunks, reader, .. } => {
                match chunks.next(|text, first| reader.read(text, first)).map_err(problem) {
                    Ok(Some(rows)) => rows.map(Some),
                    Ok(None) => reader.end().map(|()| None),
                    Err(error) => Err(error),
                }
            }
            From::Whole { table, .. } => Ok(table.take().map(|table| {
                let Table { x, labels, weights, lines, unknown, .. } = *table;
                Rows { x, labels, weights, lines, unknown }
            })),
        };
        next.map_err(|error| error.in_origin(&self.origin))
    }

    /// The features of all rows so far.
    pub(crate) fn features(&self) -> Result<Features, ReadError> {
        match &self.from {
            From::Lines { reader, .. } => reader.features().map_err(|error| error.in_origin(&self.origin)),
            From::Whole { features, .. } => Ok(features.clone()),
        }
    }

    /// Whether so many rows with so many entries would be kept dense if they were read at once.
    pub(crate) fn is_dense(&self, rows: u64, entries: u64) -> bool {
        match &self.from {
            From::Lines { reader, .. } => reader.is_dense(rows as usize, entries as usize),
            From::Whole { .. } => false,
        }
    }

    /// How names share buckets, where they were hashed to learn from.
    pub(crate) fn hashing(&self) -> Option<Hashing> {
        match &self.from {
            From::Lines { reader, .. } => reader.hashing(),
            From::Whole { hashing, .. } => *hashing,
        }
    }

    /// Where the next rows begin; nowhere in a format that is read at once.
    pub(crate) fn place(&self) -> Option<Place> {
        match &self.from {
            From::Lines { chunks, .. } => Some(chunks.place()),
            From::Whole { .. } => None,
        }
    }

    /// What another source needs to go on from a place. That more may have been learned since does no harm: it is what would be
    /// learned from there on.
    pub(crate) fn position(&self, place: Option<Place>) -> Option<Position> {
        match &self.from {
            From::Lines { reader, form, .. } => {
                place.map(|place| Position { form: *form, place, learned: reader.learned() })
            }
            From::Whole { .. } => None,
        }
    }

    /// The share of the file that has been read, where that can be known.
    pub(crate) fn share(&self) -> Option<f64> {
        match (&self.from, self.length) {
            (From::Lines { chunks, .. }, Some(length)) if length > 0 => {
                Some(chunks.place().bytes as f64 / length as f64)
            }
            _ => None,
        }
    }
}

impl Form {
    /// By the options, then by what the first lines look like.
    fn of(chunks: &mut Chunks, origin: &str, options: &ReadOptions) -> Result<Form, ReadError> {
        let head = chunks.peek().map_err(problem)?;
        let told = options.format.or_else(|| binary_format(head)).or_else(|| Format::of_name(origin));
        if !matches!(told, Some(Format::Idx | Format::Parquet)) {
            sniff::refuse_binary(head)?;
            if head.starts_with(sniff::BOM) {
                chunks.pass_over(sniff::BOM.len());
            }
        }
        let head = chunks.peek().map_err(problem)?;
        if head.trim_ascii().is_empty() {
            return Err(Problem::Empty.into());
        }
        let format = told.unwrap_or_else(|| sniff::format(head));
        let precision = options.precision.unwrap_or(usual_precision(format));
        Ok(Form { format, precision })
    }
}

/// Standard input or a file, with its length if it is a plain one; nothing if there is no such file.
fn open_input(data: &str) -> io::Result<Option<(Input, Option<u64>)>> {
    if data == "-" {
        return Ok(Some((Input::of_pipe(io::stdin()), None)));
    }
    let file = match File::open(data) {
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let length = file.metadata()?.len();
    let input = Input::of_file(file)?;
    let length = matches!(input, Input::File(_)).then_some(length);
    Ok(Some((input, length)))
}

fn is_file(data: &str) -> bool {
    data != "-" && fs::metadata(data).is_ok_and(|about| about.is_file())
}

pub(super) fn problem(error: ChunkError) -> ReadError {
    match error {
        ChunkError::Unreadable(reason) => Problem::Unreadable { reason: reason.to_string() }.into(),
        ChunkError::EndlessLine(size) => Problem::EndlessLine { size }.into(),
        ChunkError::OtherInput => Problem::OtherInput.into(),
    }
}
