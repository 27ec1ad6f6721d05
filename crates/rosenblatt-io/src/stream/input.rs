//! Bytes from a file or a pipe, decompressed as they come.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use flate2::bufread::MultiGzDecoder;

use super::chunks::patiently;
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
        file.seek(SeekFrom::Start(0)).ok();
        Input::of_pipe(Cursor::new(magic).chain(file))
    }

    /// Anything that is read once, front to back.
    pub(crate) fn of_pipe(mut pipe: impl Read + Send + 'static) -> io::Result<Input> {
        let mut magic = Vec::new();
        pipe.by_ref().take(MAGIC as u64).read_to_end(&mut magic)?;
        let head = Cursor::new(magic.clone());
        Ok(Input::Other(match is_compressed(&magic) {
            true => decompressed(&magic, BufReader::with_capacity(BUFFER, head.chain(pipe))),
            false => Box::new(head.chain(Pipe::new(pipe))),
        }))
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
            Input::Other(other) => {
                let mut rest = other.take(bytes);
                while patiently(io::copy(&mut rest, &mut io::sink()))?.is_none() {}
                Ok(bytes - rest.limit())
            }
        }
    }
}

/// A pipe that is read by a thread of its own: whoever waits for it is told from time to time that there is nothing yet
/// ([`io::ErrorKind::TimedOut`]), and can look after other things.
struct Pipe {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Cursor<Vec<u8>>,
}

/// How long to wait for a pipe before saying that there is nothing yet.
const PATIENCE: Duration = Duration::from_millis(100);

impl Pipe {
    fn new(mut pipe: impl Read + Send + 'static) -> Pipe {
        let (sender, pieces) = sync_channel(4);
        std::thread::spawn(move || {
            loop {
                let mut piece = vec![0; BUFFER];
                let read = match pipe.read(&mut piece) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    read => read,
                };
                let ended = !matches!(read, Ok(1..));
                let piece = read.map(|read| {
                    piece.truncate(read);
                    piece
                });
                // Nobody listens any more, or nothing comes any more.
                if sender.send(piece).is_err() || ended {
                    return;
                }
            }
        });
        Pipe { pieces, piece: Cursor::default() }
    }
}

impl Read for Pipe {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.piece.position() == self.piece.get_ref().len() as u64 {
            self.piece = match self.pieces.recv_timeout(PATIENCE) {
                Ok(piece) => Cursor::new(piece?),
                Err(RecvTimeoutError::Timeout) => return Err(io::ErrorKind::TimedOut.into()),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            };
        }
        self.piece.read(out)
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
