"""An operation is one entry of the catalogue: once it is declared, every room works on it."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint.cli.main import main
from adjoint.ops.declare import CATALOGUE, REAL, by_formula, declare
from adjoint.rules.linear import Linear
from adjoint.rules.opaque import Opaque
from adjoint.rules.stacking import aligned

ROOT = Path(__file__).parent.parent.parent
X = np.array([-2.5, -0.3, 0.7, 4.0])


@pytest.fixture
def softsign():
    """x / (1 + |x|), in one entry that is gone after the test."""
    yield by_formula(
        "softsign",
        lambda x: x / (1.0 + np.abs(x)),
        partials=[lambda x: 1.0 / (1.0 + np.abs(x)) ** 2],
    )
    del CATALOGUE["softsign"]


def slope(x):
    """The derivative of softsign."""
    return 1.0 / (1.0 + np.abs(x)) ** 2


def bend(x):
    """The second derivative of softsign."""
    return -2.0 * np.sign(x) / (1.0 + np.abs(x)) ** 3


def total(softsign):
    """A function of an array with the operation in it."""
    return lambda x: np.sum(x * softsign(x))


def test_derivatives_and_batches(softsign):
    """Forward, back and both nestings of the two, of one number and of many at once."""
    np.testing.assert_allclose(ad.grad(total(softsign))(X), softsign(X) + X * slope(X), rtol=1e-14)
    np.testing.assert_allclose(ad.jvp(softsign, (X,), (X,))[1], X * slope(X), rtol=1e-14)
    np.testing.assert_allclose(ad.vmap(ad.grad(softsign))(X), slope(X), rtol=1e-14)
    for second in (ad.grad(lambda x: ad.jvp(softsign, (x,), (1.0,))[1]), ad.derivative(ad.grad(softsign))):
        np.testing.assert_allclose([second(x) for x in X.tolist()], bend(X), rtol=1e-13)
    np.testing.assert_allclose(ad.hessian(total(softsign))(X), np.diag(2 * slope(X) + X * bend(X)), rtol=1e-13)


def test_laws(softsign):
    """Values, tangents, adjoints, batches: as for every other operation."""
    ad.testing.check_case(ad.testing.Case("softsign", softsign, (X,)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_machine_code(softsign, dtype):
    """Nothing is called by NumPy, in the function and in its gradient; the numbers are the same."""
    pytest.importorskip("llvmlite")
    x = X.astype(dtype)
    for f in (softsign, ad.grad(total(softsign)), ad.vmap(ad.grad(softsign))):
        compiled = ad.jit(lambda x, f=f: f(x))
        found = compiled(x)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, f(x))
        assert compiled.stats()["called by NumPy"] == []


def test_a_jitted_function_is_differentiated_by_the_entry(softsign):
    """The steps of the formula are machine code's alone: derivatives follow the partial."""
    compiled = ad.jit(total(softsign))
    np.testing.assert_array_equal(ad.grad(compiled)(X), ad.grad(total(softsign))(X))
    assert "softsign" in str(compiled.lower(X).program)


def test_formulas(softsign):
    """The trace speaks of the operation by its name, SymPy by its formula."""
    e = ad.explain(lambda x: 2.0 * softsign(x))(1.5)
    assert "softsign(x)" in str(e)
    symbolic = e.sympy()
    assert str(symbolic.value) == "2*x/(Abs(x) + 1)"
    assert float(symbolic.gradient[symbolic.inputs[0]].subs(symbolic.inputs[0], 1.5)) == pytest.approx(2 * slope(1.5))


def test_source(softsign):
    """NumPy source that runs without the library."""
    source = ad.explain(total(softsign))(X).code()
    names = {}
    exec(source, names)
    value, gradient = next(f for name, f in names.items() if name.endswith("_and_gradient"))(X)
    assert "adjoint" not in source
    np.testing.assert_allclose(value, np.sum(X * softsign(X)), rtol=1e-14)
    np.testing.assert_allclose(gradient, softsign(X) + X * slope(X), rtol=1e-14)


def test_live_page(softsign, tmp_path):
    """The page computes it, with its slope, in JavaScript."""
    ad.explain(lambda x: softsign(x) * x)(1.5).page(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "v => ((v[0]/(1+abs(v[0]))))" in text
    assert "v => ((1/square((1+abs(v[0])))))" in text


def test_cost(softsign):
    """The operations of its formula for each element, by its name: a product and a sum besides, and |x|, 1 + and /."""
    cost = ad.explain(total(softsign))(X).cost()
    assert "softsign" in str(cost)
    assert cost.function.operations == (2 + 3) * X.size


def test_command_line(softsign, capsys):
    """An expression may use it."""
    assert main(["explain", "softsign(x) * 2", "x=1.5"]) == 0
    out = capsys.readouterr().out
    assert "softsign(x)" in out
    assert "0.32" in out  # the slope 2 / (1 + 1.5)**2


def test_users_find_it(softsign):
    """In `adjoint.numpy`, by name, and in the list of names, all of which are there."""
    assert ad.numpy.softsign is softsign
    assert "softsign" in dir(ad.numpy)
    assert [name for name in dir(ad.numpy) if not hasattr(ad.numpy, name)] == []


def test_docs_row(softsign):
    """The page of operations has a row for it."""
    script = runpy.run_path(str(ROOT / "scripts" / "generate_docs.py"))
    assert "| `softsign` | Elementwise |" in script["operations"]()


@pytest.fixture
def leaky():
    """x, or a part of it where it is negative: an entry whose formula has a parameter, gone after the test."""

    def formula(x, *, slope):
        return np.where(x > 0.0, x, slope * x)

    def jvp(tangents, out, args, params):
        return np.where(args[0] > 0.0, 1.0, params["slope"]) * tangents[0]

    yield declare("leaky", formula, Opaque(jvp), stacking=aligned, domain=(REAL,), formula=formula)
    del CATALOGUE["leaky"]


def bent_twice(leaky):
    """A function with two values of the parameter."""
    return lambda x: np.sum(leaky(x, slope=0.5) * leaky(x - 1.0, slope=0.25))


def test_a_formula_with_parameters(leaky, tmp_path):
    """It is called with them, in machine code, in NumPy source, for SymPy and on the page."""
    f = bent_twice(leaky)
    x = np.array([-2.0, 0.5])
    compiled = ad.jit(ad.grad(f))
    np.testing.assert_array_equal(compiled(x), ad.grad(f)(x))
    names = {}
    exec(ad.explain(f)(x).code(), names)
    value, gradient = next(g for name, g in names.items() if name.endswith("_and_gradient"))(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-14)
    np.testing.assert_allclose(gradient, ad.grad(f)(x), rtol=1e-14)
    symbolic = ad.explain(lambda x: leaky(x, slope=0.5))(-2.0).sympy()
    assert str(symbolic.value) == "Piecewise((x, x > 0), (x/2, True))"
    ad.explain(lambda x: leaky(x, slope=0.5) * x)(-2.0).page(tmp_path / "page.html")
    assert "where((v[0]>0),v[0],(0.5*v[0]))" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_formula_with_parameters_is_machine_code(leaky):
    """In the function and in its gradient, of one number and of many."""
    pytest.importorskip("llvmlite")
    for f, x in ((bent_twice(leaky), X), (ad.grad(bent_twice(leaky)), X), (lambda x: leaky(x, slope=0.5), 0.3)):
        compiled = ad.jit(f)
        np.testing.assert_array_equal(compiled(x), f(x))
        assert compiled.stats()["called by NumPy"] == []


def test_a_composition_of_arrays():
    """An operation on whole arrays has machine code by its composition, at every shape."""
    pytest.importorskip("llvmlite")

    def centred(x, *, axis):
        return x - np.mean(x, axis, keepdims=True)

    operation = declare(
        "centred", centred, Linear(lambda g, out, x, *, axis: centred(g, axis=axis)), composition=centred
    )
    try:
        f = ad.jit(lambda x: np.sum(np.sin(operation(x, axis=-1))))
        for x in (X, np.stack([X, 2 * X])):
            np.testing.assert_allclose(f(x), np.sum(np.sin(centred(x, axis=-1))), rtol=1e-14)
            np.testing.assert_allclose(
                ad.grad(f)(x), centred(np.cos(centred(x, axis=-1)), axis=-1), rtol=1e-13, atol=1e-15
            )
        assert f.stats()["called by NumPy"] == []
    finally:
        del CATALOGUE["centred"]


def test_the_entry_is_gone():
    """Nothing of it is left behind."""
    assert "softsign" not in CATALOGUE
    assert not hasattr(ad.numpy, "softsign")
    assert "softsign" not in dir(ad.numpy)
    assert "softsign" not in vars(sys.modules["adjoint.ops.declare"])
