"""The machine code of every elementwise primitive against NumPy: exact where the operation is exact."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy")

from adjoint.compile.runtime.engine import optimised
from adjoint.compile.scalar.kernels import cast
from adjoint.ops import special
from adjoint.ops.declare import CATALOGUE

from .loops import BOOL, FLOATS, INTEGERS, SCALARS, Loop, crossed, first_difference, loop_of, same_bits, special_values

special.load()
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
DTYPES = [BOOL, *INTEGERS, *FLOATS]
NAMES = [str(d) for d in DTYPES]
EXACT = {
    "add": 2, "subtract": 2, "multiply": 2, "divide": 2, "negative": 1, "positive": 1, "conjugate": 1, "reciprocal": 1,
    "absolute": 1, "fabs": 1, "sqrt": 1, "copysign": 2, "floor": 1, "ceil": 1, "trunc": 1, "rint": 1, "sign": 1,
    "heaviside": 2, "maximum": 2, "minimum": 2, "fmax": 2, "fmin": 2, "equal": 2, "not_equal": 2, "less": 2,
    "less_equal": 2, "greater": 2, "greater_equal": 2, "isnan": 1, "isinf": 1, "isfinite": 1, "signbit": 1,
    "logical_and": 2, "logical_or": 2, "logical_xor": 2, "logical_not": 1, "bitwise_and": 2, "bitwise_or": 2,
    "bitwise_xor": 2, "invert": 1, "left_shift": 2, "right_shift": 2, "bitwise_count": 1, "floor_divide": 2,
    "remainder": 2, "fmod": 2, "deg2rad": 1, "rad2deg": 1, "nextafter": 2, "spacing": 1, "square": 1, "real": 1,
    "imag": 1, "stop_gradient": 1, "where": 3, "clip": 3, "fraction": 1, "exponent": 1,
}  # fmt: skip
"""Primitives whose result is fixed to the last bit, with their number of arguments."""


def pools(name, dtype, arity):
    """Every combination of hard values; the condition of `where` is a truth value."""
    values = special_values(dtype)
    if name == "clip":
        values = values[:: max(1, values.size // 25)] if dtype.kind != "f" else values
    if name == "where":
        return crossed(np.array([True, False]), values, values)
    return crossed(*[values] * arity)


def operands(name, dtype, arity):
    """The types of the operands: all alike, but the condition of `where`."""
    return [BOOL, dtype, dtype] if name == "where" else [dtype] * arity


NATIVE = [
    (name, dtype)
    for name, arity in EXACT.items()
    for dtype in DTYPES
    if SCALARS[name].loop(operands(name, dtype, arity))
]
"""What has machine code; `test_what_is_left_to_numpy` holds the rest."""


@pytest.mark.parametrize(("name", "dtype"), NATIVE, ids=str)
def test_exact(name, dtype):
    """The same bits as NumPy's, for every combination of hard values."""
    dtypes = operands(name, dtype, EXACT[name])
    columns = pools(name, dtype, EXACT[name])
    wanted = np.asarray(CATALOGUE[name](*columns))
    found = loop_of(name, dtypes)(*columns)
    assert not first_difference(found, wanted, *columns)


def test_what_is_left_to_numpy():
    """The types without a loop are those NumPy refuses too, or half precision, or two of different signs."""
    gone = {name: [str(d) for d in DTYPES if SCALARS[name].loop([d] * EXACT[name]) is None] for name in EXACT}
    short = ["bool", "int8", "uint8"]
    whole = [str(d) for d in INTEGERS]
    assert set(gone["sqrt"]) == set(short)
    assert set(gone["divide"]) == set()
    assert gone["add"] == gone["maximum"] == gone["equal"] == []
    assert set(gone["bitwise_and"]) == {"float32", "float64"}
    assert not set(gone["floor_divide"]) & set(whole)


@pytest.mark.parametrize("to", DTYPES, ids=NAMES)
@pytest.mark.parametrize("start", DTYPES, ids=NAMES)
def test_cast(start, to):
    """Also of nan, infinities and numbers out of range: as NumPy converts one number at a time."""
    values = special_values(start)
    if start.kind == "f":
        powers = 2.0 ** np.arange(5, 66)
        near = [powers, powers - 1, powers + 1, powers + 0.5, powers - 0.5, np.nextafter(powers, 0)]
        near = np.concatenate(near).astype(start)
        values = np.concatenate([values, near, -near])
    loop = Loop(lambda e, args: cast(e, args[0], start, to), [start], to)
    wanted = np.array([v.astype(to) for v in values])
    assert not first_difference(loop(values), wanted, values)


def test_astype_takes_its_dtype_as_parameter():
    """A cast to a shorter type wraps as NumPy's does."""
    loop = loop_of("astype", [np.dtype(np.float64)], dtype=np.dtype(np.int16))
    np.testing.assert_array_equal(loop(np.array([1.9, -1.9, 70000.0])), np.array([1, -1, 4464], np.int16))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_clip_with_numbers_as_bounds(dtype):
    """Zeros keep their sign at a bound of the other sign, unlike with arrays as bounds."""
    x = special_values(dtype)
    for low, high in ((0.0, 1.0), (-1.0, -0.0), (-0.0, 0.0), (2.0, 1.0), (np.nan, 1.0), (0.0, np.nan), (-1.5, np.inf)):
        loop = loop_of("clip", [dtype, float, float], literals={1: low, 2: high})
        assert not first_difference(loop(x), np.clip(x, low, high), x)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_ldexp(dtype):
    """Also for exponents that over- and underflow, or that need 64 bits."""
    x, n = crossed(special_values(dtype), np.array([0, 1, -1, 5, 200, -200, 1100, -1100, 10**6, 2**40, -(2**40)]))
    wanted = np.ldexp(x, n)
    assert not first_difference(loop_of("ldexp", [dtype, np.dtype(np.int64)])(x, n), wanted, x, n)


@pytest.mark.parametrize(
    ("dtype", "exponent"),
    [(d, e) for d in [*INTEGERS, *FLOATS] for e in (0, 1, 2, 0.5, -1) if d.kind == "f" or e in (0, 1, 2)],
    ids=str,
)
def test_short_cuts_of_powers_are_numpys(dtype, exponent):
    """Where the result is of the type of the base."""
    x = special_values(dtype)
    loop = loop_of("power", [dtype, type(exponent)], literals={1: exponent})
    assert not first_difference(loop(x), x**exponent, x)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integer_powers(dtype):
    """They wrap as NumPy's do; negative exponents are left to NumPy, which raises."""
    x = special_values(dtype)
    for exponent in (0, 1, 2, 3, 5, 10, 13, 64, 127):
        loop = loop_of("power", [dtype, int], literals={1: exponent})
        assert not first_difference(loop(x), x ** dtype.type(exponent), x)
    if dtype.kind == "u":
        columns = crossed(x, x)
        assert not first_difference(loop_of("power", [dtype, dtype])(*columns), np.power(*columns), *columns)
    else:
        assert SCALARS["power"].loop([dtype, dtype]) is None, "NumPy raises for negative exponents"
        assert SCALARS["power"].loop([dtype, int], [None, -1]) is None


def test_types_that_do_not_fit_are_left_to_numpy():
    """Half precision, complex numbers, objects, and comparisons of two kinds of integers."""
    add, less = SCALARS["add"], SCALARS["less"]
    for dtype in (np.float16, np.longdouble, np.complex128, np.object_, "M8[s]", "U3"):
        assert add.loop([np.dtype(dtype), np.dtype(dtype)]) is None
    assert less.loop([np.dtype(np.int64), np.dtype(np.uint64)]) is None
    assert SCALARS["sin"].loop([np.dtype(np.int8)]) is None


@pytest.mark.parametrize("name", sorted(SCALARS.keys() - {"astype", "ldexp"}))
def test_loop_types_are_numpys(name):
    """The result has the type the primitive itself gives; Python numbers take the array's type.

    Casts have a parameter and `ldexp` takes two kinds: they are tested above.
    """
    scalar = SCALARS[name]
    primitive = CATALOGUE[name]
    arity = EXACT.get(name) or (2 if scalar.loop(FLOATS) else 1)
    for dtype in DTYPES:
        one = np.ones(3, dtype)
        dtypes = operands(name, dtype, arity)
        found = scalar.loop(dtypes, [None, 1])
        if found is not None:
            assert found.result == np.asarray(primitive(*[one] * arity)).dtype, dtype
        if arity == 2 and dtype.kind == "f":
            mixed = scalar.loop([dtype, float])
            assert (mixed is None) == (found is None)
            assert mixed is None or mixed.result == np.asarray(primitive(one, 1.0)).dtype


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    "name",
    [
        "add",
        "divide",
        "maximum",
        "clip",
        "where",
        "less",
        "sign",
        "floor",
        "exp",
        "log",
        "sin",
        "cos",
        "tanh",
        "logistic",
    ],
)
def test_loops_are_vectorised(name, dtype):
    """LLVM's optimised code works on vectors."""
    if name in ("where", "clip"):
        dtypes = [BOOL if name == "where" else dtype, dtype, dtype]
    else:
        dtypes = [dtype] * getattr(getattr(np, name, None), "nin", 1)
    text = optimised(loop_of(name, dtypes).text)
    assert f" x {'double' if dtype.itemsize == 8 else 'float'}>" in text


def test_one_element_at_a_time_gives_the_same_for_exact_operations():
    """The last elements, which fill no vector, are done by other instructions."""
    for dtype in FLOATS:
        x = special_values(dtype)
        for name in ("sqrt", "rint", "sign", "reciprocal", "fraction"):
            loop = loop_of(name, [dtype])
            singly = np.concatenate([loop(x[k : k + 1]) for k in range(x.size)])
            assert same_bits(loop(x), singly).all(), name
