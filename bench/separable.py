"""Is the data separable? Decided and checked in exact arithmetic, on data sets of each kind. No peers. `SEPARABLE_ONLY=a9a,iris` restricts the sets."""

import json
import subprocess
import tempfile
import time

import common
import sets

# Each set is decided within this many seconds, all its problems together.
MOST_SECONDS = 60

# Of the perceptron that is audited: the inequalities hold at every update, however few there are.
PASSES = 10

# Not in the data folder, but in the program.
IRIS = common.ROOT / "crates/rosenblatt-io/data/iris.csv"


def known():
    digits = lambda: sets.digits_file("mnist-train.svm", lambda y: y)
    text = lambda name: (lambda: common.unpacked(name), name)
    return {
        "iris": (lambda: IRIS, "", []),
        "mushrooms": (*text("libsvm/mushrooms.gz"), []),
        "dna": (*text("libsvm/dna.scale.gz"), []),
        "a9a": (*text("libsvm/a9a.gz"), []),
        "MNIST pairs": (digits, "mnist/train-images-idx3-ubyte.gz", ["--multiclass", "ovo"]),
        "20 newsgroups pairs": (*text("text/20newsgroups.tfidf.train.svm.gz"), ["--multiclass", "ovo"]),
        "20 newsgroups rest": (*text("text/20newsgroups.tfidf.train.svm.gz"), ["--multiclass", "ovr"]),
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
        taken = shown["seconds"]
        longest = max(problem["seconds"] for problem in problems)
        figures = [common.seconds(value) for value in (taken, longest, wall)]
        rows.append([name, len(problems), len(problems) - len(proofs), max(proofs, default=0), *figures])
        report.goal(f"{name}, a minute over seconds", MOST_SECONDS / taken, 1)
    report.lines.append("")
    report.table(["set", "problems", "separable", "rows of the longest proof", "seconds", "longest problem", "wall"], rows)
    if "iris" in cases:
        title = "versicolor against virginica"
        report.section(f"A proof: {title}")
        report.text("The sum of λ·y·(x, 1) over these rows of iris is 0, so that no plane has y·(w·x + b) above 0 for all of them.")
        report.table(*proof(next(problem for problem in cases["iris"][1] if problem["problem"] == title)))
    report.section("The mistake bound")
    report.text(
        f"The perceptron with ties counted as mistakes on every problem that is separable, {PASSES} passes with `--audit`: against the plane it came to, or where these passes were too few one that "
        "`separable` finds. Both inequalities hold at every update, or the bench ends."
    )
    table = [bound(name, list(bounds(*case))) for name, case in cases.items()]
    report.lines.append("")
    report.table(["set", "perceptrons", "converged", "most mistakes", "most of the bound"], table)
    report.finish()


def proof(problem):
    """Heading and rows of a table of all that is needed to add it up."""
    multipliers = problem["multipliers"]
    names = list(dict.fromkeys(name for row in multipliers for name in row["values"]))
    lines = [[row["row"], row["label"], row["y"], row["value"], *(row["values"].get(name, 0) for name in names)] for row in multipliers]
    return ["row", "label", "y", "λ", *names], lines


def decide(path, words):
    """The JSON, and the wall time of the whole process; not being separable is no failure."""
    command = [common.binary(), "separable", path, *words, "--threads", common.THREADS, "--json"]
    start = time.perf_counter()
    done = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    if done.returncode > 1:
        raise RuntimeError(f"{path}: exit code {done.returncode}\n{done.stderr}")
    shown = json.loads(done.stdout)
    if shown["verified"] != "exact":
        raise RuntimeError(f"{path}: the answer was not checked exactly")
    return shown, wall


def bounds(path, problems):
    """A run that breaks an inequality ends with an error, which ends the bench."""
    apart = [problem["problem"] for problem in problems if problem["separable"]]
    return map(audited, two_class_files(path, apart))


def bound(name, runs):
    audits = [run["audit"] for run in runs]
    converged = sum(run["status"] == "converged" for run in runs)
    mistakes = max((audit["mistakes"] for audit in audits), default=0)
    share = max((audit["mistakes"] / audit["bound"] for audit in audits), default=0)
    return [name, len(runs), converged, mistakes, f"{100 * share:.2g}%"]


def audited(file):
    words = ["-a", "perceptron", "--tie", "mistake", "--multiclass", "ovr", "--passes", PASSES, "--audit"]
    shown, _ = common.rosenblatt("train", file, *words)
    audit = shown["audit"]
    if not (audit["holds"] and audit["mistakes"] <= audit["bound"]):
        raise RuntimeError(f"{file}: the bound does not hold")
    return shown


def labelled(line, table):
    """Label and row of a line of LIBSVM text, or of a table with the label last; labels as the program shows them, "1" for "+1"."""
    if table:
        values, label = line.rstrip().rsplit(",", 1)
        row = " ".join(f"{place}:{value}" for place, value in enumerate(values.split(","), 1)) + "\n"
    else:
        label, row = line.split(" ", 1)
    try:
        label = f"{float(label):g}"
    except ValueError:
        pass
    return label, row


def two_class(rows, title):
    """The lines of a problem: 1 for the class that is named first, −1 for the other or all others."""
    first, _, other = title.partition(" against ")
    chosen = lambda label: other == "the rest" or label in (first, other)
    return [f"{1 if label == first else -1} {row}" for label, row in rows if chosen(label)]


def two_class_files(path, titles):
    """One after the other, a file of the rows of each problem."""
    table = str(path).endswith(".csv")
    with open(path, encoding="utf-8") as file:
        rows = [labelled(line, table) for line in list(file)[int(table) :]]
    with tempfile.TemporaryDirectory() as folder:
        for title in titles:
            file = f"{folder}/problem.svm"
            with open(file, "w", encoding="utf-8") as out:
                out.writelines(two_class(rows, title))
            yield file


if __name__ == "__main__":
    main()
