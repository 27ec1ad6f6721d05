//! Why a solver did not come to an end.

use std::collections::HashMap;

use xxhash_rust::xxh3::Xxh3;

use super::Bias;
use crate::data::{Dataset, Rows};
use crate::report::Status;
use crate::with_rows;

/// Columns whose largest values differ by more than this make solvers that look at one row at a time creep.
const SCALES: f64 = 1e3;

/// C times the squared length of a row; beyond it a coordinate moves a tiny part of its way in a pass.
const STEEP: f64 = 1e4;

/// Sums over n rows are exact to about so many times n·ε, and gaps are differences of such.
const ROUNDING: f64 = 1e3;

/// Rows and columns that are named, of all that are meant.
const NAMED: usize = 3;

/// A run that did not come to its end.
pub(super) struct Stuck<'a> {
    pub(super) status: Status,
    /// The gap it came to.
    pub(super) gap: f64,
    /// The objective after each step, where it is known.
    pub(super) costs: &'a [f64],
    /// C times the mean weight of a row, where there is a C.
    pub(super) mean_cost: Option<f64>,
    /// The mean of K(x, x), where rows are in the space of a kernel.
    pub(super) mean_square: Option<f64>,
    pub(super) bias: Bias,
}

/// Why it did not, most telling first: what ended it, then what is wrong with data or parameters; what to try where nothing is.
pub(super) fn diagnose(data: &Dataset<'_>, stuck: &Stuck<'_>) -> Vec<String> {
    let stalled = stuck.status == Status::Stalled;
    if stalled && stuck.gap <= ROUNDING * f64::EPSILON * data.n_rows() as f64 {
        return vec![format!(
            "at the limit of doubles: rounding errors are as large as a gap of {:.1e}; ask for a larger --gap",
            stuck.gap
        )];
    }
    let steep = stuck.mean_cost.and_then(|cost| steepness(data, cost, stuck.mean_square));
    // Time may be over for no fault of the rows: only where errors are dear, or not allowed, do they make it long.
    let dear = steep.is_some() || stuck.mean_cost.is_none();
    let contradictory = (dear || stuck.status != Status::TimeLimit).then(|| contradictions(data)).flatten();
    let wrong = [scales(data), constants(data, stuck.bias), contradictory, steep];
    let found: Vec<String> = ended(stuck).into_iter().chain(wrong.into_iter().flatten()).collect();
    match found.is_empty() {
        true if stalled => {
            vec![
                "nothing is wrong with the data, and nothing was gained any more: ask for a larger --gap"
                    .to_owned(),
            ]
        }
        true => {
            vec!["nothing is wrong with the data: allow more passes or time, or a larger --gap".to_owned()]
        }
        false => found,
    }
}

/// What ended a run that was still getting somewhere.
fn ended(stuck: &Stuck<'_>) -> Option<String> {
    let what = match stuck.status {
        Status::PassLimit => "pass limit",
        Status::TimeLimit => "time limit",
        _ => return None,
    };
    is_falling(stuck.costs).then(|| {
        format!(
            "still falling: the {what} came first, at a gap of {:.1e}; more passes or time (--resume MODEL goes on), or a larger --gap",
            stuck.gap
        )
    })
}

/// Whether the later half of the steps found a better point than the first; solvers that show no steps get better with each.
fn is_falling(costs: &[f64]) -> bool {
    let (first, later) = costs.split_at(costs.len() / 2);
    let least = |costs: &[f64]| costs.iter().copied().fold(f64::INFINITY, f64::min);
    costs.is_empty() || least(later) < least(first)
}

fn scales(data: &Dataset<'_>) -> Option<String> {
    let mut largest = vec![0.0f64; data.n_features()];
    with_rows!(data.x(), x => {
        for i in 0..x.n_rows() {
            x.each(i, |j, v| largest[j] = largest[j].max(v.abs()));
        }
    });
    let used = || largest.iter().enumerate().filter(|(_, size)| **size > 0.0);
    let (wide, most) = used().max_by(|a, b| a.1.total_cmp(b.1))?;
    let (narrow, least) = used().min_by(|a, b| a.1.total_cmp(b.1))?;
    let name = |j: usize| data.features().name(j);
    (most / least > SCALES).then(|| {
        format!(
            "unscaled columns: {} goes up to {most:.3e}, {} to {least:.3e}; try --scale standard, or maxabs for sparse data",
            name(wide),
            name(narrow)
        )
    })
}

/// Columns with one value in all rows, where they make up most of the length of the rows. Without a bias they stand for it.
fn constants(data: &Dataset<'_>, bias: Bias) -> Option<String> {
    /// Of the mean squared length.
    const MOST: f64 = 0.5;
    let (n, features) = (data.n_rows() as f64, data.n_features());
    let (mut values, mut same) = (vec![f64::NAN; features], vec![0usize; features]);
    let mut length = 0.0;
    with_rows!(data.x(), x => {
        for i in 0..x.n_rows() {
            x.each(i, |j, v| {
                if i == 0 {
                    values[j] = v;
                }
                same[j] += usize::from(v == values[j]);
                length += v * v;
            });
        }
    });
    let constant = |j: &usize| same[*j] == data.n_rows() && values[*j] != 0.0;
    let columns: Vec<usize> = (0..features).filter(constant).collect();
    let part: f64 = columns.iter().map(|&j| n * values[j] * values[j]).sum();
    (bias.is_lifted() && part > MOST * length).then(|| {
        let names = listed(columns.iter().map(|&j| format!("{} is always {}", data.features().name(j), values[j])));
        format!("constant columns: {names}; they tell no classes apart and make up most of the length of the rows; leave them out, or try --scale standard")
    })
}

/// The first few, and how many more there are.
fn listed(all: impl ExactSizeIterator<Item = String>) -> String {
    let more = all.len().saturating_sub(NAMED);
    let named = all.take(NAMED).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

/// Equal rows that have been met.
struct Met {
    row: usize,
    class: u32,
    /// The first one of another class.
    against: Option<usize>,
    rows: usize,
}

/// Rows that another of a different class equals.
fn contradictions(data: &Dataset<'_>) -> Option<String> {
    let hash = |i: usize| {
        let mut hash = Xxh3::new();
        with_rows!(data.x(), x => x.each(i, |j, v| {
            if v != 0.0 {
                hash.update(&(j as u64).to_le_bytes());
                hash.update(&v.to_bits().to_le_bytes());
            }
        }));
        hash.digest128()
    };
    let mut met: HashMap<u128, Met> = HashMap::new();
    for (row, &class) in data.y().iter().enumerate() {
        let first = met.entry(hash(row)).or_insert(Met { row, class, against: None, rows: 0 });
        first.rows += 1;
        if class != first.class {
            first.against.get_or_insert(row);
        }
    }
    let mut found: Vec<(usize, usize)> =
        met.values().filter_map(|met| Some((met.row, met.against?))).collect();
    found.sort_unstable();
    let rows: usize = met.values().filter(|met| met.against.is_some()).map(|met| met.rows).sum();
    (rows > 0).then(|| {
        let pairs = listed(found.iter().map(|(a, b)| format!("{} and {}", a + 1, b + 1)));
        format!("contradictions: {rows} rows equal a row of another class (rows {pairs}), and no boundary tells them apart; a smaller C (a larger λ) lets them weigh less")
    })
}

fn steepness(data: &Dataset<'_>, cost: f64, mean_square: Option<f64>) -> Option<String> {
    let of_rows = || -> f64 { with_rows!(data.x(), x => (0..x.n_rows()).map(|i| x.sq_norm(i)).sum()) };
    let square = mean_square.unwrap_or_else(|| of_rows() / data.n_rows() as f64);
    let space = if mean_square.is_some() { " in the space of the kernel" } else { "" };
    (cost * square > STEEP).then(|| {
        format!(
            "C too large: a row costs {cost:.3e} and has a mean squared length of {square:.3e}{space}; try a C near {:.0e}, or scale the columns",
            100.0 / square
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dense, Labels};
    use crate::learner::{Learner, LinearSvm};

    fn diagnosis(x: Vec<f64>, labels: [&str; 4], svm: LinearSvm) -> Vec<String> {
        let data = Dataset::new(Dense::new(x, 2).unwrap(), &Labels::new(labels)).unwrap();
        let report = svm.fit(&data, &mut ()).unwrap().report;
        assert_ne!(report.status, crate::Status::Converged);
        report.diagnosis
    }

    #[test]
    fn what_is_wrong_is_named() {
        let tight = LinearSvm { gap: 0.0, passes: 2, ..LinearSvm::default() };
        let classes = ["a", "b", "a", "b"];
        let unscaled = diagnosis(vec![1.0, 5e6, 2.0, 3e6, 3.0, 4e6, 1.0, 2e6], classes, tight.clone());
        assert!(unscaled[0].starts_with("still falling: the pass limit came first"), "{unscaled:?}");
        assert!(
            unscaled[1].starts_with("unscaled columns: 2 goes up to 5.000e6, 1 to 3.000e0"),
            "{unscaled:?}"
        );
        assert!(unscaled[2].starts_with("C too large"), "{unscaled:?}");
        let twice = diagnosis(vec![1.0, 2.0, 1.0, 2.0, 3.0, 1.0, 0.5, 2.0], classes, tight.clone());
        assert!(
            twice[1].starts_with("contradictions: 2 rows equal a row of another class (rows 1 and 2)"),
            "{twice:?}"
        );
        let constant = diagnosis(vec![1.0, 20.0, 1.5, 20.0, 3.0, 20.0, 0.5, 20.0], classes, tight.clone());
        assert!(constant[1].starts_with("constant columns: 2 is always 20;"), "{constant:?}");
        let fine = diagnosis(vec![1.0, 2.0, 1.0, 2.5, 3.0, 1.0, 0.5, 2.0], classes, tight.clone());
        assert!(fine.len() == 1 && fine[0].starts_with("still falling"), "{fine:?}");
    }

    #[test]
    fn what_is_not_the_cause_is_not_blamed() {
        let x = vec![1.0, 2.0, 1.0, 2.0, 3.0, 1.0, 0.5, 2.0];
        let data = Dataset::new(Dense::new(x, 2).unwrap(), &Labels::new(["a", "b", "a", "b"])).unwrap();
        let stuck = Stuck {
            status: Status::TimeLimit,
            gap: 0.1,
            costs: &[],
            mean_cost: Some(1.0),
            mean_square: None,
            bias: Bias::Free,
        };
        let late = diagnose(&data, &stuck);
        assert!(late.len() == 1 && late[0].starts_with("still falling: the time limit"), "{late:?}");
        // What a row costs is as much as the space it is in makes of it.
        let short = diagnose(&data, &Stuck { mean_cost: Some(1e5), mean_square: Some(1e-6), ..stuck });
        assert!(short.iter().all(|line| !line.starts_with("C too large")), "{short:?}");
        let dear = diagnose(&data, &Stuck { mean_cost: Some(1e5), ..stuck });
        assert!(dear[1].contains("rows 1 and 2") && dear[2].starts_with("C too large"), "{dear:?}");
        let exact = diagnose(&data, &Stuck { status: Status::Stalled, gap: 3.6e-14, ..stuck });
        assert!(exact.len() == 1 && exact[0].starts_with("at the limit of doubles"), "{exact:?}");
        let early = diagnose(&data, &Stuck { status: Status::Stalled, gap: 1e-3, ..stuck });
        assert!(early[0].starts_with("contradictions"), "{early:?}");
        // Steps that went nowhere since the first.
        let flat =
            diagnose(&data, &Stuck { status: Status::PassLimit, costs: &[2.0, 1.0, 3.0, 1.5], ..stuck });
        assert!(flat[0].starts_with("contradictions"), "{flat:?}");
    }

    #[test]
    fn many_are_counted() {
        let rows: Vec<f64> = (0..10).flat_map(|i| [f64::from(i), 1.0, f64::from(i), 1.0]).collect();
        let labels = (0..20).map(|i| if i % 2 == 0 { "a" } else { "b" });
        let data = Dataset::new(Dense::new(rows, 2).unwrap(), &Labels::new(labels)).unwrap();
        let found = contradictions(&data).unwrap();
        assert!(found.contains("20 rows equal"), "{found}");
        assert!(found.contains("(rows 1 and 2, 3 and 4, 5 and 6 and 7 more)"), "{found}");
    }
}
