"""Expressions of a function and its derivative: right here and elsewhere, shared, readable, and valid LaTeX."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.special as sc
import sympy

import adjoint as ad
from adjoint.core.errors import UnsupportedError
from adjoint.explanation.explain import explain
from adjoint.explanation.formula.symbols import exact, symbolic
from adjoint.explanation.formula.sympy_forms import form_of
from adjoint.ops.declare import CATALOGUE
from tests.cases.primitives import sample

VECTOR = np.array([0.7, -1.3, 0.4])
POSITIVE = np.array([0.7, 1.3, 0.4])
DATA = np.array([[1.0, 1.0, 1.5], [1.0, 1.5, -1.0]])


UNKNOWN = {"expint": sc.expn, "DiracDelta": lambda x: 0.0}
"""Functions that SymPy does not know how to evaluate; the impulse is met away from its place only."""


def symbols_of(function, *args, **options):
    """The expressions of a function, recorded at a point."""
    return symbolic(explain(function, **options)(*args)._seen("scalar", False, "reverse"))


def numbers(s, expressions, point):
    """The values of expressions at a point."""
    flat = np.concatenate([np.ravel(p) for p in point])
    with np.errstate(all="ignore"):
        found = sympy.lambdify(s.inputs, list(expressions), modules=[UNKNOWN, "scipy", "numpy"])(*flat)
    return np.array([float(f) for f in found])


def with_shared(s, expression):
    """An expression without its shared parts."""
    for symbol, part in reversed(s.shared):
        expression = expression.subs(symbol, part)
    return expression


def logistic_loss(w):
    return np.sum((np.array([0.0, 1.0]) - sc.expit(DATA @ w)) ** 2)


def rooted(x):
    if x > 0:
        return np.sqrt(x) * np.log2(x)
    return x


FUNCTIONS = {
    "seed": (lambda x: np.sqrt(x**2 + np.exp(x**2)) + np.cos(x**2 + np.exp(x**2)), 1.3, 0.6),
    "shared sine": (lambda x: 2.0 * np.sin(x) + 3.0 * x * np.sin(x), 1.3, 0.6),
    "branch": (rooted, 2.0, 3.0),
    "logistic loss": (logistic_loss, np.array([-1.0, 1.5, 0.5]), VECTOR),
    "power": (lambda x: x**2.5 + 2.0**x, 1.3, 0.7),
    "where": (lambda x: np.sum(np.where(x > 0.5, x**2, np.abs(x))), VECTOR, -VECTOR),
    "relu": (lambda x: np.sum(np.maximum(x, 0) * x), VECTOR, -VECTOR),
    "product": (lambda x: np.prod(x), VECTOR, VECTOR * 2),
    "largest": (lambda x: np.max(x) * x[0], VECTOR, VECTOR * 1.1),
    "norm": (lambda x: np.linalg.norm(x), VECTOR, -VECTOR),
    "hyperbolic": (lambda x: np.tanh(x) + np.arctanh(x / 4) * np.arcsinh(x), 0.7, 1.1),
    "angles": (lambda x: np.arctan2(x, 2.0) + np.arcsin(x) * np.arccos(x) + np.deg2rad(x), 0.3, 0.6),
    "logarithms": (lambda x: np.log10(x) + np.log1p(x) * np.logaddexp(x, 1.0) + np.expm1(x), 0.7, 1.1),
    "roots": (lambda x: np.cbrt(x) + np.hypot(x, 2.0) + 1 / x, 0.7, 1.1),
    "errors": (lambda x: np.sum(sc.erf(x) + sc.erfc(x) * sc.ndtr(x)), VECTOR, -VECTOR),
    "gamma": (lambda x: np.sum(sc.gamma(x) + sc.gammaln(x)), POSITIVE, POSITIVE * 1.1),
    "bessel": (lambda x: sc.j0(x) + sc.j1(x) * sc.iv(2, x), 0.7, 1.1),
    "entropy": (lambda x: np.sum(sc.xlogy(x, x) + sc.entr(x)), POSITIVE, POSITIVE * 1.1),
    "integrals": (lambda x: sc.exp1(x) + sc.expi(x), 0.7, 1.1),
    "softmax": (lambda x: np.sum(np.exp(x) / np.sum(np.exp(x)) * DATA[0]), VECTOR, -VECTOR),
    "matrix": (lambda x: np.sum((DATA @ x) ** 2), VECTOR, -VECTOR),
    "clip": (lambda x: np.sum(np.clip(x, -0.5, 0.5) * x), VECTOR, -VECTOR),
    "second derivative": (ad.grad(lambda x: np.exp(np.sin(x))), 0.7, 1.1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_expressions_give_the_same_numbers(name):
    """Value and gradient agree with the library's at the recorded point and at another one of the same branch."""
    function, point, other = FUNCTIONS[name]
    s = symbols_of(function, point)
    for x in (point, other):
        value, gradient = ad.value_and_grad(function)(x)
        np.testing.assert_allclose(numbers(s, [s.value], [x])[0], value, rtol=1e-11)
        np.testing.assert_allclose(numbers(s, s.gradient.values(), [x]), np.ravel(gradient), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in ("where", "clip", "largest")])
def test_the_derivative_is_that_of_sympy(name):
    """What the reverse trace gives is what SymPy gets by differentiating the value."""
    function, point, other = FUNCTIONS[name]
    s = symbols_of(function, point)
    wanted = [sympy.diff(s.value, x) for x in s.inputs]
    for x in (point, other):
        found = numbers(s, s.gradient.values(), [x])
        np.testing.assert_allclose(found, numbers(s, wanted, [x]), rtol=1e-10, atol=1e-13)


def test_the_derivative_is_equal_in_symbols():
    """For a polynomial of sines not only the numbers, but the expressions are the same."""
    s = symbols_of(lambda x, a, b: a * np.sin(x) + b * x * np.sin(x), 1.3, 2.0, 3.0)
    assert [str(x) for x in s.inputs] == ["x", "a", "b"]
    for x, slope in s.gradient.items():
        assert sympy.simplify(slope - sympy.diff(s.value, x)) == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_shared_parts_put_back_give_the_whole(name):
    """The equations with shared parts say the same as the expressions."""
    function, point, _ = FUNCTIONS[name]
    s = symbols_of(function, point)
    whole = [with_shared(s, e) for e in (*s._values, *s._slopes)]
    np.testing.assert_allclose(
        numbers(s, whole, [point]), numbers(s, [s.value, *s.gradient.values()], [point]), rtol=1e-11
    )


def test_what_is_shared_is_computed_once():
    """The sine of a sin x + b x sin x stands in one equation only."""
    s = symbols_of(lambda x, a, b: a * np.sin(x) + b * x * np.sin(x), 1.3, 2.0, 3.0)
    assert (
        repr(s)
        == """\
s1 = sin(x)
s2 = b*s1
s3 = cos(x)
f = a*s1 + s2*x
df/dx = a*s3 + b*s3*x + s2
df/da = s1
df/db = s1*x"""
    )


def sampled(primitive, count=3):
    """Points in the domain of a primitive."""
    random = np.random.default_rng(3)
    return [[np.asarray(sample(interval, random, ())).item() for interval in primitive.domain] for _ in range(count)]


def is_of_numbers(name):
    """Whether a primitive takes any numbers of its domain, and not bits or several axes."""
    whole = ("ldexp", "invert", "bitwise_and", "bitwise_or", "bitwise_xor")
    return CATALOGUE[name].domain is not None and name not in whole


FORMS = {name: form_of(p) for name, p in CATALOGUE.items() if form_of(p) is not None}


@pytest.mark.parametrize("name", [n for n in FORMS if is_of_numbers(n)])
def test_every_form_is_right(name):
    """SymPy's function of a primitive has the values of the primitive."""
    primitive = CATALOGUE[name]
    for args in sampled(primitive):
        wanted = primitive.evaluate(*[np.asarray(a)[()] for a in args])
        found = FORMS[name](*[sympy.Integer(a) if isinstance(a, int) else sympy.Float(a, 30) for a in args])
        found, wanted = (x if isinstance(x, tuple) else (x,) for x in (found, wanted))
        for f, w in zip(found, wanted, strict=True):
            is_condition = f in (sympy.true, sympy.false)
            np.testing.assert_allclose(bool(f) if is_condition else complex(f.evalf()), w, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["sinc_derivative", "i0_derivative"])
@pytest.mark.parametrize("order", [0, 1, 3])
def test_derivatives_of_an_order_are_right(name, order):
    """Primitives whose parameter is the order of a derivative have that derivative as their form."""
    found = FORMS[name](sympy.Float(0.7, 30), order)
    np.testing.assert_allclose(float(found.evalf()), CATALOGUE[name](np.array(0.7), order=order), rtol=1e-11)


def test_how_much_of_the_catalogue_has_a_form():
    """About half of the catalogue; the rest are arrays' and what SymPy does not have."""
    assert len(FORMS) >= 185


def test_conditions_are_told():
    """A branch on a value is part of what the expressions say."""
    assert repr(symbols_of(rooted, 2.0)).endswith("holds while x > 0")
    assert repr(symbols_of(rooted, -2.0)).endswith("holds while x <= 0")


def test_the_names_of_elements():
    """Elements of arrays and of containers are called as they are reached."""
    s = symbols_of(lambda p: p["w"][0] * p["w"][1] + p["b"], {"b": 1.0, "w": np.array([2.0, 3.0])})
    assert [str(x) for x in s.inputs] == ["p_b", "p_w_0", "p_w_1"]
    assert str(s.value) == "p_b + p_w_0*p_w_1"


def test_constants_are_exact_where_they_are():
    """Whole numbers, simple fractions, decimals and known constants are exact; others stay as they are."""
    assert exact(3.0) == sympy.Integer(3)
    assert exact(-1.5) == sympy.Rational(-3, 2)
    assert exact(0.1) == sympy.Rational(1, 10)
    assert exact(np.float64(np.pi)) == sympy.pi
    assert exact(-1 / np.log(2.0)) == -1 / sympy.log(2)
    assert exact(np.inf) == sympy.oo
    odd = exact(0.123456789012345)
    assert odd.is_Float
    assert float(odd) == 0.123456789012345


def test_at_a_vertex_the_expressions_are_the_usual_ones():
    """The norm at 0 has the expressions of the norm, without the bookkeeping of zeros."""
    s = symbols_of(lambda x: np.linalg.norm(x), np.zeros(2))
    np.testing.assert_allclose(numbers(s, s.gradient.values(), [np.array([3.0, 4.0])]), [0.6, 0.8])


def test_several_results():
    """Of several results there is a list of values, and the gradient is that of their weighted sum."""
    s = symbols_of(lambda x: np.array([x[0] * x[1], x[0] ** 2]), np.array([2.0, 3.0]), cotangent=np.array([1.0, 10.0]))
    assert [str(v) for v in s.value] == ["x_0*x_1", "x_0**2"]
    assert [str(g) for g in s.gradient.values()] == ["20*x_0 + x_1", "x_0"]
    assert "f_1 = " in repr(s)


def test_a_function_without_a_form_is_refused():
    """The error names the function and the line where it stands."""
    with pytest.raises(UnsupportedError, match=r"(?s)owens_t has no form in SymPy\..*test_symbols\.py:\d+:  .*owens_t"):
        symbols_of(lambda x: sc.owens_t(x, 0.5), 1.0)


def test_complex_arguments_are_refused():
    """The symbols are real, so a function of complex numbers would be another one."""
    with pytest.raises(UnsupportedError, match=r"(?s)functions of real numbers\..*two arguments"):
        symbols_of(lambda z: np.abs(z), 1.0 + 2.0j)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_latex_is_balanced(name):
    """Brackets, environments and sizes open and close, and every equation is aligned once."""
    function, point, _ = FUNCTIONS[name]
    s = symbols_of(function, point)
    text = s.latex()
    depth = 0
    for c in re.sub(r"\\[{}]", "", text):
        depth += {"{": 1, "}": -1}.get(c, 0)
        assert depth >= 0
    assert depth == 0
    assert len(re.findall(r"\\left\W", text)) == len(re.findall(r"\\right\W", text))
    assert re.findall(r"\\begin\{(\w+)\}", text).count("cases") == re.findall(r"\\end\{(\w+)\}", text).count("cases")
    lines = text.splitlines()
    assert (lines[0], lines[-1]) == (r"\begin{aligned}", r"\end{aligned}")
    assert len(lines) - 2 == len(s.shared) + 1 + len(s.inputs) + len(s.conditions)
    inner = r"\\begin\{cases\}(?:(?!\\begin\{cases\}).)*?\\end\{cases\}"
    for line in lines[1:-1]:
        while re.search(inner, line):
            line = re.sub(inner, "", line)
        assert line.count("&") == 1
    assert s._repr_latex_() == f"$\\displaystyle {text}$"


@pytest.mark.parametrize("name", ["seed", "shared sine", "branch", "logistic loss", "gamma", "bessel", "roots"])
def test_latex_can_be_set(name):
    """A typesetter takes both sides of every equation."""
    mathtext = pytest.importorskip("matplotlib.mathtext")
    function, point, _ = FUNCTIONS[name]
    lines = symbols_of(function, point).latex().splitlines()[1:-1]
    for line in lines:
        for side in line.removesuffix(r" \\").split("&"):
            width = mathtext.MathTextParser("path").parse(f"${side.lstrip('=').strip() or 'x'}$").width
            assert width > 0


def test_latex_of_the_partial_derivatives():
    """The left sides are the function, and its partial derivatives by the user's variables."""
    text = symbols_of(logistic_loss, VECTOR).latex()
    assert r"\frac{\partial \mathrm{logistic\_loss}}{\partial w_{2}} &=" in text


def test_without_sympy(monkeypatch):
    """Where SymPy is missing, the error says how to get it."""
    explanation = explain(lambda x: x**2)(1.0)
    view = explanation._seen("scalar", False, "reverse")
    monkeypatch.setitem(__import__("sys").modules, "sympy", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'adjoint\[viz\]'"):
        symbolic(view)
