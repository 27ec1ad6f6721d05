"""Models of LIBSVM and LIBLINEAR: theirs give the same labels here, ours the same labels there, on every row."""

import numpy as np
import pytest

from peers import liblinear, libsvm, needs_liblinear, needs_libsvm, svm
from problems import blobs, dyadic

# In order of appearance, which is how both programs number classes.
LABELS = {2: [4, -3], 5: [30, -2, 7, 11, 0]}
KERNELS = {"linear": 0, "poly": 1, "rbf": 2, "sigmoid": 3}
OPTIONS = "-g 0.25 -r 0.5 -d 2"
FLAGS = {"linear": [], "poly": ["--gamma", 0.25, "--coef0", 0.5, "--degree", 2], "rbf": ["--gamma", 0.25]}
FLAGS["sigmoid"] = ["--gamma", 0.25, "--coef0", 0.5]


def problem(classes, seed=1, rows=160, columns=6):
    """Single precision, in which our kernels compute; the first rows show the labels in their order."""
    x, y = blobs(seed, rows, columns, classes, spread=1.5)
    y[:classes] = np.arange(classes)
    return x.astype(np.float32).astype(float), np.array(LABELS[classes])[y]


def rows(x):
    return [{j + 1: float(v) for j, v in enumerate(row) if v != 0} for row in x]


def ours(rosenblatt, model, data):
    return np.array(rosenblatt.json("predict", model, data)["predictions"]).astype(int)


def of_liblinear(model, x):
    return np.array(liblinear.predict([], rows(x), model, "-q")[0]).astype(int)


def of_libsvm(model, x):
    # Not by svmutil.svm_predict, which has room for one score only of a nu_svc, however many classes it has.
    node = lambda row: svm.gen_svm_nodearray(row, isKernel=0 in row)[0]
    return np.array([svm.libsvm.svm_predict(model, node(row)) for row in x]).astype(int)


@needs_liblinear
@pytest.mark.parametrize("bias", [-1, 1, 2.5])
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("solver", range(8))
def test_liblinear_here(rosenblatt, solver, classes, bias):
    x, y = problem(classes)
    # Also a row of zeros, on which planes without bias all say 0, and one with a feature that no weight is for.
    more = np.vstack([np.hstack([x, np.zeros((len(x), 1))]), np.zeros(7), np.arange(7.0)])
    path = rosenblatt.path("linear")
    liblinear.save_model(str(path), liblinear.train(y, rows(x), f"-q -s {solver} -B {bias}"))
    theirs = liblinear.load_model(str(path))
    data = rosenblatt.libsvm(more, [*y, y[0], y[0]])
    expected = of_liblinear(theirs, more)
    assert (ours(rosenblatt, path, data) == expected).all()
    converted = rosenblatt.path("model")
    rosenblatt.run("convert", path, "-o", converted)
    assert (ours(rosenblatt, converted, data) == expected).all()
    rosenblatt.run("convert", converted, "-o", path, "--to", "liblinear")
    assert (of_liblinear(liblinear.load_model(str(path)), more) == expected).all()


@needs_liblinear
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("solver", [0, 6, 7])
def test_probabilities_of_liblinear(rosenblatt, solver, classes):
    x, y = problem(classes)
    path = rosenblatt.path("linear")
    liblinear.save_model(str(path), liblinear.train(y, rows(x), f"-q -s {solver} -B 1"))
    theirs = liblinear.load_model(str(path))
    expected = np.array(liblinear.predict([], rows(x), theirs, "-q -b 1")[2])
    found = rosenblatt.json("predict", path, rosenblatt.csv(x, y), "--probabilities")
    columns = [found["classes"].index(label) for label in theirs.get_labels()]
    np.testing.assert_allclose(np.array(found["probabilities"])[:, columns], expected, rtol=1e-9, atol=1e-12)


@needs_libsvm
@pytest.mark.parametrize("kind", ["-s 0 -c 3", "-s 1 -n 0.2"])
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("kernel", KERNELS)
def test_libsvm_here(rosenblatt, kernel, classes, kind):
    x, y = problem(classes)
    # Rows far from all others, many of them with ties of votes.
    more = np.vstack([x, 3 * blobs(9, 150, 6, 2)[0].astype(np.float32)])
    path = rosenblatt.path("svm-model")
    libsvm.svm_save_model(str(path), libsvm.svm_train(y, rows(x), f"-q {kind} -t {KERNELS[kernel]} {OPTIONS}"))
    theirs = libsvm.svm_load_model(str(path))
    data = rosenblatt.libsvm(more, [y[0]] * len(more))
    expected = of_libsvm(theirs, rows(more))
    assert (ours(rosenblatt, path, data) == expected).all()
    converted = rosenblatt.path("model")
    rosenblatt.run("convert", path, "-o", converted)
    assert (ours(rosenblatt, converted, data) == expected).all()
    rosenblatt.run("convert", converted, "-o", path, "--to", "libsvm")
    assert (of_libsvm(libsvm.svm_load_model(str(path)), rows(more)) == expected).all()


@needs_libsvm
def test_precomputed_here(rosenblatt):
    x, y = problem(5)
    values = (x @ x.T).astype(np.float32).astype(float)
    numbered = [{0: i + 1, **{j + 1: float(v) for j, v in enumerate(row)}} for i, row in enumerate(values)]
    path = rosenblatt.path("svm-model")
    trained = libsvm.svm_train(libsvm.svm_problem(y, numbered, isKernel=True), libsvm.svm_parameter("-q -t 4"))
    libsvm.svm_save_model(str(path), trained)
    expected = of_libsvm(libsvm.svm_load_model(str(path)), numbered)
    text = "".join(f"{label} 0:{i + 1} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row.tolist())) + "\n"
                   for i, (label, row) in enumerate(zip(y, values)))
    assert (ours(rosenblatt, path, rosenblatt.text(text, "svm")) == expected).all()


@needs_liblinear
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize(
    "algorithm",
    [
        ["linear-svm"],
        ["linear-svm", "--bias", "none", "--loss", "squared-hinge"],
        ["logistic", "--multiclass", "ovr"],
        ["logistic"],
        ["crammer-singer"],
        ["perceptron", "--passes", 3],
        ["averaged-perceptron", "--scale", "standard"],
        ["linear-svm", "--scale", "minmax"],
    ],
    ids=lambda words: " ".join(map(str, words)),
)
def test_planes_there(rosenblatt, algorithm, classes):
    x, y = problem(classes)
    data = rosenblatt.csv(x, y)
    model, _ = rosenblatt.train(data, *algorithm)
    path = rosenblatt.path("linear")
    rosenblatt.run("convert", model, "-o", path)
    assert (of_liblinear(liblinear.load_model(str(path)), x) == ours(rosenblatt, model, data)).all()


@needs_liblinear
def test_ties_there(rosenblatt):
    """Many scores are exactly 0."""
    x, y = dyadic(3, 200, 3, 2)
    data = rosenblatt.csv(x, y)
    for tie in ["negative", "positive"]:
        model, _ = rosenblatt.train(data, "perceptron", "--tie", tie, "--passes", 2)
        path = rosenblatt.path("linear")
        rosenblatt.run("convert", model, "-o", path)
        assert (of_liblinear(liblinear.load_model(str(path)), x) == ours(rosenblatt, model, data)).all()


def tied(model, x):
    """Rows on which two classes have the most votes."""
    labels = model.get_labels()
    values = np.array(libsvm.svm_predict([], rows(x), model, "-q")[2])
    votes = np.zeros((len(x), len(labels)), int)
    pairs = [(i, j) for i in range(len(labels)) for j in range(i + 1, len(labels))]
    for p, (i, j) in enumerate(pairs):
        votes[np.arange(len(x)), np.where(values[:, p] > 0, i, j)] += 1
    return (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1


@needs_libsvm
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("kernel", KERNELS)
def test_machines_there(rosenblatt, kernel, classes):
    x, y = problem(classes)
    data = rosenblatt.csv(x, y)
    for algorithm in [["svm", "--c", 3], ["kernel-perceptron", "--multiclass", "ovo", "--passes", 2]]:
        model, _ = rosenblatt.train(data, *algorithm, "--kernel", kernel, *FLAGS[kernel])
        path = rosenblatt.path("svm-model")
        rosenblatt.run("convert", model, "-o", path)
        theirs = libsvm.svm_load_model(str(path))
        # Ours goes by sums where votes are tied, for which LIBSVM has no word.
        clear = ~tied(theirs, x) if classes > 2 else np.full(len(x), True)
        assert clear.mean() > 0.5
        assert (of_libsvm(theirs, rows(x)) == ours(rosenblatt, model, data))[clear].all()
