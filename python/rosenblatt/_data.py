"""From what users have to what the native module takes, without copies where there is a choice."""

from __future__ import annotations

import os
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_non_negative, validate_data

#: How X is checked. The native module refuses NaN and infinities itself, and says where they are.
ROWS: dict[str, Any] = {
    "accept_sparse": "csr",
    "accept_large_sparse": True,
    "dtype": [np.float64, np.float32],
    "order": "C",
    "ensure_all_finite": False,
}


def _checks(estimator: Any) -> dict[str, Any]:
    """The same, for one estimator. Kernel values are few enough to be looked at twice."""
    return ROWS | {"ensure_all_finite": True} if get_tags(estimator).input_tags.pairwise else ROWS


def rows(X: Any) -> Any:
    """Checked rows, with the columns of sparse ones in order; what is the user's own stays as it is."""
    if sparse.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def new_rows(estimator: Any, X: Any) -> Any:
    """Rows to predict."""
    return rows(validate_data(estimator, X, reset=False, **_checks(estimator)))


def labelled(estimator: Any, X: Any, y: Any, reset: bool = True) -> tuple[Any, Any]:
    """Rows to learn from, and their labels."""
    X, y = validate_data(estimator, X, y, reset=reset, **_checks(estimator))
    check_classification_targets(y)
    if get_tags(estimator).input_tags.positive_only:
        check_non_negative(X, type(estimator).__name__)
    return rows(X), y


def encode(estimator: Any, y: Any) -> tuple[Any, Any]:
    """The classes in order, and the place of each label among them."""
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs samples of at least 2 classes in the data, "
            f"but the data contains only one class: {classes[0]!r}"
        )
    return classes, codes


def places(classes: Any, y: Any) -> Any:
    """The place of each label among classes that are known."""
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    unknown = classes[codes] != y
    if np.any(unknown):
        new = np.unique(np.asarray(y)[unknown])
        raise ValueError(f"classes {new!r} are not among the ones known from before: {classes!r}")
    return codes


#: Whole numbers below this are doubles.
_EXACT = 2**53


def class_names(classes: Any) -> list[float | str]:
    """The classes as the model file knows them: numbers, or texts."""
    numeric = classes.dtype.kind in "iuf" and bool(np.all(np.abs(classes.astype(float)) < _EXACT))
    return [float(c) for c in classes] if numeric else [str(c) for c in classes]


def written(name: float | str) -> str:
    """A class as a word, which the native module finds it by."""
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


def classes_of(names: list[float | str]) -> Any:
    """The classes of a model file as an array."""
    if all(isinstance(name, float) for name in names):
        numbers = np.array(names, dtype=np.float64)
        return numbers.astype(np.int64) if np.all(numbers == np.rint(numbers)) else numbers
    return np.array([written(name) for name in names])


def examples(
    X: Any, codes: Any, names: list[float | str], weights: Any = None, features: Any = None
) -> dict[str, Any]:
    """What the native module learns from."""
    return {
        "rows": X,
        "codes": np.ascontiguousarray(codes, dtype=np.uint32),
        "classes": names,
        "weights": weights,
        "names": None if features is None else [str(name) for name in features],
    }


def weights(sample_weight: Any, X: Any) -> Any:
    """One weight a row, or nothing."""
    if sample_weight is None:
        return None
    return np.ascontiguousarray(_check_sample_weight(sample_weight, X, dtype=np.float64), dtype=np.float64)


def threads(n_jobs: int | None) -> int:
    """How many threads compute. None: all there are, or as many as `OMP_NUM_THREADS` says, which joblib sets for its processes."""
    if n_jobs is not None:
        return int(joblib.effective_n_jobs(n_jobs))
    asked = os.environ.get("OMP_NUM_THREADS", "")
    available = int(joblib.cpu_count())
    return max(1, min(available, int(asked))) if asked.isdigit() else available


def seed(random_state: Any) -> int:
    """The seed of a run: None is 0, so that the same data always give the same model."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
