"""What is changed outside the library while a function is traced: listed in one place, and felt by nobody else."""

import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.random import bit_generator

import adjoint as ad
from adjoint.numpy.patching import patched_names as names
from adjoint.numpy.patching import tracing

LISTED = {*names.CONVERTERS, *names.FILLERS, *names.GRIDS, *names.OBJECTS}
DOCS = Path(__file__).parents[2] / "docs" / "how-it-works.md"


def test_every_name_is_listed():
    """The names that are properties while a function is traced: the list, universal functions, number types."""
    ad.grad(lambda x: x * x)(1.0)
    found = {}
    for module, _, changed in tracing.CLASSES:
        found[module.__name__] = {name for name, value in vars(changed).items() if isinstance(value, property)}
    assert found["numpy"] >= LISTED
    others = {name: vars(np)[name] for name in found["numpy"] - LISTED}
    kinds = (np.floating, np.complexfloating)
    assert all(isinstance(x, np.ufunc) or (isinstance(x, type) and issubclass(x, kinds)) for x in others.values())


def test_the_modules_dictionary_is_never_changed():
    """Neither while a function is traced nor afterwards, also if it raises; the class is the usual one again."""
    before, usual = dict(vars(np)), type(np)

    def f(x):
        assert dict(vars(np)) == before
        raise KeyError("from the function")

    with pytest.raises(KeyError, match="from the function"):
        ad.grad(f)(1.0)
    assert dict(vars(np)) == before
    assert type(np) is usual


def test_other_threads_read_numpys_own():
    """While one thread traces, another gets the very functions that it always got."""
    seen = {}

    def look():
        seen.update({name: getattr(np, name) for name in (*LISTED, "sin", "float64")})

    def f(x):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        return x * x

    ad.grad(f)(1.0)
    assert all(seen[name] is vars(np)[name] for name in seen)


def test_the_seed_of_unseeded_generators_is_numpys_again():
    """It is watched while a program is recorded, and not a moment longer."""
    usual = bit_generator.randbits
    with pytest.raises(ad.AdjointError):
        ad.jit(lambda x: x * np.random.default_rng().normal())(np.ones(2))
    assert bit_generator.randbits is usual


def test_the_docs_name_every_file_that_changes_something():
    """The table in `how-it-works` is complete: every file that replaces code, classes or hooks is in it."""
    source = Path(ad.__file__).parent
    signs = (
        ".__code__ = ",
        "module.__class__ = ",
        "setprofile(",
        "gc.set_threshold(",
        ".randbits = ",
        "names[name] = ",
        "_PATCH, ",
    )
    changing = [f for f in source.rglob("*.py") if any(sign in f.read_text("utf-8") for sign in signs)]
    text = DOCS.read_text("utf-8")
    mechanism = {source / "host" / "patches" / name for name in ("changes.py", "undo.py")}  # for those that declare
    assert len(changing) >= 10
    for file in set(changing) - mechanism:
        assert f"`{file.relative_to(source).as_posix()}`" in text
