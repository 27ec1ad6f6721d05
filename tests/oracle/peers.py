"""LIBLINEAR and LIBSVM, where there was a compiler to build them; tests that need them are left out elsewhere."""

import importlib

import pytest


def found(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


liblinear = found("liblinear.liblinearutil")
svm, libsvm = found("libsvm.svm"), found("libsvm.svmutil")
needs_liblinear = pytest.mark.skipif(liblinear is None, reason="liblinear-official is not installed")
needs_libsvm = pytest.mark.skipif(libsvm is None, reason="libsvm-official is not installed")
