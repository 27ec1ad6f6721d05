"""Naive Bayes: classes by what each feature tells by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ._base import PARAMETERS, Classifier, learns


@dataclass(**PARAMETERS)
class Bayes(Classifier):
    """Parameters of all of them."""

    fit_prior: bool = True
    class_weight: Any = None

    _probabilistic: ClassVar[bool] = True
    #: Of a feature within a class.
    _distribution: ClassVar[str] = ""

    def _request(self) -> tuple[str, dict[str, Any]]:
        algorithm, parameters = super()._request()
        return algorithm, parameters | {"distribution": self._distribution}

    @classmethod
    def _learned(cls, parameters: dict[str, Any]) -> bool:
        return bool(parameters.get("distribution") == cls._distribution)


@learns("naive-bayes")
@dataclass(**PARAMETERS)
class GaussianNB(Bayes):
    """Features that are normal within each class, with means and variances of their own.

    Like `sklearn.naive_bayes.GaussianNB`, without `priors`; the smoothed variance minds sample weights.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> GaussianNB().fit(X, y).score(X, y)
    0.96
    """

    var_smoothing: float = 1e-9

    _distribution: ClassVar[str] = "gaussian"


@dataclass(**PARAMETERS)
class _Counted(Bayes):
    """What is counted."""

    alpha: float = 1.0

    _documents: ClassVar[dict[str, str]] = {"alpha": "What is added to each count."}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Blobs are no counts.
        tags.classifier_tags.poor_score = True
        return tags


@learns("naive-bayes")
@dataclass(**PARAMETERS)
class MultinomialNB(_Counted):
    """Features that are counts, or weights of words: how often each is drawn. Like `sklearn.naive_bayes.MultinomialNB`, without `class_prior`.

    Examples
    --------
    >>> from rosenblatt import MultinomialNB
    >>> model = MultinomialNB().fit([[2, 0], [0, 1], [0, 3]], ["spam", "ham", "ham"])
    >>> model.predict_proba([[1, 0]]).round(2)
    array([[0.31, 0.69]])
    """

    _distribution: ClassVar[str] = "multinomial"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


@learns("naive-bayes")
@dataclass(**PARAMETERS)
class BernoulliNB(_Counted):
    """Features that are there or not. Like `sklearn.naive_bayes.BernoulliNB`, without `class_prior`.

    Examples
    --------
    >>> from rosenblatt import BernoulliNB
    >>> BernoulliNB().fit([[1, 0], [0, 1], [1, 1]], ["yes", "no", "no"]).predict([[1, 0]])
    array(['yes'], dtype='<U3')
    """

    binarize: float = 0.0

    _distribution: ClassVar[str] = "bernoulli"
