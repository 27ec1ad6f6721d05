"""Texts: the features are those of scikit-learn's TfidfVectorizer."""

import csv
import io
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.feature_extraction.text import TfidfVectorizer

# A word is a run of letters, digits and inner apostrophes of two characters or more.
WORD = r"(?u)[^\W_](?:(?:[^\W_]|')*[^\W_])"
MAILS = [
    "Win FREE money, free money now!!!",
    "see you at lunch? don't be late",
    "",
    "Don't miss: free prize money (£1000)",
    "Lunch at NOON... größe ÉTÉ naïve café, straße",
    "'quoted' rock'n'roll a b c 42 4 2",
    "?! ... -- a",
    "été café lunch money   now\tand then",
]
NEW = ["free lunch at the café", "nothing known here, x", "", "MONEY money Money don't", "now"]


def table(texts, name="body"):
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["class", name])
    rows.writerows([["ab"[i % 2], text] for i, text in enumerate(texts)])
    return out.getvalue()


def lines(texts, name="body"):
    return "".join(json.dumps({"class": "ab"[i % 2], name: text}) + "\n" for i, text in enumerate(texts))


def assert_same_features(rosenblatt, model, data, expected, names):
    """Every value to 1e-12 of itself, and no feature more or less."""
    for i, row in enumerate(expected.toarray()):
        found = rosenblatt.values(model, data, i, "--label", "class")
        wanted = {names[j]: row[j] for j in np.flatnonzero(row)}
        assert found.keys() == wanted.keys()
        assert_allclose([found[name] for name in wanted], list(wanted.values()), rtol=1e-12)


@pytest.mark.parametrize("min_rows", [1, 2])
@pytest.mark.parametrize("words", [(1, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize("write, extension", [(table, "csv"), (lines, "jsonl")])
def test_words(rosenblatt, write, extension, words, min_rows):
    oracle = TfidfVectorizer(token_pattern=WORD, ngram_range=words, min_df=min_rows)
    expected = oracle.fit_transform(MAILS)
    data, new = (rosenblatt.text(write(texts), extension) for texts in (MAILS, NEW))
    flags = ["--label", "class", "--text", "body", "--words", f"{words[0]}..{words[1]}", "--min-rows", min_rows]
    model, report = rosenblatt.train(data, "perceptron", "--passes", 1, *flags)
    names = [f"body:{ngram}" for ngram in oracle.get_feature_names_out()]
    assert report["features"] == len(names)
    assert_same_features(rosenblatt, model, data, expected, names)
    assert_same_features(rosenblatt, model, new, oracle.transform(NEW), names)


@pytest.mark.parametrize("chars", [(1, 1), (3, 5), (2, 9)])
def test_characters(rosenblatt, chars):
    oracle = TfidfVectorizer(analyzer="char_wb", ngram_range=chars)
    expected = oracle.fit_transform(MAILS)
    data, new = (rosenblatt.text(table(texts)) for texts in (MAILS, NEW))
    flags = ["--text", "body", "--words", 0, "--chars", f"{chars[0]}..{chars[1]}", "--min-rows", 1]
    model, report = rosenblatt.train(data, "perceptron", "--passes", 1, *flags)
    names = [f'body~"{ngram}"' for ngram in oracle.get_feature_names_out()]
    assert report["features"] == len(names)
    assert_same_features(rosenblatt, model, data, expected, names)
    assert_same_features(rosenblatt, model, new, oracle.transform(NEW), names)


def test_words_and_characters_share_one_length(rosenblatt):
    words = TfidfVectorizer(token_pattern=WORD).build_analyzer()
    chars = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3)).build_analyzer()
    both = lambda text: [f"body:{ngram}" for ngram in words(text)] + [f'body~"{ngram}"' for ngram in chars(text)]
    oracle = TfidfVectorizer(analyzer=both)
    expected = oracle.fit_transform(MAILS)
    data = rosenblatt.text(table(MAILS))
    flags = ["--text", "body", "--words", 1, "--chars", 3, "--min-rows", 1]
    model, _ = rosenblatt.train(data, "perceptron", "--passes", 1, *flags)
    assert_same_features(rosenblatt, model, data, expected, oracle.get_feature_names_out())


def test_scores_are_those_of_the_weights_by_name(rosenblatt):
    """Weights from `inspect`, features from scikit-learn, scores from `predict`."""
    oracle = TfidfVectorizer(token_pattern=WORD, ngram_range=(1, 2), min_df=2).fit(MAILS)
    data, new = (rosenblatt.text(table(texts)) for texts in (MAILS, NEW))
    model, _ = rosenblatt.train(data, "averaged-perceptron", "--text", "body")
    plane = rosenblatt.json("inspect", model, "--top", 0)["planes"][0]
    weights = {item["feature"]: item["weight"] for item in plane["largest_weights"]}
    by_name = np.array([weights.get(f"body:{ngram}", 0.0) for ngram in oracle.get_feature_names_out()])
    scores = rosenblatt.predict(model, new)[1]
    assert_allclose(scores, oracle.transform(NEW) @ by_name + plane["bias"], rtol=1e-12, atol=1e-15)
