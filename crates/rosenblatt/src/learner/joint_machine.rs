//! One kernel machine for all classes: Crammer and Singer's.

use super::batch::{Common, Costs, Solved};
use super::machines::{MEASURED, Machines, Start, stored};
use super::{Bias, Task};
use crate::data::{Rows, check_memory};
use crate::error::Error;
use crate::gram::Gram;
use crate::model::{Decision, Tie};
use crate::solver::{JointDecomposition, JointExample, JointExpanded, JointMachine, Term};
use crate::watch::Monitor;

impl<T: Term> Machines<T> {
    pub(super) fn solve_jointly(
        &self,
        gram: &Gram<'_>,
        common: &Common<'_>,
        task: &Task<'_>,
        costs: &Costs<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Solved, Error> {
        let (n_classes, examples) = (costs.classes.len(), costs.joint_examples());
        // Its parts of all classes and their scores, twice while they are summed up.
        check_memory(examples.len(), 4 * n_classes)?;
        let rounds = self.rounds(costs.x, examples.len());
        let cache = self.cache.unwrap_or_else(|| rounds.usual_cache_bytes());
        let lift = if common.bias == Bias::Regularized { 1.0 } else { 0.0 };
        let start = Start::of(task, &self.kernel, common.multiclass)?
            .and_then(|start| start.shares(&examples, n_classes));
        let expanded = {
            let (examples, tolerance) = (&examples[..], self.tolerance);
            let machine =
                JointMachine { gram, examples, n_classes, lift, start, tolerance, size: rounds.size, cache };
            JointDecomposition::new(&machine, self.limits(gram, common))?.solve(monitor)
        };
        gram.kernel().sound(costs.x, 0, costs.x)?;
        let JointExpanded { coefficients, offsets, certificate, violation, rounds: passes, end } = expanded;
        // Two classes need one plane: the difference of both.
        let two = n_classes == 2;
        let offsets = if two { vec![offsets[1] - offsets[0]] } else { offsets };
        let decision = if two { Decision::Sign(Tie::default()) } else { Decision::Highest };
        let body = self.body(costs, offsets, |entry| {
            for (example, a) in examples.iter().zip(coefficients.chunks_exact(n_classes)) {
                let row = example.row as usize;
                match a {
                    [first, second] => entry(row, 0, second - first),
                    _ => a.iter().enumerate().for_each(|(plane, &a)| entry(row, plane, a)),
                }
            }
        });
        let measured = costs.x.n_rows().saturating_mul(stored(&body)) <= MEASURED;
        let solver = self.joint_title(rounds);
        let violation = Some(violation);
        Ok(Solved { certificate, passes, end, solver, measured, violation, ..Solved::of(body, decision) })
    }
}

impl Start {
    /// How rows spread their cost over the classes, as near to the model's as theirs allow; nothing where it has other planes. One plane for two classes is the difference of both.
    fn shares(&self, examples: &[JointExample], n_classes: usize) -> Option<Vec<f64>> {
        let difference = n_classes == 2 && self.coefficients.len() == 1;
        if self.coefficients.len() != n_classes && !difference {
            return None;
        }
        let of_example = |example: &JointExample| {
            let own = example.class as usize;
            let coefficient = |c: usize| match (difference, c) {
                (false, _) => self.coefficients[c].get(&u64::from(example.row)).copied(),
                (true, 0) => self.coefficients[0].get(&u64::from(example.row)).map(|a| -0.5 * a),
                (true, _) => self.coefficients[0].get(&u64::from(example.row)).map(|a| 0.5 * a),
            };
            let others = |c: usize| if c == own { 0.0 } else { (-coefficient(c).unwrap_or(0.0)).max(0.0) };
            let mut u: Vec<f64> = (0..n_classes).map(others).collect();
            let sum: f64 = u.iter().sum();
            if sum > example.cost {
                u.iter_mut().for_each(|u| *u *= example.cost / sum);
            }
            u[own] = (example.cost - u.iter().sum::<f64>()).max(0.0);
            u
        };
        Some(examples.iter().flat_map(of_example).collect())
    }
}
