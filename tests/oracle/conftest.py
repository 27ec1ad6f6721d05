"""The command line under test, bound to a temporary folder."""

import os
from pathlib import Path

import pytest

from rosenblatt_cli import Rosenblatt


@pytest.fixture(scope="session")
def binary():
    named = os.environ.get("ROSENBLATT")
    if not named:
        pytest.exit("$ROSENBLATT must name the binary to test; `cargo xtask test` builds it and sets that", returncode=2)
    return Path(named).resolve(strict=True)


@pytest.fixture
def rosenblatt(binary, tmp_path):
    return Rosenblatt(binary, tmp_path)
