"""Inside scikit-learn's tools."""

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import rosenblatt
from estimators import classifiers
from rosenblatt._bayes import Bayes

X, Y = load_iris(return_X_y=True)
FITTING = [e for e in classifiers() if not isinstance(e, rosenblatt.HardMarginSVC)]


@pytest.mark.parametrize("estimator", FITTING, ids=lambda e: type(e).__name__)
def test_pipelines_and_cross_validation(estimator):
    if isinstance(estimator, rosenblatt.Winnow):
        estimator = rosenblatt.Winnow(balanced=True)
    positive = isinstance(estimator, rosenblatt.MultinomialNB)
    pipeline = make_pipeline(MinMaxScaler() if positive else StandardScaler(), clone(estimator))
    assert cross_val_score(pipeline, X, Y, cv=3).mean() > (0.6 if isinstance(estimator, Bayes) else 0.8)


def test_grid_search_with_a_map():
    pipeline = make_pipeline(rosenblatt.PolynomialMap(), rosenblatt.LinearSVC())
    search = GridSearchCV(pipeline, {"polynomialmap__degree": [1, 2], "linearsvc__C": [0.1, 1]}, cv=3)
    assert search.fit(X, Y).best_score_ > 0.9


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_joblib(backend):
    search = GridSearchCV(rosenblatt.SVC(), {"C": [0.1, 1, 10]}, cv=3)
    alone = clone(search).fit(X, Y).cv_results_["mean_test_score"]
    with parallel_config(backend, n_jobs=2):
        assert_array_equal(search.fit(X, Y).cv_results_["mean_test_score"], alone)


def test_calibration_around_it():
    model = CalibratedClassifierCV(rosenblatt.LinearSVC(), cv=3).fit(X, Y)
    assert model.predict_proba(X).shape == (150, 3)


def test_reductions_around_it():
    for reduction in (OneVsRestClassifier, OneVsOneClassifier):
        assert reduction(rosenblatt.LinearSVC(loss="hinge")).fit(X, Y).score(X, Y) > 0.9
    partial = OneVsRestClassifier(rosenblatt.Perceptron()).partial_fit(X, Y, classes=np.unique(Y))
    assert partial.predict(X).shape == Y.shape


def test_ensembles_around_it():
    assert BaggingClassifier(rosenblatt.LinearSVC(), n_estimators=3).fit(X, Y).score(X, Y) > 0.9
    voters = [("svm", rosenblatt.SVC()), ("logistic", rosenblatt.LogisticRegression())]
    assert VotingClassifier(voters).fit(X, Y).score(X, Y) > 0.9


def test_columns():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X, columns=list("abcd"))
    columns = ColumnTransformer([("map", rosenblatt.PolynomialMap(), ["a", "b"]), ("rest", "passthrough", ["c", "d"])])
    pipeline = make_pipeline(columns, rosenblatt.LogisticRegression()).fit(table, Y)
    assert pipeline.score(table, Y) > 0.9
    assert list(columns.fit(table).get_feature_names_out())[:3] == ["map__1", "map__a", "map__b"]


def test_weights_select_features():
    chosen = SelectFromModel(rosenblatt.LinearSVC(penalty="l1", C=0.1)).fit(X, Y == 1)
    assert chosen.transform(X).shape[1] < 4


def test_metadata_is_routed():
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        svm = rosenblatt.LinearSVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        weights = np.ones(len(Y))
        assert len(cross_val_score(svm, X, Y, cv=3, params={"sample_weight": weights})) == 3


def test_precomputed_kernels_in_cross_validation():
    gram = X @ X.T
    given = cross_val_predict(rosenblatt.SVC(kernel="precomputed"), gram, Y, cv=3)
    assert_array_equal(given, cross_val_predict(rosenblatt.SVC(kernel="linear"), X, Y, cv=3))
    perceptron = rosenblatt.KernelPerceptron(kernel="precomputed")
    assert cross_val_score(perceptron, gram, Y == 0, cv=3).mean() == 1


def linear(u, v):
    return u @ v.T


def test_functions_as_kernels_in_cross_validation():
    search = GridSearchCV(rosenblatt.SVC(kernel=linear), {"C": [0.1, 1]}, cv=3, n_jobs=2).fit(X, Y)
    assert_array_equal(search.predict(X), rosenblatt.SVC(kernel="linear", **search.best_params_).fit(X, Y).predict(X))
