//! Parts of a table.

use memchr::memchr_iter;
use rosenblatt::{Csr, Features};

use super::chunks::Chunks;
use super::reader::{Learned, LineReader, Rows};
use super::source::problem;
use crate::error::ReadError;
use crate::{Format, Lines, Precision, Problem, ReadOptions, sniff, tabular};

/// Reads some lines of a comma- or tab-separated table after others, each as a table of its own under the same header.
pub(crate) struct TableReader {
    options: ReadOptions,
    model: Features,
    precision: Precision,
    delimiter: u8,
    header: Option<Vec<u8>>,
}

impl TableReader {
    /// `None` where there is no model that knows the columns: what they hold is seen only at the end of a table.
    pub(crate) fn open(
        chunks: &mut Chunks,
        format: Format,
        precision: Precision,
        options: &ReadOptions,
    ) -> Result<Option<Box<dyn LineReader>>, ReadError> {
        let known = options.features.as_ref().filter(|model| model.schema.is_some());
        let (Some(model), Format::Csv | Format::Tsv) = (known, format) else { return Ok(None) };
        let delimiter = match format {
            Format::Tsv => b'\t',
            _ => {
                // A name in the header may go over lines, whichever of these it is.
                chunks.mind_quotes(b",;\t");
                sniff::delimiter(chunks.peek().map_err(problem)?)
            }
        };
        chunks.mind_quotes(quotes_after(&delimiter));
        let head = chunks.peek().map_err(problem)?;
        let header = tabular::header(head, delimiter, options)?.map(<[u8]>::to_vec);
        let options = ReadOptions { header: Some(header.is_some()), ..options.clone() };
        Ok(Some(Box::new(TableReader { options, model: model.clone(), precision, delimiter, header })))
    }

    fn parse(&self, text: &[u8]) -> Result<Rows, ReadError> {
        let table = match self.precision {
            Precision::F32 => tabular::parse::<f32>(text, self.delimiter, &self.options)?,
            Precision::F64 => tabular::parse::<f64>(text, self.delimiter, &self.options)?,
        };
        let unknown = table.unknown;
        Ok(Rows { x: table.x, labels: table.labels, weights: table.weights, lines: table.lines, unknown })
    }

    fn none(&self) -> Result<Rows, ReadError> {
        let x = Csr::new(vec![0], Vec::new(), Vec::<f32>::new(), self.model.count);
        let x = x.map_err(|error| Problem::Data(error.to_string()))?.into();
        Ok(Rows { x, labels: None, weights: None, lines: Lines::default(), unknown: None })
    }
}

/// Reads a table that has been gone through from its beginning to its end before.
pub(crate) struct LearnedTable {
    parts: tabular::Parts,
    precision: Precision,
    options: ReadOptions,
}

impl LearnedTable {
    /// Texts are weighted by how many rows have them, which only rows that are all there can tell.
    pub(crate) fn new(
        text: &[u8],
        format: Format,
        precision: Precision,
        options: &ReadOptions,
    ) -> Result<Self, ReadError> {
        if !options.text.columns.is_empty() {
            return Err(Problem::TextsInStream.into());
        }
        let text = text.strip_prefix(sniff::BOM).unwrap_or(text);
        let delimiter = if format == Format::Tsv { b'\t' } else { sniff::delimiter(text) };
        let parts = tabular::Parts::learn(text, delimiter, options)?;
        Ok(LearnedTable { parts, precision, options: options.clone() })
    }

    /// The delimiters after which a quoted cell may go over lines.
    pub(crate) fn quotes_after(&self) -> &[u8] {
        quotes_after(&self.parts.delimiter)
    }
}

/// Cells of tab-separated text never go over lines.
fn quotes_after(delimiter: &u8) -> &[u8] {
    match delimiter {
        b'\t' => &[],
        other => std::slice::from_ref(other),
    }
}

impl LineReader for LearnedTable {
    fn read(&mut self, text: &[u8], first_line: u64) -> Result<Rows, ReadError> {
        let table = match self.precision {
            Precision::F32 => self.parts.read::<f32>(text, first_line, &self.options)?,
            Precision::F64 => self.parts.read::<f64>(text, first_line, &self.options)?,
        };
        let (labels, weights) = (table.labels, table.weights);
        Ok(Rows { x: table.x, labels, weights, lines: table.lines, unknown: None })
    }

    fn features(&self) -> Result<Features, ReadError> {
        Ok(self.parts.features.clone())
    }

    /// Whoever goes on goes through the table again first.
    fn learned(&self) -> Learned {
        Learned::default()
    }
}

impl LineReader for TableReader {
    fn read(&mut self, text: &[u8], first_line: u64) -> Result<Rows, ReadError> {
        let header = self.header.as_deref().unwrap_or_default();
        let rows = if first_line == 1 { &text[header.len()..] } else { text };
        if rows.trim_ascii().is_empty() {
            return self.none();
        }
        if first_line == 1 {
            return self.parse(text);
        }
        let lead = memchr_iter(b'\n', header).count() as u64;
        let line = |line: u64| (line + first_line - 1).saturating_sub(lead);
        let read = match header.is_empty() {
            true => self.parse(rows),
            false => self.parse(&[header, rows].concat()),
        };
        match read {
            Ok(rows) => Ok(Rows { lines: rows.lines.moved(line), ..rows }),
            Err(error) => {
                let at = error.line().map(line);
                Err(error.at_line(at))
            }
        }
    }

    fn features(&self) -> Result<Features, ReadError> {
        Ok(self.model.clone())
    }

    /// What there is to know is in the model.
    fn learned(&self) -> Learned {
        Learned::default()
    }
}
