"""Data sets of `linear.py` and `svm.py`, as LIBSVM text."""

import gzip
from typing import NamedTuple

import common
import mnist
import numpy as np

COVTYPE = "tabular/covtype.csv.gz"


class Set(NamedTuple):
    """How to get the LIBSVM text, or None if it is missing; what is asked: times LIBLINEAR, and for the logistic loss times any."""

    path: object
    needs: str
    svm_goal: float
    logistic_goal: float | None
    multiclass: bool = False


def known(rows):
    text = lambda name: (lambda: common.unpacked(name), name)
    digits = "mnist/train-images-idx3-ubyte.gz"
    return {
        "synthetic text": Set(lambda: common.synthetic(rows)[0], "", 4, 2),
        "IMDB": Set(*text("text/imdb.tfidf.train.svm.gz"), 2, 2),
        "a9a": Set(*text("libsvm/a9a.gz"), 1, None),
        "w8a": Set(*text("libsvm/w8a.gz"), 1, None),
        "covtype": Set(lambda: covtype("covtype-maxabs.svm", True), COVTYPE, 4, 4),
        "covtype raw": Set(lambda: covtype("covtype-raw.svm", False), COVTYPE, 4, 4),
        "MNIST odd": Set(lambda: digits_file("mnist-odd.svm", lambda y: y % 2 * 2 - 1), digits, 4, 4),
        "20 newsgroups": Set(*text("text/20newsgroups.tfidf.train.svm.gz"), 2, 2, True),
        "MNIST": Set(lambda: digits_file("mnist-train.svm", lambda y: y), digits, 4, 4, True),
    }


class CurvedSet(NamedTuple):
    """Of `svm.py`: LIBSVM texts to train on and to test on, C and γ of the Gaussian kernel, and what is asked: times scikit-learn-intelex to
    fit and to predict, times scikit-learn to fit. `libsvm`: whether scikit-learn is run always, only if told so, or never."""

    train: object
    test: object
    needs: str
    c: float
    gamma: float
    fit_goal: float
    predict_goal: float = 1
    libsvm: str = "always"
    libsvm_goal: float | None = None


def curved():
    text = lambda name: lambda: common.unpacked(name)
    digits = "mnist/train-images-idx3-ubyte.gz"
    odd = lambda part: lambda: digits_file(f"mnist-odd{'-test' if part == 'test' else ''}.svm", lambda y: y % 2 * 2 - 1, part)
    ten = lambda part: lambda: digits_file(f"mnist-{part}.svm", lambda y: y, part)
    adult = (text("libsvm/a9a.gz"), text("libsvm/a9a.t.gz"), "libsvm/a9a.gz")
    web = text("libsvm/w8a.gz")
    letters = (text("libsvm/letter.scale.gz"), text("libsvm/letter.scale.t.gz"), "libsvm/letter.scale.gz")
    return {
        "MNIST odd": CurvedSet(odd("train"), odd("test"), digits, 10, 0.02, 1.5, libsvm="if told", libsvm_goal=15),
        "MNIST": CurvedSet(ten("train"), ten("test"), digits, 10, 0.02, 4, 2, "if told", 15),
        "covtype": CurvedSet(lambda: covtype_rows(100_000), covtype_others, COVTYPE, 10, 4, 2.5, libsvm="never"),
        "a9a": CurvedSet(*adult, 10, 0.05, 3),
        "a9a C 500": CurvedSet(*adult, 500, 0.05, 3, libsvm="if told"),
        "w8a": CurvedSet(web, web, "libsvm/w8a.gz", 10, 0.05, 3),
        "letter": CurvedSet(*letters, 10, 1, 1),
    }


def covtype(name, scaled, rows=None):
    """Class 2 against the rest; columns as they are, or divided by their largest absolute value. `rows` picks rows."""
    packed = common.find(COVTYPE)

    def make(part):
        table = covtype_table(packed)
        x = table[:, :-1]
        largest = np.abs(x).max(axis=0)
        x = x / np.where(largest > 0, largest, 1) if scaled else x
        labels = np.where(table[:, -1] == 2, 1, -1)
        picked = slice(None) if rows is None else rows(len(x))
        write_libsvm(part, x[picked], labels[picked])

    return packed and common.made_once(common.cache(name), make)


def covtype_table(packed):
    """Read from the text only once, for there are samples of several sizes."""

    def make(part):
        with open(part, "wb") as file:
            np.save(file, np.loadtxt(gzip.open(packed), np.float32, delimiter=",", skiprows=1))

    return np.load(common.made_once(common.cache("covtype.npy"), make))


# Rows that no sample trains on.
OTHERS = 20_000


def covtype_rows(count):
    """So many rows by chance; a larger sample begins with the smaller one."""
    return covtype(f"covtype-maxabs-{count}.svm", True, lambda n: shuffled(n)[:count])


def covtype_others():
    return covtype("covtype-maxabs-others.svm", True, lambda n: shuffled(n)[-OTHERS:])


def shuffled(n):
    return np.random.default_rng(0).permutation(n)


def write_libsvm(path, x, labels):
    """Entries that are not 0, numbered from 1, with as few digits as read back to the same f32."""
    columns = [dict(zip(values.tolist(), map(str, values))) for values in map(np.unique, x.T)]
    with open(path, "w", encoding="ascii") as file:
        for row, label in zip(x.tolist(), labels):
            entries = (f" {j + 1}:{columns[j][value]}" for j, value in enumerate(row) if value != 0)
            file.write(f"{label}{''.join(entries)}\n")


def digits_file(name, label, part="train"):
    """The images of MNIST, with a label made of the digit."""

    def make(to):
        pixels, digits = mnist.images(part)
        mnist.write_libsvm(to, pixels, label(digits.astype(int)))

    names = [f"mnist/{mnist.PARTS[part]}-{what}.gz" for what in ("images-idx3-ubyte", "labels-idx1-ubyte")]
    return common.made_once(common.cache(name), make) if all(map(common.find, names)) else None
