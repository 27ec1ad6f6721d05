//! The formats data may have.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A format of data.
///
/// ```
/// use rosenblatt_io::Format;
/// assert_eq!("libsvm".parse(), Ok(Format::Libsvm));
/// assert_eq!(Format::Tsv.to_string(), "tsv");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Format {
    /// `label index:value …`, a row a line.
    Libsvm,
    /// Cells separated by commas (or semicolons).
    Csv,
    /// Cells separated by tabs.
    Tsv,
    /// `label |namespace feature:value …`, a row a line.
    Vw,
    /// A JSON object a line.
    Jsonl,
    /// Images, a byte a pixel, with their labels in a second file.
    Idx,
    /// Typed columns, compressed; read by builds with the feature `parquet`.
    Parquet,
}

/// What the registry says about a format.
#[derive(Clone, Copy, Debug)]
pub struct FormatRow {
    /// The format.
    pub format: Format,
    /// Its name on the command line.
    pub name: &'static str,
    /// File extensions that mean it.
    pub extensions: &'static [&'static str],
    /// One line about it.
    pub summary: &'static str,
}

/// All formats that are read.
///
/// ```
/// use rosenblatt_io::FORMATS;
/// assert!(FORMATS.iter().any(|row| row.name == "csv" && row.extensions.contains(&"csv")));
/// ```
pub const FORMATS: &[FormatRow] = &[
    FormatRow {
        format: Format::Libsvm,
        name: "libsvm",
        extensions: &["libsvm", "svm", "svmlight"],
        summary: "LIBSVM and SVMlight text: a label, then index:value pairs, indices from 1",
    },
    FormatRow {
        format: Format::Csv,
        name: "csv",
        extensions: &["csv"],
        summary: "comma-separated table (or semicolons, or single spaces), with or without a header",
    },
    FormatRow {
        format: Format::Tsv,
        name: "tsv",
        extensions: &["tsv", "tab"],
        summary: "tab-separated table, with or without a header",
    },
    FormatRow {
        format: Format::Vw,
        name: "vw",
        extensions: &["vw"],
        summary: "Vowpal Wabbit text: a label, an importance, then namespaces of named features",
    },
    FormatRow {
        format: Format::Jsonl,
        name: "jsonl",
        extensions: &["jsonl", "ndjson"],
        summary: "JSON lines: an object a line, numbers as features, texts as categories",
    },
    FormatRow {
        format: Format::Idx,
        name: "idx",
        extensions: &["idx3-ubyte"],
        summary: "IDX images as of MNIST; the labels are in labels-idx1 beside images-idx3",
    },
    FormatRow {
        format: Format::Parquet,
        name: "parquet",
        extensions: &["parquet"],
        summary: "Parquet table: numbers and booleans as features, texts as categories",
    },
];

impl Format {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        FORMATS.iter().find(|row| row.format == self).map_or("", |row| row.name)
    }

    /// The format a file name promises, compressed or not.
    pub(crate) fn of_name(name: &str) -> Option<Format> {
        let name = name.to_ascii_lowercase();
        let plain = [".gz", ".zst"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(&name);
        let (_, extension) = plain.rsplit_once('.')?;
        FORMATS.iter().find(|row| row.extensions.contains(&extension)).map(|row| row.format)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is none of those offered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name:?} is not one of {known}")]
pub struct UnknownName {
    name: String,
    known: String,
}

impl UnknownName {
    pub(crate) fn new(name: &str, known: impl IntoIterator<Item = &'static str>) -> Self {
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        UnknownName { name: name.to_owned(), known }
    }
}

impl FromStr for Format {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let row = FORMATS.iter().find(|row| row.name == name);
        row.map(|row| row.format).ok_or_else(|| UnknownName::new(name, FORMATS.iter().map(|row| row.name)))
    }
}

/// The floating-point type features are kept in.
///
/// ```
/// use rosenblatt_io::Precision;
/// assert_eq!("f32".parse(), Ok(Precision::F32));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Precision {
    /// 32 bits.
    F32,
    /// 64 bits.
    F64,
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        })
    }
}

impl FromStr for Precision {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        match name {
            "f32" => Ok(Precision::F32),
            "f64" => Ok(Precision::F64),
            _ => Err(UnknownName::new(name, ["f32", "f64"])),
        }
    }
}
