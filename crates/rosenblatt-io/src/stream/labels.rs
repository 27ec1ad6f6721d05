//! The labels of a stream, each kept once.

use std::collections::HashMap;

use rosenblatt::{Classes, Labels};

/// Distinct labels as written, numbered in order of appearance, with the weight of the rows of each.
#[derive(Default)]
pub(crate) struct LabelBook {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
    mass: Vec<f64>,
}

impl LabelBook {
    /// What was written down before; nothing if it does not fit together.
    pub(crate) fn of(texts: Vec<String>, mass: Vec<f64>) -> Option<Self> {
        let numbers: HashMap<String, u32> = texts.iter().cloned().zip(0..).collect();
        let fits = numbers.len() == texts.len() && mass.len() == texts.len();
        fits.then_some(LabelBook { texts, numbers, mass })
    }

    pub(crate) fn texts(&self) -> &[String] {
        &self.texts
    }

    pub(crate) fn mass(&self) -> &[f64] {
        &self.mass
    }

    /// The number of the label of each row.
    pub(crate) fn numbers(&mut self, labels: &Labels, weights: Option<&[f64]>) -> Vec<u32> {
        let known: Vec<u32> = labels.distinct().iter().map(|text| self.number(text)).collect();
        let numbers: Vec<u32> = labels.ids().iter().map(|&id| known[id as usize]).collect();
        for (row, &number) in numbers.iter().enumerate() {
            self.mass[number as usize] += weights.map_or(1.0, |weights| weights[row]);
        }
        numbers
    }

    fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.mass.push(0.0);
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// The classes the labels name so far, and the class of each label.
    pub(crate) fn classes(&self) -> (Classes, Vec<u32>) {
        Labels::new(&self.texts).encode()
    }
}

#[cfg(test)]
mod tests {
    use super::LabelBook;

    #[test]
    fn books_that_do_not_fit_together() {
        let book = |texts: &[&str], mass: &[f64]| {
            LabelBook::of(texts.iter().map(|&text| text.to_owned()).collect(), mass.to_vec())
        };
        assert!(book(&["a", "b"], &[1.0, 2.0]).is_some());
        assert!(book(&["a", "b"], &[1.0]).is_none());
        assert!(book(&["a", "a"], &[1.0, 2.0]).is_none());
    }
}
