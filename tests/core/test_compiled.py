"""Compiled code that a traced value reaches is refused by the name of its call, with the fix."""

import numpy as np
import pytest

import adjoint as ad

algos = pytest.importorskip("pandas._libs.algos")


def by_module(x):
    return algos.is_monotonic(x, False)[0] * x[0]


def by_name(x):
    is_monotonic = algos.is_monotonic
    return is_monotonic(2.0 * x, timelike=False)[0] * x[0]


@pytest.mark.parametrize("f", [by_module, by_name])
@pytest.mark.parametrize(
    "transform", [ad.grad, lambda f: ad.jit(ad.grad(f)), lambda f: lambda x: ad.jvp(f, (x,), (x,))]
)
def test_the_call_is_named(f, transform):
    """Not what the code says of handles: `Expected ndarray, got Traced`, `No matching signature found`."""
    with pytest.raises(
        ad.errors.UnsupportedError, match=r"^pandas\._libs\.algos\.is_monotonic is compiled code"
    ) as caught:
        transform(f)(np.ones(3))
    assert "test_compiled.py" in str(caught.value)
    assert "ad.custom_rule" in str(caught.value)


def test_errors_of_other_calls_stay():
    """A call on plain values raises what it always did, and so does Python code."""

    def plain(x):
        return x[0] * algos.is_monotonic("text", False)[0]

    def python(x):
        raise TypeError("mine")

    for f, text in ((plain, "compiled|str|signature"), (python, "mine")):
        with pytest.raises(TypeError, match=text):
            ad.grad(f)(np.ones(3))
