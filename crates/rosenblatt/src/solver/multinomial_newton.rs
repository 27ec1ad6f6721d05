//! Newton's method for multinomial logistic regression.
//!
//! By conjugate gradients (Lin, Weng, Keerthi 2008), preconditioned by a factor for each class, of a sample of the rows, or by the diagonal. At every point αᵢ = cᵢpᵢ with the probabilities p of the point, so that the
//! gradient and the dual value come from one pass over the rows. A free bias is brought to its best value first, which is what makes that α feasible.

use rayon::prelude::*;

use super::certificate::Slacks;
use super::conjugate_gradient::{self, Accuracy, dot, for_blocks};
use super::factor::Factor;
use super::multinomial::{BLOCK, Multinomial, soften};
use super::newton::{MANY_FEATURES, MANY_STEPS, sampled};
use super::normal::Normal;
use super::{Binary, Certificate, End, Example, JointSolution, Limits};
use crate::data::Rows;
use crate::learner::Bias;
use crate::model::scores;
use crate::pool::abreast;
use crate::watch::Monitor;

/// The minimisation under way. A point has `k` numbers for each feature and `k` biases behind them, which stay 0 where there are to be none.
pub(super) struct Newton<'a, R> {
    problem: &'a Multinomial<'a, R>,
    point: Vec<f64>,
    /// g_c(xᵢ), row after row.
    scores: Vec<f64>,
    /// αᵢ_c, row after row.
    alpha: Vec<f64>,
    primal: f64,
    /// As long as they serve.
    factors: Option<Vec<Factor>>,
    /// Room for sums over parts of the rows.
    spare: Vec<Vec<f64>>,
}

/// Whether there is a factor for each class.
fn is_factored(lifted: usize, k: usize) -> bool {
    /// Of all of them.
    const MOST_NUMBERS: usize = 1 << 24;
    lifted <= MANY_FEATURES && k.saturating_mul(lifted * lifted) <= MOST_NUMBERS
}

/// Bytes of the factors of all classes, and of what some of them are made of at a time. Twice: what other threads freed after the fit on a sample stays with them.
pub(super) fn matrix_bytes(rows: usize, features: usize, k: usize) -> usize {
    let size = features.saturating_add(1);
    if !is_factored(size, k) {
        return 0;
    }
    let under_way = k.min(rayon::current_num_threads());
    2 * (k * Factor::bytes(size) + under_way * Normal::bytes(size, rows))
}

impl<'a, R: Rows> Newton<'a, R> {
    pub(super) fn solve(
        problem: &'a Multinomial<'a, R>,
        limits: Limits,
        monitor: &Monitor<'_>,
    ) -> JointSolution {
        let alpha = vec![0.0; problem.x.n_rows() * problem.k];
        let mut newton = Newton::new(problem, problem.beginning(), alpha);
        // D is 0 where every row has all of its cost on its own class.
        let (mut passes, mut best) = (0, 0.0f64);
        let (certificate, end) = loop {
            passes += 1;
            newton.settle();
            let feasible = newton.make_feasible();
            newton.evaluate();
            let (downhill, dual) = newton.gradient();
            if feasible {
                best = best.max(dual);
            }
            let gap = Certificate { primal: newton.primal, dual: best, ..Certificate::default() }.gap();
            let end = match () {
                () if gap <= limits.gap => End::Converged,
                () if !monitor.go_on(problem.x.n_rows()) => End::Stopped,
                () if passes >= limits.passes => End::PassLimit,
                () if !newton.step(&downhill, limits.gap, monitor) => End::Stalled,
                () => continue,
            };
            newton.score_anew();
            newton.evaluate();
            break (newton.certificate(best), end);
        };
        JointSolution { planes: problem.planes(&newton.point), certificate, passes, end }
    }

    /// A point and what it and α prove: α is made feasible, W made of it, and the biases those given or, where they are free, the best near them.
    pub(super) fn certify(
        problem: &'a Multinomial<'a, R>,
        alpha: Vec<f64>,
        bias: &[f64],
    ) -> (Vec<f64>, Certificate) {
        let mut newton = Newton::new(problem, vec![0.0; problem.size()], alpha);
        let feasible = newton.make_feasible();
        let (mut point, dual) = newton.gradient();
        point.iter_mut().for_each(|w| *w = -*w);
        point[problem.k * problem.x.n_cols()..].copy_from_slice(bias);
        newton.point = point;
        newton.score_anew();
        if problem.bias == Bias::Free {
            newton.settle();
        }
        newton.evaluate();
        // At α = c·e_y, which is always feasible, D is 0.
        let certificate = newton.certificate(if feasible { dual.max(0.0) } else { 0.0 });
        (newton.point, certificate)
    }

    /// What a point is worth with the best of its free biases, and what its own probabilities prove as α.
    pub(super) fn certify_point(problem: &'a Multinomial<'a, R>, point: Vec<f64>) -> (Vec<f64>, Certificate) {
        let alpha = vec![0.0; problem.x.n_rows() * problem.k];
        let mut newton = Newton::new(problem, point, alpha);
        newton.settle();
        let feasible = newton.make_feasible();
        newton.evaluate();
        let (_, dual) = newton.gradient();
        let certificate = newton.certificate(if feasible { dual.max(0.0) } else { 0.0 });
        (newton.point, certificate)
    }

    fn new(problem: &'a Multinomial<'a, R>, point: Vec<f64>, alpha: Vec<f64>) -> Self {
        let mut newton = Newton {
            problem,
            point,
            scores: vec![0.0; alpha.len()],
            alpha,
            primal: f64::INFINITY,
            factors: None,
            spare: problem.spare(),
        };
        if newton.point.iter().any(|w| *w != 0.0) {
            newton.score_anew();
        }
        newton
    }

    /// Brings a free bias to its best value, and finds α.
    fn settle(&mut self) {
        /// Newton's steps in the biases alone; near the optimum one does.
        const MOST_STEPS: usize = 30;
        let problem = self.problem;
        self.find_alpha();
        if problem.bias == Bias::Free {
            for _ in 0..MOST_STEPS {
                let (missing, shift) = self.bias_step();
                let size = dot(&missing, &missing).sqrt();
                if size <= 1e-9 * problem.cost.iter().sum::<f64>() {
                    break;
                }
                // A long step may go too far; half of it, and so on, cannot for ever.
                let before = problem.sum(&self.scores, |i, scores| problem.loss(i, scores));
                let slope = dot(&missing, &shift);
                let mut t = 1.0;
                loop {
                    let shifted = |i: usize, scores: &[f64]| {
                        let moved: Vec<f64> = scores.iter().zip(&shift).map(|(s, b)| s + t * b).collect();
                        problem.loss(i, &moved)
                    };
                    if t < 1e-6 || problem.sum(&self.scores, shifted) <= before - 1e-4 * t * slope {
                        break;
                    }
                    t *= 0.5;
                }
                self.shift(&shift, t);
                self.find_alpha();
            }
        }
    }

    fn evaluate(&mut self) {
        let problem = self.problem;
        let loss = problem.sum(&self.scores, |i, scores| problem.loss(i, scores));
        self.primal = problem.half_norm(&self.point) + loss;
    }

    fn find_alpha(&mut self) {
        self.alpha.copy_from_slice(&self.scores);
        let (k, cost) = (self.problem.k, self.problem.cost);
        self.alpha.par_chunks_mut(BLOCK * k).zip(cost.par_chunks(BLOCK)).for_each(|(alpha, cost)| {
            alpha.chunks_mut(k).zip(cost).for_each(|(alpha, &cost)| soften(alpha, cost));
        });
    }

    /// Adds t·shift to all biases.
    fn shift(&mut self, shift: &[f64], t: f64) {
        let first = self.problem.k * self.problem.x.n_cols();
        self.point[first..].iter_mut().zip(shift).for_each(|(b, s)| *b += t * s);
        self.scores.par_chunks_mut(self.problem.k).for_each(|scores| {
            scores.iter_mut().zip(shift).for_each(|(score, s)| *score += t * s);
        });
    }

    /// Σ (cᵢe_yᵢ − αᵢ), and the step of the biases that would make it 0 if α were linear in them.
    fn bias_step(&self) -> (Vec<f64>, Vec<f64>) {
        let Multinomial { k, y, cost, .. } = *self.problem;
        let block = |((alpha, y), cost): ((&[f64], &[u32]), &[f64])| {
            let (mut missing, mut curvature) = (vec![0.0; k], vec![0.0; k * k]);
            for ((alpha, &y), &cost) in alpha.chunks(k).zip(y).zip(cost).filter(|(_, cost)| **cost > 0.0) {
                missing[y as usize] += cost;
                for (c, &a) in alpha.iter().enumerate() {
                    missing[c] -= a;
                    curvature[c * k + c] += a;
                    let of = a / cost;
                    curvature[c * k..=c * k + c].iter_mut().zip(alpha).for_each(|(h, b)| *h -= of * b);
                }
            }
            (missing, curvature)
        };
        let rows = self.alpha.par_chunks(BLOCK * k).zip(y.par_chunks(BLOCK)).zip(cost.par_chunks(BLOCK));
        let blocks: Vec<(Vec<f64>, Vec<f64>)> = rows.map(block).collect();
        let (mut missing, mut curvature) = (vec![0.0; k], vec![0.0; k * k]);
        for (part, curved) in &blocks {
            conjugate_gradient::add(1.0, part, &mut missing);
            conjugate_gradient::add(1.0, curved, &mut curvature);
        }
        // The same number added to all biases changes nothing; this makes the sum of a step 0.
        let mean = (0..k).map(|c| curvature[c * k + c]).sum::<f64>() / k as f64;
        curvature.iter_mut().for_each(|h| *h += mean);
        let step = Factor::of(curvature, k).solved(&missing);
        (missing, step)
    }

    /// Makes α meet the constraint of a free bias to rounding: moves it by what is left, along the step's own direction. Or leaves it as it is where that cannot be; whether it is feasible.
    fn make_feasible(&mut self) -> bool {
        if self.problem.bias != Bias::Free {
            return true;
        }
        let before = self.alpha.clone();
        let made = self.leave_idle_classes() && self.balance();
        if !made {
            self.alpha = before;
        }
        made
    }

    /// A class whose rows cost nothing can have no part of any α. Whether all rows have other classes left.
    fn leave_idle_classes(&mut self) -> bool {
        let Multinomial { k, y, cost, .. } = *self.problem;
        let mut idle = vec![true; k];
        y.iter().zip(cost).filter(|(_, cost)| **cost > 0.0).for_each(|(&y, _)| idle[y as usize] = false);
        if !idle.contains(&true) {
            return true;
        }
        let mut left = true;
        for (alpha, &cost) in self.alpha.chunks_mut(k).zip(cost).filter(|(_, cost)| **cost > 0.0) {
            alpha.iter_mut().zip(&idle).filter(|(_, idle)| **idle).for_each(|(a, _)| *a = 0.0);
            let factor = cost / alpha.iter().sum::<f64>();
            left &= factor.is_finite();
            alpha.iter_mut().for_each(|a| *a *= factor);
        }
        left
    }

    fn balance(&mut self) -> bool {
        let (_, step) = self.bias_step();
        let Multinomial { k, cost, .. } = *self.problem;
        self.alpha.par_chunks_mut(BLOCK * k).zip(cost.par_chunks(BLOCK)).for_each(|(alpha, cost)| {
            for (alpha, &cost) in alpha.chunks_mut(k).zip(cost).filter(|(_, cost)| **cost > 0.0) {
                let mean = dot(alpha, &step) / cost;
                alpha.iter_mut().zip(&step).for_each(|(a, s)| *a += *a * (s - mean));
            }
        });
        let (missing, _) = self.bias_step();
        let met = dot(&missing, &missing).sqrt() <= 1e-12 * cost.iter().sum::<f64>();
        met && self.alpha.par_iter().all(|a| *a >= 0.0)
    }

    /// The gradient of P, and D, both from α.
    fn gradient(&mut self) -> (Vec<f64>, f64) {
        let problem = self.problem;
        let cost = problem.cost;
        let mut sums = vec![0.0; problem.size()];
        problem.push(&self.alpha, &mut sums, &mut self.spare);
        let entropy = problem.sum(&self.alpha, |i, alpha| {
            let term = |&a: &f64| if a > 0.0 { a * (a / cost[i]).ln() } else { 0.0 };
            -alpha.iter().map(term).sum::<f64>()
        });
        let dual = entropy - problem.half_norm(&sums);
        sums.iter_mut().zip(&self.point).take(problem.penalised()).for_each(|(g, w)| *g += w);
        (sums, dual)
    }

    fn score_anew(&mut self) {
        self.scores = self.problem.scores(&self.point);
    }

    fn certificate(&self, dual: f64) -> Certificate {
        let (k, mut slacks) = (self.problem.k, Slacks::default());
        let mut support_vectors = 0;
        for (i, scores) in self.scores.chunks(k).enumerate().filter(|(i, _)| self.problem.cost[*i] > 0.0) {
            let own = self.problem.y[i] as usize;
            let others = scores.iter().enumerate().filter(|(c, _)| *c != own).map(|(_, score)| *score);
            slacks.count(scores[own] - others.fold(f64::NEG_INFINITY, f64::max), 1);
            support_vectors += 1;
        }
        Certificate { primal: self.primal, dual, slacks, support_vectors, ..Certificate::default() }
    }

    /// One step with a line search; whether it moved.
    fn step(&mut self, downhill: &[f64], asked: f64, monitor: &Monitor<'_>) -> bool {
        let accuracy = Accuracy { value: self.primal, gap: asked };
        let mut direction = self.solved(downhill, accuracy, || monitor.go_on(0));
        direction.iter_mut().for_each(|p| *p = -*p);
        let slope = dot(downhill, &direction);
        slope < 0.0 && self.search(&direction, slope)
    }

    /// The second derivative's inverse times a vector, as exactly as asked for.
    fn solved(&mut self, downhill: &[f64], accuracy: Accuracy, go_on: impl Fn() -> bool) -> Vec<f64> {
        let problem = self.problem;
        let mut spare = std::mem::take(&mut self.spare);
        let lifted = problem.x.n_cols() + usize::from(problem.bias.is_lifted());
        let factored = is_factored(lifted, problem.k);
        let direction = if factored {
            let factors = self.factors.take().unwrap_or_else(|| self.factors());
            let (direction, steps) = conjugate_gradient::solve(
                downhill,
                accuracy,
                |v, image| self.curve(v, image, &mut spare),
                |r, out| by_class(&factors, r, out),
                go_on,
            );
            self.factors = (steps <= MANY_STEPS).then_some(factors);
            direction
        } else {
            let diagonal = self.diagonal(&mut spare);
            let precondition = |r: &[f64], out: &mut [f64]| {
                out.copy_from_slice(r);
                for_blocks(&diagonal, out, |d, r| *r /= d);
            };
            let product = |v: &[f64], image: &mut [f64]| self.curve(v, image, &mut spare);
            conjugate_gradient::solve(downhill, accuracy, product, precondition, go_on).0
        };
        self.spare = spare;
        direction
    }

    /// The second derivative times v: of a row diag(α) − ααᵀ/c on its scores.
    fn curve(&self, v: &[f64], image: &mut [f64], spare: &mut [Vec<f64>]) {
        let problem = self.problem;
        let (along, lift) = problem.split(v);
        problem.combine(image, spare, |i, t, weights, bias| {
            scores(along, lift, problem.x, i, t);
            let alpha = &self.alpha[i * problem.k..][..problem.k];
            let mean = alpha.iter().zip(&*t).map(|(a, t)| a * t).sum::<f64>() / problem.cost[i];
            t.iter_mut().zip(alpha).for_each(|(t, a)| *t = a * (*t - mean));
            problem.add(i, t, weights, bias);
        });
        let penalised = problem.penalised();
        conjugate_gradient::add(1.0, &v[..penalised], &mut image[..penalised]);
    }

    /// The factor of each class's own part of the second derivative, from some of the rows.
    fn factors(&self) -> Vec<Factor> {
        let Multinomial { x, cost, k, bias, .. } = *self.problem;
        let rows: Vec<Example> = (cost.iter().enumerate())
            .filter(|(_, cost)| **cost > 0.0)
            .map(|(i, &cost)| Example::new(i, cost, true))
            .collect();
        let problem = Binary { x, examples: &rows, bias, start: None, common: None, alpha: None };
        let factor = |c: usize| {
            let own = |e: &Example| {
                let a = self.alpha[e.row as usize * k + c];
                // Rounding may put α a hair above its bound.
                (a * (1.0 - a / e.cost)).max(0.0)
            };
            let d: Vec<f64> = rows.iter().map(own).collect();
            sampled(&problem, &d, problem.penalised())
        };
        abreast((0..k).collect(), factor)
    }

    fn diagonal(&self, spare: &mut [Vec<f64>]) -> Vec<f64> {
        let problem = self.problem;
        let k = problem.k;
        let mut diagonal = vec![0.0; problem.size()];
        problem.combine(&mut diagonal, spare, |i, t, weights, bias| {
            let own = |a: f64| a * (1.0 - a / problem.cost[i]);
            t.iter_mut().zip(&self.alpha[i * k..]).for_each(|(t, a)| *t = own(*a));
            problem.x.each(i, |j, v| {
                weights[j * k..][..k].iter_mut().zip(&*t).for_each(|(d, t)| *d += v * v * t);
            });
            bias.iter_mut().zip(&*t).for_each(|(d, t)| *d += t);
        });
        diagonal[..problem.penalised()].par_iter_mut().for_each(|d| *d += 1.0);
        diagonal.par_iter_mut().for_each(|d| *d = d.max(f64::MIN_POSITIVE));
        diagonal
    }

    /// Armijo's rule on P along a direction.
    fn search(&mut self, direction: &[f64], slope: f64) -> bool {
        let problem = self.problem;
        let moves = problem.scores(direction);
        let mut t = 1.0;
        loop {
            let point: Vec<f64> = self.point.iter().zip(direction).map(|(w, p)| w + t * p).collect();
            let mut moved = self.scores.clone();
            moved.par_iter_mut().zip(&moves).for_each(|(score, p)| *score += t * p);
            let value = problem.half_norm(&point) + problem.sum(&moved, |i, scores| problem.loss(i, scores));
            if value <= self.primal + 1e-4 * t * slope {
                (self.point, self.scores) = (point, moved);
                return true;
            }
            t *= 0.5;
            if t < 1e-12 {
                return false;
            }
        }
    }
}

/// Each class's numbers of a point, solved by its own factor. Biases that are to stay 0 have no place in a factor.
///
/// What all classes have in common changes no probability, and so only ½‖W‖² curves it, which a factor of one class does not know: it stays as it is, and what a factor would add to it is taken away.
fn by_class(factors: &[Factor], r: &[f64], out: &mut [f64]) {
    let k = factors.len();
    let means: Vec<f64> = r.chunks(k).map(mean).collect();
    let solved = |(c, factor): (usize, &Factor)| {
        let own = r.iter().skip(c).step_by(k).zip(&means).map(|(r, mean)| r - mean);
        let mut x: Vec<f64> = own.take(factor.size()).collect();
        factor.solve(&mut x);
        x
    };
    let columns: Vec<Vec<f64>> = factors.par_iter().enumerate().map(solved).collect();
    out.fill(0.0);
    for (c, column) in columns.iter().enumerate() {
        out.iter_mut().skip(c).step_by(k).zip(column).for_each(|(out, x)| *out = *x);
    }
    for (out, common) in out.chunks_mut(k).zip(means) {
        let shift = common - mean(out);
        out.iter_mut().for_each(|x| *x += shift);
    }
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}
