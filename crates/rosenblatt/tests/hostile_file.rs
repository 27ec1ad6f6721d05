//! Damaged and malicious model files: each kind of damage has its own error, and nothing panics.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::collections::HashMap;
use std::fs;

use proptest::prelude::*;
use rosenblatt::{Body, Dense, Fit, Matrix, ModelError, Rng};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde_json::{Value, json};

const NAMES: [&str; 13] = [
    "linear-binary",
    "linear-multiclass",
    "one-vs-one",
    "voted-binary",
    "voted-multiclass",
    "kernel-binary",
    "kernel-voted",
    "mapped",
    "fourier",
    "nystroem",
    "gaussian",
    "bernoulli",
    "layers",
];

fn golden(name: &str) -> Vec<u8> {
    fs::read(format!("{}/tests/golden/{name}.model", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn load(bytes: &[u8]) -> ModelError {
    Fit::from_bytes(bytes).expect_err("a damaged file was taken for a model")
}

struct Array {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// A model file taken apart: its description and its arrays.
struct Parts {
    about: Value,
    arrays: HashMap<String, Array>,
}

impl Parts {
    fn of(name: &str) -> Parts {
        let bytes = golden(name);
        let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        let about = serde_json::from_str(&metadata.metadata().as_ref().unwrap()["rosenblatt"]).unwrap();
        let array = |(name, view): (String, TensorView<'_>)| {
            let (dtype, shape, bytes) = (view.dtype(), view.shape().to_vec(), view.data().to_vec());
            (name, Array { dtype, shape, bytes })
        };
        let arrays = SafeTensors::deserialize(&bytes).unwrap().tensors().into_iter().map(array).collect();
        Parts { about, arrays }
    }

    fn bytes(&self, about: Option<String>) -> Vec<u8> {
        let mut views = Vec::new();
        for (name, array) in &self.arrays {
            let view = TensorView::new(array.dtype, array.shape.clone(), &array.bytes).unwrap();
            views.push((name.clone(), view));
        }
        let entries = about.map(|about| HashMap::from([("rosenblatt".to_owned(), about)]));
        safetensors::serialize(views, entries).unwrap()
    }

    fn load(&self) -> ModelError {
        load(&self.bytes(Some(self.about.to_string())))
    }

    fn array(&mut self, name: &str) -> &mut Array {
        self.arrays.get_mut(name).unwrap()
    }

    fn set(&mut self, name: &str, at: usize, value: &[u8]) {
        let at = at * value.len();
        self.array(name).bytes[at..at + value.len()].copy_from_slice(value);
    }
}

fn with(name: &str, damage: impl FnOnce(&mut Parts)) -> ModelError {
    let mut parts = Parts::of(name);
    let whole = parts.bytes(Some(parts.about.to_string()));
    assert_eq!(Fit::from_bytes(&whole), Fit::from_bytes(&golden(name)));
    damage(&mut parts);
    parts.load()
}

fn is_contradiction(error: &ModelError, about: &str) {
    assert!(matches!(error, ModelError::Contradiction(what) if what.contains(about)), "{error}");
}

#[test]
fn not_a_container() {
    assert_eq!(load(&[]), ModelError::Empty);
    let foreign = |bytes: &[u8]| matches!(load(bytes), ModelError::NotContainer(_) | ModelError::Length);
    assert!(foreign(b"+1 1:0.5 2:1\n-1 1:0.25\n"));
    assert!(foreign(&[0; 100]));
    assert!(foreign(&[255; 100]));
    let mut rng = Rng::new(1);
    for length in 1..300 {
        let random: Vec<u8> = (0..length).map(|_| rng.bits() as u8).collect();
        assert!(foreign(&random));
    }
    let mut huge = golden("linear-binary");
    huge[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(matches!(load(&huge), ModelError::NotContainer(_)));
    let mut no_json = golden("linear-binary");
    no_json[9] = b'!';
    assert!(matches!(load(&no_json), ModelError::NotContainer(_)));
    let header = br#"{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}"#;
    let overlapping = [&(header.len() as u64).to_le_bytes()[..], header, &[0; 3]].concat();
    assert!(matches!(load(&overlapping), ModelError::NotContainer(_)));
}

#[test]
fn cut_anywhere_and_too_long() {
    for name in NAMES {
        let bytes = golden(name);
        for end in 0..bytes.len() {
            match load(&bytes[..end]) {
                ModelError::Empty => assert_eq!(end, 0),
                ModelError::NotContainer(_) => assert!(end < 8, "{name} {end}"),
                error => assert_eq!(error, ModelError::Length, "{name} {end}"),
            }
        }
        assert_eq!(load(&[&bytes[..], &[0]].concat()), ModelError::Length);
    }
}

#[test]
fn damaged_descriptions() {
    let parts = Parts::of("linear-binary");
    assert_eq!(load(&parts.bytes(None)), ModelError::NotOurs);
    let described = |about: &str| load(&parts.bytes(Some(about.to_owned())));
    for about in ["", "no json", "[]", "{}", r#"{"version":"1"}"#, r#"{"version":1}"#] {
        assert!(matches!(described(about), ModelError::Description(_)), "{about}");
    }
    assert!(matches!(described(&"[".repeat(100_000)), ModelError::Description(_)));
    assert_eq!(described(r#"{"version":999,"new":true}"#), ModelError::Version { found: 999 });
    let is_damaged = |error: ModelError| assert!(matches!(error, ModelError::Description(_)), "{error}");
    is_damaged(with("linear-binary", |parts| parts.about["extra"] = json!(1)));
    is_damaged(with("linear-binary", |parts| parts.about["report"]["extra"] = json!(1)));
    is_damaged(with("linear-binary", |parts| parts.about["decision"] = json!("coin")));
    is_damaged(with("linear-binary", |parts| parts.about["features"]["count"] = json!(-1)));
}

#[test]
fn damaged_arrays() {
    let missing = with("linear-binary", |parts| drop(parts.arrays.remove("bias")));
    assert_eq!(missing, ModelError::Missing("bias".to_owned()));
    let missing = with("linear-binary", |parts| drop(parts.arrays.remove("factor")));
    assert_eq!(missing, ModelError::Missing("factor".to_owned()));
    let mistyped = with("linear-binary", |parts| parts.array("weights").dtype = Dtype::I64);
    let (expected, found) = ("F64".to_owned(), "I64".to_owned());
    assert_eq!(mistyped, ModelError::Type { name: "weights".to_owned(), expected, found });
    let misshapen = with("linear-binary", |parts| parts.array("weights").shape = vec![1, 4]);
    let expected = "[4, 1]".to_owned();
    assert_eq!(misshapen, ModelError::Shape { name: "weights".to_owned(), expected, found: vec![1, 4] });
    for bad in [f64::NAN, f64::INFINITY] {
        for array in ["weights", "bias", "shift"] {
            let error = with("linear-binary", |parts| parts.set(array, 0, &bad.to_le_bytes()));
            assert_eq!(error, ModelError::NotFinite(array.to_owned()));
        }
        let error = with("voted-multiclass", |p| p.set("ballot.0.values", 0, &(bad as f32).to_le_bytes()));
        assert_eq!(error, ModelError::NotFinite("ballot.0.values".to_owned()));
    }
}

#[test]
fn contradictions() {
    let about = |name: &str, damage: &dyn Fn(&mut Value)| with(name, |parts| damage(&mut parts.about));
    for classes in [json!(["c1", "c0"]), json!(["c0", "c0"]), json!([])] {
        let error = about("linear-binary", &|about| about["classes"] = classes.clone());
        is_contradiction(&error, "classes must be distinct and in order");
    }
    let error = about("linear-binary", &|about| about["classes"] = json!(["a", "b", "c"]));
    is_contradiction(&error, "more than two classes");
    let error = about("linear-binary", &|about| about["features"]["names"] = json!(["one"]));
    is_contradiction(&error, "number of feature names");
    let error = about("linear-binary", &|about| about["features"]["schema"]["columns"] = json!([]));
    is_contradiction(&error, "table's columns");
    let error = about("voted-multiclass", &|about| about["classes"] = json!(["a", "b"]));
    is_contradiction(&error, "number of scores");
    let error = about("linear-multiclass", &|about| about["classes"] = json!(["a", "b"]));
    assert!(matches!(error, ModelError::Shape { .. }), "{error}");
}

/// Models that would need absurd memory or divide rows into nothing.
#[test]
fn absurd_sizes() {
    let error = with("linear-multiclass", |parts| {
        (parts.about["classes"], parts.about["decision"]) = (json!(["a"]), json!({"pairs": "negative"}));
        for (name, shape) in [("weights", vec![5, 0]), ("bias", vec![0])] {
            *parts.array(name) = Array { dtype: Dtype::F64, shape, bytes: Vec::new() };
        }
    });
    is_contradiction(&error, "number of scores");
    let ballot = |planes: u64| json!({"planes": planes, "tie": "negative", "lifted": true});
    for ballots in
        [vec![], vec![ballot(0)], vec![ballot(1 << 63), ballot(1 << 63), ballot(1)], vec![ballot(2)]]
    {
        let error =
            with("voted-binary", |parts| parts.about["body"] = json!({"voted": {"ballots": ballots}}));
        is_contradiction(&error, "number of scores");
    }
    let error = with("voted-binary", |parts| parts.about["features"]["count"] = json!(1u64 << 60));
    is_contradiction(&error, "2^32");
}

#[test]
fn damaged_votes() {
    let set = |array: &str, at: usize, value: &[u8]| {
        with("voted-multiclass", |parts| parts.set(&format!("ballot.0.{array}"), at, value))
    };
    is_contradiction(&set("rows", 0, &999u32.to_le_bytes()), "rows or planes that do not exist");
    for plane in [3, -2, i32::MAX, i32::MIN] {
        is_contradiction(&set("up", 1, &plane.to_le_bytes()), "rows or planes that do not exist");
        is_contradiction(&set("down", 0, &plane.to_le_bytes()), "rows or planes that do not exist");
    }
    is_contradiction(&set("columns", 0, &u32::MAX.to_le_bytes()), "columns of row 1");
    is_contradiction(&set("columns", 1, &0u32.to_le_bytes()), "columns of row 1");
    is_contradiction(&set("pointers", 0, &1u64.to_le_bytes()), "row pointers");
    is_contradiction(&set("pointers", 1, &u64::MAX.to_le_bytes()), "row pointers");
    is_contradiction(&set("survivals", 0, &(-1f64).to_le_bytes()), "visits below 0");
    let missing = with("voted-multiclass", |parts| drop(parts.arrays.remove("ballot.0.values")));
    assert_eq!(missing, ModelError::Missing("ballot.0.values".to_owned()));
    let short = with("voted-multiclass", |parts| {
        let array = parts.array("ballot.0.sizes");
        array.shape[0] -= 1;
        array.bytes.truncate(8 * array.shape[0]);
    });
    assert!(matches!(short, ModelError::Shape { .. }), "{short}");
}

#[test]
fn damaged_kernels_and_maps() {
    for planes in
        [json!([]), json!([0, 1]), json!([1u64 << 63, 1u64 << 63, 1, 1, 1]), json!([2, 1]), json!([0, 0, 3])]
    {
        let error =
            with("kernel-voted", |parts| parts.about["body"]["kernel"]["votes"]["planes"] = planes.clone());
        is_contradiction(&error, "number of scores");
    }
    for kernel in [
        json!({"poly": {"degree": 0, "gamma": 1.0, "coef0": 1.0}}),
        json!({"rbf": {"gamma": 1e300}}),
        json!({"rbf": {"gamma": -1.0}}),
    ] {
        let error = with("kernel-binary", |parts| parts.about["body"]["kernel"]["kernel"] = kernel.clone());
        is_contradiction(&error, "kernel");
    }
    let error = with("kernel-binary", |parts| parts.set("coefficients", 0, &f64::NAN.to_le_bytes()));
    assert_eq!(error, ModelError::NotFinite("coefficients".to_owned()));
    let error = with("kernel-voted", |parts| parts.set("history.1.rows", 0, &u32::MAX.to_le_bytes()));
    is_contradiction(&error, "rows or planes that do not exist");
    for degree in [0u32, 65, u32::MAX] {
        for kind in ["poly", "homogeneous"] {
            let error = with("mapped", |parts| parts.about["map"] = json!({kind: degree}));
            is_contradiction(&error, "from 1 to 64");
        }
    }
    let error = with("mapped", |parts| parts.about["map"] = json!({"poly": 40}));
    assert!(matches!(error, ModelError::Shape { .. } | ModelError::Contradiction(_)), "{error}");
}

#[test]
fn damaged_distributions() {
    for bad in [0.0f64, -1.0] {
        is_contradiction(
            &with("gaussian", |parts| parts.set("variances", 5, &bad.to_le_bytes())),
            "variances",
        );
    }
    for array in ["means", "variances", "priors"] {
        let error = with("gaussian", |parts| parts.set(array, 1, &f64::NAN.to_le_bytes()));
        assert_eq!(error, ModelError::NotFinite(array.to_owned()));
        let error = with("gaussian", |parts| drop(parts.arrays.remove(array)));
        assert_eq!(error, ModelError::Missing(array.to_owned()));
    }
    let error = with("gaussian", |parts| parts.array("means").shape.reverse());
    assert!(matches!(error, ModelError::Shape { .. }), "{error}");
    let error = with("gaussian", |parts| parts.about["classes"] = json!(["a", "b"]));
    assert!(matches!(error, ModelError::Shape { .. }), "{error}");
    let error = with("bernoulli", |parts| {
        (parts.about["classes"], parts.about["decision"]) = (json!(["a"]), json!("highest"));
        for name in ["above", "below"] {
            *parts.array(name) = Array { dtype: Dtype::F64, shape: vec![4, 1], bytes: vec![0; 32] };
        }
        *parts.array("priors") = Array { dtype: Dtype::F64, shape: vec![1], bytes: vec![0; 8] };
    });
    is_contradiction(&error, "two classes");
    let error = with("bernoulli", |parts| parts.about["body"]["bernoulli"]["threshold"] = json!("much"));
    assert!(matches!(error, ModelError::Description(_)), "{error}");
    let error = with("bernoulli", |parts| parts.about["version"] = json!(9));
    assert_eq!(error, ModelError::Version { found: 9 });
}

#[test]
fn damaged_layers() {
    let units = |units: Value| with("layers", |parts| parts.about["body"]["layers"]["units"] = units);
    is_contradiction(&units(json!([])), "no units");
    is_contradiction(&units(json!([6])), "number of scores");
    for wrong in [json!([6, 3, 3, 3]), json!([0, 3, 3]), json!([1u64 << 40, 3, 3]), json!([u64::MAX, 3, 3])] {
        let error = units(wrong);
        assert!(matches!(error, ModelError::Shape { .. } | ModelError::Missing(_)), "{error}");
    }
    let error = with("layers", |parts| {
        parts.about["body"]["layers"]["units"] = json!([0, 3, 3]);
        for (name, shape) in [("layer.0.weights", vec![5, 0]), ("layer.0.bias", vec![0])] {
            *parts.array(name) = Array { dtype: Dtype::F32, shape, bytes: Vec::new() };
        }
    });
    is_contradiction(&error, "no units");
    for array in ["layer.0.weights", "layer.1.bias", "layer.2.weights"] {
        let error = with("layers", |parts| parts.set(array, 0, &f32::INFINITY.to_le_bytes()));
        assert_eq!(error, ModelError::NotFinite(array.to_owned()));
        let error = with("layers", |parts| drop(parts.arrays.remove(array)));
        assert_eq!(error, ModelError::Missing(array.to_owned()));
    }
    let error = with("layers", |parts| parts.about["body"]["layers"]["activation"] = json!("sine"));
    assert!(matches!(error, ModelError::Description(_)), "{error}");
}

/// What models of other programs have is read from files of version 6 alone.
#[test]
fn damaged_models_of_other_programs() {
    let error = with("votes", |parts| parts.about["version"] = json!(5));
    is_contradiction(&error, "before version 6");
    let error = with("votes", |parts| parts.about["classes"] = json!(["c2", "c0", "c2"]));
    is_contradiction(&error, "distinct");
    let error = with("votes", |parts| {
        let array = parts.array("numbers");
        (array.shape, array.bytes) = (vec![1], vec![0; 8]);
    });
    assert!(matches!(error, ModelError::Shape { .. }), "{error}");
    let error = with("machine", |parts| {
        let array = parts.array("numbers");
        (array.shape, array.bytes) = (vec![0], Vec::new());
    });
    is_contradiction(&error, "before version 6");
}

#[test]
fn damaged_waves() {
    for waves in [10u64, 1 << 26] {
        let error = with("fourier", |parts| parts.about["map"]["fourier"]["waves"] = json!(waves));
        assert!(matches!(error, ModelError::Shape { .. }), "{error}");
    }
    for waves in [0, 1u64 << 40, u64::MAX] {
        let error = with("fourier", |parts| parts.about["map"]["fourier"]["waves"] = json!(waves));
        is_contradiction(&error, "fourier");
    }
    for gamma in [json!(null), json!(0.0), json!(-1.0), json!(1e300)] {
        let error = with("fourier", |parts| parts.about["map"]["fourier"]["gamma"] = gamma.clone());
        is_contradiction(&error, "gamma");
    }
    let error = with("fourier", |parts| parts.about["map"]["fourier"]["more"] = json!(1));
    assert!(matches!(error, ModelError::Description(_)), "{error}");
    for array in ["map.directions", "map.phases"] {
        for bad in [f32::NAN, f32::INFINITY] {
            let error = with("fourier", |parts| parts.set(array, 1, &bad.to_le_bytes()));
            assert_eq!(error, ModelError::NotFinite(array.to_owned()));
        }
        let error = with("fourier", |parts| drop(parts.arrays.remove(array)));
        assert_eq!(error, ModelError::Missing(array.to_owned()));
    }
    let error = with("fourier", |parts| parts.array("map.directions").shape.reverse());
    assert!(matches!(error, ModelError::Shape { .. }), "{error}");
    let error = with("fourier", |parts| parts.array("map.phases").dtype = Dtype::I32);
    assert!(matches!(error, ModelError::Type { .. }), "{error}");
}

#[test]
fn damaged_landmarks() {
    for landmarks in [0u64, 6] {
        let error = with("nystroem", |parts| parts.about["map"]["nystroem"]["landmarks"] = json!(landmarks));
        is_contradiction(&error, "landmark");
    }
    for (kernel, problem) in [
        (json!({"kernel": "rbf", "degree": 3}), "gamma is open"),
        (json!({"kernel": "laplacian", "gamma": -1.0, "degree": 3}), "gamma"),
        (json!({"kernel": "laplacian", "gamma": 1.0, "sigma": 1.0, "degree": 3}), "sigma"),
        (json!({"kernel": "poly", "degree": 65}), "degree"),
    ] {
        let error = with("nystroem", |parts| parts.about["map"]["nystroem"]["kernel"] = kernel.clone());
        is_contradiction(&error, problem);
    }
    for kernel in [json!("rbf"), json!({"kernel": "gauss"}), json!({"kernel": "rbf", "width": 1})] {
        let error = with("nystroem", |parts| parts.about["map"]["nystroem"]["kernel"] = kernel.clone());
        assert!(matches!(error, ModelError::Description(_)), "{error}");
    }
    let error = with("nystroem", |parts| parts.set("map.factor", 3, &f32::NAN.to_le_bytes()));
    assert_eq!(error, ModelError::NotFinite("map.factor".to_owned()));
    let error = with("nystroem", |parts| parts.array("map.factor").shape = vec![49, 1]);
    assert!(matches!(error, ModelError::Shape { .. }), "{error}");
    let error = with("nystroem", |parts| parts.set("map.columns", 0, &u32::MAX.to_le_bytes()));
    is_contradiction(&error, "columns of row 1");
    let error = with("nystroem", |parts| parts.set("map.values", 0, &f32::INFINITY.to_le_bytes()));
    assert_eq!(error, ModelError::NotFinite("map.values".to_owned()));
    // χ² is not defined for what is negative, whoever says so.
    let error = with("nystroem", |parts| {
        parts.about["map"]["nystroem"]["kernel"]["kernel"] = json!("chi2");
        parts.set("map.values", 0, &(-1f32).to_le_bytes());
    });
    is_contradiction(&error, "not negative");
    let error = with("nystroem", |parts| {
        for (name, shape, length) in
            [("pointers", vec![1], 8), ("columns", vec![0], 0), ("values", vec![0], 0)]
        {
            let array = parts.array(&format!("map.{name}"));
            (array.shape, array.bytes) = (shape, vec![0; length]);
        }
        let factor = parts.array("map.factor");
        (factor.shape, factor.bytes) = (vec![0, 0], Vec::new());
    });
    is_contradiction(&error, "no columns");
}

/// Finite, but far too large: whoever asks for scores gets an error, not what is no number.
#[test]
fn numbers_that_overflow() {
    let x: Matrix<'_> = Dense::new(vec![3.0; 4], 4).unwrap().into();
    let mut parts = Parts::of("nystroem");
    (0..49).for_each(|at| parts.set("map.factor", at, &f32::MAX.to_le_bytes()));
    let fit = Fit::from_bytes(&parts.bytes(Some(parts.about.to_string()))).unwrap();
    assert!(fit.model.predict(&x).is_err());
    let x: Matrix<'_> = Dense::new(vec![3.0; 3], 3).unwrap().into();
    let mut parts = Parts::of("fourier");
    (0..27).for_each(|at| parts.set("map.directions", at, &f32::MAX.to_le_bytes()));
    let fit = Fit::from_bytes(&parts.bytes(Some(parts.about.to_string()))).unwrap();
    assert!(fit.model.predict(&x).is_err());
}

/// What cannot be read back is not written.
#[test]
fn contradictions_are_not_saved() {
    let mut fit = Fit::from_bytes(&golden("linear-multiclass")).unwrap();
    fit.model.classes = common::classes(2);
    is_contradiction(&fit.to_bytes().unwrap_err(), "number of scores");
    let mut fit = Fit::from_bytes(&golden("linear-binary")).unwrap();
    fit.model.features.names = Some(vec![]);
    is_contradiction(&fit.to_bytes().unwrap_err(), "number of feature names");
}

/// All that a program does with a model it was given.
fn use_model(fit: &Fit) {
    let model = &fit.model;
    let cols = model.features.count.clamp(1, 100);
    let x: Matrix<'_> =
        Dense::new((0..2 * cols).map(|v| v as f64 / 4.0).collect::<Vec<_>>(), cols).unwrap().into();
    if let (Ok(classes), Ok(scores)) = (model.predict(&x), model.scores(&x)) {
        assert!(classes.iter().all(|&class| (class as usize) < model.classes.len()));
        assert_eq!(scores.len(), 2 * model.body.n_scores());
        let why = model.explain(&x, 1).unwrap();
        assert_eq!(why.scores.len(), model.classes.len());
        (0..model.features.count).for_each(|j| drop(model.features.name(j)));
        if let Some(planes) = model.body.planes() {
            (0..planes.k()).for_each(|c| drop(planes.unit_normal(c)));
        }
        if let Body::Voted(ballots) = &model.body {
            ballots.iter().for_each(|ballot| assert!(ballot.voters() <= 10_000 && ballot.stored() <= 10_000));
        }
    }
    drop(fit.to_bytes());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn flipped_bytes_never_panic(
        which in 0usize..NAMES.len(),
        flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = golden(NAMES[which]);
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(fit) = Fit::from_bytes(&bytes) {
            use_model(&fit);
        }
    }
}
