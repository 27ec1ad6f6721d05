"""One pass over a file: ours against Vowpal Wabbit, with the accuracy on each example before learning from it."""

import time

import common

# The name, then the flags that differ from the defaults.
LEARNERS = {
    "perceptron": ["-a", "perceptron", "--no-pocket"],
    "averaged-perceptron": ["-a", "averaged-perceptron"],
    "passive-aggressive": ["-a", "passive-aggressive"],
    "arow": ["-a", "arow"],
}
# In memory, as `train` does; streamed and forgotten, as Vowpal Wabbit does.
WAYS = {
    "in memory": ["--order", "cyclic", "--passes", 1],
    "streamed": ["--once", "--classes=-1,1"],
}
PEERS = {
    "VW hinge": "--loss_function hinge",
    "VW hinge --sgd": "--loss_function hinge --sgd",
    "VW logistic": "--loss_function logistic",
}


def main():
    options = common.arguments()
    report = common.Report("online", "One online pass, file to model", options.runs)
    report.text(
        f"Synthetic text, {options.rows:,} rows, from the page cache. Ours: the whole process, in memory (`--passes 1 --order cyclic`) "
        "and streamed (`--once --classes=-1,1`), which keeps no row, as Vowpal Wabbit does. "
        "Vowpal Wabbit: `-b 20`, the learning call alone; its whole process, with Python and imports, is shown but not compared. "
        "Accuracy is progressive: of the prediction for each row before learning from it."
    )
    libsvm, vw_text = common.synthetic(options.rows)
    files = {"libsvm": libsvm}
    if "vw" in common.formats():
        files["vw"] = vw_text
    else:
        report.text("Skipped: this binary has no `--format vw`, so ours read LIBSVM text only.")
    for path in (libsvm, vw_text):
        common.warm(path)
    mine = {
        f"{name}, {kind}, {way}": our_side(path, kind, [*flags, *more])
        for kind, path in files.items()
        for name, flags in LEARNERS.items()
        for way, more in WAYS.items()
    }
    peers = {name: peer_side(vw_text, flags) for name, flags in PEERS.items()}
    figures = common.alternate(options.runs, mine | peers)
    for name, flags in PEERS.items():
        figures[name]["accuracy"] = common.Figure([common.elsewhere(learn, vw_text, f"{flags} --binary")[0]["accuracy"]])
    fastest = min(peers, key=lambda name: figures[name]["seconds"].median)
    goals(report, figures, files, mine, peers, fastest)
    report.table(
        ["", "median", "least", "whole process, median", "progressive accuracy", f"times as fast as {fastest}"],
        [row(name, figures[name], figures[fastest]) for name in figures],
    )
    report.finish("vowpalwabbit")


def row(name, of, fastest):
    times = [
        common.seconds(of["seconds"].median),
        common.seconds(of["seconds"].least),
        common.seconds(of["process"].median),
    ]
    return [name, *times, common.percent(of["accuracy"].median), common.ratio(fastest["seconds"], of["seconds"])]


def goals(report, figures, files, mine, peers, fastest):
    def times_as_fast(name):
        return figures[fastest]["seconds"].median / figures[name]["seconds"].median

    for kind, at_least in {"libsvm": 4, "vw": 2.5}.items():
        if kind in files:
            report.goal(
                f"perceptron on the {kind} file, times as fast as {fastest}",
                times_as_fast(f"perceptron, {kind}, streamed"),
                at_least,
            )
    accuracy = lambda name: figures[name]["accuracy"].median
    for kind in files:
        best = max((name for name in mine if name.endswith(f", {kind}, streamed")), key=accuracy)
        report.goal(
            f"progressive accuracy of our best, {best}, against VW's best", accuracy(best), max(map(accuracy, peers))
        )
        report.goal(f"{best}, times as fast as {fastest}", times_as_fast(best), 2)
    report.lines.append("")


def our_side(path, kind, flags):
    def run(_):
        shown, wall = common.rosenblatt("train", path, "--format", kind, *flags)
        return {
            "seconds": wall,
            "process": wall,
            "accuracy": 1 - shown["history"][0]["mistakes"] / shown["rows"],
        } | parts(shown)

    return run


def parts(shown):
    return {part: shown["seconds"][part] for part in ("read", "train")}


def peer_side(path, flags):
    def run(_):
        measured, wall = common.elsewhere(learn, path, flags)
        return {"seconds": measured["seconds"], "process": wall}

    return run


def learn(path, flags):
    """With `--binary` the loss is the share of wrong labels; that run is not timed."""
    from vowpalwabbit import Workspace

    start = time.perf_counter()
    # The constructor runs the native driver over the file.
    model = Workspace(f"-d {path} {flags} -b 20 --quiet")
    wrong, examples = model.get_sum_loss(), model.get_weighted_examples()
    model.finish()
    return {"seconds": time.perf_counter() - start, "accuracy": 1 - wrong / examples}


if __name__ == "__main__":
    main()
