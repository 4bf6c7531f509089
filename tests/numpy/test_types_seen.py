"""What a traced value is taken for: `isinstance` and its like answer as they do without a derivative."""

import copy
import functools
import itertools
import json
import numbers
import pickle
import struct

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import AdjointError

KINDS = (np.ndarray, np.generic, np.floating, np.float64, np.float32, np.integer, float, int, bool, complex, list)
KINDS += (numbers.Number, numbers.Real, numbers.Integral, str)


def answers(x):
    """All that code may ask about the type of a value."""
    return [isinstance(x, kind) for kind in KINDS] + [np.isscalar(x), np.ndim(x), isinstance(x, (int, np.ndarray))]


VALUES = {
    "argument": lambda x: x,
    "product": lambda x: 2.0 * x,
    "function": lambda x: np.sin(x),
    "sum": lambda x: np.sum(x),
    "maximum": lambda x: np.max(x),
    "method": lambda x: np.asarray(x).mean(),
    "first": lambda x: np.ravel(x)[0],
    "row": lambda x: np.stack([x, x])[0],
    "slice": lambda x: np.ravel(x)[:1],
    "new": lambda x: np.zeros(2),
    "copy": lambda x: np.array([x, x]).copy(),
    "list": lambda x: np.array([x, x]),
    "comparison": lambda x: x > 0,
    "number and argument": lambda x: np.sum(x) * 2.0,
    "power": lambda x: x**2,
    "negative": lambda x: -x,
}
POINTS = {"float": 0.7, "number": np.float64(0.7), "array": np.array([0.3, 0.7]), "single": np.ones(2, np.float32)}
TRANSFORMS = {
    "grad": lambda f, x: ad.grad(f)(x),
    "jvp": lambda f, x: ad.jvp(f, (x,), (x,)),
    "vjp": lambda f, x: ad.vjp(f, x),
    "grad of grad": lambda f, x: ad.grad(lambda x: np.sum(ad.grad(f)(x)))(x),
    "checkpoint": lambda f, x: ad.grad(ad.checkpoint(f))(x),
}
EXCEPTION = ("checkpoint", "number")
"""A checkpoint calls its function with Python's numbers."""


@pytest.mark.parametrize(("transform", "point"), [w for w in itertools.product(TRANSFORMS, POINTS) if w != EXCEPTION])
def test_answers_are_those_of_plain_values(transform, point):
    """Of arguments and results of every kind, under every transformation."""
    x = POINTS[point]
    for name, value in VALUES.items():
        seen = []

        def f(x, value=value, seen=seen):
            seen.append(answers(value(x)))
            return np.sum(x * x)

        TRANSFORMS[transform](f, x)
        assert seen[0] == answers(value(x)), name


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("transform", [ad.jit, lambda f: ad.jit(ad.value_and_grad(f, has_aux=True))])
def test_answers_in_a_recording(point, transform):
    """The same where a program is recorded; types are part of what decides which recording runs."""
    x = POINTS[point]
    for name, value in VALUES.items():
        found = transform(lambda x, value=value: (np.sum(x * x), answers(value(x))))(x)
        seen = found[1] if isinstance(found[1], list) else found[0][1]
        assert seen == answers(value(x)), name


def test_inside_vmap_one_example_is_seen():
    """A row of a matrix is an array, an element of a vector a number."""
    seen = []

    def f(x):
        seen.append(answers(x))
        return np.sum(x)

    ad.vmap(f)(np.ones((3, 2)))
    ad.vmap(f)(np.ones(3))
    assert seen == [answers(np.ones(2)), answers(np.ones(3)[0])]


def test_code_that_branches_on_types():
    """Functions that convert what is no array, normalise arguments or dispatch on types go their usual way."""

    @functools.singledispatch
    def half(x):
        return "other"

    half.register(np.ndarray, lambda x: x / 2)
    half.register(float, lambda x: x * 0.5)

    def f(x):
        if not isinstance(x, np.ndarray):
            x = np.array([x])
            x = x * 100.0
        return np.sum(half(x) * half(np.sum(x)))

    x = np.array([0.3, 0.7])
    np.testing.assert_allclose(ad.grad(f)(x), ad.numerical.grad(f)(x), rtol=1e-6)
    np.testing.assert_allclose(ad.grad(f)(0.3), ad.numerical.grad(f)(0.3), rtol=1e-6)
    np.testing.assert_allclose(ad.jit(ad.grad(f))(x), ad.numerical.grad(f)(x), rtol=1e-6)


@pytest.mark.parametrize(
    "convert",
    [
        lambda x: np.frombuffer(x),
        lambda x: memoryview(x),
        lambda x: struct.pack("d", x[0]),
        lambda x: json.dumps(x[0]),
        lambda x: json.dumps([x[0]], indent=1),
        lambda x: pickle.dumps(x),
        lambda x: np.ndarray.__add__(x, 1.0),
        lambda x: float.__add__(x[0], 1.0),
        lambda x: np.ndarray.tobytes(x),
        lambda x: x.ctypes.data,
        lambda x: np.lib.stride_tricks.as_strided(x, (1,), (8,)),
        lambda x: np.ctypeslib.as_ctypes(x),
    ],
)
def test_who_needs_the_memory_is_refused(convert):
    """The answer gives nobody the memory: it ends in an error, neither in a crash nor without a derivative."""

    def f(x):
        convert(x)
        return np.sum(x)

    with pytest.raises((TypeError, AttributeError, ValueError, AdjointError)):
        ad.grad(f)(np.array([0.3, 0.7]))


def test_copies_are_traced():
    """`copy.copy` and `copy.deepcopy` of what looks like an array or a number keep the derivative."""

    def f(x):
        return np.sum(copy.copy(x) * copy.deepcopy(x)) + copy.copy(x[0]) * copy.deepcopy([x[1]])[0]

    np.testing.assert_allclose(ad.grad(f)(np.array([0.3, 0.7])), [1.3, 1.7])


@pytest.mark.parametrize("transform", [
    ad.grad, lambda f: lambda x: ad.jvp(f, (x,), (1.0,))[1], lambda f: ad.jit(ad.grad(f)), lambda f: ad.grad(ad.jit(f)),
    lambda f: lambda x: ad.vmap(ad.grad(f))(np.array([x]))[0],
], ids=range(5))  # fmt: skip
@pytest.mark.parametrize("kind", ["float64", "double", "float32", "complex128"])
def test_conversions_by_a_class_of_numpys(kind, transform):
    """`np.float64(x)` of a traced number is that number in that precision; of anything else NumPy's own."""

    def f(x):
        y = getattr(np, kind)(x) if kind != "float64" else np.float64(x)
        return np.real(y * y) * float(np.float64("1.5"))

    np.testing.assert_allclose(transform(f)(3.0), 9.0, rtol=1e-6)


def test_the_class_itself_stays_what_it_is():
    """Where it is not called, everybody sees the class."""

    def f(x):
        assert np.float64 is type(np.float64(1.0))
        assert np.zeros(2, dtype=np.float64).dtype == np.float64
        assert isinstance(np.float64(2.0), np.float64)
        return x * np.float64(2.0)

    assert ad.grad(f)(1.0) == 2.0


@pytest.mark.parametrize("shape", [(0,), (2, 0), (3,), ()])
def test_what_is_asked_of_an_array_is_pythons(shape):
    """Its number of axes and elements are integers that everybody takes, also of empty arrays under jit."""

    def f(x):
        assert (type(np.ndim(x)), type(np.size(x)), type(np.shape(x))) == (int, int, tuple)
        np.random.default_rng(0).permutation(np.ndim(x))
        return x * 2

    np.testing.assert_array_equal(ad.jit(f)(np.ones(shape)), 2 * np.ones(shape))


@pytest.mark.parametrize(("name", "instead"), [("backward", r"ad\.grad\(f\)\(x\)"), ("detach", r"ad\.stop_gradient")])
def test_what_tensors_have_is_answered_with_what_to_write(name, instead):
    """For who comes from another library; the attribute is not there, nor listed."""

    def f(x):
        assert not hasattr(x, name)
        assert name not in dir(x)
        return getattr(x, name)()

    with pytest.raises(AttributeError, match=f"has no attribute '{name}': use  {instead}"):
        ad.grad(f)(np.ones(3))
