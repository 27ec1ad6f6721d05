//! JSON lines: an object a line, its fields features by their names.

mod fields;
mod visit;

use serde::de::DeserializeSeed;

use crate::builder::Value;
use crate::error::ReadError;
use crate::lines::each_line;
use crate::named::{DenseWhen, NamedRows, Refused, Repeats};
use crate::{Problem, ReadOptions, Table, tabular};
use fields::Fields;
use visit::Object;

pub(crate) fn parse<T: Value>(text: &[u8], options: &ReadOptions) -> Result<Table, ReadError> {
    if !options.categorical.is_empty() {
        return Err(Problem::OnlyForTables { option: "--categorical", what: "JSON lines" }.into());
    }
    let model = options.features.as_ref();
    let mut reader = Reader::<T>::new(options)?;
    reader.read(text, 1)?;
    reader.refuse_unused(options)?;
    if model.is_none() {
        let refused = tabular::refuse_no_classes(reader.rows.labels());
        refused.map_err(|problem| ReadError::new(problem).named(&reader.label_name))?;
    }
    let table = reader.rows.into_table(model, DenseWhen::Smaller)?;
    let labels = table.labels.filter(|_| reader.any_label);
    Ok(Table { labels, ..table })
}

/// Rows so far and the one being read.
struct Reader<T> {
    rows: NamedRows<T>,
    fields: Fields,
    /// The name of the field being read, `outer.inner`, then of the feature it makes.
    path: Vec<u8>,
    label_name: String,
    weight_name: Option<String>,
    /// Whether every row must have a label.
    labelled: bool,
    any_label: bool,
    label: Option<String>,
    weight: Option<f64>,
    /// What was wrong with a field; serde carries only a message.
    problem: Option<Problem>,
}

impl<T: Value> Reader<T> {
    fn new(options: &ReadOptions) -> Result<Self, ReadError> {
        let label_name = options.label.clone().unwrap_or_else(|| "label".to_owned());
        Ok(Reader {
            rows: NamedRows::new(options.features.as_ref())?,
            fields: Fields::new(&label_name, options)?,
            path: Vec::new(),
            label_name,
            weight_name: options.weight.clone(),
            labelled: options.features.is_none(),
            any_label: false,
            label: None,
            weight: None,
            problem: None,
        })
    }

    fn read(&mut self, text: &[u8], first_line: u64) -> Result<(), ReadError> {
        each_line(text, first_line, |line, number| self.read_line(line, number))
    }

    fn read_line(&mut self, line: &[u8], number: u64) -> Result<(), ReadError> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        self.fields.begin_row();
        (self.label, self.weight) = (None, None);
        let mut json = serde_json::Deserializer::from_slice(line);
        let read = Object { reader: self }.deserialize(&mut json).and_then(|()| json.end());
        read.map_err(|error| self.explain(&error))?;
        self.end_row(number)
    }

    fn end_row(&mut self, number: u64) -> Result<(), ReadError> {
        let label = self.label.take();
        if label.is_none() && self.labelled {
            let problem = match self.fields.is_seen(&self.label_name) {
                true => Problem::MissingLabel { text: "null".into(), column: String::new() },
                false => Problem::NoField { name: self.label_name.clone() },
            };
            return Err(problem.into());
        }
        self.any_label |= label.is_some();
        let weight = match (self.weight, &self.weight_name) {
            (Some(weight), _) => weight,
            (None, None) => 1.0,
            (None, Some(name)) => return Err(Problem::NoField { name: name.clone() }.into()),
        };
        let label = label.as_deref().unwrap_or_default();
        self.rows.end_row(label, weight, number, Repeats::Refuse).map_err(ReadError::new)
    }

    /// The problem found, or what the parser says, at its place.
    fn explain(&mut self, error: &serde_json::Error) -> ReadError {
        let problem = self.problem.take().unwrap_or_else(|| {
            let text = error.to_string();
            let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
            Problem::Json { reason: reason.to_owned() }
        });
        let error = ReadError::new(problem).at_column(error.column().max(1));
        match self.path.is_empty() {
            true => error,
            false => error.named(&String::from_utf8_lossy(&self.path)),
        }
    }

    /// A field that was to be left out and is nowhere is a slip of the pen.
    fn refuse_unused(&self, options: &ReadOptions) -> Result<(), ReadError> {
        let unused = options.drop.iter().find(|name| !self.fields.was_seen(name));
        match unused.filter(|_| options.features.is_none()) {
            Some(name) => Err(Problem::NoSuchField { name: name.clone() }.into()),
            None => Ok(()),
        }
    }

    /// A number under the present name.
    fn number(&mut self, value: f64) -> Result<(), Problem> {
        let narrow = T::narrow(value);
        match narrow.wide().is_finite() {
            true => self.rows.add(&self.path, narrow).map_err(explain_name),
            false => Err(Problem::NotFinite { text: format!("{value:e}") }),
        }
    }

    /// A category: `name=text`.
    fn category(&mut self, text: &str) -> Result<(), Problem> {
        let length = self.path.len();
        self.path.push(b'=');
        self.path.extend_from_slice(text.as_bytes());
        let added = self.rows.add(&self.path, T::narrow(1.0)).map_err(explain_name);
        self.path.truncate(length);
        added
    }
}

fn explain_name(refused: Refused) -> Problem {
    match refused {
        Refused::Problem(problem) => problem,
        Refused::NotUtf8(_) => Problem::NotUtf8,
    }
}
