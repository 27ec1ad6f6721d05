"""Calibrated probabilities against scikit-learn's CalibratedClassifierCV: as good by their log loss on rows that nobody has seen, and never in contradiction to the prediction."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.svm import SVC

from problems import bundled


@pytest.mark.parametrize("name", ["breast_cancer", "digits", "wine"])
def test_log_loss(rosenblatt, name):
    x, y = bundled(name)
    x = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-12)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: 2 * len(y) // 3], order[2 * len(y) // 3 :]
    gamma = 1 / x.shape[1]
    model, report = rosenblatt.train(rosenblatt.csv(x[train], y[train]), "svm", "--gamma", gamma, "--calibrate", 5)
    answers, p = rosenblatt.probabilities(model, rosenblatt.csv(x[test], y[test]))
    assert (p.argmax(axis=1) == answers).all()
    assert np.allclose(p.sum(axis=1), 1)
    theirs = CalibratedClassifierCV(SVC(gamma=gamma), ensemble=False, cv=5).fit(x[train], y[train]).predict_proba(x[test])
    ours_loss, their_loss = log_loss(y[test], p), log_loss(y[test], theirs)
    assert ours_loss <= 1.25 * their_loss + 0.01, (ours_loss, their_loss)
    assert abs(report["calibration"]["log_loss"] - ours_loss) < 0.1


@pytest.mark.parametrize("curve, method", [("platt", "sigmoid"), ("isotonic", "isotonic")])
@pytest.mark.parametrize("name", ["breast_cancer", "digits", "wine"])
def test_curves(rosenblatt, name, curve, method):
    """Not the same numbers: ours never contradict the prediction, and theirs come from other folds."""
    x, y = bundled(name)
    x = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-12)
    order = np.random.default_rng(1).permutation(len(y))
    train, test = order[: 2 * len(y) // 3], order[2 * len(y) // 3 :]
    gamma = 1 / x.shape[1]
    flags = ("--gamma", gamma, "--calibrate", 5, "--calibration", curve)
    model, report = rosenblatt.train(rosenblatt.csv(x[train], y[train]), "svm", *flags)
    answers, p = rosenblatt.probabilities(model, rosenblatt.csv(x[test], y[test]))
    assert report["calibration"]["method"] == curve
    assert (p.argmax(axis=1) == answers).all()
    assert np.allclose(p.sum(axis=1), 1)
    theirs = CalibratedClassifierCV(SVC(gamma=gamma), ensemble=False, cv=5, method=method).fit(x[train], y[train])
    ours_loss, their_loss = log_loss(y[test], p), log_loss(y[test], theirs.predict_proba(x[test]))
    assert ours_loss <= 1.25 * their_loss + 0.02, (ours_loss, their_loss)


def test_platt_is_the_curve_of_scikit_learn(rosenblatt):
    """Two classes, the scores of whose boundary are well above and below 0: the curve is the one of scikit-learn's on the same scores, but where it would contradict."""
    x, y = bundled("breast_cancer")
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    data = rosenblatt.csv(x, y)
    model, _ = rosenblatt.train(data, "svm", "--c", 0.05, "--calibrate", 5, "--calibration", "platt")
    _, p = rosenblatt.probabilities(model, data)
    _, scores = rosenblatt.predict(model, data)
    gamma = rosenblatt.json("inspect", model)["parameters"]["gamma"]
    theirs = CalibratedClassifierCV(SVC(C=0.05, gamma=gamma), ensemble=False, cv=5, method="sigmoid").fit(x, y)
    expected = theirs.predict_proba(x)[:, 1]
    agree = (expected > 0.5) == (scores > 0)
    assert agree.mean() > 0.95
    assert np.abs(p[agree, 1] - expected[agree]).max() < 0.06
