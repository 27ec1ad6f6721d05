"""What rows and labels may be."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris

from rosenblatt import LinearSVC, Perceptron, PolynomialMap

X, Y = load_iris(return_X_y=True)
NAMES = ["setosa", "versicolor", "virginica"]


@pytest.fixture(scope="module")
def plain():
    return LinearSVC().fit(X, Y)


def wide(x):
    x = sparse.csr_array(x)
    x.indices, x.indptr = x.indices.astype(np.int64), x.indptr.astype(np.int64)
    return x


LAYOUTS = {
    "fortran": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "list": lambda x: x.tolist(),
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csr, 64 bits": wide,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "big endian": lambda x: x.astype(">f8"),
    "pandas": pd.DataFrame,
    "object": lambda x: x.astype(object),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_layouts_do_not_show(layout, plain):
    x = layout(X)
    svm = LinearSVC().fit(x, Y)
    assert_allclose(svm.coef_, plain.coef_, rtol=1e-9)
    assert_allclose(svm.decision_function(x), plain.decision_function(X), rtol=1e-9)


def test_what_is_given_stays_as_it_is():
    doubled = sparse.coo_array((np.ones(4), ([0, 0, 1, 2], [1, 1, 0, 2])), shape=(3, 3)).tocsr()
    x = sparse.csr_array((np.array([2.0, 1.0, 1.0, 1.0]), np.array([2, 0, 0, 1]), np.array([0, 2, 3, 4])))
    assert not x.has_sorted_indices
    Perceptron().fit(x, [0, 1, 0])
    assert_array_equal(x.indices, [2, 0, 0, 1])
    Perceptron().fit(doubled, [0, 1, 0])


def test_room_for_more_entries_is_no_entry():
    x = sparse.csr_array(X)
    roomy = sparse.csr_array(x.shape)
    roomy.data, roomy.indices = np.append(x.data, [9.0, 9.0]), np.append(x.indices, [0, 1]).astype(x.indices.dtype)
    roomy.indptr = x.indptr
    assert_array_equal(LinearSVC().fit(roomy, Y).coef_, LinearSVC().fit(x, Y).coef_)


def test_single_precision_is_kept():
    single = PolynomialMap().fit_transform(X.astype(np.float32))
    assert single.dtype == np.float32
    svm = LinearSVC().fit(X.astype(np.float32), Y)
    assert svm.predict(X.astype(np.float32)).shape == (150,)


def test_columns_out_of_range_are_refused():
    x = sparse.csr_array(X)
    x.indices = x.indices.copy()
    x.indices[0] = -1
    x.has_canonical_format = True
    with pytest.raises(ValueError, match="columns of row 1"):
        LinearSVC().fit(x, Y)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers_are_named(value):
    x = X.copy()
    x[3, 2] = value
    with pytest.raises(ValueError, match="row 4, column 3"):
        LinearSVC().fit(x, Y)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_names_of_frames_are_kept(frame, plain):
    table = frame({name: X[:, j] for j, name in enumerate("abcd")})
    labels = frame({"y": [NAMES[y] for y in Y]})["y"]
    svm = LinearSVC().fit(table, labels)
    assert list(svm.feature_names_in_) == list("abcd")
    assert svm._fit.names() == list("abcd")
    assert_array_equal(svm.predict(table), np.array(NAMES)[plain.predict(X)])


def test_names_in_another_order_are_refused():
    table = pd.DataFrame(X, columns=list("abcd"))
    svm = LinearSVC().fit(table, Y)
    with pytest.raises(ValueError, match="feature names"):
        svm.predict(table[list("badc")])


LABELS = {
    "strings": np.array(NAMES),
    "objects": np.array(NAMES, dtype=object),
    "negative": np.array([-5, 0, 7]),
    "floats": np.array([-1.0, 2.0, 3.0]),
    "bytes": np.array([3, 4, 5], dtype=np.uint8),
    "numbers as text": np.array(["1", "10", "2"]),
    "longer than a double": np.array([2**60, 2**60 + 1, 2**60 + 2]),
}


@pytest.mark.parametrize("names", LABELS.values(), ids=LABELS)
def test_labels_come_back(names, plain):
    svm = LinearSVC().fit(X, names[Y])
    assert_array_equal(svm.classes_, np.unique(names))
    assert svm.classes_.dtype == np.unique(names).dtype
    assert_array_equal(svm.predict(X), names[plain.predict(X)])


def test_booleans_are_classes():
    svm = LinearSVC().fit(X, Y == 1)
    assert svm.classes_.tolist() == [False, True]
    assert svm.predict(X).dtype == bool


def test_class_weights_go_by_labels_of_any_kind():
    counts = {}
    for names in LABELS.values():
        weight = {names[0]: 20.0, names[1]: 0.1, "nobody": 3.0}
        svm = LinearSVC(class_weight=weight).fit(X, names[Y])
        counts[names.dtype.kind] = np.sum(svm.predict(X) == names[1])
    assert len(set(counts.values())) == 1
    assert counts["U"] < np.sum(LinearSVC().fit(X, Y).predict(X) == 1)
