//! `separable`

use std::time::{Duration, Instant};

use rosenblatt::{
    Dataset, Error, FeatureMap, MapKind, Multiclass, Multiplier, Obstruction, Products, Rows, Scaling,
    Separability, SeparabilityProblem, Separator, Watch,
};
use serde_json::{Value, json};

use super::data::{Training, describe_classes, multiplier_json, values_of};
use super::{emit, emit_json, largest};
use crate::args::{Cli, KernelArg, LearnerArgs, ScaleArg, SchemeArg, SeparableArgs};
use crate::failure::Failure;
use crate::format::{count, number, plural, time};
use crate::parameters::ParameterArgs;
use crate::progress::Bar;
use crate::style::{GOOD, WARN};
use crate::table::Table;

/// True if the classes can be separated.
pub(crate) fn run(cli: &Cli, args: &SeparableArgs) -> Result<bool, Failure> {
    let asked = Asked::of(args)?;
    let learner = LearnerArgs {
        algorithm: "perceptron".to_owned(),
        impute: None,
        scale: ScaleArg::None,
        map: None,
        parameters: ParameterArgs::default(),
    };
    // Scaled and mapped below: proofs show the rows as they were read.
    let training = Training::read(&args.data, &args.read, &learner, None, cli.seed)?;
    let scale = |kind| training.data.clone().scaled(&Scaling::fit(kind, training.data.x()));
    let scaled = args.scale.kind().map(scale).transpose()?;
    let start = Instant::now();
    let space = Space::of(asked, scaled.as_ref().unwrap_or(&training.data), cli.seed)
        .map_err(|error| training.blame(error))?;
    let mut bar = Bar::new(cli.quiet || cli.json);
    let schemes: &[Multiclass] = match (args.multiclass, training.data.classes().len()) {
        (Some(SchemeArg::Ovr), _) => &[Multiclass::Ovr],
        (Some(SchemeArg::Ovo), _) | (None, 0..=2) => &[Multiclass::Ovo],
        (None, _) => &[Multiclass::Ovo, Multiclass::Ovr],
    };
    let mut answers = Vec::new();
    for &scheme in schemes {
        let problems = space
            .separability(scheme, !args.no_bias, &mut bar)
            .map_err(|error| training.blame(error))?
            .ok_or_else(|| Failure::stopped("stopped before the answer was found"))?;
        answers.push((scheme, problems));
    }
    drop(bar);
    let found = Found { args, training: &training, space, answers, seconds: start.elapsed() };
    match (cli.json, cli.quiet) {
        (true, _) => emit_json(&found.json())?,
        (false, true) => {}
        (false, false) => emit(&found.text())?,
    }
    Ok(found.separable())
}

/// The space that was asked for.
#[derive(Clone, Copy)]
enum Asked {
    Features,
    Map(MapKind),
    Products { degree: u32, coef0: f64 },
    Apart,
}

impl Asked {
    fn of(args: &SeparableArgs) -> Result<Self, Failure> {
        let Some(kernel) = args.kernel else { return Ok(args.map.map_or(Asked::Features, Asked::Map)) };
        if args.map.is_some() {
            return Err(Failure::bad("--kernel and --map: one space is enough").hint("leave one of them out"));
        }
        let refused = |why: &str| Err(Failure::bad(format!("--kernel: {why}")));
        match kernel {
            KernelArg::Linear => Ok(Asked::Features),
            KernelArg::Rbf | KernelArg::Laplacian => Ok(Asked::Apart),
            KernelArg::Poly => Asked::products(args.degree, args.coef0),
            KernelArg::Sigmoid => {
                refused("sigmoid is no dot product of any space, so that there are no planes to look for")
            }
            KernelArg::Cosine => refused(
                "cosine divides rows by their lengths, roots that no fraction holds, so that nothing could be proved exactly; with --no-bias it separates what linear separates",
            ),
            KernelArg::Chi2 => {
                refused("the space of chi2 has no features that could be written down and checked exactly")
            }
            KernelArg::Precomputed => {
                refused("precomputed values were rounded, and say nothing exact of the rows behind them")
            }
        }
    }

    fn products(degree: u32, coef0: f64) -> Result<Self, Failure> {
        if !(coef0 >= 0.0 && coef0.is_finite()) {
            return Err(Failure::bad(
                "--coef0: must be 0 or more, as there is no space of features otherwise",
            ));
        }
        // What is no map is no degree.
        let map: Result<MapKind, _> = format!("poly:{degree}").parse();
        map.map_err(|error| Failure::bad(format!("--degree: {error}")))?;
        Ok(Asked::Products { degree, coef0 })
    }
}

/// Where planes are looked for.
enum Space<'d> {
    /// The rows themselves, after scaling if that was asked for.
    Features(&'d Dataset<'static>),
    Mapped(Box<(Dataset<'static>, FeatureMap)>),
    /// The products of a polynomial kernel, and what they are in words.
    Products(Box<Products<'d>>, String),
    /// A dimension for each different row, as kernels make them that tell all rows apart.
    Apart(Box<Dataset<'static>>),
}

impl<'d> Space<'d> {
    fn of(asked: Asked, data: &'d Dataset<'static>, seed: u64) -> Result<Self, Error> {
        let mapped = |kind| -> Result<_, Error> {
            let map = FeatureMap::fit(kind, data, seed)?;
            Ok((data.clone().mapped(&map)?, map))
        };
        Ok(match asked {
            Asked::Features => Space::Features(data),
            Asked::Map(kind) => Space::Mapped(Box::new(mapped(kind)?)),
            Asked::Products { degree, coef0 } => {
                let up_to = if coef0 > 0.0 { "up to " } else { "" };
                let features = if degree == 1 { "feature" } else { "features" };
                let words = format!("the products of {up_to}{degree} {features}");
                Space::Products(Box::new(Products::of(data, degree, coef0)?), words)
            }
            Asked::Apart => Space::Apart(Box::new(mapped(MapKind::Identity)?.0)),
        })
    }

    fn separability(
        &self,
        scheme: Multiclass,
        bias: bool,
        watch: &mut dyn Watch,
    ) -> Result<Option<Vec<SeparabilityProblem>>, Error> {
        match self {
            Space::Products(products, _) => products.separability(scheme, bias, watch),
            Space::Features(data) => Separability::of_problems(data, scheme, bias, watch),
            Space::Apart(data) => Separability::of_problems(data, scheme, bias, watch),
            Space::Mapped(mapped) => Separability::of_problems(&mapped.0, scheme, bias, watch),
        }
    }

    /// What a weight is of.
    fn name(&self, j: usize) -> String {
        match self {
            Space::Features(data) => data.features().name(j),
            Space::Apart(data) => data.features().name(j),
            Space::Mapped(mapped) => mapped.1.name(j),
            Space::Products(products, _) => products.name(j),
        }
    }

    /// The rows that were made of those that were read, if they are rows.
    fn made(&self, scaled: bool) -> Option<&Dataset<'static>> {
        match self {
            Space::Features(data) => scaled.then_some(*data),
            Space::Mapped(mapped) => Some(&mapped.0),
            Space::Products(..) | Space::Apart(_) => None,
        }
    }
}

fn proof_of(problem: &SeparabilityProblem) -> Option<&Obstruction> {
    match &problem.answer {
        Separability::Inseparable(proof) => Some(proof),
        Separability::Separable(_) => None,
    }
}

struct Found<'a> {
    args: &'a SeparableArgs,
    /// With the rows as they were read.
    training: &'a Training,
    space: Space<'a>,
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

    fn is_scaled(&self) -> bool {
        self.args.scale.kind().is_some()
    }

    /// "the rows after scaling and map"; nothing where they are as they were read.
    fn treated(&self) -> Option<&'static str> {
        match (self.is_scaled(), &self.space) {
            (true, Space::Mapped(_)) => Some("the rows after scaling and map"),
            (false, Space::Mapped(_)) => Some("the rows after the map"),
            (true, _) => Some("the rows after scaling"),
            (false, _) => None,
        }
    }

    /// Where the weights are, where that is not plain.
    fn space_note(&self) -> Option<String> {
        match &self.space {
            Space::Apart(_) => Some(
                "the kernel's, where all different rows are linearly independent: it has no weights of features, and its margin depends on the width"
                    .to_owned(),
            ),
            Space::Products(_, words) => {
                Some(format!("{words}: the kernel stretches each of them, so that its margin is another"))
            }
            Space::Features(_) | Space::Mapped(_) => self.treated().map(str::to_owned),
        }
    }

    /// What exactly was checked.
    fn verified(&self) -> String {
        match (&self.space, self.treated()) {
            (Space::Apart(_), treated) => {
                let rows = if treated.is_some() { "rows after scaling" } else { "rows" };
                format!(
                    "exactly that no two equal {rows} differ in class, or which do; the kernel makes all different rows linearly independent (Micchelli 1986)"
                )
            }
            (Space::Products(_, words), None) => {
                format!("in exact arithmetic, on {words}, none of them rounded")
            }
            (Space::Products(_, words), Some(_)) => {
                format!("in exact arithmetic, on {words} after scaling, none of them rounded")
            }
            (_, Some(treated)) => format!("in exact arithmetic, on {treated}, as they are stored"),
            (_, None) => "in exact arithmetic, on the values as they were read".to_owned(),
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
        if let Some(note) = self.space_note() {
            object["space"] = json!(note);
        }
        if let Space::Products(products, _) = &self.space {
            let terms: Vec<String> = (0..products.len()).map(|j| products.name(j)).collect();
            object["terms"] = json!(terms);
        }
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
                let has_weights = !matches!(self.space, Space::Apart(_));
                object["margin"] = json!(self.margin(separator));
                object["weights"] = json!(has_weights.then_some(&separator.weights));
                object["bias"] = json!(has_weights.then_some(separator.bias));
                if let Some((weights, bias)) = separator.exact.as_ref().filter(|_| has_weights) {
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

    /// That of the features or what was made of them; of a kernel's space it is not known.
    fn margin(&self, separator: &Separator) -> Option<f64> {
        separator.margin.filter(|_| matches!(self.space, Space::Features(_) | Space::Mapped(_)))
    }

    /// The row as it was read, and if other numbers add up to 0, these, too: features that are not named are 0.
    fn multiplier_json(&self, problem: &SeparabilityProblem, multiplier: &Multiplier) -> Value {
        let data = self.data();
        let mut object = multiplier_json(data, problem.positive, multiplier);
        object["values"] = json!(values_of(data, multiplier.row, |j| data.features().name(j)));
        if let Some(made) = self.space.made(self.is_scaled()) {
            object["mapped_values"] = json!(values_of(made, multiplier.row, |j| self.space.name(j)));
        }
        object
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
        let what = match (&self.space, self.treated()) {
            (Space::Apart(_), treated) => {
                let treated = treated.map(|_| " after scaling").unwrap_or_default();
                return format!("  The two rows are equal{treated}, and no kernel tells them apart.\n");
            }
            (Space::Products(_, words), _) => Some(words.as_str()),
            (_, treated) => treated,
        };
        let point = match (what.is_some(), self.args.no_bias) {
            (false, false) => "(x, 1)",
            (false, true) => "x",
            (true, false) => "(z, 1)",
            (true, true) => "z",
        };
        let what = what.map(|what| format!(", z being {what}")).unwrap_or_default();
        format!("  {the} multipliers are above 0, their sum is 1, and the sum of λ·y·{point} is 0{what}.\n")
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
        let title = &problem.title;
        let after = self.treated().map(|treated| treated.replace("the rows", "")).unwrap_or_default();
        let margin = match (separator.margin, self.margin(separator)) {
            (None, _) => "one of the classes has no rows".to_owned(),
            (_, Some(margin)) => format!("every row is {} or more from the plane{after}", number(margin, 4)),
            _ => format!("by a plane in the space of the kernel{after}"),
        };
        if let Space::Apart(_) = self.space {
            return format!("{GOOD}Separable{GOOD:#} ({title}): {margin}.\n");
        }
        let heading = if matches!(self.space, Space::Products(..)) { "product" } else { "feature" };
        let mut table = Table::new(&[heading, ">weight"]);
        let weights: Vec<(usize, f64)> = separator.weights.iter().copied().enumerate().collect();
        let shown = largest(weights, self.args.top, |(_, weight)| *weight);
        for (column, weight) in shown.into_iter().filter(|(_, weight)| *weight != 0.0) {
            table.row([self.space.name(column), number(weight, 6)]);
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
        format!("{GOOD}Separable{GOOD:#} ({title}): {margin}.\n\n{table}{exact}")
    }

    /// The rows as a user knows them: as they were read.
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
                    self.margin(separator).map(|margin| number(margin, 4)).unwrap_or_default(),
                    String::new(),
                ),
                Separability::Inseparable(proof) => ("no", String::new(), proof.to_string()),
            };
            table.row([problem.title.clone(), yes.to_owned(), margin, rows]);
        }
        table.to_string()
    }
}
