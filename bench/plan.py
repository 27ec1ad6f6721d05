"""What `plan` foretells, and what then happens: time and memory of training on every bench set. No peers."""

import common
import growth
import sets

# What is planned: sets of `sets.py`, and the flags of `train`.
LINEAR = {
    "linear-svm": ["-a", "linear-svm"],
    "linear-svm squared-hinge": ["-a", "linear-svm", "--loss", "squared-hinge"],
    "logistic": ["-a", "logistic"],
    "averaged-perceptron": ["-a", "averaged-perceptron", "--passes", "10"],
}
WITHIN = 2
# Below this, starting threads and touching fresh memory are most of a time.
MEASURABLE = 0.05


def main():
    options = common.arguments()
    report = common.Report("plan", "What a plan foretells", options.runs)
    report.text(
        "`plan` against `seconds.train` of `train` with the same flags, medians; memory: the most that was resident without the pages of the mapped file, and what `plan` says is needed "
        f"at most. Foretold within a factor of {WITHIN} is asked of times of {MEASURABLE} s and more, and no more memory than was said of all."
    )
    rows = []
    for name, path, flags in cases(report, options.rows):
        common.say(name)
        common.warm(path)
        plan = lambda _: foretold(path, flags)
        fit = lambda _: happened(path, flags)
        figures = common.alternate(options.runs, {"plan": plan, "train": fit})
        said, was = figures["plan"], figures["train"]
        expected, took = said["expected"].median, was["seconds"].median
        factor = max(expected / took, took / expected)
        if took >= MEASURABLE:
            report.goal(f"{name}, foretold within", WITHIN / factor, 1)
        inside = said["least"].median <= took <= said["most"].median
        memory, most = was["memory"].most, said["memory"].least
        report.goal(f"{name}, memory said for memory had", most / memory, 1)
        rows.append(
            [
                name,
                common.seconds(expected),
                f"{common.seconds(said['least'].median)} to {common.seconds(said['most'].median)}",
                common.seconds(took),
                f"{expected / took:.2f}",
                "yes" if inside else "no",
                common.seconds(said["wall"].median),
                f"{most / 1e6:.0f} MB",
                f"{memory / 1e6:.0f} MB",
            ]
        )
    report.lines.append("")
    heads = ["data, learner", "foretold", "range", "took", "ratio", "in range", "planning took", "memory said", "memory had"]
    report.table(heads, rows)
    report.finish()


def cases(report, rows):
    """What PLAN_ONLY asks for (names with commas between), or all: name, file, flags."""
    known, curved = sets.known(rows), sets.curved()
    for name in common.asked("PLAN_ONLY", list(dict.fromkeys([*known, *curved]))):
        if name in known:
            yield from found(report, name, known[name].path(), known[name].needs, LINEAR)
        if name in curved:
            one = curved[name]
            machine = {"svm": ["-a", "svm", "--c", one.c, "--gamma", one.gamma]}
            yield from found(report, name, one.train(), one.needs, machine)


def found(report, name, path, needs, learners):
    if path is None:
        report.missing(f"{needs} ({name})")
        return
    for learner, flags in learners.items():
        yield f"{name}, {learner}", path, flags


def foretold(path, flags):
    shown, wall = common.rosenblatt("plan", path, *flags, "--format", "libsvm")
    time = shown["seconds"]["train"]
    return {**time, "memory": shown["bytes"]["most"], "wall": wall}


def happened(path, flags):
    shown, memory = growth.watched("train", path, *flags, "--format", "libsvm")
    return {"seconds": shown["seconds"]["train"], "memory": memory}


if __name__ == "__main__":
    main()
