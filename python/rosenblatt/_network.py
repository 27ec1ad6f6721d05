"""Networks of units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ._base import PARAMETERS, Classifier, learns
from ._parameters import Named, words


def _auto(value: Any) -> Any:
    return None if value == "auto" else value


@learns("network")
@dataclass(**PARAMETERS)
class MLPClassifier(Classifier):
    """One or two hidden layers of units, trained by back-propagation.

    Like `sklearn.neural_network.MLPClassifier`, with at most two layers; `alpha` is not divided by the number of rows.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from rosenblatt import MLPClassifier
    >>> X, y = make_circles(200, factor=0.3, noise=0.1, random_state=0)
    >>> MLPClassifier(hidden_layer_sizes=(20,), max_iter=500).fit(X, y).score(X, y) > 0.95
    True
    """

    hidden_layer_sizes: Any = (100,)
    activation: str = "relu"
    solver: str = "adam"
    alpha: float = 1e-5
    batch_size: Any = "auto"
    learning_rate_init: float | None = None
    momentum: float = 0.9
    max_iter: int = 200
    n_iter_no_change: int = 10
    early_stopping: bool = False
    validation_fraction: float = 0.1
    class_weight: Any = None

    _probabilistic: ClassVar[bool] = True
    _table: ClassVar[dict[str, Named]] = {
        "hidden_layer_sizes": Named("hidden", lambda sizes: [sizes] if isinstance(sizes, int) else list(sizes), tuple),
        "solver": words("optimizer", {"adam": "adam", "sgd": "momentum"}),
        "alpha": Named("lambda"),
        "batch_size": Named("batch_size", _auto),
        "learning_rate_init": Named("learning_rate"),
        "n_iter_no_change": Named("patience"),
    }
    _documents: ClassVar[dict[str, str]] = {
        "alpha": "λ of λ/2·Σw², which is added to the mean of the losses.",
        "solver": '"adam", or "sgd" with momentum.',
    }
