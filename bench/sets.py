"""Data sets of `linear.py`, as LIBSVM text."""

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


def covtype(name, scaled):
    """Class 2 against the rest; columns as they are, or divided by their largest absolute value."""
    packed = common.find(COVTYPE)

    def make(part):
        table = np.loadtxt(gzip.open(packed), np.float32, delimiter=",", skiprows=1)
        x = table[:, :-1]
        largest = np.abs(x).max(axis=0)
        write_libsvm(part, x / np.where(largest > 0, largest, 1) if scaled else x, np.where(table[:, -1] == 2, 1, -1))

    return packed and common.made_once(common.cache(name), make)


def write_libsvm(path, x, labels):
    """Entries that are not 0, numbered from 1, with as few digits as read back to the same f32."""
    columns = [dict(zip(values.tolist(), map(str, values))) for values in map(np.unique, x.T)]
    with open(path, "w", encoding="ascii") as file:
        for row, label in zip(x.tolist(), labels):
            entries = (f" {j + 1}:{columns[j][value]}" for j, value in enumerate(row) if value != 0)
            file.write(f"{label}{''.join(entries)}\n")


def digits_file(name, label):
    """The training images of MNIST, with a label made of the digit."""

    def make(part):
        pixels, digits = mnist.images("train")
        mnist.write_libsvm(part, pixels, label(digits.astype(int)))

    names = [f"mnist/train-{what}.gz" for what in ("images-idx3-ubyte", "labels-idx1-ubyte")]
    return common.made_once(common.cache(name), make) if all(map(common.find, names)) else None
