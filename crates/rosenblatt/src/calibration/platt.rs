//! A slope, and an offset for each class: with two classes Platt's logistic curve.
//!
//! ```text
//! p_c ∝ exp(−a·behind_c + b_c)        two classes: p₁ = 1 / (1 + exp(−(a·s + b₁ − b₀)))
//! ```
//!
//! Platt (1999), with his targets, which keep the curve from steps where nothing was wrong, and Newton's method as Lin, Lin, Weng (2007), Machine Learning 68, have it; for more classes the same with an
//! offset each (cf. vector scaling: Guo, Pleiss, Sun, Weinberger 2017). Convex in a and b.

use super::{Seen, ahead, mean_behind};
use crate::error::ParamError;
use crate::model::Link;

/// With more, second derivatives take too long.
pub(super) const MOST_CLASSES: usize = 100;

/// Newton's steps, and halvings of each.
const STEPS: (usize, i32) = (100, 40);

/// The slope may not be less than this times 1 / mean.
const FLATTEST: f64 = 1e-6;

pub(super) fn fit(seen: &[Seen]) -> Result<Link, ParamError> {
    let classes = seen.first().map_or(2, |row| row.behind.len());
    let few = classes <= MOST_CLASSES;
    ParamError::unless(few, "calibration", "platt is for up to 100 classes: take slope or isotonic")?;
    let mean = mean_behind(&seen.iter().collect::<Vec<_>>());
    let problem = Problem { seen, classes, scale: 1.0 / mean, targets: targets(seen, classes) };
    let mut point = vec![0.0; classes];
    point[0] = 1.0;
    problem.minimise(&mut point, true);
    if point[0] < FLATTEST {
        // Scores that mislead are worth nothing; what classes are likely is left.
        point[0] = FLATTEST;
        problem.minimise(&mut point, false);
    }
    let mut offsets = vec![0.0];
    offsets.extend(&point[1..]);
    let middle = offsets.iter().sum::<f64>() / classes as f64;
    offsets.iter_mut().for_each(|offset| *offset -= middle);
    Ok(Link::Platt { slope: point[0] / mean, offsets })
}

/// The probability of each class, given how far it is behind the predicted one: where another class would be more likely than that, it is as likely.
pub(crate) fn shares(predicted: usize, behind: &[f64], slope: f64, offsets: &[f64]) -> Vec<f64> {
    let logit = |(b, offset): (&f64, &f64)| offset - slope * b;
    let logits: Vec<f64> = behind.iter().zip(offsets).map(logit).collect();
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    ahead(predicted, logits.iter().map(|logit| (logit - most).exp()).collect())
}

/// What a class's own rows are to have of it, and others: (n + 1)/(n + 2) and 1/(n + 2) for two classes.
fn targets(seen: &[Seen], classes: usize) -> Vec<(f64, f64)> {
    let mut weights = vec![0.0; classes];
    seen.iter().for_each(|row| weights[row.class] += row.weight);
    let k = classes as f64;
    weights.iter().map(|n| ((n + 1.0) / (n + k), 1.0 / (n + k))).collect()
}

/// −log likelihood of slope and offsets, the first class's being 0.
struct Problem<'s> {
    seen: &'s [Seen],
    classes: usize,
    scale: f64,
    targets: Vec<(f64, f64)>,
}

impl Problem<'_> {
    fn probabilities(&self, row: &Seen, point: &[f64]) -> Vec<f64> {
        let logit = |(c, b): (usize, &f64)| (if c > 0 { point[c] } else { 0.0 }) - point[0] * b * self.scale;
        let logits: Vec<f64> = row.behind.iter().enumerate().map(logit).collect();
        let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shares: Vec<f64> = logits.iter().map(|logit| (logit - most).exp()).collect();
        let sum: f64 = shares.iter().sum();
        shares.iter().map(|share| share / sum).collect()
    }

    fn target(&self, row: &Seen, class: usize) -> f64 {
        let (own, other) = self.targets[row.class];
        if class == row.class { own } else { other }
    }

    fn value(&self, point: &[f64]) -> f64 {
        let loss = |row: &Seen| -> f64 {
            let p = self.probabilities(row, point);
            let term = |c: usize| -self.target(row, c) * p[c].max(f64::MIN_POSITIVE).ln();
            row.weight * (0..self.classes).map(term).sum::<f64>()
        };
        self.seen.iter().map(loss).sum()
    }

    /// First derivatives, and the matrix of the second.
    fn derivatives(&self, point: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let k = self.classes;
        let (mut first, mut second) = (vec![0.0; k], vec![vec![0.0; k]; k]);
        for row in self.seen {
            let p = self.probabilities(row, point);
            let d: Vec<f64> = row.behind.iter().map(|b| -b * self.scale).collect();
            let mean: f64 = p.iter().zip(&d).map(|(p, d)| p * d).sum();
            let spread: f64 = p.iter().zip(&d).map(|(p, d)| p * (d - mean) * (d - mean)).sum();
            second[0][0] += row.weight * spread;
            for c in 0..k {
                let off = row.weight * (p[c] - self.target(row, c));
                first[0] += off * d[c];
                if c == 0 {
                    continue;
                }
                first[c] += off;
                second[0][c] += row.weight * p[c] * (d[c] - mean);
                for other in 1..=c {
                    let own = if other == c { p[c] } else { 0.0 };
                    second[other][c] += row.weight * (own - p[c] * p[other]);
                }
            }
        }
        (first, second)
    }

    /// Newton's method; the slope is held unless it is free.
    fn minimise(&self, point: &mut [f64], slope: bool) {
        let mut value = self.value(point);
        for _ in 0..STEPS.0 {
            let (mut first, mut second) = self.derivatives(point);
            if !slope {
                first[0] = 0.0;
                second[0].fill(0.0);
                second[0][0] = 1.0;
            }
            let Some(step) = solve(second, &first) else { return };
            let gain: f64 = step.iter().zip(&first).map(|(s, g)| s * g).sum();
            let tried = (0..STEPS.1).map(|halving| 0.5f64.powi(halving)).find_map(|length| {
                let next: Vec<f64> = point.iter().zip(&step).map(|(v, s)| v - length * s).collect();
                let reached = self.value(&next);
                (reached <= value - 1e-4 * length * gain).then_some((next, reached))
            });
            let Some((next, reached)) = tried else { return };
            point.copy_from_slice(&next);
            let saved = value - reached;
            value = reached;
            if saved <= 1e-12 * value.abs() {
                return;
            }
        }
    }
}

/// The solution of Ax = b, given the upper half of a positive definite matrix (Cholesky's factor, with a hair added to its diagonal).
fn solve(a: Vec<Vec<f64>>, b: &[f64]) -> Option<Vec<f64>> {
    let n = b.len();
    let largest = (0..n).map(|i| a[i][i]).fold(0.0, f64::max);
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|m| l[i][m] * l[j][m]).sum();
            let entry = a[j][i] - sum + if i == j { 1e-12 * largest + f64::MIN_POSITIVE } else { 0.0 };
            l[i][j] = if i == j { entry.max(0.0).sqrt() } else { entry / l[j][j] };
            if !l[i][j].is_finite() || (i == j && l[i][i] == 0.0) {
                return None;
            }
        }
    }
    let mut x = b.to_vec();
    for i in 0..n {
        x[i] = (x[i] - (0..i).map(|m| l[i][m] * x[m]).sum::<f64>()) / l[i][i];
    }
    for i in (0..n).rev() {
        x[i] = (x[i] - (i + 1..n).map(|m| l[m][i] * x[m]).sum::<f64>()) / l[i][i];
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn row(score: f64, class: usize) -> Seen {
        let predicted = usize::from(score > 0.0);
        let mut behind = vec![score.abs(); 2];
        behind[predicted] = 0.0;
        Seen { behind, predicted, class, weight: 1.0 }
    }

    #[test]
    fn the_curve_that_rows_were_drawn_from_is_found() {
        let mut rng = Rng::new(1);
        let seen: Vec<Seen> = (0..20_000)
            .map(|_| {
                let score = 3.0 * rng.normal();
                let p = 1.0 / (1.0 + (-(0.7 * score - 0.9)).exp());
                row(score, usize::from(rng.uniform() < p))
            })
            .collect();
        let Ok(Link::Platt { slope, offsets }) = fit(&seen) else { panic!("two classes are few") };
        assert!((slope - 0.7).abs() < 0.03, "{slope}");
        assert!((offsets[1] - offsets[0] + 0.9).abs() < 0.06, "{offsets:?}");
        // At the optimum no derivative is left.
        let problem = Problem { seen: &seen, classes: 2, scale: 1.0, targets: targets(&seen, 2) };
        let (first, _) = problem.derivatives(&[slope, offsets[1] - offsets[0]]);
        assert!(first.iter().all(|g| g.abs() < 1e-3), "{first:?}");
        // Between 0 and where the curve passes ½ both classes are as likely, the predicted one by a hair more.
        let p = shares(1, &[0.5, 0.0], slope, &offsets);
        assert!(p[1] > p[0] && p[1] < 0.5 + 1e-12, "{p:?}");
    }

    #[test]
    fn scores_that_mislead_are_worth_nothing() {
        let seen: Vec<Seen> = (0..200).map(|i| row(f64::from(i - 100) + 0.5, usize::from(i < 100))).collect();
        let Ok(Link::Platt { slope, .. }) = fit(&seen) else { panic!("two classes are few") };
        assert!(slope > 0.0 && slope < 1e-6);
    }
}
