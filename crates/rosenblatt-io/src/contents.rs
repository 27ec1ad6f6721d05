//! What is in a file, mapped into memory where that pays.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::thread;

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

    /// Lets go of it while others go on: to unmap a large file takes a tenth of the time to read it.
    pub(crate) fn leave(self) {
        if let Contents::Mapped(map) = self {
            // Without a thread to be had, it is unmapped here and now.
            let _ = thread::Builder::new().spawn(move || unmap(map));
        }
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

/// Piece by piece: at one go, all other threads would have to wait with their own memory.
#[allow(unsafe_code, reason = "letting go of pages is unsafe where they hold what is written nowhere else")]
fn unmap(map: Mmap) {
    #[cfg(unix)]
    const PIECE: usize = 1 << 20;
    #[cfg(unix)]
    for start in (0..map.len()).step_by(PIECE) {
        let length = PIECE.min(map.len() - start);
        // SAFETY: the map is read-only and of a file, where its pages would come from again; and nothing else looks at it any more.
        // If it fails, the pages go with the map.
        let _ = unsafe { map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, start, length) };
    }
    drop(map);
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
