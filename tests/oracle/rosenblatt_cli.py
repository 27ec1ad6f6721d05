"""Drives the command line as a user would: files in, JSON out."""

import json
import subprocess

import numpy as np

# Learning exactly as scikit-learn does it: rows in file order, a score of 0 is a mistake, the last weights are kept.
PLAIN = ["--order", "cyclic", "--tie", "mistake", "--no-pocket"]
# The same for learners without a pocket, and for those that have no tie either.
TIE_IS_MISTAKE = ["--order", "cyclic", "--tie", "mistake"]
IN_ORDER = ["--order", "cyclic"]


class Rosenblatt:
    def __init__(self, binary, folder):
        self.binary = str(binary)
        self.folder = folder
        self.files = 0

    def run(self, *arguments, code=0):
        """Runs a command that must end with this exit code and returns what it printed."""
        command = [self.binary, *map(str, arguments)]
        pipes = {"stdin": subprocess.DEVNULL, "capture_output": True, "encoding": "utf-8"}
        done = subprocess.run(command, cwd=self.folder, timeout=60, **pipes)
        assert done.returncode == code, f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}"
        return done.stdout

    def json(self, *arguments, code=0):
        return json.loads(self.run(*arguments, "--json", code=code))

    def path(self, extension):
        self.files += 1
        return self.folder / f"{self.files}.{extension}"

    def text(self, text, extension="csv"):
        path = self.path(extension)
        path.write_text(text)
        return path

    def csv(self, x, y):
        """A table x1, x2, …, label that keeps every bit of the numbers."""
        header = [f"x{j + 1}" for j in range(np.shape(x)[1])] + ["label"]
        rows = [[repr(float(value)) for value in row] + [str(label)] for row, label in zip(x, y)]
        return self.text("".join(",".join(row) + "\n" for row in [header, *rows]))

    def libsvm(self, x, y):
        """Entries that are not 0, numbered from 1."""
        entries = [[f"{j + 1}:{float(row[j])!r}" for j in np.flatnonzero(row)] for row in x]
        return self.text("".join(" ".join([str(label), *row]) + "\n" for label, row in zip(y, entries)), "svm")

    def train(self, data, algorithm, *flags):
        """Returns the path of the model and the report."""
        model = self.path("model")
        report = self.json("train", data, "-a", algorithm, "-o", model, *flags)
        return model, report

    def planes(self, model):
        """Weights (a row for each hyperplane) and biases."""
        shown = self.json("inspect", model, "--top", 0)
        weights = np.zeros((len(shown["planes"]), shown["features"]))
        for plane, row in zip(shown["planes"], weights):
            for item in plane["largest_weights"]:
                row[int(item["feature"].lstrip("x")) - 1] = item["weight"]
        return weights, np.array([plane["bias"] for plane in shown["planes"]])

    def learned(self, data, algorithm, *flags):
        """The hyperplanes after training."""
        return self.planes(self.train(data, algorithm, *flags)[0])

    def predict(self, model, data, *flags):
        """Labels, and scores: one a row for two classes, one a class for more."""
        found = self.json("predict", model, data, "--scores", *flags)
        scores = np.array(found["scores"])
        return np.array(found["predictions"]), scores[:, 0] if scores.shape[1] == 1 else scores

    def probabilities(self, model, data):
        """Numbers of the predicted classes, and a probability for each class a row."""
        found = self.json("predict", model, data, "--probabilities")
        return np.array(found["predictions"]).astype(int), np.array(found["probabilities"])

    def values(self, model, data, row, *flags):
        """The features of a row (from 0) as the model sees them, by name; zeros are left out."""
        why = self.json("explain", model, data, "--row", row + 1, "--top", 0, *flags)
        return {part["feature"]: part["value"] for part in why["classes"][-1]["contributions"]}

    def matrix(self, model, data, rows, columns, *flags):
        """The features of the first rows as the model sees them."""
        matrix = np.zeros((rows, columns))
        for i in range(rows):
            for name, value in self.values(model, data, i, *flags).items():
                matrix[i, int(name.lstrip("x")) - 1] = value
        return matrix
