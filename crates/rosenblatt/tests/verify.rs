//! What a model claims is found to be so, and every claim that is not is found out.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rosenblatt::registry::{ALGORITHMS, algorithm};
use rosenblatt::{
    Body, Calibration, Column, Dataset, Decision, Dense, FeatureMap, Fit, Labels, Learner, Planes, Report,
    Rng, Role, Rows, Scale, Scaling, Schema, Task, Tie, Verdict, Verification, Verifier,
};
use serde_json::{Map, Value, json};

/// Rows about as many centres as there are classes, which overlap.
fn data(classes: usize, seed: u64) -> Dataset<'static> {
    let (mut rng, n, d) = (Rng::new(seed), 30 * classes, 3);
    let mut x = Vec::new();
    let mut labels = Vec::new();
    for i in 0..n {
        let class = i % classes;
        labels.push(["a", "b", "c"][class]);
        x.extend((0..d).map(|j| rng.normal().abs() + if j == class { 1.2 } else { 0.0 }));
    }
    Dataset::new(Dense::new(x, d).unwrap(), &Labels::new(labels)).unwrap()
}

fn learner(name: &str, given: Value) -> Box<dyn Learner> {
    let Value::Object(given) = given else { panic!("not an object") };
    algorithm(name).unwrap().learner(&given).unwrap_or_else(|error| panic!("{name} {given:?}: {error}"))
}

fn verify(fit: &Fit, data: &Dataset<'_>) -> Verification {
    Verifier::default().verify(fit, data, &mut ()).unwrap()
}

fn assert_all_held(fit: &Fit, data: &Dataset<'_>, what: &str) {
    let verification = verify(fit, data);
    let bad: Vec<_> = verification.claims.iter().filter(|claim| claim.verdict != Verdict::Held).collect();
    assert!(bad.is_empty(), "{what}: {bad:#?}\n{:#?}", fit.report);
    assert!(!verification.claims.is_empty());
}

/// Learners with an objective, in their varieties.
fn with_objectives() -> Vec<(&'static str, Value)> {
    let mut all = Vec::new();
    for bias in ["free", "regularized", "none"] {
        for loss in ["hinge", "squared-hinge"] {
            for multiclass in ["ovr", "ovo"] {
                all.push((
                    "linear-svm",
                    json!({ "bias": bias, "loss": loss, "multiclass": multiclass, "c": 0.3 }),
                ));
            }
        }
        for multiclass in ["native", "ovr"] {
            all.push((
                "logistic",
                json!({ "bias": bias, "multiclass": multiclass, "class_weight": "balanced" }),
            ));
        }
        for slack in ["linear", "squared"] {
            all.push(("svm", json!({ "bias": bias, "slack": slack, "c": 2.0 })));
        }
        all.push(("kernel-logistic", json!({ "bias": bias, "kernel": "laplacian" })));
    }
    for kernel in ["linear", "poly", "cosine", "chi2", "sigmoid"] {
        let width = !["linear", "cosine"].contains(&kernel);
        all.push((
            "svm",
            if width { json!({ "kernel": kernel, "gamma": 0.1 }) } else { json!({ "kernel": kernel }) },
        ));
    }
    for bias in ["regularized", "none"] {
        all.push(("crammer-singer", json!({ "bias": bias, "c": 0.5 })));
        all.push(("svm", json!({ "bias": bias, "multiclass": "native" })));
    }
    all.push(("linear-svm", json!({ "penalty": "l1", "loss": "squared-hinge", "lambda": 0.01 })));
    all.push(("logistic", json!({ "penalty": "l1", "multiclass": "ovr", "bias": "none" })));
    all.push(("linear-svm", json!({ "lambda": 0.02, "gap": 1e-6 })));
    all.push(("pegasos", json!({ "passes": 20 })));
    all.push(("subgradient", json!({ "passes": 20, "loss": "squared-hinge" })));
    all.push(("svm", json!({ "nu": 0.3 })));
    all
}

#[test]
fn claims_of_all_learners_hold() {
    for classes in [2, 3] {
        let data = data(classes, 1);
        for row in ALGORITHMS.iter().filter(|row| row.name != "hard-margin") {
            let fit = learner(row.name, json!({})).fit(&data, &mut ()).unwrap();
            assert_all_held(&fit, &data, row.name);
        }
        for (name, given) in with_objectives() {
            let fit = learner(name, given.clone()).fit(&data, &mut ()).unwrap();
            let verification = verify(&fit, &data);
            let broken: Vec<_> =
                verification.claims.iter().filter(|claim| claim.verdict == Verdict::Broken).collect();
            assert!(broken.is_empty(), "{classes} classes, {name} {given}: {broken:#?}");
            let open: Vec<_> =
                verification.claims.iter().filter(|claim| claim.verdict == Verdict::Open).collect();
            assert!(open.is_empty(), "{classes} classes, {name} {given}: {open:#?}");
        }
    }
}

#[test]
fn weights_copies_scales_maps_and_calibration_are_seen_through() {
    let plain = data(2, 3);
    let twice: Vec<usize> = (0..plain.n_rows()).chain(0..20).collect();
    let weights = (0..twice.len()).map(|i| f64::from(u8::try_from(i % 4).unwrap())).collect();
    let data = plain.select(&twice).with_weights(weights).unwrap();
    for (name, given) in [
        ("linear-svm", json!({ "c": 2.0 })),
        ("logistic", json!({})),
        ("svm", json!({ "c": 5.0, "class_weight": { "each": { "a": 2.0 } } })),
        ("averaged-perceptron", json!({})),
    ] {
        let learner = learner(name, given);
        assert_all_held(&learner.fit(&data, &mut ()).unwrap(), &data, name);
        let scaling = Scaling::fit(Scale::Standard, data.x());
        let scaled = data.clone().scaled(&scaling).unwrap();
        let map = FeatureMap::fit("fourier:20".parse().unwrap(), &scaled, 0).unwrap();
        let mapped = scaled.mapped(&map).unwrap();
        let task = Task { scaling: Some(&scaling), map: Some(&map), ..Task::new(&mapped) };
        assert_all_held(&learner.learn(&task, &mut ()).unwrap(), &data, name);
        let calibration = Calibration { folds: 3, seed: 0, ..Calibration::default() };
        assert_all_held(&calibration.learn(learner.as_ref(), &task, &mut ()).unwrap(), &data, name);
    }
}

/// A model file in parts: the entries of its header, its description, and its arrays one after the other.
struct File {
    header: Map<String, Value>,
    description: Value,
    arrays: Vec<u8>,
}

impl File {
    fn of(fit: &Fit) -> Self {
        let bytes = fit.to_bytes().unwrap();
        let end = 8 + usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
        let header: Map<String, Value> = serde_json::from_slice(&bytes[8..end]).unwrap();
        let description = header["__metadata__"]["rosenblatt"].as_str().unwrap();
        let description = serde_json::from_str(description).unwrap();
        File { header, description, arrays: bytes[end..].to_vec() }
    }

    fn bytes(&self, description: &Value) -> Vec<u8> {
        let mut header = self.header.clone();
        header.insert("__metadata__".to_owned(), json!({ "rosenblatt": description.to_string() }));
        let mut text = serde_json::to_vec(&header).unwrap();
        text.resize(text.len().next_multiple_of(8), b' ');
        [&(text.len() as u64).to_le_bytes()[..], &text, &self.arrays].concat()
    }

    /// The first byte of each number of an array.
    fn places(&self, name: &str) -> Vec<usize> {
        let place =
            |at: usize| usize::try_from(self.header[name]["data_offsets"][at].as_u64().unwrap()).unwrap();
        let size = if self.header[name]["dtype"].as_str().unwrap().ends_with("64") { 8 } else { 4 };
        (place(0)..place(1)).step_by(size).collect()
    }

    /// The model, with other bytes at a place of the arrays.
    fn with(&self, at: usize, change: impl Fn(&mut [u8])) -> Option<Fit> {
        let mut other =
            File { header: self.header.clone(), description: Value::Null, arrays: self.arrays.clone() };
        change(&mut other.arrays[at..]);
        Fit::from_bytes(&other.bytes(&self.description)).ok()
    }
}

/// A model with what it is verified on.
struct Case {
    name: &'static str,
    fit: Fit,
    data: Dataset<'static>,
    holdout: Option<Dataset<'static>>,
}

impl Case {
    /// A run with scaling, map and calibration as the command line makes it.
    fn new(
        name: &'static str,
        given: Value,
        data: &Dataset<'static>,
        [scale, map, folds]: [&str; 3],
    ) -> Self {
        Case::with(name, given, data.clone(), None, [scale, map, folds])
    }

    fn with(
        name: &'static str,
        given: Value,
        data: Dataset<'static>,
        holdout: Option<Dataset<'static>>,
        [scale, map, folds]: [&str; 3],
    ) -> Self {
        let learner = learner(name, given);
        let kind: Option<Scale> = (!scale.is_empty()).then(|| serde_json::from_value(json!(scale)).unwrap());
        let scaling = kind.map(|kind| Scaling::fit(kind, data.x()));
        let scaled = |rows: Dataset<'static>| match &scaling {
            Some(scaling) => rows.scaled(scaling).unwrap(),
            None => rows,
        };
        let rows = scaled(data.clone());
        let map = (!map.is_empty()).then(|| FeatureMap::fit(map.parse().unwrap(), &rows, 0).unwrap());
        let mapped = |rows: Dataset<'static>| match &map {
            Some(map) => rows.mapped(map).unwrap(),
            None => rows,
        };
        let (rows, out) = (mapped(rows), holdout.clone().map(|rows| mapped(scaled(rows))));
        let task =
            Task { scaling: scaling.as_ref(), map: map.as_ref(), holdout: out.as_ref(), ..Task::new(&rows) };
        let fit = match folds.parse() {
            Ok(folds) => {
                Calibration { folds, ..Calibration::default() }.learn(learner.as_ref(), &task, &mut ())
            }
            Err(_) => learner.learn(&task, &mut ()),
        };
        Case { name, fit: fit.unwrap(), data, holdout }
    }

    /// All of it takes some milliseconds; what would be looked for longer is what is not there.
    fn verify(&self, fit: &Fit) -> Result<Verification, rosenblatt::Error> {
        let verifier = Verifier { time_limit: 2.0, ..Verifier::default() };
        verifier.verify_with(fit, &self.data, self.holdout.as_ref(), &mut ())
    }
}

/// Rows with names, as a table has them.
fn table(classes: usize, seed: u64) -> Dataset<'static> {
    let names = ["length", "width", "weight"];
    let mut columns: Vec<Column> = names.iter().map(|name| Column::new(*name, Role::Numeric)).collect();
    columns.push(Column::new("kind", Role::Label));
    let data = data(classes, seed).with_names(names.map(str::to_owned).to_vec()).unwrap();
    data.with_schema(Schema { header: true, columns })
}

/// Models of all kinds.
fn cases() -> Vec<Case> {
    let plain = ["", "", ""];
    let (all, pair) = (table(3, 5), table(2, 5));
    let few = table(2, 9);
    let (some, rest): (Vec<usize>, Vec<usize>) = (0..few.n_rows()).partition(|i| i % 4 > 0);
    let (some, rest) = (few.select(&some), Some(few.select(&rest)));
    vec![
        Case::new("perceptron", json!({ "passes": 5 }), &pair, plain),
        Case::new("averaged-perceptron", json!({ "passes": 3, "multiclass": "ovo" }), &all, plain),
        Case::new("voted-perceptron", json!({ "passes": 3 }), &pair, plain),
        Case::new("arow", json!({ "passes": 3 }), &all, plain),
        Case::new("kernel-perceptron", json!({ "passes": 3 }), &pair, plain),
        Case::new("linear-svm", json!({}), &all, plain),
        Case::new(
            "linear-svm",
            json!({ "loss": "squared-hinge", "bias": "none" }),
            &pair,
            ["minmax", "", ""],
        ),
        Case::new("logistic", json!({}), &all, ["standard", "", ""]),
        Case::new("linear-svm", json!({ "c": 0.5 }), &pair, ["standard", "fourier:6", ""]),
        Case::new("logistic", json!({ "class_weight": "balanced" }), &pair, ["", "nystroem:5", ""]),
        Case::new("pegasos", json!({ "passes": 3 }), &pair, ["maxabs", "poly:2", ""]),
        Case::new("crammer-singer", json!({}), &all, ["unit", "", ""]),
        Case::new("svm", json!({}), &all, plain),
        Case::new("svm", json!({ "slack": "squared" }), &pair, ["standard", "", "3"]),
        Case::new("kernel-logistic", json!({}), &pair, plain),
        Case::new("linear-svm", json!({}), &pair, ["standard", "", "3"]),
        Case::with("perceptron", json!({ "passes": 4 }), some.clone(), rest.clone(), plain),
        Case::with("linear-svm", json!({}), some.clone(), rest.clone(), ["standard", "fourier:4", ""]),
        Case::with("svm", json!({ "c": 2.0 }), some, rest, plain),
    ]
}

/// All places of a document, by their paths.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    if !path.is_empty() {
        found.push(path.to_owned());
    }
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| places(value, &format!("{path}/{name}"), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, value)| places(value, &format!("{path}/{i}"), found));
        }
        _ => {}
    }
}

/// All words that mean something somewhere in a description.
const WORDS: [&str; 45] = [
    "converged",
    "pass_limit",
    "time_limit",
    "interrupted",
    "stalled",
    "inseparable",
    "negative",
    "positive",
    "mistake",
    "highest",
    "votes",
    "logistic",
    "softmax",
    "standard",
    "minmax",
    "maxabs",
    "unit",
    "native",
    "ovr",
    "ovo",
    "free",
    "regularized",
    "none",
    "hinge",
    "squared-hinge",
    "l1",
    "l2",
    "auto",
    "dual",
    "newton",
    "linear",
    "squared",
    "rbf",
    "poly",
    "sigmoid",
    "laplacian",
    "cosine",
    "chi2",
    "cyclic",
    "shuffle",
    "random",
    "zero",
    "balanced",
    "numeric",
    "ignored",
];

/// Whether a text is made up by the user or a sentence: any other will do.
fn is_free_text(path: &str) -> bool {
    let parts = ["/classes/", "/features/names/", "/report/problems/", "/report/diagnosis/"];
    let whole = ["/report/objective", "/report/solver", "/report/data/hash"];
    parts.iter().any(|part| path.starts_with(part)) || whole.contains(&path) || path.ends_with("/name")
}

/// Something else in its place.
fn others(value: &Value, path: &str) -> Vec<Value> {
    let mut all = match value {
        Value::Bool(value) => vec![json!(!value)],
        Value::Number(number) => match number.as_u64() {
            Some(0) => vec![json!(1)],
            Some(value) => vec![json!(value + 1), json!(value - 1), json!(0)],
            None => {
                let value = number.as_f64().unwrap();
                // The next double, too.
                let next = f64::from_bits(value.to_bits() + 1);
                vec![json!(next), json!(1.01 * value), json!(-value), json!(value + 0.5)]
            }
        },
        Value::String(text) if is_free_text(path) => vec![json!(format!("{text}0")), json!("")],
        Value::String(text) => {
            let words = WORDS.iter().copied().chain(ALGORITHMS.iter().map(|row| row.name));
            words.filter(|word| word != text).map(Value::from).collect()
        }
        Value::Null => vec![json!(1), json!(0.5), json!(true), json!("balanced"), json!([]), json!({})],
        Value::Array(items) if !items.is_empty() => vec![json!(items[1..]), json!([])],
        Value::Array(_) | Value::Object(_) => Vec::new(),
    };
    if !value.is_null() {
        all.push(Value::Null);
    }
    all
}

/// Every way to change one field of a document.
fn changed(document: &Value) -> Vec<(String, Value)> {
    let (mut paths, mut all) = (Vec::new(), Vec::new());
    places(document, "", &mut paths);
    for path in paths {
        let value = document.pointer(&path).unwrap();
        for other in others(value, &path) {
            let mut lie = document.clone();
            *lie.pointer_mut(&path).unwrap() = other.clone();
            all.push((format!("{path}: {other}"), lie));
        }
        let (parent, name) = path.rsplit_once('/').unwrap();
        let mut lie = document.clone();
        if let Some(fields) = lie.pointer_mut(parent).unwrap().as_object_mut() {
            fields.remove(name);
            all.push((format!("{path} deleted"), lie));
        }
    }
    all
}

/// What a change that nothing is broken by may be.
fn is_as_true(case: &Case, what: &str, lie: &Fit, found: &Verification) -> bool {
    let parameter = what.strip_prefix("/report/parameters/");
    let held =
        |name: &str| found.claims.iter().any(|claim| claim.name == name && claim.verdict == Verdict::Held);
    // The same in other words, as nothing is for what is not there.
    *lie == case.fit
        // A map of the same numbers: what its kernel does not have, and a digit of γ that is lost in single precision.
        || (what.starts_with("/map/") && same_rows(case, lie))
        // A run with this value was made, and came to this model, with this report: it is as true of it.
        || (parameter.is_some() && held("its report"))
        // That it began from a model, which then is not here, is open.
        || (what.starts_with("/report/resumed") && lie.report.resumed == Some(true))
        // It only says who can read it, and that what is not there may not have been claimed; all is.
        || what.starts_with("/version")
}

fn same_rows(case: &Case, lie: &Fit) -> bool {
    let arrays = |fit: &Fit| File::of(fit).arrays;
    arrays(lie) == arrays(&case.fit)
        && lie.model.prepare(case.data.x()).unwrap() == case.fit.model.prepare(case.data.x()).unwrap()
}

#[test]
fn every_field_of_a_description_that_is_changed_is_caught() {
    let (mut caught, mut missed) = (0, Vec::new());
    for case in cases() {
        let honest = case.verify(&case.fit).unwrap();
        let bad: Vec<_> = honest.claims.iter().filter(|claim| claim.verdict != Verdict::Held).collect();
        assert!(bad.is_empty(), "{}: {bad:#?}", case.name);
        let file = File::of(&case.fit);
        assert_eq!(Fit::from_bytes(&file.bytes(&file.description)).unwrap(), case.fit);
        for (what, description) in changed(&file.description) {
            // What cannot be read says nothing.
            let Ok(lie) = Fit::from_bytes(&file.bytes(&description)) else { continue };
            match case.verify(&lie) {
                Ok(found) if found.holds() => {
                    if !is_as_true(&case, &what, &lie, &found) {
                        missed.push(format!("{} {what}", case.name));
                    }
                }
                // That these are other rows is an error before any claim.
                _ => caught += 1,
            }
        }
    }
    assert!(missed.is_empty(), "{caught} caught; missed: {missed:#?}");
    assert!(caught > 2000, "{caught}");
}

#[test]
fn every_number_of_a_scaling_or_map_that_is_changed_is_caught() {
    let mut caught = 0;
    for case in cases().iter().filter(|case| case.fit.model.scaling.is_some() || case.fit.model.map.is_some())
    {
        let file = File::of(&case.fit);
        let arrays = file.header.keys();
        for name in arrays.filter(|name| *name == "shift" || *name == "factor" || name.starts_with("map.")) {
            // The last digit, and one further up.
            for (at, bit) in file.places(name).into_iter().flat_map(|at| [(at, 1), (at + 2, 0x40)]) {
                let Some(lie) = file.with(at, |bytes| bytes[0] ^= bit) else { continue };
                let holds = case.verify(&lie).is_ok_and(|found| found.holds());
                assert!(!holds, "{}: {name}, byte {at}", case.name);
                caught += 1;
            }
        }
    }
    assert!(caught > 50, "{caught}");
}

#[test]
fn hostile_models_are_refused_not_followed() {
    let mut four = data(3, 2);
    let y = (0..four.n_rows() as u32).map(|i| i % 4).collect();
    let classes = ["a", "b", "c", "d"].iter().map(|&name| rosenblatt::Class::from(name)).collect();
    four = Dataset::with_classes(four.x().clone(), y, rosenblatt::Classes::new(classes)).unwrap();
    let broken = |fit: &Fit, data: &Dataset<'_>| {
        let verifier = Verifier { replay: false, ..Verifier::default() };
        assert!(!verifier.verify(fit, data, &mut ()).unwrap().holds());
    };
    let honest = learner("linear-svm", json!({})).fit(&four, &mut ()).unwrap();
    let mut fit = honest.clone();
    fit.report.data.hash = "ééééééééééé".to_owned();
    broken(&fit, &four);
    // Six problems, four planes; and four planes for two classes.
    fit = honest.clone();
    fit.report.parameters["multiclass"] = json!("ovo");
    broken(&fit, &four);
    broken(&honest, &data(2, 2));
    // Without parameters nothing can be said of an objective.
    fit = honest;
    fit.report.parameters = Value::Null;
    broken(&fit, &four);
    // A row that has no part in any plane, and a number that no row has.
    let pair = data(2, 2);
    let mut file = File::of(&learner("svm", json!({})).fit(&pair, &mut ()).unwrap());
    let (number, part) = (file.places("numbers")[0], file.places("coefficients")[0]);
    file.arrays[number..][..8].copy_from_slice(&u64::MAX.to_le_bytes());
    file.arrays[part..][..8].copy_from_slice(&0f64.to_le_bytes());
    broken(&Fit::from_bytes(&file.bytes(&file.description)).unwrap(), &pair);
}

#[test]
fn planes_that_know_nothing_are_not_right_by_rounding() {
    let data = data(2, 4);
    let mut fit = learner("perceptron", json!({ "passes": 1 })).fit(&data, &mut ()).unwrap();
    fit.model.body = Body::Linear(Planes::zeros(1, 3, true));
    fit.model.decision = Decision::Sign(Tie::Negative);
    fit.report = Report { train_accuracy: Some(1.0), ..Report::default() };
    let found = verify(&fit, &data);
    let accuracy = found.claims.iter().find(|claim| claim.name == "accuracy").unwrap();
    assert_eq!((accuracy.verdict, &accuracy.found[..]), (Verdict::Broken, "50%"));
}

#[test]
fn a_dual_value_above_a_smaller_objective_is_broken() {
    let data = data(2, 7);
    let optimum =
        learner("linear-svm", json!({ "gap": 1e-9, "passes": 100000 })).fit(&data, &mut ()).unwrap();
    let mut fit = learner("pegasos", json!({ "passes": 2 })).fit(&data, &mut ()).unwrap();
    let (primal, optimum) = (fit.report.primal.unwrap(), optimum.report.primal.unwrap());
    assert!(primal > 1.01 * optimum);
    let lie = 0.5 * (primal + optimum);
    (fit.report.dual, fit.report.gap) = (Some(lie), Some((primal - lie) / primal));
    let found = Verifier { replay: false, ..Verifier::default() }.verify(&fit, &data, &mut ()).unwrap();
    let broken: Vec<_> = found.claims.iter().filter(|claim| claim.verdict == Verdict::Broken).collect();
    assert!(broken.iter().any(|claim| claim.name == "dual"), "{found:#?}");
}

#[test]
fn nothing_is_proved_where_the_kernel_may_be_no_dot_product() {
    let data = data(2, 8);
    for (given, proved) in [
        (json!({ "kernel": "sigmoid", "gamma": 0.1 }), false),
        (json!({ "kernel": "poly", "gamma": 0.1, "coef0": -0.5 }), false),
        (json!({ "kernel": "poly", "gamma": 0.1 }), true),
    ] {
        let fit = learner("svm", given.clone()).fit(&data, &mut ()).unwrap();
        let found = verify(&fit, &data);
        assert!(found.holds(), "{given}: {found:#?}");
        assert_eq!((found.dual.is_some(), found.gap.is_some()), (proved, proved), "{given}: {found:#?}");
    }
}

#[test]
fn without_time_nothing_is_held_or_broken_that_was_not_looked_at() {
    let data = data(3, 3);
    for name in ["svm", "linear-svm", "voted-perceptron"] {
        let fit = learner(name, json!({})).fit(&data, &mut ()).unwrap();
        let found = Verifier { time_limit: 0.0, ..Verifier::default() }.verify(&fit, &data, &mut ()).unwrap();
        assert!(found.holds(), "{name}: {found:#?}");
        let open = |name: &str| {
            found.claims.iter().any(|claim| claim.name == name && claim.verdict == Verdict::Open)
        };
        assert!(open("the run") && (open("figures") || open("accuracy")), "{name}: {found:#?}");
    }
}

#[test]
fn every_number_of_a_model_that_is_changed_is_caught() {
    let data = data(3, 6);
    for (name, given) in [
        ("perceptron", json!({})),
        ("linear-svm", json!({})),
        ("logistic", json!({})),
        ("svm", json!({})),
        ("kernel-perceptron", json!({ "passes": 2 })),
    ] {
        let fit = learner(name, given).fit(&data, &mut ()).unwrap();
        let bytes = fit.to_bytes().unwrap();
        let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        // Every array of the file, number by number: the middle of its mantissa.
        let mut at = 8 + header + 5;
        let mut caught = 0;
        while at < bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            if let Ok(lie) = Fit::from_bytes(&changed) {
                let verdict = Verifier::default().verify(&lie, &data, &mut ());
                assert!(!verdict.is_ok_and(|found| found.holds()), "{name}: byte {at} of {}", bytes.len());
                caught += 1;
            }
            at += 8 * (1 + bytes.len() / 4000);
        }
        assert!(caught > 0);
    }
}

#[test]
fn a_model_that_was_not_finished_is_as_far_from_the_optimum_as_it_says() {
    let data = data(2, 7);
    let best = learner("linear-svm", json!({ "gap": 1e-9, "passes": 100000 })).fit(&data, &mut ()).unwrap();
    let optimum = best.report.primal.unwrap();
    for (name, given) in [("pegasos", json!({ "passes": 2 })), ("subgradient", json!({ "passes": 5 }))] {
        let fit = learner(name, given).fit(&data, &mut ()).unwrap();
        // Nothing but the plane is known.
        let foreign = Fit {
            report: Report {
                algorithm: "linear-svm".to_owned(),
                parameters: json!({ "bias": "free" }),
                ..Report::default()
            },
            ..fit.clone()
        };
        let found = verify(&foreign, &data);
        let (primal, dual) = (found.primal.unwrap(), found.dual.unwrap());
        assert!((primal - fit.report.primal.unwrap()).abs() < 1e-9 * primal, "{name}");
        assert!(dual <= optimum * (1.0 + 1e-9) && dual > optimum * (1.0 - 1e-3), "{name}: {dual} {optimum}");
        assert!(found.gap.unwrap() > 0.01, "{name}: {found:?}");
    }
    assert!(matches!(best.model.body, Body::Linear(_)));
}

/// What a run that began from nothing came to, it comes to again. One that began from a model cannot be made again, and files of older versions do not say which it was.
#[test]
fn other_parameters_of_how_a_run_was_made_are_caught() {
    let data = data(2, 1);
    for (algorithm, changes) in [
        ("linear-svm", vec![("gap", json!(0.009)), ("seed", json!(7))]),
        ("svm", vec![("tolerance", json!(0.1))]),
    ] {
        let given = if algorithm == "svm" { json!({}) } else { json!({ "solver": "dual" }) };
        let learner = learner(algorithm, given);
        let fit = learner.fit(&data, &mut ()).unwrap();
        assert_eq!(fit.report.resumed, Some(false));
        let verdict = |fit: &Fit| {
            let found = Verifier::default().verify(fit, &data, &mut ()).unwrap();
            let run = found.claims.iter().find(|claim| claim.name.starts_with("the run")).unwrap().verdict;
            (run, found.holds())
        };
        assert_eq!(verdict(&fit), (Verdict::Held, true), "{algorithm}");
        for (name, value) in changes {
            let mut lie = fit.clone();
            lie.report.parameters[name] = value;
            assert!(!verdict(&lie).1, "{algorithm} {name}");
            (lie.report.resumed, lie.report.older) = (None, true);
            // Multipliers at their bounds are the same wherever a run began, and give it away.
            if algorithm == "linear-svm" {
                assert_eq!(verdict(&lie), (Verdict::Open, true), "{algorithm} {name}, of an older version");
            }
        }
        let older =
            Fit { report: Report { resumed: None, older: true, ..fit.report.clone() }, ..fit.clone() };
        assert_eq!(verdict(&older), (Verdict::Held, true), "{algorithm}, of an older version");
        let task = Task { start: Some(&fit.model), ..Task::new(&data) };
        let resumed = learner.learn(&task, &mut ()).unwrap();
        assert_eq!(resumed.report.resumed, Some(true));
        assert_eq!(verdict(&resumed), (Verdict::Open, true), "{algorithm}, gone on with");
    }
}

/// In models of LIBLINEAR the bias may be the weight of another constant than 1: then it is that weight which is penalised.
#[test]
fn a_bias_of_another_constant_is_measured_as_the_weight_it_is() {
    let (constant, data) = (2.5, data(2, 5));
    let lifted: Vec<f64> = (0..data.n_rows())
        .flat_map(|i| {
            let mut row = vec![0.0; data.n_features()];
            data.x().each(i, |j, v| row[j] = v);
            row.push(constant);
            row
        })
        .collect();
    let width = data.n_features() + 1;
    let lifted =
        Dataset::with_classes(Dense::new(lifted, width).unwrap(), data.y().to_vec(), data.classes().clone());
    let lifted = lifted.unwrap();
    for (algorithm, told) in [
        ("linear-svm", json!({ "loss": "hinge", "multiclass": "ovr" })),
        ("linear-svm", json!({ "loss": "squared-hinge", "multiclass": "ovr" })),
        ("linear-svm", json!({ "loss": "squared-hinge", "multiclass": "ovr", "penalty": "l1" })),
        ("logistic", json!({ "multiclass": "ovr" })),
        ("crammer-singer", json!({})),
    ] {
        let mut given = told.clone();
        (given["bias"], given["gap"], given["c"]) = (json!("none"), json!(1e-7), json!(0.7));
        let fit = learner(algorithm, given).fit(&lifted, &mut ()).unwrap();
        let planes = fit.model.body.planes().unwrap();
        assert_eq!(planes.k(), 1);
        let mut weights = planes.normal(0);
        let bias = constant * weights.pop().unwrap();
        let mut parameters = told;
        (parameters["bias"], parameters["constant"]) = (json!("regularized"), json!(constant));
        let mut model = learner("linear-svm", json!({})).fit(&data, &mut ()).unwrap().model;
        model.body = Body::Linear(Planes::from_parts(weights, vec![bias], true).unwrap());
        let report = Report { algorithm: algorithm.to_owned(), parameters, ..Report::default() };
        let theirs = Fit { model, report };
        let verifier = Verifier { c: Some(0.7), ..Verifier::default() };
        let found = verifier.verify(&theirs, &data, &mut ()).unwrap();
        let (primal, expected) = (found.primal.unwrap(), fit.report.primal.unwrap());
        assert!((primal - expected).abs() <= 1e-9 * expected, "{algorithm}: {primal} is not {expected}");
        assert!(found.gap.unwrap() <= 1e-4 && found.gap.unwrap() >= -1e-9, "{algorithm}: {found:?}");
        assert_eq!(found.unmeasured, None);
    }
}

/// That nothing was measured is said, with the reason.
#[test]
fn what_another_program_does_not_tell_is_said() {
    let data = data(2, 6);
    let mut theirs = learner("svm", json!({ "nu": 0.3 })).fit(&data, &mut ()).unwrap();
    assert_eq!(verify(&theirs, &data).unmeasured, None);
    let parameters = json!({ "kernel": "rbf", "gamma": theirs.report.parameters["gamma"], "bias": "free", "multiclass": "ovo" });
    theirs.report = Report { algorithm: "svm".to_owned(), parameters, ..Report::default() };
    let found = verify(&theirs, &data);
    assert!(found.primal.is_none() && found.unmeasured.unwrap().contains("ν"));
}

/// Files of versions before 7 have the objective without them.
#[test]
fn objectives_show_what_examples_count() {
    let (two, three) = (data(2, 3), data(3, 3));
    let weights: Vec<f64> = (0..two.n_rows()).map(|i| [0.5, 1.0, 2.0][i % 3]).collect();
    let weighted = two.clone().with_weights(weights).unwrap();
    let class = two.classes()[1].to_string();
    let each = json!({ "each": { class.as_str(): 2.0 } });
    for (name, given, rows, shown) in [
        ("linear-svm", json!({}), &weighted, "C·Σ cᵢ·max(0, 1 − y·g(x)), C = 1, cᵢ the weight of the row; g".to_owned()),
        ("logistic", json!({ "class_weight": each, "c": 2.0 }), &two, format!("C = 2, cᵢ the weight of its class: {class} 2, others 1; g")),
        ("logistic", json!({ "class_weight": "balanced" }), &three, "C·Σ cᵢ·log Σ exp(g_c(x) − g_y(x)), C = 1, cᵢ = n/(k·n_y), n_y the number of rows of its class, k classes; g".to_owned()),
        ("svm", json!({ "class_weight": "balanced" }), &weighted, "cᵢ the weight of the row times n/(k·n_y), n_y the weight of all rows of its class, k classes; g".to_owned()),
        ("svm", json!({ "nu": 0.2 }), &weighted, "Σ cᵢ·max(0, ρ − y·g(x)), ν = 0.2, then g/ρ, n = Σcᵢ, cᵢ the weight of the row; g".to_owned()),
        ("kernel-logistic", json!({ "lambda": 0.1 }), &weighted, "1/(λn)·Σ cᵢ·log(1 + exp(−y·g(x))), λ = 0.1, n = Σcᵢ, cᵢ the weight of the row; g".to_owned()),
        ("crammer-singer", json!({ "class_weight": "balanced" }), &three, "C·Σ cᵢ·max(0, 1 + max g_c(x) − g_y(x)), c ≠ y".to_owned()),
    ] {
        let learner = learner(name, given.clone());
        let mut fit = learner.fit(rows, &mut ()).unwrap();
        assert!(fit.report.objective.contains(&shown), "{name} {given}: {}", fit.report.objective);
        assert!(verify(&fit, rows).holds(), "{name} {given}");
        if !fit.report.objective.contains(", cᵢ the weight of the row;") {
            continue;
        }
        let plain = fit.report.objective.replace("cᵢ·", "");
        let plain = plain.replace(", n = Σcᵢ", "").replace(", cᵢ the weight of the row", "");
        assert!(!plain.contains("cᵢ"), "{name} {given}: {plain}");
        fit.report.objective = plain;
        assert!(!verify(&fit, rows).holds(), "{name} {given}, its objective without weights");
        fit.report.older = true;
        assert!(verify(&fit, rows).holds(), "{name} {given}, of an older version");
    }
}

/// What reports did not have yet is no claim in files of versions before 7, and a claim that is missing in others.
#[test]
fn what_older_versions_did_not_say_is_not_broken() {
    let (two, three) = (data(2, 1), data(3, 1));
    for (name, rows, later) in [
        ("linear-svm", &two, ["corridor", "solver", "slacks"]),
        ("linear-svm", &three, ["margin", "problems", "support_vectors"]),
        ("svm", &three, ["problems", "violation", "resumed"]),
        ("perceptron", &three, ["margin", "radius", "train_accuracy"]),
    ] {
        let file = File::of(&learner(name, json!({})).fit(rows, &mut ()).unwrap());
        let holds = |description: &Value| {
            let fit = Fit::from_bytes(&file.bytes(description)).unwrap();
            verify(&fit, rows).holds()
        };
        for field in later {
            let mut older = file.description.clone();
            older["version"] = json!(6);
            let report = older["report"].as_object_mut().unwrap();
            if let ("problems", Some(Value::Array(problems))) = (field, report.get_mut(field)) {
                let named = ["title", "passes", "last_updates", "converged"];
                let problems = problems.iter_mut().filter_map(Value::as_object_mut);
                problems.for_each(|problem| problem.retain(|name, _| named.contains(&name.as_str())));
            } else {
                assert_ne!(report.remove(field), None, "{name} {field}");
            }
            assert!(holds(&older), "{name} without {field}, of version 6");
            let mut newer = older.clone();
            newer["version"] = json!(7);
            assert!(!holds(&newer), "{name} without {field}, of version 7");
            // What is said is still looked at.
            older["report"]["updates"] = json!(123_456);
            assert!(!holds(&older), "{name} with other updates");
        }
    }
}
