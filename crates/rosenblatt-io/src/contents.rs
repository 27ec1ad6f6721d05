//! What is in a file, mapped into memory where that pays.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;

use memmap2::Mmap;

/// The bytes of a file.
pub(crate) enum Contents {
    Read(Vec<u8>),
    Mapped(Mmap),
}

/// Smaller files are read faster than mapped.
const WORTH_MAPPING: u64 = 1 << 20;

impl Contents {
    pub(crate) fn of(mut file: File) -> io::Result<Contents> {
        let about = file.metadata()?;
        if about.is_file() && about.len() >= WORTH_MAPPING {
            return map(&file).map(Contents::Mapped);
        }
        Contents::read(&mut file)
    }

    /// All that comes out of a pipe.
    pub(crate) fn read(from: &mut impl Read) -> io::Result<Contents> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        Ok(Contents::Read(bytes))
    }
}

/// Readers trust nothing about the bytes, not even what they saw there before.
#[allow(unsafe_code, reason = "mapping a file is unsafe: another process may change it while it is read")]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: some readers go over the bytes twice, to count and to read, or check them as UTF-8 before cells are taken from them; but
    // what they conclude is used through checked indices and checked conversions only. A change meanwhile gives other numbers,
    // an error or at worst a panic. A file cut short meanwhile ends the process, as with any mapped file.
    unsafe { Mmap::map(file) }
}

impl Deref for Contents {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Contents::Read(bytes) => bytes,
            Contents::Mapped(map) => map,
        }
    }
}
