//! Newton's method under an L1 penalty, for smooth losses.
//!
//! ```text
//! P(w, b) = ‖w‖₁ + Σ cᵢ·ℓ(yᵢ(w·xᵢ + b))
//! D(α)    = −Σ cᵢ·ℓ*(−αᵢ/cᵢ)                  |Σ αᵢyᵢxᵢⱼ| ≤ 1 for each j, Σ αᵢyᵢ = 0 where there is a bias
//! ```
//!
//! newGLMNET: Yuan, Ho, Lin (2012), JMLR 13: at each point the risk is replaced by its second-order model, whose minimum under the penalty is the direction of a line search on P itself. Exponentials are
//! evaluated once a point, and not once an entry. Only weights take part that are not 0 or want to leave it. Where these are few, the model is a small matrix, and its minimum is found exactly ([`Lasso`]), as
//! columns ask for that differ in scale; else it is looked for one column at a time, with conjugate gradients in those that matter. The slopes at a point, made to sum to 0 and scaled down until they are feasible, are the dual point.

use rayon::prelude::*;

use super::certificate::{Certified, conjugate, evaluate, risk_at, scores, sum};
use super::columns::{Columns, Table};
use super::conjugate_gradient::{self, Accuracy, MOST_STEPS};
use super::evaluation::Bend;
use super::lasso::{LEAST_CURVATURE, Lasso, step, violation};
use super::{Binary, Certificate, End, Example, Limits, Method, Shared, SmoothLoss, Solution};
use crate::data::{Float, Matrix, Rows};
use crate::learner::Bias;
use crate::loss::MarginLoss;
use crate::rng::Rng;
use crate::watch::Monitor;

/// A smooth loss under an L1 penalty.
pub(crate) struct L1<L> {
    pub(crate) loss: L,
}

impl<L: SmoothLoss + MarginLoss> Method for L1<L> {
    fn title(&self) -> String {
        "Newton's method by columns (penalty l1)".to_owned()
    }

    fn matrix_bytes(&self, _: usize, features: usize) -> usize {
        // The model, a part of it, and its factor.
        let few = features.min(FEW) + 1;
        3 * few * few * size_of::<f64>()
    }

    fn form_bytes(&self, x: &Matrix<'_>) -> usize {
        Columns::bytes(x)
    }

    fn common<R: Rows>(&self, problem: &Binary<'_, R>, monitor: &Monitor<'_>) -> Option<Shared> {
        monitor.go_on(0).then(|| Shared::Columns(Columns::new(problem)))
    }

    fn solve<R: Rows>(&self, problem: &Binary<'_, R>, limits: Limits, monitor: &Monitor<'_>) -> Solution {
        if !monitor.go_on(0) {
            return unbegun(problem, self.loss);
        }
        let own;
        let columns = match problem.common {
            Some(Shared::Columns(columns)) => columns,
            _ => {
                own = Columns::new(problem);
                &own
            }
        };
        match columns {
            Columns::Single(table) => Descent::new(problem, self.loss, limits, table).solve(monitor),
            Columns::Double(table) => Descent::new(problem, self.loss, limits, table).solve(monitor),
        }
    }
}

/// The point to start from, of which nothing is proved but that no risk is below 0.
fn unbegun<R: Rows, L: MarginLoss>(problem: &Binary<'_, R>, loss: L) -> Solution {
    let (point, scores) = problem.beginning();
    let (w, b) = problem.split(&point);
    let without: Vec<f64> = scores.iter().map(|score| score - b).collect();
    let alpha = vec![0.0; scores.len()];
    let primal = length(w) + risk_at(problem, loss, b, &without);
    let certificate = Certificate { primal, ..evaluate(problem, loss, w, b, &without, &alpha, 0.0) };
    Solution::new(Certified { w: w.to_vec(), b, certificate, scores: Vec::new() }, 0, End::Stopped)
}

/// ‖w‖₁
fn length(w: &[f64]) -> f64 {
    w.iter().map(|w| w.abs()).sum()
}

/// The descent under way.
struct Descent<'a, R, L, T> {
    problem: &'a Binary<'a, R>,
    loss: L,
    limits: Limits,
    columns: &'a Table<T>,
    w: Vec<f64>,
    b: f64,
    /// w·x + b of each example.
    scores: Vec<f64>,
    passes: usize,
    /// Whether conjugate gradients came to their end so far; else they take more passes than they save.
    well_conditioned: bool,
}

/// The risk around a point.
struct Risk {
    /// The second derivative of each example's part in its score.
    curvatures: Vec<f64>,
    /// First and second derivatives in each weight.
    gradient: Vec<f64>,
    curvature: Vec<f64>,
    /// In b.
    bias: f64,
    /// How far the point is from a minimum of P, at the weight where it is farthest.
    violation: f64,
}

/// Where to go, and how far at the most.
struct Direction {
    /// Weights that move, and where to.
    weights: Vec<(usize, f64)>,
    bias: f64,
    /// How much each score changes.
    moves: Vec<f64>,
}

/// The share of the promised decrease that a step must bring.
const SUFFICIENT: f64 = 0.01;

/// Up to so many weights the model is a matrix.
const FEW: usize = 512;

/// So many weights may join them at once; where there is no room for that, it would take too many matrices.
const LEAST_NEW: usize = 64;

impl<'a, R: Rows, L: SmoothLoss + MarginLoss, T: Float> Descent<'a, R, L, T> {
    fn new(problem: &'a Binary<'a, R>, loss: L, limits: Limits, columns: &'a Table<T>) -> Self {
        let (point, scores) = problem.beginning();
        let (w, b) = problem.split(&point);
        Descent {
            problem,
            loss,
            limits,
            columns,
            w: w.to_vec(),
            b,
            scores,
            passes: 0,
            well_conditioned: true,
        }
    }

    fn solve(mut self, monitor: &Monitor<'_>) -> Solution {
        self.balance();
        let (mut best, mut risk) = self.look();
        let end = loop {
            match () {
                () if best.certificate.gap() <= self.limits.gap => break End::Converged,
                () if monitor.stopped().is_some() => break End::Stopped,
                () if self.passes >= self.limits.passes => break End::PassLimit,
                () => {}
            }
            let direction = self.direction(&risk, monitor);
            if !self.search(&risk, &direction) {
                break End::Stalled;
            }
            self.balance();
            let (certified, next) = self.look();
            best.improve(certified);
            risk = next;
        };
        Solution::new(best, self.passes, end)
    }

    fn bend(&self, e: &Example, score: f64) -> Bend {
        self.loss.bend(e.y() * score, L::Memory::default())
    }

    /// Newton steps in the bias alone, so that the slopes sum to 0: what is left of their sum is taken from the dual point, times the entries of a column.
    fn balance(&mut self) {
        const STEPS: usize = 20;
        const ROUNDING: f64 = 1e-13;
        if self.problem.bias != Bias::Free {
            return;
        }
        let slopes = |by: f64| {
            let (mut slope, mut curvature, mut size) = (0.0, LEAST_CURVATURE, 0.0);
            for (e, score) in self.problem.examples.iter().zip(&self.scores) {
                let bend = self.bend(e, score + by);
                slope += e.cost * e.y() * bend.slope;
                size -= e.cost * bend.slope;
                curvature += e.cost * bend.curvature;
            }
            (slope, curvature, size)
        };
        let (mut by, mut known, mut share) = (0.0, slopes(0.0), 1.0);
        for _ in 0..STEPS {
            let (slope, curvature, size) = known;
            if slope.abs() <= ROUNDING * size {
                break;
            }
            let to = by - share * slope / curvature;
            let there = slopes(to);
            if there.0.abs() < slope.abs() {
                (by, known, share) = (to, there, 1.0);
            } else {
                share *= 0.25;
            }
        }
        self.b += by;
        self.scores.iter_mut().for_each(|score| *score += by);
    }

    /// The risk around this point, whose scores are summed anew, and what the point proves.
    fn look(&mut self) -> (Certified, Risk) {
        let (problem, b) = (self.problem, self.b);
        let without = scores(problem, &self.w);
        self.scores = without.iter().map(|score| score + b).collect();
        let (mut slopes, mut curvatures) = (Vec::new(), Vec::new());
        for (e, &score) in problem.examples.iter().zip(&self.scores) {
            let bend = self.bend(e, score);
            slopes.push(e.cost * e.y() * bend.slope);
            curvatures.push(e.cost * bend.curvature);
        }
        let mut alpha: Vec<f64> = problem.examples.iter().zip(&slopes).map(|(e, s)| -e.y() * s).collect();
        let sums = self.sums_by_column(&slopes, &curvatures);
        let kept = self.balanced(&mut alpha);
        let largest = sums.iter().map(|([minus, plus], _)| (kept[0] * minus + kept[1] * plus).abs());
        let largest = largest.fold(1.0, f64::max);
        alpha.iter_mut().for_each(|a| *a /= largest);
        let dual = -sum(problem.examples, &alpha, |e, a| conjugate(self.loss, e.cost, a));
        let primal = length(&self.w) + risk_at(problem, self.loss, b, &without);
        let certificate = evaluate(problem, self.loss, &self.w, b, &without, &alpha, dual);
        let certificate = Certificate { primal, ..certificate };
        let gradient: Vec<f64> = sums.iter().map(|([minus, plus], _)| minus + plus).collect();
        let worst = self.w.iter().zip(&gradient).map(|(&w, &slope)| violation(w, slope)).fold(0.0, f64::max);
        let curvature = sums.iter().map(|(_, curvature)| *curvature).collect();
        let bias = if problem.bias == Bias::Free { slopes.iter().sum() } else { 0.0 };
        let certified = Certified { w: self.w.clone(), b, certificate, scores: Vec::new() };
        (certified, Risk { curvatures, gradient, curvature, bias, violation: worst })
    }

    /// Makes α sum to 0, by scaling the heavier class down, where there is a bias; what is kept of class −1 and of class +1.
    fn balanced(&self, alpha: &mut [f64]) -> [f64; 2] {
        let mut sums = [0.0; 2];
        let class = |e: &Example| usize::from(e.is_positive());
        self.problem.examples.iter().zip(&*alpha).for_each(|(e, a)| sums[class(e)] += a);
        let kept = match (self.problem.bias, sums) {
            (Bias::Free, [minus, plus]) if minus > plus => [plus / minus, 1.0],
            (Bias::Free, [minus, plus]) if plus > minus => [1.0, minus / plus],
            _ => [1.0; 2],
        };
        self.problem.examples.iter().zip(alpha).for_each(|(e, a)| *a *= kept[class(e)]);
        kept
    }

    /// Of each column Σ sᵢxᵢⱼ over the rows of class −1 and of class +1, and Σ hᵢxᵢⱼ².
    fn sums_by_column(&self, slopes: &[f64], curvatures: &[f64]) -> Vec<([f64; 2], f64)> {
        let of_column = |j: usize| {
            let (mut sums, mut curvature) = ([0.0; 2], LEAST_CURVATURE);
            for (i, x) in self.columns.column(j) {
                // Rows of class +1 have slopes that are not above 0.
                sums[usize::from(slopes[i] < 0.0)] += slopes[i] * x;
                curvature += curvatures[i] * x * x;
            }
            (sums, curvature)
        };
        (0..self.columns.len()).into_par_iter().with_min_len(64).map(of_column).collect()
    }

    /// To the minimum of the model, or near it.
    fn direction(&mut self, risk: &Risk, monitor: &Monitor<'_>) -> Direction {
        let (active, mut others) = self.taking_part(risk);
        let room = FEW.saturating_sub(active.len());
        if active.len() > FEW || (others.len() > room && room < LEAST_NEW) {
            let all = active.into_iter().chain(others).collect();
            return self.approximate(risk, all, monitor);
        }
        // Many that want to leave 0 no longer do when others have moved.
        others.truncate(active.len().max(LEAST_NEW).min(room));
        self.passes += 1;
        monitor.go_on(self.problem.examples.len());
        self.exact(risk, active.into_iter().chain(others).collect())
    }

    /// Weights that are not 0, and such as want to leave it or may come to want it on the way, those first that promise most.
    fn taking_part(&self, risk: &Risk) -> (Vec<usize>, Vec<usize>) {
        /// Nearer to the bound than this, unless all are nearer to where they want to be.
        const NEAR: f64 = 0.3;
        let size = |j: usize| risk.gradient[j].abs();
        let bound = 1.0 - risk.violation.min(NEAR);
        let promise = |j: usize| (size(j) - bound).powi(2) / risk.curvature[j];
        let taking_part = (0..self.w.len()).filter(|&j| self.w[j] != 0.0 || size(j) >= bound);
        let (active, mut others): (Vec<usize>, Vec<usize>) = taking_part.partition(|&j| self.w[j] != 0.0);
        others.sort_by(|&a, &b| promise(b).total_cmp(&promise(a)).then(a.cmp(&b)));
        (active, others)
    }

    /// By the matrix of the model.
    fn exact(&self, risk: &Risk, all: Vec<usize>) -> Direction {
        /// Of what is violated now: more would be lost again in the difference between the risk and its model.
        const ENOUGH: f64 = 1e-3;
        let bias = self.problem.bias == Bias::Free;
        let mut w: Vec<f64> = all.iter().map(|&j| self.w[j]).collect();
        let mut g: Vec<f64> = all.iter().map(|&j| risk.gradient[j]).collect();
        if bias {
            w.push(self.b);
            g.push(risk.bias);
        }
        let h = self.second_derivatives(risk, &all, bias);
        let enough = ENOUGH * risk.violation.min(1.0);
        let u = Lasso::new(h, all.len(), w, g).minimum(enough);
        let to = if bias { u[all.len()] - self.b } else { 0.0 };
        let weights = all.into_iter().zip(u).filter(|&(j, u)| u != self.w[j]).collect();
        self.towards(weights, to)
    }

    /// Where weights move to, and the bias by how much.
    fn towards(&self, weights: Vec<(usize, f64)>, bias: f64) -> Direction {
        let mut moves = vec![bias; self.scores.len()];
        for &(j, u) in &weights {
            let by = u - self.w[j];
            self.columns.column(j).for_each(|(i, x)| moves[i] += by * x);
        }
        Direction { weights, bias, moves }
    }

    /// Those of the risk in some weights, and in the bias behind them: a symmetric matrix, row by row.
    fn second_derivatives(&self, risk: &Risk, all: &[usize], bias: bool) -> Vec<f64> {
        let (size, h) = (all.len() + usize::from(bias), &risk.curvatures);
        let row = |curved: &mut Vec<f64>, k: usize| {
            let Some(&own) = all.get(k) else {
                let columns = all.iter().map(|&j| self.columns.column(j).map(|(i, x)| h[i] * x).sum());
                return columns.chain([h.iter().sum()]).collect();
            };
            self.columns.column(own).for_each(|(i, x)| curved[i] = h[i] * x);
            let product = |&j: &usize| self.columns.column(j).map(|(i, x)| curved[i] * x).sum();
            let products: Vec<f64> = all[..=k].iter().map(product).collect();
            self.columns.column(own).for_each(|(i, _)| curved[i] = 0.0);
            products
        };
        let rows: Vec<Vec<f64>> =
            (0..size).into_par_iter().map_init(|| vec![0.0; self.scores.len()], row).collect();
        let mut matrix = vec![0.0; size * size];
        for (k, row) in rows.iter().enumerate() {
            for (j, &value) in row.iter().enumerate() {
                matrix[k * size + j] = value;
                matrix[j * size + k] = value;
            }
        }
        matrix
    }

    /// By coordinate descent on the model, which finds the weights that matter, in turns with conjugate gradients in these.
    fn approximate(&mut self, risk: &Risk, all: Vec<usize>, monitor: &Monitor<'_>) -> Direction {
        /// Of what is violated at first.
        const ENOUGH: f64 = 0.1;
        const ROUNDS: usize = 4;
        const PASSES: usize = 5;
        let mut model = Model::new(self, risk, all);
        let (mut first, mut on) = (f64::INFINITY, true);
        for round in 0..ROUNDS * PASSES {
            self.passes += 1;
            let mut rng = Rng::stream(self.limits.seed, self.passes as u64);
            let violation = model.pass(self.columns, &mut rng);
            on &= monitor.go_on(self.problem.examples.len());
            first = if round == 0 { violation } else { first };
            if !on || violation <= ENOUGH * first || self.passes >= self.limits.passes {
                break;
            }
            let room = self.passes + MOST_STEPS <= self.limits.passes;
            if self.well_conditioned && room && round % PASSES == PASSES - 1 && model.is_settled() {
                let steps = model.face_step(self.columns, || monitor.go_on(0));
                self.passes += steps;
                self.well_conditioned = steps < MOST_STEPS;
            }
        }
        let weights = model.variables.iter().filter(|v| v.u != self.w[v.column]).map(|v| (v.column, v.u));
        self.towards(weights.collect(), model.bias)
    }

    /// Goes along a direction as far as P falls by a share of what was promised; whether it moved.
    fn search(&mut self, risk: &Risk, direction: &Direction) -> bool {
        let Direction { weights, bias, moves } = direction;
        let penalty = |t: f64| -> f64 {
            weights.iter().map(|&(j, u)| (self.w[j] + t * (u - self.w[j])).abs() - self.w[j].abs()).sum()
        };
        let slope: f64 = weights.iter().map(|&(j, u)| risk.gradient[j] * (u - self.w[j])).sum();
        let promised = slope + risk.bias * bias + penalty(1.0);
        // What is not a number is no progress.
        if promised >= 0.0 || promised.is_nan() {
            return false;
        }
        let value = |e: &Example, score: f64| e.cost * self.loss.value(e.y() * score);
        let enough = |t: &f64| {
            let (mut change, mut size) = (penalty(*t), 0.0);
            for (e, (&score, moved)) in self.problem.examples.iter().zip(self.scores.iter().zip(moves)) {
                let before = value(e, score);
                change += value(e, score + t * moved) - before;
                size += before;
            }
            // Near the optimum the change is smaller than the rounding of what it is the difference of.
            change <= SUFFICIENT * t * promised + f64::EPSILON * size
        };
        let Some(t) = (0..50).map(|k| 0.5f64.powi(k)).find(enough) else { return false };
        for &(j, u) in weights {
            self.w[j] = if t == 1.0 { u } else { self.w[j] + t * (u - self.w[j]) };
        }
        self.b += t * bias;
        self.scores.iter_mut().zip(moves).for_each(|(score, moved)| *score += t * moved);
        true
    }
}

/// The second-order model of the risk in some weights, with the penalty.
struct Model {
    variables: Vec<Variable>,
    /// Those before it are visited; others lie deep within their bounds.
    visited: usize,
    /// By how much the bias moves, if there is one.
    bias: f64,
    is_lifted: bool,
    /// Slope of the bias at the start, and its curvature.
    bias_slope: f64,
    bias_curvature: f64,
    /// Of each example how its score is curved, and how much it moves: side by side, for both are needed together.
    examples: Vec<[f64; 2]>,
    last: f64,
    /// How many weights became 0 in the last pass, or no longer are.
    changes: usize,
}

/// A weight of the model.
struct Variable {
    column: usize,
    u: f64,
    /// At the start.
    slope: f64,
    curvature: f64,
}

impl Model {
    fn new<R: Rows, L: SmoothLoss + MarginLoss, T: Float>(
        descent: &Descent<'_, R, L, T>,
        risk: &Risk,
        all: Vec<usize>,
    ) -> Model {
        let h = &risk.curvatures;
        let variable = |column: usize| Variable {
            column,
            u: descent.w[column],
            slope: risk.gradient[column],
            curvature: risk.curvature[column],
        };
        let variables: Vec<Variable> = all.into_iter().map(variable).collect();
        Model {
            visited: variables.len(),
            variables,
            bias: 0.0,
            is_lifted: descent.problem.bias == Bias::Free,
            bias_slope: risk.bias,
            bias_curvature: LEAST_CURVATURE + h.iter().sum::<f64>(),
            examples: h.iter().map(|&h| [h, 0.0]).collect(),
            last: f64::INFINITY,
            changes: 0,
        }
    }

    /// A step in each weight that is visited; the largest violation met.
    fn pass<T: Float>(&mut self, columns: &Table<T>, rng: &mut Rng) -> f64 {
        self.move_bias();
        rng.shuffle(&mut self.variables[..self.visited]);
        let inside = 1.0 - self.last;
        self.changes = 0;
        let (mut largest, mut at): (f64, usize) = (0.0, 0);
        while at < self.visited {
            let v = &mut self.variables[at];
            let column = columns.column(v.column);
            let change: f64 =
                column.clone().map(|(i, x)| self.examples[i][0] * self.examples[i][1] * x).sum();
            let slope = v.slope + change;
            if v.u == 0.0 && slope.abs() < inside {
                self.visited -= 1;
                self.variables.swap(at, self.visited);
                continue;
            }
            largest = largest.max(violation(v.u, slope));
            let step = step(v.u, slope, v.curvature);
            if step != 0.0 {
                self.changes += usize::from(v.u == 0.0 || v.u + step == 0.0);
                v.u += step;
                column.for_each(|(i, x)| self.examples[i][1] += step * x);
            }
            at += 1;
        }
        self.last = largest;
        largest
    }

    fn move_bias(&mut self) {
        if self.is_lifted {
            let slope: f64 = self.bias_slope + self.examples.iter().map(|[h, moved]| h * moved).sum::<f64>();
            let step = -slope / self.bias_curvature;
            self.bias += step;
            self.examples.iter_mut().for_each(|[_, moved]| *moved += step);
        }
    }

    /// Whether a pass finds hardly any weight that enters or leaves.
    fn is_settled(&self) -> bool {
        const SHARE: usize = 20;
        SHARE * self.changes <= self.variables.iter().filter(|v| v.u != 0.0).count()
    }

    /// A Newton step in the weights that are not 0, by conjugate gradients, as much of it as lowers the model; a weight that would change its sign stops at 0. How many steps these took.
    fn face_step<T: Float>(&mut self, columns: &Table<T>, go_on: impl Fn() -> bool) -> usize {
        const HALVINGS: i32 = 10;
        let free: Vec<usize> = (0..self.variables.len()).filter(|&k| self.variables[k].u != 0.0).collect();
        let slopes = self.slopes(columns, &free);
        let signs = free.iter().map(|&k| self.variables[k].u.signum()).chain([0.0]);
        let downhill: Vec<f64> = slopes.iter().zip(signs).map(|(slope, sign)| -slope - sign).collect();
        let curvatures = free.iter().map(|&k| self.variables[k].curvature);
        let diagonal: Vec<f64> = curvatures.chain([self.bias_curvature]).collect();
        let product = |v: &[f64], image: &mut [f64]| {
            let mut along = self.along(columns, &free, v);
            along.iter_mut().zip(&self.examples).for_each(|(t, [h, _])| *t *= h);
            image.copy_from_slice(&self.against(columns, &free, &along));
        };
        let precondition = |r: &[f64], out: &mut [f64]| {
            out.iter_mut().zip(r).zip(&diagonal).for_each(|((out, r), d)| *out = r / d);
        };
        // As rough as it may be: the next pass moves the same weights.
        let accuracy = Accuracy { value: 0.0, gap: 0.0 };
        let (whole, steps) = conjugate_gradient::solve(&downhill, accuracy, product, precondition, go_on);
        for share in (0..HALVINGS).map(|k| 0.5f64.powi(k)) {
            let step: Vec<f64> = (0..whole.len())
                .map(|at| match free.get(at).map(|&k| self.variables[k].u) {
                    Some(u) if u * (u + share * whole[at]) <= 0.0 => -u,
                    _ => share * whole[at],
                })
                .collect();
            let moves = self.along(columns, &free, &step);
            let curved: f64 = moves.iter().zip(&self.examples).map(|(t, [h, _])| h * t * t).sum();
            let longer = free.iter().zip(&step).map(|(&k, step)| {
                let u = self.variables[k].u;
                (u + step).abs() - u.abs()
            });
            let change = conjugate_gradient::dot(&slopes, &step) + 0.5 * curved + longer.sum::<f64>();
            if change < 0.0 {
                free.iter().zip(&step).for_each(|(&k, step)| self.variables[k].u += step);
                self.bias += step[free.len()];
                self.examples.iter_mut().zip(moves).for_each(|([_, moved], t)| *moved += t);
                break;
            }
        }
        steps
    }

    /// Slopes of the model in some weights, and in the bias behind them: 0 where there is none.
    fn slopes<T: Float>(&self, columns: &Table<T>, free: &[usize]) -> Vec<f64> {
        let curved: Vec<f64> = self.examples.iter().map(|[h, moved]| h * moved).collect();
        let mut slopes = self.against(columns, free, &curved);
        free.iter().zip(&mut slopes).for_each(|(&k, slope)| *slope += self.variables[k].slope);
        slopes[free.len()] += if self.is_lifted { self.bias_slope } else { 0.0 };
        slopes
    }

    /// How much each score changes by a step in some weights and the bias.
    fn along<T: Float>(&self, columns: &Table<T>, free: &[usize], step: &[f64]) -> Vec<f64> {
        let mut moves = vec![step[free.len()]; self.examples.len()];
        for (&k, by) in free.iter().zip(step) {
            columns.column(self.variables[k].column).for_each(|(i, x)| moves[i] += by * x);
        }
        moves
    }

    /// The sum of a number of each example over each of some columns, and over that of the bias.
    fn against<T: Float>(&self, columns: &Table<T>, free: &[usize], of: &[f64]) -> Vec<f64> {
        let sum = |&k: &usize| columns.column(self.variables[k].column).map(|(i, x)| of[i] * x).sum();
        let mut sums: Vec<f64> = free.par_iter().with_min_len(64).map(sum).collect();
        sums.push(if self.is_lifted { of.iter().sum() } else { 0.0 });
        sums
    }
}
