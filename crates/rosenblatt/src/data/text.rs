//! How texts become features.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Features;

/// How many words or characters an n-gram has; `0` means that there are none.
///
/// ```
/// use rosenblatt::NgramRange;
/// let range: NgramRange = "1..2".parse()?;
/// assert_eq!((range.lengths(), range.to_string()), (1..=2, "1..2".to_owned()));
/// assert!("0".parse::<NgramRange>()?.is_none());
/// assert!("2..1".parse::<NgramRange>().is_err());
/// # Ok::<(), rosenblatt::NotARange>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NgramRange {
    shortest: usize,
    longest: usize,
}

/// Why a text is not a range of lengths.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected lengths such as 1..2, 3 or 0 for none, up to {}", NgramRange::LONGEST)]
pub struct NotARange;

impl NgramRange {
    /// No n-grams at all.
    pub const NONE: NgramRange = NgramRange { shortest: 0, longest: 0 };
    /// Longer ones hardly occur twice, and cost as much as they are long.
    pub const LONGEST: usize = 32;

    /// From the shortest length to the longest, both included.
    pub fn new(shortest: usize, longest: usize) -> Result<Self, NotARange> {
        match (1..=longest).contains(&shortest) && longest <= Self::LONGEST {
            true => Ok(NgramRange { shortest, longest }),
            false => Err(NotARange),
        }
    }

    /// Whether there are no n-grams.
    pub fn is_none(self) -> bool {
        self.longest == 0
    }

    /// The lengths; none where there are no n-grams.
    pub fn lengths(self) -> RangeInclusive<usize> {
        self.shortest.max(1)..=self.longest
    }
}

impl FromStr for NgramRange {
    type Err = NotARange;
    fn from_str(text: &str) -> Result<Self, NotARange> {
        let length = |text: &str| text.parse::<usize>().map_err(|_| NotARange);
        match text.split_once("..") {
            None if text == "0" => Ok(Self::NONE),
            None => Self::new(length(text)?, length(text)?),
            Some((shortest, longest)) => Self::new(length(shortest)?, length(longest)?),
        }
    }
}

impl fmt::Display for NgramRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shortest == self.longest {
            true => write!(f, "{}", self.longest),
            false => write!(f, "{}..{}", self.shortest, self.longest),
        }
    }
}

impl TryFrom<String> for NgramRange {
    type Error = NotARange;
    fn try_from(text: String) -> Result<Self, NotARange> {
        text.parse()
    }
}

impl From<NgramRange> for String {
    fn from(range: NgramRange) -> String {
        range.to_string()
    }
}

/// What an n-gram is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NgramKind {
    /// Words that follow each other, a space between them: `body:free money`.
    Words,
    /// Characters of one word and the spaces around it: `body~"ree"`.
    Chars,
}

/// The text of a table's column or of a JSON field as features: the weights of its n-grams.
///
/// An n-gram that occurs `count` times in a row weighs `count·idf`, idf = ln((1 + rows)/(1 + frequency)) + 1, and the
/// weights of a row are scaled to unit Euclidean length (Salton and Buckley 1988, "Term-weighting approaches in automatic text
/// retrieval"; idf smoothed as if one more row had every n-gram). The n-grams themselves are the names of the features.
///
/// ```
/// use rosenblatt::{NgramKind, NgramRange, TextColumn};
/// let column = TextColumn {
///     name: "body".into(),
///     first: 0,
///     words: NgramRange::new(1, 2)?,
///     chars: NgramRange::NONE,
///     rows: 3,
///     frequencies: vec![3, 1],
/// };
/// assert_eq!(column.idf(), [1.0, 2f64.ln() + 1.0]);
/// assert_eq!(column.feature_name(NgramKind::Words, "free money"), "body:free money");
/// assert_eq!(column.ngram("body:free money"), Some((NgramKind::Words, "free money")));
/// # Ok::<(), rosenblatt::NotARange>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextColumn {
    /// The column or the field.
    pub name: String,
    /// The first of its features, which are one after another: n-grams of words first, each kind sorted by bytes.
    pub first: usize,
    /// Lengths of n-grams of words.
    pub words: NgramRange,
    /// Lengths of n-grams of characters.
    pub chars: NgramRange,
    /// How many rows were learned from.
    pub rows: u64,
    /// How many of them have each n-gram.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frequencies: Vec<u64>,
}

impl TextColumn {
    /// How much each n-gram tells: the rarer, the more.
    pub fn idf(&self) -> Vec<f64> {
        let idf = |&frequency: &u64| ((1.0 + self.rows as f64) / (1.0 + frequency as f64)).ln() + 1.0;
        self.frequencies.iter().map(idf).collect()
    }

    /// The feature of an n-gram.
    pub fn feature_name(&self, kind: NgramKind, ngram: &str) -> String {
        match kind {
            NgramKind::Words => format!("{}:{ngram}", self.name),
            NgramKind::Chars => format!("{}~\"{ngram}\"", self.name),
        }
    }

    /// The n-gram of one of its features.
    pub fn ngram<'a>(&self, feature_name: &'a str) -> Option<(NgramKind, &'a str)> {
        let rest = feature_name.strip_prefix(&self.name)?;
        let words = rest.strip_prefix(':').map(|ngram| (NgramKind::Words, ngram));
        let chars = || Some((NgramKind::Chars, rest.strip_prefix("~\"")?.strip_suffix('"')?));
        words.or_else(chars)
    }
}

impl Features {
    /// Whether the text columns have features of their own that are n-grams of theirs; if not, what is wrong.
    ///
    /// ```
    /// use rosenblatt::Features;
    /// assert_eq!(Features { count: 3, ..Default::default() }.check_texts(), Ok(()));
    /// ```
    pub fn check_texts(&self) -> Result<(), String> {
        if self.hash.is_some() && !self.texts.is_empty() {
            return Err("names that are hashed cannot be n-grams of texts".to_owned());
        }
        let names = self.names.as_deref().unwrap_or_default();
        let mut free = 0;
        for text in &self.texts {
            let of_text = free.max(text.first)..text.first.saturating_add(text.frequencies.len());
            let ngrams = names.get(of_text.clone()).unwrap_or_default();
            if of_text.start != text.first || ngrams.is_empty() {
                return Err(format!("the text {:?} has no features of its own", text.name));
            }
            if ngrams.iter().any(|name| text.ngram(name).is_none()) {
                return Err(format!("a feature of the text {:?} is not an n-gram of it", text.name));
            }
            if text.frequencies.iter().any(|rows| !(1..=text.rows).contains(rows)) {
                return Err(format!(
                    "the text {:?} has n-grams in more rows than there are, or in none",
                    text.name
                ));
            }
            free = of_text.end;
        }
        self.check_roles()
    }

    /// The schema and the text columns must tell the same.
    fn check_roles(&self) -> Result<(), String> {
        let Some(schema) = &self.schema else { return Ok(()) };
        let mut first = 0;
        let mut told = Vec::new();
        for column in &schema.columns {
            if let super::Role::Text { features } = column.role {
                told.push((column.name.as_str(), first, features));
            }
            first = column.width().saturating_add(first);
        }
        let is_told = self.texts.iter().map(|text| (text.name.as_str(), text.first, text.frequencies.len()));
        match told.into_iter().eq(is_told) {
            true => Ok(()),
            false => Err("the table's columns and its texts disagree".to_owned()),
        }
    }
}
