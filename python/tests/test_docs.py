"""Examples of docstrings, of the gallery and of the README."""

import doctest
import importlib
import pkgutil
import re
import runpy
from pathlib import Path

import pytest

import readme
import rosenblatt

MODULES = ["rosenblatt", *(f"rosenblatt.{m.name}" for m in pkgutil.iter_modules(rosenblatt.__path__) if m.name != "_core")]
HERE = Path(__file__).resolve().parent
GALLERY = sorted((HERE.parent / "gallery").glob("*.py"))


@pytest.mark.parametrize("module", MODULES)
def test_docstrings(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_docstrings_are_examples():
    tried = sum(doctest.testmod(importlib.import_module(module)).attempted for module in MODULES)
    assert tried > 60


@pytest.mark.parametrize("example", GALLERY, ids=lambda path: path.stem)
def test_gallery(example, tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    (picture,) = tmp_path.glob("*.png")
    assert picture.stat().st_size > 5_000


def test_gallery_has_four():
    assert len(GALLERY) == 4


README = HERE.parent.parent / "README.md"


def test_readme():
    failed, tried = readme.run(README)
    assert failed == 0 and tried > 0


def test_types_are_declared():
    assert (Path(rosenblatt.__file__).parent / "py.typed").is_file()
    stub = (Path(rosenblatt.__file__).parent / "_core.pyi").read_text()
    from rosenblatt import _core

    for name in vars(_core):
        if not name.startswith("__"):
            assert re.search(rf"(class|def) {name}\b", stub), name
