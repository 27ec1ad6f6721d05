//! Clarabel, an interior-point solver for cones that shares nothing with ours.

use clarabel::algebra::CscMatrix;
pub(crate) use clarabel::solver::SupportedConeT;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus};

/// An entry of a matrix: row, column, value.
pub(crate) type Entry = (usize, usize, f64);

/// min ½Σ pⱼxⱼ² + q·x with A·x + s = b, s in the cones.
pub(crate) fn clarabel(p: &[f64], q: &[f64], a: Vec<Entry>, b: &[f64], cones: &[SupportedConeT<f64>]) -> f64 {
    let size = p.len();
    let (rows, (columns, values)): (Vec<usize>, (Vec<usize>, Vec<f64>)) =
        a.into_iter().filter(|entry| entry.2 != 0.0).map(|(r, c, v)| (r, (c, v))).unzip();
    let a = CscMatrix::new_from_triplets(b.len(), size, rows, columns, values);
    let diagonal: Vec<usize> = (0..size).filter(|&j| p[j] != 0.0).collect();
    let values = diagonal.iter().map(|&j| p[j]).collect();
    let p = CscMatrix::new_from_triplets(size, size, diagonal.clone(), diagonal, values);
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_rel(1e-10)
        .tol_gap_abs(1e-10)
        .tol_feas(1e-10)
        .build()
        .unwrap();
    let mut solver = DefaultSolver::new(&p, q, &a, b, cones, settings).unwrap();
    solver.solve();
    let solved = matches!(solver.solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved);
    assert!(solved, "{:?}", solver.solution.status);
    solver.solution.obj_val
}
