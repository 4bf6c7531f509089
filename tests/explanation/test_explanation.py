"""Explanations of all kinds of programs: what is shown is what is computed."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import expit, gamma, logsumexp

import adjoint as ad
from adjoint.core.tree import flatten
from adjoint.explanation.show.printing import rich_tables

MATRIX = np.array([[2.0, 1.0], [1.0, 3.0]])


@dataclass
class Layer:
    weight: np.ndarray
    bias: float
    activation: str = "tanh"


def filled(x):
    y = np.zeros(3)
    y[0] = x[0]
    for i in range(1, 3):
        y[i] = y[i - 1] * x[i]
    y[1:] *= 2
    return np.sum(y)


def of_eigenvectors(a):
    w, v = np.linalg.eigh(a)
    return np.sum(w**2) + v[0, 0]


def through_checkpoints(x):
    part = ad.checkpoint(lambda y: np.sin(np.exp(y)))
    return part(part(x))


def recursive(x, depth=4):
    return x if depth == 0 else x * recursive(x, depth - 1)


def branching(x):
    return np.sum(x**2) if x[0] > 0 else np.sum(np.abs(x))


PROGRAMS = {
    "where at a singular point": (lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)), np.array([0.0, 4.0])),
    "a norm at zero": (lambda x: np.sqrt(np.sum(x**2)), np.zeros(3)),
    "the absolute value at zero": (lambda x: np.sqrt(x**2), 0.0),
    "an infinite slope": (np.sqrt, 0.0),
    "no slope": (lambda x: np.exp(np.log(x)), 0.0),
    "assignment": (filled, np.array([1.0, 2.0, 3.0])),
    "several results": (lambda a: np.linalg.slogdet(a)[1], MATRIX),
    "eigenvectors": (of_eigenvectors, MATRIX),
    "containers": (lambda p: p["a"] * np.sum(p["b"][1]) + p["b"][0], {"a": 1.0, "b": [2.0, np.array([1.0, 2.0])]}),
    "a dataclass": (lambda p: np.sum(np.tanh(p.weight)) * p.bias, Layer(np.array([1.0, 2.0]), 0.5)),
    "complex": (lambda z: np.real(z * np.conj(z)), 1.0 + 2.0j),
    "checkpoints": (through_checkpoints, 2.0),
    "jit inside": (lambda x: ad.jit(lambda y: y**2 + 1)(x) * x, 2.0),
    "scan": (lambda r: ad.scan(lambda y, _: (y - 0.01 * r * y, None), 1.0, length=100)[0], 0.5),
    "a gradient inside": (lambda x: ad.grad(lambda y: y**3)(x), 2.0),
    "a Hessian inside": (lambda x: np.sum(ad.hessian(lambda y: np.sum(y**3))(x)), np.array([1.0, 2.0])),
    "vmap inside": (lambda x: np.sum(ad.vmap(lambda a: a**2)(x)), np.array([1.0, 2.0, 3.0])),
    "a constant": (lambda x: 3.0, 2.0),
    "the input": (lambda x: x, 2.0),
    "single precision": (lambda x: np.sum(x * x), np.array([1.0, 2.0], np.float32)),
    "logsumexp": (lambda x: logsumexp(x), np.array([1.0, 2.0, 0.5])),
    "a special function": (lambda x: gamma(x), 2.5),
    "sorting": (lambda x: np.sum(np.sort(x) * np.arange(3)), np.array([3.0, 1.0, 2.0])),
    "largest and product": (lambda x: np.max(x) * np.prod(x), np.array([3.0, 1.0, 2.0])),
    "recursion": (recursive, 1.5),
    "a plain value": (lambda x: ad.value(x) * x, 2.0),
    "a branch": (branching, np.array([1.0, -2.0])),
    "an unused step": (lambda x: (np.sin(x), np.sum(x))[1], np.array([3.0, 1.0])),
    "large arrays": (lambda x: np.sum(np.exp(x)), np.linspace(0.0, 1.0, 5_000)),
    "a layer": (lambda w: np.sum(expit(w @ np.array([1.0, 2.0])) ** 2), np.array([[1.0, 0.5], [-1.0, 2.0]])),
}

NOT_BY_NUMBERS = {"several results", "eigenvectors", "scan", "large arrays"}


def leaves(tree):
    return [leaf for leaf in flatten(tree)[0] if leaf is not None]


@pytest.mark.parametrize("level", ["vector", "scalar"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_gradient_is_that_of_grad(name, level):
    """The adjoints that are shown end in what `ad.grad` returns, also at singular points."""
    if level == "scalar" and name in NOT_BY_NUMBERS:
        with pytest.raises(ad.errors.UnsupportedError, match='Leave  level="scalar"  out'):
            ad.explain(PROGRAMS[name][0], level=level)(PROGRAMS[name][1])
        return
    fun, point = PROGRAMS[name]
    with np.errstate(all="ignore"):  # the functions themselves warn at singular points
        explanation = ad.explain(fun, level=level)(point)
        value, gradient = ad.value_and_grad(fun)(point)
    np.testing.assert_allclose(explanation.value, value, rtol=1e-15)
    for found, wanted in zip(leaves(explanation.gradient), leaves(gradient), strict=True):
        assert np.shape(found) == np.shape(wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-6 if np.asarray(wanted).dtype == np.float32 else 1e-13)
    assert len(str(explanation).splitlines()) >= 2


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in ("complex", "no slope")])
def test_the_tangent_is_that_of_jvp(name):
    """The tangents that are shown end in what `ad.jvp` returns for the same direction."""
    fun, point = PROGRAMS[name]
    parts, rebuild = flatten(point)
    rng = np.random.default_rng(0)
    direction = rebuild([np.asarray(rng.normal(size=np.shape(p)), np.asarray(p).dtype)[()] for p in parts])
    explanation = ad.explain(fun, mode="forward", tangent=(direction,))(point)
    wanted = ad.jvp(fun, (point,), (direction,))[1]
    np.testing.assert_allclose(explanation.tangent, wanted, rtol=1e-6 if name == "single precision" else 1e-12)


@pytest.mark.parametrize("name", ["a norm at zero", "a layer", "checkpoints", "largest and product", "a branch"])
def test_the_shares_add_up(name):
    """At every value the shares that arrive sum to its adjoint, and each edge's share is adjoint times partial."""
    explanation = ad.explain(PROGRAMS[name][0], level="scalar")(PROGRAMS[name][1])
    view = explanation._view
    arrived = {}
    for row in explanation.rows:
        for edge in row.edges:
            if edge.value is None:
                continue
            arrived[edge.operand] = arrived.get(edge.operand, 0.0) + edge.value
            if np.isfinite(edge.partial.value) and np.isfinite(view.adjoint(row.outs[0])):
                np.testing.assert_allclose(edge.value, edge.partial.value * view.adjoint(row.outs[0]), rtol=1e-13)
    for place, total in arrived.items():
        np.testing.assert_allclose(total, view.adjoint(place), rtol=1e-13)


def test_the_names_of_variables():
    """A name that is given again gets a number, a name of another function's frame does not replace the first."""

    def twice(z):
        z = 2.0 * z
        return np.exp(z)

    def f(x):
        y = np.sin(x)
        y = twice(y)
        y = y + x
        return y  # noqa: RET504  (the last name counts)

    assert list(ad.explain(f)(1.0)._view.labels.values()) == ["x", "y", "z", "y₂", "y₃"]


def test_names_of_arrays():
    """Arrays that the function uses are called by their names, in both sweeps."""
    data = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def f(w):
        return np.sum(np.tanh(data @ w))

    text = str(ad.explain(f)(np.array([0.1, 0.2])))
    assert "v1 = data @ w" in text
    assert "∇w = ∇v1 @ data" in text


def newton(a):
    y = 1.0
    for _ in range(100):
        y = (y + a / y) / 2
    return y


def test_long_loops_are_one_row():
    """A hundred turns are one row, which says so; all of them are there on request."""
    explanation = ad.explain(newton)(2.0)
    assert "2 steps x 99, test_explanation.py:" in str(explanation)
    assert len(explanation.rows) == 3
    assert len(ad.explain(newton, collapse=False)(2.0).rows) == 200
    assert explanation.gradient == ad.grad(newton)(2.0)


def test_a_nested_expression_is_no_loop():
    """The same functions again and again on one line are not repeated by anything."""
    explanation = ad.explain(
        lambda x: np.sin(
            np.exp(np.sin(np.exp(np.sin(np.exp(np.sin(np.exp(np.sin(np.exp(np.sin(np.exp(np.sin(np.exp(x)))))))))))))
        )
    )(0.1)
    assert len(explanation.rows) == 15


def test_rows_in_the_middle_are_left_out():
    """A table of more rows than wanted says how many are missing."""
    lines = str(ad.explain(newton, collapse=False, max_rows=20)(2.0)).splitlines()
    assert len(lines) == 21
    whole = str(ad.explain(newton, collapse=False, max_rows=10_000)(2.0)).splitlines()
    assert f"... {len(whole) - 20} lines left out: max_rows=20" in lines[15]


def network(w, v):
    with ad.block("hidden"):
        h = np.tanh(w * 2.0 + 1.0)
    with ad.block("output"):
        y = h @ v
        return y**2


def test_blocks_are_one_row():
    """Named blocks are rows with their names; inside they are as without them."""
    w, v = np.array([0.1, 0.2]), np.array([1.0, -1.0])
    explanation = ad.explain(network, digits=2)(w, v)
    assert [row.caption for row in explanation.rows] == ["", "", "hidden", "output"]
    assert "v1 = h = hidden(w)" in str(explanation)
    assert "∇h = ∇v2 through output" in str(explanation)
    inside = str(ad.explain(network, collapse=False)(w, v))
    assert "hidden" not in inside
    assert "h = tanh(" in inside
    for found, wanted in zip(explanation.gradient, ad.grad(network, argnums=(0, 1))(w, v), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_blocks_nest_and_decorate():
    """The outermost block is the row; a decorated function is a block at each call."""

    @ad.block("square")
    def square(x):
        with ad.block("inner"):
            return x * x

    explanation = ad.explain(lambda x: square(x) + square(2.0 * x))(3.0)
    assert [row.caption for row in explanation.rows if row.caption] == ["square", "square"]
    assert explanation.gradient == 2 * 3.0 + 8 * 3.0


def test_checkpoints_say_what_is_recomputed():
    """Of a checkpointed call only the arguments are stored; what is computed again is marked."""

    def f(x):
        part = ad.checkpoint(lambda y: np.sin(np.exp(y)))
        first = part(x)
        return part(first)

    lines = str(ad.explain(f)(2.0)).splitlines()
    assert [line.split("   ")[-1].strip() for line in lines[2:5]] == [
        "recomputed (checkpoint 1)",
        "stored",
        "recomputed (checkpoint 2)",
    ]
    assert lines[-1].startswith("stored: x, first (2 of 5 values, 16 of 40 bytes); recomputed: ")


def test_source_lines():
    """Each step names its line and shows it."""
    text = str(ad.explain(newton, lines=True, collapse=False, max_rows=8)(2.0))
    assert "y = (y + a / y) / 2" in text
    assert "test_explanation.py:" in text


def test_a_vector_of_results():
    """A function of several results is swept back from ones, or from the given cotangent."""
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(ad.explain(np.sin)(x).gradient, np.cos(x))
    np.testing.assert_allclose(ad.explain(np.sin, cotangent=np.array([0.0, 3.0]))(x).gradient, [0.0, 3 * np.cos(2.0)])
    with pytest.raises(ad.errors.TangentError, match="does not have the structure of the result"):
        ad.explain(np.sin, cotangent=np.ones(3))(x)


def test_bad_options():
    """Unknown modes and levels, and arguments without a real number, are refused with the choices."""
    with pytest.raises(ad.errors.InputError, match=r"Choose one of \('reverse', 'forward', 'both'\)"):
        ad.explain(np.sin, mode="sideways")
    with pytest.raises(ad.errors.InputError, match=r"Choose one of \('vector', 'scalar'\)"):
        ad.explain(np.sin, level="matrix")
    with pytest.raises(ad.errors.InputError, match="explain needs at least one real or complex number"):
        ad.explain(np.sin)(np.int64(3))


def test_nothing_is_left_behind():
    """An explanation, also one that fails, leaves the function and NumPy as they were."""
    before = np.zeros
    with pytest.raises(KeyError):
        ad.explain(lambda x: x * {}["missing"])(1.0)
    assert np.zeros is before
    assert ad.grad(newton)(2.0) == pytest.approx(0.5 / np.sqrt(2.0))


def test_rich_and_html():
    """The same lines as tables of rich, side by side or one below the other, and as HTML."""
    rich = pytest.importorskip("rich.console")
    explanation = ad.explain(newton)(2.0)
    for room, count in ((200, 1), (40, 2)):
        console = rich.Console(width=200, record=True, file=io.StringIO())
        tables = rich_tables(explanation.table(), room)
        console.print(*tables)
        assert len(tables) == count
        printed = console.export_text()
        for line in explanation.table().lines:
            assert line.primal[0] in printed
            assert line.adjoint[0] in printed
    html = explanation._repr_html_()
    for line in explanation.table().lines:
        assert line.adjoint[1] in html


def test_in_a_terminal(monkeypatch, capsys):
    """With a terminal there are colours; without rich, or into a file, the plain text."""
    explanation = ad.explain(newton)(2.0)
    explanation.show()
    assert capsys.readouterr().out == f"{explanation}\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    explanation.show()
    assert capsys.readouterr().out == f"{explanation}\n"
