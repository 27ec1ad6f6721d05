"""Rows are borrowed, not copied. (`bench/python.py` measures the same with 1 GB.)"""

import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
    import resource, sys
    import numpy as np
    from scipy import sparse
    import rosenblatt

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    rng = np.random.default_rng(0)
    rows, stored, columns = 30_000, 400, 20_000
    if sys.argv[1] == "csr":
        X = sparse.csr_array(
            (
                rng.random(rows * stored, dtype=np.float32),
                np.tile(np.arange(stored, dtype=np.int32) * 50, rows),
                np.arange(rows + 1, dtype=np.int32) * stored,
            ),
            shape=(rows, columns),
        )
        size = X.data.nbytes + X.indices.nbytes
    else:
        X = rng.random((rows, stored), dtype=np.float32)
        size = X.nbytes
    y = rng.integers(0, 2, rows)
    rosenblatt.LinearSVC(max_iter=1).fit(X[:1000], y[:1000])
    before = peak()
    svm = rosenblatt.LinearSVC(loss="hinge", C=1e-6, tol=0.5).fit(X, y)
    svm.predict(X)
    print((peak() - before) / size)
"""


@pytest.mark.parametrize("kind", ["csr", "dense"])
def test_a_fit_copies_no_rows(kind):
    pytest.importorskip("resource")
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(SCRIPT), kind]
    grown = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert grown < 0.3
