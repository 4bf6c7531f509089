"""An operation on arrays is one entry too: one that moves elements, one that sums them, and every room knows both."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.entry.algebra import Monoid
from adjoint.core.entry.facts import Form
from adjoint.core.entry.moves import Index, View
from adjoint.core.values import shape_of, spread
from adjoint.ops.declare import CATALOGUE, declare
from adjoint.rules.linear import Linear
from adjoint.rules.reducing import widened

ROOT = Path(__file__).parent.parent.parent
X = np.array([0.3, -1.2, 0.7])
ROWS = np.stack([X, X + 1.0, 2.0 * X])


@pytest.fixture
def operations():
    """The last axis turned around, and the sum along axes: an entry each, gone after the test."""
    turned = declare(
        "turned",
        lambda x: x[..., ::-1],
        Linear(lambda g, out, x: turned(g), structural=True),
        moves=View(lambda have, want: (*[Index(k, 1, 0) for k in range(len(have) - 1)], _from_the_end(have))),
        form=Form(source="{0:atom}[..., ::-1]"),
    )
    summed = declare(
        "summed",
        lambda x, *, axis, keepdims: np.add.reduce(x, axis=axis, keepdims=keepdims),
        Linear(lambda g, out, x, *, axis, keepdims: spread(widened(g, x, axis), shape_of(x)), structural=True),
        reduces=Monoid(np.add),
        form=Form(source="np.sum({0}{along})"),
    )
    yield turned, summed
    del CATALOGUE["turned"], CATALOGUE["summed"]


def _from_the_end(shape):
    return Index(len(shape) - 1, -1, shape[-1] - 1)


@pytest.fixture
def f(operations):
    """A function with both operations in it."""
    turned, summed = operations
    return lambda x: summed(np.sin(turned(x)) * x**2, axis=(-1,), keepdims=False)


def g(x):
    """The same function in NumPy's words."""
    return np.sum(np.sin(x[..., ::-1]) * x**2, -1)


def test_derivatives_and_batches(f):
    """Forward, back, both nestings of the two, and many examples at once."""
    np.testing.assert_allclose(ad.grad(f)(X), ad.grad(g)(X), rtol=1e-14)
    np.testing.assert_allclose(ad.jvp(f, (X,), (X,))[1], ad.jvp(g, (X,), (X,))[1], rtol=1e-14)
    np.testing.assert_allclose(ad.vmap(ad.grad(f))(ROWS), [ad.grad(g)(x) for x in ROWS], rtol=1e-14)
    for second in (ad.hessian(f), ad.jacfwd(ad.grad(f)), ad.jacrev(ad.grad(f)), ad.jacrev(ad.jacfwd(f))):
        np.testing.assert_allclose(second(X), ad.hessian(g)(X), rtol=1e-13)


def test_laws(operations):
    """Values, tangents, adjoints, batches: as for every other operation."""
    turned, summed = operations
    ad.testing.check_case(ad.testing.Case("turned", turned, (ROWS,)))
    ad.testing.check_case(ad.testing.Case("summed", lambda x: summed(x, axis=(-2,), keepdims=True), (ROWS,)))


@pytest.mark.parametrize("size", [3, 300])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_machine_code(f, size, dtype):
    """Nothing is called by NumPy: in registers and in loops, in the function and in its derivatives."""
    pytest.importorskip("llvmlite")
    x = np.linspace(-1.0, 2.0, size).astype(dtype)
    rows = np.stack([x, 2 * x])
    for fun, at in ((f, x), (ad.grad(f), x), (ad.vmap(f), rows), (lambda x: ad.jvp(f, (x,), (x,))[1], x)):
        compiled = ad.jit(lambda x, fun=fun: fun(x))
        found = compiled(at)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, fun(at), rtol=1e-13 if dtype is np.float64 else 1e-5)
        assert compiled.stats()["called by NumPy"] == []


def test_formulas(operations):
    """The trace speaks of the operations by their names; SymPy sees numbers in other places, and their sum."""
    turned, summed = operations
    e = ad.explain(lambda x: summed(turned(x) * x**2, axis=(-1,), keepdims=False))(X[:2])
    assert "summed(" in str(e)
    assert "turned(x)" in str(e)
    assert str(e.sympy().value) == "x_0**2*x_1 + x_0*x_1**2"


def test_source(f):
    """The source runs without the library."""
    source = ad.explain(f)(X).code()
    assert "x[..., ::-1]" in source
    known = {}
    exec(source, known)
    value, gradient = known["f_and_gradient"](X)
    np.testing.assert_allclose(value, g(X), rtol=1e-14)
    np.testing.assert_allclose(gradient, ad.grad(g)(X), rtol=1e-14)


def test_live_page(f, tmp_path):
    """The page computes it, number by number."""
    ad.explain(f)(X).page(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "v => (sin(v[2]))" in text
    assert "v => (((v[9]+v[10])+v[11]))" in text


def test_cost(operations):
    """What moves is free, what sums takes an operation for each element."""
    turned, summed = operations
    cost = ad.explain(lambda x: summed(turned(x), axis=(-1,), keepdims=False))(X).cost()
    assert cost.function.operations == 3
    assert not cost.estimated


def test_docs_rows(operations):
    """The page of operations has a row for each."""
    page = runpy.run_path(str(ROOT / "scripts" / "generate_docs.py"))["operations"]()
    assert "| `turned` | Linear |" in page
    assert "| `summed` | Linear |" in page
