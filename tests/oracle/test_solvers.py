"""Support vector machines and logistic regression against scikit-learn: the same optimum within the gaps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from problems import BINARY, blobs, bundled

GAP = 1e-6


def objective(loss, x, signs, w, b, c):
    margins = signs * (x @ w + b)
    each = {
        "hinge": np.maximum(0, 1 - margins),
        "squared-hinge": np.maximum(0, 1 - margins) ** 2,
        "logistic": np.logaddexp(0, -margins),
    }[loss]
    return 0.5 * w @ w + c * each.sum()


def scaled(name):
    """Values up to 1, classes, and the same as signs."""
    x, y = BINARY[name]()
    return x / np.abs(x).max(), y, np.where(y == np.unique(y)[1], 1.0, -1.0)


def learner(loss):
    return ["logistic"] if loss == "logistic" else ["linear-svm", "--loss", loss]


def peer(loss, c, x, y):
    """Fitted with a bias that is not penalised, as ours is."""
    if loss == "hinge":
        return SVC(kernel="linear", C=c, tol=1e-8).fit(x, y)
    if loss == "logistic":
        return LogisticRegression(C=c, tol=1e-10, max_iter=10_000, solver="newton-cholesky").fit(x, y)
    # A large intercept column is all but free.
    return LinearSVC(C=c, loss="squared_hinge", dual=False, tol=1e-10, max_iter=100_000, intercept_scaling=1e3).fit(x, y)


@pytest.mark.parametrize("solver", ["dual", "newton"])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
@pytest.mark.parametrize("name", BINARY)
def test_binary(rosenblatt, name, loss, solver):
    x, y, signs = scaled(name)
    c = 2.0
    model, report = rosenblatt.train(
        rosenblatt.csv(x, y), *learner(loss), "--c", c, "--gap", GAP, "--passes", 1_000_000, "--solver", solver
    )
    assert report["status"] == "converged" and report["gap"] <= GAP
    (w,), (b,) = rosenblatt.planes(model)
    assert_allclose(objective(loss, x, signs, w, b, c), report["primal"], rtol=1e-9)
    theirs = peer(loss, c, x, y)
    best = objective(loss, x, signs, theirs.coef_[0], theirs.intercept_[0], c)
    assert report["dual"] <= best * (1 + 1e-9)
    assert report["primal"] <= best * (1 + 2e-6)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_classes_of_iris(rosenblatt, multiclass):
    x, y = bundled("iris")
    _, report = rosenblatt.train(rosenblatt.csv(x, y), "linear-svm", "--multiclass", multiclass, "--gap", GAP)
    pairs = [(0, 1), (0, 2), (1, 2)] if multiclass == "ovo" else [(c, None) for c in range(3)]
    best = 0.0
    for one, other in pairs:
        keep = np.isin(y, [one, other]) if other is not None else np.ones(len(y), bool)
        signs = np.where(y[keep] == one, 1.0, -1.0)
        theirs = SVC(kernel="linear", C=1.0, tol=1e-8).fit(x[keep], signs)
        best += objective("hinge", x[keep], signs, theirs.coef_[0], theirs.intercept_[0], 1.0)
    assert_allclose(report["primal"], best, rtol=1e-5)
    assert len(report["problems"]) == 3


def test_weights_of_classes(rosenblatt):
    x, y = blobs(3, 200, 4, 2, spread=1.5)
    _, report = rosenblatt.train(
        rosenblatt.csv(x, y), "linear-svm", "--gap", GAP, "--class-weight", "0=3,1=0.5"
    )
    theirs = SVC(kernel="linear", C=1.0, tol=1e-8, class_weight={0: 3.0, 1: 0.5}).fit(x, y)
    margins = np.where(y == 1, 1.0, -1.0) * theirs.decision_function(x)
    costs = np.where(y == 1, 0.5, 3.0)
    w = theirs.coef_[0]
    assert_allclose(report["primal"], 0.5 * w @ w + costs @ np.maximum(0, 1 - margins), rtol=1e-5)


def test_multinomial(rosenblatt):
    """One problem for all classes, and its probabilities."""
    x, y = bundled("iris")
    model, report = rosenblatt.train(rosenblatt.csv(x, y), "logistic", "--c", 3, "--gap", 1e-9)
    theirs = LogisticRegression(C=3, tol=1e-10, max_iter=10_000, solver="newton-cg").fit(x, y)
    risk = -np.log(theirs.predict_proba(x)[np.arange(len(y)), y]).sum()
    assert_allclose(report["primal"], 0.5 * (theirs.coef_**2).sum() + 3 * risk, rtol=1e-7)
    weights, biases = rosenblatt.planes(model)
    assert_allclose(weights, theirs.coef_, atol=1e-3)
    assert_allclose(biases, theirs.intercept_, atol=1e-3)
    found = rosenblatt.json("predict", model, rosenblatt.csv(x, y), "--probabilities")
    assert_allclose(found["probabilities"], theirs.predict_proba(x), atol=1e-4)


def l1_value(loss, x, signs, w, b, c):
    return objective(loss, x, signs, w, b, c) - 0.5 * w @ w + np.abs(w).sum()


def l1_best(loss, bias, x, y, signs, c):
    """What the peer comes to."""
    # A large intercept column is all but free.
    given = dict(C=c, penalty="l1", tol=1e-10, max_iter=100_000, random_state=0)
    given |= dict(fit_intercept=bias == "free", intercept_scaling=1e3)
    if loss == "logistic":
        theirs = LogisticRegression(solver="liblinear", **given).fit(x, y)
    else:
        theirs = LinearSVC(loss="squared_hinge", dual=False, **given).fit(x, y)
    return l1_value(loss, x, signs, theirs.coef_[0], np.ravel(theirs.intercept_)[0], c)


# LinearSVC does not come to its end with a free bias.
@pytest.mark.parametrize(("loss", "bias"), [("squared-hinge", "none"), ("logistic", "none"), ("logistic", "free")])
@pytest.mark.parametrize("name", BINARY)
def test_l1(rosenblatt, name, loss, bias):
    x, y, signs = scaled(name)
    c = 2.0
    model, report = rosenblatt.train(
        rosenblatt.csv(x, y), *learner(loss), "--penalty", "l1", "--c", c, "--gap", GAP, "--bias", bias
    )
    assert report["status"] == "converged" and report["gap"] <= GAP
    (w,), (b,) = rosenblatt.planes(model)
    assert_allclose(l1_value(loss, x, signs, w, b, c), report["primal"], rtol=1e-9)
    best = l1_best(loss, bias, x, y, signs, c)
    assert report["dual"] <= best * (1 + 1e-9)
    assert report["primal"] <= best * (1 + 2e-6)


# The peer may be short of the optimum where columns differ in scale; it is never below what is proved.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
@pytest.mark.parametrize("name", ["breast_cancer", "wine", "digits"])
def test_l1_by_default(rosenblatt, name, loss):
    """Columns as they are, and no parameter given: within the gap of the optimum."""
    x, y = bundled(name)
    keep = np.isin(y, np.unique(y)[:2])
    x, y = x[keep], y[keep]
    signs = np.where(y == np.unique(y)[1], 1.0, -1.0)
    given = ["--penalty", "l1", "--bias", "none"]
    _, report = rosenblatt.train(rosenblatt.csv(x, y), *learner(loss), *given)
    assert report["status"] == "converged" and report["gap"] <= 1e-3
    best = l1_best(loss, "none", x, y, signs, 1.0)
    assert report["dual"] <= best * (1 + 1e-9)
    assert report["primal"] <= best * (1 + 1.1e-3)


@pytest.mark.parametrize(
    ("method", "near"), [(["pegasos", "--passes", 400], 0.05), (["subgradient", "--passes", 20_000], 0.02)]
)
@pytest.mark.parametrize("name", BINARY)
def test_taught_methods(rosenblatt, name, method, near):
    """They come near the optimum of the same objective, and never claim to be below it."""
    x, y, signs = scaled(name)
    c = 2.0
    model, report = rosenblatt.train(rosenblatt.csv(x, y), *method, "--c", c, "--gap", 0, "--bias", "none")
    (w,), _ = rosenblatt.planes(model)
    assert_allclose(objective("hinge", x, signs, w, 0.0, c), report["primal"], rtol=1e-9)
    theirs = LinearSVC(C=c, loss="hinge", tol=1e-10, max_iter=1_000_000, fit_intercept=False, random_state=0).fit(x, y)
    best = objective("hinge", x, signs, theirs.coef_[0], 0.0, c)
    assert report["dual"] <= best * (1 + 1e-9)
    assert best * (1 - 1e-6) <= report["primal"] <= best * (1 + near)


@pytest.mark.parametrize("solver", ["dual", "newton"])
def test_multinomial_solvers(rosenblatt, solver):
    x, y = bundled("wine")
    x = x / np.abs(x).max(axis=0)
    model, report = rosenblatt.train(
        rosenblatt.csv(x, y), "logistic", "--c", 3, "--gap", 1e-8, "--solver", solver, "--passes", 1_000_000
    )
    assert report["status"] == "converged" and solver in report["solver"].lower()
    theirs = LogisticRegression(C=3, tol=1e-10, max_iter=10_000, solver="newton-cg").fit(x, y)
    risk = -np.log(theirs.predict_proba(x)[np.arange(len(y)), y]).sum()
    assert_allclose(report["primal"], 0.5 * (theirs.coef_**2).sum() + 3 * risk, rtol=1e-6)
    weights, biases = rosenblatt.planes(model)
    assert_allclose(weights, theirs.coef_, atol=1e-2)
    assert_allclose(biases, theirs.intercept_, atol=1e-2)
