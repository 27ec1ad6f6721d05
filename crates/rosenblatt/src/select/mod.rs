//! Choosing a model: cross-validation over algorithms, maps and parameters.
//!
//! A candidate's score is the mean accuracy on rows that were left out, fold after fold. Whatever is fitted to rows before a learner sees them (filling in, scaling, maps) is fitted in each fold without those left out
//! (Hastie, Tibshirani, Friedman 2009, section 7.10.2, on what happens otherwise). Candidates that differ in C alone are a path: along it each fit starts where the last one ended, and of kernel machines all
//! folds and all C share kernel values, so that a path costs little more than its hardest point.
//!
//! Grid and random search: Bergstra and Bengio (2012), JMLR 13. Successive halving: Jamieson and Talwalkar (2016), AISTATS. The rule of one standard error: Breiman, Friedman, Olshen, Stone (1984), section 3.4.3.
//! Nested scores: Varma and Simon (2006), BMC Bioinformatics 7.

mod choose;
mod folds;
mod paths;
mod prepare;
mod queue;
mod range;
mod space;

pub use folds::grouped_folds;
pub use range::Range;
pub use space::{Axis, Family, Space};

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::data::{DataError, Dataset, stratified_sample};
use crate::error::{Error, ParamError};
use crate::learner::Fit;
use crate::metrics::weighted_accuracy;
use crate::watch::Watch;
use choose::{choose, rank};
use paths::{Results, Runner};
use prepare::fit_on_all;
use queue::Shared;
use space::Candidate;

/// Which candidates are tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Strategy {
    /// Every combination.
    #[default]
    Grid,
    /// So many, drawn at random.
    Random {
        /// How many.
        draws: usize,
    },
    /// Every combination on a few rows, the better of them on more, and so on: each round has `factor` times the rows and that part of the candidates.
    Halving {
        /// From 2; 3 is usual.
        factor: usize,
    },
}

/// Which candidate is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The one with the best score; of several the simplest.
    #[default]
    Best,
    /// The simplest of those whose score is within a standard error of the best: the smallest C, then the smallest γ, then the lowest degree.
    OneSe,
}

/// A search.
///
/// ```
/// use rosenblatt::{Axis, Dataset, Dense, Family, Labels, Range, Rows, Search, Space};
/// let values: Vec<f64> = (0..80).map(|i| f64::from(i * 37 % 80) - 40.0).collect();
/// let labels = Labels::new(values.iter().map(|v| if v.abs() > 20.0 { "out" } else { "in" }));
/// let data = Dataset::new(Dense::new(values, 1)?, &labels)?;
/// let axes = vec![Axis::new("c", Range::parse("1..100", false)?), Axis::new("gamma", Range::parse("1e-6,0.01", false)?)];
/// let space = Space::of(vec![Family { algorithm: "svm".to_owned(), fixed: Default::default(), axes }]);
///
/// let found = Search::default().run(&space, &data, &mut ())?;
/// let chosen = &found.fit.report.selection.as_ref().unwrap().cells[found.chosen()];
/// assert_eq!(chosen.parameters["gamma"], 0.01); // the other is so wide that it tells nothing apart
/// assert!(chosen.mean.unwrap() > 0.9);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Parts of the rows, each left out once; classes are spread evenly over them.
    pub folds: usize,
    /// How often rows are dealt anew.
    pub repeats: usize,
    /// A group for each row, if rows of a group are to be left out together.
    pub groups: Option<Vec<u32>>,
    /// Which candidates are tried.
    pub strategy: Strategy,
    /// Which one is taken.
    pub rule: Rule,
    /// Folds of a second validation around all this, which tells how good the model is that such a search finds.
    pub nested: Option<usize>,
    /// Relative gap, and tolerance, of fits of support vector machines and logistic regression that only rank candidates, unless the parameters themselves say otherwise: a score hardly depends on the last digits of a solution.
    pub precision: f64,
    /// Stop the search after so many seconds, with the best so far. The model is fitted after that.
    pub time_limit: Option<f64>,
    /// Fixes every random choice.
    pub seed: u64,
}

impl Default for Search {
    fn default() -> Self {
        Search {
            folds: 5,
            repeats: 1,
            groups: None,
            strategy: Strategy::Grid,
            rule: Rule::Best,
            nested: None,
            precision: 1e-2,
            time_limit: None,
            seed: 0,
        }
    }
}

/// A candidate and its scores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The algorithm.
    pub algorithm: String,
    /// The map of features, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<String>,
    /// Values of the parameters that are searched over.
    pub parameters: Map<String, Value>,
    /// Rows that took part in its last round.
    pub rows: u64,
    /// Accuracy on the rows that each fold left out; nothing where it did not come to that.
    pub scores: Vec<Option<f64>>,
    /// Their mean, if all are known.
    pub mean: Option<f64>,
    /// The standard error of the mean, as if folds were independent.
    pub error: Option<f64>,
    /// Why it could not be learned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// What a search found: all candidates with the scores of all folds. A model that came from a search keeps it in its report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// Which candidates were tried.
    pub strategy: Strategy,
    /// Which one was to be taken.
    pub rule: Rule,
    /// Parts of the rows.
    pub folds: usize,
    /// How often rows were dealt.
    pub repeats: usize,
    /// Whether rows of a group were left out together.
    pub grouped: bool,
    /// The seed.
    pub seed: u64,
    /// Gap and tolerance of the fits that ranked candidates.
    pub precision: f64,
    /// What was searched over, with all values that were tried: the axes of a picture.
    pub axes: Vec<(String, Vec<Value>)>,
    /// All candidates.
    pub cells: Vec<Cell>,
    /// The number of the one with the best score.
    pub best: usize,
    /// The number of the one that was taken.
    pub chosen: usize,
    /// Whether it came to its end.
    pub complete: bool,
    /// What a search like this finds, on rows that it has not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nested: Option<Nested>,
}

/// Scores of whole searches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nested {
    /// One search for each part of the rows, without it.
    pub outer: Vec<Outer>,
    /// The mean of their scores.
    pub mean: f64,
    /// Its standard error, as if they were independent.
    pub error: f64,
}

/// A search without some rows, and how its model does on these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outer {
    /// The algorithm it took.
    pub algorithm: String,
    /// The parameters it chose.
    pub parameters: Map<String, Value>,
    /// The score of that candidate within the search.
    pub inner: f64,
    /// Accuracy on the rows that it has not seen.
    pub score: f64,
}

/// The model that a search led to, with the search in its report, and how long things took.
#[derive(Clone, Debug)]
pub struct Searched {
    /// The model, fitted to all rows.
    pub fit: Fit,
    /// Seconds that each candidate took, over all folds.
    pub seconds: Vec<f64>,
    /// Fits of the search.
    pub fits: u64,
    /// Seconds of the search, of the nested ones, and of the last fit.
    pub phases: [f64; 3],
}

impl Searched {
    /// The number of the candidate that was taken.
    pub fn chosen(&self) -> usize {
        self.fit.report.selection.as_ref().map_or(0, |selection| selection.chosen)
    }
}

impl Search {
    /// Searches a space, and fits the best model to all rows. One who watches may stop the search; then the best so far is taken and fitted.
    pub fn run(&self, space: &Space, data: &Dataset<'_>, watch: &mut dyn Watch) -> Result<Searched, Error> {
        self.check(space, data)?;
        let deadline = self.time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let shared = Shared::new(watch, deadline.and_then(|limit| Instant::now().checked_add(limit)));
        let began = Instant::now();
        let (mut selection, seconds) = self.select(space, data, &shared)?;
        let searched = began.elapsed();
        if selection.complete
            && let Some(folds) = self.nested
        {
            selection.nested = self.nest(space, data, folds, &shared)?;
            selection.complete = selection.nested.is_some();
        }
        let nested = began.elapsed() - searched;
        let fits = shared.done();
        let watch = shared.into_watch();
        watch.next();
        let candidate = self.candidates(space)?.swap_remove(selection.chosen);
        let mut fit = fit_on_all(space, &candidate, data, self.seed, watch)?;
        fit.report.selection = Some(selection);
        let last = began.elapsed() - searched - nested;
        let phases = [searched, nested, last].map(|time| time.as_secs_f64());
        Ok(Searched { fit, seconds, fits, phases })
    }

    fn check(&self, space: &Space, data: &Dataset<'_>) -> Result<(), Error> {
        let lengths = self.groups.as_ref().is_none_or(|groups| groups.len() == data.n_rows());
        ParamError::unless(lengths, "groups", &format!("must be as many as rows, {}", data.n_rows()))?;
        ParamError::unless(!space.families.is_empty(), "algorithm", "there is nothing to search over")?;
        let precise = self.precision > 0.0 && self.precision < 1.0;
        ParamError::unless(precise, "search_gap", "must be more than 0 and below 1")?;
        let limit = self.time_limit.is_none_or(|limit| limit >= 0.0 && limit.is_finite());
        ParamError::unless(limit, "time_limit", "must be 0 or more")?;
        match self.strategy {
            Strategy::Random { draws } => {
                ParamError::unless(draws > 0, "random", "must be 1 or more")?;
            }
            Strategy::Halving { factor } => {
                ParamError::unless(factor >= 2, "halving", "the factor must be 2 or more")?;
            }
            Strategy::Grid => {}
        }
        let candidates = self.candidates(space)?;
        for candidate in &candidates {
            // All are looked at before the first is learned.
            let learner = space.learner(candidate, &[])?;
            let precomputed =
                learner.parameters().get("kernel").is_some_and(|kernel| kernel == "precomputed");
            let plain = self.nested.is_none() && !matches!(self.strategy, Strategy::Halving { .. });
            ParamError::unless(
                plain || !precomputed,
                "kernel",
                "of precomputed values no part of the rows can be taken by itself: leave out nested folds and halving",
            )?;
            ParamError::unless(
                space.is_plain(candidate.map) || !precomputed,
                "kernel",
                "precomputed values are not features: neither fill them in, nor scale or map them",
            )?;
        }
        // Not random: a space of a few points is used up.
        ParamError::unless(!candidates.is_empty(), "algorithm", "there is nothing to search over")?;
        if space.impute.is_none() {
            data.check_complete()?;
        }
        match data.classes().len() {
            0 | 1 => Err(DataError::OneClass { class: data.classes().listed() }.into()),
            _ => Ok(()),
        }
    }

    fn candidates(&self, space: &Space) -> Result<Vec<Candidate>, ParamError> {
        match self.strategy {
            Strategy::Random { draws } => Ok(space.draw(draws, self.seed)),
            Strategy::Grid | Strategy::Halving { .. } => space.grid(),
        }
    }

    fn select(
        &self,
        space: &Space,
        data: &Dataset<'_>,
        shared: &Shared<'_>,
    ) -> Result<(Selection, Vec<f64>), Error> {
        let candidates = self.candidates(space)?;
        let mut results = Results::new(candidates.len(), self.folds * self.repeats);
        let all: Vec<usize> = (0..candidates.len()).collect();
        let complete = match self.strategy {
            Strategy::Halving { factor } => {
                self.halve(space, &candidates, data, factor, &mut results, shared)?
            }
            _ => {
                shared.expect(all.len() * self.folds * self.repeats);
                self.round(space, &candidates, &all, (data, self.groups.as_deref()), &mut results, shared)?
            }
        };
        let cells: Vec<Cell> =
            candidates.iter().enumerate().map(|(at, one)| results.cell(at, space, one)).collect();
        let (best, chosen) = choose(&cells, self.rule)?;
        let axes = axes(&cells);
        let Search { strategy, rule, folds, repeats, seed, precision, .. } = *self;
        let grouped = self.groups.is_some();
        let selection = Selection {
            strategy,
            rule,
            folds,
            repeats,
            grouped,
            seed,
            precision,
            axes,
            cells,
            best,
            chosen,
            complete,
            nested: None,
        };
        Ok((selection, results.seconds))
    }

    /// Tries some candidates on some rows; whether it came to its end.
    fn round(
        &self,
        space: &Space,
        candidates: &[Candidate],
        which: &[usize],
        (data, groups): (&Dataset<'_>, Option<&[u32]>),
        results: &mut Results,
        shared: &Shared<'_>,
    ) -> Result<bool, Error> {
        let splits = folds::splits(data, groups, self.folds, self.repeats, self.seed)?;
        results.begin(which, data.n_rows());
        let runner = Runner { space, candidates, data, splits: &splits, search: self, shared };
        runner.run(which, results)?;
        Ok(!shared.is_stopped())
    }

    /// Rounds on more and more rows, with fewer and fewer candidates.
    fn halve(
        &self,
        space: &Space,
        candidates: &[Candidate],
        data: &Dataset<'_>,
        factor: usize,
        results: &mut Results,
        shared: &Shared<'_>,
    ) -> Result<bool, Error> {
        /// Rows of a class in each fold, on average: with fewer, scores are noise.
        const FEWEST: usize = 10;
        let fewest = FEWEST * self.folds * data.classes().len();
        let mut which: Vec<usize> = (0..candidates.len()).collect();
        let affordable = std::iter::successors(Some(data.n_rows() / factor), |rows| Some(rows / factor));
        let most = affordable.take_while(|rows| *rows >= fewest).count();
        let wanted = std::iter::successors(Some(which.len() / factor), |left| Some(left / factor));
        let rounds = wanted.take_while(|left| *left >= 1).count().min(most);
        let sizes = |round: usize| which.len().div_ceil(factor.pow(round as u32));
        let fits: usize = (0..=rounds).map(sizes).sum();
        shared.expect(fits * self.folds * self.repeats);
        for round in 0..=rounds {
            let share = (factor as f64).powi(round as i32 - rounds as i32);
            let finished = match round == rounds {
                true => {
                    self.round(space, candidates, &which, (data, self.groups.as_deref()), results, shared)?
                }
                false => {
                    let rows = stratified_sample(data.y(), share, self.seed);
                    let groups: Option<Vec<u32>> =
                        self.groups.as_ref().map(|groups| rows.iter().map(|&row| groups[row]).collect());
                    let part = data.select(&rows);
                    self.round(space, candidates, &which, (&part, groups.as_deref()), results, shared)?
                }
            };
            if !finished {
                return Ok(false);
            }
            if round < rounds {
                let left = which.len().div_ceil(factor);
                which.sort_by(|&a, &b| rank(results.mean(b), results.mean(a)).then(a.cmp(&b)));
                which.truncate(left);
                which.sort_unstable();
            }
        }
        Ok(true)
    }

    /// The same search without each part of the rows, which then tells how good its model is; nothing if it was stopped.
    fn nest(
        &self,
        space: &Space,
        data: &Dataset<'_>,
        folds: usize,
        shared: &Shared<'_>,
    ) -> Result<Option<Nested>, Error> {
        // Other parts than those within.
        let seed = self.seed.wrapping_add(0x5851_f42d_4c95_7f2d);
        let splits = folds::splits(data, self.groups.as_deref(), folds, 1, seed)?;
        let mut outer = Vec::with_capacity(folds);
        for held in splits {
            let mut is_held = vec![false; data.n_rows()];
            held.iter().for_each(|&row| is_held[row] = true);
            let rows: Vec<usize> = (0..data.n_rows()).filter(|&row| !is_held[row]).collect();
            let groups = self.groups.as_ref().map(|groups| rows.iter().map(|&row| groups[row]).collect());
            let inner = Search { groups, nested: None, ..self.clone() };
            let rest = data.select(&rows);
            let (selection, _) = inner.select(space, &rest, shared)?;
            if !selection.complete {
                return Ok(None);
            }
            let candidate = inner.candidates(space)?.swap_remove(selection.chosen);
            let fit = fit_on_all(space, &candidate, &rest, self.seed, &mut shared.relay())?;
            if shared.is_stopped() {
                return Ok(None);
            }
            let unseen = data.select(&held);
            let score = weighted_accuracy(&fit.model.predict(unseen.x())?, &unseen);
            let Cell { algorithm, parameters, mean, .. } = selection.cells[selection.chosen].clone();
            outer.push(Outer { algorithm, parameters, inner: mean.unwrap_or_default(), score });
        }
        let scores: Vec<f64> = outer.iter().map(|outer| outer.score).collect();
        let (mean, error) = choose::mean_and_error(&scores);
        Ok(Some(Nested { outer, mean, error }))
    }
}

/// Every parameter with the values that some candidate has of it: numbers from the smallest, words as they come.
fn axes(cells: &[Cell]) -> Vec<(String, Vec<Value>)> {
    let mut axes: Vec<(String, Vec<Value>)> = Vec::new();
    let mut add = |name: &str, value: Value| {
        let at = axes.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            axes.push((name.to_owned(), Vec::new()));
            axes.len() - 1
        });
        if !axes[at].1.contains(&value) {
            axes[at].1.push(value);
        }
    };
    for cell in cells {
        add("algorithm", Value::from(cell.algorithm.clone()));
        add("map", cell.map.clone().map_or(Value::Null, Value::from));
        cell.parameters.iter().for_each(|(name, value)| add(name, value.clone()));
    }
    axes.retain(|(name, values)| values.len() > 1 || (name != "algorithm" && name != "map"));
    for (_, values) in &mut axes {
        if values.iter().all(Value::is_number) {
            let number = |value: &Value| value.as_f64().unwrap_or_default();
            values.sort_by(|a, b| number(a).total_cmp(&number(b)));
        }
    }
    axes
}
