//! Compressed bytes: gzip and Zstandard, by content.

use std::borrow::Cow;
use std::io::Read;

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};

use crate::Problem;

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

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

fn gunzip(bytes: &[u8]) -> Result<Vec<u8>, Problem> {
    let mut output = Output::default();
    let mut decoder = MultiGzDecoder::new(bytes);
    let damaged = |reason: std::io::Error| Problem::Gzip { reason: reason.to_string() };
    while output.fill(&mut decoder).map_err(|stop| stop.explain(damaged))? {
        output.refuse_bomb(bytes.len() - decoder.get_ref().len())?;
    }
    Ok(output.bytes)
}

fn unzstd(bytes: &[u8]) -> Result<Vec<u8>, Problem> {
    let mut output = Output::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        match StreamingDecoder::new(&mut rest) {
            Ok(decoder) => read_frame(decoder, bytes.len(), &mut output)?,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                let after = rest.split_at_checked(length as usize).map(|(_, after)| after);
                rest = after.ok_or_else(|| damaged_zstd("a frame is cut short"))?;
            }
            Err(reason) => return Err(damaged_zstd(reason)),
        }
    }
    Ok(output.bytes)
}

type Frame<'a, 'b> = StreamingDecoder<&'b mut &'a [u8], ruzstd::decoding::FrameDecoder>;

fn read_frame(mut frame: Frame<'_, '_>, total: usize, output: &mut Output) -> Result<(), Problem> {
    while output.fill(&mut frame).map_err(|stop| stop.explain(damaged_zstd))? {
        output.refuse_bomb(total - frame.get_ref().len())?;
    }
    let written = frame.decoder.get_checksum_from_data();
    match written.is_some() && written != frame.decoder.get_calculated_checksum() {
        true => Err(damaged_zstd("the checksum is another")),
        false => Ok(()),
    }
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
    Damaged(std::io::Error),
    NoMemory(usize),
}

impl Stop {
    fn explain(self, damaged: impl Fn(std::io::Error) -> Problem) -> Problem {
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

    /// A small file may hold any amount of nothing.
    fn refuse_bomb(&self, consumed: usize) -> Result<(), Problem> {
        let size = self.bytes.len();
        if size > LARGEST {
            return Err(Problem::TooLarge { size });
        }
        match size >= HARMLESS && size / MOST > consumed {
            true => Err(Problem::Bomb { consumed, size }),
            false => Ok(()),
        }
    }
}
