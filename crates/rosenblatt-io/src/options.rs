//! How to read.

use rosenblatt::Features;

use crate::{Format, Precision, Problem, ReadError};

/// What the reader is told; the default finds out by itself.
///
/// ```
/// use rosenblatt_io::{ReadOptions, parse};
/// let text = b"class,x,y\nno,1,2\nyes,3,4\n";
/// let options = ReadOptions { label: Some("class".into()), ..Default::default() };
/// let table = parse(text, "points.csv", &options)?;
/// assert_eq!(table.features.names.as_deref(), Some(&["x".to_string(), "y".to_string()][..]));
/// # Ok::<(), rosenblatt_io::ReadError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format; `None`: by extension, then by content.
    pub format: Option<Format>,
    /// The column of a table that holds the classes, by name or number from 1; `None`: the last. In JSON lines the
    /// field; `None`: `label`.
    pub label: Option<String>,
    /// Whether the first line of a table names its columns; `None`: detected.
    pub header: Option<bool>,
    /// Columns of a table to leave out, by name or number; fields of JSON lines.
    pub drop: Vec<String>,
    /// Columns of a table to take as categories even where they hold numbers.
    pub categorical: Vec<String>,
    /// The column of a table or the field of JSON lines that holds sample weights.
    pub weight: Option<String>,
    /// The type of the features; `None`: `f64` for tables and JSON lines, `f32` for all else.
    pub precision: Option<Precision>,
    /// Hashes the names of features into 2^hash columns, 1 to 31, instead of giving each a column of its own; for Vowpal Wabbit text and
    /// JSON lines. Models remember it.
    pub hash: Option<u8>,
    /// What a model expects: the data is read into exactly these features.
    pub features: Option<Features>,
}

impl ReadOptions {
    /// Options that choose columns must not be passed over in silence where there are none.
    pub(crate) fn refuse_columns(&self, what: &'static str) -> Result<(), ReadError> {
        let given = [
            ("--label", self.label.is_some()),
            ("--weight", self.weight.is_some()),
            ("--drop", !self.drop.is_empty()),
            ("--categorical", !self.categorical.is_empty()),
        ];
        match given.into_iter().find(|&(_, is_given)| is_given) {
            Some((option, _)) => Err(Problem::OnlyForTables { option, what }.into()),
            None => Ok(()),
        }
    }
}
