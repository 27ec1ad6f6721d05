//! Learners side by side on the same rows.

use std::ops::ControlFlow;
use std::time::Instant;

use serde::Serialize;

use crate::clock::Deadline;
use crate::data::{Dataset, Scale, Scaling, stratified_folds, stratified_split};
use crate::error::{Error, ParamError};
use crate::feature::{FeatureMap, MapKind};
use crate::learner::{Fit, Learner, Task};
use crate::report::Status;
use crate::statistics::{corrected_t, fold_interval, holm, mcnemar, wilson};
use crate::watch::{Progress, Watch};

/// How learners are compared: on rows held out, or on each of some folds in turn. Scaling and map are fitted to the training rows of each split alone.
///
/// ```
/// use rosenblatt::{Comparison, Dataset, Dense, Labels, Learner, Logistic, NaiveBayes};
/// let x = Dense::new((0..200).map(f64::from).collect::<Vec<_>>(), 2)?;
/// let data = Dataset::new(x, &Labels::new((0..100).map(|i| if i < 45 { "low" } else { "high" })))?;
/// let learners: Vec<Box<dyn Learner>> = vec![Box::new(Logistic::default()), Box::new(NaiveBayes::default())];
/// let compared = Comparison { folds: Some(5), ..Comparison::default() }.run(&learners, &data, None, &mut ())?;
/// assert_eq!(compared.contenders.len(), 2);
/// let best = compared.best().expect("all could learn");
/// assert!(best.accuracy > 0.9 && best.p.is_none());
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Folds of cross-validation; without, one split.
    pub folds: Option<usize>,
    /// The share of rows held out, where there are no folds and no rows of their own to test on.
    pub holdout: f64,
    /// Scales features first.
    pub scale: Option<Scale>,
    /// Maps features after that.
    pub map: Option<MapKind>,
    /// Predictions of a split that take longer than so many seconds are given up.
    pub time_limit: Option<f64>,
    /// Fixes the splits.
    pub seed: u64,
}

impl Default for Comparison {
    fn default() -> Self {
        Comparison { folds: None, holdout: 0.25, scale: None, map: None, time_limit: None, seed: 0 }
    }
}

/// p from which on a difference is taken for noise.
pub const NOISE: f64 = 0.05;

/// What became of all learners.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Rows of the training part; of folds the mean.
    pub train_rows: usize,
    /// Rows predicted, over all folds.
    pub test_rows: usize,
    /// Number of splits.
    pub splits: usize,
    /// The test that p are of.
    pub test: &'static str,
    /// The best first, those that could not learn last.
    pub contenders: Vec<Contender>,
    /// Whether it was stopped before all had their turn.
    pub stopped: bool,
}

/// What became of one learner.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// The name in the registry.
    pub algorithm: String,
    /// What it found, or why it did not.
    pub outcome: Result<Figures, String>,
}

/// Figures of one learner; times, sizes and certificates are means over the splits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// The share of test rows predicted rightly, each row counting once; over folds the mean of theirs.
    pub accuracy: f64,
    /// Where it lies with 95% confidence: Wilson's interval, or over folds that of the corrected t test.
    pub interval: (f64, f64),
    /// Of each split.
    pub accuracies: Vec<f64>,
    /// Accuracy on the training rows.
    pub train_accuracy: Option<f64>,
    /// Seconds of training.
    pub train_seconds: f64,
    /// Seconds of predicting the test rows.
    pub predict_seconds: f64,
    /// Bytes of the model file.
    pub bytes: u64,
    /// The smallest distance of a training row from the boundary, the least of all splits.
    pub margin: Option<f64>,
    /// The largest relative duality gap.
    pub gap: Option<f64>,
    /// How training ended: the last of its statuses that is not `converged`.
    pub status: Status,
    /// How likely it is to be this far behind the best by chance, corrected for the number of learners; `None` for the best itself.
    pub p: Option<f64>,
    /// Whether the difference from the best may be noise.
    pub noise: bool,
}

/// One way to part the rows.
struct Split {
    train: Vec<usize>,
    test: Vec<usize>,
}

/// Rows of a split as a learner sees them, and those it is tested on as they are.
struct Rows {
    train: Dataset<'static>,
    test: Dataset<'static>,
    scaling: Option<Scaling>,
    map: Option<FeatureMap>,
}

/// What one learner made of one split.
struct Round {
    right: Vec<bool>,
    fit: Fit,
    train: f64,
    predict: f64,
    bytes: u64,
}

impl Round {
    fn accuracy(&self) -> f64 {
        self.right.iter().filter(|right| **right).count() as f64 / self.right.len().max(1) as f64
    }
}

impl Comparison {
    /// Lets each learner learn and predict; `test` are rows to test on, with the classes of the data. Who looks on may stop it, and has then what was done until then.
    pub fn run(
        &self,
        learners: &[Box<dyn Learner>],
        data: &Dataset<'_>,
        test: Option<&Dataset<'_>>,
        watch: &mut dyn Watch,
    ) -> Result<Compared, Error> {
        let splits = self.splits(data, test)?;
        // One split is made ready once, folds whenever they are needed: all of them at once would be many copies of the data.
        let once = match &splits[..] {
            [split] => Some(self.rows(split, data, test)?),
            _ => None,
        };
        let mut watch = Stopped { watch, stopped: false };
        let mut results: Vec<(String, Result<Vec<Round>, String>)> = Vec::new();
        for learner in learners {
            let each = splits.iter().map(|split| {
                let rows = match &once {
                    Some(rows) => rows,
                    None => &self.rows(split, data, test).map_err(|error| error.to_string())?,
                };
                self.round(learner.as_ref(), rows, &mut watch)
            });
            let rounds: Result<Vec<Round>, String> = each.collect();
            if watch.stopped {
                break;
            }
            results.push((learner.name().to_owned(), rounds));
        }
        let share =
            splits.iter().map(|split| split.test.len() as f64 / split.train.len() as f64).sum::<f64>()
                / splits.len() as f64;
        Ok(Compared {
            train_rows: splits.iter().map(|split| split.train.len()).sum::<usize>() / splits.len(),
            test_rows: splits.iter().map(|split| split.test.len()).sum(),
            splits: splits.len(),
            test: if splits.len() == 1 { "McNemar" } else { "corrected resampled t" },
            contenders: judged(results, share),
            stopped: watch.stopped,
        })
    }

    fn splits(&self, data: &Dataset<'_>, test: Option<&Dataset<'_>>) -> Result<Vec<Split>, Error> {
        if let Some(test) = test {
            return Ok(vec![Split {
                train: (0..data.n_rows()).collect(),
                test: (0..test.n_rows()).collect(),
            }]);
        }
        let Some(folds) = self.folds else {
            let fraction = self.holdout > 0.0 && self.holdout < 1.0;
            ParamError::unless(fraction, "holdout", "must be a fraction between 0 and 1")?;
            let split = stratified_split(data.y(), self.holdout, self.seed);
            let enough = !split.holdout.is_empty() && !split.train.is_empty();
            ParamError::unless(enough, "holdout", "there are too few rows to hold any out")?;
            return Ok(vec![Split { train: split.train, test: split.holdout }]);
        };
        let room = (2..=data.n_rows()).contains(&folds);
        ParamError::unless(room, "folds", "must be from 2 to the number of rows")?;
        let of = stratified_folds(data.y(), folds, self.seed);
        let part = |fold: usize| {
            let (test, train) = (0..data.n_rows()).partition(|&i| of[i] == fold);
            Split { train, test }
        };
        Ok((0..folds).map(part).collect())
    }

    fn rows(&self, split: &Split, data: &Dataset<'_>, test: Option<&Dataset<'_>>) -> Result<Rows, Error> {
        let mut train = data.select(&split.train);
        let scaling = self.scale.map(|kind| Scaling::fit(kind, train.x()));
        if let Some(scaling) = &scaling {
            train = train.scaled(scaling)?;
        }
        let map = self.map.map(|kind| FeatureMap::fit(kind, &train, self.seed)).transpose()?;
        if let Some(map) = &map {
            train = train.mapped(map)?;
        }
        Ok(Rows { train, test: test.unwrap_or(data).select(&split.test), scaling, map })
    }

    fn round(&self, learner: &dyn Learner, rows: &Rows, watch: &mut Stopped<'_>) -> Result<Round, String> {
        let task = Task { scaling: rows.scaling.as_ref(), map: rows.map.as_ref(), ..Task::new(&rows.train) };
        let began = Instant::now();
        let fit = learner.learn(&task, watch).map_err(|error| why(&error))?;
        let train = began.elapsed().as_secs_f64();
        let (began, deadline) = (Instant::now(), Deadline::after(self.time_limit.unwrap_or(f64::INFINITY)));
        let x = fit.model.prepare(rows.test.x()).map_err(|error| error.to_string())?;
        let scores = fit.model.body.scores_while(&x, || !deadline.is_over());
        let scores = scores.ok_or("predicting took longer than the time limit")?;
        let predicted = fit.model.decision.decide_all(&scores, fit.model.classes.len());
        let predict = began.elapsed().as_secs_f64();
        let right = predicted.iter().zip(rows.test.y()).map(|(p, y)| p == y).collect();
        let bytes = fit.to_bytes().map_or(0, |bytes| bytes.len() as u64);
        Ok(Round { right, fit, train, predict, bytes })
    }
}

/// The first sentence of an error: tables have no room for proofs.
fn why(error: &Error) -> String {
    match error {
        Error::NotSeparable { .. } | Error::Inseparable { .. } => "no plane separates the classes".to_owned(),
        other => other.to_string(),
    }
}

/// Accuracies, and which of them differ from the best, which comes first.
fn judged(results: Vec<(String, Result<Vec<Round>, String>)>, share: f64) -> Vec<Contender> {
    let (mut able, mut unable) = (Vec::new(), Vec::new());
    for (algorithm, result) in results {
        match result {
            Ok(rounds) => able.push((figures(&rounds, share), algorithm, rounds)),
            Err(why_not) => unable.push(Contender { algorithm, outcome: Err(why_not) }),
        }
    }
    // As good ones stay in the order they were given in: times would not be the same twice.
    able.sort_by(|a, b| b.0.accuracy.total_cmp(&a.0.accuracy));
    let p: Vec<f64> = match &able[..] {
        [best, others @ ..] => others.iter().map(|other| difference(&best.2, &other.2, share)).collect(),
        [] => Vec::new(),
    };
    for (figures, p) in able.iter_mut().skip(1).map(|entry| &mut entry.0).zip(holm(&p)) {
        (figures.p, figures.noise) = (Some(p), p > NOISE);
    }
    let able = able.into_iter().map(|(figures, algorithm, _)| Contender { algorithm, outcome: Ok(figures) });
    able.chain(unable).collect()
}

/// p of two learners on the same splits.
fn difference(best: &[Round], other: &[Round], share: f64) -> f64 {
    if let ([best], [other]) = (best, other) {
        let only =
            |a: &Round, b: &Round| a.right.iter().zip(&b.right).filter(|(a, b)| **a && !**b).count() as u64;
        return mcnemar(only(best, other), only(other, best));
    }
    let differences: Vec<f64> = best.iter().zip(other).map(|(a, b)| a.accuracy() - b.accuracy()).collect();
    corrected_t(&differences, share)
}

fn figures(rounds: &[Round], share: f64) -> Figures {
    let n = rounds.len() as f64;
    let accuracies: Vec<f64> = rounds.iter().map(Round::accuracy).collect();
    let mean = |f: &dyn Fn(&Round) -> f64| rounds.iter().map(f).sum::<f64>() / n;
    let all = |f: &dyn Fn(&Round) -> Option<f64>| -> Option<Vec<f64>> { rounds.iter().map(f).collect() };
    let (right, rows) = rounds.iter().fold((0, 0), |(right, rows), round| {
        (right + round.right.iter().filter(|right| **right).count() as u64, rows + round.right.len() as u64)
    });
    let unfinished =
        rounds.iter().map(|round| round.fit.report.status).rfind(|status| *status != Status::Converged);
    Figures {
        accuracy: mean(&Round::accuracy),
        interval: fold_interval(&accuracies, share).unwrap_or_else(|| wilson(right, rows)),
        accuracies,
        train_accuracy: all(&|round| round.fit.report.train_accuracy).map(|all| all.iter().sum::<f64>() / n),
        train_seconds: mean(&|round| round.train),
        predict_seconds: mean(&|round| round.predict),
        bytes: mean(&|round| round.bytes as f64) as u64,
        margin: all(&|round| round.fit.report.margin)
            .map(|all| all.into_iter().fold(f64::INFINITY, f64::min)),
        gap: all(&|round| round.fit.report.gap).map(|all| all.into_iter().fold(0.0, f64::max)),
        status: unfinished.unwrap_or(Status::Converged),
        p: None,
        noise: false,
    }
}

impl Compared {
    /// The figures of the best, if any could learn.
    pub fn best(&self) -> Option<&Figures> {
        self.contenders.first().and_then(|first| first.outcome.as_ref().ok())
    }
}

/// Remembers that somebody said stop: what was then under way is not like the rest.
struct Stopped<'w> {
    watch: &'w mut dyn Watch,
    stopped: bool,
}

impl Watch for Stopped<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.stopped |= self.watch.progress(progress).is_break();
        if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
