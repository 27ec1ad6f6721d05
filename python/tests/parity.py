"""Ours and scikit-learn's on twelve data sets: accuracy, objective, support vectors. Prints the page `docs/parity.md`.

Objectives are computed by the code below, from coefficients and data alone, for both. The page is refused where ours is above theirs by more than its proved gap.
"""

from __future__ import annotations

import sys
import warnings
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import datasets, linear_model, svm
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

import rosenblatt

#: What both are asked for.
TOL = 1e-4


def embedded(load: Any) -> tuple[Any, Any]:
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def words() -> tuple[Any, Any]:
    """Like counts of words: most are 0, and each class prefers some."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 600)
    often = rng.gamma(0.2, size=(4, 2000))
    X = rng.poisson(40 * often[y] / often.sum(axis=1)[y, None]).astype(float)
    return sparse.csr_array(np.log1p(X)), y


def crosses() -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(400, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def made(make: Any, **parameters: Any) -> tuple[Any, Any]:
    X, y = make(random_state=0, **parameters)
    return StandardScaler().fit_transform(X), y


DATA = {
    "iris": lambda: embedded(datasets.load_iris),
    "wine": lambda: embedded(datasets.load_wine),
    "breast cancer": lambda: embedded(datasets.load_breast_cancer),
    "digits": lambda: embedded(datasets.load_digits),
    "moons": lambda: made(datasets.make_moons, n_samples=500, noise=0.3),
    "circles": lambda: made(datasets.make_circles, n_samples=500, noise=0.2, factor=0.5),
    "blobs": lambda: made(datasets.make_blobs, n_samples=600, centers=6, cluster_std=2.0),
    "crosses": crosses,
    "quantiles": lambda: made(datasets.make_gaussian_quantiles, n_samples=500, n_features=5, n_classes=3),
    "wide": lambda: made(datasets.make_classification, n_samples=150, n_features=500, n_informative=10),
    "unbalanced": lambda: made(datasets.make_classification, n_samples=1000, weights=[0.95], flip_y=0.02),
    "words": words,
}


def pairs(model: Any, X: Any, y: Any) -> Any:
    """For each pair of classes: its coefficients, one a support vector, and the scores and signs of its rows."""
    places = np.searchsorted(model.classes_, y)
    scores, k = model.decision_function(X), len(model.classes_)
    table = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
    if k == 2:
        yield table[0], scores, np.where(places == 1, 1, -1)
        return
    owners = np.repeat(np.arange(k), model.n_support_)
    for problem, (a, b) in enumerate(combinations(range(k), 2)):
        rows = (places == a) | (places == b)
        coefficients = np.where(owners == a, table[b - 1], np.where(owners == b, table[a], 0))
        yield coefficients, scores[rows, problem], np.where(places[rows] == a, 1, -1)


def machine_objective(model: Any, X: Any, y: Any) -> float:
    K = rbf_kernel(model.support_vectors_, gamma=model.gamma)
    total = 0.0
    for a, scores, signs in pairs(model, X, y):
        total += 0.5 * a @ K @ a + model.C * np.maximum(0, 1 - signs * scores).sum()
    return float(total)


def squared_hinge_objective(model: Any, X: Any, y: Any) -> float:
    scores = X @ model.coef_.T + model.intercept_
    places = np.searchsorted(model.classes_, y)
    signs = np.where(places[:, None] == (np.arange(len(model.classes_)) if scores.shape[1] > 1 else [1]), 1, -1)
    norm = 0.5 * (np.sum(model.coef_**2) + np.sum(model.intercept_**2))
    return float(norm + model.C * np.sum(np.maximum(0, 1 - signs * scores) ** 2))


def logistic_objective(model: Any, X: Any, y: Any) -> float:
    places = np.searchsorted(model.classes_, y)
    likely = model.predict_log_proba(X)[np.arange(len(y)), places]
    return float(0.5 * np.sum(model.coef_**2) - model.C * likely.sum())


def learners(X: Any) -> dict[str, tuple[Any, Any, Any]]:
    gamma = 1.0 / X.shape[1]
    machine = {"C": 1.0, "gamma": gamma, "decision_function_shape": "ovo", "tol": TOL}
    plane = {"C": 0.1, "tol": TOL}
    return {
        "SVC": (svm.SVC(**machine), rosenblatt.SVC(**machine), machine_objective),
        "LinearSVC": (
            svm.LinearSVC(max_iter=100_000, **plane),
            rosenblatt.LinearSVC(bias="regularized", **plane),
            squared_hinge_objective,
        ),
        "LogisticRegression": (
            linear_model.LogisticRegression(max_iter=10_000, **plane),
            rosenblatt.LogisticRegression(**plane),
            logistic_objective,
        ),
    }


def row(data: str, name: str, X: Any, y: Any, theirs: Any, ours: Any, objective: Any) -> tuple[str, bool]:
    theirs.fit(X, y)
    ours.fit(X, y)
    values = objective(theirs, X, y), objective(ours, X, y)
    above = values[1] / values[0] - 1
    vectors = "" if name != "SVC" else supports(theirs, ours)
    cells = [
        data,
        name,
        f"{theirs.score(X, y):.4f}",
        f"{ours.score(X, y):.4f}",
        f"{values[0]:.6g}",
        f"{values[1]:.6g}",
        f"{above:+.1e}",
        f"{ours.dual_gap_:.1e}",
        vectors,
    ]
    # Kernel values are of single precision.
    return f"| {' | '.join(cells)} |", above <= ours.dual_gap_ + 1e-6


def supports(theirs: Any, ours: Any) -> str:
    a, b = set(theirs.support_), set(ours.support_)
    return f"{len(a)}, {len(b)}, {len(a & b)}"


HEAD = """# Parity with scikit-learn

What `cargo xtask parity` found: the estimators of the Python package and scikit-learn's of the same names, on the same data, asked for the same (`tol={tol}`). Data are scaled
to variance 1, except words and crosses. Objectives are computed from coefficients and data by the same code for both; *above* is by how much ours is larger than theirs,
relative (less than 0: smaller), and *gap* by how much any could be smaller than ours, as proved by the fit. LinearSVC has `bias="regularized"` here, as scikit-learn's.
Support vectors are theirs, ours, and in both.

| data | learner | accuracy, theirs | ours | objective, theirs | ours | above | gap | support vectors |
|---|---|---|---|---|---|---|---|---|"""


def main() -> int:
    warnings.simplefilter("ignore", ConvergenceWarning)
    lines, failed = [HEAD.format(tol=TOL)], []
    for data, load in DATA.items():
        X, y = load()
        for name, (theirs, ours, objective) in learners(X).items():
            line, within = row(data, name, X, y, theirs, ours, objective)
            lines.append(line)
            if not within:
                failed.append(f"{name} on {data}")
    print("\n".join(lines))
    if failed:
        sys.stderr.write(f"ours is above theirs by more than its gap: {', '.join(failed)}\n")
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main())
