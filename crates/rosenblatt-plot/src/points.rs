//! What there is to see of each row.

use std::collections::HashMap;

use rosenblatt::{Body, DataError, Dataset, Decision, Expansion, Fit, Matrix, Rows, stratified_sample};

/// Rows with what a model says of them.
pub(crate) struct Seen {
    pub(crate) labels: Vec<u32>,
    pub(crate) predicted: Vec<u32>,
    /// y·g(x), where there is one score of two classes.
    pub(crate) margins: Option<Vec<f64>>,
    /// Rows the model is made of, and what they are called.
    pub(crate) support: Option<(Vec<bool>, &'static str)>,
    /// Whether g(x) = ±1 means something.
    pub(crate) has_margins: bool,
    /// Those that are drawn.
    pub(crate) shown: Vec<usize>,
}

/// More would only hide each other.
const MOST: usize = 1500;
/// Rows so near to the margin are on it, as in a model's report.
pub(crate) const ON_MARGIN: f64 = 1e-3;

impl Seen {
    pub(crate) fn of(fit: &Fit, data: &Dataset<'_>) -> Result<Self, DataError> {
        let model = &fit.model;
        let scores = model.scores(data.x())?;
        let predicted =
            scores.chunks(model.body.n_scores().max(1)).map(|scores| model.decide(scores) as u32).collect();
        let binary = matches!(model.decision, Decision::Sign(_)) && model.classes.len() == 2;
        let margins = binary.then(|| {
            let sign = |&class: &u32| if class == 1 { 1.0 } else { -1.0 };
            scores.iter().zip(data.y()).map(|(g, y)| g * sign(y)).collect::<Vec<f64>>()
        });
        let foreign = fit.report.rows == 0;
        let machine = matches!(&model.body, Body::Kernel(expansion) if expansion.is_machine());
        let has_margins = binary && (fit.report.support_vectors.is_some() || foreign && machine);
        let support = match &model.body {
            Body::Kernel(expansion) => {
                let name = if machine { "support vector" } else { "stored example" };
                Some((stored(fit, expansion, data)?, name))
            }
            Body::Linear(_) if has_margins => match &margins {
                Some(margins) => Some((nearest(fit, data, margins)?, "support vector")),
                None => None,
            },
            _ => None,
        };
        let share = MOST as f64 / data.n_rows().max(1) as f64;
        let shown = match share < 1.0 {
            true => stratified_sample(data.y(), share, 0),
            false => (0..data.n_rows()).collect(),
        };
        Ok(Seen { labels: data.y().to_vec(), predicted, margins, support, has_margins, shown })
    }

    pub(crate) fn is_wrong(&self, row: usize) -> bool {
        self.labels[row] != self.predicted[row]
    }

    pub(crate) fn wrong(&self) -> usize {
        (0..self.labels.len()).filter(|&row| self.is_wrong(row)).count()
    }
}

/// The rows as the learned part of a model sees them.
fn inner(fit: &Fit, data: &Dataset<'_>) -> Result<Dataset<'static>, DataError> {
    let all: Vec<usize> = (0..data.n_rows()).collect();
    let mut inner = data.select(&all);
    if let Some(scaling) = &fit.model.scaling {
        inner = inner.scaled(scaling)?;
    }
    match &fit.model.map {
        Some(map) => inner.mapped(map),
        None => Ok(inner),
    }
}

/// Hyperplanes do not know their support vectors, only how many there were of the rows they were trained on: these are the rows with the smallest margins, for others are beyond
/// (complementary slackness). Of other rows, those on the margin or behind it would be.
fn nearest(fit: &Fit, data: &Dataset<'_>, margins: &[f64]) -> Result<Vec<bool>, DataError> {
    let trained = inner(fit, data)?.fingerprint() == fit.report.data;
    let Some(count) = fit.report.support_vectors.filter(|_| trained) else {
        return Ok(margins.iter().map(|&m| m <= 1.0 + ON_MARGIN).collect());
    };
    let mut order: Vec<usize> = (0..margins.len()).collect();
    order.sort_by(|&a, &b| margins[a].total_cmp(&margins[b]));
    let mut is = vec![false; margins.len()];
    order.into_iter().take(count as usize).for_each(|row| is[row] = true);
    Ok(is)
}

/// Which rows are stored in a model: by their numbers where these are of such rows, else by their values.
fn stored(fit: &Fit, expansion: &Expansion, data: &Dataset<'_>) -> Result<Vec<bool>, DataError> {
    let inner = inner(fit, data)?;
    let mut is = vec![false; inner.n_rows()];
    // Numbers are of the rows of a file, of which these may be a part: what they say is looked at.
    let numbered = |(s, row): (usize, &u64)| {
        let row = usize::try_from(*row).ok().filter(|&row| row < is.len())?;
        (entries(inner.x(), row) == entries(expansion.rows(), s)).then_some(row)
    };
    let rows: Option<Vec<usize>> = expansion.numbers().iter().enumerate().map(numbered).collect();
    if let Some(rows) = rows.filter(|rows| rows.len() == expansion.len()) {
        rows.into_iter().for_each(|row| is[row] = true);
        return Ok(is);
    }
    let known: HashMap<Vec<(usize, u64)>, ()> =
        (0..expansion.len()).map(|s| (entries(expansion.rows(), s), ())).collect();
    Ok((0..inner.n_rows()).map(|i| known.contains_key(&entries(inner.x(), i))).collect())
}

fn entries(x: &Matrix<'_>, i: usize) -> Vec<(usize, u64)> {
    let mut entries = Vec::new();
    x.each(i, |j, v| {
        if v != 0.0 {
            entries.push((j, v.to_bits()));
        }
    });
    entries
}
