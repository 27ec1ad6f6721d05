//! What decides most problems within a few sweeps: equal rows of both classes, and the perceptron.

use xxhash_rust::xxh3::xxh3_64;

use super::points::Points;
use crate::data::Rows;
use crate::rng::Rng;
use crate::watch::Monitor;

/// Two equal rows of different classes, the first that come; or a row of zeros, where there is no bias to tell it from the origin.
pub(super) fn contradiction<R: Rows>(points: &Points<'_, R>) -> Option<Vec<usize>> {
    let mut bytes = Vec::new();
    let mut hashed: Vec<(u64, u32)> = Vec::with_capacity(points.len());
    for i in 0..points.len() {
        bytes.clear();
        let mut nothing = true;
        points.x().each(points.row(i), |j, v| {
            if v != 0.0 {
                nothing = false;
                bytes.extend_from_slice(&(j as u64).to_le_bytes());
                bytes.extend_from_slice(&v.to_bits().to_le_bytes());
            }
        });
        if nothing && !points.is_lifted() {
            return Some(vec![i]);
        }
        hashed.push((xxh3_64(&bytes), i as u32));
    }
    hashed.sort_unstable();
    let groups = hashed.chunk_by(|a, b| a.0 == b.0);
    groups.filter_map(|group| opposed(points, group)).min_by_key(|pair| pair[1])
}

/// The first point of a group of equal ones and the first of the other class.
fn opposed<R: Rows>(points: &Points<'_, R>, group: &[(u64, u32)]) -> Option<Vec<usize>> {
    let first = group.first()?.1 as usize;
    let side = points.member(first).positive;
    let other = group.iter().map(|&(_, i)| i as usize).find(|&i| points.member(i).positive != side)?;
    (entries(points, first) == entries(points, other)).then(|| vec![first, other])
}

fn entries<R: Rows>(points: &Points<'_, R>, i: usize) -> Vec<(usize, f64)> {
    let mut entries = Vec::new();
    points.x().each(points.row(i), |j, v| {
        if v != 0.0 {
            entries.push((j, v));
        }
    });
    entries
}

/// The weights after a pass without mistakes, if one comes soon. Points count by their direction alone, so that long rows have no more to say than short ones. `None` inside if
/// the run was stopped.
pub(super) fn perceptron<R: Rows>(points: &Points<'_, R>, monitor: &Monitor<'_>) -> Option<Option<Vec<f64>>> {
    /// Mistakes fall quickly where the margin is not small; where it is, other methods are faster.
    const PASSES: usize = 50;
    let length = |i: usize| {
        let mut square = 0.0;
        points.each(i, |_, v| square += v * v);
        if square > 0.0 { 1.0 / square.sqrt() } else { 1.0 }
    };
    let lengths: Vec<f64> = (0..points.len()).map(length).collect();
    // Files are often sorted by class, which is the worst of orders.
    let mut order: Vec<usize> = (0..points.len()).collect();
    Rng::new(0).shuffle(&mut order);
    let mut w = vec![0.0; points.dims()];
    for _ in 0..PASSES {
        let mut mistakes = 0;
        for &i in &order {
            if points.dot(i, &w) <= 0.0 {
                points.axpy(lengths[i], i, &mut w);
                mistakes += 1;
            }
        }
        if mistakes == 0 {
            return Some(w.iter().all(|w| w.is_finite()).then_some(w));
        }
        if !monitor.go_on(points.len()) {
            return None;
        }
    }
    Some(None)
}
