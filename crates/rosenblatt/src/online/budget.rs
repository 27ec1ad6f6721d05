//! A kernel perceptron that stores no more examples than a budget allows.

use std::sync::OnceLock;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::forgetron::Forgetron;
use super::kernelised::{Form, Kernelised, Memory, Part};
use super::native::look;
use super::projectron::Projectron;
use super::terms::{Mistake, Renamed, Terms};
use super::{Added, Tally, Target, Visit};
use crate::gram::{Gram, Tiles};
use crate::learner::{Forget, Predictor};
use crate::model::{RowStore, Sum, Tie, whole};

/// How many examples each problem may store, and what happens beyond.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Budget {
    pub(crate) size: usize,
    pub(crate) forget: Forget,
    /// η of the Projectron.
    pub(crate) near: f64,
}

/// What a problem on a budget keeps. Problems share rows of the store, which has at most as many as all budgets together between two blocks.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Budgeted {
    budget: usize,
    terms: Terms,
    rule: Rule,
}

#[derive(Clone, Serialize, Deserialize)]
enum Rule {
    Forgetron(Forgetron),
    Projectron(Projectron),
}

/// Examples of a block with their kernel values. While they are learned from all of them are in the store.
struct Block<'a> {
    /// K of each example with every row of the store, example after example.
    values: Vec<f32>,
    /// The numbers of the examples in the store, and of the first among those seen.
    rows: &'a [u32],
    first: u64,
    classes: &'a [u32],
    weights: &'a [f64],
    lift: f64,
    tie: Tie,
    store: &'a Gram<'a>,
    /// All rows of the store, for those who forget.
    all: OnceLock<Tiles>,
}

/// K of some of the oldest terms with every row of the store: as one is forgotten, the next soon follows.
#[derive(Default)]
struct Oldest {
    rows: Vec<usize>,
    values: Vec<f32>,
}

/// How many of the oldest are looked at together.
const TOGETHER: usize = 12;

impl Memory for Budgeted {
    fn new(form: &Form, planes: usize) -> Self {
        let (budget, rule) = match form.budget {
            Some(Budget { size, forget: Forget::Projectron, near }) => {
                let averaged = form.predictor == Predictor::Averaged;
                (size, Rule::Projectron(Projectron::new(near, averaged, planes)))
            }
            Some(Budget { size, .. }) => (size, Rule::Forgetron(Forgetron::default())),
            None => (usize::MAX, Rule::Forgetron(Forgetron::default())),
        };
        Budgeted { budget, terms: Terms::new(planes), rule }
    }

    fn planes(&self) -> usize {
        self.terms.planes.len()
    }

    fn learn(
        all: &mut Kernelised<Self>,
        own: &Gram<'_>,
        rows: &[usize],
        classes: &[u32],
        weights: &[f64],
    ) -> Vec<Tally> {
        let before = all.store.len();
        let numbers: Vec<u32> = rows.iter().map(|&i| all.intern(own, i)).collect();
        let stored = all.store.view(all.n_cols);
        let stored = Gram::from(&all.form.kernel, &stored, &all.centre());
        let block = Block {
            values: example_by_example(&stored, &numbers),
            rows: &numbers,
            first: all.seen,
            classes,
            weights,
            lift: all.form.lift(),
            tie: all.form.tie,
            store: &stored,
            all: OnceLock::new(),
        };
        let as_before: Vec<u32> = (0..before as u32).collect();
        if all.form.kernel.is_flawed() {
            drop(all.store.keep(&as_before));
            return vec![Tally::default(); all.parts.len()];
        }
        let learn = |part: &mut Part<Self>| match part.course.done {
            true => Tally::default(),
            false => part.memory.learn_block(part.target, &block),
        };
        let tallies: Vec<Tally> = all.parts.par_iter_mut().map(learn).collect();
        all.seen = all.seen.wrapping_add(rows.len() as u64);
        match tallies.iter().all(|tally| tally.updates == 0) {
            true => drop(all.store.keep(&as_before)),
            false => settle(&mut all.store, &mut all.parts),
        }
        tallies
    }

    fn score(&self, values: &[f32], lift: f64) -> Vec<f64> {
        let mut of_terms = Vec::new();
        self.terms.values(values, lift, &mut of_terms);
        self.terms.scores(&of_terms)
    }

    fn added(&self) -> Added {
        Added::Terms(self.terms.each().collect())
    }

    fn sum(all: &Kernelised<Self>) -> Sum {
        let planes = all.parts.iter().map(|part| part.memory.planes()).sum();
        Sum::Coefficients { planes, values: by_row(all, Budgeted::weights) }
    }

    fn counts(all: &Kernelised<Self>) -> Vec<f64> {
        match all.form.predictor {
            Predictor::Averaged => whole(by_row(all, |memory| memory.terms.planes.clone())),
            _ => Vec::new(),
        }
    }

    fn fits(&self, form: &Form, planes: usize, n_rows: usize) -> bool {
        let Some(Budget { size, forget, near }) = form.budget else { return false };
        let averaged = form.predictor == Predictor::Averaged;
        let rule = match &self.rule {
            Rule::Forgetron(rule) => forget == Forget::Forgetron && rule.fits(),
            Rule::Projectron(rule) => {
                forget == Forget::Projectron && rule.fits(planes, self.terms.len(), near, averaged)
            }
        };
        rule && self.budget == size && self.terms.len() <= size && self.terms.fits(planes, n_rows)
    }

    fn flip(&mut self) {
        self.rename(Renamed::flip);
    }

    fn split(&mut self) {
        self.rename(Renamed::split);
    }

    fn insert(&mut self, at: usize) {
        self.rename(|planes| Renamed::insert(planes, at));
    }
}

/// What all problems have of each row of the store, for each plane.
fn by_row(all: &Kernelised<Budgeted>, of: impl Fn(&Budgeted) -> Vec<Vec<f64>>) -> Vec<f64> {
    let planes: usize = all.parts.iter().map(|part| part.memory.planes()).sum();
    let (mut values, mut first) = (vec![0.0; all.store.len() * planes], 0);
    for Part { memory, .. } in &all.parts {
        let weights = of(memory);
        for (plane, coefficients) in weights.iter().enumerate() {
            for (&row, a) in memory.terms.rows.iter().zip(coefficients) {
                values[row as usize * planes + first + plane] += a;
            }
        }
        first += weights.len();
    }
    values
}

impl Budgeted {
    fn rename(&mut self, f: impl Fn(&mut Vec<Vec<f64>>)) {
        f(&mut self.terms.planes);
        if let Rule::Projectron(rule) = &mut self.rule {
            rule.rename(f);
        }
    }

    /// What it predicts with: the last coefficients of all terms, or their mean where that was asked for.
    fn weights(&self) -> Vec<Vec<f64>> {
        let mean = match &self.rule {
            Rule::Forgetron(_) => None,
            Rule::Projectron(rule) => rule.mean(&self.terms),
        };
        mean.unwrap_or_else(|| self.terms.planes.clone())
    }

    fn learn_block(&mut self, target: Target, block: &Block<'_>) -> Tally {
        let (mut tally, mut values, mut oldest) = (Tally::default(), Vec::new(), Oldest::default());
        for (b, (&class, &weight)) in block.classes.iter().zip(block.weights).enumerate() {
            if let Some(y) = target.of(class) {
                tally.count(self.visit(block, b, y, weight, &mut values, &mut oldest));
            }
        }
        tally
    }

    /// One visit for each unit of weight, the last of them partial. Once a visit changes nothing no later one would.
    ///
    /// An example is scored when its turn has come: after what was forgotten or projected, sums that had been carried along would depend on where the block began.
    fn visit(
        &mut self,
        block: &Block<'_>,
        b: usize,
        y: usize,
        weight: f64,
        values: &mut Vec<f64>,
        oldest: &mut Oldest,
    ) -> Visit {
        let of_rows = block.of(b);
        let (mut visit, mut left) = (Visit::default(), weight);
        while left > 0.0 {
            let share = left.min(1.0);
            self.terms.values(of_rows, block.lift, values);
            let scores = self.terms.scores(values);
            let (pushes, seen) = look(&scores, y, block.tie, share);
            if !seen.mistake {
                self.tick(left);
                break;
            }
            let (row, time) = (block.rows[b], block.first.wrapping_add(b as u64));
            let own = f64::from(of_rows[row as usize]) + block.lift;
            let pushes = &pushes[..scores.len().min(2)];
            self.update(block, &Mistake { row, time, values, own, pushes, share }, oldest);
            self.tick(share);
            visit.mistakes += 1;
            visit.updates += 1;
            left -= share;
        }
        visit
    }

    fn update(&mut self, block: &Block<'_>, mistake: &Mistake<'_>, oldest: &mut Oldest) {
        match &mut self.rule {
            Rule::Forgetron(rule) => {
                rule.learn(&mut self.terms, self.budget, mistake, |terms| oldest.values(block, terms));
            }
            Rule::Projectron(rule) => rule.learn(&mut self.terms, self.budget, mistake),
        }
    }

    fn tick(&mut self, visits: f64) {
        if let Rule::Projectron(rule) = &mut self.rule {
            rule.tick(visits);
        }
    }
}

impl Block<'_> {
    /// K of an example with every row of the store.
    fn of(&self, b: usize) -> &[f32] {
        &self.values[b * self.store.len()..][..self.store.len()]
    }
}

impl Oldest {
    /// K of the oldest term with each.
    fn values(&mut self, block: &Block<'_>, terms: &Terms) -> Vec<f64> {
        let (oldest, n) = (terms.rows[0] as usize, block.store.len());
        let at = self.rows.iter().position(|&row| row == oldest).unwrap_or_else(|| {
            let all: Vec<usize> = (0..n).collect();
            let tiles = block.all.get_or_init(|| block.store.tiles(block.store, &all));
            let together = TOGETHER.min(block.rows.len());
            self.rows = terms.rows.iter().take(together).map(|&row| row as usize).collect();
            self.values.resize(self.rows.len() * n, 0.0);
            block.store.values(tiles, &self.rows, &mut self.values);
            0
        });
        let mut values = Vec::with_capacity(terms.len());
        terms.values(&self.values[at * n..][..n], block.lift, &mut values);
        values
    }
}

/// K of each of these rows with every row, as an example that comes and one that is stored: a kernel's bits may tell which is which.
fn example_by_example(stored: &Gram<'_>, rows: &[u32]) -> Vec<f32> {
    let rows: Vec<usize> = rows.iter().map(|&row| row as usize).collect();
    let all: Vec<usize> = (0..stored.len()).collect();
    let mut values = vec![0.0; all.len() * rows.len()];
    stored.values(&stored.tiles(stored, &rows), &all, &mut values);
    if rows.len() == 1 { values } else { transposed(&values, rows.len()) }
}

/// A matrix of so many columns, square by square.
fn transposed(values: &[f32], columns: usize) -> Vec<f32> {
    const SIDE: usize = 16;
    let rows = values.len() / columns;
    let mut out = vec![0.0; values.len()];
    for (at, out) in out.chunks_mut(SIDE * rows).enumerate() {
        let first = at * SIDE;
        let wide = out.len() / rows;
        for (group, values) in values.chunks(SIDE * columns).enumerate() {
            for (j, line) in values.chunks(columns).enumerate() {
                for (i, value) in line[first..first + wide].iter().enumerate() {
                    out[i * rows + group * SIDE + j] = *value;
                }
            }
        }
    }
    out
}

/// Frees all rows that no term has, and puts the others into the order in which the terms there are came: it must not show what else was in the store meanwhile.
fn settle(store: &mut RowStore, parts: &mut [Part<Budgeted>]) {
    let of = |part: &Part<Budgeted>| {
        part.memory
            .terms
            .times
            .iter()
            .copied()
            .zip(part.memory.terms.rows.iter().copied())
            .collect::<Vec<_>>()
    };
    let mut terms: Vec<(u64, u32)> = parts.iter().flat_map(of).collect();
    terms.sort_unstable();
    let mut known = vec![false; store.len()];
    terms.retain(|&(_, row)| !std::mem::replace(&mut known[row as usize], true));
    let order: Vec<u32> = terms.into_iter().map(|(_, row)| row).collect();
    let moved = store.keep(&order);
    for row in parts.iter_mut().flat_map(|part| &mut part.memory.terms.rows) {
        *row = moved[*row as usize].unwrap_or_default();
    }
}
