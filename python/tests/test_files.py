"""Pickles and model files."""

import os
import pickle
import subprocess
from pathlib import Path

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

import rosenblatt
from estimators import TRANSFORMERS, classifiers

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


def fitted(estimator):
    if isinstance(estimator, rosenblatt.HardMarginSVC):
        return estimator.fit(X, NAMES[(Y > 0).astype(int)])
    return estimator.fit(X, NAMES[Y])


@pytest.mark.parametrize("estimator", classifiers(), ids=lambda e: type(e).__name__)
def test_round_trips(estimator, tmp_path):
    model = fitted(estimator)
    joblib.dump(model, tmp_path / "model.joblib")
    rosenblatt.save(model, tmp_path / "model.rosenblatt")
    for again in (
        pickle.loads(pickle.dumps(model)),
        joblib.load(tmp_path / "model.joblib"),
        rosenblatt.load(tmp_path / "model.rosenblatt"),
    ):
        assert type(again) is type(model)
        assert_array_equal(again.decision_function(X), model.decision_function(X))
        assert_array_equal(again.predict(X), model.predict(X))
        assert again.report_ == model.report_
    assert sorted(os.listdir(tmp_path)) == ["model.joblib", "model.rosenblatt"]
    again = rosenblatt.load(tmp_path / "model.rosenblatt")
    refitted = fitted(again)
    assert_array_equal(refitted.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda e: type(e).__name__)
def test_maps_are_pickled(transformer):
    again = pickle.loads(pickle.dumps(transformer.fit(X)))
    assert_array_equal(again.transform(X), transformer.transform(X))


def test_a_pickle_holds_the_model_file(tmp_path):
    model = fitted(rosenblatt.SVC())
    rosenblatt.save(model, tmp_path / "m")
    assert (tmp_path / "m").read_bytes() in pickle.dumps(model)


def test_parameters_come_back(tmp_path):
    model = rosenblatt.SVC(C=3, kernel="poly", degree=2, gamma=0.5, coef0=1.0, tol=1e-4, slack="squared")
    rosenblatt.save(model.fit(X, Y), tmp_path / "m")
    again = rosenblatt.load(tmp_path / "m")
    for name in ("C", "kernel", "degree", "gamma", "coef0", "tol", "slack"):
        assert getattr(again, name) == getattr(model, name)
    assert_array_equal(again.classes_, [0, 1, 2])
    assert again.classes_.dtype == np.int64


def test_what_is_no_model_is_refused(tmp_path):
    (tmp_path / "m").write_bytes(b"no model")
    with pytest.raises(ValueError, match="not a model file"):
        rosenblatt.load(tmp_path / "m")
    with pytest.raises(TypeError, match="classifier of rosenblatt"):
        rosenblatt.save(object(), tmp_path / "n")
    assert os.listdir(tmp_path) == ["m"]


@pytest.fixture
def program():
    named = os.environ.get("ROSENBLATT")
    if not named:
        pytest.skip("$ROSENBLATT names no program; `cargo xtask test` sets it")
    return Path(named).resolve(strict=True)


def run(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def test_the_command_line_reads_what_python_wrote(program, tmp_path):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X, columns=["sepal length", "sepal width", "petal length", "petal width"])
    model = rosenblatt.SVC().fit(table, NAMES[Y])
    rosenblatt.save(model, tmp_path / "m")
    table["species"] = NAMES[Y]
    table.to_csv(tmp_path / "iris.csv", index=False)
    assert run(program, "predict", tmp_path / "m", tmp_path / "iris.csv").split() == model.predict(X_frame(table)).tolist()
    run(program, "verify", tmp_path / "m", tmp_path / "iris.csv")  # which fails if a claim is broken


def X_frame(table):
    return table.drop(columns="species")


def test_python_reads_what_the_command_line_wrote(program, tmp_path):
    rows = "\n".join(f"{NAMES[y]} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) for x, y in zip(X, Y))
    (tmp_path / "iris.svm").write_text(rows + "\n")
    run(program, "train", tmp_path / "iris.svm", "-a", "svm", "-o", tmp_path / "m", "--lambda", 0.01, "--sigma", 2)
    model = rosenblatt.load(tmp_path / "m")
    assert (model.C, model.gamma) == (pytest.approx(1 / 1.5), 0.125)
    for algorithm, cls in (("linear-svm", rosenblatt.LinearSVC), ("svm", rosenblatt.SVC), ("perceptron", rosenblatt.Perceptron)):
        run(program, "train", tmp_path / "iris.svm", "-a", algorithm, "-o", tmp_path / "m", "--scale", "standard")
        model = rosenblatt.load(tmp_path / "m")
        assert type(model) is cls
        assert model.predict(X).tolist() == run(program, "predict", tmp_path / "m", tmp_path / "iris.svm").split()
        rosenblatt.save(model, tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
