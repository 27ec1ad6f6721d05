"""Peers of `tune.py`: searches of scikit-learn and LIBLINEAR, each in a process of its own."""

import time
import warnings

import common
import numpy as np
import peers

FOLDS = 5


def folds():
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(FOLDS, shuffle=True, random_state=0)


def search(learner, grid, x, y):
    """Seconds of a search over a grid with two jobs and the last fit on all rows, and what it found."""
    from sklearn.model_selection import GridSearchCV

    warnings.simplefilter("ignore")
    found = GridSearchCV(learner, grid, cv=folds(), n_jobs=common.THREADS)
    start = time.perf_counter()
    found.fit(x, y)
    seconds = time.perf_counter() - start
    results = found.cv_results_
    scores = [results[f"split{fold}_test_score"] for fold in range(FOLDS)]
    cells = [
        {"parameters": {name: float(value) for name, value in parameters.items()}, "scores": [float(of[at]) for of in scores]}
        for at, parameters in enumerate(results["params"])
    ]
    return {"seconds": seconds, "cells": cells}


def kernel(path, costs, widths):
    """scikit-learn-intelex over C and γ of the Gaussian kernel, on dense f32 rows."""
    from sklearnex.svm import SVC

    x, y = peers.arrays(path)
    return search(SVC(cache_size=1000), {"C": costs, "gamma": widths}, np.ascontiguousarray(x.toarray(), np.float32), y)


def linear(path, costs):
    """scikit-learn's LinearSVC without bias over C, f64."""
    from sklearn.svm import LinearSVC

    x, y = peers.arrays(path)
    return search(LinearSVC(fit_intercept=False), {"C": costs}, x.astype(np.float64), y)


def liblinear(path, costs):
    """LIBLINEAR's -C, which doubles C from the first on, each solution the start of the next, and has no last fit."""
    from liblinear.liblinearutil import parameter, problem, train

    x, y = peers.arrays(path)
    data = problem(y, x.astype(np.float64))
    options = parameter(f"-C -s 2 -v {FOLDS} -c {costs[0]} -q")
    start = time.perf_counter()
    best, _, accuracy = train(data, options)
    return {"seconds": time.perf_counter() - start, "best": float(best), "accuracy": float(accuracy)}
