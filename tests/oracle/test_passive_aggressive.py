"""Passive-aggressive learning against scikit-learn's.

scikit-learn leaves the constant feature of the bias out of ‖x‖², we count it (Crammer et al. 2006 lift the examples);
so we compare without a bias, and with a constant column that stands for it.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import PassiveAggressiveClassifier

from problems import BINARY, MULTICLASS, sparse
from rosenblatt_cli import IN_ORDER

LOSS = {"I": "hinge", "II": "squared_hinge"}


def fitted(x, y, variant, c, passes):
    oracle = PassiveAggressiveClassifier(
        C=c, loss=LOSS[variant], max_iter=passes, shuffle=False, tol=None, fit_intercept=False
    )
    return oracle.fit(x, y).coef_


def flags(variant, c, passes, bias):
    return [*IN_ORDER, "--variant", variant, "--c", c, "--passes", passes, "--bias", bias, "--precision", "f64"]


def assert_same(found, expected):
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("c", [0.01, 1.0])
@pytest.mark.parametrize("variant", LOSS)
@pytest.mark.parametrize("name", BINARY)
def test_binary(rosenblatt, name, variant, c):
    x, y = BINARY[name]()
    data = rosenblatt.csv(x, y)
    weights, bias = rosenblatt.learned(data, "passive-aggressive", *flags(variant, c, 4, "none"))
    assert_same(weights, fitted(x, y, variant, c, 4))
    assert not bias.any()


@pytest.mark.parametrize("variant", LOSS)
def test_free_bias_is_a_constant_column(rosenblatt, variant):
    x, y = BINARY["real"]()
    weights, bias = rosenblatt.learned(rosenblatt.csv(x, y), "passive-aggressive", *flags(variant, 0.1, 5, "free"))
    lifted = np.column_stack([x, np.ones(len(x))])
    assert_same(np.column_stack([weights, bias]), fitted(lifted, y, variant, 0.1, 5))


@pytest.mark.parametrize("variant", LOSS)
@pytest.mark.parametrize("name", MULTICLASS)
def test_one_vs_rest(rosenblatt, name, variant):
    x, y = MULTICLASS[name]()
    ours = [*flags(variant, 0.1, 2, "none"), "--multiclass", "ovr"]
    weights, _ = rosenblatt.learned(rosenblatt.csv(x, y), "passive-aggressive", *ours)
    assert_same(weights, fitted(x, y, variant, 0.1, 2))


@pytest.mark.parametrize("variant", LOSS)
def test_sparse_rows(rosenblatt, variant):
    x, y = sparse(12, 150, 60, 2)
    weights, _ = rosenblatt.learned(rosenblatt.libsvm(x, y), "passive-aggressive", *flags(variant, 1.0, 3, "none"))
    assert_same(weights, fitted(x, y, variant, 1.0, 3))


def test_plain_is_the_first_variant_without_a_limit(rosenblatt):
    x, y = BINARY["real"]()
    ours = [*IN_ORDER, "--variant", "plain", "--passes", 3, "--bias", "none"]
    weights, _ = rosenblatt.learned(rosenblatt.csv(x, y), "passive-aggressive", *ours)
    assert_same(weights, fitted(x, y, "I", 1e12, 3))


@pytest.mark.parametrize("variant", LOSS)
def test_fractional_class_weights_scale_the_step(rosenblatt, variant):
    x, y = BINARY["real"]()
    ours = [*flags(variant, 0.5, 3, "none"), "--class-weight", "0=0.25,1=0.75"]
    weights, _ = rosenblatt.learned(rosenblatt.csv(x, y), "passive-aggressive", *ours)
    oracle = PassiveAggressiveClassifier(
        C=0.5, loss=LOSS[variant], max_iter=3, shuffle=False, tol=None, fit_intercept=False,
        class_weight={0: 0.25, 1: 0.75},
    )
    assert_same(weights, oracle.fit(x, y).coef_)
