"""Ten-class perceptron, 10 passes over MNIST in memory: ours against scikit-learn's."""

import gzip
import time

import common
import numpy as np

PASSES = 10
PARTS = {"train": "train", "test": "t10k"}
# Flags of ours; scikit-learn learns a plain perceptron for each class against the rest.
LEARNERS = {
    "perceptron": ["-a", "perceptron", "--no-pocket"],
    "perceptron, pocket": ["-a", "perceptron", "--pocket"],
    "perceptron, one-vs-rest": ["-a", "perceptron", "--no-pocket", "--multiclass", "ovr"],
    "averaged-perceptron": ["-a", "averaged-perceptron"],
}


def main():
    options = common.arguments()
    report = common.Report("mnist", "Ten-class perceptron on MNIST", options.runs)
    report.text(
        f"{PASSES} passes over 60,000 rows in memory, pixels / 255 in f32, the number of the run as seed. Ours: `seconds.train`; "
        "theirs: `Perceptron(max_iter=10, tol=None, n_jobs=2).fit` on a dense array. Accuracy on the 10,000 test rows."
    )
    names = [f"mnist/{part}-{what}.gz" for part in PARTS.values() for what in ("images-idx3-ubyte", "labels-idx1-ubyte")]
    if missing := [name for name in names if not common.find(name)]:
        for name in missing:
            report.missing(name)
        return report.finish("scikit-learn")
    files = {
        part: common.made_once(common.cache(f"mnist-{part}.svm"), lambda to: write_libsvm(to, *images(part)))
        for part in PARTS
    }
    for path in files.values():
        common.warm(path)
    mine = {name: our_side(files, flags) for name, flags in LEARNERS.items()}
    peers = {f"scikit-learn, {dtype}": peer_side(dtype) for dtype in ("float32", "float64")}
    figures = common.alternate(options.runs, mine | peers)
    fastest = min(peers, key=lambda name: figures[name]["seconds"].median)
    goals(report, figures, fastest)
    report.table(
        ["", "median", "least", "test accuracy, median", "least", f"times as fast as {fastest}"],
        [row(name, figures[name], figures[fastest]) for name in figures],
    )
    report.finish("scikit-learn", "numpy")


def goals(report, figures, fastest):
    peer = figures[fastest]
    for name in ("perceptron", "averaged-perceptron"):
        ours = figures[name]
        report.goal(f"{name}, times as fast as {fastest}", peer["seconds"].median / ours["seconds"].median, 10)
        report.goal(f"{name}, median test accuracy against theirs", ours["accuracy"].median, peer["accuracy"].median)
    report.lines.append("")


def row(name, of, fastest):
    times = [common.seconds(of["seconds"].median), common.seconds(of["seconds"].least)]
    accuracy = [common.percent(of["accuracy"].median), common.percent(of["accuracy"].least)]
    return [name, *times, *accuracy, common.ratio(fastest["seconds"], of["seconds"])]


def our_side(files, flags):
    model = common.cache("mnist.model")

    def run(number):
        common_flags = ["--format", "libsvm", "--passes", PASSES, "--seed", number, "-o", model]
        shown, _ = common.rosenblatt("train", files["train"], *common_flags, *flags)
        tested, _ = common.rosenblatt("eval", model, files["test"], "--format", "libsvm")
        return {"seconds": shown["seconds"]["train"], "accuracy": tested["accuracy"]}

    return run


def peer_side(dtype):
    return lambda run: common.elsewhere(fit, dtype, run)[0]


def fit(dtype, seed):
    from sklearn.linear_model import Perceptron

    (x, y), (test_x, test_y) = (images(part) for part in PARTS)
    x, test_x = scaled(x).astype(dtype), scaled(test_x).astype(dtype)
    learner = Perceptron(max_iter=PASSES, tol=None, n_jobs=common.THREADS, random_state=seed)
    start = time.perf_counter()
    learner.fit(x, y)
    return {"seconds": time.perf_counter() - start, "accuracy": learner.score(test_x, test_y)}


# Data


def images(part):
    """Pixels, a row for each image, and digits."""
    pixels = idx(common.find(f"mnist/{PARTS[part]}-images-idx3-ubyte.gz"))
    return pixels.reshape(len(pixels), -1), idx(common.find(f"mnist/{PARTS[part]}-labels-idx1-ubyte.gz"))


def idx(path):
    return parse_idx(gzip.open(path).read())


def parse_idx(data):
    """Bytes after a header: 0, 0, 8 for bytes, number of dimensions, then each of them in four bytes, big end first."""
    if data[:3] != b"\0\0\x08":
        raise ValueError("not an IDX file of bytes")
    shape = np.frombuffer(data, ">u4", count=data[3], offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * len(shape)).reshape(shape)


def scaled(pixels):
    return pixels.astype(np.float32) / np.float32(255)


def write_libsvm(path, pixels, labels):
    """Scaled pixels that are not 0, numbered from 1, with as few digits as read back to the same f32."""
    values = [":" + str(value) for value in scaled(np.arange(256))]
    with open(path, "w", encoding="ascii") as file:
        for row, label in zip(pixels, labels):
            entries = (f"{j + 1}{values[row[j]]}" for j in np.flatnonzero(row))
            file.write(f"{label} {' '.join(entries)}\n")


if __name__ == "__main__":
    main()
