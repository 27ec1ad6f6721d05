"""Scaling against sklearn.preprocessing: fitted on some rows, seen on others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import preprocessing

from problems import bundled, sparse
from rosenblatt_cli import IN_ORDER

SCALERS = {
    "standard": preprocessing.StandardScaler,
    "minmax": preprocessing.MinMaxScaler,
    "maxabs": preprocessing.MaxAbsScaler,
    "unit": preprocessing.Normalizer,
}
SHOWN = 12


def awkward():
    """Constant, huge, tiny and far-off columns, a row of zeros."""
    rng = np.random.default_rng(30)
    x = rng.normal(size=(60, 6))
    x[:, 1] = 3.0
    x[:, 2] *= 1e9
    x[:, 3] *= 1e-9
    x[:, 4] += 1e6
    x[:, 5] = 0.0
    x[2] = 0.0
    x[31] = 0.0
    return x, rng.integers(2, size=60)


DATA = {"awkward": awkward, "wine": lambda: bundled("wine"), "breast_cancer": lambda: bundled("breast_cancer")}


def compare(rosenblatt, write, scale, x, y, rtol):
    seen = slice(30, 30 + SHOWN)
    flags = ["--precision", "f64"]
    model, _ = rosenblatt.train(write(x[:30], y[:30]), "perceptron", *IN_ORDER, "--passes", 1, "--scale", scale, *flags)
    found = rosenblatt.matrix(model, write(x[seen], y[seen]), SHOWN, x.shape[1], *flags)
    assert_allclose(found, SCALERS[scale]().fit(x[:30]).transform(x[seen]), rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("scale", SCALERS)
@pytest.mark.parametrize("name", DATA)
def test_tables(rosenblatt, name, scale):
    # A mean of a million takes six digits from the deviation, and the two sum in different order.
    compare(rosenblatt, rosenblatt.csv, scale, *DATA[name](), rtol=1e-9)


@pytest.mark.parametrize("scale", SCALERS)
def test_sparse_rows(rosenblatt, scale):
    x, y = sparse(31, 60, 15, 2)
    # Files for learning and for predicting must know the last column.
    x[:, -1] = np.arange(1, 61) / 8
    compare(rosenblatt, rosenblatt.libsvm, scale, x, y, rtol=1e-12)


@pytest.mark.parametrize("scale", SCALERS)
def test_scaled_scores_use_the_scaled_features(rosenblatt, scale):
    """A model that scales predicts as one without on data scaled beforehand."""
    x, y = bundled("wine")
    scaled = SCALERS[scale]().fit_transform(x)
    raw, ready = rosenblatt.csv(x, y), rosenblatt.csv(scaled, y)
    model, _ = rosenblatt.train(raw, "averaged-perceptron", *IN_ORDER, "--passes", 3, "--scale", scale)
    plain, _ = rosenblatt.train(ready, "averaged-perceptron", *IN_ORDER, "--passes", 3)
    for found, expected in zip(rosenblatt.predict(model, raw), rosenblatt.predict(plain, ready)):
        assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
