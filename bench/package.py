"""What Python costs: `fit` of the package against `train` of the command line on the same rows, and the memory of a fit on 1 GB of sparse rows. No peers."""

import os
import resource
import sys
import time
import warnings

import common
import numpy as np
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

MOST, ROOM = 1.1, 1.3
CASES = {
    "linear SVM, hinge": (["-a", "linear-svm"], "LinearSVC", {"loss": "hinge"}, "sparse"),
    "logistic regression": (["-a", "logistic"], "LogisticRegression", {}, "sparse"),
    "averaged perceptron, 10 passes": (["-a", "averaged-perceptron"], "AveragedPerceptron", {}, "sparse"),
    "SVM, Gaussian": (["-a", "svm", "--gamma", "0.05"], "SVC", {"gamma": 0.05}, "small"),
}


def main():
    options = common.arguments()
    report = common.Report("package", "What Python costs", options.runs)
    report.text(
        "`fit` of the Python package, the whole call, against `seconds.train` of the command line on the same rows, medians; the former from arrays of f32 in memory. "
        f"At most {MOST} times as long is asked. Memory: the most that was resident in a process that makes 1 GB of f32 CSR, imports everything and fits; at most {ROOM} GB is asked."
    )
    files = {"sparse": common.made_once(common.cache("package-sparse.svm"), big), "small": common.made_once(common.cache("package-small.svm"), small)}
    rows = []
    for name, (flags, estimator, parameters, data) in CASES.items():
        path = files[data]
        cli = lambda _: {"seconds": common.rosenblatt("train", path, *flags)[0]["seconds"]["train"]}
        python = lambda _: {"seconds": common.elsewhere(fitted, path, estimator, parameters)[0]}
        figures = common.alternate(options.runs, {"command line": cli, "Python": python})
        ours, theirs = figures["Python"]["seconds"], figures["command line"]["seconds"]
        report.goal(f"{name}, share of what is allowed that is left", MOST * theirs.median / ours.median, 1)
        rows.append([name, common.seconds(theirs.median), common.seconds(ours.median), f"{ours.median / theirs.median:.2f}"])
    size, peak, score = common.elsewhere(remembered)[0]
    report.goal("GB of memory that are left", ROOM - peak, 0)
    report.lines.append("")
    report.table(["learner", "command line", "Python", "Python / command line"], rows)
    report.text(f"LinearSVC on {size:.2f} GB of CSR f32: {peak:.2f} GB at the most, with Python itself (accuracy {score:.3f}).")
    report.finish("scikit-learn", "numpy", "scipy")


def big(path):
    """Rows like texts, of values that any precision holds."""
    rng = np.random.default_rng(0)
    rows, stored, columns = 100_000, 60, 20_000
    X = rows_of(rng, rows, stored, columns)
    hidden = rng.normal(size=columns)
    y = np.where(X @ hidden + rng.normal(size=rows) > 0, 1, -1)
    dump_svmlight_file(X, y, str(path), zero_based=False)


def small(path):
    rng = np.random.default_rng(0)
    X = np.rint(8 * rng.normal(size=(6000, 20))) / 8
    y = np.where((X[:, :5] ** 2).sum(axis=1) > 4.5, 1, -1)
    dump_svmlight_file(X, y, str(path), zero_based=False)


def rows_of(rng, rows, stored, columns):
    step = columns // stored
    places = np.arange(stored, dtype=np.int32) * step + rng.integers(0, step, size=(rows, stored), dtype=np.int32)
    values = rng.integers(1, 9, size=rows * stored).astype(np.float32) / 8
    pointers = np.arange(rows + 1, dtype=np.int32) * stored
    return sparse.csr_array((values, places.ravel(), pointers), shape=(rows, columns))


def fitted(path, estimator, parameters):
    """Seconds of one call of fit, the second one: the first starts threads."""
    import rosenblatt

    X, y = load_svmlight_file(path, dtype=np.float32)
    if X.nnz > 0.5 * X.shape[0] * X.shape[1]:
        X = X.toarray()
    warnings.simplefilter("ignore")
    model = getattr(rosenblatt, estimator)(n_jobs=common.THREADS, **parameters)
    model.fit(X[:200], y[:200])
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def remembered():
    """Bytes of entries, the most that was resident, and the accuracy, in GB."""
    import rosenblatt

    rng = np.random.default_rng(0)
    rows, stored, columns = 625_000, 200, 100_000
    values = np.ones(rows * stored, dtype=np.float32)
    # In place and part by part, or the making would need more than the fit.
    places = np.empty((rows, stored), dtype=np.int32)
    for first in range(0, rows, 5000):
        part = places[first : first + 5000]
        part[:] = np.arange(stored, dtype=np.int32) * 500 + rng.integers(0, 500, size=part.shape, dtype=np.int32)
    X = sparse.csr_array((values, places.ravel(), np.arange(rows + 1, dtype=np.int32) * stored), shape=(rows, columns))
    y = (places[:, 0] < 250) ^ (places[:, 1] < 530)
    model = rosenblatt.LinearSVC(loss="hinge", C=0.01, tol=0.05, n_jobs=common.THREADS).fit(X, y)
    score = float(np.mean(model.predict(X[:10_000]) == y[:10_000]))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e9, peak / 1e9, score


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = str(common.THREADS)
    main()
