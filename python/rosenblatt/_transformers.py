"""Explicit feature maps, for linear learners to go beyond planes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core, _data
from ._parameters import told

_PLAIN: dict[str, Any] = {"eq": False, "repr": False}


class _Mapped(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A transformer that is a map of the native module."""

    n_jobs: int | None
    random_state: Any = None
    _kernels: ClassVar[dict[str, list[str]]] = _core.kernels()

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learns the features, and draws what is random."""
        X = _data.rows(validate_data(self, X, **_data.ROWS))
        seed = _data.seed(self.random_state)
        names = getattr(self, "feature_names_in_", None)
        names = None if names is None else [str(name) for name in names]
        try:
            self._map = told(_core.Map.fit, self._kind(), X, names, seed, _data.threads(self.n_jobs))
        except _core.ParameterError as error:
            raise ValueError(f"{type(self).__name__}: {error.args[1]}") from None
        self._n_features_out = self._map.n_outputs
        return self

    def transform(self, X: Any) -> Any:
        """The mapped rows; sparse where X is and the map keeps zeros."""
        check_is_fitted(self)
        X = _data.new_rows(self, X)
        mapped = told(self._map.apply, X, _data.threads(self.n_jobs))
        if not isinstance(mapped, tuple):
            return mapped
        container = sparse.csr_array if isinstance(X, sparse.sparray) else sparse.csr_matrix
        return container(mapped, shape=(X.shape[0], self._n_features_out))

    def _kind(self) -> str:
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return "_map" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags


@dataclass(**_PLAIN)
class PolynomialMap(_Mapped):
    """All products of up to `degree` features, weighted so that dot products of mapped rows are (u·v + 1)^degree; with `homogeneous`, (u·v)^degree.

    Unlike `sklearn.preprocessing.PolynomialFeatures`, whose products all have weight 1: a regularizer then sees the polynomial kernel.

    Parameters
    ----------
    degree : default 2
        How many features a product has at the most.
    homogeneous : default False
        Products of exactly so many.
    n_jobs : default None
        Threads; None: all there are.

    Examples
    --------
    >>> from rosenblatt import PolynomialMap
    >>> PolynomialMap(homogeneous=True).fit_transform([[1.0, 2.0]])
    array([[1.        , 2.82842712, 4.        ]])
    """

    degree: int = 2
    homogeneous: bool = False
    n_jobs: int | None = None

    def _kind(self) -> str:
        return f"{'homogeneous' if self.homogeneous else 'poly'}:{self.degree}"

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Such as x1²·x2, x1 the first feature if it has no name."""
        check_is_fitted(self)
        return np.array([self._map.name(j) for j in range(self._n_features_out)], dtype=object)


@dataclass(**_PLAIN)
class Nystroem(_Mapped):
    """What a kernel sees of rows from where some of them stand (Williams and Seeger 2001).

    Like `sklearn.kernel_approximation.Nystroem`: the same space for the same landmarks, turned (a Cholesky factor instead of a root).

    Parameters
    ----------
    kernel : default 'rbf'
        Any but precomputed.
    gamma : default None
        None: 1 / n_features; "scale": 1 / (n_features * X.var()).
    coef0, degree : default None
        The constant (1 for poly, else 0) and the degree (3) of the kernel.
    n_components : default 100
        How many different rows are drawn.
    random_state : default None
        A seed; None is 0.
    n_jobs : default None
        Threads; None: all there are.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.pipeline import make_pipeline
    >>> from rosenblatt import LinearSVC, Nystroem
    >>> X, y = make_circles(200, factor=0.3, noise=0.1, random_state=0)
    >>> make_pipeline(Nystroem(n_components=30), LinearSVC()).fit(X, y).score(X, y)
    1.0
    """

    kernel: str = "rbf"
    gamma: Any = None
    coef0: float | None = None
    degree: int | None = None
    n_components: int = 100
    random_state: Any = None
    n_jobs: int | None = None

    def _kind(self) -> str:
        known = self._kernels.get(self.kernel, [])
        gamma = 1.0 / self.n_features_in_ if self.gamma is None else self.gamma
        given = {"gamma": None if gamma == "scale" else gamma, "degree": self.degree, "coef0": self.coef0}
        options = [f"{name}={value}" for name, value in given.items() if name in known and value is not None]
        return ":".join([f"nystroem:{self.n_components}", self.kernel, *options])


@dataclass(**_PLAIN)
class RBFSampler(_Mapped):
    """Cosines along random directions, whose dot products come near exp(−γ‖u − v‖²) (Rahimi and Recht 2007).

    Like `sklearn.kernel_approximation.RBFSampler`, drawn otherwise.

    Parameters
    ----------
    gamma : default 1.0
        Of the kernel; "scale": 1 / (n_features * X.var()).
    n_components : default 100
        How many.
    random_state : default None
        A seed; None is 0.
    n_jobs : default None
        Threads; None: all there are.

    Examples
    --------
    >>> from rosenblatt import RBFSampler
    >>> RBFSampler(n_components=50).fit_transform([[0.0, 1.0], [1.0, 0.0]]).shape
    (2, 50)
    """

    gamma: Any = 1.0
    n_components: int = 100
    random_state: Any = None
    n_jobs: int | None = None

    def _kind(self) -> str:
        gamma = "" if self.gamma == "scale" else f":gamma={self.gamma}"
        return f"fourier:{self.n_components}{gamma}"
