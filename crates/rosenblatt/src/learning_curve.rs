//! Accuracy by pass and by number of rows: what shows whether more passes or more rows would help, and where a learner begins to learn its rows by heart.

use serde::{Deserialize, Serialize};

use crate::data::{DataError, Dataset, Scale, Scaling, stratified_sample};
use crate::error::Error;
use crate::feature::{FeatureMap, MapKind};
use crate::learner::{Fit, Learner, Task};
use crate::metrics::weighted_accuracy;
use crate::watch::Watch;

/// A learner and what is done to rows before it sees them.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, LearningCurve, Perceptron, CurveRows};
/// let values: Vec<f64> = (0..40).flat_map(|i| [f64::from(i), f64::from((i * 7) % 5)]).collect();
/// let labels = Labels::new((0..40).map(|i| if i < 20 { "low" } else { "high" }));
/// let all = Dataset::new(Dense::new(values, 2)?, &labels)?;
/// let (train, test) = (all.select(&(0..40).step_by(2).collect::<Vec<_>>()), all.select(&(1..40).step_by(2).collect::<Vec<_>>()));
///
/// let learner = Perceptron { passes: 5, ..Perceptron::default() };
/// let curve = LearningCurve::new(&learner);
/// let rows = CurveRows { train: &train, holdout: None, test: Some(&test) };
/// let by_rows = curve.by_rows(&rows, &[0.5, 1.0], &mut ())?;
/// assert_eq!(by_rows.iter().map(|point| point.rows).collect::<Vec<_>>(), [10, 20]);
/// let by_pass = curve.by_pass(&rows, &mut ())?;
/// assert!(by_pass.iter().all(|point| point.test_accuracy.is_some()));
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct LearningCurve<'a> {
    /// The learner.
    pub learner: &'a dyn Learner,
    /// How features are scaled: fitted to the rows of each fit alone.
    pub scale: Option<Scale>,
    /// What they are mapped to after that, fitted likewise.
    pub map: Option<MapKind>,
    /// Chooses which rows are in a part of all.
    pub seed: u64,
}

/// Rows before scaling and map.
#[derive(Clone, Copy, Debug)]
pub struct CurveRows<'a> {
    /// To learn from.
    pub train: &'a Dataset<'a>,
    /// To decide which pass is kept.
    pub holdout: Option<&'a Dataset<'a>>,
    /// That decide nothing.
    pub test: Option<&'a Dataset<'a>>,
}

/// What a fit on some of the rows came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizePoint {
    /// Training rows.
    pub rows: usize,
    /// Accuracy on these.
    pub train_accuracy: f64,
    /// Accuracy on rows held out.
    pub holdout_accuracy: Option<f64>,
    /// Accuracy on rows that decided nothing.
    pub test_accuracy: Option<f64>,
}

/// What a pass came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassPoint {
    /// Counted from 1.
    pub pass: usize,
    /// Accuracy on the training rows after it.
    pub train_accuracy: Option<f64>,
    /// Accuracy on rows held out.
    pub holdout_accuracy: Option<f64>,
    /// Accuracy on rows that decided nothing.
    pub test_accuracy: Option<f64>,
}

/// Rows as a fit sees them, and what made them so.
struct Prepared {
    scaling: Option<Scaling>,
    map: Option<FeatureMap>,
    train: Dataset<'static>,
}

impl<'a> LearningCurve<'a> {
    /// Of rows as they are.
    pub fn new(learner: &'a dyn Learner) -> Self {
        LearningCurve { learner, scale: None, map: None, seed: 0 }
    }

    /// A fit for each share of the training rows; a smaller one is a part of a larger one. Shares of as many rows as another are left out, and so is what comes
    /// after an interruption.
    pub fn by_rows(
        &self,
        rows: &CurveRows<'_>,
        shares: &[f64],
        watch: &mut dyn Watch,
    ) -> Result<Vec<SizePoint>, Error> {
        let mut points: Vec<SizePoint> = Vec::new();
        for &share in shares {
            let sample = stratified_sample(rows.train.y(), share, self.seed);
            if points.iter().any(|point| point.rows == sample.len()) {
                continue;
            }
            let (fit, _) = self.fit(&rows.train.select(&sample), rows.holdout, watch)?;
            let on = |data: &Dataset<'_>| -> Result<f64, DataError> {
                Ok(weighted_accuracy(&fit.model.predict(data.x())?, data))
            };
            points.push(SizePoint {
                rows: sample.len(),
                train_accuracy: on(&rows.train.select(&sample))?,
                holdout_accuracy: rows.holdout.map(on).transpose()?,
                test_accuracy: rows.test.map(on).transpose()?,
            });
            if fit.report.status == crate::report::Status::Interrupted {
                break;
            }
        }
        Ok(points)
    }

    /// Each pass of one fit. A run is the same whatever rows are held out, so that a second one, with the test rows in their place, tells of these. Learners that make no passes over
    /// rows have no points.
    pub fn by_pass(&self, rows: &CurveRows<'_>, watch: &mut dyn Watch) -> Result<Vec<PassPoint>, Error> {
        let mut points: Vec<PassPoint> = Vec::new();
        for (is_test, held) in [(false, rows.holdout), (true, rows.test)] {
            let Some(held) = held else { continue };
            let (fit, _) = self.fit(rows.train, Some(held), watch)?;
            for pass in fit.report.passes.iter().filter(|pass| pass.holdout_accuracy.is_some()) {
                if points.iter().all(|point| point.pass != pass.pass) {
                    let (pass, train_accuracy) = (pass.pass, pass.train_accuracy);
                    points.push(PassPoint {
                        pass,
                        train_accuracy,
                        holdout_accuracy: None,
                        test_accuracy: None,
                    });
                }
                for point in points.iter_mut().filter(|point| point.pass == pass.pass) {
                    let accuracy =
                        if is_test { &mut point.test_accuracy } else { &mut point.holdout_accuracy };
                    *accuracy = pass.holdout_accuracy;
                }
            }
        }
        Ok(points)
    }

    /// Scaling and map know the rows to learn from, and no others.
    fn fit(
        &self,
        train: &Dataset<'_>,
        holdout: Option<&Dataset<'_>>,
        watch: &mut dyn Watch,
    ) -> Result<(Fit, Prepared), Error> {
        let all: Vec<usize> = (0..train.n_rows()).collect();
        let mut prepared = Prepared { scaling: None, map: None, train: train.select(&all) };
        prepared.scaling = self.scale.map(|kind| Scaling::fit(kind, train.x()));
        if let Some(scaling) = &prepared.scaling {
            prepared.train = prepared.train.scaled(scaling)?;
        }
        prepared.map = self.map.map(|kind| FeatureMap::fit(kind, &prepared.train, self.seed)).transpose()?;
        if let Some(map) = &prepared.map {
            prepared.train = prepared.train.mapped(map)?;
        }
        let holdout = holdout.map(|rows| prepared.apply(rows)).transpose()?;
        let task = Task {
            data: &prepared.train,
            holdout: holdout.as_ref(),
            scaling: prepared.scaling.as_ref(),
            map: prepared.map.as_ref(),
            start: None,
        };
        let fit = self.learner.learn(&task, watch)?;
        Ok((fit, prepared))
    }
}

impl Prepared {
    fn apply(&self, rows: &Dataset<'_>) -> Result<Dataset<'static>, DataError> {
        let all: Vec<usize> = (0..rows.n_rows()).collect();
        let mut rows = rows.select(&all);
        if let Some(scaling) = &self.scaling {
            rows = rows.scaled(scaling)?;
        }
        match &self.map {
            Some(map) => rows.mapped(map),
            None => Ok(rows),
        }
    }
}
