//! Words of a line.

use rosenblatt::Dataset;

use crate::builder::Value;
use crate::error::ReadError;
use crate::problem::excerpt_bytes;
use crate::{Problem, number};

/// A word of a line and the byte it starts at.
#[derive(Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) start: usize,
}

impl<'a> Token<'a> {
    /// The word that begins here, which may be empty.
    #[inline]
    pub(super) fn at(line: &'a [u8], start: usize) -> Token<'a> {
        let rest = &line[start..];
        let end = rest.iter().position(|&b| is_space(b) || b == b'|').unwrap_or(rest.len());
        Token { bytes: &rest[..end], start }
    }

    pub(super) fn next(head: &'a [u8], from: usize) -> Option<Token<'a>> {
        let start = from + head[from..].iter().position(|&b| !is_space(b))?;
        Some(Token::at(head, start))
    }

    pub(super) fn error(self, problem: Problem) -> ReadError {
        ReadError::new(problem).at_column(self.start + 1)
    }

    pub(super) fn shown(self) -> String {
        excerpt_bytes(self.bytes)
    }

    pub(super) fn end(self) -> usize {
        self.start + self.bytes.len()
    }

    pub(super) fn text(self) -> Result<&'a str, ReadError> {
        std::str::from_utf8(self.bytes)
            .map_err(|error| ReadError::new(Problem::NotUtf8).at_column(self.start + error.valid_up_to() + 1))
    }

    /// What stands before and after the first colon.
    #[inline]
    pub(super) fn split(self) -> (Token<'a>, Option<Token<'a>>) {
        match self.bytes.iter().position(|&b| b == b':') {
            None => (self, None),
            Some(colon) => {
                let start = self.start + colon + 1;
                let after = Token { bytes: &self.bytes[colon + 1..], start };
                (Token { bytes: &self.bytes[..colon], ..self }, Some(after))
            }
        }
    }

    pub(super) fn importance(self) -> Result<f64, ReadError> {
        let in_range = |weight: &f64| (0.0..=Dataset::LARGEST_WEIGHT).contains(weight);
        let weight = number::parse(self.bytes).filter(in_range);
        weight.ok_or_else(|| self.error(Problem::BadWeight { text: self.shown() }))
    }

    /// An initial prediction shifts the score of its row, which no learner here takes into account.
    pub(super) fn refuse_base(self) -> Result<(), ReadError> {
        match number::parse::<f64>(self.bytes) {
            Some(0.0) => Ok(()),
            Some(_) => Err(self.error(Problem::InitialPrediction { text: self.shown() })),
            None => Err(self.error(Problem::NotANumber { text: self.shown() })),
        }
    }

    /// The value of a name.
    pub(super) fn value<V: Value>(self, name: Token<'_>) -> Result<V, ReadError> {
        match number::parse::<V>(self.bytes) {
            Some(value) if value.wide().is_finite() => Ok(value),
            Some(_) => Err(self.error(Problem::NotFinite { text: self.shown() })),
            None if self.bytes.is_empty() => Err(self.error(Problem::NoValue { name: name.shown() })),
            None => Err(self.error(Problem::NotANumber { text: self.shown() })),
        }
    }
}

#[inline]
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}
