//! The rows of a text column as features.

use std::sync::Arc;

use super::counter::Counted;

/// Goes through the rows of a text from the first to the last.
pub(crate) struct TextRows {
    first: usize,
    /// By place within the features of the text.
    idf: Arc<[f64]>,
    /// N-grams of words and of characters; parts are let go as they are used up.
    parts: std::vec::IntoIter<[Counted; 2]>,
    part: [Counted; 2],
    row: usize,
}

impl TextRows {
    pub(super) fn new(first: usize, idf: Arc<[f64]>, parts: Vec<[Counted; 2]>) -> Self {
        TextRows { first, idf, parts: parts.into_iter(), part: Default::default(), row: 0 }
    }

    /// The same n-grams behind other features.
    pub(crate) fn with_first(self, first: usize) -> Self {
        TextRows { first, ..self }
    }

    /// The features of the next row with their values, ascending: count·idf, scaled to unit length.
    pub(crate) fn next(&mut self, mut each: impl FnMut(usize, f64)) {
        while self.row == self.part[0].ends.len() {
            let Some(part) = self.parts.next() else { return };
            (self.part, self.row) = (part, 0);
        }
        let [words, chars] = &self.part;
        let entries = || words.row(self.row).iter().chain(chars.row(self.row));
        let weight = |&(place, count): &(u32, u32)| f64::from(count) * self.idf[place as usize];
        let length = entries().map(weight).map(|w| w * w).sum::<f64>().sqrt();
        entries().for_each(|entry| each(self.first + entry.0 as usize, weight(entry) / length));
        self.row += 1;
    }
}
