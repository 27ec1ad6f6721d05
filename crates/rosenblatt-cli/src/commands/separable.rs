//! `separable`

use std::time::{Duration, Instant};

use rosenblatt::{
    Dataset, MapKind, Multiclass, Multiplier, Obstruction, Rows, Separability, SeparabilityProblem, Separator,
};
use serde_json::{Value, json};

use super::data::{Training, describe_classes};
use super::{emit, emit_json, largest};
use crate::args::{Cli, KernelArg, LearnerArgs, SchemeArg, SeparableArgs};
use crate::failure::Failure;
use crate::format::{count, number, plural, time};
use crate::parameters::ParameterArgs;
use crate::progress::Bar;
use crate::style::{GOOD, WARN};
use crate::table::Table;

/// True if the classes can be separated.
pub(crate) fn run(cli: &Cli, args: &SeparableArgs) -> Result<bool, Failure> {
    let map = space(args)?;
    let learner = LearnerArgs {
        algorithm: "perceptron".to_owned(),
        scale: args.scale,
        map,
        parameters: ParameterArgs::default(),
    };
    let training = Training::read(&args.data, &args.read, &learner, None, cli.seed)?;
    let start = Instant::now();
    let mut bar = Bar::new(cli.quiet || cli.json);
    let schemes: &[Multiclass] = match (args.multiclass, training.data.classes().len()) {
        (Some(SchemeArg::Ovr), _) => &[Multiclass::Ovr],
        (Some(SchemeArg::Ovo), _) | (None, 0..=2) => &[Multiclass::Ovo],
        (None, _) => &[Multiclass::Ovo, Multiclass::Ovr],
    };
    let mut answers = Vec::new();
    for &scheme in schemes {
        let problems = Separability::of_problems(&training.data, scheme, !args.no_bias, &mut bar)
            .map_err(|error| training.blame(error))?
            .ok_or_else(|| Failure::stopped("stopped before the answer was found"))?;
        answers.push((scheme, problems));
    }
    drop(bar);
    let found = Found { args, training: &training, answers, seconds: start.elapsed() };
    match (cli.json, cli.quiet) {
        (true, _) => emit_json(&found.json())?,
        (false, true) => {}
        (false, false) => emit(&found.text())?,
    }
    Ok(found.separable())
}

/// The map whose space has the same separators as that of the kernel.
fn space(args: &SeparableArgs) -> Result<Option<MapKind>, Failure> {
    let Some(kernel) = args.kernel else { return Ok(args.map) };
    if args.map.is_some() {
        return Err(Failure::bad("--kernel and --map: one space is enough").hint("leave one of them out"));
    }
    if kernel == KernelArg::Poly && !(args.coef0 >= 0.0 && args.coef0.is_finite()) {
        return Err(Failure::bad("--coef0: must be 0 or more, as there is no space of features otherwise"));
    }
    let map = match kernel {
        KernelArg::Linear => return Ok(None),
        KernelArg::Poly if args.coef0 > 0.0 => format!("poly:{}", args.degree),
        KernelArg::Poly => format!("homogeneous:{}", args.degree),
        KernelArg::Rbf | KernelArg::Laplacian => "identity".to_owned(),
    };
    map.parse().map(Some).map_err(|error| Failure::bad(format!("--kernel: {error}")))
}

fn proof_of(problem: &SeparabilityProblem) -> Option<&Obstruction> {
    match &problem.answer {
        Separability::Inseparable(proof) => Some(proof),
        Separability::Separable(_) => None,
    }
}

struct Found<'a> {
    args: &'a SeparableArgs,
    training: &'a Training,
    answers: Vec<(Multiclass, Vec<SeparabilityProblem>)>,
    seconds: Duration,
}

impl Found<'_> {
    fn data(&self) -> &Dataset<'static> {
        &self.training.data
    }

    /// Whether all problems of the scheme asked for are, pairs where none was.
    fn separable(&self) -> bool {
        self.answers.first().is_some_and(|(_, problems)| problems.iter().all(|p| p.answer.is_separable()))
    }

    /// What exactly was checked.
    fn verified(&self) -> &'static str {
        match (self.args.kernel, self.args.map, self.args.scale.kind()) {
            (Some(KernelArg::Rbf | KernelArg::Laplacian), ..) => {
                "exactly that no two equal rows differ in class, or which do; the kernel makes all other rows linearly independent (Micchelli 1986)"
            }
            (Some(KernelArg::Poly), ..) => {
                "in exact arithmetic, on the products of features the kernel stands for, as double precision has them"
            }
            (_, Some(_), _) | (_, _, Some(_)) => {
                "in exact arithmetic, on the rows after scaling and map, as they are stored"
            }
            _ => "in exact arithmetic, on the values as they were read",
        }
    }

    fn json(&self) -> Value {
        let mut object = json!({ "separable": self.separable() });
        let problems = self.answers.iter().flat_map(|(_, problems)| problems);
        let mut all: Vec<Value> = problems.map(|problem| self.problem_json(problem)).collect();
        match all.len() {
            1 => object = all.remove(0),
            _ => object["problems"] = json!(all),
        }
        object["verified"] = json!("exact");
        object["checked"] = json!(self.verified());
        object["rows"] = json!(self.data().n_rows());
        object["features"] = json!(self.data().n_features());
        object["classes"] = json!(self.data().classes());
        object["seconds"] = json!(self.seconds.as_secs_f64());
        object
    }

    fn problem_json(&self, problem: &SeparabilityProblem) -> Value {
        let mut object = json!({ "separable": problem.answer.is_separable(), "problem": problem.title });
        match &problem.answer {
            Separability::Separable(separator) => {
                object["margin"] = json!(separator.margin);
                object["weights"] = json!(separator.weights);
                object["bias"] = json!(separator.bias);
                if let Some((weights, bias)) = &separator.exact {
                    object["exact_weights"] = json!(weights);
                    object["exact_bias"] = json!(bias);
                }
            }
            Separability::Inseparable(proof) => {
                let multiplier = |multiplier| self.multiplier_json(problem, multiplier);
                object["multipliers"] = proof.multipliers.iter().map(multiplier).collect();
            }
        }
        object["seconds"] = json!(problem.seconds);
        object
    }

    /// With all that is needed to add it up: features that are not named are 0.
    fn multiplier_json(&self, problem: &SeparabilityProblem, multiplier: &Multiplier) -> Value {
        let data = self.data();
        let class = data.y()[multiplier.row] as usize;
        let mut values = serde_json::Map::new();
        data.x().each(multiplier.row, |j, v| {
            if v != 0.0 {
                values.insert(data.features().name(j), json!(v));
            }
        });
        json!({
            "row": multiplier.row + 1,
            "value": multiplier.value,
            "label": data.classes()[class],
            "y": if class == problem.positive { 1 } else { -1 },
            "values": values,
        })
    }

    fn text(&self) -> String {
        let data = self.data();
        let head = format!(
            "{}: {} × {}, {}\n\n",
            self.training.origin,
            plural(data.n_rows() as u64, "row", "rows"),
            plural(data.n_features() as u64, "feature", "features"),
            describe_classes(data.classes())
        );
        let body = match &self.answers[..] {
            [(_, problems)] if problems.len() == 1 => self.one(&problems[0]),
            _ => self.several(),
        };
        format!("{head}{body}\n  verified  {}\n  time      {}\n", self.verified(), time(self.seconds))
    }

    fn one(&self, problem: &SeparabilityProblem) -> String {
        match &problem.answer {
            Separability::Separable(separator) => self.separated(problem, separator),
            Separability::Inseparable(proof) => {
                format!("{}\n{}", self.obstructed(problem, proof), self.meaning("The"))
            }
        }
    }

    fn meaning(&self, the: &str) -> String {
        let point = if self.args.no_bias { "x" } else { "(x, 1)" };
        format!("  {the} multipliers are above 0, their sum is 1, and the sum of λ·y·{point} is 0.\n")
    }

    fn obstructed(&self, problem: &SeparabilityProblem, proof: &Obstruction) -> String {
        let rows = plural(proof.multipliers.len() as u64, "row proves", "rows prove");
        format!(
            "{WARN}Not separable{WARN:#} ({}): {rows} it, and none of them can be left out.\n\n{}",
            problem.title,
            self.proof(problem, proof),
        )
    }

    /// A line for each problem, and the proofs where they are few.
    fn several(&self) -> String {
        /// Proofs, and rows of all of them.
        const FEW: (usize, usize) = (6, 100);
        let mut parts: Vec<String> = self.answers.iter().map(|(_, problems)| self.table(problems)).collect();
        let problems = self.answers.iter().flat_map(|(_, problems)| problems);
        let proofs: Vec<_> = problems.filter_map(|p| Some((p, proof_of(p)?))).collect();
        let rows: usize = proofs.iter().map(|(_, proof)| proof.multipliers.len()).sum();
        if proofs.len() > FEW.0 || rows > FEW.1 {
            parts.push("  `--json` has the rows with their multipliers and values.\n".to_owned());
        } else if !proofs.is_empty() {
            parts.extend(proofs.iter().map(|(problem, proof)| self.obstructed(problem, proof)));
            parts.push(self.meaning("In each proof the"));
        }
        parts.join("\n")
    }

    fn separated(&self, problem: &SeparabilityProblem, separator: &Separator) -> String {
        let margin = match separator.margin {
            Some(margin) => format!("every row is {} or more from the plane", number(margin, 4)),
            None => "one of the classes has no rows".to_owned(),
        };
        let mut table = Table::new(&["feature", ">weight"]);
        let weights: Vec<(usize, f64)> = separator.weights.iter().copied().enumerate().collect();
        let shown = largest(weights, self.args.top, |(_, weight)| *weight);
        for (column, weight) in shown.into_iter().filter(|(_, weight)| *weight != 0.0) {
            table.row([self.data().features().name(column), number(weight, 6)]);
        }
        if !self.args.no_bias {
            table.row(["BIAS".to_owned(), number(separator.bias, 6)]);
        }
        let exact = match separator.exact {
            Some(_) => {
                "\n  No plane found in double precision separates the rows: `--json` has the exact fractions.\n"
            }
            None => "",
        };
        format!("{GOOD}Separable{GOOD:#} ({}): {margin}.\n\n{table}{exact}", problem.title)
    }

    /// The rows as a user knows them.
    fn proof(&self, problem: &SeparabilityProblem, proof: &Obstruction) -> Table {
        /// More do not fit a line.
        const COLUMNS: usize = 6;
        let data = self.data();
        let mut used: Vec<usize> = Vec::new();
        for multiplier in &proof.multipliers {
            data.x().each(multiplier.row, |j, v| {
                if v != 0.0 {
                    used.push(j)
                }
            });
        }
        used.sort_unstable();
        used.dedup();
        let names: Vec<String> =
            used.iter().take(COLUMNS).map(|&j| format!(">{}", data.features().name(j))).collect();
        let mut headings = vec![">row", "label", ">y", ">multiplier λ"];
        headings.extend(names.iter().map(String::as_str));
        headings.extend((used.len() > COLUMNS).then_some("…"));
        let mut table = Table::new(&headings);
        for Multiplier { row, value } in &proof.multipliers {
            let class = data.y()[*row] as usize;
            let sign = if class == problem.positive { "+1" } else { "-1" };
            let exact = value.to_string();
            let value = if exact.len() <= 24 { exact } else { format!("≈ {}", number(value.to_f64(), 6)) };
            let mut cells =
                vec![count(*row as u64 + 1), data.classes()[class].to_string(), sign.to_owned(), value];
            let mut values = vec![0.0; used.len().min(COLUMNS)];
            data.x().each(*row, |j, v| {
                if let Ok(place) = used.binary_search(&j)
                    && place < values.len()
                {
                    values[place] = v;
                }
            });
            cells.extend(values.iter().map(|&v| number(v, 6)));
            table.row(cells);
        }
        table
    }

    fn table(&self, problems: &[SeparabilityProblem]) -> String {
        let mut table = Table::new(&["problem", "separable", ">margin", "rows that prove it"]);
        for problem in problems {
            let (yes, margin, rows) = match &problem.answer {
                Separability::Separable(separator) => (
                    "yes",
                    separator.margin.map(|margin| number(margin, 4)).unwrap_or_default(),
                    String::new(),
                ),
                Separability::Inseparable(proof) => ("no", String::new(), proof.to_string()),
            };
            table.row([problem.title.clone(), yes.to_owned(), margin, rows]);
        }
        table.to_string()
    }
}
