//! Fits that only rank parameters: for each fold one after the other along C, from where the last one ended, and nothing of them is kept but the scores of rows that were left out.

use super::batch::{self, Common, Costs, Solved};
use super::copies::Copies;
use super::machines::Machines;
use super::{Bias, Learner, LinearSvm, Logistic, Penalty, Slack, Svm, SvmLoss, Task};
use crate::data::{Dataset, Matrix};
use crate::error::Error;
use crate::gram::{Gram, Reach};
use crate::loss::{self, Hinge, SquaredHinge};
use crate::model::{Body, Decision, Expansion, Model, Planes};
use crate::online::{Multiclass, Target};
use crate::similarity::Similarity;
use crate::solver::{Choice, Decomposition, Example, Held, Machine, Method, Term, add_whole_rows};
use crate::store::Store;
use crate::watch::{Monitor, Watch};

/// A learner that has a way of its own to be tried out.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Shortcut<'l> {
    /// Planes by coordinate descent, which goes on from α.
    Linear(&'l LinearSvm),
    /// The same for the logistic loss of two classes at a time.
    Logistic(&'l Logistic),
    /// Machines in the space of a kernel, whose values all folds share.
    Machine(&'l Svm),
}

impl LinearSvm {
    pub(super) fn shortcut(&self) -> Option<Shortcut<'_>> {
        (self.penalty == Penalty::L2).then_some(Shortcut::Linear(self))
    }
}

impl Logistic {
    pub(super) fn shortcut(&self) -> Option<Shortcut<'_>> {
        let reduced = self.multiclass != Multiclass::Native;
        (self.penalty == Penalty::L2 && reduced).then_some(Shortcut::Logistic(self))
    }
}

impl Svm {
    pub(super) fn shortcut(&self) -> Option<Shortcut<'_>> {
        let soft = self.slack != Slack::None && self.nu.is_none() && self.user.is_none();
        (soft && self.multiclass != Multiclass::Native).then_some(Shortcut::Machine(self))
    }

    /// The kernel, with γ as these rows suggest it unless it is known.
    pub(crate) fn similarity(&self, data: &Dataset<'_>) -> Similarity {
        self.completed(data).1
    }
}

/// Rows to learn from and rows that are left out. All are in `data`, where those left out weigh nothing.
pub(crate) struct Fold<'a> {
    pub(crate) data: Dataset<'a>,
    pub(crate) held: Vec<usize>,
    pub(crate) held_x: Matrix<'static>,
}

/// What fits with the same kernel over the same rows have in common.
pub(crate) struct Ground<'a> {
    pub(crate) gram: &'a Gram<'a>,
    pub(crate) copies: Option<&'a Copies>,
    pub(crate) store: &'a Store<'a>,
    /// Bytes for kernel rows of a fit, where the store has no room for all.
    pub(crate) cache: usize,
}

/// Where the last fit ended.
#[derive(Default)]
pub(crate) enum Carried {
    #[default]
    Nothing,
    Model(Box<Model>),
    Linear {
        planes: Planes,
        alphas: Vec<(Vec<f64>, f64)>,
    },
    Machine(Vec<Point>),
}

/// α of a binary problem, with the scores that its rows and those left out have by it, without bias.
pub(crate) struct Point {
    alpha: Vec<f64>,
    scores: Vec<f64>,
    held: Vec<f64>,
}

/// The scores of the rows that were left out, and how they decide.
pub(crate) type Told = (Decision, Vec<f64>);

/// A fit like any other, from the model before if the learner can.
pub(crate) fn plainly(
    learner: &dyn Learner,
    fold: &Fold<'_>,
    carried: &mut Carried,
    watch: &mut dyn Watch,
) -> Result<Told, Error> {
    let precomputed = learner.parameters().get("kernel").is_some_and(|kernel| kernel == "precomputed");
    let counts = |row: &usize| fold.data.weight(*row) > 0.0;
    let rows: Vec<usize> = (0..fold.data.n_rows()).filter(counts).collect();
    // Rows of kernel values cannot be taken out by themselves.
    let part = if precomputed { None } else { Some(fold.data.select(&rows)) };
    let data = part.as_ref().unwrap_or(&fold.data);
    let start = if let (Carried::Model(model), true) = (&*carried, learner.can_go_on()) {
        Some(model.as_ref())
    } else {
        None
    };
    let fit = match learner.learn(&Task { start, ..Task::new(data) }, watch) {
        Err(Error::Start(_)) => learner.learn(&Task::new(data), watch)?,
        fit => fit?,
    };
    let told = (fit.model.decision, held_scores(&fit.model.body, &fold.held_x)?);
    *carried = Carried::Model(Box::new(fit.model));
    Ok(told)
}

fn held_scores(body: &Body, x: &Matrix<'_>) -> Result<Vec<f64>, Error> {
    let body = body.watched();
    if let Body::Kernel(expansion) = &*body {
        expansion.check_new(x)?;
    }
    let scores = body.scores(x);
    body.sound(x, 0)?;
    Ok(scores)
}

/// Planes, without what a report would want to know.
pub(crate) fn linearly(
    shortcut: Shortcut<'_>,
    fold: &Fold<'_>,
    carried: &mut Carried,
    monitor: &Monitor<'_>,
) -> Result<Option<Told>, Error> {
    let x = fold.data.x();
    match shortcut {
        Shortcut::Linear(svm) => match svm.loss {
            SvmLoss::Hinge => {
                planes(&svm.common(), &Choice::new(svm.solver, x, Hinge), fold, carried, monitor)
            }
            SvmLoss::SquaredHinge => {
                planes(&svm.common(), &Choice::new(svm.solver, x, SquaredHinge), fold, carried, monitor)
            }
        }
        .map(Some),
        Shortcut::Logistic(logistic) => {
            let choice = Choice::new(logistic.solver, x, loss::Logistic);
            planes(&logistic.common(), &choice, fold, carried, monitor).map(Some)
        }
        Shortcut::Machine(_) => Ok(None),
    }
}

fn planes(
    common: &Common<'_>,
    method: &impl Method,
    fold: &Fold<'_>,
    carried: &mut Carried,
    monitor: &Monitor<'_>,
) -> Result<Told, Error> {
    let task = Task::new(&fold.data);
    task.check()?;
    let last = std::mem::take(carried);
    let mut costs = Costs::new(&task, common, true)?;
    if let Carried::Linear { planes, alphas } = &last {
        costs.start = Some(planes);
        costs.alphas = alphas;
    }
    let solved = solve_off_zero(common, method, &costs, monitor)?;
    let told = (solved.decision, solved.body.scores(&fold.held_x));
    if let Body::Linear(planes) = solved.body {
        *carried = Carried::Linear { planes, alphas: solved.alphas };
    }
    Ok(told)
}

/// Where errors cost next to nothing, w = 0 is near the optimum, and predicts nothing: the direction that w takes is what is asked for here, however short w is.
fn solve_off_zero(
    common: &Common<'_>,
    method: &impl Method,
    costs: &Costs<'_>,
    monitor: &Monitor<'_>,
) -> Result<Solved, Error> {
    const FINER: f64 = 1e-2;
    const FINEST: f64 = 1e-10;
    let mut common = *common;
    loop {
        let solved = batch::solve_reduced(&common, method, costs, monitor)?;
        let is_zero = |planes: &Planes| (0..planes.k()).any(|c| planes.normal(c).iter().all(|&w| w == 0.0));
        let at_zero = matches!(&solved.body, Body::Linear(planes) if is_zero(planes));
        if !at_zero || common.gap <= FINEST || monitor.stopped().is_some() {
            return Ok(solved);
        }
        common.gap *= FINER;
    }
}

/// Kernel machines over rows whose kernel values are shared.
pub(crate) fn by_machines(
    svm: &Svm,
    ground: &Ground<'_>,
    fold: &Fold<'_>,
    carried: &mut Carried,
    monitor: &Monitor<'_>,
) -> Result<Told, Error> {
    match svm.slack {
        Slack::Squared => solve_machines(svm, SquaredHinge, ground, fold, carried, monitor),
        _ => solve_machines(svm, Hinge, ground, fold, carried, monitor),
    }
}

/// What a kernel asks of rows, of which those that are left out are some.
pub(crate) fn check_rows(gram: &Gram<'_>) -> Result<(), Error> {
    if !Expansion::tells_precisely(gram.kernel()) {
        gram.check_reach(gram.rows(), Reach::Learning)?;
    }
    Ok(())
}

fn solve_machines<T: Term>(
    svm: &Svm,
    term: T,
    ground: &Ground<'_>,
    fold: &Fold<'_>,
    carried: &mut Carried,
    monitor: &Monitor<'_>,
) -> Result<Told, Error> {
    let (common, task) = (svm.common(), Task::new(&fold.data));
    task.check()?;
    let costs = Costs::new(&task, &common, false)?;
    let (targets, decision) = batch::targets(common.multiclass, costs.classes.len());
    let last = if let Carried::Machine(points) = std::mem::take(carried) { points } else { Vec::new() };
    let mut last = last.into_iter();
    let machines = Machines {
        term,
        kernel: ground.gram.kernel().clone(),
        tolerance: svm.tolerance,
        cache: svm.cache,
        nu: None,
    };
    let mut trial = Trial { machines, common, ground, fold, points: Vec::new(), columns: Vec::new() };
    for target in targets {
        let examples = trial.examples(&costs, target);
        trial.solve(&examples, last.next(), monitor)?;
    }
    let planes = trial.columns.len();
    let of_row = |i: usize| trial.columns.iter().map(move |column| column[i]);
    let scores = (0..fold.held.len()).flat_map(of_row).collect();
    debug_assert_eq!(planes, decision.n_scores(fold.data.classes().len()), "a score for each plane");
    *carried = Carried::Machine(trial.points);
    Ok((decision, scores))
}

/// The binary problems of one fit.
struct Trial<'t, T> {
    machines: Machines<T>,
    common: Common<'t>,
    ground: &'t Ground<'t>,
    fold: &'t Fold<'t>,
    points: Vec<Point>,
    /// For each problem the scores of the rows left out.
    columns: Vec<Vec<f64>>,
}

impl<T: Term> Trial<'_, T> {
    /// As they are stored: equal rows as one, whichever of them are left out, in the order of columns.
    fn examples(&self, costs: &Costs<'_>, target: Target) -> Vec<Example> {
        let mut examples = costs.examples_of(target, self.ground.copies);
        if let Some(copies) = self.ground.copies {
            examples.iter_mut().for_each(|e| e.row = copies.first(e.row as usize) as u32);
        }
        examples.sort_unstable_by_key(|e| self.ground.store.column(e.row as usize));
        examples
    }

    fn solve(
        &mut self,
        examples: &[Example],
        last: Option<Point>,
        monitor: &Monitor<'_>,
    ) -> Result<(), Error> {
        let Ground { gram, store, cache, .. } = *self.ground;
        let (held, lift) = match self.common.bias {
            Bias::Free => (Held::Sum, 0.0),
            Bias::Regularized => (Held::Nothing, 1.0),
            Bias::None => (Held::Nothing, 0.0),
        };
        let limits = self.machines.limits(gram, &self.common);
        let upper = self.machines.term.bounds(examples, limits.dual);
        let last = last.filter(|point| point.alpha.len() == examples.len());
        let start = last.map(|point| self.stretched(point, examples, &upper, lift));
        let before = signed(examples, start.as_ref().map(|point| &point.alpha));
        let mut left_out =
            start.as_ref().map_or_else(|| vec![0.0; self.fold.held.len()], |point| point.held.clone());
        let (alpha, scores) = start.map(|point| (point.alpha, point.scores)).unzip();
        let rounds = self.machines.rounds(gram.rows(), examples.len());
        let machine = Machine {
            gram,
            examples,
            held,
            upper: &upper,
            sure: self.machines.is_sure(),
            lift,
            start: alpha,
            tolerance: self.machines.tolerance,
            size: rounds.size.min(examples.len()),
            light: rounds.is_light(),
            cache: if store.is_whole() { rounds.least_bytes() } else { cache.max(rounds.least_bytes()) },
            shared: None,
            store: Some(store),
            scores,
        };
        let found = Decomposition::new(&machine, self.machines.term, limits)?.solve(monitor);
        let changes: Vec<f64> =
            found.coefficients.iter().zip(&before).map(|(now, before)| now - before).collect();
        self.tell_held(examples, &changes, &mut left_out);
        self.columns.push(left_out.iter().map(|score| score + found.b).collect());
        let alpha = found.coefficients.iter().map(|a| a.abs()).collect();
        let scores = found.scores.iter().map(|score| score - found.b).collect();
        self.points.push(Point { alpha, scores, held: left_out });
        Ok(())
    }

    /// A multiple of the α that were best at other costs: the best there is within the new bounds (DeCoste and Wagstaff 2000, KDD, stretch them all by the same factor).
    fn stretched(&self, point: Point, examples: &[Example], upper: &[f64], lift: f64) -> Point {
        let Point { mut alpha, mut scores, mut held } = point;
        let sum: f64 = signed(examples, Some(&alpha)).iter().sum();
        let rows = || examples.iter().zip(&alpha);
        let square: f64 =
            rows().zip(&scores).map(|((e, a), f)| e.y() * a * f).sum::<f64>() + lift * sum * sum;
        // φ is linear, or has a square beside.
        let bend: f64 = rows().map(|(e, &a)| a * self.machines.term.curvature_at(e.cost, a) * a).sum();
        let total: f64 = alpha.iter().sum();
        let best = total / (square + bend);
        let most = upper
            .iter()
            .zip(&alpha)
            .filter(|(_, a)| **a > 0.0)
            .map(|(u, a)| u / a)
            .fold(f64::INFINITY, f64::min);
        let factor = if best.is_finite() && best > 0.0 { best.min(most) } else { most.min(1.0) };
        [&mut alpha, &mut scores, &mut held].into_iter().flatten().for_each(|value| *value *= factor);
        // Rounding may leave what was at a bound a hair above it.
        alpha.iter_mut().zip(upper).for_each(|(a, &upper)| *a = a.min(upper));
        Point { alpha, scores, held }
    }

    /// Adds what changes of coefficients do to the scores of the rows left out.
    fn tell_held(&self, examples: &[Example], changes: &[f64], scores: &mut [f64]) {
        let Ground { gram, store, .. } = *self.ground;
        let changed: Vec<usize> = (0..changes.len()).filter(|&i| changes[i] != 0.0).collect();
        let amounts: Vec<f64> = changed.iter().map(|&i| changes[i]).collect();
        let rows: Vec<usize> = changed.iter().map(|&i| examples[i].row as usize).collect();
        let of_rows: Vec<u32> = rows.iter().map(|&row| store.column(row)).collect();
        // Where not all have room, it must not show which do.
        if store.is_whole()
            && let Some(kept) = store.all(&of_rows)
        {
            let columns: Vec<u32> = self.fold.held.iter().map(|&row| store.column(row)).collect();
            let moves: Vec<(f64, &[f32])> = amounts.into_iter().zip(kept).collect();
            return add_whole_rows(scores, &columns, &moves);
        }
        let more = gram.combine(&self.fold.held, gram, &rows, &amounts, 1);
        scores.iter_mut().zip(more).for_each(|(score, more)| *score += more);
    }
}

/// aᵢ = yᵢαᵢ
fn signed(examples: &[Example], alpha: Option<&Vec<f64>>) -> Vec<f64> {
    let one = |(i, e): (usize, &Example)| alpha.map_or(0.0, |alpha| e.y() * alpha[i]);
    examples.iter().enumerate().map(one).collect()
}
