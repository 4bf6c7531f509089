"""The worked examples of the course, to the digit: the tables of the logistic loss, the graph and derivatives a..f."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.special import expit

import adjoint as ad

X = np.array([[1.0, 1.0, 1.5], [1.0, 1.5, -1.0]])
CLASSES = np.array([0.0, 1.0])
WEIGHTS = np.array([-1.0, 1.5, 0.5])

TABLE = """\
forward primal trace                  reverse adjoint trace
v0 = w[0]                        -1   ∇w[0] = ∂L/∂w[0] = ∇v0           0.13
v(-1) = w[1]                    1.5   ∇w[1] = ∂L/∂w[1] = ∇v(-1)        0.06
v(-2) = w[2]                    0.5   ∇w[2] = ∂L/∂w[2] = ∇v(-2)        0.54
v1 = v0 + v(-1) + 1.5·v(-2)    1.25   ∇v(-2) = ∇v(-2) + ∇v1 · 1.5      0.54
                                      ∇v(-1) = ∇v(-1) + ∇v1 · 1        0.06
                                      ∇v0 = ∇v0 + ∇v1 · 1              0.13
v2 = v0 + 1.5·v(-1) - v(-2)    0.75   ∇v(-2) = ∇v2 · (-1)              0.14
                                      ∇v(-1) = ∇v2 · 1.5              -0.21
                                      ∇v0 = ∇v2 · 1                   -0.14
v3 = σ(v1)                     0.78   ∇v1 = ∇v3 · σ(v1)·(1 - σ(v1))    0.27
v4 = σ(v2)                     0.68   ∇v2 = ∇v4 · σ(v2)·(1 - σ(v2))   -0.14
v5 = 0 - v3                   -0.78   ∇v3 = ∇v5 · (-1)                 1.55
v6 = 1 - v4                    0.32   ∇v4 = ∇v6 · (-1)                -0.64
v7 = v5²                        0.6   ∇v5 = ∇v7 · 2·v5                -1.55
v8 = v6²                        0.1   ∇v6 = ∇v8 · 2·v6                 0.64
v9 = v7 + v8                   0.71   ∇v8 = ∇v9 · 1                       1
                                      ∇v7 = ∇v9 · 1                       1
L = v9                         0.71   ∇v9 = ∂L/∂v9                        1"""
"""The lecture prints 0.61 for v7, the square of the rounded 0.78, and -0.28 for the first share of v(-1), where only
-0.14 . 1.5 = -0.21 adds up to the 0.06 of the row above. Everything else is as printed there."""


def L(w):
    return np.sum((CLASSES - expit(X @ w)) ** 2)


def test_the_table_of_the_logistic_loss():
    """Matrix code, written out number by number, gives every row and both columns of the lecture's table."""
    assert str(ad.explain(L, level="scalar", digits=2, names=False)(WEIGHTS)) == TABLE


def test_the_table_from_scalar_code():
    """The same table, but for the names of the inputs, comes from code written with numbers."""

    def L(w0, w1, w2):  # the sum that the lecture writes out
        return (0 - expit(w0 + w1 + 1.5 * w2)) ** 2 + (1 - expit(w0 + 1.5 * w1 - w2)) ** 2

    # code takes one summand after the other, the lecture both together: only the numbers of the steps differ
    numbers = dict(zip("0123456789", "0135724689", strict=True))  # of the code, to those of the lecture
    found = [line.split() for line in str(ad.explain(L, digits=2, names=False)(*WEIGHTS.tolist())).splitlines()[4:]]
    renamed = {" ".join([re.sub(r"v(\d)", lambda m: f"v{numbers[m[1]]}", word) for word in line]) for line in found}
    wanted = {" ".join(line.split()) for line in TABLE.splitlines()[4:]}
    assert renamed == wanted


def test_plain_ascii():
    """Every terminal can show the table: the lecture's `grad v4 = grad v6 * (-1)`."""
    text = ad.explain(L, level="scalar", digits=2, names=False)(WEIGHTS).text(ascii=True)
    assert text.isascii()
    assert "grad v4 = grad v6 * (-1)" in text
    assert "grad v(-2) = grad v(-2) + grad v1 * 1.5" in text


def test_the_values_are_those_of_the_gradient():
    """What is shown is what `ad.grad` computes, to the last bit."""
    e = ad.explain(L)(WEIGHTS)
    value, gradient = ad.value_and_grad(L)(WEIGHTS)
    assert e.value == value
    np.testing.assert_array_equal(e.gradient, gradient)


def f(x):
    a = x**2
    b = np.exp(a)
    c = a + b
    d = np.sqrt(c)
    e = np.cos(c)
    f = d + e
    return f  # noqa: RET504  (the name counts)


A_TO_F = """\
forward primal trace        reverse adjoint trace
v0 = x                1.3   ∇x = ∂f/∂x = ∇v0                 -9.1449
v1 = a = x²          1.69   ∇x = ∇a · 2·x                    -9.1449
v2 = b = exp(a)    5.4195   ∇a = ∇a + ∇b · exp(a)            -3.5173
v3 = c = a + b     7.1095   ∇b = ∇c · 1                      -0.5479
                            ∇a = ∇c · 1                      -0.5479
v4 = d = sqrt(c)   2.6664   ∇c = ∇c + ∇d · (0.5 / sqrt(c))   -0.5479
v5 = e = cos(c)    0.6776   ∇c = ∇e · (-sin(c))              -0.7354
v6 = f = d + e      3.344   ∇e = ∇f · 1                            1
                            ∇d = ∇f · 1                            1
f = v6              3.344   ∇v6 = ∂f/∂v6                           1"""


def test_the_intermediate_variables_a_to_f():
    """Every intermediate has the name that the code gives it, and the derivatives are sums over the uses."""
    assert str(ad.explain(f)(1.3)) == A_TO_F


@pytest.mark.parametrize("x", [1.3, 0.4, -0.7])
def test_the_graph_and_the_derivatives_a_to_f(x):
    """The edges of the computational graph, each local partial, and every derivative, by the lecture's formulas."""
    a, b = x**2, np.exp(x**2)
    c = a + b
    partials = {
        ("x", "a"): 2 * x, ("a", "b"): np.exp(a), ("a", "c"): 1.0, ("b", "c"): 1.0, ("c", "d"): 0.5 * c**-0.5,
        ("c", "e"): -np.sin(c), ("d", "f"): 1.0, ("e", "f"): 1.0,
    }  # fmt: skip
    df = {"f": 1.0, "e": 1.0, "d": 1.0}
    df["c"] = df["d"] * partials["c", "d"] + df["e"] * partials["c", "e"]
    df["b"] = df["c"] * partials["b", "c"]
    df["a"] = df["b"] * partials["a", "b"] + df["c"] * partials["a", "c"]
    df["x"] = df["a"] * partials["x", "a"]
    explanation = ad.explain(f)(x)
    view = explanation._view
    found = {
        (view.labels[edge.operand], view.labels[row.outs[0]]): float(edge.partial.value)
        for row in explanation.rows
        for edge in row.edges
    }
    assert found == pytest.approx(partials, rel=1e-14)
    assert {name: float(view.adjoint(place)) for place, name in view.labels.items()} == pytest.approx(df, rel=1e-13)


TANGENTS = """\
forward primal trace        forward tangent trace
v0 = x                1.3   v̇0 = ẋ                           1
v1 = a = x²          1.69   ȧ = ẋ · 2·x                    2.6
v2 = b = exp(a)    5.4195   ḃ = ȧ · exp(a)             14.0906
v3 = c = a + b     7.1095   ċ = ȧ · 1 + ḃ · 1          16.6906
v4 = d = sqrt(c)   2.6664   ḋ = ċ · (0.5 / sqrt(c))     3.1299
v5 = e = cos(c)    0.6776   ė = ċ · (-sin(c))         -12.2747
v6 = f = d + e      3.344   ḟ = ḋ · 1 + ė · 1          -9.1449
f = v6              3.344   ḟ = v̇6                     -9.1449"""


def test_forward_mode():
    """Tangents are pushed along with the values, by the same local partials."""
    assert str(ad.explain(f, mode="forward")(1.3)) == TANGENTS
