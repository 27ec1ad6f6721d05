//! How good predictions are.

use serde::Serialize;

use crate::data::{Classes, Dataset};

/// The share of the weight of the rows that are predicted rightly.
pub fn weighted_accuracy(predicted: &[u32], data: &Dataset<'_>) -> f64 {
    let (mut right, mut all) = (0.0, 0.0);
    for (i, (p, y)) in predicted.iter().zip(data.y()).enumerate() {
        let weight = data.weight(i);
        all += weight;
        right += if p == y { weight } else { 0.0 };
    }
    if all > 0.0 { right / all } else { 0.0 }
}

/// Counts and rates of one evaluation.
///
/// ```
/// use rosenblatt::{Class, Classes, Evaluation};
/// let classes = Classes::new(vec![Class::from("ham"), Class::from("spam")]);
/// let e = Evaluation::new(&classes, &[0, 0, 1, 1], &[0, 1, 1, 1]);
/// assert_eq!(e.accuracy, 0.75);
/// assert_eq!(e.confusion, [[1, 1], [0, 2]]);
/// assert_eq!(e.per_class[1].recall, 1.0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// The share of rows predicted rightly.
    pub accuracy: f64,
    /// How many rows.
    pub rows: u64,
    /// The classes in order.
    pub classes: Classes,
    /// Rows of true class `i` predicted as class `j`.
    pub confusion: Vec<Vec<u64>>,
    /// Rates of each class.
    pub per_class: Vec<ClassRates>,
    /// The area under the ROC curve, where binary scores were given.
    pub auc: Option<f64>,
    /// How good probabilities are, where the model has them.
    pub probabilities: Option<ProbabilityScores>,
    /// How often what was given a probability came true.
    pub reliability: Option<Reliability>,
}

/// How good probabilities are; 0 is best for both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProbabilityScores {
    /// The mean of −log p of the true class.
    pub log_loss: f64,
    /// The mean of Σ (p − t)² over the classes, t being 1 for the true one and 0 for others (Brier 1950).
    pub brier: f64,
}

impl ProbabilityScores {
    /// Of one row of probabilities after the other; `None` without any.
    ///
    /// ```
    /// use rosenblatt::ProbabilityScores;
    /// let scores = ProbabilityScores::new(&[0, 1], &[vec![1.0, 0.0], vec![0.5, 0.5]]).expect("two rows");
    /// assert_eq!((scores.log_loss, scores.brier), (0.5 * 2f64.ln(), 0.25));
    /// ```
    pub fn new(truth: &[u32], probabilities: &[Vec<f64>]) -> Option<Self> {
        /// What a probability of 0 counts as, so that one row does not make all others worthless.
        const LEAST: f64 = 1e-15;
        let (mut log_loss, mut brier) = (0.0, 0.0);
        for (&class, row) in truth.iter().zip(probabilities) {
            log_loss -= row[class as usize].max(LEAST).ln();
            let off = |(c, p): (usize, &f64)| p - f64::from(u8::from(c == class as usize));
            brier += row.iter().enumerate().map(off).map(|off| off * off).sum::<f64>();
        }
        let rows = truth.len() as f64;
        (rows > 0.0).then_some(ProbabilityScores { log_loss: log_loss / rows, brier: brier / rows })
    }
}

/// How often what was given a probability came true: a reliability diagram (DeGroot and Fienberg 1983).
///
/// ```
/// use rosenblatt::Reliability;
/// let probabilities = [vec![0.25, 0.75], vec![0.25, 0.75], vec![0.1, 0.9], vec![0.9, 0.1]];
/// let diagram = Reliability::new(&[1, 0, 1, 0], &probabilities, 2).expect("four rows");
/// assert_eq!(diagram.bins[1].rows, 3);
/// assert!((diagram.bins[1].probability - 0.8).abs() < 1e-12); // the mean of what was said
/// assert_eq!(diagram.bins[1].share, 2.0 / 3.0); // what came true
/// # let _ = diagram.error;
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reliability {
    /// Whether probabilities are those of the second of two classes; else of the class that is most likely, whichever that is.
    pub of_second: bool,
    /// Rows by their probability, in bins of equal width.
    pub bins: Vec<Bin>,
    /// The mean difference of probability and share over all rows, without sign: the expected calibration error (Naeini, Cooper, Hauskrecht 2015).
    pub error: f64,
}

/// Rows whose probability lies between two bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// How many rows.
    pub rows: u64,
    /// The mean of their probabilities; 0 without rows.
    pub probability: f64,
    /// How many of them came true, as a share; 0 without rows.
    pub share: f64,
}

impl Reliability {
    /// Of one row of probabilities after the other, in so many bins; `None` without any.
    pub fn new(truth: &[u32], probabilities: &[Vec<f64>], bins: usize) -> Option<Self> {
        let of_second = probabilities.first()?.len() == 2;
        let (bins, mut sums) = (bins.max(1), Vec::new());
        sums.resize(bins, (0u64, 0.0, 0u64));
        for (&class, row) in truth.iter().zip(probabilities) {
            let (p, came_true) = match of_second {
                true => (row[1], class == 1),
                false => {
                    let likely = (0..row.len()).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0);
                    (row[likely], class as usize == likely)
                }
            };
            let bin = &mut sums[((p * bins as f64) as usize).min(bins - 1)];
            *bin = (bin.0 + 1, bin.1 + p, bin.2 + u64::from(came_true));
        }
        let bin = |(at, &(rows, sum, came_true)): (usize, &(u64, f64, u64))| Bin {
            low: at as f64 / bins as f64,
            high: (at + 1) as f64 / bins as f64,
            rows,
            probability: if rows > 0 { sum / rows as f64 } else { 0.0 },
            share: ratio(came_true, rows),
        };
        let bins: Vec<Bin> = sums.iter().enumerate().map(bin).collect();
        let off = bins.iter().map(|bin| bin.rows as f64 * (bin.probability - bin.share).abs()).sum::<f64>();
        Some(Reliability { of_second, bins, error: off / truth.len().max(1) as f64 })
    }
}

/// Rates of one class; a rate with nothing to divide by is 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassRates {
    /// The class.
    pub class: crate::data::Class,
    /// Of the rows predicted as this class, the share that are.
    pub precision: f64,
    /// Of the rows of this class, the share found.
    pub recall: f64,
    /// The harmonic mean of both.
    pub f1: f64,
    /// Rows of this class.
    pub rows: u64,
}

impl Evaluation {
    /// Compares true classes with predicted ones.
    pub fn new(classes: &Classes, truth: &[u32], predicted: &[u32]) -> Self {
        let mut confusion = vec![vec![0u64; classes.len()]; classes.len()];
        truth.iter().zip(predicted).for_each(|(&t, &p)| confusion[t as usize][p as usize] += 1);
        let right: u64 = (0..classes.len()).map(|c| confusion[c][c]).sum();
        let rows = truth.len() as u64;
        let rates = |c: usize| {
            let row_sum: u64 = confusion[c].iter().sum();
            let column_sum: u64 = confusion.iter().map(|row| row[c]).sum();
            let (precision, recall) = (ratio(confusion[c][c], column_sum), ratio(confusion[c][c], row_sum));
            let f1 = ratio(2 * confusion[c][c], row_sum + column_sum);
            ClassRates { class: classes[c].clone(), precision, recall, f1, rows: row_sum }
        };
        let per_class = (0..classes.len()).map(rates).collect();
        let accuracy = ratio(right, rows);
        Evaluation {
            accuracy,
            rows,
            classes: classes.clone(),
            confusion,
            per_class,
            auc: None,
            probabilities: None,
            reliability: None,
        }
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The probability that a random row of the second class scores higher than one of the first, ties counting half
/// (Mann and Whitney's U); `None` if a class is absent.
///
/// ```
/// use rosenblatt::auc;
/// assert_eq!(auc(&[0, 1, 0, 1], &[0.1, 0.4, 0.35, 0.8]), Some(1.0));
/// assert_eq!(auc(&[0, 1], &[0.5, 0.5]), Some(0.5));
/// assert_eq!(auc(&[1, 1], &[0.5, 0.7]), None);
/// ```
pub fn auc(truth: &[u32], scores: &[f64]) -> Option<f64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let (mut below, mut wins) = (0.0, 0.0);
    for tied in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let positive = tied.iter().filter(|&&i| truth[i] == 1).count() as f64;
        let negative = tied.len() as f64 - positive;
        wins += positive * (below + negative / 2.0);
        below += negative;
    }
    let pairs = below * (truth.len() as f64 - below);
    (pairs > 0.0).then(|| wins / pairs)
}
