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
    pub(crate) fn of(texts: Vec<String>, mass: Vec<f64>) -> Self {
        let numbers = texts.iter().cloned().zip(0..).collect();
        LabelBook { texts, numbers, mass }
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
