//! How to read.

use rosenblatt::{Features, NgramRange};

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
    /// Columns of a table or fields of JSON lines that hold texts, and what becomes of them.
    pub text: TextOptions,
    /// The column of a table or the field of JSON lines that holds sample weights.
    pub weight: Option<String>,
    /// The type of the features; `None`: `f64` for tables and JSON lines, `f32` for all else.
    pub precision: Option<Precision>,
    /// Hashes the names of features into 2^hash columns, 1 to 31, instead of giving each a column of its own; for Vowpal Wabbit text and
    /// JSON lines. Models remember it.
    pub hash: Option<u8>,
    /// The data are precomputed kernel values: a row of LIBSVM text may begin with its number, `0:1`, as LIBSVM has it.
    pub precomputed: bool,
    /// Cells of a table may be missing, and are NaN then; a model that fills them in allows it, too.
    pub missing: bool,
    /// What a model expects: the data is read into exactly these features.
    pub features: Option<Features>,
}

/// Which columns hold texts, and how texts become features ([`rosenblatt::TextColumn`] has the formula).
///
/// A word is a run of letters, digits and inner apostrophes, in lower case, of two characters or more. N-grams of characters
/// lie within what spaces part, one space on either side included.
///
/// ```
/// use rosenblatt_io::{ReadOptions, TextOptions, parse};
/// let text = TextOptions { columns: vec!["body".into()], min_rows: 1, ..Default::default() };
/// let options = ReadOptions { text, ..Default::default() };
/// let table = parse(b"body,class\nFree money!,spam\nhello money,ham\n", "mails.csv", &options)?;
/// let names = table.features.names.unwrap();
/// assert_eq!(names, ["body:free", "body:free money", "body:hello", "body:hello money", "body:money"]);
/// # Ok::<(), rosenblatt_io::ReadError>(())
/// ```
#[derive(Clone, Debug)]
pub struct TextOptions {
    /// The columns, by name or number, or fields; none: there are no texts.
    pub columns: Vec<String>,
    /// Lengths of n-grams of words.
    pub words: NgramRange,
    /// Lengths of n-grams of characters.
    pub chars: NgramRange,
    /// N-grams in fewer rows are left out.
    pub min_rows: usize,
}

impl Default for TextOptions {
    fn default() -> Self {
        let words = NgramRange::new(1, 2).unwrap_or(NgramRange::NONE);
        TextOptions { columns: Vec::new(), words, chars: NgramRange::NONE, min_rows: 2 }
    }
}

impl TextOptions {
    pub(crate) fn check(&self) -> Result<(), Problem> {
        match !self.columns.is_empty() && self.words.is_none() && self.chars.is_none() {
            true => Err(Problem::NoNgrams),
            false => Ok(()),
        }
    }
}

impl ReadOptions {
    /// Whether cells may be missing.
    pub(crate) fn allows_missing(&self) -> bool {
        self.missing || self.features.as_ref().is_some_and(|features| features.filled.is_some())
    }

    /// Options that choose columns must not be passed over in silence where there are none.
    pub(crate) fn refuse_columns(&self, what: &'static str) -> Result<(), ReadError> {
        let given = [
            ("--label", self.label.is_some()),
            ("--weight", self.weight.is_some()),
            ("--drop", !self.drop.is_empty()),
            ("--categorical", !self.categorical.is_empty()),
            ("--text", !self.text.columns.is_empty()),
        ];
        match given.into_iter().find(|&(_, is_given)| is_given) {
            Some((option, _)) => Err(Problem::OnlyForTables { option, what }.into()),
            None => Ok(()),
        }
    }
}
