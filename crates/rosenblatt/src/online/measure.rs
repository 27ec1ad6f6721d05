//! What a sweep over the rows tells about a model.

use crate::data::{Dataset, Fingerprint, FingerprintHasher};
use crate::geometry::{Geometry, Leads, Lengths};
use crate::model::{Body, Decision};
use crate::report::Report;

/// Accuracy, margin, radius and fingerprint of rows that come in blocks, in one sweep and two short ones.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, Learner, Order, Perceptron};
/// let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0, -2.0, -3.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["1", "-1", "1"]))?;
/// let learner = Perceptron { order: Order::Cyclic, pocket: false, ..Perceptron::default() };
/// let mut run = learner.run(data.classes().clone(), 2, None)?;
/// let status = loop {
///     run.learn(&data)?; // in as many blocks as one likes
///     if let Some(status) = run.end_pass() {
///         break status;
///     }
/// };
/// let mut measure = run.measure();
/// measure.rows(&data);
/// measure.labels(data.y());
/// let fit = run.finish(status, data.features().clone(), None, Some(measure));
/// assert_eq!(fit, learner.fit(&data, &mut ())?);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
pub struct Measure {
    body: Body,
    decision: Decision,
    right: f64,
    all: f64,
    /// The smallest y·g(x) of a binary problem.
    smallest: f64,
    /// Those of each two of several classes.
    leads: Option<Leads>,
    radius: Option<f64>,
    scored: bool,
    /// ‖w‖² of the one plane, where it is known.
    square: Option<f64>,
    /// Whether g(x) = ±1 are the edges of a corridor.
    edged: bool,
    hasher: FingerprintHasher,
}

impl Measure {
    pub(crate) fn new(body: Body, decision: Decision) -> Self {
        Measure {
            leads: Leads::of(&body, decision),
            body,
            decision,
            right: 0.0,
            all: 0.0,
            smallest: f64::INFINITY,
            radius: None,
            scored: false,
            square: None,
            edged: false,
            hasher: FingerprintHasher::default(),
        }
    }

    /// The same for a plane of known length.
    pub(crate) fn with_square(self, square: Option<f64>) -> Self {
        Measure { square, ..self }
    }

    /// The same for a loss with an edge where g(x) = ±1.
    pub(crate) fn with_edges(self, edged: bool) -> Self {
        Measure { edged, ..self }
    }

    /// Measures the rows that follow.
    pub fn rows(&mut self, block: &Dataset<'_>) {
        self.hasher.rows(block);
        self.score(block, &self.body.scores(block.x()), None);
    }

    /// Once all rows are measured: the classes of the rows, block by block from the first.
    pub fn labels(&mut self, classes: &[u32]) {
        self.hasher.labels(classes);
    }

    /// Once all classes are measured, where rows have weights: those of the rows, block by block from the first.
    pub fn weights(&mut self, weights: &[f64]) {
        self.hasher.weights(weights);
    }

    /// Says how many entries would be stored if all rows were kept at once, in whatever form.
    pub fn stored(&mut self, entries: u64) {
        self.hasher.set_entries(entries);
    }

    /// The rows that follow, by their scores. Without any, as when a vote was stopped, there is no accuracy.
    pub(crate) fn score(&mut self, block: &Dataset<'_>, scores: &[f64], known_radius: Option<f64>) {
        self.scored = true;
        let k = self.body.n_scores().max(1);
        for (i, (scores, &y)) in scores.chunks_exact(k).zip(block.y()).enumerate() {
            let weight = block.weight(i);
            let right = self.decision.decide(scores, block.classes().len()) == y as usize;
            self.all += weight;
            self.right += if right { weight } else { 0.0 };
        }
        if let Some(radius) = known_radius.or_else(|| self.body.radius(block.x())) {
            self.radius = Some(self.radius.map_or(radius, |before| before.max(radius)));
        }
        match self.decision {
            Decision::Sign(_) => self.smallest = self.smallest.min(Geometry::smallest(block, scores)),
            _ => self.leads.iter_mut().for_each(|leads| leads.add(scores, block.y())),
        }
    }

    /// Of binary models with one plane.
    fn geometry(&self) -> Option<Geometry> {
        let (Decision::Sign(_), true) = (self.decision, self.scored) else { return None };
        Some(Geometry::new(Lengths::known(&self.body, self.square)?, self.smallest, self.radius?))
    }

    /// Of models with a plane a class.
    fn margin_between(&self) -> Option<f64> {
        let (Some(leads), Body::Linear(planes), true) = (&self.leads, &self.body, self.scored) else {
            return None;
        };
        leads.margin(planes)
    }

    /// What identifies the rows that were shown.
    pub(crate) fn fingerprint(&mut self, n_features: usize) -> Fingerprint {
        std::mem::take(&mut self.hasher).finish(n_features)
    }

    /// The report with what was measured, and the model that was.
    pub(crate) fn complete(self, report: Report, data: Fingerprint, bounded: bool) -> (Body, Report) {
        let geometry = self.geometry();
        let bound = geometry.as_ref().filter(|_| bounded).and_then(Geometry::mistake_bound);
        let accuracy = if self.all > 0.0 { self.right / self.all } else { 0.0 };
        let report = Report {
            train_accuracy: self.scored.then_some(accuracy),
            margin: geometry.as_ref().and_then(|geometry| geometry.margin).or_else(|| self.margin_between()),
            corridor: geometry
                .as_ref()
                .filter(|_| self.edged)
                .map(|geometry| 2.0 / geometry.norm)
                .filter(|corridor| corridor.is_finite()),
            lifted_margin: geometry.as_ref().and_then(|geometry| geometry.lifted_margin),
            radius: self.radius.filter(|radius| radius.is_finite()),
            mistake_bound: bound,
            data,
            ..report.counted()
        };
        (self.body, report)
    }
}
