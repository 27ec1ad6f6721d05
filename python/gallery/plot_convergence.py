"""How near the optimum is: the gap of three methods for one objective, after more and more passes."""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from rosenblatt import LinearSVC, PegasosSVC, SubgradientSVC

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
warnings.simplefilter("ignore", ConvergenceWarning)  # that they end early is what is shown

figure, axes = plt.subplots(figsize=(7, 4.5))
passes = [1, 2, 5, 10, 20, 50, 100, 200]
for method in (LinearSVC(loss="hinge", dual=True), PegasosSVC(), SubgradientSVC()):
    gaps = [method.set_params(C=0.01, tol=1e-6, max_iter=limit).fit(X, y).dual_gap_ for limit in passes]
    axes.loglog(passes, gaps, marker="o", label=type(method).__name__)
axes.set(xlabel="passes over the data, at the most", ylabel="relative duality gap", title="min ½‖w‖² + C·Σ max(0, 1 − y·g(x))")
axes.legend()
figure.savefig("convergence.png", dpi=70)
