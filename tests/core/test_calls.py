"""How many Python functions one small gradient calls: what a small gradient costs, counted and not timed."""

from __future__ import annotations

import sys

import numpy as np

import adjoint as ad

X = np.ones(3)
MOST = 56
"""Python functions, NumPy's among them, that are called for one gradient."""


def product(x):
    """A function of three operations."""
    return np.sum(np.sin(x) * x)


def gradient():
    """One gradient, as users write it."""
    ad.grad(product)(X)


def steps_of_numbers(p):
    """One step of an equation: two numbers of a vector, four parameters, a vector of what they give."""
    y = np.array([p[0], p[1]])
    return np.sum(np.array([p[0] * y[0] - p[1] * y[0] * y[1], p[3] * y[0] * y[1] - p[2] * y[1]]))


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


def test_elements_and_arrays_of_numbers_call_few_functions():
    """The general ways would take 380."""
    gradient = ad.grad(steps_of_numbers)
    point = np.array([1.5, 1.0, 3.0, 1.0])
    for _ in range(3):
        gradient(point)
    found = calls_of(lambda: gradient(point))
    assert len(found) <= 150, "\n".join(found)


def test_a_new_name_is_looked_at_once():
    """A global that is new costs a look at the functions of the module, not at every name of it; and only once."""
    for _ in range(3):
        gradient()
    globals()["new_name_of_a_test"] = 1.0
    try:
        first, second = calls_of(gradient), calls_of(gradient)
    finally:
        del globals()["new_name_of_a_test"]
    assert first.count("host/frames/ownership.py: _is_numpys") <= 1
    assert len(second) <= MOST
