//! The perceptron on kernel values: all problems of a reduction over one list of stored examples.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::native::of_classes;
use super::reduced::{Course, targets};
use super::{Added, Examples, Multiclass, Problem, State, Tally, Target, Visit, checkpoint};
use crate::data::{DataError, Matrix};
use crate::gram::{Centre, Gram, Reach};
use crate::learner::Predictor;
use crate::model::{Body, Decision, Expansion, Planes, RowStore, Sum, Tie};
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
    pub(crate) budget: Option<Budget>,
}

impl Form {
    /// What a bias adds to the kernel.
    pub(super) fn lift(&self) -> f64 {
        if self.lifted { 1.0 } else { 0.0 }
    }
}

/// aᵢ += yᵢ on a mistake.
///
/// Examples are learned from one after the other, but their kernel values with all stored examples and with each other are taken for a block at once. What is made of them does not depend on
/// where blocks end.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Kernelised<M> {
    pub(super) form: Form,
    n_classes: usize,
    pub(super) n_cols: usize,
    /// Examples so far.
    pub(super) seen: u64,
    pub(super) store: RowStore,
    pub(super) parts: Vec<Part<M>>,
    /// Where distances are seen from: the first example learned from, which is what a stream knows. Nothing before.
    centre: Option<Centre>,
}

/// One problem: binary, or all classes at once.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Part<M> {
    pub(super) target: Target,
    n_classes: usize,
    pub(super) memory: M,
    pub(super) course: Course,
}

/// What a problem keeps of the examples it went wrong on: every update ([`History`](crate::model::History)), or no more than a budget allows.
pub(crate) trait Memory: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Of nothing yet.
    fn new(form: &Form, planes: usize) -> Self;
    fn planes(&self) -> usize;
    /// Learns from the rows of a block, in this order, in all problems; what happened in each. Nothing where a kernel value is no number.
    fn learn(
        all: &mut Kernelised<Self>,
        own: &Gram<'_>,
        rows: &[usize],
        classes: &[u32],
        weights: &[f64],
    ) -> Vec<Tally>;
    /// The scores of an example, given its kernel values with all stored examples.
    fn score(&self, values: &[f32], lift: f64) -> Vec<f64>;
    /// What examples stand for in the planes.
    fn added(&self) -> Added;
    /// What the problems have learned.
    fn sum(all: &Kernelised<Self>) -> Sum;
    /// How often stored rows were added to the planes, where it predicts with something else and knows.
    fn counts(_: &Kernelised<Self>) -> Vec<f64> {
        Vec::new()
    }
    /// Whether it can be what it says over so many stored rows: one read from a file may be anything.
    fn fits(&self, form: &Form, planes: usize, n_rows: usize) -> bool;
    /// Classes −1 and +1 change places.
    fn flip(&mut self);
    /// One binary plane becomes two, for −1 and for +1.
    fn split(&mut self);
    /// A class appears before plane `at`.
    fn insert(&mut self, at: usize);
}

/// What a checkpoint begins with, so that one of another form of [`Kernelised`] is never taken for one of this. To be changed with its fields.
const EDITION: &[u8] = b"sums of kernel values 2\n";

/// Kernel values kept at a time, in numbers, and examples in a block.
const ROOM: usize = 1 << 24;
const WIDEST: usize = 256;

impl<M: Memory> Kernelised<M> {
    pub(crate) fn new(form: Form, n_classes: usize, n_cols: usize) -> Self {
        let targets = match form.scheme {
            Multiclass::Native => vec![Target::Class],
            scheme => targets(scheme, n_classes),
        };
        let within = if targets.len() > 1 { 2 } else { n_classes };
        let parts = targets.into_iter().map(|target| Part::new(&form, target, within)).collect();
        Kernelised { form, n_classes, n_cols, seen: 0, store: RowStore::new(), parts, centre: None }
    }

    /// K of each stored example with each of these rows.
    pub(super) fn values(&self, new: &Gram<'_>, rows: &[usize]) -> Vec<f32> {
        let stored = self.store.view(self.n_cols);
        let stored = Gram::from(&self.form.kernel, &stored, &self.centre());
        let all: Vec<usize> = (0..stored.len()).collect();
        let mut values = vec![0.0; all.len() * rows.len()];
        stored.values(&stored.tiles(new, rows), &all, &mut values);
        values
    }

    /// Where distances are seen from.
    pub(super) fn centre(&self) -> Centre {
        self.centre.clone().unwrap_or_default()
    }

    /// The same from now on; the first example that counts decides.
    fn settle(&mut self, x: &Matrix<'_>, first: Option<usize>) -> Centre {
        if let (None, Some(first)) = (&self.centre, first) {
            self.centre = Some(Centre::on(&self.form.kernel, x, first));
        }
        self.centre()
    }

    /// Stores a row, or its number where that is all there is of it; gives its place.
    pub(super) fn intern(&mut self, own: &Gram<'_>, i: usize) -> u32 {
        match own.number(i) {
            Some(number) => self.store.intern(&number, 0),
            None => with_rows!(own.rows(), x => self.store.intern(x, i)),
        }
    }

    /// The state a problem had before a class appeared at `at`.
    fn earlier(&self, target: Target, at: usize) -> Option<M> {
        let before = target.before(at)?;
        if let (Target::OneVsRest(class), 2) = (before, self.n_classes) {
            let mut memory = self.parts[0].memory.clone();
            if class == 0 {
                memory.flip();
            }
            return Some(memory);
        }
        let same = |part: &&Part<M>| part.target == before || self.n_classes == 2;
        self.parts.iter().find(same).map(|part| part.memory.clone())
    }
}

impl<M: Memory> Part<M> {
    fn new(form: &Form, target: Target, n_classes: usize) -> Self {
        let memory = M::new(form, of_classes(n_classes));
        Part { target, n_classes, memory, course: Course::default() }
    }

    fn add_class(&mut self, at: usize) {
        match self.n_classes {
            0 => {}
            1 if at == 0 => self.memory.flip(),
            1 => {}
            2 => {
                self.memory.split();
                self.memory.insert(at);
            }
            _ => self.memory.insert(at),
        }
        self.n_classes += 1;
    }
}

impl<M: Memory> State for Kernelised<M> {
    fn update(&mut self, x: &Matrix<'_>, i: usize, y: usize, weight: f64) -> Visit {
        let mut all = Visit::default();
        let row = x.select(&[i]);
        let centre = self.settle(&row, (weight > 0.0).then_some(0));
        let own = Gram::numbered(&self.form.kernel, &row, i, &centre);
        for tally in M::learn(self, &own, &[0], &[y as u32], &[weight]) {
            all.mistakes += tally.mistakes;
            all.updates += tally.updates;
        }
        all
    }

    fn scores(&self, x: &Matrix<'_>, i: usize) -> Vec<f64> {
        let row = x.select(&[i]);
        let values = self.values(&Gram::from(&self.form.kernel, &row, &self.centre()), &[0]);
        self.parts.iter().flat_map(|part| part.memory.score(&values, self.form.lift())).collect()
    }

    fn near(&self, x: &Matrix<'_>, rows: &[usize]) -> Result<(), DataError> {
        let kernel = &self.form.kernel;
        let first = rows.first().map(|&first| Centre::on(kernel, x, first));
        let centre = self.centre.clone().or(first).unwrap_or_default();
        Reach::Learning.check(kernel, x, rows.iter().copied(), &centre)
    }

    fn sound(&self, x: &Matrix<'_>, first: u64) -> Result<(), DataError> {
        match self.form.kernel.is_flawed() {
            true => self.form.kernel.sound(x, first, &self.store.matrix(self.n_cols)),
            false => Ok(()),
        }
    }

    fn pass(&mut self, data: &Examples<'_>, _: Target, order: &[usize], monitor: &Monitor<'_>) -> Tally {
        let centre = self.settle(data.x, order.iter().copied().find(|&i| data.weight(i) > 0.0));
        let own = Gram::numbered(&self.form.kernel, data.x, 0, &centre);
        let (mut all, mut rest) = (Tally::default(), order);
        while !rest.is_empty() && !all.stopped {
            let width = (ROOM / self.store.len().max(1)).clamp(1, WIDEST).min(rest.len());
            let (rows, later) = rest.split_at(width);
            let classes: Vec<u32> = rows.iter().map(|&i| data.y[i]).collect();
            let weights: Vec<f64> = rows.iter().map(|&i| data.weight(i)).collect();
            let tallies = M::learn(self, &own, rows, &classes, &weights);
            all.stopped = self.form.kernel.is_flawed() || !monitor.go_on(width * self.open_problems());
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
        let (rows, sum) = (self.store.matrix(self.n_cols), M::sum(self));
        let (kernel, lifted) = (self.form.kernel.clone(), self.form.lifted);
        let (numbers, offsets, counts) = (Vec::new(), Vec::new(), M::counts(self));
        let all = Expansion { kernel, lifted, rows, numbers, offsets, counts, sum };
        Body::Kernel(all.predicting(self.form.predictor))
    }

    fn output(&self, x: &Matrix<'_>, i: usize) -> Vec<f64> {
        self.body().scores(&x.select(&[i]))
    }

    fn current(&self) -> Option<Planes> {
        None
    }

    fn added(&self) -> Added {
        let (mut amounts, mut all, mut first) = (Vec::new(), Vec::new(), 0);
        for Part { memory, .. } in &self.parts {
            match memory.added() {
                Added::Amounts(of_part) => amounts.extend(of_part),
                Added::Terms(terms) => {
                    all.extend(terms.into_iter().map(|(time, plane, a)| (time, first + plane, a)));
                }
            }
            first += memory.planes();
        }
        if amounts.is_empty() { Added::Terms(all) } else { Added::Amounts(amounts) }
    }

    fn grow(&mut self, n_cols: usize) {
        self.n_cols = self.n_cols.max(n_cols);
    }

    fn flip(&mut self) {
        self.parts.iter_mut().for_each(|part| part.memory.flip());
    }

    fn add_class(&mut self, at: usize) {
        let single = self.form.scheme == Multiclass::Native || self.n_classes < 2;
        if single {
            self.parts.iter_mut().for_each(|part| part.add_class(at));
        } else {
            let part = |target: Target| {
                let fresh = Part::new(&self.form, target, 2);
                match self.earlier(target, at) {
                    Some(memory) => Part { memory, ..fresh },
                    None => fresh,
                }
            };
            self.parts = targets(self.form.scheme, self.n_classes + 1).into_iter().map(part).collect();
        }
        self.n_classes += 1;
    }

    fn problems(&self) -> Vec<Problem> {
        let problem = |part: &Part<M>| part.course.problem(part.target);
        if self.parts.len() > 1 { self.parts.iter().map(problem).collect() } else { Vec::new() }
    }

    fn open_problems(&self) -> usize {
        self.parts.iter().filter(|part| !part.course.done).count()
    }

    fn save(&self) -> Vec<u8> {
        [EDITION, &checkpoint::pack(self)].concat()
    }

    fn restore(&mut self, bytes: &[u8], n_cols: usize) -> Option<()> {
        let saved: Self = checkpoint::unpack(bytes.strip_prefix(EDITION)?)?;
        let n_rows = saved.store.checked(n_cols)?;
        let same = |(saved, own): (&Part<M>, &Part<M>)| {
            saved.target == own.target
                && saved.n_classes == own.n_classes
                && saved.memory.fits(&self.form, own.memory.planes(), n_rows)
        };
        let fits = saved.form == self.form
            && saved.n_classes == self.n_classes
            && saved.n_cols <= n_cols
            && n_cols as u64 <= 1 << 32
            && saved.centre().fits(n_cols)
            && saved.parts.len() == self.parts.len()
            && saved.parts.iter().zip(&self.parts).all(same);
        fits.then(|| *self = Kernelised { n_cols, ..saved })
    }

    fn boxed(&self) -> Box<dyn State> {
        Box::new(self.clone())
    }
}
