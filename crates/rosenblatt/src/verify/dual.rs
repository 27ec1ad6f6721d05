//! Lower bounds of an objective: dual points, from wherever they come, made feasible and evaluated one row after the other.
//!
//! ```text
//! P ≥ D(α) = −½‖Σ αᵢyᵢxᵢ‖² − Σ cᵢ·ℓ*(−αᵢ/cᵢ)     0 ≤ αᵢ ≤ cᵢ (hinge, logistic), Σ αᵢyᵢ = 0 with a free bias
//! ```

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::naive::{Entries, Known, Stored, entries};
use super::objective::{Loss, Objective, Parts, class_scores};
use crate::clock::Deadline;
use crate::data::{Dataset, Matrix, Rows};
use crate::kernel::Kernel;
use crate::learner::Bias;
use crate::model::pairs;

/// Relative gap below which no more is looked for: where some bound is claimed, and where none is.
const ENOUGH: [f64; 2] = [1e-8, 1e-6];

/// Whether a search may end: the bound is as large as wanted, or cannot be, or is next to what it bounds.
fn is_settled(wanted: f64, best: f64, reached: f64, primal: f64) -> bool {
    let claimed = wanted.is_finite();
    let enough = ENOUGH[usize::from(!claimed)];
    best >= wanted
        || (claimed && reached < wanted - 1e-6 * wanted.abs())
        || (primal.is_finite() && primal - best <= enough * primal.abs())
}

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

    /// D at a feasible point near α, at its best length: α = 0 is one, where D is 0.
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
        let own = self.objective.lift() * sum;
        square += own * own;
        if l1 {
            // The dual of ‖w‖₁ asks for |Σ αᵢyᵢxᵢⱼ| ≤ 1 in each column.
            let largest = v.iter().fold(own.abs().max(1.0), |most: f64, v| most.max(v.abs()));
            alpha.iter_mut().for_each(|a| *a /= largest);
            square = 0.0;
        }
        let conjugates = |(at, a): (usize, &f64)| self.cost(at) * loss.conjugate(a / self.cost(at));
        match loss {
            Loss::Hard => stretched(alpha.iter().sum(), square),
            _ => shortened(-alpha.iter().enumerate().map(conjugates).sum::<f64>(), square),
        }
    }

    /// Onto Σ αy = 0.
    fn balance(&self, alpha: &mut [f64]) {
        let signs: Vec<f64> = self.rows.iter().map(|(_, y)| *y).collect();
        balance(&signs, alpha);
    }

    /// Dual coordinate descent as it is taught (Hsieh, Chang, Lin, Keerthi, Sundararajan 2008, algorithm 1), for losses with a corner; a free bias by the method of multipliers. Ends when D is
    /// as large as wanted, when no more is to be had, or when told. The best D, and the smallest P that was met.
    pub(super) fn ascend(&self, wanted: f64, go_on: &mut dyn FnMut() -> bool) -> (f64, f64) {
        let loss = self.objective.loss;
        let squares: Vec<f64> = self.rows.iter().map(|&(i, _)| self.x.sq_norm(i)).collect();
        let mean = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
        let (free, sigma) = match self.objective.bias {
            Bias::Free => (true, 0.1 * mean.max(f64::MIN_POSITIVE)),
            Bias::Regularized | Bias::None => (false, self.objective.lift().powi(2)),
        };
        let (mut alpha, mut w) = (vec![0.0; self.rows.len()], vec![0.0; self.x.n_cols()]);
        let (mut sum, mut mu, mut look) = (0.0, 0.0, 1);
        let (mut best, mut reached) = (f64::NEG_INFINITY, f64::INFINITY);
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
                reached = reached.min(primal);
                if last || is_settled(wanted, best, reached, primal) {
                    break;
                }
            }
        }
        (best, reached)
    }

    /// P; where no error is allowed, after the plane was stretched until none is left.
    fn primal(&self, w: &[f64], b: f64) -> f64 {
        let loss = self.objective.loss;
        let own = self.objective.weight_of_bias(b);
        let half = 0.5 * (w.iter().map(|w| w * w).sum::<f64>() + own * own);
        let margins = self.rows.iter().map(|&(i, y)| y * (self.x.dot(i, w) + b));
        if loss == Loss::Hard {
            let smallest = margins.fold(f64::INFINITY, f64::min);
            return if smallest > 0.0 { half / (smallest * smallest) } else { f64::INFINITY };
        }
        half + margins.enumerate().map(|(at, margin)| self.cost(at) * loss.value(margin, 0.0)).sum::<f64>()
    }
}

/// Onto Σ αy = 0, by scaling the heavier side down, which keeps every bound.
fn balance(signs: &[f64], alpha: &mut [f64]) {
    let side = |positive: bool, alpha: &[f64]| -> f64 {
        signs.iter().zip(alpha).filter(|(y, _)| (**y > 0.0) == positive).map(|(_, a)| a).sum()
    };
    let (plus, minus) = (side(true, alpha), side(false, alpha));
    let (heavier, factor) = if plus > minus { (true, minus / plus) } else { (false, plus / minus) };
    if factor < 1.0 {
        let rows = signs.iter().zip(alpha);
        rows.filter(|(y, _)| (**y > 0.0) == heavier).for_each(|(_, a)| *a *= factor);
    }
}

/// Where α has no bound, tα is feasible for every t; the best of Σα·t − ½‖w‖²·t².
fn stretched(sum: f64, square: f64) -> f64 {
    if square > 0.0 { 0.5 * sum * sum / square } else { 0.0 }
}

/// Where ℓ* is convex and 0 at 0, D(tα) is at least sum·t − ½·square·t² for t from 0 to 1; the best of it.
fn shortened(sum: f64, square: f64) -> f64 {
    match () {
        () if sum <= 0.0 => 0.0,
        () if sum < square => 0.5 * sum * sum / square,
        () => sum - 0.5 * square,
    }
}

/// What a point of smooth loss proves for all classes in one problem: αᵢ = cᵢ·(e_y − p).
pub(super) fn joint_bound_at(objective: &Objective, x: &Matrix<'_>, scores: &[Vec<f64>]) -> f64 {
    let Parts::Joint(classes) = &objective.parts else { return f64::NEG_INFINITY };
    let k = scores.len();
    let rows: Vec<usize> = (0..classes.len()).filter(|&i| objective.counts(i)).collect();
    let mut p: Vec<Vec<f64>> = rows.iter().map(|&i| softmax(&class_scores(scores, i))).collect();
    if objective.bias == Bias::Free && !balance_classes(objective, classes, &rows, &mut p) {
        // What p = e_y proves.
        return 0.0;
    }
    let mut v = vec![vec![0.0; x.n_cols() + 1]; k];
    let mut entropy = 0.0;
    for (&i, p) in rows.iter().zip(&p) {
        let cost = objective.cost[i];
        let a: Vec<f64> = (0..k).map(|c| cost * (f64::from(u8::from(c == classes[i])) - p[c])).collect();
        x.each(i, |j, x| v.iter_mut().zip(&a).for_each(|(v, a)| v[j] += a * x));
        v.iter_mut().zip(&a).for_each(|(v, a)| v[x.n_cols()] += objective.lift() * a);
        entropy += cost * p.iter().map(|p| if *p > 0.0 { p * p.ln() } else { 0.0 }).sum::<f64>();
    }
    let counted = x.n_cols() + usize::from(objective.bias == Bias::Regularized);
    let square = v.iter().flat_map(|v| &v[..counted]).map(|v| v * v).sum::<f64>();
    (-0.5 * square - entropy).max(0.0)
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
) -> (f64, f64) {
    let (mut best, mut reached) = (f64::NEG_INFINITY, f64::INFINITY);
    let Parts::Joint(classes) = &objective.parts else { return (best, reached) };
    let rows: Vec<usize> = (0..classes.len()).filter(|&i| objective.counts(i)).collect();
    let lift = objective.lift().powi(2);
    let (mut w, mut b) = (vec![vec![0.0; x.n_cols()]; k], vec![0.0; k]);
    let mut alpha = vec![vec![0.0; k]; rows.len()];
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let mut look = 1;
    for epoch in 1.. {
        crate::rng::Rng::stream(0, epoch as u64).shuffle(&mut order);
        for &at in &order {
            let (i, own) = (rows[at], classes[rows[at]]);
            let q = x.sq_norm(i) + lift;
            if q <= 0.0 {
                continue;
            }
            let aim = |c: usize| alpha[at][c] - (x.dot(i, &w[c]) + b[c] + f64::from(u8::from(c != own))) / q;
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
            let own = b.iter().map(|&b| objective.weight_of_bias(b));
            let square: f64 = w.iter().flatten().copied().chain(own).map(|w| w * w).sum();
            let own: f64 = rows.iter().zip(&alpha).map(|(&i, alpha)| alpha[classes[i]]).sum();
            best = best.max(own - 0.5 * square);
            let short = |&i: &usize| {
                let g: Vec<f64> = (0..k).map(|c| x.dot(i, &w[c]) + b[c]).collect();
                objective.cost[i] * (1.0 - super::objective::lead(&g, classes[i])).max(0.0)
            };
            let primal = 0.5 * square + rows.iter().map(short).sum::<f64>();
            reached = reached.min(primal);
            if last || is_settled(wanted, best, reached, primal) {
                break;
            }
        }
    }
    (best, reached)
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
    kernel: Kernel,
    /// For each plane and each row αy; equal rows of a class have theirs at the first.
    signed: Vec<BTreeMap<usize, f64>>,
    /// The first of the rows that equal a row.
    first: Vec<usize>,
}

/// A dual value, and by how much the optimality conditions are broken, where that is known.
pub(super) type Judged = (f64, Option<f64>);

/// A row as something that can be looked for.
type Key = Vec<(usize, u64)>;

fn exact(row: &Entries) -> Key {
    row.iter().map(|&(j, v)| (j, v.to_bits())).collect()
}

/// With as many digits as LIBSVM writes (`%.8g`): what was rounded to them once stays what it is.
fn rounded(row: &Entries) -> Key {
    let digits = |v: f64| format!("{v:.7e}").parse().unwrap_or(v);
    row.iter().map(|&(j, v)| (j, digits(v).to_bits())).collect()
}

/// Rows that those of another program's file may be, which has no numbers for them, by class.
struct Unnumbered(HashMap<(Key, usize), VecDeque<usize>>);

impl Unnumbered {
    fn of(rows: &Dataset<'_>) -> Self {
        let mut places: HashMap<_, VecDeque<usize>> = HashMap::new();
        for (i, &class) in rows.y().iter().enumerate() {
            places.entry((rounded(&entries(rows.x(), i)), class as usize)).or_default().push_back(i);
        }
        Unnumbered(places)
    }

    /// Of several that are alike each is taken once.
    fn take(&mut self, row: &Entries, class: usize) -> Option<usize> {
        let places = self.0.get_mut(&(rounded(row), class))?;
        if places.len() > 1 { places.pop_front() } else { places.front().copied() }
    }
}

/// The class that a coefficient speaks for.
fn spoken_for(plane: usize, a: f64, planes: usize, classes: usize) -> usize {
    let (below, above) = match planes {
        1 => (0, 1),
        _ => pairs(classes).get(plane).copied().unwrap_or((0, 1)),
    };
    if a > 0.0 { above } else { below }
}

/// The first row that equals each; precomputed values belong to the number of a row, whatever else is in it.
fn first_of_copies(kernel: Kernel, rows: &Dataset<'_>) -> Vec<usize> {
    let mut places: HashMap<(Key, u32), usize> = HashMap::new();
    let classes = rows.y().iter().enumerate();
    match kernel {
        Kernel::Precomputed => (0..rows.n_rows()).collect(),
        _ => classes
            .map(|(i, &class)| *places.entry((exact(&entries(rows.x(), i)), class)).or_insert(i))
            .collect(),
    }
}

impl Multipliers {
    /// Nothing where a stored row is not among the data's.
    pub(super) fn of(known: &Known, numbers: &[u64], rows: &Dataset<'_>) -> Option<Self> {
        let Known::Kernel { stored, planes, .. } = known else { return None };
        let (x, first) = (rows.x(), first_of_copies(stored.kernel, rows));
        let mut unnumbered = match numbers.is_empty() && stored.kernel != Kernel::Precomputed {
            true => Some(Unnumbered::of(rows)),
            false => None,
        };
        let mut signed = vec![BTreeMap::new(); planes.len()];
        for (s, row) in stored.rows.iter().enumerate() {
            let parts: Vec<(usize, f64)> =
                planes.iter().map(|(a, _)| a[s]).enumerate().filter(|(_, a)| *a != 0.0).collect();
            let Some(&(plane, a)) = parts.first() else { continue };
            let number = numbers.get(s).map(|&number| number as usize);
            let place = match (stored.kernel, &mut unnumbered) {
                (Kernel::Precomputed, _) => {
                    row.first().map(|(j, _)| *j).filter(|j| number.is_none_or(|number| number == *j))
                }
                (_, Some(unnumbered)) => {
                    unnumbered.take(row, spoken_for(plane, a, planes.len(), rows.classes().len()))
                }
                (_, None) => number.filter(|&i| i < rows.n_rows() && exact(row) == exact(&entries(x, i))),
            };
            let place = *first.get(place?)?;
            parts.iter().for_each(|&(p, a)| *signed[p].entry(place).or_insert(0.0) += a);
        }
        Some(Multipliers { kernel: stored.kernel, signed, first })
    }

    /// How many rows of some objective equal one of these.
    pub(super) fn equals(&self, objective: &Objective, numbers: &[u64]) -> u64 {
        let place = |&number: &u64| self.first.get(number as usize);
        let used: std::collections::HashSet<&usize> = numbers.iter().filter_map(place).collect();
        let counts = |(i, first): &(usize, &usize)| objective.counts(*i) && used.contains(*first);
        self.first.iter().enumerate().filter(counts).count() as u64
    }

    /// ‖Σ βᵢφ(xᵢ)‖² over rows of the data, for several lists of β.
    fn sq_norms(
        &self,
        x: &Matrix<'_>,
        places: &[usize],
        planes: &[Vec<f64>],
        deadline: Deadline,
    ) -> Option<f64> {
        let used = |at: &usize| planes.iter().any(|plane| plane[*at] != 0.0);
        let kept: Vec<usize> = (0..places.len()).filter(used).collect();
        let planes: Vec<Vec<f64>> =
            planes.iter().map(|plane| kept.iter().map(|&at| plane[at]).collect()).collect();
        let planes: Vec<&[f64]> = planes.iter().map(|plane| &plane[..]).collect();
        let stored = Stored::of(self.kernel, x, kept.iter().map(|&at| places[at]));
        stored.sq_norms(&planes, x, deadline).map(|squares| squares.iter().sum())
    }

    /// D of a plane's problem at a feasible point next to the multipliers, and by how much these break its optimality conditions at the most; nothing where there is no such point near.
    pub(super) fn judge(
        &self,
        objective: &Objective,
        x: &Matrix<'_>,
        (plane, rows): (usize, &[(usize, f64)]),
        (scores, b): (&[f64], f64),
        deadline: Deadline,
    ) -> Option<Judged> {
        let mut capacity: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for &(i, y) in rows.iter().filter(|(i, _)| objective.counts(*i)) {
            capacity.entry(self.first[i]).or_insert((0.0, y)).0 += objective.cost[i];
        }
        let signed = self.signed.get(plane)?;
        if signed.iter().any(|(i, a)| *a != 0.0 && !capacity.contains_key(i)) {
            return None;
        }
        let Objective { loss, bias, .. } = *objective;
        let (places, signs): (Vec<usize>, Vec<f64>) = capacity.iter().map(|(&i, &(_, y))| (i, y)).unzip();
        let costs: Vec<f64> = capacity.values().map(|&(cost, _)| cost).collect();
        let mut alpha: Vec<f64> =
            places.iter().zip(&signs).map(|(i, y)| y * signed.get(i).copied().unwrap_or(0.0)).collect();
        let bounded = |(&a, &cost): (&f64, &f64)| a >= -1e-9 * cost && a <= loss.most(cost) * (1.0 + 1e-6);
        let sum: f64 = alpha.iter().zip(&signs).map(|(a, y)| a * y).sum();
        let size: f64 = alpha.iter().map(|a| a.abs()).sum();
        let balanced = bias != Bias::Free || sum.abs() <= 1e-6 * size;
        if !balanced || !alpha.iter().zip(&costs).all(bounded) {
            return None;
        }
        alpha.iter_mut().zip(&costs).for_each(|(a, cost)| *a = a.clamp(0.0, loss.most(*cost)));
        let levels = places.iter().map(|&i| scores[i] - b);
        let violation = violation(objective, (&alpha, &signs, &costs), levels, b);
        if bias == Bias::Free {
            balance(&signs, &mut alpha);
        }
        let beta: Vec<f64> = alpha.iter().zip(&signs).map(|(a, y)| a * y).collect();
        let own = if bias == Bias::Regularized { beta.iter().sum::<f64>().powi(2) } else { 0.0 };
        let square = own + self.sq_norms(x, &places, &[beta], deadline)?;
        let conjugate = |(a, cost): (&f64, &f64)| cost * loss.conjugate(a / cost);
        let conjugates: f64 = alpha.iter().zip(&costs).map(conjugate).sum();
        let dual = match loss {
            Loss::Hard => stretched(-conjugates, square),
            _ => -0.5 * square - conjugates,
        };
        // A plane that was stretched to its margin has other multipliers than those that were solved for.
        Some((dual, (loss != Loss::Hard).then_some(violation)))
    }

    /// The same for all classes in one problem (Crammer and Singer); the optimality conditions are not looked at.
    pub(super) fn judge_joint(
        &self,
        objective: &Objective,
        x: &Matrix<'_>,
        classes: &[usize],
        deadline: Deadline,
    ) -> Option<f64> {
        let mut costs: BTreeMap<usize, f64> = BTreeMap::new();
        (0..classes.len()).for_each(|i| *costs.entry(self.first[i]).or_insert(0.0) += objective.cost[i]);
        let mut parts: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (plane, signed) in self.signed.iter().enumerate() {
            for (&i, &a) in signed {
                match self.signed.len() {
                    // Of two classes one plane is kept, the difference of two that are each other's negative.
                    1 => drop(parts.insert(i, vec![-0.5 * a, 0.5 * a])),
                    k => parts.entry(i).or_insert_with(|| vec![0.0; k])[plane] += a,
                }
            }
        }
        let (mut gain, mut places) = (0.0, Vec::new());
        let mut planes = vec![Vec::new(); self.signed.len().max(2)];
        for (&i, a) in &parts {
            let (own, cost) = (*classes.get(i)?, *costs.get(&i)?);
            let slack = 1e-6 * cost;
            let bounded = a.iter().enumerate().all(|(c, a)| *a <= slack + if c == own { cost } else { 0.0 });
            if own >= a.len() || !bounded || a.iter().sum::<f64>().abs() > slack {
                return None;
            }
            let a = onto(a, own, cost);
            gain += a[own];
            places.push(i);
            planes.iter_mut().zip(a).for_each(|(plane, a)| plane.push(a));
        }
        let lift = |plane: &Vec<f64>| plane.iter().sum::<f64>().powi(2);
        let own: f64 = match objective.bias {
            Bias::Regularized => planes.iter().map(lift).sum(),
            Bias::Free | Bias::None => 0.0,
        };
        Some(gain - 0.5 * (own + self.sq_norms(x, &places, &planes, deadline)?))
    }
}

/// By how much the conditions of an optimum are broken: where α may grow along y, and where it may shrink, the score y·∇ must not be above, and not below, the bias.
fn violation(
    objective: &Objective,
    (alpha, signs, costs): (&[f64], &[f64], &[f64]),
    scores: impl Iterator<Item = f64>,
    b: f64,
) -> f64 {
    let Objective { loss, bias, .. } = *objective;
    let (mut highest, mut lowest, mut off) = (f64::NEG_INFINITY, f64::INFINITY, 0.0f64);
    for (((&alpha, &y), &cost), score) in alpha.iter().zip(signs).zip(costs).zip(scores) {
        let slope = match loss {
            Loss::Hinge | Loss::Hard => 1.0,
            Loss::SquaredHinge => 1.0 - alpha / (2.0 * cost),
            Loss::Logistic => {
                let a = (alpha / cost).clamp(1e-12, 1.0 - 1e-12);
                -(a / (1.0 - a)).ln()
            }
        };
        let level = y * slope - score;
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
    if bias == Bias::Free { (highest - lowest).max(0.0) } else { off }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::data::{Csr, Dense, Labels};
    use crate::model::{Body, Expansion};

    /// Eight digits of each value, as LIBSVM writes them. The second and the third row are the same in these, and so are the third and the fourth but for their classes.
    #[test]
    fn rows_are_found_by_the_digits_of_a_file() {
        let values =
            vec![1.0 / 3.0, 2.0 / 7.0, 1.234_567_849_6, -0.1, 1.234_567_81, -0.1, 1.234_567_82, -0.1];
        let rows =
            Dataset::new(Dense::new(values.clone(), 2).unwrap(), &Labels::new(["a", "b", "b", "a"])).unwrap();
        let file: Vec<f64> = values.iter().map(|v| format!("{v:.7e}").parse().unwrap()).collect();
        let stored = Csr::new(vec![0, 2, 4, 6, 8], vec![0, 1, 0, 1, 0, 1, 0, 1], file, 2).unwrap();
        let parts = vec![-0.5, 0.25, 0.75, -0.5];
        let sum =
            Expansion::from_parts(Kernel::Rbf { gamma: 1.0 }, stored, parts.clone(), vec![0.0]).unwrap();
        let known = Known::of(&Body::Kernel(sum)).unwrap();
        let found = Multipliers::of(&known, &[], &rows).unwrap();
        assert_eq!(found.signed, [parts.into_iter().enumerate().collect()]);
    }

    /// However far multipliers are outside their bounds, what is evaluated is within them.
    #[test]
    fn points_are_feasible_before_they_are_evaluated() {
        let mut alpha = [1.0, 0.5, 0.25];
        balance(&[1.0, 1.0, -1.0], &mut alpha);
        assert_eq!(alpha, [1.0 / 6.0, 0.5 / 6.0, 0.25]);
        let point = onto(&[1.5, -0.25, -0.75], 0, 1.0);
        assert!(point[0] <= 1.0 && point[1] <= 0.0 && point[2] <= 0.0);
        assert!(point.iter().sum::<f64>().abs() < 1e-15, "{point:?}");
    }
}
