//! One binary problem, or all classes at once.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::hypothesis::{Hypothesis, Push};
use super::pocket::Pocket;
use super::rule::{Rule, Seen};
use super::{Examples, State, Tally, Target, Visit, checkpoint};
use crate::data::{Matrix, Rows};
use crate::model::{Body, Decision, Planes, Tie};
use crate::watch::Monitor;
use crate::with_rows;

/// A rule moving a hypothesis: a single plane up to two classes, one plane a class from three.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Native<H, U> {
    hypothesis: H,
    rule: U,
    tie: Tie,
    n_classes: usize,
    pocket: Option<Pocket<H>>,
    scores: Vec<f64>,
}

impl<H: Hypothesis, U: Rule> Native<H, U> {
    pub(crate) fn new(hypothesis: H, rule: U, tie: Tie, n_classes: usize, pocket: bool) -> Self {
        let scores = vec![0.0; of_classes(n_classes)];
        Native { hypothesis, rule, tie, n_classes, pocket: pocket.then(Pocket::default), scores }
    }

    /// One visit for each unit of weight, the last of them partial. Once a visit changes nothing no later one would.
    #[inline]
    fn visit<R: Rows>(&mut self, x: &R, i: usize, y: usize, weight: f64) -> Visit {
        let mut visit = Visit::default();
        let mut scores = std::mem::take(&mut self.scores);
        let mut left = weight;
        while left > 0.0 {
            let share = left.min(1.0);
            let (pushes, seen) = self.look(x, i, y, share, &mut scores);
            let pushes = &pushes[..scores.len().min(2)];
            let hypothesis = &self.hypothesis;
            let Some(step) = self.rule.step(seen, || hypothesis.energy(x, i, pushes)) else {
                visit.mistakes += if seen.mistake { left.ceil() as u64 } else { 0 };
                self.hypothesis.tick(left);
                break;
            };
            self.hypothesis.push(x, i, pushes, &step);
            self.hypothesis.tick(share);
            visit.mistakes += u64::from(seen.mistake);
            visit.updates += 1;
            left -= share;
        }
        self.scores = scores;
        visit
    }

    /// Scores an example; says which planes an update would move, and what the rule needs to know.
    #[inline]
    fn look<R: Rows>(&self, x: &R, i: usize, y: usize, share: f64, scores: &mut [f64]) -> ([Push; 2], Seen) {
        self.hypothesis.scores(x, i, scores);
        look(scores, y, self.tie, share)
    }

    fn pass_over<R: Rows>(
        &mut self,
        x: &R,
        data: &Examples<'_>,
        target: Target,
        order: &[usize],
        monitor: &Monitor<'_>,
    ) -> Tally {
        let mut tally = Tally::default();
        for block in order.chunks(Monitor::BLOCK) {
            for (at, &i) in block.iter().enumerate() {
                if let Some(&later) = block.get(at + 2 * AHEAD) {
                    x.prefetch_place(later);
                }
                if let Some(&soon) = block.get(at + AHEAD) {
                    x.prefetch(soon);
                }
                let Some(y) = target.of(data.y[i]) else { continue };
                let visit = self.visit(x, i, y, data.weight(i));
                tally.count(visit);
                self.consider(x, data, target, visit.updates == 0);
            }
            if !monitor.go_on(block.len()) {
                tally.stopped = true;
                break;
            }
        }
        self.fill_pocket(x, data, target);
        tally
    }

    /// The pocket looks at weights that have survived longer than the ones it holds.
    #[inline]
    fn consider<R: Rows>(&mut self, x: &R, data: &Examples<'_>, target: Target, survived: bool) {
        let Some(pocket) = &mut self.pocket else { return };
        if pocket.is_due(survived, data.y.len()) {
            self.fill_pocket(x, data, target);
        }
    }

    fn fill_pocket<R: Rows>(&mut self, x: &R, data: &Examples<'_>, target: Target) {
        let Some(mut pocket) = self.pocket.take() else { return };
        if !pocket.has_seen_current() {
            pocket.compare(&self.hypothesis, self.correct(x, data, target), data.y.len());
        }
        self.pocket = Some(pocket);
    }

    /// The weight of the rows that are predicted rightly, summed by fixed blocks.
    fn correct<R: Rows>(&self, x: &R, data: &Examples<'_>, target: Target) -> f64 {
        const ROWS: usize = 4096;
        let starts: Vec<usize> = (0..data.y.len()).step_by(ROWS).collect();
        let block = |&start: &usize| {
            let (mut scores, mut sum) = (self.scores.clone(), 0.0);
            for i in start..(start + ROWS).min(data.y.len()) {
                if let Some(y) = target.of(data.y[i])
                    && !self.look(x, i, y, 1.0, &mut scores).1.mistake
                {
                    sum += data.weight(i);
                }
            }
            sum
        };
        let sums: Vec<f64> = match starts.len() {
            1 => starts.iter().map(block).collect(),
            _ => starts.par_iter().map(block).collect(),
        };
        sums.iter().sum()
    }
}

/// Rows between the one learned from and the one asked for: shuffled rows come from all over memory, which takes as long
/// to answer as a few rows take to learn. Where such a row lies is asked for as long before again.
const AHEAD: usize = 4;

/// How many planes so many classes have.
pub(super) fn of_classes(n_classes: usize) -> usize {
    if n_classes > 2 { n_classes } else { 1 }
}

/// Given the scores of an example, says which planes an update would move, and what the rule needs to know. Of one plane only the first push counts.
#[inline]
pub(super) fn look(scores: &[f64], y: usize, tie: Tie, share: f64) -> ([Push; 2], Seen) {
    if let [g] = *scores {
        let sign = if y == 1 { 1.0 } else { -1.0 };
        let wrong = usize::from(tie.is_positive(g)) != y;
        let mistake = wrong || (g == 0.0 && tie == Tie::Mistake);
        let push = Push { plane: 0, sign };
        return ([push, push], Seen { margin: sign * g, mistake, share });
    }
    let rival = strongest_rival(scores, y);
    let margin = scores[y] - scores[rival];
    let lost_tie = margin == 0.0 && (rival < y || tie == Tie::Mistake);
    let pushes = [Push { plane: y, sign: 1.0 }, Push { plane: rival, sign: -1.0 }];
    (pushes, Seen { margin, mistake: margin < 0.0 || lost_tie, share })
}

/// The first of the highest among the other classes.
#[inline]
fn strongest_rival(scores: &[f64], y: usize) -> usize {
    let mut rival = usize::from(y == 0);
    for (c, score) in scores.iter().enumerate() {
        if c != y && *score > scores[rival] {
            rival = c;
        }
    }
    rival
}

impl<H: Hypothesis, U: Rule> State for Native<H, U> {
    fn update(&mut self, x: &Matrix<'_>, i: usize, y: usize, weight: f64) -> Visit {
        with_rows!(x, x => self.visit(x, i, y, weight))
    }

    fn scores(&self, x: &Matrix<'_>, i: usize) -> Vec<f64> {
        let mut scores = self.scores.clone();
        with_rows!(x, x => self.hypothesis.scores(x, i, &mut scores));
        scores
    }

    fn pass(&mut self, data: &Examples<'_>, target: Target, order: &[usize], monitor: &Monitor<'_>) -> Tally {
        with_rows!(data.x, x => self.pass_over(x, data, target, order, monitor))
    }

    fn decision(&self) -> Decision {
        if self.n_classes > 2 { Decision::Highest } else { Decision::Sign(self.tie) }
    }

    fn body(&self) -> Body {
        let pocketed = self.pocket.as_ref().and_then(Pocket::best);
        pocketed.unwrap_or(&self.hypothesis).body()
    }

    fn output(&self, x: &Matrix<'_>, i: usize) -> Vec<f64> {
        let best = self.pocket.as_ref().and_then(Pocket::best).unwrap_or(&self.hypothesis);
        let mut scores = self.scores.clone();
        with_rows!(x, x => best.output(x, i, &mut scores));
        scores
    }

    fn current(&self) -> Option<Planes> {
        Some(self.hypothesis.current())
    }

    fn grow(&mut self, n_cols: usize) {
        self.hypothesis.grow(n_cols);
    }

    fn flip(&mut self) {
        self.hypothesis.flip();
    }

    fn add_class(&mut self, at: usize) {
        match self.n_classes {
            0 => {}
            1 if at == 0 => self.hypothesis.flip(),
            1 => {}
            2 => {
                self.hypothesis.split();
                self.hypothesis.insert(at);
            }
            _ => self.hypothesis.insert(at),
        }
        self.n_classes += 1;
        self.scores = vec![0.0; of_classes(self.n_classes)];
    }

    fn save(&self) -> Vec<u8> {
        checkpoint::pack(self)
    }

    fn restore(&mut self, bytes: &[u8], n_cols: usize) -> Option<()> {
        let saved: Self = checkpoint::unpack(bytes)?;
        let k = self.scores.len();
        let pocketed = saved.pocket.as_ref().and_then(Pocket::best);
        let fits = saved.n_classes == self.n_classes
            && saved.scores.len() == k
            && saved.hypothesis.fits(k, n_cols)
            && pocketed.is_none_or(|best| best.fits(k, n_cols));
        fits.then(|| *self = saved)
    }

    fn boxed(&self) -> Box<dyn State> {
        Box::new(self.clone())
    }
}
