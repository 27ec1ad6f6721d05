"""Linear learners that minimize an objective over all rows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from ._base import PARAMETERS, Certified, Penalized, Planar, learns


def _refuse_scaling(estimator: Any) -> None:
    if estimator.intercept_scaling != 1:
        raise ValueError(
            "intercept_scaling must be 1: the intercept is free, and needs none; "
            'with bias="regularized", add a constant feature of another size'
        )


@learns("linear-svm")
@dataclass(eq=False, repr=False)
class LinearSVC(Penalized, Planar):
    """A support vector machine with a linear boundary and a soft margin: min ½‖w‖² + C·Σ loss.

    Like `sklearn.svm.LinearSVC`, except that the intercept is free by default (theirs is a weight of a feature that is always `intercept_scaling`:
    `bias="regularized"`), and that `tol` is the relative duality gap: what it stops at is proved, not guessed from small steps.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rosenblatt import LinearSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> svm = LinearSVC(loss="hinge", C=0.1).fit(X / X.max(axis=0), y)
    >>> svm.dual_gap_ <= svm.tol
    True
    >>> svm.coef_.shape, svm.intercept_.shape
    ((1, 30), (1,))
    """

    penalty: str = "l2"
    loss: str = "squared_hinge"
    _: KW_ONLY
    dual: Any = "auto"
    multi_class: str = "ovr"
    intercept_scaling: float = 1
    max_iter: int = 1000

    _documents: ClassVar[dict[str, str]] = {
        "multi_class": '"ovr", "ovo", or "crammer_singer", which is CrammerSingerSVC and knows neither loss nor penalty.'
    }

    def _request(self) -> tuple[str, dict[str, Any]]:
        _refuse_scaling(self)
        algorithm, parameters = super()._request()
        if self.multi_class != "crammer_singer":
            return algorithm, parameters
        for name in ("penalty", "loss", "solver", "multiclass"):
            parameters.pop(name, None)
        return "crammer-singer", parameters | {"bias": "regularized" if self.fit_intercept else "none"}


@learns("crammer-singer")
@dataclass(**PARAMETERS)
class CrammerSingerSVC(Penalized, Planar):
    """A support vector machine that trains the planes of all classes together: min ½Σ‖w_c‖² + C·Σξ, w_y·x ≥ w_c·x + 1 − ξ.

    Like `sklearn.svm.LinearSVC(multi_class="crammer_singer")`, which has no gap and takes `tol` for something else. Its intercepts count as weights.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import CrammerSingerSVC
    >>> svm = CrammerSingerSVC().fit(*load_iris(return_X_y=True))
    >>> svm.coef_.shape
    (3, 4)
    """

    bias: str = "regularized"
    max_iter: int = 10_000


@learns("logistic")
@dataclass(eq=False, repr=False)
class LogisticRegression(Penalized, Planar):
    """Logistic regression: min ½‖w‖² + C·Σ log(1 + exp(−y·g(x))), or all classes in one problem.

    Like `sklearn.linear_model.LogisticRegression`. `tol` is the relative duality gap, `solver` one of ours (names of scikit-learn's are
    taken as "auto"), and there is no fit without a penalty.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> model.predict_proba(X[:1]).round(2)
    array([[0.98, 0.02, 0.  ]])
    """

    penalty: Any = "deprecated"
    _: KW_ONLY
    l1_ratio: float = 0.0
    dual: bool = False
    solver: str = "auto"
    multi_class: str = "multinomial"
    intercept_scaling: float = 1
    max_iter: int = 1000

    _probabilistic: ClassVar[bool] = True
    _documents: ClassVar[dict[str, str]] = {
        "penalty": 'As in scikit-learn before 1.8: "l2" or "l1"; otherwise l1_ratio tells.',
        "dual": "True is the same as solver='dual'.",
        "multi_class": '"multinomial" (all classes in one problem), "ovr" or "ovo".',
    }

    #: Solvers of scikit-learn, which differ in what they can and how fast they are, and not in what they look for.
    _ALIASES: ClassVar[frozenset[str]] = frozenset(
        {"lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"}
    )

    def _request(self) -> tuple[str, dict[str, Any]]:
        _refuse_scaling(self)
        algorithm, parameters = super()._request()
        parameters["penalty"] = self._norm()
        parameters["solver"] = "auto" if self.solver in self._ALIASES else self.solver
        if self.dual:
            parameters["solver"] = "dual"
        return algorithm, parameters

    @classmethod
    def _understood(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        known = super()._understood(parameters)
        del known["dual"]
        return known | {"l1_ratio": 1.0 if known.pop("penalty", "l2") == "l1" else 0.0}

    def _norm(self) -> str:
        if self.penalty in ("l1", "l2"):
            return str(self.penalty)
        if self.penalty != "deprecated":
            raise ValueError(f"penalty={self.penalty!r}: l1 and l2 are known; there is no fit without a penalty, take a large C")
        if self.l1_ratio not in (0, 1):
            raise ValueError(f"l1_ratio={self.l1_ratio!r}: 0 is l2, 1 is l1, and nothing between is known")
        return "l1" if self.l1_ratio == 1 else "l2"


@learns("pegasos")
@dataclass(**PARAMETERS)
class PegasosSVC(Penalized, Planar):
    """The objective of LinearSVC by stochastic sub-gradient descent, with its gap measured (Shalev-Shwartz, Singer, Srebro 2007).

    For learning how it works, and for comparison: LinearSVC gets to the same optimum sooner.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import PegasosSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> PegasosSVC(C=0.1, tol=0.1).fit(X, y == 0).score(X, y == 0)
    1.0
    """

    loss: str = "hinge"
    multi_class: str = "ovr"
    average: bool = True
    project: bool = True
    max_iter: int = 200


@learns("subgradient")
@dataclass(**PARAMETERS)
class SubgradientSVC(Penalized, Planar):
    """The objective of LinearSVC by batch sub-gradient descent, step by step: `report_["costs"]` holds the objective after each.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import SubgradientSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> svm = SubgradientSVC(C=0.1, tol=0.1).fit(X, y == 0)
    >>> svm.report_["costs"][0] > svm.objective_
    True
    """

    loss: str = "hinge"
    multi_class: str = "ovr"
    eta0: float | None = None
    max_iter: int = 1000

    _documents: ClassVar[dict[str, str]] = {"eta0": "The size of the first step; None: what the data suggest."}


@learns("hard-margin")
@dataclass(**PARAMETERS)
class HardMarginSVC(Certified, Planar):
    """The plane with the largest margin between classes that a plane can separate. Others are refused with `NotSeparableError`, which counts the rows that prove it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import HardMarginSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> round(HardMarginSVC().fit(X, y == 0).certificate_["margin"], 2)
    0.82
    """

    bias: str = "free"
    multi_class: str = "ovr"
    solver: str = "auto"
    max_iter: int = 10_000
