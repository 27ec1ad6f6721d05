//! Lines of words with their numbers.

use std::fmt::Display;
use std::str::FromStr;

use super::ForeignError;

/// What is left of a text.
pub(super) struct Lines<'a> {
    lines: std::str::Lines<'a>,
    /// Of the line read last.
    pub(super) number: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Lines { lines: text.lines(), number: 0 }
    }

    /// The next line that is not blank.
    pub(super) fn next(&mut self) -> Option<&'a str> {
        loop {
            let line = self.lines.next()?;
            self.number += 1;
            if !line.trim().is_empty() {
                return Some(line);
            }
        }
    }

    /// So many lines were expected, and no more.
    pub(super) fn expect_end(&mut self, what: &str) -> Result<(), ForeignError> {
        match self.next() {
            None => Ok(()),
            Some(line) => Err(ForeignError::new(
                self.number,
                format!("expected the end after {what}, found {}", shown(line)),
            )),
        }
    }

    pub(super) fn cut_off(&self, expected: &str) -> ForeignError {
        let problem = format!("expected {expected}, found the end of the file");
        ForeignError::new(self.number.max(1), problem).hint("the file is cut off: copy it anew")
    }
}

/// What a file says before its numbers begin: a line for each of some known words.
pub(super) struct Header<'a> {
    fields: Vec<(&'a str, &'a str, u64)>,
    /// The line that ends it.
    end: u64,
}

impl<'a> Header<'a> {
    pub(super) fn read(lines: &mut Lines<'a>, known: &[&str], end: &str) -> Result<Self, ForeignError> {
        let mut fields: Vec<(&str, &str, u64)> = Vec::new();
        loop {
            let line = lines.next().ok_or_else(|| lines.cut_off(&format!("a line {end:?}")))?.trim();
            let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            if line == end {
                return Ok(Header { fields, end: lines.number });
            }
            if !known.contains(&word) {
                let problem = format!("expected {} or {end}, found {}", known.join(", "), shown(word));
                return Err(ForeignError::new(lines.number, problem));
            }
            if fields.iter().any(|(there, ..)| *there == word) {
                return Err(ForeignError::new(lines.number, format!("{word} is there twice")));
            }
            fields.push((word, rest.trim(), lines.number));
        }
    }

    fn field(&self, word: &str) -> Result<(&'a str, u64), ForeignError> {
        let found = self.fields.iter().find(|(there, ..)| *there == word);
        let missing = || ForeignError::new(self.end, format!("expected a line {word:?} above, found none"));
        found.map(|&(_, rest, line)| (rest, line)).ok_or_else(missing)
    }

    pub(super) fn text(&self, word: &str) -> Result<&'a str, ForeignError> {
        Ok(self.field(word)?.0)
    }

    pub(super) fn line(&self, word: &str) -> u64 {
        self.field(word).map_or(self.end, |(_, line)| line)
    }

    pub(super) fn error(&self, word: &str, problem: impl Into<String>) -> ForeignError {
        ForeignError::new(self.line(word), problem)
    }

    /// A whole number from `least` on.
    pub(super) fn count(&self, word: &str, least: usize) -> Result<usize, ForeignError> {
        let (text, line) = self.field(word)?;
        let count =
            text.parse::<usize>().ok().filter(|&count| count >= least && i32::try_from(count).is_ok());
        count.ok_or_else(|| {
            ForeignError::new(
                line,
                format!("{word}: expected a whole number from {least}, found {}", shown(text)),
            )
        })
    }

    pub(super) fn number(&self, word: &str) -> Result<f64, ForeignError> {
        let (text, line) = self.field(word)?;
        number(text, line)
    }

    /// So many numbers.
    pub(super) fn numbers(&self, word: &str, n: usize) -> Result<Vec<f64>, ForeignError> {
        let (text, line) = self.field(word)?;
        let numbers =
            text.split_whitespace().map(|word| number(word, line)).collect::<Result<Vec<_>, _>>()?;
        same(word, n, numbers.len(), line).map(|()| numbers)
    }

    /// A label a class: whole numbers, none of them twice.
    pub(super) fn labels(&self, n: usize) -> Result<Vec<f64>, ForeignError> {
        let (text, line) = self.field("label")?;
        let label = |word: &str| {
            let label = word.parse::<i32>().map(f64::from);
            label.map_err(|_| {
                ForeignError::new(line, format!("label: expected a whole number, found {}", shown(word)))
            })
        };
        let labels = text.split_whitespace().map(label).collect::<Result<Vec<_>, _>>()?;
        same("label", n, labels.len(), line)?;
        let mut sorted = labels.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(labels),
            Some(pair) => Err(ForeignError::new(line, format!("label: {} is there twice", pair[0]))),
        }
    }
}

/// As many as there should be.
pub(super) fn same(
    what: &str,
    expected: impl Display + Into<usize>,
    found: usize,
    line: u64,
) -> Result<(), ForeignError> {
    let (message, expected) =
        (format!("{what}: expected {expected} numbers, found {found}"), expected.into());
    if expected == found { Ok(()) } else { Err(ForeignError::new(line, message)) }
}

/// A finite number.
pub(super) fn number(word: &str, line: u64) -> Result<f64, ForeignError> {
    let number = f64::from_str(word).ok().filter(|number| number.is_finite());
    number.ok_or_else(|| ForeignError::new(line, format!("expected a finite number, found {}", shown(word))))
}

/// What was found, not too long.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}…", &text[..end]),
    }
}
