"""`eval` against sklearn.metrics."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics

from problems import BINARY, MULTICLASS, blobs
from rosenblatt_cli import IN_ORDER


def halves(x, y):
    middle = len(y) // 2
    return (x[:middle], y[:middle]), (x[middle:], y[middle:])


def assert_same(evaluation, truth, predicted):
    classes = evaluation["classes"]
    assert evaluation["rows"] == len(truth)
    assert_allclose(evaluation["accuracy"], metrics.accuracy_score(truth, predicted), rtol=1e-14)
    assert evaluation["confusion"] == metrics.confusion_matrix(truth, predicted, labels=classes).tolist()
    rates = metrics.precision_recall_fscore_support(truth, predicted, labels=classes, zero_division=0)
    assert [part["class"] for part in evaluation["per_class"]] == classes
    for key, expected in zip(["precision", "recall", "f1", "rows"], rates):
        assert_allclose([part[key] for part in evaluation["per_class"]], expected, rtol=1e-14, err_msg=key)


@pytest.mark.parametrize("algorithm", ["perceptron", "passive-aggressive", "voted-perceptron"])
@pytest.mark.parametrize("name", BINARY)
def test_binary(rosenblatt, name, algorithm):
    learn, test = halves(*BINARY[name]())
    model, _ = rosenblatt.train(rosenblatt.csv(*learn), algorithm, *IN_ORDER, "--passes", 1)
    data = rosenblatt.csv(*test)
    evaluation = rosenblatt.json("eval", model, data)
    predicted, scores = rosenblatt.predict(model, data)
    assert_same(evaluation, test[1], predicted)
    assert_allclose(evaluation["auc"], metrics.roc_auc_score(test[1], scores), rtol=1e-12)


@pytest.mark.parametrize("multiclass", ["native", "ovr", "ovo"])
@pytest.mark.parametrize("name", MULTICLASS)
def test_multiclass(rosenblatt, name, multiclass):
    learn, test = halves(*MULTICLASS[name]())
    flags = [*IN_ORDER, "--passes", 1, "--multiclass", multiclass]
    model, _ = rosenblatt.train(rosenblatt.csv(*learn), "perceptron", *flags)
    data = rosenblatt.csv(*test)
    evaluation = rosenblatt.json("eval", model, data)
    assert_same(evaluation, test[1], rosenblatt.predict(model, data)[0])
    assert evaluation["auc"] is None


def test_auc_with_many_equal_scores(rosenblatt):
    x, y = blobs(20, 300, 2, 2, spread=2.0)
    x = np.round(x)
    data = rosenblatt.csv(x, y)
    model, _ = rosenblatt.train(data, "perceptron", *IN_ORDER, "--passes", 2)
    scores = rosenblatt.predict(model, data)[1]
    assert len(np.unique(scores)) < len(scores) / 2
    assert_allclose(rosenblatt.json("eval", model, data)["auc"], metrics.roc_auc_score(y, scores), rtol=1e-12)


def test_a_class_that_is_absent(rosenblatt):
    x, y = blobs(21, 90, 3, 3)
    model, _ = rosenblatt.train(rosenblatt.csv(x, y), "perceptron", *IN_ORDER)
    few = y != 1
    data = rosenblatt.csv(x[few], y[few])
    assert_same(rosenblatt.json("eval", model, data), y[few], rosenblatt.predict(model, data)[0])


def test_a_class_that_is_never_predicted(rosenblatt):
    """No bias and one positive feature: the score of every row has the same sign."""
    data = rosenblatt.csv([[1.0], [2.0], [3.0]], ["no", "yes", "no"])
    model, _ = rosenblatt.train(data, "perceptron", *IN_ORDER, "--bias", "none", "--passes", 1)
    evaluation = rosenblatt.json("eval", model, data)
    predicted = rosenblatt.predict(model, data)[0]
    assert len(set(predicted)) == 1
    assert_same(evaluation, ["no", "yes", "no"], predicted)


def test_train_accuracy_is_that_of_the_predictions(rosenblatt):
    for name, problem in {**BINARY, **MULTICLASS}.items():
        x, y = problem()
        data = rosenblatt.csv(x, y)
        model, report = rosenblatt.train(data, "averaged-perceptron", "--passes", 2)
        accuracy = metrics.accuracy_score(y, rosenblatt.predict(model, data)[0])
        assert_allclose(report["train_accuracy"], accuracy, rtol=1e-14, err_msg=name)
