//! Scores and kernel values in double precision, where single precision is too coarse for what is asked.

use super::super::pairs::stride;
use super::super::term::Term;
use super::{Decomposition, State};

impl<T: Term> Decomposition<'_, T> {
    /// The same in double precision, if that is asked for by now.
    pub(super) fn precisely_among(&self, set: &[usize]) -> Option<Vec<f64>> {
        let (lift, stride) = (self.machine.lift, stride(set.len()));
        let rows: Vec<usize> = set.iter().map(|&i| self.row(i)).collect();
        let mut values = if self.precise { self.machine.gram.values_precisely(&rows, stride) } else { None }?;
        values.chunks_mut(stride).for_each(|row| row[..set.len()].iter_mut().for_each(|v| *v += lift));
        Some(values)
    }

    /// Where rounding errors of kernel values have made scores of a sample as wrong as matters: the scores of all examples that may be near their bounds, and of all that both objectives are made of, in double precision; whether that was needed. What moves
    /// later is added to them, so that errors stay as small as the moves.
    pub(super) fn refresh(&mut self, state: &State, tolerance: f64) -> bool {
        /// Conditions that are less than this from being broken are looked at, or less than so many times the error of the sample.
        const NEAR: f64 = 0.1;
        const TIMES: f64 = 16.0;
        /// Of examples near their bounds, and of all others.
        const SAMPLE: usize = 32;
        /// Errors may be this share of the tolerance.
        const ALLOWED: f64 = 0.1;
        let within = |column: usize, distance: f64| {
            let (up, down) = self.severity(state, column);
            self.alpha[self.columns[column]] > 0.0 || up.max(down) > -distance
        };
        let mut columns: Vec<usize> = (0..self.columns.len()).collect();
        columns.sort_by_key(|&column| self.rank[self.columns[column]]);
        let some = |near: bool| columns.iter().copied().filter(move |&column| within(column, NEAR) == near);
        let sample: Vec<usize> = some(true).take(SAMPLE).chain(some(false).take(SAMPLE)).collect();
        let Some(exact) = self.precisely(&sample) else { return false };
        let off = |(&column, exact): (&usize, f64)| (self.active[column] - exact).abs();
        let worst = sample.iter().zip(exact).map(off).fold(0.0, f64::max);
        if worst <= ALLOWED * tolerance {
            self.error = worst;
            return false;
        }
        columns.retain(|&column| within(column, NEAR.max(TIMES * worst)));
        let Some(exact) = self.precisely(&columns) else { return false };
        for (&column, exact) in columns.iter().zip(exact) {
            self.active[column] = exact;
            self.scores[self.columns[column]] = exact;
        }
        self.error = 0.0;
        true
    }

    /// The scores of some columns in double precision, where the kernel is known so well.
    pub(super) fn precisely(&self, columns: &[usize]) -> Option<Vec<f64>> {
        let used: Vec<usize> = (0..self.alpha.len()).filter(|&i| self.alpha[i] != 0.0).collect();
        let coefficients: Vec<f64> =
            used.iter().map(|&i| self.machine.examples[i].y() * self.alpha[i]).collect();
        let stored: Vec<usize> = used.iter().map(|&i| self.row(i)).collect();
        let rows: Vec<usize> = columns.iter().map(|&column| self.row(self.columns[column])).collect();
        self.machine.gram.combine_precisely(&rows, &stored, &coefficients)
    }

    /// What the changes of α since then add to the scores of some examples.
    pub(super) fn moved_since(&self, since: &[f64], columns: &[usize]) -> Vec<f64> {
        let changed: Vec<usize> = (0..since.len()).filter(|&i| self.alpha[i] != since[i]).collect();
        let change = |&i: &usize| self.machine.examples[i].y() * (self.alpha[i] - since[i]);
        let coefficients: Vec<f64> = changed.iter().map(change).collect();
        let stored: Vec<usize> = changed.iter().map(|&i| self.row(i)).collect();
        if let Some(moved) = self.moved_whole(&changed, &coefficients, columns) {
            return moved;
        }
        let rows: Vec<usize> = columns.iter().map(|&i| self.row(i)).collect();
        let gram = self.machine.gram;
        let exact = || gram.combine_precisely(&rows, &stored, &coefficients);
        let single = || gram.combine(&rows, gram, &stored, &coefficients, 1);
        if self.precise { exact() } else { None }.unwrap_or_else(single)
    }
}
