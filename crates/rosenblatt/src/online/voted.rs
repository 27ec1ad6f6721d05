//! Weights that remember all they were (voted perceptron).

use serde::{Deserialize, Serialize};

use super::hypothesis::{Hypothesis, Push};
use super::rule::Step;
use crate::data::Rows;
use crate::model::{Ballot, Body, History, Planes, RowStore, Tie, Update};

/// The current weights and the history a [`Ballot`] is made of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Voted {
    w: Planes,
    tie: Tie,
    store: RowStore,
    history: History,
}

impl Voted {
    pub(crate) fn new(planes: Planes, tie: Tie) -> Self {
        Voted { history: History::new(planes.k()), w: planes, tie, store: RowStore::new() }
    }

    fn ballot(&self) -> Ballot {
        Ballot {
            tie: self.tie,
            lifted: self.w.lifted,
            rows: self.store.matrix(self.w.n_cols),
            history: self.history.clone(),
        }
    }
}

impl Update {
    /// What pushes on planes are to a stored row.
    pub(super) fn of(row: u32, pushes: &[Push], size: f64) -> Self {
        let moved = |up: bool| {
            let found = pushes.iter().find(|push| (push.sign > 0.0) == up);
            found.map(|push| push.plane as u32)
        };
        Update { row, up: moved(true), down: moved(false), size }
    }
}

impl Hypothesis for Voted {
    #[inline]
    fn scores<R: Rows>(&self, x: &R, i: usize, out: &mut [f64]) {
        self.w.scores(x, i, out);
    }

    fn energy<R: Rows>(&self, x: &R, i: usize, pushes: &[Push]) -> f64 {
        self.w.energy(x, i, pushes)
    }

    fn push<R: Rows>(&mut self, x: &R, i: usize, pushes: &[Push], step: &Step) {
        Hypothesis::push(&mut self.w, x, i, pushes, step);
        let row = self.store.intern(x, i);
        self.history.push(Update::of(row, pushes, step.size));
    }

    fn tick(&mut self, visits: f64) {
        self.history.tick(visits);
    }

    fn grow(&mut self, n_cols: usize) {
        self.w.grow(n_cols, 0.0);
    }

    fn flip(&mut self) {
        self.w.map(|w| -w);
        self.history.flip();
    }

    fn split(&mut self) {
        Hypothesis::split(&mut self.w);
        self.history.split();
    }

    fn insert(&mut self, at: usize) {
        self.w.insert(at, 0.0);
        self.history.insert(at);
    }

    fn output<R: Rows>(&self, x: &R, i: usize, out: &mut [f64]) {
        let mut features = vec![0.0; self.w.n_cols.max(x.n_cols())];
        x.each(i, |j, v| features[j] = v);
        self.ballot().scores(&features, out);
    }

    fn fits(&self, k: usize, n_cols: usize) -> bool {
        let n_rows = self.store.checked(n_cols);
        self.w.fits(k, n_cols) && n_rows.is_some_and(|n_rows| self.history.fits(k, n_rows))
    }

    fn body(&self) -> Body {
        Body::Voted(vec![self.ballot()])
    }

    fn current(&self) -> Planes {
        self.w.clone()
    }
}
