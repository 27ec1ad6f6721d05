//! JSON lines: an object a line, its fields features by their names.

mod fields;
mod texts;
mod visit;

use serde::de::DeserializeSeed;

use crate::builder::Value;
use crate::dictionary::{Key, Seeds};
use crate::error::ReadError;
use crate::lines::each_line;
use crate::named::{DenseWhen, NamedRows};
use crate::names::{Fresh, Names, Refused};
use crate::row::{Repeats, Row};
use crate::{Problem, ReadOptions, Table, tabular};
use fields::Fields;
pub(crate) use fields::Met;
use texts::TextField;
use visit::Object;

pub(crate) fn parse<T: Value>(text: &[u8], options: &ReadOptions) -> Result<Table, ReadError> {
    let model = options.features.as_ref();
    let mut reader = Reader::<T>::new(options)?;
    let mut rows = reader.read(text, 1)?;
    reader.refuse_unused(options)?;
    if model.is_none() {
        let refused = tabular::refuse_no_classes(&rows.labels);
        refused.map_err(|problem| ReadError::new(problem).named(&reader.label_name))?;
    }
    let dense = if reader.texts.is_empty() { DenseWhen::Smaller } else { DenseWhen::Never };
    let learned = model.is_none().then(|| reader.learn_texts(&mut rows, options)).transpose()?;
    let mut table = rows.into_table(&reader.names, model, dense)?;
    if let Some(texts) = learned {
        table.features.texts = texts;
    }
    let labels = table.labels.filter(|_| reader.any_label);
    Ok(Table { labels, ..table })
}

/// Reads some lines after others; the names and fields it meets stay known.
pub(crate) struct Reader<T> {
    names: Names,
    fresh: Fresh,
    fields: Fields,
    texts: Vec<TextField>,
    rows: NamedRows<T>,
    /// The one being read.
    row: Row<T>,
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
    pub(crate) fn new(options: &ReadOptions) -> Result<Self, ReadError> {
        Reader::with_names(Names::new(options)?, options)
    }

    /// One that goes on with names met before.
    pub(crate) fn with_names(names: Names, options: &ReadOptions) -> Result<Self, ReadError> {
        if !options.categorical.is_empty() {
            return Err(Problem::OnlyForTables { option: "--categorical", what: "JSON lines" }.into());
        }
        let label_name = options.label.clone().unwrap_or_else(|| "label".to_owned());
        let texts = TextField::all(options)?;
        let text_names: Vec<String> = texts.iter().map(|text| text.name.clone()).collect();
        Ok(Reader {
            names,
            fresh: Fresh::default(),
            fields: Fields::new(&label_name, options, &text_names)?,
            texts,
            rows: NamedRows::default(),
            row: Row::new(),
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

    /// Reads whole lines, of which the first has this number. Texts that no model knows wait for the last of them.
    pub(crate) fn read(&mut self, text: &[u8], first_line: u64) -> Result<NamedRows<T>, ReadError> {
        each_line(text, first_line, |line, number| self.read_line(line, number))?;
        let (fresh, rows) = (std::mem::take(&mut self.fresh), std::mem::take(&mut self.rows));
        // One block alone gives names the columns they keep.
        self.names.learn(&fresh)?;
        let mut rows = NamedRows { unknown: fresh.unknown, ..rows };
        self.add_known_texts(&mut rows)?;
        Ok(rows)
    }

    /// What it knows of the fields besides their names as features.
    pub(crate) fn fields(&self) -> Vec<Met> {
        self.fields.met()
    }

    /// Takes over what a reader of the lines before knew.
    pub(crate) fn take_over(&mut self, fields: &[Met]) -> Result<(), ReadError> {
        Ok(self.fields.take_over(fields)?)
    }

    /// Whether any row had a label.
    pub(crate) fn any_label(&self) -> bool {
        self.any_label
    }

    /// The names met so far.
    pub(crate) fn names(&self) -> &Names {
        &self.names
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
        self.texts.iter_mut().for_each(TextField::end_row);
        let label = label.as_deref().unwrap_or_default();
        let repeats = self.names.repeats(Repeats::Refuse);
        let pushed = self.rows.push(&mut self.row, label, weight, number, repeats);
        pushed.map_err(|fault| fault.explain(|column| self.names.shown(column, &self.fresh)).into())
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

    /// A field that was to be left out or read as a text and is nowhere is a slip of the pen.
    pub(crate) fn refuse_unused(&self, options: &ReadOptions) -> Result<(), ReadError> {
        if let Some(text) = self.texts.iter().find(|text| !self.fields.was_seen(&text.name)) {
            let name = text.name.clone();
            return Err(match options.features {
                None => Problem::NoSuchField { name }.into(),
                Some(_) => Problem::MissingColumn { name }.into(),
            });
        }
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
            true => self.add(narrow),
            false => Err(Problem::NotFinite { text: format!("{value:e}") }),
        }
    }

    /// A category: `name=text`.
    fn category(&mut self, text: &str) -> Result<(), Problem> {
        let length = self.path.len();
        self.path.push(b'=');
        self.path.extend_from_slice(text.as_bytes());
        let added = self.add(T::narrow(1.0));
        self.path.truncate(length);
        added
    }

    fn add(&mut self, value: T) -> Result<(), Problem> {
        self.fresh.unknown.of += 1;
        let key = Key::of(&self.path, Seeds::new());
        let found = self.names.find(key, &self.path, &mut self.fresh).map_err(explain_name)?;
        if let Some(column) = found {
            self.row.push(column, value);
        }
        Ok(())
    }
}

fn explain_name(refused: Refused) -> Problem {
    match refused {
        Refused::Problem(problem) => problem,
        Refused::NotUtf8(_) => Problem::NotUtf8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TextOptions;
    use proptest::prelude::*;

    type Whole = Result<(NamedRows<f64>, Option<Vec<String>>, bool), ReadError>;

    /// Chunk after chunk, each a few lines.
    fn read(options: &ReadOptions, lines: &[String], size: usize) -> Whole {
        let (mut reader, mut all, mut line) = (Reader::new(options)?, NamedRows::default(), 1);
        for chunk in lines.chunks(size) {
            all.append(reader.read(chunk.concat().as_bytes(), line)?);
            line += chunk.len() as u64;
        }
        Ok((all, reader.names().names(), reader.any_label))
    }

    proptest! {
        #[test]
        fn texts_for_a_model_in_chunks_are_the_whole(
            lines in prop::collection::vec("\\{\"label\":1(,\"t\":\"[abc ]{0,8}\")?(,\"x\":[0-3])?\\}\n", 1..9),
            size in 1..4usize,
        ) {
            let text = TextOptions { columns: vec!["t".into()], chars: TextOptions::default().words, min_rows: 1, ..Default::default() };
            let learned = parse::<f64>(lines.concat().as_bytes(), &ReadOptions { text, ..Default::default() });
            if let Ok(table) = learned {
                let options = ReadOptions { features: Some(table.features), ..Default::default() };
                prop_assert_eq!(read(&options, &lines, size), read(&options, &lines, usize::MAX));
            }
        }

        #[test]
        fn chunks_are_the_whole(
            fields in prop::collection::vec("\\{\"label\":[01](,\"[ab]\":([0-3]|\"[xy]\"|\\[1,2\\])){0,2}\\}\n", 0..9),
            size in 1..4usize,
        ) {
            for hash in [None, Some(2)] {
                let options = ReadOptions { hash, ..Default::default() };
                prop_assert_eq!(read(&options, &fields, size), read(&options, &fields, usize::MAX));
            }
        }
    }
}
