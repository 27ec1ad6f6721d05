"""Data for the comparisons: made-up rows, and the sets that come with scikit-learn."""

import numpy as np
from sklearn import datasets


def blobs(seed, rows, columns, classes, spread=1.0):
    """Real-valued clouds that overlap more the wider they are spread; labels are whole numbers from 0."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(classes, columns))
    y = rng.integers(classes, size=rows)
    return centres[y] + spread * rng.normal(size=(rows, columns)), y


def dyadic(seed, rows, columns, classes):
    """Quarters between −8 and 8, with which all sums are exact, and many scores exactly 0."""
    x, y = blobs(seed, rows, columns, classes)
    return np.clip(np.round(4 * x) / 4, -8, 8), y


def sparse(seed, rows, columns, classes, density=0.2):
    """Clouds of which most entries are 0."""
    x, y = blobs(seed, rows, columns, classes)
    return x * (np.random.default_rng(seed + 1).random(x.shape) < density), y


def shuffled(loaded, seed=0):
    x, y = loaded
    order = np.random.default_rng(seed).permutation(len(y))
    return x[order], y[order]


def bundled(name):
    """iris, wine, breast_cancer or digits in an order that is fixed but mixed."""
    return shuffled(getattr(datasets, f"load_{name}")(return_X_y=True))


BINARY = {
    "dyadic": lambda: dyadic(1, 120, 6, 2),
    "wide": lambda: dyadic(2, 40, 130, 2),
    "real": lambda: blobs(3, 200, 7, 2),
    "single feature": lambda: blobs(4, 50, 1, 2),
    "breast_cancer": lambda: bundled("breast_cancer"),
}
MULTICLASS = {
    "dyadic": lambda: dyadic(5, 150, 5, 4),
    "real": lambda: blobs(6, 200, 9, 3),
    "iris": lambda: bundled("iris"),
    "wine": lambda: bundled("wine"),
    "digits": lambda: bundled("digits"),
}
