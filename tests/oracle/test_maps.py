"""Feature maps that stand for a kernel against scikit-learn's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics import pairwise
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from problems import bundled


def digits():
    x, y = bundled("digits")
    return x[:1200] / 16, y[:1200], x[1200:] / 16, y[1200:]


def rings():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=600)
    angle, radius = rng.uniform(0, 2 * np.pi, 600), 1 + y + 0.2 * rng.normal(size=600)
    x = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return x[:400], y[:400], x[400:], y[400:]


THEIRS = {
    "fourier": lambda gamma, seed: RBFSampler(gamma=gamma, n_components=300, random_state=seed),
    "nystroem": lambda gamma, seed: Nystroem(gamma=gamma, n_components=300, random_state=seed),
}


@pytest.mark.parametrize("data, gamma", [(digits, 0.08), (rings, 1.0)])
@pytest.mark.parametrize("name", THEIRS)
def test_accuracy(rosenblatt, name, data, gamma):
    """Three hundred features of theirs and ours, each as drawn by four seeds: what differs is luck."""
    x, y, new, truth = data()
    train, test = rosenblatt.csv(x, y), rosenblatt.csv(new, truth)
    ours, theirs = [], []
    for seed in range(4):
        pipeline = make_pipeline(THEIRS[name](gamma, seed), LinearSVC(C=1, loss="hinge", max_iter=20000, random_state=0))
        theirs.append(pipeline.fit(x, y).score(new, truth))
        flags = ["--map", f"{name}:300:gamma={gamma}", "--seed", seed]
        model, _ = rosenblatt.train(train, "linear-svm", *flags)
        ours.append(rosenblatt.json("eval", model, test)["accuracy"])
    assert np.mean(ours) > 0.9
    assert abs(np.mean(ours) - np.mean(theirs)) < 0.015, (ours, theirs)


def features(rosenblatt, model, file, rows, columns):
    """The first rows as the model sees them."""
    matrix = np.zeros((rows, columns))
    for i in range(rows):
        for name, value in rosenblatt.values(model, file, i).items():
            matrix[i, int(name.split()[-1]) - 1] = value
    return matrix


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "chi2"])
def test_landmarks_see_all_of_themselves(rosenblatt, kernel):
    """Dot products of features are their kernel values, for rows that are landmarks."""
    x, y = bundled("iris")
    x, y = x[:40], y[:40]
    file = rosenblatt.csv(x, y)
    model, _ = rosenblatt.train(file, "perceptron", "--map", f"nystroem:1000:{kernel}:gamma=0.25")
    found = features(rosenblatt, model, file, len(x), len(x))
    assert_allclose(found @ found.T, pairwise.pairwise_kernels(x, metric=kernel, gamma=0.25), atol=1e-4)


def test_gamma_by_itself_is_theirs(rosenblatt):
    """What scikit-learn calls "scale"."""
    x, y = bundled("iris")
    model, _ = rosenblatt.train(rosenblatt.csv(x, y), "perceptron", "--map", "fourier:10")
    shown = rosenblatt.json("inspect", model)["map"]
    assert_allclose(float(shown.split("gamma=")[1]), 1 / (x.shape[1] * x.var()), rtol=1e-3)


def test_scaled_first(rosenblatt):
    """Maps come after scaling, as in their pipelines."""
    x, y = bundled("wine")
    file = rosenblatt.csv(x, y)
    model, _ = rosenblatt.train(file, "perceptron", "--scale", "standard", "--map", "nystroem:178:gamma=0.05")
    scaled = StandardScaler().fit_transform(x)
    found = features(rosenblatt, model, file, 30, 178)
    expected = pairwise.rbf_kernel(scaled[:30], gamma=0.05)
    assert_allclose(found @ found.T, expected, atol=1e-4)
