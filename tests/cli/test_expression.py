"""Expressions: values and derivatives against closed forms, and one step for each distinct part."""

from __future__ import annotations

import ast
import builtins
import importlib.util
import inspect

import numpy as np
import pytest

import adjoint as ad
from adjoint.cli.evaluation import evaluate, first_not_finite, function_of
from adjoint.cli.expression import NumberStep, Operation, VariableStep, parse
from adjoint.cli.functions import ALIASES, CONSTANTS, FUNCTIONS, TRUTHS, sigmoid, table

X = 1.3
W = np.array([-1.0, 1.5, 0.5])
A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

SCALARS = [
    ("x", lambda x: x, lambda x: 1.0),
    ("x**2", lambda x: x**2, lambda x: 2 * x),
    ("-x**2", lambda x: -(x**2), lambda x: -2 * x),
    ("x**-1", lambda x: 1 / x, lambda x: -1 / x**2),
    ("2**x", lambda x: 2**x, lambda x: 2**x * np.log(2)),
    ("x ** 3 ** 2", lambda x: x**9, lambda x: 9 * x**8),
    ("+x - -x", lambda x: 2 * x, lambda x: 2.0),
    ("1/x", lambda x: 1 / x, lambda x: -1 / x**2),
    ("x % 1", lambda x: x % 1, lambda x: 1.0),
    ("pi*x + e", lambda x: np.pi * x + np.e, lambda x: np.pi),
    ("sin(x)*cos(x)", lambda x: np.sin(x) * np.cos(x), lambda x: np.cos(2 * x)),
    ("sigma(x)", lambda x: 1 / (1 + np.exp(-x)), lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2),
    ("ln(x)", np.log, lambda x: 1 / x),
    ("where(x > 1, x**2, -x)", lambda x: x**2, lambda x: 2 * x),
    ("where(0 < x < 1, x**2, -x)", lambda x: -x, lambda x: -1.0),
    ("where(1 < x <= 2, x**2, -x)", lambda x: x**2, lambda x: 2 * x),
    ("where(logical_and(x > 1, x != 2), x, 0)", lambda x: x, lambda x: 1.0),
    ("where(logical_not(x == 1), x, 0)", lambda x: x, lambda x: 1.0),
    ("(x > 1) * x", lambda x: x, lambda x: 1.0),
    ("maximum(x, 2)", lambda x: 2.0, lambda x: 0.0),
    ("clip(x, 0, 2)", lambda x: x, lambda x: 1.0),
    ("sum([x, x**2, 3])", lambda x: x + x**2 + 3, lambda x: 1 + 2 * x),
    ("[x, 2*x][-1]", lambda x: 2 * x, lambda x: 2.0),
    ("dot([1, 2], [x, x])", lambda x: 3 * x, lambda x: 3.0),
    ("sum([[x, 1], [2, x**2]] @ [1, 1])", lambda x: x + x**2 + 3, lambda x: 1 + 2 * x),
    ("1_000 * x + 0x10", lambda x: 1000 * x + 16, lambda x: 1000.0),
    ("  x\t*\n2 ", lambda x: 2 * x, lambda x: 2.0),
]


def gradient(text: str, **values):
    names = list(values)
    return ad.grad(function_of(parse(text, names), names), argnums=0)(*values.values())


@pytest.mark.parametrize(("text", "value", "slope"), SCALARS, ids=[row[0].strip() for row in SCALARS])
def test_of_a_number(text, value, slope):
    """Value and derivative are those of the closed form."""
    f = function_of(parse(text, ["x"]), ["x"])
    assert f(X) == pytest.approx(value(X), rel=1e-14)
    assert ad.grad(f)(X) == pytest.approx(slope(X), rel=1e-13, abs=1e-14)


ARRAYS = [
    ("sum(w**2)", lambda w: 2 * w),
    ("w[0] * w[-1]", lambda w: np.array([w[2], 0.0, w[0]])),
    ("sum(w[1:])", lambda w: np.array([0.0, 1.0, 1.0])),
    ("sum(w[::2])", lambda w: np.array([1.0, 0.0, 1.0])),
    ("sum(w[:-1]**2)", lambda w: np.array([2 * w[0], 2 * w[1], 0.0])),
    ("norm(w)", lambda w: w / np.linalg.norm(w)),
    ("sum(A @ w)", lambda w: A.sum(axis=0)),
    ("(A @ w)[1]", lambda w: A[1]),
    ("A[1, 2] * w[0]", lambda w: np.array([6.0, 0.0, 0.0])),
    ("sum(A[:, 0:2]) * w[0]", lambda w: np.array([12.0, 0.0, 0.0])),
    ("sum(sum(A, axis=0) * w)", lambda w: A.sum(axis=0)),
    ("max(sum(A * w, axis=-1))", lambda w: A[1] if A[1] @ w > A[0] @ w else A[0]),
]


@pytest.mark.parametrize(("text", "expected"), ARRAYS, ids=[row[0] for row in ARRAYS])
def test_of_an_array(text, expected):
    """Gradients with respect to an array are those of the closed form."""
    names = ["w", "A"]
    f = function_of(parse(text, names), names)
    np.testing.assert_allclose(ad.grad(f)(W, A), expected(W), rtol=1e-13)


POINTS = {"arccosh": 1.7, "logical_not": 1.0}


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in TRUTHS])
def test_every_function_of_the_table(name):
    """Every function has NumPy's value and a derivative that agrees with differences."""
    count = FUNCTIONS[name].arguments
    arguments = {1: "x", 2: "x, y", 3: "x, y, z"}[count]
    if FUNCTIONS[name].axis or name in ("dot", "matmul", "outer"):
        values = [np.array([0.3, 0.7, 0.2]), np.array([0.5, -0.4, 1.1])][:count]
    else:
        values = [POINTS.get(name, 0.4), 0.3, 0.9][:count]
    variables = arguments.split(", ")
    f = function_of(parse(f"sum({name}({arguments}))", variables), variables)
    reference = sigmoid if name == "sigmoid" else getattr(np.linalg if name == "norm" else np, name)
    np.testing.assert_allclose(f(*values), np.sum(reference(*values)), rtol=1e-14)
    places = tuple(range(1 if name == "where" else 0, count))  # a condition has no derivative
    for place, slope in zip(places, ad.grad(f, argnums=places)(*values), strict=True):
        flat = np.atleast_1d(np.asarray(values[place], dtype=float))
        for index in range(flat.size):
            step = np.zeros(flat.size)
            step[index] = 1e-6
            above, below = ((flat + sign * step).reshape(np.shape(values[place])) for sign in (1, -1))
            ends = [f(*values[:place], end[()], *values[place + 1 :]) for end in (above, below)]
            assert np.atleast_1d(slope)[index] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("alias", ALIASES)
def test_every_other_name(alias):
    """Another name is the same function."""
    arguments = ", ".join(["0.4"] * FUNCTIONS[ALIASES[alias]].arguments) if alias != "acosh" else "1.4"
    assert evaluate(parse(f"{alias}({arguments})"), {}) == evaluate(parse(f"{ALIASES[alias]}({arguments})"), {})


def test_the_table_of_the_help_names_everything():
    """No function or constant is left out of the help."""
    shown = " ".join(names for _, names in table())
    for name in [*FUNCTIONS, *CONSTANTS, *(alias for alias in ALIASES if alias.isascii())]:
        assert name in shown.replace("(", " ").replace(",", " ").replace("=", " ").split()


def test_worked_example_has_six_steps():
    """Equal parts are computed once: a = x², b = eᵃ, c = a + b, d = √c, e = cos c, f = d + e."""
    steps = parse("sqrt(x**2 + exp(x**2)) + cos(x**2 + exp(x**2))", ["x"]).steps
    assert [step.name for step in steps if isinstance(step, Operation)] == ["**", "exp", "+", "sqrt", "cos", "+"]
    assert gradient("sqrt(x**2 + exp(x**2)) + cos(x**2 + exp(x**2))", x=X) == pytest.approx(-9.144884967176182)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("x*y + x*y", 2),
        ("x*y + y*x", 3),
        ("w[0] + w[0]", 2),
        ("w[0] + w[1]", 3),
        ("w[0:1] + w[0]", 3),
        ("sum(w, axis=0) + sum(w)", 3),
        ("ln(x) + log(x)", 2),
        ("x**2 + x**2.0", 3),
        ("-x - -x", 2),
        ("(x < 1) + (x <= 1)", 3),
        ("[x] + [x]", 2),
    ],
)
def test_what_counts_as_equal(text, count):
    """Parts are one step if they are the same operation on the same parts."""
    assert sum(isinstance(step, Operation) for step in parse(text, ["x", "y", "w"]).steps) == count


def test_variables_in_order():
    """The variables are listed as they occur, without constants."""
    assert parse("b * pi + a * b", ["a", "b"]).variables == ["b", "a"]


def test_a_variable_may_have_a_constants_name():
    """A given variable comes before the constant of the same name."""
    assert evaluate(parse("e + 1", ["e"]), {"e": 2.0}) == 3.0
    assert evaluate(parse("e + 1"), {}) == np.e + 1


def test_greek():
    """Letters of other alphabets are names too."""
    assert gradient("σ(μ) * λ", μ=0.0, λ=2.0) == 0.5


def test_whole_numbers_stay_whole_up_to_where_floats_are_exact():
    """Exponents are shown as they are written; larger numbers are floats."""
    assert parse("2").steps == (NumberStep(2, 0),)
    assert type(parse(str(2**53)).steps[0].value) is int
    assert type(parse(str(2**53 + 1)).steps[0].value) is float
    assert parse("x", ["x"]).steps == (VariableStep("x", 0),)


@pytest.mark.parametrize("text", ["9**9**9**9", "n**n**n**n", "2**1024 * 1", "1/0", "power(9, 999)", "10.0**400"])
def test_numbers_do_not_hang_or_raise(text):
    """Huge powers and divisions by zero are infinite at once, as in NumPy."""
    assert evaluate(parse(text, ["n"]), {"n": 9}) == np.inf


def test_long_sums_are_no_problem():
    """A sum of a thousand terms is a deep tree, and is gone through without recursion."""
    f = function_of(parse("+".join(["x"] * 1000), ["x"]), ["x"])
    assert f(2.0) == 2000.0
    assert ad.grad(f)(2.0) == 1000.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("log(x - 2) + 1", "log is nan here\n  log(x - 2) + 1\n  ^"),
        ("2 + x / (x - x)", "/ is infinite here\n  2 + x / (x - x)\n        ^"),
        ("[x, log(-x)]", "log is nan here\n  [x, log(-x)]\n      ^"),
    ],
)
def test_where_a_result_stops_being_finite(text, expected):
    """The first step that is not finite though its operands are is pointed at."""
    assert str(first_not_finite(parse(text, ["x"]), {"x": X})) == expected


@pytest.mark.parametrize("text", ["x", "where(x > 2, log(x - 2), 0)", "x + inf"])
def test_nothing_to_say_about_finite_results(text):
    """A masked nan, a finite result and an infinity that was asked for need no note."""
    assert first_not_finite(parse(text, ["x"]), {"x": X}) is None


def test_the_function_has_the_variables_as_parameters():
    """The names are those of the command line, in its order."""
    f = function_of(parse("x - y", ["y", "x"]), ["y", "x"])
    assert list(inspect.signature(f).parameters) == ["y", "x"]
    assert f(1.0, 3.0) == 2.0


def test_sigmoid_without_scipy(monkeypatch):
    """Where SciPy is missing the logistic function is composed, and is as accurate."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert gradient("sigmoid(x)", x=0.7) == pytest.approx(np.exp(-0.7) / (1 + np.exp(-0.7)) ** 2, rel=1e-13)
    assert gradient("sigmoid(x)", x=-1000.0) == 0.0


def test_nothing_is_handed_to_python(monkeypatch):
    """Parsing and evaluating call neither eval nor exec, nor compile anything but a syntax tree."""
    real = builtins.compile

    def watched(source, filename, mode, flags=0, **kwargs):
        assert flags & ast.PyCF_ONLY_AST
        return real(source, filename, mode, flags, **kwargs)

    def refused(*_):
        raise AssertionError

    monkeypatch.setattr(builtins, "compile", watched)
    monkeypatch.setattr(builtins, "eval", refused)
    monkeypatch.setattr(builtins, "exec", refused)
    assert evaluate(parse("sin(x)**2 + [x][0]", ["x"]), {"x": 0.0}) == 0.0
