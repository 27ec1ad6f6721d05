"""Names and values of scikit-learn, and those of the registry: one row a parameter, read in both directions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from . import _core


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Named:
    """A parameter of the registry: its name, and its values from Python's and back."""

    name: str
    to: Callable[[Any], Any] = _same
    back: Callable[[Any], Any] = _same


def words(name: str, table: Mapping[Any, Any]) -> Named:
    """By a table of values; what is not in it is the registry's to refuse."""
    inverse: dict[Any, Any] = {}
    for python, registry in table.items():
        inverse.setdefault(registry, python)
    return Named(name, lambda value: table.get(value, value), lambda value: inverse.get(value, value))


def _hyphens(value: Any) -> Any:
    return value.replace("_", "-") if isinstance(value, str) else value


def _underscores(value: Any) -> Any:
    return value.replace("-", "_") if isinstance(value, str) else value


def _limit(value: Any) -> Any:
    return None if value == -1 else value


def _bytes(value: Any) -> Any:
    return None if value is None else int(value * (1 << 20))


def _mebibytes(value: Any) -> Any:
    return None if value is None else value / (1 << 20)


#: Parameters whose name or values differ from those of the registry; all others are passed as they are.
TABLE: dict[str, Named] = {
    "C": Named("c"),
    "gamma": Named("gamma", back=lambda value: "scale" if value == "usual" else value),
    "max_iter": Named("passes", _limit),
    "tol": Named("gap"),
    "eta0": Named("learning_rate"),
    "shuffle": words("order", {True: "shuffle", False: "cyclic", "random": "random"}),
    "loss": Named("loss", _hyphens, _underscores),
    "multi_class": words("multiclass", {"ovr": "ovr", "ovo": "ovo", "native": "native", "multinomial": "native"}),
    "dual": words("solver", {"auto": "auto", True: "dual", False: "newton"}),
    "cache_size": Named("cache", _bytes, _mebibytes),
}

#: What the library tells users of the command line to do, in the words of Python.
_ADVICE = {
    "--scale standard": "StandardScaler",
    "--scale maxabs": "MaxAbsScaler",
    "--scale minmax": "MinMaxScaler",
    "--scale unit": "Normalizer",
    "--resume MODEL": "warm_start=True",
    "use linear-svm": "use LinearSVC",
    "as `separable` shows": "as rosenblatt.separable shows",
}


def in_python(text: str) -> str:
    """A message of the library as users of Python need it."""
    for command, python in _ADVICE.items():
        text = text.replace(command, python)
    names = {named.name: own for own, named in TABLE.items()}

    def parameter(found: re.Match[str]) -> str:
        name = found[1].replace("-", "_")
        return names.get(name, name)

    return re.sub(r"--([a-z][a-z0-9-]*)", parameter, text)


def told(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls the native module, whose errors are then told in these words."""
    try:
        return function(*arguments)
    except _core.ParameterError:
        raise
    except ValueError as error:
        raise type(error)(in_python(str(error))) from None


#: Parameters that the registry does not know: what Python does about a fit.
OWN = frozenset(
    {
        "bias",
        "break_ties",
        "calibrate",
        "class_weight",
        "decision_function_shape",
        "early_stopping",
        "fit_intercept",
        "intercept_scaling",
        "l1_ratio",
        "n_jobs",
        "probability",
        "random_state",
        "shrinking",
        "validation_fraction",
        "verbose",
        "warm_start",
    }
)

#: What parameters are for. A class may say it otherwise in `_documents`.
DOCUMENTS: dict[str, str] = {
    "C": "What errors cost; the larger, the less regularization.",
    "alpha": "The factor of an update, more than 1.",
    "b": "Scales the margin asked for; None: 1 / alpha.",
    "balanced": "Keep a second set of weights that moves the other way, for features of any sign.",
    "bias": (
        'What becomes of the intercept: "free" (no regularizer touches it, unlike that of scikit-learn\'s LinearSVC) or '
        '"regularized" (it counts as a weight).'
    ),
    "break_ties": "Taken for scikit-learn's sake: ties of votes are always broken by summed scores.",
    "budget": "At most so many examples are stored for each binary problem; None: all it needs.",
    "cache_size": "MiB for kernel rows; None: a quarter of the memory that is free.",
    "calibrate": (
        "Folds of a cross-fit that finds out what scores are worth: with it there is `predict_proba`, which never contradicts `predict`."
    ),
    "class_weight": 'What each class counts: a dict, "balanced", or None for 1 each.',
    "coef0": "The constant of poly and sigmoid.",
    "decision_function_shape": '"ovr": one score a class; "ovo": one a pair of classes.',
    "degree": "The degree of poly.",
    "dual": 'How the objective is minimized: "auto", True (through its dual) or False (Newton\'s method).',
    "early_stopping": "Hold out a part of the rows, and keep the pass that is best on them.",
    "eta0": "The size of a step.",
    "fit_intercept": "Whether there is a constant term.",
    "forget": 'What happens at a full budget: "forgetron" (all shrink, the oldest goes) or "projectron".',
    "gamma": 'Of poly, rbf, sigmoid, laplacian and chi2: a number, "scale" for 1 / (n_features * X.var()), or "auto" for 1 / n_features.',
    "init": 'Weights at the start: "zero" or "random".',
    "intercept_scaling": "Taken for scikit-learn's sake, and only as 1: a free intercept needs no scaling.",
    "kernel": '"linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2", "precomputed", or a function of two blocks of rows.',
    "l1_ratio": "0 for the penalty l2, 1 for l1; nothing between.",
    "loss": 'What an error costs by its depth: "hinge" or "squared_hinge".',
    "max_iter": "At most so many passes over the data.",
    "multi_class": 'How more than two classes are treated: "ovr", "ovo", or, where there is such a problem, "native" (all in one).',
    "n_jobs": "Threads. None: all there are, as the model is the same for any number; joblib's processes share them.",
    "nu": "At most this share of rows is inside the margin, and at least this share are support vectors.",
    "penalty": 'What keeps weights small: "l2" or "l1".',
    "pocket": "Keep the best weights met rather than the last.",
    "predictor": 'Which of the weights it went through predict: "last", "averaged" or "voted".',
    "probability": "True is the same as calibrate=5.",
    "projection_error": "Projectron projects examples this near to the others though there is room.",
    "r": "The larger, the smaller the steps.",
    "random_state": "A seed. None is 0: the same data give the same model.",
    "shrinking": "Taken for scikit-learn's sake: rows far from their bounds are always left out, and made up for.",
    "shuffle": 'Rows in a new order each pass (True), as they stand (False), or drawn with replacement ("random").',
    "slack": 'What rows inside the margin cost: "linear", "squared", or "none" may be.',
    "solver": 'How the objective is minimized: "auto", "dual" or "newton".',
    "activation": 'How hidden units squash what they receive: "relu", "tanh" or "logistic".',
    "batch_size": 'Rows of a step; "auto": a hundredth of them, from 16 to 128.',
    "binarize": "A feature is there where it is more than this.",
    "fit_prior": "Whether classes are as likely as they are frequent; else all alike.",
    "hidden_layer_sizes": "Units of the hidden layers, one or two.",
    "learning_rate_init": "The size of a step; None: 0.001 for adam, 0.05 for sgd.",
    "momentum": "The share of the last move that is made again (sgd).",
    "n_iter_no_change": "Stop after so many passes that made nothing better.",
    "var_smoothing": "This share of the largest variance of a feature is added to each.",
    "average": "Predict with the mean over the last passes.",
    "project": "Keep the weights in the ball that the optimum lies in.",
    "threshold": "The score above which the second class is predicted; None: half the number of features, or 0 if balanced.",
    "tie": 'What a score of exactly 0 means: "negative", "positive", or always a "mistake" while learning.',
    "time_limit": "Stop after so many seconds, with the best model so far and its gap.",
    "tol": "Stop when the relative duality gap, (primal - dual) / primal, is at most this.",
    "validation_fraction": "The share of rows to hold out for early stopping.",
    "verbose": "Show a bar (tqdm's, where that is installed).",
    "warm_start": "Start from the model of the last fit, if it had the same classes and features.",
}
