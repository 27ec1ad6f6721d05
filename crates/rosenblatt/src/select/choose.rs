//! Which candidate is taken.

use std::cmp::Ordering;

use super::{Cell, Rule};
use crate::data::DataError;
use crate::error::{Error, ParamError};

/// The numbers of the best cell and of the one that a rule takes. Of a search that was stopped those count that have all their scores; if none has, those with the most.
pub(super) fn choose(cells: &[Cell], rule: Rule) -> Result<(usize, usize), Error> {
    let told = |cell: &Cell| (cell.rows, cell.scores.iter().flatten().count());
    let most = cells.iter().filter(|cell| cell.failure.is_none()).map(told).max();
    let Some(most) = most.filter(|(_, scores)| *scores > 0) else { return Err(nothing(cells)) };
    let eligible: Vec<usize> =
        (0..cells.len()).filter(|&at| cells[at].failure.is_none() && told(&cells[at]) == most).collect();
    let score = |at: usize| mean_and_error(&known(&cells[at]));
    let simplest = |a: &usize, b: &usize| simpler(&cells[*a], &cells[*b]).then(a.cmp(b));
    let best =
        eligible.iter().copied().min_by(|a, b| score(*b).0.total_cmp(&score(*a).0).then(simplest(a, b)));
    let best = best.unwrap_or_default();
    let chosen = match rule {
        Rule::Best => best,
        Rule::OneSe => {
            let (mean, error) = score(best);
            let near = eligible.iter().copied().filter(|&at| score(at).0 >= mean - error);
            near.min_by(simplest).unwrap_or(best)
        }
    };
    Ok((best, chosen))
}

fn known(cell: &Cell) -> Vec<f64> {
    cell.scores.iter().flatten().copied().collect()
}

fn nothing(cells: &[Cell]) -> Error {
    let failure = cells.iter().find_map(|cell| cell.failure.as_ref());
    match failure {
        Some(failure) => DataError::Unsuitable(format!("no candidate could be learned: {failure}")).into(),
        None => ParamError::new("time_limit", "the search was stopped before the first fit was done").into(),
    }
}

/// The mean, and its standard error if all were independent.
pub(super) fn mean_and_error(scores: &[f64]) -> (f64, f64) {
    let n = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / n.max(1.0);
    let squares: f64 = scores.iter().map(|score| (score - mean) * (score - mean)).sum();
    let error = if n > 1.0 { (squares / (n - 1.0) / n).sqrt() } else { 0.0 };
    (mean, error)
}

/// Nothing is less than any score.
pub(super) fn rank(a: Option<f64>, b: Option<f64>) -> Ordering {
    let number = |score: Option<f64>| score.unwrap_or(f64::NEG_INFINITY);
    number(a).total_cmp(&number(b))
}

/// Errors that cost less, wider kernels, lower degrees.
fn simpler(a: &Cell, b: &Cell) -> Ordering {
    let compare = |(a, b): (f64, f64)| a.total_cmp(&b);
    complexity(a)
        .into_iter()
        .zip(complexity(b))
        .map(compare)
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn complexity(cell: &Cell) -> [f64; 3] {
    let of = |name: &str| cell.parameters.get(name).and_then(serde_json::Value::as_f64);
    let c = of("c").or(of("lambda").map(|lambda| 1.0 / lambda)).unwrap_or(0.0);
    let gamma = of("gamma").or(of("sigma").map(|sigma| 0.5 / (sigma * sigma))).unwrap_or(0.0);
    [c, gamma, of("degree").unwrap_or(0.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cell(c: f64, gamma: f64, scores: &[f64]) -> Cell {
        let parameters = json!({ "c": c, "gamma": gamma }).as_object().cloned().unwrap();
        Cell { parameters, scores: scores.iter().map(|s| Some(*s)).collect(), rows: 9, ..Cell::default() }
    }

    #[test]
    fn the_simplest_within_an_error_of_the_best() {
        let cells = [
            cell(0.1, 1.0, &[0.80, 0.80, 0.80]),
            cell(1.0, 2.0, &[0.89, 0.90, 0.90]),
            cell(1.0, 1.0, &[0.90, 0.90, 0.89]),
            cell(10.0, 1.0, &[0.88, 0.90, 0.95]),
        ];
        assert_eq!(choose(&cells, Rule::Best), Ok((3, 3)));
        // The error of the best is 0.0208: of the two at C = 1 the wider kernel is taken.
        assert_eq!(choose(&cells, Rule::OneSe), Ok((3, 2)));
        // Equal scores: the smaller C.
        let equal = [cell(10.0, 1.0, &[0.9]), cell(1.0, 5.0, &[0.9]), cell(1.0, 3.0, &[0.9])];
        assert_eq!(choose(&equal, Rule::Best), Ok((2, 2)));
    }

    #[test]
    fn what_was_stopped_or_failed_does_not_count() {
        let mut cells =
            [cell(1.0, 1.0, &[0.8, 0.8]), cell(2.0, 1.0, &[0.99, 0.99]), cell(3.0, 1.0, &[0.9, 0.9])];
        cells[1].scores[1] = None;
        assert_eq!(choose(&cells, Rule::Best), Ok((2, 2)));
        cells[2].failure = Some("no plane".to_owned());
        assert_eq!(choose(&cells, Rule::Best), Ok((0, 0)));
        let none = [Cell { failure: Some("no plane".to_owned()), ..Cell::default() }];
        assert!(choose(&none, Rule::Best).unwrap_err().to_string().contains("no plane"));
        assert!(choose(&[Cell::default()], Rule::Best).unwrap_err().to_string().contains("stopped"));
    }

    #[test]
    fn errors_are_those_of_means() {
        let (mean, error) = mean_and_error(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(mean, 2.5);
        assert!((error - (5.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
        assert_eq!(mean_and_error(&[0.5]), (0.5, 0.0));
    }
}
