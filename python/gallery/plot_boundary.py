"""What a support vector machine learns: boundary, corridor, support vectors."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from rosenblatt import SVC

X, y = make_moons(200, noise=0.2, random_state=0)
svm = SVC(C=10, gamma=1).fit(X, y)

u, v = np.meshgrid(np.linspace(-1.8, 2.8, 200), np.linspace(-1.4, 1.8, 200))
scores = svm.decision_function(np.c_[u.ravel(), v.ravel()]).reshape(u.shape)

figure, axes = plt.subplots(figsize=(7, 4.5))
most = np.abs(scores).max()
axes.contourf(u, v, scores, levels=[-most, -1, 0, 1, most], cmap="RdBu", alpha=0.3)
axes.contour(u, v, scores, levels=[-1, 0, 1], colors="k", linestyles=["--", "-", "--"], linewidths=1)
axes.scatter(*X.T, c=y, cmap="RdBu", edgecolors="k", s=25)
axes.scatter(*svm.support_vectors_.T, facecolors="none", edgecolors="k", s=90, label="support vectors")
axes.set_title(f"{len(svm.support_)} support vectors; relative duality gap {svm.dual_gap_:.2g}")
axes.legend()
figure.savefig("boundary.png", dpi=70)
