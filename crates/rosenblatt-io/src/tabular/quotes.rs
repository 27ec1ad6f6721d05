//! Quotation marks must pair up.
//!
//! The reader takes any text, so that a single stray mark would join rows in silence. Here they are checked beforehand.

use memchr::{memchr, memchr_iter, memchr2, memrchr};

use super::Source;
use crate::error::ReadError;
use crate::{Problem, sniff};

/// Refuses quoted cells that never end, that are followed by more text, or that go over lines in tab-separated text,
/// whose cells never do.
pub(super) fn check(source: Source<'_>) -> Result<(), ReadError> {
    let mut at = 0;
    while let Some(found) = memchr(b'"', &source.text[at..]) {
        let open = at + found;
        at = match opens(source.text, open, &[source.delimiter]) {
            true => close(source, open).map_err(|problem| place(source, open, problem))?,
            false => open + 1,
        };
    }
    Ok(())
}

/// Elsewhere than at the start of a cell the mark is a character like any other.
fn opens(text: &[u8], open: usize, delimiters: &[u8]) -> bool {
    let before = open.checked_sub(1).map(|last| text[last]);
    before.is_none_or(|b| delimiters.contains(&b) || matches!(b, b'\n' | b'\r'))
}

/// Where the last row that is whole ends, in text that begins with a row.
pub(crate) fn last_row_end(text: &[u8], delimiters: &[u8]) -> Option<usize> {
    let (mut at, mut end) = (0, None);
    while let Some(found) = memchr2(b'"', b'\n', &text[at..]) {
        let here = at + found;
        at = here + 1;
        if text[here] == b'\n' {
            end = Some(at);
        } else if opens(text, here, delimiters) {
            match after_quoted(text, at) {
                Some(after) => at = after,
                None => break,
            }
        }
    }
    end
}

/// The byte after the mark that closes a cell; what stands from here on is in it.
fn after_quoted(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr(b'"', &text[at..])? + 1;
        match text.get(at) {
            Some(b'"') => at += 1,
            _ => return Some(at),
        }
    }
}

/// The byte after the cell that opens here.
fn close(source: Source<'_>, open: usize) -> Result<usize, Problem> {
    let mut at = open + 1;
    loop {
        let end = at + memchr(b'"', &source.text[at..]).ok_or(Problem::OpenQuote)?;
        if source.delimiter == b'\t' && memchr(b'\n', &source.text[at..end]).is_some() {
            return Err(Problem::OpenQuote);
        }
        match source.text.get(end + 1) {
            Some(b'"') => at = end + 2,
            _ if ends_cell(source, end + 1) => return Ok(end + 1),
            _ => return Err(Problem::TextAfterQuote),
        }
    }
}

fn ends_cell(source: Source<'_>, from: usize) -> bool {
    let mut rest = source.text[from..].iter().skip_while(|&&b| b == b' ' && b != source.delimiter);
    rest.next().is_none_or(|&b| b == source.delimiter || matches!(b, b'\n' | b'\r'))
}

fn place(source: Source<'_>, byte: usize, problem: Problem) -> ReadError {
    let (line, column) = position(source, byte);
    ReadError::new(problem).at_line(line).at_column(column)
}

/// Line and table column of a byte, from 1.
pub(super) fn position(source: Source<'_>, byte: usize) -> (u64, usize) {
    let before = &source.text[..byte];
    let line = 1 + memchr_iter(b'\n', before).count() as u64;
    let row = &before[memrchr(b'\n', before).map_or(0, |end| end + 1)..];
    (line, 1 + sniff::count_unquoted(row, source.delimiter))
}
