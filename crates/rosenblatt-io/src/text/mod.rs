//! Texts: n-grams of words and characters, weighted by tf-idf.
//!
//! Each text is cut once. N-grams get numbers as they appear and rows keep numbers and counts; when all rows are there, the
//! n-grams are sorted and the rows renumbered. Threads number on their own, which the sorting makes invisible.

mod counter;
mod reader;
mod rows;
mod splitter;
mod vocabulary;

pub(crate) use reader::{Learned, TextReader};
pub(crate) use rows::TextRows;
pub(crate) use splitter::Splitter;
