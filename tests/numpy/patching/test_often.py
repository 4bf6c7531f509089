"""Names that know traced values know them however often they are read: interpreters learn from what they read."""

import math

import numpy as np
import pytest

import adjoint as ad


def filled(x):
    """An array of one's own, written to."""
    y = np.zeros(2)
    y[0] = x
    return y[0] * y[0]


@pytest.mark.parametrize(
    ("f", "slope"),
    [(lambda x: math.sin(x), math.cos(2.0)), (lambda x: np.array([x, x * x])[1], 4.0), (filled, 4.0)],
    ids=["math", "array", "zeros"],
)
def test_every_time(f, slope):
    """The same slope in each of many calls."""
    assert [float(ad.grad(f)(2.0)) for _ in range(100)] == pytest.approx([slope] * 100)
