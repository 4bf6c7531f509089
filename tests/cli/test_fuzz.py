"""Random expressions have the value Python gives them and the gradient differences give; random texts are refused."""

from __future__ import annotations

import math
import string

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import adjoint as ad
from adjoint.cli.arguments import parse_argument
from adjoint.cli.errors import CommandError
from adjoint.cli.evaluation import evaluate, function_of
from adjoint.cli.expression import parse

SMOOTH = ["sin", "cos", "tanh", "arctan", "exp", "sqrt", "log", "square", "arcsinh"]
NAMES = {name: getattr(np, name) for name in [*SMOOTH, "hypot", "maximum", "where", "pi", "e"]}

leaves = st.one_of(
    st.sampled_from(["x", "y", "pi", "e"]),
    st.integers(0, 9).map(str),
    st.floats(0.1, 9).map(lambda number: f"{number:.3g}"),
)


def compositions(parts):
    pair = st.tuples(parts, parts)
    return st.one_of(
        st.tuples(parts, st.sampled_from(["+", "-", "*", "/"]), parts).map(lambda t: f"{t[0]} {t[1]} {t[2]}"),
        parts.map(lambda part: f"({part})"),
        parts.map(lambda part: f"-{part}"),
        parts.map(lambda part: f"({part})**2"),
        st.tuples(st.sampled_from(SMOOTH), parts).map(lambda t: f"{t[0]}({t[1]})"),
        pair.map(lambda t: f"hypot({t[0]}, {t[1]})"),
        pair.map(lambda t: f"where({t[0]} < {t[1]}, {t[0]}, 2*{t[1]})"),
        pair.map(lambda t: f"maximum({t[0]},{t[1]})"),
    )


expressions = st.recursive(leaves, compositions, max_leaves=12)


@settings(max_examples=300, deadline=None)
@given(expressions, st.floats(0.2, 2), st.floats(0.2, 2))
def test_values_are_pythons(text, x, y):
    """The value equals that of Python's own evaluation of the same text with NumPy's functions."""
    variables = {"x": np.float64(x), "y": np.float64(y)}
    found = evaluate(parse(text, ["x", "y"]), variables)
    with np.errstate(all="ignore"):
        try:
            expected = eval(text, {"__builtins__": {}, **NAMES}, variables)  # of a text that this test has made
        except ZeroDivisionError:  # Python's own numbers, as in 1 / 0
            assume(False)
    np.testing.assert_allclose(float(found), float(expected), rtol=1e-12)


@settings(max_examples=150, deadline=None)
@given(expressions, st.floats(0.2, 2), st.floats(0.2, 2))
def test_gradients_are_those_of_differences(text, x, y):
    """The gradient agrees with central differences wherever these settle."""
    f = function_of(parse(text, ["x", "y"]), ["x", "y"])
    value = float(f(x, y))
    assume(math.isfinite(value) and abs(value) < 1e3)
    estimates = []
    for step in (1e-4, 5e-5):
        slopes = [(f(x + step, y) - f(x - step, y)) / (2 * step), (f(x, y + step) - f(x, y - step)) / (2 * step)]
        sides = [(f(x + step, y) - value) / step, (f(x, y + step) - value) / step]
        estimates.append((slopes, sides))
    (coarse, one_sided), (fine, _) = estimates
    # a kink, or a slope that still changes, is no place to compare at
    assume(np.allclose(coarse, fine, rtol=1e-5, atol=1e-6) and np.allclose(coarse, one_sided, rtol=1e-2, atol=1e-2))
    found = ad.grad(f, argnums=(0, 1))(x, y)
    np.testing.assert_allclose(found, fine, rtol=1e-4, atol=1e-4)


def check_refusal(read, text):
    """Whatever is raised is the command's own error, and its caret stands below a character of the text."""
    found: CommandError | None = None
    try:
        read(text)
    except CommandError as error:
        found = error
    if found is None or not found.text:
        return
    assert found.text.split() == text.split()
    assert 0 <= found.column < len(found.text)
    if found.text.isascii() and found.text.isprintable():
        line, caret = str(found).splitlines()[1:3]
        assert line[caret.index("^")] == found.text[found.column]


pieces = st.sampled_from(
    [*"xyzwe0123456789.+-*/%@()[],<>=!:^&|~_ '\"$#\\;`{}é日²", "**", "//", "sin(", "where(", "sum(", "axis=", " if ",
     " else ", " for ", " in ", "lambda ", ":=", "==", "not ", " and ", "None", "1e5", "0x", "1j", "np.", "x",
     "(x)"]
)  # fmt: skip


@settings(max_examples=1500, deadline=None)
@given(st.lists(pieces, max_size=14).map("".join))
def test_pieces_of_syntax(text):
    """Whatever pieces of Python are put together, the text is an expression or an error at one of its characters."""
    check_refusal(lambda text: parse(text, ["x", "y"]), text)


@settings(max_examples=500, deadline=None)
@given(st.text(max_size=30))
def test_any_text(text):
    """Any text of any characters is an expression or an error at one of its characters."""
    check_refusal(lambda text: parse(text, ["x"]), text)


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet=string.ascii_letters + string.digits + "=,.[]()-+*:' int", max_size=20))
def test_any_argument(text):
    """The same for name=value."""
    check_refusal(parse_argument, text)


@settings(max_examples=300, deadline=None)
@given(st.lists(pieces, max_size=10).map("".join), st.floats(-2, 2))
def test_what_is_accepted_can_be_evaluated(text, x):
    """An accepted expression has a value, or an error at one of its characters: nothing else is raised."""
    try:
        expression = parse(text, ["x"])
    except CommandError:
        return
    check_refusal(lambda _: evaluate(expression, {"x": x}), text)


@pytest.mark.parametrize("count", [1, 10, 100, 300])
def test_deep_nesting_of_every_kind(count):
    """Deep texts are computed or refused, never a crash."""
    for opening, closing in [("(", ")"), ("[", "]"), ("-", ""), ("sin(", ")"), ("x+", ""), ("x**", ""), ("x<", "")]:
        check_refusal(lambda text: evaluate(parse(text, ["x"]), {"x": 0.5}), opening * count + "x" + closing * count)
