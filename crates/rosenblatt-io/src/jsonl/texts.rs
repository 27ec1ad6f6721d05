//! Fields that are read as texts.

use rosenblatt::TextColumn;

use super::Reader;
use crate::ReadOptions;
use crate::builder::Value;
use crate::error::ReadError;
use crate::named::NamedRows;
use crate::text::TextReader;

/// A field with a text for each row.
pub(super) struct TextField {
    pub(super) name: String,
    reader: TextReader,
    /// Whether the present row has it.
    is_there: bool,
}

impl TextField {
    /// Those of the model, or those asked for, each once.
    pub(super) fn all(options: &ReadOptions) -> Result<Vec<Self>, ReadError> {
        let field = |name: &str, reader| TextField { name: name.to_owned(), reader, is_there: false };
        if let Some(model) = &options.features {
            let known = |text: &TextColumn| Ok(field(&text.name, TextReader::for_model(text, model)?));
            return model.texts.iter().map(known).collect();
        }
        let mut fields: Vec<TextField> = Vec::new();
        for name in &options.text.columns {
            if fields.iter().all(|field| &field.name != name) {
                fields.push(field(name, TextReader::new(&options.text)));
            }
        }
        Ok(fields)
    }

    /// The text of the present row.
    pub(super) fn push(&mut self, text: &str) {
        self.reader.push(text);
        self.is_there = true;
    }

    /// A row without a text has an empty one.
    pub(super) fn end_row(&mut self) {
        if !std::mem::take(&mut self.is_there) {
            self.reader.push("");
        }
    }
}

impl<T: Value> Reader<T> {
    /// Puts the n-grams that a model knows into the rows.
    pub(super) fn add_known_texts(&mut self, rows: &mut NamedRows<T>) -> Result<(), ReadError> {
        let mut texts: Vec<_> = self.texts.iter_mut().filter_map(|text| text.reader.take_rows()).collect();
        rows.add_texts(&self.names, &mut texts)
    }

    /// Puts all n-grams of texts that no model knows into the rows, behind all other features.
    pub(super) fn learn_texts(
        &mut self,
        rows: &mut NamedRows<T>,
        options: &ReadOptions,
    ) -> Result<Vec<TextColumn>, ReadError> {
        let (mut columns, mut texts) = (Vec::new(), Vec::new());
        for text in std::mem::take(&mut self.texts) {
            let learned = text.reader.learn(&text.name, &options.text)?.behind(self.names.count());
            self.names.append(&learned.names)?;
            columns.push(learned.column);
            texts.push(learned.rows);
        }
        rows.add_texts(&self.names, &mut texts)?;
        Ok(columns)
    }
}
