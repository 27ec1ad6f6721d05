"""Linear peers, each fitted in a process of its own by `linear.py`; C = 1, no bias."""

import re
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
LOGISTIC_SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky", "sag", "saga", "liblinear")
# `liblinear` knows no problem of more classes.
MULTINOMIAL_SOLVERS = LOGISTIC_SOLVERS[:-1]
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
    "multinomial": {f"LogisticRegression {solver}": ("sklearn_logistic", {"solver": solver}) for solver in MULTINOMIAL_SOLVERS},
}
# Solvers of LIBLINEAR that say what their dual value is.
DUAL_SOLVERS = (1, 3, 7)


def names(loss, multiclass, numbers):
    """Those that are worth a try for so many numbers to be found."""
    for name, (how, _) in PEERS[loss].items():
        too_wide = "cholesky" in name and numbers > FEW_FEATURES
        if not (too_wide or (multiclass and how.startswith("snap"))):
            yield name


def fit(path, loss, name):
    """Seconds of the fit alone, the objective reached and, where the peer says it, its dual value."""
    x, y = arrays(path)
    how, options = PEERS[loss][name]
    warnings.simplefilter("ignore")
    seconds, weights, *dual = globals()[how](x, y, options)
    primal = objective(x, y, weights.astype(np.float64), loss)
    return {"seconds": seconds, "primal": primal} | ({"dual": dual[0]} if dual else {})


def objective(x, y, weights, loss):
    """With C = 1, summed over the rows of weights: one for the last of two classes, else one for each class against the rest, unless all classes are one problem."""
    if loss == "multinomial":
        scores = x @ weights.T
        most = scores.max(axis=1)
        losses = np.log(np.exp(scores - most[:, None]).sum(axis=1)) + most - scores[np.arange(len(y)), y]
        return float(0.5 * np.sum(weights**2) + losses.sum())
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
    from liblinear.liblinear import PRINT_STRING_FUN
    from liblinear.liblinearutil import parameter, problem, train

    data, how = problem(y.astype(np.float64), x.astype(np.float64)), parameter(f"-s {solver} -c 1 -B -1 -q")
    said = []
    how.print_func = PRINT_STRING_FUN(lambda text: said.append(text.decode()))
    seconds, model = timed(lambda: train(data, how))
    # It minimises −D, a problem for each class.
    duals = [-float(value) for value in re.findall(r"Objective value = (\S+)", "".join(said))]
    classes = model.get_labels()
    columns = len(classes) if len(classes) > 2 else 1
    weights = np.ctypeslib.as_array(model.w, (model.nr_feature * columns,)).reshape(-1, columns).T
    # In the order in which the classes appear in the data.
    assert solver not in DUAL_SOLVERS or len(duals) == columns, said
    weights = weights[np.argsort(classes)] if columns > 1 else weights * (1 if classes[0] == 1 else -1)
    return seconds, weights, *([sum(duals)] if solver in DUAL_SOLVERS else [])


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
