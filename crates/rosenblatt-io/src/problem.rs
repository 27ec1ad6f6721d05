//! The ways in which data can be wrong, and what helps.

use thiserror::Error;

/// What is wrong with data.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what each field is")]
pub enum Problem {
    // Any file
    #[error("it changed while it was read")]
    Changed,
    #[error("there is no such file, and no embedded data set of that name")]
    NoSuchFile { embedded: String },
    #[error("cannot be read: {reason}")]
    Unreadable { reason: String },
    #[error("the gzip data is damaged: {reason}")]
    Gzip { reason: String },
    #[error("the zstd data is damaged: {reason}")]
    Zstd { reason: String },
    #[error("{consumed} compressed bytes became {size}, and there is more: that is a bomb, not data")]
    Bomb { consumed: usize, size: usize },
    #[error("it is too large for the memory: more than {size} bytes after decompression")]
    TooLarge { size: usize },
    #[error("a line is longer than {size} bytes, and there is no room for more; expected lines of text")]
    EndlessLine { size: usize },
    #[error("the class {label:?} is none of those announced: {known}")]
    NotAnnounced { label: String, known: String },
    #[error("this is not the input the checkpoint was made with")]
    OtherInput,
    #[error("this looks like {what}, not data")]
    NotData { what: &'static str },
    #[error("this byte is not UTF-8 text")]
    NotUtf8,
    #[error("it is empty")]
    Empty,
    #[error("expected a finite number, found {text:?}")]
    NotFinite { text: String },
    #[error("expected a number, found {text:?}")]
    NotANumber { text: String },

    // LIBSVM text
    #[error("expected a label, found {found:?}")]
    ExpectedLabel { found: String },
    #[error("expected index:value, found {found:?}")]
    ExpectedPair { found: String },
    #[error("there is no value after {index}:")]
    ExpectedValue { index: u64 },
    #[error("the index 0: indices start at 1")]
    IndexZero,
    #[error("the index {index} is above {}", u32::MAX)]
    IndexTooLarge { index: String },
    #[error("the index {index} is above {count}, the number of features the model has")]
    IndexBeyondModel { index: u64, count: usize },
    #[error("the index {index} appears twice in this line")]
    IndexTwice { index: u64 },
    #[error("the index {index} comes after {before}; indices must ascend")]
    IndexDescends { index: u64, before: u64 },
    #[error("no line has a feature")]
    NoFeatures,
    #[error("`{option}` is for tables, and this is {what}")]
    OnlyForTables { option: &'static str, what: &'static str },

    // Features with names
    #[error("the features have numbers in the model: expected one from 1, found {found:?}")]
    ExpectedNumber { found: String },
    #[error("the feature {name:?} appears twice")]
    FeatureTwice { name: String },
    #[error("names cannot be hashed into 2^{bits} columns: expected 1 to 31 bits")]
    HashBits { bits: u8 },
    #[error("`--hash` is for features with names, and this is {what}")]
    HashWithoutNames { what: &'static str },
    #[error("the model hashes the names of its features, and this is {what}, which has none")]
    ModelOfHashes { what: &'static str },
    #[error("the features have names in the model ({names}), and numbers in {what}")]
    ModelOfNames { what: &'static str, names: String },
    #[error("the values of {name:?} add up to more than there are numbers for")]
    SumNotFinite { name: String },

    // Vowpal Wabbit text
    #[error("expected `|` and features, found the end of the line")]
    NoBar,
    #[error("expected `|`, found {found:?}")]
    ExpectedBar { found: String },
    #[error("{found:?} touches the `|`, which makes it a tag; the label is missing")]
    LabelIsTag { found: String },
    #[error("expected a name, found {found:?}")]
    NoName { found: String },
    #[error("there is no value after {name}:")]
    NoValue { name: String },
    #[error("an initial prediction of {text} has no meaning here")]
    InitialPrediction { text: String },

    // JSON lines
    #[error("this is not JSON of features: {reason}")]
    Json { reason: String },
    #[error("there is no field {name:?}")]
    NoField { name: String },
    #[error("no line has a field {name:?}")]
    NoSuchField { name: String },
    #[error("the field appears twice")]
    FieldTwice,
    #[error("found {found} in a field of {before}")]
    MixedField { found: &'static str, before: &'static str },
    #[error("an array of features holds numbers only")]
    NotInArray,
    #[error("expected a number, a text or a boolean as label, found {found}")]
    NotALabel { found: &'static str },

    // IDX images
    #[error("expected an IDX file that begins with {expected}, found {found}")]
    IdxMagic { found: String, expected: String },
    #[error("expected {expected} bytes by its header, found {found}")]
    IdxLength { expected: usize, found: usize },
    #[error("the name of the file does not tell where the labels are")]
    IdxName,
    #[error("the labels, expected in {file}: {reason}")]
    IdxLabels { file: String, reason: String },
    #[error("{labels} labels for {images} images")]
    IdxCounts { images: usize, labels: usize },

    // Parquet
    #[error("this build does not read Parquet")]
    NoParquet,
    #[error("the Parquet data is damaged: {reason}")]
    Parquet { reason: String },
    #[error("it is encrypted, which is not read")]
    ParquetEncrypted,
    #[error("it is compressed with {codec}, which is not read")]
    ParquetCodec { codec: &'static str },
    #[error("expected numbers, booleans or texts, found {found}")]
    ColumnType { found: String, column: String },

    // Tables
    #[error("what the columns of a table hold is seen only at its end, and this one is to be read once")]
    TableOnce,
    #[error("there is a header, but no row")]
    OnlyHeader,
    #[error("expected {expected} cell{} as in the first row, found {found}", if *.expected == 1 { "" } else { "s" })]
    CellCount { expected: usize, found: usize },
    #[error("a quoted cell begins here and never ends")]
    OpenQuote,
    #[error("a quoted cell begins here, and more text follows its end")]
    TextAfterQuote,
    #[error("the name {name:?} is also that of column {first}")]
    DuplicateColumn { name: String, first: usize },
    #[error("there is no column {asked:?}; the columns are {known}")]
    UnknownColumn { asked: String, known: String },
    #[error("the column {name:?} cannot be {one} and {other}")]
    TwoRoles { name: String, one: &'static str, other: &'static str },
    #[error("no column is left to learn from")]
    NoFeatureColumns { columns: usize },
    #[error("the value is missing ({text:?})")]
    MissingCell { text: String, column: String, among_texts: bool },
    #[error("the label is missing ({text:?})")]
    MissingLabel { text: String, column: String },
    #[error("found {text:?} in a column of {}", if *.mostly_numbers { "numbers" } else { "texts" })]
    MixedColumn { text: String, column: String, mostly_numbers: bool },
    #[error("expected a number, found {text:?}")]
    CommaInNumber { text: String, column: String },
    #[error("expected a weight from 0 to {}, found {text:?}", rosenblatt::Dataset::LARGEST_WEIGHT)]
    BadWeight { text: String },
    #[error("{distinct} distinct labels in {rows} rows: that looks like {like}, not like classes")]
    NoClasses { distinct: usize, rows: usize, like: &'static str },

    // Texts
    #[error("a text becomes n-grams of words or of characters, and neither is asked for")]
    NoNgrams,
    #[error("the texts of {name:?} are all empty: there is not one word in them")]
    EmptyTexts { name: String },
    #[error("no n-gram of the text {name:?} is in {min_rows} rows or more")]
    RareNgrams { name: String, min_rows: usize },
    #[error("texts are weighted by how many rows have them, so all rows must be read first")]
    TextsInStream,
    #[error("`--hash` keeps no names, by which the n-grams of texts are known")]
    HashedTexts,
    #[error("expected a text, found {found}")]
    NotAText { found: &'static str },

    // Tables for a model
    #[error("{text:?} is not a level the model knows: {levels}")]
    UnknownLevel { text: String, levels: String },
    #[error("the model expects a column {name:?}, which is not there")]
    MissingColumn { name: String },
    #[error("the model does not know a column {name:?}")]
    ExtraColumn { name: String },
    #[error("the column {name:?} is a feature of the model and cannot be left out")]
    DroppedFeature { name: String },
    #[error("found {found} columns, expected {expected}")]
    ColumnCount { expected: String, found: usize },
    #[error("these are {found} features, and the model expects {expected}")]
    OtherFeatures { found: String, expected: String },

    // Labels
    #[error("there are no labels")]
    NoLabels,
    #[error("all rows have the class {class:?}; a classifier needs at least two classes")]
    OneClass { class: String },
    #[error("the class {label:?} is not one the model knows: {known}")]
    UnknownClass { label: String, known: String },
    #[error("{0}")]
    Data(String),
}

impl Problem {
    /// What may be done about it.
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Problem::NoParquet => {
                "build it with the feature `parquet` (on by default), or save the table as CSV".into()
            }
            Problem::ParquetCodec { .. } => {
                "write it with Zstandard, Snappy, gzip, LZ4_RAW or without compression".into()
            }
            Problem::ColumnType { column, .. } => {
                format!("leave the column out with `--drop {}`", word(column))
            }
            Problem::NoSuchFile { embedded } => format!("the embedded data sets are {embedded}"),
            Problem::NotAnnounced { .. } => "name all classes there will be with --classes".into(),
            Problem::OtherInput => "give the same data as before, or start anew without --resume".into(),
            Problem::NotData { what: "UTF-16 text" } => "save it as UTF-8".into(),
            Problem::NotData { what: "labels of images" } => "name the file of the images".into(),
            Problem::LabelIsTag { .. } => "leave a space before the `|`".into(),
            Problem::InitialPrediction { .. } => "remove the third number, or write 0".into(),
            Problem::NoName { .. } => "a colon stands between a name and its value".into(),
            Problem::NoField { .. } => {
                "fill the field or remove the line; `--label FIELD` names another label".into()
            }
            Problem::MixedField { .. } => {
                "write it alike in every line, or leave it out with `--drop FIELD`".into()
            }
            Problem::NotInArray => "write texts as fields of an object".into(),
            Problem::HashWithoutNames { .. } => {
                "leave it out, or write the data as Vowpal Wabbit text or JSON lines".into()
            }
            Problem::ModelOfHashes { .. } | Problem::ModelOfNames { .. } => {
                "give it Vowpal Wabbit text or JSON lines with the names it was trained on".into()
            }
            Problem::IdxName => {
                "name the images ….images-idx3-ubyte and the labels ….labels-idx1-ubyte, in one folder".into()
            }
            Problem::NotData { what: "a model file" } => {
                "this place is for data; where a command takes both, the model comes first".into()
            }
            Problem::UnknownLevel { .. } => {
                "train on rows that have this value, or leave the column out when training (`--drop`)".into()
            }
            Problem::UnknownClass { .. } => "mend the label, or train on rows of this class".into(),
            Problem::OneClass { .. } => {
                "add rows of another class, or choose another `--label COLUMN`".into()
            }
            Problem::NotUtf8 => "save the file as UTF-8".into(),
            Problem::IndexZero => {
                "add 1 to every index of the file; rows that begin with their number (`0:1`) are for --kernel precomputed".into()
            }
            Problem::IndexBeyondModel { count, .. } => {
                format!("train on data that has this feature, or remove features above {count}")
            }
            Problem::IndexTwice { .. } | Problem::IndexDescends { .. } => {
                "sort the pairs of each line by index and keep each index once".into()
            }
            Problem::ExpectedLabel { .. } => {
                "start each line with the label, such as 0 where it is unknown".into()
            }
            Problem::CellCount { .. } => {
                "mend the row, and remove lines that are not part of the table".into()
            }
            Problem::NoFeatureColumns { columns: 1 } => {
                "separate the cells of a row by commas, semicolons or tabs".into()
            }
            Problem::MissingCell { text, column, among_texts: true } => {
                let column = word(column);
                format!(
                    "fill the cell (`--impute mean` does), remove the row, take {text:?} as a category with `--categorical {column}`, or leave the column out with `--drop {column}`"
                )
            }
            Problem::MissingCell { column, .. } => {
                format!(
                    "fill the cell (`--impute mean` does), remove the row, or leave the column out with `--drop {}`",
                    word(column)
                )
            }
            Problem::MissingLabel { text, column } if text.is_empty() || column.is_empty() => {
                "fill the label or remove the row".into()
            }
            Problem::MissingLabel { column, .. } => format!(
                "fill the label or remove the row; if it is a class, say so with `--categorical {}`",
                word(column)
            ),
            Problem::MixedColumn { column, .. } => {
                format!(
                    "fix the cell, or take the column as categories with `--categorical {}`",
                    word(column)
                )
            }
            Problem::CommaInNumber { column, .. } => format!(
                "write decimals with a point and no thousands separator, or take the column as categories with `--categorical {}`",
                word(column)
            ),
            Problem::NoClasses { .. } => "name the column of the classes with `--label COLUMN`".into(),
            Problem::MissingColumn { .. } => "the columns must be those the model was trained on".into(),
            Problem::ExtraColumn { name } => {
                let name = word(name);
                format!(
                    "leave it out with `--drop {name}`, or, if it holds the classes, use `--label {name}`"
                )
            }
            Problem::NoNgrams => "give lengths such as `--words 1..2` or `--chars 3..5`".into(),
            Problem::EmptyTexts { name } => format!("leave it out with `--drop {}`", word(name)),
            Problem::RareNgrams { .. } => "lower `--min-rows`".into(),
            Problem::Changed => "read it again once nobody writes to it".into(),
            Problem::TableOnce => {
                "give a plain file, uncompressed, leave out `--once`, or write the rows as JSON lines".into()
            }
            Problem::TextsInStream => {
                "leave out `--stream`, and `--checkpoint`, `--resume` and `--once`, which mean it, too".into()
            }
            Problem::HashedTexts => "leave out `--hash` or `--text`".into(),
            Problem::NoLabels => "name the column of the classes with `--label COLUMN`".into(),
            Problem::OpenQuote | Problem::TextAfterQuote => {
                "close the quotation mark, or double it where it belongs to the text".into()
            }
            _ => return None,
        })
    }
}

/// A name as a shell would need it.
fn word(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    match !name.is_empty() && name.chars().all(plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', "'\\''")),
    }
}

/// A piece of the file for a message: long ones are cut.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The same for bytes that need not be text.
pub(crate) fn excerpt_bytes(bytes: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(&bytes[..bytes.len().min(400)]))
}

/// "a, b, c", cut where there are many.
pub(crate) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    const MOST: usize = 12;
    let mut list = names.iter().take(MOST).map(|name| excerpt(name.as_ref())).collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        list.push_str(&format!(", … ({} in all)", names.len()));
    }
    list
}
