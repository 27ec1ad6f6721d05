"""Searches: C and γ of kernel machines against scikit-learn's GridSearchCV over scikit-learn-intelex, and C of linear ones against LIBLINEAR's -C and scikit-learn.

TUNE_ONLY=a9a,IMDB restricts the sets; TUNE_SIDE=4 makes the grid of the kernel 4 × 4.
"""

import os
import statistics
import subprocess

import common
import searches

# Seconds for one search of a peer; one above the second is not run again.
LIMIT, SLOW = 7200, 120
SIDE = int(os.environ.get("TUNE_SIDE", "8"))
KERNEL_GOAL, LINEAR_GOAL = 3, 4
# What LIBLINEAR doubles through.
COSTS = [2.0**power for power in range(-10, 10)]
SETS = {
    "a9a": "libsvm/a9a.gz",
    "IMDB": "text/imdb.tfidf.train.svm.gz",
    "20 newsgroups": "text/20newsgroups.tfidf.train.svm.gz",
}


def main():
    options = common.arguments()
    report = common.Report("tune", "Choosing a model by cross-validation", options.runs)
    report.text(
        f"{searches.FOLDS} stratified folds. Ours: `seconds.search` and `seconds.train`; theirs: the call of fit, with the last fit on all rows (LIBLINEAR has none), on values that were converted before. "
        "The candidate that ours takes is looked up in the scores of the peer: noise is the standard error of the peer's best."
    )
    for name in common.asked("TUNE_ONLY", SETS):
        path = common.unpacked(SETS[name])
        if path is None:
            report.missing(f"{SETS[name]} ({name})")
            continue
        common.say(name)
        common.warm(path)
        sides = kernel_sides(path) if name == "a9a" else linear_sides(path)
        goal = KERNEL_GOAL if name == "a9a" else LINEAR_GOAL
        compare(report, name, sides, goal, options.runs)
        report.so_far()
    report.finish("scikit-learn", "scikit-learn-intelex", "liblinear-official", "numpy")


def kernel_sides(path):
    """A grid of C from 0.1 to 100 and γ from 0.001 to 1."""
    words = ["-a", "svm", "--c", f"0.1..100:{SIDE}", "--gamma", f"0.001..1:{SIDE}"]
    costs, widths = (spaced(low, high, SIDE) for low, high in ((0.1, 100), (0.001, 1)))
    return {"ours": (ours, path, words), "scikit-learn-intelex": (theirs, searches.kernel, path, costs, widths)}


def linear_sides(path):
    words = ["-a", "linear-svm", "--loss", "squared-hinge", "--bias", "none", "--c", ",".join(map(str, COSTS))]
    return {
        "ours": (ours, path, words),
        "scikit-learn LinearSVC": (theirs, searches.linear, path, COSTS),
        "LIBLINEAR -C": (theirs, searches.liblinear, path, COSTS),
    }


def spaced(low, high, steps):
    """What a range of ours has, to its six digits."""
    return [float(f"{low * (high / low) ** (step / (steps - 1)):.5e}") for step in range(steps)]


def ours(path, words):
    shown, _ = common.rosenblatt("tune", path, "--format", "libsvm", "--folds", searches.FOLDS, *words)
    cells = [{"parameters": cell["parameters"], "scores": cell["scores"]} for cell in shown["cells"]]
    seconds = shown["seconds"]["search"] + shown["seconds"]["train"]
    return {"seconds": seconds, "cells": cells, "chosen": shown["chosen"]}


def theirs(function, *words):
    return common.elsewhere(function, *words, timeout=LIMIT)[0]


def compare(report, name, sides, goal, runs):
    """Each once; those that are fast enough again."""
    found, times = {}, {}
    for side, (call, *words) in sides.items():
        try:
            found[side] = call(*words)
        except subprocess.TimeoutExpired:
            common.say(f"  {side}: stopped after {LIMIT} s")
            continue
        times[side] = [found[side]["seconds"]]
        common.say(f"  {side}: {times[side][0]:.4g} s")
    for _ in range(runs - 1):
        for side in [side for side in times if side == "ours" or times[side][0] <= SLOW]:
            call, *words = sides[side]
            times[side].append(call(*words)["seconds"])
    report.section(name)
    figures = {side: common.Figure(values) for side, values in times.items()}
    fastest = min((side for side in figures if side != "ours"), key=lambda side: figures[side].median, default=None)
    if fastest:
        report.goal(f"times as fast as {fastest}", figures[fastest].median / figures["ours"].median, goal)
    for side, of in found.items():
        if side != "ours" and "cells" in of:
            behind, noise = difference(found["ours"], of)
            report.goal(f"noise less what ours is behind by the scores of {side}", noise - behind, 0)
    report.lines.append("")
    rows = [row(side, figures, found[side]) for side in figures]
    report.table(["", "median", "least", "ratio", "best candidate", "its accuracy"], rows)


def difference(own, peer):
    """How far the candidate of ours is behind the best of a peer's by the scores of that, and the standard error of the latter."""
    scores = {key(cell): cell["scores"] for cell in peer["cells"]}
    best = max(scores.values(), key=statistics.mean)
    chosen = scores[key(own["cells"][own["chosen"]])]
    return statistics.mean(best) - statistics.mean(chosen), statistics.stdev(best) / len(best) ** 0.5


def key(cell):
    """C and γ to five digits, however they are called and rounded."""
    return tuple(sorted((name.lower(), f"{value:.4e}") for name, value in cell["parameters"].items()))


def row(side, figures, of):
    ratio = "" if side == "ours" else common.ratio(figures[side], figures["ours"])
    if "cells" in of:
        best = max(of["cells"], key=lambda cell: statistics.mean(cell["scores"]))
        shown = ", ".join(f"{name} {value:g}" for name, value in best["parameters"].items())
        accuracy = statistics.mean(best["scores"])
    else:
        shown, accuracy = f"c {of['best']:g}", of["accuracy"]
    return [side, common.seconds(figures[side].median), common.seconds(figures[side].least), ratio, shown, common.percent(accuracy)]


if __name__ == "__main__":
    main()
