"""Bars, callbacks, Ctrl-C."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import rosenblatt

RNG = np.random.default_rng(0)
#: Takes minutes, unless it is stopped.
HARD = RNG.normal(size=(6000, 50)), RNG.integers(0, 2, 6000)


def test_ctrl_c_ends_a_fit_and_nothing_else():
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        rosenblatt.SVC(C=1e7, tol=1e-9).fit(*HARD)
    assert rosenblatt.LinearSVC(tol=0.1).fit(*HARD).score(*HARD) > 0.4


def test_the_interpreter_goes_on_meanwhile():
    counted = []
    done = threading.Event()

    def count():
        while not done.wait(0.01):
            counted.append(time.monotonic())

    counter = threading.Thread(target=count)
    counter.start()
    rosenblatt.SVC(C=1e7, tol=1e-9, time_limit=1.0).fit(*HARD)
    done.set()
    counter.join()
    assert len(counted) > 20


def test_a_bar_is_shown(capfd):
    rosenblatt.SVC(C=1e7, tol=1e-9, time_limit=0.5, verbose=True).fit(*HARD)
    assert "SVC, pass" in capfd.readouterr().err


def test_a_bar_needs_no_package():
    script = """
        import sys
        sys.modules["tqdm"] = sys.modules["tqdm.auto"] = None
        import numpy as np, rosenblatt, warnings
        warnings.simplefilter("ignore")
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(6000, 50)), rng.integers(0, 2, 6000)
        rosenblatt.SVC(C=1e7, tol=1e-9, time_limit=0.5, verbose=True).fit(X, y)
    """
    shown = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert "SVC, pass" in shown.stderr


def test_callbacks_of_scikit_learn():
    callback = pytest.importorskip("sklearn.callback")

    class Recorder:
        def __init__(self, last):
            self.seen, self.last = [], last

        def setup(self, estimator, context):
            self.seen.append("setup")

        def teardown(self, estimator, context):
            self.seen.append("teardown")

        def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
            self.seen.append(f"begin {context.task_name}")

        def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
            self.seen.append(f"end {context.task_name}")
            return self.last

    assert isinstance(Recorder(False), callback.FitCallback)
    watcher = Recorder(False)
    rosenblatt.LinearSVC().set_callbacks(watcher).fit(HARD[0][:100], HARD[1][:100])
    assert watcher.seen[:2] == ["setup", "begin fit"] and watcher.seen[-2:] == ["end fit", "teardown"]
    assert watcher.seen.count("begin pass") == watcher.seen.count("end pass") > 0
    stopper = Recorder(True)
    model = rosenblatt.Perceptron(max_iter=1_000_000, pocket=False).set_callbacks(stopper).fit(*HARD)
    assert model.report_["status"] == "interrupted"


def test_processes_that_were_forked_can_fit():
    script = """
        import multiprocessing, numpy as np, rosenblatt
        from sklearn.datasets import load_iris
        X, y = load_iris(return_X_y=True)
        rosenblatt.SVC().fit(X, y)
        def score(_):
            return rosenblatt.SVC().fit(X, y).score(X, y)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map_async(score, range(2)).get(timeout=100))
    """
    if not hasattr(os, "fork"):
        pytest.skip("no fork here")
    shown = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    )
    assert shown.stdout.startswith("[0.9")
