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
