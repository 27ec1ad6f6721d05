//! Naive Bayes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::batch::about;
use super::{ClassWeight, Demand, Fit, Learner, Task};
use crate::data::{DataError, Dataset, Rows, check_memory};
use crate::error::{Error, ParamError};
use crate::metrics::weighted_accuracy;
use crate::model::{Bayes, Body, Decision, Likelihood, Link, Model, Planes, Tie};
use crate::online::{Measure, Order, Schedule};
use crate::report::{Report, Status};
use crate::solver::{Weighed, overall};
use crate::watch::{Monitor, Watch};
use crate::with_rows;

/// How a feature is distributed within a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// As the data suggest: Bernoulli where all values are 0 or 1, multinomial where none is negative and at least half are 0, else Gaussian.
    #[default]
    Auto,
    /// Normal, with a mean and a variance of its own in each class.
    Gaussian,
    /// Counts, or weights of words such as tf-idf: how often each feature is drawn.
    Multinomial,
    /// There or not there.
    Bernoulli,
}

impl Distribution {
    fn name(self) -> &'static str {
        match self {
            Distribution::Auto => "auto",
            Distribution::Gaussian => "gaussian",
            Distribution::Multinomial => "multinomial",
            Distribution::Bernoulli => "bernoulli",
        }
    }
}

/// Classes by what each feature tells by itself, as if features were independent within a class: the model is known in closed form after a sweep or two over the rows.
///
/// Parameters and results are those of scikit-learn's `GaussianNB`, `MultinomialNB` and `BernoulliNB`; weights of rows count in all sums, the variance that `var_smoothing` is a share of
/// included, so that a weight is a repetition. Multinomial models are planes (Body::Linear); see [`Bayes`] for the others.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, Learner, NaiveBayes};
/// // How often "free" and "meeting" occur.
/// let x = Dense::new(vec![2.0, 0.0, 0.0, 1.0, 0.0, 3.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["spam", "ham", "ham"]))?;
/// let model = NaiveBayes::default().fit(&data, &mut ())?.model;
/// let scores = model.scores(&Dense::new(vec![1.0, 0.0], 2)?.into())?;
/// let p = model.probabilities(&scores).expect("it is all about probabilities");
/// // 1/3 · 3/4 against 2/3 · 1/6
/// assert!((p[1] - 9.0 / 13.0).abs() < 1e-12);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NaiveBayes {
    /// How a feature is distributed within a class.
    pub distribution: Distribution,
    /// Multinomial and Bernoulli: what is added to each count.
    pub alpha: f64,
    /// Gaussian: this share of the largest variance of a feature is added to each variance.
    pub var_smoothing: f64,
    /// Bernoulli: a feature is there where it is more than this.
    pub binarize: f64,
    /// Whether classes are as likely as they are frequent; else all alike.
    pub fit_prior: bool,
    /// How much each class counts.
    pub class_weight: Option<ClassWeight>,
    /// Every learner takes it; here sums are complete after one pass, and variances after two.
    pub passes: usize,
    /// Every learner takes it; nothing is random here.
    pub seed: u64,
    /// Every learner takes it; all is done in a pass or two, which are not stopped on the way.
    pub time_limit: Option<f64>,
}

impl Default for NaiveBayes {
    fn default() -> Self {
        NaiveBayes {
            distribution: Distribution::Auto,
            alpha: 1.0,
            var_smoothing: 1e-9,
            binarize: 0.0,
            fit_prior: true,
            class_weight: None,
            passes: 2,
            seed: 0,
            time_limit: None,
        }
    }
}

/// What values of features look like.
#[derive(Default)]
struct Look {
    /// The first value below 0: its row, column and value.
    negative: Option<(usize, usize, f64)>,
    /// Whether values that are not 0 are 1.
    ones: bool,
    /// The share of zeros, by weight.
    zeros: f64,
}

impl Look {
    fn at<R: Rows>(rows: &Weighed<'_, R>) -> Self {
        let mut look = Look { ones: true, ..Look::default() };
        let (mut there, mut all) = (0.0, 0.0);
        for i in 0..rows.x.n_rows() {
            let weight = rows.weight(i);
            all += weight * rows.x.n_cols() as f64;
            rows.x.each(i, |j, v| {
                if v != 0.0 && weight > 0.0 {
                    there += weight;
                    look.ones &= v == 1.0;
                    if v < 0.0 && look.negative.is_none() {
                        look.negative = Some((i, j, v));
                    }
                }
            });
        }
        Look { zeros: 1.0 - there / f64::max(all, f64::MIN_POSITIVE), ..look }
    }

    /// The distribution, and why.
    fn suggest(&self) -> (Distribution, String) {
        match (self.ones, self.negative, self.zeros >= 0.5) {
            (true, ..) => (Distribution::Bernoulli, "all values are 0 or 1".to_owned()),
            (_, None, true) => {
                let zeros = (100.0 * self.zeros).floor();
                (Distribution::Multinomial, format!("no value is negative and {zeros}% are 0"))
            }
            (_, Some(_), _) => (Distribution::Gaussian, "some values are negative".to_owned()),
            (_, None, false) => (Distribution::Gaussian, "most values are not 0".to_owned()),
        }
    }
}

impl NaiveBayes {
    /// The logarithm of the prior of a class without examples: a number, as all in a model are.
    pub(crate) const NEVER: f64 = -1e290;

    fn chosen<R: Rows>(&self, rows: &Weighed<'_, R>, data: &Dataset<'_>) -> Result<Chosen, DataError> {
        let look = match self.distribution {
            Distribution::Gaussian | Distribution::Bernoulli => None,
            Distribution::Auto | Distribution::Multinomial => Some(Look::at(rows)),
        };
        let (distribution, why) = match (self.distribution, &look) {
            (Distribution::Auto, Some(look)) => {
                let (distribution, why) = look.suggest();
                (distribution, format!(", for {why}"))
            }
            (given, _) => (given, String::new()),
        };
        if let (Distribution::Multinomial, Some((row, j, v))) =
            (distribution, look.and_then(|look| look.negative))
        {
            return Err(DataError::Unsuitable(format!(
                "row {}: feature {} is {v}, but multinomial naive Bayes counts, from 0 on; use the distribution gaussian, or scale by `minmax`",
                row + 1,
                data.features().name(j)
            )));
        }
        Ok(Chosen { distribution, why })
    }

    /// In one line.
    fn objective(&self, distribution: Distribution) -> String {
        let NaiveBayes { alpha, var_smoothing, binarize, .. } = self;
        let prior = if self.fit_prior { "P(c)·" } else { "" };
        match distribution {
            Distribution::Multinomial => {
                format!("P(c | x) ∝ {prior}Π p_cj^xⱼ, p_cj = (N_cj + α)/(N_c + αn), α = {alpha}")
            }
            Distribution::Bernoulli => format!(
                "P(c | x) ∝ {prior}Π P(xⱼ > {binarize} or not | c), P(xⱼ > {binarize} | c) = (N_cj + α)/(N_c + 2α), α = {alpha}"
            ),
            _ => format!(
                "P(c | x) ∝ {prior}Π N(xⱼ; μ_cj, σ²_cj + ε), ε = {var_smoothing:e} of the largest variance of a feature"
            ),
        }
    }

    fn estimate<R: Rows>(
        &self,
        rows: &Weighed<'_, R>,
        distribution: Distribution,
    ) -> Result<Body, DataError> {
        let masses = rows.masses();
        let priors = self.log_priors(&masses);
        let n_cols = rows.x.n_cols();
        let likelihood = match distribution {
            Distribution::Multinomial => {
                return Ok(Body::Linear(self.planes(rows.sums(|_, _, v| v), &priors, n_cols)));
            }
            Distribution::Bernoulli => self.bernoulli(rows, &masses),
            _ => self.gaussian(rows, &masses),
        };
        let large = "values are so large that their variance is no number; scale the features";
        Bayes::new(priors, n_cols, likelihood)
            .map(Body::Bayes)
            .ok_or_else(|| DataError::Unsuitable(large.to_owned()))
    }

    fn log_priors(&self, masses: &[f64]) -> Vec<f64> {
        let total: f64 = masses.iter().sum();
        let log = |&mass: &f64| match (self.fit_prior, mass > 0.0) {
            (_, false) => Self::NEVER,
            (true, true) => mass.ln() - total.ln(),
            (false, true) => -(masses.len() as f64).ln(),
        };
        masses.iter().map(log).collect()
    }

    /// One plane a class, or the difference of two.
    fn planes(&self, mut counts: Vec<f64>, priors: &[f64], n_cols: usize) -> Planes {
        let k = priors.len();
        counts.iter_mut().for_each(|count| *count += self.alpha);
        let mut totals = vec![0.0; k];
        for row in counts.chunks_exact(k) {
            totals.iter_mut().zip(row).for_each(|(total, count)| *total += count);
        }
        for row in counts.chunks_exact_mut(k) {
            row.iter_mut().zip(&totals).for_each(|(count, total)| *count = count.ln() - total.ln());
        }
        match priors {
            [first, second] => {
                let weights = counts.chunks_exact(2).map(|pair| pair[1] - pair[0]).collect();
                Planes { weights, bias: vec![second - first], n_cols, lifted: true }
            }
            _ => Planes { weights: counts, bias: priors.to_vec(), n_cols, lifted: true },
        }
    }

    fn bernoulli<R: Rows>(&self, rows: &Weighed<'_, R>, masses: &[f64]) -> Likelihood {
        let (k, threshold, alpha) = (masses.len(), self.binarize, self.alpha);
        // Zeros are not summed: above a negative threshold is what is not counted as below it.
        let zeros_count = 0.0 > threshold;
        let mut above = rows.sums(|_, _, v| f64::from(u8::from((v > threshold) != zeros_count)));
        let mut below = vec![0.0; above.len()];
        for (above, below) in above.chunks_exact_mut(k).zip(below.chunks_exact_mut(k)) {
            for ((above, below), mass) in above.iter_mut().zip(below).zip(masses) {
                let counted = if zeros_count { (mass - *above).max(0.0) } else { *above };
                let total = (mass + 2.0 * alpha).ln();
                *above = (counted + alpha).ln() - total;
                *below = ((mass - counted).max(0.0) + alpha).ln() - total;
            }
        }
        Likelihood::Bernoulli { threshold, above, below }
    }

    fn gaussian<R: Rows>(&self, rows: &Weighed<'_, R>, masses: &[f64]) -> Likelihood {
        let (means, mut variances) = rows.moments(masses);
        let largest = overall(masses, &means, &variances).into_iter().fold(0.0, f64::max);
        // Where nothing varies everything is exactly as it is.
        let more = (self.var_smoothing * largest).max(f64::MIN_POSITIVE);
        variances.iter_mut().for_each(|variance| *variance += more);
        Likelihood::Gaussian { means, variances }
    }

    fn schedule(&self) -> Schedule {
        let NaiveBayes { passes, seed, time_limit, .. } = *self;
        Schedule { passes, order: Order::Cyclic, seed, time_limit }
    }
}

/// What rows count, where not all count the same.
pub(super) fn counted_by(weight: Option<&ClassWeight>, data: &Dataset<'_>) -> String {
    ClassWeight::told(weight, data)
        .map(|told| format!("; a row counts {}", told.trim_start_matches("= ")))
        .unwrap_or_default()
}

/// The distribution that is taken, and why.
struct Chosen {
    distribution: Distribution,
    why: String,
}

impl Chosen {
    fn solver(&self) -> String {
        let sums = match self.distribution {
            Distribution::Gaussian => "means and variances by class",
            _ => "counts by class",
        };
        format!("{sums}; {}{}", self.distribution.name(), self.why)
    }
}

impl Learner for NaiveBayes {
    fn name(&self) -> &'static str {
        "naive-bayes"
    }

    fn parameters(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<(), ParamError> {
        let (alpha, share) = (self.alpha, self.var_smoothing);
        let usable = (1e-100..=1e100).contains(&alpha);
        ParamError::unless(
            usable,
            "alpha",
            "must be from 1e-100 to 1e100: a class must not rule out all rows with a feature that it had none of",
        )?;
        ParamError::unless((0.0..=1e100).contains(&share), "var_smoothing", "must be from 0 to 1e100")?;
        ParamError::unless(self.binarize.is_finite(), "binarize", "must be a finite number")?;
        self.schedule().check()?;
        ClassWeight::check(self.class_weight.as_ref())
    }

    fn demand(&self, data: &Dataset<'_>) -> Result<Demand, Error> {
        let k = data.classes().len();
        let weights = ClassWeight::weigh(self.class_weight.as_ref(), data)?;
        let chosen = with_rows!(data.x(), x => {
            self.chosen(&Weighed { x, y: data.y(), weights: weights.as_deref(), k }, data)
        })?;
        Ok(Demand::of(chosen.solver(), (data.n_rows(), 1), (data.n_features(), 5 * k), 0))
    }

    fn learn(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        self.check()?;
        task.check()?;
        if task.start.is_some() {
            return Err(Error::Start(
                "is of no use to naive-bayes, which counts from nothing in one go".to_owned(),
            ));
        }
        let (data, k) = (task.data, task.data.classes().len());
        check_memory(data.n_features(), k.saturating_mul(5))?;
        let weights = ClassWeight::weigh(self.class_weight.as_ref(), data)?;
        let mut monitor = Monitor::new(watch, self.time_limit, 1);
        monitor.start_pass(1, data.n_rows() as u64, None);
        let learned = || {
            with_rows!(data.x(), x => {
                let rows = Weighed { x, y: data.y(), weights: weights.as_deref(), k };
                let chosen = self.chosen(&rows, data)?;
                self.estimate(&rows, chosen.distribution).map(|body| (chosen, body))
            })
        };
        let (learned, fingerprint) = rayon::join(learned, || data.fingerprint());
        let (chosen, body) = learned?;
        monitor.go_on(data.n_rows());
        let (decision, link) = match k {
            2 => (Decision::Sign(Tie::default()), Link::Logistic),
            _ => (Decision::Highest, Link::Softmax),
        };
        let holdout_accuracy =
            task.holdout.map(|rows| weighted_accuracy(&body.predict(decision, k, rows.x()), rows));
        let report = Report {
            status: Status::Converged,
            rows: data.n_rows() as u64,
            holdout_accuracy,
            solver: Some(chosen.solver()),
            solver_passes: Some(if chosen.distribution == Distribution::Gaussian { 2 } else { 1 }),
            resumed: Some(false),
            ..about(
                self.name(),
                self.objective(chosen.distribution) + &counted_by(self.class_weight.as_ref(), data),
                self.parameters(),
            )
        };
        let scores = body.scores(data.x());
        let mut measure = Measure::new(body, decision);
        measure.score(data, &scores, None);
        let (body, report) = measure.complete(report, fingerprint, false);
        Ok(Fit { model: Model { link: Some(link), ..task.model(decision, body) }, report })
    }
}
