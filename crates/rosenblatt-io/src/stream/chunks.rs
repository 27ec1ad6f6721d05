//! Whole lines, as many at a time as fit a buffer.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use memchr::{memchr_iter, memrchr};
use xxhash_rust::xxh3::xxh3_64;

use super::input::Input;
use crate::contents::Contents;
use crate::tabular;

/// A line longer than this is taken for a file that has no lines.
pub(super) const LONGEST_LINE: usize = 1 << 28;

/// Bytes of blank lines and comments that are looked through for a line that tells the format, at the least.
const LONGEST_PREAMBLE: usize = 1 << 16;

/// How long a buffer is filled before what it has is handed out: a pipe that drips without a pause must not keep anybody from the
/// clock, a checkpoint or Ctrl-C.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// When to hand out lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Haste {
    /// When the buffer is full.
    Full,
    /// As soon as there is one: somebody may be waiting for the answer.
    Soon,
}

/// How far reading has come, and how to know the place again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Place {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    /// The last bytes read before it: another input would hardly have the same there.
    tail: u64,
    tail_length: u64,
}

/// Bytes that are looked at to know a place again.
const TAIL: usize = 64 << 10;

impl Place {
    fn after(self, lines: &[u8]) -> Place {
        if lines.is_empty() {
            return self;
        }
        let tail = &lines[lines.len().saturating_sub(TAIL)..];
        Place {
            bytes: self.bytes + lines.len() as u64,
            lines: self.lines + memchr_iter(b'\n', lines).count() as u64,
            tail: xxh3_64(tail),
            tail_length: tail.len() as u64,
        }
    }
}

/// Cuts what comes out of a reader into whole lines.
pub(crate) struct Chunks {
    from: Input,
    haste: Haste,
    buffer: Buffer,
    /// What comes next is read into this one while the lines in the other are taken.
    spare: Buffer,
    /// What went wrong while reading ahead.
    failed: Option<io::Error>,
    /// Of cells, where these may be quoted and go over lines.
    delimiters: Vec<u8>,
    place: Place,
}

/// Some bytes of the input.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    filled: usize,
    /// Nothing comes after them.
    ended: bool,
}

impl Buffer {
    fn text(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    fn is_full(&self) -> bool {
        self.filled == self.bytes.len()
    }

    /// Whether there was memory for so many bytes.
    fn make_room(&mut self, size: usize) -> bool {
        let more = size.saturating_sub(self.bytes.len());
        let possible = self.bytes.try_reserve_exact(more).is_ok();
        if possible {
            self.bytes.resize(self.bytes.len() + more, 0);
        }
        possible
    }

    /// Forgets the first bytes.
    fn pass_over(&mut self, bytes: usize) {
        self.bytes.copy_within(bytes..self.filled, 0);
        self.filled -= bytes;
    }

    /// Whether there was something to read, if only the end.
    fn fill(&mut self, from: &mut Input) -> io::Result<bool> {
        match from.read(&mut self.bytes[self.filled..]) {
            Ok(read) => {
                self.filled += read;
                self.ended = read == 0;
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Reads until it is full, the input ends or has nothing to give, or that has taken long enough.
    fn fill_up(&mut self, from: &mut Input) -> io::Result<()> {
        let start = Instant::now();
        while !self.ended && !self.is_full() && self.fill(from)? && start.elapsed() < LONGEST_WAIT {}
        Ok(())
    }
}

/// Why there is no next chunk.
#[derive(Debug)]
pub(crate) enum ChunkError {
    Unreadable(io::Error),
    /// So many bytes, and there is no room for more.
    EndlessLine(usize),
    /// Resumed on an input that is not the one begun with.
    OtherInput,
}

impl From<io::Error> for ChunkError {
    fn from(error: io::Error) -> Self {
        ChunkError::Unreadable(error)
    }
}

impl Chunks {
    pub(crate) fn new(from: Input, size: usize, haste: Haste) -> Self {
        let mut buffer = Buffer::default();
        let mut size = size.clamp(1, LONGEST_LINE);
        // No result depends on the size.
        while !buffer.make_room(size) && size > 1 {
            size /= 2;
        }
        let (spare, place) = (Buffer::default(), Place::default());
        Chunks { from, haste, buffer, spare, failed: None, delimiters: Vec::new(), place }
    }

    /// Where the next chunk begins.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Hands out the next whole lines, and the number of the first from 1; the last line may lack its end. No lines if there are none yet,
    /// nothing at the end.
    pub(crate) fn next<T: Send>(
        &mut self,
        take: impl FnOnce(&[u8], u64) -> T + Send,
    ) -> Result<Option<T>, ChunkError> {
        let end = self.gather()?;
        if end == 0 && self.buffer.ended {
            return Ok(None);
        }
        let (lines, rest) = self.buffer.text().split_at(end);
        let (first, place) = (self.place.lines + 1, self.place);
        if self.haste == Haste::Soon || !self.spare.make_room(self.buffer.bytes.len()) {
            let taken = take(lines, first);
            self.place = place.after(lines);
            self.buffer.pass_over(end);
            return Ok(Some(taken));
        }
        let (spare, from) = (&mut self.spare, &mut self.from);
        spare.bytes[..rest.len()].copy_from_slice(rest);
        (spare.filled, spare.ended) = (rest.len(), self.buffer.ended);
        let read_ahead = || (spare.fill_up(from), place.after(lines));
        let (taken, (filled, place)) = rayon::join(|| take(lines, first), read_ahead);
        (self.failed, self.place) = (filled.err(), place);
        std::mem::swap(&mut self.buffer, &mut self.spare);
        Ok(Some(taken))
    }

    /// The lines that come next, which then come again: at least one that says something, unless too many before it do not.
    pub(crate) fn peek(&mut self) -> Result<&[u8], ChunkError> {
        let mut end = self.gather()?;
        while !self.buffer.ended && !has_content(&self.buffer.bytes[..end]) {
            if self.buffer.is_full() {
                if self.buffer.filled >= LONGEST_PREAMBLE {
                    break;
                }
                self.widen()?;
            }
            self.buffer.fill(&mut self.from)?;
            end = self.gather()?;
        }
        Ok(&self.buffer.bytes[..end])
    }

    /// Passes over bytes that have been peeked at.
    pub(crate) fn pass_over(&mut self, bytes: usize) {
        self.place.bytes += bytes as u64;
        self.buffer.pass_over(bytes);
    }

    /// All of the text, from its beginning: mapped, where it is a file, else put into a file first. Reading goes on as if nothing had been.
    pub(crate) fn whole_text(&mut self) -> io::Result<Contents> {
        if let Input::File(file) = &mut self.from {
            // Both go on from one place in the file.
            let place = file.stream_position()?;
            file.seek(SeekFrom::Start(0))?;
            let text = Contents::of(file.try_clone()?)?;
            file.seek(SeekFrom::Start(place))?;
            return Ok(text);
        }
        let mut file = tempfile::tempfile()?;
        file.write_all(self.buffer.text())?;
        patiently(|| io::copy(&mut self.from, &mut file))?;
        file.seek(SeekFrom::Start(0))?;
        let text = Contents::of(file.try_clone()?)?;
        file.seek(SeekFrom::Start(0))?;
        self.from = Input::File(file);
        (self.buffer.filled, self.buffer.ended) = (0, false);
        Ok(text)
    }

    /// All that is left, for formats that are not made of lines.
    pub(crate) fn rest(mut self) -> io::Result<Vec<u8>> {
        let Buffer { mut bytes, filled, .. } = self.buffer;
        bytes.truncate(filled);
        patiently(|| self.from.read_to_end(&mut bytes))?;
        Ok(bytes)
    }

    /// Fills the buffer; where its whole lines end.
    fn gather(&mut self) -> Result<usize, ChunkError> {
        if let Some(error) = self.failed.take() {
            return Err(error.into());
        }
        let start = Instant::now();
        loop {
            let full = self.buffer.is_full();
            if self.buffer.ended {
                return Ok(self.buffer.filled);
            }
            if full || self.haste == Haste::Soon {
                match self.last_end() {
                    Some(end) => return Ok(end),
                    None if full => self.widen()?,
                    None => {}
                }
            }
            let goes_on = self.buffer.fill(&mut self.from)? && start.elapsed() < LONGEST_WAIT;
            if !goes_on && !self.buffer.ended && self.haste == Haste::Full {
                return Ok(self.last_end().unwrap_or_default());
            }
        }
    }

    /// Where the last whole line ends; in tables a quoted cell may go over several.
    fn last_end(&self) -> Option<usize> {
        let text = self.buffer.text();
        match self.delimiters.is_empty() {
            true => memrchr(b'\n', text).map(|last| last + 1),
            false => tabular::last_row_end(text, &self.delimiters),
        }
    }

    /// From here on quotes keep lines together, where they open a cell. The cells of tab-separated text stay within their lines: it
    /// has no such delimiters.
    pub(crate) fn mind_quotes(&mut self, delimiters: &[u8]) {
        self.delimiters = delimiters.to_vec();
    }

    fn widen(&mut self) -> Result<(), ChunkError> {
        let size = self.buffer.bytes.len();
        match size < LONGEST_LINE && self.buffer.make_room(LONGEST_LINE.min(2 * size)) {
            true => Ok(()),
            false => Err(ChunkError::EndlessLine(size)),
        }
    }

    /// Goes on where another reader of the same input stopped.
    pub(crate) fn skip_to(&mut self, place: Place) -> Result<(), ChunkError> {
        let before = place.bytes.saturating_sub(place.tail_length);
        let skipped = self.from.skip(before)?;
        let mut tail = Vec::new();
        let mut rest = self.from.by_ref().take(place.tail_length);
        patiently(|| rest.read_to_end(&mut tail))?;
        let same =
            skipped == before && tail.len() as u64 == place.tail_length && xxh3_64(&tail) == place.tail;
        self.place = place;
        if same || place == Place::default() { Ok(()) } else { Err(ChunkError::OtherInput) }
    }
}

/// Whether a line is neither blank nor a comment.
fn has_content(lines: &[u8]) -> bool {
    let mut lines = lines.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    lines.any(|line| !line.is_empty() && !line.starts_with(b"#"))
}

/// Reads on whenever there is nothing yet.
pub(super) fn patiently<T>(mut read: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {}
            read => return read,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gives a few bytes at a time, as pipes do.
    struct Drops(Vec<u8>, usize);

    impl Read for Drops {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let n = out.len().min(self.1).min(self.0.len());
            out[..n].copy_from_slice(&self.0[..n]);
            self.0.drain(..n);
            Ok(n)
        }
    }

    fn chunks(text: &[u8], size: usize, drop: usize, haste: Haste) -> Chunks {
        Chunks::new(Input::Other(Box::new(Drops(text.to_vec(), drop))), size, haste)
    }

    proptest! {
        #[test]
        fn chunks_are_whole_lines(
            text in "[ab\n]{0,60}", size in 1usize..20, drop in 1usize..9, soon in any::<bool>(), stop in 0usize..9
        ) {
            let haste = if soon { Haste::Soon } else { Haste::Full };
            let text = text.as_bytes();
            let mut all = Vec::new();
            let mut lines = 1;
            let mut some = chunks(text, size, drop, haste);
            let mut at = 0;
            while let Some((chunk, first)) = some.next(|lines, first| (lines.to_vec(), first)).unwrap() {
                prop_assert_eq!(first, lines);
                prop_assert!(chunk.ends_with(b"\n") || all.len() + chunk.len() == text.len());
                lines += memchr_iter(b'\n', &chunk).count() as u64;
                all.extend_from_slice(&chunk);
                at += 1;
                if at == stop {
                    // Taken up again, it goes on with the next line.
                    let place = some.place();
                    some = chunks(text, size, drop, haste);
                    some.skip_to(place).unwrap();
                }
            }
            prop_assert_eq!(all, text);
        }
    }

    /// Also where reading it again and again finds the end of a quoted cell later than its beginning.
    #[test]
    fn a_mark_within_a_cell_is_text() {
        let text = b"size,name\n5\",\"two\nlines \"\"so\"\"\"\n6\",b\n7,\"open\n";
        for size in 1..60 {
            let mut some = chunks(text, size, 3, Haste::Full);
            some.mind_quotes(b",");
            let mut all = Vec::new();
            while let Some(chunk) = some.next(|lines, _| lines.to_vec()).unwrap() {
                all.push(String::from_utf8(chunk).unwrap());
            }
            let whole: String = all.concat();
            assert_eq!(whole.as_bytes(), text);
            let rows = ["size,name\n", "5\",\"two\nlines \"\"so\"\"\"\n", "6\",b\n", "7,\"open\n"];
            let ends: Vec<usize> = (1..=4).map(|n| rows[..n].concat().len()).collect();
            let mut end = 0;
            for chunk in &all {
                end += chunk.len();
                assert!(ends.contains(&end), "{all:?}");
            }
            assert!(size > 30 || all.len() > 1, "{size}: {all:?}");
        }
    }

    #[test]
    fn blank_lines_and_comments_tell_nothing() {
        for (text, expected) in [
            (&b"\n\n# a comment\n\n1 1:1\n2 2:1\n"[..], &b"\n\n# a comment\n\n1 1:1\n"[..]),
            (b"\n\n\n", b"\n\n\n"),
            (b"1\n2\n", b"1\n"),
        ] {
            for (size, haste) in [(1, Haste::Soon), (4, Haste::Full), (100, Haste::Soon)] {
                let head = chunks(text, size, 1, haste).peek().unwrap().to_vec();
                assert!(head.starts_with(expected), "{head:?}");
            }
        }
        let mut endless = chunks(&b"#\n".repeat(LONGEST_PREAMBLE), 100, 1 << 20, Haste::Full);
        assert!(endless.peek().unwrap().len() < 4 * LONGEST_PREAMBLE);
    }

    /// Gives a line from time to time, for ever.
    struct Trickle;

    impl Read for Trickle {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            std::thread::sleep(Duration::from_millis(20));
            (&b"1 1:1\n"[..]).read(out)
        }
    }

    /// Without a bound on the time this would take a day.
    #[test]
    fn what_trickles_is_handed_out() {
        let mut some = Chunks::new(Input::Other(Box::new(Trickle)), 1 << 24, Haste::Full);
        for _ in 0..2 {
            let lines = some.next(|lines, _| lines.to_vec()).unwrap().unwrap();
            assert!(lines.starts_with(b"1 1:1\n"));
        }
    }

    #[test]
    fn a_place_is_known_again_after_a_wait() {
        let place = Place::default().after(b"one\n");
        assert_eq!(place.after(b""), place);
    }

    #[test]
    fn another_input_is_noticed() {
        let mut some = chunks(b"one\ntwo\nthree\n", 8, 9, Haste::Full);
        some.next(|_, _| ()).unwrap();
        let place = some.place();
        let resume = |text: &[u8]| chunks(text, 8, 9, Haste::Full).skip_to(place);
        assert!(resume(b"one\ntwo\nand so on\n").is_ok());
        assert!(matches!(resume(b"one\nten\nthree\n"), Err(ChunkError::OtherInput)));
        assert!(matches!(resume(b"one\n"), Err(ChunkError::OtherInput)));
    }
}
