"""Operands of other packages, conversions and texts: right, or refused by the name of what was met."""

# ruff: noqa: UP031, UP032  (texts made with the old formats are what is tested)

import io
import logging
import warnings
from fractions import Fraction

import numpy as np
import pytest
import sympy
from scipy import sparse, stats

import adjoint as ad
from adjoint import errors

pandas = pytest.importorskip("pandas")

SERIES = pandas.Series([1.0, 2.0, 3.0])
TABLE = pandas.DataFrame({"t": [0.1, 0.2, 0.3], "c": [4.0, 5.0, 6.0]})
INDEX = pandas.Index([1.0, 2.0, 3.0])
VECTOR = np.array([1.0, 2.0, 3.0])
DATED = TABLE.set_index(pandas.date_range("2020-01-01", periods=3))

TABLES = {
    "x * series": lambda x: np.sum(x * SERIES),
    "series * x": lambda x: np.sum(SERIES * x),
    "x - series": lambda x: np.sum((x - SERIES) ** 2),
    "series - x": lambda x: np.sum((SERIES - x) ** 2),
    "series ** x": lambda x: np.sum(SERIES**x),
    "x ** series": lambda x: np.sum(x**SERIES),
    "series / x": lambda x: np.sum(SERIES / x),
    "model": lambda x: np.sum((TABLE["c"] - np.exp(x * TABLE["t"])) ** 2),
    "dated": lambda x: np.sum((DATED["c"] - np.exp(x * DATED["t"])) ** 2),
    "exp(series) * x": lambda x: np.sum(np.exp(SERIES) * x),
    "np.multiply": lambda x: np.sum(np.multiply(SERIES, x) + np.multiply(x, SERIES)),
    "np.maximum": lambda x: np.sum(np.maximum(SERIES, x)),
    "mean of series * x": lambda x: (SERIES * x).mean(),
    "rows": lambda x: np.sum(TABLE.loc[TABLE.t > 0.15, "c"] * x),
    "comparison": lambda x: x * np.sum(x > SERIES) + x * np.sum(x <= SERIES),
    "where": lambda x: np.sum(np.where(SERIES > 1.5, x * SERIES, 0.0)),
    "index": lambda x: np.sum(INDEX * x) + np.sum(x * INDEX),
    "table": lambda x: np.sum(TABLE * x) + np.sum(x * TABLE),
    "array @ table": lambda x: np.sum((x * VECTOR) @ TABLE),
    "table @ array": lambda x: np.sum((TABLE @ (x * VECTOR[:2])) ** 2) + TABLE.dot(x * VECTOR[:2]).mean(),
    "series @ array": lambda x: SERIES @ (x * VECTOR) + TABLE.mean() @ (x * VECTOR[:2]),
    "spread of series * x": lambda x: (SERIES * x).std(ddof=1) + np.std(SERIES * x) + (x * SERIES).var(ddof=0),
    "spread by SciPy's code": lambda x: np.sum(stats.zscore(SERIES * x + VECTOR**2)),
    "columns of a table": lambda x: np.sum((TABLE * x).max(axis=0) ** 2),
    "array * series": lambda x: np.sum((x * VECTOR) * SERIES) + np.sum(SERIES * (x * VECTOR)),
    "row of a table": lambda x: TABLE["c"].iloc[0] * x + TABLE["c"].mean() * x,
    "masked by a series": lambda x: np.sum((x * VECTOR)[SERIES > 1.5]),
    "fraction": lambda x: x * Fraction(1, 2) + Fraction(1, 3) - x / Fraction(2, 3),
    "a series of them": lambda x: pandas.Series(x * VECTOR).sum() + pandas.Series(x * VECTOR).mean() * x,
    "a column of them": lambda x: TABLE.assign(d=x * VECTOR)["d"].sum(),
    "array @ sparse": lambda x: np.sum((x * VECTOR) @ sparse.csr_array(np.eye(3))),
    "sparse @ array": lambda x: np.sum(sparse.csr_array(np.eye(3)) @ (x * VECTOR)),
    "sparse.dot": lambda x: np.sum(sparse.csr_array(np.eye(3)).dot(x * VECTOR)),
    "numbers of a sparse matrix": lambda x: np.sum((sparse.csr_array(np.eye(3)) * x).data ** 2),
    "np.float64": lambda x: np.float64(x) ** 2,
    "sympy's number": lambda x: x * sympy.Rational(1, 2) + x ** sympy.Integer(2),
}


@pytest.mark.parametrize("f", TABLES.values(), ids=TABLES.keys())
def test_numbers_of_other_packages(f):
    """Value and derivative are those of the plain function, in both modes and under jit."""
    x = 2.3
    slope = float((f(x + 1e-6) - f(x - 1e-6)) / 2e-6) if f is not TABLES["table"] else None
    value, found = ad.value_and_grad(f)(x)
    want = f(x)
    if slope is None:  # pandas sums a table by columns
        want, slope = np.sum(np.asarray(want)), float(np.sum(np.asarray(f(x + 0.5) - f(x - 0.5))))
    assert value == pytest.approx(float(want), rel=1e-12)
    assert found == pytest.approx(slope, rel=1e-5, abs=1e-6)
    assert ad.jvp(f, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_labels_that_differ_are_refused():
    """pandas would align them: by position the sum would be another one."""
    turned = SERIES[::-1]
    with pytest.raises(errors.UnsupportedError, match="different labels"):
        ad.grad(lambda x: np.sum(x * SERIES - turned))(2.0)
    assert ad.grad(lambda x: np.sum(x * SERIES - turned.to_numpy()))(2.0) == 6.0
    assert ad.grad(lambda x: np.sum(x * turned))(2.0) == 6.0


MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
MATRIX = np.array([[1.0, 2.0, 3.0]]).view(np.matrix)
SPARSE = sparse.csr_array(np.eye(3))

REFUSED = {
    "x * masked": (lambda x: np.sum(x * MASKED), "np.ma.MaskedArray"),
    "masked * x": (lambda x: np.sum(MASKED * x), "np.ma.MaskedArray"),
    "np.multiply of masked": (lambda x: np.sum(np.multiply(x, MASKED)), "np.ma.MaskedArray"),
    "x * matrix": (lambda x: np.sum(x * MATRIX), "np.matrix"),
    "matrix * x": (lambda x: np.sum(MATRIX * x), "np.matrix"),
    "np.dot of matrix": (lambda x: np.sum(np.dot(MATRIX, x)), "np.matrix"),
    "np.inner of matrix": (lambda x: np.sum(np.inner(MATRIX, x)), "np.matrix"),
    "a table of them": (lambda x: pandas.DataFrame({"a": x * VECTOR})["a"].sum(), "pandas cannot hold traced values"),
    "spread as pandas has it": (lambda x: (SERIES * x).std(), "divides by n - 1"),
    "variance as pandas has it": (lambda x: (x + SERIES).var(), "divides by n - 1"),
    "spread of a product": (lambda x: (TABLE @ (x * VECTOR[:2])).std(), "divides by n - 1"),
    "column by column": (lambda x: np.sum((TABLE * x).max()), "goes column by column"),
    "missing numbers": (lambda x: (pandas.Series([1.0, np.nan]) * x).sum(), "leaves out missing numbers"),
    "text in a table": (lambda x: x * pandas.Series(["a"]), "does not hold plain numbers"),
    "float": (lambda x: x.__float__(), "^x.__float__ cannot take"),
    "complex": (lambda x: x.__complex__(), "^x.__complex__ cannot take"),
    "np.int64": (lambda x: np.int64(x), "^np.int64 cannot take"),
    "text": (lambda x: x * "a", ""),
    "text first": (lambda x: "a" * x, ""),
    "nothing": (lambda x: x + None, ""),
}


@pytest.mark.parametrize(("f", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_refusals_name_what_was_met(f, text):
    """A TypeError at the user's line; never a wrong number, a recursion or another package's words."""
    for transform in (ad.grad, lambda f: lambda x: ad.jvp(f, (x,), (1.0,))):
        with pytest.raises(TypeError, match=text or None) as caught:
            transform(f)(2.5)
        if text:
            assert "test_foreign.py" in str(caught.value)


def test_a_plain_array_that_is_written_to():
    """The message names the array and the element."""
    buffer = np.empty(3)
    buffer = np.frombuffer(buffer.tobytes()).copy()

    def f(x, outside=buffer):
        outside[1] = x
        return x

    with pytest.raises(
        errors.DerivativeDroppedError, match=r"^outside\[1\] = \.\.\.  cannot store(.|\n)*Make  outside"
    ):
        ad.grad(f)(1.0)


TEXTS = {
    "%f": (lambda x: "%.3f" % x, "2.500"),
    "%s": (lambda x: "%s" % x, "2.5"),
    "%d": (lambda x: "%d" % x, "2"),
    "%g in a tuple": (lambda x: "%g and %s" % (x, "more"), "2.5 and more"),
    "%f in a dict": (lambda x: "%(loss).1e" % {"loss": x}, "2.5e+00"),
    "bytes": (lambda x: b"%.2f" % x, b"2.50"),
    "f-string": (lambda x: f"{x:.3f}", "2.500"),
    "f-string without a format": (lambda x: f"{x}", "2.5"),
    "format": (lambda x: "{:8.2f}|".format(x), "    2.50|"),
    "str": (lambda x: str(x), "2.5"),
    "repr": (lambda x: repr(x), "Traced(2.5)"),
    "positional": (lambda x: np.format_float_positional(x), "2.5"),
    "scientific": (lambda x: np.format_float_scientific(x), "2.5e+00"),
    "array": (lambda x: np.array2string(x * np.ones(2)), "[2.5 2.5]"),
}  # fmt: skip


@pytest.mark.parametrize(("write", "want"), TEXTS.values(), ids=TEXTS.keys())
def test_text_shows_the_value(write, want):
    """Texts are for people, and compute nothing."""
    seen = []
    f = lambda x: seen.append(write(x)) or x * x  # noqa: E731
    assert ad.grad(f)(2.5) == 5.0
    assert ad.jvp(f, (2.5,), (1.0,))[1] == 5.0
    assert ad.grad(ad.grad(f))(2.5) == 2.0
    assert set(seen) == {want}


def test_a_remainder_is_no_text():
    """The operator % of numbers still has its derivative, and a conversion beside a text is still refused."""
    assert ad.grad(lambda x: 7.5 % x)(2.0) == -3.0
    with pytest.raises(errors.DerivativeDroppedError, match=r"^x.__float__"):
        ad.grad(lambda x: "%s" % x.__float__())(2.0)


def test_logging():
    """`log.info("loss %.3f", x)` writes the value."""
    stream = io.StringIO()
    log = logging.getLogger("test_foreign")
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(logging.StreamHandler(stream))
    ad.grad(lambda x: log.info("loss %.3f of %s", x, "all") or x)(2.5)
    assert stream.getvalue() == "loss 2.500 of all\n"


def test_text_inside_vmap():
    """A format holds for every example of the batch; `%`, which makes one number, is refused."""
    seen = []
    ad.vmap(lambda x: seen.append(f"{x:.1f}") or x)(np.array([1.0, 2.0]))
    assert seen == ["[1.0 2.0]"]
    with pytest.raises(errors.BatchError, match="formatted with"):
        ad.vmap(lambda x: "%.1f" % x)(np.array([1.0, 2.0]))


def rooted(x):
    y = np.sqrt(x)  # the line
    return np.sum(y)


LINE = rooted.__code__.co_firstlineno + 1
TRANSFORMS = {
    "grad": lambda: ad.grad(rooted)(np.array([-1.0, 1.0])),
    "grad of a number": lambda: ad.grad(rooted)(-1.0),
    "jvp": lambda: ad.jvp(rooted, (np.array([-1.0, 1.0]),), (np.ones(2),)),
    "vmap": lambda: ad.vmap(rooted)(np.array([-1.0, 1.0])),
    "vjp": lambda: ad.vjp(rooted, np.array([-1.0, 1.0])),
    "hessian": lambda: ad.hessian(rooted)(np.array([-1.0, 1.0])),
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS.keys())
@pytest.mark.parametrize("before", ["nothing", "seterr and back"])
def test_warnings_are_at_the_users_line(transform, before):
    """`invalid value encountered in sqrt` is said of the line that takes the root."""
    if before == "seterr and back":
        np.seterr(**np.seterr(all="raise"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        transform()
    places = {(w.filename, w.lineno) for w in caught if "sqrt" in str(w.message)}
    assert places == {(__file__, LINE)}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        transform()
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        transform()


def test_warnings_as_errors():
    """A filter that makes errors of warnings does so inside a trace, and NumPy's settings are as before."""
    before = np.geterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="invalid value encountered in sqrt"):
            ad.grad(rooted)(np.array([-1.0]))
    assert np.geterr() == before


UNMASKED = np.ma.masked_array([1.0, 0.0, 3.0], mask=[False, False, False])
WITHOUT_MASK = {
    "difference": lambda x: np.sum((UNMASKED - x) ** 2),
    "reflected": lambda x: np.sum((x - UNMASKED) ** 2),
    "product": lambda x: np.dot(np.eye(3), x * UNMASKED).sum(),
    "quotient": lambda x: (UNMASKED / x).sum(),
    "function": lambda x: np.multiply(x, UNMASKED).sum(),
}


@pytest.mark.parametrize("f", WITHOUT_MASK.values(), ids=WITHOUT_MASK.keys())
def test_masked_arrays_in_which_nothing_is_masked(f):
    """They are their data; one recording is for all values."""
    jitted = ad.jit(ad.grad(f))
    for x in (np.array([0.5, 0.7, 2.0]), np.array([1.5, -0.7, 2.5])):
        np.testing.assert_allclose(ad.grad(f)(x), ad.numerical.grad(f)(x), rtol=1e-6)
        np.testing.assert_allclose(jitted(x), ad.numerical.grad(f)(x), rtol=1e-6)
    assert jitted.recordings == 1


def test_a_quotient_that_would_be_masked_is_refused():
    """NumPy masks what would be infinite."""
    for f in (lambda x: (x / UNMASKED).sum(), lambda x: (UNMASKED / (x - x)).sum()):
        for g in (ad.grad(f), ad.jit(ad.grad(f))):
            with pytest.raises(ad.errors.UnsupportedError, match="MaskedArray"):
                g(np.array([0.5, 0.7, 2.0]))
