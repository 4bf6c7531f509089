"""How far results may be from NumPy's and from the true value: docs/precision.md says it, this measures it."""

import functools
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy")

from adjoint.ops import special as special_ops
from adjoint.ops.declare import CATALOGUE
from adjoint.ops.special.declare import COMPILED

from .loops import FLOATS, SCALARS, crossed, first_difference, loop_of, special_values

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
DOCUMENT = Path(__file__).parents[2] / "docs" / "precision.md"
WIDE = np.longdouble
LINES = 20_001

special_ops.load()


def documented():
    """The rows of the table: name, precision -> (ulp from NumPy, ulp from the true value)."""
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ([\d.]+|-) \| ([\d.]+|-) \|", DOCUMENT.read_text(), re.MULTILINE)
    return {(name, kind): tuple([None if v == "-" else float(v) for v in values]) for name, kind, *values in rows}


TABLE = documented()
CANCELLING = ("logaddexp", "logaddexp2")
"""Sums that may cancel, in NumPy too: their unit is that of the largest number in the sum."""
WANTED = {name: CATALOGUE[name].evaluate for name in {name for name, _ in TABLE}}
TRUE = {
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "expit": None,
    "sech_squared": lambda x: 1 / np.cosh(x) ** 2,
    "log_expit": lambda x: -np.logaddexp(0, -x),
    "erf": None, "erfc": None, "ndtr": None, "exprel": None, "logit": None,
    "xlogy": lambda x, y: np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y)),
    "xlog1py": lambda x, y: np.where((x == 0) & ~np.isnan(y), 0, x * np.log1p(y)),
    "entr": lambda x: np.where(x == 0, 0, np.where(x < 0, -np.inf, -x * np.log(x))),
}  # fmt: skip
"""The true value in wide precision where that is not the primitive's own formula; None where there is none."""


@functools.cache
def points(dtype):
    """Lines over the ordinary range, random bits, random sizes, special values, and what is hard for the function."""
    rng = np.random.default_rng(0)
    info = np.finfo(dtype)
    bits = rng.integers(0, 2 ** (8 * dtype.itemsize) - 1, LINES, dtype=f"u{dtype.itemsize}").view(dtype)
    lines = [np.linspace(-a, a, LINES) for a in (1.0, 5.0, 40.0, 120.0, 750.0)]
    sizes = 10.0 ** rng.uniform(-37, 37, LINES)
    quarters = np.concatenate([np.arange(-300, 300), 2.0 ** np.arange(60)]) * (np.pi / 2)
    binary = 2.0 ** np.arange(-149, 128)
    near_one = 1.0 + np.arange(-500, 500) * float(info.eps)
    edges = [709.78, 709.79, -708.39, -745.13, -745.14, 88.72, 88.73, -87.33, -103.97, -103.98, 1e22, 1e15, 2.0**30]
    values = [v.astype(dtype) for v in (*lines, sizes, -sizes, quarters, binary, -binary, near_one, np.array(edges))]
    centre = np.concatenate([special_values(dtype), *values])
    far, near = np.nextafter(centre, dtype.type(np.inf)), np.nextafter(centre, dtype.type(-np.inf))
    return np.concatenate([centre, far[: 4 * LINES], near[: 4 * LINES], far[-3000:], near[-3000:], bits])


@functools.cache
def pairs(dtype):
    """The same for two arguments."""
    rng = np.random.default_rng(1)
    x, y = crossed(special_values(dtype), special_values(dtype))
    count = 5 * LINES

    def random_bits():
        return rng.integers(0, 2 ** (8 * dtype.itemsize) - 1, count, dtype=f"u{dtype.itemsize}").view(dtype)

    columns = [
        (x, y),
        (random_bits(), random_bits()),
        (10.0 ** rng.uniform(-30, 30, count), 10.0 ** rng.uniform(-30, 30, count)),
        (rng.uniform(-5, 5, count), rng.uniform(-5, 5, count)),
        (rng.uniform(0, 20, count), rng.uniform(-20, 20, count)),
        (1.0 + rng.normal(size=count) * 1e-3, rng.normal(size=count) * 1e3),
    ]
    return [np.concatenate([np.asarray(c[k]).astype(dtype) for c in columns]) for k in (0, 1)]


def distance(found, wanted):
    """How many floats lie between; infinite where one is nan, or for zeros of different signs."""
    whole = np.dtype(f"i{found.dtype.itemsize}")
    a, b = found.view(whole), wanted.view(whole)
    lowest = np.iinfo(whole).min
    a, b = np.where(a < 0, lowest - a, a), np.where(b < 0, lowest - b, b)
    steps = np.where(b > a, b.astype(WIDE) - a.astype(WIDE), a.astype(WIDE) - b.astype(WIDE))
    signs = (found == 0) & (wanted == 0) & (np.signbit(found) != np.signbit(wanted))
    steps = np.where(signs | (np.isnan(found) != np.isnan(wanted)), np.inf, steps)
    return np.where(np.isnan(found) & np.isnan(wanted), 0, steps)


def error(found, true, largest=0.0):
    """The distance to the true value, in units of the last place of the float nearest to it."""
    nearest = true.astype(found.dtype)
    unit = np.spacing(np.maximum(np.abs(nearest), np.asarray(largest, found.dtype))).astype(WIDE)
    ordinary = np.isfinite(nearest) & np.isfinite(found)
    return np.where(ordinary, np.abs(found.astype(WIDE) - true) / np.where(ordinary, unit, 1), 0)


@functools.lru_cache(2)  # all lengths of vector after each other
def known(name, dtype):
    """The arguments, NumPy's results, and the true ones in wide precision, or None."""
    columns = [points(dtype)] if SCALARS[name].loop([dtype]) else pairs(dtype)
    true = TRUE.get(name, WANTED[name])
    return columns, WANTED[name](*columns), None if true is None else true(*[c.astype(WIDE) for c in columns])


def measured(name, dtype, width=None, straight=False):
    """The distances to NumPy's results and the errors, then the arguments, the results and NumPy's."""
    columns, wanted, wide = known(name, dtype)
    found = loop_of(name, [dtype] * len(columns), width=width, straight=straight)(*columns)
    steps = distance(found, wanted)
    if name in CANCELLING:
        largest = np.maximum(*[np.where(np.isfinite(c), np.abs(c), 0) for c in columns])
        ordinary = np.isfinite(found) & np.isfinite(wanted)
        steps = np.where(ordinary, error(found, wanted.astype(WIDE), largest), steps)
        return steps, error(found, wide, largest), columns, found, wanted
    return steps, None if wide is None else error(found, wide), columns, found, wanted


def widths(dtype):
    """One element at a time, and each length of vector that LLVM may choose."""
    return [1, *[bits // (8 * dtype.itemsize) for bits in (128, 256, 512)]]


def hold(name, dtype, width=None, straight=False):
    """Fail with the worst argument if a result is further off than documented."""
    steps, errors, columns, found, wanted = measured(name, dtype, width, straight)
    for bound, values in zip(TABLE[name, dtype.name], (steps, errors), strict=True):
        if bound is not None:
            k = int(np.argmax(values))
            at = [c[k] for c in columns]
            assert values[k] <= bound, f"{name}{at} = {found[k]!r}, NumPy {wanted[k]!r}: {values[k]} ulp, not {bound}"


ROWS = [(name, dtype) for name in sorted(WANTED) for dtype in FLOATS if (name, dtype.name) in TABLE]
IDS = [f"{name}-{dtype}" for name, dtype in ROWS]


@pytest.mark.parametrize(("name", "dtype"), ROWS, ids=IDS)
def test_within_the_documented_bound(name, dtype):
    """In the loop as LLVM makes it: vectors, and single elements at its end."""
    hold(name, dtype)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dtype"), ROWS, ids=IDS)
def test_within_the_documented_bound_for_every_length_of_vector(name, dtype):
    """The error in units of the last place is within that of the docs, also for elements that fill no vector."""
    for width in widths(dtype):
        hold(name, dtype, width)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ["exp", "expm1", "log", "tanh", "sech_squared", "logistic", "logaddexp", "xlogy"])
def test_called_instead_of_written_out(name, dtype):
    """As in long code without loops, and on processors without fused multiply-add."""
    for width in widths(dtype):
        hold(name, dtype, width, straight=True)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_powers_with_a_literal_exponent(dtype):
    """Done by multiplication where the exponent is a small integer."""
    bound = float(re.search(r"`x \*\* n`.* ([\d.]+) ulp", DOCUMENT.read_text()).group(1))
    x = points(dtype)
    for exponent in (*range(-5, 12), 0.25, 1.5, -0.5, 100):
        found = loop_of("power", [dtype, float], literals={1: float(exponent)})(x)
        steps = distance(found, x**exponent)
        k = int(np.argmax(steps))
        assert steps[k] <= bound, f"{x[k]!r} ** {exponent} = {found[k]!r}, NumPy {x[k] ** exponent!r}"


@pytest.mark.parametrize("base", [2.0, 10.0, 0.5, 8.0, 3.0, 1.0, 0.0, -2.0])
def test_powers_of_a_literal_base(base):
    """Powers of two among them: LLVM must not turn 8**x into exp2(3 x), which is hundreds of ulp off."""
    dtype = np.dtype(np.float64)
    x = points(dtype)
    loop = loop_of("power", [float, dtype], literals={0: base})
    assert distance(loop(x), base**x).max() <= 2


FUNCTIONS = {name: p.facts.ufunc.nin for name, p in CATALOGUE.items() if p.facts.kernel is COMPILED}
"""SciPy's functions that are called as they are, with their number of arguments."""


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_functions_are_scipys(name, dtype):
    """They are the same C functions, so the same to the last bit."""
    line = np.concatenate([special_values(dtype), np.linspace(-9, 9, 37).astype(dtype)])
    columns = [line] if FUNCTIONS[name] == 1 else crossed(line[::2], line[::2])
    found = loop_of(name, [dtype] * FUNCTIONS[name])(*columns)
    assert not first_difference(found, CATALOGUE[name].evaluate(*columns), *columns)


def test_every_inexact_primitive_is_documented():
    """What has machine code is either exact, and tested so, or has a row for both precisions."""
    from .test_scalars import EXACT

    others = {"astype", "ldexp", *FUNCTIONS}
    rows = {name for name, _ in TABLE}
    assert rows == set(SCALARS) - set(EXACT) - others
    assert {(name, d.name) for name in rows for d in FLOATS} - set(TABLE) == {("float_power", "float32")}
