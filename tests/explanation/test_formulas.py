"""The printed formulas are true: read back as text and computed again, they give the printed numbers."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

import adjoint as ad

FUNCTIONS = {
    name: getattr(np, name) for name in ("sin", "cos", "exp", "sqrt", "log", "tanh", "arctan", "log1p", "cosh", "sinh")
}
NAMES = {
    **FUNCTIONS,
    "sigma": expit,
    "sech2": lambda x: 1 / np.cosh(x) ** 2,
    "abs": np.abs,
    "sign": np.sign,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "where": np.where,
    "hypot": np.hypot,
}

leaves = st.sampled_from(["x", "y", "z", "1.5", "2", "0.3"])


def longer(inner):
    """Programs whose numbers stay near 1, so that 15 decimals are 15 digits."""
    pairs = st.tuples(inner, inner)
    return st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*"]), pairs).map(lambda t: f"({t[1][0]} {t[0]} {t[1][1]})"),
        pairs.map(lambda t: f"({t[0]} / (1.3 + np.cosh(np.sin({t[1]}))))"),
        inner.map(lambda e: f"np.cos({e})**2"),
        st.tuples(st.sampled_from(["sin", "cos", "tanh", "arctan"]), inner).map(lambda t: f"np.{t[0]}({t[1]})"),
        inner.map(lambda e: f"np.sqrt(1.1 + np.sin({e})**2)"),
        inner.map(lambda e: f"expit({e})"),
        pairs.map(lambda t: f"np.maximum({t[0]}, {t[1]})"),
        pairs.map(lambda t: f"np.where({t[0]} > 0.1, {t[0]}, {t[1]})"),
        pairs.map(lambda t: f"np.hypot(0.4 + abs({t[0]}), {t[1]})"),
    )


parts = longer(longer(st.recursive(leaves, longer, max_leaves=4)))
programs = st.lists(parts, min_size=2, max_size=4).map(" * ".join)
numbers = st.floats(0.2, 1.4).map(lambda x: round(x, 3))


def read(formula: str) -> str:
    """A printed formula as Python: `V`, `G`, `T` hold the values, adjoints and tangents by their numbers."""
    text = (
        unicodedata.normalize("NFD", formula)
        .replace("·", "*")
        .replace("^", "**")
        .replace("σ", "sigma")
        .replace("sech²", "sech2")
    )
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda m: "**" + "".join(str(unicodedata.digit(c)) for c in m[0]), text)
    for sign, place in (("∇v", "G"), ("v\N{COMBINING DOT ABOVE}", "T"), ("v", "V")):
        text = re.sub(rf"(?<![a-z]){sign}(\d+|\(-\d+\))", rf"{place}[\1]", text)
    # [x > y] is 1 where the condition holds, and 0 elsewhere
    return re.sub(
        r"(?<![\w)\]])\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*[<>][^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]", r"(\1)", text
    )


def check(line: tuple[str, str], state: dict, where: str) -> int:
    """Compute a line again, and compare it with the number beside it."""
    formula, value = line
    if " = " not in formula or any(mark in formula for mark in ("∂", "…", "through")):
        return 0
    left, right = formula.split(" = ", 1)
    key = re.fullmatch(r"([VGT])\[(.*)\]", read(left))
    found = eval(read(right), NAMES, state)
    np.testing.assert_allclose(float(value), float(found), rtol=1e-8, atol=1e-11, err_msg=f"{where}: {formula}")
    state[key[1]][int(key[2].strip("()"))] = float(value)
    return 1


@settings(max_examples=200, deadline=None)
@given(programs, st.tuples(numbers, numbers, numbers))
def test_formulas_give_the_printed_numbers(program, point):
    """Down the left and the middle column, then up the right one, nothing is needed but what has been printed."""
    f = eval(f"lambda x, y, z: {program} + 0.0 * x", {"np": np, "expit": expit})
    explanation = ad.explain(
        f, mode="both", digits=15, names=False, collapse=False, max_rows=100_000, tangent=(0.7, -0.3, 1.1)
    )(*point)
    lines = explanation.table().lines
    state = {"V": {-k: x for k, x in enumerate(point)}, "T": {0: 0.7, -1: -0.3, -2: 1.1}, "G": {}}
    seen = 0
    for line in lines[3:-1]:
        seen += check(line.primal, state, program) + check(line.tangent, state, program)
    state["G"][len(explanation.rows) - 3] = 1.0
    for line in reversed(lines[3:-1]):
        seen += check(line.adjoint, state, program)
    assert seen >= 3
    gradient = ad.grad(f, argnums=(0, 1, 2))(*point)
    for k, g in enumerate(gradient):
        np.testing.assert_allclose(state["G"].get(-k, 0.0), g, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        state["T"][len(explanation.rows) - 3],
        0.7 * gradient[0] - 0.3 * gradient[1] + 1.1 * gradient[2],
        rtol=1e-8,
        atol=1e-10,
    )
