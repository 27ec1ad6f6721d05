//! Bytes from a file or a pipe, decompressed as they come.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};

use flate2::bufread::MultiGzDecoder;

use crate::compressed::{Frames, GZIP, ZSTD};

/// What is read from, which can be skipped faster than read where it is a plain file.
pub(crate) enum Input {
    File(File),
    Other(Box<dyn Read + Send>),
}

/// Enough to tell compressed data by.
const MAGIC: usize = 4;
const BUFFER: usize = 1 << 18;

impl Input {
    /// A regular file.
    pub(crate) fn of_file(mut file: File) -> io::Result<Input> {
        let mut magic = Vec::new();
        file.by_ref().take(MAGIC as u64).read_to_end(&mut magic)?;
        if file.metadata()?.is_file() {
            file.seek(SeekFrom::Start(0))?;
            return Ok(match is_compressed(&magic) {
                true => Input::Other(decompressed(&magic, BufReader::with_capacity(BUFFER, file))),
                false => Input::File(file),
            });
        }
        Ok(Input::begun(magic, file))
    }

    /// Anything that is read once, front to back.
    pub(crate) fn of_pipe(mut pipe: impl Read + Send + 'static) -> io::Result<Input> {
        let mut magic = Vec::new();
        pipe.by_ref().take(MAGIC as u64).read_to_end(&mut magic)?;
        Ok(Input::begun(magic, pipe))
    }

    fn begun(magic: Vec<u8>, rest: impl Read + Send + 'static) -> Input {
        let compressed = is_compressed(&magic);
        let whole = Cursor::new(magic.clone()).chain(rest);
        Input::Other(match compressed {
            true => decompressed(&magic, BufReader::with_capacity(BUFFER, whole)),
            false => Box::new(whole),
        })
    }

    /// Passes over so many bytes, or all there are; how many it were.
    pub(crate) fn skip(&mut self, bytes: u64) -> io::Result<u64> {
        match self {
            Input::File(file) => {
                let (at, length) = (file.stream_position()?, file.metadata()?.len());
                let bytes = bytes.min(length.saturating_sub(at));
                file.seek(SeekFrom::Start(at + bytes))?;
                Ok(bytes)
            }
            Input::Other(other) => io::copy(&mut other.take(bytes), &mut io::sink()),
        }
    }
}

impl Read for Input {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Input::File(file) => file.read(out),
            Input::Other(other) => other.read(out),
        }
    }
}

fn is_compressed(magic: &[u8]) -> bool {
    magic.starts_with(GZIP) || magic.starts_with(ZSTD)
}

fn decompressed(magic: &[u8], from: impl BufRead + Send + 'static) -> Box<dyn Read + Send> {
    match magic.starts_with(GZIP) {
        true => Box::new(MultiGzDecoder::new(from)),
        false => Box::new(Frames::new(from)),
    }
}
