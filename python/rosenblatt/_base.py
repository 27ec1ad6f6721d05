"""What all classifiers share. One of them is a class with its parameters, their defaults and the name of an algorithm."""

from __future__ import annotations

import inspect
import json
import warnings
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _core, _data
from ._parameters import DOCUMENTS, OWN, TABLE, Named, in_python, told
from ._progress import CallbackSupportMixin, Watcher, with_callbacks

#: The classes by the algorithms that their models come from.
BY_ALGORITHM: dict[str, list[type[Classifier]]] = {}

#: For `@dataclass(**PARAMETERS)`: fields are parameters, and nothing else of a dataclass is wanted.
PARAMETERS: dict[str, Any] = {"eq": False, "repr": False, "kw_only": True}


def learns(algorithm: str) -> Any:
    """Tells which algorithm of the registry a class is, and writes the list of its parameters into its docstring."""

    def register(cls: type[Classifier]) -> type[Classifier]:
        cls._algorithm = algorithm
        BY_ALGORITHM.setdefault(algorithm, []).append(cls)
        cls.__doc__ = _documented(cls)
        return cls

    return register


def _documented(cls: type[Classifier]) -> str:
    summary, mark, rest = inspect.cleandoc(cls.__doc__ or "").partition("Examples\n--------")
    lines = [summary.rstrip(), "", "Parameters", "----------"]
    for name, parameter in inspect.signature(cls).parameters.items():
        lines += [f"{name} : default {parameter.default!r}", f"    {cls._documents.get(name) or DOCUMENTS[name]}"]
    lines += ["", "Attributes", "----------"]
    lines += [f"{name}\n    {text}" for name, text in cls._attributes().items()]
    return "\n".join([*lines, "", mark + rest])


def _has_probabilities(estimator: Classifier) -> bool:
    if estimator._folds() is None and not estimator._probabilistic:
        raise AttributeError(
            f"{type(estimator).__name__} has no probabilities unless they are asked for: calibrate=5"
        )
    return True


@dataclass(**PARAMETERS)
class Classifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """A classifier whose fit is one of the registry's."""

    random_state: Any = None
    n_jobs: int | None = None
    verbose: bool | int = False
    time_limit: float | None = None
    calibrate: int | None = None

    _algorithm: ClassVar[str] = ""
    #: Whether scores are log odds without calibration.
    _probabilistic: ClassVar[bool] = False
    #: Whether it stops at a duality gap, so that to stop without is worth a warning.
    _certified: ClassVar[bool] = False
    _table: ClassVar[dict[str, Named]] = {}
    _documents: ClassVar[dict[str, str]] = {}

    # What a class may say otherwise.

    def _request(self) -> tuple[str, dict[str, Any]]:
        """The algorithm, and parameters by their names in the registry; None is left to its defaults."""
        given = {name: getattr(self, name) for name in _names(type(self)) if name not in OWN}
        named = {self._named(name).name: self._named(name).to(value) for name, value in given.items()}
        if hasattr(self, "fit_intercept"):
            named["bias"] = getattr(self, "bias", "free") if self.fit_intercept else "none"
        named["seed"] = _data.seed(self.random_state)
        return self._algorithm, {name: value for name, value in named.items() if value is not None}

    @classmethod
    def _understood(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """The parameters of a model that was not learned here, by their names in Python."""
        known = {"fit_intercept": parameters.get("bias") != "none", "random_state": parameters.get("seed")}
        if parameters.get("bias") != "none":
            known["bias"] = parameters.get("bias")
        for name in _names(cls):
            named = cls._named(name)
            if name not in OWN and named.name in parameters:
                known[name] = named.back(parameters[named.name])
        return {name: value for name, value in known.items() if name in _names(cls) and value is not None}

    @classmethod
    def _learned(cls, parameters: dict[str, Any]) -> bool:
        """Whether a model with these parameters is one of this class rather than of another with its algorithm."""
        return True

    @classmethod
    def _attributes(cls) -> dict[str, str]:
        common = {
            "classes_": "The classes, sorted.",
            "n_features_in_": "How many features were seen.",
            "feature_names_in_": "Their names, if they had any.",
            "n_iter_": "Passes over the data.",
            "report_": "The whole report of the fit, as a dict.",
        }
        if not cls._certified:
            return common
        return common | {
            "objective_": "The primal objective; of a reduction the sum over its problems.",
            "dual_gap_": "Its relative duality gap: no model has an objective lower by more than this share.",
            "certificate_": "Primal, dual, gap and what they are of, as a dict.",
        }

    def _kernel(self) -> Any:
        """A kernel that is a function."""
        return None

    def _folds(self) -> int | None:
        return self.calibrate

    # What sklearn asks for.

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learns from rows and their labels."""
        X, y = _data.labelled(self, X, y)
        classes, codes = _data.encode(self, y)
        weights = _data.weights(sample_weight, X)
        start = self._start(classes)
        examples = _data.examples(X, codes, _data.class_names(classes), weights, self._feature_names())
        watcher = Watcher(self, X, y)
        course = {
            "kernel": self._kernel(),
            "start": start,
            "holdout": self._holdout(),
            "calibrate": self._folds(),
            "threads": _data.threads(self.n_jobs),
            "watcher": watcher if watcher.needed else None,
        }
        try:
            fit = self._native(_core.learn, *self._asked(classes), examples, course)
        except BaseException:
            watcher.abandon()
            raise
        self._adopt(fit, classes, sparse.issparse(X))
        watcher.close(self.n_iter_)
        if self._certified and not watcher.stopped:
            self._warn()
        return self

    def predict(self, X: Any) -> Any:
        """The class of each row."""
        model = self._model()
        return self.classes_[self._native(model.predict, _data.new_rows(self, X), self._threads())]

    def decision_function(self, X: Any) -> Any:
        """Scores: of two classes one, above 0 for the second; of more one a class, the highest that of the predicted one."""
        model = self._model()
        scores = self._native(model.class_scores, _data.new_rows(self, X), self._threads())
        return scores.ravel() if scores.shape[1] == 1 else scores

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Any:
        """The probability of each class; the largest is always that of the predicted one."""
        model = self._model()
        return self._native(model.probabilities, _data.new_rows(self, X), self._threads())

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of the probability of each class."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def report_(self) -> dict[str, Any]:
        """How the fit went, as the model file has it."""
        return dict(json.loads(self._fitted("report_").report()))

    # What both are made of.

    def _native(self, function: Any, *arguments: Any) -> Any:
        """Calls the native module, and tells of parameters by the names they have here."""
        try:
            return told(function, *arguments)
        except _core.ParameterError as error:
            name, problem = error.args
            python = {self._named(own).name: own for own in _names(type(self)) if own not in OWN}
            shown = python.get(name, name)
            value = f"={getattr(self, shown)!r}" if hasattr(self, shown) else ""
            raise ValueError(f"{type(self).__name__}: {shown}{value}: {in_python(problem)}") from None

    @classmethod
    def _named(cls, name: str) -> Named:
        return cls._table.get(name) or TABLE.get(name) or Named(name)

    def _asked(self, classes: Any) -> tuple[str, str]:
        """The algorithm and its parameters, as JSON."""
        algorithm, parameters = self._request()
        class_weight = getattr(self, "class_weight", None)
        if isinstance(class_weight, dict):
            names = dict(zip(classes.tolist(), _data.class_names(classes), strict=True))
            each = {_data.written(names[label]): float(weight) for label, weight in class_weight.items() if label in names}
            parameters["class_weight"] = {"each": each}
        elif class_weight is not None:
            parameters["class_weight"] = class_weight
        return algorithm, json.dumps(parameters, default=_plain)

    def _feature_names(self) -> Any:
        return getattr(self, "feature_names_in_", None)

    def _threads(self) -> int:
        return _data.threads(self.n_jobs)

    def _start(self, classes: Any) -> Any:
        """What a warm start goes on from."""
        known = getattr(self, "_fit", None)
        if not getattr(self, "warm_start", False) or known is None:
            return None
        same = np.array_equal(self.classes_, classes) and known.n_features == self.n_features_in_
        return known if same and known.names() == _texts(self._feature_names()) else None

    def _holdout(self) -> float | None:
        return self.validation_fraction if getattr(self, "early_stopping", False) else None

    def _adopt(self, fit: Any, classes: Any, sparse_rows: bool = False) -> None:
        """Takes what was learned."""
        self.__dict__.pop("_run", None)
        self._fit, self._sparse, self.classes_ = fit, sparse_rows, classes
        report = self.report_
        self.n_iter_ = max(1, report.get("solver_passes") or len(report["passes"]))
        if self._certified:
            self.objective_, self.dual_gap_ = report["primal"], report["gap"]
            self.certificate_ = {name: report.get(name) for name in _CERTIFICATE}

    def _warn(self) -> None:
        report = self.report_
        if report["status"] == "converged":
            return
        gap = "unknown" if report["gap"] is None else f"{report['gap']:.2g}"
        causes = "".join(f" {in_python(cause)}" for cause in report.get("diagnosis", []))
        warnings.warn(
            f"{type(self).__name__} ended by its {report['status'].replace('_', ' ')} after {self.n_iter_} passes with a relative duality gap of {gap}, "
            f"where {self.tol:g} was asked for: no model has an objective lower by more than this share.{causes}",
            ConvergenceWarning,
            # Past what manages callbacks.
            stacklevel=4,
        )

    def _model(self) -> Any:
        """What predicts."""
        check_is_fitted(self)
        run = self.__dict__.get("_run")
        return self._fit if run is None else run.fit()

    def _fitted(self, attribute: str) -> Any:
        """The same for attributes, which there are none of before a fit."""
        if "classes_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no {attribute} before it is fitted")
        return self._model()


_CERTIFICATE = (
    "status",
    "objective",
    "primal",
    "dual",
    "gap",
    "violation",
    "margin",
    "corridor",
    "radius",
    "support_vectors",
    "rows",
    "solver",
)


def _names(cls: type[Classifier]) -> list[str]:
    return [field.name for field in fields(cls)]


def _plain(value: Any) -> Any:
    """NumPy's numbers, which JSON does not know."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is no parameter")


def _texts(names: Any) -> Any:
    return None if names is None else [str(name) for name in names]


@dataclass(**PARAMETERS)
class Planar(Classifier):
    """A classifier with weights."""

    fit_intercept: bool = True

    @classmethod
    def _attributes(cls) -> dict[str, str]:
        return super()._attributes() | {
            "coef_": "Weights, a row a plane: one of two classes, else one a class, or a pair of classes in one-vs-one.",
            "intercept_": "The constant term of each plane.",
        }

    @property
    def coef_(self) -> Any:
        return self._planes("coef_")[0]

    @property
    def intercept_(self) -> Any:
        return self._planes("intercept_")[1]

    def _planes(self, attribute: str) -> Any:
        model = self._fitted(attribute)
        planes = model.planes()
        if planes is None:
            raise AttributeError(f"{attribute}: this model has no planes")
        # scikit-learn scores the first of a pair.
        pairs = model.in_pairs and len(self.classes_) > 2
        return (-planes[0], -planes[1]) if pairs else planes


@dataclass(**PARAMETERS)
class Certified(Classifier):
    """Learners that prove how far they are from the optimum of an objective."""

    tol: float = 1e-3

    _certified: ClassVar[bool] = True


@dataclass(**PARAMETERS)
class Penalized(Certified):
    """Those that weigh errors against the length of weights."""

    C: float = 1.0
    bias: str = "free"
    class_weight: Any = None
    warm_start: bool = False
