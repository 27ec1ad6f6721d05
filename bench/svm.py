"""Support vector machines with the Gaussian kernel: ours against scikit-learn (LIBSVM) and scikit-learn-intelex (oneDAL), with what each reached computed in f64.

SVM_ONLY=a9a,letter restricts the sets (`growth` is one of them); SVM_SLOW=1 runs scikit-learn where it takes minutes, too; SVM_CACHE=1GiB limits the kernel values that ours keeps.
"""

import json
import math
import os
import subprocess

import common
import growth
import optimality
import sets
import svc

# Seconds for one fit of a peer; one above the second is not run again.
LIMIT, SLOW = 900, 60
VIOLATION = svc.TOLERANCE
# Relative, by which a dual objective may be worse than LIBSVM's, and the number of support vectors another.
WORSE, MORE_VECTORS = 1e-4, 0.01
# By which share of the test rows accuracies may differ.
OTHER_ANSWERS = 0.001
GROWTH = (10_000, 20_000, 50_000, 100_000, 200_000)
# Of the growth: bytes of kernel values, and what is allowed beside them, for the program itself and for each row (covtype's has a dozen entries of eight bytes).
BUDGET, PROGRAM, A_ROW = 1 << 30, 16 << 20, 2048 + 12 * 8
HEAD = ["data", "", "fit, median", "least", "ratio", "predict, median", "least", "ratio", "dual objective", "violation", "support vectors", "test accuracy"]


def main():
    options = common.arguments()
    report = common.Report("svm", "Support vector machines with the Gaussian kernel", options.runs)
    report.text(
        f"exp(−γ·‖u − v‖²), tolerance {VIOLATION:g}, free bias, one-vs-one; {svc.CACHE} MB of kernel values for peers, {room()} for ours. Ours: `seconds.train` and `seconds.predict`; theirs: the calls of fit and predict on "
        "the same f32 values, converted before (f64 for LIBSVM, which computes with those; CSR where rows are sparse and that is faster). Dual objective Σα − ½αᵀQα and violation m(α) − M(α): in f64 "
        "on all rows, from the multipliers that the first run returned; one-vs-one: the sum, and the largest. "
        f"Peers above {SLOW} s run once. Data: MNIST pixels / 255; covtype class 2 against the rest, 100,000 rows by chance, columns divided by their largest absolute value, "
        f"tested on {sets.OTHERS:,} other rows; letter as scaled to [−1, 1] by its source; w8a is tested on the rows it was trained on."
    )
    known = sets.curved()
    asked = common.asked("SVM_ONLY", [*known, "growth"])
    for name in asked:
        common.say(name)
        if name == "growth":
            curve(report)
        else:
            compare(report, name, known[name], options.runs)
        report.so_far()
    report.finish("scikit-learn", "scikit-learn-intelex", "numpy")


def compare(report, name, one, runs):
    train, test = one.train(), one.test()
    if train is None or test is None:
        return report.missing(f"{one.needs} ({name})")
    for path in (train, test):
        common.warm(path)
    match = Match(name, one, train, test)
    match.run(runs)
    report.section(f"{name}: C {one.c:g}, γ {one.gamma:g}")
    match.goals(report)
    report.lines += [f"- CHECK: {check}" for check in match.checks()] + [""]
    report.table(HEAD, match.rows())


class Match:
    """Ours and the peers on one set."""

    def __init__(self, name, one, train, test):
        self.name, self.one, self.train, self.test = name, one, train, test
        self.figures, self.stopped = {}, []

    def run(self, runs):
        slow = runs_libsvm(self.one.libsvm, os.environ.get("SVM_SLOW"))
        sides = {"ours": self.our_side} | {peer: self.peer_side(peer) for peer in svc.names(self.train, slow)}
        # A look at each, for what it reaches and whether it is worth another run.
        looks = {}
        for name, side in sides.items():
            try:
                looks |= common.alternate(1, {name: side})
            except subprocess.TimeoutExpired:
                common.say(f"  {name}: stopped after {LIMIT} s")
                self.stopped.append(name)
        again = {name: sides[name] for name, of in looks.items() if name == "ours" or of["seconds"].median <= SLOW}
        more = common.alternate(runs - 1, again, first=1) if runs > 1 else {}
        self.figures = {name: {key: both(figure, more.get(name, {}).get(key)) for key, figure in of.items()} for name, of in looks.items()}
        self.kept = self.reference()

    def our_side(self, run):
        model = common.cache("svm.model")
        shown, _ = common.rosenblatt(*train_words(self.train, self.one, model))
        tested, _ = common.rosenblatt("eval", model, self.test, "--format", "libsvm")
        figures = {
            "seconds": shown["seconds"]["train"],
            "predict": tested["seconds"]["predict"],
            "accuracy": tested["accuracy"],
            "support_vectors": shown["support_vectors"],
            "claimed": shown["dual"],
            "gap": shown["gap"],
        }
        if run == 0:
            inspected = common.cache("svm.json")
            inspected.write_text(common.timed([common.binary(), "inspect", model, "--top", 0, "--json"])[0], encoding="utf-8")
            figures |= common.elsewhere(optimality.of_ours, self.train, self.one.c, self.one.gamma, inspected)[0]
        return figures

    def peer_side(self, peer):
        kept = common.cache("svm-peer.npz")

        def run(number):
            words = (self.train, self.test, peer, self.one.c, self.one.gamma, kept)
            figures = common.elsewhere(svc.fit, *words, timeout=LIMIT)[0]
            if number == 0:
                figures |= common.elsewhere(optimality.of_peer, self.train, self.one.c, self.one.gamma, kept)[0]
            return figures

        return run

    def reference(self):
        """What LIBSVM reached, now or in an earlier run: its objective and support vectors do not depend on the machine, but take minutes."""
        kept = common.cache(f"libsvm-{self.name.replace(' ', '-')}.json")
        if (of := self.figures.get("scikit-learn")) is not None:
            keys = ("dual", "violation", "support_vectors", "accuracy")
            kept.write_text(json.dumps({key: of[key].median for key in keys}), encoding="utf-8")
        return json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else None

    def intelex(self):
        """The faster of its forms, to fit."""
        found = [name for name in self.figures if name.startswith("scikit-learn-intelex")]
        return min(found, key=lambda name: self.figures[name]["seconds"].median, default=None)

    def ratio(self, peer, what):
        return self.figures[peer][what].median / self.figures["ours"][what].median

    def goals(self, report):
        ours, fastest = self.figures["ours"], self.intelex()
        if fastest:
            report.goal(f"fit, times as fast as {fastest}", self.ratio(fastest, "seconds"), self.one.fit_goal)
            quickest = min(self.ratio(name, "predict") for name in self.figures if name != "ours")
            report.goal("predict, times as fast as the fastest", quickest, self.one.predict_goal)
        if "scikit-learn" in self.figures and self.one.libsvm_goal:
            report.goal("fit, times as fast as scikit-learn", self.ratio("scikit-learn", "seconds"), self.one.libsvm_goal)
        report.goal(f"{VIOLATION:g} over the violation of ours", VIOLATION / max(ours["violation"].median, 1e-300), 1)
        for text, value, at_least in self.quality(ours):
            report.goal(text, value, at_least)

    def quality(self, ours):
        """Against LIBSVM, or the fastest peer where LIBSVM has never run."""
        fastest = self.intelex()
        best, who = self.kept, "LIBSVM"
        if best is None and fastest:
            best, who = {key: figure.median for key, figure in self.figures[fastest].items()}, fastest
        if best is None:
            return
        dual = ours["dual"].median
        yield f"dual objective above that of {who}, relative", (dual - best["dual"]) / abs(best["dual"]), -WORSE
        yield f"test accuracy above that of {who}", ours["accuracy"].median - best["accuracy"], -OTHER_ANSWERS
        # Where rows repeat, which of them are support vectors is not decided by the problem.
        if ours["repeats"].median == 0:
            apart = abs(ours["support_vectors"].median / best["support_vectors"] - 1)
            yield f"support vectors, {MORE_VECTORS:.0%} over their relative difference to {who}", MORE_VECTORS / max(apart, 1e-300), 1

    def checks(self):
        ours = self.figures["ours"]
        if abs(ours["claimed"].median / ours["dual"].median - 1) > 1e-6:
            yield f"ours claims the dual objective {ours['claimed'].median:.10g}, its multipliers give {ours['dual'].median:.10g}"
        for name, of in self.figures.items():
            if of["balance"].median > 1e-3 * self.one.c:
                yield f"{name}: Σ yα is {of['balance'].median:.1e}, not 0"
            if name != "ours" and of["violation"].median > 2 * VIOLATION:
                yield f"{name} ended at a violation of {of['violation'].median:.1e}"

    def rows(self):
        for name, of in self.figures.items():
            times = lambda what: "" if name == "ours" else common.ratio(of[what], self.figures["ours"][what])
            cells = [[common.seconds(of[what].median), common.seconds(of[what].least), times(what)] for what in ("seconds", "predict")]
            reached = [f"{of['dual'].median:.8g}", f"{of['violation'].median:.1e}", f"{of['support_vectors'].median:.0f}"]
            yield [self.name, name, *cells[0], *cells[1], *reached, common.percent(of["accuracy"].median)]
        for name in self.stopped:
            yield [self.name, name, f"above {LIMIT} s", *[""] * 9]
        if self.kept and "scikit-learn" not in self.figures:
            reached = [f"{self.kept['dual']:.8g}", f"{self.kept['violation']:.1e}", f"{self.kept['support_vectors']:.0f}"]
            yield [self.name, "scikit-learn, an earlier run", *[""] * 6, *reached, common.percent(self.kept["accuracy"])]


def train_words(path, one, model, cache=os.environ.get("SVM_CACHE")):
    learner = ["-a", "svm", "--kernel", "rbf", "--gamma", one.gamma, "--c", one.c, "--tolerance", VIOLATION]
    limit = ["--cache", cache] if cache else []
    return ["train", path, "--format", "libsvm", *learner, *limit, "-o", model]


def room():
    return os.environ.get("SVM_CACHE") or "what it takes by itself"


def runs_libsvm(libsvm, told):
    """Whether LIBSVM is run."""
    return libsvm == "always" or (libsvm == "if told" and bool(told))


def both(figure, more):
    """A figure with those of later runs."""
    return figure if more is None else common.Figure([*figure.values, *more.values])


def curve(report):
    one = sets.curved()["covtype"]
    report.section("Growth")
    report.text(
        f"Ours on covtype, C {one.c:g}, γ {one.gamma:g}, `--cache 1GiB` for kernel values: rows by chance, each sample with the smaller ones in it, one run each. "
        "Exponent: of the number of rows, by which the time has grown since the line above. Memory: the most that was resident without pages of mapped files. "
        f"Allowed: the cache, {PROGRAM >> 20} MiB for the program, and {A_ROW:,} bytes a row, data and model included."
    )
    rows, before = [], None
    for count in GROWTH:
        path = sets.covtype_rows(count)
        if path is None:
            return report.missing(one.needs)
        common.say(f"  {count} rows")
        shown, memory = growth.watched(*train_words(path, one, common.cache("svm.model"), "1GiB"))
        allowed = BUDGET + PROGRAM + A_ROW * count
        report.goal(f"{count:,} rows, memory allowed over memory", allowed / memory, 1)
        seconds = shown["seconds"]["train"]
        grown = "" if before is None else f"{exponent(*before, count, seconds):.2f}"
        rows.append([f"{count:,}", common.seconds(seconds), grown, f"{shown['support_vectors']:,}", f"{memory / 1e6:.0f} MB", f"{allowed / 1e6:.0f} MB"])
        before = (count, seconds)
    report.lines.append("")
    report.table(["rows", "seconds", "exponent", "support vectors", "memory", "allowed"], rows)


def exponent(rows, seconds, more_rows, more_seconds):
    return math.log(more_seconds / seconds) / math.log(more_rows / rows)


if __name__ == "__main__":
    main()
