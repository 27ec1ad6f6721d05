//! Synthetic data and the list of everything that can learn.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use rosenblatt::registry::{ALGORITHMS, Algorithm};
use rosenblatt::{Class, Classes, Csr, Dataset, Dense, Fit, Float, Labels, Learner, Matrix, Rng};
use serde_json::{Map, Value, json};

/// Rows with class numbers. All values are small multiples of ½, so that sums and products of a few are exact, in f32 too.
#[derive(Clone, Debug)]
pub(crate) struct Points {
    pub(crate) x: Vec<Vec<f64>>,
    pub(crate) y: Vec<usize>,
    pub(crate) classes: usize,
}

pub(crate) fn label(class: usize) -> String {
    format!("c{class}")
}

pub(crate) fn classes(k: usize) -> Classes {
    Classes::new((0..k).map(|c| Class::Text(label(c))).collect())
}

/// Half the entries are 0, the others from ½ to 3; labels follow a hidden rule but for some noise. One row occurs once with
/// each label, so that no problem made of two classes or more can be separated.
pub(crate) fn noisy(k: usize, rows: usize, cols: usize, seed: u64) -> Points {
    let mut rng = Rng::new(seed);
    let hidden: Vec<Vec<i64>> =
        (0..k).map(|_| (0..cols).map(|_| rng.below(7) as i64 - 3).collect()).collect();
    let mut points = Points { x: Vec::new(), y: Vec::new(), classes: k };
    for i in 0..rows {
        let row: Vec<f64> = (0..cols)
            .map(|_| if rng.below(2) == 0 { 0.0 } else { (1 + rng.below(6)) as f64 / 2.0 })
            .collect();
        let score = |c: usize| hidden[c].iter().zip(&row).map(|(&w, x)| w as f64 * x).sum::<f64>();
        let best = (0..k).max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap();
        points.y.push(if rng.below(8) == 0 || i < k { i % k } else { best });
        points.x.push(row);
    }
    let same = points.x[0].clone();
    (0..k).for_each(|c| points.push(&same, c));
    points
}

/// The same with every class far along a column of its own, so that planes separate each from each other and from all others, with a bias or without.
pub(crate) fn apart(k: usize, rows: usize, cols: usize, seed: u64) -> Points {
    let mut points = noisy(k, rows, cols, seed);
    points.x.iter_mut().zip(&points.y).for_each(|(x, &class)| x[class] += 8.0);
    points
}

/// Integer points on two sides of a hidden plane through the origin, at a distance.
pub(crate) fn separable(rows: usize, cols: usize, seed: u64) -> Points {
    let mut rng = Rng::new(seed);
    let mut draw = |bound: i64| rng.below(2 * bound as u64 + 1) as i64 - bound;
    let mut hidden: Vec<f64> = (0..cols).map(|_| draw(3) as f64).collect();
    hidden[0] = 2.0;
    let mut points = Points { x: Vec::new(), y: Vec::new(), classes: 2 };
    while points.x.len() < rows {
        let x: Vec<f64> = (0..cols).map(|_| draw(5) as f64).collect();
        let g = dot(&hidden, &x);
        if g.abs() >= 2.0 {
            points.push(&x, usize::from(g > 0.0));
        }
    }
    let first = points.x[0].clone();
    points.push(&first.iter().map(|v| -v).collect::<Vec<_>>(), 1 - points.y[0]);
    points
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Points {
    pub(crate) fn of<const N: usize>(rows: &[([f64; N], usize)]) -> Points {
        let k = rows.iter().map(|row| row.1).max().unwrap() + 1;
        let (x, y) = rows.iter().map(|(x, y)| (x.to_vec(), *y)).unzip();
        Points { x, y, classes: k }
    }

    pub(crate) fn push(&mut self, x: &[f64], y: usize) {
        self.x.push(x.to_vec());
        self.y.push(y);
    }

    pub(crate) fn cols(&self) -> usize {
        self.x[0].len()
    }

    pub(crate) fn flat<T: Float>(&self) -> Vec<T> {
        self.x.iter().flatten().map(|&v| T::narrow(v)).collect()
    }

    pub(crate) fn dense<T: Float>(&self) -> Matrix<'static>
    where
        Matrix<'static>: From<Dense<'static, T>>,
    {
        Dense::new(self.flat::<T>(), self.cols()).unwrap().into()
    }

    pub(crate) fn sparse<T: Float>(&self) -> Matrix<'static>
    where
        Matrix<'static>: From<Csr<'static, T>>,
    {
        let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in &self.x {
            let stored = row.iter().enumerate().filter(|(_, v)| **v != 0.0);
            stored.for_each(|(j, &v)| {
                columns.push(j as u32);
                values.push(T::narrow(v));
            });
            pointers.push(columns.len() as u64);
        }
        Csr::new(pointers, columns, values, self.cols()).unwrap().into()
    }

    pub(crate) fn labelled<'a>(&self, x: impl Into<Matrix<'a>>) -> Dataset<'a> {
        let data = Dataset::new(x, &Labels::new(self.y.iter().map(|&c| label(c)))).unwrap();
        assert_eq!(data.classes().len(), self.classes);
        data
    }

    pub(crate) fn data(&self) -> Dataset<'static> {
        self.labelled(self.dense::<f64>())
    }

    /// Each row's products with all rows, in place of its entries.
    pub(crate) fn products(&self) -> Points {
        let products = |x: &Vec<f64>| self.x.iter().map(|z| dot(x, z)).collect();
        Points { x: self.x.iter().map(products).collect(), ..self.clone() }
    }

    /// −1 or +1.
    pub(crate) fn sign(&self, i: usize) -> f64 {
        if self.y[i] == 1 { 1.0 } else { -1.0 }
    }

    /// Each row `counts[i]` times in a row.
    pub(crate) fn repeated(&self, counts: &[usize]) -> Points {
        let mut all = Points { x: Vec::new(), y: Vec::new(), classes: self.classes };
        for (i, &count) in counts.iter().enumerate() {
            (0..count).for_each(|_| all.push(&self.x[i], self.y[i]));
        }
        all
    }
}

/// One way to learn: a row of the registry with some parameters fixed.
pub(crate) struct Case {
    pub(crate) algorithm: &'static Algorithm,
    pub(crate) given: Map<String, Value>,
}

impl Case {
    /// The learner with more parameters.
    pub(crate) fn learner(&self, more: &Value) -> Box<dyn Learner> {
        let mut given = self.given.clone();
        more.as_object().unwrap().iter().for_each(|(name, value)| {
            given.insert(name.clone(), value.clone());
        });
        self.algorithm.learner(&given).unwrap()
    }

    /// Data that it can learn from: noisy unless errors are not allowed, and products of all rows with all where kernel values are asked for.
    pub(crate) fn points(&self, k: usize, rows: usize, cols: usize, seed: u64) -> Points {
        let hard = self.algorithm.name == "hard-margin" || self.given.get("slack") == Some(&json!("none"));
        let points = if hard { apart(k, rows, cols, seed) } else { noisy(k, rows, cols, seed) };
        if self.is_precomputed() { points.products() } else { points }
    }

    pub(crate) fn is_precomputed(&self) -> bool {
        self.given.get("kernel") == Some(&json!("precomputed"))
    }

    /// Whether it has a parameter.
    pub(crate) fn has(&self, parameter: &str) -> bool {
        self.algorithm.parameters().any(|row| row.name == parameter)
    }

    pub(crate) fn fit(&self, more: &Value, data: &Dataset<'_>) -> Fit {
        self.learner(more).fit(data, &mut ()).unwrap()
    }

    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.algorithm.name, Value::Object(self.given.clone()))
    }
}

fn forms(name: &str) -> Vec<Value> {
    match name {
        "perceptron" => vec![json!({"pocket": false}), json!({"pocket": true, "tie": "mistake"})],
        "averaged-perceptron" => vec![json!({}), json!({"init": "random", "seed": 5})],
        "winnow" => vec![json!({"balanced": false}), json!({"balanced": true, "bias": "free"})],
        "linear-svm" | "logistic" | "hard-margin" => {
            let (dual, newton) = (json!({"solver": "dual"}), json!({"solver": "newton", "bias": "none"}));
            let mut all = vec![dual, newton, json!({"bias": "regularized"})];
            if name == "linear-svm" {
                all.push(json!({"loss": "squared-hinge"}));
                all.push(json!({"loss": "squared-hinge", "penalty": "l1"}));
            }
            if name == "logistic" {
                all.push(json!({"penalty": "l1", "bias": "none"}));
            }
            all
        }
        "kernel-perceptron" => vec![
            json!({}),
            json!({"kernel": "rbf", "gamma": 0.5, "predictor": "averaged"}),
            json!({"kernel": "linear", "predictor": "voted", "bias": "free", "tie": "mistake"}),
            json!({"kernel": "laplacian", "gamma": 0.2, "budget": 9, "bias": "free"}),
            json!({"budget": 5, "forget": "projectron", "predictor": "averaged", "degree": 2}),
        ],
        // γ is given: the usual one depends on the weights of rows, but not on those of classes.
        "svm" => vec![
            json!({"gamma": 0.5}),
            json!({"gamma": 0.5, "bias": "none", "slack": "squared"}),
            json!({"kernel": "poly", "degree": 2, "bias": "regularized", "c": 0.25}),
            json!({"gamma": 0.5, "bias": "regularized", "multiclass": "native"}),
        ],
        "kernel-logistic" => vec![json!({"gamma": 0.5}), json!({"kernel": "linear", "bias": "none"})],
        "crammer-singer" => vec![json!({}), json!({"bias": "none", "c": 0.25})],
        "subgradient" => vec![json!({}), json!({"bias": "none", "loss": "squared-hinge"})],
        "pegasos" => vec![
            json!({}),
            json!({"bias": "none", "loss": "squared-hinge"}),
            json!({"bias": "regularized", "average": false, "project": false}),
        ],
        "naive-bayes" => vec![
            json!({}),
            json!({"distribution": "gaussian", "var_smoothing": 0.01}),
            json!({"distribution": "multinomial", "alpha": 0.5}),
            json!({"distribution": "bernoulli", "binarize": 0.75, "fit_prior": false}),
            json!({"distribution": "bernoulli", "binarize": -1.0}),
        ],
        "network" => vec![
            json!({"hidden": [9]}),
            json!({"hidden": [17, 5], "activation": "tanh", "optimizer": "momentum", "lambda": 0.01}),
            json!({"hidden": [3], "activation": "logistic", "batch_size": 7}),
        ],
        "passive-aggressive" => ["plain", "I", "II"].iter().map(|v| json!({"variant": v})).collect(),
        _ => vec![json!({}), json!({"bias": "none"})],
    }
}

/// Every algorithm in its forms, under each treatment of many classes.
pub(crate) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for algorithm in ALGORITHMS {
        for form in forms(algorithm.name) {
            let given = form.as_object().unwrap();
            let takes_it = algorithm.parameters().any(|row| row.name == "multiclass");
            if !takes_it || given.contains_key("multiclass") {
                all.push(Case { algorithm, given: given.clone() });
                continue;
            }
            // Of the objectives only one knows more than two classes at once.
            let joint = algorithm.name == "logistic" && form["penalty"] != "l1";
            let reduced = !algorithm.online && !joint;
            for scheme in ["native", "ovr", "ovo"].into_iter().skip(usize::from(reduced)) {
                let mut given = given.clone();
                given.insert("multiclass".to_owned(), json!(scheme));
                all.push(Case { algorithm, given });
            }
        }
    }
    all
}

/// The same and machines that cannot do all that others can: some ask for data of their own, some for a free bias.
pub(crate) fn law_cases() -> Vec<Case> {
    let machines = [
        // So few that the smallest of five classes has twice as many.
        json!({"gamma": 0.5, "multiclass": "ovr", "nu": 0.02}),
        json!({"gamma": 0.5, "multiclass": "ovo", "slack": "none"}),
        json!({"kernel": "precomputed", "multiclass": "ovo"}),
    ];
    let svm = ALGORITHMS.iter().find(|row| row.name == "svm").unwrap();
    let machine = |given: &Value| Case { algorithm: svm, given: given.as_object().unwrap().clone() };
    cases().into_iter().chain(machines.iter().map(machine)).collect()
}

/// Those that learn one example at a time.
pub(crate) fn online_cases() -> Vec<Case> {
    cases().into_iter().filter(|case| case.algorithm.online).collect()
}

/// Those that minimise an objective over all rows down to a duality gap.
pub(crate) fn batch_cases() -> Vec<Case> {
    cases().into_iter().filter(|case| !case.algorithm.online && case.has("gap")).collect()
}

/// The rest: what is known in closed form, and what has no dual.
pub(crate) fn other_cases() -> Vec<Case> {
    cases().into_iter().filter(|case| !case.algorithm.online && !case.has("gap")).collect()
}

/// Runs a law over every case and 2, 3 and 5 classes.
pub(crate) fn for_each_case(law: impl Fn(&Case, &Points, &str)) {
    over(law_cases(), law);
}

/// The same for those that learn one example at a time.
pub(crate) fn for_each_online_case(law: impl Fn(&Case, &Points, &str)) {
    over(online_cases(), law);
}

fn over(cases: Vec<Case>, law: impl Fn(&Case, &Points, &str)) {
    for case in cases {
        for k in [2, 3, 5] {
            let points = case.points(k, 40, 7, 11 + k as u64);
            law(&case, &points, &format!("{} with {k} classes", case.name()));
        }
    }
}

pub(crate) fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{what}: {found:?} where {expected:?}");
    }
}
