"""Values and slopes at the edges: special numbers, degenerate sizes, integers beside traced arrays, wrong arguments."""

import io
import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import DerivativeDroppedError

RNG = np.random.default_rng(11)
NUMPY = tuple(map(int, np.__version__.split(".")[:2]))
INF, NAN = np.inf, np.nan


def value(function, *args):
    """The value under the reverse trace."""
    return ad.vjp(function, *args)[0]


def is_adjoint(function, x):
    """<g, J t> == <J* g, t>."""
    out, pullback = ad.vjp(function, x)
    g = RNG.normal(size=out.shape) + (1j * RNG.normal(size=out.shape) if np.iscomplexobj(out) else 0)
    t = RNG.normal(size=x.shape)
    np.testing.assert_allclose(
        np.vdot(g, ad.jvp(function, (x,), (t,))[1]).real, np.vdot(pullback(g)[0], t).real, rtol=1e-9
    )


@pytest.mark.parametrize("bins", [*range(1, 60), 97, 101])
def test_counts_at_the_edges_of_bins(bins):
    """Numbers that lie on an edge are counted in the bin in which NumPy counts them."""
    for x in (np.linspace(0.0, 1.0, 51), np.arange(-7.0, 8.0) / 10.0, np.linspace(0.1, 0.7, 31).astype(np.float32)):
        want, edges = np.histogram(x, bins)
        found, found_edges = value(lambda x: np.histogram(x, bins), x)
        np.testing.assert_array_equal(found, want)
        np.testing.assert_array_equal(found_edges, edges)
        np.testing.assert_array_equal(value(lambda x: np.histogram_bin_edges(x, bins), x), edges)


SPECIAL = np.array([NAN, -0.0, 0.0, -1.0, 1.0, INF, -INF])
SAME = {
    "angle": np.angle,
    "angle, degrees": lambda x: np.angle(x, deg=True),
    "isposinf": np.isposinf,
    "isneginf": np.isneginf,
    "nan_to_num": np.nan_to_num,
    "nanmax, initial": lambda x: np.nanmax(x, initial=NAN),
    "vector_norm": lambda x: np.linalg.vector_norm(x, ord=-1),
    "quantile 0": lambda x: np.nanquantile(x, 0),
    "quantile 1": lambda x: np.quantile(x[3:], 1),
    "sort": np.sort,
    "interp, infinite knots": lambda x: np.interp(x, [-INF, INF], [10.0, 10.0]),
    "interp, infinite values": lambda x: np.interp(x, [-1.0, 0.0, 1.0], [10.0, INF, 10.0]),
    "interp, one knot": lambda x: np.interp(x, [0.5], [10.0]),
    "polymul, leading zeros": lambda x: np.polymul(x[1:5], [0.0, 2.0, 1.0]),
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("transform", ["reverse", "batch", "jit"])
def test_values_at_special_numbers(name, transform):
    """What NumPy gives, under every transformation."""
    function = SAME[name]
    with np.errstate(all="ignore"):
        want = function(SPECIAL)
        transformed = {
            "reverse": lambda: value(function, SPECIAL),
            "batch": lambda: ad.vmap(function)(SPECIAL[None])[0],
            "jit": lambda: ad.jit(function)(SPECIAL),
        }
        np.testing.assert_array_equal(transformed[transform](), want)


def test_slopes_of_questions():
    """A truth value is a constant, and an angle on the real line too."""
    np.testing.assert_array_equal(
        ad.grad(lambda x: np.sum(np.where(np.isposinf(x), 0.0, x)))(SPECIAL[3:]), [1, 1, 0, 1]
    )
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(np.angle(x) + x))(SPECIAL), np.ones(7))


LARGE = [800 + 1j, -800 + 1j, 1e200 + 1j, 1e300 * (1 + 1j)]
SHRINKING = {"tanh": LARGE, "arctan": LARGE[-1:], "arctanh": LARGE[-1:], "arcsinh": LARGE[-1:], "log1p": LARGE[-1:]}


@pytest.mark.parametrize("name", SHRINKING)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_slopes_of_large_complex_numbers(name):
    """They become small, not nan: no part of the formula overflows."""
    for z in SHRINKING[name]:
        assert abs(ad.jvp(getattr(np, name), (z,), (1 + 0j,))[1]) < 1e-290
        assert abs(ad.vjp(getattr(np, name), np.array([z]))[1](np.ones(1, complex))[0][0]) < 1e-290


@pytest.mark.parametrize("p", [None, 1, -1, 2, INF, -INF, "fro"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_condition_of_singular_matrices(p):
    """Infinite, alone and among others."""
    some = np.stack([np.eye(2), np.zeros((2, 2)), np.diag([1.0, 0.0])])
    for a in (some, *some):
        np.testing.assert_array_equal(value(lambda a: np.linalg.cond(a, p), a), np.linalg.cond(a, p))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.fft.rfftn(x, axes=(0, 0)),
        lambda x: np.fft.rfftn(x, s=(3, 5), axes=(1, 1)),
        lambda x: np.fft.irfftn(x, axes=(1, 1)),
        lambda x: np.fft.fftn(x, axes=(0, 1, 0)),
        lambda x: np.fft.ifftn(x, s=(2, 3), axes=(0, 0)),
    ],
)
def test_transforms_along_an_axis_twice(function):
    """One after the other, as NumPy does."""
    x = RNG.normal(size=(4, 5))
    np.testing.assert_allclose(value(function, x), function(x), atol=1e-14)
    is_adjoint(function, x)


@pytest.mark.parametrize("shape", [(2, 50_000), (50_000, 2)])
@pytest.mark.parametrize("name", ["pinv", "lstsq", "isin", "setdiff1d"])
def test_long_and_thin(name, shape):
    """Nothing of the square of the length is made."""
    x = RNG.normal(size=shape)
    functions = {
        "pinv": np.linalg.pinv,
        "lstsq": lambda a: np.linalg.lstsq(a, np.ones(shape[0]))[0],
        "isin": lambda a: a * np.isin(a, a),
        "setdiff1d": lambda a: np.setdiff1d(a, a[0]),
    }
    is_adjoint(functions[name], x)


@pytest.mark.parametrize("shape", [(2, 5), (5, 2), (3, 3)])
def test_pseudoinverse_of_every_form(shape):
    """Its derivative is that of the formula, in whichever order it is multiplied."""
    x, t = RNG.normal(size=shape), RNG.normal(size=shape)
    step = 1e-6
    want = (np.linalg.pinv(x + step * t) - np.linalg.pinv(x - step * t)) / (2 * step)
    np.testing.assert_allclose(ad.jvp(np.linalg.pinv, (x,), (t,))[1], want, rtol=1e-6, atol=1e-7)
    is_adjoint(np.linalg.pinv, x)


LINE, MATRIX = np.array([1.0, 2.5, 4.0]), np.arange(6.0).reshape(2, 3)
BESIDE = {
    "interp at an integer": lambda x: np.interp(1, [0, 2, 3], x),
    "interp between integers": lambda x: np.interp(x, [0, 2, 3], [1, 5, 2]),
    "lstsq, matrix of integers": lambda x: np.linalg.lstsq(np.array([[1, 2], [3, 4], [5, 7]]), x)[0],
    "solve, matrix of integers": lambda x: np.linalg.solve(np.array([[1, 2, 0], [3, 4, 1], [0, 1, 5]]), x),
    "polyfit, places of integers": lambda x: np.polyfit(np.array([1, 2, 4]), x, 1),
    "moveaxis, ranges": lambda x: np.moveaxis(x[None], range(2), [1, 0]),
    "full, shape without axes": lambda x: np.full(np.array(3), x[0]),
    "take, mode None": lambda x: np.take(x, 1, mode=None),
    "dot with an integer": lambda x: np.dot(x, 3),
    "inner with an integer": lambda x: np.inner(x, 3),
    "sum of a number along an axis": lambda x: np.sum(np.reshape(x[0], ()), axis=0),
    "max of a number along an axis": lambda x: np.max(np.reshape(x[0], ()), axis=-1),
    "cumsum of a number": lambda x: np.cumsum(np.reshape(x[0], ()), axis=0),
    "covariance of one row": lambda x: np.cov(np.stack([x, x**2]).T[:1], rowvar=False, ddof=0),
    "mean as integer": lambda x: np.mean(x, dtype=int),
    "mean as integer, method": lambda x: x.mean(dtype=int),
    "nanmean in single precision": lambda x: np.nanmean(x, dtype=np.float32),
    "sum as truth value": lambda x: np.sum(x, dtype=bool),
    "sum as truth value, method": lambda x: x.sum(dtype=bool),
    "nanprod as small integer": lambda x: np.nanprod(x, dtype=np.uint8),
    "variance in half precision": lambda x: np.var(x, dtype=np.float16),
    "max of nothing": lambda x: np.max(x[:0], initial=4.0),
    "nanmin of nothing": lambda x: np.nanmin(x[:0], initial=-1.0),
    "covariance of nothing": lambda x: np.cov(np.reshape(x[:0], (3, 0))),
    "roots": lambda x: np.roots(x - 5.0),
}


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("transform", ["reverse", "forward", "batch", "jit"])
def test_beside_integers_and_with_odd_sizes(name, transform):
    """Value, dtype and shape are NumPy's."""
    function = BESIDE[name]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        want = np.asarray(function(LINE))
        transformed = {
            "reverse": lambda: value(function, LINE),
            "forward": lambda: ad.jvp(function, (LINE,), (LINE,))[0],
            "batch": lambda: ad.vmap(function)(LINE[None])[0],
            "jit": lambda: [ad.jit(function)(LINE) for _ in range(2)][1],
        }
        found = np.asarray(transformed[transform]())
    assert (found.dtype, found.shape) == (want.dtype, want.shape)
    np.testing.assert_allclose(found, want, rtol=1e-12)


WRONG = {
    "matrix_power": lambda x: np.linalg.matrix_power(np.stack([x, x, x]), 1.5),
    "matrix_power of no square": lambda x: np.linalg.matrix_power(np.stack([x, x]), 1),
    "histogram, range": lambda x: np.histogram(x, range=(1, 0)),
    "histogram, bins": lambda x: np.histogram(x, [1.0, 3.0, 2.0]),
    "histogram, infinite": lambda x: np.histogram(x / 0.0),
    "bincount": lambda x: np.bincount(np.array([0, -2, 1]), x),
    "bincount, weights": lambda x: np.bincount(np.array([0, 2]), x),
    "inverse of a vector": lambda x: np.linalg.inv(x),
    "axis of a fraction": lambda x: np.sum(x, axis=0.0),
    "list of axes": lambda x: np.sum(x[None], axis=[0, 1]),
    "clip with two minima": lambda x: np.clip(x, 0, 1, min=0),
    "cov, freedom": lambda x: np.cov(x, ddof=0.5),
    "where with one choice": lambda x: np.where(x > 0, x),
    "interp of nothing": lambda x: np.interp(x, [], []),
    "norm": lambda x: np.fft.fft(x, norm="other"),
    "kind": lambda x: np.sort(x, kind="other"),
    "casting": lambda x: np.concatenate([x, x], dtype=int),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("transform", [ad.vjp, ad.vmap], ids=["reverse", "batch"])
def test_wrong_arguments_raise_what_numpy_raises(name, transform):
    """The class and the words of NumPy's own error, never a number."""
    with pytest.raises(Exception) as want:  # noqa: PT011 - whichever NumPy raises
        WRONG[name](LINE)
    with pytest.raises(want.type):
        ad.vjp(WRONG[name], LINE) if transform is ad.vjp else ad.vmap(WRONG[name])(LINE[None])


@pytest.mark.skipif(NUMPY < (2, 5), reason="sorts descend from NumPy 2.5 on")
def test_descending():
    """Sorted downwards, nan last; the slopes go to the elements."""
    x = np.array([1.0, NAN, 3.0, 2.0])
    np.testing.assert_array_equal(value(lambda x: np.sort(x, descending=True), x), [3.0, 2.0, 1.0, NAN])
    slopes = ad.grad(lambda x: np.sum(np.sort(x, descending=True)[:3] * [1.0, 2.0, 4.0]))(x)
    np.testing.assert_array_equal(slopes, [4.0, 0.0, 1.0, 2.0])


WRITERS = {
    "save": np.save,
    "savetxt": np.savetxt,
    "savez": np.savez,
    "savez by name": lambda file, x: np.savez(file, a=x),
    "savez_compressed": np.savez_compressed,
    "save of a list": lambda file, x: np.save(file, [x[0], x[1]]),
    "savetxt of a list": lambda file, x: np.savetxt(file, [x[0], x[1]]),
    "savetxt of a part": lambda file, x: np.savetxt(file, 2.0 * x[1:], fmt="%.3f"),
}


@pytest.mark.parametrize(
    "transform",
    [ad.grad, lambda f: ad.jit(ad.grad(f)), lambda f: lambda x: ad.vmap(f)(x[None])],
    ids=["grad", "jit", "vmap"],
)
@pytest.mark.parametrize("name", WRITERS)
def test_nothing_is_written_before_it_is_refused(name, transform, tmp_path):
    """A traced value is no plain number: the refusal comes before the file is opened."""
    with pytest.raises(DerivativeDroppedError, match=rf"np\.{name.split()[0]} writes plain numbers"):
        transform(lambda x: (WRITERS[name](tmp_path / "file", x), np.sum(x))[1])(np.ones(3))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", WRITERS)
def test_a_program_writes_as_often_as_the_function(name):
    """Under jit the numbers are written once for each call."""
    written, wanted = io.BytesIO(), io.BytesIO()
    f = ad.jit(lambda x: (WRITERS[name](written, x), np.sum(x))[1])
    for k in range(3):
        x = np.arange(3.0) + k
        f(x)
        WRITERS[name](wanted, x)
        assert len(written.getvalue()) == len(wanted.getvalue())
