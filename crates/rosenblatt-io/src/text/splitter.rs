//! Texts are cut into n-grams.

use rosenblatt::NgramRange;

/// Cuts texts; keeps its memory from one to the next.
#[derive(Default)]
pub(crate) struct Splitter {
    /// The words of a text in lower case, a space between them, so that n-grams are slices of it.
    folded: String,
    /// Where each word begins and ends there.
    words: Vec<(usize, usize)>,
    /// Where the characters of a word begin, and its end.
    bounds: Vec<usize>,
}

impl Splitter {
    /// The words of a text: lower case, made of letters, digits and inner apostrophes, at least two characters.
    pub(crate) fn words(&mut self, text: &str) -> impl Iterator<Item = &str> {
        self.fold_words(text);
        self.words.iter().map(|&(start, end)| &self.folded[start..end])
    }

    /// N-grams of words, in order.
    pub(crate) fn word_ngrams(&mut self, text: &str, range: NgramRange, mut each: impl FnMut(&[u8])) {
        if range.is_none() {
            return;
        }
        self.fold_words(text);
        let folded = self.folded.as_bytes();
        for (at, &(start, _)) in self.words.iter().enumerate() {
            for last in range.lengths().map(|length| at + length - 1) {
                let Some(&(_, end)) = self.words.get(last) else { break };
                each(&folded[start..end]);
            }
        }
    }

    /// N-grams of characters within a word and the space on either side; words are what spaces part. A word shorter than an
    /// n-gram counts once as a whole, as `char_wb` of scikit-learn has it.
    pub(crate) fn char_ngrams(&mut self, text: &str, range: NgramRange, mut each: impl FnMut(&[u8])) {
        if range.is_none() {
            return;
        }
        self.fold(text.split_whitespace(), 1);
        self.folded.push(' ');
        for &(start, end) in &self.words {
            let (start, end) = (start - 1, end + 1);
            let starts = self.folded[start..end].char_indices().map(|(at, _)| start + at);
            self.bounds.clear();
            self.bounds.extend(starts.chain([end]));
            let characters = self.bounds.len() - 1;
            let folded = self.folded.as_bytes();
            for length in range.lengths() {
                if length >= characters {
                    each(&folded[start..end]);
                    break;
                }
                let ends = self.bounds[length..].iter();
                self.bounds.iter().zip(ends).for_each(|(&from, &to)| each(&folded[from..to]));
            }
        }
    }

    fn fold_words(&mut self, text: &str) {
        let in_word = |c: char| c.is_alphanumeric() || c == '\'';
        self.fold(text.split(|c| !in_word(c)).map(|word| word.trim_matches('\'')), 2);
    }

    /// Lays out words of at least so many characters, each behind a space.
    fn fold<'a>(&mut self, words: impl Iterator<Item = &'a str>, shortest: usize) {
        self.folded.clear();
        self.words.clear();
        for word in words.filter(|word| !word.is_empty()) {
            let before = self.folded.len();
            self.folded.push(' ');
            push_lower(&mut self.folded, word);
            let (start, end) = (before + 1, self.folded.len());
            match self.folded[start..].chars().nth(shortest - 1) {
                Some(_) => self.words.push((start, end)),
                None => self.folded.truncate(before),
            }
        }
    }
}

/// Most words are ASCII, for which nothing need be allocated.
fn push_lower(folded: &mut String, word: &str) {
    let start = folded.len();
    match word.is_ascii() {
        true => {
            folded.push_str(word);
            folded[start..].make_ascii_lowercase();
        }
        false => folded.push_str(&word.to_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn word_ngrams(text: &str, range: &str) -> Vec<String> {
        let mut found = Vec::new();
        let range = range.parse().unwrap_or(NgramRange::NONE);
        Splitter::default()
            .word_ngrams(text, range, |ngram| found.push(String::from_utf8_lossy(ngram).into()));
        found
    }

    fn char_ngrams(text: &str, range: &str) -> Vec<String> {
        let mut found = Vec::new();
        let range = range.parse().unwrap_or(NgramRange::NONE);
        Splitter::default()
            .char_ngrams(text, range, |ngram| found.push(String::from_utf8_lossy(ngram).into()));
        found
    }

    #[test]
    fn words_are_folded_and_short_ones_left_out() {
        let mut splitter = Splitter::default();
        let text = "Don't WIN a 'free' £1000 prize; ÉTÉ é win 2 go!";
        let found: Vec<&str> = splitter.words(text).collect();
        assert_eq!(found, ["don't", "win", "free", "1000", "prize", "été", "win", "go"]);
    }

    #[test]
    fn ngrams_of_words_overlap() {
        assert_eq!(word_ngrams("Win THE vote", "1..2"), ["win", "win the", "the", "the vote", "vote"]);
        assert_eq!(word_ngrams("win-the vote", "3"), ["win the vote"]);
        assert_eq!(word_ngrams("win", "2..3"), [""; 0]);
        assert_eq!(word_ngrams("win the", "0"), [""; 0]);
    }

    #[test]
    fn ngrams_of_characters_stay_within_a_word() {
        assert_eq!(char_ngrams("Hé!  x", "3"), [" hé", "hé!", "é! ", " x "]);
        assert_eq!(char_ngrams("ab", "3..5"), [" ab", "ab ", " ab "]);
        assert_eq!(char_ngrams("a", "1"), [" ", "a", " "]);
        assert_eq!(char_ngrams(" \t\n", "1..3"), [""; 0]);
        assert_eq!(char_ngrams("win the", "0"), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_text_is_cut_at_characters(text in any::<String>(), from in 1..6usize, more in 0..6usize) {
            let range = NgramRange::new(from, from + more).unwrap_or(NgramRange::NONE);
            let mut splitter = Splitter::default();
            let is_text = |ngram: &[u8]| assert!(std::str::from_utf8(ngram).is_ok_and(|ngram| !ngram.is_empty()));
            splitter.word_ngrams(&text, range, is_text);
            splitter.char_ngrams(&text, range, is_text);
        }
    }
}
