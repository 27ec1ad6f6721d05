//! From a path, standard input, a name or bytes to a table.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use rosenblatt::{Features, Schema};

use crate::contents::Contents;
use crate::error::ReadError;
use crate::{Embedded, Format, Precision, Problem, ReadOptions, Table, libsvm, sniff, tabular};

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
            parse(&contents, data, options)
        }
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => match Embedded::find(data) {
            Some(set) => set.read(options),
            None => Err(no_such_file(data)),
        },
        Err(reason) => Err(unreadable(data, &reason)),
    }
}

fn no_such_file(data: &str) -> ReadError {
    ReadError::new(Problem::NoSuchFile { embedded: Embedded::names().join(", ") }).in_origin(data)
}

fn unreadable(origin: &str, reason: &io::Error) -> ReadError {
    ReadError::new(Problem::Unreadable { reason: reason.to_string() }).in_origin(origin)
}

/// Reads data from bytes, gzipped or not. `origin` names them in messages; its extension may tell the format.
///
/// ```
/// use rosenblatt::Rows;
/// use rosenblatt_io::{ReadOptions, parse};
/// let table = parse(b"+1 1:0.5 3:2\n-1 2:1\n", "two rows", &ReadOptions::default())?;
/// assert_eq!((table.x.n_rows(), table.x.n_cols()), (2, 3));
/// # Ok::<(), rosenblatt_io::ReadError>(())
/// ```
pub fn parse(bytes: &[u8], origin: &str, options: &ReadOptions) -> Result<Table, ReadError> {
    let table = parse_bytes(bytes, origin, options).map_err(|error| error.in_origin(origin))?;
    Ok(Table { origin: origin.to_owned(), ..table })
}

fn parse_bytes(bytes: &[u8], origin: &str, options: &ReadOptions) -> Result<Table, ReadError> {
    options.features.as_ref().map_or(Ok(()), check_model)?;
    let bytes = decompress(bytes)?;
    sniff::refuse_binary(&bytes)?;
    let text = bytes.strip_prefix(sniff::BOM).unwrap_or(&bytes);
    if text.trim_ascii().is_empty() {
        return Err(Problem::Empty.into());
    }
    let by_name = || Format::of_name(origin);
    let format = options.format.or_else(by_name).unwrap_or_else(|| sniff::format(text));
    let delimiter = match format {
        Format::Libsvm => {
            return match options.precision.unwrap_or(Precision::F32) {
                Precision::F32 => libsvm::parse::<f32>(text, options),
                Precision::F64 => libsvm::parse::<f64>(text, options),
            };
        }
        Format::Csv => sniff::delimiter(text),
        Format::Tsv => b'\t',
    };
    match options.precision.unwrap_or(Precision::F64) {
        Precision::F32 => tabular::parse::<f32>(text, delimiter, options),
        Precision::F64 => tabular::parse::<f64>(text, delimiter, options),
    }
}

/// The features may come from a file that was tampered with.
fn check_model(model: &Features) -> Result<(), ReadError> {
    let names = model.names.as_ref().map(Vec::len);
    let columns = model.schema.as_ref().map(Schema::n_features);
    match names.into_iter().chain(columns).find(|&count| count != model.count) {
        None => Ok(()),
        Some(other) => {
            let problem = format!("the model has {} features, but describes {other}", model.count);
            Err(Problem::Data(problem).into())
        }
    }
}

fn decompress(bytes: &[u8]) -> Result<Cow<'_, [u8]>, ReadError> {
    if !bytes.starts_with(b"\x1f\x8b") {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut plain = Vec::new();
    match MultiGzDecoder::new(bytes).read_to_end(&mut plain) {
        Ok(_) => Ok(Cow::Owned(plain)),
        Err(reason) => Err(Problem::Gzip { reason: reason.to_string() }.into()),
    }
}
