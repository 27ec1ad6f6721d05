//! Vowpal Wabbit text: `label importance 'tag |namespace:weight feature:value …`.
//!
//! What stands before the first `|` is read as Vowpal Wabbit does: a word that touches the `|` or begins with an
//! apostrophe is a tag, and the words before it are the label, the importance and the initial prediction.

use memchr::memchr;
use rosenblatt::Dataset;

use crate::builder::Value;
use crate::dictionary::{NoNumber, check_utf8};
use crate::error::ReadError;
use crate::lines::each_line;
use crate::named::{DenseWhen, NamedRows, Refused, Repeats};
use crate::problem::excerpt_bytes;
use crate::{Problem, ReadOptions, Table, number};

pub(crate) fn parse<T: Value>(text: &[u8], options: &ReadOptions) -> Result<Table, ReadError> {
    options.refuse_columns("Vowpal Wabbit text")?;
    let model = options.features.as_ref();
    let mut block = Block::<T> { rows: NamedRows::new(model)?, name: Vec::new(), labelled: model.is_none() };
    block.read(text, 1)?;
    block.rows.into_table(model, DenseWhen::Never)
}

/// The rows of some whole lines.
struct Block<T> {
    rows: NamedRows<T>,
    /// `namespace^feature` is put together here; the namespace stays while its features change.
    name: Vec<u8>,
    /// Whether every row must have a label.
    labelled: bool,
}

/// A word of a line and the byte it starts at.
#[derive(Clone, Copy)]
struct Token<'a> {
    bytes: &'a [u8],
    start: usize,
}

impl<'a> Token<'a> {
    fn error(self, problem: Problem) -> ReadError {
        ReadError::new(problem).at_column(self.start + 1)
    }

    fn shown(self) -> String {
        excerpt_bytes(self.bytes)
    }

    fn end(self) -> usize {
        self.start + self.bytes.len()
    }

    fn text(self) -> Result<&'a str, ReadError> {
        std::str::from_utf8(self.bytes)
            .map_err(|error| ReadError::new(Problem::NotUtf8).at_column(self.start + error.valid_up_to() + 1))
    }

    /// What stands before and after the first colon.
    #[inline]
    fn split(self) -> (Token<'a>, Option<Token<'a>>) {
        match self.bytes.iter().position(|&b| b == b':') {
            None => (self, None),
            Some(colon) => {
                let start = self.start + colon + 1;
                let after = Token { bytes: &self.bytes[colon + 1..], start };
                (Token { bytes: &self.bytes[..colon], ..self }, Some(after))
            }
        }
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

impl<T: Value> Block<T> {
    fn read(&mut self, text: &[u8], first_line: u64) -> Result<(), ReadError> {
        each_line(text, first_line, |line, number| self.read_line(line, number))
    }

    fn read_line(&mut self, line: &[u8], number: u64) -> Result<(), ReadError> {
        let line = line.trim_ascii_end();
        if line.is_empty() {
            return Ok(());
        }
        let Some(bar) = memchr(b'|', line) else {
            return Err(ReadError::new(Problem::NoBar).at_column(line.len() + 1));
        };
        let head = self.read_head(&line[..bar])?;
        let mut at = bar;
        while at < line.len() {
            at = self.read_namespace(line, at + 1)?;
        }
        self.rows.end_row(head.label, head.importance, number, Repeats::Add).map_err(ReadError::new)
    }

    fn read_head<'a>(&self, head: &'a [u8]) -> Result<Head<'a>, ReadError> {
        let (mut words, mut found, mut at) = ([None; 3], 0, 0);
        while let Some(token) = next_token(head, at) {
            at = token.end();
            let is_last = next_token(head, at).is_none();
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

    fn head<'a>(&self, words: [Option<Token<'a>>; 3], tag: Option<Token<'a>>) -> Result<Head<'a>, ReadError> {
        let [label, importance, base] = words;
        if let Some(base) = base {
            refuse_base(base)?;
        }
        let importance = importance.map_or(Ok(1.0), read_importance)?;
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
    fn read_namespace(&mut self, line: &[u8], start: usize) -> Result<usize, ReadError> {
        let token = token_at(line, start);
        let namespace = self.begin_namespace(token)?;
        let mut at = token.end();
        while let Some(&byte) = line.get(at) {
            match byte {
                b'|' => break,
                _ if is_space(byte) => at += 1,
                _ => {
                    let token = token_at(line, at);
                    self.read_feature(token, namespace)?;
                    at = token.end();
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
        let weight = weight.map(|weight| read_value::<f64>(weight, name)).transpose()?;
        self.name.clear();
        self.name.extend_from_slice(name.bytes);
        self.name.push(b'^');
        Ok(Namespace { prefix: self.name.len(), weight })
    }

    #[inline]
    fn read_feature(&mut self, token: Token<'_>, namespace: Namespace) -> Result<(), ReadError> {
        let (name, value) = token.split();
        if name.bytes.is_empty() {
            return Err(token.error(Problem::NoName { found: token.shown() }));
        }
        let value = match (value, namespace.weight) {
            (None, weight) => T::narrow(weight.unwrap_or(1.0)),
            (Some(value), None) => read_value::<T>(value, name)?,
            (Some(value), Some(weight)) => T::narrow(weight * read_value::<f64>(value, name)?),
        };
        if !value.wide().is_finite() {
            return Err(token.error(Problem::NotFinite { text: token.shown() }));
        }
        let added = match namespace.prefix {
            0 => self.rows.add(name.bytes, value),
            prefix => {
                self.name.truncate(prefix);
                self.name.extend_from_slice(name.bytes);
                self.rows.add(&self.name, value)
            }
        };
        added.map_err(|refused| match refused {
            Refused::Problem(problem) => name.error(problem),
            Refused::NotUtf8(at) => {
                ReadError::new(Problem::NotUtf8).at_column(name.start + at - namespace.prefix + 1)
            }
        })
    }
}

fn missing_label() -> Problem {
    Problem::MissingLabel { text: String::new(), column: String::new() }
}

fn read_importance(token: Token<'_>) -> Result<f64, ReadError> {
    let weight = number::parse(token.bytes).filter(|weight| (0.0..=Dataset::LARGEST_WEIGHT).contains(weight));
    weight.ok_or_else(|| token.error(Problem::BadWeight { text: token.shown() }))
}

/// An initial prediction shifts the score of its row, which no learner here takes into account.
fn refuse_base(token: Token<'_>) -> Result<(), ReadError> {
    match number::parse::<f64>(token.bytes) {
        Some(0.0) => Ok(()),
        Some(_) => Err(token.error(Problem::InitialPrediction { text: token.shown() })),
        None => Err(token.error(Problem::NotANumber { text: token.shown() })),
    }
}

#[inline]
fn read_value<V: Value>(token: Token<'_>, name: Token<'_>) -> Result<V, ReadError> {
    match number::parse::<V>(token.bytes) {
        Some(value) if value.wide().is_finite() => Ok(value),
        Some(_) => Err(token.error(Problem::NotFinite { text: token.shown() })),
        None if token.bytes.is_empty() => Err(token.error(Problem::NoValue { name: name.shown() })),
        None => Err(token.error(Problem::NotANumber { text: token.shown() })),
    }
}

#[inline]
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

/// The word that begins here, which may be empty.
#[inline]
fn token_at(line: &[u8], start: usize) -> Token<'_> {
    let rest = &line[start..];
    let end = rest.iter().position(|&b| is_space(b) || b == b'|').unwrap_or(rest.len());
    Token { bytes: &rest[..end], start }
}

fn next_token(head: &[u8], from: usize) -> Option<Token<'_>> {
    let start = from + head[from..].iter().position(|&b| !is_space(b))?;
    Some(token_at(head, start))
}
