//! Crammer and Singer's machine in the space of a kernel: a few hundred rows at a time, all others held.
//!
//! The problem, its dual and the best u of one row are those of [`super::crammer_singer`]; here w_c = Σ aᵢc·φ(xᵢ), aᵢc = cᵢ·[c = y] − uᵢc. A round takes the rows that break their optimality
//! condition most (ψᵢ = max g_c − min g_c over classes with uᵢc > 0: Crammer and Singer 2002, section 5) and half of those of the round before, visits them in turn until theirs hold, and adds what they moved
//! to all scores. Input: kernel values by whole rows, class and cost of each example. Output: a, and the value of both objectives.

use rayon::prelude::*;

use super::certificate::{Certificate, Slacks};
use super::crammer_singer::{most, project};
use super::decomposition::add_rows;
use super::{End, JointExample, Limits};
use crate::cache::RowCache;
use crate::error::ParamError;
use crate::gram::Gram;
use crate::watch::Monitor;

/// All classes at once in the space of a kernel.
pub(crate) struct JointMachine<'a> {
    pub(crate) gram: &'a Gram<'a>,
    pub(crate) examples: &'a [JointExample],
    pub(crate) n_classes: usize,
    /// Added to the kernel: 1 where there are biases, which count as weights.
    pub(crate) lift: f64,
    /// u to start from.
    pub(crate) start: Option<Vec<f64>>,
    /// No optimality condition is to be broken by more.
    pub(crate) tolerance: f64,
    /// Rows of a working set.
    pub(crate) size: usize,
    /// Bytes for kernel rows.
    pub(crate) cache: usize,
}

/// What it came to.
pub(crate) struct JointExpanded {
    /// aᵢc, example after example.
    pub(crate) coefficients: Vec<f64>,
    /// b of each class.
    pub(crate) offsets: Vec<f64>,
    pub(crate) certificate: Certificate,
    pub(crate) violation: f64,
    pub(crate) rounds: usize,
    pub(crate) end: End,
}

/// Rounds without progress after which it will not come any more.
const PATIENCE: usize = 500;

/// Solving for the set more exactly than this share of what is broken in all rows is in vain.
const INNER: f64 = 0.1;

/// The descent under way.
pub(crate) struct JointDecomposition<'a> {
    machine: &'a JointMachine<'a>,
    limits: Limits,
    cache: RowCache<'a>,
    /// u, example after example.
    u: Vec<f64>,
    /// Σ aₛcK(xₛ, xᵢ) of every example, class after class, without what is added to the kernel.
    scores: Vec<Vec<f64>>,
    /// Σ aₛc of each class.
    sums: Vec<f64>,
    /// The last working set.
    set: Vec<usize>,
}

impl<'a> JointDecomposition<'a> {
    pub(crate) fn new(machine: &'a JointMachine<'a>, limits: Limits) -> Result<Self, ParamError> {
        let (n, k) = (machine.examples.len(), machine.n_classes);
        let members: Vec<usize> = machine.examples.iter().map(|e| e.row as usize).collect();
        let mut u = vec![0.0; n * k];
        for (u, example) in u.chunks_exact_mut(k).zip(machine.examples) {
            u[example.class as usize] = example.cost;
        }
        let mut descent = JointDecomposition {
            machine,
            limits,
            cache: RowCache::over(machine.gram, &members, machine.cache)?,
            u,
            scores: vec![vec![0.0; n]; k],
            sums: vec![0.0; k],
            set: Vec::new(),
        };
        if let Some(start) = &machine.start {
            descent.u.clone_from(start);
            descent.sum_anew(machine.tolerance);
        }
        Ok(descent)
    }

    pub(crate) fn solve(mut self, monitor: &Monitor<'_>) -> JointExpanded {
        let mut tolerance = self.machine.tolerance;
        let (mut rounds, mut best, mut best_round, mut exact) =
            (0, f64::INFINITY, 0, self.machine.start.is_some());
        loop {
            let broken = self.broken();
            let violation = most(&broken);
            if violation < 0.99 * best {
                (best, best_round) = (violation, rounds);
            }
            let stopped = monitor.stopped().is_some() || rounds >= self.limits.passes;
            let flawed = self.machine.gram.kernel().is_flawed() || violation.is_nan();
            let stuck = rounds > best_round + PATIENCE || flawed;
            if violation <= 0.9 * tolerance || stopped || stuck {
                // Without what rounding added on the way.
                if !exact && !flawed {
                    self.sum_anew(tolerance);
                    exact = true;
                    continue;
                }
                let certificate = self.certify();
                let end = match () {
                    () if certificate.gap() <= self.limits.gap && violation <= tolerance => End::Converged,
                    () if monitor.stopped().is_some() => End::Stopped,
                    () if stopped => End::PassLimit,
                    () if stuck || tolerance < 1e-10 => End::Stalled,
                    () => {
                        tolerance *= 0.25;
                        exact = false;
                        continue;
                    }
                };
                let offsets = self.sums.iter().map(|sum| self.machine.lift * sum).collect();
                return JointExpanded {
                    coefficients: self.coefficients(),
                    offsets,
                    certificate,
                    violation,
                    rounds,
                    end,
                };
            }
            let set = self.working_set(&broken, tolerance);
            rounds += 1;
            exact = false;
            monitor.go_on(set.len());
            self.improve(set, (INNER * violation).max(0.5 * tolerance.min(violation)));
        }
    }

    /// g_c = w_c·φ(xᵢ) + [c ≠ y]
    fn look(&self, i: usize, out: &mut [f64]) {
        let own = self.machine.examples[i].class as usize;
        for (c, ((out, scores), sum)) in out.iter_mut().zip(&self.scores).zip(&self.sums).enumerate() {
            *out = scores[i] + self.machine.lift * sum + if c == own { 0.0 } else { 1.0 };
        }
    }

    fn of_row(&self, i: usize) -> &[f64] {
        &self.u[i * self.machine.n_classes..][..self.machine.n_classes]
    }

    /// How far each example's condition is broken.
    fn broken(&self) -> Vec<f64> {
        let room = || vec![0.0; self.machine.n_classes];
        let one = |g: &mut Vec<f64>, i: usize| {
            self.look(i, g);
            psi(g, self.of_row(i))
        };
        (0..self.machine.examples.len()).into_par_iter().with_min_len(1024).map_init(room, one).collect()
    }

    /// Half of the last set, those that are spread over classes first, and the rows that break their conditions most.
    fn working_set(&self, broken: &[f64], tolerance: f64) -> Vec<usize> {
        let size = self.machine.size.min(broken.len()).min(self.cache.capacity());
        let spread = |i: &usize| self.of_row(*i).iter().filter(|u| **u > 0.0).count() > 1;
        let newest = || self.set.iter().rev().copied();
        let mut set: Vec<usize> =
            newest().filter(spread).chain(newest().filter(|i| !spread(i))).take(size / 2).collect();
        set.reverse();
        let mut chosen = vec![false; broken.len()];
        set.iter().for_each(|&i| chosen[i] = true);
        let mut others: Vec<usize> =
            (0..broken.len()).filter(|&i| !chosen[i] && broken[i] > 0.5 * tolerance).collect();
        let worse = |a: &usize, b: &usize| broken[*b].total_cmp(&broken[*a]).then(a.cmp(b));
        let share = size - set.len();
        if others.len() > share {
            others.select_nth_unstable_by(share, worse);
            others.truncate(share);
        }
        others.sort_unstable_by(worse);
        set.extend(others);
        set
    }

    /// Visits the rows of a set until their conditions hold and tells all others.
    fn improve(&mut self, set: Vec<usize>, tolerance: f64) {
        let (k, q) = (self.machine.n_classes, set.len());
        let (mut g, mut of_row) = (vec![0.0; q * k], vec![0.0; k]);
        for (s, &i) in set.iter().enumerate() {
            self.look(i, &mut of_row);
            of_row.iter().enumerate().for_each(|(c, value)| g[c * q + s] = *value);
        }
        let u: Vec<f64> = set.iter().flat_map(|&i| self.of_row(i)).copied().collect();
        let costs: Vec<f64> = set.iter().map(|&i| self.machine.examples[i].cost).collect();
        let mut kernel = vec![0.0; q * q];
        self.cache.gather_among(&set, &set, q, &mut kernel);
        let kernel = kernel.iter().map(|&value| f64::from(value) + self.machine.lift).collect();
        let rows = self.cache.rows(&set);
        let next = Few { k, kernel, costs, u: u.clone(), g }.solve(tolerance);
        for (c, (scores, sum)) in self.scores.iter_mut().zip(&mut self.sums).enumerate() {
            let moved = (0..q).map(|s| u[s * k + c] - next[s * k + c]);
            let moves: Vec<(f64, &[f32])> = moved
                .zip(&rows)
                .filter(|(moved, _)| *moved != 0.0)
                .map(|(moved, row)| (moved, *row))
                .collect();
            *sum += moves.iter().map(|(moved, _)| moved).sum::<f64>();
            add_rows(scores, &moves);
        }
        for (&i, next) in set.iter().zip(next.chunks_exact(k)) {
            self.u[i * k..][..k].copy_from_slice(next);
        }
        self.set = set;
    }

    /// a = c·[c = y] − u
    fn coefficients(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self.u.iter().map(|u| 0.0 - u).collect();
        for (a, example) in all.chunks_exact_mut(self.machine.n_classes).zip(self.machine.examples) {
            // What others take is what the own class gets; the cost less what it kept would leave rounding errors.
            let own = example.class as usize;
            a[own] = 0.0;
            a[own] = 0.0 - a.iter().sum::<f64>();
        }
        all
    }

    /// All scores without what rounding added on the way; in double precision where a sample shows that kernel values of single precision are too coarse.
    fn sum_anew(&mut self, tolerance: f64) {
        const SAMPLE: usize = 32;
        /// Errors may be this share of the tolerance.
        const ALLOWED: f64 = 0.02;
        let (n, k) = (self.machine.examples.len(), self.machine.n_classes);
        let coefficients = self.coefficients();
        let used: Vec<usize> =
            (0..n).filter(|&i| coefficients[i * k..][..k].iter().any(|a| *a != 0.0)).collect();
        let row = |i: usize| self.machine.examples[i].row as usize;
        let stored: Vec<usize> = used.iter().map(|&i| row(i)).collect();
        let parts: Vec<f64> = used.iter().flat_map(|&i| &coefficients[i * k..][..k]).copied().collect();
        let rows: Vec<usize> = (0..n).map(row).collect();
        let all = self.machine.gram.combine(&rows, self.machine.gram, &stored, &parts, k);
        let of_class = |all: &[f64], c: usize| all.iter().skip(c).step_by(k).copied().collect::<Vec<f64>>();
        let precisely = |rows: &[usize], c: usize| {
            self.machine.gram.combine_precisely(rows, &stored, &of_class(&parts, c))
        };
        let every = n.div_ceil(SAMPLE).max(1);
        let sample: Vec<usize> = rows.iter().step_by(every).copied().collect();
        let off = |c: usize| {
            let exact = precisely(&sample, c).unwrap_or_default();
            let found = of_class(&all, c).into_iter().step_by(every);
            found.zip(exact).map(|(found, exact)| (found - exact).abs()).fold(0.0, f64::max)
        };
        let coarse = (0..k).map(off).fold(0.0, f64::max) > ALLOWED * tolerance;
        let scores = |c: usize| {
            let exact = if coarse { precisely(&rows, c) } else { None };
            exact.unwrap_or_else(|| of_class(&all, c))
        };
        let scores: Vec<Vec<f64>> = (0..k).map(scores).collect();
        self.sums = (0..k).map(|c| of_class(&coefficients, c).iter().sum()).collect();
        self.scores = scores;
    }

    /// Both objectives.
    fn certify(&self) -> Certificate {
        let (k, coefficients) = (self.machine.n_classes, self.coefficients());
        let (mut square, mut risk, mut dual) = (0.0, 0.0, 0.0);
        let mut all = Certificate { slacks: Slacks::default(), ..Certificate::default() };
        let mut g = vec![0.0; k];
        for (i, (example, a)) in self.machine.examples.iter().zip(coefficients.chunks_exact(k)).enumerate() {
            self.look(i, &mut g);
            let own = example.class as usize;
            risk += example.cost * (most(&g) - g[own]);
            dual += a[own];
            let rivals = g.iter().enumerate().filter(|(c, _)| *c != own).map(|(_, g)| *g);
            all.slacks.count(1.0 + g[own] - rivals.fold(f64::NEG_INFINITY, f64::max), 1);
            all.support_vectors += u64::from(a[own] > 0.0);
            let score = |c: usize| g[c] - if c == own { 0.0 } else { 1.0 };
            square += a.iter().enumerate().map(|(c, a)| a * score(c)).sum::<f64>();
        }
        Certificate { primal: 0.5 * square + risk, dual: dual - 0.5 * square, ..all }
    }
}

/// How far from the highest score a class may be that part of a row's cost lies on.
fn psi(g: &[f64], u: &[f64]) -> f64 {
    let least = g.iter().zip(u).filter(|(_, u)| **u > 0.0).map(|(g, _)| *g).fold(f64::INFINITY, f64::min);
    most(g) - least
}

/// The rows of a working set.
struct Few {
    k: usize,
    kernel: Vec<f64>,
    costs: Vec<f64>,
    u: Vec<f64>,
    /// Class after class, so that a move is added to neighbours.
    g: Vec<f64>,
}

impl Few {
    /// u when no condition is broken by more than this, or after some sweeps.
    fn solve(mut self, tolerance: f64) -> Vec<f64> {
        const SWEEPS: usize = 300;
        let mut room = [(); 3].map(|()| vec![0.0; self.k]);
        for _ in 0..SWEEPS {
            let moved = (0..self.costs.len()).filter(|&s| self.visit(s, tolerance, &mut room)).count();
            if moved == 0 {
                break;
            }
        }
        self.u
    }

    /// The best u of a row, unless its condition holds; whether anything moved.
    fn visit(&mut self, s: usize, tolerance: f64, [g, next, sorted]: &mut [Vec<f64>; 3]) -> bool {
        let (k, q) = (self.k, self.costs.len());
        g.iter_mut().zip(self.g.chunks_exact(q)).for_each(|(g, of_class)| *g = of_class[s]);
        let u = &self.u[s * k..][..k];
        if psi(g, u) <= tolerance {
            return false;
        }
        let row = &self.kernel[s * q..][..q];
        let (most, own) = (most(g), row[s].max(f64::MIN_POSITIVE));
        for ((next, u), g) in next.iter_mut().zip(u).zip(&*g) {
            *next = u + (g - most) / own;
        }
        project(next, self.costs[s], sorted);
        let mut moved = false;
        for (c, &next) in next.iter().enumerate() {
            let change = self.u[s * k + c] - next;
            if change != 0.0 {
                moved = true;
                self.u[s * k + c] = next;
                self.g[c * q..][..q].iter_mut().zip(row).for_each(|(g, value)| *g += change * value);
            }
        }
        moved
    }
}
