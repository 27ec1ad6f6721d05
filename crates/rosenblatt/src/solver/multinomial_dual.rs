//! Multinomial logistic regression, one row at a time through its dual.
//!
//! With g the scores of a row and all other rows held, its α is best where α = c·p(g − q(α − α₀)), p the probabilities and q = ‖x‖² (Yu, Huang, Lin 2011, section 4). One step of Newton's method on that equation has a
//! closed form, for the derivative of p is diagonal but for a product of two vectors; it is all but exact where c·q is small. Else, and where it would leave the simplex, α goes part of the way to c·p(g), which never lessens D: by
//! Pinsker's inequality D gains at least (t − t²/2 − cq·t²/4)·‖c·p − α‖₁²/c (cf. Shalev-Shwartz and Zhang 2013), which is most at t = 1/(1 + cq/2).
//!
//! A free bias is met by the method of multipliers, as in `dual_cd`.

use super::dual_cd::sigma;
use super::forecast::Forecast;
use super::multinomial::{Multinomial, soften};
use super::multinomial_newton::Newton;
use super::{Certificate, End, JointSolution, Limits};
use crate::data::Rows;
use crate::learner::Bias;
use crate::model::{add_to_all, scores};
use crate::rng::Rng;
use crate::watch::Monitor;

/// The descent under way.
pub(super) struct Descent<'a, R> {
    problem: &'a Multinomial<'a, R>,
    limits: Limits,
    /// W, `k` numbers for each feature.
    weights: Vec<f64>,
    /// αᵢ_c, row after row.
    alpha: Vec<f64>,
    /// ‖x‖² with the part of the bias.
    q: Vec<f64>,
    /// Σ (cᵢe_yᵢ − αᵢ)
    s: Vec<f64>,
    /// μ and σ of the biases μ + σ·s.
    mu: Vec<f64>,
    sigma: f64,
    /// ½‖W‖², or about as much.
    half_norm: f64,
    /// The rows that cost anything.
    order: Vec<u32>,
    row: Row,
}

/// Room for the numbers of a row.
struct Row {
    bias: Vec<f64>,
    scores: Vec<f64>,
    /// c·p(g)
    softened: Vec<f64>,
    step: Vec<f64>,
}

/// What an epoch saw.
#[derive(Default)]
struct Epoch {
    /// P − D, or about as much, each row before its step.
    gap: f64,
    /// The losses, likewise.
    risk: f64,
    stopped: bool,
}

/// Up to this c·q a single step of Newton's method is within a third of the best one.
const SHORT: f64 = 2.0;

/// Rows are asked for so many visits ahead.
const AHEAD: usize = 4;

/// Passes between two certificates at the most.
const PATIENCE: usize = 20;

impl<'a, R: Rows> Descent<'a, R> {
    pub(super) fn new(problem: &'a Multinomial<'a, R>, limits: Limits) -> Self {
        let (n, k) = (problem.x.n_rows(), problem.k);
        let order: Vec<u32> = (0..n as u32).filter(|&i| problem.cost[i as usize] > 0.0).collect();
        let mut q: Vec<f64> = (0..n).map(|i| problem.x.sq_norm(i)).collect();
        let sigma = sigma(problem.bias, || q.iter().sum::<f64>() / n as f64);
        q.iter_mut().for_each(|q| *q += sigma);
        let none = || vec![0.0; k];
        let mut descent = Descent {
            problem,
            limits,
            weights: vec![0.0; k * problem.x.n_cols()],
            alpha: vec![0.0; n * k],
            q,
            s: none(),
            mu: none(),
            sigma,
            half_norm: 0.0,
            order,
            row: Row { bias: none(), scores: none(), softened: none(), step: none() },
        };
        match problem.start {
            Some(_) => descent.start_near(),
            // All of W is 0.
            None => descent
                .alpha
                .chunks_mut(k)
                .zip(problem.y.iter().zip(problem.cost))
                .for_each(|(alpha, (&y, &cost))| alpha[y as usize] = cost),
        }
        descent
    }

    /// α of the probabilities of a solution to start from, and W of α.
    fn start_near(&mut self) {
        let problem = self.problem;
        let mut point = problem.beginning();
        self.alpha = problem.scores(&point);
        self.alpha.chunks_mut(problem.k).zip(problem.cost).for_each(|(alpha, &cost)| soften(alpha, cost));
        if problem.bias == Bias::Free {
            self.mu.copy_from_slice(problem.split(&point).1);
        }
        problem.push(&self.alpha, &mut point, &mut problem.spare());
        point.iter_mut().for_each(|w| *w = -*w);
        self.half_norm = problem.half_norm(&point);
        let (weights, sums) = problem.split(&point);
        self.weights.copy_from_slice(weights);
        self.s.copy_from_slice(sums);
    }

    pub(super) fn solve(mut self, monitor: &Monitor<'_>) -> JointSolution {
        let problem = self.problem;
        let (mut best, mut proved) = match problem.start {
            Some(_) => Newton::certify_point(problem, problem.beginning()),
            None => (vec![0.0; problem.size()], Certificate::nothing()),
        };
        let (mut passes, mut since_certificate) = (0, 0);
        let mut forecast = Forecast::new();
        let end = loop {
            if proved.gap() <= self.limits.gap {
                break End::Converged;
            }
            passes += 1;
            since_certificate += 1;
            let epoch = self.epoch(passes, monitor);
            if self.problem.bias == Bias::Free {
                self.mu.iter_mut().zip(&self.s).for_each(|(mu, s)| *mu += self.sigma * s);
            }
            let at_end = epoch.stopped || passes >= self.limits.passes;
            let expected = forecast.after(epoch.gap, false);
            let hopeful = expected <= self.limits.gap * (self.half_norm + epoch.risk);
            if !(hopeful || at_end || since_certificate >= PATIENCE) {
                continue;
            }
            since_certificate = 0;
            self.find_bias();
            let (point, certificate) = Newton::certify(problem, self.alpha.clone(), &self.row.bias);
            let left = certificate.primal - certificate.dual;
            if proved.improve(certificate) {
                best.clone_from(&point);
            }
            match () {
                () if proved.gap() <= self.limits.gap => {}
                () if epoch.stopped => break End::Stopped,
                () if at_end => break End::PassLimit,
                () if hopeful => forecast.correct(expected, left),
                () => {}
            }
            self.half_norm = problem.half_norm(&point);
        };
        JointSolution { planes: problem.planes(&best), certificate: proved, passes, end }
    }

    fn epoch(&mut self, pass: usize, monitor: &Monitor<'_>) -> Epoch {
        let mut order = std::mem::take(&mut self.order);
        Rng::stream(self.limits.seed, pass as u64).shuffle(&mut order);
        let mut epoch = Epoch::default();
        for start in (0..order.len()).step_by(Monitor::BLOCK) {
            let end = (start + Monitor::BLOCK).min(order.len());
            for at in start..end {
                if let Some(&soon) = order.get(at + AHEAD) {
                    self.problem.x.prefetch(soon as usize);
                }
                self.visit(order[at] as usize, &mut epoch);
            }
            if !monitor.go_on(end - start) {
                epoch.stopped = true;
                break;
            }
        }
        self.order = order;
        epoch
    }

    fn find_bias(&mut self) {
        let both = self.mu.iter().zip(&self.s);
        self.row.bias.iter_mut().zip(both).for_each(|(b, (mu, s))| *b = mu + self.sigma * s);
    }

    fn visit(&mut self, i: usize, epoch: &mut Epoch) {
        self.find_bias();
        let Multinomial { x, y, cost, k, .. } = *self.problem;
        let (cost, alpha) = (cost[i], &mut self.alpha[i * k..][..k]);
        let Row { bias, scores: g, softened, step } = &mut self.row;
        scores(&self.weights, bias, x, i, g);
        softened.copy_from_slice(g);
        soften(softened, cost);
        epoch.gap += owed(alpha, softened);
        let own = y[i] as usize;
        epoch.risk -= cost * (softened[own] / cost).max(f64::MIN_POSITIVE).ln();
        let stiffness = cost * self.q[i];
        if stiffness > SHORT || !newton_step(alpha, softened, self.q[i], step) {
            let t = 1.0 / (1.0 + 0.5 * stiffness);
            for ((step, c), a) in step.iter_mut().zip(&*softened).zip(&*alpha) {
                *step = t * (c - a);
            }
        }
        for (((step, a), s), g) in step.iter_mut().zip(alpha).zip(&mut self.s).zip(g) {
            *a += *step;
            *s -= *step;
            self.half_norm += *step * (0.5 * self.q[i] * *step - *g);
            *step = -*step;
        }
        add_to_all(&mut self.weights, x, i, step);
    }
}

/// c·Σ (p − s)²/(p + s), about the divergence of two distributions where they are near each other, without a logarithm.
fn owed(alpha: &[f64], softened: &[f64]) -> f64 {
    let term = |(a, s): (&f64, &f64)| (a - s).powi(2) / (a + s).max(f64::MIN_POSITIVE);
    alpha.iter().zip(softened).map(term).sum()
}

/// Solves (1 + q(diag(s) − ssᵀ/c))·δ = s − α for s = c·p(g); whether α + δ is in the simplex.
fn newton_step(alpha: &[f64], softened: &[f64], q: f64, step: &mut [f64]) -> bool {
    // By the formula of Sherman and Morrison; the sums are those of s·D⁻¹(s − α) and of s·D⁻¹.
    let (mut along, mut rest) = (0.0, 0.0);
    for ((step, s), a) in step.iter_mut().zip(softened).zip(alpha) {
        let d = 1.0 / (1.0 + q * s);
        *step = d * (s - a);
        along += s * *step;
        rest += s * d;
    }
    let t = q * along / rest;
    let mut inside = true;
    for ((step, s), a) in step.iter_mut().zip(softened).zip(alpha) {
        *step += t * s / (1.0 + q * s);
        inside &= a + *step >= 0.0;
    }
    inside
}
