//! The end of the file: what is in it.

use parquet::errors::ParquetError;
use parquet::file::metadata::{FooterTail, ParquetMetaData, ParquetMetaDataReader};

use super::column::damaged;
use super::guard::guarded;
use crate::Problem;

const MAGIC: &[u8] = b"PAR1";

/// Reads what stands before its own length and the magic bytes.
pub(super) fn read(bytes: &[u8]) -> Result<ParquetMetaData, Problem> {
    if bytes.ends_with(b"PARE") {
        return Err(Problem::ParquetEncrypted);
    }
    if !bytes.starts_with(MAGIC) {
        return Err(damaged("it does not begin with PAR1"));
    }
    let Some((rest, tail)) = bytes.split_last_chunk::<8>().filter(|(_, tail)| tail.ends_with(MAGIC)) else {
        return Err(damaged("it does not end with PAR1, so it may be cut short"));
    };
    guarded(|| {
        let length = FooterTail::try_new(tail)?.metadata_length();
        let start = rest.len().checked_sub(length);
        let start =
            start.ok_or_else(|| ParquetError::EOF("the footer is longer than the file".to_owned()))?;
        check_nesting(&rest[start..])?;
        ParquetMetaDataReader::decode_metadata(&rest[start..])
    })
}

/// Tables nest hardly at all.
const DEEPEST: usize = 64;

/// The parquet crate follows the schema as deep as it goes, and takes the number of children at its word. Here the footer is
/// only skimmed: field 2 of its struct is the list of schema elements, and field 5 of each its number of children.
fn check_nesting(footer: &[u8]) -> Result<(), ParquetError> {
    let broken = || ParquetError::General("the schema is not a tree of columns".to_owned());
    let mut skim = Skim { rest: footer };
    let mut id = 0;
    while let Some(kind) = skim.field(&mut id).ok_or_else(broken)? {
        match (id, kind) {
            (2, LIST) => skim.schema().ok_or_else(broken)?,
            _ => skim.skip(kind, DEEPEST).ok_or_else(broken)?,
        }
    }
    Ok(())
}

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// Goes over Thrift's compact protocol; `None` where it is not that.
struct Skim<'a> {
    rest: &'a [u8],
}

impl Skim<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    fn advance(&mut self, length: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(length).ok()?..)?;
        Some(())
    }

    /// The kind of the next field of a struct, and its number; no kind at the end.
    fn field(&mut self, id: &mut i64) -> Option<Option<u8>> {
        let header = self.byte()?;
        if header == 0 {
            return Some(None);
        }
        *id = match header >> 4 {
            0 => self.zigzag()?,
            step => id.checked_add(i64::from(step))?,
        };
        Some(Some(header & 0xf))
    }

    /// How many elements a list has, and their kind.
    fn list(&mut self) -> Option<(u64, u8)> {
        let header = self.byte()?;
        let length = match header >> 4 {
            15 => self.varint()?,
            length => u64::from(length),
        };
        Some((length, header & 0xf))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        let deeper = depth.checked_sub(1)?;
        match kind {
            TRUE | FALSE => Some(()),
            BYTE => self.advance(1),
            I16..=I64 => self.varint().map(drop),
            DOUBLE => self.advance(8),
            BINARY => {
                let length = self.varint()?;
                self.advance(length)
            }
            LIST | SET => {
                let (length, kind) = self.list()?;
                (0..length).try_for_each(|_| self.element(kind, deeper))
            }
            MAP => {
                let length = self.varint()?;
                let kinds = if length == 0 { 0 } else { self.byte()? };
                (0..length).try_for_each(|_| {
                    self.element(kinds >> 4, deeper)?;
                    self.element(kinds & 0xf, deeper)
                })
            }
            STRUCT => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, deeper)?;
                }
                Some(())
            }
            _ => None,
        }
    }

    /// In a list a boolean takes a byte; in a struct its kind says it all.
    fn element(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            TRUE | FALSE => self.advance(1),
            _ => self.skip(kind, depth),
        }
    }

    /// Elements come before their children: at every moment so many are awaited at each level.
    fn schema(&mut self) -> Option<()> {
        let (length, kind) = self.list()?;
        let mut awaited: Vec<u64> = Vec::new();
        for _ in 0..length {
            let children = (kind == STRUCT).then(|| self.children()).flatten()?;
            if children > length || awaited.len() > DEEPEST {
                return None;
            }
            if let Some(level) = awaited.last_mut() {
                *level -= 1;
            }
            awaited.push(children);
            while awaited.last() == Some(&0) {
                awaited.pop();
            }
        }
        awaited.is_empty().then_some(())
    }

    fn children(&mut self) -> Option<u64> {
        let (mut id, mut children) = (0, 0);
        while let Some(kind) = self.field(&mut id)? {
            match (id, kind) {
                (5, I16..=I64) => children = u64::try_from(self.zigzag()?).ok()?,
                _ => self.skip(kind, DEEPEST)?,
            }
        }
        Some(children)
    }
}
