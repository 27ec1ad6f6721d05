//! One row for each algorithm and each parameter: help texts, tables and conformance tests come from here.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::ParamError;
use crate::learner::{
    Alma, Arow, CrammerSinger, HardMargin, KernelLogistic, KernelPerceptron, Learner, LinearSvm, Logistic,
    NaiveBayes, Network, PassiveAggressive, Pegasos, Perceptron, Subgradient, Svm, Winnow,
};

/// An algorithm by name.
pub struct Algorithm {
    /// The name on the command line and in model files.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// The rule or objective, in a line.
    pub rule: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Whether it learns one example at a time, and so from streams, too.
    pub online: bool,
    /// Parameters that make it what it is and cannot be set.
    fixed: &'static [&'static str],
    defaults: fn() -> Value,
    build: fn(Value) -> Result<Box<dyn Learner>, ParamError>,
}

fn defaults<L: Default + Serialize>() -> Value {
    serde_json::to_value(L::default()).unwrap_or_default()
}

fn averaged() -> Value {
    serde_json::to_value(Perceptron::averaged()).unwrap_or_default()
}

fn voted() -> Value {
    serde_json::to_value(Perceptron::voted()).unwrap_or_default()
}

fn build<L: Learner + DeserializeOwned + 'static>(value: Value) -> Result<Box<dyn Learner>, ParamError> {
    let learner: L =
        serde_json::from_value(value).map_err(|error| ParamError::new("parameters", error.to_string()))?;
    learner.check()?;
    Ok(Box::new(learner))
}

/// All algorithms.
pub const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "perceptron",
        title: "Rosenblatt's perceptron, with the best weights met in its pocket",
        rule: "on a mistake w ← w + η·y·x",
        source: "Rosenblatt 1958; Gallant 1990",
        online: true,
        fixed: &["output"],
        defaults: defaults::<Perceptron>,
        build: build::<Perceptron>,
    },
    Algorithm {
        name: "averaged-perceptron",
        title: "perceptron that predicts with the mean of all its weights",
        rule: "on a mistake w ← w + η·y·x; predicts with w̄",
        source: "Freund and Schapire 1999; Collins 2002",
        online: true,
        fixed: &["output", "pocket"],
        defaults: averaged,
        build: build::<Perceptron>,
    },
    Algorithm {
        name: "voted-perceptron",
        title: "perceptron whose past weights vote by how long they survived",
        rule: "on a mistake w ← w + η·y·x; predicts sign Σ cₖ·sign(wₖ·x)",
        source: "Freund and Schapire 1999",
        online: true,
        fixed: &["output", "pocket", "init"],
        defaults: voted,
        build: build::<Perceptron>,
    },
    Algorithm {
        name: "winnow",
        title: "multiplicative weights, for few relevant features among many",
        rule: "on a mistake wⱼ ← wⱼ·α^(±xⱼ); predicts w·x > θ",
        source: "Littlestone 1988",
        online: true,
        fixed: &[],
        defaults: defaults::<Winnow>,
        build: build::<Winnow>,
    },
    Algorithm {
        name: "passive-aggressive",
        title: "smallest move that gives each example a margin of 1",
        rule: "w ← w + τ·y·x, τ = min(C, hinge/‖x‖²)",
        source: "Crammer et al. 2006",
        online: true,
        fixed: &[],
        defaults: defaults::<PassiveAggressive>,
        build: build::<PassiveAggressive>,
    },
    Algorithm {
        name: "alma",
        title: "approximate large margin algorithm, p = 2",
        rule: "if y·w·x̂ ≤ (1−α)·B/√k: w ← w + C/√k·y·x̂, back to ‖w‖ ≤ 1",
        source: "Gentile 2001",
        online: true,
        fixed: &[],
        defaults: defaults::<Alma>,
        build: build::<Alma>,
    },
    Algorithm {
        name: "arow",
        title: "adaptive regularization of weights, a variance for each",
        rule: "w ← w + β·hinge·y·Σx, Σ ← Σ − β·Σx·xᵀΣ, β = 1/(xᵀΣx + r)",
        source: "Crammer, Kulesza, Dredze 2009",
        online: true,
        fixed: &[],
        defaults: defaults::<Arow>,
        build: build::<Arow>,
    },
    Algorithm {
        name: "kernel-perceptron",
        title: "perceptron in the space of a kernel, over the examples it went wrong on",
        rule: "on a mistake aᵢ ← aᵢ + yᵢ; predicts sign Σ aₖ·K(xₖ, x)",
        source: "Aizerman, Braverman, Rozonoer 1964; Freund and Schapire 1999; Dekel, Shalev-Shwartz, Singer 2008; Orabona, Keshet, Caputo 2009",
        online: true,
        fixed: &[],
        defaults: defaults::<KernelPerceptron>,
        build: build::<KernelPerceptron>,
    },
    Algorithm {
        name: "linear-svm",
        title: "support vector machine with a linear boundary and a soft margin",
        rule: "min ½‖w‖² + C·Σ max(0, 1 − y·(w·x+b))",
        source: "Cortes and Vapnik 1995; Hsieh et al. 2008",
        online: false,
        fixed: &[],
        defaults: defaults::<LinearSvm>,
        build: build::<LinearSvm>,
    },
    Algorithm {
        name: "hard-margin",
        title: "largest margin between classes that a plane can separate",
        rule: "min ½‖w‖² with y·(w·x+b) ≥ 1",
        source: "Boser, Guyon, Vapnik 1992",
        online: false,
        fixed: &[],
        defaults: defaults::<HardMargin>,
        build: build::<HardMargin>,
    },
    Algorithm {
        name: "crammer-singer",
        title: "support vector machine that trains the planes of all classes together",
        rule: "min ½Σ‖w_c‖² + C·Σξ, w_y·x ≥ w_c·x + 1 − ξ for c ≠ y",
        source: "Crammer and Singer 2002; Keerthi et al. 2008",
        online: false,
        fixed: &[],
        defaults: defaults::<CrammerSinger>,
        build: build::<CrammerSinger>,
    },
    Algorithm {
        name: "logistic",
        title: "logistic regression, whose scores are log odds",
        rule: "min ½‖w‖² + C·Σ log(1 + exp(−y·(w·x+b)))",
        source: "Cox 1958; Yu, Huang, Lin 2011",
        online: false,
        fixed: &[],
        defaults: defaults::<Logistic>,
        build: build::<Logistic>,
    },
    Algorithm {
        name: "svm",
        title: "support vector machine in the space of a kernel",
        rule: "min ½‖w‖² + C·Σ max(0, 1 − y·(w·φ(x)+b)); g(x) = Σ αᵢyᵢK(xᵢ, x) + b",
        source: "Boser, Guyon, Vapnik 1992; Cortes and Vapnik 1995; Fan, Chen, Lin 2005",
        online: false,
        fixed: &[],
        defaults: defaults::<Svm>,
        build: build::<Svm>,
    },
    Algorithm {
        name: "kernel-logistic",
        title: "logistic regression in the space of a kernel",
        rule: "min ½‖w‖² + C·Σ log(1 + exp(−y·(w·φ(x)+b))); g(x) = Σ aᵢK(xᵢ, x) + b",
        source: "Keerthi, Duan, Shevade, Poo 2005",
        online: false,
        fixed: &[],
        defaults: defaults::<KernelLogistic>,
        build: build::<KernelLogistic>,
    },
    Algorithm {
        name: "subgradient",
        title: "support vector machine by batch sub-gradient descent, step by step",
        rule: "w ← w − η/√(t+1)·g, g a sub-gradient of ½‖w‖² + C·Σ max(0, 1 − y·(w·x+b))",
        source: "Shor 1985",
        online: false,
        fixed: &[],
        defaults: defaults::<Subgradient>,
        build: build::<Subgradient>,
    },
    Algorithm {
        name: "pegasos",
        title: "support vector machine by stochastic sub-gradient descent",
        rule: "w ← (1 − 1/t)·w + y·x/(λt) where y·(w·x+b) < 1, back to ‖w‖ ≤ 1/√λ",
        source: "Shalev-Shwartz, Singer, Srebro 2007",
        online: false,
        fixed: &[],
        defaults: defaults::<Pegasos>,
        build: build::<Pegasos>,
    },
    Algorithm {
        name: "naive-bayes",
        title: "classes by what each feature tells by itself, counted in a pass or two",
        rule: "argmax P(c)·Π P(xⱼ | c), of normal distributions, counts, or what is there",
        source: "Maron 1961; McCallum and Nigam 1998",
        online: false,
        fixed: &[],
        defaults: defaults::<NaiveBayes>,
        build: build::<NaiveBayes>,
    },
    Algorithm {
        name: "network",
        title: "one or two hidden layers of units, trained by back-propagation",
        rule: "min mean log loss + λ/2·Σw², by steps along the gradient of a batch of rows",
        source: "Rumelhart, Hinton, Williams 1986; Kingma and Ba 2015",
        online: false,
        fixed: &[],
        defaults: defaults::<Network>,
        build: build::<Network>,
    },
];

/// The algorithm with this name.
///
/// ```
/// use rosenblatt::registry::algorithm;
/// let perceptron = algorithm("perceptron").expect("it is listed");
/// let given = serde_json::json!({"passes": 5, "tie": "mistake"});
/// let learner = perceptron.learner(given.as_object().expect("an object"))?;
/// assert_eq!(learner.parameters()["passes"], 5);
/// # Ok::<(), rosenblatt::ParamError>(())
/// ```
pub fn algorithm(name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|row| row.name == name)
}

impl Algorithm {
    /// All parameters with their defaults.
    pub fn defaults(&self) -> Map<String, Value> {
        match (self.defaults)() {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    /// The parameters that can be set, as rows of [`PARAMETERS`].
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        let defaults = self.defaults();
        let settable = move |name| defaults.contains_key(name) && !self.fixed.contains(&name);
        PARAMETERS.iter().filter(move |row| settable(row.name))
    }

    /// The first parameter that is wrong by itself: of the wrong type, an unknown word, out of range.
    fn blame(&self, given: &Map<String, Value>) -> Option<ParamError> {
        given.iter().find_map(|(name, value)| {
            let mut values = self.defaults();
            values.insert(name.clone(), value.clone());
            let error = (self.build)(Value::Object(values)).err()?;
            Some(ParamError::new(name, error.problem))
        })
    }

    /// The learner with these parameters and defaults for the rest.
    pub fn learner(&self, given: &Map<String, Value>) -> Result<Box<dyn Learner>, ParamError> {
        let mut values = self.defaults();
        for (name, value) in given {
            if !self.parameters().any(|row| row.name == name) {
                let known: Vec<&str> = self.parameters().map(|row| row.name).collect();
                let problem = format!("{} has no such parameter; it has {}", self.name, known.join(", "));
                return Err(ParamError::new(name, problem));
            }
            values.insert(name.clone(), value.clone());
        }
        // A check names the parameter; where a value could not even be read, one by one they tell which.
        let named = |error: ParamError| match given.contains_key(&error.name) {
            true => error,
            false => self.blame(given).unwrap_or(error),
        };
        (self.build)(Value::Object(values)).map_err(named)
    }
}

/// A kernel by name.
pub struct KernelRow {
    /// The name on the command line and in model files.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// K(u, v)
    pub formula: &'static str,
    /// Parameters it has, by their rows of [`PARAMETERS`].
    pub parameters: &'static [&'static str],
    /// Whether it is always a dot product in some space, so that margins and bounds mean something.
    pub positive: bool,
}

/// All kernels.
pub const KERNELS: &[KernelRow] = &[
    KernelRow {
        name: "linear",
        title: "the dot product itself",
        formula: "u·v",
        parameters: &[],
        positive: true,
    },
    KernelRow {
        name: "poly",
        title: "all products of up to d features; exactly d where c = 0",
        formula: "(γ·u·v + c)^d",
        parameters: &["gamma", "degree", "coef0"],
        positive: true,
    },
    KernelRow {
        name: "rbf",
        title: "Gaussian of the distance, γ = 1/(2σ²)",
        formula: "exp(−γ·‖u − v‖²)",
        parameters: &["gamma", "sigma"],
        positive: true,
    },
    KernelRow {
        name: "sigmoid",
        title: "what a unit with a squashing function gives",
        formula: "tanh(η·u·v + ν)",
        parameters: &["gamma", "coef0"],
        positive: false,
    },
    KernelRow {
        name: "laplacian",
        title: "exponential of the sum of differences",
        formula: "exp(−γ·‖u − v‖₁)",
        parameters: &["gamma"],
        positive: true,
    },
    KernelRow {
        name: "cosine",
        title: "cosine of the angle",
        formula: "u·v / (‖u‖·‖v‖)",
        parameters: &[],
        positive: true,
    },
    KernelRow {
        name: "chi2",
        title: "for counts and histograms, which are not negative",
        formula: "exp(−γ·Σ (u − v)²/(u + v))",
        parameters: &["gamma"],
        positive: true,
    },
    KernelRow {
        name: "precomputed",
        title: "values instead of features: a column for each training row",
        formula: "as given",
        parameters: &[],
        positive: false,
    },
];

/// A parameter that algorithms may have.
pub struct Parameter {
    /// The field's name; on the command line with dashes.
    pub name: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// What it does, in a line.
    pub help: &'static str,
}

/// The values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A span of time in seconds.
    Seconds,
    /// A size in bytes.
    Bytes,
    /// On or off.
    Switch,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `balanced`, or weights by class name.
    ClassWeight,
    /// Whole numbers, one after the other.
    Sizes,
}

const fn row(name: &'static str, kind: Kind, help: &'static str) -> Parameter {
    Parameter { name, kind, help }
}

/// All parameters. Each has one meaning in every algorithm that has it.
pub const PARAMETERS: &[Parameter] = &[
    row("passes", Kind::Integer, "at most so many passes over the data"),
    row("order", Kind::Choice(&["cyclic", "shuffle", "random"]), "sequence of rows in a pass"),
    row("seed", Kind::Integer, "fixes every random choice"),
    row("time_limit", Kind::Seconds, "stop after this time with the best model so far (30s, 5m)"),
    row("bias", Kind::Choice(&["free", "regularized", "none"]), "constant term of the score"),
    row("multiclass", Kind::Choice(&["native", "ovr", "ovo"]), "how more than two classes are treated"),
    row("class_weight", Kind::ClassWeight, "`balanced`, or weights such as spam=2,ham=1"),
    row("tie", Kind::Choice(&["negative", "positive", "mistake"]), "what a score of exactly 0 means"),
    row("learning_rate", Kind::Number, "η, the size of a step"),
    row("init", Kind::Choice(&["zero", "random"]), "weights at the start"),
    row("pocket", Kind::Switch, "keep the best weights met instead of the last"),
    row("c", Kind::Number, "C: what errors cost; limit or scale of a step in passive-aggressive and ALMA"),
    row("lambda", Kind::Number, "λ = 1/(C·n), another way to give C"),
    row("loss", Kind::Choice(&["hinge", "squared-hinge"]), "what an error costs by its depth"),
    row(
        "penalty",
        Kind::Choice(&["l2", "l1"]),
        "what keeps weights small: ½‖w‖², or ‖w‖₁, which makes many 0",
    ),
    row("solver", Kind::Choice(&["auto", "dual", "newton"]), "how the objective is minimised"),
    row(
        "slack",
        Kind::Choice(&["linear", "squared", "none"]),
        "what rows inside the margin cost: C·ξ, C·ξ², or none may be",
    ),
    row(
        "nu",
        Kind::Number,
        "ν instead of C: at most this share of rows inside the margin, at least this share support vectors",
    ),
    row("tolerance", Kind::Number, "no optimality condition is broken by more than this"),
    row("cache", Kind::Bytes, "memory for kernel rows (500MB, 2GiB); a quarter of what is free if not given"),
    row("gap", Kind::Number, "stop when the relative duality gap is at most this"),
    row("average", Kind::Switch, "predict with the mean over the last passes, up to half of all"),
    row("project", Kind::Switch, "keep w in the ball of radius 1/√λ that the optimum lies in"),
    row("variant", Kind::Choice(&["plain", "I", "II"]), "form of passive-aggressive learning"),
    row(
        "alpha",
        Kind::Number,
        "α: Winnow's factor (> 1), ALMA's distance from the largest margin (≤ 1), what naive Bayes adds to counts",
    ),
    row("threshold", Kind::Number, "θ of Winnow"),
    row("balanced", Kind::Switch, "Winnow with a second set of weights, for features of any sign"),
    row("b", Kind::Number, "B of ALMA, which scales the margin asked for"),
    row(
        "kernel",
        Kind::Choice(&["linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2", "precomputed"]),
        "similarity of two rows; `rosenblatt kernels` has the formulas",
    ),
    row(
        "gamma",
        Kind::Number,
        "γ of the kernel, or η of sigmoid; if not given, 1 for poly, else 1 / (features · variance)",
    ),
    row("sigma", Kind::Number, "σ, another way to give γ = 1/(2σ²)"),
    row("degree", Kind::Integer, "d of the polynomial kernel"),
    row("coef0", Kind::Number, "c of the polynomial kernel (1 if not given), ν of sigmoid (0)"),
    row("predictor", Kind::Choice(&["last", "averaged", "voted"]), "which of its weight vectors predict"),
    row("budget", Kind::Integer, "store at most so many examples for each problem, for streams without end"),
    row(
        "forget",
        Kind::Choice(&["forgetron", "projectron"]),
        "at a full budget shrink all and drop the oldest, or project the new one onto the others [default: forgetron]",
    ),
    row("projection_error", Kind::Number, "η: projectron projects what is so near though there is room"),
    row("r", Kind::Number, "r of AROW: the larger, the smaller the steps"),
    row(
        "distribution",
        Kind::Choice(&["auto", "gaussian", "multinomial", "bernoulli"]),
        "of a feature within a class; auto: bernoulli where all values are 0 or 1, multinomial where none is negative and half are 0, else gaussian",
    ),
    row(
        "var_smoothing",
        Kind::Number,
        "gaussian: this share of the largest variance of a feature is added to each",
    ),
    row("binarize", Kind::Number, "bernoulli: a feature is there where it is more than this"),
    row("fit_prior", Kind::Switch, "classes are as likely as they are frequent, else all alike"),
    row("hidden", Kind::Sizes, "units of the hidden layers, one or two: 100 or 100,50"),
    row(
        "activation",
        Kind::Choice(&["relu", "tanh", "logistic"]),
        "how hidden units squash what they receive",
    ),
    row("optimizer", Kind::Choice(&["adam", "momentum"]), "how weights move along the gradient"),
    row("momentum", Kind::Number, "the share of the last move that is made again (optimizer momentum)"),
    row("batch_size", Kind::Integer, "rows of a step; if not given, a hundredth of them, from 16 to 128"),
    row("patience", Kind::Integer, "stop after so many passes that made nothing better"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_has_its_row() {
        for algorithm in ALGORITHMS {
            for name in algorithm.defaults().keys() {
                let known =
                    PARAMETERS.iter().any(|row| row.name == name) || algorithm.fixed.contains(&name.as_str());
                assert!(known, "{}: {name} has no row", algorithm.name);
            }
            let learner = algorithm.learner(&Map::new()).expect("defaults are valid");
            assert_eq!(learner.name(), algorithm.name);
        }
    }

    #[test]
    fn unknown_parameters_are_refused() {
        let given = serde_json::json!({"gamma": 1.0});
        let error = ALGORITHMS[0].learner(given.as_object().unwrap()).err().unwrap();
        assert!(error.to_string().contains("gamma: perceptron has no such parameter"), "{error}");
    }
}
