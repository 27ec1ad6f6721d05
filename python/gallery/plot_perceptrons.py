"""Perceptrons on rows that come one after the other, and what the mean and the vote of their weights are worth."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from rosenblatt import AROW, AveragedPerceptron, PassiveAggressiveClassifier, Perceptron, VotedPerceptron

X, y = load_digits(return_X_y=True)
X, new, y, unseen = train_test_split(X / 16, y, random_state=0)

figure, axes = plt.subplots(figsize=(7, 4.5))
for learner in (Perceptron(), PassiveAggressiveClassifier(), AROW(), AveragedPerceptron(), VotedPerceptron()):
    errors, seen = [], []
    for rows in np.array_split(np.arange(len(y)), 20):
        learner.partial_fit(X[rows], y[rows], classes=np.arange(10))
        seen.append(rows[-1] + 1)
        errors.append(1 - learner.score(new, unseen))
    axes.plot(seen, errors, label=type(learner).__name__)
axes.set(xlabel="rows seen, each once", ylabel="errors on new rows", yscale="log", title="Digits, as they come")
axes.legend()
figure.savefig("perceptrons.png", dpi=70)
