//! A kernel perceptron that keeps every update.

use rayon::prelude::*;

use super::kernelised::{Form, Kernelised, Memory, Part};
use super::native::look;
use super::{Added, Tally, Visit};
use crate::gram::Gram;
use crate::model::{History, Sum, Tie, Update};

/// Examples of a block with their kernel values.
struct Block<'a> {
    /// With each stored example, and with each other.
    stored: Vec<f32>,
    mutual: Vec<f32>,
    classes: &'a [u32],
    weights: &'a [f64],
    lift: f64,
    tie: Tie,
}

/// Scores are added up update by update, so that the size of blocks does not show.
impl Memory for History {
    fn new(_: &Form, planes: usize) -> Self {
        History::new(planes)
    }

    fn planes(&self) -> usize {
        self.planes
    }

    fn learn(
        all: &mut Kernelised<Self>,
        own: &Gram<'_>,
        rows: &[usize],
        classes: &[u32],
        weights: &[f64],
    ) -> Vec<Tally> {
        let mut mutual = vec![0.0; rows.len() * rows.len()];
        if rows.len() > 1 || weights.iter().any(|&weight| weight > 1.0) {
            own.values(&own.tiles(own, rows), rows, &mut mutual);
        }
        let (lift, tie) = (all.form.lift(), all.form.tie);
        let block = Block { stored: all.values(own, rows), mutual, classes, weights, lift, tie };
        if all.form.kernel.is_flawed() {
            return vec![Tally::default(); all.parts.len()];
        }
        let learned: Vec<(Tally, Vec<usize>)> = all
            .parts
            .par_iter_mut()
            .map(|part| if part.course.done { Default::default() } else { part.learn(&block) })
            .collect();
        all.intern_all(own, rows, learned.iter().map(|(_, places)| places.as_slice()));
        learned.into_iter().map(|(tally, _)| tally).collect()
    }

    fn score(&self, values: &[f32], lift: f64) -> Vec<f64> {
        let mut scores = vec![0.0; self.planes];
        self.activate(values, 1, lift, &mut scores);
        scores
    }

    fn added(&self) -> Added {
        let mut sums = vec![0.0; self.planes];
        self.each_last(&mut |_, plane, amount| sums[plane] += amount);
        Added::Amounts(sums)
    }

    fn sum(all: &Kernelised<Self>) -> Sum {
        let histories = all.parts.iter().map(|part| part.memory.clone()).collect();
        Sum::Votes { tie: all.form.tie, histories }
    }

    fn fits(&self, _: &Form, planes: usize, n_rows: usize) -> bool {
        self.fits(planes, n_rows)
    }

    fn flip(&mut self) {
        self.flip();
    }

    fn split(&mut self) {
        self.split();
    }

    fn insert(&mut self, at: usize) {
        self.insert(at);
    }
}

impl Kernelised<History> {
    /// Stores the examples that updates were made on, in the order they were seen in, and tells the updates their numbers.
    fn intern_all<'p>(
        &mut self,
        own: &Gram<'_>,
        rows: &[usize],
        places: impl Iterator<Item = &'p [usize]> + Clone,
    ) {
        let mut used: Vec<usize> = places.clone().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let mut numbers = vec![0; rows.len()];
        for b in used {
            numbers[b] = self.intern(own, rows[b]);
        }
        for (part, places) in self.parts.iter_mut().zip(places) {
            let first = part.memory.updates.len() - places.len();
            for (update, &b) in part.memory.updates[first..].iter_mut().zip(places) {
                update.row = numbers[b];
            }
        }
    }
}

impl Part<History> {
    /// Learns from a block; which examples of it updates were made on.
    fn learn(&mut self, block: &Block<'_>) -> (Tally, Vec<usize>) {
        let width = block.classes.len();
        let mut activations = vec![0.0; self.memory.planes * width];
        self.memory.activate(&block.stored, width, block.lift, &mut activations);
        let (mut tally, mut places) = (Tally::default(), Vec::new());
        for (b, (&class, &weight)) in block.classes.iter().zip(block.weights).enumerate() {
            if let Some(y) = self.target.of(class) {
                tally.count(self.visit(block, b, y, weight, &mut activations, &mut places));
            }
        }
        (tally, places)
    }

    /// One visit for each unit of weight, the last of them partial. Once a visit changes nothing no later one would.
    fn visit(
        &mut self,
        block: &Block<'_>,
        b: usize,
        y: usize,
        weight: f64,
        activations: &mut [f64],
        places: &mut Vec<usize>,
    ) -> Visit {
        let width = block.classes.len();
        let (mut visit, mut left) = (Visit::default(), weight);
        while left > 0.0 {
            let share = left.min(1.0);
            let scores: Vec<f64> = activations.iter().skip(b).step_by(width).copied().collect();
            let (pushes, seen) = look(&scores, y, block.tie, share);
            if !seen.mistake {
                self.memory.tick(left);
                break;
            }
            let update = Update::of(b as u32, &pushes[..scores.len().min(2)], share);
            update.activate(&block.mutual, width, block.lift, activations);
            self.memory.push(update);
            self.memory.tick(share);
            places.push(b);
            visit.mistakes += 1;
            visit.updates += 1;
            left -= share;
        }
        visit
    }
}
