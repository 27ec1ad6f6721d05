"""Models of algorithms that have no class here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._base import PARAMETERS, Planar


@dataclass(**PARAMETERS)
class LoadedClassifier(Planar):
    """A model from a file whose algorithm has no estimator: it predicts, and cannot be fitted."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Is refused."""
        raise TypeError("a LoadedClassifier is what a file holds; fit an estimator of its algorithm instead")
