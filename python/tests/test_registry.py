"""Every learner of the registry has an estimator, whose parameters are the registry's."""

import json

import pytest

from estimators import classes
from rosenblatt import _core
from rosenblatt._base import BY_ALGORITHM
from rosenblatt._parameters import OWN, TABLE, in_python

ALGORITHMS = {row["name"]: row for row in json.loads(_core.algorithms())}


def test_every_algorithm_has_an_estimator():
    assert set(BY_ALGORITHM) == set(ALGORITHMS)


#: Parameters that Python has no name for: other ways to say the same.
UNNAMED = {"lambda", "sigma"}


#: What tells the estimators of one algorithm apart: NuSVC is svm with ν, SVC without.
OTHERS = {
    "svm": {"c", "slack", "nu"},
    "naive-bayes": {"distribution", "alpha", "binarize", "var_smoothing", "passes"},
}


@pytest.mark.parametrize("cls", classes(), ids=lambda cls: cls.__name__)
def test_parameters_are_the_registrys(cls):
    row = ALGORITHMS[cls._algorithm]
    known = {parameter["name"] for parameter in row["parameters"]}
    own = [name for name in cls._get_param_names() if name not in OWN]
    asked = {cls._named(name).name for name in own} | {"seed"} | ({"bias"} if hasattr(cls, "fit_intercept") else set())
    assert asked <= known
    missing = known - asked - UNNAMED - OTHERS.get(cls._algorithm, set()) - {"class_weight", "tolerance"}
    assert not missing, f"{cls.__name__} lacks {missing}"


@pytest.mark.parametrize("cls", classes(), ids=lambda cls: cls.__name__)
def test_parameters_survive_both_directions(cls):
    estimator = cls()
    estimator.n_features_in_ = 4
    _, parameters = estimator._request()
    again = cls(**cls._understood(parameters))
    again.n_features_in_ = 4
    assert again._request() == (cls._algorithm, parameters)


@pytest.mark.parametrize("cls", classes(), ids=lambda cls: cls.__name__)
def test_docstrings_name_every_parameter(cls):
    for name in cls._get_param_names():
        assert f"\n{name} : default" in cls.__doc__
    assert "Examples\n--------\n>>>" in cls.__doc__


def test_advice_is_given_in_the_words_of_python():
    text = "more passes (--resume MODEL goes on), a larger --gap, --multiclass ovr, --time-limit or --scale standard"
    expected = "more passes (warm_start=True goes on), a larger tol, multi_class ovr, time_limit or StandardScaler"
    assert in_python(text) == expected


def test_names_with_other_values_are_used():
    used = {name for cls in classes() for name in cls._get_param_names()}
    assert set(TABLE) <= used
