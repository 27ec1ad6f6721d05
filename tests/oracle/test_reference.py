"""Learners that scikit-learn has not, against the shortest NumPy that does what the paper says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import _ovr_decision_function

from problems import BINARY, MULTICLASS, bundled, dyadic
from rosenblatt_cli import IN_ORDER, PLAIN, TIE_IS_MISTAKE

PASSES = 4


def lifted(x):
    return np.column_stack([x, np.ones(len(x))])


def signs(y):
    return np.where(y == np.unique(y)[1], 1.0, -1.0)


def perceptron_path(x, y):
    """The weights after every visit, over all passes up to the first without a mistake; 0 is a mistake."""
    w, path = np.zeros(x.shape[1]), []
    for _ in range(PASSES):
        mistakes = 0
        for xi, yi in zip(x, y):
            if yi * (w @ xi) <= 0:
                w = w + yi * xi
                mistakes += 1
            path.append(w)
        if mistakes == 0:
            break
    return np.array(path)


def multiclass_path(x, y):
    """One weight vector a class; a tie goes to the first class."""
    w, path = np.zeros((y.max() + 1, x.shape[1])), []
    for _ in range(PASSES):
        mistakes = 0
        for xi, yi in zip(x, y):
            predicted = np.argmax(w @ xi)
            if predicted != yi:
                w = w.copy()
                w[yi] += xi
                w[predicted] -= xi
                mistakes += 1
            path.append(w)
        if mistakes == 0:
            break
    return np.array(path)


def assert_planes(planes, expected, rtol=1e-9):
    expected = np.atleast_2d(expected)
    found = np.column_stack(planes)
    assert_allclose(found, expected, rtol=rtol, atol=rtol * np.abs(expected).max())


@pytest.mark.parametrize("name", BINARY)
def test_averaged_perceptron(rosenblatt, name):
    x, y = BINARY[name]()
    planes = rosenblatt.learned(rosenblatt.csv(x, y), "averaged-perceptron", *TIE_IS_MISTAKE, "--passes", PASSES)
    assert_planes(planes, perceptron_path(lifted(x), signs(y)).mean(axis=0))


@pytest.mark.parametrize("name", MULTICLASS)
def test_multiclass_perceptron(rosenblatt, name):
    x, y = MULTICLASS[name]()
    data = rosenblatt.csv(x, y)
    flags = [*IN_ORDER, "--multiclass", "native", "--passes", PASSES]
    path = multiclass_path(lifted(x), y)
    assert_planes(rosenblatt.learned(data, "perceptron", "--no-pocket", *flags), path[-1])
    assert_planes(rosenblatt.learned(data, "averaged-perceptron", *flags), path.mean(axis=0))


@pytest.mark.parametrize("name", ["dyadic", "real", "breast_cancer"])
def test_voted_perceptron(rosenblatt, name):
    """Every vector votes once for each visit that ended with it."""
    x, y = BINARY[name]()
    data = rosenblatt.csv(x, y)
    model, _ = rosenblatt.train(data, "voted-perceptron", *TIE_IS_MISTAKE, "--passes", PASSES)
    predicted, scores = rosenblatt.predict(model, data)
    path = perceptron_path(lifted(x), signs(y))
    votes = np.where(path @ lifted(x).T > 0, 1.0, -1.0)
    assert_allclose(scores, votes.mean(axis=0), rtol=1e-9, atol=1e-12)
    assert_array_equal(predicted, np.where(votes.mean(axis=0) > 0, *np.unique(y)[::-1]))


def test_winnow(rosenblatt):
    """Littlestone's Winnow2 on a disjunction of 3 features out of 24."""
    rng = np.random.default_rng(50)
    x = (rng.random((120, 24)) < 0.2).astype(float)
    y = (x[:, [2, 7, 19]].sum(axis=1) > 0).astype(int)
    model, report = rosenblatt.train(rosenblatt.csv(x, y), "winnow", *IN_ORDER, "--bias", "none", "--passes", 20)
    w, mistakes = np.ones(24), 0
    for _ in range(report["passes"]):
        for xi, yi in zip(x, y):
            predicted = int(w @ xi > 12)
            w *= 2.0 ** ((yi - predicted) * xi)
            mistakes += predicted != yi
    assert report["mistakes"] == mistakes
    assert_array_equal(rosenblatt.planes(model)[0][0], w)


@pytest.mark.parametrize("r", [0.1, 10.0])
def test_arow(rosenblatt, r):
    """Crammer, Kulesza, Dredze 2009, figure 1, with a diagonal Σ."""
    x, y = BINARY["real"]()
    flags = [*IN_ORDER, "--r", r, "--passes", 3]
    planes = rosenblatt.learned(rosenblatt.csv(x, y), "arow", *flags)
    mean, variance = np.zeros(x.shape[1] + 1), np.ones(x.shape[1] + 1)
    for _ in range(3):
        for xi, yi in zip(lifted(x), signs(y)):
            loss = max(0.0, 1.0 - yi * (mean @ xi))
            if loss > 0:
                beta = 1.0 / (xi @ (variance * xi) + r)
                mean = mean + beta * loss * yi * variance * xi
                variance = variance - beta * (variance * xi) ** 2
    assert_planes(planes, mean)


@pytest.mark.parametrize("name", MULTICLASS)
def test_one_vs_one_learns_each_pair_alone(rosenblatt, name):
    x, y = MULTICLASS[name]()
    flags = [*PLAIN, "--multiclass", "ovo", "--passes", PASSES]
    planes = rosenblatt.learned(rosenblatt.csv(x, y), "perceptron", *flags)
    pairs = [(a, b) for a in range(y.max() + 1) for b in range(a + 1, y.max() + 1)]
    expected = []
    for a, b in pairs:
        rows = (y == a) | (y == b)
        expected.append(perceptron_path(lifted(x)[rows], signs(y[rows]))[-1])
    assert_planes(planes, expected)


@pytest.mark.parametrize("name", MULTICLASS)
def test_one_vs_one_votes(rosenblatt, name):
    """Most pairs won; among equals the largest sum of scores, then the first class."""
    x, y = MULTICLASS[name]()
    data = rosenblatt.csv(x, y)
    model, _ = rosenblatt.train(data, "perceptron", *PLAIN, "--multiclass", "ovo", "--passes", 1)
    weights, bias = rosenblatt.planes(model)
    pairs = x @ weights.T + bias
    # Votes, and sums squeezed into a third of a vote: the same numbers as ours, so the largest wins.
    expected = _ovr_decision_function(pairs > 0, pairs, y.max() + 1)
    predicted, scores = rosenblatt.predict(model, data)
    assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)
    assert_array_equal(predicted, np.argmax(expected, axis=1))


def weighted_perceptron(x, y, weight):
    """A weight of 2.5 is two visits and half a step, as far as mistakes are left."""
    w = np.zeros(x.shape[1])
    for _ in range(PASSES):
        for xi, yi, left in zip(x, y, weight):
            while left > 0 and yi * (w @ xi) <= 0:
                w = w + min(left, 1.0) * yi * xi
                left -= 1.0
    return w


def test_balanced_classes(rosenblatt):
    """`balanced` is scikit-learn's formula, n/(k·n_class)."""
    x, y = dyadic(51, 160, 4, 2)
    rare = (y == 0) | (np.arange(len(y)) % 5 == 0)
    x, y = x[rare], y[rare]
    weight = compute_class_weight("balanced", classes=np.array([0, 1]), y=y)
    data = rosenblatt.csv(x, y)
    balanced = rosenblatt.learned(data, "perceptron", *PLAIN, "--passes", PASSES, "--class-weight", "balanced")
    assert_planes(balanced, weighted_perceptron(lifted(x), signs(y), weight[y]))
    each = f"0={weight[0]!r},1={weight[1]!r}".replace("np.float64(", "").replace(")", "")
    named = rosenblatt.learned(data, "perceptron", *PLAIN, "--passes", PASSES, "--class-weight", each)
    assert_planes(named, np.column_stack(balanced))


def test_margin_and_radius(rosenblatt):
    """The report's geometry is that of its own hyperplane over the lifted rows."""
    x, y = bundled("iris")
    two = y != 2
    x, y = x[two], y[two]
    model, report = rosenblatt.train(rosenblatt.csv(x, y), "perceptron", *PLAIN)
    w = np.column_stack(rosenblatt.planes(model))[0]
    assert report["status"] == "converged"
    radius = np.linalg.norm(lifted(x), axis=1).max()
    gamma = (signs(y) * (lifted(x) @ w)).min() / np.linalg.norm(w)
    assert_allclose(report["radius"], radius, rtol=1e-12)
    assert_allclose(report["mistake_bound"], (radius / gamma) ** 2, rtol=1e-9)
    assert report["updates"] <= report["mistake_bound"]
    distance = (signs(y) * (lifted(x) @ w)).min() / np.linalg.norm(w[:-1])
    assert_allclose(report["margin"], distance, rtol=1e-9)
