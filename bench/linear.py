"""Linear SVM and logistic regression in memory: ours against LIBLINEAR, scikit-learn and Snap ML, at the quality that each of them reached."""

import json
import math
import shutil
import subprocess

import common
import numpy as np
import peers
import sets

# Seconds for one fit, ours or theirs; a peer above the second is not run again after the first look.
LIMIT, SLOW = 120, 20
LARGEST_GAP, SMALLEST_GAP = 1e-3, 1e-7
# A peer that stopped further from the best than this is shown, but no goal counts it.
UNSOLVED = 0.05
OURS = {
    "hinge": ["-a", "linear-svm", "--loss", "hinge"],
    "squared-hinge": ["-a", "linear-svm", "--loss", "squared-hinge"],
    "logistic": ["-a", "logistic"],
    "multinomial": ["-a", "logistic"],
}
# Data of several classes are given to all but the logistic loss, which has a problem of its own for them.
TWO_CLASSES, MANY_CLASSES = ("hinge", "squared-hinge", "logistic"), ("hinge", "squared-hinge", "multinomial")


def main():
    options = common.arguments()
    report = common.Report("linear", "Linear SVM and logistic regression", options.runs)
    report.text(
        "Fits in memory, C = 1, no bias. Ours: `seconds.train`; theirs: the call of fit, with the same values, converted before. "
        "Suboptimality is (P − D) / P: P the objective ½‖w‖² + C·Σ loss in f64 from the returned weights (the sum over one-vs-rest problems), "
        f"D the dual value of a run of ours with `--gap {SMALLEST_GAP:g}`, or what it reached in {LIMIT} s. "
        f"Each peer is compared with ours at a `--gap` no larger than its own gap, or its suboptimality where it says no dual value, at most {LARGEST_GAP:g}, "
        "and small enough for an objective that is no worse. "
        f"Peers above {LIMIT} s were stopped, those above {SLOW} s run once; "
        f"those further than {UNSOLVED:.0%} from the best are shown, but no goal counts them."
    )
    found = present(report, sets.known(options.rows))
    gaps = {}
    for loss in common.asked("LINEAR_LOSSES", OURS):
        report.section(loss)
        fit = {name: of for name, of in found.items() if loss in (MANY_CLASSES if of[0].multiclass else TWO_CLASSES)}
        gaps[loss] = compare(report, loss, fit, options.runs)
        report.so_far()
    if "synthetic text" in found and {"hinge", "squared-hinge"} <= gaps.keys():
        from_file(report, found["synthetic text"][1], gaps, options.runs)
    report.finish("liblinear-official", "scikit-learn", "snapml", "numpy")


def present(report, known):
    """The sets asked for by LINEAR_ONLY (names with commas between) that are there, each with its file."""
    found = {name: (known[name], known[name].path()) for name in common.asked("LINEAR_ONLY", known)}
    for name, (one, path) in found.items():
        if path is None:
            report.missing(f"{one.needs} ({name})")
    return {name: of for name, of in found.items() if of[1] is not None}


def compare(report, loss, found, runs):
    """Returns the gaps of ours by set and peer."""
    rows, checks, gaps = [], [], {}
    for name, (one, path) in found.items():
        common.say(f"{loss}, {name}")
        common.warm(path)
        pairs = Pairs(name, path, loss, one, runs)
        rows += pairs.rows()
        checks += pairs.checks()
        pairs.goals(report)
        gaps[name] = pairs.gap
    report.lines += [f"- CHECK: {check}" for check in checks] + [""]
    head = ["data", "peer", "seconds, median", "least", "suboptimality"]
    report.table([*head, "ours with", "seconds, median", "least", "suboptimality", "ratio"], rows)
    return gaps


class Pairs:
    """Every peer on one set, and ours with the gap that matches it."""

    def __init__(self, name, path, loss, one, runs):
        self.name, self.loss, self.one = name, loss, one
        self.data = peers.arrays(path)
        self.bound = bound(path, loss, one.multiclass)
        self.stopped = []
        looks = self.look(path)
        self.gap = {peer: self.matched(path, of) for peer, of in looks.items()}
        mine = {f"--gap {gap:g}": self.our_side(path, gap) for gap in sorted(set(self.gap.values()))}
        again = {peer: peer_side(path, loss, peer) for peer, of in looks.items() if of["seconds"].median <= SLOW}
        self.figures = looks | common.alternate(runs, mine | again)

    def look(self, path):
        """Each peer once, for what it reaches."""
        looks = {}
        classes = len(np.unique(self.data[1])) if self.loss == "multinomial" else 1
        for peer in peers.names(self.loss, self.one.multiclass, classes * self.data[0].shape[1]):
            try:
                looks |= common.alternate(1, {peer: peer_side(path, self.loss, peer)})
            except subprocess.TimeoutExpired:
                common.say(f"  {peer}: stopped after {LIMIT} s")
                self.stopped.append(peer)
        return looks

    def matched(self, path, theirs):
        """The largest gap with which ours is not behind a peer, and not above its own."""
        primal = theirs["primal"].median
        own = (primal - theirs["dual"].median) / primal if "dual" in theirs else self.suboptimality(primal)
        gap = gap_for(own)
        while gap > SMALLEST_GAP and self.our_side(path, gap)(0)["primal"] > primal * (1 + SMALLEST_GAP):
            gap = gap_for(gap / 2)
        return gap

    def our_side(self, path, gap):
        def run(_):
            model = common.cache("linear.model")
            shown, _ = ours(path, self.loss, gap, self.one.multiclass, model)
            own = peers.objective(*self.data, our_weights(model, self.data[0].shape[1]), self.loss)
            return {"seconds": shown["seconds"]["train"], "primal": own, "claimed": shown["primal"], "gap": shown["gap"]}

        return run

    def suboptimality(self, primal):
        return (primal - self.bound["dual"]) / primal

    def ours(self, peer):
        return self.figures[f"--gap {self.gap[peer]:g}"]

    def behind(self, peer):
        """Whether ours did not get as far as the peer."""
        return self.ours(peer)["primal"].median > self.figures[peer]["primal"].median * (1 + SMALLEST_GAP)

    def ratio(self, peer):
        """Of the medians; none of ours counts that is behind."""
        return 0.0 if self.behind(peer) else self.figures[peer]["seconds"].median / self.ours(peer)["seconds"].median

    def solved(self, peer):
        """Judged by the best of all, for the bound may be loose."""
        best = min(of["primal"].least for of in self.figures.values())
        return self.figures[peer]["primal"].median * (1 - UNSOLVED) <= best

    def rows(self):
        for peer in self.gap:
            theirs, mine = self.figures[peer], self.ours(peer)
            times = "behind" if self.behind(peer) else common.ratio(theirs["seconds"], mine["seconds"])
            yield [self.name, *self.cells(peer, theirs), *self.cells(f"`--gap {self.gap[peer]:g}`", mine), times]
        for peer in self.stopped:
            yield [self.name, peer, f"above {LIMIT} s", *[""] * 7]

    def cells(self, name, of):
        far = self.suboptimality(of["primal"].median)
        return [name, common.seconds(of["seconds"].median), common.seconds(of["seconds"].least), f"{far:.1e}"]

    def checks(self):
        """What must not be: a value below the bound, ours behind the peer, or its figures not what they claim."""
        if self.bound["gap"] > SMALLEST_GAP:
            yield f"{self.name}: the bound is of a run that ended at gap {self.bound['gap']:.1e}, {self.bound['status']}"
        for name, of in self.figures.items():
            if self.suboptimality(of["primal"].least) < -1e-12:
                yield f"{self.name}: {name} is at {of['primal'].least:.12g}, below the bound {self.bound['dual']:.12g}"
            if "claimed" in of and not math.isclose(of["claimed"].median, of["primal"].median, rel_tol=1e-9):
                yield f"{self.name}: {name} claims {of['claimed'].median:.12g}, its weights give {of['primal'].median:.12g}"
            if "gap" in of and of["gap"].most > float(name.split()[1]):
                yield f"{self.name}: ours with {name} ended at gap {of['gap'].most:.1e}"
        for peer in filter(self.behind, self.gap):
            mine, theirs = (of["primal"].median for of in (self.ours(peer), self.figures[peer]))
            yield f"{self.name}: ours, {mine:.12g}, is behind {peer}, {theirs:.12g}"

    def goals(self, report):
        if self.loss in ("logistic", "multinomial"):
            self.goal(report, "the fastest peer", "", self.one.logistic_goal)
        else:
            self.goal(report, "LIBLINEAR", "LIBLINEAR", self.one.svm_goal)
            self.goal(report, "Snap ML", "Snap ML", None if self.one.multiclass else 2)

    def goal(self, report, who, prefix, at_least):
        counted = [peer for peer in self.gap if peer.startswith(prefix) and self.solved(peer)]
        if at_least and counted:
            least = min(counted, key=self.ratio)
            report.goal(f"{self.name}, times as fast as {who} ({least})", self.ratio(least), at_least)
        elif at_least:
            report.lines.append(f"- no goal: {self.name}: {who} did not solve it")


def gap_for(own):
    """Two digits, no more than what the peer reached, within what is asked of ours."""
    own = min(max(own, SMALLEST_GAP), LARGEST_GAP)
    step = 10.0 ** (math.floor(math.log10(own)) - 1)
    return float(f"{math.floor(own / step + 1e-9) * step:.1e}")


def peer_side(path, loss, peer):
    return lambda _: common.elsewhere(peers.fit, path, loss, peer, timeout=LIMIT)[0]


# Ours


def ours(path, loss, gap, multiclass, model, *more):
    words = ["--format", "libsvm", "--bias", "none", "--c", 1, "--gap", f"{gap:g}", "-o", model]
    words += ["--passes", 1_000_000, "--time-limit", f"{LIMIT}s"]
    scheme = ["--multiclass", "native" if loss == "multinomial" else "ovr"] if multiclass else []
    return common.rosenblatt("train", path, *OURS[loss], *words, *scheme, *more)


def bound(path, loss, multiclass):
    """The best lower bound of the objective that any run gave: `dual`. Looked for again until a run ends at `SMALLEST_GAP`."""
    kept = common.cache(f"bound-{path.stem}-{loss}.json")
    runs = [json.loads(kept.read_text(encoding="utf-8"))] if kept.is_file() else []
    for solver in ("auto", "dual"):
        if not any(run["gap"] <= SMALLEST_GAP for run in runs):
            common.say(f"  looking for {kept.name}, solver {solver}")
            shown, _ = ours(path, loss, SMALLEST_GAP, multiclass, common.cache("linear.model"), "--solver", solver)
            runs.append({key: shown[key] for key in ("dual", "gap", "status")})
    best = max(runs, key=lambda run: run["dual"])
    kept.write_text(json.dumps(best), encoding="utf-8")
    return best


def our_weights(model, features):
    """A row for each hyperplane. Names of features are their numbers from 1."""
    planes = common.rosenblatt("inspect", model, "--top", 0)[0]["planes"]
    weights = np.zeros((len(planes), features))
    for row, plane in zip(weights, planes):
        for entry in plane["largest_weights"]:
            row[int(entry["feature"]) - 1] = entry["weight"]
    return weights


def from_file(report, path, gaps, runs):
    report.section("From file to model")
    program = shutil.which("liblinear-train")
    if not program:
        return report.text("Skipped: there is no `liblinear-train` on the PATH.")
    model = common.cache("linear.model")
    rows = []
    for loss, solver in {"hinge": 3, "squared-hinge": 1}.items():
        common.say(f"file to model, {loss}")
        gap = gaps[loss]["synthetic text"].get(f"LIBLINEAR -s {solver}", LARGEST_GAP)
        train = [program, "-s", solver, "-c", 1, "-q", path, model]
        contestants = {
            "ours": lambda _: {"seconds": ours(path, loss, gap, False, model)[1]},
            "liblinear-train": lambda _: {"seconds": common.timed(train)[1]},
        }
        figures = common.alternate(runs, contestants)
        mine, peer = (figures[name]["seconds"] for name in contestants)
        report.goal(f"file to model, {loss}, times as fast as liblinear-train", peer.median / mine.median, 8)
        rows.append([loss, common.seconds(mine.median), common.seconds(peer.median), common.ratio(peer, mine)])
    report.lines.append("")
    report.table(["", "ours, median", "liblinear-train", "ratio"], rows)


if __name__ == "__main__":
    main()
