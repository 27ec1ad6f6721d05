//! Readers, embedded data sets and atomic writing for [`rosenblatt`].
//!
//! A file becomes a [`Table`]: features, labels as they were written, and the line of each row. Bad input is refused
//! with its place and with what was expected; nothing is guessed silently and nothing panics, whatever the bytes.
//!
//! ```
//! use rosenblatt_io::{ReadOptions, read};
//! let data = read("iris", &ReadOptions::default())?.into_dataset()?;
//! assert_eq!((data.n_rows(), data.n_features()), (150, 4));
//! assert_eq!(data.classes().listed(), "setosa, versicolor, virginica");
//! # Ok::<(), rosenblatt_io::ReadError>(())
//! ```

mod builder;
mod cell;
mod compressed;
mod contents;
mod dictionary;
mod embedded;
mod error;
mod foreign;
mod format;
mod hashing;
mod idx;
mod jsonl;
mod libsvm;
mod lines;
mod model;
mod named;
mod names;
mod number;
mod options;
mod problem;
mod read;
mod row;
mod sniff;
mod stream;
mod table;
mod tabular;
mod text;
mod vw;
mod words;
mod write;

pub use embedded::{DATASETS, Embedded};
pub use error::ReadError;
pub use foreign::{Export, ExportError, ForeignError, ModelFormat, export};
pub use format::{FORMATS, Format, FormatRow, Precision, UnknownName};
pub use hashing::Hashing;
pub use lines::Lines;
pub use model::{LoadError, SaveError, load, load_with_format, parse_model, save};
pub use names::Unknown;
pub use options::{ReadOptions, TextOptions};
pub use problem::Problem;
pub use read::{parse, read};
pub use stream::{Blocks, StreamError, StreamOptions, Streamed, Stretch, train_stream};
pub use table::Table;
pub use write::{WriteError, check_writable, write_atomically};
