"""Functions that ask for all that instructions tell: to be run where these are known, and where they are not."""

from __future__ import annotations

import math
import warnings

import numpy as np
from scipy import optimize

import adjoint as ad


def filled(x):
    """An array that is filled, a loop that values end, a loop of the library."""
    seen = np.zeros(8)
    for k in range(8):
        seen[k] = x
        x = x * 0.5 if x > 1.0 else 3.0 * x + 0.25
        if x > 100.0:
            break
    return ad.scan(lambda total, y: (total + y * y, None), 0.0, seen)[0] * x


def mathematics(x):
    """Functions of `math`, which take true numbers."""
    return math.exp(-x) * math.sin(x) + math.hypot(x, 2.0)


def caught(x):
    """An error that is caught, and one of Python's arithmetic."""
    try:
        return 1.0 / (x - x)
    except ZeroDivisionError:
        return x * x


def solved(x):
    """A solver with a function that captures a value."""
    return optimize.brentq(lambda y: y**3 - x, 0.0, 10.0)


def collected(x):
    """The same with one that keeps what it is called with, which nobody reads."""
    seen = []

    def f(y):
        seen.append(y)
        return y**3 - x

    return optimize.brentq(f, 0.0, 10.0)


def looped(x):
    """A loop of Python that values end, with two sides."""
    steps = 0
    while x > 0.1:
        x = x * 0.5 if steps % 2 else x * 0.75
        steps += 1
    return x * steps


def printed(x):
    """Text with the value in it, of which nothing is computed."""
    return x * len(f"{float(ad.value(x)):.3f}")


def missed(x):
    """A lookup that does not find the number."""
    return x * {0.0: 2.0}.get(x, 3.0)


FUNCTIONS = [filled, mathematics, caught, looped, printed, missed]
POINTS = (0.5, 7.0, 2.5)


def results(jit):
    """Values, gradients, tangents, second derivatives and batches, each through `jit`."""
    found = {}
    for f in FUNCTIONS:
        modes = {
            "value": jit(f),
            "gradient": jit(ad.grad(f)),
            "inside": ad.grad(jit(f)),
            "tangent": lambda x, f=f: ad.jvp(jit(f), (x,), (1.0,))[1],
            "second": jit(ad.grad(ad.grad(f))),
        }
        found |= {f"{f.__name__} {mode}": [float(g(x)) for x in POINTS] for mode, g in modes.items()}
    found["solved"] = [float(ad.grad(jit(solved))(x)) for x in POINTS]
    found["batch"] = jit(ad.vmap(lambda x: np.where(x > 1.0, np.sin(x), x)))(np.array(POINTS)).tolist()
    return found


def warned(jit):
    """The results, and what was said on the way."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = results(jit)
    return found, [str(warning.message) for warning in said]
