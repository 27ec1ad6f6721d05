"""How far models of other programs are from the optimum, also where they stopped too early."""

import numpy as np
import pytest

from problems import blobs

liblinear, libsvm = pytest.importorskip("liblinear.liblinearutil"), pytest.importorskip("libsvm.svmutil")

C = 0.7


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


def test_scikit_learn_by_way_of_a_file(rosenblatt):
    from sklearn.svm import LinearSVC

    x, y = problem()
    model = LinearSVC(loss="hinge", C=C, tol=1e-8, max_iter=1_000_000).fit(x, y)
    path = rosenblatt.path("linear")
    lines = ["solver_type L2R_L1LOSS_SVC_DUAL", "nr_class 2", "label 1 -1", f"nr_feature {x.shape[1]}", "bias 1", "w"]
    lines += [f"{w:.17g} " for w in [*model.coef_[0], model.intercept_[0]]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    shown = rosenblatt.json("verify", path, rosenblatt.libsvm(x, y), "--c", C)
    assert 0 <= shown["gap"] < 1e-5


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
