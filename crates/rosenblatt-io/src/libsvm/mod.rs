//! LIBSVM and SVMlight text: `label index:value … # comment`.

mod long;

use memchr::{memchr, memchr_iter};
use rayon::prelude::*;
use rosenblatt::simd::over_text;
use rosenblatt::{Csr, DataError, Features, Labels, Matrix};

use self::long::LongPairs;
use crate::builder::Value;
use crate::error::ReadError;
use crate::lines::blocks;
use crate::problem::excerpt_bytes;
use crate::{Lines, Problem, ReadOptions, Table, number};

/// Bytes that hold a space, an index of up to seven digits and its colon, rounded up to a whole word of digits.
const PAIR: usize = 1 + 8 + 1;

pub(crate) fn parse<T: Value>(text: &[u8], options: &ReadOptions) -> Result<Table, ReadError> {
    options.refuse_columns("LIBSVM text")?;
    let model = options.features.as_ref();
    let lot = read::<T>(text, 1, model, options.precomputed)?;
    if lot.lines.is_empty() {
        return Err(Problem::Empty.into());
    }
    let features = match model {
        Some(features) if features.open => {
            Features { count: features.count.max(lot.largest), ..features.clone() }
        }
        Some(features) => features.clone(),
        None => features(lot.largest)?,
    };
    let x = lot.x.widened(features.count).map_err(|error| Problem::Data(error.to_string()))?;
    Ok(Table::new(x, Some(lot.labels), None, features, lot.lines))
}

/// What a file has whose largest index is this.
pub(crate) fn features(largest: usize) -> Result<Features, ReadError> {
    match largest {
        0 => Err(Problem::NoFeatures.into()),
        count => Ok(Features { count, ..Features::default() }),
    }
}

/// The rows of some whole lines.
pub(crate) struct Lot<T> {
    pub(crate) x: Entries<T>,
    pub(crate) labels: Labels,
    pub(crate) lines: Lines,
    pub(crate) largest: usize,
}

/// A sparse matrix that does not know its width yet.
pub(crate) struct Entries<T> {
    pointers: Vec<u64>,
    columns: Vec<u32>,
    values: Vec<T>,
}

impl<T: Value> Entries<T> {
    pub(crate) fn widened(self, n_cols: usize) -> Result<Matrix<'static>, DataError> {
        // The reader refused what does not ascend, and knows the largest.
        Csr::of_checked_rows(self.pointers, self.columns, self.values, n_cols).map(T::sparse)
    }
}

/// Reads whole lines, of which the first has this number. Counts entries in every block, then fills the arrays of all blocks at once: nothing is
/// copied, nothing grows.
pub(crate) fn read<T: Value>(
    text: &[u8],
    first_line: u64,
    model: Option<&Features>,
    numbered: bool,
) -> Result<Lot<T>, ReadError> {
    let largest = u64::from(u32::MAX);
    let bound = model.filter(|features| !features.open);
    let limit = bound.map_or(largest, |features| largest.min(features.count as u64));
    let texts = blocks(text);
    let rooms: Vec<usize> = texts.par_iter().map(|text| room(text)).collect();
    let entries = rooms.iter().sum();
    let (mut columns, mut values) = (vec![0u32; entries], vec![T::narrow(0.0); entries]);
    let (mut free_columns, mut free_values) = (&mut columns[..], &mut values[..]);
    let mut work = Vec::with_capacity(texts.len());
    for (text, &room) in texts.iter().zip(&rooms) {
        let (mine, rest) = free_columns.split_at_mut(room);
        let (my_values, rest_values) = free_values.split_at_mut(room);
        (free_columns, free_values) = (rest, rest_values);
        work.push((Block::new(limit, numbered, mine, my_values), *text));
    }
    let read = |(mut block, text): (Block<'_, T>, &[u8])| block.read(text).map(|()| block.rows);
    let blocks: Vec<Result<Rows, ReadError>> = work.into_par_iter().map(read).collect();
    join(blocks, &rooms, columns, values, first_line - 1)
}

/// How many entries a block may hold at the most: each has a colon; comments may have some more.
fn room(text: &[u8]) -> usize {
    memchr_iter(b':', text).count()
}

/// Puts the blocks together, closing gaps left by zeros and comments.
fn join<T: Value>(
    blocks: Vec<Result<Rows, ReadError>>,
    rooms: &[usize],
    mut columns: Vec<u32>,
    mut values: Vec<T>,
    mut lines_before: u64,
) -> Result<Lot<T>, ReadError> {
    let (mut pointers, mut labels, mut lines) = (vec![0], Labels::default(), Lines::default());
    let (mut from, mut to, mut largest) = (0, 0, 0);
    for (block, room) in blocks.into_iter().zip(rooms) {
        let block = block.map_err(|error| error.lines_later(lines_before))?;
        if from != to {
            columns.copy_within(from..from + block.entries, to);
            values.copy_within(from..from + block.entries, to);
        }
        pointers.extend(block.ends.iter().map(|end| (to + end) as u64));
        labels.append(&block.labels);
        lines.append(&block.lines, lines_before);
        largest = largest.max(block.largest);
        (from, to) = (from + room, to + block.entries);
        lines_before += block.n_lines;
    }
    columns.truncate(to);
    values.truncate(to);
    Ok(Lot { x: Entries { pointers, columns, values }, labels, lines, largest: largest as usize })
}

/// The rows of a block; their entries are in the arrays of the whole.
#[derive(Default)]
struct Rows {
    entries: usize,
    /// Where each row ends, counted from the block's first entry.
    ends: Vec<usize>,
    labels: Labels,
    /// Where they stand, and how many lines there are, counted from the block's first.
    lines: Lines,
    n_lines: u64,
    largest: u64,
}

/// Some whole lines on their way into their part of the arrays.
struct Block<'a, T> {
    /// The largest index allowed; below 2³² − 1 only if a model sets it.
    limit: u64,
    /// Whether a row may begin with its number.
    numbered: bool,
    columns: &'a mut [u32],
    values: &'a mut [T],
    rows: Rows,
}

/// A word of a line and the byte it starts at.
#[derive(Clone, Copy)]
struct Token<'a> {
    bytes: &'a [u8],
    start: usize,
}

impl Token<'_> {
    fn error(self, problem: Problem) -> ReadError {
        ReadError::new(problem).at_column(self.start + 1)
    }

    fn shown(self) -> String {
        excerpt_bytes(self.bytes)
    }
}

impl<'a, T: Value> Block<'a, T> {
    fn new(limit: u64, numbered: bool, columns: &'a mut [u32], values: &'a mut [T]) -> Self {
        Block { limit, numbered, columns, values, rows: Rows::default() }
    }

    fn read(&mut self, text: &[u8]) -> Result<(), ReadError> {
        let mut at = 0;
        while at < text.len() {
            self.rows.n_lines += 1;
            let number = self.rows.n_lines;
            at = match self.read_plain_line(text, at, number) {
                Some(next) => next,
                None => {
                    let end = memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length);
                    self.read_line(&text[at..end], number).map_err(|error| error.at_line(number))?;
                    end + 1
                }
            };
        }
        Ok(())
    }

    /// Reads a line that is as most lines are: a label, then pairs, single spaces between, nothing out of the ordinary. Gives
    /// the start of the next line, or nothing and leaves no trace: [`read_line`](Self::read_line) knows every form and every error.
    #[inline]
    fn read_plain_line(&mut self, text: &[u8], start: usize, number: u64) -> Option<usize> {
        let label_end = start + text[start..].iter().position(|&byte| byte <= b' ' || byte >= 0x7F)?;
        let label = std::str::from_utf8(&text[start..label_end]).ok()?;
        if label.is_empty() || label.contains([':', '#']) {
            return None;
        }
        let (mut at, mut before, mut entries) = self.read_long_pairs(text, label_end, 0, self.rows.entries);
        while text.get(at) == Some(&b' ') {
            let pair: &[u8; PAIR] = text.get(at..)?.first_chunk()?;
            let (index, length) = number::Word::load(pair, 1)?.number();
            if index <= before || index > self.limit || pair[1 + length] != b':' {
                if let b'\n' | b'\r' = pair[1] {
                    at += 1; // a space at the end of the line
                    break;
                }
                return None;
            }
            at += 2 + length;
            let (value, length) = number::prefix::<T>(&text[at..])?;
            if value.wide() != 0.0 {
                *self.columns.get_mut(entries)? = (index - 1) as u32;
                *self.values.get_mut(entries)? = value;
                entries += 1;
            }
            (at, before) = (at + length, index);
            if length >= number::LONG {
                (at, before, entries) = self.read_long_pairs(text, at, before, entries);
            }
        }
        at += usize::from(text.get(at) == Some(&b'\r'));
        if !matches!(text.get(at), None | Some(b'\n')) {
            return None;
        }
        self.rows.labels.push(label);
        self.end_row(entries, before, number);
        Some(at + 1)
    }

    /// Reads pairs as long as they have many digits, and says where the next one starts, the last index, and how many entries there are.
    #[inline]
    fn read_long_pairs(
        &mut self,
        text: &[u8],
        at: usize,
        before: u64,
        entries: usize,
    ) -> (usize, u64, usize) {
        let (columns, values) = (&mut self.columns[entries..], &mut self.values[entries..]);
        let (length, last, read) =
            over_text(LongPairs { text: &text[at..], before, limit: self.limit, columns, values });
        (at + length, last, entries + read)
    }

    fn end_row(&mut self, entries: usize, largest: u64, number: u64) {
        self.rows.entries = entries;
        self.rows.largest = self.rows.largest.max(largest);
        self.rows.ends.push(entries);
        self.rows.lines.push(number);
    }

    fn read_line(&mut self, line: &[u8], number: u64) -> Result<(), ReadError> {
        let line = &line[..memchr(b'#', line).unwrap_or(line.len())];
        let Some(label) = next_token(line, 0) else { return Ok(()) };
        self.read_label(label)?;
        let (mut at, mut before) = (label.start + label.bytes.len(), 0);
        if let Some(qid) = next_token(line, at).filter(|token| is_qid(token.bytes)) {
            at = qid.start + qid.bytes.len();
        }
        if let Some(number) = next_token(line, at).filter(|token| self.numbered && is_number(token.bytes)) {
            at = number.start + number.bytes.len();
        }
        while let Some(token) = next_token(line, at) {
            before = self.read_pair(token, before)?;
            at = token.start + token.bytes.len();
        }
        self.end_row(self.rows.entries, before, number);
        Ok(())
    }

    fn read_label(&mut self, token: Token<'_>) -> Result<(), ReadError> {
        if memchr(b':', token.bytes).is_some() {
            return Err(token.error(Problem::ExpectedLabel { found: token.shown() }));
        }
        match std::str::from_utf8(token.bytes) {
            Ok(label) => self.rows.labels.push(label),
            Err(error) => {
                let start = token.start + error.valid_up_to();
                return Err(Token { start, ..token }.error(Problem::NotUtf8));
            }
        }
        Ok(())
    }

    fn read_pair(&mut self, token: Token<'_>, before: u64) -> Result<u64, ReadError> {
        let colon = memchr(b':', token.bytes).unwrap_or(token.bytes.len());
        let (index, value) = token.bytes.split_at(colon);
        if index.is_empty() || value.is_empty() || !index.iter().all(u8::is_ascii_digit) {
            return Err(token.error(Problem::ExpectedPair { found: token.shown() }));
        }
        let index = self.read_index(token, index, before)?;
        let value = read_value::<T>(Token { bytes: &value[1..], start: token.start + colon + 1 }, index)?;
        if value.wide() != 0.0 {
            let room = self.columns.get_mut(self.rows.entries).zip(self.values.get_mut(self.rows.entries));
            if let Some((column, place)) = room {
                (*column, *place) = ((index - 1) as u32, value);
                self.rows.entries += 1;
            }
        }
        Ok(index)
    }

    fn read_index(&self, token: Token<'_>, digits: &[u8], before: u64) -> Result<u64, ReadError> {
        let next = |sum: u64, digit: &u8| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
        let index = digits.iter().fold(0, next);
        if index > before && index <= self.limit {
            return Ok(index);
        }
        Err(token.error(if index > u64::from(u32::MAX) {
            Problem::IndexTooLarge { index: excerpt_bytes(digits) }
        } else if index == 0 {
            Problem::IndexZero
        } else if index > self.limit {
            Problem::IndexBeyondModel { index, count: self.limit as usize }
        } else if index == before {
            Problem::IndexTwice { index }
        } else {
            Problem::IndexDescends { index, before }
        }))
    }
}

fn next_token(line: &[u8], from: usize) -> Option<Token<'_>> {
    let start = from + line[from..].iter().position(|b| !b.is_ascii_whitespace())?;
    let rest = &line[start..];
    let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
    Some(Token { bytes: &rest[..end], start })
}

/// SVMlight's ranking groups, which mean nothing to a classifier.
fn is_qid(token: &[u8]) -> bool {
    token.strip_prefix(b"qid:").is_some_and(is_whole)
}

/// LIBSVM's number of a row of precomputed kernel values: the first row is number 1, which its place says, too.
fn is_number(token: &[u8]) -> bool {
    token.strip_prefix(b"0:").is_some_and(is_whole)
}

fn is_whole(digits: &[u8]) -> bool {
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

fn read_value<T: Value>(token: Token<'_>, index: u64) -> Result<T, ReadError> {
    if token.bytes.is_empty() {
        return Err(token.error(Problem::ExpectedValue { index }));
    }
    match number::parse::<T>(token.bytes) {
        Some(value) if value.wide().is_finite() => Ok(value),
        Some(_) => Err(token.error(Problem::NotFinite { text: token.shown() })),
        None => Err(token.error(Problem::NotANumber { text: token.shown() })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Read = Result<(Vec<u32>, Vec<u32>, Vec<usize>, Labels, Lines), ReadError>;

    /// The fast way, or the careful way alone.
    fn read(text: &[u8], plain: bool) -> Read {
        let room = room(text);
        let (mut columns, mut values) = (vec![0; room], vec![0f32; room]);
        let mut block = Block::new(u64::from(u32::MAX), false, &mut columns, &mut values);
        match plain {
            true => block.read(text)?,
            false => {
                for (at, line) in text.split(|&byte| byte == b'\n').enumerate() {
                    let number = at as u64 + 1;
                    block.read_line(line, number).map_err(|error| error.at_line(number))?;
                }
            }
        }
        let Rows { entries, ends, labels, lines, .. } = block.rows;
        let bits = values[..entries].iter().map(|value| value.to_bits()).collect();
        columns.truncate(entries);
        Ok((columns, bits, ends, labels, lines))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn the_fast_way_is_the_careful_way(
            lines in prop::collection::vec("[-+a:# 01]{0,3}( {0,2}[0-9]{1,3}:[-+]?([0-9.]{0,4}|[0-9]\\.[0-9]{5,25})(e-?[0-9])?){0,4}[ \t\r]?", 0..6)
        ) {
            let text = lines.join("\n");
            prop_assert_eq!(read(text.as_bytes(), true), read(text.as_bytes(), false));
        }
    }

    proptest! {
        /// Indices ascend, so that hardly a line is refused and long pairs are reached.
        #[test]
        fn long_pairs_are_read_with_care(
            lines in prop::collection::vec(
                prop::collection::vec((1..30_000u32, "[0-9]\\.[0-9]{14,22}(e1|\t)?"), 1..6), 1..6)
        ) {
            let mut text = String::new();
            for line in lines {
                text.push('1');
                let mut index = 0;
                for (step, value) in line {
                    index += step;
                    text.push_str(&format!(" {index}:{value}"));
                }
                text.push('\n');
            }
            let fast = read(text.as_bytes(), true);
            prop_assert!(fast.is_ok(), "{text}");
            prop_assert_eq!(fast, read(text.as_bytes(), false));
        }
    }

    /// Rows come out the same wherever the blocks happen to end.
    #[test]
    fn many_blocks() {
        let mut text = Vec::new();
        for i in 0..60_000u32 {
            let extra = if i % 7 == 0 { " 9:0 # none: at all" } else { "" };
            text.extend_from_slice(
                format!("{} {}:{} 8:1.5{extra}\n", i % 3, i % 5 + 1, f64::from(i) / 7.0).as_bytes(),
            );
        }
        assert!(blocks(&text).len() > 1);
        let table = parse::<f32>(&text, &ReadOptions::default()).unwrap();
        let (columns, bits, ends, labels, lines) = read(&text, false).unwrap();
        let pointers = std::iter::once(0).chain(ends).map(|end| end as u64).collect::<Vec<_>>();
        let values: Vec<f32> = bits.into_iter().map(f32::from_bits).collect();
        let expected = Csr::new(pointers, columns, values, 9).unwrap();
        assert_eq!(table.x, f32::sparse(expected));
        assert_eq!(table.labels.unwrap().encode(), labels.encode());
        assert_eq!(table.lines, lines);
    }

    #[test]
    fn errors_of_later_blocks_know_their_line() {
        let mut text = b"1 1:0.5 2:0.25\n# nothing\n\n".repeat(1 + (1 << 20) / 8);
        let lines = memchr_iter(b'\n', &text).count() as u64;
        text.extend_from_slice(b"1 1:0.5 x\n");
        assert!(blocks(&text).len() > 2);
        let error = parse::<f32>(&text, &ReadOptions::default()).unwrap_err();
        assert_eq!((error.line(), error.column()), (Some(lines + 1), Some(9)));
    }
}
