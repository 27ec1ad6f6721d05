//! Crammer and Singer's support vector machine, one row at a time through its dual.
//!
//! ```text
//! P(w) = ½Σ‖w_c‖² + Σ cᵢ·ξᵢ                 w_y·xᵢ ≥ w_c·xᵢ + 1 − ξᵢ for every class c but the row's own, y
//! D(u) = −½Σ‖w_c‖² + Σ (cᵢ − uᵢy)           w_c = Σ (cᵢ·[c = y] − uᵢc)·xᵢ
//! ```
//!
//! A row spreads its cost over the classes: uᵢ ≥ 0 with Σ_c uᵢc = cᵢ. What lies on its own class moves nothing, what lies on another pushes that class away and
//! the own one closer. (u is cᵢ·[c = y] − α of the papers, which turns their constraints into a simplex.) With g_c = w_c·x + [c ≠ y] and all other rows held, the
//! best u is the point of the simplex nearest to u + g/‖x‖², found exactly by sorting: Crammer and Singer (2002), JMLR 2, section 6; Duchi, Shalev-Shwartz, Singer, Chandra
//! (2008), ICML, figure 1. Going through the rows in random order is the sequential dual method of Keerthi, Sundararajan, Chang, Hsieh, Lin (2008), KDD.
//!
//! A row adds Σ_c u_c·(max g − g_c) to P − D, so that a pass tells the gap as it goes. Rows that stay where they are for some visits are left alone until
//! the next certificate, which is over all rows.
//!
//! Planes to start from tell u of rows whose largest g stands alone: all of it lies there. Where some are about as large it is spread over these, so that w(u) comes near the planes by least
//! squares. Planes of another C ask for more or less than any u can give, and D(u) may lie far below that of u at rest, where w(u) = 0: the start is the point with the largest D on the way between the
//! two, so that it never has less to show than no start. The answer has the least P of all planes met, those of the start included.

use rayon::prelude::*;

use super::certificate::{BLOCK, Certificate, Slacks};
use super::nearest::{ROUNDS, least_squares};
use super::{End, JointSolution, Limits};
use crate::data::Rows;
use crate::model::Planes;
use crate::rng::Rng;
use crate::watch::Monitor;

/// All classes at once over some rows.
pub(crate) struct Joint<'a, R> {
    pub(crate) x: &'a R,
    pub(crate) examples: &'a [JointExample],
    pub(crate) n_classes: usize,
    /// Whether there is a bias, which counts as a weight.
    pub(crate) lifted: bool,
    /// Planes to start from, one a class or that of the second of two.
    pub(crate) start: Option<&'a Planes>,
}

/// A row's part in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointExample {
    /// cᵢ, C times the weight of the row.
    pub(crate) cost: f64,
    pub(crate) row: u32,
    pub(crate) class: u32,
}

impl<R: Rows> Joint<'_, R> {
    /// g_c = w_c·x + [c ≠ y]
    #[inline]
    fn scores(&self, planes: &Planes, example: &JointExample, out: &mut [f64]) {
        planes.scores(self.x, example.row as usize, out);
        let own = example.class as usize;
        out.iter_mut().enumerate().for_each(|(c, g)| *g += if c == own { 0.0 } else { 1.0 });
    }

    /// The planes to start from, less what all of them have in common: the same differences at the least norm, as those of the optimum are.
    fn beginning(&self) -> Option<Planes> {
        let start = self.start?;
        let centred = |given: &[f64], out: &mut [f64]| match (given, &mut *out) {
            ([between], [first, second]) => (*first, *second) = (-0.5 * between, 0.5 * between),
            _ => {
                let mean = given.iter().sum::<f64>() / given.len() as f64;
                out.iter_mut().zip(given).for_each(|(out, w)| *out = w - mean);
            }
        };
        let (k, mut planes) = (self.n_classes, Planes::zeros(self.n_classes, self.x.n_cols(), self.lifted));
        let given = start.weights.chunks_exact(start.k());
        given.zip(planes.weights.chunks_exact_mut(k)).for_each(|(given, out)| centred(given, out));
        if self.lifted {
            centred(&start.bias, &mut planes.bias);
        }
        Some(planes)
    }

    /// P at some planes, and where the rows lie about them.
    fn primal(&self, planes: &Planes) -> (f64, Slacks) {
        let block = |examples: &[JointExample]| {
            let (mut sum, mut slacks, mut scores) = (0.0, Slacks::default(), vec![0.0; self.n_classes]);
            for example in examples {
                self.scores(planes, example, &mut scores);
                let own = example.class as usize;
                sum += example.cost * (most(&scores) - scores[own]);
                let rivals = scores.iter().enumerate().filter(|(c, _)| *c != own).map(|(_, g)| *g);
                slacks.count(1.0 + scores[own] - rivals.fold(f64::NEG_INFINITY, f64::max), 1);
            }
            (sum, slacks)
        };
        let blocks: Vec<_> = self.examples.par_chunks(BLOCK).map(block).collect();
        let (mut primal, mut all) = (half_norm(planes), Slacks::default());
        for (sum, slacks) in blocks {
            primal += sum;
            all.add(slacks);
        }
        (primal, all)
    }
}

/// ½Σ‖w_c‖², with the biases.
fn half_norm(planes: &Planes) -> f64 {
    0.5 * (planes.sq_norm() + planes.bias().iter().map(|b| b * b).sum::<f64>())
}

/// Visits without a move after which a row is left alone.
const QUIET: u8 = 3;

/// Moves below this share of a row's cost are rounding.
const STILL: f64 = 1e-13;

/// Rows are asked for so many visits ahead.
const AHEAD: usize = 4;

/// Passes between two certificates at the most.
const PATIENCE: usize = 50;

/// The planes with the least P so far, and what the best u so far proves of them.
struct Best {
    planes: Planes,
    certificate: Certificate,
}

impl Best {
    fn improve(&mut self, planes: &Planes, mut found: Certificate) {
        let ours = &mut self.certificate;
        if found.dual > ours.dual {
            (ours.dual, ours.support_vectors) = (found.dual, found.support_vectors);
        }
        if found.primal < ours.primal {
            (found.dual, found.support_vectors) = (ours.dual, ours.support_vectors);
            *ours = found;
            self.planes.clone_from(planes);
        }
    }
}

/// The descent under way.
pub(crate) struct Sequential<'a, R> {
    problem: &'a Joint<'a, R>,
    limits: Limits,
    planes: Planes,
    /// u, row after row.
    u: Vec<f64>,
    /// ‖x‖² with the part of the bias.
    q: Vec<f64>,
    /// Visits since the row moved last.
    quiet: Vec<u8>,
    /// Positions of examples; those before `active` are visited.
    order: Vec<u32>,
    active: usize,
    /// Room for the scores of a row and for its new u.
    scores: Vec<f64>,
    next: Vec<f64>,
    best: Option<Best>,
}

/// How far to go, and D there.
struct Way {
    share: f64,
    promise: f64,
}

/// What a pass saw.
#[derive(Default)]
struct Epoch {
    /// P − D over the rows met, each before its step.
    gap: f64,
    moved: bool,
    /// Whether it went over all rows.
    whole: bool,
    stopped: bool,
}

impl<'a, R: Rows> Sequential<'a, R> {
    pub(crate) fn new(problem: &'a Joint<'a, R>, limits: Limits) -> Self {
        let (n, k) = (problem.examples.len(), problem.n_classes);
        let lift = if problem.lifted { 1.0 } else { 0.0 };
        let mut u = vec![0.0; n * k];
        for (u, example) in u.chunks_exact_mut(k).zip(problem.examples) {
            u[example.class as usize] = example.cost;
        }
        let planes = problem.beginning();
        let mut sequential = Sequential {
            problem,
            limits,
            planes: Planes::zeros(k, problem.x.n_cols(), problem.lifted),
            u,
            q: problem.examples.iter().map(|e| problem.x.sq_norm(e.row as usize) + lift).collect(),
            quiet: vec![0; n],
            order: (0..n as u32).collect(),
            active: n,
            scores: vec![0.0; k],
            next: vec![0.0; k],
            best: None,
        };
        if let Some(planes) = planes {
            sequential.start_near(planes);
        }
        sequential
    }

    /// u from planes to start from.
    fn start_near(&mut self, planes: Planes) {
        let (primal, slacks) = self.problem.primal(&planes);
        if !primal.is_finite() {
            return;
        }
        self.spread(&planes);
        let mut promise = self.way_from_rest().promise;
        for _ in 0..ROUNDS {
            let before = self.u.clone();
            self.fill_up(&planes);
            self.rebuild();
            let found = self.way_from_rest().promise;
            if found <= promise {
                self.u = before;
                self.rebuild();
                break;
            }
            promise = found;
        }
        self.draw_back();
        let dual = self.dual();
        let support_vectors = self.support_vectors();
        let certificate = Certificate { primal, dual, slacks, support_vectors, ..Certificate::default() };
        self.best = Some(Best { planes, certificate });
    }

    /// u as the point of the simplex nearest to a multiple of g. Of two classes it is what dual coordinate descent takes for hinge.
    fn spread(&mut self, planes: &Planes) {
        const AROUND: f64 = 0.05;
        let k = self.problem.n_classes;
        for (u, example) in self.u.chunks_exact_mut(k).zip(self.problem.examples) {
            self.problem.scores(planes, example, &mut self.scores);
            let most = most(&self.scores);
            u.iter_mut().zip(&self.scores).for_each(|(u, g)| *u = (g - most) * (example.cost / AROUND));
            project(u, example.cost, &mut self.next);
        }
        self.rebuild();
    }

    /// The best place on the way from u at rest, all of it on the rows' own classes, to where it is: D is a parabola there, t·L − ½t²·Σ‖w_c‖².
    fn way_from_rest(&self) -> Way {
        let (linear, norm) = (self.spent(), half_norm(&self.planes));
        let share = if linear < 2.0 * norm { linear / (2.0 * norm) } else { 1.0 };
        Way { share, promise: share * (linear - share * norm) }
    }

    /// Goes there.
    fn draw_back(&mut self) {
        let (share, k) = (self.way_from_rest().share, self.problem.n_classes);
        for (u, example) in self.u.chunks_exact_mut(k).zip(self.problem.examples) {
            u.iter_mut().for_each(|u| *u *= share);
            u[example.class as usize] += (1.0 - share) * example.cost;
        }
        self.rebuild();
    }

    /// The classes that a row is spread over.
    fn open(&self, i: usize) -> Vec<usize> {
        let k = self.problem.n_classes;
        (0..k).filter(|&c| self.u[i * k + c] > 0.0).collect()
    }

    /// Moves u of rows that are spread over several classes so that w(u) comes near the planes.
    fn fill_up(&mut self, planes: &Planes) {
        let (problem, k) = (self.problem, self.problem.n_classes);
        let rows: Vec<(usize, Vec<usize>)> =
            (0..self.order.len()).map(|i| (i, self.open(i))).filter(|(_, open)| open.len() > 1).collect();
        let flat = |planes: &Planes| [&planes.weights[..], &planes.bias[..]].concat();
        let missing = flat(planes).iter().zip(flat(&self.planes)).map(|(to, at)| to - at).collect();
        let forward = |v: &[f64]| {
            let mut sum = Planes::zeros(k, problem.x.n_cols(), problem.lifted);
            let mut v = v.iter();
            for (i, open) in &rows {
                let row = problem.examples[*i].row as usize;
                open.iter().zip(v.by_ref()).for_each(|(&c, v)| sum.add(problem.x, row, c, -v));
            }
            flat(&sum)
        };
        let back = |w: &[f64]| {
            let mut planes = Planes::zeros(k, problem.x.n_cols(), problem.lifted);
            let (weights, bias) = w.split_at(planes.weights.len());
            (planes.weights, planes.bias) = (weights.to_vec(), bias.to_vec());
            let (mut all, mut scores) = (Vec::new(), vec![0.0; k]);
            for (i, open) in &rows {
                planes.scores(problem.x, problem.examples[*i].row as usize, &mut scores);
                // What a row has stays its cost.
                let mean = open.iter().map(|&c| scores[c]).sum::<f64>() / open.len() as f64;
                all.extend(open.iter().map(|&c| mean - scores[c]));
            }
            all
        };
        let moves = least_squares(missing, forward, back);
        let mut moves = moves.iter();
        for (i, open) in &rows {
            let u = &mut self.u[i * k..][..k];
            open.iter().zip(moves.by_ref()).for_each(|(&c, step)| u[c] += step);
            project(u, problem.examples[*i].cost, &mut self.next);
        }
    }

    pub(crate) fn solve(mut self, monitor: &Monitor<'_>) -> JointSolution {
        if let Some(Best { planes, certificate }) =
            self.best.take_if(|best| best.certificate.gap() <= self.limits.gap)
        {
            return JointSolution { planes, certificate, passes: 0, end: End::Converged };
        }
        let (mut passes, mut since_certificate) = (0, 0);
        let end = loop {
            passes += 1;
            since_certificate += 1;
            let epoch = self.epoch(passes, monitor);
            let at_end = epoch.stopped || passes >= self.limits.passes;
            let hopeful = epoch.gap <= self.limits.gap * (self.dual() + epoch.gap);
            if !(hopeful || at_end || !epoch.moved || since_certificate >= PATIENCE) {
                continue;
            }
            since_certificate = 0;
            let gap = self.certify();
            break match () {
                () if gap <= self.limits.gap => End::Converged,
                () if epoch.stopped => End::Stopped,
                () if at_end => End::PassLimit,
                () if epoch.whole && !epoch.moved => End::Stalled,
                () => {
                    self.wake();
                    continue;
                }
            };
        };
        let (planes, certificate) = match self.best {
            Some(Best { planes, certificate }) => (planes, certificate),
            None => (self.planes, Certificate::nothing()),
        };
        JointSolution { planes, certificate, passes, end }
    }

    /// All rows are visited again.
    fn wake(&mut self) {
        self.active = self.order.len();
        self.quiet.fill(0);
    }

    fn epoch(&mut self, pass: usize, monitor: &Monitor<'_>) -> Epoch {
        Rng::stream(self.limits.seed, pass as u64).shuffle(&mut self.order[..self.active]);
        let mut epoch = Epoch { whole: self.active == self.order.len(), ..Epoch::default() };
        let (mut at, mut visited) = (0, 0);
        while at < self.active && !epoch.stopped {
            if let Some(&soon) = self.order.get(at + AHEAD) {
                self.problem.x.prefetch(self.problem.examples[soon as usize].row as usize);
            }
            let i = self.order[at] as usize;
            epoch.gap += self.look(i);
            let moved = self.step(i);
            epoch.moved |= moved;
            self.quiet[i] = if moved { 0 } else { self.quiet[i] + 1 };
            if self.quiet[i] >= QUIET {
                self.active -= 1;
                self.order.swap(at, self.active);
            } else {
                at += 1;
            }
            visited += 1;
            if visited == Monitor::BLOCK {
                epoch.stopped = !monitor.go_on(visited);
                visited = 0;
            }
        }
        epoch.stopped |= !monitor.go_on(visited);
        epoch
    }

    /// Scores a row; what it adds to P − D.
    fn look(&mut self, i: usize) -> f64 {
        self.problem.scores(&self.planes, &self.problem.examples[i], &mut self.scores);
        let most = most(&self.scores);
        let k = self.problem.n_classes;
        self.u[i * k..][..k].iter().zip(&self.scores).map(|(u, g)| u * (most - g)).sum()
    }

    /// Moves a row that was just looked at to its best u; whether that changed anything.
    fn step(&mut self, i: usize) -> bool {
        let (problem, k) = (self.problem, self.problem.n_classes);
        let JointExample { cost, row, .. } = problem.examples[i];
        let u = &mut self.u[i * k..][..k];
        // Less the highest score, so that a row of almost no length loses no digits; those far below it become −∞.
        let (most, q) = (most(&self.scores), self.q[i].max(f64::MIN_POSITIVE));
        for ((next, u), g) in self.next.iter_mut().zip(&*u).zip(&self.scores) {
            *next = u + (g - most) / q;
        }
        project(&mut self.next, cost, &mut self.scores);
        let mut moved = false;
        for (c, (u, &next)) in u.iter_mut().zip(&self.next).enumerate() {
            let step = *u - next;
            if step.abs() > STILL * cost {
                *u = next;
                moved = true;
                self.planes.add(problem.x, row as usize, c, step);
            }
        }
        moved
    }

    fn dual(&self) -> f64 {
        self.spent() - half_norm(&self.planes)
    }

    /// What lies on other classes than the rows' own.
    fn spent(&self) -> f64 {
        let rows = self.problem.examples.iter().zip(self.u.chunks_exact(self.problem.n_classes));
        rows.map(|(example, u)| example.cost - u[example.class as usize]).sum()
    }

    /// Rows with a part on another class than their own.
    fn support_vectors(&self) -> u64 {
        let rows = self.problem.examples.iter().zip(self.u.chunks_exact(self.problem.n_classes));
        let supports = |(example, u): &(&JointExample, &[f64])| {
            u.iter().enumerate().any(|(c, &u)| c != example.class as usize && u > 0.0)
        };
        rows.filter(supports).count() as u64
    }

    /// Both objectives, over all rows and with w made afresh from u; the gap of the best so far.
    fn certify(&mut self) -> f64 {
        self.rebuild();
        let (primal, slacks) = self.problem.primal(&self.planes);
        let (dual, support_vectors) = (self.dual(), self.support_vectors());
        let certificate = Certificate { primal, dual, slacks, support_vectors, ..Certificate::default() };
        let planes = &self.planes;
        let best = self
            .best
            .get_or_insert_with(|| Best { planes: planes.clone(), certificate: certificate.clone() });
        best.improve(planes, certificate);
        best.certificate.gap()
    }

    /// w from u, without what rounding added on the way.
    fn rebuild(&mut self) {
        let k = self.problem.n_classes;
        self.planes = Planes::zeros(k, self.problem.x.n_cols(), self.problem.lifted);
        for (example, u) in self.problem.examples.iter().zip(self.u.chunks_exact(k)) {
            for (c, u) in u.iter().enumerate() {
                let a = if c == example.class as usize { example.cost - u } else { -u };
                if a != 0.0 {
                    self.planes.add(self.problem.x, example.row as usize, c, a);
                }
            }
        }
    }
}

pub(super) fn most(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Moves a point to the nearest one without negative entries whose sum is `total`: all entries less the same amount, and no less than 0.
pub(super) fn project(point: &mut [f64], total: f64, sorted: &mut [f64]) {
    sorted.copy_from_slice(point);
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut sum, mut less) = (0.0, f64::INFINITY);
    for (count, &entry) in (1..).zip(&*sorted) {
        sum += entry;
        let amount = (sum - total) / f64::from(count);
        if count > 1 && entry <= amount {
            break;
        }
        less = amount;
    }
    point.iter_mut().for_each(|entry| *entry = (*entry - less).max(0.0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dense;

    /// Planes of a far larger C ask for what no u gives.
    #[test]
    fn a_start_has_no_less_to_show_than_none() {
        let x = Dense::new(vec![1.0, 0.0, 0.0, 1.0, 0.6, 0.7, 0.7, 0.6, 1.0, 1.0, 0.9, 0.8], 2).unwrap();
        let class = |i: usize| [0, 1, 1, 0, 2, 1][i];
        let example = |i: usize| JointExample { cost: 3.0, row: i as u32, class: class(i) };
        let examples: Vec<_> = (0..6).map(example).collect();
        let limits = Limits { gap: 1e-6, gain: 0.0, passes: 1000, seed: 0, dual: f64::INFINITY };
        for size in [1e-3, 1.0, 30.0, 1e4] {
            let mut start = Planes::zeros(3, 2, false);
            let weights = [1.0, -1.0, 0.0, -1.0, 1.0, 0.5];
            start.weights.iter_mut().zip(weights).for_each(|(to, w)| *to = size * w);
            let problem =
                Joint { x: &x, examples: &examples, n_classes: 3, lifted: false, start: Some(&start) };
            let sequential = Sequential::new(&problem, limits);
            assert!(sequential.dual() >= 0.0, "{size}: {}", sequential.dual());
            let total = |u: &[f64]| u.iter().sum::<f64>();
            assert!(
                sequential.u.chunks(3).all(|u| (total(u) - 3.0).abs() < 1e-9 && u.iter().all(|u| *u >= 0.0))
            );
        }
    }

    fn projected(point: &[f64], total: f64) -> Vec<f64> {
        let (mut point, mut room) = (point.to_vec(), vec![0.0; point.len()]);
        project(&mut point, total, &mut room);
        point
    }

    #[test]
    fn simplex_projection_by_hand() {
        assert_eq!(projected(&[1.0, 3.0], 2.0), [0.0, 2.0]);
        assert_eq!(projected(&[1.0, 2.0, -9.0], 2.0), [0.5, 1.5, 0.0]);
        assert_eq!(projected(&[0.0, 0.0, f64::NEG_INFINITY], 1.0), [0.5, 0.5, 0.0]);
        assert_eq!(projected(&[-5.0, -5.0], 3.0), [1.5, 1.5]);
    }
}
