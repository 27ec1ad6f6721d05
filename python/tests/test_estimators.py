"""Parameters and attributes, against scikit-learn's where it has such an estimator."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import linear_model, svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import rosenblatt
from estimators import classifiers

#: Methods that come near the optimum slowly.
TAUGHT = (rosenblatt.PegasosSVC, rosenblatt.SubgradientSVC)

IRIS = load_iris(return_X_y=True)
CANCER = StandardScaler().fit_transform(load_breast_cancer().data), load_breast_cancer().target


@pytest.mark.parametrize("data", [IRIS, CANCER], ids=["iris", "cancer"])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_svc_is_scikit_learns(data, kernel):
    X, y = data
    theirs = svm.SVC(kernel=kernel, gamma=0.05, coef0=0.5, tol=1e-6).fit(X, y)
    ours = rosenblatt.SVC(kernel=kernel, gamma=0.05, coef0=0.5, tol=1e-6).fit(X, y)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-3)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-2)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.99
    if kernel == "rbf":
        assert_array_equal(ours.support_, theirs.support_)
        assert_array_equal(ours.n_support_, theirs.n_support_)
        assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=2e-3)
        assert_allclose(ours.support_vectors_, theirs.support_vectors_)
    if kernel == "linear":
        assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)


def test_pairs_have_scikit_learns_signs():
    X, y = IRIS
    theirs = svm.SVC(gamma=0.05, decision_function_shape="ovo", tol=1e-6).fit(X, y)
    ours = rosenblatt.SVC(gamma=0.05, decision_function_shape="ovo", tol=1e-6).fit(X, y)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=5e-3)


def test_nu_svc_is_scikit_learns():
    X, y = CANCER
    theirs = svm.NuSVC(nu=0.2, gamma=0.05, tol=1e-6).fit(X, y)
    ours = rosenblatt.NuSVC(nu=0.2, gamma=0.05, tol=1e-6).fit(X, y)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-2)


def test_linear_svc_with_a_regularized_intercept_is_scikit_learns():
    X, y = CANCER
    theirs = svm.LinearSVC(tol=1e-8, max_iter=100_000).fit(X, y)
    ours = rosenblatt.LinearSVC(tol=1e-8, bias="regularized").fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)


@pytest.mark.parametrize("data", [IRIS, CANCER], ids=["iris", "cancer"])
def test_logistic_regression_is_scikit_learns(data):
    X, y = data
    theirs = linear_model.LogisticRegression(tol=1e-10, max_iter=10_000).fit(X, y)
    ours = rosenblatt.LogisticRegression(tol=1e-10).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


def test_l1_makes_weights_zero():
    X, y = CANCER
    ours = rosenblatt.LogisticRegression(l1_ratio=1, C=0.1).fit(X, y)
    assert 0 < np.sum(ours.coef_ != 0) < X.shape[1]
    again = rosenblatt.LogisticRegression(penalty="l1", solver="liblinear", C=0.1).fit(X, y)
    assert_array_equal(ours.coef_, again.coef_)


@pytest.mark.parametrize("estimator", classifiers(), ids=lambda e: type(e).__name__)
def test_attributes_come_with_the_fit(estimator):
    X, y = IRIS[0], (IRIS[1] == 0).astype(int)
    for name in ("coef_", "intercept_", "support_", "dual_coef_", "report_"):
        assert not hasattr(estimator, name)
    estimator.fit(X, y)
    assert estimator.n_iter_ >= 1
    assert_array_equal(estimator.classes_, [0, 1])
    if hasattr(estimator, "coef_") and not isinstance(estimator, rosenblatt.VotedPerceptron):
        scores = (X @ estimator.coef_.T + estimator.intercept_).ravel()
        offset = getattr(estimator, "threshold", None)
        expected = estimator.decision_function(X)
        if not isinstance(estimator, rosenblatt.Winnow):
            assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)
        assert offset is None
    if estimator._certified:
        assert 0 <= estimator.dual_gap_ <= (1 if isinstance(estimator, TAUGHT) else estimator.tol)
        assert estimator.certificate_["primal"] == estimator.objective_
    assert estimator.score(X, y) > (0.3 if isinstance(estimator, (rosenblatt.Winnow, rosenblatt.BernoulliNB)) else 0.9)


def test_kernel_scores_are_made_of_attributes():
    X, y = CANCER
    svc = rosenblatt.SVC(kernel="poly", degree=2, gamma=0.1, coef0=1).fit(X, y)
    assert_array_equal(X[svc.support_], svc.support_vectors_)
    perceptron = rosenblatt.KernelPerceptron(degree=2, gamma=0.1, fit_intercept=True).fit(X, y)
    assert not hasattr(perceptron, "support_")
    for model in (svc, perceptron):
        values = (0.1 * X @ model.support_vectors_.T + 1) ** 2
        scores = values @ model.dual_coef_.T + model.intercept_
        assert_allclose(scores.ravel(), model.decision_function(X), rtol=1e-3, atol=1e-3)


def test_threads_do_not_show():
    X, y = IRIS
    one = rosenblatt.SVC(n_jobs=1).fit(X, y)
    two = rosenblatt.SVC(n_jobs=2).fit(X, y)
    assert one._fit.to_bytes() == two._fit.to_bytes()


def test_no_seed_is_a_seed():
    X, y = IRIS
    assert_array_equal(rosenblatt.Perceptron().fit(X, y).coef_, rosenblatt.Perceptron().fit(X, y).coef_)
    drawn = [rosenblatt.Perceptron(random_state=seed).fit(X, y).coef_ for seed in (1, np.random.RandomState(2))]
    assert not np.array_equal(*drawn)


BY_ROWS = [e for e in classifiers() if not isinstance(e, (rosenblatt.PegasosSVC, rosenblatt.MLPClassifier))]  # which draws them


@pytest.mark.parametrize("estimator", BY_ROWS, ids=lambda e: type(e).__name__)
def test_weights_are_repetition(estimator):
    X, y = IRIS[0][:100], IRIS[1][:100]
    weights = np.arange(len(y)) % 3
    estimator = clone(estimator)
    if hasattr(estimator, "shuffle"):
        estimator.set_params(shuffle=False)
    if hasattr(estimator, "tol"):
        estimator.set_params(tol=1e-6)
    weighted = estimator.fit(X, y, sample_weight=weights).decision_function(X)
    repeated = clone(estimator).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).decision_function(X)
    assert_allclose(weighted, repeated, rtol=1e-2, atol=1e-2)


def test_warm_start_goes_on():
    X, y = CANCER
    model = rosenblatt.LogisticRegression(tol=1e-8, warm_start=True).fit(X, y)
    assert model.report_["resumed"] is False
    cold = model.n_iter_
    model.fit(X, y)
    assert model.report_["resumed"] is True
    assert model.n_iter_ < cold
    model.fit(X[:, :5], y)  # other features: from the beginning
    assert model.report_["resumed"] is False


def test_early_ends_are_warned_of_with_their_gap():
    X, y = CANCER
    with pytest.warns(ConvergenceWarning, match="relative duality gap of"):
        model = rosenblatt.LinearSVC(loss="hinge", tol=1e-9, max_iter=1).fit(X * 1000, y)
    assert model.dual_gap_ > 1e-9
    assert model.certificate_["status"] == "pass_limit"
    assert model.predict(X).shape == y.shape
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rosenblatt.LinearSVC().fit(X, y)


def test_time_is_limited():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 40)), rng.integers(0, 2, 4000)
    with pytest.warns(ConvergenceWarning, match="time limit"):
        model = rosenblatt.SVC(C=1e6, time_limit=0.3).fit(X, y)
    assert model.certificate_["status"] == "time_limit"


def test_calibration_gives_probabilities_that_agree_with_labels():
    X, y = IRIS
    for model in (rosenblatt.LinearSVC(calibrate=3), rosenblatt.SVC(probability=True)):
        shares = model.fit(X, y).predict_proba(X)
        assert_allclose(shares.sum(axis=1), 1)
        assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))
        assert_allclose(np.exp(model.predict_log_proba(X)), shares)
    assert not hasattr(rosenblatt.LinearSVC(), "predict_proba")
    with pytest.raises(AttributeError) as error:
        rosenblatt.LinearSVC().predict_proba
    assert "calibrate=5" in f"{error.value} {error.value.__cause__}"


def test_early_stopping_keeps_the_best_pass():
    X, y = CANCER
    model = rosenblatt.Perceptron(early_stopping=True, max_iter=20, pocket=False).fit(X, y)
    report = model.report_
    held = [p["holdout_accuracy"] for p in report["passes"]]
    assert held[report["best_pass"] - 1] == max(held)
    assert report["rows"] < len(y)


WRONG = [
    (rosenblatt.LinearSVC(C=-1), "C=-1"),
    (rosenblatt.LinearSVC(loss="log"), "loss='log'"),
    (rosenblatt.LinearSVC(tol=-1), "tol=-1"),
    (rosenblatt.LinearSVC(intercept_scaling=2), "intercept_scaling must be 1"),
    (rosenblatt.Perceptron(eta0=0), "eta0=0"),
    (rosenblatt.Perceptron(shuffle="maybe"), "shuffle='maybe'"),
    (rosenblatt.SVC(kernel="rfb"), "kernel='rfb'"),
    (rosenblatt.SVC(gamma="sacle"), "gamma='sacle'"),
    (rosenblatt.SVC(decision_function_shape="ova"), "decision_function_shape"),
    (rosenblatt.NuSVC(nu=2), "nu=2"),
    (rosenblatt.LogisticRegression(penalty=None), "penalty=None"),
    (rosenblatt.LogisticRegression(l1_ratio=0.5), "l1_ratio=0.5"),
    (rosenblatt.LinearSVC(calibrate=1), "calibrate=1"),
    (rosenblatt.LinearSVC(class_weight="even"), "class_weight='even'"),
]


@pytest.mark.parametrize(("estimator", "named"), WRONG, ids=[named for _, named in WRONG])
def test_wrong_parameters_are_named_as_they_are_here(estimator, named):
    with pytest.raises(ValueError, match=named):
        estimator.fit(*IRIS).decision_function(IRIS[0])


def test_crammer_and_singer_are_one_of_linear_svcs_ways():
    X, y = IRIS
    one = rosenblatt.LinearSVC(multi_class="crammer_singer").fit(X, y)
    assert one.certificate_["objective"] == rosenblatt.CrammerSingerSVC().fit(X, y).certificate_["objective"]


def test_hard_margin_refuses_what_no_plane_separates():
    X, y = IRIS
    with pytest.raises(rosenblatt.NotSeparableError, match="no plane separates"):
        rosenblatt.HardMarginSVC().fit(X, y == 1)
