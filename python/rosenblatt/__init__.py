"""Fast linear and kernel classifiers with proof of what was learned, in scikit-learn's conventions.

>>> from sklearn.datasets import load_iris
>>> from rosenblatt import LinearSVC
>>> X, y = load_iris(return_X_y=True)
>>> svm = LinearSVC(loss="hinge").fit(X, y)
>>> svm.dual_gap_ <= 1e-3  # no further from the optimum than this, whatever the data
True
"""

from ._bayes import BernoulliNB, GaussianNB, MultinomialNB
from ._core import NotSeparableError
from ._files import load, save
from ._kernels import SVC, KernelLogisticRegression, KernelPerceptron, NuSVC
from ._linear import CrammerSingerSVC, HardMarginSVC, LinearSVC, LogisticRegression, PegasosSVC, SubgradientSVC
from ._loaded import LoadedClassifier
from ._network import MLPClassifier
from ._online import (
    ALMA,
    AROW,
    AveragedPerceptron,
    PassiveAggressiveClassifier,
    Perceptron,
    VotedPerceptron,
    Winnow,
)
from ._proof import Claim, SeparabilityProblem, SeparabilityResult, Verification, separable, verify
from ._transformers import Nystroem, PolynomialMap, RBFSampler

__all__ = [
    "ALMA",
    "AROW",
    "AveragedPerceptron",
    "BernoulliNB",
    "Claim",
    "CrammerSingerSVC",
    "GaussianNB",
    "HardMarginSVC",
    "KernelLogisticRegression",
    "KernelPerceptron",
    "LinearSVC",
    "LoadedClassifier",
    "LogisticRegression",
    "MLPClassifier",
    "MultinomialNB",
    "NotSeparableError",
    "NuSVC",
    "Nystroem",
    "PassiveAggressiveClassifier",
    "PegasosSVC",
    "Perceptron",
    "PolynomialMap",
    "RBFSampler",
    "SVC",
    "SeparabilityProblem",
    "SeparabilityResult",
    "SubgradientSVC",
    "Verification",
    "VotedPerceptron",
    "Winnow",
    "load",
    "save",
    "separable",
    "verify",
]
