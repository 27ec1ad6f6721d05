//! Lower bounds of an objective: dual points, from wherever they come, made feasible and evaluated one row after the other.
//!
//! ```text
//! P ≥ D(α) = −½‖Σ αᵢyᵢxᵢ‖² − Σ cᵢ·ℓ*(−αᵢ/cᵢ)     0 ≤ αᵢ ≤ cᵢ (hinge, logistic), Σ αᵢyᵢ = 0 with a free bias
//! ```

use std::collections::HashMap;

use super::naive::{Entries, Known, entries};
use super::objective::{Loss, Objective, Parts, class_scores};
use crate::data::{Matrix, Rows};
use crate::kernel::Kernel;
use crate::learner::Bias;

/// Relative gap below which no more is looked for.
const ENOUGH: f64 = 1e-8;

/// One binary problem of an objective, without the rows that cost nothing.
pub(super) struct Problem<'a> {
    pub(super) objective: &'a Objective,
    pub(super) x: &'a Matrix<'a>,
    /// Each row with its sign.
    pub(super) rows: Vec<(usize, f64)>,
}

impl<'a> Problem<'a> {
    pub(super) fn of(objective: &'a Objective, x: &'a Matrix<'a>, rows: &[(usize, f64)]) -> Self {
        let rows = rows.iter().copied().filter(|(i, _)| objective.counts(*i)).collect();
        Problem { objective, x, rows }
    }

    fn cost(&self, at: usize) -> f64 {
        self.objective.cost[self.rows[at].0]
    }

    /// What α = −c·ℓ'(y·g) proves, g being the scores of any point: next to the optimum of a smooth loss it is the best α.
    pub(super) fn bound_at(&self, scores: &[f64]) -> f64 {
        let pull =
            |(at, &(i, y)): (usize, &(usize, f64))| self.cost(at) * self.objective.loss.pull(y * scores[i]);
        self.bound(self.rows.iter().enumerate().map(pull).collect())
    }

    /// D at a feasible point near α.
    pub(super) fn bound(&self, mut alpha: Vec<f64>) -> f64 {
        let Objective { loss, bias, l1, .. } = *self.objective;
        if bias == Bias::Free {
            self.balance(&mut alpha);
        }
        let (mut v, mut sum) = (vec![0.0; self.x.n_cols()], 0.0);
        for (&(i, y), a) in self.rows.iter().zip(&alpha) {
            self.x.each(i, |j, x| v[j] += a * y * x);
            sum += a * y;
        }
        let mut square = v.iter().map(|v| v * v).sum::<f64>();
        if bias == Bias::Regularized {
            square += sum * sum;
        }
        if l1 {
            // The dual of ‖w‖₁ asks for |Σ αᵢyᵢxᵢⱼ| ≤ 1 in each column.
            let own = if bias == Bias::Regularized { sum } else { 0.0 };
            let largest = v.iter().fold(own.abs().max(1.0), |most: f64, v| most.max(v.abs()));
            alpha.iter_mut().for_each(|a| *a /= largest);
            square = 0.0;
        }
        let conjugates = |(at, a): (usize, &f64)| self.cost(at) * loss.conjugate(a / self.cost(at));
        match loss {
            Loss::Hard => stretched(alpha.iter().sum(), square),
            _ => -0.5 * square - alpha.iter().enumerate().map(conjugates).sum::<f64>(),
        }
    }

    /// Onto Σ αy = 0, by scaling the heavier side down, which keeps every bound.
    fn balance(&self, alpha: &mut [f64]) {
        let side = |positive: bool, alpha: &[f64]| -> f64 {
            self.rows.iter().zip(alpha).filter(|((_, y), _)| (*y > 0.0) == positive).map(|(_, a)| a).sum()
        };
        let (plus, minus) = (side(true, alpha), side(false, alpha));
        let (heavier, factor) = if plus > minus { (true, minus / plus) } else { (false, plus / minus) };
        if factor < 1.0 {
            let rows = self.rows.iter().zip(alpha);
            rows.filter(|((_, y), _)| (*y > 0.0) == heavier).for_each(|(_, a)| *a *= factor);
        }
    }

    /// Dual coordinate descent as it is taught (Hsieh, Chang, Lin, Keerthi, Sundararajan 2008, algorithm 1), for losses with a corner; a free bias by the method of multipliers. Ends when D is
    /// as large as wanted, when no more is to be had, or when told.
    pub(super) fn ascend(&self, wanted: f64, go_on: &mut dyn FnMut() -> bool) -> f64 {
        let loss = self.objective.loss;
        let squares: Vec<f64> = self.rows.iter().map(|&(i, _)| self.x.sq_norm(i)).collect();
        let mean = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
        let (free, sigma) = match self.objective.bias {
            Bias::Free => (true, 0.1 * mean.max(f64::MIN_POSITIVE)),
            Bias::Regularized => (false, 1.0),
            Bias::None => (false, 0.0),
        };
        let (mut alpha, mut w) = (vec![0.0; self.rows.len()], vec![0.0; self.x.n_cols()]);
        let (mut sum, mut mu, mut best, mut look) = (0.0, 0.0, f64::NEG_INFINITY, 1);
        // Some order in which neighbours in the file are not neighbours.
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        for epoch in 1.. {
            crate::rng::Rng::stream(0, epoch as u64).shuffle(&mut order);
            for &at in &order {
                let ((i, y), q) = (self.rows[at], squares[at] + sigma);
                if q > 0.0 {
                    let slope = y * (self.x.dot(i, &w) + mu + sigma * sum) - 1.0;
                    let next = (alpha[at] - slope / q).clamp(0.0, loss.most(self.cost(at)));
                    let step = y * (next - alpha[at]);
                    if step != 0.0 {
                        self.x.axpy(step, i, &mut w);
                        sum += step;
                        alpha[at] = next;
                    }
                } else {
                    alpha[at] = loss.most(self.cost(at)).min(f64::MAX);
                }
            }
            mu += if free { sigma * sum } else { 0.0 };
            let last = !go_on();
            if epoch >= look || last {
                look = epoch + epoch / 4 + 1;
                best = best.max(self.bound(alpha.clone()));
                let b = mu + if free { 0.0 } else { sigma * sum };
                let primal = self.primal(&w, b);
                if best >= wanted || last || (primal.is_finite() && primal - best <= ENOUGH * primal.abs()) {
                    break;
                }
            }
        }
        best
    }

    /// P; where no error is allowed, after the plane was stretched until none is left.
    fn primal(&self, w: &[f64], b: f64) -> f64 {
        let Objective { loss, bias, .. } = *self.objective;
        let own = if bias == Bias::Regularized { b * b } else { 0.0 };
        let half = 0.5 * (w.iter().map(|w| w * w).sum::<f64>() + own);
        let margins = self.rows.iter().map(|&(i, y)| y * (self.x.dot(i, w) + b));
        if loss == Loss::Hard {
            let smallest = margins.fold(f64::INFINITY, f64::min);
            return if smallest > 0.0 { half / (smallest * smallest) } else { f64::INFINITY };
        }
        half + margins.enumerate().map(|(at, margin)| self.cost(at) * loss.value(margin, 0.0)).sum::<f64>()
    }
}

/// Where α has no bound, tα is feasible for every t; the best of Σα·t − ½‖w‖²·t².
fn stretched(sum: f64, square: f64) -> f64 {
    if square > 0.0 { 0.5 * sum * sum / square } else { 0.0 }
}

/// What a point of smooth loss proves for all classes in one problem: αᵢ = cᵢ·(e_y − p).
pub(super) fn joint_bound_at(objective: &Objective, x: &Matrix<'_>, scores: &[Vec<f64>]) -> f64 {
    let Parts::Joint(classes) = &objective.parts else { return f64::NEG_INFINITY };
    let k = scores.len();
    let rows: Vec<usize> = (0..classes.len()).filter(|&i| objective.counts(i)).collect();
    let mut p: Vec<Vec<f64>> = rows.iter().map(|&i| softmax(&class_scores(scores, i))).collect();
    if objective.bias == Bias::Free && !balance_classes(objective, classes, &rows, &mut p) {
        return f64::NEG_INFINITY;
    }
    let mut v = vec![vec![0.0; x.n_cols() + 1]; k];
    let mut entropy = 0.0;
    for (&i, p) in rows.iter().zip(&p) {
        let cost = objective.cost[i];
        let a: Vec<f64> = (0..k).map(|c| cost * (f64::from(u8::from(c == classes[i])) - p[c])).collect();
        x.each(i, |j, x| v.iter_mut().zip(&a).for_each(|(v, a)| v[j] += a * x));
        v.iter_mut().zip(&a).for_each(|(v, a)| v[x.n_cols()] += a);
        entropy += cost * p.iter().map(|p| if *p > 0.0 { p * p.ln() } else { 0.0 }).sum::<f64>();
    }
    let counted = x.n_cols() + usize::from(objective.bias == Bias::Regularized);
    -0.5 * v.iter().flat_map(|v| &v[..counted]).map(|v| v * v).sum::<f64>() - entropy
}

fn softmax(scores: &[f64]) -> Vec<f64> {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let e: Vec<f64> = scores.iter().map(|g| (g - most).exp()).collect();
    let sum: f64 = e.iter().sum();
    e.into_iter().map(|e| e / sum).collect()
}

/// Onto Σ cᵢ·(e_y − p) = 0 for each class: every probability of a class is multiplied by what its sum lacks, and rows are made whole again, in turns (Sinkhorn 1967). Whether that came to its end.
fn balance_classes(objective: &Objective, classes: &[usize], rows: &[usize], p: &mut [Vec<f64>]) -> bool {
    let k = p.first().map_or(0, Vec::len);
    let mut wanted = vec![0.0; k];
    rows.iter().for_each(|&i| wanted[classes[i]] += objective.cost[i]);
    for _ in 0..1000 {
        let mut sums = vec![0.0; k];
        for (&i, p) in rows.iter().zip(&*p) {
            sums.iter_mut().zip(p).for_each(|(sum, p)| *sum += objective.cost[i] * p);
        }
        let off = sums.iter().zip(&wanted).map(|(sum, wanted)| (sum - wanted).abs()).fold(0.0, f64::max);
        if off <= 1e-13 * wanted.iter().sum::<f64>() {
            return true;
        }
        for p in p.iter_mut() {
            p.iter_mut()
                .zip(sums.iter().zip(&wanted))
                .for_each(|(p, (sum, wanted))| *p *= wanted / sum.max(f64::MIN_POSITIVE));
            let all: f64 = p.iter().sum();
            p.iter_mut().for_each(|p| *p /= all);
        }
    }
    false
}

/// The same as [`Problem::ascend`] for Crammer and Singer's problem: of a row all classes at once, projected onto Σ α = 0, α_c ≤ c·1[c = y].
pub(super) fn joint_ascend(
    objective: &Objective,
    x: &Matrix<'_>,
    k: usize,
    wanted: f64,
    go_on: &mut dyn FnMut() -> bool,
) -> f64 {
    let Parts::Joint(classes) = &objective.parts else { return f64::NEG_INFINITY };
    let rows: Vec<usize> = (0..classes.len()).filter(|&i| objective.counts(i)).collect();
    let lift = if objective.bias == Bias::Regularized { 1.0 } else { 0.0 };
    let (mut w, mut b) = (vec![vec![0.0; x.n_cols()]; k], vec![0.0; k]);
    let mut alpha = vec![vec![0.0; k]; rows.len()];
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let (mut best, mut look) = (f64::NEG_INFINITY, 1);
    for epoch in 1.. {
        crate::rng::Rng::stream(0, epoch as u64).shuffle(&mut order);
        for &at in &order {
            let (i, own) = (rows[at], classes[rows[at]]);
            let q = x.sq_norm(i) + lift;
            if q <= 0.0 {
                continue;
            }
            let aim =
                |c: usize| alpha[at][c] - (x.dot(i, &w[c]) + lift * b[c] + f64::from(u8::from(c != own))) / q;
            let next = onto(&(0..k).map(aim).collect::<Vec<_>>(), own, objective.cost[i]);
            for c in 0..k {
                let step = next[c] - alpha[at][c];
                if step != 0.0 {
                    x.axpy(step, i, &mut w[c]);
                    b[c] += lift * step;
                }
            }
            alpha[at] = next;
        }
        let last = !go_on();
        if epoch >= look || last {
            look = epoch + epoch / 4 + 1;
            let square: f64 = w.iter().flatten().chain(&b).map(|w| w * w).sum();
            let own: f64 = rows.iter().zip(&alpha).map(|(&i, alpha)| alpha[classes[i]]).sum();
            best = best.max(own - 0.5 * square);
            let short = |&i: &usize| {
                let g: Vec<f64> = (0..k).map(|c| x.dot(i, &w[c]) + lift * b[c]).collect();
                objective.cost[i] * (1.0 - super::objective::lead(&g, classes[i])).max(0.0)
            };
            let primal = 0.5 * square + rows.iter().map(short).sum::<f64>();
            if best >= wanted || last || (primal.is_finite() && primal - best <= ENOUGH * primal.abs()) {
                break;
            }
        }
    }
    best
}

/// The nearest point with Σ = 0 and nothing above its bound: min(bound, v − θ), with the θ that makes it so, found by bisection.
fn onto(v: &[f64], own: usize, cost: f64) -> Vec<f64> {
    let bound = |c: usize| if c == own { cost } else { 0.0 };
    let at =
        |theta: f64| -> Vec<f64> { v.iter().enumerate().map(|(c, v)| (v - theta).min(bound(c))).collect() };
    let (mut low, mut high) =
        v.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (v.min(l), v.max(h)));
    low -= cost + 1.0;
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        *(if at(middle).iter().sum::<f64>() > 0.0 { &mut low } else { &mut high }) = middle;
    }
    let mut point = at(high);
    let rest: f64 = point.iter().sum();
    // What bisection leaves goes to a class that is not at its bound.
    if let Some(c) = (0..v.len()).find(|&c| point[c] - rest <= bound(c)) {
        point[c] -= rest;
    }
    point
}

/// The multipliers of a kernel machine, by the rows of the data they belong to.
pub(super) struct Multipliers {
    /// For each plane and each row αy; equal rows of a class have theirs at the first.
    signed: Vec<HashMap<usize, f64>>,
    /// The first of the rows that equal a row.
    pub(super) first: Vec<usize>,
}

/// A row as something that can be looked for: numbers rounded to single precision, in which model files of other programs are as good as any.
fn key(row: &Entries) -> Vec<(usize, u32)> {
    row.iter().map(|&(j, v)| (j, (v as f32).to_bits())).collect()
}

impl Multipliers {
    /// Nothing where a stored row is not among the data's.
    pub(super) fn of(known: &Known, numbers: &[u64], x: &Matrix<'_>, y: &[u32]) -> Option<Self> {
        let Known::Kernel { stored, planes, .. } = known else { return None };
        let mut places: HashMap<(Vec<(usize, u32)>, u32), usize> = HashMap::new();
        let mut first = Vec::with_capacity(y.len());
        for (i, &class) in y.iter().enumerate() {
            first.push(*places.entry((key(&entries(x, i)), class)).or_insert(i));
        }
        let mut signed = vec![HashMap::new(); planes.len()];
        for (s, row) in stored.rows.iter().enumerate() {
            let by_number = numbers.get(s).map(|&number| {
                let number = number as usize;
                let same = match stored.kernel {
                    Kernel::Precomputed => row.first().is_some_and(|(j, _)| *j == number),
                    _ => number < y.len() && key(row) == key(&entries(x, number)),
                };
                first.get(number).copied().filter(|_| same)
            });
            for (p, (a, _)) in planes.iter().enumerate().filter(|(_, (a, _))| a[s] != 0.0) {
                let place = match by_number {
                    Some(place) => place?,
                    // Of another program's file: of equal rows the one whose class the sign speaks for.
                    None => (0..=y.iter().copied().max()?)
                        .filter_map(|class| places.get(&(key(row), class)).copied())
                        .min_by_key(|&i| planes.len() == 1 && (y[i] == 1) != (a[s] > 0.0))?,
                };
                *signed[p].entry(place).or_insert(0.0) += a[s];
            }
        }
        Some(Multipliers { signed, first })
    }

    /// D of a plane's problem, and by how much its optimality conditions are broken at the most; nothing where the multipliers are not feasible.
    pub(super) fn judge(
        &self,
        objective: &Objective,
        rows: &[(usize, f64)],
        plane: usize,
        scores: &[f64],
        (square, b): (f64, f64),
    ) -> Option<(f64, Option<f64>)> {
        let mut capacity: HashMap<usize, (f64, f64)> = HashMap::new();
        for &(i, y) in rows.iter().filter(|(i, _)| objective.counts(*i)) {
            capacity.entry(self.first[i]).or_insert((0.0, y)).0 += objective.cost[i];
        }
        if self.signed[plane].iter().any(|(i, a)| *a != 0.0 && !capacity.contains_key(i)) {
            return None;
        }
        let Objective { loss, bias, .. } = *objective;
        let (mut sum, mut conjugates, mut size) = (0.0, 0.0, 0.0);
        // Where α may grow along y, and where it may shrink, the score y·∇ must not be above, and not below, the bias.
        let (mut highest, mut lowest, mut off) = (f64::NEG_INFINITY, f64::INFINITY, 0.0f64);
        for (&i, &(cost, y)) in &capacity {
            let signed = self.signed[plane].get(&i).copied().unwrap_or(0.0);
            let alpha = y * signed;
            if alpha < -1e-9 * cost || alpha > loss.most(cost) * (1.0 + 1e-6) {
                return None;
            }
            let alpha = alpha.clamp(0.0, loss.most(cost));
            sum += signed;
            size += signed.abs();
            conjugates += cost * loss.conjugate(alpha / cost);
            let slope = match loss {
                Loss::Hinge | Loss::Hard => 1.0,
                Loss::SquaredHinge => 1.0 - alpha / (2.0 * cost),
                Loss::Logistic => {
                    let a = (alpha / cost).clamp(1e-12, 1.0 - 1e-12);
                    -(a / (1.0 - a)).ln()
                }
            };
            let level = y * slope - (scores[i] - b);
            let (up, down) = (alpha < loss.most(cost), alpha > 0.0);
            let (grows, shrinks) = if y > 0.0 { (up, down) } else { (down, up) };
            if grows {
                highest = highest.max(level);
                off = off.max(level - b);
            }
            if shrinks {
                lowest = lowest.min(level);
                off = off.max(b - level);
            }
        }
        if bias == Bias::Free && sum.abs() > 1e-6 * size {
            return None;
        }
        let own = if bias == Bias::Regularized { b * b } else { 0.0 };
        let violation = if bias == Bias::Free { highest - lowest } else { off };
        let dual = match loss {
            Loss::Hard => stretched(-conjugates, square + own),
            _ => -0.5 * (square + own) - conjugates,
        };
        // A plane that was stretched to its margin has other multipliers than those that were solved for.
        Some((dual, (loss != Loss::Hard).then_some(violation.max(0.0))))
    }

    /// The same for all classes in one problem (Crammer and Singer); the optimality conditions are not looked at.
    pub(super) fn judge_joint(
        &self,
        objective: &Objective,
        classes: &[usize],
        squares: &[f64],
        known: &Known,
    ) -> Option<f64> {
        let (mut parts, mut costs): (HashMap<usize, Vec<f64>>, HashMap<usize, f64>) = Default::default();
        (0..classes.len()).for_each(|i| *costs.entry(self.first[i]).or_insert(0.0) += objective.cost[i]);
        let mut scale = 1.0;
        match &self.signed[..] {
            // Of two classes one plane is kept, the difference of two that are each other's negative.
            [one] => {
                scale = 0.5;
                one.iter().for_each(|(&i, a)| drop(parts.insert(i, vec![-0.5 * a, 0.5 * a])));
            }
            all => {
                for (plane, signed) in all.iter().enumerate() {
                    for (&i, &a) in signed {
                        parts.entry(i).or_insert_with(|| vec![0.0; all.len()])[plane] += a;
                    }
                }
            }
        }
        let mut gain = 0.0;
        for (i, a) in &parts {
            let (own, cost) = (classes[*i], costs[i]);
            let slack = 1e-6 * cost;
            let bounded = a.iter().enumerate().all(|(c, a)| *a <= slack + if c == own { cost } else { 0.0 });
            if !bounded || a.iter().sum::<f64>().abs() > slack {
                return None;
            }
            gain += a[own];
        }
        let lifts =
            known.planes().iter().map(|(_, b)| if objective.bias == Bias::Regularized { b * b } else { 0.0 });
        Some(gain - 0.5 * scale * (squares.iter().sum::<f64>() + lifts.sum::<f64>()))
    }
}
