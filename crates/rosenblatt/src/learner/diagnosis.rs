//! Why a solver did not come to an end.

use std::collections::HashMap;

use xxhash_rust::xxh3::Xxh3;

use crate::data::{Dataset, Rows};
use crate::with_rows;

/// Columns whose largest values differ by more than this make solvers that look at one row at a time creep.
const SCALES: f64 = 1e3;

/// C times the squared length of a row; beyond it a coordinate moves a tiny part of its way in a pass.
const STEEP: f64 = 1e4;

/// What is wrong with data or parameters, most telling first; what to try where nothing is.
///
/// `mean_cost` is C times the mean weight of a row, where there is a C.
pub(super) fn diagnose(data: &Dataset<'_>, mean_cost: Option<f64>) -> Vec<String> {
    let found = [scales(data), contradictions(data), mean_cost.and_then(|cost| steepness(data, cost))];
    let found: Vec<String> = found.into_iter().flatten().collect();
    match found.is_empty() {
        true => {
            vec!["nothing is wrong with the data: allow more passes or time, or a larger --gap".to_owned()]
        }
        false => found,
    }
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
    let hashes: Vec<u128> = (0..data.n_rows()).map(hash).collect();
    let mut classes: HashMap<u128, Option<u32>> = HashMap::new();
    for (&hash, &class) in hashes.iter().zip(data.y()) {
        let met = classes.entry(hash).or_insert(Some(class));
        *met = met.filter(|&met| met == class);
    }
    let rows = hashes.iter().filter(|hash| classes[*hash].is_none()).count();
    (rows > 0).then(|| {
        format!("contradictions: {rows} rows equal a row of another class, and no boundary tells them apart; a smaller C (a larger λ) helps")
    })
}

fn steepness(data: &Dataset<'_>, cost: f64) -> Option<String> {
    let n = data.n_rows() as f64;
    let sum: f64 = with_rows!(data.x(), x => (0..x.n_rows()).map(|i| x.sq_norm(i)).sum());
    let length = sum / n;
    (cost * length > STEEP).then(|| {
        format!(
            "C too large: a row costs {cost:.3e} and has a mean squared length of {length:.3e}; try a C near {:.0e}, or scale the columns",
            100.0 / length
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
        assert!(
            unscaled[0].starts_with("unscaled columns: 2 goes up to 5.000e6, 1 to 3.000e0"),
            "{unscaled:?}"
        );
        assert!(unscaled[1].starts_with("C too large"), "{unscaled:?}");
        let twice = diagnosis(vec![1.0, 2.0, 1.0, 2.0, 3.0, 1.0, 0.5, 2.0], classes, tight.clone());
        assert!(twice[0].starts_with("contradictions: 2 rows"), "{twice:?}");
        let fine = diagnosis(vec![1.0, 2.0, 1.0, 2.5, 3.0, 1.0, 0.5, 2.0], classes, tight);
        assert!(fine[0].starts_with("nothing is wrong"), "{fine:?}");
    }
}
