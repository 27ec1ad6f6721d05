"""LIBSVM text into memory: ours against scikit-learn's load_svmlight_file, and whether every value is the nearest float."""

import time
from fractions import Fraction

import common
import numpy as np


def main():
    options = common.arguments()
    report = common.Report("read", "Reading LIBSVM text", options.runs)
    report.text("From the page cache into memory as f32. Ours: `seconds.read` of `train`; theirs: the call without imports.")
    text, _ = common.synthetic(options.rows)
    sets = {f"synthetic {options.rows:,} rows": text}
    for name, packed in {"a9a": "libsvm/a9a.gz", "IMDB": "text/imdb.tfidf.train.svm.gz"}.items():
        if path := common.unpacked(packed):
            sets[name] = path
        else:
            report.missing(packed)
    rows = []
    for name, path in sets.items():
        common.say(name)
        size = common.warm(path)
        figures = common.alternate(options.runs, {"ours": lambda _: ours(path), "scikit-learn": lambda _: theirs(path)})
        mine, peer = figures["ours"]["read"], figures["scikit-learn"]["read"]
        speed = size / mine.median / 1e9
        rows.append(
            [name, f"{size / 1e6:.1f} MB", common.seconds(mine.median), common.seconds(mine.least), f"{speed:.3g} GB/s"]
            + [common.seconds(peer.median), common.seconds(peer.least), f"{size / peer.median / 1e9:.3g} GB/s"]
            + [common.ratio(peer, mine), agreement(path)]
        )
        if path == text:
            report.goal("GB/s on the synthetic text, median", speed, 1.5)
            report.goal("times as fast as scikit-learn there, median", peer.median / mine.median, 40)
    report.lines.append("")
    head = ["data", "size", "ours, median", "least", "", "scikit-learn, median", "least", "", "ratio", "values"]
    report.table(head, rows)
    report.finish("scikit-learn")


def ours(path, *more):
    flags = ["--format", "libsvm", "--passes", 1, "-a", "perceptron", "--no-pocket"]
    shown, wall = common.rosenblatt("train", path, *flags, *more)
    return {"read": shown["seconds"]["read"], "process": wall}


def theirs(path):
    return common.elsewhere(load, path)[0]


def load(path):
    from sklearn.datasets import load_svmlight_file

    start = time.perf_counter()
    load_svmlight_file(path, dtype=np.float32)
    return {"read": time.perf_counter() - start}


# Are the values right?


def agreement(path):
    """Reads the file with plain Python and compares all of it by the hash that the model keeps of its data."""
    common.say("  comparing every value")
    model = common.cache("read.model")
    ours(path, "-o", model)
    shown = common.rosenblatt("inspect", model)[0]["data"]
    indices, values, starts, labels = parse(path)
    if shown["hash"] == fingerprint(indices, values, starts, labels):
        return f"all {len(values):,} equal"
    wrong, seen = sampled_differences(path, model, indices, values, starts)
    return f"HASH DIFFERS; in sampled rows {wrong} of {seen} values differ"


def parse(path):
    """Indices from 0, values as the nearest floats, where each row starts, labels."""
    indices, texts, starts, labels = [], [], [0], []
    with open(path, "rb") as file:
        for line in file:
            label, *pairs = line.split()
            labels.append(float(label))
            for pair in pairs:
                index, _, value = pair.partition(b":")
                indices.append(int(index) - 1)
                texts.append(value)
            starts.append(len(texts))
    return np.array(indices, np.uint32), nearest_singles(texts), starts, labels


def nearest_singles(texts):
    """Correctly rounded, which Python does only for f64: rounding twice goes wrong where the first lands on a tie of the second."""
    doubles = np.array([float(text) for text in texts], np.float64)
    singles = doubles.astype(np.float32)
    on_tie = (doubles.view(np.uint64) & np.uint64((1 << 29) - 1)) == np.uint64(1 << 28)
    subnormal = (doubles != 0) & (np.abs(doubles) < np.finfo(np.float32).tiny)
    for i in np.flatnonzero(on_tie | subnormal):
        singles[i] = nearest_single(texts[i])
    return singles


def nearest_single(text):
    """By exact arithmetic, ties to even."""
    exact = Fraction(text.decode())
    guess = np.float32(float(text))
    neighbours = [guess, np.nextafter(guess, np.float32(-np.inf)), np.nextafter(guess, np.float32(np.inf))]
    finite = [single for single in neighbours if np.isfinite(single)]
    return min(finite, key=lambda single: (abs(Fraction(float(single)) - exact), single.view(np.uint32) & 1))


def fingerprint(indices, values, starts, labels, block=4096):
    """As `Dataset::fingerprint` has it: the hash of each block of rows (of each row the length in bytes and the non-zero entries),
    then the classes."""
    import xxhash

    entries = np.empty(len(values), [("index", "<u4"), ("value", "<f8")])
    entries["index"], entries["value"] = indices, values
    digest = xxhash.xxh3_128()
    rows = list(zip(starts, starts[1:]))
    for first in range(0, len(rows), block):
        of_block = xxhash.xxh3_128()
        for start, end in rows[first : first + block]:
            row = entries[start:end]
            row = row[row["value"] != 0].tobytes()
            of_block.update(len(row).to_bytes(8, "little"))
            of_block.update(row)
        digest.update(of_block.intdigest().to_bytes(16, "little"))
    digest.update(np.unique(labels, return_inverse=True)[1].astype("<u4").tobytes())
    return digest.hexdigest()


def sampled_differences(path, model, indices, values, starts, rows=5):
    """Through `explain`, which shows the values of a row: tells a wrong value from another kind of hash."""
    wrong = seen = 0
    for row in np.linspace(0, len(starts) - 2, rows).astype(int):
        shown = common.rosenblatt("explain", model, path, "--format", "libsvm", "--row", row + 1, "--top", 0)[0]
        found = {entry["feature"]: entry["value"] for entry in shown["classes"][0]["contributions"]}
        for i in range(starts[row], starts[row + 1]):
            seen += 1
            wrong += found.get(str(indices[i] + 1), 0.0) != float(values[i])
    return wrong, seen


if __name__ == "__main__":
    main()
