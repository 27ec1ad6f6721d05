"""Rows as they come."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris

import rosenblatt
from estimators import classifiers
from rosenblatt._online import Online

X, Y = load_iris(return_X_y=True)
LEARNERS = [e for e in classifiers() if isinstance(e, Online)]


def in_order(learner):
    learner = clone(learner).set_params(shuffle=False, max_iter=1)
    return learner.set_params(pocket=False) if hasattr(learner, "pocket") else learner


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda e: type(e).__name__)
def test_blocks_are_the_whole(learner):
    whole = in_order(learner).fit(X, Y)
    parts = in_order(learner)
    for rows in np.array_split(np.arange(len(Y)), 7):
        parts.partial_fit(X[rows], Y[rows], classes=[0, 1, 2])
    assert_array_equal(parts.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda e: type(e).__name__)
def test_pickled_streams_go_on(learner):
    once, twice = in_order(learner), in_order(learner)
    once.partial_fit(X, Y, classes=[0, 1, 2])
    twice.partial_fit(X[:60], Y[:60], classes=[0, 1, 2])
    twice.predict(X)
    twice = pickle.loads(pickle.dumps(twice)).partial_fit(X[60:], Y[60:])
    assert_array_equal(once.decision_function(X), twice.decision_function(X))


def test_fit_begins_anew():
    model = rosenblatt.Perceptron().partial_fit(X, Y, classes=[0, 1, 2])
    assert_array_equal(model.fit(X, Y).coef_, rosenblatt.Perceptron().fit(X, Y).coef_)
    with pytest.warns(UserWarning, match="fit has ended its run"):
        model.partial_fit(X, Y)
    assert_array_equal(model.coef_, rosenblatt.Perceptron().partial_fit(X, Y, classes=[0, 1, 2]).coef_)


def test_slips_are_named():
    with pytest.raises(ValueError, match="classes must be passed"):
        rosenblatt.Perceptron().partial_fit(X, Y)
    with pytest.raises(ValueError, match="not among the ones known"):
        rosenblatt.Perceptron().partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(ValueError, match="needs all rows"):
        rosenblatt.Perceptron(class_weight="balanced").partial_fit(X, Y, classes=[0, 1, 2])
    model = rosenblatt.Perceptron()
    with pytest.raises(ValueError, match="eta0"):
        model.set_params(eta0=-1).partial_fit(X, Y, classes=[0, 1, 2])
    model.set_params(eta0=1).partial_fit(X, Y, classes=[0, 1, 2])  # nothing was left half begun


def test_weights_and_class_weights_count():
    weights = np.where(Y == 1, 3.0, 1.0)
    by_row = rosenblatt.Perceptron().partial_fit(X, Y, classes=[0, 1, 2], sample_weight=weights)
    by_class = rosenblatt.Perceptron(class_weight={1: 3.0}).partial_fit(X, Y, classes=[0, 1, 2])
    assert_array_equal(by_row.coef_, by_class.coef_)
