//! What a fit would take: memory, and time as fits on parts of the rows foretell it.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::data::{Dataset, stratified_sample};
use crate::error::Error;
use crate::learner::{Demand, Learner, Task};
use crate::online::Multiclass;
use crate::watch::{Progress, Watch};

/// How a fit is planned.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, LinearSvm, Planner, Task};
/// let x = Dense::new((0..400).map(f64::from).collect::<Vec<_>>(), 2)?;
/// let data = Dataset::new(x, &Labels::new((0..200).map(|i| if i < 90 { "low" } else { "high" })))?;
/// let plan = Planner::default().plan(&LinearSvm::default(), &Task::new(&data), &mut ())?;
/// assert_eq!((plan.rows, plan.features, plan.entries), (200, 2, 400));
/// assert!(plan.probes.iter().all(|probe| probe.rows <= 100));
/// let time = plan.seconds.unwrap();
/// assert!(time.least <= time.expected && time.expected <= time.most);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Planner {
    /// Seconds for fits on parts of the rows. Unless told: 2, or a tenth of what is foretold, up to 30.
    pub budget: Option<f64>,
    /// Fixes which rows are taken.
    pub seed: u64,
}

/// What a fit would take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// Number of rows.
    pub rows: usize,
    /// Number of features, after maps.
    pub features: usize,
    /// Numbers that are stored: all, or those that are not zero where rows are sparse.
    pub entries: usize,
    /// Number of classes.
    pub classes: usize,
    /// Bytes of the data, rows held out among them.
    pub data_bytes: u64,
    /// The solver that would run, and bytes beside the data.
    #[serde(flatten)]
    pub demand: Demand,
    /// Fits on parts of the rows.
    pub probes: Vec<Probe>,
    /// How long training would take; nothing where no fit on a part of the rows ended in time.
    pub seconds: Option<Forecast>,
}

/// A fit on a part of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Probe {
    /// Rows of the part.
    pub rows: usize,
    /// How long it took.
    pub seconds: f64,
}

/// A time, and between what it is likely to be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Forecast {
    /// The best guess.
    pub expected: f64,
    /// Hardly less.
    pub least: f64,
    /// Hardly more.
    pub most: f64,
}

impl Planner {
    /// Plans a fit: no model is made. A watcher that says stop ends the probes, and the plan has what they told until then.
    pub fn plan(&self, learner: &dyn Learner, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Plan, Error> {
        learner.check()?;
        let data = task.data;
        let mut demand = learner.demand(data)?;
        demand.bytes = demand.bytes.saturating_add(beside_holdout(learner, task) as u64);
        let probes = self.probe(learner, task, watch)?;
        let limit = learner.parameters().get("time_limit").and_then(serde_json::Value::as_f64);
        Ok(Plan {
            rows: data.n_rows(),
            features: data.n_features(),
            entries: data.x().entries(),
            classes: data.classes().len(),
            data_bytes: (data.bytes() + task.holdout.map_or(0, Dataset::bytes)) as u64,
            demand,
            seconds: Forecast::of(&probes, data.n_rows()).map(|time| time.at_most(limit)),
            probes,
        })
    }

    /// Fits on parts that double, up to half of the rows, while there is time.
    ///
    /// The last is half of them wherever it can be: solvers take longer steps or other orders from some size on, and what they do there no smaller part tells.
    fn probe(
        &self,
        learner: &dyn Learner,
        task: &Task<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Vec<Probe>, Error> {
        if learner.parameters().get("kernel").is_some_and(|kernel| kernel == "precomputed") {
            // Some of the rows would leave their columns behind.
            return Ok(Vec::new());
        }
        let (n, began) = (task.data.n_rows(), Instant::now());
        let mut probes: Vec<Probe> = Vec::new();
        for share in shares(n) {
            let next = Forecast::of(&probes, (share * n as f64) as usize).map_or(0.0, |time| time.expected);
            let left = self.budget(&probes, n) - began.elapsed().as_secs_f64();
            if next > left {
                break;
            }
            let part = Part::of(task, share, self.seed);
            let Some(probe) = part.fit(learner, task, left, watch)? else { break };
            probes.push(probe);
        }
        Ok(probes)
    }

    fn budget(&self, probes: &[Probe], n: usize) -> f64 {
        let usual = || Forecast::of(probes, n).map_or(2.0, |time| (0.1 * time.expected).clamp(2.0, 30.0));
        self.budget.unwrap_or_else(usual)
    }
}

/// Parts of the rows that fits are made on: each twice the one before, the last a half.
fn shares(rows: usize) -> impl Iterator<Item = f64> {
    /// Rows below which a fit tells nothing of many.
    const FEW: f64 = 250.0;
    let least = (FEW / rows as f64).clamp(1.0 / 1024.0, 0.125);
    let halvings = (0.5 / least).log2().floor() as i32;
    (1..=halvings + 1).rev().map(|halvings| 0.5f64.powi(halvings))
}

/// Scores of rows held out, and the model that does best on them.
fn beside_holdout(learner: &dyn Learner, task: &Task<'_>) -> usize {
    let Some(holdout) = task.holdout else { return 0 };
    let scheme = serde_json::from_value::<Multiclass>(learner.parameters()["multiclass"].clone());
    let planes = scheme.unwrap_or_default().planes(holdout.classes().len());
    let numbers = holdout.n_rows().saturating_add(holdout.n_features()).saturating_mul(planes);
    numbers.saturating_mul(size_of::<f64>())
}

/// Some of the rows of a task.
struct Part {
    data: Dataset<'static>,
    holdout: Option<Dataset<'static>>,
}

impl Part {
    fn of(task: &Task<'_>, share: f64, seed: u64) -> Self {
        let sample = |data: &Dataset<'_>| data.select(&stratified_sample(data.y(), share, seed));
        Part { data: sample(task.data), holdout: task.holdout.map(sample) }
    }

    /// How long a fit takes, the one in the middle of a few where that is soon known; nothing if it was stopped.
    fn fit(
        &self,
        learner: &dyn Learner,
        task: &Task<'_>,
        seconds: f64,
        watch: &mut dyn Watch,
    ) -> Result<Option<Probe>, Error> {
        const SOON: f64 = 0.2;
        const TIMES: usize = 3;
        let task = Task { data: &self.data, holdout: self.holdout.as_ref(), start: None, ..*task };
        let mut watch = Until { end: deadline(seconds), stopped: false, watch };
        let (mut times, mut spent) = (Vec::new(), 0.0);
        for _ in 0..TIMES {
            let began = Instant::now();
            match learner.learn(&task, &mut watch) {
                // That, too, takes its time.
                Ok(_) | Err(Error::NotSeparable { .. } | Error::Inseparable { .. }) => {}
                Err(error) => return Err(error),
            }
            let took = began.elapsed().as_secs_f64();
            if watch.stopped {
                return Ok(None);
            }
            times.push(took);
            spent += took;
            if spent > SOON {
                break;
            }
        }
        // The first of them is as cold as the fit will be, and one may be disturbed.
        times.sort_unstable_by(f64::total_cmp);
        let seconds = times[times.len() / 2];
        Ok(Some(Probe { rows: self.data.n_rows(), seconds }))
    }
}

fn deadline(seconds: f64) -> Option<Instant> {
    Duration::try_from_secs_f64(seconds).ok().and_then(|limit| Instant::now().checked_add(limit))
}

/// Stops a fit at an instant, or when the one who watches says so.
struct Until<'w> {
    end: Option<Instant>,
    stopped: bool,
    watch: &'w mut dyn Watch,
}

impl Watch for Until<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.stopped |= self.end.is_some_and(|end| Instant::now() >= end);
        self.stopped |= self.watch.progress(progress).is_break();
        if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Forecast {
    /// For so many rows, given fits on fewer: along a line where time grows more slowly than rows, which is what work of a fixed size beside them looks like, and by a power of
    /// their number where it grows faster.
    fn of(probes: &[Probe], rows: usize) -> Option<Self> {
        /// What times differ by though nothing else does, and how far a power learned on few rows may be off.
        const NOISE: f64 = 1.3;
        const DRIFT: f64 = 0.12;
        /// Earlier ones tell of other times.
        const LAST: usize = 4;
        let last = probes.last()?;
        let latest = &probes[probes.len().saturating_sub(LAST)..];
        let points = |scale: fn(f64) -> f64| {
            latest.iter().map(move |probe| (scale(probe.rows as f64), scale(probe.seconds)))
        };
        let (rows, ratio) = (rows as f64, rows as f64 / last.rows as f64);
        let power = slope(points(|value| value.max(1e-9).ln())).map_or(1.0, |power| power.clamp(0.0, 3.0));
        let expected = match slope(points(|value| value)) {
            Some(rise) if power < 1.0 => {
                let (n, t) = mean(points(|value| value));
                (t + rise * (rows - n)).max(last.seconds)
            }
            _ => last.seconds * ratio.powf(power),
        };
        let bend = if latest.len() > 2 { 0.0 } else { 0.5 };
        let factor = NOISE * ratio.max(1.0).powf(DRIFT.max(bend));
        Some(Forecast { expected, least: expected / factor, most: expected * factor })
    }

    fn at_most(self, limit: Option<f64>) -> Self {
        let limit = limit.unwrap_or(f64::INFINITY);
        let Forecast { expected, least, most } = self;
        Forecast { expected: expected.min(limit), least: least.min(limit), most: most.min(limit) }
    }
}

/// Of the line through points that has the least sum of squares; nothing where they are fewer than two.
fn slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> Option<f64> {
    let (x, y) = mean(points.clone());
    let (across, along) =
        points.fold((0.0, 0.0), |sum, (a, b)| (sum.0 + (a - x) * (b - y), sum.1 + (a - x) * (a - x)));
    (along > 0.0).then(|| across / along)
}

fn mean(points: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let n = points.clone().count().max(1) as f64;
    let sum = points.fold((0.0, 0.0), |sum, (a, b)| (sum.0 + a, sum.1 + b));
    (sum.0 / n, sum.1 / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foretold(time: impl Fn(f64) -> f64, rows: usize) -> Forecast {
        let probe = |&rows: &usize| Probe { rows, seconds: time(rows as f64) };
        let probes: Vec<Probe> = [250, 500, 1000, 2000].iter().map(probe).collect();
        Forecast::of(&probes, rows).unwrap()
    }

    #[test]
    fn lines_and_powers_go_on() {
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(near(foretold(|n| 0.5 + 1e-3 * n, 64_000).expected, 64.5));
        assert!(near(foretold(|n| 1e-6 * n.powf(1.7), 64_000).expected, 1e-6 * 64_000f64.powf(1.7)));
        let width = |time: Forecast| time.most / time.least;
        assert!(width(foretold(|n| n, 64_000)) > width(foretold(|n| n, 4000)));
    }

    /// Dual coordinate descent visits longer runs of rows from five million entries on, and then needs twice as many passes.
    #[test]
    fn what_changes_below_half_of_the_rows_is_seen() {
        let rows: usize = 200_000;
        let time = |n: f64| n * if n > 83_000.0 { 2.0 } else { 1.0 };
        let probe = |share: f64| {
            let part = share * rows as f64;
            Probe { rows: part as usize, seconds: time(part) }
        };
        let probes: Vec<Probe> = shares(rows).map(probe).collect();
        let ratio = Forecast::of(&probes, rows).unwrap().expected / time(rows as f64);
        assert!((0.7..1.5).contains(&ratio), "{ratio}");
    }

    #[test]
    fn parts_double_up_to_half_of_the_rows() {
        for rows in [2, 100, 777, 3000, 200_000, 10_000_000] {
            let shares: Vec<f64> = shares(rows).collect();
            assert_eq!((shares.len() > 2, shares.last()), (true, Some(&0.5)), "{rows}: {shares:?}");
            assert!(shares.windows(2).all(|pair| pair[1] == 2.0 * pair[0]));
            assert!(shares[0] * rows as f64 >= 250.0 || shares[0] == 0.125, "{rows}: {shares:?}");
        }
    }

    #[test]
    fn nothing_is_foretold_of_nothing_and_a_limit_holds() {
        assert_eq!(Forecast::of(&[], 100), None);
        let time = foretold(|n| n, 64_000).at_most(Some(3.0));
        assert_eq!((time.expected, time.most), (3.0, 3.0));
    }
}
