//! Which n-grams are features.

use std::sync::Arc;

use rayon::prelude::*;
use rosenblatt::{Features, NgramKind, TextColumn};

use super::counter::{Counter, NOWHERE};
use crate::Problem;
use crate::dictionary::Dictionary;

/// The n-grams a model knows.
pub(super) struct Known {
    /// Those of words and those of characters.
    pub(super) ngrams: [Dictionary; 2],
    /// Where each goes among the features of the text.
    pub(super) places: [Vec<u32>; 2],
    pub(super) idf: Arc<[f64]>,
    pub(super) first: usize,
}

impl Known {
    /// The features may come from a file that was tampered with.
    pub(super) fn new(column: &TextColumn, model: &Features) -> Result<Self, Problem> {
        let names = model.names.as_deref().unwrap_or_default();
        let of_text = names.get(column.first..column.first.saturating_add(column.frequencies.len()));
        let (mut ngrams, mut places) = ([Dictionary::default(), Dictionary::default()], [vec![], vec![]]);
        for (place, name) in (0..).zip(of_text.unwrap_or_default()) {
            let Some((kind, ngram)) = column.ngram(name) else {
                return Err(Problem::Data(format!(
                    "the feature {name:?} is not an n-gram of {:?}",
                    column.name
                )));
            };
            let kind = usize::from(kind == NgramKind::Chars);
            if ngrams[kind].intern(ngram.as_bytes()) != Ok(places[kind].len() as u32) {
                return Err(Problem::Data(format!("the model has two features named {name:?}")));
            }
            places[kind].push(place);
        }
        Ok(Known { ngrams, places, idf: column.idf().into(), first: column.first })
    }
}

/// The n-grams of all workers under common numbers.
pub(super) struct Merged {
    pub(super) ngrams: Dictionary,
    /// How many rows have each.
    pub(super) frequencies: Vec<u64>,
    /// The common number for each of a worker's own.
    numbers: Vec<Vec<u32>>,
}

impl Merged {
    pub(super) fn of(counters: Vec<Counter>) -> Result<Self, Problem> {
        let mut merged =
            Merged { ngrams: Dictionary::default(), frequencies: Vec::new(), numbers: Vec::new() };
        for counter in counters {
            if counter.is_full || merged.add(counter).is_none() {
                return Err(too_many());
            }
        }
        Ok(merged)
    }

    fn add(&mut self, counter: Counter) -> Option<()> {
        let mut numbers: Vec<u32> = (0..counter.ngrams.len() as u32).collect();
        if self.numbers.is_empty() {
            self.frequencies = counter.frequencies().collect();
            self.ngrams = counter.ngrams;
        } else {
            for (number, rows) in numbers.iter_mut().zip(counter.frequencies()) {
                *number = self.ngrams.intern(counter.ngrams.name(*number)).ok()?;
                self.frequencies.resize(self.ngrams.len(), 0);
                self.frequencies[*number as usize] += rows;
            }
        }
        self.numbers.push(numbers);
        Some(())
    }

    /// The n-grams that are in enough rows, by their bytes.
    pub(super) fn sorted(&self, min_rows: usize) -> Vec<u32> {
        let is_kept = |&number: &u32| self.frequencies[number as usize] >= min_rows as u64;
        let keyed = |number: u32| (opening(self.ngrams.name(number)), number);
        let mut kept: Vec<(u64, u32)> =
            (0..self.frequencies.len() as u32).filter(is_kept).map(keyed).collect();
        kept.par_sort_unstable_by(|(a, first), (b, second)| {
            a.cmp(b).then_with(|| self.ngrams.name(*first).cmp(self.ngrams.name(*second)))
        });
        kept.into_iter().map(|(_, number)| number).collect()
    }

    /// Where the numbers of each worker go, if the first n-gram goes to `first`.
    pub(super) fn places(&self, kept: &[u32], first: usize) -> Result<Vec<Vec<u32>>, Problem> {
        if first + kept.len() >= NOWHERE as usize {
            return Err(too_many());
        }
        let mut places = vec![NOWHERE; self.frequencies.len()];
        (first as u32..).zip(kept).for_each(|(place, &number)| places[number as usize] = place);
        let of_worker = |numbers: &Vec<u32>| numbers.iter().map(|&number| places[number as usize]).collect();
        Ok(self.numbers.iter().map(of_worker).collect())
    }
}

/// The first eight bytes as a number that sorts as they do; most comparisons need no more.
fn opening(ngram: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = ngram.len().min(8);
    bytes[..length].copy_from_slice(&ngram[..length]);
    u64::from_be_bytes(bytes)
}

fn too_many() -> Problem {
    Problem::IndexTooLarge { index: (1u64 << 32).to_string() }
}
