"""Mistake-driven learners: one row at a time, in passes over all (`fit`) or as they come (`partial_fit`)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import _check_partial_fit_first_call

from . import _core, _data
from ._base import PARAMETERS, Classifier, Planar, learns
from ._parameters import Named, words


@dataclass(**PARAMETERS)
class Online(Classifier):
    """Parameters of all of them."""

    max_iter: int = 10
    shuffle: Any = True
    multi_class: str = "native"
    class_weight: Any = None
    early_stopping: bool = False
    validation_fraction: float = 0.1

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Learns from rows once, in their order. `classes` must name all classes there will be, in the first call.

        A run that `fit` has ended cannot be gone on with: after it, a new one begins, of the same classes.
        """
        first = _check_partial_fit_first_call(self, classes)
        try:
            X, y = _data.labelled(self, X, y, reset=first)
            codes = _data.places(self.classes_, y)
            if "_run" not in self.__dict__:
                self._begin(sparse.issparse(X))
        except BaseException:
            if first:
                self.__dict__.pop("classes_", None)
            raise
        names = _data.class_names(self.classes_)
        examples = _data.examples(X, codes, names, _data.weights(sample_weight, X), self._feature_names())
        self._native(self._run.learn, examples, self._threads())
        self.n_iter_ = 1
        return self

    def _begin(self, sparse_rows: bool) -> None:
        if "_fit" in self.__dict__:
            warnings.warn("fit has ended its run: partial_fit forgets it, and begins a new one", UserWarning, stacklevel=3)
        if self.class_weight == "balanced":
            raise ValueError('class_weight="balanced" needs all rows at once: give weights, or sample_weight')
        if self._folds() is not None:
            raise ValueError("calibrate needs all rows at once")
        algorithm, parameters = self._stream_parameters()
        names = _data.class_names(self.classes_)
        self._run = self._native(
            _core.Run, algorithm, parameters, names, self.n_features_in_, self._kernel(), sparse_rows
        )
        self._sparse = sparse_rows
        self.__dict__.pop("_fit", None)

    def _stream_parameters(self) -> tuple[str, str]:
        """Rows of a stream are visited as they come, and no pocket counts over all of them."""
        copy = type(self)(**self.get_params(deep=False))
        copy.shuffle = False
        copy.n_features_in_ = self.n_features_in_
        if hasattr(copy, "pocket"):
            copy.pocket = False
        return copy._asked(self.classes_)


@learns("perceptron")
@dataclass(**PARAMETERS)
class Perceptron(Online, Planar):
    """Rosenblatt's perceptron: on a mistake w ← w + y·x. Keeps the best weights it met (`pocket`), as it never settles where no plane separates the classes.

    Like `sklearn.linear_model.Perceptron`, except that it stops at a pass without mistakes rather than by `tol`, that several classes are one problem
    (`multi_class="ovr"` for theirs), and that it has no penalty.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(fit_intercept=False, shuffle=False).fit([[3, 2], [-2, 2], [-2, -3]], [1, -1, 1])
    >>> model.coef_, model.report_["mistakes"]
    (array([[ 1., -1.]]), 2)
    """

    eta0: float = 1.0
    tie: str = "negative"
    init: str = "zero"
    pocket: bool = True
    max_iter: int = 100


@learns("averaged-perceptron")
@dataclass(**PARAMETERS)
class AveragedPerceptron(Online, Planar):
    """The perceptron that predicts with the mean of all its weights (Freund and Schapire 1999; Collins 2002).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rosenblatt import AveragedPerceptron
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> AveragedPerceptron().fit(X / X.max(axis=0), y).score(X / X.max(axis=0), y) > 0.95
    True
    """

    eta0: float = 1.0
    tie: str = "negative"
    init: str = "zero"


@learns("voted-perceptron")
@dataclass(**PARAMETERS)
class VotedPerceptron(Online, Planar):
    """The perceptron whose past weights vote by how long they survived (Freund and Schapire 1999). `coef_` is the mean of those that vote.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import VotedPerceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> VotedPerceptron().fit(X, y == 0).score(X, y == 0)
    1.0
    """

    eta0: float = 1.0
    tie: str = "negative"


@learns("winnow")
@dataclass(**PARAMETERS)
class Winnow(Online, Planar):
    """Multiplicative weights, for few relevant features among many (Littlestone 1988). Features must not be negative unless `balanced`.

    Examples
    --------
    >>> from rosenblatt import Winnow
    >>> Winnow().fit([[1, 0, 0], [0, 1, 1], [1, 1, 0]], ["yes", "no", "yes"]).predict([[1, 0, 1]])
    array(['yes'], dtype='<U3')
    """

    fit_intercept: bool = False
    alpha: float = 2.0
    threshold: float | None = None
    balanced: bool = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self.balanced
        # Without negative weights few things can be said.
        tags.classifier_tags.poor_score = not self.balanced
        return tags


@learns("passive-aggressive")
@dataclass(**PARAMETERS)
class PassiveAggressiveClassifier(Online, Planar):
    """The smallest move that gives each example a margin of 1, limited by C (Crammer et al. 2006).

    Like `sklearn.linear_model.PassiveAggressiveClassifier`, except that several classes are one problem (`multi_class="ovr"` for theirs).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import PassiveAggressiveClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> PassiveAggressiveClassifier(C=0.1).fit(X, y == 0).score(X, y == 0)
    1.0
    """

    C: float = 1.0
    loss: str = "hinge"
    max_iter: int = 100

    _table: ClassVar[dict[str, Named]] = {
        "loss": words("variant", {"hinge": "I", "squared_hinge": "II", "plain": "plain"})
    }
    _documents: ClassVar[dict[str, str]] = {
        "C": "The longest step.",
        "loss": '"hinge" (PA-I), "squared_hinge" (PA-II), or "plain", which C does not limit.',
    }


@learns("alma")
@dataclass(**PARAMETERS)
class ALMA(Online, Planar):
    """The approximate large margin algorithm, p = 2 (Gentile 2001).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import ALMA
    >>> X, y = load_iris(return_X_y=True)
    >>> ALMA().fit(X, y == 0).score(X, y == 0)
    1.0
    """

    alpha: float = 0.9
    b: float | None = None
    C: float = float(np.sqrt(2))

    _documents: ClassVar[dict[str, str]] = {
        "alpha": "How far from the largest margin is near enough, more than 0 and at most 1.",
        "C": "Scales the steps.",
    }


@learns("arow")
@dataclass(**PARAMETERS)
class AROW(Online, Planar):
    """Adaptive regularization of weights: a variance for each, so that rare features move far (Crammer, Kulesza, Dredze 2009).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import AROW
    >>> X, y = load_iris(return_X_y=True)
    >>> AROW().fit(X, y).score(X, y) > 0.9
    True
    """

    r: float = 1.0
