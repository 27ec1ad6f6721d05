//! What was learned, and how it predicts.

mod arrays;
mod ballot;
mod bayes;
mod decision;
mod expansion;
mod explain;
mod file;
mod history;
mod layers;
mod link;
mod planes;

pub use ballot::Ballot;
pub(crate) use ballot::RowStore;
pub use bayes::Bayes;
pub(crate) use bayes::Likelihood;
pub use decision::{Decision, Tie, pairs};
pub use expansion::Expansion;
pub(crate) use expansion::{Sum, whole};
pub use explain::{Contribution, Explanation, Similar};
pub use file::ModelError;
pub(crate) use history::{History, Update};
pub use layers::Layers;
pub use link::Link;
pub use planes::Planes;
pub(crate) use planes::{add_to_all, scores};

use std::borrow::Cow;

use rayon::prelude::*;

use crate::data::{Classes, DataError, Features, Matrix, Rows, Scaling};
use crate::feature::FeatureMap;
use crate::with_rows;

/// The few forms a learned classifier has.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Hyperplanes.
    Linear(Planes),
    /// Lists of voting weight vectors, one for each binary problem or one for all classes.
    Voted(Vec<Ballot>),
    /// Kernel values with stored examples.
    Kernel(Expansion),
    /// Distributions of each feature within each class.
    Bayes(Bayes),
    /// A network of units.
    Layers(Layers),
}

/// Rows scored by one task; fixed, so that results do not depend on the number of threads.
const BLOCK: usize = 512;

impl Body {
    /// Number of scores per row.
    pub fn n_scores(&self) -> usize {
        match self {
            Body::Linear(planes) => planes.k(),
            Body::Voted(ballots) => ballots.iter().map(Ballot::planes).sum(),
            Body::Kernel(expansion) => expansion.planes(),
            Body::Bayes(bayes) => bayes.n_scores(),
            Body::Layers(layers) => layers.n_scores(),
        }
    }

    /// Number of features.
    pub fn n_cols(&self) -> usize {
        match self {
            Body::Linear(planes) => planes.n_cols(),
            Body::Voted(ballots) => ballots.first().map_or(0, |ballot| ballot.rows.n_cols()),
            Body::Kernel(expansion) => expansion.rows.n_cols(),
            Body::Bayes(bayes) => bayes.n_cols(),
            Body::Layers(layers) => layers.n_cols(),
        }
    }

    /// The hyperplanes; for a voted model the mean of its vectors, which is what can be looked at. Sums of kernel values, distributions and networks have none.
    pub fn planes(&self) -> Option<Planes> {
        match self {
            Body::Linear(planes) => Some(planes.clone()),
            Body::Voted(ballots) => {
                Some(Planes::joined(&ballots.iter().map(Ballot::mean).collect::<Vec<_>>()))
            }
            Body::Kernel(_) | Body::Bayes(_) | Body::Layers(_) => None,
        }
    }

    /// The scores of all rows, row after row.
    pub fn scores(&self, x: &Matrix<'_>) -> Vec<f64> {
        self.scores_while(x, || true).unwrap_or_default()
    }

    /// The same, unless told to stop: a vote over many rows takes as long as a run.
    pub(crate) fn scores_while(&self, x: &Matrix<'_>, go_on: impl Fn() -> bool + Sync) -> Option<Vec<f64>> {
        if let Body::Kernel(expansion) = self {
            return expansion.scores_while(x, go_on);
        }
        if let Body::Layers(layers) = self {
            return layers.scores_while(x, go_on);
        }
        let k = self.n_scores();
        let mut all = vec![0.0; x.n_rows() * k];
        let finished = with_rows!(x, x => all.par_chunks_mut(BLOCK * k).enumerate().all(|(block, out)| {
            go_on() && { self.score_block(x, block * BLOCK, out); true }
        }));
        finished.then_some(all)
    }

    fn score_block<R: Rows>(&self, x: &R, first: usize, out: &mut [f64]) {
        let rows = (first..).zip(out.chunks_mut(self.n_scores()));
        match self {
            Body::Linear(planes) => rows.for_each(|(i, out)| planes.scores(x, i, out)),
            Body::Voted(ballots) => {
                let mut features = vec![0.0; x.n_cols().max(self.n_cols())];
                for (i, mut out) in rows {
                    x.each(i, |j, v| features[j] = v);
                    for ballot in ballots {
                        let (mine, rest) = out.split_at_mut(ballot.planes());
                        ballot.scores(&features, mine);
                        out = rest;
                    }
                    x.each(i, |j, _| features[j] = 0.0);
                }
            }
            Body::Bayes(bayes) => bayes.scores(x, first, out),
            Body::Kernel(_) | Body::Layers(_) => {}
        }
    }

    /// The same, and what goes wrong with its kernel is told to nobody else: others may predict with it at the same time. Only kernels of users are copied, whose values cost more.
    pub(crate) fn watched(&self) -> Cow<'_, Body> {
        match self {
            Body::Kernel(expansion) if expansion.kernel.kernel().is_none() => {
                let kernel = expansion.kernel.watched();
                Cow::Owned(Body::Kernel(Expansion { kernel, ..expansion.clone() }))
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// The class of each row.
    pub(crate) fn predict(&self, decision: Decision, n_classes: usize, x: &Matrix<'_>) -> Vec<u32> {
        decision.decide_all(&self.scores(x), n_classes)
    }

    /// Tells, once, if a kernel value of one of these rows was no number; the first of them is number `first`, from 0.
    pub(crate) fn sound(&self, x: &Matrix<'_>, first: usize) -> Result<(), DataError> {
        match self {
            Body::Kernel(expansion) => expansion.kernel.sound(x, first as u64, &expansion.rows),
            _ => Ok(()),
        }
    }
}

/// A classifier: the learned body and everything needed to use it on new data.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, Learner, Perceptron};
/// let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0, -2.0, -3.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["yes", "no", "yes"]))?;
/// let model = Perceptron::default().fit(&data, &mut ())?.model;
///
/// let new = Dense::new(vec![1.0, -5.0], 2)?.into();
/// let class = model.predict(&new)?[0];
/// assert_eq!(model.classes[class as usize].to_string(), "yes");
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The classes in class order.
    pub classes: Classes,
    /// The features it expects.
    pub features: Features,
    /// What is done to the features first.
    pub scaling: Option<Scaling>,
    /// What they are mapped to after that.
    pub map: Option<FeatureMap>,
    /// How scores decide.
    pub decision: Decision,
    /// The learned part.
    pub body: Body,
    /// How its scores become probabilities, if they do.
    pub link: Option<Link>,
}

impl Model {
    /// The features as the learned part sees them, copied only where something changes. Sparse rows may be narrower than the
    /// model; wider ones are refused.
    pub fn prepare<'x, 'a>(&self, x: &'x Matrix<'a>) -> Result<Cow<'x, Matrix<'a>>, DataError> {
        let prepared = self.scaled_and_mapped(x)?;
        if let Body::Kernel(expansion) = &self.body {
            expansion.check_new(prepared.as_ref())?;
        }
        if let Body::Layers(_) = &self.body {
            Layers::check_rows(prepared.as_ref())?;
        }
        Ok(prepared)
    }

    fn scaled_and_mapped<'x, 'a>(&self, x: &'x Matrix<'a>) -> Result<Cow<'x, Matrix<'a>>, DataError> {
        if let Some(filled) = self.features.filled.as_ref().filter(|_| x.has_missing()) {
            let complete = filled.apply(self.widened(x)?)?;
            return self.scaled_and_mapped(&complete).map(|x| Cow::Owned(x.into_owned()));
        }
        x.check_values()?;
        if self.features.open
            && x.n_cols() > self.features.count
            && self.scaling.is_none()
            && self.map.is_none()
        {
            return Ok(match &self.body {
                // What is in no stored row counts, too: it adds to distances.
                Body::Kernel(_) => Cow::Borrowed(x),
                _ => Cow::Owned(x.narrowed(self.features.count)?),
            });
        }
        if x.n_cols() == self.features.count && self.scaling.is_none() {
            return match &self.map {
                Some(map) => map.apply(x).map(Cow::Owned),
                None => Ok(Cow::Borrowed(x)),
            };
        }
        let mut x = self.widened(x)?;
        if let Some(scaling) = &self.scaling {
            x = scaling.apply(x)?;
        }
        match &self.map {
            Some(map) => map.apply(&x).map(Cow::Owned),
            None => Ok(Cow::Owned(x)),
        }
    }

    /// A copy with as many features as the model has, of sparse rows that have fewer.
    fn widened<'a>(&self, x: &Matrix<'a>) -> Result<Matrix<'a>, DataError> {
        let mut x = x.clone();
        match &mut x {
            Matrix::CsrF32(x) => x.widen(self.features.count),
            Matrix::CsrF64(x) => x.widen(self.features.count),
            Matrix::DenseF32(_) | Matrix::DenseF64(_) => {}
        }
        match x.n_cols() == self.features.count {
            true => Ok(x),
            false => Err(DataError::Features { found: x.n_cols(), expected: self.features.count }),
        }
    }

    /// How many features the learned part has.
    pub fn n_inner(&self) -> usize {
        self.map.as_ref().map_or(self.features.count, FeatureMap::n_outputs)
    }

    /// The name of feature `j` of the learned part.
    pub fn inner_name(&self, j: usize) -> String {
        self.map.as_ref().map_or_else(|| self.features.name(j), |map| map.name(j))
    }

    /// The scores of all rows, [`n_scores`](Body::n_scores) for each, row after row.
    pub fn scores(&self, x: &Matrix<'_>) -> Result<Vec<f64>, DataError> {
        let (x, body) = (self.prepare(x)?, self.body.watched());
        let scores = body.scores(&x);
        body.sound(&x, 0).map(|()| scores)
    }

    /// The number of the predicted class of each row.
    pub fn predict(&self, x: &Matrix<'_>) -> Result<Vec<u32>, DataError> {
        Ok(self.decision.decide_all(&self.scores(x)?, self.classes.len()))
    }

    /// The probability of each class, given one row's scores; nothing where these do not tell.
    ///
    /// ```
    /// use rosenblatt::{Dataset, Dense, Labels, Learner, Logistic};
    /// let x = Dense::new(vec![1.0, 2.0, -1.0, -2.0], 1)?;
    /// let model = Logistic::default().fit(&Dataset::new(x, &Labels::new(["b", "b", "a", "a"]))?, &mut ())?.model;
    /// let scores = model.scores(&Dense::new(vec![0.5], 1)?.into())?;
    /// let p = model.probabilities(&scores).expect("logistic regression has them");
    /// assert!(p[1] > 0.5 && (p[0] + p[1] - 1.0).abs() < 1e-12);
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn probabilities(&self, scores: &[f64]) -> Option<Vec<f64>> {
        self.link.as_ref()?.probabilities(self.decision, scores)
    }

    /// The class that one row's scores choose.
    pub fn decide(&self, scores: &[f64]) -> usize {
        self.decision.decide(scores, self.classes.len())
    }
}
