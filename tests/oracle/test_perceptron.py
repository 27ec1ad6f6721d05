"""The perceptron against scikit-learn's: the same weights after the same passes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Perceptron

from problems import BINARY, MULTICLASS, dyadic, sparse
from rosenblatt_cli import PLAIN


def fitted(x, y, passes, bias="free", eta=1.0):
    oracle = Perceptron(shuffle=False, tol=None, max_iter=passes, fit_intercept=bias == "free", eta0=eta)
    return oracle.fit(x, y)


def flags(passes, bias="free", eta=1.0):
    return [*PLAIN, "--passes", passes, "--bias", bias, "--learning-rate", eta, "--precision", "f64"]


def assert_same(planes, oracle, rtol=1e-9):
    weights, bias = planes
    scale = np.abs(oracle.coef_).max()
    assert_allclose(weights, oracle.coef_, rtol=rtol, atol=rtol * scale)
    assert_allclose(bias, np.broadcast_to(oracle.intercept_, bias.shape), rtol=rtol, atol=rtol * scale)


@pytest.mark.parametrize("passes", [1, 3, 20])
@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("name", BINARY)
def test_binary(rosenblatt, name, bias, passes):
    x, y = BINARY[name]()
    planes = rosenblatt.learned(rosenblatt.csv(x, y), "perceptron", *flags(passes, bias))
    assert_same(planes, fitted(x, y, passes, bias))


@pytest.mark.parametrize("passes", [1, 5])
@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("name", MULTICLASS)
def test_one_vs_rest(rosenblatt, name, bias, passes):
    x, y = MULTICLASS[name]()
    data = rosenblatt.csv(x, y)
    model, _ = rosenblatt.train(data, "perceptron", "--multiclass", "ovr", *flags(passes, bias))
    oracle = fitted(x, y, passes, bias)
    assert_same(rosenblatt.planes(model), oracle)
    labels, scores = rosenblatt.predict(model, data)
    assert_allclose(scores, oracle.decision_function(x), rtol=1e-7, atol=1e-7 * np.abs(scores).max())
    assert_array_equal(labels, oracle.predict(x))


@pytest.mark.parametrize("eta", [0.125, 2.5])
def test_learning_rate(rosenblatt, eta):
    x, y = dyadic(7, 100, 5, 2)
    planes = rosenblatt.learned(rosenblatt.csv(x, y), "perceptron", *flags(6, eta=eta))
    assert_same(planes, fitted(x, y, 6, eta=eta))


def test_exact_numbers_give_exact_weights(rosenblatt):
    x, y = dyadic(8, 200, 4, 2)
    planes = rosenblatt.learned(rosenblatt.csv(x, y), "perceptron", *flags(50))
    assert_same(planes, fitted(x, y, 50), rtol=0)


def test_sparse_rows(rosenblatt):
    x, y = sparse(9, 150, 60, 2)
    planes = rosenblatt.learned(rosenblatt.libsvm(x, y), "perceptron", *flags(5))
    assert_same(planes, fitted(x, y, 5))


def test_single_precision_is_that_of_the_features_only(rosenblatt):
    """LIBSVM text is read as f32; sums are still f64."""
    x, y = sparse(10, 150, 60, 2)
    data = rosenblatt.libsvm(x, y)
    planes = rosenblatt.learned(data, "perceptron", *PLAIN, "--passes", 5)
    assert_same(planes, fitted(x.astype(np.float32).astype(np.float64), y, 5))


def test_early_stop_changes_nothing(rosenblatt):
    """We stop at a pass without mistakes; scikit-learn goes on, without effect."""
    x, y = BINARY["wide"]()
    model, report = rosenblatt.train(rosenblatt.csv(x, y), "perceptron", *flags(500))
    assert report["status"] == "converged" and report["passes"] < 500
    assert_same(rosenblatt.planes(model), fitted(x, y, 500))


@pytest.mark.parametrize("bias", ["free", "none"])
def test_trace_follows_partial_fit(rosenblatt, bias):
    """Every step: activation before, weights after."""
    x, y = dyadic(11, 40, 3, 2)
    traced = rosenblatt.json("trace", rosenblatt.csv(x, y), "-a", "perceptron", *flags(2, bias))
    oracle = Perceptron(shuffle=False, fit_intercept=bias == "free")
    assert len(traced["steps"]) == 2 * len(y)
    for number, step in enumerate(traced["steps"]):
        i = number % len(y)
        assert (step["pass"], step["row"], step["label"]) == (number // len(y) + 1, i + 1, y[i])
        activation = oracle.decision_function(x[i : i + 1])[0] if number else 0.0
        assert step["activation"] == activation
        assert step["mistake"] == (activation * (2 * y[i] - 1) <= 0)
        oracle.partial_fit(x[i : i + 1], y[i : i + 1], classes=[0, 1])
        assert step["weights"] == list(oracle.coef_[0])
        if bias == "free":
            assert step["bias"] == oracle.intercept_[0]
    assert traced["updates"] == sum(step["mistake"] for step in traced["steps"])


def test_fractional_class_weights_scale_the_step(rosenblatt):
    """Up to 1 a weight means the same here and there; beyond, ours is a repetition of the visit."""
    x, y = dyadic(13, 120, 5, 2)
    planes = rosenblatt.learned(rosenblatt.csv(x, y), "perceptron", *flags(5), "--class-weight", "0=0.25,1=0.75")
    oracle = Perceptron(shuffle=False, tol=None, max_iter=5, class_weight={0: 0.25, 1: 0.75})
    assert_same(planes, oracle.fit(x, y))


@pytest.mark.parametrize("how", ["column", "file"])
def test_fractional_sample_weights_scale_the_step(rosenblatt, how):
    x, y = dyadic(14, 120, 5, 2)
    weight = np.random.default_rng(14).integers(0, 9, size=120) / 8
    if how == "column":
        text = rosenblatt.csv(np.column_stack([x, weight]), y).read_text().replace(",x6,", ",importance,")
        given = [rosenblatt.text(text), "perceptron", *flags(5), "--weight", "importance"]
    else:
        weights = rosenblatt.text("".join(f"{w}\n" for w in weight), "txt")
        given = [rosenblatt.csv(x, y), "perceptron", *flags(5), "--weights", weights]
    oracle = Perceptron(shuffle=False, tol=None, max_iter=5)
    assert_same(rosenblatt.learned(*given), oracle.fit(x, y, sample_weight=weight))


def test_whole_weights_repeat_the_row(rosenblatt):
    x, y = dyadic(15, 120, 5, 2)
    times = np.random.default_rng(15).integers(1, 4, size=120)
    weights = rosenblatt.text("".join(f"{t}\n" for t in times), "txt")
    weighted = rosenblatt.learned(rosenblatt.csv(x, y), "perceptron", *flags(5), "--weights", weights)
    assert_same(weighted, fitted(np.repeat(x, times, axis=0), np.repeat(y, times), 5), rtol=0)
