//! The L1 penalty with all else as it is by default: it comes to its end, whatever the data look like, counts what it takes, and stops when it is told.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::ops::ControlFlow;

use common::{Points, noisy, separable};
use rosenblatt::{
    Bias, Class, Classes, Csr, Dataset, Dense, Fit, Labels, Learner, LinearSvm, Logistic, Multiclass,
    Penalty, Progress, Rng, Status, SvmLoss, Watch,
};

/// Both losses that go with it.
fn learners(c: f64, bias: Bias) -> [Box<dyn Learner>; 2] {
    let (penalty, multiclass) = (Penalty::L1, Multiclass::Ovr);
    let loss = SvmLoss::SquaredHinge;
    let svm = LinearSvm { penalty, loss, c, bias, ..LinearSvm::default() };
    [Box::new(svm), Box::new(Logistic { penalty, multiclass, c, bias, ..Logistic::default() })]
}

fn assert_converges(data: &Dataset<'_>, what: &str) {
    for c in [0.1, 1.0, 10.0, 100.0] {
        for bias in [Bias::Free, Bias::None] {
            for learner in learners(c, bias) {
                let report = learner.fit(data, &mut ()).unwrap().report;
                let name = format!("{what}: {} with c {c}, bias {bias:?}", report.objective);
                assert_eq!(report.status, Status::Converged, "{name}: gap {:?}", report.gap);
                assert!(report.gap.unwrap() <= 1e-3 && report.solver_passes.unwrap() <= 300, "{name}");
            }
        }
    }
}

/// A table of ours: columns that are not numbers become one for each of their values.
fn table(name: &str) -> (Vec<Vec<f64>>, Vec<String>) {
    let path = format!("{}/../rosenblatt-io/data/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let width = rows[0].len() - 1;
    let mut x = vec![Vec::new(); rows.len()];
    for j in 0..width {
        let cells: Vec<&str> = rows.iter().map(|row| row[j]).collect();
        let numbers: Result<Vec<f64>, _> = cells.iter().map(|cell| cell.parse()).collect();
        if let Ok(numbers) = numbers {
            x.iter_mut().zip(numbers).for_each(|(x, number)| x.push(number));
            continue;
        }
        let mut levels = cells.clone();
        levels.sort_unstable();
        levels.dedup();
        for (x, cell) in x.iter_mut().zip(cells) {
            x.extend(levels.iter().map(|level| f64::from(u8::from(*level == cell))));
        }
    }
    (x, rows.iter().map(|row| row[width].to_owned()).collect())
}

fn dataset(x: &[Vec<f64>], labels: &[String]) -> Dataset<'static> {
    let x = Dense::new(x.concat(), x[0].len()).unwrap();
    Dataset::new(x, &Labels::new(labels)).unwrap()
}

#[test]
fn known_tables_converge_as_they_are() {
    for name in ["iris", "auto-mpg"] {
        let (x, labels) = table(name);
        assert_converges(&dataset(&x, &labels), name);
    }
    // Two classes that no line separates, by two columns.
    let (x, labels) = table("iris");
    let kept: Vec<usize> = (0..x.len()).filter(|&i| labels[i] != labels[0]).collect();
    let x: Vec<Vec<f64>> = kept.iter().map(|&i| x[i][2..].to_vec()).collect();
    let labels: Vec<String> = kept.iter().map(|&i| labels[i].clone()).collect();
    assert_converges(&dataset(&x, &labels), "two classes of iris");
}

/// Columns of scales from 0.001 to 1000, far from 0, of which every third is nearly the sum of the two before.
fn unscaled(points: Points) -> Points {
    let mut rng = Rng::new(7);
    let change = |row: Vec<f64>| -> Vec<f64> {
        let mut changed = row.clone();
        for j in (2..row.len()).step_by(3) {
            changed[j] = row[j - 1] + row[j - 2] + 0.01 * rng.uniform();
        }
        changed.iter().enumerate().map(|(j, v)| 10f64.powi(j as i32 % 7 - 3) * (v + 20.0)).collect()
    };
    Points { x: points.x.into_iter().map(change).collect(), ..points }
}

#[test]
fn random_and_unscaled_and_correlated_columns_converge() {
    for seed in 0..4 {
        for points in [noisy(2, 120, 10, seed), separable(60, 12, seed), noisy(3, 90, 30, seed)] {
            let rows = points.x.len();
            assert_converges(&points.data(), &format!("{rows} rows, {seed}"));
            assert_converges(&unscaled(points).data(), &format!("{rows} unscaled rows, {seed}"));
        }
    }
}

/// Sparse rows of words, of which many matter: more than fit into a matrix.
fn words(rows: usize, columns: u32) -> Dataset<'static> {
    let mut rng = Rng::new(3);
    let hidden: Vec<f64> = (0..columns).map(|_| rng.normal()).collect();
    let (mut starts, mut indices, mut values, mut labels) = (vec![0u64], Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rows {
        let mut row: Vec<u32> = (0..30).map(|_| rng.below(u64::from(columns)) as u32).collect();
        row.sort_unstable();
        row.dedup();
        let score: f64 = row.iter().map(|&j| hidden[j as usize]).sum::<f64>() + rng.normal();
        labels.push(u32::from(score > 0.0));
        values.extend(row.iter().map(|_| 0.2));
        indices.extend(row);
        starts.push(indices.len() as u64);
    }
    let x = Csr::new(starts, indices, values, columns as usize).unwrap();
    let classes = Classes::new(["no", "yes"].map(|name| Class::Text(name.to_owned())).to_vec());
    Dataset::with_classes(x, labels, classes).unwrap()
}

#[test]
fn many_weights_converge_and_no_thread_shows() {
    let data = words(3000, 2000);
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let (one, two) = (pool(1), pool(2));
    for learner in learners(3.0, Bias::Free) {
        let fit = one.install(|| learner.fit(&data, &mut ())).unwrap();
        let planes = fit.model.body.planes().unwrap();
        let active = planes.normal(0).iter().filter(|w| **w != 0.0).count();
        assert!(active > 512, "{active}");
        assert_eq!(fit.report.status, Status::Converged, "{:?}", fit.report);
        let other = two.install(|| learner.fit(&data, &mut ())).unwrap();
        assert!(fit.to_bytes().unwrap() == other.to_bytes().unwrap(), "{}", fit.report.objective);
    }
}

#[test]
fn the_entries_by_column_are_counted() {
    for (data, value) in [(words(500, 300), 8), (noisy(4, 200, 6, 1).data(), 8)] {
        let entries = data.x().entries() as u64;
        for learner in learners(1.0, Bias::Free) {
            let demand = learner.demand(&data).unwrap();
            assert!(demand.bytes >= entries * (4 + value), "{demand:?} for {entries} entries");
        }
    }
}

/// Counts how often it is asked, and stops at once.
struct AtOnce(usize);

impl Watch for AtOnce {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        self.0 += 1;
        ControlFlow::Break(())
    }
}

fn assert_unbegun(fit: &Fit, status: Status) {
    let report = &fit.report;
    assert_eq!((report.status, report.solver_passes), (status, Some(0)));
    // Nothing is proved but that no risk is below 0.
    assert_eq!((report.dual, report.gap), (Some(0.0), Some(1.0)));
    assert!(report.primal.unwrap() > 0.0);
    assert!(fit.to_bytes().is_ok());
}

#[test]
fn what_is_stopped_beforehand_does_not_begin() {
    let data = noisy(5, 300, 6, 2).data();
    for learner in learners(1.0, Bias::Free) {
        let mut watch = AtOnce(0);
        let fit = learner.fit(&data, &mut watch).unwrap();
        // Before the columns are made, and before each class.
        assert_eq!(watch.0, 1 + 5);
        assert_unbegun(&fit, Status::Interrupted);
    }
    let penalty = Penalty::L1;
    let late =
        LinearSvm { penalty, loss: SvmLoss::SquaredHinge, time_limit: Some(1e-9), ..LinearSvm::default() };
    assert_unbegun(&late.fit(&data, &mut ()).unwrap(), Status::TimeLimit);
}
