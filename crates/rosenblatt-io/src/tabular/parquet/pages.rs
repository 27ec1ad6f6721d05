//! The pages of a column in one group of rows, decompressed.
//!
//! The parquet crate reads the pages as if they were not compressed. What they then are is found out here, so that nothing is
//! allocated on the word of the file, and without the C of its Zstandard.

use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;

use super::thrift::{DEEPEST, STRUCT, Skim};
use crate::Problem;
use crate::compressed::{gunzip, refuse_bomb, unzstd};

/// What the pages of a file may become.
#[derive(Clone)]
pub(super) struct Budget {
    file: usize,
    used: Arc<AtomicUsize>,
}

impl Budget {
    pub(super) fn of(file: &[u8]) -> Budget {
        Budget { file: file.len(), used: Arc::default() }
    }

    pub(super) fn spend(&self, size: usize) -> Result<()> {
        let used = self.used.fetch_add(size, Ordering::Relaxed).saturating_add(size);
        refuse_bomb(self.file, used).map_err(external)
    }

    /// A few bytes may stand for billions of equal cells; each would take two bytes as text.
    fn spend_page(&self, bytes: usize, values: u32) -> Result<()> {
        self.spend(bytes.max(2 * values as usize))
    }
}

/// The bytes of a column in a group.
struct Chunk {
    start: u64,
    bytes: Bytes,
}

impl Chunk {
    fn from(&self, start: u64) -> Result<Bytes> {
        let at = start.checked_sub(self.start).and_then(|at| usize::try_from(at).ok());
        match at.filter(|&at| at <= self.bytes.len()) {
            Some(at) => Ok(self.bytes.slice(at..)),
            None => Err(ParquetError::EOF("a page is beyond its column".to_owned())),
        }
    }
}

impl Length for Chunk {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for Chunk {
    type T = Cursor<Bytes>;

    /// Only headers are read this way.
    fn get_read(&self, start: u64) -> Result<Cursor<Bytes>> {
        let header = self.from(start)?;
        match (Skim { rest: &header }).skip(STRUCT, DEEPEST) {
            Some(()) => Ok(Cursor::new(header)),
            None => Err(ParquetError::General("this is no header of a page".to_owned())),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut bytes = self.from(start)?;
        match length <= bytes.len() {
            true => Ok(bytes.split_to(length)),
            false => Err(ParquetError::EOF("a page is cut short".to_owned())),
        }
    }
}

/// Goes through the pages.
pub(super) struct Pages {
    stored: SerializedPageReader<Chunk>,
    codec: Compression,
    budget: Budget,
}

impl Pages {
    pub(super) fn of(file: &[u8], about: &ColumnChunkMetaData, budget: &Budget) -> Result<Pages> {
        let (start, length) = about.byte_range();
        let end = start.checked_add(length).and_then(|end| usize::try_from(end).ok());
        let bytes = end.and_then(|end| file.get(start as usize..end));
        let bytes = bytes.ok_or_else(|| ParquetError::EOF("a column is beyond the file".to_owned()))?;
        let chunk = Arc::new(Chunk { start, bytes: Bytes::copy_from_slice(bytes) });
        let plain = about.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
        let stored = SerializedPageReader::new(chunk, &plain, 0, None)?;
        Ok(Pages { stored, codec: about.compression(), budget: budget.clone() })
    }

    fn decompress(&self, page: &mut Page) -> Result<()> {
        match page {
            Page::DictionaryPage { buf, num_values, .. } => {
                *buf = decompressed(buf, self.codec, 0)?;
                if *num_values as usize > buf.len() {
                    return Err(ParquetError::General("a dictionary is larger than its page".to_owned()));
                }
            }
            Page::DataPage { buf, .. } => *buf = decompressed(buf, self.codec, 0)?,
            // Its levels come first, and are not compressed.
            Page::DataPageV2 {
                buf, def_levels_byte_len, rep_levels_byte_len, is_compressed: true, ..
            } => {
                let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                *buf = decompressed(buf, self.codec, levels)?;
            }
            Page::DataPageV2 { .. } => {}
        }
        self.budget.spend_page(page.buffer().len(), page.num_values())
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;
    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let mut page = self.stored.get_next_page()?;
        page.as_mut().map_or(Ok(()), |page| self.decompress(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.stored.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.stored.skip_next_page()
    }
}

/// All but the first `plain` bytes is compressed.
fn decompressed(page: &Bytes, codec: Compression, plain: usize) -> Result<Bytes> {
    let short = || ParquetError::EOF("a page is cut short".to_owned());
    let (levels, rest) = page.split_at_checked(plain).ok_or_else(short)?;
    let rest = match codec {
        // A page of nothing but missing values.
        _ if rest.is_empty() => return Ok(page.clone()),
        Compression::UNCOMPRESSED => return Ok(page.clone()),
        Compression::SNAPPY => unsnap(rest),
        Compression::GZIP(_) => gunzip(rest).map_err(external),
        Compression::ZSTD(_) => unzstd(rest).map_err(external),
        Compression::LZ4_RAW => unlz4(rest),
        other => Err(ParquetError::General(format!("{other} pages"))),
    }?;
    Ok(if levels.is_empty() { rest.into() } else { [levels, &rest].concat().into() })
}

/// Snappy says its size first; no more than 64 bytes come out of three.
fn unsnap(bytes: &[u8]) -> Result<Vec<u8>> {
    let size = snap::raw::decompress_len(bytes).map_err(external)?;
    if size > 32 * bytes.len() {
        return Err(ParquetError::General("a page is larger than Snappy can make it".to_owned()));
    }
    snap::raw::Decoder::new().decompress_vec(bytes).map_err(external)
}

/// LZ4 does not say its size, and no more than 255 bytes come out of one.
fn unlz4(bytes: &[u8]) -> Result<Vec<u8>> {
    use lz4_flex::block::{DecompressError, decompress_into};
    let mut size = 4 * bytes.len();
    loop {
        let mut out = vec![0; size];
        match decompress_into(bytes, &mut out) {
            Ok(length) => {
                out.truncate(length);
                return Ok(out);
            }
            Err(DecompressError::OutputTooSmall { .. }) if size < 255 * bytes.len() => size *= 4,
            Err(reason) => return Err(external(reason)),
        }
    }
}

fn external(reason: impl std::error::Error + Send + Sync + 'static) -> ParquetError {
    ParquetError::External(Box::new(reason))
}

/// A problem of our own that went through the parquet crate comes out as it was.
pub(super) fn problem(error: ParquetError) -> Problem {
    match error {
        ParquetError::External(inner) => match inner.downcast::<Problem>() {
            Ok(problem) => *problem,
            Err(other) => Problem::Parquet { reason: other.to_string() },
        },
        ParquetError::General(reason) | ParquetError::EOF(reason) | ParquetError::NYI(reason) => {
            Problem::Parquet { reason }
        }
        other => Problem::Parquet { reason: other.to_string() },
    }
}
