//! What kernel machines share: binary problems in the space of a kernel, solved side by side, and the model they make.

use std::sync::Mutex;

use rayon::prelude::*;

use super::batch::{self, Common, Costs, Solved, Summary};
use super::copies::Copies;
use super::{Bias, Demand, Fit, Task};
use crate::cache::usual_cache_bytes;
use crate::data::{Dataset, Matrix, Rows};
use crate::error::{Error, ParamError};
use crate::gram::{Gram, Reach};
use crate::kernel::Kernel;
use crate::model::{Body, Expansion, RowStore, Sum};
use crate::online::{Multiclass, Target};
use crate::report::{Report, Status};
use crate::separability::{Obstruction, contradiction, obstruction};
use crate::shared::Shared;
use crate::similarity::Similarity;
use crate::solver::{Decomposition, End, Example, Expanded, Held, Kind, Limits, Machine, Term, project};
use crate::watch::{Monitor, Watch};
use crate::with_rows;

/// Kernel machines of one kind.
pub(crate) struct Machines<T> {
    pub(crate) term: T,
    pub(crate) kernel: Similarity,
    /// No optimality condition is to be broken by more.
    pub(crate) tolerance: f64,
    /// Bytes for kernel rows.
    pub(crate) cache: Option<usize>,
    /// The share of rows that may be inside the margin, where that is given instead of a cost.
    pub(crate) nu: Option<f64>,
}

/// A binary problem that has been solved.
struct Part {
    target: Target,
    examples: Vec<Example>,
    expanded: Expanded,
}

/// Of the bytes for kernel rows, what problems with common classes share.
const SHARE: usize = 4;

/// Kernel values with all training rows that are looked at for the accuracy of a model with many parts.
pub(super) const MEASURED: usize = 100_000_000;

impl<T: Term> Machines<T> {
    pub(crate) fn learn(
        &self,
        about: Report,
        common: &Common<'_>,
        task: &Task<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Fit, Error> {
        let plain = task.scaling.is_none() && task.map.is_none();
        let given = self.kernel == Kernel::Precomputed.into();
        let problem = "precomputed values are not features: neither scale nor map them";
        ParamError::unless(plain || !given, "kernel", problem)?;
        let gram = Gram::new(self.kernel.watched(), task.data.x())?;
        let single = !Expansion::tells_precisely(&self.kernel);
        if single {
            gram.check_reach(task.data.x(), Reach::Learning)?;
        }
        if let Some(holdout) = task.holdout {
            self.kernel.check_range(holdout.x(), 0)?;
            if single {
                gram.check_reach(holdout.x(), Reach::Predicting)?;
            }
        }
        let mut trouble = None;
        let mut fit = batch::learn(about, common, task, watch, |costs, monitor| {
            let solved = self.solve(&gram, common, task, costs, monitor, &mut trouble)?;
            Ok(Solved { mean_square: self.mean_square(costs.x), ..solved })
        })?;
        if !self.is_sure() {
            qualify(&mut fit.report, trouble);
        }
        if self.nu.is_some() && vanishes(&fit.report) {
            fit.report.diagnosis.push(MEETING.to_owned());
        }
        Ok(fit)
    }

    fn solve(
        &self,
        gram: &Gram<'_>,
        common: &Common<'_>,
        task: &Task<'_>,
        costs: &Costs<'_>,
        monitor: &Monitor<'_>,
        trouble: &mut Option<String>,
    ) -> Result<Solved, Error> {
        if common.multiclass == Multiclass::Native {
            return self.solve_jointly(gram, common, task, costs, monitor);
        }
        let (targets, decision) = batch::targets(common.multiclass, costs.classes.len());
        let copies = if self.merges() { Copies::of(costs.x, costs.y) } else { None };
        let problems: Vec<(Target, Vec<Example>)> =
            targets.into_iter().map(|target| (target, costs.examples_of(target, copies.as_ref()))).collect();
        let start = Start::of(task, &self.kernel, common.multiclass)?;
        let largest = problems.iter().map(|(_, examples)| examples.len()).max().unwrap_or(1);
        let mut rounds = self.rounds(costs.x, largest);
        // Problems of two classes each have whole classes in common.
        rounds.share &= decision.pair_tie().is_some();
        let parts = self.side_by_side(gram, common, start.as_ref(), (problems, rounds), monitor)?;
        gram.kernel().sound(costs.x, 0, costs.x)?;
        if let Some(part) = parts.iter().find(|part| part.expanded.end == End::Diverged) {
            let problem = (parts.len() > 1).then(|| part.target.title(costs.classes));
            let rows = costs.examples(part.target);
            let (proof, equal) = self.proof(costs.x, &rows, common.bias.is_lifted(), monitor)?;
            return Err(Error::Inseparable { problem, positive: part.target.positive(), proof, equal });
        }
        *trouble = parts.iter().find_map(|part| part.trouble(T::KIND));
        let scores = match &parts[..] {
            [part] => known_scores(part, copies.as_ref(), costs.x.n_rows()),
            _ => None,
        };
        let offsets = parts.iter().map(|part| part.expanded.b).collect();
        let body = self.body(costs, offsets, |entry| {
            for (plane, part) in parts.iter().enumerate() {
                let rows = part.examples.iter().zip(&part.expanded.coefficients);
                rows.for_each(|(e, &a)| entry(e.row as usize, plane, a));
            }
        });
        let measured = scores.is_some() || costs.x.n_rows().saturating_mul(stored(&body)) <= MEASURED;
        let square = if let [part] = &parts[..] { Some(part.expanded.square) } else { None };
        let support_vectors = stored_rows(&body, copies.as_ref(), costs);
        let mut solved = Solved::of_parts(&summaries(&parts), costs.classes, common.gap, body, decision);
        solved.certificate.support_vectors = support_vectors;
        let violation = parts.iter().map(|part| part.expanded.violation).reduce(f64::max);
        let solved = Solved { scores, measured, square, violation, solver: title(rounds), ..solved };
        // Without a bound that α may be at, every row has a part in w.
        Ok(if T::BOUNDED { solved } else { solved.without_edges() })
    }

    /// Rows that no plane in the space of the kernel separates, where some can be found, and whether they are equal: planes of the linear kernel are those of the features, and what differs
    /// in class though it is equal no kernel tells apart.
    fn proof(
        &self,
        x: &Matrix<'_>,
        examples: &[Example],
        bias: bool,
        monitor: &Monitor<'_>,
    ) -> Result<(Option<Obstruction>, bool), Error> {
        let rows = || examples.iter().map(|example| (example.row, example.is_positive()));
        let equal = contradiction(x, rows(), true);
        let proof = match &equal {
            None if self.kernel == Kernel::Linear.into() => obstruction(x, rows(), bias, monitor)?,
            equal => equal.clone(),
        };
        Ok((proof, equal.is_some()))
    }

    /// What they would take: kernel rows of all problems side by side, and what each row has beside them.
    pub(crate) fn demand(&self, common: &Common<'_>, data: &Dataset<'_>) -> Result<Demand, Error> {
        /// Costs, examples, copies, α, scores, norms, lists, and what is laid out anew while scores are summed: 2 KiB, of which 200,000 rows of covtype took 1.7 (bench/NOTES.md).
        const ROW: usize = 256;
        // What cannot be learned takes nothing.
        Gram::new(self.kernel.clone(), data.x())?;
        let native = common.multiclass == Multiclass::Native;
        let copies = if self.merges() && !native { Copies::of(data.x(), data.y()) } else { None };
        let largest = largest_problem(common.multiclass, data, copies.as_ref());
        let rounds = self.rounds(data.x(), largest);
        let mut solver = if native { self.joint_title(rounds) } else { title(rounds) };
        if !self.is_sure() {
            solver.push_str(promise(false));
        }
        let cache = self.cache.unwrap_or_else(|| rounds.usual_cache_bytes());
        // Values of all rows with each other are all there is to keep.
        let all = largest.saturating_mul(largest).saturating_mul(size_of::<f32>()).max(rounds.least_bytes());
        let problems = common.multiclass.planes(data.classes().len());
        let most = cache.min(all.saturating_mul(problems));
        // Sparse rows and columns laid out anew, and what a model keeps.
        let copies = data.x().bytes().saturating_mul(2);
        let row = ROW + if native { 4 * data.classes().len() } else { 2 * problems };
        Ok(Demand::of(solver, (data.n_rows(), row), (data.n_features(), 0), most.saturating_add(copies)))
    }

    /// The mean of K(x, x), where the kernel tells.
    fn mean_square(&self, x: &Matrix<'_>) -> Option<f64> {
        let kernel = self.kernel.kernel().filter(|kernel| *kernel != Kernel::Precomputed)?;
        let sum: f64 = with_rows!(x, x => (0..x.n_rows()).map(|i| kernel.own(x.sq_norm(i))).sum());
        Some(sum / x.n_rows() as f64)
    }

    /// Precomputed values belong to numbers of rows, whatever else is in them.
    fn merges(&self) -> bool {
        self.kernel != Kernel::Precomputed.into()
    }

    /// Whether the kernel is known to be a dot product.
    pub(super) fn is_sure(&self) -> bool {
        self.kernel.kernel().is_some_and(Kernel::is_positive)
    }

    pub(super) fn joint_title(&self, rounds: Rounds) -> String {
        batch::joint_title(&rounds.title())
    }

    /// For problems of up to so many rows.
    pub(super) fn rounds(&self, x: &Matrix<'_>, largest: usize) -> Rounds {
        let light = is_light(&self.kernel, x);
        let share = Machine::is_short(light, largest);
        Rounds { size: working_set(largest, light, self.cache), light, largest, share }
    }

    /// At most as many problems at a time as there are threads and room for their kernel rows.
    fn side_by_side(
        &self,
        gram: &Gram<'_>,
        common: &Common<'_>,
        start: Option<&Start>,
        (problems, rounds): (Vec<(Target, Vec<Example>)>, Rounds),
        monitor: &Monitor<'_>,
    ) -> Result<Vec<Part>, Error> {
        let least = rounds.least_bytes();
        let budget = self.cache.unwrap_or_else(|| rounds.usual_cache_bytes());
        let sharing = rounds.share && budget / SHARE >= least;
        let shared = Shared::new(if sharing { budget / SHARE } else { 0 });
        let budget = if sharing { budget - budget / SHARE } else { budget };
        let shared = sharing.then_some(&shared);
        let abreast = (budget / least).clamp(1, rayon::current_num_threads()).min(problems.len().max(1));
        let (count, queue) = (problems.len(), Mutex::new(problems.into_iter().enumerate()));
        let done: Mutex<Vec<Option<Result<Part, Error>>>> = Mutex::new((0..count).map(|_| None).collect());
        let worker = |_: usize| {
            while let Some((at, (target, examples))) = queue.lock().ok().and_then(|mut queue| queue.next()) {
                let part = self.solve_one(
                    gram,
                    common,
                    start,
                    (target, examples),
                    rounds,
                    (budget / abreast, shared),
                    monitor,
                );
                if let Ok(mut done) = done.lock() {
                    done[at] = Some(part);
                }
            }
        };
        (0..abreast).into_par_iter().with_max_len(1).for_each(worker);
        done.into_inner().unwrap_or_default().into_iter().flatten().collect()
    }

    #[allow(clippy::too_many_arguments, reason = "what a problem is, and what it may use")]
    fn solve_one(
        &self,
        gram: &Gram<'_>,
        common: &Common<'_>,
        start: Option<&Start>,
        (target, mut examples): (Target, Vec<Example>),
        rounds: Rounds,
        (cache, shared): (usize, Option<&Shared>),
        monitor: &Monitor<'_>,
    ) -> Result<Part, Error> {
        if rounds.share {
            examples.sort_by_key(Example::is_positive);
        }
        let (held, lift) = match (self.nu, common.bias) {
            (Some(_), _) => (Held::EachClass, 0.0),
            (None, Bias::Free) => (Held::Sum, 0.0),
            (None, Bias::Regularized) => (Held::Nothing, 1.0),
            (None, Bias::None) => (Held::Nothing, 0.0),
        };
        let limits = self.limits(gram, common);
        let upper = self.term.bounds(&examples, limits.dual);
        let start = start.map(|start| start.alphas(target, &examples, &upper, held));
        let start = match self.nu {
            Some(nu) => Some(level(&examples, nu, start.as_deref())?),
            None => start,
        };
        let expanded = {
            let machine = Machine {
                gram,
                examples: &examples,
                held,
                upper: &upper,
                sure: self.is_sure(),
                lift,
                start,
                tolerance: self.tolerance,
                size: rounds.size.min(examples.len()),
                light: rounds.light,
                cache,
                shared,
                store: None,
                scores: None,
            };
            Decomposition::new(&machine, self.term, limits)?.solve(monitor)
        };
        Ok(Part { target, examples, expanded })
    }

    pub(super) fn limits(&self, gram: &Gram<'_>, common: &Common<'_>) -> Limits {
        let limits = common.limits();
        // Without a dot product the gap bounds nothing, and need never close.
        let gap = if self.is_sure() { limits.gap } else { f64::INFINITY };
        let dual = if T::KIND == Kind::Hard { largest_dual(gram) } else { f64::INFINITY };
        Limits { gap, dual, ..limits }
    }

    /// Every row with a part in some plane, once; `each` calls its argument with row, plane and coefficient.
    pub(super) fn body(
        &self,
        costs: &Costs<'_>,
        offsets: Vec<f64>,
        each: impl Fn(&mut dyn FnMut(usize, usize, f64)),
    ) -> Body {
        let mut used = vec![false; costs.x.n_rows()];
        each(&mut |row, _, a| used[row] |= a != 0.0);
        let numbers: Vec<usize> = (0..used.len()).filter(|&row| used[row]).collect();
        let mut places = vec![0; used.len()];
        numbers.iter().enumerate().for_each(|(place, &row)| places[row] = place);
        let planes = offsets.len();
        let mut values = vec![0.0; numbers.len() * planes];
        each(&mut |row, plane, a| {
            if a != 0.0 {
                values[places[row] * planes + plane] = a;
            }
        });
        Body::Kernel(Expansion {
            kernel: self.kernel.clone(),
            lifted: false,
            rows: self.rows(costs.x, &numbers),
            numbers: numbers.iter().map(|&row| row as u64).collect(),
            offsets,
            counts: Vec::new(),
            sum: Sum::Coefficients { planes, values },
        })
    }

    /// What a model keeps of its rows; of precomputed ones their numbers.
    fn rows(&self, x: &Matrix<'_>, numbers: &[usize]) -> Matrix<'static> {
        let mut store = RowStore::new();
        if self.kernel == Kernel::Precomputed.into() {
            return crate::precomputed::numbers(numbers, x.n_cols());
        }
        with_rows!(x, x => numbers.iter().for_each(|&row| store.append(x, row)));
        store.matrix(x.n_cols())
    }
}

impl Part {
    /// Why multipliers that the formulation sets no bounds to would not end.
    fn trouble(&self, kind: Kind) -> Option<String> {
        let fenced = self.expanded.fenced?;
        let unbounded = if fenced.endless { "is" } else { "may be" };
        Some(match (fenced.square, kind) {
            (Some(square), _) => format!(
                "the kernel is not positive semi-definite: a combination of rows, its multipliers adding up to 1, has a squared length of {square:.1e}, so that the dual {unbounded} unbounded; \
                 take --slack linear, whose multipliers have bounds, or another kernel"
            ),
            (None, Kind::Hard) => "no plane that separates the classes was found, and there would be none if the kernel were positive semi-definite, which is not known; \
                 allow for errors (--slack linear or squared), or take a kernel that tells more rows apart"
                .to_owned(),
            (None, _) => "multipliers came to bounds that they stay away from where the kernel is positive semi-definite: it is not, or its values are too coarse for so large a C; \
                 take a smaller C, or --slack linear"
                .to_owned(),
        })
    }
}

/// What a report says of a fit whose kernel may be no dot product.
fn qualify(report: &mut Report, trouble: Option<String>) {
    const ADRIFT: &str = "the kernel is not known to be positive semi-definite, and where it is not, steps may end before all conditions hold: allow for a larger --tolerance, or take another kernel";
    let converged = report.status == Status::Converged;
    if let Some(solver) = &mut report.solver {
        solver.push_str(promise(converged));
    }
    match trouble {
        Some(trouble) => report.diagnosis = vec![trouble],
        None if report.status == Status::Stalled => report.diagnosis = vec![ADRIFT.to_owned()],
        None => {}
    }
}

/// Whether the optimum of some problem is 0, which has no relative gap.
fn vanishes(report: &Report) -> bool {
    let nothing = |gap: Option<f64>, dual: Option<f64>| gap.is_none() && dual.is_some();
    nothing(report.gap, report.dual) || report.problems.iter().any(|part| nothing(part.gap, part.dual))
}

const MEETING: &str = "the optimum is w = 0, which tells no class from another: with so small a nu weighted means of the classes can meet; take a larger nu, or a kernel that tells more rows apart";

/// What holds where the kernel may be no dot product.
fn promise(converged: bool) -> &'static str {
    match converged {
        true => {
            "; the kernel is not known to be a dot product: what was found is stationary, and the gap holds only where it is one"
        }
        false => "; the kernel is not known to be a dot product: the gap holds only where it is one",
    }
}

fn title(rounds: Rounds) -> String {
    format!("{}, second-order pairs within", rounds.title())
}

/// A dual value above this proves that no plane separates the classes by a millionth of the longest row, in the space of the kernel.
fn largest_dual(gram: &Gram<'_>) -> f64 {
    const SMALLEST: f64 = 1e-6;
    let own = |square: f64| gram.kernel().kernel().map_or(1.0, |kernel| kernel.own(square));
    let x = gram.rows();
    let longest = with_rows!(x, x => (0..x.n_rows()).map(|i| own(x.sq_norm(i))).fold(0.0, f64::max));
    // Precomputed values have no lengths; then about 1 is as good a guess as any.
    let longest = if longest > 0.0 { longest } else { 1.0 };
    0.5 / (SMALLEST * SMALLEST * longest)
}

pub(super) fn stored(body: &Body) -> usize {
    if let Body::Kernel(expansion) = body { expansion.len() } else { 0 }
}

/// How many training rows the stored ones stand for: a row with a part in several planes counts once.
fn stored_rows(body: &Body, copies: Option<&Copies>, costs: &Costs<'_>) -> u64 {
    let (Body::Kernel(expansion), Some(copies)) = (body, copies) else { return stored(body) as u64 };
    let mut used = vec![false; costs.cost.len()];
    expansion.numbers().iter().for_each(|&row| used[copies.first(row as usize)] = true);
    let counts = |row: &usize| costs.cost[*row] > 0.0 && used[copies.first(*row)];
    (0..used.len()).filter(counts).count() as u64
}

/// Rows of the largest problem, copies being one where they are known.
fn largest_problem(scheme: Multiclass, data: &Dataset<'_>, copies: Option<&Copies>) -> usize {
    let mut counts = vec![0; data.classes().len()];
    let is_first = |row: usize| copies.is_none_or(|copies| copies.first(row) == row);
    let rows = data.y().iter().enumerate().filter(|(row, _)| is_first(*row));
    rows.for_each(|(_, &class)| counts[class as usize] += 1);
    counts.sort_unstable();
    let classes = if scheme == Multiclass::Ovo { 2 } else { counts.len() };
    counts.iter().rev().take(classes).sum()
}

/// How the rounds of a decomposition are.
#[derive(Clone, Copy)]
pub(super) struct Rounds {
    /// Rows of a working set.
    pub(super) size: usize,
    /// Whether rows are so short that kernel values cost little.
    light: bool,
    /// Rows of the largest problem.
    largest: usize,
    /// Whether examples of one class come before those of the other, so that problems can share what rows have with their own.
    share: bool,
}

impl Rounds {
    pub(super) fn title(self) -> String {
        format!("decomposition, up to {} rows at a time", self.size)
    }

    pub(super) fn is_light(self) -> bool {
        self.light
    }

    /// What a cache must have room for.
    pub(super) fn least_bytes(self) -> usize {
        bytes_for(self.size, self.largest)
    }

    /// What a cache gets unless it is told. Where rows are short, memory that is touched for the first time costs more than the values it keeps (bench/NOTES.md).
    pub(super) fn usual_cache_bytes(self) -> usize {
        const ENOUGH: usize = 1 << 30;
        let most = if self.light { ENOUGH } else { usize::MAX };
        usual_cache_bytes().min(most).max(self.least_bytes())
    }
}

/// Rows of a working set, given how many there are; fewer where a cache that was asked for has no room for more. What is free does not count, or results would depend on it.
///
/// The longer rows are, the more each one that is evaluated too early costs; where they are short, the rounds themselves do (bench/NOTES.md).
fn working_set(n: usize, light: bool, cache: Option<usize>) -> usize {
    const HEAVY: usize = 512;
    const LIGHT: (usize, usize) = (128, 4096);
    let size = if light { (n / 20).clamp(LIGHT.0, LIGHT.1) } else { HEAVY };
    let fits = |size: &usize| cache.is_none_or(|cache| bytes_for(*size, n) <= cache);
    (2..=size.min(n)).rev().find(fits).unwrap_or(2)
}

/// Whether rows have so few entries, but for zeros, that kernel values cost little.
fn is_light(kernel: &Similarity, x: &Matrix<'_>) -> bool {
    const FEW: usize = 64;
    const SAMPLE: usize = 1024;
    if kernel.kernel().is_none_or(|kernel| kernel == Kernel::Precomputed) {
        return false;
    }
    let rows = (0..x.n_rows()).step_by(x.n_rows().div_ceil(SAMPLE).max(1));
    let (mut entries, mut seen) = (0, 0);
    for i in rows {
        x.each(i, |_, v| entries += usize::from(v != 0.0));
        seen += 1;
    }
    entries < FEW * seen
}

/// What a cache needs to hold so many kernel rows beside its lists and laid-out columns.
fn bytes_for(size: usize, n: usize) -> usize {
    let (lists, row) = (64 * n, n * size_of::<f32>() + 64);
    (lists + (size + 1) * row) / 7 * 8 + 64
}

/// The scores of all rows, where one problem had them all.
fn known_scores(part: &Part, copies: Option<&Copies>, n_rows: usize) -> Option<Vec<f64>> {
    let scores = match copies {
        Some(copies) => copies.spread(&part.examples, &part.expanded.scores),
        None => part.expanded.scores.clone(),
    };
    (scores.len() == n_rows).then_some(scores)
}

fn summaries(parts: &[Part]) -> Vec<Summary> {
    let summary = |part: &Part| Summary {
        target: part.target,
        certificate: part.expanded.certificate.clone(),
        passes: part.expanded.rounds,
        end: part.expanded.end,
    };
    parts.iter().map(summary).collect()
}

/// Where the ν formulation begins: the same sum of α in each class; in proportion to what a model has, as far as costs allow, or on as few rows as hold it.
fn level(examples: &[Example], nu: f64, known: Option<&[f64]>) -> Result<Vec<f64>, ParamError> {
    let total: f64 = examples.iter().map(|e| e.cost).sum();
    let mut alpha = vec![0.0; examples.len()];
    let mut left = [0.5 * nu * total; 2];
    for (side, left) in left.iter_mut().enumerate() {
        let own = |i: &usize| usize::from(examples[*i].is_positive()) == side;
        let rows: Vec<usize> = (0..examples.len()).filter(own).collect();
        let factor = known.map_or(0.0, |known| multiple(examples, &rows, known, *left));
        for &i in &rows {
            alpha[i] = known.map_or(0.0, |known| factor * known[i]).min(examples[i].cost).min(*left);
            *left -= alpha[i];
        }
        for &i in &rows {
            let more = (examples[i].cost - alpha[i]).min(*left);
            alpha[i] += more;
            *left -= more;
        }
    }
    let smaller = [true, false]
        .map(|side| examples.iter().filter(|e| e.is_positive() == side).map(|e| e.cost).sum::<f64>());
    let most = 2.0 * smaller[0].min(smaller[1]) / total;
    let fits = left.iter().all(|left| *left <= 1e-9 * total);
    ParamError::unless(
        fits,
        "nu",
        &format!("is at most {most:.3} here: twice the share of the smaller class"),
    )?;
    Ok(alpha)
}

/// The multiple of α, with costs as its bounds, that has some sum; 0 where none has.
fn multiple(examples: &[Example], rows: &[usize], alpha: &[f64], sum: f64) -> f64 {
    const HALVINGS: usize = 200;
    let reached = |factor: f64| rows.iter().map(|&i| (factor * alpha[i]).min(examples[i].cost)).sum::<f64>();
    let largest = rows.iter().map(|&i| alpha[i]).fold(0.0, f64::max);
    if largest <= 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0 / largest);
    while reached(high) < sum && high < f64::MAX / 4.0 {
        high *= 2.0;
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        *(if reached(middle) < sum { &mut low } else { &mut high }) = middle;
    }
    low
}

/// A model to go on from.
pub(super) struct Start {
    /// For each plane the coefficient of each row, where it has one.
    pub(super) coefficients: Vec<std::collections::HashMap<u64, f64>>,
    targets: Vec<Target>,
}

impl Start {
    pub(super) fn of(
        task: &Task<'_>,
        kernel: &Similarity,
        scheme: Multiclass,
    ) -> Result<Option<Self>, Error> {
        let Some(model) = task.start else { return Ok(None) };
        task.check_start(model)?;
        let refuse = |what: &str| Err(Error::Start(what.to_owned()));
        let Body::Kernel(expansion) = &model.body else { return refuse("has no kernel") };
        if expansion.kernel != *kernel {
            return refuse("has another kernel");
        }
        let Some(numbers) = Some(&expansion.numbers).filter(|numbers| numbers.len() == expansion.len())
        else {
            return refuse("does not say which rows it was made of");
        };
        let n = task.data.n_rows();
        let here: Vec<usize> = numbers.iter().map(|&row| row as usize).filter(|&row| row < n).collect();
        if here.len() != numbers.len() || !same_rows(task.data.x(), &here, expansion.rows(), kernel) {
            return refuse("was made of other rows");
        }
        let planes = expansion.planes();
        let values = expansion.coefficients();
        let plane = |plane: usize| {
            let of_plane = values.iter().skip(plane).step_by(planes);
            numbers.iter().copied().zip(of_plane.copied()).filter(|(_, a)| *a != 0.0).collect()
        };
        let its = if model.decision.pair_tie().is_some() { Multiclass::Ovo } else { Multiclass::Ovr };
        let pairs = |scheme: Multiclass| scheme == Multiclass::Ovo;
        if model.classes.len() > 2 && pairs(its) != pairs(scheme) {
            return refuse(if pairs(its) {
                "has a plane for each pair of classes: add --multiclass ovo"
            } else {
                "has a plane for each class: add --multiclass ovr"
            });
        }
        let (targets, _) = batch::targets(its, model.classes.len());
        Ok(Some(Start { coefficients: (0..planes).map(plane).collect(), targets }))
    }

    /// As near to it as the bounds of this problem allow.
    fn alphas(&self, target: Target, examples: &[Example], upper: &[f64], held: Held) -> Vec<f64> {
        let Some(plane) = self.targets.iter().position(|&known| known == target) else {
            return vec![0.0; examples.len()];
        };
        let coefficient =
            |e: &Example| self.coefficients[plane].get(&u64::from(e.row)).copied().unwrap_or_default();
        // The ν formulation stretches its plane; its own bounds come with the sums of α.
        let most = |upper: f64| if held == Held::EachClass { f64::INFINITY } else { upper };
        let bounded = |(e, &upper): (&Example, &f64)| (e.y() * coefficient(e)).clamp(0.0, most(upper));
        let mut alpha: Vec<f64> = examples.iter().zip(upper).map(bounded).collect();
        if held == Held::Sum {
            project(examples, &mut alpha);
        }
        alpha
    }
}

fn same_rows(x: &Matrix<'_>, rows: &[usize], stored: &Matrix<'_>, kernel: &Similarity) -> bool {
    if *kernel == Kernel::Precomputed.into() {
        return true;
    }
    let entries = |x: &Matrix<'_>, i: usize| {
        let mut all = Vec::new();
        x.each(i, |j, v| {
            if v != 0.0 {
                all.push((j, v))
            }
        });
        all
    };
    rows.iter().enumerate().all(|(s, &i)| entries(x, i) == entries(stored, s))
}
