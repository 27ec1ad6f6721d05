//! Projecting an example onto the span of others.

use serde::{Deserialize, Serialize};

use super::inverse::Inverse;
use super::terms::{Mistake, Terms, dot};

/// The Projectron (Orabona, Keshet, Caputo 2009, Journal of Machine Learning Research 10; first at ICML 2008).
///
/// An example is replaced by its projection Σ dₛxₛ onto the span of the stored ones, d = K⁻¹k, if it lies no more than η away from it, δ² = K(x, x) − k·d ≤ η²; else it is stored. What the
/// paper leaves to η, we do at a full budget whatever the distance: project, and never drop. An example that is stored already is its own projection, without any rounding.
///
/// K is inverted for a basis of the stored examples: those that were far enough from the span of the ones before, relative to their own length. So it stays positive definite with
/// examples that depend on each other, and with kernels that are no dot products.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Projectron {
    /// η.
    near: f64,
    /// Which terms are in the basis, ascending, and the inverse of their kernel values.
    basis: Vec<u32>,
    inverse: Inverse,
    mean: Option<Mean>,
}

/// What the mean of the weights needs. Their sum over all visits is visits·a − late.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Mean {
    visits: f64,
    /// For each plane and term, what was added to its coefficient, times the visits there had been before.
    late: Vec<Vec<f64>>,
}

/// δ²/K(x, x) in the basis. Kernel values have seven digits, of which the inverse takes away five here.
const APART: f64 = 1e-5;

impl Projectron {
    pub(super) fn new(near: f64, averaged: bool, planes: usize) -> Self {
        let mean = averaged.then(|| Mean { visits: 0.0, late: vec![Vec::new(); planes] });
        Projectron { near, basis: Vec::new(), inverse: Inverse::default(), mean }
    }

    pub(super) fn learn(&mut self, terms: &mut Terms, budget: usize, mistake: &Mistake<'_>) {
        let stands_for = self.represent(terms, budget, mistake);
        for push in mistake.pushes {
            for &(term, d) in &stands_for {
                let amount = push.sign * mistake.share * d;
                terms.planes[push.plane][term] += amount;
                if let Some(Mean { visits, late }) = &mut self.mean {
                    late[push.plane][term] += amount * *visits;
                }
            }
        }
    }

    /// Terms whose sum stands for the example.
    fn represent(&mut self, terms: &mut Terms, budget: usize, mistake: &Mistake<'_>) -> Vec<(usize, f64)> {
        if let Some(stored) = terms.rows.iter().position(|&row| row == mistake.row) {
            return vec![(stored, 1.0)];
        }
        let k: Vec<f64> = self.basis.iter().map(|&term| mistake.values[term as usize]).collect();
        let d = self.inverse.times(&k);
        let distance = mistake.own - dot(&k, &d);
        let is_near = self.near > 0.0 && distance.abs() <= self.near * self.near;
        if is_near || terms.len() >= budget {
            return self.basis.iter().map(|&term| term as usize).zip(d).collect();
        }
        let new = terms.len();
        if distance > APART * mistake.own.abs() {
            self.basis.push(new as u32);
            self.inverse.border(&d, distance);
        }
        terms.open(mistake);
        self.mean.iter_mut().flat_map(|mean| &mut mean.late).for_each(|plane| plane.push(0.0));
        vec![(new, 1.0)]
    }

    /// So many visits ended with the weights as they are.
    pub(super) fn tick(&mut self, visits: f64) {
        if let Some(mean) = &mut self.mean {
            mean.visits += visits;
        }
    }

    /// The mean of the weights, for each plane and term; nothing where it was not asked for.
    pub(super) fn mean(&self, terms: &Terms) -> Option<Vec<Vec<f64>>> {
        let Mean { visits, late } = self.mean.as_ref()?;
        let plane = |(a, late): (&Vec<f64>, &Vec<f64>)| {
            let each = a.iter().zip(late).map(|(a, late)| a * visits - late);
            each.map(|sum| sum / visits.max(f64::MIN_POSITIVE)).collect()
        };
        Some(terms.planes.iter().zip(late).map(plane).collect())
    }

    /// Planes get other numbers.
    pub(super) fn rename(&mut self, f: impl FnOnce(&mut Vec<Vec<f64>>)) {
        if let Some(mean) = &mut self.mean {
            f(&mut mean.late);
        }
    }

    /// Whether it can belong to so many planes of so many terms.
    pub(super) fn fits(&self, planes: usize, n: usize, near: f64, averaged: bool) -> bool {
        let sound = |mean: &Mean| {
            let each = |plane: &Vec<f64>| plane.len() == n && plane.iter().all(|late| late.is_finite());
            mean.visits.is_finite() && mean.late.len() == planes && mean.late.iter().all(each)
        };
        self.near == near
            && self.mean.is_some() == averaged
            && self.mean.as_ref().is_none_or(sound)
            && self.basis.is_sorted_by(|a, b| a < b)
            && self.basis.last().is_none_or(|&last| (last as usize) < n)
            && self.inverse.fits(self.basis.len())
    }
}
