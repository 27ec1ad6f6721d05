//! Why a perceptron does not settle.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rosenblatt::{
    Fit, Learner, Multiclass, Obstruction, Progress, Report, Separability, SeparabilityProblem, Status, Watch,
};
use serde_json::{Value, json};

use super::data::Training;
use crate::failure::Failure;
use crate::progress::Bar;

const PERCEPTRONS: [&str; 3] = ["perceptron", "averaged-perceptron", "voted-perceptron"];

/// So long nobody minds waiting for a proof, however short the run was.
const ENOUGH: Duration = Duration::from_secs(5);

/// What a run that used up its passes has before it.
pub(super) enum Obstacle {
    /// Rows that no weights get right all at once.
    Proof {
        /// The two-class problem, where there are several.
        title: Option<String>,
        proof: Obstruction,
    },
    /// None: there are planes, and passes enough lead to them.
    Passes,
}

impl Obstacle {
    /// Whether a run that used up its passes would ever converge, if that is proved; nothing where it is not, or where the search takes longer than the run and five seconds, or than what the run
    /// left of its time limit.
    pub(super) fn of(
        fit: &Fit,
        training: &Training,
        trained: Duration,
        bar: &mut Bar,
    ) -> Result<Option<Self>, Failure> {
        let data = &training.data;
        if !never_settles_on_inseparable(&fit.report) || !is_quick(training) {
            return Ok(None);
        }
        // Weights of all classes that are right on all rows are planes between every two of them.
        let scheme = match fit.report.parameters["multiclass"].as_str() {
            Some("ovr") => Multiclass::Ovr,
            _ => Multiclass::Ovo,
        };
        let mut watch = Until::of_run(&fit.report, trained, bar).within(trained.max(ENOUGH));
        let found = Separability::first_inseparable(data, scheme, is_lifted(&fit.report), &mut watch)
            .map_err(|error| training.blame(error))?;
        let several = data.classes().len() > 2;
        // Planes between every two of many classes need not be those of one weight vector a class.
        let reduced =
            !several || ["ovr", "ovo"].contains(&fit.report.parameters["multiclass"].as_str().unwrap_or(""));
        Ok(match found {
            Some(SeparabilityProblem { title, answer: Separability::Inseparable(proof), .. }) => {
                Some(Obstacle::Proof { title: several.then_some(title), proof: training.in_file(proof) })
            }
            Some(_) => None,
            None => (reduced && !watch.stopped).then_some(Obstacle::Passes),
        })
    }

    /// What the search takes beside the data, for learners that may ask for it: points with their lengths and hashes, and some matrices of those that a proof may be made of.
    pub(super) fn bytes(learner: &dyn Learner, training: &Training) -> u64 {
        const POINT: usize = 48;
        const MATRICES: usize = 6;
        if !PERCEPTRONS.contains(&learner.name()) || !is_quick(training) {
            return 0;
        }
        let data = &training.data;
        let most = data.n_rows().min(data.n_features()) + 2;
        (data.n_rows() * POINT + MATRICES * most * most * size_of::<f64>()) as u64
    }

    pub(super) fn line(&self) -> String {
        match self {
            Obstacle::Proof { title, proof } => {
                let problem = title.as_ref().map(|title| format!(" ({title})")).unwrap_or_default();
                format!(
                    "will never converge: {} that no plane separates the classes{problem}",
                    proof.proves()
                )
            }
            Obstacle::Passes => "a plane separates the classes: more --passes will help".to_owned(),
        }
    }

    /// The rows, counted from 1.
    pub(super) fn json(&self) -> Value {
        match self {
            Obstacle::Proof { proof, .. } => {
                json!(proof.multipliers.iter().map(|multiplier| multiplier.row + 1).collect::<Vec<_>>())
            }
            Obstacle::Passes => Value::Null,
        }
    }
}

/// Shows the bar, and ends the search at a time.
pub(super) struct Until<'b> {
    deadline: Option<Instant>,
    bar: &'b mut Bar,
    /// Whether it ended the search, or somebody did.
    stopped: bool,
}

impl<'b> Until<'b> {
    /// For as long as a run left of its time limit.
    pub(super) fn of_run(report: &Report, trained: Duration, bar: &'b mut Bar) -> Self {
        Until { deadline: deadline(report, trained), bar, stopped: false }
    }

    /// And for so long at the most.
    fn within(self, most: Duration) -> Self {
        let deadline = self.deadline.into_iter().chain(Instant::now().checked_add(most)).min();
        Until { deadline, ..self }
    }

    /// Whether time is.
    pub(super) fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl Watch for Until<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        let flow = if self.is_over() { ControlFlow::Break(()) } else { self.bar.progress(progress) };
        self.stopped |= flow.is_break();
        flow
    }
}

/// When the time limit of a run that is over would have ended it.
fn deadline(report: &Report, trained: Duration) -> Option<Instant> {
    let limit = Duration::try_from_secs_f64(report.parameters["time_limit"].as_f64()?).ok()?;
    Instant::now().checked_add(limit.saturating_sub(trained))
}

fn is_lifted(report: &Report) -> bool {
    report.parameters["bias"] != "none"
}

/// With a bias, rows on the plane can be moved off it; without one they count as right or wrong by the tie rule, and only `mistake` has the meaning of the proof.
fn never_settles_on_inseparable(report: &Report) -> bool {
    let perceptron = PERCEPTRONS.contains(&&*report.algorithm);
    let strict = is_lifted(report) || report.parameters["tie"] == "mistake";
    perceptron && strict && report.status == Status::PassLimit
}

/// Proofs have up to so many rows as there are features, and solving for them takes the cube of that.
fn is_quick(training: &Training) -> bool {
    const ENTRIES: usize = 10_000_000;
    const ROWS: usize = 1_000;
    let data = &training.data;
    let k = data.classes().len();
    let times = if k > 2 { k - 1 } else { 1 };
    data.x().entries().saturating_mul(times) <= ENTRIES && data.n_rows().min(data.n_features()) <= ROWS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_has_what_the_run_left() {
        let report =
            |limit: Value| Report { parameters: json!({ "time_limit": limit }), ..Report::default() };
        let (second, hour) = (Duration::from_secs(1), Duration::from_secs(3600));
        assert_eq!(deadline(&report(Value::Null), second), None);
        assert!(deadline(&report(json!(7200.0)), second).is_some_and(|end| end > Instant::now() + hour));
        let over = deadline(&report(json!(0.5)), second);
        let mut bar = Bar::new(true);
        let mut watch = Until { deadline: over, bar: &mut bar, stopped: false };
        assert!(watch.progress(&Progress::default()).is_break() && watch.stopped);
        let mut watch = Until { deadline: None, bar: &mut bar, stopped: false };
        assert!(watch.progress(&Progress::default()).is_continue() && !watch.stopped);
        let at_once = Until { deadline: None, bar: &mut bar, stopped: false }.within(Duration::ZERO);
        assert!(at_once.is_over());
        let soon = Until { deadline: over, bar: &mut bar, stopped: false }.within(hour);
        assert!(soon.is_over(), "the time limit holds, too");
    }
}
