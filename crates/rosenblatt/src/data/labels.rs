//! Labels as they were written, and the sorted classes they name.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use super::DataError;

/// The name of a class: a number or a text.
///
/// ```
/// use rosenblatt::Class;
/// assert_eq!(Class::Number(1.0).to_string(), "1");
/// assert!(Class::Number(-1.0) < Class::Number(1.0));
/// assert!(Class::Text("ham".into()) < Class::Text("spam".into()));
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Class {
    /// A numeric label; `+1`, `1` and `1.0` are the same class.
    Number(f64),
    /// Any other label.
    Text(String),
}

impl Class {
    /// Whether a label as written in a file means this class.
    pub fn is_written(&self, label: &str) -> bool {
        match self {
            Class::Number(value) => parse_number(label) == Some(*value),
            Class::Text(text) => text == label,
        }
    }
}

impl Serialize for Class {
    /// Whole numbers are written without a fraction.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Class::Number(value) if value.fract() == 0.0 && value.abs() < 2f64.powi(53) => {
                serializer.serialize_i64(*value as i64)
            }
            Class::Number(value) => serializer.serialize_f64(*value),
            Class::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Number(value) => f.pad(&value.to_string()),
            Class::Text(text) => f.pad(text),
        }
    }
}

impl Ord for Class {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Class::Number(a), Class::Number(b)) => a.total_cmp(b),
            (Class::Text(a), Class::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Class::Number(_), Class::Text(_)) => Ordering::Less,
            (Class::Text(_), Class::Number(_)) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Class {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Class {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Class {}

impl From<f64> for Class {
    fn from(value: f64) -> Self {
        Class::Number(value + 0.0) // −0 becomes 0
    }
}

impl From<&str> for Class {
    /// A number if the text is one.
    fn from(text: &str) -> Self {
        parse_number(text).map_or_else(|| Class::Text(text.to_owned()), Class::Number)
    }
}

/// The finite number a label is, if it is one; −0 counts as 0. Longer ones than a double can tell apart are texts.
fn parse_number(text: &str) -> Option<f64> {
    const EXACT_DIGITS: usize = 15;
    if text.bytes().filter(u8::is_ascii_digit).count() > EXACT_DIGITS {
        return None;
    }
    text.trim().parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| value + 0.0)
}

/// Distinct classes in class order: numbers by value, texts by byte order; only models of other programs may have their own ([`ordered`](Classes::ordered)). In a binary problem the second is +1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Classes(Vec<Class>);

impl Classes {
    /// Sorts and removes repetitions.
    pub fn new(mut classes: Vec<Class>) -> Self {
        classes.sort();
        classes.dedup();
        Classes(classes)
    }

    /// Distinct classes in an order of their own, which is what breaks ties in models of other programs; nothing if one is there twice.
    ///
    /// ```
    /// use rosenblatt::{Class, Classes};
    /// let classes = Classes::ordered(vec![Class::from(3.0), Class::from(1.0), Class::from(2.0)]);
    /// assert_eq!(classes.map(|classes| classes.listed()), Some("3, 1, 2".to_owned()));
    /// assert_eq!(Classes::ordered(vec![Class::from(3.0), Class::from(3.0)]), None);
    /// ```
    pub fn ordered(classes: Vec<Class>) -> Option<Self> {
        let distinct = Classes::new(classes.clone()).len() == classes.len();
        distinct.then_some(Classes(classes))
    }

    /// Whether they are in class order, as those of all models are that were learned here.
    pub fn is_sorted(&self) -> bool {
        self.0.is_sorted()
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The classes in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Class> {
        self.0.iter()
    }

    /// The class with this number.
    pub fn get(&self, id: usize) -> Option<&Class> {
        self.0.get(id)
    }

    /// The number of the class a label names.
    pub fn find(&self, label: &str) -> Option<usize> {
        self.0.iter().position(|class| class.is_written(label))
    }

    /// The number of a class, which is added at its place in the order if it is new.
    pub(crate) fn insert(&mut self, class: Class) -> (usize, bool) {
        match self.0.binary_search(&class) {
            Ok(at) => (at, false),
            Err(at) => {
                self.0.insert(at, class);
                (at, true)
            }
        }
    }

    /// "a, b, c", shortened in the middle when there are many.
    pub fn listed(&self) -> String {
        let names: Vec<String> = self.iter().map(Class::to_string).collect();
        match names.len() {
            0..=12 => names.join(", "),
            n => format!("{}, … ({n} classes) …, {}", names[..5].join(", "), names[n - 1]),
        }
    }
}

impl std::ops::Index<usize> for Classes {
    type Output = Class;
    fn index(&self, id: usize) -> &Class {
        &self.0[id]
    }
}

/// One label per row as it was written, each distinct text kept once.
///
/// ```
/// use rosenblatt::Labels;
/// let labels = Labels::new(["spam", "ham", "spam"]);
/// let (classes, y) = labels.encode();
/// assert_eq!(classes.listed(), "ham, spam");
/// assert_eq!(y, [1, 0, 1]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    texts: Vec<String>,
    ids: Vec<u32>,
    known: HashMap<String, u32>,
}

impl Labels {
    /// Labels row by row.
    pub fn new<S: AsRef<str>>(labels: impl IntoIterator<Item = S>) -> Self {
        let mut all = Labels::default();
        labels.into_iter().for_each(|label| all.push(label.as_ref()));
        all
    }

    /// The next row's label.
    #[inline]
    pub fn push(&mut self, label: &str) {
        let id = self.intern(label);
        self.ids.push(id);
    }

    /// Few labels are found faster by looking than by hashing.
    #[inline]
    fn intern(&mut self, label: &str) -> u32 {
        const FEW: usize = 4;
        if let Some(id) = self.texts.iter().take(FEW).position(|text| text == label) {
            return id as u32;
        }
        if let Some(&id) = self.known.get(label) {
            return id;
        }
        let id = self.texts.len() as u32;
        self.texts.push(label.to_owned());
        self.known.insert(label.to_owned(), id);
        id
    }

    /// The labels of rows that follow.
    pub fn append(&mut self, other: &Labels) {
        let ids: Vec<u32> = other.texts.iter().map(|text| self.intern(text)).collect();
        self.ids.extend(other.ids.iter().map(|&id| ids[id as usize]));
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The label of a row as written.
    pub fn text(&self, row: usize) -> &str {
        &self.texts[self.ids[row] as usize]
    }

    /// The number of each row's label among the [`distinct`](Labels::distinct) ones.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The distinct labels in order of appearance.
    pub fn distinct(&self) -> &[String] {
        &self.texts
    }

    /// Classes in class order, and each row's class. All labels are numbers, or all are taken as texts.
    pub fn encode(&self) -> (Classes, Vec<u32>) {
        let numbers: Option<Vec<f64>> = self.texts.iter().map(|text| parse_number(text)).collect();
        let named: Vec<Class> = match numbers {
            Some(values) => values.into_iter().map(Class::Number).collect(),
            None => self.texts.iter().cloned().map(Class::Text).collect(),
        };
        let classes = Classes::new(named.clone());
        let class_of: Vec<u32> =
            named.iter().map(|class| classes.0.binary_search(class).unwrap_or_default() as u32).collect();
        let y = self.ids.iter().map(|&id| class_of[id as usize]).collect();
        (classes, y)
    }

    /// Each row's class among classes given, or the first row whose label names none of them.
    pub fn encode_as(&self, classes: &Classes) -> Result<Vec<u32>, DataError> {
        let class_of: Vec<Option<usize>> = self.texts.iter().map(|text| classes.find(text)).collect();
        let class = |(row, &id): (usize, &u32)| {
            class_of[id as usize].map(|class| class as u32).ok_or_else(|| DataError::UnknownClass {
                row,
                label: self.texts[id as usize].clone(),
                known: classes.listed(),
            })
        };
        self.ids.iter().enumerate().map(class).collect()
    }
}
