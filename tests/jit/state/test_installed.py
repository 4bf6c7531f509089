"""Code of installed packages: what they keep in their modules, classes and closures is watched where it has run."""

import importlib
import os
import sys

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import ImpureError
from adjoint.host.frames import ownership as whose

from .table import follows

PACKAGE = """
import numpy as np

scale = 2.0
weights = np.array([1.0, 2.0])
options = {"k": 2.0, "deep": {"m": [1.0]}}
calls = []


class Settings:
    shared = 2.0
    table = {"k": 2.0}

    def __init__(self):
        self.k = 2.0


settings = Settings()


def set_scale(k):
    global scale
    scale = k


def inner(x):
    return x * scale


def scaled(x):
    return inner(x)


def weighted(x):
    return x * weights


def optional(x):
    return x * options["k"] * options["deep"]["m"][0]


def set_up(x):
    return x * settings.k


class Model:
    factor = 2.0
    table = {"k": 2.0}

    def __call__(self, x):
        return x * self.factor * self.table["k"]


state = {"t": 0}
model = Model()
model.weights = np.array([1.0, 3.0])


def counted(x):
    state["t"] += 1
    return x * state["t"]


def rewriting(x):
    weights[0] += 1.0
    return x * weights


def with_model(x):
    return model(x) * model.weights


def make():
    k = [2.0]

    def f(x):
        return x * k[0]

    return f, lambda: k.__setitem__(0, 5.0)
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A module in a folder of installed packages."""
    (tmp_path / "an_installed_package.py").write_text(PACKAGE, encoding="utf-8")
    folders = (*whose.folders_of_packages(), os.path.realpath(tmp_path) + os.sep)
    monkeypatch.setattr(whose, "folders_of_packages", lambda: folders)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("an_installed_package")
    del sys.modules["an_installed_package"]


def test_variables_of_its_module(package):
    """Numbers, arrays, containers and objects, also behind functions that its functions call."""
    follows(lambda x: package.scaled(x), lambda: package.set_scale(5.0))
    follows(package.scaled, lambda: setattr(package, "scale", 7.0))
    follows(lambda x: package.weighted(x), lambda: package.weights.__setitem__(0, 9.0))
    follows(lambda x: package.optional(x), lambda: package.options["deep"]["m"].__setitem__(0, 5.0))
    follows(lambda x: package.set_up(x), lambda: setattr(package.settings, "k", 5.0))
    follows(lambda x: x * package.scale, lambda: setattr(package, "scale", 9.0))


def test_its_classes_and_closures(package):
    """Attributes of classes, and what its functions close over."""
    model = package.Model()
    follows(lambda x: model(x), lambda: setattr(package.Model, "factor", 5.0))
    follows(lambda x: model(x), lambda: package.Model.table.update(k=5.0))
    follows(lambda x: model(x), lambda: setattr(package.Model, "__call__", lambda self, x: x * 11.0))
    follows(*package.make())


def test_what_it_changes_is_no_secret(package):
    """A module that computes with NumPy means the same wherever it lies: what it changes while it runs is refused,
    and what it counts is kept where a copy stands for it.
    """
    for f in (package.rewriting, lambda x: package.counted(x)):
        with pytest.raises(ImpureError, match="which a recording would not repeat"):
            ad.jit(f)(np.ones(2))
    jitted, before = ad.jit(package.counted), package.state["t"]
    for n in (1, 2, 3):
        jitted(np.ones(2))
        assert package.state["t"] == before + n


def test_objects_with_arrays(package):
    """An object of the module, with its numbers and arrays."""
    follows(package.with_model, lambda: setattr(package.model, "factor", 5.0))
    follows(package.with_model, lambda: package.model.weights.__setitem__(0, 7.0))


def test_a_module_without_numpy(package, tmp_path):
    """What a package counts for itself, as a progress bar does, is its own affair; its settings are watched."""
    text = "calls = [0]\nscale = 2.0\ndef shown(x):\n    calls[0] += 1\n    return x * scale\n"
    (tmp_path / "a_progress_bar.py").write_text(text, encoding="utf-8")
    bar = importlib.import_module("a_progress_bar")
    follows(lambda x: bar.shown(x), lambda: setattr(bar, "scale", 7.0), again=False)
    del sys.modules["a_progress_bar"]


def test_its_functions_replaced(package):
    """By others, and their code."""
    follows(lambda x: package.scaled(x), lambda: setattr(package, "inner", lambda x: x * 11.0))
    follows(lambda x: package.weighted(x), lambda: setattr(package.weighted, "__code__", (lambda x: x * 3.0).__code__))
    assert np.all(package.weighted(np.ones(2)) == 3.0)
