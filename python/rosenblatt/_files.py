"""Model files: the same that the command line reads and writes. Nothing in them can be executed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from . import _core, _data
from ._base import BY_ALGORITHM, Classifier
from ._loaded import LoadedClassifier


def save(model: Classifier, path: str | os.PathLike[str]) -> None:
    """Writes a fitted classifier to a model file: whole, or not at all.

    >>> import rosenblatt, tempfile, os
    >>> model = rosenblatt.Perceptron().fit([[1.0], [-1.0]], ["up", "down"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rosenblatt.save(model, os.path.join(folder, "up.rosenblatt"))
    ...     again = rosenblatt.load(os.path.join(folder, "up.rosenblatt"))
    >>> again.predict([[5.0]])
    array(['up'], dtype='<U4')
    """
    if not isinstance(model, Classifier):
        raise TypeError(f"a classifier of rosenblatt was expected, not a {type(model).__name__}; joblib.dump takes any estimator")
    contents, path = model._model().to_bytes(), Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def load(path: str | os.PathLike[str]) -> Classifier:
    """Reads a model file, of Python's or of the command line, into the estimator of its algorithm.

    Numbers are classes again, whole ones as integers; all else is text. A model that scales or maps its features goes on doing so.
    """
    fit = _core.Fit.from_bytes(Path(path).read_bytes())
    return _estimator(fit)


def _estimator(fit: Any) -> Classifier:
    report = LoadedClassifier()
    report._fit, report.classes_ = fit, np.empty(0)
    about = report.report_
    parameters = about["parameters"] or {}
    if parameters.get("lambda"):
        parameters["c"] = 1.0 / (parameters["lambda"] * about["rows"])
    if parameters.get("sigma"):
        parameters["gamma"] = 0.5 / parameters["sigma"] ** 2
    for cls in BY_ALGORITHM.get(about["algorithm"], []):
        if cls._learned(parameters):
            estimator = cls(**cls._understood(parameters))
            break
    else:
        estimator = LoadedClassifier()
    estimator.n_features_in_ = fit.n_features
    if fit.names() is not None:
        estimator.feature_names_in_ = np.array(fit.names(), dtype=object)
    estimator._adopt(fit, _data.classes_of(fit.classes()))
    return estimator
