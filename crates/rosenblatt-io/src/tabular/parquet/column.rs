//! The cells of a column in one group of rows.

use parquet::basic::Compression;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;

use super::file::{Column, File};
use super::guard::guarded;
use super::kind::Kind;
use super::pages::{Budget, Pages};
use super::value::{Datum, big_endian, decimal};
use crate::Problem;
use crate::error::ReadError;

/// Decodes as it goes.
pub(super) struct Reader<'f> {
    column: &'f Column,
    number: usize,
    reader: ColumnReader,
    budget: Budget,
}

impl<'f> Reader<'f> {
    pub(super) fn open(
        file: &'f File<'_>,
        group: &RowGroupMetaData,
        number: usize,
        budget: &Budget,
    ) -> Result<Self, ReadError> {
        let column = &file.columns[number];
        let open = || {
            if let Kind::Other { what } = &column.kind {
                return Err(Problem::ColumnType { found: what.clone(), column: column.name.clone() });
            }
            let chunk = group.columns().get(column.leaf).ok_or_else(|| damaged("a column is not there"))?;
            refuse_codec(chunk.compression())?;
            let described = chunk.column_descr_ptr();
            let pages = guarded(|| Pages::of(file.bytes, chunk, budget))?;
            Ok(get_column_reader(described, Box::new(pages)))
        };
        let place = |problem| ReadError::new(problem).at_column(number + 1).named(&column.name);
        Ok(Reader { column, number, reader: open().map_err(place)?, budget: budget.clone() })
    }

    /// The next `rows` cells, of which all must be there; `before`: how many rows came before.
    pub(super) fn fill(&mut self, cells: &mut Vec<Datum>, rows: usize, before: u64) -> Result<(), ReadError> {
        cells.clear();
        let filled = guarded(|| self.decode(cells, rows)).and_then(|()| match cells.len() == rows {
            true => Ok(()),
            false => Err(damaged("a column has fewer rows than the table")),
        });
        let place = |problem| {
            let error = ReadError::new(problem).at_line(before + 1 + cells.len() as u64);
            error.at_column(self.number + 1).named(&self.column.name)
        };
        filled.map_err(place)
    }

    fn decode(&mut self, cells: &mut Vec<Datum>, rows: usize) -> Result<(), ParquetError> {
        use ColumnReader as C;
        let (kind, budget) = (&self.column.kind, &self.budget);
        match &mut self.reader {
            C::BoolColumnReader(reader) => each(reader, rows, rows, cells, |&value| Ok(Datum::Flag(value))),
            C::FloatColumnReader(reader) => {
                each(reader, rows, rows, cells, |&value| Ok(Datum::Single(value)))
            }
            C::DoubleColumnReader(reader) => {
                each(reader, rows, rows, cells, |&value| Ok(Datum::Double(value)))
            }
            C::Int32ColumnReader(reader) => each(reader, rows, rows, cells, |&value| match *kind {
                Kind::Unsigned => Ok(Datum::Unsigned(u64::from(value.cast_unsigned()))),
                Kind::Decimal { scale } => Ok(decimal(value.into(), scale)),
                _ => Ok(Datum::Integer(value.into())),
            }),
            C::Int64ColumnReader(reader) => each(reader, rows, rows, cells, |&value| match *kind {
                Kind::Unsigned => Ok(Datum::Unsigned(value.cast_unsigned())),
                Kind::Decimal { scale } => Ok(decimal(value.into(), scale)),
                _ => Ok(Datum::Integer(value)),
            }),
            C::ByteArrayColumnReader(reader) => {
                each(reader, rows, FEW, cells, |value| bytes(value.data(), kind, budget))
            }
            C::FixedLenByteArrayColumnReader(reader) => {
                each(reader, rows, FEW, cells, |value| bytes(value.data(), kind, budget))
            }
            C::Int96ColumnReader(_) => Ok(()),
        }
    }
}

/// Texts are decoded few at a time, for each may repeat a page-long one before it and hardly take a byte of the file.
const FEW: usize = 16;

fn bytes(value: &[u8], kind: &Kind, budget: &Budget) -> Result<Datum, ParquetError> {
    budget.spend(value.len())?;
    let datum = match *kind {
        Kind::Decimal { scale } => big_endian(value).map(|unscaled| decimal(unscaled, scale)),
        _ => std::str::from_utf8(value).ok().map(|text| Datum::Text(text.into())),
    };
    datum.ok_or_else(|| ParquetError::General("this is no UTF-8 text".to_owned()))
}

/// Values are stored for cells that have one: those whose level says that they are defined. At most `few` are decoded at a time.
fn each<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    few: usize,
    cells: &mut Vec<Datum>,
    datum: impl Fn(&T::T) -> Result<Datum, ParquetError>,
) -> Result<(), ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    while cells.len() < rows {
        levels.clear();
        values.clear();
        let few = few.min(rows - cells.len());
        if reader.read_records(few, Some(&mut levels), None, &mut values)?.0 == 0 {
            break;
        }
        // Columns that lack nothing have no levels.
        if levels.is_empty() {
            levels.resize(values.len(), 1);
        }
        let mut values = values.iter();
        for &level in &levels {
            let value = if level == 0 { None } else { values.next() };
            cells.push(value.map_or(Ok(Datum::Missing), &datum)?);
        }
    }
    Ok(())
}

/// Brotli is rare and a crate of its own; plain LZ4 is deprecated, for its writers disagree on what it is.
fn refuse_codec(codec: Compression) -> Result<(), Problem> {
    let codec = match codec {
        Compression::BROTLI(_) => "Brotli",
        Compression::LZO => "LZO",
        Compression::LZ4 => "Hadoop's LZ4",
        _ => return Ok(()),
    };
    Err(Problem::ParquetCodec { codec })
}

pub(super) fn damaged(reason: &str) -> Problem {
    Problem::Parquet { reason: reason.to_owned() }
}
