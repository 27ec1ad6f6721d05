"""Whether a line separates two classes, and the rows that prove that none does."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from rosenblatt import separable

figure, both = plt.subplots(1, 2, figsize=(10, 4.5))
for axes, spread in zip(both, (0.8, 1.2), strict=True):
    X, y = make_blobs(60, centers=[(-2, 0), (2, 1)], cluster_std=spread, random_state=3)
    (problem,) = separable(X, y).problems
    axes.scatter(*X.T, c=y, cmap="coolwarm", edgecolors="k", s=25)
    if problem.separable:
        v = np.array([X[:, 1].min(), X[:, 1].max()])
        axes.plot(-(problem.coef[1] * v + problem.intercept) / problem.coef[0], v, "k")
        axes.set_title(f"A line separates them, {problem.margin:.2f} from the next row", fontsize=10)
    else:
        proof = list(problem.multipliers)
        axes.scatter(*X[proof].T, s=120, facecolors="none", edgecolors="k", linewidths=2)
        for row, value in problem.multipliers.items():
            axes.annotate(f"{float(value):.2f}", X[row], xytext=(8, 6), textcoords="offset points")
        axes.set_title("None does: the same point is a mean of rows of each class", fontsize=10)
figure.savefig("separable.png", dpi=70)
