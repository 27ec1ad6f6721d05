//! Claims, what was found of them, and what follows.

use serde::Serialize;
use serde_json::Value;

use crate::report::Report;

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is true.
    Held,
    /// It is false.
    Broken,
    /// Neither was shown.
    Open,
}

impl Verdict {
    pub(super) fn of(held: bool) -> Self {
        if held { Verdict::Held } else { Verdict::Broken }
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Held => "held",
            Verdict::Broken => "BROKEN",
            Verdict::Open => "open",
        }
    }
}

/// One thing that a model says of itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// What it is about.
    pub name: String,
    /// What the model says.
    pub claimed: String,
    /// What the data say.
    pub found: String,
    /// Which of the two it is.
    pub verdict: Verdict,
}

/// All claims of a model, and how far it is from the optimum.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verification {
    /// Each claim.
    pub claims: Vec<Claim>,
    /// C, where the model does not say it and one was taken for it.
    pub assumed_c: Option<f64>,
    /// The objective at the model.
    pub primal: Option<f64>,
    /// The best lower bound of the objective that was proved.
    pub dual: Option<f64>,
    /// (primal − dual) / primal: the model is no further from the optimum than this.
    pub gap: Option<f64>,
    /// Why the objective was not measured, where it was not though there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmeasured: Option<String>,
}

impl Verification {
    /// Whether no claim is broken.
    pub fn holds(&self) -> bool {
        self.claims.iter().all(|claim| claim.verdict != Verdict::Broken)
    }
}

/// What was found out of the optimum of an objective.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// A dual value.
    pub(super) dual: f64,
    /// Whether it is a lower bound: where the kernel may be no dot product it is a figure like any other.
    pub(super) proved: bool,
    /// The smallest objective that was met on the way: the optimum is not above it.
    pub(super) reached: f64,
    /// By how much the model's own multipliers break the optimality conditions.
    pub(super) violation: Option<f64>,
}

/// A number as it is shown: enough digits to see a difference.
pub(super) fn figure(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if !(1e-4..1e9).contains(&size) => format!("{value:.6e}"),
        size => {
            let digits = (7 - size.log10().floor() as i32).clamp(0, 12);
            let text = format!("{value:.*}", digits as usize);
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text
            }
        }
    }
}

/// Whether two numbers are the same up to a share of the larger.
pub(super) fn close(a: f64, b: f64, allowed: f64) -> bool {
    a == b || (a.is_finite() && b.is_finite() && (a - b).abs() <= allowed * a.abs().max(b.abs()))
}

/// Claims as they are looked at.
#[derive(Default)]
pub(super) struct Claims(Verification);

impl Claims {
    pub(super) fn new() -> Self {
        Claims::default()
    }

    pub(super) fn finish(self) -> Verification {
        self.0
    }

    pub(super) fn unmeasured(&mut self, why: Option<String>) {
        self.0.unmeasured = why;
    }

    pub(super) fn push(&mut self, name: &str, claimed: String, found: String, verdict: Verdict) {
        self.0.claims.push(Claim { name: name.to_owned(), claimed, found, verdict });
    }

    /// A number that is what it is but for rounding.
    pub(super) fn close(&mut self, name: &str, claimed: Option<f64>, found: f64, allowed: f64) {
        if let Some(claimed) = claimed {
            self.push(name, figure(claimed), figure(found), Verdict::of(close(claimed, found, allowed)));
        }
    }

    /// A share of the rows, some of which may count or not.
    pub(super) fn rate(&mut self, name: &str, claimed: Option<f64>, found: f64, doubtful: f64) {
        if let Some(claimed) = claimed {
            let shown = |rate: f64| format!("{}%", figure(100.0 * rate));
            let held = (claimed - found).abs() <= doubtful + 1e-12;
            self.push(name, shown(claimed), shown(found), Verdict::of(held));
        }
    }

    /// That no point has an objective below the dual value: proved by a dual point that is as good, refuted by a point that has one.
    pub(super) fn dual(&mut self, report: &Report, primal: f64, found: &Bounds, allowed: f64) {
        let Some(claimed) = report.dual else { return };
        let slack = allowed * primal.abs();
        let (shown, verdict) = match () {
            () if !found.proved => (
                format!("{}, no bound: the kernel may be no dot product", figure(found.dual)),
                if (found.dual - claimed).abs() <= slack { Verdict::Held } else { Verdict::Open },
            ),
            () if !primal.is_finite() || claimed > primal.min(found.reached) + slack => {
                (format!("at most {}", figure(primal.min(found.reached))), Verdict::Broken)
            }
            () if found.dual >= claimed - slack => (at_least(found.dual), Verdict::Held),
            () => (at_least(found.dual), Verdict::Open),
        };
        self.push("dual", figure(claimed), shown, verdict);
    }

    /// That the gap is that of the primal and the dual value, and so for each problem.
    pub(super) fn gap(&mut self, report: &Report, primal: f64, parts: &[f64], rounding: f64) {
        let (Some(claimed), Some(dual)) = (report.gap, report.dual) else { return };
        let gap = |primal: f64, dual: f64| ((primal - dual) / primal.abs().max(f64::MIN_POSITIVE)).max(0.0);
        let found = gap(primal, dual);
        let same = |a: f64, b: f64| {
            primal.is_finite() && (a - b).abs() <= 2.0 * rounding + 1e-6 * a.abs().max(b.abs())
        };
        self.push("gap", figure(claimed), figure(found), Verdict::of(same(claimed, found)));
        if report.problems.len() == parts.len() {
            let implied: Option<f64> = report
                .problems
                .iter()
                .zip(parts)
                .map(|(problem, primal)| problem.gap.map(|gap| primal * (1.0 - gap)))
                .sum();
            if let Some(implied) = implied {
                let held = (implied - dual).abs() <= (2.0 * rounding + 1e-6 * claimed) * primal.abs();
                self.push("gaps of the problems", figure(dual), figure(implied), Verdict::of(held));
            }
        }
    }

    pub(super) fn assume(&mut self, c: Option<f64>) {
        self.0.assumed_c = c;
    }

    pub(super) fn optimum(&mut self, primal: f64, found: &Bounds) {
        self.0.primal = Some(primal).filter(|primal| primal.is_finite());
        self.0.dual = Some(found.dual).filter(|dual| found.proved && dual.is_finite());
        self.0.gap =
            self.0.primal.zip(self.0.dual).map(|(p, d)| ((p - d) / p.abs().max(f64::MIN_POSITIVE)).max(0.0));
    }
}

fn at_least(value: f64) -> String {
    format!("at least {}", figure(value))
}

/// The beginning of a document.
pub(super) fn short(value: &Value) -> String {
    const MOST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
