"""Separability and verification."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_iris

import rosenblatt
from rosenblatt import separable, verify

X, Y = load_iris(return_X_y=True)


def test_planes_separate_what_they_are_for():
    result = separable(X, Y == 0)
    (problem,) = result.problems
    assert result and problem.multipliers is None
    sides = np.sign(X @ problem.coef + problem.intercept)
    assert np.array_equal(sides > 0, Y == 0)
    assert problem.margin > 0


def test_multipliers_prove_that_there_is_no_plane():
    result = separable(X, Y)
    assert not result and [bool(p.separable) for p in result.problems] == [True, False, False]
    for problem in result.problems[1:]:
        signs = np.where(Y == problem.positive, 1, -1)
        assert sum(problem.multipliers.values()) == 1
        sums = [Fraction(0)] * 5
        for row, value in problem.multipliers.items():
            lifted = [*map(Fraction, X[row]), Fraction(1)]
            sums = [total + value * int(signs[row]) * x for total, x in zip(sums, lifted, strict=True)]
        assert sums == [0] * 5


def test_pairs_and_weights():
    pairs = separable(X, Y, multi_class="ovo").problems
    assert [(p.negative, p.positive, p.separable) for p in pairs] == [(0, 1, True), (0, 2, True), (1, 2, False)]
    assert separable(X, Y == 2, sample_weight=Y != 1)
    with pytest.raises(ValueError, match="multi_class"):
        separable(X, Y, multi_class="all")


@pytest.mark.parametrize("model", [rosenblatt.SVC(), rosenblatt.LogisticRegression(), rosenblatt.Perceptron()])
def test_claims_hold_on_their_data_and_not_on_others(model):
    assert verify(model.fit(X, Y), X, Y)
    other = verify(model, X, np.roll(Y, 40))
    assert not other.holds
    assert any(claim.verdict == "broken" for claim in other.claims)


def test_gap_is_proved_apart_from_the_solver():
    model = rosenblatt.LinearSVC(loss="hinge").fit(X, Y == 1)
    found = verify(model, X, Y == 1)
    assert found.holds and found.gap <= 2e-3
    assert found.primal == pytest.approx(model.objective_)
