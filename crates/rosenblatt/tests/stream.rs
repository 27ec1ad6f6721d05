//! Examples one at a time, classes and features appearing as they like.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::{Points, classes, for_each_online_case, label, noisy, online_cases};
use rosenblatt::{
    Arow, Bias, Body, DataError, Decision, Example, Learner, Multiclass, Perceptron, Planes, Stream, Tie,
    Winnow,
};
use serde_json::{Value, json};

fn perceptron(multiclass: Multiclass) -> Perceptron {
    Perceptron { bias: Bias::None, tie: Tie::Mistake, multiclass, ..Perceptron::default() }
}

/// Makes a class known without learning from an example.
fn admit(stream: &mut Stream, label: &str) {
    let updated = stream.update_weighted(Example::Dense(&[1.0]), label, 0.0).unwrap();
    assert!(!updated);
}

fn normals(stream: &Stream) -> Vec<Vec<f64>> {
    let planes = stream.model().body.planes().unwrap();
    (0..planes.k()).map(|c| planes.normal(c)).collect()
}

#[test]
fn the_second_class_may_sort_first() {
    for scheme in [Multiclass::Native, Multiclass::Ovr, Multiclass::Ovo] {
        for (second, expected) in [("z", [-2.0, -1.0]), ("a", [2.0, 1.0])] {
            let mut stream = perceptron(scheme).stream().unwrap();
            stream.update(Example::Dense(&[2.0, 1.0]), "m").unwrap();
            assert_eq!(normals(&stream), [[-2.0, -1.0]], "alone it is the first class, −1");
            admit(&mut stream, second);
            assert_eq!(normals(&stream), [expected], "{scheme:?} {second}");
            assert_eq!(stream.model().decision, Decision::Sign(Tie::Mistake));
            assert_eq!(stream.predict(Example::Dense(&[2.0, 1.0])).unwrap().to_string(), "m");
        }
    }
}

#[test]
fn the_third_class_starts_at_zero() {
    let zero = [0.0, 0.0];
    let (plus, minus) = ([3.0, -1.0], [-3.0, 1.0]);
    for (third, at) in [("a", 0), ("f", 1), ("z", 2)] {
        let stream = |scheme| {
            let mut stream = perceptron(scheme).stream().unwrap();
            admit(&mut stream, "e");
            stream.update(Example::Dense(&[3.0, -1.0]), "g").unwrap();
            assert_eq!(normals(&stream), [plus]);
            admit(&mut stream, third);
            stream
        };
        let mut planes = vec![minus, plus];
        planes.insert(at, zero);
        let native = stream(Multiclass::Native);
        assert_eq!((normals(&native), native.model().decision), (to_vecs(&planes), Decision::Highest));
        let ovr = stream(Multiclass::Ovr);
        assert_eq!((normals(&ovr), ovr.model().decision), (to_vecs(&planes), Decision::Highest));
        // The pair of the two old classes is where their order puts it; pairs with the new one are fresh.
        let mut pairs = vec![zero; 3];
        pairs[[2, 1, 0][at]] = plus;
        let ovo = stream(Multiclass::Ovo);
        assert_eq!(
            (normals(&ovo), ovo.model().decision),
            (to_vecs(&pairs), Decision::Pairs(rosenblatt::Tie::Mistake))
        );
    }
}

fn to_vecs(planes: &[[f64; 2]]) -> Vec<Vec<f64>> {
    planes.iter().map(|plane| plane.to_vec()).collect()
}

#[test]
fn later_classes_leave_the_others_alone() {
    for scheme in [Multiclass::Native, Multiclass::Ovr, Multiclass::Ovo] {
        let points = noisy(4, 40, 3, 5);
        let mut stream = perceptron(scheme).stream().unwrap();
        for (x, y) in points.x.iter().zip(&points.y) {
            stream.update(Example::Dense(x), &label(*y)).unwrap();
        }
        let before = normals(&stream);
        admit(&mut stream, "c1½"); // between c1 and c2
        let after = normals(&stream);
        let zero = vec![0.0; 3];
        let old = |class: usize| (class != 2).then(|| class - usize::from(class > 2));
        if scheme == Multiclass::Ovo {
            for (pair, plane) in rosenblatt::pairs(5).into_iter().zip(&after) {
                let known = old(pair.0).zip(old(pair.1));
                let at = known.map(|known| rosenblatt::pairs(4).iter().position(|&p| p == known).unwrap());
                assert_eq!(plane, at.map_or(&zero, |at| &before[at]));
            }
        } else {
            let expected: Vec<_> = (0..5).map(|c| old(c).map_or(&zero, |c| &before[c])).collect();
            assert_eq!(after.iter().collect::<Vec<_>>(), expected);
        }
    }
}

/// Old classes keep their predictions when a class appears that sorts last. Not so under Winnow, whose fresh weights are
/// not zero, nor where votes are reduced: a vote cast on a tie goes the same way in both mirror images.
#[test]
fn a_new_last_class_changes_no_prediction() {
    let mirrored = |case: &&common::Case| {
        let name = case.name();
        !name.contains(r#""balanced":false"#) && !name.contains("voted")
    };
    for case in online_cases().iter().filter(mirrored) {
        let points = noisy(2, 40, 4, 3);
        let mut stream = case.learner(&json!({})).stream().unwrap();
        for (x, y) in points.x.iter().zip(&points.y) {
            stream.update(Example::Dense(x), &label(*y)).unwrap();
        }
        let x = points.dense::<f64>();
        let (model, scores) = (stream.model(), stream.model().scores(&x).unwrap());
        admit(&mut stream, "z");
        let grown = stream.model();
        let (old, new) = (model.predict(&x).unwrap(), grown.predict(&x).unwrap());
        for (i, score) in scores.iter().enumerate().filter(|(_, score)| **score != 0.0) {
            assert_eq!(old[i], new[i], "{}: {score}", case.name());
        }
        assert_eq!(grown.classes.listed(), "c0, c1, z");
    }
}

#[test]
fn new_classes_are_learned() {
    for case in online_cases().iter().filter(|case| !case.name().contains(r#""bias":"none""#)) {
        let mut stream = case.learner(&json!({})).stream().unwrap();
        let corners =
            [[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0], [0.0, 0.0, 0.0, 2.0]];
        for k in 1..=4 {
            // Averages and votes remember the time before a class appeared, and outgrow it.
            for _ in 0..if k < 4 { 40 } else { 400 } {
                for (c, x) in corners[..k].iter().enumerate().rev() {
                    stream.update(Example::Dense(x), &label(3 - c)).unwrap();
                }
            }
        }
        for (c, x) in corners.iter().enumerate() {
            assert_eq!(
                stream.predict(Example::Dense(x)).unwrap().to_string(),
                label(3 - c),
                "{}",
                case.name()
            );
        }
    }
}

/// A row without its last zeros, in one of the four forms.
fn feed(stream: &mut Stream, form: usize, row: &[f64], label: &str) {
    let width = row.iter().rposition(|&v| v != 0.0).map_or(1, |last| last + 1);
    let single: Vec<f32> = row.iter().map(|&v| v as f32).collect();
    let columns: Vec<u32> = (0..width as u32).filter(|&j| row[j as usize] != 0.0).collect();
    let values: Vec<f64> = columns.iter().map(|&j| row[j as usize]).collect();
    let singles: Vec<f32> = columns.iter().map(|&j| single[j as usize]).collect();
    match form % 4 {
        0 => stream.update(Example::Dense(&row[..width]), label),
        1 => stream.update(Example::Sparse(&columns, &singles), label),
        2 => stream.update(Example::Dense(&single[..width]), label),
        _ => stream.update(Example::Sparse(&columns, &values), label),
    }
    .unwrap();
}

/// Features start out as if they had always been there, and the form of an example does not matter.
#[test]
fn late_features_are_known_features() {
    for_each_online_case(|case, points, what| {
        if what.contains("random") {
            return; // the start is drawn for the features known then
        }
        // θ depends on the number of features unless it is given.
        let given: Value = if what.contains("winnow") { json!({"threshold": 2.0}) } else { json!({}) };
        let learner = case.learner(&given);
        let mut late = learner.stream_with(classes(points.classes), 0).unwrap();
        let mut known = learner.stream_with(classes(points.classes), points.cols()).unwrap();
        for pass in 0..3 {
            for (i, (x, &y)) in points.x.iter().zip(&points.y).enumerate() {
                feed(&mut late, i + pass, x, &label(y));
                known.update(Example::Dense(x), &label(y)).unwrap();
            }
        }
        let (late, known) = (late.model(), known.model());
        assert_eq!(late.body.planes(), known.body.planes(), "{what}");
        assert_eq!(late.features, known.features, "{what}");
        let x = points.sparse::<f32>();
        assert_eq!(late.scores(&x), known.scores(&x), "{what}");
        if let Body::Linear(_) = late.body {
            assert_eq!(late, known, "{what}");
        }
    });
}

#[test]
fn fresh_features_start_as_the_learner_starts() {
    let mut winnow = Winnow::default().stream_with(classes(2), 1).unwrap();
    winnow.update_weighted(Example::Sparse(&[3], &[1.0]), "c0", 0.0).unwrap();
    let expected = Planes::from_parts(vec![1.0; 4], vec![-2.0], false).unwrap(); // θ = 4/2
    assert_eq!(winnow.model().body, Body::Linear(expected));
    let mut arow = Arow::default().stream_with(classes(2), 1).unwrap();
    arow.update(Example::Dense(&[1.0]), "c1").unwrap();
    // w = (⅓), b = ⅓, Σ = ⅔ both; the new feature comes with variance 1: margin ⅓, xᵀΣx = 4 + ⅔.
    arow.update(Example::Sparse(&[1], &[2.0]), "c1").unwrap();
    let (loss, beta) = (2.0 / 3.0, 1.0 / (4.0 + 2.0 / 3.0 + 1.0));
    let planes = arow.model().body.planes().unwrap();
    common::assert_close(&planes.normal(0), &[1.0 / 3.0, 2.0 * loss * beta], "arow");
    common::assert_close(planes.bias(), &[1.0 / 3.0 + loss * beta * 2.0 / 3.0], "arow");
}

#[test]
fn counters_count() {
    let mut stream = Perceptron { bias: Bias::None, ..Perceptron::default() }.stream().unwrap();
    let counts = |stream: &Stream| (stream.seen(), stream.mistakes(), stream.updates());
    assert!(!stream.update(Example::Dense(&[1.0]), "-1").unwrap());
    assert_eq!(counts(&stream), (1, 0, 0));
    assert!(stream.update(Example::Dense(&[1.0]), "+1").unwrap());
    assert!(!stream.update(Example::Dense(&[2.0]), "1.0").unwrap());
    assert_eq!(counts(&stream), (3, 1, 1));
    assert!(stream.update_weighted(Example::Dense(&[1.0]), "-1", 3.0).unwrap());
    // g = 1, a mistake; g = 0, right.
    assert_eq!(counts(&stream), (4, 2, 2));
    assert_eq!(stream.model().classes.listed(), "-1, 1");
}

#[test]
fn errors_change_nothing() {
    for case in online_cases() {
        let mut stream = case.learner(&json!({})).stream().unwrap();
        assert_eq!(stream.predict(Example::Dense(&[1.0])).unwrap_err(), DataError::NoRows);
        let model = stream.model();
        assert_eq!((model.classes.len(), model.features.count), (0, 0), "{}", case.name());
        assert!(stream.update(Example::Dense::<f64>(&[]), "a").is_err());
        assert!(stream.update(Example::Dense(&[f32::NAN]), "a").is_err());
        assert!(stream.update(Example::Sparse(&[1, 1], &[1.0, 1.0]), "a").is_err());
        assert!(stream.update(Example::Sparse(&[1], &[1.0, 1.0]), "a").is_err());
        for weight in [-1.0, f64::NAN, f64::INFINITY, 1e7] {
            assert!(stream.update_weighted(Example::Dense(&[1.0]), "a", weight).is_err());
        }
        assert_eq!(stream.model(), model, "{}", case.name());
        assert_eq!((stream.seen(), stream.updates(), stream.mistakes()), (0, 0, 0));
        // Features never learned from weigh nothing: a stream can be tested before it is taught.
        stream.update(Example::Dense(&[1.0]), "a").unwrap();
        let known = stream.predict(Example::Dense(&[1.0])).unwrap();
        assert_eq!(stream.predict(Example::Dense(&[1.0, 2.0])).unwrap(), known);
        assert_eq!(stream.predict(Example::Sparse(&[0, 7], &[1.0, 2.0])).unwrap(), known);
    }
}

#[test]
fn one_class_is_all_there_is_to_predict() {
    for case in online_cases() {
        let mut stream = case.learner(&json!({})).stream().unwrap();
        stream.update(Example::Dense(&[1.0, 2.0]), "only").unwrap();
        let model = stream.model();
        for x in [[5.0, 5.0], [-5.0, -5.0], [0.0, 0.0]] {
            let points = Points { x: vec![x.to_vec()], y: vec![0], classes: 1 };
            assert_eq!(stream.predict(Example::Dense(&x)).unwrap().to_string(), "only");
            assert_eq!(model.predict(&points.dense::<f64>()).unwrap(), [0], "{}", case.name());
            let why = model.explain(&points.dense::<f32>(), 0).unwrap();
            assert_eq!((why.predicted, why.scores.len()), (0, 1));
        }
        let fit = rosenblatt::Fit { model, report: rosenblatt::Report::default() };
        assert_eq!(rosenblatt::Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap(), fit, "{}", case.name());
    }
}
