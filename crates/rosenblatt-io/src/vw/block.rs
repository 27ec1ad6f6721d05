//! Some whole lines on their way into rows.

use memchr::memchr;

use super::token::{Token, is_space};
use crate::builder::Value;
use crate::dictionary::{Key, NoNumber, check_utf8};
use crate::error::ReadError;
use crate::named::{NamedRows, push_weight};
use crate::names::{Fresh, Names, Refused};
use crate::row::{Fault, Repeats, Row};
use crate::{Problem, number};

/// The rows of a block; their entries are in the arrays of the whole.
pub(super) struct Lot<'a, T> {
    columns: &'a mut [u32],
    values: &'a mut [T],
    /// All but the entries.
    rows: NamedRows<T>,
    entries: usize,
    pub(super) fresh: Fresh,
}

impl<'a, T: Value> Lot<'a, T> {
    pub(super) fn new(columns: &'a mut [u32], values: &'a mut [T]) -> Self {
        Lot { columns, values, rows: NamedRows::default(), entries: 0, fresh: Fresh::default() }
    }

    fn end_row(&mut self, row: &mut Row<T>, head: &Head<'_>, number: u64) -> Result<(), Fault> {
        let (columns, values) = (&mut self.columns[self.entries..], &mut self.values[self.entries..]);
        self.entries += row.write(columns, values, Repeats::Add)?;
        self.rows.pointers.push(self.entries as u64);
        push_weight(&mut self.rows.weights, head.importance, self.rows.lines.len());
        self.rows.labels.push(head.label);
        self.rows.lines.push(number);
        Ok(())
    }

    /// Gives the columns from `first` on their final numbers, and each row its order back.
    pub(super) fn renumber(&mut self, first: u32, columns: &[u32]) {
        if columns.iter().zip(first..).all(|(&column, before)| column == before) {
            return;
        }
        let mut row = Row::new();
        for ends in self.rows.pointers.windows(2) {
            let (start, end) = (ends[0] as usize, ends[1] as usize);
            let (mine, values) = (&mut self.columns[start..end], &mut self.values[start..end]);
            if mine.last().is_none_or(|&last| last < first) {
                continue;
            }
            for (&column, &value) in mine.iter().zip(values.iter()) {
                let learned = column.checked_sub(first).and_then(|fresh| columns.get(fresh as usize));
                row.push(learned.copied().unwrap_or(column), value);
            }
            // Names stay distinct and sums were finite, so that nothing can be refused.
            let _ = row.write(mine, values, Repeats::Add);
        }
    }

    /// The rows without their entries.
    pub(super) fn into_rows(self) -> NamedRows<T> {
        NamedRows { unknown: self.fresh.unknown, ..self.rows }
    }
}

/// What stands before the features.
struct Head<'a> {
    label: &'a str,
    importance: f64,
}

/// The features of one namespace.
#[derive(Clone, Copy)]
struct Namespace {
    /// How much of a full name it takes, `^` included; 0 without a name.
    prefix: usize,
    weight: Option<f64>,
}

/// A reader of whole lines.
pub(super) struct Block<'n, 'a, T> {
    names: &'n Names,
    lot: Lot<'a, T>,
    row: Row<T>,
    /// `namespace^feature` is put together here; the namespace stays while its features change.
    name: Vec<u8>,
    /// Whether every row must have a label.
    labelled: bool,
}

impl<'n, 'a, T: Value> Block<'n, 'a, T> {
    pub(super) fn new(names: &'n Names, lot: Lot<'a, T>, labelled: bool) -> Self {
        Block { names, lot, row: Row::new(), name: Vec::new(), labelled }
    }

    pub(super) fn read(self, text: &[u8], first_line: u64) -> Result<Lot<'a, T>, ReadError> {
        self.read_as::<true>(text, first_line)
    }

    /// Without `PLAIN` every feature is read with care; the result must be the same.
    fn read_as<const PLAIN: bool>(mut self, text: &[u8], first_line: u64) -> Result<Lot<'a, T>, ReadError> {
        let (mut start, mut number) = (0, first_line);
        while start < text.len() {
            let end = memchr(b'\n', &text[start..]).map_or(text.len(), |length| start + length);
            self.read_line::<PLAIN>(&text[start..], end - start, number)
                .map_err(|error| error.at_line(number))?;
            (start, number) = (end + 1, number + 1);
        }
        Ok(self.lot)
    }

    /// `text` goes on behind the line, so that words at its end can be loaded whole.
    fn read_line<const PLAIN: bool>(
        &mut self,
        text: &[u8],
        length: usize,
        number: u64,
    ) -> Result<(), ReadError> {
        let line = text[..length].trim_ascii_end();
        if line.is_empty() {
            return Ok(());
        }
        let Some(bar) = memchr(b'|', line) else {
            return Err(ReadError::new(Problem::NoBar).at_column(line.len() + 1));
        };
        let head = self.read_head(&line[..bar])?;
        let mut at = bar;
        while at < line.len() {
            at = self.read_namespace::<PLAIN>(text, line, at + 1)?;
        }
        self.lot.end_row(&mut self.row, &head, number).map_err(|fault| self.explain(&fault))
    }

    fn explain(&self, fault: &Fault) -> ReadError {
        fault.explain(|column| self.names.shown(column, &self.lot.fresh)).into()
    }

    fn read_head<'t>(&self, head: &'t [u8]) -> Result<Head<'t>, ReadError> {
        let (mut words, mut found, mut at) = ([None; 3], 0, 0);
        while let Some(token) = Token::next(head, at) {
            at = token.end();
            let is_last = Token::next(head, at).is_none();
            if is_last && (token.bytes.starts_with(b"'") || at == head.len()) {
                return self.head(words, Some(token));
            }
            match words.get_mut(found) {
                Some(word) => *word = Some(token),
                None => return Err(token.error(Problem::ExpectedBar { found: token.shown() })),
            }
            found += 1;
        }
        self.head(words, None)
    }

    fn head<'t>(&self, words: [Option<Token<'t>>; 3], tag: Option<Token<'t>>) -> Result<Head<'t>, ReadError> {
        let [label, importance, base] = words;
        if let Some(base) = base {
            base.refuse_base()?;
        }
        let importance = importance.map_or(Ok(1.0), Token::importance)?;
        let Some(label) = label else {
            return match (tag, self.labelled) {
                (_, false) => Ok(Head { label: "", importance }),
                (Some(tag), true) if !tag.bytes.starts_with(b"'") => {
                    Err(tag.error(Problem::LabelIsTag { found: tag.shown() }))
                }
                _ => Err(ReadError::new(missing_label()).at_column(1)),
            };
        };
        // Costs and bandits put several labels with numbers there, which are not classes.
        if memchr(b':', label.bytes).is_some() {
            return Err(label.error(Problem::ExpectedLabel { found: label.shown() }));
        }
        Ok(Head { label: label.text()?, importance })
    }

    /// From the byte after a `|` to the next `|` or the end.
    fn read_namespace<const PLAIN: bool>(
        &mut self,
        text: &[u8],
        line: &[u8],
        start: usize,
    ) -> Result<usize, ReadError> {
        let token = Token::at(line, start);
        let namespace = self.begin_namespace(token)?;
        let mut at = token.end();
        while let Some(&byte) = line.get(at) {
            match byte {
                b'|' => break,
                _ if is_space(byte) => at += 1,
                _ => {
                    at = match self.read_plain_feature(text, at, namespace).filter(|_| PLAIN) {
                        Some(end) => end,
                        None => self.read_feature(Token::at(line, at), namespace)?,
                    }
                }
            }
        }
        Ok(at)
    }

    fn begin_namespace(&mut self, token: Token<'_>) -> Result<Namespace, ReadError> {
        if token.bytes.is_empty() {
            return Ok(Namespace { prefix: 0, weight: None });
        }
        let (name, weight) = token.split();
        if name.bytes.is_empty() {
            return Err(token.error(Problem::NoName { found: token.shown() }));
        }
        if let Err(NoNumber::NotUtf8(at)) = check_utf8(name.bytes) {
            return Err(ReadError::new(Problem::NotUtf8).at_column(name.start + at + 1));
        }
        let weight = weight.map(|weight| weight.value::<f64>(name)).transpose()?;
        self.name.clear();
        self.name.extend_from_slice(name.bytes);
        self.name.push(b'^');
        Ok(Namespace { prefix: self.name.len(), weight })
    }

    /// Reads a feature that is as most are, a name and perhaps a plain number, and gives its end; or nothing and leaves
    /// no trace: [`read_feature`](Self::read_feature) knows every form and every error.
    #[inline(always)]
    fn read_plain_feature(&mut self, text: &[u8], start: usize, namespace: Namespace) -> Option<usize> {
        let (words, length) = name_at(text, start)?;
        let colon = start + length;
        let (value, end) = match text.get(colon)? {
            b':' => {
                let (value, length) = number::prefix::<T>(&text[colon + 1..])?;
                (value, colon + 1 + length)
            }
            _ => (T::narrow(1.0), colon),
        };
        let is_plain = length > 0 && namespace.weight.is_none();
        if !is_plain || !matches!(text.get(end), Some(b' ' | b'\n' | b'\t' | b'\r' | b'|')) {
            return None;
        }
        let (name, fresh) = (&text[start..colon], &mut self.lot.fresh);
        let found = match namespace.prefix {
            0 if length <= Key::ROOM => self.names.find_by(name, fresh, |_| Key::short(words, length)),
            _ => self.find(name, namespace),
        };
        if let Some(column) = found.ok()? {
            self.row.push(column, value);
        }
        Some(end)
    }

    #[inline(never)]
    fn read_feature(&mut self, token: Token<'_>, namespace: Namespace) -> Result<usize, ReadError> {
        let (name, value) = token.split();
        if name.bytes.is_empty() {
            return Err(token.error(Problem::NoName { found: token.shown() }));
        }
        let value = match (value, namespace.weight) {
            (None, weight) => T::narrow(weight.unwrap_or(1.0)),
            (Some(value), None) => value.value::<T>(name)?,
            (Some(value), Some(weight)) => T::narrow(weight * value.value::<f64>(name)?),
        };
        if !value.wide().is_finite() {
            return Err(token.error(Problem::NotFinite { text: token.shown() }));
        }
        let found = self.find(name.bytes, namespace);
        let column = found.map_err(|refused| match refused {
            Refused::Problem(problem) => name.error(problem),
            Refused::NotUtf8(at) => {
                ReadError::new(Problem::NotUtf8).at_column(name.start + at - namespace.prefix + 1)
            }
        })?;
        if let Some(column) = column {
            self.row.push(column, value);
        }
        Ok(token.end())
    }

    fn find(&mut self, name: &[u8], namespace: Namespace) -> Result<Option<u32>, Refused> {
        if namespace.prefix == 0 {
            return self.names.find(name, &mut self.lot.fresh);
        }
        self.name.truncate(namespace.prefix);
        self.name.extend_from_slice(name);
        self.names.find(&self.name, &mut self.lot.fresh)
    }
}

/// The length of the name that begins here and its first 16 bytes, with others behind it; nothing near the end of the text.
#[inline(always)]
fn name_at(text: &[u8], start: usize) -> Option<([u64; 2], usize)> {
    let low = load(text, start)?;
    if let Some(length) = first_end(low) {
        return Some(([low, 0], length));
    }
    let high = load(text, start + 8)?;
    if let Some(length) = first_end(high) {
        return Some(([low, high], 8 + length));
    }
    let mut at = start + 16;
    loop {
        match first_end(load(text, at)?) {
            Some(length) => return Some(([low, high], at - start + length)),
            None => at += 8,
        }
    }
}

#[inline(always)]
fn load(text: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(text.get(at..at + 8)?.try_into().ok()?))
}

/// The first byte of a word that may end a name: a colon, a bar, a space or what is below it.
#[inline(always)]
fn first_end(word: u64) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // A borrow reaches only bytes behind the first that is found, which do not matter.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let ends = (is(b':') | is(b'|') | below(word, b' ' + 1)) & HIGH;
    (ends != 0).then(|| (ends.trailing_zeros() / 8) as usize)
}

fn missing_label() -> Problem {
    Problem::MissingLabel { text: String::new(), column: String::new() }
}
