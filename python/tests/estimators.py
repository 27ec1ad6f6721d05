"""All estimators, with parameters under which they are tested."""

import rosenblatt
from rosenblatt._base import BY_ALGORITHM

TRANSFORMERS = [
    rosenblatt.PolynomialMap(),
    rosenblatt.Nystroem(n_components=5),
    rosenblatt.RBFSampler(n_components=5),
]


def classes():
    return [cls for of_algorithm in BY_ALGORITHM.values() for cls in of_algorithm]


def classifiers():
    return [cls() for cls in classes()]
