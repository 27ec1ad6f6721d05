//! Some whole lines on their way into rows.

use memchr::memchr;
use rosenblatt::simd::over_text;

use super::long::LongFeatures;
use super::token::{Token, is_space};
use crate::Problem;
use crate::builder::Value;
use crate::dictionary::{Key, NONE, NoNumber, Seeds, check_utf8};
use crate::error::ReadError;
use crate::named::{NamedRows, push_weight};
use crate::names::{Fresh, Names, Refused};
use crate::number::{self, LONG};
use crate::row::{Fault, Repeats, Row};

/// The rows of a block; their entries are in the arrays of the whole.
pub(super) struct Lot<'a, T> {
    columns: &'a mut [u32],
    values: &'a mut [T],
    /// All but the entries.
    rows: NamedRows<T>,
    entries: usize,
    pub(super) n_lines: u64,
    pub(super) fresh: Fresh,
}

impl<'a, T: Value> Lot<'a, T> {
    pub(super) fn new(columns: &'a mut [u32], values: &'a mut [T]) -> Self {
        Lot { columns, values, rows: NamedRows::default(), entries: 0, n_lines: 0, fresh: Fresh::default() }
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

    /// The rows without their entries, so many lines later than was known.
    pub(super) fn into_rows(self, later: u64) -> NamedRows<T> {
        let lines = self.rows.lines.moved(|line| line + later);
        NamedRows { lines, unknown: self.fresh.unknown, ..self.rows }
    }
}

/// What stands before the features.
struct Head<'a> {
    label: &'a str,
    importance: f64,
}

/// The features of one namespace.
#[derive(Clone, Copy)]
pub(super) struct Namespace {
    /// How much of a full name it takes, `^` included; 0 without a name.
    pub(super) prefix: usize,
    /// Its first bytes, the first one lowest.
    bytes: u128,
    weight: Option<f64>,
}

impl Namespace {
    /// Of a name of such a length that the whole is short; there may be other bytes behind it.
    #[inline(always)]
    pub(super) fn key(self, name: u128, length: usize) -> Key {
        let bytes = (name & !(u128::MAX << (8 * length))) << (8 * self.prefix) | self.bytes;
        Key::short(bytes, self.prefix + length)
    }
}

/// A feature whose column is not looked up yet.
struct Pending<T> {
    key: Key,
    value: T,
    /// Where the full name ends among the long names; it begins where the one before ends.
    end: usize,
    /// Where the feature stands in its line.
    start: usize,
    /// How much of the full name the namespace takes.
    prefix: usize,
}

/// Lookups are put off until what they ask of memory has come.
const MOST_PENDING: usize = 256;

/// A reader of whole lines.
pub(super) struct Block<'n, 'a, T> {
    names: &'n Names,
    lot: Lot<'a, T>,
    row: Row<T>,
    pending: Vec<Pending<T>>,
    /// The long names among the pending features.
    long: Vec<u8>,
    /// `namespace^`
    prefix: Vec<u8>,
    seeds: Seeds,
    /// Whether every row must have a label.
    labelled: bool,
}

impl<'n, 'a, T: Value> Block<'n, 'a, T> {
    pub(super) fn new(names: &'n Names, lot: Lot<'a, T>, labelled: bool) -> Self {
        let (pending, seeds) = (Vec::with_capacity(MOST_PENDING), Seeds::new());
        Block { names, lot, row: Row::new(), pending, long: Vec::new(), prefix: Vec::new(), seeds, labelled }
    }

    /// Lines are counted from 1.
    pub(super) fn read(self, text: &[u8]) -> Result<Lot<'a, T>, ReadError> {
        self.read_as::<true>(text)
    }

    /// Without `PLAIN` every feature is read with care; the result must be the same.
    fn read_as<const PLAIN: bool>(mut self, text: &[u8]) -> Result<Lot<'a, T>, ReadError> {
        let mut start = 0;
        while start < text.len() {
            let end = memchr(b'\n', &text[start..]).map_or(text.len(), |length| start + length);
            self.lot.n_lines += 1;
            let number = self.lot.n_lines;
            self.read_line::<PLAIN>(&text[start..], end - start, number)
                .map_err(|error| error.at_line(number))?;
            start = end + 1;
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
        let read = self.read_features::<PLAIN>(text, line, bar);
        // A name that is refused stands before whatever else is wrong.
        self.look_up().and(read)?;
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

    fn read_features<const PLAIN: bool>(
        &mut self,
        text: &[u8],
        line: &[u8],
        bar: usize,
    ) -> Result<(), ReadError> {
        let mut at = bar;
        while at < line.len() {
            at = self.read_namespace::<PLAIN>(text, line, at + 1)?;
        }
        Ok(())
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
                    if !self.has_room() {
                        self.look_up()?;
                    }
                    let start = at;
                    at = match PLAIN.then(|| self.read_plain_feature(text, at, namespace)).flatten() {
                        Some(end) => end,
                        None => self.read_feature(Token::at(line, at), namespace)?,
                    };
                    // Long ones come in runs.
                    if PLAIN && at - start > LONG && namespace.weight.is_none() {
                        at = over_text(LongFeatures { block: self, text, at, namespace });
                    }
                }
            }
        }
        Ok(at)
    }

    fn begin_namespace(&mut self, token: Token<'_>) -> Result<Namespace, ReadError> {
        if token.bytes.is_empty() {
            self.prefix.clear();
            return Ok(Namespace { prefix: 0, bytes: 0, weight: None });
        }
        let (name, weight) = token.split();
        if name.bytes.is_empty() {
            return Err(token.error(Problem::NoName { found: token.shown() }));
        }
        if let Err(NoNumber::NotUtf8(at)) = check_utf8(name.bytes) {
            return Err(ReadError::new(Problem::NotUtf8).at_column(name.start + at + 1));
        }
        let weight = weight.map(|weight| weight.value::<f64>(name)).transpose()?;
        self.prefix.clear();
        self.prefix.extend_from_slice(name.bytes);
        self.prefix.push(b'^');
        let bytes =
            self.prefix.iter().take(Key::ROOM).rev().fold(0, |sum, &byte| sum << 8 | u128::from(byte));
        Ok(Namespace { prefix: self.prefix.len(), bytes, weight })
    }

    /// Reads a feature that is as most are, a name and perhaps a plain number, and gives its end; or nothing and leaves
    /// no trace: [`read_feature`](Self::read_feature) knows every form and every error.
    #[inline(always)]
    fn read_plain_feature(&mut self, text: &[u8], start: usize, namespace: Namespace) -> Option<usize> {
        let (bytes, length) = name_at(text, start)?;
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
        if namespace.prefix + length <= Key::ROOM {
            self.add(namespace.key(bytes, length), value, start, namespace);
        } else {
            self.add_name(&text[start..colon], value, start, namespace);
        }
        Some(end)
    }

    fn add_name(&mut self, name: &[u8], value: T, start: usize, namespace: Namespace) {
        let before = self.long.len();
        self.long.extend_from_slice(&self.prefix);
        self.long.extend_from_slice(name);
        let key = Key::of(&self.long[before..], self.seeds);
        if key.is_short() {
            self.long.truncate(before);
        }
        self.add(key, value, start, namespace);
    }

    /// Whether one more feature may wait to be looked up.
    #[inline(always)]
    pub(super) fn has_room(&self) -> bool {
        self.pending.len() < MOST_PENDING
    }

    #[inline(always)]
    pub(super) fn add(&mut self, key: Key, value: T, start: usize, namespace: Namespace) {
        let (end, prefix) = (self.long.len(), namespace.prefix);
        self.names.prefetch(key);
        self.pending.push(Pending { key, value, end, start, prefix });
    }

    /// Finds the columns of all pending features.
    fn look_up(&mut self) -> Result<(), ReadError> {
        let mut columns = [NONE; MOST_PENDING];
        let columns = &mut columns[..self.pending.len()];
        self.names.glance(self.pending.iter().map(|feature| feature.key), columns);
        self.lot.fresh.unknown.of += self.pending.len() as u64;
        for (at, column) in columns.iter_mut().enumerate().filter(|(_, column)| **column == NONE) {
            let start = at.checked_sub(1).map_or(0, |before| self.pending[before].end);
            let (feature, fresh) = (&self.pending[at], &mut self.lot.fresh);
            *column = find(self.names, feature, &self.long[start..feature.end], fresh)?.unwrap_or(NONE);
        }
        let values = self.pending.iter().map(|feature| feature.value);
        match columns.iter().fold(false, |any, &column| any | (column == NONE)) {
            false => self.row.extend(columns, values),
            true => {
                let known = columns.iter().zip(values).filter(|(column, _)| **column != NONE);
                known.for_each(|(&column, value)| self.row.push(column, value));
            }
        }
        self.pending.clear();
        self.long.clear();
        Ok(())
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
        self.add_name(name.bytes, value, name.start, namespace);
        Ok(token.end())
    }
}

#[inline(never)]
fn find<T>(
    names: &Names,
    feature: &Pending<T>,
    long: &[u8],
    fresh: &mut Fresh,
) -> Result<Option<u32>, ReadError> {
    let (bytes, length) = feature.key.bytes();
    let name = if feature.key.is_short() { &bytes[..length] } else { long };
    let found = names.find(feature.key, name, fresh);
    found.map_err(|refused| place(refused, feature.start, feature.prefix))
}

/// A namespace is checked before its features, so that a byte that is refused belongs to the feature.
fn place(refused: Refused, start: usize, prefix: usize) -> ReadError {
    match refused {
        Refused::Problem(problem) => ReadError::new(problem).at_column(start + 1),
        Refused::NotUtf8(at) => ReadError::new(Problem::NotUtf8).at_column(start + at - prefix + 1),
    }
}

/// The length of the name that begins here and its first 16 bytes, with others behind it; nothing near the end of the text.
#[inline(always)]
fn name_at(text: &[u8], start: usize) -> Option<(u128, usize)> {
    let low = load(text, start)?;
    if let Some(length) = first_end(low) {
        return Some((u128::from(low), length));
    }
    let high = load(text, start + 8)?;
    let bytes = u128::from(high) << 64 | u128::from(low);
    if let Some(length) = first_end(high) {
        return Some((bytes, 8 + length));
    }
    let mut at = start + 16;
    loop {
        match first_end(load(text, at)?) {
            Some(length) => return Some((bytes, at - start + length)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Read = Result<(Vec<u32>, Vec<u32>, NamedRows<f32>), ReadError>;

    /// The fast way, or the careful way alone.
    fn read<const PLAIN: bool>(text: &[u8], names: &Names) -> Read {
        let (mut columns, mut values) = (vec![0; text.len()], vec![0f32; text.len()]);
        let block = Block::new(names, Lot::new(&mut columns, &mut values), false);
        let lot = block.read_as::<PLAIN>(text)?;
        let (entries, rows) = (lot.entries, lot.into_rows(0));
        columns.truncate(entries);
        Ok((columns, values[..entries].iter().map(|value| value.to_bits()).collect(), rows))
    }

    fn all_names() -> [Names; 4] {
        let known = ["a", "ab^a", "a^aaaaaaaaaaaa"].map(str::to_owned);
        [
            Names::learned_from(vec![]).unwrap(),
            Names::learned_from(known.to_vec()).unwrap(),
            Names::hashed_from(2, &known).unwrap(),
            Names::Numbered(12),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn the_fast_way_is_the_careful_way(
            lines in prop::collection::vec("[1a]? ?\\|[ab:]{0,2}( {0,2}[ab^|é]{0,3}[1-3]?(:[-+]?[0-9.]{0,4}(e-?[0-9])?)?){0,4}( a{7,13}:?1?){0,2}( a{1,12}:[0-9]\\.[0-9]{14,22}[e ]?){0,3}[ \t\r\x0c\x01]?", 0..6),
            broken in any::<proptest::sample::Index>(),
        ) {
            let mut text = lines.join("\n").into_bytes();
            for names in all_names() {
                prop_assert_eq!(read::<true>(&text, &names), read::<false>(&text, &names));
            }
            if !text.is_empty() {
                let at = broken.index(text.len());
                text[at] = 0xff;
                let names = &all_names()[0];
                prop_assert_eq!(read::<true>(&text, names), read::<false>(&text, names));
            }
        }
    }
}
