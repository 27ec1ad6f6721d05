"""Kernel machines against scikit-learn's SVC and NuSVC (LIBSVM): the same dual objective, support vectors, scores and answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC, NuSVC

from problems import BINARY, bundled

KERNELS = {
    "rbf": (["--gamma", 0.5], {"gamma": 0.5}),
    "poly": (["--gamma", 0.5, "--degree", 2, "--coef0", 1], {"gamma": 0.5, "degree": 2, "coef0": 1.0}),
    "linear": ([], {}),
}


def scaled(x):
    return ((x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-12)).astype(np.float32).astype(float)


def dual_objective(kernel, options, theirs):
    used = {} if kernel == "linear" else options
    values = pairwise_kernels(theirs.support_vectors_, metric=kernel, **used)
    a = theirs.dual_coef_[0]
    return np.abs(a).sum() - 0.5 * a @ values @ a


@pytest.mark.parametrize("kernel, c", [*((kernel, c) for kernel in KERNELS for c in (0.1, 1)), ("rbf", 100), ("linear", 100)])
@pytest.mark.parametrize("name", BINARY)
def test_binary(rosenblatt, name, kernel, c):
    x, y = BINARY[name]()
    x = scaled(x)
    flags, options = KERNELS[kernel]
    data = rosenblatt.csv(x, y)
    model, report = rosenblatt.train(data, "svm", "--kernel", kernel, *flags, "--c", c, "--tolerance", 1e-5, "--gap", 1e-5)
    assert report["status"] == "converged" and report["violation"] <= 1e-5
    theirs = SVC(kernel=kernel, C=c, tol=1e-6, **options).fit(x, y)
    # The larger the better, up to the primal objective.
    assert report["primal"] >= dual_objective(kernel, options, theirs) * (1 - 1e-6)
    assert report["dual"] >= dual_objective(kernel, options, theirs) * (1 - 1e-5)
    # Where features are fewer than rows on the margin, which of these count is not unique.
    assert name == "single feature" or abs(report["support_vectors"] - theirs.n_support_.sum()) <= max(2, 0.02 * theirs.n_support_.sum())
    scores = theirs.decision_function(x)
    assert_allclose(rosenblatt.predict(model, data)[1], scores, atol=2e-3 * max(1, np.abs(scores).max()))


def test_nu(rosenblatt):
    x, y = bundled("breast_cancer")
    x = scaled(x)
    data = rosenblatt.csv(x, y)
    model, report = rosenblatt.train(data, "svm", "--nu", 0.2, "--gamma", 0.03, "--tolerance", 1e-5, "--gap", 1e-5)
    assert report["status"] == "converged"
    theirs = NuSVC(nu=0.2, gamma=0.03, tol=1e-6).fit(x, y)
    assert_allclose(rosenblatt.predict(model, data)[1], theirs.decision_function(x), atol=1e-2)


@pytest.mark.parametrize("name", ["iris", "wine", "digits"])
def test_pairs_of_classes(rosenblatt, name):
    x, y = bundled(name)
    x = scaled(x)
    data = rosenblatt.csv(x, y)
    model, _ = rosenblatt.train(data, "svm", "--gamma", 0.05, "--c", 5)
    answers, _ = rosenblatt.predict(model, data)
    theirs = SVC(gamma=0.05, C=5).fit(x, y).predict(x)
    assert np.mean(answers.astype(str) == theirs.astype(str)) >= 0.995
