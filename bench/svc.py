"""Peers of `svm.py`: support vector classifiers with the Gaussian kernel, each fitted in a process of its own."""

import time
import warnings

import common
import numpy as np
import peers

TOLERANCE = 1e-3
# Of LIBSVM, in MB.
CACHE = 2000
# Above this a peer gets dense rows, for that is what it is faster with.
DENSE = 0.1


def scikit_learn(c, gamma):
    from sklearn.svm import SVC

    return SVC(C=c, gamma=gamma, tol=TOLERANCE, cache_size=CACHE)


def intelex(c, gamma):
    import daal4py
    from sklearnex.svm import SVC

    daal4py.daalinit(common.THREADS)
    return SVC(C=c, gamma=gamma, tol=TOLERANCE, cache_size=CACHE)


# What makes it, and the numbers it computes with: others it would convert itself.
PEERS = {
    "scikit-learn-intelex": (intelex, np.float32),
    "scikit-learn-intelex, sparse": (intelex, np.float32),
    "scikit-learn": (scikit_learn, np.float64),
}


def names(path, libsvm):
    """Those that are worth a try: oneDAL takes sparse rows, too, and may be faster with them or not."""
    density = density_of(peers.arrays(path)[0])
    for name in PEERS:
        if (name != "scikit-learn" or libsvm) and (density <= DENSE or not name.endswith("sparse")):
            yield name


def density_of(x):
    return x.nnz / np.prod(x.shape, dtype=float)


def fit(train, test, name, c, gamma, kept):
    """Seconds to fit and to predict the test rows, what came out, and the multipliers in the file `kept`."""
    (x, y), (test_x, test_y) = both(train, test)
    make, kind = PEERS[name]
    sparse = name.endswith("sparse") or (name == "scikit-learn" and density_of(x) <= DENSE)
    form = lambda x: x.astype(kind) if sparse else np.ascontiguousarray(x.toarray(), kind)
    x, test_x = form(x), form(test_x)
    warnings.simplefilter("ignore")
    learner = make(c, gamma)
    seconds, _ = timed(lambda: learner.fit(x, y))
    predict, found = timed(lambda: learner.predict(test_x))
    coefficients = learner.dual_coef_
    coefficients = coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients
    np.savez(kept, rows=learner.support_, coefficients=coefficients)
    accuracy = float(np.mean(found == test_y))
    return {"seconds": seconds, "predict": predict, "accuracy": accuracy, "support_vectors": len(learner.support_)}


def both(train, test):
    """Rows and classes to train on and to test on, with the same number of columns."""
    (x, y), (test_x, test_y) = peers.arrays(train), peers.arrays(test)
    width = max(x.shape[1], test_x.shape[1])
    x.resize((x.shape[0], width))
    test_x.resize((test_x.shape[0], width))
    return (x, y), (test_x, test_y)


def timed(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result
