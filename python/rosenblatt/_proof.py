"""What can be proved of data, and what is left of a model's claims when they are recomputed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from . import _core, _data
from ._base import Classifier
from ._parameters import told


@dataclass(frozen=True)
class SeparabilityProblem:
    """Whether a plane separates two classes, or a class from all others, with the proof."""

    title: str
    negative: Any
    """The class below the plane; None where that is all others."""
    positive: Any
    """The class above it."""
    separable: bool
    coef: Any
    """The weights of a plane, if there is one."""
    intercept: float | None
    margin: float | None
    """The distance of the row next to that plane. HardMarginSVC looks for the plane with the largest."""
    multipliers: dict[int, Fraction] | None
    """If there is none: rows (counted from 0) and positive fractions that are 1 in all, with Σ λᵢyᵢ(xᵢ, 1) = 0 exactly."""


@dataclass(frozen=True)
class SeparabilityResult:
    """Problems, one for two classes; true if a plane separates the classes of each."""

    problems: list[SeparabilityProblem]

    @property
    def separable(self) -> bool:
        return all(problem.separable for problem in self.problems)

    def __bool__(self) -> bool:
        return self.separable


class _Reader(ClassifierMixin, BaseEstimator):
    """What checks rows and labels outside any classifier."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def separable(
    X: Any,
    y: Any,
    *,
    multi_class: str = "ovr",
    fit_intercept: bool = True,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> SeparabilityResult:
    """Decides in exact arithmetic whether planes separate the classes; rows of weight 0 do not count.

    >>> from rosenblatt import separable
    >>> proof = separable([[1.0], [2.0], [3.0]], ["yes", "no", "yes"])
    >>> bool(proof)
    False
    >>> {row: str(value) for row, value in proof.problems[0].multipliers.items()}
    {0: '1/4', 1: '1/2', 2: '1/4'}
    """
    if multi_class not in ("ovr", "ovo"):
        raise ValueError(f'multi_class={multi_class!r}: "ovr" or "ovo" was expected')
    reader = _Reader()
    X, y = _data.labelled(reader, X, y)
    classes, codes = _data.encode(reader, y)
    examples = _data.examples(X, codes, _data.class_names(classes), _data.weights(sample_weight, X))
    answers = json.loads(told(_core.separable, examples, multi_class == "ovo", fit_intercept, _data.threads(n_jobs)))
    return SeparabilityResult([_problem(answer, classes) for answer in answers])


def _problem(answer: dict[str, Any], classes: Any) -> SeparabilityProblem:
    def named(place: int | None) -> Any:
        return None if place is None else classes[place]

    weights, multipliers = answer["weights"], answer["multipliers"]
    return SeparabilityProblem(
        title=answer["title"],
        negative=named(answer["negative"]),
        positive=named(answer["positive"]),
        separable=answer["separable"],
        coef=None if weights is None else np.array(weights),
        intercept=answer["bias"],
        margin=answer["margin"],
        multipliers=None if multipliers is None else {row: Fraction(value) for row, value in multipliers},
    )


@dataclass(frozen=True)
class Claim:
    """One thing that a model says of itself, and what the data say: "held", "broken", or "open" where neither was shown."""

    name: str
    claimed: str
    found: str
    verdict: str


@dataclass(frozen=True)
class Verification:
    """All claims of a model; true if none is broken."""

    claims: list[Claim]
    primal: float | None
    dual: float | None
    gap: float | None
    """The model is no further from the optimum than this, proved apart from the solver."""

    @property
    def holds(self) -> bool:
        return all(claim.verdict != "broken" for claim in self.claims)

    def __bool__(self) -> bool:
        return self.holds


def verify(
    model: Classifier,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    replay: bool = True,
    time_limit: float = 60.0,
    n_jobs: int | None = None,
) -> Verification:
    """Recomputes by naive code what a fitted classifier claims (mistakes, margin, gap, optimality) on the data it was fitted on, or on others.

    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import LinearSVC, verify
    >>> X, y = load_iris(return_X_y=True)
    >>> verify(LinearSVC().fit(X, y), X, y).holds
    True
    """
    fit = model._model()
    X, y = _data.labelled(model, X, y, reset=False)
    codes = _data.places(model.classes_, y)
    weights = _data.weights(sample_weight, X)
    examples = _data.examples(X, codes, fit.classes(), weights, fit.names())
    found = json.loads(told(_core.verify, fit, examples, replay, time_limit, _data.threads(n_jobs)))
    claims = [Claim(**claim) for claim in found["claims"]]
    return Verification(claims, found["primal"], found["dual"], found["gap"])
