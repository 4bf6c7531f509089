"""Tools of Python's, NumPy's and other packages' around traced values: done as without a trace, or refused by name."""

import functools
import statistics

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import adjoint as ad

VECTOR = np.array([1.0, 2.0, 3.5])
SQUARE = np.frompyfunc(lambda a: a * a, 1, 1)
BOTH = np.frompyfunc(lambda a, b: (a * b, a + b), 2, 2)


def sample(x):
    return [x, 2.0 * x, 3.7, 1.0]


TOOLS = {
    **{
        f"statistics.{name}": (lambda x, name=name: getattr(statistics, name)(sample(x)))
        for name in (
            "mean", "fmean", "geometric_mean", "harmonic_mean", "stdev", "pstdev", "variance", "pvariance", "median",
            "median_low", "median_high",
        )
    },
    "statistics of an array": lambda x: statistics.mean(x * VECTOR),
    "functools.reduce": lambda x: functools.reduce(lambda a, b: a * b, sample(x)),
    "functools.reduce of arrays": lambda x: functools.reduce(np.dot, [x * np.eye(2), x * np.ones((2, 2))])[0, 1],
    "frompyfunc": lambda x: np.sum(SQUARE(x * VECTOR)),
    "frompyfunc, two results": lambda x: np.sum(BOTH(x * VECTOR, VECTOR)[0]) + np.sum(BOTH(x * VECTOR, 2.0)[1]),
    "fromiter": lambda x: np.sum(np.fromiter((x**k for k in range(4)), float, count=3) ** 2),
    "vectorize": lambda x: np.sum(np.vectorize(lambda a: a**2 if a > 3 else a)(x * VECTOR)),
    "vectorize with a signature": lambda x: np.sum(
        np.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")(x * np.ones((2, 3)), x * VECTOR)
    ),
    "vectorize with two results": lambda x: np.sum(
        np.vectorize(lambda a: (a[:1] * 2, a * a), signature="(n)->(m),(n)")(x * np.ones((2, 3)))[1]
    ),
    "sliding windows": lambda x: np.sum(np.prod(sliding_window_view(x * VECTOR, 2), axis=-1)),
    "sliding windows, two axes": lambda x: np.sum(
        sliding_window_view(x * np.arange(12.0).reshape(3, 4), (2, 3)) ** 2 * np.arange(3.0)
    ),
    "apply_along_axis": lambda x: np.sum(np.apply_along_axis(lambda r: r[0] * r, 1, x * np.ones((2, 3)))),
}  # fmt: skip


@pytest.mark.parametrize("f", TOOLS.values(), ids=TOOLS.keys())
def test_values_and_slopes(f):
    """Value, slope in both modes, compiled too."""
    x = 2.3
    want = (f(x + 1e-5) - f(x - 1e-5)) / 2e-5
    value, slope = ad.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-14)
    assert slope == pytest.approx(want, rel=1e-8)
    assert ad.jvp(f, (x,), (1.0,))[1] == pytest.approx(want, rel=1e-8)
    assert ad.jit(f)(x) == pytest.approx(f(x), rel=1e-14)
    assert ad.jit(ad.grad(f))(x) == pytest.approx(want, rel=1e-8)


def test_windows_are_those_of_numpy():
    """Shapes and numbers, for axes in any order."""
    x = np.arange(24.0).reshape(2, 3, 4)
    for window, axis in ((2, 1), ((2, 3), (1, 2)), ((2, 2), (2, 0)), ((1, 2, 3), None)):
        want = sliding_window_view(x, window, axis)
        found = ad.vjp(lambda x, w=window, a=axis: sliding_window_view(x, w, a), x)[0]
        np.testing.assert_array_equal(found, want)
    with pytest.raises(ValueError, match="window shape cannot be larger"):
        ad.grad(lambda x: np.sum(sliding_window_view(x, 5)))(VECTOR)


REFUSED = {
    "np.ma.MaskedArray": lambda x: np.ma.array(x * VECTOR, mask=[0, 1, 0]).sum(),
    "statistics.correlation": lambda x: statistics.correlation([x, 2.0, 3.0], [1.0, 2.0, 4.0]),
    "statistics.NormalDist": lambda x: statistics.NormalDist(x, 1.0).pdf(0.3),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals_name_the_call(text):
    """At the user's line."""
    with pytest.raises(ad.AdjointError, match=text) as caught:
        ad.grad(REFUSED[text])(2.5)
    assert "test_python_tools.py" in str(caught.value)


def test_columns_of_polars():
    """They are arrays beside traced values, on either side and as arguments; a gradient is not one of them."""
    polars = pytest.importorskip("polars")
    column, table = polars.Series("a", VECTOR), polars.DataFrame({"t": VECTOR, "c": VECTOR**2})
    functions = [
        lambda x: (x * column).sum() + (column * x).sum() + (column**x).sum(),
        lambda x: ((table["c"] - np.exp(x * table["t"])) ** 2).sum(),
        lambda x: (np.exp(column) * x + np.multiply(x, column)).sum(),
    ]
    for f in functions:
        want = (f(0.5 + 1e-6) - f(0.5 - 1e-6)) / 2e-6
        assert ad.grad(f)(0.5) == pytest.approx(want, rel=1e-7)
        assert ad.jit(ad.grad(f))(0.5) == pytest.approx(want, rel=1e-7)
    assert ad.grad(lambda x, c: (x * c).sum())(2.0, column) == 6.5
    with pytest.raises(ad.errors.UnsupportedError, match="does not hold plain numbers"):
        ad.grad(lambda x: x * polars.Series(["a"]))(2.0)
    with pytest.raises(ad.errors.InputError, match="to_numpy"):
        ad.grad(lambda c: np.sum(c**2))(column)
    assert (column * 2.0).to_list() == [2.0, 4.0, 7.0]


def test_tables_of_pandas_as_arguments():
    """Data that is passed is a constant; a gradient with respect to it is refused, with the fix."""
    pandas = pytest.importorskip("pandas")
    series, table = pandas.Series(VECTOR, index=[3, 4, 5]), pandas.DataFrame({"t": VECTOR, "c": VECTOR**2})
    for transform in (ad.grad, lambda f: ad.jit(ad.grad(f))):
        assert transform(lambda x, s: np.sum(x * s))(2.0, series) == 6.5
        assert transform(lambda x, d: np.sum(d["c"] - x * d["t"]))(2.0, table) == -6.5
    with pytest.raises(ad.errors.InputError, match="to_numpy"):
        ad.grad(lambda s: np.sum(s**2))(series)
