"""What the benches compute with, apart from measuring."""

from pathlib import Path

import common
import linear
import mnist
import numpy as np
import peers
import pytest
import read
import sets


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
