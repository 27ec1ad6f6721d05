//! Many classes as several binary problems.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Examples, Multiclass, Problem, State, Tally, Target, Visit, checkpoint};
use crate::data::Matrix;
use crate::model::{Body, Decision, Planes, Tie, pairs};
use crate::watch::Monitor;

/// One-vs-rest or one-vs-one over any binary state. Up to two classes it is that state.
pub(crate) struct Reduced {
    scheme: Multiclass,
    n_classes: usize,
    parts: Vec<Part>,
    /// What a problem starts as.
    fresh: Box<dyn State>,
}

struct Part {
    target: Target,
    state: Box<dyn State>,
    course: Course,
}

/// How one problem goes, pass by pass.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Course {
    /// What happened in this pass so far.
    tally: Tally,
    last_updates: u64,
    passes: usize,
    /// A problem stops by itself at its first pass without an update.
    pub(super) done: bool,
}

impl Course {
    pub(super) fn count(&mut self, tally: &Tally) {
        self.tally.add(tally);
    }

    pub(super) fn end_pass(&mut self, complete: bool) {
        if !self.done {
            self.done = self.tally.updates == 0 && !self.tally.stopped && complete;
            self.passes += 1;
        }
        self.last_updates = self.tally.updates;
        self.tally = Tally::default();
    }

    pub(super) fn problem(&self, target: Target) -> Problem {
        let Course { last_updates, passes, done, .. } = *self;
        Problem { target, passes, last_updates, converged: done }
    }
}

/// A part without its target, which follows from the classes.
#[derive(Serialize, Deserialize)]
struct SavedPart {
    state: Vec<u8>,
    course: Course,
}

impl Reduced {
    /// `make` gives a native state for so many classes, at most two.
    pub(crate) fn new(scheme: Multiclass, n_classes: usize, make: impl Fn(usize) -> Box<dyn State>) -> Self {
        let part = |target| Part::new(target, make(n_classes.min(2)));
        let parts = targets(scheme, n_classes).into_iter().map(part).collect();
        Reduced { scheme, n_classes, parts, fresh: make(2) }
    }

    /// The state a problem had before a class appeared at `at`.
    fn earlier(&self, target: Target, at: usize) -> Option<Box<dyn State>> {
        let before = target.before(at)?;
        if let (Target::OneVsRest(class), 2) = (before, self.n_classes) {
            let mut state = self.parts[0].state.boxed();
            if class == 0 {
                state.flip();
            }
            return Some(state);
        }
        let same = |part: &&Part| part.target == before || self.n_classes == 2;
        self.parts.iter().find(same).map(|part| part.state.boxed())
    }
}

impl Part {
    fn new(target: Target, state: Box<dyn State>) -> Self {
        Part { target, state, course: Course::default() }
    }
}

pub(super) fn targets(scheme: Multiclass, n_classes: usize) -> Vec<Target> {
    match (scheme, n_classes) {
        (_, 0..=2) => vec![Target::Class],
        (Multiclass::Ovo, _) => pairs(n_classes).into_iter().map(|(a, b)| Target::Pair(a, b)).collect(),
        _ => (0..n_classes).map(Target::OneVsRest).collect(),
    }
}

impl State for Reduced {
    fn update(&mut self, x: &Matrix<'_>, i: usize, y: usize, weight: f64) -> Visit {
        let mut all = Visit::default();
        for part in &mut self.parts {
            if let Some(y) = part.target.of(y as u32) {
                let visit = part.state.update(x, i, y, weight);
                all.mistakes += visit.mistakes;
                all.updates += visit.updates;
            }
        }
        all
    }

    fn scores(&self, x: &Matrix<'_>, i: usize) -> Vec<f64> {
        self.parts.iter().flat_map(|part| part.state.scores(x, i)).collect()
    }

    fn pass(&mut self, data: &Examples<'_>, target: Target, order: &[usize], monitor: &Monitor<'_>) -> Tally {
        debug_assert_eq!(target, Target::Class, "a reduction is not reduced again");
        let learn = |part: &mut Part| {
            let tally = part.state.pass(data, part.target, order, monitor);
            part.course.count(&tally);
            tally
        };
        let open = self.parts.par_iter_mut().filter(|part| !part.course.done);
        let tallies: Vec<Tally> = open.map(learn).collect();
        let mut all = Tally::default();
        tallies.iter().for_each(|tally| all.add(tally));
        all
    }

    fn end_pass(&mut self, complete: bool) {
        self.parts.iter_mut().for_each(|part| part.course.end_pass(complete));
    }

    fn decision(&self) -> Decision {
        match (self.scheme, self.n_classes) {
            (_, 0..=2) => self.fresh.decision(),
            (Multiclass::Ovo, _) => Decision::Pairs(match self.fresh.decision() {
                Decision::Sign(tie) | Decision::Pairs(tie) => tie,
                Decision::Highest | Decision::Votes => Tie::default(),
            }),
            _ => Decision::Highest,
        }
    }

    fn body(&self) -> Body {
        let (mut planes, mut ballots) = (Vec::new(), Vec::new());
        for part in &self.parts {
            match part.state.body() {
                Body::Linear(plane) => planes.push(plane),
                Body::Voted(ballot) => ballots.extend(ballot),
                // Kernels have a reduction of their own.
                // Online states are none of these.
                Body::Kernel(_) | Body::Bayes(_) | Body::Layers(_) => {}
            }
        }
        if ballots.is_empty() { Body::Linear(Planes::joined(&planes)) } else { Body::Voted(ballots) }
    }

    fn output(&self, x: &Matrix<'_>, i: usize) -> Vec<f64> {
        self.parts.iter().flat_map(|part| part.state.output(x, i)).collect()
    }

    fn current(&self) -> Option<Planes> {
        let planes: Option<Vec<Planes>> = self.parts.iter().map(|part| part.state.current()).collect();
        Some(Planes::joined(&planes?))
    }

    fn grow(&mut self, n_cols: usize) {
        self.fresh.grow(n_cols);
        self.parts.iter_mut().for_each(|part| part.state.grow(n_cols));
    }

    fn flip(&mut self) {
        self.parts.iter_mut().for_each(|part| part.state.flip());
    }

    fn add_class(&mut self, at: usize) {
        if self.n_classes < 2 {
            self.parts.iter_mut().for_each(|part| part.state.add_class(at));
        } else {
            let part = |target: Target| {
                let state = self.earlier(target, at).unwrap_or_else(|| self.fresh.boxed());
                Part::new(target, state)
            };
            self.parts = targets(self.scheme, self.n_classes + 1).into_iter().map(part).collect();
        }
        self.n_classes += 1;
    }

    fn problems(&self) -> Vec<Problem> {
        let problem = |part: &Part| part.course.problem(part.target);
        if self.n_classes > 2 { self.parts.iter().map(problem).collect() } else { Vec::new() }
    }

    fn open_problems(&self) -> usize {
        self.parts.iter().filter(|part| !part.course.done).count()
    }

    fn save(&self) -> Vec<u8> {
        let saved = |part: &Part| SavedPart { state: part.state.save(), course: part.course };
        checkpoint::pack(&self.parts.iter().map(saved).collect::<Vec<_>>())
    }

    fn restore(&mut self, bytes: &[u8], n_cols: usize) -> Option<()> {
        let saved: Vec<SavedPart> = checkpoint::unpack(bytes)?;
        let mut parts = Vec::with_capacity(self.parts.len());
        for (part, saved) in self.parts.iter().zip(&saved) {
            let mut state = part.state.boxed();
            state.restore(&saved.state, n_cols)?;
            parts.push(Part { target: part.target, state, course: saved.course });
        }
        self.fresh.grow(n_cols);
        (saved.len() == self.parts.len()).then(|| self.parts = parts)
    }

    fn boxed(&self) -> Box<dyn State> {
        let copy = |part: &Part| Part { target: part.target, state: part.state.boxed(), course: part.course };
        Box::new(Reduced {
            scheme: self.scheme,
            n_classes: self.n_classes,
            parts: self.parts.iter().map(copy).collect(),
            fresh: self.fresh.boxed(),
        })
    }
}
