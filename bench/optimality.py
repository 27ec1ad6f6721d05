"""How good a support vector machine with the Gaussian kernel is: its dual objective Σα − ½αᵀQα and its largest violation, in f64, from the multipliers alone.

The violation is LIBSVM's m(α) − M(α) (Fan, Chen, Lin 2005): how far the constraints of two rows contradict each other, whatever the bias.
"""

import itertools
import json

import numpy as np
import peers

# Kernel values at a time.
ROOM = 1 << 21
# A multiplier this close to its bound, as a share of it, is at the bound: single precision and decimal digits round.
AT_BOUND = 1e-6


class Problem:
    """Two classes. Equal rows of one class are one row with the bound of them all: which of them holds the multiplier changes no score, and so neither the objective nor a violation."""

    def __init__(self, x, signs, c, gamma):
        keys = [row.tobytes() for row in np.ascontiguousarray(x.toarray(), np.float32) + np.float32(0)]
        places = {}
        self.group = np.array([places.setdefault(key, len(places)) for key in zip(keys, signs.tolist())])
        first = np.zeros(len(places), int)
        first[self.group[::-1]] = np.arange(len(self.group))[::-1]
        self.x = x[first].astype(np.float64)
        self.signs = signs[first].astype(np.float64)
        self.bounds = c * np.bincount(self.group).astype(np.float64)
        self.gamma = gamma

    @property
    def repeats(self):
        return len(self.group) - len(self.bounds)

    def of_rows(self, rows, multipliers):
        """Multipliers of the groups from those of some rows."""
        return np.bincount(self.group[rows], multipliers, len(self.bounds))

    def judged(self, alpha):
        """Dual objective and violation."""
        at_bound = alpha >= self.bounds * (1 - AT_BOUND)
        scores = self.scores(alpha)
        dual = alpha.sum() - 0.5 * np.dot(self.signs * alpha, scores)
        wanted = self.signs - scores
        positive = self.signs > 0
        up = np.where(positive, ~at_bound, alpha > 0)
        down = np.where(positive, alpha > 0, ~at_bound)
        violation = wanted[up].max(initial=-np.inf) - wanted[down].min(initial=np.inf)
        return {"dual": float(dual), "violation": float(max(violation, 0.0)), "balance": float(abs(np.dot(self.signs, alpha)))}

    def scores(self, alpha):
        """Σ yα·K of each group, without a bias."""
        held = np.flatnonzero(alpha)
        coefficients = (self.signs * alpha)[held]
        z = self.x[held].toarray()
        z_squares = np.einsum("ij,ij->i", z, z)
        scores = np.zeros(len(alpha))
        step = max(1, ROOM // max(1, len(held)))
        for at in range(0, len(alpha), step):
            x = self.x[at : at + step].toarray()
            values = x @ z.T
            values *= 2
            values -= np.einsum("ij,ij->i", x, x)[:, None]
            values -= z_squares
            np.minimum(values, 0, out=values)
            values *= self.gamma
            np.exp(values, out=values)
            scores[at : at + step] = values @ coefficients
        return scores


def of_peer(train, c, gamma, kept):
    """Of one that keeps its coefficients as LIBSVM does: in the problem of classes a < b, support vectors of a have theirs in row b − 1, those of b in row a."""
    x, y = peers.arrays(train)
    with np.load(kept) as file:
        rows, coefficients = file["rows"], np.abs(file["coefficients"].astype(np.float64))

    def multipliers(problem, pair, among):
        inside = np.isin(y[rows], pair)
        line = np.where(y[rows] == pair[0], pair[1] - 1, pair[0])
        values = coefficients[line, np.arange(len(rows))] if len(coefficients) > 1 else coefficients[0]
        return problem.of_rows(np.searchsorted(among, rows[inside]), values[inside])

    return together(x, y, c, gamma, multipliers)


def of_ours(train, c, gamma, inspected):
    """Of the JSON that `inspect --top 0` gives: training rows, counted from 1, with a coefficient for each pair of classes; of equal rows one has what all have."""
    x, y = peers.arrays(train)
    with open(inspected, encoding="utf-8") as file:
        stored = json.load(file)["stored"]
    rows = np.array([one["training_row"] - 1 for one in stored])
    coefficients = np.abs([one["coefficients"] for one in stored])
    plane = {pair: p for p, pair in enumerate(pairs_of(y))}

    def multipliers(problem, pair, among):
        values = coefficients[:, plane[pair]]
        used = values > 0
        return problem.of_rows(np.searchsorted(among, rows[used]), values[used])

    return together(x, y, c, gamma, multipliers)


def pairs_of(y):
    return list(itertools.combinations(range(y.max() + 1), 2))


def together(x, y, c, gamma, multipliers):
    """Over all pairs of classes: the sum of the objectives, the largest violation, and how many rows repeat another of their class."""
    judged, repeats = [], 0
    for pair in pairs_of(y):
        among = np.flatnonzero(np.isin(y, pair))
        problem = Problem(x[among], np.where(y[among] == pair[1], 1, -1), c, gamma)
        judged.append(problem.judged(multipliers(problem, pair, among)))
        repeats = max(repeats, problem.repeats)
    most = lambda key: max(one[key] for one in judged)
    return {
        "dual": sum(one["dual"] for one in judged),
        "violation": most("violation"),
        "balance": most("balance"),
        "repeats": repeats,
    }
