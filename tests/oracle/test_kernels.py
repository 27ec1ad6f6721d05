"""Kernel values and the kernel perceptron against scikit-learn's pairwise kernels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.metrics import pairwise

from rosenblatt_cli import TIE_IS_MISTAKE

# Flags of ours, and the same of theirs.
KERNELS = {
    "linear": ([], lambda u, v: pairwise.linear_kernel(u, v)),
    "poly": (["--degree", 3, "--gamma", 0.5, "--coef0", 2], lambda u, v: pairwise.polynomial_kernel(u, v, 3, 0.5, 2)),
    "rbf": (["--gamma", 0.25], lambda u, v: pairwise.rbf_kernel(u, v, 0.25)),
    "sigmoid": (["--gamma", 0.05, "--coef0", -0.5], lambda u, v: pairwise.sigmoid_kernel(u, v, 0.05, -0.5)),
    "laplacian": (["--gamma", 0.125], lambda u, v: pairwise.laplacian_kernel(u, v, 0.125)),
    "cosine": ([], lambda u, v: pairwise.cosine_similarity(u, v)),
    "chi2": (["--gamma", 0.5], lambda u, v: pairwise.chi2_kernel(u, v, 0.5)),
}


def iris():
    x, y = load_iris(return_X_y=True)
    return x, y


def cancer():
    x, y = load_breast_cancer(return_X_y=True)
    return np.float32(x / x.max(axis=0)).astype(float), y


def digits():
    x, y = load_digits(return_X_y=True)
    return x[:300] / 16, y[:300]


def values_of(rosenblatt, name, x, y):
    """Those of some rows with the examples that a perceptron stored, from text of either kind: ours, theirs, and what both rows are long."""
    flags, oracle = KERNELS[name]
    for file in (rosenblatt.csv(x, y), rosenblatt.libsvm(x, y)):
        model, _ = rosenblatt.train(file, "kernel-perceptron", "--kernel", name, *flags, "--passes", 1, "--precision", "f64")
        shown = rosenblatt.json("inspect", model, "--top", 0)["stored"]
        stored = np.zeros((len(shown), x.shape[1]))
        for item in shown:
            for feature, value in item["row"].items():
                stored[item["stored"] - 1, int(feature.lstrip("x")) - 1] = value
        own = np.diag(oracle(stored, stored))
        for row in np.linspace(0, len(x) - 1, 16).astype(int):
            why = rosenblatt.json("explain", model, file, "--row", row + 1, "--top", 0)
            found = {item["stored"] - 1: item["value"] for item in why["classes"][-1]["examples"]}
            expected = oracle(x[[row]], stored)[0]
            # Values of exactly 0 add nothing and are left out.
            values = np.array([found.get(s, 0.0) for s in range(len(stored))])
            yield values, expected, np.sqrt(np.abs(own * oracle(x[[row]], x[[row]])[0, 0]))


@pytest.mark.parametrize("data", [iris, cancer, digits])
@pytest.mark.parametrize("name", KERNELS)
def test_values(rosenblatt, name, data):
    """Element by element: `explain` forms them in double precision."""
    for values, expected, _ in values_of(rosenblatt, name, *data()):
        assert_allclose(values, expected, rtol=1e-6)


@pytest.mark.parametrize("data", [iris, cancer, digits])
@pytest.mark.parametrize("name", [name for name in KERNELS if name != "chi2"])
def test_values_of_both_signs(rosenblatt, name, data):
    """Where products cancel, errors are a part of √(K(u, u)·K(v, v))."""
    x, y = data()
    x = np.float32(x - x.mean(axis=0)).astype(float)
    for values, expected, lengths in values_of(rosenblatt, name, x, y):
        # tanh is at most 1; a power multiplies errors by its degree.
        lengths = {"sigmoid": np.ones_like(lengths), "poly": 3 * lengths}.get(name, lengths)
        assert (np.abs(values - expected) <= 1e-6 * lengths).all()


@pytest.mark.parametrize("name", ["poly", "rbf", "laplacian"])
def test_a_binary_run(rosenblatt, name):
    """Step by step on their kernel matrix."""
    x, y = iris()
    x, y = x[50:], np.where(y[50:] == 2, 1, -1)
    order = np.random.default_rng(0).permutation(len(y))
    x, y = x[order], y[order]
    flags, oracle = KERNELS[name]
    gram = oracle(x, x)
    counts = np.zeros(len(y))
    for _ in range(3):
        for i in range(len(y)):
            if y[i] * (counts @ gram[:, i]) <= 0:
                counts[i] += y[i]
    file = rosenblatt.csv(x, y)
    flags = ["--kernel", name, *flags, "--passes", 3, *TIE_IS_MISTAKE]
    model, report = rosenblatt.train(file, "kernel-perceptron", *flags)
    assert report["updates"] == np.abs(counts).sum()
    steps = rosenblatt.json("trace", file, "-a", "kernel-perceptron", *flags)["steps"]
    assert steps[-1]["alphas"] == counts.tolist()
    _, scores = rosenblatt.predict(model, file)
    assert_allclose(scores, gram @ counts, rtol=1e-5, atol=1e-5 * np.abs(gram @ counts).max())
