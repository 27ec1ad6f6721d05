//! Bytes from a file or a pipe, decompressed as they come.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
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
    /// A file that is there, or something that is only named like one: a pipe, a device.
    pub(crate) fn of_file(mut file: File) -> io::Result<Input> {
        if !file.metadata()?.is_file() {
            return Ok(Input::of_pipe(file));
        }
        let mut magic = Vec::new();
        file.by_ref().take(MAGIC as u64).read_to_end(&mut magic)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(match is_compressed(&magic) {
            true => Input::Other(decompressed(&magic, BufReader::with_capacity(BUFFER, file))),
            false => Input::File(file),
        })
    }

    /// Anything that is read once, front to back.
    pub(crate) fn of_pipe(pipe: impl Read + Send + 'static) -> Input {
        Input::Other(Box::new(Pipe::new(pipe)))
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
                patiently(|| io::copy(&mut rest, &mut io::sink()))?;
                Ok(bytes - rest.limit())
            }
        }
    }
}

/// A pipe that is read, and decompressed, by a thread of its own: whoever waits for it is told from time to time that there is nothing yet
/// ([`io::ErrorKind::TimedOut`]), and can look after other things.
struct Pipe {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Cursor<Vec<u8>>,
}

/// How long to wait for a pipe before saying that there is nothing yet.
const PATIENCE: Duration = Duration::from_millis(100);

impl Pipe {
    fn new(pipe: impl Read + Send + 'static) -> Pipe {
        let (sender, pieces) = sync_channel(4);
        std::thread::spawn(move || match plain(pipe) {
            Ok(text) => pass_on(text, &sender),
            Err(error) => drop(sender.send(Err(error))),
        });
        Pipe { pieces, piece: Cursor::default() }
    }
}

/// Sends what comes until nothing comes any more, or nobody listens any more.
fn pass_on(mut from: impl Read, to: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut piece = vec![0; BUFFER];
        let read = match from.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read,
        };
        let ended = !matches!(read, Ok(1..));
        let piece = read.map(|read| {
            piece.truncate(read);
            piece
        });
        if to.send(piece).is_err() || ended {
            return;
        }
    }
}

/// The same, decompressed if it has to be. What came first comes in one piece again: it may be all there is for a while.
fn plain(mut pipe: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let (mut head, mut filled) = (vec![0; BUFFER], 0);
    while filled < MAGIC {
        match pipe.read(&mut head[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    head.truncate(filled);
    let magic = head[..filled.min(MAGIC)].to_vec();
    let all = Cursor::new(head).chain(pipe);
    Ok(match is_compressed(&magic) {
        true => decompressed(&magic, BufReader::with_capacity(BUFFER, all)),
        false => Box::new(all),
    })
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
