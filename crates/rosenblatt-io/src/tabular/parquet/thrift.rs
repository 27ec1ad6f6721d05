//! Thrift's compact protocol, in which Parquet writes its headers, skimmed.
//!
//! The parquet crate reads them, but trusts them in ways that cost all memory or all time; what it is given has been looked through here.

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
pub(super) const I16: u8 = 4;
pub(super) const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
pub(super) const STRUCT: u8 = 12;

/// Headers nest hardly at all.
pub(super) const DEEPEST: usize = 64;

/// Goes over the compact protocol; `None` where it is not that.
pub(super) struct Skim<'a> {
    pub(super) rest: &'a [u8],
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

    pub(super) fn zigzag(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    fn advance(&mut self, length: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(length).ok()?..)?;
        Some(())
    }

    /// The kind of the next field of a struct, and its number; no kind at the end.
    pub(super) fn field(&mut self, id: &mut i16) -> Option<Option<u8>> {
        let header = self.byte()?;
        if header == 0 {
            return Some(None);
        }
        *id = match header >> 4 {
            0 => i16::try_from(self.zigzag()?).ok()?,
            step => id.checked_add(i16::from(step))?,
        };
        Some(Some(header & 0xf))
    }

    /// How many elements a list has, and their kind.
    pub(super) fn list(&mut self) -> Option<(u64, u8)> {
        let header = self.byte()?;
        let length = match header >> 4 {
            15 => self.varint()?,
            length => u64::from(length),
        };
        Some((length, header & 0xf))
    }

    pub(super) fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
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

    /// Readers disagree on whether a boolean in a list takes a byte, and no header of Parquet has one.
    fn element(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            TRUE | FALSE => None,
            _ => self.skip(kind, depth),
        }
    }
}
