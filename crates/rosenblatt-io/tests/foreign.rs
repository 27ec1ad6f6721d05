//! Models of LIBSVM and LIBLINEAR: read as they decide, written so that they decide the same, refused with a place.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

#[path = "../../../fuzz/foreign.rs"]
mod laws;

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use rosenblatt::{
    Bias, Body, CrammerSinger, Csr, Dataset, Decision, Dense, Fit, KernelName, KernelPerceptron, Labels,
    Learner, LinearSvm, Link, Logistic, Matrix, Multiclass, Penalty, Perceptron, Rng, Scale, Scaling, Svm,
    SvmLoss, Task, Tie, pairs,
};
use rosenblatt_io::{ExportError, ModelFormat, export, parse_model};
use serde_json::json;

fn read(text: &str) -> Fit {
    parse_model(text.as_bytes(), Path::new("a.model")).unwrap()
}

fn refused(text: &str) -> String {
    parse_model(text.as_bytes(), Path::new("a.model")).unwrap_err().to_string()
}

fn written(fit: &Fit, format: ModelFormat) -> String {
    String::from_utf8(export(fit, format).unwrap().bytes).unwrap()
}

fn not_written(fit: &Fit, format: ModelFormat) -> ExportError {
    export(fit, format).unwrap_err()
}

/// The predicted label of each row.
fn labels(fit: &Fit, x: &Matrix<'_>) -> Vec<String> {
    let classes = fit.model.predict(x).unwrap();
    classes.iter().map(|&class| fit.model.classes[class as usize].to_string()).collect()
}

fn dense(values: &[f64], n_cols: usize) -> Matrix<'static> {
    Dense::new(values.to_vec(), n_cols).unwrap().into()
}

fn seed(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/foreign");
    fs::read_to_string(folder.join(name)).unwrap()
}

/// Clouds of some classes, whose labels are 10, 20, …
fn clouds(n_classes: usize, rows: usize, n_cols: usize) -> Dataset<'static> {
    let mut rng = Rng::new(7);
    let mut number = || (rng.bits() >> 40) as f64 / (1u64 << 24) as f64 - 0.5;
    let values: Vec<f64> = (0..rows * n_cols)
        .map(|at| {
            let class = at / n_cols % n_classes;
            1.5 * number() + if at % n_cols % n_classes == class { 1.0 } else { 0.0 }
        })
        .collect();
    let names = (0..rows).map(|row| (10 * (row % n_classes + 1)).to_string());
    Dataset::new(Dense::new(values, n_cols).unwrap(), &Labels::new(names)).unwrap()
}

#[test]
fn two_classes_of_liblinear() {
    let fit = read(&seed("liblinear-binary"));
    assert_eq!(fit.model.scores(&dense(&[2.0, 4.0], 2)).unwrap(), [1.0]); // 0.5·2 − 0.25·4 + 1
    assert_eq!(fit.model.link, Some(Link::Logistic));
    assert_eq!(labels(&fit, &dense(&[0.0, 4.0, 0.0, 3.9], 2)), ["-1", "1"]); // 0 is for the second label
    let parameters = json!({"penalty": "l2", "solver": "newton", "bias": "regularized", "multiclass": "ovr"});
    assert_eq!((fit.report.algorithm.as_str(), &fit.report.parameters), ("logistic", &parameters));
    let objective =
        "LIBLINEAR solver 0 (½‖w‖² + C·Σ log(1 + exp(−y·g))), C not in the file; with -R the bias is free";
    assert_eq!(fit.report.objective, objective);
    assert_eq!((fit.report.rows, fit.report.gap, fit.report.train_accuracy), (0, None, None));
    // With the labels the other way round scores change sign, and 0 is still for the second.
    let turned = read(&seed("liblinear-binary").replace("label 1 -1", "label -1 1"));
    assert_eq!(turned.model.decision, Decision::Sign(Tie::Positive));
    assert_eq!(labels(&turned, &dense(&[0.0, 4.0, 0.0, 3.9], 2)), ["1", "-1"]);
}

#[test]
fn more_classes_of_liblinear() {
    let fit = read(&seed("liblinear-rest"));
    assert_eq!(fit.model.classes.listed(), "3, 1, 2");
    assert_eq!(fit.model.scores(&dense(&[2.0, 1.0], 2)).unwrap(), [2.5, -2.0, 2.0]);
    // Ties go to the label that comes first.
    assert_eq!(labels(&fit, &dense(&[0.0, 0.0, 0.0, 1.0, -1.0, 0.0], 2)), ["3", "2", "1"]);
    let parameters = json!({
        "loss": "squared-hinge", "penalty": "l2", "solver": "dual", "bias": "none", "multiclass": "ovr",
    });
    assert_eq!((fit.report.algorithm.as_str(), &fit.report.parameters), ("linear-svm", &parameters));
}

#[test]
fn crammer_and_singers_two_planes() {
    let fit = read(&seed("liblinear-joint"));
    // Twice the first plane, for −1, whose bias is 2.5·0.1.
    assert_eq!(fit.model.scores(&dense(&[1.0], 1)).unwrap(), [-1.5]);
    assert_eq!(labels(&fit, &dense(&[1.0, -0.5, -1.0], 1)), ["-1", "1", "1"]);
    assert_eq!(
        (fit.report.algorithm.as_str(), &fit.report.parameters),
        ("crammer-singer", &json!({"bias": "regularized", "constant": 2.5}))
    );
    assert!(
        fit.report.objective.ends_with("the bias is 2.5 times the last weight"),
        "{}",
        fit.report.objective
    );
}

/// A bias that LIBLINEAR penalises otherwise than the file says is said to be lost; weights and labels are the same.
#[test]
fn how_a_bias_was_penalised_is_said_to_be_lost() {
    let lost = |text: &str| export(&read(text), ModelFormat::Liblinear).unwrap().lost;
    let joint = seed("liblinear-joint");
    assert!(lost(&joint).iter().any(|what| what.contains("of a constant 2.5")), "{:?}", lost(&joint));
    assert_eq!(lost(&joint.replace("bias 2.5", "bias 1")), [""; 0]);
    let data =
        Dataset::new(Dense::new(vec![1.0, 2.0, 4.0, 5.0], 1).unwrap(), &Labels::new(["1", "1", "2", "2"]));
    let of = |bias| {
        let fit = LinearSvm { bias, ..LinearSvm::default() }.fit(data.as_ref().unwrap(), &mut ()).unwrap();
        let lost = export(&fit, ModelFormat::Liblinear).unwrap().lost;
        lost.iter().any(|what| what.contains("the bias was not penalised"))
    };
    assert!(of(Bias::Free));
    assert!(!of(Bias::Regularized) && !of(Bias::None));
}

#[test]
fn two_classes_of_libsvm() {
    let fit = read(&seed("libsvm-binary"));
    let expected = (-0.5f64 * 5.0).exp() - (-0.5f64 * 0.25).exp() - 0.25;
    let scores = fit.model.scores(&dense(&[0.0, 0.0], 2)).unwrap();
    assert!((scores[0] - expected).abs() < 1e-6, "{scores:?} {expected}");
    let parameters =
        json!({"kernel": "rbf", "gamma": 0.5, "slack": "linear", "bias": "free", "multiclass": "ovo"});
    assert_eq!((fit.report.algorithm.as_str(), &fit.report.parameters), ("svm", &parameters));
    assert_eq!(fit.model.link, None); // of probA nothing is claimed
    let turned = read(&seed("libsvm-binary").replace("label 1 -1", "label -1 1"));
    assert_eq!(turned.model.scores(&dense(&[0.0, 0.0], 2)).unwrap(), [-scores[0]]);
}

#[test]
fn pairs_of_libsvm() {
    let fit = read(&seed("libsvm-pairs"));
    assert_eq!((fit.model.classes.listed().as_str(), fit.model.decision), ("2, 0, 1", Decision::Votes));
    // At (0, 0) every kernel value is 0.25; LIBSVM's decision values are Σ coefficients/4 − rho.
    let (one, two, three) = (0.0 / 4.0 - 0.1, 0.0 / 4.0 + 0.2, 0.0 / 4.0 - 0.3);
    let scores = fit.model.scores(&dense(&[0.0, 0.0], 2)).unwrap();
    for (score, theirs) in scores.iter().zip([one, two, three]) {
        assert!((score + theirs).abs() < 1e-7, "{scores:?}");
    }
    // Votes for 0, 2 and 1: the label that comes first has it.
    assert_eq!(labels(&fit, &dense(&[0.0, 0.0], 2)), ["2"]);
    assert_eq!(fit.report.objective.split(", ").next(), Some("LIBSVM nu_svc (½‖w‖² + Σ (max(0"));
}

#[test]
fn rows_of_a_precomputed_kernel_are_met_by_number() {
    let fit = read(&seed("libsvm-precomputed"));
    assert_eq!(fit.model.scores(&dense(&[3.0, 0.0, 0.0, 0.5], 4)).unwrap(), [2.5]);
    // Training rows that are no support vectors have columns, too.
    assert_eq!(fit.model.scores(&dense(&[3.0, 0.0, 0.0, 0.5, 7.0], 5)).unwrap(), [2.5]);
}

#[test]
fn features_that_no_model_knows() {
    let wide = Csr::new(vec![0, 2], vec![0, 9], vec![2.0, 1.0], 10).unwrap().into();
    assert_eq!(read(&seed("liblinear-binary")).model.scores(&wide).unwrap(), [2.0]);
    // They make distances longer.
    let score = read(&seed("libsvm-binary")).model.scores(&wide).unwrap()[0];
    let expected = (-0.5f64 * (1.0 + 4.0 + 1.0)).exp() - (-0.5f64 * (4.0 + 0.25 + 1.0)).exp() - 0.25;
    assert!((score - expected).abs() < 1e-6, "{score} {expected}");
}

#[test]
fn seeds_read_and_written_are_the_same_files() {
    for name in ["liblinear-binary", "liblinear-rest", "libsvm-precomputed", "libsvm-sigmoid"] {
        let text = seed(name);
        assert_eq!(written(&read(&text), ModelFormat::of(text.as_bytes())), text, "{name}");
    }
    let text = seed("libsvm-pairs");
    assert_eq!(written(&read(&text), ModelFormat::Libsvm), text.replace("nu_svc", "c_svc"));
    let text = seed("libsvm-binary");
    assert_eq!(written(&read(&text), ModelFormat::Libsvm), text.replace("probA -1\nprobB 0\n", ""));
    let joint = written(&read(&seed("liblinear-joint")), ModelFormat::Liblinear);
    assert_eq!(
        joint,
        seed("liblinear-joint").replace("bias 2.5", "bias 1").replace("0.1 -0.1", "0.25 -0.25")
    );
}

/// What is written and read back has the same scores, bit by bit; binary ones may have been read with the sign turned.
fn goes_around(fit: &Fit, data: &Dataset<'_>, format: ModelFormat) {
    let again = read(&written(fit, format));
    assert_eq!(labels(&again, data.x()), labels(fit, data.x()));
    let (ours, theirs) = (fit.model.scores(data.x()).unwrap(), again.model.scores(data.x()).unwrap());
    if fit.model.decision.pair_tie().is_none() {
        assert_eq!(ours, theirs);
    }
    assert_eq!(written(&again, format), written(fit, format));
}

#[test]
fn planes_go_around() {
    for (n_classes, n_cols) in [(2, 3), (4, 5)] {
        let data = clouds(n_classes, 60, n_cols);
        let fits = [
            LinearSvm::default().fit(&data, &mut ()),
            LinearSvm { bias: Bias::None, loss: SvmLoss::SquaredHinge, ..LinearSvm::default() }
                .fit(&data, &mut ()),
            Logistic { multiclass: Multiclass::Ovr, ..Logistic::default() }.fit(&data, &mut ()),
            Logistic { multiclass: Multiclass::Ovr, penalty: Penalty::L1, ..Logistic::default() }
                .fit(&data, &mut ()),
            CrammerSinger::default().fit(&data, &mut ()),
            Perceptron::averaged().fit(&data, &mut ()),
        ];
        for fit in fits {
            let fit = fit.unwrap();
            goes_around(&fit, &data, ModelFormat::Liblinear);
            let again = read(&written(&fit, ModelFormat::Liblinear));
            let probable = |fit: &Fit| fit.model.link.is_some();
            assert_eq!(probable(&again), probable(&fit), "{}", fit.report.algorithm);
            let known = ["linear-svm", "logistic", "crammer-singer"].contains(&fit.report.algorithm.as_str());
            assert!(!known || again.report.algorithm == fit.report.algorithm, "{}", again.report.algorithm);
        }
    }
}

#[test]
fn machines_go_around() {
    let kernels = [KernelName::Linear, KernelName::Poly, KernelName::Rbf, KernelName::Sigmoid];
    for (kernel, n_classes) in kernels.into_iter().flat_map(|kernel| [(kernel, 2), (kernel, 4)]) {
        let data = clouds(n_classes, 60, 4);
        let svm = Svm { kernel, gamma: (kernel != KernelName::Linear).then_some(0.25), ..Svm::default() };
        let fit = svm.fit(&data, &mut ()).unwrap();
        let again = read(&written(&fit, ModelFormat::Libsvm));
        let (Body::Kernel(ours), Body::Kernel(theirs)) = (&fit.model.body, &again.model.body) else {
            panic!()
        };
        assert_eq!(ours.kernel(), theirs.kernel());
        if n_classes == 2 {
            assert_eq!(fit.model.decision, again.model.decision);
            assert_eq!(ours.offsets(), theirs.offsets());
        }
        let (x, classes) = (data.x(), fit.model.classes.len());
        let of_pairs = |fit: &Fit| fit.model.scores(x).unwrap();
        let (mine, others) = (of_pairs(&fit), of_pairs(&again));
        // Sums in another order, classes from the last to the first.
        let pairs = pairs(classes);
        let place =
            |(a, b)| pairs.iter().position(|&pair| pair == (classes - 1 - b, classes - 1 - a)).unwrap();
        for (mine, others) in mine.chunks(pairs.len()).zip(others.chunks(pairs.len())) {
            for (&pair, mine) in pairs.iter().zip(mine) {
                let other = if classes == 2 { others[0] } else { -others[place(pair)] };
                // Near a boundary theirs are double precision.
                assert!((mine - other).abs() < 1e-5 * (1.0 + mine.abs()), "{mine} {other}");
            }
        }
        assert_eq!(written(&again, ModelFormat::Libsvm), written(&fit, ModelFormat::Libsvm));
    }
}

#[test]
fn equal_rows_of_two_classes_are_two_support_vectors() {
    let x = dense(&[0.0, 0.0, 1.0, -1.0, 2.0, -2.0], 1);
    let data = Dataset::new(x, &Labels::new(["1", "2", "1", "2", "3", "3"])).unwrap();
    let svm = Svm { gamma: Some(1.0), ..Svm::default() }.fit(&data, &mut ()).unwrap();
    let text = written(&svm, ModelFormat::Libsvm);
    assert!(text.contains("label 3 2 1\n"), "{text}");
    let again = read(&text);
    assert_eq!(labels(&again, data.x()), labels(&svm, data.x()));
}

#[test]
fn kernel_perceptrons_are_machines() {
    let data = clouds(2, 40, 3);
    for bias in [Bias::None, Bias::Free] {
        let learner = KernelPerceptron { bias, gamma: Some(0.5), ..KernelPerceptron::default() };
        let fit = learner.fit(&data, &mut ()).unwrap();
        let again = read(&written(&fit, ModelFormat::Libsvm));
        assert_eq!(labels(&again, data.x()), labels(&fit, data.x()));
    }
}

#[test]
fn scaling_is_folded_into_planes() {
    let data = clouds(3, 60, 4);
    for kind in [Scale::Standard, Scale::Minmax, Scale::Maxabs] {
        let scaling = Scaling::fit(kind, data.x());
        let scaled = data.clone().scaled(&scaling).unwrap();
        let task = Task { scaling: Some(&scaling), ..Task::new(&scaled) };
        let fit = LinearSvm::default().learn(&task, &mut ()).unwrap();
        let again = read(&written(&fit, ModelFormat::Liblinear));
        assert_eq!(labels(&again, data.x()), labels(&fit, data.x()));
        for (a, b) in fit.model.scores(data.x()).unwrap().iter().zip(again.model.scores(data.x()).unwrap()) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }
}

#[test]
fn what_is_lost_is_told() {
    let data = clouds(3, 30, 3);
    let free = "that the bias was not penalised: in LIBLINEAR it is a weight like any other";
    let fit = Logistic::default().fit(&data, &mut ()).unwrap();
    assert_eq!(
        export(&fit, ModelFormat::Liblinear).unwrap().lost,
        ["report and parameters", free, "probabilities"]
    );
    let fit = Svm::default().fit(&data, &mut ()).unwrap();
    let lost = export(&fit, ModelFormat::Libsvm).unwrap().lost;
    assert!(lost.len() == 2 && lost[1].contains("tie-breakers"), "{lost:?}");
    assert!(export(&fit, ModelFormat::Json).unwrap().lost.is_empty());
    let named = data.with_names(vec!["a".into(), "b".into(), "c".into()]).unwrap();
    let fit = LinearSvm::default().fit(&named, &mut ()).unwrap();
    assert_eq!(
        export(&fit, ModelFormat::Liblinear).unwrap().lost,
        ["report and parameters", "names of features", free]
    );
    assert!(export(&read(&seed("liblinear-binary")), ModelFormat::Rosenblatt).unwrap().lost.is_empty());
}

#[test]
fn what_a_format_does_not_have_is_refused() {
    let data = clouds(3, 30, 3);
    let refused = |fit: Fit, format, what: &str| {
        let error = not_written(&fit, format);
        assert!(error.problem.contains(what), "{error}");
        assert!(error.hint.is_some(), "{error}");
    };
    let (linear, kernel) = (ModelFormat::Liblinear, ModelFormat::Libsvm);
    let pairs =
        LinearSvm { multiclass: Multiclass::Ovo, ..LinearSvm::default() }.fit(&data, &mut ()).unwrap();
    refused(pairs.clone(), linear, "each pair of classes");
    refused(pairs, kernel, "this model has planes");
    refused(Perceptron::voted().fit(&data, &mut ()).unwrap(), linear, "a vote of many");
    refused(Svm::default().fit(&data, &mut ()).unwrap(), linear, "has a kernel");
    let rest = Svm { multiclass: Multiclass::Ovr, ..Svm::default() };
    refused(rest.fit(&data, &mut ()).unwrap(), kernel, "one a class");
    let laplacian = Svm { kernel: KernelName::Laplacian, ..Svm::default() };
    refused(laplacian.fit(&data, &mut ()).unwrap(), kernel, "linear, poly, rbf, sigmoid and precomputed");
    let named =
        Dataset::new(data.x().clone(), &Labels::new((0..30).map(|i| ["a", "b", "c"][i % 3]))).unwrap();
    let fit = LinearSvm::default().fit(&named, &mut ()).unwrap();
    refused(fit, linear, "the classes are a, b, c");
    let scaling = Scaling::fit(Scale::Unit, data.x());
    let scaled = data.clone().scaled(&scaling).unwrap();
    let task = Task { scaling: Some(&scaling), ..Task::new(&scaled) };
    refused(LinearSvm::default().learn(&task, &mut ()).unwrap(), linear, "unit length");
    refused(Svm::default().learn(&task, &mut ()).unwrap(), kernel, "stores no scaling");
}

#[test]
fn broken_files_are_refused_with_their_place() {
    let linear = |from: &str, to: &str| refused(&seed("liblinear-binary").replacen(from, to, 1));
    let kernel = |from: &str, to: &str| refused(&seed("libsvm-binary").replacen(from, to, 1));
    let cases = [
        (
            linear("L2R_LR", "L2R_L2LOSS_SVR"),
            "line 1: expected a classifier, solver 0 to 7, found \"L2R_L2LOSS_SVR\" (regression)",
        ),
        (
            linear("nr_class 2", "nr_class two"),
            "line 2: nr_class: expected a whole number from 1, found \"two\"",
        ),
        (linear("nr_class 2", "nr_class 3"), "line 3: label: expected 3 numbers, found 2"),
        (linear("1 -1", "1 1"), "line 3: label: 1 is there twice"),
        (linear("1 -1", "1 a"), "line 3: label: expected a whole number, found \"a\""),
        (
            linear("nr_feature 2", "nr_feature 2147483647"),
            "line 9: expected the weights of feature 4 of 2147483647, found the end of the file",
        ),
        (linear("nr_feature 2", "nr_feature 1"), "line 9: expected the end after the weights, found \"1 \""),
        (linear("nr_feature 2\n", ""), "line 5: expected a line \"nr_feature\" above, found none"),
        (
            linear("bias 1", "offset 1"),
            "line 5: expected solver_type, nr_class, label, nr_feature, bias, rho or w, found \"offset\"",
        ),
        (linear("bias 1", "label 1"), "line 5: label is there twice"),
        (linear("0.5 ", "0.5 0.5"), "line 7: weights of a feature: expected 1 numbers, found 2"),
        (linear("0.5 ", "nan"), "line 7: expected a finite number, found \"nan\""),
        (
            linear("w\n", "\n"),
            "line 7: expected solver_type, nr_class, label, nr_feature, bias, rho or w, found \"0.5\"",
        ),
        (kernel("c_svc", "one_class"), "line 1: expected a classifier, c_svc or nu_svc, found \"one_class\""),
        (
            kernel("rbf", "laplace"),
            "line 2: expected linear, polynomial, rbf, sigmoid or precomputed, found \"laplace\"",
        ),
        (
            kernel("gamma 0.5", "gamma 0"),
            "line 2: the model contradicts itself: kernel: gamma: must be more than 0, and a number of single precision",
        ),
        (kernel("rho 0.25", "rho 1 2"), "line 6: rho: expected 1 numbers, found 2"),
        (kernel("nr_sv 1 1", "nr_sv 2 1"), "line 10: expected numbers of sum 2 (total_sv), found sum 3"),
        (
            kernel("total_sv 2", "total_sv 1000000000"),
            "line 10: expected numbers of sum 1000000000 (total_sv), found sum 2",
        ),
        (kernel("1 1:1", "1 0:1"), "line 12: expected a whole number from 1, found \"0\""),
        (kernel("1:1 2:2", "2:1 2:2"), "line 12: index 2: expected ascending indices"),
        (kernel("1:1 2:2", "1:1 2"), "line 12: expected index:value, found \"2\""),
        (kernel("1:1", "1:1e200"), "line 2: the model contradicts itself: stored rows"),
        (kernel("-1 2:0.5 \n", ""), "line 12: expected support vector 2 of 2, found the end of the file"),
    ];
    for (message, expected) in cases {
        assert!(message.starts_with(&format!("a.model, {expected}")), "{message}");
    }
    assert!(parse_model(b"svm_type \xff", Path::new("a")).unwrap_err().to_string().contains("expected text"));
}

#[test]
fn huge_claims_take_no_memory() {
    let classes = 60_000;
    let labels: Vec<String> = (0..classes).map(|c| c.to_string()).collect();
    let text = format!(
        "svm_type c_svc\nkernel_type linear\nnr_class {classes}\ntotal_sv 1\nrho 0\nlabel {}\nnr_sv 1\nSV\n",
        labels.join(" ")
    );
    assert!(refused(&text).contains("rho: expected 1799970000 numbers, found 1"));
    let rho = ["0"; 499_500].join(" ");
    let labels = labels[..1000].join(" ");
    let counts = ["1000000"; 1000].join(" ");
    let text = format!(
        "svm_type c_svc\nkernel_type linear\nnr_class 1000\ntotal_sv 1000000000\nrho {rho}\nlabel {labels}\nnr_sv {counts}\nSV\n"
    );
    assert!(refused(&text).contains("take too much memory"));
}

#[test]
fn seeds_obey_the_laws() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/foreign");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert!(laws::foreign(&fs::read(&path).unwrap()), "{}", path.display());
    }
}

proptest! {
    #[test]
    fn any_damage_is_read_or_refused(name in prop::sample::select(vec!["liblinear-binary", "liblinear-rest", "liblinear-joint", "libsvm-binary", "libsvm-pairs", "libsvm-precomputed"]),
        at in any::<prop::sample::Index>(), bytes in prop::sample::select(vec!["", "0", "-", "9", " ", "\n", "1:1 ", "e5", "w", "2147483648", "\u{fffd}", "SV\n", "-0 "]), cut in 0usize..4) {
        let mut text = seed(name).into_bytes();
        let at = at.index(text.len());
        text.splice(at..(at + cut).min(text.len()), bytes.bytes());
        laws::foreign(&text);
    }

    #[test]
    fn weights_go_around(weights in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::ZERO, 3..4), bias in prop::num::f64::NORMAL) {
        let text = format!("solver_type L2R_LR\nnr_class 3\nlabel 5 -7 6\nnr_feature 1\nbias 1\nw\n{:?} {:?} {:?}\n{bias:?} 0 1e-300\n", weights[0], weights[1], weights[2]);
        let fit = read(&text);
        let again = read(&written(&fit, ModelFormat::Liblinear));
        prop_assert_eq!(again, fit);
    }
}
