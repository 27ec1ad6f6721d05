//! Searches: each score is that of a plain fit on the rows that are learned from, whatever is shared on the way.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::ops::ControlFlow;

use common::{Points, noisy};
use rosenblatt::{
    Axis, Dataset, Dense, Family, FeatureMap, Fit, Imputation, Impute, Labels, MapKind, Progress, Range, Rng,
    Rule, Scale, Scaling, Search, Searched, Selection, Space, Status, Strategy, Task, Watch, grouped_folds,
    registry, stratified_folds, weighted_accuracy,
};
use serde_json::{Map, Value, json};

fn map(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn numbers(name: &str, values: &[f64]) -> Axis {
    Axis::new(name, Range::List(values.iter().map(|v| json!(v)).collect()))
}

fn family(algorithm: &str, fixed: &Value, axes: Vec<Axis>) -> Family {
    Family { algorithm: algorithm.to_owned(), fixed: map(fixed), axes }
}

fn selection(found: &Searched) -> &Selection {
    found.fit.report.selection.as_ref().unwrap()
}

/// The accuracy of a fit on some rows, on all others; everything fitted to the former alone. Nothing where it did not converge, for then it is not the only answer.
fn plainly(
    space: &Space,
    algorithm: &str,
    given: &Map<String, Value>,
    data: &Dataset<'_>,
    held: &[usize],
) -> Option<f64> {
    let rest: Vec<usize> = (0..data.n_rows()).filter(|row| !held.contains(row)).collect();
    let (mut train, mut test) = (data.select(&rest), data.select(held));
    if let Some(kind) = space.impute {
        let imputation = Imputation::fit(kind, train.x());
        (train, test) = (train.imputed_by(&imputation).unwrap(), test.imputed_by(&imputation).unwrap());
    }
    if let Some(kind) = space.scale {
        let scaling = Scaling::fit(kind, train.x());
        (train, test) = (train.scaled(&scaling).unwrap(), test.scaled(&scaling).unwrap());
    }
    if let Some(Some(kind)) = space.maps.first() {
        let map = FeatureMap::fit(*kind, &train, 0).unwrap();
        (train, test) = (train.mapped(&map).unwrap(), test.mapped(&map).unwrap());
    }
    let learner = registry::algorithm(algorithm).unwrap().learner(given).unwrap();
    let fit = learner.learn(&Task::new(&train), &mut ()).unwrap();
    (fit.report.status == Status::Converged)
        .then(|| weighted_accuracy(&fit.model.predict(test.x()).unwrap(), &test))
}

/// Every score of a search against a fit of its own.
fn check(space: &Space, data: &Dataset<'_>, precision: f64, case: &str) -> Searched {
    let mut space = space.clone();
    for family in &mut space.families {
        let defaults = registry::algorithm(&family.algorithm).unwrap().defaults();
        for name in ["gap", "tolerance"].into_iter().filter(|name| defaults.contains_key(*name)) {
            family.fixed.insert(name.to_owned(), json!(precision));
        }
    }
    let found = Search { folds: 3, ..Search::default() }.run(&space, data, &mut ()).unwrap();
    let folds = stratified_folds(data.y(), 3, 0);
    let (mut compared, mut all) = (0, 0);
    for cell in &selection(&found).cells {
        assert_eq!(cell.failure, None, "{case}");
        let family = space.families.iter().find(|family| family.algorithm == cell.algorithm).unwrap();
        let mut given = family.fixed.clone();
        given.extend(cell.parameters.clone());
        for (fold, score) in cell.scores.iter().enumerate() {
            let held: Vec<usize> = (0..data.n_rows()).filter(|&row| folds[row] == fold).collect();
            all += 1;
            let Some(expected) = plainly(&space, &cell.algorithm, &given, data, &held) else { continue };
            compared += 1;
            // A row whose score is 0 but for rounding may be on either side.
            let allowed = 1.5 / held.len() as f64;
            let off = (score.unwrap() - expected).abs();
            assert!(off <= allowed, "{case}: {given:?}, fold {fold}: {score:?}, not {expected}");
        }
    }
    assert!(2 * compared >= all, "{case}: only {compared} of {all} converged");
    found
}

#[test]
fn every_score_is_that_of_a_fit_of_its_own() {
    let c = || numbers("c", &[0.05, 0.5, 5.0, 50.0]);
    let cases = [
        ("svm", json!({"gamma": 0.3})),
        ("svm", json!({"gamma": 0.3, "multiclass": "ovr", "bias": "regularized"})),
        ("svm", json!({"gamma": 0.3, "slack": "squared", "bias": "none"})),
        ("svm", json!({"kernel": "poly", "degree": 2, "cache": 20000})),
        ("svm", json!({"kernel": "linear"})),
        (
            "svm",
            json!({"kernel": "laplacian", "gamma": 0.2, "class_weight": {"each": {"c0": 1.3, "c1": 0.9}}}),
        ),
        ("svm", json!({"multiclass": "native", "bias": "none"})),
        ("linear-svm", json!({"solver": "dual"})),
        ("linear-svm", json!({"loss": "squared-hinge", "solver": "dual", "multiclass": "ovo"})),
        ("linear-svm", json!({"loss": "squared-hinge", "bias": "none"})),
        ("logistic", json!({"solver": "dual", "multiclass": "ovr"})),
        ("logistic", json!({})),
        ("crammer-singer", json!({})),
    ];
    for (algorithm, fixed) in cases {
        for k in [2, 3] {
            let points = noisy(k, 150, 4, 7);
            let space = Space::of(vec![family(algorithm, &fixed, vec![c()])]);
            check(&space, &points.data(), 1e-6, &format!("{algorithm} {fixed}, {k} classes"));
        }
    }
}

#[test]
fn precomputed_values_and_weights_of_rows() {
    let points = noisy(2, 60, 3, 3);
    let rows: Vec<f64> = (0..points.x.len())
        .flat_map(|i| points.x.iter().map(|x| common::dot(x, &points.x[i])).collect::<Vec<_>>())
        .collect();
    let labels = Labels::new(points.y.iter().map(|&class| common::label(class)));
    let values = Dataset::new(Dense::new(rows, points.x.len()).unwrap(), &labels).unwrap();
    let search = Search { folds: 3, precision: 1e-6, ..Search::default() };
    let of = |kernel: &str, data: &Dataset<'_>| {
        let family = family("svm", &json!({ "kernel": kernel }), vec![numbers("c", &[0.1, 1.0])]);
        let found = search.run(&Space::of(vec![family]), data, &mut ()).unwrap();
        selection(&found).cells.iter().map(|cell| cell.scores.clone()).collect::<Vec<_>>()
    };
    assert_eq!(of("precomputed", &values), of("linear", &points.data()));
    // A row of weight 0 is in no fold; one of weight 2 counts twice.
    let mut weights = vec![1.0; values.n_rows()];
    (weights[0], weights[1]) = (0.0, 2.0);
    let weighted = points.data().with_weights(weights).unwrap();
    let space = Space::of(vec![family("linear-svm", &json!({}), vec![numbers("c", &[0.1, 1.0])])]);
    let found = search.run(&space, &weighted, &mut ()).unwrap();
    assert!(
        selection(&found).cells.iter().all(|cell| cell
            .scores
            .iter()
            .flatten()
            .all(|s| (0.0..=1.0).contains(s)))
    );
}

/// Equal rows are one to the solver, and in different folds all the same.
#[test]
fn copies_are_left_out_one_by_one() {
    let mut rng = Rng::new(9);
    let mut points = Points { x: Vec::new(), y: Vec::new(), classes: 2 };
    for _ in 0..400 {
        let x: Vec<f64> = (0..2).map(|_| rng.below(5) as f64).collect();
        let class = usize::from(x[0] + x[1] > 4.0) ^ usize::from(rng.below(6) == 0);
        points.push(&x, class);
    }
    let axes = vec![numbers("c", &[0.1, 1.0, 10.0]), numbers("gamma", &[0.1, 1.0])];
    check(&Space::of(vec![family("svm", &json!({}), axes)]), &points.data(), 1e-6, "copies");
}

#[test]
fn what_is_fitted_before_is_fitted_in_each_fold() {
    let points = noisy(2, 90, 3, 5);
    let linear = || vec![family("linear-svm", &json!({}), vec![numbers("c", &[0.1, 10.0])])];
    let curved = || vec![family("svm", &json!({"gamma": 0.5}), vec![numbers("c", &[0.1, 10.0])])];
    for scale in [Scale::Standard, Scale::Minmax, Scale::Maxabs, Scale::Unit] {
        for families in [linear(), curved()] {
            let space = Space { scale: Some(scale), ..Space::of(families) };
            check(&space, &points.data(), 1e-6, scale.name());
        }
    }
    for kind in ["poly:2", "nystroem:20:rbf", "fourier:30:gamma=0.5", "identity"] {
        let kind: MapKind = kind.parse().unwrap();
        let space = Space { maps: vec![Some(kind)], scale: Some(Scale::Standard), ..Space::of(linear()) };
        let found = check(&space, &points.data(), 1e-6, "a map");
        let shown = selection(&found).cells[0].map.clone().unwrap();
        assert!(shown.starts_with(kind.to_string().split(':').next().unwrap()), "{shown}");
    }
}

/// Each group has a column in which its own rows say the opposite of their label, ten times as loud as all other rows say theirs. A scaler that has not seen these rows leaves the column as loud as the others,
/// and they are all wrong, as rows of a new group would be; one that has seen them turns it down, and they are all right.
#[test]
fn a_scaler_that_saw_the_rows_left_out_would_tell_their_labels() {
    let mut rng = Rng::new(2);
    let n = 120;
    let groups: Vec<u32> = (0..n).map(|i| i / 40).collect();
    let y: Vec<u32> = (0..n).map(|_| rng.below(2) as u32).collect();
    let value = |i: usize, column: usize| {
        let sign = 2.0 * f64::from(y[i]) - 1.0;
        if groups[i] as usize == column { -10.0 * sign } else { sign }
    };
    let x: Vec<f64> =
        (0..n as usize).flat_map(|i| (0..4).map(move |c| (i, c))).map(|(i, c)| value(i, c)).collect();
    let labels = Labels::new(y.iter().map(u32::to_string));
    let data = Dataset::new(Dense::new(x, 4).unwrap(), &labels).unwrap();
    let search = Search { folds: 3, groups: Some(groups), ..Search::default() };
    let score = |space: &Space, data: &Dataset<'_>| {
        let found = search.run(space, data, &mut ()).unwrap();
        selection(&found).cells[0].mean.unwrap()
    };
    let families = || vec![family("linear-svm", &json!({"bias": "none", "c": 1e-4}), Vec::new())];
    let honest = score(&Space { scale: Some(Scale::Maxabs), ..Space::of(families()) }, &data);
    let scaling = Scaling::fit(Scale::Maxabs, data.x());
    let leaking = score(&Space::of(families()), &data.clone().scaled(&scaling).unwrap());
    assert_eq!((honest, leaking), (0.0, 1.0));
    // The same by hand.
    let space = Space { scale: Some(Scale::Maxabs), ..Space::of(families()) };
    let held: Vec<usize> = (0..40).collect();
    assert_eq!(
        plainly(&space, "linear-svm", &map(&json!({"bias": "none", "c": 1e-4})), &data, &held),
        Some(0.0)
    );
}

#[test]
fn missing_values_are_filled_in_fold_by_fold() {
    let mut points = noisy(2, 80, 4, 8);
    let mut rng = Rng::new(4);
    points.x.iter_mut().flatten().for_each(|v| {
        if rng.below(5) == 0 {
            *v = f64::NAN;
        }
    });
    let flat: Vec<f64> = points.x.iter().flatten().copied().collect();
    let (classes, y) = Labels::new(points.y.iter().map(|&class| common::label(class))).encode();
    let data = Dataset::with_missing(Dense::new(flat, 4).unwrap(), y, classes).unwrap();
    for kind in [Impute::Mean, Impute::Median, Impute::MostFrequent, Impute::Constant(-1.0)] {
        let families = vec![
            family("linear-svm", &json!({}), vec![numbers("c", &[0.1, 1.0])]),
            family("svm", &json!({}), vec![numbers("c", &[0.1, 1.0])]),
            family("perceptron", &json!({}), Vec::new()),
        ];
        let space = Space { impute: Some(kind), scale: Some(Scale::Standard), ..Space::of(families) };
        let found = check(&space, &data, 1e-6, "missing");
        // The model goes on filling in.
        assert_eq!(found.fit.model.features.filled.as_ref().unwrap().kind, kind);
        let read = Fit::from_bytes(&found.fit.to_bytes().unwrap()).unwrap();
        assert_eq!(read.model.predict(data.x()).unwrap(), found.fit.model.predict(data.x()).unwrap());
    }
    let space = Space::of(vec![family("perceptron", &json!({}), Vec::new())]);
    let error = Search::default().run(&space, &data, &mut ()).unwrap_err().to_string();
    assert!(error.contains("missing"), "{error}");
}

fn on_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
}

#[test]
fn threads_do_not_show() {
    let points = noisy(3, 200, 4, 6);
    let axes = || vec![numbers("c", &[0.1, 1.0, 10.0]), numbers("gamma", &[0.1, 1.0])];
    let families = || {
        vec![
            family("svm", &json!({}), axes()),
            family("linear-svm", &json!({"solver": "dual"}), vec![numbers("c", &[0.1, 1.0, 10.0])]),
            family("averaged-perceptron", &json!({"passes": 3}), Vec::new()),
        ]
    };
    let strategies = [Strategy::Grid, Strategy::Random { draws: 5 }, Strategy::Halving { factor: 2 }];
    for strategy in strategies {
        for cache in [None, Some(30_000)] {
            let mut families = families();
            families[0].fixed.extend(cache.map(|bytes: u64| ("cache".to_owned(), json!(bytes))));
            let space = Space { scale: Some(Scale::Unit), ..Space::of(families) };
            let search = Search { folds: 3, repeats: 2, strategy, nested: Some(2), ..Search::default() };
            let run = |threads| {
                on_threads(threads, || {
                    search.run(&space, &points.data(), &mut ()).unwrap().fit.to_bytes().unwrap()
                })
            };
            assert_eq!(run(1), run(4), "{strategy:?}");
        }
    }
}

#[test]
fn rounds_have_more_rows_and_fewer_candidates() {
    let points = noisy(2, 900, 3, 11);
    let c: Vec<f64> = (0..9).map(|i| 10f64.powi(i - 4)).collect();
    let space = Space::of(vec![family("linear-svm", &json!({}), vec![numbers("c", &c)])]);
    let search = Search { strategy: Strategy::Halving { factor: 3 }, folds: 3, ..Search::default() };
    let found = search.run(&space, &points.data(), &mut ()).unwrap();
    let of = |rows: std::ops::Range<u64>| {
        selection(&found).cells.iter().filter(|cell| rows.contains(&cell.rows)).count()
    };
    // Nine on a ninth of the rows, three on a third, one on all.
    assert_eq!([of(0..200), of(200..500), of(902..903)], [6, 2, 1]);
    assert_eq!(found.fits, 13 * 3);
    assert_eq!(selection(&found).cells[found.chosen()].rows, 902);
}

#[test]
fn groups_are_left_out_together() {
    // Labels belong to groups, of which each has a column: what is learned of one is of no use to others.
    let mut rng = Rng::new(1);
    let groups: Vec<u32> = (0..200).map(|i| i % 20).collect();
    let label: Vec<u32> = (0..20).map(|_| rng.below(2) as u32).collect();
    let x: Vec<f64> =
        groups.iter().flat_map(|&g| (0..20).map(move |c| f64::from(u8::from(c == g)))).collect();
    let labels = Labels::new(groups.iter().map(|&g| label[g as usize].to_string()));
    let data = Dataset::new(Dense::new(x, 20).unwrap(), &labels).unwrap();
    let space = Space::of(vec![family("linear-svm", &json!({}), vec![numbers("c", &[1.0, 10.0])])]);
    let score = |groups: Option<Vec<u32>>| {
        let found = Search { groups, ..Search::default() }.run(&space, &data, &mut ()).unwrap();
        selection(&found).cells[found.chosen()].mean.unwrap()
    };
    assert_eq!(score(None), 1.0);
    assert!(score(Some(groups.clone())) < 0.8);
    assert_eq!(grouped_folds(data.y(), &groups, 5, 0).len(), 200);
    let wrong = Search { groups: Some(vec![0; 3]), ..Search::default() };
    assert!(wrong.run(&space, &data, &mut ()).unwrap_err().to_string().contains("groups"));
}

/// Stops a search after so many looks.
struct After {
    looks: usize,
    searching: bool,
}

impl Watch for After {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn search(&mut self, progress: &Progress) -> ControlFlow<()> {
        assert!(self.searching && progress.visited <= progress.visits);
        self.looks = self.looks.saturating_sub(1);
        if self.looks == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn next(&mut self) {
        self.searching = false;
    }
}

#[test]
fn a_search_that_is_stopped_keeps_the_best_so_far() {
    let points = noisy(2, 120, 4, 2);
    let c: Vec<f64> = (0..20).map(|i| 2f64.powi(i - 10)).collect();
    let space = Space::of(vec![family("linear-svm", &json!({}), vec![numbers("c", &c)])]);
    let search = Search { nested: Some(3), ..Search::default() };
    let mut watch = After { looks: 400, searching: true };
    let found = on_threads(1, || search.run(&space, &points.data(), &mut watch)).unwrap();
    let selection = selection(&found);
    assert!(!selection.complete && selection.nested.is_none());
    let done = selection.cells.iter().filter(|cell| cell.mean.is_some()).count();
    assert!((1..20).contains(&done), "{done}");
    assert!(selection.cells[selection.chosen].mean.is_some());
    // The model is no half-done one.
    assert_eq!(found.fit.report.status, rosenblatt::Status::Converged);
    let error = Search { time_limit: Some(0.0), ..search }.run(&space, &points.data(), &mut ()).unwrap_err();
    assert!(error.to_string().contains("stopped before the first fit"), "{error}");
}

#[test]
fn candidates_that_fail_say_why() {
    let points = noisy(2, 60, 3, 1);
    let families =
        vec![family("hard-margin", &json!({}), Vec::new()), family("linear-svm", &json!({}), Vec::new())];
    let found = Search::default().run(&Space::of(families), &points.data(), &mut ()).unwrap();
    let cells = &selection(&found).cells;
    assert!(cells[0].failure.as_ref().unwrap().contains("no plane separates"));
    assert_eq!((found.chosen(), cells[1].failure.as_ref()), (1, None));
    let alone = Space::of(vec![family("hard-margin", &json!({}), Vec::new())]);
    let error = Search::default().run(&alone, &points.data(), &mut ()).unwrap_err().to_string();
    assert!(error.contains("no candidate could be learned"), "{error}");
}

#[test]
fn slips_are_told_before_anything_is_learned() {
    let points = noisy(2, 60, 3, 1);
    let c = || vec![numbers("c", &[1.0])];
    let run = |search: Search, families: Vec<Family>| {
        search.run(&Space::of(families), &points.data(), &mut ()).unwrap_err().to_string()
    };
    let svm = || vec![family("svm", &json!({}), c())];
    assert!(run(Search::default(), Vec::new()).contains("nothing to search"));
    assert!(run(Search::default(), vec![family("svn", &json!({}), c())]).contains("there is no algorithm"));
    assert!(
        run(Search::default(), vec![family("svm", &json!({}), vec![numbers("c", &[1.0, -1.0])])])
            .contains("c: must be")
    );
    assert!(run(Search { folds: 1, ..Search::default() }, svm()).contains("folds: must be from 2"));
    assert!(run(Search { folds: 1000, ..Search::default() }, svm()).contains("folds"));
    assert!(run(Search { repeats: 0, ..Search::default() }, svm()).contains("repeats"));
    assert!(run(Search { precision: 0.0, ..Search::default() }, svm()).contains("search_gap"));
    assert!(run(Search { nested: Some(1), ..Search::default() }, svm()).contains("folds"));
    assert!(
        run(Search { strategy: Strategy::Halving { factor: 1 }, ..Search::default() }, svm())
            .contains("halving")
    );
    assert!(
        run(Search { strategy: Strategy::Random { draws: 0 }, ..Search::default() }, svm())
            .contains("random")
    );
}

#[test]
fn nested_scores_are_of_rows_that_no_search_has_seen() {
    let points = noisy(2, 150, 4, 12);
    let axes = || vec![numbers("c", &[0.1, 1.0, 10.0]), numbers("gamma", &[0.1, 1.0])];
    let space = Space::of(vec![family("svm", &json!({}), axes())]);
    let search = Search { nested: Some(4), rule: Rule::OneSe, folds: 3, ..Search::default() };
    let found = search.run(&space, &points.data(), &mut ()).unwrap();
    let nested = selection(&found).nested.as_ref().unwrap();
    assert_eq!(nested.outer.len(), 4);
    let mean = nested.outer.iter().map(|outer| outer.score).sum::<f64>() / 4.0;
    assert!((nested.mean - mean).abs() < 1e-12 && nested.error >= 0.0);
    assert!(nested.outer.iter().all(|outer| outer.parameters.contains_key("gamma") && outer.inner > 0.5));
    assert_eq!(found.fits, (6 + 4 * 6) * 3);
}

#[test]
fn searches_are_kept_in_the_model_file() {
    let points = noisy(2, 60, 3, 1);
    let space = Space::of(vec![family("svm", &json!({}), vec![numbers("c", &[0.1, 1.0])])]);
    let found = Search::default().run(&space, &points.data(), &mut ()).unwrap();
    let bytes = found.fit.to_bytes().unwrap();
    assert_eq!(Fit::from_bytes(&bytes).unwrap(), found.fit);
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("\\\"version\\\":8") && text.contains("selection"));
}
