//! Texts on their way to features.

use rayon::prelude::*;
use rosenblatt::{Features, NgramKind, NgramRange, TextColumn};

use super::counter::{Counted, Counter};
use super::rows::TextRows;
use super::splitter::Splitter;
use super::vocabulary::{Known, Merged};
use crate::{Problem, TextOptions};

/// Texts are cut in batches of this many bytes, between which they are only collected.
const BATCH: usize = 16 << 20;
/// More threads would mostly number the same n-grams over again.
const MOST_WORKERS: usize = 16;
/// What rows hold, in this order.
const KINDS: [NgramKind; 2] = [NgramKind::Words, NgramKind::Chars];

/// Takes the texts of a column or a field row by row.
pub(crate) struct TextReader {
    lengths: [NgramRange; 2],
    known: Option<Known>,
    batch: String,
    /// Where each text of the batch ends.
    ends: Vec<usize>,
    workers: Vec<Worker>,
    /// Rows in order, with the worker whose numbers they use.
    parts: Vec<(usize, [Counted; 2])>,
    rows: u64,
}

/// What the texts have taught.
pub(crate) struct Learned {
    /// As if its features were the first.
    pub(crate) column: TextColumn,
    pub(crate) names: Vec<String>,
    pub(crate) rows: TextRows,
}

impl Learned {
    /// The same with features that begin here.
    pub(crate) fn behind(self, first: usize) -> Self {
        let column = TextColumn { first, ..self.column };
        Learned { column, rows: self.rows.with_first(first), ..self }
    }
}

/// What one thread needs for itself.
#[derive(Default)]
struct Worker {
    splitter: Splitter,
    counters: [Counter; 2],
}

impl Worker {
    fn count<'a>(
        &mut self,
        texts: impl Iterator<Item = &'a str>,
        lengths: [NgramRange; 2],
        known: Option<&Known>,
    ) -> [Counted; 2] {
        let Worker { splitter, counters: [words, chars] } = self;
        let mut counted = [Counted::default(), Counted::default()];
        let [of_words, of_chars] = &mut counted;
        let [known_words, known_chars] = [0, 1].map(|kind: usize| known.map(|known| &known.ngrams[kind]));
        for text in texts {
            words.begin_row();
            splitter.word_ngrams(text, lengths[0], |ngram| words.add(ngram, known_words, of_words));
            of_words.ends.push(of_words.entries.len());
            chars.begin_row();
            splitter.char_ngrams(text, lengths[1], |ngram| chars.add(ngram, known_chars, of_chars));
            of_chars.ends.push(of_chars.entries.len());
        }
        counted
    }
}

impl TextReader {
    /// Texts to learn from.
    pub(crate) fn new(options: &TextOptions) -> Self {
        TextReader::with([options.words, options.chars], None)
    }

    /// Texts for one of a model's columns.
    pub(crate) fn for_model(column: &TextColumn, model: &Features) -> Result<Self, Problem> {
        Ok(TextReader::with([column.words, column.chars], Some(Known::new(column, model)?)))
    }

    fn with(lengths: [NgramRange; 2], known: Option<Known>) -> Self {
        let workers = rayon::current_num_threads().clamp(1, MOST_WORKERS);
        TextReader {
            lengths,
            known,
            batch: String::new(),
            ends: Vec::new(),
            workers: std::iter::repeat_with(Worker::default).take(workers).collect(),
            parts: Vec::new(),
            rows: 0,
        }
    }

    /// The text of the next row.
    pub(crate) fn push(&mut self, text: &str) {
        self.batch.push_str(text);
        self.ends.push(self.batch.len());
        self.rows += 1;
        if self.batch.len() >= BATCH {
            self.count();
        }
    }

    /// Shares the batch among the workers by size.
    fn count(&mut self) {
        let (batch, ends, lengths, known) = (&self.batch, &self.ends, self.lengths, self.known.as_ref());
        let shares = self.workers.len();
        let cut = |share: usize| match share {
            0 => 0,
            _ if share == shares => ends.len(),
            _ => ends.partition_point(|&end| end <= batch.len() / shares * share),
        };
        let text = |row: usize| &batch[row.checked_sub(1).map_or(0, |before| ends[before])..ends[row]];
        let count = |(share, worker): (usize, &mut Worker)| {
            let texts = (cut(share)..cut(share + 1)).map(text);
            (share, worker.count(texts, lengths, known))
        };
        let counted: Vec<_> = self.workers.par_iter_mut().enumerate().map(count).collect();
        self.parts.extend(counted);
        self.batch.clear();
        self.ends.clear();
    }

    /// The rows since the last time, as the model sees them; nothing without a model.
    pub(crate) fn take_rows(&mut self) -> Option<TextRows> {
        self.known.as_ref()?;
        self.count();
        let parts = std::mem::take(&mut self.parts);
        let Known { places, idf, first, .. } = self.known.as_ref()?;
        Some(TextRows::new(*first, idf.clone(), renumbered(parts, |_, kind| &places[kind])))
    }

    /// Sorts the n-grams that are in enough rows, and makes them features.
    pub(crate) fn learn(mut self, name: &str, options: &TextOptions) -> Result<Learned, Problem> {
        self.count();
        let mut column = TextColumn {
            name: name.to_owned(),
            first: 0,
            words: options.words,
            chars: options.chars,
            rows: self.rows,
            frequencies: Vec::new(),
        };
        let (mut names, mut is_empty, mut places) = (Vec::new(), true, Vec::new());
        for (kind, &ngram_kind) in KINDS.iter().enumerate() {
            let counters = self.workers.iter_mut().map(|worker| std::mem::take(&mut worker.counters[kind]));
            let merged = Merged::of(counters.collect())?;
            let kept = merged.sorted(options.min_rows);
            places.push(merged.places(&kept, names.len())?);
            is_empty &= merged.frequencies.is_empty();
            for &number in &kept {
                names.push(column.feature_name(ngram_kind, &merged.ngrams.text(number)));
                column.frequencies.push(merged.frequencies[number as usize]);
            }
        }
        if names.is_empty() {
            let name = name.to_owned();
            return Err(match is_empty {
                true => Problem::EmptyTexts { name },
                false => Problem::RareNgrams { name, min_rows: options.min_rows },
            });
        }
        let parts = renumbered(self.parts, |worker, kind| &places[kind][worker]);
        let rows = TextRows::new(0, column.idf().into(), parts);
        Ok(Learned { column, names, rows })
    }
}

fn renumbered<'p>(
    parts: Vec<(usize, [Counted; 2])>,
    places: impl Fn(usize, usize) -> &'p Vec<u32> + Sync,
) -> Vec<[Counted; 2]> {
    let renumber = |(worker, mut part): (usize, [Counted; 2])| {
        part.iter_mut().enumerate().for_each(|(kind, counted)| counted.renumber(places(worker, kind)));
        part
    };
    parts.into_par_iter().map(renumber).collect()
}
