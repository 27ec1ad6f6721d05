//! Compressed bytes: gzip and Zstandard, by content.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::Problem;

pub(crate) const GZIP: &[u8] = b"\x1f\x8b";
pub(crate) const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// Bytes that are read into the output at a time.
const STEP: usize = 1 << 20;

/// No data of this size is learned from in memory.
const LARGEST: usize = 64 << 30;
/// From this size on, what is compressed more than [`MOST`] times is refused: tables and text, however repetitive,
/// stay below, while gzip squeezes one byte repeated for ever 1030 times and Zstandard ten times that.
const HARMLESS: usize = 64 << 20;
const MOST: usize = 1000;

/// The bytes as they were before compression, if they are compressed.
pub(crate) fn decompress(bytes: &[u8]) -> Result<Cow<'_, [u8]>, Problem> {
    if bytes.starts_with(GZIP) {
        gunzip(bytes).map(Cow::Owned)
    } else if bytes.starts_with(ZSTD) {
        unzstd(bytes).map(Cow::Owned)
    } else {
        Ok(Cow::Borrowed(bytes))
    }
}

pub(crate) fn gunzip(bytes: &[u8]) -> Result<Vec<u8>, Problem> {
    let mut output = Output::default();
    let mut decoder = MultiGzDecoder::new(bytes);
    let damaged = |reason: io::Error| Problem::Gzip { reason: reason.to_string() };
    while output.fill(&mut decoder).map_err(|stop| stop.explain(damaged))? {
        output.refuse_bomb(bytes.len() - decoder.get_ref().len())?;
    }
    Ok(output.bytes)
}

pub(crate) fn unzstd(bytes: &[u8]) -> Result<Vec<u8>, Problem> {
    let mut output = Output::default();
    let mut frames = Frames::new(bytes);
    while output.fill(&mut frames).map_err(|stop| stop.explain(damaged_zstd))? {
        output.refuse_bomb(bytes.len() - frames.source.len())?;
    }
    Ok(output.bytes)
}

/// All frames of Zstandard data, one after the other, decoded as they are read.
pub(crate) struct Frames<R: BufRead> {
    source: R,
    decoder: FrameDecoder,
    within: bool,
}

impl<R: BufRead> Frames<R> {
    pub(crate) fn new(source: R) -> Self {
        Frames { source, decoder: FrameDecoder::new(), within: false }
    }

    /// Whether there is one more.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => self.skip(u64::from(length))?,
                Err(reason) => return Err(damaged(&reason.to_string())),
            }
        }
        Ok(false)
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        match io::copy(&mut self.source.by_ref().take(length), &mut io::sink())? == length {
            true => Ok(()),
            false => Err(damaged("a frame is cut short")),
        }
    }

    fn check_end(&self) -> io::Result<()> {
        let written = self.decoder.get_checksum_from_data();
        match written.is_some() && written != self.decoder.get_calculated_checksum() {
            true => Err(damaged("the checksum is another")),
            false => Ok(()),
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.within && !self.next_frame()? {
                return Ok(0);
            }
            self.within = true;
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let decoded =
                    self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1));
                decoded.map_err(|reason| damaged(&reason.to_string()))?;
            }
            match self.decoder.read(out)? {
                0 if !out.is_empty() => {
                    self.check_end()?;
                    self.within = false;
                }
                read => return Ok(read),
            }
        }
    }
}

fn damaged(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

fn damaged_zstd(reason: impl ToString) -> Problem {
    Problem::Zstd { reason: reason.to_string() }
}

/// What has come out so far.
#[derive(Default)]
struct Output {
    bytes: Vec<u8>,
}

/// Why no more comes out.
enum Stop {
    Damaged(io::Error),
    NoMemory(usize),
}

impl Stop {
    fn explain(self, damaged: impl Fn(io::Error) -> Problem) -> Problem {
        match self {
            Stop::Damaged(reason) => damaged(reason),
            Stop::NoMemory(size) => Problem::TooLarge { size },
        }
    }
}

impl Output {
    /// Reads a step; whether there may be more.
    fn fill(&mut self, from: &mut impl Read) -> Result<bool, Stop> {
        let size = self.bytes.len();
        if self.bytes.capacity() - size < STEP {
            self.bytes.try_reserve(STEP).map_err(|_| Stop::NoMemory(size + STEP))?;
        }
        let read = from.take(STEP as u64).read_to_end(&mut self.bytes).map_err(Stop::Damaged)?;
        Ok(read == STEP)
    }

    fn refuse_bomb(&self, consumed: usize) -> Result<(), Problem> {
        refuse_bomb(consumed, self.bytes.len())
    }
}

/// A small file may hold any amount of nothing.
pub(crate) fn refuse_bomb(consumed: usize, size: usize) -> Result<(), Problem> {
    if size > LARGEST {
        return Err(Problem::TooLarge { size });
    }
    match size >= HARMLESS && size / MOST > consumed {
        true => Err(Problem::Bomb { consumed, size }),
        false => Ok(()),
    }
}
