//! Kernel machines by decomposition: a few hundred variables at a time, all others held.
//!
//! ```text
//! min ½Σ aᵢaⱼK(xᵢ, xⱼ) + Σ φᵢ(αᵢ)     aᵢ = yᵢαᵢ, 0 ≤ αᵢ ≤ upper(cᵢ), some sums of α held (`Held`)
//! ```
//!
//! Input: kernel values, asked for by whole rows; y and c of each example. Output: α, b, and the value of both objectives. A round takes the variables that break the optimality conditions most and half
//! of those of the round before, solves for them ([`Pairs`]), and adds what they moved to all scores. It stops when no condition is broken by more than the tolerance and the duality gap is
//! closed.
//!
//! Joachims (1999), Making large-scale SVM learning practical; Fan, Chen, Lin (2005), JMLR 6; Wen, Shi, Li, He, Chen (2018), JMLR 19, for working sets of hundreds that stay half of what they were.
//!
//! Kernel values are in single precision, scores in double. Before anything is concluded, some scores are evaluated anew in double precision; where they are off, so are all that matter. If
//! that goes on, single precision cannot tell what is to be told (a large C, rows that are nearly one to the kernel), and from then on kernel values are in double precision, too.
//!
//! Once few conditions are broken, rows far from the margin on its right side, or deep on the wrong one, are left out (shrinking); their scores are made up for at the end from what has moved since.

mod conclusion;
mod precision;
mod whole;

use rayon::prelude::*;

use super::certificate::Certificate;
use super::pairs::{Held, Pairs, Variable, stride};
use super::term::Term;
use super::{End, Example, Limits};
use crate::cache::RowCache;
use crate::error::ParamError;
use crate::gram::Gram;
use crate::rng::Rng;
use crate::shared::Shared;
use crate::simd::{Loop, widely};
use crate::store::Store;
use crate::watch::Monitor;
pub(crate) use whole::add_whole_rows;

/// A problem of two classes in the space of a kernel.
pub(crate) struct Machine<'a> {
    pub(crate) gram: &'a Gram<'a>,
    pub(crate) examples: &'a [Example],
    pub(crate) held: Held,
    /// The largest α of each ([`Term::bounds`]).
    pub(crate) upper: &'a [f64],
    /// Whether the kernel is known to be a dot product: the dual value bounds nothing where it is not.
    pub(crate) sure: bool,
    /// Added to the kernel: 1 where the bias counts as a weight.
    pub(crate) lift: f64,
    /// α to start from.
    pub(crate) start: Option<Vec<f64>>,
    /// What is asked of the result beside the duality gap: no optimality condition is broken by more.
    pub(crate) tolerance: f64,
    /// Variables of a working set.
    pub(crate) size: usize,
    /// Whether rows have so few entries that a kernel value is found faster than it is looked up far away.
    pub(crate) light: bool,
    /// Bytes for kernel rows.
    pub(crate) cache: usize,
    /// What other problems may have evaluated of these rows; then examples of one class come before those of the other.
    pub(crate) shared: Option<&'a Shared>,
    /// Whole kernel rows that other fits have evaluated, too.
    pub(crate) store: Option<&'a Store<'a>>,
    /// The scores at `start`, without bias, where they are known.
    pub(crate) scores: Option<Vec<f64>>,
}

impl<'a> Machine<'a> {
    /// Rows that are few and long are never left out: scores of these have to be made up for by evaluating most of the kernel a second time, which costs more than it saves.
    pub(crate) fn is_short(light: bool, rows: usize) -> bool {
        const FEW: usize = 1 << 14;
        !light && rows <= FEW
    }

    fn row_cache(&self) -> Result<RowCache<'a>, ParamError> {
        let members: Vec<usize> = self.examples.iter().map(|e| e.row as usize).collect();
        let cache = RowCache::beside(self.gram, &members, self.cache, self.store)?;
        Ok(match self.shared {
            Some(shared) => {
                let first = self.examples.iter().take_while(|e| !e.is_positive()).count();
                cache.sharing(shared, first)
            }
            None => cache,
        })
    }
}

/// What it came to.
pub(crate) struct Expanded {
    /// aᵢ = yᵢαᵢ of each example.
    pub(crate) coefficients: Vec<f64>,
    pub(crate) b: f64,
    /// The scores of all examples, with b.
    pub(crate) scores: Vec<f64>,
    /// ‖w‖² in the space of the kernel.
    pub(crate) square: f64,
    pub(crate) certificate: Certificate,
    /// How far the optimality conditions are broken.
    pub(crate) violation: f64,
    pub(crate) rounds: usize,
    pub(crate) end: End,
    pub(crate) fenced: Option<Fenced>,
}

/// What is known where multipliers came to bounds that the formulation does not have, and the kernel may be no dot product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fenced {
    /// ‖w‖² for multipliers that add up to 1, if it is less than 0 by more than rounding explains.
    pub(crate) square: Option<f64>,
    /// Whether the dual grows with all multipliers without end.
    pub(crate) endless: bool,
}

/// How far conditions are broken when rows are left out for the first time; again at every tenth of it.
const QUIET: f64 = 0.3;

/// Solving the small problem more exactly than this share of what is broken in the large one is in vain.
const INNER: f64 = 0.1;

/// Rounds without progress after which it will not come any more.
const PATIENCE: usize = 500;

/// Times that scores are made anew before kernel values are in double precision, too, and before that is in vain.
const REFRESHES: (usize, usize) = (4, 16);

/// Making scores anew is to leave no more than this share of what was broken the last time.
const PROGRESS: f64 = 0.25;

/// Variables of a working set with kernel values in double precision, which nothing keeps.
const PRECISE_SET: usize = 512;

/// Not among the columns.
const NONE: u32 = u32::MAX;

/// The descent under way.
pub(crate) struct Decomposition<'a, T> {
    machine: &'a Machine<'a>,
    term: T,
    limits: Limits,
    cache: RowCache<'a>,
    alpha: Vec<f64>,
    /// Σ aₛK(xₛ, xᵢ) of every example; of those that take part the newest are in `active`.
    scores: Vec<f64>,
    /// Σ aₛ
    sum: f64,
    /// The examples that take part, ascending, and for each example its place among them.
    columns: Vec<usize>,
    places: Vec<u32>,
    active: Vec<f64>,
    /// Whether the cache has other columns.
    moved_columns: bool,
    /// Those left out, in groups that left together.
    asleep: Vec<Asleep>,
    /// The last working set.
    set: Vec<usize>,
    /// Which of equals comes first.
    rank: Vec<u32>,
    /// Room for the kernel values of a working set with itself.
    room: Vec<f32>,
    /// Whether scores are known to be right since the last move, but for an error that a sample has shown.
    sound: bool,
    error: f64,
    /// Whether kernel values are in double precision from now on.
    precise: bool,
}

/// Examples that do not take part.
struct Asleep {
    columns: Vec<usize>,
    /// α of all examples when they left: their scores are of that time.
    since: Vec<f64>,
}

/// How things stand, for each example that takes part.
struct State {
    v: Vec<f64>,
    ways: Vec<(bool, bool)>,
    /// The largest v that may rise and the smallest that may fall, for each class where its sum is held.
    high: [f64; 2],
    low: [f64; 2],
    violation: f64,
}

impl<'a, T: Term> Decomposition<'a, T> {
    pub(crate) fn new(machine: &'a Machine<'a>, term: T, limits: Limits) -> Result<Self, ParamError> {
        let n = machine.examples.len();
        let mut rank: Vec<u32> = (0..n as u32).collect();
        Rng::new(limits.seed).shuffle(&mut rank);
        let mut descent = Decomposition {
            machine,
            term,
            limits,
            cache: machine.row_cache()?,
            alpha: vec![0.0; n],
            scores: vec![0.0; n],
            sum: 0.0,
            columns: (0..n).collect(),
            places: (0..n as u32).collect(),
            active: vec![0.0; n],
            moved_columns: false,
            asleep: Vec::new(),
            set: Vec::new(),
            rank,
            room: Vec::new(),
            sound: false,
            error: 0.0,
            precise: false,
        };
        if let Some(start) = &machine.start {
            descent.begin_at(start);
        }
        Ok(descent)
    }

    fn begin_at(&mut self, start: &[f64]) {
        let zeros = vec![0.0; start.len()];
        self.alpha.copy_from_slice(start);
        let all: Vec<usize> = (0..start.len()).collect();
        self.scores = match &self.machine.scores {
            Some(scores) if self.machine.start.as_deref() == Some(start) => scores.clone(),
            _ => self.moved_since(&zeros, &all),
        };
        self.active.copy_from_slice(&self.scores);
        self.sum = self.signed().iter().sum();
    }

    fn signed(&self) -> Vec<f64> {
        self.machine.examples.iter().zip(&self.alpha).map(|(e, a)| e.y() * a).collect()
    }

    pub(crate) fn solve(mut self, monitor: &Monitor<'_>) -> Expanded {
        let (mut tolerance, mut quiet) = (self.machine.tolerance, QUIET);
        let (mut rounds, mut best, mut best_round) = (0, f64::INFINITY, 0);
        let (mut refreshes, mut left, mut narrows) = (0, f64::INFINITY, T::BOUNDED);
        let short = Machine::is_short(self.machine.light, self.alpha.len());
        let (end, violation, concluded) = loop {
            let state = self.state();
            if state.violation < 0.99 * best {
                (best, best_round) = (state.violation, rounds);
            }
            let stopped = monitor.stopped().is_some() || rounds >= self.limits.passes;
            // A kernel of the user's own may give what is no number.
            let flawed = self.machine.gram.kernel().is_flawed() || state.violation.is_nan();
            let endless = self.is_endless();
            let worn = refreshes >= REFRESHES.1;
            let stuck = rounds > best_round + PATIENCE || flawed || endless || worn;
            if state.violation <= 0.9 * tolerance || stopped || stuck {
                if !self.asleep.is_empty() && !flawed {
                    self.wake();
                    // Or it would be stuck again and again.
                    narrows &= !stuck;
                    (best, best_round) = (f64::INFINITY, rounds);
                    continue;
                }
                if !self.sound && !flawed {
                    self.sound = true;
                    if self.refresh(&state, tolerance) {
                        refreshes += 1;
                        let violation = self.state().violation;
                        let slow = violation > PROGRESS * left || refreshes >= REFRESHES.0;
                        (self.precise, left) = (self.precise || slow, violation);
                        (best, best_round) = (f64::INFINITY, rounds);
                        continue;
                    }
                }
                let concluded = self.conclude(&state);
                let gap = concluded.certificate.gap();
                let violation = state.violation.max(0.0);
                let fenced = self.is_fenced(&concluded.certificate);
                match () {
                    () if self.machine.sure && concluded.certificate.dual > self.limits.dual => {
                        break (End::Diverged, violation, concluded);
                    }
                    () if gap <= self.limits.gap && state.violation <= tolerance && !fenced => {
                        let vanishes =
                            concluded.certificate.primal == 0.0 && self.vanishes(&concluded.certificate);
                        break (End::Converged, violation, concluded.vanishing(vanishes));
                    }
                    () if monitor.stopped().is_some() => break (End::Stopped, violation, concluded),
                    () if rounds >= self.limits.passes => break (End::PassLimit, violation, concluded),
                    // What is stuck in single precision need not be in double; α that grew beyond all bounds is nothing to go on from.
                    () if stuck && refreshes > 0 && !self.precise && !flawed => {
                        self.precise = true;
                        (best, best_round) = (f64::INFINITY, rounds);
                        if endless {
                            self.begin_at(&vec![0.0; self.alpha.len()]);
                        }
                        continue;
                    }
                    // A smaller gap asks for conditions that hold more exactly than double precision tells.
                    () if stuck || fenced || tolerance < 1e-10 => {
                        let vanishes = state.violation <= self.machine.tolerance
                            && !fenced
                            && self.vanishes(&concluded.certificate);
                        let end = if vanishes { End::Converged } else { End::Stalled };
                        break (end, violation, concluded.vanishing(vanishes));
                    }
                    () => tolerance *= 0.25,
                }
                continue;
            }
            if narrows && !short && (state.violation <= quiet || self.moved_columns) {
                quiet = (0.1 * state.violation).min(quiet);
                if self.narrow(&state) {
                    continue;
                }
            }
            let set = self.working_set(&state, tolerance);
            rounds += 1;
            let entries = set.len() * self.columns.len();
            self.improve(set, (INNER * state.violation).max(0.5 * tolerance.min(state.violation)));
            monitor.go_on(entries / self.machine.examples.len().max(1));
        };
        let fenced = self.is_fenced(&concluded.certificate).then(|| self.fenced());
        Expanded { rounds, end, violation, fenced, ..concluded }
    }

    fn variable(&self, column: usize) -> Variable {
        let i = self.columns[column];
        let Example { cost, .. } = self.machine.examples[i];
        let score = self.active[column] + self.machine.lift * self.sum;
        let (y, upper) = (self.machine.examples[i].y(), self.machine.upper[i]);
        Variable { y, cost, upper, alpha: self.alpha[i], score }
    }

    /// Which class's sum a variable belongs to.
    fn group(&self, i: usize) -> usize {
        usize::from(self.machine.held == Held::EachClass && self.machine.examples[i].is_positive())
    }

    fn state(&self) -> State {
        const PART: usize = 1 << 13;
        let columns = self.columns.len();
        let (mut v, mut ways) = (vec![0.0; columns], vec![(false, false); columns]);
        let parts = v.par_chunks_mut(PART).zip(ways.par_chunks_mut(PART)).enumerate();
        let extremes: Vec<([f64; 2], [f64; 2])> = parts
            .map(|(part, (v, ways))| {
                let (mut high, mut low) = ([f64::NEG_INFINITY; 2], [f64::INFINITY; 2]);
                for (at, (v, ways)) in v.iter_mut().zip(ways).enumerate() {
                    let column = part * PART + at;
                    let variable = self.variable(column);
                    let group = self.group(self.columns[column]);
                    (*v, *ways) = (variable.v(self.term), variable.ways());
                    high[group] = if ways.0 { high[group].max(*v) } else { high[group] };
                    low[group] = if ways.1 { low[group].min(*v) } else { low[group] };
                }
                (high, low)
            })
            .collect();
        let (mut high, mut low) = ([f64::NEG_INFINITY; 2], [f64::INFINITY; 2]);
        for (part_high, part_low) in extremes {
            for group in 0..2 {
                high[group] = high[group].max(part_high[group]);
                low[group] = low[group].min(part_low[group]);
            }
        }
        let violation = match self.machine.held {
            Held::Nothing => high[0].max(-low[0]),
            _ => (high[0] - low[0]).max(high[1] - low[1]),
        };
        State { v, ways, high, low, violation }
    }

    /// How far a variable that may rise is above those that may fall, and one that may fall below those that may rise.
    fn severity(&self, state: &State, column: usize) -> (f64, f64) {
        let (v, group) = (state.v[column], self.group(self.columns[column]));
        let (rises, falls) = state.ways[column];
        let (low, high) = match self.machine.held {
            Held::Nothing => (0.0, 0.0),
            _ => (state.low[group], state.high[group]),
        };
        let none = f64::NEG_INFINITY;
        (if rises { v - low } else { none }, if falls { high - v } else { none })
    }

    /// Half of the last set, those between their bounds first, and the variables that break their conditions most, from above and below alike.
    fn working_set(&mut self, state: &State, tolerance: f64) -> Vec<usize> {
        let most = if self.precise { PRECISE_SET } else { self.cache.capacity() };
        let size = self.machine.size.min(self.columns.len()).min(most);
        let mut chosen = vec![false; self.columns.len()];
        let mut set = self.kept(state, size / 2);
        set.iter().for_each(|&i| chosen[self.places[i] as usize] = true);
        let mut sides: [Vec<(f64, u32, usize)>; 4] = Default::default();
        for (column, &i) in self.columns.iter().enumerate() {
            let (up, down) = self.severity(state, column);
            if chosen[column] || up.max(down) <= 0.5 * tolerance {
                continue;
            }
            let side = 2 * self.group(i) + usize::from(down > up);
            sides[side].push((up.max(down), self.rank[i], i));
        }
        let used = sides.iter().filter(|side| !side.is_empty()).count().max(1);
        let share = (size - set.len()).div_ceil(used);
        for side in &mut sides {
            if side.len() > share {
                side.select_nth_unstable_by(share, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                side.truncate(share);
            }
            side.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            set.extend(side.iter().map(|&(_, _, i)| i));
        }
        set.truncate(size);
        set
    }

    /// Of the last set: the newest of those between their bounds, then the newest of the others.
    fn kept(&self, state: &State, most: usize) -> Vec<usize> {
        let present = || self.set.iter().rev().copied().filter(|&i| self.places[i] != NONE);
        let free = |i: &usize| state.ways[self.places[*i] as usize] == (true, true);
        let mut kept: Vec<usize> =
            present().filter(free).chain(present().filter(|i| !free(i))).take(most).collect();
        kept.reverse();
        kept
    }

    /// Solves for the variables of a set and tells all others.
    fn improve(&mut self, set: Vec<usize>, tolerance: f64) {
        /// Steps for each variable, at the most.
        const STEPS: usize = 100;
        if std::mem::take(&mut self.moved_columns) && !self.precise {
            self.cache.set_columns(&self.columns);
        }
        let places: Vec<usize> = set.iter().map(|&i| self.places[i] as usize).collect();
        let variables: Vec<Variable> = places.iter().map(|&column| self.variable(column)).collect();
        let steps = STEPS * set.len();
        let alpha = match self.precisely_among(&set) {
            Some(values) => self.pairs(&variables, &values).solve(tolerance, steps),
            None => {
                self.evaluate_among(&set, &places);
                self.pairs(&variables, &self.room).solve(tolerance, steps)
            }
        };
        // Of what has not moved no kernel row is needed.
        let (mut moved, mut changes) = (Vec::with_capacity(set.len()), Vec::with_capacity(set.len()));
        for (&i, &alpha) in set.iter().zip(&alpha) {
            let change = self.machine.examples[i].y() * (alpha - self.alpha[i]);
            if change != 0.0 {
                self.alpha[i] = alpha;
                self.sum += change;
                moved.push(i);
                changes.push(change);
            }
        }
        self.add(&moved, &changes);
        (self.set, self.sound) = (set, false);
    }

    fn pairs<'k, V: Copy + Into<f64>>(&self, variables: &[Variable], values: &'k [V]) -> Pairs<'k, T, V> {
        Pairs::new(self.term, self.machine.held, variables.iter().copied(), values)
    }

    /// Kernel values of a working set with itself, in single precision.
    fn evaluate_among(&mut self, set: &[usize], places: &[usize]) {
        let (lift, stride) = (self.machine.lift as f32, stride(set.len()));
        self.room.clear();
        self.room.resize(set.len() * stride, 0.0);
        let light = self.machine.light;
        match light {
            true => self.cache.evaluate_among(set, stride, &mut self.room),
            false if self.gather_whole(set, stride) => {}
            false => self.cache.gather_among(set, places, stride, &mut self.room),
        }
        if lift != 0.0 {
            self.room.chunks_mut(stride).for_each(|row| row[..set.len()].iter_mut().for_each(|v| *v += lift));
        }
    }

    /// Tells all scores what has moved.
    fn add(&mut self, moved: &[usize], changes: &[f64]) {
        if !self.precise && self.add_whole(moved, changes) {
            return;
        }
        let rows = |columns: &[usize]| columns.iter().map(|&i| self.row(i)).collect::<Vec<usize>>();
        let gram = self.machine.gram;
        let exact = || gram.combine_precisely(&rows(&self.columns), &rows(moved), changes);
        match if self.precise { exact() } else { None } {
            Some(exact) => self.active.iter_mut().zip(exact).for_each(|(score, more)| *score += more),
            None => {
                let rows = self.cache.rows(moved);
                let moves: Vec<(f64, &[f32])> = changes.iter().copied().zip(rows).collect();
                add_rows(&mut self.active, &moves);
            }
        }
    }

    /// The row of the data that an example is.
    fn row(&self, i: usize) -> usize {
        self.machine.examples[i].row as usize
    }

    /// Leaves out what is far from breaking its condition; whether that was worth it.
    fn narrow(&mut self, state: &State) -> bool {
        /// Of the columns, at the most.
        const LEFT: f64 = 0.8;
        let far = -state.violation.max(10.0 * self.machine.tolerance);
        let stays = |column: usize| {
            let (up, down) = self.severity(state, column);
            state.ways[column] == (true, true) || up.max(down) > far
        };
        let stay: Vec<bool> = (0..self.columns.len()).map(stays).collect();
        let left = stay.iter().filter(|stay| **stay).count();
        if left as f64 > LEFT * self.columns.len() as f64 {
            return false;
        }
        let mut gone = Vec::with_capacity(self.columns.len() - left);
        let (mut columns, mut active) = (Vec::with_capacity(left), Vec::with_capacity(left));
        for (column, &i) in self.columns.iter().enumerate() {
            if stay[column] {
                self.places[i] = columns.len() as u32;
                columns.push(i);
                active.push(self.active[column]);
            } else {
                self.places[i] = NONE;
                self.scores[i] = self.active[column];
                gone.push(i);
            }
        }
        (self.columns, self.active) = (columns, active);
        self.asleep.push(Asleep { columns: gone, since: self.alpha.clone() });
        self.moved_columns = true;
        true
    }

    /// All take part again, with the scores they would have had.
    fn wake(&mut self) {
        for (&i, &score) in self.columns.iter().zip(&self.active) {
            self.scores[i] = score;
        }
        for Asleep { columns, since } in std::mem::take(&mut self.asleep) {
            let moved = self.moved_since(&since, &columns);
            columns.iter().zip(moved).for_each(|(&i, moved)| self.scores[i] += moved);
        }
        self.columns = (0..self.alpha.len()).collect();
        self.places = (0..self.alpha.len() as u32).collect();
        self.active.clone_from(&self.scores);
        self.moved_columns = true;
    }
}

/// Adds rows, each by its amount, to all scores; in an order that does not depend on the number of threads.
pub(super) fn add_rows(scores: &mut [f64], rows: &[(f64, &[f32])]) {
    const PART: usize = 2048;
    scores.par_chunks_mut(PART).enumerate().for_each(|(part, scores)| {
        widely(AddRows { scores, rows, first: part * PART });
    });
}

struct AddRows<'a> {
    scores: &'a mut [f64],
    rows: &'a [(f64, &'a [f32])],
    first: usize,
}

impl Loop for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let AddRows { scores, rows, first } = self;
        let len = scores.len();
        let (groups, rest) = rows.as_chunks::<4>();
        for [a, b, c, d] in groups {
            let [ra, rb, rc, rd] = [a, b, c, d].map(|row| &row.1[first..first + len]);
            for (k, score) in scores.iter_mut().enumerate() {
                *score += a.0 * f64::from(ra[k])
                    + b.0 * f64::from(rb[k])
                    + c.0 * f64::from(rc[k])
                    + d.0 * f64::from(rd[k]);
            }
        }
        for (amount, row) in rest {
            for (score, &value) in scores.iter_mut().zip(&row[first..first + len]) {
                *score += amount * f64::from(value);
            }
        }
    }
}
