//! How sure an accuracy is, and whether two differ by more than chance.

/// Standard deviations that hold 95% of a normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Where the share of right answers lies with 95% confidence, given how many of so many were right (Wilson 1927).
///
/// ```
/// use rosenblatt::wilson;
/// let (low, high) = wilson(8, 10);
/// assert!((low - 0.4902).abs() < 1e-4 && (high - 0.9433).abs() < 1e-4);
/// assert_eq!(wilson(10, 10).1, 1.0);
/// ```
pub fn wilson(right: u64, rows: u64) -> (f64, f64) {
    if rows == 0 {
        return (0.0, 1.0);
    }
    let (n, p) = (rows as f64, right as f64 / rows as f64);
    let square = Z * Z / n;
    let middle = (p + 0.5 * square) / (1.0 + square);
    let half = Z * (p * (1.0 - p) / n + 0.25 * square / n).sqrt() / (1.0 + square);
    let (low, high) = ((middle - half).max(0.0), (middle + half).min(1.0));
    (if right == 0 { 0.0 } else { low }, if right == rows { 1.0 } else { high })
}

/// How likely rows that only one of two models gets right are shared out at least as unevenly if neither is better (McNemar 1947), by the binomial distribution.
///
/// ```
/// use rosenblatt::mcnemar;
/// assert_eq!(mcnemar(5, 5), 1.0);
/// assert!((mcnemar(1, 9) - 22.0 / 1024.0).abs() < 1e-12);
/// ```
pub fn mcnemar(only_first: u64, only_second: u64) -> f64 {
    let (few, n) = (only_first.min(only_second) as f64, (only_first + only_second) as f64);
    if n == 0.0 || 2.0 * few >= n {
        return 1.0;
    }
    // P(X ≤ few) of n throws of a coin.
    (2.0 * beta_share(n - few, few + 1.0, 0.5)).min(1.0)
}

/// Two-sided p of a mean difference over folds, by the t test whose variance counts that training rows are shared (Nadeau and Bengio 2003, Machine Learning 52): `share` is the number of test rows over that
/// of training rows. Where all differences are alike p is 0, or 1 if they are 0.
///
/// ```
/// use rosenblatt::corrected_t;
/// let p = corrected_t(&[0.02, 0.01, 0.03, 0.02, 0.02], 0.25);
/// // t = 0.02/√((1/5 + 1/4)·0.00005) with 4 degrees of freedom
/// assert!((p - 0.013_517).abs() < 1e-6, "{p}");
/// assert_eq!(corrected_t(&[0.0, 0.0], 1.0), 1.0);
/// ```
pub fn corrected_t(differences: &[f64], share: f64) -> f64 {
    let Some((mean, error)) = corrected_error(differences, share) else { return 1.0 };
    match error > 0.0 {
        false if mean == 0.0 => 1.0,
        false => 0.0,
        true => student_tails(mean / error, differences.len() as f64 - 1.0),
    }
}

/// Mean over folds and where it lies with 95% confidence, by the same variance; nothing of fewer than two.
pub(crate) fn fold_interval(accuracies: &[f64], share: f64) -> Option<(f64, f64)> {
    let (mean, error) = corrected_error(accuracies, share)?;
    let half = error * student_quantile(accuracies.len() as f64 - 1.0);
    Some(((mean - half).max(0.0), (mean + half).min(1.0)))
}

fn corrected_error(values: &[f64], share: f64) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // What rounding leaves of equal values is none.
    let variance = if variance < 1e-28 { 0.0 } else { variance };
    Some((mean, ((1.0 / n + share) * variance).sqrt()))
}

/// P(|T| ≥ |t|)
fn student_tails(t: f64, freedom: f64) -> f64 {
    beta_share(0.5 * freedom, 0.5, freedom / (freedom + t * t))
}

/// The t beyond which, on both sides, 5% lie.
fn student_quantile(freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1000.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if student_tails(middle, freedom) > 0.05 { low = middle } else { high = middle }
    }
    high
}

/// Several p of which each is to be believed: in ascending order times how many are left (Holm 1979).
///
/// ```
/// use rosenblatt::holm;
/// assert_eq!(holm(&[0.25, 0.01, 0.04]), [0.25, 0.03, 0.08]);
/// ```
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let (mut adjusted, mut most) = (vec![1.0; p.len()], 0.0f64);
    for (rank, at) in order.into_iter().enumerate() {
        most = most.max((p.len() - rank) as f64 * p[at]).min(1.0);
        adjusted[at] = most;
    }
    adjusted
}

/// The regularised incomplete beta function I_x(a, b), by its continued fraction (DLMF 8.17.22).
fn beta_share(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    // Beyond the mean the fraction of the other side converges faster.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_share(b, a, 1.0 - x);
    }
    let front = a * x.ln() + b * (-x).ln_1p() + log_gamma(a + b) - log_gamma(a) - log_gamma(b);
    front.exp() * fraction(a, b, x) / a
}

/// Lentz's method.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for m in 1..100_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            change = c * d;
            result *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    result
}

/// log Γ(x) for x > 0: Stirling's series from 10 on, brought there by Γ(x + 1) = x·Γ(x).
fn log_gamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 10.0 {
        below += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0
        - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse * (1.0 / 1680.0 - inverse / 1188.0))))
        / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_and_beta_are_those_of_tables() {
        for (x, factorial) in [(1.0, 1.0f64), (5.0, 24.0), (11.0, 3_628_800.0)] {
            assert!((log_gamma(x) - factorial.ln()).abs() < 1e-12);
        }
        assert!((log_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-12);
        // I_x(1, b) = 1 − (1 − x)^b, I_½(a, a) = ½
        assert!((beta_share(1.0, 3.0, 0.2) - (1.0 - 0.512)).abs() < 1e-13);
        assert!((beta_share(70.0, 70.0, 0.5) - 0.5).abs() < 1e-12);
        // Tables of Student's t.
        for (freedom, t) in [(1.0, 12.7062), (4.0, 2.7764), (9.0, 2.2622), (30.0, 2.0423)] {
            assert!((student_quantile(freedom) - t).abs() < 1e-4, "{freedom}");
        }
    }

    #[test]
    fn mcnemar_adds_up_a_binomial_distribution() {
        for (a, b) in [(0u64, 6u64), (3, 11), (40, 61), (999, 1100)] {
            let n = a + b;
            let mut log = -(n as f64) * 2f64.ln();
            let mut sum = 0.0;
            for i in 0..=a {
                sum += log.exp();
                log += ((n - i) as f64).ln() - ((i + 1) as f64).ln();
            }
            assert!((mcnemar(a, b) - 2.0 * sum).abs() < 1e-9, "{a} {b}");
            assert_eq!(mcnemar(a, b), mcnemar(b, a));
        }
    }
}
