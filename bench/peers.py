"""Linear peers, each fitted in a process of its own by `linear.py`; C = 1, no bias."""

import time
import warnings

import common
import numpy as np

# The cost of a margin y·w·x.
LOSSES = {
    "hinge": lambda margin: np.maximum(0, 1 - margin),
    "squared-hinge": lambda margin: np.maximum(0, 1 - margin) ** 2,
    "logistic": lambda margin: np.logaddexp(0, -margin),
}
LOGISTIC_SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky", "saga", "liblinear")
# Solvers that make a square matrix of the features.
FEW_FEATURES = 1000
# What fits it and what that takes: the number of a solver, or parameters.
PEERS = {
    "hinge": {
        "LIBLINEAR -s 3": ("liblinear", 3),
        "LinearSVC": ("linear_svc", {"loss": "hinge", "dual": True}),
        "Snap ML": ("snap_svm", {"loss": "hinge"}),
    },
    "squared-hinge": {
        "LIBLINEAR -s 1": ("liblinear", 1),
        "LIBLINEAR -s 2": ("liblinear", 2),
        "LinearSVC dual": ("linear_svc", {"loss": "squared_hinge", "dual": True}),
        "LinearSVC primal": ("linear_svc", {"loss": "squared_hinge", "dual": False}),
        "Snap ML": ("snap_svm", {"loss": "squared_hinge"}),
    },
    "logistic": {
        "LIBLINEAR -s 0": ("liblinear", 0),
        "LIBLINEAR -s 7": ("liblinear", 7),
        **{f"LogisticRegression {solver}": ("sklearn_logistic", {"solver": solver}) for solver in LOGISTIC_SOLVERS},
        "Snap ML": ("snap_logistic", {}),
    },
}


def names(loss, multiclass, features):
    """Those that are worth a try."""
    for name, (how, _) in PEERS[loss].items():
        too_wide = "cholesky" in name and features > FEW_FEATURES
        if not (too_wide or (multiclass and how.startswith("snap"))):
            yield name


def fit(path, loss, name):
    """Seconds of the fit alone, and the objective reached."""
    x, y = arrays(path)
    how, options = PEERS[loss][name]
    warnings.simplefilter("ignore")
    seconds, weights = globals()[how](x, y, options)
    return {"seconds": seconds, "primal": objective(x, y, weights.astype(np.float64), loss)}


def objective(x, y, weights, loss):
    """With C = 1, summed over the rows of weights: one for the last of two classes, else one for each class against the rest."""
    classes = np.arange(len(weights)) if len(weights) > 1 else np.array([1])
    signs = np.where(y[:, None] == classes, 1.0, -1.0)
    return float(0.5 * np.sum(weights**2) + LOSSES[loss](signs * (x @ weights.T)).sum())


def arrays(path):
    """Rows as f32, as ours read them, and classes as numbers from 0; read from the text only once."""
    import scipy.sparse

    path = common.Path(path)

    def make(part):
        from sklearn.datasets import load_svmlight_file

        x, labels = load_svmlight_file(str(path), dtype=np.float32)
        y = np.unique(labels, return_inverse=True)[1]
        with open(part, "wb") as file:
            np.savez(file, data=x.data, indices=x.indices, indptr=x.indptr, shape=x.shape, y=y)

    with np.load(common.made_once(path.with_name(path.name + ".npz"), make)) as kept:
        x = scipy.sparse.csr_matrix((kept["data"], kept["indices"], kept["indptr"]), shape=kept["shape"])
        return x, kept["y"]


# The fits: seconds, and a row of weights for each class, or one for the last of two.


def timed(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def liblinear(x, y, solver):
    from liblinear.liblinearutil import parameter, problem, train

    data, how = problem(y.astype(np.float64), x.astype(np.float64)), parameter(f"-s {solver} -c 1 -B -1 -q")
    seconds, model = timed(lambda: train(data, how))
    classes = model.get_labels()
    columns = len(classes) if len(classes) > 2 else 1
    weights = np.ctypeslib.as_array(model.w, (model.nr_feature * columns,)).reshape(-1, columns).T
    # In the order in which the classes appear in the data.
    return seconds, weights[np.argsort(classes)] if columns > 1 else weights * (1 if classes[0] == 1 else -1)


def linear_svc(x, y, options):
    from sklearn.svm import LinearSVC

    learner = LinearSVC(**options, C=1, fit_intercept=False, tol=1e-3, max_iter=100_000)
    return sklearn(learner, x.astype(np.float64), y)


def sklearn_logistic(x, y, options):
    from sklearn.linear_model import LogisticRegression

    # All but one are faster with f32; that one would convert it itself.
    kind = np.float64 if options["solver"] == "liblinear" else np.float32
    return sklearn(LogisticRegression(**options, C=1, fit_intercept=False), x.astype(kind), y)


def snap_svm(x, y, options):
    from snapml import SupportVectorMachine

    return snap(SupportVectorMachine(**options, regularizer=1.0, fit_intercept=False, n_jobs=common.THREADS), x, y)


def snap_logistic(x, y, _):
    from snapml import LogisticRegression

    return snap(LogisticRegression(regularizer=1.0, fit_intercept=False, n_jobs=common.THREADS), x, y)


def snap(learner, x, y):
    """Dense arrays are faster where there are few columns (covtype), slower elsewhere (MNIST)."""
    return sklearn(learner, x.toarray() if x.nnz > 0.1 * np.prod(x.shape) and x.shape[1] <= 100 else x, y)


def sklearn(learner, x, y):
    seconds, learner = timed(lambda: learner.fit(x, y))
    return seconds, learner.coef_
