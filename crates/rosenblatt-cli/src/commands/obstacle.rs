//! Why a perceptron does not settle.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rosenblatt::{
    Fit, Multiclass, Obstruction, Progress, Report, Separability, SeparabilityProblem, Status, Watch,
};
use serde_json::{Value, json};

use super::data::Training;
use crate::failure::Failure;
use crate::progress::Bar;

/// Rows that no weights get right all at once.
pub(super) struct Obstacle {
    /// The two-class problem, where there are several.
    title: Option<String>,
    proof: Obstruction,
}

impl Obstacle {
    /// What keeps a run that used up its passes from ever converging, if that is proved; nothing where more passes may help, or where the search could take longer than the run, or
    /// than what the run left of its time limit.
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
        let mut watch = Until { deadline: deadline(&fit.report, trained), bar };
        let found = Separability::first_inseparable(data, scheme, is_lifted(&fit.report), &mut watch)
            .map_err(|error| training.blame(error))?;
        let several = data.classes().len() > 2;
        let obstacle = |SeparabilityProblem { title, answer, .. }| match answer {
            Separability::Inseparable(proof) => {
                Some(Obstacle { title: several.then_some(title), proof: training.in_file(proof) })
            }
            Separability::Separable(_) => None,
        };
        Ok(found.and_then(obstacle))
    }

    pub(super) fn line(&self) -> String {
        let problem = self.title.as_ref().map(|title| format!(" ({title})")).unwrap_or_default();
        format!("will never converge: {} that no plane separates the classes{problem}", self.proof.proves())
    }

    /// The rows, counted from 1.
    pub(super) fn json(&self) -> Value {
        json!(self.proof.multipliers.iter().map(|multiplier| multiplier.row + 1).collect::<Vec<_>>())
    }
}

/// Shows the bar, and ends the search at a time.
struct Until<'b> {
    deadline: Option<Instant>,
    bar: &'b mut Bar,
}

impl Watch for Until<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => ControlFlow::Break(()),
            _ => self.bar.progress(progress),
        }
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
    let perceptron = ["perceptron", "averaged-perceptron", "voted-perceptron"].contains(&&*report.algorithm);
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
        assert!(Until { deadline: over, bar: &mut bar }.progress(&Progress::default()).is_break());
        assert!(Until { deadline: None, bar: &mut bar }.progress(&Progress::default()).is_continue());
    }
}
