//! Kernel rows kept under a budget, against none kept at all and against a naive list.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use proptest::prelude::*;
use rosenblatt::{Csr, Dense, Gram, Kernel, Matrix, Rng, RowCache, UserKernel};

fn points(n_rows: usize, n_cols: usize, seed: u64) -> Matrix<'static> {
    let mut rng = Rng::new(seed);
    let values: Vec<f32> = (0..n_rows * n_cols).map(|_| rng.below(1000) as f32 / 250.0 - 2.0).collect();
    Dense::new(values, n_cols).unwrap().into()
}

fn bytes(n_rows: usize, n_cols: usize, seed: u64) -> Matrix<'static> {
    let mut rng = Rng::new(seed);
    let values: Vec<f32> = (0..n_rows * n_cols).map(|_| rng.below(256) as f32 / 255.0).collect();
    Dense::new(values, n_cols).unwrap().into()
}

/// Every tenth column, from one that is drawn on.
fn sparse(n_rows: usize, n_cols: u32, seed: u64) -> Matrix<'static> {
    let mut rng = Rng::new(seed);
    let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..n_rows {
        for j in (rng.below(10) as u32..n_cols).step_by(10) {
            columns.push(j);
            values.push(rng.below(1000) as f32 / 250.0);
        }
        pointers.push(columns.len() as u64);
    }
    Csr::new(pointers, columns, values, n_cols as usize).unwrap().into()
}

/// Kernel row `i` without a cache.
fn direct(gram: &Gram<'_>, i: usize) -> Vec<f32> {
    let all: Vec<usize> = (0..gram.len()).collect();
    let mut values = vec![f32::NAN; all.len()];
    gram.values(&gram.tiles(gram, &[i]), &all, &mut values);
    values
}

/// The rows kept, those used longest ago first.
struct Naive {
    capacity: usize,
    kept: Vec<usize>,
    evaluated: u64,
}

impl Naive {
    fn rows(&mut self, set: &[usize]) {
        let asked_for: Vec<usize> = set.iter().copied().filter(|i| self.kept.contains(i)).collect();
        asked_for.iter().for_each(|&i| self.use_again(i));
        for &i in set {
            if !self.kept.contains(&i) {
                if self.kept.len() == self.capacity {
                    self.kept.remove(0);
                }
                self.kept.push(i);
                self.evaluated += 1;
            }
        }
        set.iter().for_each(|&i| self.use_again(i));
    }

    fn use_again(&mut self, i: usize) {
        self.kept.retain(|&other| other != i);
        self.kept.push(i);
    }
}

/// Bytes for so many rows of n values; the lists are smaller than one more row of a hundred.
fn budget(rows: usize, n: usize) -> usize {
    n * 28 + rows * (n * 4 + 32)
}

/// Some of the numbers below n, in order.
fn some(n: usize, percent: u64, rng: &mut Rng) -> Vec<usize> {
    (0..n).filter(|_| rng.below(100) < percent).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn kept_or_not_a_row_is_the_same_and_the_oldest_goes_first(
        n in 2usize..80, n_cols in 1usize..12, capacity in 2usize..20, seed: u64,
        sets in prop::collection::vec(prop::collection::vec(0usize..80, 0..8), 1..25),
    ) {
        let x = points(n, n_cols, seed);
        let gram = Gram::new(Kernel::Rbf { gamma: 0.3 }, &x).unwrap();
        let mut cache = RowCache::new(&gram, budget(capacity, n)).unwrap();
        prop_assert!(cache.capacity() <= capacity.min(n) && cache.capacity() >= 2.min(n));
        let mut naive = Naive { capacity: cache.capacity(), kept: Vec::new(), evaluated: 0 };
        for set in sets {
            let mut set: Vec<usize> = set.into_iter().map(|i| i % n).collect();
            set.truncate(cache.capacity());
            naive.rows(&set);
            let found: Vec<Vec<f32>> = cache.rows(&set).into_iter().map(<[f32]>::to_vec).collect();
            let expected: Vec<Vec<f32>> = set.iter().map(|&i| direct(&gram, i)).collect();
            prop_assert_eq!(found, expected);
            prop_assert!(cache.bytes() <= cache.budget(), "{} of {}", cache.bytes(), cache.budget());
            let kept: Vec<usize> = (0..n).filter(|&i| cache.holds(i)).collect();
            let mut expected = naive.kept.clone();
            expected.sort_unstable();
            prop_assert_eq!(kept, expected);
            prop_assert_eq!(cache.evaluated(), naive.evaluated);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn members_and_columns_pick_values_of_whole_rows(
        n in 2usize..400, capacity in 2usize..60, form in 0..4, seed: u64,
    ) {
        let mut rng = Rng::new(seed);
        let x = match form {
            0 => points(n, 5, seed),
            1 => bytes(n, 40, seed),
            _ => sparse(n, 60, seed),
        };
        let kernel = if form == 3 { Kernel::Laplacian { gamma: 0.1 } } else { Kernel::Rbf { gamma: 0.01 } };
        let gram = Gram::new(kernel, &x).unwrap();
        let members = some(n, 80, &mut rng);
        let mut cache = RowCache::over(&gram, &members, budget(capacity, members.len())).unwrap();
        for _ in 0..12 {
            let columns = match rng.below(3) {
                0 => (0..members.len()).collect(),
                share => some(members.len(), 40 * share, &mut rng),
            };
            let kept: Vec<usize> = (0..members.len()).filter(|&i| cache.holds(i)).collect();
            let stay = columns.iter().filter(|column| cache.columns().contains(column)).count();
            cache.set_columns(&columns);
            prop_assert!(cache.bytes() <= cache.budget(), "{} of {}", cache.bytes(), cache.budget());
            if 2 * stay >= columns.len() {
                let still = kept.iter().filter(|&&i| cache.holds(i)).count();
                prop_assert_eq!(still, kept.len().min(cache.capacity()));
            }
            for _ in 0..4 {
                let mut set: Vec<usize> = some(members.len(), 30, &mut rng);
                set.truncate(cache.capacity());
                let found: Vec<Vec<f32>> = cache.rows(&set).into_iter().map(<[f32]>::to_vec).collect();
                for (found, &i) in found.iter().zip(&set) {
                    let whole = direct(&gram, members[i]);
                    let expected: Vec<f32> = columns.iter().map(|&j| whole[members[j]]).collect();
                    prop_assert_eq!(found, &expected);
                }
                prop_assert!(cache.bytes() <= cache.budget(), "{} of {}", cache.bytes(), cache.budget());
            }
        }
    }
}

#[test]
fn fewer_columns_leave_room_for_more_rows() {
    let x = points(100, 12, 5);
    let gram = Gram::new(Kernel::Linear, &x).unwrap();
    let mut cache = RowCache::new(&gram, budget(4, 100)).unwrap();
    cache.rows(&[1, 2, 3, 4]);
    cache.set_columns(&(0..50).collect::<Vec<usize>>());
    assert_eq!(cache.capacity(), 4 * 432 / 232);
    cache.rows(&[5, 6]);
    assert_eq!(cache.evaluated(), 6);
    // All columns again: four rows fit, those used last, and they need no evaluation.
    cache.set_columns(&(0..100).collect::<Vec<usize>>());
    assert_eq!((0..100).filter(|&i| cache.holds(i)).count(), 4);
    assert!(cache.holds(5) && cache.holds(6));
    assert_eq!(cache.evaluated(), 6);
}

/// More rows than one strip of the sweep, and a last strip that is not full.
#[test]
fn long_rows_are_put_together_from_strips() {
    let x = points(9000, 3, 1);
    let gram = Gram::new(Kernel::Laplacian { gamma: 0.2 }, &x).unwrap();
    let mut cache = RowCache::new(&gram, budget(5, 9000)).unwrap();
    let set = [8999, 0, 4095, 4096, 8192];
    for (found, i) in cache.rows(&set).into_iter().zip(set) {
        assert!(found == direct(&gram, i), "row {i}");
    }
}

#[test]
fn kernels_of_users_and_precomputed_ones_are_kept_alike() {
    let x = points(30, 4, 2);
    let linear = UserKernel::from_fn("u·v", |u, v| u.iter().zip(v).map(|(u, v)| u * v).sum());
    let mut values = Vec::new();
    let gram = Gram::new(Kernel::Rbf { gamma: 0.5 }, &x).unwrap();
    (0..30).for_each(|i| values.extend(direct(&gram, i)));
    let given: Matrix<'_> = Dense::new(values, 30).unwrap().into();
    for gram in [Gram::new(linear, &x).unwrap(), Gram::new(Kernel::Precomputed, &given).unwrap()] {
        let mut cache = RowCache::new(&gram, budget(3, 30)).unwrap();
        for set in [[0, 7, 29], [7, 3, 12], [12, 0, 0]] {
            for (found, i) in cache.rows(&set).into_iter().zip(set) {
                assert_eq!(found, direct(&gram, i));
            }
        }
    }
}

#[test]
fn a_budget_holds_two_rows_at_the_least() {
    let x = points(50, 2, 3);
    let gram = Gram::new(Kernel::Linear, &x).unwrap();
    let error = RowCache::new(&gram, budget(2, 50) - 1).unwrap_err().to_string();
    assert!(error.contains("cache") && error.contains(&budget(2, 50).to_string()), "{error}");
    assert_eq!(RowCache::new(&gram, budget(2, 50)).unwrap().capacity(), 2);
    assert_eq!(RowCache::new(&gram, usize::MAX).unwrap().capacity(), 50);
}

#[test]
#[should_panic(expected = "at most 2 rows")]
fn a_set_is_no_larger_than_the_cache() {
    let x = points(10, 2, 4);
    let gram = Gram::new(Kernel::Linear, &x).unwrap();
    RowCache::new(&gram, budget(2, 10)).unwrap().rows(&[1, 2, 3]);
}
