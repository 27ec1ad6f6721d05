"""Naive Bayes against scikit-learn's three classes: probabilities of all rows, and the numbers they come from."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB

from problems import BINARY, MULTICLASS, sparse

SETS = {**BINARY, **MULTICLASS, "sparse": lambda: sparse(8, 300, 40, 5)}


def counts(x):
    """What a multinomial model takes: nothing negative; without columns of zeros, the last of which a sparse file would not tell of."""
    x = np.abs(np.round(x))
    return x[:, x.any(axis=0)]


def agree(rosenblatt, theirs, data, x, model):
    answers, p = rosenblatt.probabilities(model, data)
    expected = theirs.predict_proba(x)
    assert_allclose(p, expected, rtol=1e-9, atol=1e-9)
    # Rows that are as likely in two classes may go either way.
    clear = np.sort(expected)[:, -1] - np.sort(expected)[:, -2] > 1e-9
    assert (answers == theirs.predict(x))[clear].all()


def joint(theirs, x):
    """Scores as ours are: of two classes what the second is ahead."""
    scores = theirs.predict_joint_log_proba(x)
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("flags", [{}, {"var_smoothing": 0.01}])
def test_gaussian(rosenblatt, name, flags):
    x, y = SETS[name]()
    data = rosenblatt.csv(x, y)
    given = [word for flag, value in flags.items() for word in ("--" + flag.replace("_", "-"), value)]
    model, _ = rosenblatt.train(data, "naive-bayes", "--distribution", "gaussian", *given)
    theirs = GaussianNB(**flags).fit(x, y)
    agree(rosenblatt, theirs, data, x, model)
    expected = joint(theirs, x)
    assert_allclose(rosenblatt.predict(model, data)[1], expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("alpha", [1.0, 0.05])
def test_multinomial(rosenblatt, name, alpha):
    x, y = SETS[name]()
    x = counts(x)
    for data in [rosenblatt.csv(x, y), rosenblatt.libsvm(x, y)]:
        model, _ = rosenblatt.train(data, "naive-bayes", "--distribution", "multinomial", "--alpha", alpha)
        theirs = MultinomialNB(alpha=alpha).fit(x, y)
        agree(rosenblatt, theirs, data, x, model)
    weights, biases = rosenblatt.planes(model)
    log_p, priors = theirs.feature_log_prob_, theirs.class_log_prior_
    if len(priors) == 2:
        log_p, priors = log_p[1:] - log_p[:1], priors[1:] - priors[:1]
    assert_allclose(weights, log_p, rtol=1e-9, atol=1e-9)
    assert_allclose(biases, priors, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("alpha, binarize", [(1.0, 0.0), (0.1, 0.5), (1.0, -0.25)])
def test_bernoulli(rosenblatt, name, alpha, binarize):
    x, y = SETS[name]()
    data = rosenblatt.csv(x, y)
    flags = ["--distribution", "bernoulli", "--alpha", alpha, "--binarize", binarize]
    model, _ = rosenblatt.train(data, "naive-bayes", *flags)
    # They take no negative threshold themselves.
    there = (x > binarize).astype(float)
    agree(rosenblatt, BernoulliNB(alpha=alpha, binarize=None).fit(there, y), data, there, model)


@pytest.mark.parametrize("distribution, make", [("multinomial", MultinomialNB), ("bernoulli", BernoulliNB)])
def test_weights_and_priors(rosenblatt, distribution, make):
    x, y = MULTICLASS["wine"]()
    x = counts(x)
    weights = np.random.default_rng(0).uniform(0.1, 3, size=len(y))
    file = rosenblatt.text("".join(f"{weight!r}\n" for weight in weights.tolist()), "txt")
    data = rosenblatt.csv(x, y)
    flags = ["--distribution", distribution, "--weights", file]
    model, _ = rosenblatt.train(data, "naive-bayes", *flags)
    agree(rosenblatt, make().fit(x, y, sample_weight=weights), data, x, model)
    model, _ = rosenblatt.train(data, "naive-bayes", *flags, "--no-fit-prior")
    agree(rosenblatt, make(fit_prior=False).fit(x, y, sample_weight=weights), data, x, model)


def test_gaussian_weights_are_repetitions(rosenblatt):
    """Theirs takes the variance that it smooths by from unweighted rows; so the rows are repeated for it."""
    x, y = MULTICLASS["iris"]()
    times = np.random.default_rng(1).integers(1, 4, size=len(y))
    file = rosenblatt.text("".join(f"{n}\n" for n in times), "txt")
    data = rosenblatt.csv(x, y)
    model, _ = rosenblatt.train(data, "naive-bayes", "--distribution", "gaussian", "--weights", file)
    theirs = GaussianNB().fit(np.repeat(x, times, axis=0), np.repeat(y, times))
    agree(rosenblatt, theirs, data, x, model)
