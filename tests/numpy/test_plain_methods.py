"""Methods of plain arrays that are given traced values: NumPy has no hook for most of them, so each is known."""

import operator

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import AdjointError

A, V, Q = np.arange(1.0, 7.0).reshape(2, 3), np.array([3.0, 1.0, 2.0]), np.array([0.5, 0.2, 0.9])


def changed(update, like=V):
    """A program that copies a plain array and updates it."""

    def f(q):
        y = like.copy()
        update(y, q)
        return y

    return f


def fill(y, q):
    y.fill(q[0])


def put(y, q):
    y.put([0, 2], q[:2])


def set_item(y, q):
    y.__setitem__(0, q[0])


TAKEN = {
    "all": lambda q: (V > 1.0).all(where=q > 0.3),
    "any": lambda q: (V > 1.0).any(where=q > 0.3),
    "clip": lambda q: A.clip(q[1], q[2] * 4) + A.clip(min=q) + V.clip(0.0, 1.0, out=q * 1.0),
    "choose": lambda q: np.array([0, 1, 0]).choose([q, 2 * q]),
    "dot": lambda q: A.dot(q),
    "max": lambda q: A.max(where=q > 0.3, initial=2.0),
    "min": lambda q: A.min(where=q > 0.3, initial=2.0),
    "prod": lambda q: A.prod(where=q > 0.3),
    "searchsorted": lambda q: np.sort(V).searchsorted(q * 4.0),
    "sum": lambda q: A.sum(where=q > 0.3) + A.sum(axis=0, out=q * 1.0),
}
DECIDED = {
    "argpartition": lambda q: V.argpartition((q[0] > 0.3).astype(int)),
    "compress": lambda q: V.compress(q > 0.3),
    "diagonal": lambda q: A.diagonal((q[0] > 0.3).astype(int)),
    "item": lambda q: V.item((q[0] > 0.3).astype(int)),
    "mean": lambda q: A.mean(where=q > 0.3),
    "partition": changed(lambda y, q: y.partition((q[0] > 0.3).astype(int))),
    "repeat": lambda q: V.repeat((q > 0.3).astype(int)),
    "reshape": lambda q: A.reshape(int(q[0] > 0.3) + 1, -1),
    "std": lambda q: A.std(where=q > 0.3),
    "take": lambda q: V.take((q > 0.3).astype(int)),
    "trace": lambda q: A.trace((q[0] > 0.3).astype(int)),
    "var": lambda q: A.var(where=q > 0.3),
}
REFUSED = {
    "dot": (lambda q: operator.methodcaller("dot", q)(A), "Write  A @ x  or  np.dot(A, x)"),
    "fill": (changed(fill), r"Write  y[...] = x"),
    "put": (changed(put), r"Write  y[places] = x"),
    "__setitem__": (changed(set_item), r"Write  y[key] = x"),
}
INITIAL = {
    "sum": (lambda q: A.sum(initial=q[0]), "Write  A.sum() + x"),
    "prod": (lambda q: A.prod(initial=q[0]), "Write  A.prod() * x"),
    "max": (lambda q: A.max(initial=q[0]), "Write  np.maximum(A.max(), x)"),
    "min": (lambda q: A.min(initial=q[0]), "Write  np.minimum(A.min(), x)"),
}
WITHOUT_NUMBERS = {
    "argmax", "argmin", "argsort", "astype", "byteswap", "conj", "conjugate", "copy", "cumprod", "cumsum", "dump",
    "dumps", "flatten", "getfield", "nonzero", "ravel", "resize", "round", "setfield", "setflags", "sort", "squeeze",
    "swapaxes", "to_device", "tobytes", "tofile", "tolist", "transpose", "view",
}  # fmt: skip
"""They take axes, dtypes and files, which a traced value is not."""
MODES = {
    "reverse": lambda f: ad.vjp(f, Q)[0],
    "forward": lambda f: ad.jvp(f, (Q,), (Q,))[0],
    "batch": lambda f: ad.vmap(f)(np.stack([Q, Q]))[0],
}


def test_every_method_is_known():
    """One that a new NumPy brings has to be looked at."""
    methods = {n for n in dir(np.ndarray) if not n.startswith("_") and callable(getattr(np.ndarray, n))}
    assert methods <= {*TAKEN, *DECIDED, *REFUSED, *WITHOUT_NUMBERS, "ptp", "newbyteorder", "itemset"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", TAKEN)
def test_taken(name, mode):
    """As NumPy's, in every mode."""
    np.testing.assert_array_equal(MODES[mode](TAKEN[name]), TAKEN[name](Q))


@pytest.mark.parametrize("name", DECIDED)
def test_decided(name):
    """Integers and masks are decisions: they have a value in a derivative, and in a batch none."""
    np.testing.assert_array_equal(MODES["reverse"](DECIDED[name]), DECIDED[name](Q))
    with pytest.raises(AdjointError, match="Inside vmap"):
        MODES["batch"](DECIDED[name])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", [*REFUSED.values(), *INITIAL.values()])
def test_refused(program, mode):
    """With the line, and what to write."""
    f, fix = program
    with pytest.raises(AdjointError) as caught:
        MODES[mode](f)
    assert "test_plain_methods.py:" in str(caught.value)
    assert fix in str(caught.value)


@pytest.mark.parametrize("name", ["dot", "put"])
def test_taken_by_programs(name):
    """Where plain arrays are inputs, their methods are those of traced ones."""
    f = REFUSED[name][0]
    np.testing.assert_array_equal(ad.jit(f)(Q), f(Q))


def test_the_slope_of_bounds():
    """`A.clip(low, high)` with two traced bounds, which NumPy leads to a universal function without a name."""
    want = ad.grad(lambda q: np.sum(np.clip(A, q[1], q[2] * 4)))(Q)
    np.testing.assert_array_equal(ad.grad(lambda q: np.sum(A.clip(q[1], q[2] * 4)))(Q), want)
