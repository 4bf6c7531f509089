"""How many Python functions one small gradient calls: what a small gradient costs, counted and not timed."""

from __future__ import annotations

import sys

import numpy as np

import adjoint as ad

X = np.ones(3)
MOST = 60
"""Python functions, NumPy's among them, that are called for one gradient."""


def product(x):
    """A function of three operations."""
    return np.sum(np.sin(x) * x)


def gradient():
    """One gradient, as users write it."""
    ad.grad(product)(X)


def calls_of(function):
    """The names of the Python functions that are called, the first one left out."""
    found = []

    def note(frame, event, arg):
        if event == "call":
            found.append(f"{frame.f_code.co_filename.rpartition('adjoint/')[2]}: {frame.f_code.co_name}")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
    return found[1:]


def test_a_gradient_calls_few_functions():
    """Once everything is imported, and nothing has changed since."""
    for _ in range(3):
        gradient()
    found = calls_of(gradient)
    assert len(found) <= MOST, "\n".join(found)


def test_a_new_name_is_looked_at_once():
    """A global that is new costs a look at the functions of the module, not at every name of it; and only once."""
    for _ in range(3):
        gradient()
    globals()["new_name_of_a_test"] = 1.0
    try:
        first, second = calls_of(gradient), calls_of(gradient)
    finally:
        del globals()["new_name_of_a_test"]
    assert first.count("core/frames/whose.py: _is_numpys") <= 1
    assert len(second) <= MOST
