//! The values that a parameter is searched over.

use serde_json::{Value, json};

use crate::error::ParamError;
use crate::rng::Rng;

/// The values that a parameter is searched over: a list, or what lies between two ends.
///
/// ```
/// use rosenblatt::Range;
/// let c = Range::parse("0.01..100", false)?; // a value a decade
/// assert_eq!(c.values(), [0.01, 0.1, 1.0, 10.0, 100.0]);
/// assert_eq!(Range::parse("1..100:5", false)?.values()[1], 3.16228);
/// assert_eq!(Range::parse("1..4", true)?.values(), [1, 2, 3, 4]); // of whole numbers
/// assert_eq!(Range::parse("1,10,100", false)?.values(), [1.0, 10.0, 100.0]);
/// # Ok::<(), rosenblatt::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Range {
    /// These values.
    List(Vec<Value>),
    /// So many numbers from one end to the other: evenly by their logarithms where both are more than 0, else evenly.
    Span {
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
        /// How many.
        steps: usize,
        /// Whether they are whole numbers.
        whole: bool,
    },
}

impl Range {
    /// The most values of a span.
    pub const MOST: usize = 10_000;

    /// `0.01..100` (a value a decade; every whole number where these are asked for), `0.01..100:9` (nine values), `1,10,100`, or a single value.
    pub fn parse(text: &str, whole: bool) -> Result<Self, ParamError> {
        match text.split_once("..") {
            Some((low, rest)) => Self::span(low, rest, whole),
            None => {
                let values: Result<Vec<Value>, ParamError> =
                    text.split(',').map(|part| value(part.trim(), whole)).collect();
                Ok(Range::List(values?))
            }
        }
    }

    fn span(low: &str, rest: &str, whole: bool) -> Result<Self, ParamError> {
        let (high, steps) = rest.split_once(':').map_or((rest, None), |(high, steps)| (high, Some(steps)));
        let [low, high] = [number(low.trim())?, number(high.trim())?];
        if low >= high {
            return Err(problem(&format!("{low}..{high} must go up: the smaller end comes first")));
        }
        if whole && (low.fract() != 0.0 || high.fract() != 0.0 || low < 0.0) {
            return Err(problem("both ends must be whole numbers"));
        }
        let fits = |steps: &usize| (2..=Self::MOST).contains(steps);
        let steps = match steps {
            Some(text) => text.trim().parse().ok().filter(fits),
            None if whole => Some((high - low) as usize + 1).filter(fits),
            None if low > 0.0 => Some((high / low).log10().round() as usize + 1).map(|steps| steps.max(2)),
            None => {
                return Err(problem(&format!(
                    "{low}..{high} has no logarithms: say how many values, as in {low}..{high}:5"
                )));
            }
        };
        let steps = steps
            .ok_or_else(|| problem("the number of values must be from 2 to 10000, as in 0.01..100:9"))?;
        Ok(Range::Span { low, high, steps, whole })
    }

    /// All values, in the order they were given or from the smallest.
    pub fn values(&self) -> Vec<Value> {
        match *self {
            Range::List(ref values) => values.clone(),
            Range::Span { low, high, steps, whole } => {
                let mut values: Vec<f64> = (0..steps)
                    .map(|step| match step {
                        0 => low,
                        _ if step + 1 == steps => high,
                        _ => between(low, high, step as f64 / (steps - 1) as f64, whole),
                    })
                    .collect();
                values.dedup();
                values.into_iter().map(|v| if whole { json!(v as u64) } else { json!(v) }).collect()
            }
        }
    }

    /// One of them; of a span any number between its ends.
    pub(crate) fn draw(&self, rng: &mut Rng) -> Value {
        match *self {
            Range::List(ref values) => values[rng.below(values.len().max(1) as u64) as usize].clone(),
            Range::Span { low, high, whole: true, .. } => {
                json!(low as u64 + rng.below((high - low) as u64 + 1))
            }
            Range::Span { low, high, .. } => json!(between(low, high, rng.uniform(), false).clamp(low, high)),
        }
    }
}

/// What is so far along from one end to the other, to six digits.
fn between(low: f64, high: f64, share: f64, whole: bool) -> f64 {
    match low > 0.0 && !whole {
        true => rounded((low.ln() + share * (high / low).ln()).exp()),
        false if whole => (low + share * (high - low)).round(),
        false => rounded(low + share * (high - low)),
    }
}

/// To six digits, so that tables can show it.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

fn value(text: &str, whole: bool) -> Result<Value, ParamError> {
    match whole {
        true => text.parse::<u64>().map(|n| json!(n)).map_err(|_| {
            problem(&format!(
                "expected a whole number, a list such as 1,2,3 or a range such as 1..4, found {text:?}"
            ))
        }),
        false => number(text).map(|v| json!(v)),
    }
}

fn number(text: &str) -> Result<f64, ParamError> {
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
    value.ok_or_else(|| {
        problem(&format!(
            "expected a number, a list such as 1,10,100 or a range such as 0.01..100 or 0.01..100:9, found {text:?}"
        ))
    })
}

fn problem(text: &str) -> ParamError {
    ParamError::new("range", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_exact_and_steps_even() {
        let values: Vec<f64> = Range::parse("0.001..1000:7", false)
            .unwrap()
            .values()
            .iter()
            .map(|v| v.as_f64().unwrap())
            .collect();
        assert_eq!(values, [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(Range::parse("-1..1:3", false).unwrap().values(), [-1.0, 0.0, 1.0]);
        assert_eq!(Range::parse("2..10:3", true).unwrap().values(), [2, 6, 10]);
        assert_eq!(Range::parse("5", true).unwrap().values(), [5]);
    }

    #[test]
    fn slips_are_told() {
        let cases = [
            ("", false),
            ("a", false),
            ("1..", false),
            ("..1", false),
            ("10..1", false),
            ("1..10:1", false),
            ("1..10:x", false),
            ("0..1", false),
            ("1,,2", false),
            ("nan", false),
            ("inf..2", false),
            ("1.5..3", true),
            ("1.5", true),
            ("0..1000000", true),
        ];
        for (text, whole) in cases {
            assert!(Range::parse(text, whole).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_drawn_lies_between() {
        let mut rng = Rng::new(3);
        let span = Range::parse("0.01..100", false).unwrap();
        let drawn: Vec<f64> = (0..1000).map(|_| span.draw(&mut rng).as_f64().unwrap()).collect();
        assert!(drawn.iter().all(|v| (0.01..=100.0).contains(v)));
        // Half of them below the middle of the logarithms.
        let below = drawn.iter().filter(|v| **v < 1.0).count();
        assert!((400..600).contains(&below), "{below}");
        let whole = Range::parse("1..3", true).unwrap();
        assert!((0..100).all(|_| (1..=3).contains(&whole.draw(&mut rng).as_u64().unwrap())));
    }
}
