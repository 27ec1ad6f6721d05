//! Model files of LIBLINEAR: a plane for two classes, or one a class.
//!
//! Fan, Chang, Hsieh, Wang, Lin (2008), LIBLINEAR: a library for large linear classification, JMLR 9. Of two classes the first label is predicted where w·x > 0; of more the
//! highest score wins, ties going to the label that comes first.

use rosenblatt::{Body, Class, Classes, Decision, Features, Fit, Link, Model, Planes, Scale, Scaling, Tie};
use serde_json::{Value, json};

use super::lines::{Header, Lines, number, same, shown};
use super::{Export, ExportError, ForeignError, digits, labels, lost, negative, report, two_classes};

/// What a solver type stands for, in our words.
struct Solver {
    name: &'static str,
    algorithm: &'static str,
    loss: Option<&'static str>,
    penalty: &'static str,
    /// How it was solved, where we have that, too.
    solver: Option<&'static str>,
    objective: &'static str,
    /// Whether `-R` may have left the bias out of the norm, which the file does not tell.
    may_free_bias: bool,
}

const fn solver(
    name: &'static str,
    kind: [&'static str; 2],
    solver: Option<&'static str>,
    objective: &'static str,
) -> Solver {
    let [algorithm, penalty] = kind;
    Solver { name, algorithm, loss: None, penalty, solver, objective, may_free_bias: false }
}

/// By number.
const SOLVERS: [Solver; 8] = [
    Solver {
        may_free_bias: true,
        ..solver("L2R_LR", ["logistic", "l2"], Some("newton"), "½‖w‖² + C·Σ log(1 + exp(−y·g))")
    },
    Solver {
        loss: Some("squared-hinge"),
        ..solver("L2R_L2LOSS_SVC_DUAL", ["linear-svm", "l2"], Some("dual"), "½‖w‖² + C·Σ max(0, 1 − y·g)²")
    },
    Solver {
        loss: Some("squared-hinge"),
        may_free_bias: true,
        ..solver("L2R_L2LOSS_SVC", ["linear-svm", "l2"], Some("newton"), "½‖w‖² + C·Σ max(0, 1 − y·g)²")
    },
    Solver {
        loss: Some("hinge"),
        ..solver("L2R_L1LOSS_SVC_DUAL", ["linear-svm", "l2"], Some("dual"), "½‖w‖² + C·Σ max(0, 1 − y·g)")
    },
    solver("MCSVM_CS", [CRAMMER_SINGER, "l2"], None, "½Σ‖w_c‖² + C·Σ max_c (1 − [c = y] + g_c − g_y)"),
    Solver {
        loss: Some("squared-hinge"),
        may_free_bias: true,
        ..solver("L1R_L2LOSS_SVC", ["linear-svm", "l1"], None, "‖w‖₁ + C·Σ max(0, 1 − y·g)²")
    },
    Solver {
        may_free_bias: true,
        ..solver("L1R_LR", ["logistic", "l1"], None, "‖w‖₁ + C·Σ log(1 + exp(−y·g))")
    },
    solver("L2R_LR_DUAL", ["logistic", "l2"], Some("dual"), "½‖w‖² + C·Σ log(1 + exp(−y·g))"),
];

const CRAMMER_SINGER: &str = "crammer-singer";
/// Planes that are none of these are written as the plainest of them.
const PLAIN: usize = 3;
const WORDS: [&str; 6] = ["solver_type", "nr_class", "label", "nr_feature", "bias", "rho"];

impl Solver {
    fn is_joint(&self) -> bool {
        self.algorithm == CRAMMER_SINGER
    }

    fn is_logistic(&self) -> bool {
        self.algorithm == "logistic"
    }

    /// How many weights a feature has.
    fn planes(&self, n_classes: usize) -> usize {
        if n_classes == 2 && !self.is_joint() { 1 } else { n_classes }
    }

    fn named(header: &Header<'_>) -> Result<(usize, &'static Solver), ForeignError> {
        let name = header.text("solver_type")?;
        SOLVERS.iter().enumerate().find(|(_, solver)| solver.name == name).ok_or_else(|| {
            let other = match name {
                _ if name.ends_with("SVR") || name.ends_with("SVR_DUAL") => " (regression)",
                "ONECLASS_SVM" => " (a single class)",
                _ => "",
            };
            let problem = format!("expected a classifier, solver 0 to 7, found {}{other}", shown(name));
            header.error("solver_type", problem).hint("train with `-s` 0 to 7")
        })
    }

    fn parameters(&self, bias: f64) -> Value {
        let mut all = json!({});
        if bias > 0.0 && bias != 1.0 {
            all["constant"] = json!(bias);
        }
        let bias = if bias > 0.0 { "regularized" } else { "none" };
        let reduced = (!self.is_joint()).then_some("ovr");
        let penalty = (!self.is_joint()).then_some(self.penalty);
        let told = [
            ("loss", self.loss),
            ("penalty", penalty),
            ("solver", self.solver),
            ("bias", Some(bias)),
            ("multiclass", reduced),
        ];
        for (name, value) in told {
            if let Some(value) = value {
                all[name] = json!(value);
            }
        }
        all
    }

    fn objective(&self, number: usize, bias: f64) -> String {
        let bias = match bias {
            b if b < 0.0 => String::new(),
            1.0 if self.may_free_bias => "; with -R the bias is free".to_owned(),
            1.0 => String::new(),
            b => format!("; the bias is {b} times the last weight"),
        };
        format!("LIBLINEAR solver {number} ({}), C not in the file{bias}", self.objective)
    }
}

pub(super) fn read(text: &str) -> Result<Fit, ForeignError> {
    let mut lines = Lines::new(text);
    let header = Header::read(&mut lines, &WORDS, "w")?;
    let (type_number, solver) = Solver::named(&header)?;
    let n_classes = header.count("nr_class", 1)?;
    let labels = header.labels(n_classes)?;
    let n_features = header.count("nr_feature", 1)?;
    let constant = header.number("bias")?;
    let k = solver.planes(n_classes);
    let mut weights = read_weights(&mut lines, n_features, k)?;
    let mut bias = vec![0.0; k];
    if constant >= 0.0 {
        let line = lines
            .next()
            .ok_or_else(|| lines.cut_off("the weights of the bias, on a line after those of the features"))?;
        bias = row(line, k, lines.number)?.into_iter().map(|w| w * constant).collect();
    }
    lines.expect_end("the weights")?;
    let (classes, decision) = match n_classes {
        2 => {
            let (classes, turned, tie) = two_classes(&labels);
            // Of Crammer and Singer's two planes the first decides; as the second is its negative, the difference is twice the first.
            let factor = if solver.is_joint() { 2.0 } else { 1.0 };
            let first = |all: &[f64]| -> Vec<f64> {
                let signed = |w: f64| if turned { negative(factor * w) } else { factor * w };
                all.iter().step_by(k).map(|&w| signed(w)).collect()
            };
            (weights, bias) = (first(&weights), first(&bias));
            (classes, Decision::Sign(tie))
        }
        _ => {
            let classes = Classes::ordered(labels.iter().map(|&label| Class::from(label)).collect());
            (classes.ok_or_else(|| header.error("label", "a label is there twice"))?, Decision::Highest)
        }
    };
    if !weights.iter().chain(&bias).all(|w| w.is_finite()) {
        return Err(header.error("bias", "weights times the bias are too large for numbers"));
    }
    let planes = Planes::from_parts(weights, bias, constant >= 0.0);
    let planes = planes.ok_or_else(|| header.error("nr_class", "the weights do not fit the classes"))?;
    let model = Model {
        classes,
        features: Features { count: n_features, open: true, ..Features::default() },
        scaling: None,
        map: None,
        decision,
        body: Body::Linear(planes),
        link: solver.is_logistic().then_some(Link::Logistic),
    };
    let objective = solver.objective(type_number, constant);
    Ok(Fit { model, report: report(solver.algorithm, objective, solver.parameters(constant)) })
}

/// Feature after feature, as we keep them, too. What the header claims is believed line by line.
fn read_weights(lines: &mut Lines<'_>, n_features: usize, k: usize) -> Result<Vec<f64>, ForeignError> {
    let mut weights = Vec::new();
    for feature in 1..=n_features {
        let line = lines
            .next()
            .ok_or_else(|| lines.cut_off(&format!("the weights of feature {feature} of {n_features}")))?;
        weights.extend(row(line, k, lines.number)?);
    }
    Ok(weights)
}

fn row(line: &str, k: usize, at: u64) -> Result<Vec<f64>, ForeignError> {
    let row = line.split_whitespace().map(|word| number(word, at)).collect::<Result<Vec<_>, _>>()?;
    same("weights of a feature", k, row.len(), at).map(|()| row)
}

pub(super) fn write(fit: &Fit) -> Result<Export, ExportError> {
    let model = &fit.model;
    let mut labels = labels(&model.classes)?;
    let planes = unscaled(planes(model)?, model.scaling.as_ref())?;
    let sigmoid = matches!(
        (&model.link, model.decision),
        (Some(Link::Logistic), _) | (Some(Link::Softmax), Decision::Sign(_))
    );
    let solver = solver_of(fit, sigmoid);
    // For each plane of the file one of ours, and a factor.
    let sources: Vec<(usize, f64)> = match (model.decision, labels.len()) {
        (Decision::Sign(tie), 2) => {
            let factor = if solver.is_joint() { 0.5 } else { 1.0 };
            let sign = if tie == Tie::Positive { -factor } else { factor };
            if tie != Tie::Positive {
                labels.reverse();
            }
            [(0, sign), (0, -sign)].into_iter().take(solver.planes(2)).collect()
        }
        (Decision::Highest, n) if n != 2 => (0..n).map(|c| (c, 1.0)).collect(),
        (Decision::Sign(_) | Decision::Highest, n) => {
            let problem = format!(
                "LIBLINEAR has one plane for two classes and one a class for more, this model has {} for {n}",
                planes.k()
            );
            return Err(ExportError::new(problem, "use --to json"));
        }
        (Decision::Pairs(_) | Decision::Votes, _) => {
            let problem = "LIBLINEAR has a plane a class, this model one for each pair of classes";
            return Err(ExportError::new(problem, "train with `--multiclass ovr`, or use --to json"));
        }
    };
    let mut lost = lost(fit);
    lost.extend(penalty_of_bias(fit));
    if model.link == Some(Link::Softmax) && !sigmoid {
        lost.push("probabilities".to_owned());
    }
    let text = text(solver, &labels, &planes, &sources);
    Ok(Export { bytes: text.into_bytes(), lost })
}

/// How the bias was penalised, where the file will say something else: that it is the weight of a constant 1.
fn penalty_of_bias(fit: &Fit) -> Option<String> {
    /// Others have no penalty, or none for the bias that could be another.
    const PENALISED: [&str; 5] = ["linear-svm", "logistic", "hard-margin", "pegasos", "subgradient"];
    let parameter = |name: &str| fit.report.parameters.get(name);
    let biased = fit.model.body.planes().is_some_and(|planes| planes.bias().iter().any(|&b| b != 0.0));
    if let Some(constant) = parameter("constant").filter(|_| biased) {
        return Some(format!(
            "that the bias was penalised as the weight of a constant {constant}: it is written as that of 1"
        ));
    }
    let free = parameter("bias").and_then(Value::as_str) == Some("free");
    (biased && free && PENALISED.contains(&fit.report.algorithm.as_str()))
        .then(|| "that the bias was not penalised: in LIBLINEAR it is a weight like any other".to_owned())
}

fn text(solver: &Solver, labels: &[i32], planes: &Planes, sources: &[(usize, f64)]) -> String {
    let biased = planes.is_lifted() || planes.bias().iter().any(|&b| b != 0.0);
    let names: Vec<String> = labels.iter().map(i32::to_string).collect();
    let mut text = format!(
        "solver_type {}\nnr_class {}\nlabel {}\nnr_feature {}\nbias {}\nw\n",
        solver.name,
        labels.len(),
        names.join(" "),
        planes.n_cols(),
        if biased { 1 } else { -1 }
    );
    let mut line = |weight: &dyn Fn(usize) -> f64| {
        for &(plane, factor) in sources {
            text += &digits(0.0 + factor * weight(plane));
            text.push(' ');
        }
        text.push('\n');
    };
    (0..planes.n_cols()).for_each(|j| line(&|plane| planes.weight(plane, j)));
    if biased {
        line(&|plane| planes.bias()[plane]);
    }
    text
}

fn planes(model: &Model) -> Result<Planes, ExportError> {
    if let Some(map) = &model.map {
        let problem = format!("LIBLINEAR knows no maps, this model maps its features first ({})", map.kind);
        return Err(ExportError::new(problem, "use --to json"));
    }
    match &model.body {
        Body::Linear(planes) => Ok(planes.clone()),
        Body::Voted(_) => Err(ExportError::new(
            "LIBLINEAR has planes, this model is a vote of many",
            "train averaged-perceptron, whose plane does nearly the same",
        )),
        Body::Bayes(_) | Body::Layers(_) => {
            Err(ExportError::new("LIBLINEAR has planes, this model has none", "use --to json"))
        }
        Body::Kernel(_) => Err(ExportError::new(
            "LIBLINEAR has planes, this model has a kernel",
            "use --to libsvm, or --to json",
        )),
    }
}

/// Planes over features as they are in the data: w·((x − shift)·factor) + b is linear in x, too.
fn unscaled(planes: Planes, scaling: Option<&Scaling>) -> Result<Planes, ExportError> {
    let Some(scaling) = scaling else { return Ok(planes) };
    if scaling.kind == Scale::Unit {
        let problem = "rows are brought to unit length first (--scale unit), which is not linear";
        return Err(ExportError::new(problem, "scale the data before training, or use --to json"));
    }
    let (k, n) = (planes.k(), planes.n_cols());
    let (mut weights, mut bias) = (Vec::with_capacity(k * n), planes.bias().to_vec());
    for j in 0..n {
        for (c, b) in bias.iter_mut().enumerate() {
            let weight = planes.weight(c, j) * scaling.factor[j];
            *b -= weight * scaling.shift[j];
            weights.push(weight);
        }
    }
    let finite = weights.iter().chain(&bias).all(|w| w.is_finite());
    let too_large =
        || ExportError::new("weights times the stored scaling are too large for numbers", "use --to json");
    Planes::from_parts(weights, bias, planes.is_lifted()).filter(|_| finite).ok_or_else(too_large)
}

/// The solver type that says most of what the model is; LIBLINEAR takes scores of logistic ones for log odds, and only theirs.
fn solver_of(fit: &Fit, sigmoid: bool) -> &'static Solver {
    let parameter = |name: &str| fit.report.parameters.get(name).and_then(Value::as_str);
    let is = |name: &str, value: Option<&str>| {
        parameter(name).is_none() || value.is_none() || parameter(name) == value
    };
    let fits = |solver: &&Solver| {
        solver.algorithm == fit.report.algorithm
            && is("loss", solver.loss)
            && is("penalty", Some(solver.penalty))
    };
    let known = SOLVERS.iter().find(|solver| fits(solver) && parameter("solver") == solver.solver);
    let known = known.or_else(|| SOLVERS.iter().find(fits)).filter(|solver| solver.is_logistic() == sigmoid);
    known.unwrap_or(if sigmoid { &SOLVERS[0] } else { &SOLVERS[PLAIN] })
}
