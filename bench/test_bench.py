"""What the benches compute with, apart from measuring."""

from pathlib import Path

import common
import kernels
import linear
import mnist
import numpy as np
import optimality
import peers
import pytest
import read
import separable
import sets
import svc
import svm
import tune


def test_formats_are_found_in_the_help():
    assert common.formats_in("  --format <FORMAT>\n     libsvm, csv or tsv [default: by extension]") == [
        "libsvm",
        "csv",
        "tsv",
    ]
    assert "vw" in common.formats_in("  --format <FORMAT>  libsvm, vw, csv or tsv [default: by extension]")
    assert common.formats_in("no such option; vw") == []


def test_contestants_alternate():
    order = []

    def contestant(name):
        return lambda run: order.append((run, name)) or {"seconds": [3.0, 1.0, 2.0][run]}

    figures = common.alternate(3, {"a": contestant("a"), "b": contestant("b")})
    assert order == [(run, name) for run in range(3) for name in "ab"]
    seconds = figures["a"]["seconds"]
    assert (seconds.median, seconds.least, seconds.most) == (2.0, 1.0, 3.0)


def test_ratio_is_above_one_where_ours_is_faster():
    assert common.ratio(common.Figure([4.0, 6.0, 9.0]), common.Figure([2.0, 1.0, 3.0])) == "3.00 (4.00)"


def test_times_have_three_digits():
    assert [common.seconds(value) for value in (0.00123456, 0.5, 1.2345, 12.345, 1234.5)] == [
        "1.23 ms",
        "500 ms",
        "1.23 s",
        "12.3 s",
        "1234 s",
    ]


def test_report_names_do_not_collide(tmp_path):
    names = []
    for _ in range(3):
        path = common.free_name(tmp_path, "day-read")
        path.touch()
        names.append(path.name)
    assert names == ["day-read.md", "day-read-2.md", "day-read-3.md"]


def test_files_are_made_once_and_only_whole(tmp_path):
    path = tmp_path / "data"
    for text in ("first", "second"):
        assert common.made_once(path, lambda part: part.write_text(text)).read_text() == "first"
    assert [file.name for file in tmp_path.iterdir()] == ["data"]


def test_data_folder_by_variable(tmp_path, monkeypatch):
    (tmp_path / "set").touch()
    monkeypatch.setenv("ROSENBLATT_DATA", str(tmp_path))
    assert common.find("set") == tmp_path / "set"
    assert common.find("other") is None
    shared = Path(common.ROOT).parent / "shared" / "data"
    assert common.data_folders() == [tmp_path, shared]
    monkeypatch.delenv("ROSENBLATT_DATA")
    assert common.data_folders() == [shared]


def test_other_process_returns_the_result():
    assert common.elsewhere(common.percent, 0.5)[0] == "50.00%"


def test_floats_are_rounded_once():
    one, next_one = np.float32(1), np.nextafter(np.float32(1), np.float32(2))
    # Half way from 1 to the next float is 1 + 2⁻²⁴. A little more than that is lost in f64, which then rounds to even.
    above = b"1.00000005960464477539062500001"
    assert np.float32(float(above)) == one
    texts = [
        b"1.000000059604644775390625",
        above,
        b"1.00000005960464477539062499999",
        b"-" + above,
        b"0",
        b"0.1",
        b"7e-46",
        b"8e-46",
    ]
    singles = read.nearest_singles(texts)
    tiny = np.nextafter(np.float32(0), np.float32(1))
    assert singles.tolist() == [one, next_one, one, -next_one, 0, np.float32(0.1), 0, tiny]


def test_libsvm_text_is_parsed(tmp_path):
    path = tmp_path / "data.svm"
    path.write_bytes(b"-1 1:0.5 4:2\n+1\n1 2:1e-3\n")
    indices, values, starts, labels = read.parse(path)
    assert (indices.tolist(), starts, labels) == ([0, 3, 1], [0, 2, 2, 3], [-1, 1, 1])
    assert values.tolist() == [0.5, 2, np.float32(1e-3)]


def test_images_become_libsvm_text(tmp_path):
    data = b"\0\0\x08\x03" + b"".join(n.to_bytes(4, "big") for n in (2, 1, 3)) + bytes([0, 255, 51, 1, 0, 0])
    pixels = mnist.parse_idx(data)
    assert pixels.tolist() == [[[0, 255, 51]], [[1, 0, 0]]]
    path = tmp_path / "images.svm"
    mnist.write_libsvm(path, pixels.reshape(2, -1), np.array([7, 0], np.uint8))
    assert path.read_text() == "7 2:1.0 3:0.2\n0 1:0.003921569\n"


def test_gaps_are_rounded_down_and_limited():
    given = [0.5, 1e-3, 9.99e-4, 5e-4, 4.96e-4, 1.38e-5, 1.01e-7, 1e-9, 0.0, -1e-16]
    assert [linear.gap_for(value) for value in given] == [1e-3, 1e-3, 9.9e-4, 5e-4, 4.9e-4, 1.3e-5, 1e-7, 1e-7, 1e-7, 1e-7]


def test_objective_of_two_classes_and_of_more():
    x, y = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), np.array([1, 0, 0])
    # The margins are 3, −2 and −4.
    two = np.array([[3.0, 1.0]])
    assert peers.objective(x, y, two, "hinge") == 5 + 0 + 3 + 5
    assert peers.objective(x, y, two, "squared-hinge") == 5 + 0 + 9 + 25
    assert np.isclose(peers.objective(x, y, two, "logistic"), 5 + np.log1p(np.exp([-3, 2, 4])).sum())
    # Against the rest, class by class: the last has no row.
    more = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    assert peers.objective(x, y, more, "hinge") == 1 + (1 + 0 + 0) + (0 + 1 + 2) + 3


def test_objective_of_all_classes_in_one_problem():
    x, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([2, 0])
    weights = np.array([[1.0, 0.0], [0.0, 0.5], [-1.0, 1.0]])
    scores = np.array([[1, 0, -1], [0, 1, 2]])
    losses = np.log(np.exp(scores).sum(axis=1)) - [-1, 0]
    assert np.isclose(peers.objective(x, y, weights, "multinomial"), 0.5 * 3.25 + losses.sum())
    assert np.isfinite(peers.objective(1e4 * x, y, weights, "multinomial"))


def test_objective_of_large_margins_is_finite():
    x, y = np.array([[1e4], [-1e4]]), np.array([0, 1])
    assert peers.objective(x, y, np.array([[1.0]]), "logistic") == 0.5 + 2e4


def test_peers_that_cannot_are_left_out():
    assert "LogisticRegression newton-cholesky" in peers.names("logistic", False, 1000)
    assert "LogisticRegression newton-cholesky" not in peers.names("logistic", False, 1001)
    assert "Snap ML" in peers.names("hinge", False, 5)
    assert "Snap ML" not in peers.names("hinge", True, 5)


def test_tables_become_libsvm_text(tmp_path):
    path = tmp_path / "table.svm"
    sets.write_libsvm(path, np.array([[0.1, 0, -3], [0, 0, 0]], np.float32), [1, -1])
    assert path.read_text() == "1 1:0.1 3:-3.0\n-1\n"


def test_sets_are_chosen_by_variable(monkeypatch):
    report = type("Report", (), {"missing": lambda self, name: missing.append(name)})()
    missing = []
    known = {name: sets.Set(lambda path=path: path, "file", 1, 1) for name, path in {"a": "a.svm", "b": None, "c": "c"}.items()}
    monkeypatch.delenv("LINEAR_ONLY", raising=False)
    assert list(linear.present(report, known)) == ["a", "c"]
    assert missing == ["file (b)"]
    monkeypatch.setenv("LINEAR_ONLY", "c")
    assert list(linear.present(report, known)) == ["c"]
    monkeypatch.setenv("LINEAR_ONLY", "d")
    with pytest.raises(SystemExit, match="d is none of a, b, c"):
        linear.present(report, known)


def test_ours_behind_does_not_count():
    pairs = object.__new__(linear.Pairs)
    pairs.bound, pairs.gap = {"dual": 99.0}, {"peer": 1e-3, "bad": 1e-3}
    figure = lambda seconds, primal: {"seconds": common.Figure([seconds]), "primal": common.Figure([primal])}
    pairs.figures = {"peer": figure(4.0, 100.0), "bad": figure(4.0, 200.0), "--gap 0.001": figure(2.0, 100.0)}
    assert (pairs.ratio("peer"), pairs.solved("peer"), pairs.solved("bad")) == (2.0, True, False)
    pairs.figures["--gap 0.001"] = figure(2.0, 100.1)
    assert (pairs.ratio("peer"), pairs.ratio("bad")) == (0.0, 2.0)


def test_unfinished_reports_are_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(common, "BENCH", tmp_path)
    monkeypatch.setattr(common, "ROOT", tmp_path)
    monkeypatch.setattr(common, "our_version", lambda: "ours 1")
    report = common.Report("some", "Some bench", 3)
    report.text("The first part.")
    report.so_far()
    [path] = (tmp_path / "runs").iterdir()
    assert "The first part." in path.read_text() and "Unfinished" in path.read_text()
    report.text("The second part.")
    report.finish()
    assert [path] == list((tmp_path / "runs").iterdir())
    assert "The second part." in path.read_text() and "Unfinished" not in path.read_text()
    assert capsys.readouterr().out.strip() == path.read_text().strip()


# Rows, of which two are equal and two more are equal but for their class, their classes, C and γ.
CURVED = (np.array([[0, 0], [1, 0], [1, 0], [0, 2], [0, 2], [3, 1], [2, 2]], np.float32), np.array([0, 1, 1, 0, 1, 1, 0]), 2.0, 0.5)


def by_hand(alpha):
    """Dual objective and violation of all rows one by one."""
    x, y, c, gamma = CURVED
    signs = 2.0 * y - 1
    kernel = np.exp(-gamma * ((x[:, None] - x[None]).astype(float) ** 2).sum(axis=2))
    scores = kernel @ (signs * alpha)
    up = [s - f for s, f, a in zip(signs, scores, alpha) if (a < c if s > 0 else a > 0)]
    down = [s - f for s, f, a in zip(signs, scores, alpha) if (a > 0 if s > 0 else a < c)]
    return alpha.sum() - 0.5 * (signs * alpha) @ scores, max(0.0, max(up) - min(down))


@pytest.mark.parametrize("alpha", [[0, 0, 0, 0, 0, 0, 0], [1, 0.5, 0, 2, 2, 0.5, 0], [2, 0, 2, 2, 1, 2, 1], [2, 2, 2, 2, 2, 2, 2]])
def test_objective_and_violation_by_hand(alpha):
    import scipy.sparse

    x, y, c, gamma = CURVED
    problem = optimality.Problem(scipy.sparse.csr_matrix(x), 2 * y - 1, c, gamma)
    assert (len(problem.bounds), problem.repeats) == (6, 1)
    alpha = np.array(alpha, float)
    judged = problem.judged(problem.of_rows(np.arange(7), alpha))
    dual, violation = by_hand(alpha)
    assert np.isclose(judged["dual"], dual) and np.isclose(judged["violation"], violation)
    assert np.isclose(judged["balance"], abs((2 * y - 1) @ alpha))


def curved_file(path, classes):
    rng = np.random.default_rng(3)
    x = np.round(rng.normal(size=(120, 4)), 1).astype(np.float32)
    y = (np.abs(x[:, 0]) + 0.3 * rng.normal(size=120) > 0.7) + (classes == 3) * (x[:, 1] > 0.5)
    sets.write_libsvm(path, x, y.astype(int))
    return path


@pytest.mark.parametrize("classes", [2, 3])
def test_a_peer_is_judged_by_what_it_returns(tmp_path, classes):
    path, kept = curved_file(tmp_path / "rows.svm", classes), tmp_path / "kept.npz"
    figures = svc.fit(path, path, "scikit-learn", 10.0, 0.5, kept)
    judged = optimality.of_peer(path, 10.0, 0.5, kept)
    assert figures["accuracy"] > 0.8 and judged["violation"] <= svc.TOLERANCE and judged["balance"] < 1e-9
    # The same as what ours would show: training rows with a coefficient for each pair.
    with np.load(kept) as file:
        rows, coefficients = file["rows"], file["coefficients"]
    _, y = peers.arrays(path)
    stored = []
    for row, values in zip(rows, coefficients.T):
        # Of a pair the later class is positive.
        of = lambda a, b: -abs(values[b - 1]) if y[row] == a else abs(values[a]) if y[row] == b else 0.0
        stored.append({"training_row": int(row) + 1, "coefficients": [of(*pair) for pair in optimality.pairs_of(y)]})
    inspected = tmp_path / "inspected.json"
    inspected.write_text(svm.json.dumps({"stored": stored}))
    ours = optimality.of_ours(path, 10.0, 0.5, inspected)
    assert np.isclose(ours["dual"], judged["dual"]) and ours["violation"] <= 2 * svc.TOLERANCE


def match(**figures):
    one = object.__new__(svm.Match)
    one.name, one.one, one.stopped, one.kept = "set", sets.curved()["MNIST"], [], None
    one.figures = {name: {key: common.Figure([value]) for key, value in of.items()} for name, of in figures.items()}
    return one


OURS = {"seconds": 2.0, "predict": 1.0, "accuracy": 0.98, "support_vectors": 1000, "dual": 500.0, "claimed": 500.0, "violation": 9e-4, "balance": 0.0, "repeats": 0}


def test_the_fastest_form_of_a_peer_counts():
    figures = {"ours": OURS, "scikit-learn-intelex": OURS | {"seconds": 8.0}, "scikit-learn-intelex, sparse": OURS | {"seconds": 6.0, "predict": 3.0}}
    one = match(**figures)
    report = object.__new__(common.Report)
    report.lines = []
    one.goals(report)
    assert report.lines[0].startswith("- NOT met: fit, times as fast as scikit-learn-intelex, sparse: 3, asked 4")
    assert report.lines[1].startswith("- NOT met: predict, times as fast as the fastest: 1, asked 2")
    assert all(line.startswith("- met") for line in report.lines[2:]) and len(report.lines) == 6
    assert list(one.checks()) == []


def test_quality_is_held_against_libsvm():
    one = match(ours=OURS | {"dual": 499.9, "support_vectors": 1020, "claimed": 510.0, "balance": 1.0})
    one.kept = {"dual": 500.0, "violation": 1e-3, "support_vectors": 1000, "accuracy": 0.99}
    met = [value >= at_least for _, value, at_least in one.quality(one.figures["ours"])]
    assert met == [False, False, False]
    assert len(list(one.checks())) == 2
    one.figures["ours"]["repeats"] = common.Figure([3])
    assert len(list(one.quality(one.figures["ours"]))) == 2


def test_slow_peers_run_only_if_told():
    assert [svm.runs_libsvm(when, told) for when in ("always", "if told", "never") for told in (None, "1")] == [True, True, False, True, False, False]


def test_growth_is_an_exponent():
    assert np.isclose(svm.exponent(10_000, 1.0, 20_000, 4.0), 2)


def test_lines_come_one_by_one_and_end_at_the_limit(tmp_path, monkeypatch):
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\necho "{\\"n\\": $1}"\necho "{\\"n\\": 2}"\nexec sleep "$2"\n')
    program.chmod(0o755)
    monkeypatch.setenv("KERNELS", str(program))
    assert kernels.ours(1, 0) == [{"n": 1}, {"n": 2}]
    # The second line comes after the limit, and nothing waits for what would follow.
    assert list(kernels.lines(1, 60, limit=1e-9)) == [{"n": 1}]
    program.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(RuntimeError, match="exit code 3"):
        kernels.ours(1, 0)


def test_degrees_are_shown_in_order_with_the_best_of_all():
    report = object.__new__(common.Report)
    report.lines = []
    line = lambda degree, number, **errors: {"degree": degree, "pass": number, "last": 0.03, "averaged": 0.02, "voted": 0.02, "seconds": 30.0, "stored": 7} | errors
    kernels.show(report, [line(4, 1), line(4, 10, averaged=0.015), line(2, 1)])
    assert report.lines[0] == "- met: 1.80% over the smallest error (averaged, d = 4, 10 passes): 1.2, asked 1"
    assert report.lines[1] == "- met: 60 s over those of one pass with d = 4: 2, asked 1"
    assert [line.split(" | ")[:2] for line in report.lines[-4:-1]] == [["| 2", "1"], ["| 4", "1"], ["| 4", "10"]]


def test_problems_of_two_classes_are_cut_out():
    lines = ["+1 1:2\n", "-1 2:3\n", "3 1:1\n"]
    rows = [separable.labelled(line, False) for line in lines]
    assert rows == [("1", "1:2\n"), ("-1", "2:3\n"), ("3", "1:1\n")]
    assert separable.two_class(rows, "-1 against 1") == ["-1 1:2\n", "1 2:3\n"]
    assert separable.two_class(rows, "3 against the rest") == ["-1 1:2\n", "-1 2:3\n", "1 1:1\n"]
    assert separable.labelled("5.1,0,setosa\n", True) == ("setosa", "1:5.1 2:0\n")


def test_problems_of_two_classes_are_files(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y,class\n1,2,a\n3,4,b\n5,6,c\n")
    files = separable.two_class_files(path, ["a against c", "b against the rest"])
    assert [Path(file).read_text() for file in files] == ["1 1:1 2:2\n-1 1:5 2:6\n", "-1 1:1 2:2\n1 1:3 2:4\n-1 1:5 2:6\n"]


def test_every_audit_counts():
    run = lambda mistakes, status: {"status": status, "audit": {"mistakes": mistakes, "bound": 40, "holds": True}}
    runs = [run(4, "converged"), run(10, "pass_limit")]
    assert separable.bound("a", runs) == ["a", 2, 1, 10, "25%"]
    assert separable.bound("none", []) == ["none", 0, 0, 0, "0%"]


def test_a_proof_can_be_added_up():
    multipliers = [
        {"row": 1, "label": "a", "y": -1, "value": "1/2", "values": {"x": 2.0}},
        {"row": 4, "label": "b", "y": 1, "value": "1/2", "values": {"x": 2.0, "z": 1.0}},
    ]
    head, rows = separable.proof({"multipliers": multipliers})
    assert head == ["row", "label", "y", "λ", "x", "z"]
    assert rows == [[1, "a", -1, "1/2", 2.0, 0], [4, "b", 1, "1/2", 2.0, 1.0]]


def test_candidates_are_the_same_whatever_they_are_called():
    ours = {"cells": [{"parameters": {"c": 0.268270, "gamma": 0.1}, "scores": [0.5, 0.7]}], "chosen": 0}
    peer = {
        "cells": [
            {"parameters": {"C": 0.26827, "gamma": 0.1}, "scores": [0.6, 0.8]},
            {"parameters": {"C": 1.0, "gamma": 0.1}, "scores": [0.7, 0.9]},
        ]
    }
    behind, noise = tune.difference(ours, peer)
    assert behind == pytest.approx(0.1) and noise == pytest.approx(0.1)


def test_grids_are_spaced_as_ours():
    assert tune.spaced(0.1, 100, 4) == [0.1, 1, 10, 100]
    assert tune.spaced(1, 100, 5)[1] == 3.16228
