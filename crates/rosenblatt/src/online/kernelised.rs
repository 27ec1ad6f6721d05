//! The perceptron on kernel values: all problems of a reduction over one list of stored examples.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::native::{look, of_classes};
use super::reduced::{Course, targets};
use super::{Examples, Multiclass, Problem, State, Tally, Target, Visit, checkpoint};
use crate::data::Matrix;
use crate::gram::Gram;
use crate::learner::Predictor;
use crate::model::{Body, Decision, Expansion, History, Planes, RowStore, Sum, Tie, Update};
use crate::similarity::Similarity;
use crate::watch::Monitor;
use crate::with_rows;

/// What it is asked to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Form {
    pub(crate) kernel: Similarity,
    pub(crate) lifted: bool,
    pub(crate) tie: Tie,
    pub(crate) predictor: Predictor,
    pub(crate) scheme: Multiclass,
}

/// aᵢ += yᵢ on a mistake.
///
/// Examples are learned from one after the other, but their kernel values with all stored examples and with each other are taken for a block at once. Scores are added up update
/// by update, so that the size of blocks does not show.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Kernelised {
    form: Form,
    n_classes: usize,
    n_cols: usize,
    store: RowStore,
    parts: Vec<Part>,
}

/// One problem: binary, or all classes at once.
#[derive(Clone, Serialize, Deserialize)]
struct Part {
    target: Target,
    n_classes: usize,
    history: History,
    course: Course,
}

/// Kernel values kept at a time, in numbers, and examples in a block.
const ROOM: usize = 1 << 24;
const WIDEST: usize = 256;

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

impl Kernelised {
    pub(crate) fn new(form: Form, n_classes: usize, n_cols: usize) -> Self {
        let targets = match form.scheme {
            Multiclass::Native => vec![Target::Class],
            scheme => targets(scheme, n_classes),
        };
        let within = if targets.len() > 1 { 2 } else { n_classes };
        let parts = targets.into_iter().map(|target| Part::new(target, within)).collect();
        Kernelised { form, n_classes, n_cols, store: RowStore::new(), parts }
    }

    fn lift(&self) -> f64 {
        if self.form.lifted { 1.0 } else { 0.0 }
    }

    /// K of each stored example with each of these rows.
    fn values(&self, new: &Gram<'_>, rows: &[usize]) -> Vec<f32> {
        let stored = self.store.view(self.n_cols);
        let stored = Gram::stored(&self.form.kernel, &stored);
        let all: Vec<usize> = (0..stored.len()).collect();
        let mut values = vec![0.0; all.len() * rows.len()];
        stored.values(&stored.tiles(new, rows), &all, &mut values);
        values
    }

    /// Learns from the rows of a block, in this order; what happened in each problem.
    fn learn(&mut self, own: &Gram<'_>, rows: &[usize], classes: &[u32], weights: &[f64]) -> Vec<Tally> {
        let mut mutual = vec![0.0; rows.len() * rows.len()];
        if rows.len() > 1 || weights.iter().any(|&weight| weight > 1.0) {
            own.values(&own.tiles(own, rows), rows, &mut mutual);
        }
        let (lift, tie) = (self.lift(), self.form.tie);
        let block = Block { stored: self.values(own, rows), mutual, classes, weights, lift, tie };
        let learned: Vec<(Tally, Vec<usize>)> = self
            .parts
            .par_iter_mut()
            .map(|part| if part.course.done { Default::default() } else { part.learn(&block) })
            .collect();
        self.intern(own, rows, learned.iter().map(|(_, places)| places.as_slice()));
        learned.into_iter().map(|(tally, _)| tally).collect()
    }

    /// Stores the examples that updates were made on, in the order they were seen in, and tells the updates their numbers.
    fn intern<'p>(
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
            numbers[b] = match own.number(rows[b]) {
                Some(number) => self.store.intern(&number, 0),
                None => with_rows!(own.rows(), x => self.store.intern(x, rows[b])),
            };
        }
        for (part, places) in self.parts.iter_mut().zip(places) {
            let first = part.history.updates.len() - places.len();
            for (update, &b) in part.history.updates[first..].iter_mut().zip(places) {
                update.row = numbers[b];
            }
        }
    }

    /// The state a problem had before a class appeared at `at`.
    fn earlier(&self, target: Target, at: usize) -> Option<History> {
        let before = target.before(at)?;
        if let (Target::OneVsRest(class), 2) = (before, self.n_classes) {
            let mut history = self.parts[0].history.clone();
            if class == 0 {
                history.flip();
            }
            return Some(history);
        }
        let same = |part: &&Part| part.target == before || self.n_classes == 2;
        self.parts.iter().find(same).map(|part| part.history.clone())
    }
}

impl Part {
    fn new(target: Target, n_classes: usize) -> Self {
        Part { target, n_classes, history: History::new(of_classes(n_classes)), course: Course::default() }
    }

    /// Learns from a block; which examples of it updates were made on.
    fn learn(&mut self, block: &Block<'_>) -> (Tally, Vec<usize>) {
        let width = block.classes.len();
        let mut activations = vec![0.0; self.history.planes * width];
        self.history.activate(&block.stored, width, block.lift, &mut activations);
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
                self.history.tick(left);
                break;
            }
            let update = Update::of(b as u32, &pushes[..scores.len().min(2)], share);
            update.activate(&block.mutual, width, block.lift, activations);
            self.history.push(update);
            self.history.tick(share);
            places.push(b);
            visit.mistakes += 1;
            visit.updates += 1;
            left -= share;
        }
        visit
    }
}

impl State for Kernelised {
    fn update(&mut self, x: &Matrix<'_>, i: usize, y: usize, weight: f64) -> Visit {
        let mut all = Visit::default();
        let row = x.select(&[i]);
        for tally in self.learn(&Gram::numbered(&self.form.kernel, &row, i), &[0], &[y as u32], &[weight]) {
            all.mistakes += tally.mistakes;
            all.updates += tally.updates;
        }
        all
    }

    fn scores(&self, x: &Matrix<'_>, i: usize) -> Vec<f64> {
        let row = x.select(&[i]);
        let values = self.values(&Gram::stored(&self.form.kernel, &row), &[0]);
        let score = |part: &Part| {
            let mut scores = vec![0.0; part.history.planes];
            part.history.activate(&values, 1, self.lift(), &mut scores);
            scores
        };
        self.parts.iter().flat_map(score).collect()
    }

    fn pass(&mut self, data: &Examples<'_>, _: Target, order: &[usize], monitor: &Monitor<'_>) -> Tally {
        let own = Gram::numbered(&self.form.kernel, data.x, 0);
        let (mut all, mut rest) = (Tally::default(), order);
        while !rest.is_empty() && !all.stopped {
            let width = (ROOM / self.store.len().max(1)).clamp(1, WIDEST).min(rest.len());
            let (rows, later) = rest.split_at(width);
            let classes: Vec<u32> = rows.iter().map(|&i| data.y[i]).collect();
            let weights: Vec<f64> = rows.iter().map(|&i| data.weight(i)).collect();
            let tallies = self.learn(&own, rows, &classes, &weights);
            all.stopped = !monitor.go_on(width * self.open_problems());
            for (part, tally) in self.parts.iter_mut().zip(&tallies) {
                all.add(tally);
                part.course.count(&Tally { stopped: all.stopped, ..*tally });
            }
            rest = later;
        }
        all
    }

    fn end_pass(&mut self, complete: bool) {
        self.parts.iter_mut().for_each(|part| part.course.end_pass(complete));
    }

    fn decision(&self) -> Decision {
        match (self.form.scheme, self.n_classes) {
            (_, 0..=2) => Decision::Sign(self.form.tie),
            (Multiclass::Ovo, _) => Decision::Pairs(self.form.tie),
            _ => Decision::Highest,
        }
    }

    fn body(&self) -> Body {
        let histories: Vec<History> = self.parts.iter().map(|part| part.history.clone()).collect();
        let rows = self.store.matrix(self.n_cols);
        let sum = Sum::Votes { tie: self.form.tie, histories };
        let voted = Expansion { kernel: self.form.kernel.clone(), lifted: self.form.lifted, rows, sum };
        Body::Kernel(voted.predicting(self.form.predictor))
    }

    fn output(&self, x: &Matrix<'_>, i: usize) -> Vec<f64> {
        self.body().scores(&x.select(&[i]))
    }

    fn current(&self) -> Option<Planes> {
        None
    }

    fn pushed(&self) -> Vec<f64> {
        let mut sums = Vec::new();
        for part in &self.parts {
            let first = sums.len();
            sums.resize(first + part.history.planes, 0.0);
            part.history.each_last(&mut |_, plane, amount| sums[first + plane] += amount);
        }
        sums
    }

    fn grow(&mut self, n_cols: usize) {
        self.n_cols = self.n_cols.max(n_cols);
    }

    fn flip(&mut self) {
        self.parts.iter_mut().for_each(|part| part.history.flip());
    }

    fn add_class(&mut self, at: usize) {
        let single = self.form.scheme == Multiclass::Native || self.n_classes < 2;
        if single {
            self.parts.iter_mut().for_each(|part| part.add_class(at));
        } else {
            let part = |target: Target| {
                let fresh = Part::new(target, 2);
                Part { history: self.earlier(target, at).unwrap_or_else(|| fresh.history.clone()), ..fresh }
            };
            self.parts = targets(self.form.scheme, self.n_classes + 1).into_iter().map(part).collect();
        }
        self.n_classes += 1;
    }

    fn problems(&self) -> Vec<Problem> {
        let problem = |part: &Part| part.course.problem(part.target);
        if self.parts.len() > 1 { self.parts.iter().map(problem).collect() } else { Vec::new() }
    }

    fn open_problems(&self) -> usize {
        self.parts.iter().filter(|part| !part.course.done).count()
    }

    fn save(&self) -> Vec<u8> {
        checkpoint::pack(self)
    }

    fn restore(&mut self, bytes: &[u8], n_cols: usize) -> Option<()> {
        let saved: Self = checkpoint::unpack(bytes)?;
        let n_rows = saved.store.checked(n_cols)?;
        let same = |(saved, own): (&Part, &Part)| {
            saved.target == own.target
                && saved.n_classes == own.n_classes
                && saved.history.fits(own.history.planes, n_rows)
        };
        let fits = saved.form == self.form
            && saved.n_classes == self.n_classes
            && saved.n_cols <= n_cols
            && n_cols as u64 <= 1 << 32
            && saved.parts.len() == self.parts.len()
            && saved.parts.iter().zip(&self.parts).all(same);
        fits.then(|| *self = Kernelised { n_cols, ..saved })
    }

    fn boxed(&self) -> Box<dyn State> {
        Box::new(self.clone())
    }
}

impl Part {
    fn add_class(&mut self, at: usize) {
        match self.n_classes {
            0 => {}
            1 if at == 0 => self.history.flip(),
            1 => {}
            2 => {
                self.history.split();
                self.history.insert(at);
            }
            _ => self.history.insert(at),
        }
        self.n_classes += 1;
    }
}
