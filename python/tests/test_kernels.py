"""Kernels as functions."""

import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel

import rosenblatt

X, Y = load_iris(return_X_y=True)


def test_functions_get_blocks():
    shapes = []

    def kernel(u, v):
        shapes.append((u.shape, v.shape))
        return rbf_kernel(u, v, gamma=0.5)

    mine = rosenblatt.SVC(kernel=kernel).fit(X, Y)
    assert max(u[0] * v[0] for u, v in shapes) > 1000
    assert len(shapes) < 500
    known = rosenblatt.SVC(gamma=0.5).fit(X, Y)
    assert_array_equal(mine.predict(X), known.predict(X))
    assert_allclose(mine.decision_function(X), known.decision_function(X), atol=1e-2)


@pytest.mark.parametrize("cls", [rosenblatt.SVC, rosenblatt.KernelLogisticRegression, rosenblatt.KernelPerceptron])
def test_functions_see_rows_as_they_were_given(cls):
    kinds = set()

    def kernel(u, v):
        kinds.add(sparse.issparse(u) and sparse.issparse(v))
        return (u @ v.T).toarray() if sparse.issparse(u) else u @ v.T

    y = Y == 0
    dense = cls(kernel=kernel).fit(X, y)
    assert dense.score(X, y) == 1 and kinds == {False}
    kinds.clear()
    rows = sparse.csr_array(X)
    assert cls(kernel=kernel).fit(rows, y).score(rows, y) == 1 and kinds == {True}


def test_streams_take_functions():
    model = rosenblatt.KernelPerceptron(kernel=lambda u, v: (u @ v.T + 1) ** 2)
    for first in range(0, 150, 50):
        part = slice(first % 50, None, 3)
        model.partial_fit(X[part], Y[part] == 0, classes=[False, True])
    assert model.score(X, Y == 0) > 0.9


def test_exceptions_of_functions_arrive():
    def broken(u, v):
        raise ZeroDivisionError("in the kernel")

    with pytest.raises(ZeroDivisionError, match="in the kernel"):
        rosenblatt.SVC(kernel=broken).fit(X, Y)
    with pytest.raises(ValueError, match="a row for each row"):
        rosenblatt.SVC(kernel=lambda u, v: np.ones(3)).fit(X, Y)
    with pytest.raises(ValueError, match="not a finite number"):
        rosenblatt.SVC(kernel=lambda u, v: np.full((len(u), len(v)), np.nan)).fit(X, Y)
    assert rosenblatt.SVC().fit(X, Y).score(X, Y) > 0.9


def test_models_with_functions_cannot_be_written():
    import pickle

    model = rosenblatt.SVC(kernel=linear).fit(X, Y)
    with pytest.raises(ValueError, match="linear"):
        pickle.dumps(model)


def linear(u, v):
    return u @ v.T


def test_fits_side_by_side_in_threads():
    expected = rosenblatt.SVC(kernel=linear).fit(X, Y).dual_coef_
    found = [None] * 4

    def fit(i):
        found[i] = rosenblatt.SVC(kernel=linear).fit(X, Y).dual_coef_

    threads = [threading.Thread(target=fit, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for coefficients in found:
        assert_array_equal(coefficients, expected)
