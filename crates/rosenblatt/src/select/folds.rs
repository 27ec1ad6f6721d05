//! Which rows are left out, time after time.

use crate::data::{Dataset, stratified_folds};
use crate::error::{Error, ParamError};
use crate::rng::Rng;

/// The rows that each fold leaves out, repetition after repetition. Rows of weight 0 are in none.
pub(super) fn splits(
    data: &Dataset<'_>,
    groups: Option<&[u32]>,
    folds: usize,
    repeats: usize,
    seed: u64,
) -> Result<Vec<Vec<usize>>, Error> {
    let rows: Vec<usize> = (0..data.n_rows()).filter(|&row| data.weight(row) > 0.0).collect();
    let y: Vec<u32> = rows.iter().map(|&row| data.y()[row]).collect();
    let groups: Option<Vec<u32>> = groups.map(|groups| rows.iter().map(|&row| groups[row]).collect());
    check(folds, repeats, rows.len(), groups.as_deref())?;
    let mut all = Vec::with_capacity(folds * repeats);
    for repeat in 0..repeats as u64 {
        let seed = seed.wrapping_add(repeat.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let of_row = match &groups {
            Some(groups) => grouped_folds(&y, groups, folds, seed),
            None => stratified_folds(&y, folds, seed),
        };
        let mut parts = vec![Vec::new(); folds];
        rows.iter().zip(of_row).for_each(|(&row, fold)| parts[fold].push(row));
        all.extend(parts);
    }
    Ok(all)
}

fn check(folds: usize, repeats: usize, rows: usize, groups: Option<&[u32]>) -> Result<(), ParamError> {
    let count = groups.map_or(rows, |groups| {
        let mut groups = groups.to_vec();
        groups.sort_unstable();
        groups.dedup();
        groups.len()
    });
    let what = if groups.is_some() { "groups" } else { "rows" };
    let problem = format!("must be from 2 to the number of {what}, {count}");
    ParamError::unless((2..=count).contains(&folds), "folds", &problem)?;
    ParamError::unless(repeats > 0, "repeats", "must be 1 or more")
}

/// The fold of each row for cross-validation where rows of a group belong together: no group is in two folds. Large groups are dealt first, each to the fold that then has its classes spread most evenly.
///
/// ```
/// use rosenblatt::grouped_folds;
/// let folds = grouped_folds(&[0, 1, 0, 1, 0, 1], &[7, 7, 8, 8, 9, 9], 3, 0);
/// assert!(folds.chunks(2).all(|group| group[0] == group[1]));
/// assert_ne!(folds[0], folds[2]);
/// ```
pub fn grouped_folds(y: &[u32], groups: &[u32], k: usize, seed: u64) -> Vec<usize> {
    let (n_classes, n_groups) = (largest(y), largest(groups));
    let mut counts = vec![vec![0.0; n_classes]; n_groups];
    y.iter().zip(groups).for_each(|(&class, &group)| counts[group as usize][class as usize] += 1.0);
    let mut totals = vec![0.0; n_classes];
    y.iter().for_each(|&class| totals[class as usize] += 1.0);
    let mut order: Vec<usize> = (0..n_groups).collect();
    Rng::new(seed).shuffle(&mut order);
    let size = |group: &usize| counts[*group].iter().sum::<f64>();
    order.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let mut dealt = vec![vec![0.0; n_classes]; k.max(1)];
    let mut fold_of = vec![0; n_groups];
    for group in order {
        // Σ of squared shares is least where they are even.
        let grown = |fold: &Vec<f64>| -> f64 {
            let share = |c: usize| {
                let total: f64 = f64::max(totals[c], 1.0);
                ((fold[c] + counts[group][c]) / total).powi(2) - (fold[c] / total).powi(2)
            };
            (0..n_classes).map(share).sum()
        };
        let best = (0..dealt.len()).min_by(|&a, &b| grown(&dealt[a]).total_cmp(&grown(&dealt[b])));
        let fold = best.unwrap_or(0);
        fold_of[group] = fold;
        dealt[fold].iter_mut().zip(&counts[group]).for_each(|(sum, count)| *sum += count);
    }
    groups.iter().map(|&group| fold_of[group as usize]).collect()
}

fn largest(numbers: &[u32]) -> usize {
    numbers.iter().max().map_or(0, |&most| most as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_stay_together_and_classes_are_spread() {
        let mut rng = Rng::new(5);
        let groups: Vec<u32> = (0..2000).map(|_| rng.below(60) as u32).collect();
        let y: Vec<u32> = (0..2000).map(|_| u32::from(rng.uniform() < 0.3)).collect();
        let folds = grouped_folds(&y, &groups, 5, 1);
        for group in 0..60 {
            let mut of: Vec<usize> = (0..2000).filter(|&i| groups[i] == group).map(|i| folds[i]).collect();
            of.dedup();
            assert_eq!(of.len(), 1);
        }
        for fold in 0..5 {
            let rows: Vec<usize> = (0..2000).filter(|&i| folds[i] == fold).collect();
            let share = rows.iter().filter(|&&i| y[i] == 1).count() as f64 / rows.len() as f64;
            assert!((320..480).contains(&rows.len()) && (share - 0.3).abs() < 0.06, "{} {share}", rows.len());
        }
    }
}
