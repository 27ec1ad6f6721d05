//! Logistic regression.

use serde_json::Value;

use super::batch::{self, Common, Costs, Solved, batch_learner, joint_objective, objective};
use super::{Demand, Fit, Learner, Penalty, Shortcut, Task};
use crate::data::{Dataset, Rows, check_memory};
use crate::error::{Error, ParamError};
use crate::loss;
use crate::model::Link;
use crate::online::Multiclass;
use crate::solver::{Choice, L1, Multinomial, Solver};
use crate::watch::{Monitor, Watch};
use crate::with_rows;

batch_learner! {
    /// Logistic regression: a linear boundary whose scores are log odds.
    ///
    /// ```
    /// use rosenblatt::{Dataset, Dense, Labels, Learner, Logistic, Penalty, Status};
    /// let x = Dense::new(vec![1.0, 1.0, 3.0, 3.0, -1.0, -1.0, -3.0, -2.0], 2)?;
    /// let data = Dataset::new(x, &Labels::new(["yes", "yes", "no", "no"]))?;
    /// let fit = Logistic::default().fit(&data, &mut ())?;
    /// assert_eq!(fit.report.status, Status::Converged);
    ///
    /// // Under an L1 penalty one of two features that say the same is not used.
    /// let sparse = Logistic { penalty: Penalty::L1, ..Logistic::default() }.fit(&data, &mut ())?;
    /// assert!(sparse.model.body.planes().expect("a plane").normal(0).contains(&0.0));
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub struct Logistic {
        /// What keeps weights small.
        pub penalty: Penalty = Penalty::L2,
        /// How the objective is minimised.
        pub solver: Solver = Solver::Auto,
    }
    multiclass = Multiclass::Native, passes = 1000
}

impl Learner for Logistic {
    fn name(&self) -> &'static str {
        "logistic"
    }

    fn parameters(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<(), ParamError> {
        self.penalty.check(true, self.bias, self.solver)?;
        self.common().check()
    }

    fn can_go_on(&self) -> bool {
        true
    }

    fn shortcut(&self) -> Option<Shortcut<'_>> {
        Self::shortcut(self)
    }

    fn demand(&self, data: &Dataset<'_>) -> Result<Demand, Error> {
        let (common, k) = (self.common(), data.classes().len());
        if common.is_native(k) {
            let task = Task::new(data);
            let costs = Costs::new(&task, &common, true)?;
            let (title, bytes) = (
                multinomial_title(self.solver, &common, &costs),
                multinomial_bytes(self.solver, &common, &costs),
            );
            return Ok(Demand::of(title, (0, 0), (data.n_features(), 3 * k), bytes));
        }
        match self.penalty {
            Penalty::L1 => batch::demand(&common, data, &L1 { loss: loss::Logistic }),
            Penalty::L2 => batch::demand(&common, data, &Choice::new(self.solver, data.x(), loss::Logistic)),
        }
    }

    fn learn(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        self.check()?;
        let common = self.common();
        let native = common.is_native(task.data.classes().len());
        ParamError::unless(
            !(native && self.penalty == Penalty::L1),
            "penalty",
            "must be l2 for more than two classes at once; l1 goes with --multiclass ovr or ovo",
        )?;
        let objective = match native {
            true => joint_objective(&common, task.data, "log Σ exp(g_c(x) − g_y(x))"),
            false => objective(&common, task.data, self.penalty, "log(1 + exp(−y·g(x)))"),
        };
        let about = batch::about(self.name(), objective, self.parameters());
        batch::learn(about, &common, task, watch, |costs, monitor| match native {
            true => multinomial(&common, self.solver, costs, monitor),
            false => {
                let solved = match self.penalty {
                    Penalty::L1 => {
                        batch::solve_reduced(&common, &L1 { loss: loss::Logistic }, costs, monitor)?
                    }
                    Penalty::L2 => {
                        let choice = Choice::new(self.solver, costs.x, loss::Logistic);
                        batch::solve_reduced(&common, &choice, costs, monitor)?
                    }
                };
                Ok(Solved { link: Some(Link::Logistic), ..solved.without_edges() })
            }
        })
    }
}

fn multinomial_title(solver: Solver, common: &Common<'_>, costs: &Costs<'_>) -> String {
    let Costs { x, y, classes, cost, start, .. } = costs;
    let title = with_rows!(x, x => {
        Multinomial { x, y, cost, k: classes.len(), bias: common.bias, start: *start }.choose(solver).1
    });
    batch::joint_title(&title)
}

fn multinomial_bytes(solver: Solver, common: &Common<'_>, costs: &Costs<'_>) -> usize {
    let Costs { x, y, classes, cost, start, .. } = costs;
    with_rows!(x, x => {
        Multinomial { x, y, cost, k: classes.len(), bias: common.bias, start: *start }.bytes(solver)
    })
}

/// All classes in one problem.
fn multinomial(
    common: &Common<'_>,
    solver: Solver,
    costs: &Costs<'_>,
    monitor: &Monitor<'_>,
) -> Result<Solved, Error> {
    let Costs { x, y, classes, cost, start, .. } = costs;
    let k = classes.len();
    check_memory(
        x.n_cols(),
        multinomial_bytes(solver, common, costs) / size_of::<f64>() / x.n_cols().max(1),
    )?;
    let (solution, title) = with_rows!(x, x => {
        let problem = Multinomial { x, y, cost, k, bias: common.bias, start: *start };
        problem.solve(solver, common.limits(), monitor)
    });
    let solved = Solved::jointly(solution, &title);
    Ok(Solved { link: Some(Link::Softmax), ..solved.without_edges() })
}
