//! The texts of a table.

use rosenblatt::{Column, Features, Role, Schema};

use super::cells::{Cells, Tabular};
use super::plan::{Encoding, Plan, Step};
use crate::error::ReadError;
use crate::text::{Learned, TextReader, TextRows};
use crate::{Problem, ReadOptions};

/// Learns from the text columns, and tells the schema how many features each makes.
pub(super) fn learn(
    source: &impl Tabular,
    schema: &mut Schema,
    options: &ReadOptions,
) -> Result<Vec<Learned>, ReadError> {
    let is_text = |column: &usize| matches!(schema.columns[*column].role, Role::Text { .. });
    let columns: Vec<usize> = (0..schema.columns.len()).filter(is_text).collect();
    let readers = columns.iter().map(|_| TextReader::new(&options.text)).collect();
    let mut texts = Vec::with_capacity(columns.len());
    for (&column, reader) in columns.iter().zip(gather(source, schema.header, &columns, readers)?) {
        let Column { name, role } = &mut schema.columns[column];
        let place = |problem| ReadError::new(problem).at_column(column + 1).named(name);
        let learned = reader.learn(name, &options.text).map_err(place)?;
        *role = Role::Text { features: learned.names.len() };
        texts.push(learned);
    }
    if schema.n_features() > u32::MAX as usize {
        return Err(Problem::IndexTooLarge { index: schema.n_features().to_string() }.into());
    }
    let first = |column: usize| schema.columns[..column].iter().map(Column::width).sum();
    Ok(columns.into_iter().zip(texts).map(|(column, text)| text.behind(first(column))).collect())
}

/// Reads the text columns as the model does.
pub(super) fn read(source: &impl Tabular, plan: &Plan, model: &Features) -> Result<Vec<TextRows>, ReadError> {
    let text = |step: &Step| match step.encoding {
        Encoding::Text { number } => Some((step.column, model.texts.get(number)?)),
        Encoding::Number | Encoding::Levels { .. } => None,
    };
    let (columns, texts): (Vec<usize>, Vec<_>) = plan.steps.iter().filter_map(text).unzip();
    let readers = texts.into_iter().map(|text| TextReader::for_model(text, model));
    let readers = gather(source, plan.header, &columns, readers.collect::<Result<_, _>>()?)?;
    Ok(readers.into_iter().filter_map(|mut reader| reader.take_rows()).collect())
}

fn gather(
    source: &impl Tabular,
    header: bool,
    columns: &[usize],
    mut readers: Vec<TextReader>,
) -> Result<Vec<TextReader>, ReadError> {
    if columns.is_empty() {
        return Ok(readers);
    }
    source.each_row(header, columns, |row| {
        columns.iter().zip(&mut readers).for_each(|(&column, reader)| reader.push(&row.text(column)));
        Ok(())
    })?;
    Ok(readers)
}
