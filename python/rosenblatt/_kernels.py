"""Learners in the space of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from . import _core
from ._base import PARAMETERS, Certified, Classifier, Penalized, learns
from ._online import Online

#: The parameters of each kernel.
_KERNELS = _core.kernels()


@dataclass(**PARAMETERS)
class Kernelised(Classifier):
    """A classifier over kernel values with stored examples."""

    fit_intercept: bool = True
    kernel: Any = "rbf"
    degree: int = 3
    gamma: Any = "scale"
    coef0: float | None = 0.0

    def _kernel(self) -> Any:
        return self.kernel if callable(self.kernel) else None

    def _request(self) -> tuple[str, dict[str, Any]]:
        algorithm, parameters = super()._request()
        known = [] if callable(self.kernel) else _KERNELS.get(self.kernel, ["gamma", "degree", "coef0"])
        for name in {"gamma", "degree", "coef0"} - set(known):
            parameters.pop(name, None)
        if callable(self.kernel):
            del parameters["kernel"]
        gamma = parameters.get("gamma")
        if isinstance(gamma, str):
            words = {"scale": "usual", "auto": 1.0 / self.n_features_in_}
            if gamma not in words:
                raise ValueError(f'gamma={gamma!r}: a number, "scale" or "auto" was expected')
            parameters["gamma"] = words[gamma]
        return algorithm, parameters

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.positive_only = self.kernel == "chi2"
        return tags

    @classmethod
    def _attributes(cls) -> dict[str, str]:
        return super()._attributes() | {
            "support_": "The training rows that are support vectors.",
            "support_vectors_": "These rows; of a precomputed kernel none.",
            "dual_coef_": "Their coefficients, with scikit-learn's signs and layout where it has such machines: else a row a plane.",
            "intercept_": "The constant term of each plane.",
            "coef_": "Weights, with the linear kernel only.",
        }

    @property
    def support_(self) -> Any:
        expansion = self._expansion("support_")
        if len(expansion["numbers"]) < expansion["shape"][0]:
            raise AttributeError("support_: an online learner does not know which rows it stored; support_vectors_ are these")
        return expansion["numbers"][self._order(expansion)]

    @property
    def support_vectors_(self) -> Any:
        expansion = self._expansion("support_vectors_")
        if self.kernel == "precomputed":
            return np.empty((0, 0))
        vectors = _vectors(expansion)[self._order(expansion)]
        return vectors if self._sparse else vectors.toarray()

    @property
    def n_support_(self) -> Any:
        expansion = self._expansion("n_support_")
        owners = self._owners(expansion["coefficients"])
        if owners is None:
            raise AttributeError("n_support_: an example is stored for all classes here")
        return np.bincount(owners, minlength=len(self.classes_)).astype(np.int32)

    @property
    def dual_coef_(self) -> Any:
        expansion = self._expansion("dual_coef_")
        coefficients = expansion["coefficients"][self._order(expansion)]
        if not self._in_pairs():
            return coefficients.T
        return _of_pairs(coefficients, self._owners(coefficients), len(self.classes_))

    @property
    def intercept_(self) -> Any:
        expansion = self._expansion("intercept_")
        offsets = expansion["offsets"] + (expansion["coefficients"].sum(axis=0) if expansion["lifted"] else 0.0)
        return -offsets if self._in_pairs() else offsets

    @property
    def coef_(self) -> Any:
        if self.kernel != "linear":
            raise AttributeError("coef_: only the linear kernel has weights of features")
        expansion = self._expansion("coef_")
        weights = (_vectors(expansion).T @ expansion["coefficients"]).T
        return -weights if self._in_pairs() else weights

    def _expansion(self, attribute: str) -> dict[str, Any]:
        expansion = self._fitted(attribute).expansion()
        if expansion is None:
            raise AttributeError(f"{attribute}: this model stores no examples")
        return dict(expansion)

    def _in_pairs(self) -> bool:
        return len(self.classes_) > 2 and bool(self._model().in_pairs)

    def _owners(self, coefficients: Any) -> Any:
        """The class of each stored example, which the signs of its coefficients tell: in one-vs-one, and of two classes."""
        if len(self.classes_) > 2 and not self._in_pairs():
            return None
        problems = np.array(list(combinations(range(len(self.classes_)), 2)))
        first = np.argmax(coefficients != 0, axis=1)
        signs = np.take_along_axis(coefficients, first[:, None], axis=1).ravel()
        return np.where(signs > 0, problems[first, 1], problems[first, 0])

    def _order(self, expansion: dict[str, Any]) -> Any:
        """Class by class, as scikit-learn has them."""
        owners = self._owners(expansion["coefficients"])
        if owners is None or not len(owners):
            return np.arange(len(expansion["coefficients"]))
        return np.argsort(owners, kind="stable")


def _vectors(expansion: dict[str, Any]) -> Any:
    return sparse.csr_array((expansion["data"], expansion["indices"], expansion["indptr"]), shape=expansion["shape"])


def _of_pairs(coefficients: Any, owners: Any, k: int) -> Any:
    """LIBSVM's table: of an example of class c, row j has its coefficient against class j, or j + 1 from c on. The first class of a pair is positive there."""
    table = np.zeros((k - 1, len(coefficients)))
    for problem, (a, b) in enumerate(combinations(range(k), 2)):
        for mine, row in ((a, b - 1), (b, a)):
            of_class = owners == mine
            table[row, of_class] = -coefficients[of_class, problem]
    return table


@dataclass(**PARAMETERS)
class Machine(Kernelised):
    """What kernel machines share."""

    multi_class: str = "ovo"
    cache_size: float | None = None
    max_iter: int = -1

    _documents: ClassVar[dict[str, str]] = {
        "tol": "Stop when the relative duality gap is at most this, and no optimality condition is broken by more.",
        "max_iter": "At most so many rounds of the solver; -1: no limit.",
    }

    def _request(self) -> tuple[str, dict[str, Any]]:
        algorithm, parameters = super()._request()
        return algorithm, parameters | {"tolerance": self.tol}


@dataclass(**PARAMETERS)
class _Voting(Machine):
    """Parameters that scikit-learn's machines have beside these."""

    decision_function_shape: str = "ovr"
    break_ties: bool = True
    shrinking: bool = True
    probability: Any = False
    class_weight: Any = None
    warm_start: bool = False

    def _folds(self) -> int | None:
        return 5 if self.calibrate is None and self.probability is True else self.calibrate

    def decision_function(self, X: Any) -> Any:
        """Scores: of two classes one, above 0 for the second; of more one a class, or with `decision_function_shape="ovo"` one a pair, above 0 for its first class."""
        if self.decision_function_shape not in ("ovr", "ovo"):
            raise ValueError(f'decision_function_shape={self.decision_function_shape!r}: "ovr" or "ovo" was expected')
        model = self._model()
        if self.decision_function_shape == "ovr" or not self._in_pairs():
            return super().decision_function(X)
        from ._data import new_rows

        return -self._native(model.scores, new_rows(self, X), self._threads())


@learns("svm")
@dataclass(**PARAMETERS)
class SVC(_Voting, Penalized):
    """A support vector machine in the space of a kernel.

    Like `sklearn.svm.SVC`, on all cores, with more kernels and kinds of slack; `tol` bounds the relative duality gap, too. Ties of votes are always broken by
    summed scores, `probability=True` is calibrated by cross-fitting and never contradicts `predict`, and `gamma="scale"` minds sample weights.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> svm = SVC().fit(X, y)
    >>> svm.n_support_, svm.dual_gap_ <= 1e-3
    (array([ 7, 29, 24], dtype=int32), True)
    """

    slack: str = "linear"

    @classmethod
    def _learned(cls, parameters: dict[str, Any]) -> bool:
        return parameters.get("nu") is None


@learns("svm")
@dataclass(**PARAMETERS)
class NuSVC(_Voting, Certified):
    """A support vector machine that is told ν, the share of rows that may be inside the margin, instead of C.

    Like `sklearn.svm.NuSVC`; see SVC for what differs.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import NuSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> len(NuSVC(nu=0.2).fit(X, y).support_) >= 0.2 * len(X)
    True
    """

    nu: float = 0.5

    @classmethod
    def _learned(cls, parameters: dict[str, Any]) -> bool:
        return parameters.get("nu") is not None


@learns("kernel-logistic")
@dataclass(**PARAMETERS)
class KernelLogisticRegression(Machine, Penalized):
    """Logistic regression in the space of a kernel: every row has a part in it (Keerthi, Duan, Shevade, Poo 2005).

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from rosenblatt import KernelLogisticRegression
    >>> X, y = make_circles(100, factor=0.3, noise=0.1, random_state=0)
    >>> KernelLogisticRegression().fit(X, y).predict_proba([[0, 0]]).round(1)
    array([[0.1, 0.9]])
    """

    multi_class: str = "ovr"

    _probabilistic: ClassVar[bool] = True


@learns("kernel-perceptron")
@dataclass(**PARAMETERS)
class KernelPerceptron(Online, Kernelised):
    """The perceptron in the space of a kernel, over the examples it went wrong on; with a `budget`, for streams without end.

    Examples
    --------
    >>> from rosenblatt import KernelPerceptron
    >>> X, y = [[1, 1], [-1, 1], [-1, -1], [1, -1]], [1, -1, 1, -1]
    >>> model = KernelPerceptron(degree=2, coef0=0, shuffle=False).fit(X, y)
    >>> model.dual_coef_, model.support_vectors_
    (array([[1.]]), array([[1., 1.]]))
    """

    fit_intercept: bool = False
    multi_class: str = "native"
    kernel: Any = "poly"
    gamma: Any = None
    coef0: float | None = None
    predictor: str = "last"
    budget: int | None = None
    forget: str | None = None
    projection_error: float = 0.0
    tie: str = "negative"

    _documents: ClassVar[dict[str, str]] = {
        "gamma": 'Of the kernel; None: 1 for poly, else "scale".',
        "coef0": "The constant of poly (None: 1) and sigmoid (None: 0).",
    }
