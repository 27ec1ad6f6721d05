//! Words of a message as features.

use std::collections::{BTreeSet, HashMap};

use rosenblatt::{DataError, Features, Labels, Matrix};

use crate::builder::{Builder, Value};
use crate::error::ReadError;
use crate::text::Splitter;
use crate::{Lines, Problem, ReadOptions, Table};

/// The distinct words of a text, sorted.
fn words(text: &str) -> BTreeSet<String> {
    Splitter::default().words(text).map(str::to_owned).collect()
}

/// Messages as `label<TAB>text` lines become rows of word presence.
///
/// Words that occur in one message only teach nothing about others and are left out. For a model, its own words
/// are looked for instead.
pub(crate) fn parse<T: Value>(text: &str, options: &ReadOptions) -> Result<Table, ReadError> {
    options.refuse_columns("text")?;
    if options.hash.is_some() {
        return Err(Problem::HashWithoutNames { what: "text" }.into());
    }
    let messages: Vec<Message<'_>> = text.lines().filter_map(Message::of).collect();
    let features = match &options.features {
        None => vocabulary(&messages),
        Some(model) if model.names.is_some() && model.schema.is_none() => model.clone(),
        Some(model) => {
            let expected = format!("{} of another kind", model.count);
            return Err(Problem::OtherFeatures { found: "words".into(), expected }.into());
        }
    };
    let (mut labels, mut lines) = (Labels::default(), Lines::default());
    for (message, line) in messages.iter().zip(1..) {
        labels.push(message.label);
        lines.push(line);
    }
    let x = presence::<T>(&messages, &features).map_err(|error| Problem::Data(error.to_string()))?;
    Ok(Table::new(x, Some(labels), None, features, lines))
}

struct Message<'a> {
    label: &'a str,
    words: BTreeSet<String>,
}

impl<'a> Message<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (label, text) = line.split_once('\t')?;
        Some(Message { label, words: words(text) })
    }
}

/// 1 for each feature whose name is a word of the message.
fn presence<T: Value>(messages: &[Message<'_>], features: &Features) -> Result<Matrix<'static>, DataError> {
    let names = features.names.as_deref().unwrap_or_default();
    let column_of: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let mut builder = Builder::<T>::new(features.count, true);
    for Message { words, .. } in messages {
        let known = words.iter().filter_map(|word| column_of.get(word.as_str()).copied());
        builder.begin_row();
        known.collect::<BTreeSet<usize>>().into_iter().for_each(|column| builder.set(column, T::narrow(1.0)));
        builder.end_row();
    }
    builder.finish()
}

fn vocabulary(messages: &[Message<'_>]) -> Features {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in messages.iter().flat_map(|message| &message.words) {
        *counts.entry(word).or_default() += 1;
    }
    let shared = counts.into_iter().filter(|&(_, count)| count > 1).map(|(word, _)| word.to_owned());
    let names: BTreeSet<String> = shared.collect();
    Features { count: names.len(), names: Some(names.into_iter().collect()), ..Features::default() }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_folded_and_short_ones_left_out() {
        let found: Vec<String> = words("Don't WIN a 'free' £1000 prize; win 2 go!").into_iter().collect();
        assert_eq!(found, ["1000", "don't", "free", "go", "prize", "win"]);
    }
}
