"""Blocks of the Gaussian kernel against the bare matrix product and scikit-learn's, the kernel perceptron on MNIST, and on a budget.

KERNELS_ONLY=blocks|passes|stream measures one part. The report is written as it grows, so that a run that is stopped leaves what it has measured.
"""

import json
import os
import subprocess
import time

import common
import mnist
import numpy as np
import peers

GAMMA = 0.02
# Rows of a block, and blocks.
SET = 512
SETS = 8
# What pixels are divided by so that they are not multiples of 1/255 any more, and not multiplied as bytes.
NO_BYTES = 1.01
SLOWEST = 1.3
FASTER = 3
# What meets the goals comes first: a run that is stopped leaves it.
DEGREES = (4, 3, 5, 2, 6, 1)
# After which of them the test rows are gone through, three times: as often as is worth its time.
PASSES = (1, 2, 3, 5, 10)
# Seconds for all passes of one degree; more where others are at work.
LIMIT = int(os.environ.get("KERNELS_LIMIT", 600))
KINDS = ("last", "averaged", "voted")
MOST_ERRORS = 0.018
MOST_SECONDS = 60
ROWS = 1_000_000
BUDGETS = (("forgetron", 500), ("forgetron", 2000), ("projectron", 200), ("projectron", 500))
# Without a budget all mistakes are stored: as many rows as it can do.
UNBUDGETED = 125_000
MOST_A_ROW = 2


def main():
    options = common.arguments()
    report = common.Report("kernels", "Kernel blocks and the kernel perceptron", options.runs)
    only = os.environ.get("KERNELS_ONLY")
    if only in (None, "stream"):
        stream(report)
        report.so_far()
    if only == "stream":
        return report.finish()
    if not all(map(common.find, (f"mnist/{part}-images-idx3-ubyte.gz" for part in mnist.PARTS.values()))):
        report.missing("mnist")
        return report.finish("scikit-learn")
    train, test = (
        common.made_once(common.cache(f"mnist-{part}.svm"), lambda to: mnist.write_libsvm(to, *mnist.images(part)))
        for part in mnist.PARTS
    )
    common.warm(train)
    if only in (None, "blocks"):
        blocks(report, train, options.runs)
        report.so_far()
    if only in (None, "passes"):
        passes(report, train, test)
    report.finish("scikit-learn", "numpy")


def blocks(report, path, runs):
    report.text(
        f"## Blocks\n\nMNIST, 60,000 × 784: {SETS} times {SET} rows against all, exp(−{GAMMA}·‖u − v‖²) in single precision, two threads each; the sum of the seconds. "
        f"Product: numpy's `x @ z.T` on the same rows as dense f32 into an array that is used again, and nothing else. No bytes: pixels divided by {NO_BYTES}, which are not multiplied as bytes. scikit-learn: `rbf_kernel`, given f32."
    )
    figures = common.alternate(
        runs,
        {
            "ours, dense": lambda _: ours("blocks", path, "dense", SET, SETS, 1)[0],
            "ours, sparse": lambda _: ours("blocks", path, "sparse", SET, SETS, 1)[0],
            "ours, dense, no bytes": lambda _: ours("blocks", path, "dense", SET, SETS, NO_BYTES)[0],
            "ours, sparse, no bytes": lambda _: ours("blocks", path, "sparse", SET, SETS, NO_BYTES)[0],
            "product": lambda _: common.elsewhere(product, path)[0],
            "scikit-learn": lambda _: common.elsewhere(rbf_kernel, path)[0],
        },
    )
    seconds = {name: of["seconds"].median for name, of in figures.items()}
    for name in ("ours, dense", "ours, dense, no bytes"):
        report.goal(f"the bare product's time over {name}", seconds["product"] / seconds[name], 1 / SLOWEST)
        report.goal(f"{name}: times as fast as rbf_kernel", seconds["scikit-learn"] / seconds[name], FASTER)
    report.lines.append("")
    rows = [
        [name, common.seconds(of["seconds"].median), common.seconds(of["seconds"].least), f"{of['sum'].median:.9g}"]
        for name, of in figures.items()
    ]
    report.table(["", "seconds, median", "least", "sum of all values"], rows)


def ours(*words):
    return list(lines(*words))


def lines(*words, limit=None):
    """What the example prints, line by line as it comes; above the limit in seconds it is ended."""
    threads = {"RAYON_NUM_THREADS": str(common.THREADS)}
    command = [os.environ["KERNELS"], *map(str, words)]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", env={**os.environ, **threads}) as process:
        for line in process.stdout:
            yield json.loads(line)
            if limit and time.perf_counter() - start > limit:
                process.terminate()
                return
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {process.returncode}")


def product(path):
    out = np.empty((0, 0), np.float32)

    def block(x, z):
        nonlocal out
        if out.shape != (len(x), len(z)):
            out = np.empty((len(x), len(z)), np.float32)
        return np.matmul(x, z.T, out=out)

    return timed_blocks(path, block)


def rbf_kernel(path):
    from sklearn.metrics.pairwise import rbf_kernel

    return timed_blocks(path, lambda x, z: rbf_kernel(x, z, gamma=GAMMA))


def timed_blocks(path, block):
    x = np.ascontiguousarray(peers.arrays(path)[0].toarray(), dtype=np.float32)
    block(x, x[:SET])
    seconds, total = 0.0, 0.0
    for at in range(SETS):
        z = x[at * SET : (at + 1) * SET]
        start = time.perf_counter()
        values = block(x, z)
        seconds += time.perf_counter() - start
        total += float(values.sum(dtype=np.float64))
    return {"seconds": seconds, "sum": total}


def passes(report, train, test):
    report.text(
        f"## Kernel perceptron\n\nMNIST, one-vs-rest, (u·v + 1)^d, {PASSES[-1]} passes as the rows stand: test errors of the last, averaged and voted weights after some of them, "
        f"seconds of all passes so far, and how many distinct examples the ten problems have stored. A degree that takes longer than {LIMIT} s is stopped."
    )
    rows, before = [], list(report.lines)
    for degree in DEGREES:
        for line in lines("passes", train, test, degree, ",".join(map(str, PASSES)), limit=LIMIT):
            common.say(f"  {line}")
            rows.append(line)
            report.lines = [*before]
            show(report, rows)
            report.so_far()


def show(report, rows):
    """Goals and table of the lines there are."""
    least = min(rows, key=lambda line: min(line[kind] for kind in KINDS))
    error, kind = min((least[kind], kind) for kind in KINDS)
    report.goal(f"{common.percent(MOST_ERRORS)} over the smallest error ({kind}, d = {least['degree']}, {least['pass']} passes)", MOST_ERRORS / error, 1)
    for line in rows:
        if (line["degree"], line["pass"]) == (4, 1):
            report.goal(f"{MOST_SECONDS} s over those of one pass with d = 4", MOST_SECONDS / line["seconds"], 1)
    report.lines.append("")
    cells = lambda line: [
        str(line["degree"]),
        str(line["pass"]),
        *(common.percent(line[kind]) for kind in KINDS),
        common.seconds(line["seconds"]),
        str(line["stored"]),
    ]
    in_order = sorted(rows, key=lambda line: (line["degree"], line["pass"]))
    report.table(["d", "pass", *KINDS, "seconds", "stored"], [cells(line) for line in in_order])


def stream(report):
    report.text(
        f"## Kernel perceptron on a budget\n\n{ROWS:,} rows of 20 features about 100 centres, each centre of a class by chance, one row in twenty of the wrong one, made up as they come "
        "(not timed); exp(−0.1·‖u − v‖²), two threads, one pass. Accuracy on 10,000 held-out rows, which cannot be much more than 95%, and the most memory so far, at every doubling. "
        f"Without a budget, {UNBUDGETED:,} rows."
    )
    runs = {(forget, budget): ours("stream", ROWS, forget, budget) for forget, budget in BUDGETS}
    runs["none", 0] = ours("stream", UNBUDGETED, "none", 0)
    for (forget, budget), lines in runs.items():
        for line in lines:
            common.say(f"  {forget} {budget} {line}")
    # From a quarter of the rows on, when all budgets are full. A row that were kept would take 160 bytes and more; the allocator alone moves by half a MiB.
    grown = max(lines[-1]["peak_mib"] - lines[2]["peak_mib"] for (forget, _), lines in runs.items() if forget != "none")
    a_row = grown * (1 << 20) / (ROWS - ROWS // 4)
    report.goal(f"within a budget, {MOST_A_ROW} bytes over what memory grows by for a row beyond {ROWS // 4:,}", MOST_A_ROW / max(a_row, 1e-9), 1)
    best = max(lines[-1]["accuracy"] for (forget, _), lines in runs.items() if forget != "none")
    report.goal("accuracy of the best budget over that without one", best / runs["none", 0][-1]["accuracy"], 1)
    report.lines.append("")
    cells = lambda forget, budget, line: [
        forget,
        str(budget or ""),
        f"{line['rows']:,}",
        f"{line['rows'] / line['seconds']:,.0f}",
        f"{line['mistakes']:,}",
        f"{line['stored']:,}",
        common.percent(line["accuracy"]),
        f"{line['peak_mib']:.1f}",
    ]
    table = [cells(forget, budget, line) for (forget, budget), lines in runs.items() for line in lines]
    report.table(["", "budget", "rows", "rows/s", "mistakes", "stored", "held-out accuracy", "peak MiB"], table)


if __name__ == "__main__":
    main()
