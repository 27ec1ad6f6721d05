//! LIBSVM and SVMlight text: `label index:value … # comment`.

use memchr::memchr;
use rosenblatt::{Csr, Features, Labels};

use crate::builder::Value;
use crate::error::ReadError;
use crate::problem::excerpt_bytes;
use crate::{Lines, Problem, ReadOptions, Table, number};

pub(crate) fn parse<T: Value>(text: &[u8], options: &ReadOptions) -> Result<Table, ReadError> {
    options.refuse_columns("LIBSVM text")?;
    let model = options.features.as_ref();
    let largest = u64::from(u32::MAX);
    let limit = model.map_or(largest, |features| largest.min(features.count as u64));
    let mut block = Block::<T>::new(limit);
    block.read(text, 1)?;
    block.into_table(model)
}

/// The rows of some whole lines.
struct Block<T> {
    /// The largest index allowed; below 2³² − 1 only if a model sets it.
    limit: u64,
    largest: u64,
    pointers: Vec<u64>,
    columns: Vec<u32>,
    values: Vec<T>,
    labels: Labels,
    lines: Lines,
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

impl<T: Value> Block<T> {
    fn new(limit: u64) -> Self {
        Block {
            limit,
            largest: 0,
            pointers: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
            labels: Labels::default(),
            lines: Lines::default(),
        }
    }

    fn read(&mut self, text: &[u8], first_line: u64) -> Result<(), ReadError> {
        let (mut rest, mut number) = (text, first_line);
        while !rest.is_empty() {
            let end = memchr(b'\n', rest).unwrap_or(rest.len());
            self.read_line(&rest[..end], number).map_err(|error| error.at_line(number))?;
            rest = rest.get(end + 1..).unwrap_or_default();
            number += 1;
        }
        Ok(())
    }

    fn read_line(&mut self, line: &[u8], number: u64) -> Result<(), ReadError> {
        let line = &line[..memchr(b'#', line).unwrap_or(line.len())];
        let Some(label) = next_token(line, 0) else { return Ok(()) };
        self.read_label(label)?;
        let (mut at, mut before) = (label.start + label.bytes.len(), 0);
        if let Some(qid) = next_token(line, at).filter(|token| is_qid(token.bytes)) {
            at = qid.start + qid.bytes.len();
        }
        while let Some(token) = next_token(line, at) {
            before = self.read_pair(token, before)?;
            at = token.start + token.bytes.len();
        }
        self.largest = self.largest.max(before);
        self.pointers.push(self.columns.len() as u64);
        self.lines.push(number);
        Ok(())
    }

    fn read_label(&mut self, token: Token<'_>) -> Result<(), ReadError> {
        if memchr(b':', token.bytes).is_some() {
            return Err(token.error(Problem::ExpectedLabel { found: token.shown() }));
        }
        match std::str::from_utf8(token.bytes) {
            Ok(label) => self.labels.push(label),
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
            self.columns.push((index - 1) as u32);
            self.values.push(value);
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

    fn into_table(self, model: Option<&Features>) -> Result<Table, ReadError> {
        if self.lines.is_empty() {
            return Err(Problem::Empty.into());
        }
        let features = match model {
            Some(features) => features.clone(),
            None if self.largest == 0 => return Err(Problem::NoFeatures.into()),
            None => Features { count: self.largest as usize, ..Features::default() },
        };
        let x = Csr::new(self.pointers, self.columns, self.values, features.count)
            .map_err(|error| Problem::Data(error.to_string()))?;
        Ok(Table {
            origin: String::new(),
            x: T::sparse(x),
            labels: Some(self.labels),
            weights: None,
            features,
            lines: self.lines,
        })
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
    token.strip_prefix(b"qid:").is_some_and(|id| !id.is_empty() && id.iter().all(u8::is_ascii_digit))
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
