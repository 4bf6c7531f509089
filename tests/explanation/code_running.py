"""Sources of gradients: written, and run where the library is not."""

from __future__ import annotations

import builtins

import numpy as np

import adjoint as ad
from adjoint.core.tree import flatten
from adjoint.explanation.code.numpy_source import numpy_source
from adjoint.explanation.explain import explain


def source_of(function, *args):
    """The source of a function, recorded at a point."""
    return code_of(explain(function)(*args))


def code_of(e):
    """The source of an explanation."""
    return numpy_source(e._seen("vector", False, "reverse"), fun=e._fun, args=e._args, kwargs=e._kwargs)


def alone(source):
    """The function that a source defines, where nothing but NumPy, SciPy and Python's mathematics can be imported."""

    def importing(name, *rest):
        assert name.partition(".")[0] in ("numpy", "scipy", "math"), name
        return __import__(name, *rest)

    space = {"__builtins__": {**vars(builtins), "__import__": importing}}
    exec(compile(source, "<source>", "exec"), space)
    (name,) = [n for n in space if n.endswith("_and_gradient")]
    return space[name]


def agree(found, wanted, rtol=1e-12):
    """The same numbers, shapes and kinds of numbers."""
    for a, b in zip(flatten(found)[0], flatten(wanted)[0], strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        largest = float(np.max(np.abs(b), initial=1.0, where=np.isfinite(b)))
        rtol = max(rtol, 1e-6 if b.dtype.itemsize == 4 else 0.0)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * largest)


def check(function, args, other, rtol=1e-12):
    """The source gives what `ad.value_and_grad` gives, where it was recorded and at another point of the branch."""
    source = source_of(function, *args)
    written = alone(source)
    assert max(map(len, source.splitlines())) <= 120
    for point in (args, other):
        value, gradient = ad.value_and_grad(function, argnums=tuple(range(len(point))))(*point)
        agree(written(*point, **source.arrays), (value, gradient if len(point) > 1 else gradient[0]), rtol)
    return source
