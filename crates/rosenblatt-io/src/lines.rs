//! Where rows stand in their file.

use memchr::memchr;

use crate::error::{ReadError, Unit};

/// Bytes a task reads: an eighth of the text within these limits, so that a chunk of a stream gives several tasks work. It has nothing to do with
/// the number of threads, and no result depends on it.
const BLOCK: std::ops::RangeInclusive<usize> = 1 << 18..=1 << 20;

/// Whole lines of about the size of a block.
pub(crate) fn blocks(text: &[u8]) -> Vec<&[u8]> {
    let size = (text.len() / 8).clamp(*BLOCK.start(), *BLOCK.end());
    let (mut blocks, mut rest) = (Vec::new(), text);
    while rest.len() > size {
        let Some(end) = memchr(b'\n', &rest[size..]) else { break };
        let (block, after) = rest.split_at(size + end + 1);
        blocks.push(block);
        rest = after;
    }
    blocks.push(rest);
    blocks
}

/// Reads line after line; an error gets the number of its line.
pub(crate) fn each_line(
    text: &[u8],
    first_line: u64,
    mut read: impl FnMut(&[u8], u64) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let (mut rest, mut number) = (text, first_line);
    while !rest.is_empty() {
        let end = memchr(b'\n', rest).unwrap_or(rest.len());
        read(&rest[..end], number).map_err(|error| error.at_line(number))?;
        rest = rest.get(end + 1..).unwrap_or_default();
        number += 1;
    }
    Ok(())
}

/// The line number of each row, kept as runs of consecutive lines; its own number where the file has no lines.
///
/// ```
/// use rosenblatt_io::{ReadOptions, parse};
/// let table = parse(b"1 1:5\n\n# a comment\n-1 1:3\n", "x.svm", &ReadOptions::default())?;
/// assert_eq!((table.lines.get(0), table.lines.get(1)), (Some(1), Some(4)));
/// # Ok::<(), rosenblatt_io::ReadError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// First row and its line, of each run.
    runs: Vec<(usize, u64)>,
    rows: usize,
    unit: Unit,
}

impl Lines {
    pub(crate) fn counted_in(unit: Unit) -> Self {
        Lines { unit, ..Lines::default() }
    }

    pub(crate) fn unit(&self) -> Unit {
        self.unit
    }

    /// The line of the next row.
    pub fn push(&mut self, line: u64) {
        let follows = self.runs.last().is_some_and(|&(row, first)| first + (self.rows - row) as u64 == line);
        if !follows {
            self.runs.push((self.rows, line));
        }
        self.rows += 1;
    }

    /// The same rows on other lines.
    pub(crate) fn moved(mut self, by: impl Fn(u64) -> u64) -> Lines {
        self.runs.iter_mut().for_each(|(_, line)| *line = by(*line));
        self
    }

    /// The lines of rows that follow, so many lines later than they say.
    pub(crate) fn append(&mut self, other: &Lines, later: u64) {
        for (at, &(row, line)) in other.runs.iter().enumerate() {
            let end = other.runs.get(at + 1).map_or(other.rows, |&(row, _)| row);
            self.push(line + later);
            self.rows += end - row - 1;
        }
    }

    /// The line of a row (from 0), counted from 1.
    pub fn get(&self, row: usize) -> Option<u64> {
        if row >= self.rows {
            return None;
        }
        let run = self.runs.partition_point(|&(first, _)| first <= row).checked_sub(1)?;
        let &(first, line) = self.runs.get(run)?;
        Some(line + (row - first) as u64)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn runs_give_back_every_line() {
        let written = [2, 3, 4, 7, 8, 12];
        let mut lines = Lines::default();
        written.iter().for_each(|&line| lines.push(line));
        assert_eq!(lines.runs.len(), 3);
        let read: Vec<u64> = (0..lines.len()).filter_map(|row| lines.get(row)).collect();
        assert_eq!(read, written);
        assert_eq!(lines.get(6), None);

        let mut more = Lines::default();
        [3, 4, 10].iter().for_each(|&line| more.push(line));
        lines.append(&more, 10);
        let read: Vec<u64> = (0..lines.len()).filter_map(|row| lines.get(row)).collect();
        assert_eq!(read, [2, 3, 4, 7, 8, 12, 13, 14, 20]);
    }
}
