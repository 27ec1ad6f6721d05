"""Reading: LIBSVM text against scikit-learn's reader, tables against what they say."""

import numpy as np
from numpy.testing import assert_array_equal
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from problems import sparse
from rosenblatt_cli import IN_ORDER, PLAIN


def test_libsvm_text_has_the_values_that_scikit_learn_reads(rosenblatt):
    rng = np.random.default_rng(40)
    x = rng.normal(size=(25, 12)) * 10.0 ** rng.integers(-30, 30, size=(25, 12))
    x[rng.random(x.shape) < 0.5] = 0.0
    x[0, -1] = 1.0
    y = rng.choice([-1, 3], size=25)
    data = rosenblatt.path("svm")
    dump_svmlight_file(x, y, str(data), zero_based=False)
    expected = load_svmlight_file(str(data), zero_based=False)[0].toarray()
    model, report = rosenblatt.train(data, "perceptron", "--passes", 1, "--precision", "f64")
    assert report["classes"] == [-1, 3] and report["features"] == 12
    assert_array_equal(rosenblatt.matrix(model, data, 25, 12, "--precision", "f64"), expected)
    # Without the flag values are rounded to f32, by both readers alike.
    small = np.abs(expected) < 1e30
    single = load_svmlight_file(str(data), zero_based=False, dtype=np.float32)[0].toarray()
    assert_array_equal(rosenblatt.matrix(model, data, 25, 12)[small], single[small])


def test_libsvm_text_as_people_write_it(rosenblatt):
    text = "# a comment\n+1 1:.5 3:1e-3 # another\n\n-1   2:-2.  7:0\t9:+4E2 \n+1\n-1 1:1 2:2 3:3\n"
    data = rosenblatt.text(text, "svm")
    expected, labels = load_svmlight_file(str(data), zero_based=False)
    model, report = rosenblatt.train(data, "perceptron", "--passes", 1, "--precision", "f64")
    assert report["rows"] == len(labels) == 4
    assert_array_equal(rosenblatt.matrix(model, data, 4, 9, "--precision", "f64"), expected.toarray())
    assert [rosenblatt.json("explain", model, data, "--row", i)["label"] for i in [1, 2, 3, 4]] == list(labels)


def test_libsvm_text_and_table_give_the_same_model(rosenblatt):
    x, y = sparse(41, 120, 30, 3)
    flags = [*PLAIN, "--passes", 4, "--precision", "f64"]
    table, text = rosenblatt.csv(x, y), rosenblatt.libsvm(x, y)
    from_table, _ = rosenblatt.train(table, "perceptron", *flags)
    from_text, _ = rosenblatt.train(text, "perceptron", *flags)
    for found, expected in zip(rosenblatt.planes(from_text), rosenblatt.planes(from_table)):
        assert_array_equal(found, expected)
    for found, expected in zip(
        rosenblatt.predict(from_text, text, "--precision", "f64"), rosenblatt.predict(from_table, table)
    ):
        assert_array_equal(found, expected)


def test_fewer_features_than_the_model_are_zeros(rosenblatt):
    x, y = sparse(42, 80, 10, 2)
    model, _ = rosenblatt.train(rosenblatt.libsvm(x, y), "perceptron", *PLAIN, "--precision", "f64")
    weights, bias = rosenblatt.planes(model)
    few = x.copy()
    few[:, 4:] = 0.0
    scores = rosenblatt.predict(model, rosenblatt.libsvm(few, y), "--precision", "f64")[1]
    np.testing.assert_allclose(scores, few @ weights[0] + bias[0], rtol=1e-12, atol=1e-12)


def test_numbers_keep_every_bit(rosenblatt):
    rng = np.random.default_rng(43)
    bits = rng.integers(0x0010000000000000, 0x7FE0000000000000, size=(200, 2), dtype=np.int64)
    x = bits.view(np.float64)
    x = np.where(np.abs(x) < 1e100, x, 5e-324)
    y = np.arange(200) % 2
    data = rosenblatt.csv(x, y)
    model, _ = rosenblatt.train(data, "perceptron", *IN_ORDER, "--passes", 1)
    assert_array_equal(rosenblatt.matrix(model, data, 40, 2), x[:40])


def test_categories_become_one_column_each(rosenblatt):
    rows = [("red", 1.5, "a"), ("green", 2.0, "b"), ("blue", 0.25, "a"), ("red", 0.0, "b"), ("dark, blue", 1.0, "a")]
    quote = lambda cell: f'"{cell}"' if "," in str(cell) else str(cell)
    data = rosenblatt.text("color,size,label\n" + "".join(",".join(map(quote, row)) + "\n" for row in rows))
    model, report = rosenblatt.train(data, "perceptron", *IN_ORDER)
    assert report["features"] == 5 and report["classes"] == ["a", "b"]
    for i, (color, size, _) in enumerate(rows):
        expected = {f"color={color}": 1.0, **({"size": size} if size else {})}
        assert rosenblatt.values(model, data, i) == expected


def test_label_in_any_column(rosenblatt):
    last = rosenblatt.text("x1,x2,kind\n1,2,a\n3,1,b\n0,4,a\n")
    first = rosenblatt.text("kind,x1,x2\na,1,2\nb,3,1\na,0,4\n")
    expected = rosenblatt.learned(last, "perceptron", *PLAIN)
    for label in ["kind", "1"]:
        found = rosenblatt.learned(first, "perceptron", *PLAIN, "--label", label)
        assert_array_equal(found[0], expected[0])
        assert_array_equal(found[1], expected[1])
