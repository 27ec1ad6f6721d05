//! Candidates as paths along C, one for each fold, side by side.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rayon::prelude::*;

use super::choose::mean_and_error;
use super::prepare::fold;
use super::queue::Shared;
use super::space::{Candidate, Space};
use super::{Cell, Search};
use crate::cache::usual_cache_bytes;
use crate::data::{Dataset, Matrix};
use crate::error::{Error, ParamError};
use crate::feature::MapKind;
use crate::gram::Gram;
use crate::kernel::Kernel;
use crate::learner::trial::{Carried, Fold, Ground, Told, by_machines, check_rows, linearly, plainly};
use crate::learner::{Copies, Learner, Shortcut, Svm};
use crate::similarity::Similarity;
use crate::store::{Pool, Store};
use crate::watch::Monitor;

/// How fits went.
pub(super) struct Results {
    scores: Vec<Vec<Option<f64>>>,
    failures: Vec<Option<String>>,
    rows: Vec<usize>,
    pub(super) seconds: Vec<f64>,
}

impl Results {
    pub(super) fn new(candidates: usize, splits: usize) -> Self {
        Results {
            scores: vec![vec![None; splits]; candidates],
            failures: vec![None; candidates],
            rows: vec![0; candidates],
            seconds: vec![0.0; candidates],
        }
    }

    /// What earlier rounds told of these is no longer what counts.
    pub(super) fn begin(&mut self, which: &[usize], rows: usize) {
        for &at in which {
            self.scores[at].fill(None);
            (self.failures[at], self.rows[at]) = (None, rows);
        }
    }

    /// The mean of a candidate's scores, if all are known.
    pub(super) fn mean(&self, at: usize) -> Option<f64> {
        let known: Option<Vec<f64>> = self.scores[at].iter().copied().collect();
        known.filter(|_| self.failures[at].is_none()).map(|scores| mean_and_error(&scores).0)
    }

    pub(super) fn cell(&self, at: usize, space: &Space, candidate: &Candidate) -> Cell {
        let known: Option<Vec<f64>> = self.scores[at].iter().copied().collect();
        let (mean, error) = known.map(|scores| mean_and_error(&scores)).unzip();
        Cell {
            algorithm: space.families[candidate.family].algorithm.clone(),
            map: candidate.map.map(|map| map.to_string()),
            parameters: candidate.chosen.clone(),
            rows: self.rows[at] as u64,
            scores: self.scores[at].clone(),
            mean,
            error,
            failure: self.failures[at].clone(),
        }
    }

    fn note(&mut self, at: usize, split: usize, outcome: Result<f64, String>, seconds: f64) {
        self.seconds[at] += seconds;
        match outcome {
            Ok(score) => self.scores[at][split] = Some(score),
            Err(failure) => self.failures[at] = self.failures[at].take().or(Some(failure)),
        }
    }
}

/// Candidates that differ in C alone, from the smallest.
struct Line {
    cells: Vec<usize>,
    learners: Vec<Box<dyn Learner>>,
}

/// A line in one fold, as far as it has come.
struct Chain {
    line: usize,
    split: usize,
    next: usize,
    carried: Carried,
}

/// Tries candidates.
pub(super) struct Runner<'r, 'w> {
    pub(super) space: &'r Space,
    pub(super) candidates: &'r [Candidate],
    pub(super) data: &'r Dataset<'r>,
    pub(super) splits: &'r [Vec<usize>],
    pub(super) search: &'r Search,
    pub(super) shared: &'r Shared<'w>,
}

impl Runner<'_, '_> {
    pub(super) fn run(&self, which: &[usize], results: &mut Results) -> Result<(), Error> {
        let results = Mutex::new(results);
        let mut maps: Vec<Option<MapKind>> = Vec::new();
        which.iter().map(|&at| self.candidates[at].map).for_each(|map| {
            if !maps.contains(&map) {
                maps.push(map);
            }
        });
        // What is free now: later on it is this that has taken it.
        let (bytes, pool) = (usual_cache_bytes(), Pool::default());
        for map in maps {
            let seed = self.search.seed;
            let prepare = |held: &Vec<usize>| fold(self.space, map, self.data, held, seed);
            let folds: Vec<Fold<'_>> = self.splits.par_iter().map(prepare).collect::<Result<_, Error>>()?;
            let of_map: Vec<usize> =
                which.iter().copied().filter(|&at| self.candidates[at].map == map).collect();
            let (machines, others): (Vec<Line>, Vec<Line>) =
                self.lines(&of_map)?.into_iter().partition(|line| line.machine().is_some());
            self.side_by_side(&others, &folds, &results, |line, split, at, carried| {
                self.attempt(&others[line], &folds[split], at, carried)
            });
            // One after the other: each has kernel values of its own.
            for line in machines {
                if self.shared.is_stopped() {
                    break;
                }
                self.run_machines(line, &folds, map, (bytes, &pool), &results)?;
            }
        }
        Ok(())
    }

    fn lines(&self, which: &[usize]) -> Result<Vec<Line>, Error> {
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let rest = |at: usize| {
            let mut rest = self.candidates[at].clone();
            ["c", "lambda"].iter().for_each(|name| rest.chosen.retain(|known, _| known != name));
            rest
        };
        let mut known: Vec<(usize, Candidate)> = Vec::new();
        for &at in which {
            let one = rest(at);
            let first = match known.iter().find(|(_, other)| *other == one) {
                Some((first, _)) => *first,
                None => {
                    known.push((at, one));
                    at
                }
            };
            groups.entry(first).or_default().push(at);
        }
        groups.into_values().map(|cells| self.line(cells)).collect()
    }

    fn line(&self, mut cells: Vec<usize>) -> Result<Line, Error> {
        let cost = |at: &usize| {
            let of = |name: &str| self.candidates[*at].chosen.get(name).and_then(serde_json::Value::as_f64);
            of("c").or(of("lambda").map(|lambda| 1.0 / lambda)).unwrap_or(0.0)
        };
        cells.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        let precision = self.search.precision;
        let rough = [("gap", precision), ("tolerance", precision)];
        // Others say how near they come to what they minimise by other numbers, or none.
        let learner = |at: &usize| {
            let learner = self.space.learner(&self.candidates[*at], &rough)?;
            match learner.shortcut() {
                Some(_) => Ok(learner),
                None => self.space.learner(&self.candidates[*at], &[]),
            }
        };
        let learners = cells.iter().map(learner).collect::<Result<_, ParamError>>()?;
        Ok(Line { cells, learners })
    }

    /// Goes along all lines in all folds, as many at a time as there are threads; whatever is ready and comes first is next, so that what is done, if it is stopped, is as complete as can be.
    fn side_by_side(
        &self,
        lines: &[Line],
        folds: &[Fold<'_>],
        results: &Mutex<&mut Results>,
        attempt: impl Fn(usize, usize, usize, &mut Carried) -> Result<Option<Told>, Error> + Sync,
    ) {
        let chains = (0..lines.len()).flat_map(|line| (0..folds.len()).map(move |split| (line, split)));
        let chain = |(line, split)| Chain { line, split, next: 0, carried: Carried::Nothing };
        let waiting: Mutex<Vec<Chain>> = Mutex::new(chains.map(chain).collect());
        let take = || {
            let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let order = |chain: &Chain| (chain.line, chain.next, chain.split);
            let first = (0..waiting.len()).min_by_key(|&at| order(&waiting[at]))?;
            Some(waiting.swap_remove(first))
        };
        let worker = |_: usize| {
            while let Some(mut chain) = take() {
                if !self.shared.go_on() {
                    return;
                }
                let (line, began) = (&lines[chain.line], Instant::now());
                let told = attempt(chain.line, chain.split, chain.next, &mut chain.carried);
                if self.shared.is_stopped() {
                    return;
                }
                let fold = &folds[chain.split];
                let outcome = told.map(|told| told.map(|told| self.score(fold, told)));
                let outcome = outcome.map_err(|error| error.to_string()).transpose();
                if let Some(outcome) = outcome {
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    let seconds = began.elapsed().as_secs_f64();
                    results.note(line.cells[chain.next], chain.split, outcome, seconds);
                }
                self.shared.count();
                chain.next += 1;
                if chain.next < line.cells.len() {
                    waiting.lock().unwrap_or_else(PoisonError::into_inner).push(chain);
                }
            }
        };
        let workers = rayon::current_num_threads().min(lines.len() * folds.len());
        (0..workers).into_par_iter().with_max_len(1).for_each(worker);
    }

    /// The share of the weight of the rows left out that is predicted rightly.
    fn score(&self, fold: &Fold<'_>, (decision, scores): Told) -> f64 {
        let predicted = decision.decide_all(&scores, self.data.classes().len());
        let (mut right, mut all) = (0.0, 0.0);
        for (&row, predicted) in fold.held.iter().zip(predicted) {
            let weight = self.data.weight(row);
            all += weight;
            right += if predicted == self.data.y()[row] { weight } else { 0.0 };
        }
        if all > 0.0 { right / all } else { 0.0 }
    }

    fn attempt(
        &self,
        line: &Line,
        fold: &Fold<'_>,
        at: usize,
        carried: &mut Carried,
    ) -> Result<Option<Told>, Error> {
        let (learner, mut relay) = (&*line.learners[at], self.shared.relay());
        match learner.shortcut() {
            Some(shortcut @ (Shortcut::Linear(_) | Shortcut::Logistic(_))) => {
                linearly(shortcut, fold, carried, &Monitor::new(&mut relay, None, 1))
            }
            _ => plainly(learner, fold, carried, &mut relay).map(Some),
        }
    }

    /// Machines with the same kernel: what folds and costs share is made once.
    fn run_machines(
        &self,
        line: Line,
        folds: &[Fold<'_>],
        map: Option<MapKind>,
        (bytes, pool): (usize, &Pool),
        results: &Mutex<&mut Results>,
    ) -> Result<(), Error> {
        let Some(svm) = line.machine() else { return Ok(()) };
        // Without anything fitted all folds have the same rows.
        let rows = |split: usize| if self.space.is_plain(map) { self.data } else { &folds[split].data };
        let ground = |split: usize| if self.space.is_plain(map) { 0 } else { split };
        let kinds: Vec<(usize, Similarity)> = folds
            .iter()
            .enumerate()
            .map(|(split, fold)| (ground(split), svm.similarity(&fold.data)))
            .collect();
        let mut distinct: Vec<(usize, Similarity)> = Vec::new();
        kinds.iter().for_each(|kind| {
            if !distinct.contains(kind) {
                distinct.push(kind.clone());
            }
        });
        let made: Result<Vec<Gram<'_>>, Error> = distinct
            .iter()
            .map(|(split, kernel)| {
                let gram = Gram::new(kernel.clone(), rows(*split).x())?;
                check_rows(&gram).map(|()| gram)
            })
            .collect();
        let grams = match made {
            Ok(grams) => grams,
            Err(error) => {
                self.fail(&line, &error, results);
                return Ok(());
            }
        };
        let copies: Vec<Option<Copies>> =
            distinct.iter().map(|(split, kernel)| copies(rows(*split).x(), self.data.y(), kernel)).collect();
        let bytes = svm.cache.unwrap_or(bytes) / distinct.len();
        let stores: Vec<Store<'_>> = grams
            .iter()
            .zip(&copies)
            .map(|(gram, copies)| self.store(gram, copies.as_ref(), bytes, pool))
            .collect();
        let abreast = rayon::current_num_threads().min(folds.len()).max(1);
        let lines = [line];
        self.side_by_side(&lines, folds, results, |line, split, at, carried| {
            let Some(svm) = lines[line].machine_at(at) else { return Ok(None) };
            let place = distinct.iter().position(|kind| *kind == kinds[split]).unwrap_or_default();
            let (gram, copies, store) = (&grams[place], copies[place].as_ref(), &stores[place]);
            let ground = Ground { gram, copies, store, cache: bytes / 2 / abreast };
            let mut relay = self.shared.relay();
            let monitor = Monitor::new(&mut relay, None, 1);
            by_machines(svm, &ground, &folds[split], carried, &monitor).map(Some)
        });
        Ok(())
    }

    fn fail(&self, line: &Line, error: &Error, results: &Mutex<&mut Results>) {
        let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
        for &at in &line.cells {
            results.note(at, 0, Err(error.to_string()), 0.0);
            self.splits.iter().for_each(|_| self.shared.count());
        }
    }

    /// Rows of a fold side by side, so that those of all others are a few runs of columns.
    fn store<'g>(
        &self,
        gram: &'g Gram<'g>,
        copies: Option<&Copies>,
        bytes: usize,
        pool: &'g Pool,
    ) -> Store<'g> {
        let mut fold_of = vec![usize::MAX; self.data.n_rows()];
        for (number, held) in self.splits.iter().take(self.search.folds).enumerate() {
            held.iter().for_each(|&row| fold_of[row] = number);
        }
        let first = |row: usize| copies.map_or(row, |copies| copies.first(row));
        let mut members: Vec<usize> = (0..self.data.n_rows()).filter(|&row| first(row) == row).collect();
        members.sort_by_key(|&row| fold_of[row]);
        let whole = members.len().saturating_mul(members.len()).saturating_mul(size_of::<f32>());
        let bytes = if whole <= bytes { bytes } else { bytes / 2 };
        Store::new(gram, members, first, bytes, pool)
    }
}

impl Line {
    fn machine(&self) -> Option<&Svm> {
        self.machine_at(0)
    }

    fn machine_at(&self, at: usize) -> Option<&Svm> {
        match self.learners.get(at)?.shortcut() {
            Some(Shortcut::Machine(svm)) => Some(svm),
            _ => None,
        }
    }
}

/// Equal rows; precomputed values belong to numbers of rows, whatever else is in them.
fn copies(x: &Matrix<'_>, y: &[u32], kernel: &Similarity) -> Option<Copies> {
    if *kernel == Kernel::Precomputed.into() { None } else { Copies::of(x, y) }
}
