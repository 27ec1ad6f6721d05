//! The end of the file: what is in it.

use parquet::errors::ParquetError;
use parquet::file::metadata::{FooterTail, ParquetMetaData, ParquetMetaDataReader};

use super::column::damaged;
use super::guard::guarded;
use super::thrift::{DEEPEST, I16, I64, LIST, STRUCT, Skim};
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

/// The parquet crate follows the schema as deep as it goes, and takes the number of children at its word. Here the footer is
/// only skimmed: field 2 of its struct is the list of schema elements, and field 5 of each its number of children.
fn check_nesting(footer: &[u8]) -> Result<(), ParquetError> {
    let broken = || ParquetError::General("the schema is not a tree of columns".to_owned());
    let mut skim = Skim { rest: footer };
    let mut id = 0;
    while let Some(kind) = skim.field(&mut id).ok_or_else(broken)? {
        match (id, kind) {
            (2, LIST) => skim_schema(&mut skim).ok_or_else(broken)?,
            (2, _) => return Err(broken()),
            _ => skim.skip(kind, DEEPEST).ok_or_else(broken)?,
        }
    }
    Ok(())
}

/// Elements come before their children: at every moment so many are awaited at each level.
fn skim_schema(skim: &mut Skim<'_>) -> Option<()> {
    let (length, kind) = skim.list()?;
    let mut awaited: Vec<u64> = Vec::new();
    for _ in 0..length {
        let children = (kind == STRUCT).then(|| children(skim)).flatten()?;
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

fn children(skim: &mut Skim<'_>) -> Option<u64> {
    let (mut id, mut children) = (0, 0);
    while let Some(kind) = skim.field(&mut id)? {
        match (id, kind) {
            (5, I16..=I64) => children = u64::try_from(skim.zigzag()?).ok()?,
            (5, _) => return None,
            _ => skim.skip(kind, DEEPEST)?,
        }
    }
    Some(children)
}
