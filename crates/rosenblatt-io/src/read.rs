//! From a path, standard input, a name or bytes to a table.

use std::fs;
use std::io;
use std::path::Path;

use rosenblatt::{Features, Schema};

use crate::builder::Value;
use crate::compressed::decompress;
use crate::contents::Contents;
use crate::error::ReadError;
use crate::problem::listed;
use crate::{
    Embedded, Format, Hashing, Precision, Problem, ReadOptions, Table, idx, jsonl, libsvm, sniff, tabular, vw,
};

/// Reads data: a path, `-` for standard input, or the name of an embedded data set.
///
/// A path that exists wins over an embedded name.
///
/// ```
/// use rosenblatt_io::{ReadOptions, read};
/// let table = read("worked-1", &ReadOptions::default())?;
/// assert_eq!(table.origin, "worked-1 (embedded)");
/// let error = read("no/such.csv", &ReadOptions::default()).unwrap_err();
/// assert!(error.hint().unwrap().contains("iris"));
/// # Ok::<(), rosenblatt_io::ReadError>(())
/// ```
pub fn read(data: &str, options: &ReadOptions) -> Result<Table, ReadError> {
    if data == "-" {
        let origin = "standard input";
        let contents = Contents::read(&mut io::stdin().lock());
        return parse(&contents.map_err(|reason| unreadable(origin, &reason))?, origin, options);
    }
    match fs::File::open(data) {
        Ok(file) => {
            let contents = Contents::of(file).map_err(|reason| unreadable(data, &reason))?;
            let table = parse_at(&contents, data, Some(Path::new(data)), options);
            contents.leave();
            table
        }
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => match Embedded::find(data) {
            Some(set) => set.read(options),
            None => Err(no_such_file(data)),
        },
        Err(reason) => Err(unreadable(data, &reason)),
    }
}

pub(crate) fn no_such_file(data: &str) -> ReadError {
    ReadError::new(Problem::NoSuchFile { embedded: Embedded::names().join(", ") }).in_origin(data)
}

pub(crate) fn unreadable(origin: &str, reason: &io::Error) -> ReadError {
    ReadError::new(Problem::Unreadable { reason: reason.to_string() }).in_origin(origin)
}

/// Reads data from bytes, compressed with gzip or Zstandard or not. `origin` names them in messages; its extension may tell the format.
///
/// ```
/// use rosenblatt::Rows;
/// use rosenblatt_io::{ReadOptions, parse};
/// let table = parse(b"+1 1:0.5 3:2\n-1 2:1\n", "two rows", &ReadOptions::default())?;
/// assert_eq!((table.x.n_rows(), table.x.n_cols()), (2, 3));
/// # Ok::<(), rosenblatt_io::ReadError>(())
/// ```
pub fn parse(bytes: &[u8], origin: &str, options: &ReadOptions) -> Result<Table, ReadError> {
    parse_at(bytes, origin, None, options)
}

/// Some formats look beside the file; bytes have no place to look.
fn parse_at(
    bytes: &[u8],
    origin: &str,
    path: Option<&Path>,
    options: &ReadOptions,
) -> Result<Table, ReadError> {
    let table = parse_bytes(bytes, origin, path, options).map_err(|error| error.in_origin(origin))?;
    Ok(Table { origin: origin.to_owned(), ..table })
}

fn parse_bytes(
    bytes: &[u8],
    origin: &str,
    path: Option<&Path>,
    options: &ReadOptions,
) -> Result<Table, ReadError> {
    options.features.as_ref().map_or(Ok(()), check_model)?;
    options.text.check()?;
    let bytes = decompress(bytes)?;
    let by_name = || Format::of_name(origin);
    let by_magic = || binary_format(&bytes);
    let told = options.format.or_else(by_magic).or_else(by_name);
    let text = match told {
        Some(Format::Idx | Format::Parquet) => &bytes,
        _ => text_of(&bytes)?,
    };
    let format = told.unwrap_or_else(|| sniff::format(text));
    check_names(format, options)?;
    match options.precision.unwrap_or(usual_precision(format)) {
        Precision::F32 => parse_as::<f32>(text, format, path, options),
        Precision::F64 => parse_as::<f64>(text, format, path, options),
    }
}

/// Binary formats give themselves away, whatever the file is called.
pub(crate) fn binary_format(bytes: &[u8]) -> Option<Format> {
    if idx::is_images(bytes) {
        Some(Format::Idx)
    } else {
        bytes.starts_with(sniff::PARQUET).then_some(Format::Parquet)
    }
}

fn text_of(bytes: &[u8]) -> Result<&[u8], ReadError> {
    sniff::refuse_binary(bytes)?;
    let text = bytes.strip_prefix(sniff::BOM).unwrap_or(bytes);
    match text.trim_ascii().is_empty() {
        true => Err(Problem::Empty.into()),
        false => Ok(text),
    }
}

pub(crate) fn usual_precision(format: Format) -> Precision {
    match format {
        Format::Libsvm | Format::Vw | Format::Idx => Precision::F32,
        Format::Csv | Format::Tsv | Format::Jsonl | Format::Parquet => Precision::F64,
    }
}

fn parse_as<T: Value>(
    text: &[u8],
    format: Format,
    path: Option<&Path>,
    options: &ReadOptions,
) -> Result<Table, ReadError> {
    match format {
        Format::Libsvm => libsvm::parse::<T>(text, options),
        Format::Vw => vw::parse::<T>(text, options),
        Format::Jsonl => jsonl::parse::<T>(text, options),
        Format::Csv => tabular::parse::<T>(text, sniff::delimiter(text), options),
        Format::Tsv => tabular::parse::<T>(text, b'\t', options),
        Format::Idx => idx::parse::<T>(text, path, options),
        #[cfg(feature = "parquet")]
        Format::Parquet => tabular::parquet::parse::<T>(text, options),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(Problem::NoParquet.into()),
    }
}

/// Numbers of features mean nothing to a model of names, and the other way round.
pub(crate) fn check_names(format: Format, options: &ReadOptions) -> Result<(), ReadError> {
    if matches!(format, Format::Vw | Format::Jsonl) {
        return match options.hash {
            Some(bits) if !Hashing::BITS.contains(&bits) => Err(Problem::HashBits { bits }.into()),
            Some(_) if format == Format::Jsonl && !options.text.columns.is_empty() => {
                Err(Problem::HashedTexts.into())
            }
            _ => Ok(()),
        };
    }
    let what = match format {
        Format::Libsvm => "LIBSVM text",
        Format::Idx => "images",
        _ => "a table",
    };
    if options.hash.is_some() {
        return Err(Problem::HashWithoutNames { what }.into());
    }
    match &options.features {
        Some(Features { hash: Some(_), .. }) => Err(Problem::ModelOfHashes { what }.into()),
        Some(Features { names: Some(names), schema: None, .. })
            if matches!(format, Format::Libsvm | Format::Idx) =>
        {
            Err(Problem::ModelOfNames { what, names: listed(names) }.into())
        }
        _ => Ok(()),
    }
}

/// The features may come from a file that was tampered with.
pub(crate) fn check_model(model: &Features) -> Result<(), ReadError> {
    let names = model.names.as_ref().map(Vec::len);
    let columns = model.schema.as_ref().map(Schema::n_features);
    let buckets = model.hash.map(|bits| 1usize.checked_shl(bits.into()).unwrap_or(0));
    match names.into_iter().chain(columns).chain(buckets).find(|&count| count != model.count) {
        None => model.check_texts().map_err(|reason| Problem::Data(reason).into()),
        Some(other) => {
            let problem = format!("the model has {} features, but describes {other}", model.count);
            Err(Problem::Data(problem).into())
        }
    }
}
