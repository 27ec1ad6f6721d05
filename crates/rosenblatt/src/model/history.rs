//! How weights came to be what they are.

use serde::{Deserialize, Serialize};

use super::Tie;
use super::ballot::argmax;
use crate::data::Float;

/// Every update of a perceptron, over examples that are stored elsewhere, and how many visits the weights survived after each.
///
/// All weights it went through are sums of these updates, so that one sweep gives the last of them, their mean or their votes (Freund and Schapire 1999, section 2.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct History {
    /// 1 in a binary problem, else one for each class.
    pub(crate) planes: usize,
    pub(crate) updates: Vec<Update>,
    /// Visits survived by the zero vector, then by the vector after each update.
    pub(crate) survivals: Vec<f64>,
}

/// One update: `size` times a stored example is added to a plane and taken from another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Update {
    pub(crate) row: u32,
    pub(crate) up: Option<u32>,
    pub(crate) down: Option<u32>,
    pub(crate) size: f64,
}

impl History {
    pub(crate) fn new(planes: usize) -> Self {
        History { planes, updates: Vec::new(), survivals: vec![0.0] }
    }

    pub(crate) fn push(&mut self, update: Update) {
        self.updates.push(update);
        self.survivals.push(0.0);
    }

    /// So many visits ended with the weights as they are.
    pub(crate) fn tick(&mut self, visits: f64) {
        if let Some(survived) = self.survivals.last_mut() {
            *survived += visits;
        }
    }

    /// How many weight vectors vote.
    pub(crate) fn voters(&self) -> usize {
        self.survivals.iter().filter(|&&visits| visits > 0.0).count()
    }

    /// Whether it is a history of so many planes over so many stored rows: one read from a file may be anything.
    pub(crate) fn fits(&self, planes: usize, n_rows: usize) -> bool {
        let known = |plane: Option<u32>| plane.is_none_or(|plane| (plane as usize) < planes);
        let in_place =
            |update: &Update| (update.row as usize) < n_rows && known(update.up) && known(update.down);
        self.planes == planes
            && self.survivals.len() == self.updates.len() + 1
            && self.updates.iter().all(in_place)
    }

    /// Calls `f(row, plane, amount)` for all that updates add to the last weights.
    pub(crate) fn each_last(&self, f: &mut dyn FnMut(usize, usize, f64)) {
        self.updates.iter().for_each(|update| update.each(update.size, f));
    }

    /// The same for the sum of the weights over all visits.
    pub(crate) fn each_total(&self, f: &mut dyn FnMut(usize, usize, f64)) {
        let mut left = self.visits() - self.survivals[0];
        for (update, &visits) in self.updates.iter().zip(&self.survivals[1..]) {
            // An update is part of its own vector and of all that follow.
            update.each(update.size * left, f);
            left -= visits;
        }
    }

    /// The same for the mean of the weights over all visits.
    pub(crate) fn each_mean(&self, f: &mut dyn FnMut(usize, usize, f64)) {
        let visits = self.visits().max(f64::MIN_POSITIVE);
        self.each_total(&mut |row, plane, amount| f(row, plane, amount / visits));
    }

    /// How many visits there were.
    pub(crate) fn visits(&self) -> f64 {
        self.survivals.iter().sum()
    }

    /// Adds up, update by update, the scores of some examples under the last weights: values[row·width + b] is what stored row and example b have in common, and
    /// activations[plane·width + b] the score.
    pub(crate) fn activate<T: Float>(&self, values: &[T], width: usize, lift: f64, activations: &mut [f64]) {
        for update in &self.updates {
            update.activate(values, width, lift, activations);
        }
    }

    /// Adds each vector's vote for some examples, as shares of all votes; `out` has the votes of one example after those of another, `stride` apart. A binary score lies
    /// between −1 and 1; with many classes each gets its share.
    pub(crate) fn vote<T: Float>(
        &self,
        tie: Tie,
        values: &[T],
        width: usize,
        lift: f64,
        out: &mut [f64],
        stride: usize,
    ) {
        let mut activations = vec![0.0; self.planes * width];
        let mut votes = vec![0.0; self.planes * width];
        self.count(tie, &activations, self.survivals[0], &mut votes, width);
        for (update, &visits) in self.updates.iter().zip(&self.survivals[1..]) {
            update.activate(values, width, lift, &mut activations);
            if visits > 0.0 {
                self.count(tie, &activations, visits, &mut votes, width);
            }
        }
        let total: f64 = self.survivals.iter().sum();
        for (b, out) in out.chunks_mut(stride).enumerate() {
            for (plane, out) in out[..self.planes].iter_mut().enumerate() {
                let votes = votes[plane * width + b];
                *out = if total > 0.0 { votes / total } else { votes };
            }
        }
    }

    fn count(&self, tie: Tie, activations: &[f64], visits: f64, votes: &mut [f64], width: usize) {
        if self.planes == 1 {
            for (votes, &g) in votes.iter_mut().zip(activations) {
                *votes += if tie.is_positive(g) { visits } else { -visits };
            }
            return;
        }
        for b in 0..width {
            let scores: Vec<f64> = activations.iter().skip(b).step_by(width).copied().collect();
            votes[argmax(&scores) * width + b] += visits;
        }
    }

    /// Planes get other numbers.
    pub(crate) fn rename(&mut self, f: impl Fn(Option<u32>, Option<u32>) -> (Option<u32>, Option<u32>)) {
        for update in &mut self.updates {
            (update.up, update.down) = f(update.up, update.down);
        }
    }

    /// Classes −1 and +1 change places.
    pub(crate) fn flip(&mut self) {
        self.rename(|up, down| (down, up));
    }

    /// One binary plane becomes two, for −1 and for +1.
    pub(crate) fn split(&mut self) {
        self.planes = 2;
        self.rename(|up, _| if up.is_some() { (Some(1), Some(0)) } else { (Some(0), Some(1)) });
    }

    /// A class appears before plane `at`.
    pub(crate) fn insert(&mut self, at: usize) {
        self.planes += 1;
        let moved = |plane: Option<u32>| plane.map(|c| c + u32::from(c as usize >= at));
        self.rename(|up, down| (moved(up), moved(down)));
    }
}

impl Update {
    fn each(&self, amount: f64, f: &mut dyn FnMut(usize, usize, f64)) {
        if let Some(up) = self.up {
            f(self.row as usize, up as usize, amount);
        }
        if let Some(down) = self.down {
            f(self.row as usize, down as usize, -amount);
        }
    }

    pub(crate) fn activate<T: Float>(&self, values: &[T], width: usize, lift: f64, activations: &mut [f64]) {
        let values = &values[self.row as usize * width..][..width];
        self.each(self.size, &mut |_, plane, amount| {
            let activations = &mut activations[plane * width..][..width];
            for (activation, value) in activations.iter_mut().zip(values) {
                *activation += amount * (value.wide() + lift);
            }
        });
    }
}
