//! Splits that keep the proportions of the classes.

use crate::rng::Rng;

/// Row numbers of the two parts of a split, each ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Rows to learn from.
    pub train: Vec<usize>,
    /// Rows held out.
    pub holdout: Vec<usize>,
}

/// Holds out about `fraction` of each class, at least one row of each class that has two or more.
///
/// ```
/// use rosenblatt::stratified_split;
/// let split = stratified_split(&[0, 0, 0, 0, 1, 1, 1, 1], 0.25, 7);
/// assert_eq!((split.train.len(), split.holdout.len()), (6, 2));
/// ```
pub fn stratified_split(y: &[u32], fraction: f64, seed: u64) -> Split {
    let mut split = Split { train: Vec::new(), holdout: Vec::new() };
    for rows in shuffled_classes(y, seed) {
        let wanted = (rows.len() as f64 * fraction).round() as usize;
        let held = wanted.clamp(usize::from(rows.len() > 1), rows.len().saturating_sub(1));
        split.holdout.extend_from_slice(&rows[..held]);
        split.train.extend_from_slice(&rows[held..]);
    }
    split.train.sort_unstable();
    split.holdout.sort_unstable();
    split
}

/// The fold (0 to `k` − 1) of each row for cross-validation, each class spread evenly.
///
/// ```
/// use rosenblatt::stratified_folds;
/// let folds = stratified_folds(&[0, 0, 1, 1], 2, 7);
/// assert_ne!(folds[0], folds[1]);
/// assert_ne!(folds[2], folds[3]);
/// ```
pub fn stratified_folds(y: &[u32], k: usize, seed: u64) -> Vec<usize> {
    let mut folds = vec![0; y.len()];
    let dealt = shuffled_classes(y, seed).into_iter().flatten();
    dealt.enumerate().for_each(|(turn, row)| folds[row] = turn % k.max(1));
    folds
}

/// About `share` of the rows of each class, at least one, ascending. A smaller share of the same seed is a part of a larger one.
///
/// ```
/// use rosenblatt::stratified_sample;
/// let (few, more) = (stratified_sample(&[0, 0, 0, 0, 1, 1], 0.25, 7), stratified_sample(&[0, 0, 0, 0, 1, 1], 0.5, 7));
/// assert_eq!((few.len(), more.len()), (2, 3));
/// assert!(few.iter().all(|row| more.contains(row)));
/// ```
pub fn stratified_sample(y: &[u32], share: f64, seed: u64) -> Vec<usize> {
    let part = |rows: Vec<usize>| {
        let wanted = (rows.len() as f64 * share).round() as usize;
        let most = rows.len();
        rows.into_iter().take(wanted.clamp(1.min(most), most))
    };
    let mut sample: Vec<usize> = shuffled_classes(y, seed).into_iter().flat_map(part).collect();
    sample.sort_unstable();
    sample
}

fn shuffled_classes(y: &[u32], seed: u64) -> Vec<Vec<usize>> {
    let n_classes = y.iter().max().map_or(0, |&class| class as usize + 1);
    let mut classes = vec![Vec::new(); n_classes];
    y.iter().enumerate().for_each(|(row, &class)| classes[class as usize].push(row));
    let mut rng = Rng::new(seed);
    classes.iter_mut().for_each(|rows| rng.shuffle(rows));
    classes
}
