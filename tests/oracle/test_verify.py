"""How far models of other programs are from the optimum, also where they stopped too early."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, LinearSVC

from peers import liblinear, libsvm, needs_liblinear, needs_libsvm
from problems import blobs

C = 0.7
PROOFS = Path(__file__).parents[2] / "docs" / "proofs.md"


def problem(seed=3, rows=200, columns=5):
    x, y = blobs(seed, rows, columns, 2, spread=2.0)
    return x.astype(np.float32).astype(float), np.where(y == 1, 1, -1)


def entries(x):
    return [{j + 1: float(v) for j, v in enumerate(row) if v != 0} for row in x]


def liblinear_objective(x, y, weights, solver):
    margins = y * (np.hstack([x, np.ones((len(x), 1))]) @ weights)
    losses = {
        "hinge": lambda: np.maximum(0, 1 - margins),
        "squared": lambda: np.maximum(0, 1 - margins) ** 2,
        "logistic": lambda: np.logaddexp(0, -margins),
    }
    kind = {0: "logistic", 1: "squared", 2: "squared", 3: "hinge", 7: "logistic"}[solver]
    return 0.5 * weights @ weights + C * losses[kind]().sum()


@needs_liblinear
@pytest.mark.parametrize("solver", [0, 1, 2, 3, 7])
def test_liblinear(rosenblatt, solver):
    """Objectives of a run that stopped at once and of one that did not; the bound lies below both and next to the second."""
    x, y = problem()
    data, path = rosenblatt.libsvm(x, y), rosenblatt.path("linear")
    found = {}
    for tolerance in (5, 1e-7):
        model = liblinear.train(y, entries(x), f"-q -s {solver} -B 1 -c {C} -e {tolerance}")
        liblinear.save_model(str(path), model)
        coefficients = [model.get_decfun_coef(j + 1) for j in range(x.shape[1])]
        sign = 1 if model.get_labels()[0] == 1 else -1
        weights = sign * np.array([*coefficients, model.get_decfun_bias()])
        shown = rosenblatt.json("verify", path, data, "--c", C)
        assert shown["holds"] and not shown["claims"]
        assert shown["primal"] == pytest.approx(liblinear_objective(x, y, weights, solver), rel=1e-9)
        assert shown["gap"] == pytest.approx((shown["primal"] - shown["dual"]) / shown["primal"], rel=1e-6, abs=1e-12)
        found[tolerance] = shown
    optimum = found[1e-7]["primal"]
    for shown in found.values():
        assert optimum * (1 - 1e-3) < shown["dual"] <= optimum * (1 + 1e-9)
    assert found[5]["primal"] > optimum * (1 + 1e-4)
    assert found[5]["gap"] >= (found[5]["primal"] - optimum) / found[5]["primal"] - 1e-9


@needs_libsvm
def test_libsvm(rosenblatt):
    """The same; here the multipliers are in the file, and so is C as soon as one of them is at it."""
    x, y = problem()
    data, path = rosenblatt.libsvm(x, y), rosenblatt.path("machine")
    gaps = []
    for tolerance in (0.8, 1e-6):
        libsvm.svm_save_model(str(path), libsvm.svm_train(y, entries(x), f"-q -t 2 -g 0.2 -c {C} -e {tolerance}"))
        shown = rosenblatt.json("verify", path, data)
        assert shown["holds"]
        gaps.append(shown["gap"])
    assert gaps[0] > 1e-3 > 1e-5 > gaps[1]


@needs_libsvm
def test_rows_of_doubles_are_found_again(rosenblatt):
    """LIBSVM writes eight digits of a value: the multipliers belong to these rows, and prove as much as they do for rows of few digits."""
    x, y = blobs(3, 200, 5, 2, spread=2.0)
    y = np.where(y == 1, 1, -1)
    path = rosenblatt.path("machine")
    libsvm.svm_save_model(str(path), libsvm.svm_train(y, entries(x), f"-q -t 2 -g 0.2 -c {C} -e 1e-6"))
    shown = rosenblatt.json("verify", path, rosenblatt.libsvm(x, y))
    assert shown["holds"] and shown["gap"] < 1e-5


def written(name):
    """A function as the chapter has it."""
    blocks = re.findall(r"```python\n(.*?)```", PROOFS.read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    for block in blocks:
        exec(block, names)
    return names[name]


def fitted(model, x, y):
    """However early it stopped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(x, y)


# Stopped at once, early, and at the end.
EFFORTS = [(1.0, 1), (1.0, 20), (1e-9, 1_000_000)]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_planes_of_scikit_learn(rosenblatt, loss):
    x, y = problem()
    data, path, objectives, shown = rosenblatt.libsvm(x, y), rosenblatt.path("linear"), [], []
    for tol, passes in EFFORTS:
        model = fitted(LinearSVC(loss=loss, C=C, tol=tol, max_iter=passes, random_state=0), x, y)
        written("to_liblinear")(model, path)
        short = np.maximum(0, 1 - y * model.decision_function(x))
        square = np.sum(model.coef_**2) + np.sum(model.intercept_**2)
        objectives.append(0.5 * square + C * np.sum(short if loss == "hinge" else short**2))
        shown.append(rosenblatt.json("verify", path, data, "--c", C))
    judge(objectives, shown)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_machines_of_scikit_learn(rosenblatt, kernel):
    x, y = problem()
    data, path, objectives, shown = rosenblatt.libsvm(x, y), rosenblatt.path("machine"), [], []
    for tol, steps in EFFORTS:
        model = fitted(SVC(kernel=kernel, C=C, gamma=0.2, tol=tol, max_iter=steps), x, y)
        written("to_libsvm")(model, path)
        stored, a = model.support_vectors_, model.dual_coef_[0]
        values = stored @ stored.T if kernel == "linear" else rbf_kernel(stored, gamma=0.2)
        short = np.maximum(0, 1 - y * model.decision_function(x))
        objectives.append(0.5 * a @ values @ a + C * np.sum(short))
        shown.append(rosenblatt.json("verify", path, data, "--c", C))
    judge(objectives, shown)


def judge(objectives, shown):
    """Each is as far from the optimum as its objective is from that of the last, which is there."""
    optimum = objectives[-1]
    assert objectives[0] > optimum * 1.0001
    for objective, found in zip(objectives, shown):
        assert found["holds"]
        # Kernel values are in single precision where a bound is looked for.
        assert found["primal"] == pytest.approx(objective, rel=1e-7)
        assert optimum * (1 - 1e-4) < found["dual"] <= optimum * (1 + 1e-9)
        assert found["gap"] == pytest.approx((objective - optimum) / objective, abs=1e-4)


def test_a_lie_is_found_out(rosenblatt):
    x, y = problem()
    data, path = rosenblatt.libsvm(x, y), rosenblatt.path("model")
    rosenblatt.run("train", data, "-a", "linear-svm", "-o", path)
    assert rosenblatt.json("verify", path, data)["holds"]
    honest = path.read_bytes()
    at = honest.index(b'\\"margin\\":') + len(b'\\"margin\\":')
    # Another digit of the margin.
    digit = next(i for i in range(at + 3, at + 20) if honest[i : i + 1].isdigit())
    path.write_bytes(honest[:digit] + (b"1" if honest[digit : digit + 1] != b"1" else b"2") + honest[digit + 1 :])
    failed = rosenblatt.json("verify", path, data, code=1)
    assert [claim["name"] for claim in failed["claims"] if claim["verdict"] == "broken"][0] == "margin"
