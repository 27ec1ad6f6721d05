"""Is the data separable? Decided and checked in exact arithmetic, on data sets of each kind. No peers. `SEPARABLE_ONLY=a9a,iris` restricts the sets."""

import json
import subprocess
import tempfile
import time

import common
import sets

# Each is decided within this many seconds.
MOST_SECONDS = 60

# Of the perceptron that is audited.
PASSES = 200


def known():
    digits = lambda: sets.digits_file("mnist-train.svm", lambda y: y)
    text = lambda name: lambda: common.unpacked(name)
    return {
        "iris": (lambda: "iris", "", []),
        "a9a": (text("libsvm/a9a.gz"), "libsvm/a9a.gz", []),
        "MNIST pairs": (digits, "mnist/train-images-idx3-ubyte.gz", ["--multiclass", "ovo"]),
        "20 newsgroups pairs": (text("text/20newsgroups.tfidf.train.svm.gz"), "text/20newsgroups.tfidf.train.svm.gz", ["--multiclass", "ovo"]),
        "20 newsgroups rest": (text("text/20newsgroups.tfidf.train.svm.gz"), "text/20newsgroups.tfidf.train.svm.gz", ["--multiclass", "ovr"]),
    }


def main():
    options = common.arguments()
    report = common.Report("separable", "Separability, decided and proved", options.runs)
    report.text("`separable`: seconds to decide all problems of a set and to check the answers exactly, without reading; wall: the whole process. Median runs.")
    rows, cases = [], {}
    for name in common.asked("SEPARABLE_ONLY", list(known())):
        find, needs, words = known()[name]
        path = find()
        if not path:
            report.missing(needs)
            continue
        common.say(name)
        runs = sorted((decide(path, words) for _ in range(options.runs)), key=lambda run: run[1])
        shown, wall = runs[len(runs) // 2]
        problems = shown.get("problems", [shown])
        proofs = [len(problem["multipliers"]) for problem in problems if not problem["separable"]]
        cases[name] = (path, problems)
        apart = len(problems) - len(proofs)
        taken = shown["seconds"]
        longest = max(problem["seconds"] for problem in problems)
        figures = [common.seconds(value) for value in (taken, longest, wall)]
        rows.append([name, len(problems), apart, max(proofs, default=0), *figures])
        report.goal(f"{name}, a minute over seconds of the longest problem", MOST_SECONDS / longest, 1)
    report.lines.append("")
    report.table(["set", "problems", "separable", "rows of the longest proof", "seconds", "longest problem", "wall"], rows)
    report.section("The mistake bound")
    report.text(
        f"The perceptron with ties counted as mistakes on the problems that are separable, `--audit`: both inequalities hold at every update, or the bench ends. "
        f"At most {PASSES} passes: where they are not enough, nothing was audited."
    )
    headings = ["set", "perceptrons", "converged", "not converged, so unknown", "most mistakes", "most of the bound", "holds"]
    table = []
    for name, case in cases.items():
        runs = list(bounds(*case))
        table.append(bound(name, runs))
        if runs:
            report.goal(f"{name}, of separable problems those whose bound was audited", len(converged(runs)) / len(runs), 1)
    report.lines.append("")
    report.table(headings, table)
    report.finish()


def decide(path, words):
    """The JSON, and the wall time of the whole process; not being separable is no failure."""
    command = [common.binary(), "separable", path, *words, "--threads", common.THREADS, "--json"]
    start = time.perf_counter()
    done = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    if done.returncode > 1:
        raise RuntimeError(f"{path}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout), wall


def bounds(path, problems):
    """A run that breaks an inequality ends with an error, which ends the bench."""
    apart = [problem["problem"] for problem in problems if problem["separable"]]
    return map(audited, two_class_files(path, apart))


def converged(runs):
    return [run for run in runs if run["status"] == "converged"]


def bound(name, runs):
    done = converged(runs)
    mistakes = max((run["updates"] for run in done), default=0)
    share = max((run["updates"] / run["mistake_bound"] for run in done), default=0)
    holds = "yes" if runs and len(done) == len(runs) else "where known" if done else "unknown" if runs else "none separable"
    return [name, len(runs), len(done), len(runs) - len(done), mistakes, f"{100 * share:.2g}%", holds]


def audited(file):
    words = ["-a", "perceptron", "--tie", "mistake", "--multiclass", "ovr", "--passes", PASSES, "--audit"]
    try:
        shown, _ = common.rosenblatt("train", file, *words)
    except RuntimeError as error:
        if "no separator was found" not in str(error):
            raise
        return {"status": "pass_limit"}
    if shown["status"] == "converged" and not (shown["audit"] and shown["updates"] <= shown["mistake_bound"]):
        raise RuntimeError(f"{file}: more mistakes than the bound allows, or no audit")
    return shown


def two_class_files(path, titles):
    """One after the other, a file of the rows of each problem."""
    if path == "iris":
        # One of the pairs with setosa stands for all that are separable.
        yield from ["iris-separable"] if titles else []
        return
    with open(path, encoding="utf-8") as file:
        lines = [line.split(" ", 1) for line in file]
    with tempfile.TemporaryDirectory() as folder:
        for title in titles:
            positive, _, other = title.partition(" against ")
            chosen = lambda label: other == "the rest" or label in (positive, other)
            file = f"{folder}/problem.svm"
            with open(file, "w", encoding="utf-8") as out:
                out.writelines(f"{1 if label == positive else -1} {rest}" for label, rest in lines if chosen(label))
            yield file


if __name__ == "__main__":
    main()
