//! Sums over few stored examples.

use serde::{Deserialize, Serialize};

use super::hypothesis::Push;
use crate::simd::{Loop, widely};

/// Σ aₛ·K(xₛ, ·) for each plane, over stored examples in the order they were added in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Terms {
    /// The numbers of the examples in the store.
    pub(super) rows: Vec<u32>,
    /// When each was added, in examples seen.
    pub(super) times: Vec<u64>,
    /// For each plane the coefficients of all terms.
    pub(super) planes: Vec<Vec<f64>>,
}

/// A mistake: `share` times an example is to be added to the planes, with their signs.
pub(super) struct Mistake<'a> {
    /// The number of the example in the store, and among those seen.
    pub(super) row: u32,
    pub(super) time: u64,
    /// K of the example with each term, and with itself.
    pub(super) values: &'a [f64],
    pub(super) own: f64,
    pub(super) pushes: &'a [Push],
    pub(super) share: f64,
}

impl Terms {
    pub(super) fn new(planes: usize) -> Self {
        Terms { rows: Vec::new(), times: Vec::new(), planes: vec![Vec::new(); planes] }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// When each example was seen, the plane, and its coefficient there.
    pub(super) fn each(&self) -> impl Iterator<Item = (u64, usize, f64)> {
        let planes = self.planes.iter().enumerate();
        planes.flat_map(|(plane, a)| self.times.iter().zip(a).map(move |(&time, &a)| (time, plane, a)))
    }

    /// A term for an example, of which nothing has been added yet.
    pub(super) fn open(&mut self, mistake: &Mistake<'_>) {
        self.rows.push(mistake.row);
        self.times.push(mistake.time);
        self.planes.iter_mut().for_each(|plane| plane.push(0.0));
    }

    pub(super) fn drop_oldest(&mut self) {
        self.rows.remove(0);
        self.times.remove(0);
        self.planes.iter_mut().for_each(|plane| {
            plane.remove(0);
        });
    }

    /// Of the kernel values of an example with all rows of the store those with the terms, with the 1 of a bias.
    pub(super) fn values(&self, of_rows: &[f32], lift: f64, out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.rows.iter().map(|&row| f64::from(of_rows[row as usize]) + lift));
    }

    /// The scores of an example, by its values with the terms.
    pub(super) fn scores(&self, values: &[f64]) -> Vec<f64> {
        self.planes.iter().map(|plane| dot(plane, values)).collect()
    }

    /// Whether it can be a sum over so many stored rows.
    pub(super) fn fits(&self, planes: usize, n_rows: usize) -> bool {
        let n = self.len();
        self.planes.len() == planes
            && self.times.len() == n
            && self.rows.iter().all(|&row| (row as usize) < n_rows)
            && self.planes.iter().all(|plane| plane.len() == n && plane.iter().all(|a| a.is_finite()))
    }
}

/// The same sums for planes that get other numbers: −1 and +1 change places; one binary plane becomes two; a class appears before plane `at`.
pub(super) trait Renamed {
    fn flip(&mut self);
    fn split(&mut self);
    fn insert(&mut self, at: usize);
}

impl Renamed for Vec<Vec<f64>> {
    fn flip(&mut self) {
        self.iter_mut().flatten().for_each(|a| *a = 0.0 - *a);
    }

    fn split(&mut self) {
        let against = self[0].iter().map(|a| 0.0 - a).collect();
        self.insert(0, against);
    }

    fn insert(&mut self, at: usize) {
        let n = self.first().map_or(0, Vec::len);
        Vec::insert(self, at, vec![0.0; n]);
    }
}

/// Sums side by side, so that additions need not wait for each other; always as many, so that all processors agree.
const LANES: usize = 8;

/// Σ aᵢ·bᵢ
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    struct Dot<'a>(&'a [f64], &'a [f64]);
    impl Loop for Dot<'_> {
        type Output = f64;
        #[inline(always)]
        fn run(self) -> f64 {
            let n = self.0.len().min(self.1.len());
            let (a, b) = (self.0[..n].chunks_exact(LANES), self.1[..n].chunks_exact(LANES));
            let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
            let mut sums = [0.0; LANES];
            for (a, b) in a.zip(b) {
                for lane in 0..LANES {
                    sums[lane] += a[lane] * b[lane];
                }
            }
            sums.iter().sum::<f64>() + rest
        }
    }
    widely(Dot(a, b))
}

/// b ← b + s·a, and Σ aᵢ·cᵢ on the way.
#[inline(always)]
pub(super) fn add_and_dot(s: f64, a: &[f64], b: &mut [f64], c: &[f64]) -> f64 {
    let n = a.len().min(b.len()).min(c.len());
    let (a, b, c) = (&a[..n], &mut b[..n], &c[..n]);
    let mut sums = [0.0; LANES];
    let whole = n / LANES * LANES;
    for at in (0..whole).step_by(LANES) {
        let (a, b, c) = (&a[at..at + LANES], &mut b[at..at + LANES], &c[at..at + LANES]);
        for lane in 0..LANES {
            b[lane] += s * a[lane];
            sums[lane] += a[lane] * c[lane];
        }
    }
    let mut rest = 0.0;
    for at in whole..n {
        b[at] += s * a[at];
        rest += a[at] * c[at];
    }
    sums.iter().sum::<f64>() + rest
}
