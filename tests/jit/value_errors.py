"""Calls that NumPy or SciPy refuses because of values: a function, arguments that are fine, and others that are not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

A = np.array
X = A([1.0, 2.0, 3.0])
TABLE = np.arange(6.0).reshape(2, 3)
EYE = np.eye(2)
NAN = np.full((2, 2), np.nan)
ZEROS = np.zeros((2, 2))
SIDE = A([1.0, 2.0])

Case = tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]


def written(update: Callable[..., Any]) -> Callable[..., Any]:
    """A function that updates a copy in place."""

    def call(x: Any, *args: Any) -> Any:
        y = x.copy()
        update(y, *args)
        return y

    return call


def unpacked(x: Any) -> Any:
    """One element, or an error."""
    (a,) = x[x > 1]
    return a * 2


def refused(x: Any) -> Any:
    """The user's own error, on a decision."""
    if x[0] < 0:
        raise ValueError(f"{float(x[0])} is negative")
    return x * 2


def set_at(y: Any, i: Any) -> None:
    """Write to places."""
    y[i] = 7.0


PLACES: dict[str, Case] = {
    "x[i]": (lambda x, i: x[i], (X, A([0, 2])), (X, A([0, 3]))),
    "x[i], below": (lambda x, i: x[i], (X, A([0, -3])), (X, A([0, -4]))),
    "x[k]": (lambda x, i: x[i], (X, np.int64(2)), (X, np.int64(3))),
    "x[:, i]": (lambda x, i: x[:, i], (TABLE, A([0, 2])), (TABLE, A([0, 3]))),
    "x[i, j]": (lambda x, i, j: x[i, j], (TABLE, A([0, 1]), A([0, 2])), (TABLE, A([0, 2]), A([0, 2]))),
    "x[i.astype]": (lambda x, i: x[i.astype(int)], (X, A([0.0, 2.0])), (X, A([0.0, 3.0]))),
    "x[int(i)]": (lambda x, i: x[int(i)], (X, 2.0), (X, 3.0)),
    "x[mask] one": (lambda x: x[x > 1].item(), (A([1.0, 2.0]),), (A([3.0, 2.0]),)),
    "x[mask] number": (lambda x: x[x > 1].reshape(()) * 1, (A([1.0, 2.0]),), (A([3.0, 2.0]),)),
    "x[mask] truth": (lambda x: 1.0 if x[x > 1] > 0 else 2.0, (A([1.0, 2.0]),), (A([3.0, 2.0]),)),
    "x[mask] unpacked": (unpacked, (A([1.0, 2.0]),), (A([3.0, 2.0]),)),
    "x[mask] max": (lambda x: np.max(x[x > 0]), (X,), (-X,)),
    "x[mask] argmax": (lambda x: np.argmax(x[x > 0]), (X,), (-X,)),
    "y[i] =": (written(set_at), (X, A([0, 2])), (X, A([0, 3]))),
    "take": (np.take, (X, A([0, 2])), (X, A([0, 3]))),
    "x.take": (lambda x, i: x.take(i), (X, A([0, 2])), (X, A([0, 3]))),
    "take axis": (lambda x, i: np.take(x, i, axis=1), (TABLE, A([0, 2])), (TABLE, A([0, 3]))),
    "put": (written(lambda y, i: np.put(y, i, 5.0)), (X, A([0, 2])), (X, A([0, 3]))),
    "add.at": (written(lambda y, i: np.add.at(y, i, 5.0)), (X, A([0, 2])), (X, A([0, 3]))),
    "take_along_axis": (lambda x, i: np.take_along_axis(x, i, 0), (X, A([0, 2])), (X, A([0, 3]))),
    "put_along_axis": (written(lambda y, i: np.put_along_axis(y, i, 7.0, 0)), (X, A([0, 2])), (X, A([0, 3]))),
    "choose": (lambda i, x: np.choose(i, [x, 2 * x]), (A([0, 1, 0]), X), (A([0, 2, 0]), X)),
    "delete": (np.delete, (X, A([1, 2])), (X, A([1, 3]))),
    "insert": (lambda x, i: np.insert(x, i, 5.0), (X, A([1, 2])), (X, A([1, 4]))),
    "compress": (lambda x, c: np.compress(c, x), (X, A([1, 0, 1, 0])), (X, A([1, 0, 1, 1]))),
    "repeat": (np.repeat, (X, A([1, 0, 2])), (X, A([1, -1, 3]))),
    "ravel_multi_index": (lambda i: np.ravel_multi_index((i, i), (3, 3)), (A([0, 2]),), (A([0, 3]),)),
    "unravel_index": (lambda i: np.unravel_index(i, (3, 3)), (A([0, 2]),), (A([0, 9]),)),
    "searchsorted": (lambda x, s: np.searchsorted(x, 2.5, sorter=s), (X, A([0, 1, 2])), (X, A([0, 1, 3]))),
    "digitize": (np.digitize, (X, A([0.0, 1.0, 2.0])), (X, A([0.0, 3.0, 2.0]))),
    "bincount": (np.bincount, (A([0, 1, 1]), X), (A([0, -1, 1]), X)),
    "bincount plain": (np.bincount, (A([0, 1, 1]),), (A([0, -1, 1]),)),
    "bincount minlength": (lambda i, w: np.bincount(i, w, 5), (A([0, 1, 1]), X), (A([0, -1, 1]), X)),
    "partition": (lambda x, k: np.partition(x, int(k)), (X, 1.0), (X, 5.0)),
    "argpartition": (np.argpartition, (X, np.int64(1)), (X, np.int64(5))),
    "nanargmax": (np.nanargmax, (X,), (X * np.nan,)),
}
"""Places, counts and masks."""

NUMBERS: dict[str, Case] = {
    "histogram range": (lambda x, a: np.histogram(x, 3, range=(a, 2.0))[0], (X, 0.0), (X, 3.0)),
    "histogram nan": (lambda x: np.histogram(x, 3)[0], (X,), (A([1.0, np.nan, 2.0]),)),
    "histogram edges": (lambda x, b: np.histogram(x, b)[0], (X, A([0.0, 1.0, 2.0])), (X, A([0.0, 3.0, 2.0]))),
    "histogramdd": (lambda x, b: np.histogramdd(x[:, None], [b])[0], (X, A([0.0, 1.0])), (X, A([3.0, 2.0]))),
    "interp": (lambda x, p: np.interp(x, X, X, period=p), (X, 3.0), (X, 0.0)),
    "percentile": (np.percentile, (X, 50.0), (X, 101.0)),
    "quantile": (np.quantile, (X, A([0.5, 0.2])), (X, A([0.5, 1.1]))),
    "nanquantile": (np.nanquantile, (X, 0.5), (X, -0.1)),
    "average": (lambda x, w: np.average(x, weights=w), (X, X), (X, A([1.0, -1.0, 0.0]))),
    "arange": (lambda n: np.sum(np.arange(0.0, n, 1.0)), (3.0,), (np.nan,)),
    "linspace": (lambda n: np.linspace(0.0, 1.0, int(n)), (3.0,), (-3.0,)),
    "zeros": (lambda n: np.zeros(int(n)), (3.0,), (-3.0,)),
    "full": (lambda n: np.full(int(n), 2.0), (3.0,), (-3.0,)),
    "reshape": (lambda x, n: np.reshape(x, (int(n), 2)), (np.ones(6), 3.0), (np.ones(6), 4.0)),
    "split": (lambda x, n: np.split(x, int(n)), (np.ones(6), 3.0), (np.ones(6), 4.0)),
    "pad": (lambda x, n: np.pad(x, int(n)), (X, 1.0), (X, -1.0)),
    "eye": (lambda n: np.eye(int(n)), (2.0,), (-1.0,)),
    "int8": (lambda n: np.int8(int(n)), (2.0,), (300.0,)),
    "int8 sum": (lambda n: np.ones(2, np.int8) + int(n), (2.0,), (300.0,)),
    "integer power": (lambda a, b: a**b, (A([1, 2]), A([1, 2])), (A([1, 2]), A([1, -2]))),
    "np.power": (np.power, (A([1, 2]), A([1, 2])), (A([1, 2]), A([1, -2]))),
    "power of number": (lambda a, b: a**b, (np.int64(3), np.int64(2)), (np.int64(3), np.int64(-2))),
    "int(nan)": (lambda n: int(n) * 1.0, (3.0,), (np.nan,)),
    "int(inf)": (lambda n: int(n) * 1.0, (3.0,), (np.inf,)),
    "math.sqrt": (math.sqrt, (2.0,), (-1.0,)),
    "math.log": (math.log, (2.0,), (0.0,)),
    "math.exp": (math.exp, (2.0,), (1e4,)),
    "factorial": (lambda n: math.factorial(int(n)) * 1.0, (2.0,), (-1.0,)),
    "list": (lambda n: [1.0, 2.0, 3.0][int(n)], (2.0,), (3.0,)),
    "dict": (lambda n: {1.0: 2.0}[float(n)], (1.0,), (3.0,)),
    "raise": (refused, (X,), (-X,)),
    "asarray_chkfinite": (np.asarray_chkfinite, (X,), (X * np.nan,)),
}
"""Arguments outside of what a function takes, counts, conversions, and errors of the user's own."""

MATRICES: dict[str, Case] = {
    "cholesky": (np.linalg.cholesky, (EYE,), (-EYE,)),
    "inv": (np.linalg.inv, (EYE,), (ZEROS,)),
    "solve": (lambda a: np.linalg.solve(a, SIDE), (EYE,), (ZEROS,)),
    "tensorinv": (lambda a: np.linalg.tensorinv(a, 1), (EYE,), (ZEROS,)),
    "tensorsolve": (lambda a: np.linalg.tensorsolve(a, SIDE), (EYE,), (ZEROS,)),
    "matrix_power": (lambda a: np.linalg.matrix_power(a, -1), (EYE,), (ZEROS,)),
    "svd": (lambda a: np.linalg.svd(a)[1], (EYE,), (NAN,)),
    "eig": (lambda a: np.linalg.eig(a)[0], (EYE,), (NAN,)),
    "eigvals": (np.linalg.eigvals, (EYE,), (NAN,)),
    "pinv": (np.linalg.pinv, (EYE,), (NAN,)),
    "norm": (lambda a: np.linalg.norm(a, 2), (EYE,), (NAN,)),
    "matrix_rank": (np.linalg.matrix_rank, (EYE,), (NAN,)),
    "roots": (np.roots, (X,), (X * np.nan,)),
    "scipy cholesky": (scipy.linalg.cholesky, (EYE,), (-EYE,)),
    "scipy inv": (scipy.linalg.inv, (EYE,), (ZEROS,)),
    "scipy solve": (lambda a: scipy.linalg.solve(a, SIDE), (EYE,), (ZEROS,)),
    "scipy solve nan": (lambda a: scipy.linalg.solve(a, SIDE), (EYE,), (NAN,)),
    "scipy solve_triangular": (lambda a: scipy.linalg.solve_triangular(a, SIDE), (EYE,), (ZEROS,)),
    "scipy det": (scipy.linalg.det, (EYE,), (NAN,)),
    "scipy logm": (scipy.linalg.logm, (EYE,), (NAN,)),
}
"""Factorisations that fail."""

CASES = PLACES | NUMBERS | MATRICES
