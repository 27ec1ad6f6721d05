"""scikit-learn's own checks of its conventions, for every estimator."""

import inspect

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import rosenblatt
from estimators import TRANSFORMERS, classes
from rosenblatt._online import Online

ORDER = "an online learner's model depends on the order of its rows, and the check compares two orders"
HARD = "classes that no plane separates are refused, which is what this learner is for, and the check has such"

ORDER_CHECKS = ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"]

#: Checks that are expected to fail, with the reason.
EXPECTED: dict[type, dict[str, str]] = {}

#: What the checks compare to seven digits has to be solved to as many.
TIGHT = {"tol": 1e-9}


def estimators():
    for cls in classes():
        tight = TIGHT if "tol" in inspect.signature(cls).parameters else {}
        yield cls(**tight)
    yield from TRANSFORMERS
    yield rosenblatt.SVC(kernel="precomputed", **TIGHT)


def expected(estimator):
    return EXPECTED.get(type(estimator), {})


@parametrize_with_checks(list(estimators()), expected_failed_checks=expected)
def test_conventions(estimator, check):
    check(estimator)
