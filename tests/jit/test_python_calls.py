"""Python's number types and the functions of `math` under jit: the value is not given up for them."""

from __future__ import annotations

import functools
import math
from math import sqrt

import numpy as np
import pytest

import adjoint as ad

X = np.arange(1.0, 5.0)
FLOATS = [0.1 * k + 0.05 for k in range(1, 50)]


def same(got, wanted):
    """Equal in type and value, to the last digits."""
    if isinstance(wanted, (tuple, list)):
        return type(got) is type(wanted) and len(got) == len(wanted) and all(map(same, got, wanted))
    if isinstance(wanted, (float, complex, np.ndarray)):
        return type(got) is type(wanted) and np.allclose(got, wanted, rtol=1e-13, atol=0, equal_nan=True)
    return type(got) is type(wanted) and got == wanted


def outcome(f, *args):
    """What a call gives: its result, or the kind of error."""
    try:
        return f(*args)
    except Exception as error:
        return type(error)


def recordings(f, values):
    """How many recordings it takes to give what the plain function gives."""
    jitted = ad.jit(f)
    for v in values:
        wanted, got = outcome(f, v), outcome(jitted, v)
        assert same(got, wanted), (v, wanted, got)
    assert not jitted.stats()["eager"]
    return jitted.stats()["recordings"]


def helper(x):
    """Called by another function."""
    return float(x) * 2


def nested(x):
    """A function inside, and a generator in it."""

    def inner(v):
        return float(v) + max(float(w) for w in (v, v * 2))

    return inner(x)


class Scaled:
    """A method."""

    def __init__(self):
        self.by = 2.0

    def __call__(self, x):
        """Call it."""
        return self.times(x)

    def times(self, x):
        """The method itself."""
        return float(x) * self.by


CALLS = {
    "float": lambda x: float(x),
    "float of a sum": lambda x: (x * 2, float(np.sum(x * X)), {"loss": float(x)}["loss"]),
    "floats in a list": lambda x: [float(v) for v in x * X],
    "float as type": lambda x: (np.zeros(2, dtype=float) + float(x), isinstance(float(x), float)),
    "text to float": lambda x: float("1.5") * x + float(2) + 0.0,
    "int": lambda x: (int(x * 0.1), int(-x * 0.1), int(x * 0.1) // 2),
    "bool": lambda x: (bool(x), bool(x * 0)),
    "complex": lambda x: (complex(x) * 1j, np.complex128(x), complex(x).real),
    "scalars of numpy": lambda x: (np.float64(x) * 2, np.float32(x) * 2),
    "item": lambda x: np.sum(x * X).item(),
    "math": lambda x: math.sqrt(x) * math.exp(-x) + sqrt(x) + math.atan2(x, 2) + math.pow(x, 3) + math.hypot(x, 1.0),
    "whole": lambda x: (math.floor(x), math.ceil(-x), math.trunc(x)),
    "questions": lambda x: (math.isnan(x), math.isinf(x), math.isfinite(x)),
    "helper": lambda x: helper(x) + 1,
    "nested": nested,
    "method": Scaled().times,
    "partial": functools.partial(lambda a, x: float(x) + a, 2.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_one_recording(name):
    """The result of such a call is computed anew at each run."""
    assert recordings(CALLS[name], FLOATS) == 1


ERRORS = {
    "log": (lambda x: math.log(x), (1.0, 2.0, -1.0, 0.0, 3.0, math.inf, math.nan, 4.0)),
    "sqrt": (lambda x: math.sqrt(x) + 1, (4.0, -4.0, 9.0, 0.0)),
    "exp": (lambda x: math.exp(x), (1.0, 1000.0, -1000.0, 2.0)),
    "int": (lambda x: int(x), (1.5, -1.5, 1e10, 1e17, 1e300, math.inf, math.nan, 2.5)),
    "floor": (lambda x: math.floor(x), (1.5, -1.5, 1e300, math.inf, math.nan, 2.5)),
    "caught": (lambda x: outcome(math.log, x) is ValueError, (1.0, -1.0, 2.0, 0.0, 3.0)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_python_refuses(name):
    """Domain errors, overflows and numbers that are none raise under jit as they do without."""
    f, values = ERRORS[name]
    recordings(f, values)


def test_a_value_that_is_needed():
    """Shapes, rounds and text made of such a number have a guard."""
    assert recordings(lambda x: np.ones(int(x)) * int(x), FLOATS) <= 6
    assert recordings(lambda x: sum(range(int(x))), FLOATS) <= 6
    recordings(lambda x: f"{float(x):.3f} {int(x)}", FLOATS[:8])
    recordings(lambda x: (type(float(x)) is float, float(x)), FLOATS[:8])
    recordings(lambda x: list(map(float, x * X)), FLOATS[:8])


def test_a_counter_in_math():
    """The step size of an optimiser that corrects its bias."""
    f = ad.jit(lambda x, t: x * math.sqrt(1 - 0.99**t) / (1 - 0.9**t))
    for t in range(1, 60):
        assert math.isclose(f(2.0, t), 2.0 * math.sqrt(1 - 0.99**t) / (1 - 0.9**t), rel_tol=1e-13)
    assert f.stats()["recordings"] == 2


def test_derivatives_pass():
    """In a derivative `float(x)` passes as a number, as without jit."""
    for transform, want in (
        (ad.grad(lambda x: float(x)), 1.0),
        (ad.jit(ad.grad(lambda x: float(x) * x)), 4.0),
        (ad.grad(ad.jit(lambda x: float(x) * x)), 4.0),
        (ad.jit(ad.grad(lambda x: math.sqrt(float(x)))), 0.5 / math.sqrt(2.0)),
    ):
        assert transform(2.0) == want


def test_the_function_itself_is_as_it_was():
    """Only the copy that is recorded calls something else."""
    code = helper.__code__
    ad.jit(helper)(2.0)
    assert helper.__code__ is code
    assert helper(3) == 6.0
    assert set(globals()) & {"float for handles"} == set()
