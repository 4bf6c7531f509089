"""Arguments that make no sense are refused by name, whatever they are: no error from inside is printed."""

import inspect

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import AdjointError, BatchSizeError


def square(x):
    return x * x


NONSENSE = (None, "text", object(), [1, "a"], np.array(["s"]), {"a": square}, -7, {1})
UNUSUAL = {
    "jvp": lambda x: ad.jvp(square, (2.0,), (x,)),
    "jvp of an array": lambda x: ad.jvp(square, (np.ones(2),), (np.full(2, x),)) if isinstance(x, str) else 1 / 0,
    "vjp": lambda x: ad.vjp(square, 2.0)[1](x),
    "linearize": lambda x: ad.linearize(square, 2.0)[1](x),
    "hvp": lambda x: ad.hvp(square, (2.0,), (x,)),
    "explain": lambda x: ad.explain(square, cotangent=x)(2.0).gradient if x is not None else 1 / 0,
    "switch": lambda x: ad.switch(0, x, 2.0),
    "switch of one": lambda x: ad.switch(0, [x], 2.0),
    "associative_scan": lambda x: ad.associative_scan(x, np.ones(3)),
    "its axis": lambda x: ad.associative_scan(np.add, np.ones(3), axis=x),
    "eval_shape": lambda x: ad.eval_shape(x, 2.0),
    "chunk_size": lambda x: ad.vmap(square, chunk_size=x)(np.ones(3)) if x is not None else 1 / 0,
    "chunk_size of jacobian": lambda x: ad.jacobian(square, chunk_size=x)(np.ones(3)) if x is not None else 1 / 0,
    "static_argnums": lambda x: ad.jit(square, static_argnums=x),
    "static_argnames": lambda x: ad.jit(square, static_argnames=x),
    "the rule of custom_rule": lambda x: ad.custom_rule(square, jvp=x) if x is not None else 1 / 0,
    "tree.map": lambda x: ad.tree.map(x, [1.0]),
    "tree.unflatten": lambda x: ad.tree.unflatten(x, [1.0]),
    "leaves of tree.unflatten": lambda x: ad.tree.unflatten(ad.tree.structure([1.0]), x),
    "check_case": lambda x: ad.testing.check_case(x),
}
FITTING = {("linearize", -7), ("jvp", -7), ("vjp", -7), ("hvp", -7), ("explain", -7)}
"""A number is a tangent."""


@pytest.mark.parametrize("name", UNUSUAL)
def test_nonsense_is_named(name):
    """The message is the library's own: what was wanted, where, what was met, what to write."""
    for x in NONSENSE:
        if isinstance(x, int) and (name, x) in FITTING:
            continue
        try:
            UNUSUAL[name](x)
        except ZeroDivisionError:
            continue  # not nonsense there
        except AdjointError as error:
            assert "\n  at test_nonsense.py" in str(error), error  # noqa: PT017  (what else it may raise is a failure)
        else:
            pytest.fail(f"{x!r} was taken")


@pytest.mark.parametrize("out_axes", [3, -3, 1])
def test_out_axes_that_are_not_there(out_axes):
    """The result, with its new axis, says which there are."""
    with pytest.raises(BatchSizeError, match=r"out_axes=.*\n.*axis from -1 to 0"):
        ad.vmap(square, out_axes=out_axes)(np.ones(3))
    assert ad.vmap(lambda x: np.array([x, x]), out_axes=1)(np.ones(3)).shape == (2, 3)


@pytest.mark.parametrize(
    ("text", "given"),
    [("{x}", {"y": 1}), ("{} {}", {}), ("{2}", {}), ("{x", {"x": 1}), ("{x.real}", {}), ("{x[0]} {y}", {"x": [1]})],
)
def test_texts_without_values(text, given):
    """Before anything is printed or recorded."""
    for f in (lambda x: ad.debug.print(text, **given), ad.jit(lambda x: ad.debug.print(text, **given) or x)):
        with pytest.raises(AdjointError, match=r"debug\.print(.|\n)*Write  ad\.debug\.print"):
            f(1.0)


def test_texts_with_values(capsys):
    """Fields with attributes, items and numbers of their own are filled."""
    ad.debug.print("{0} {1:.1f} {z.real} {z!r} {{}}", 1.0, 2.0, z=3.0)
    assert capsys.readouterr().out == "1.0 2.0 3.0 3.0 {}\n"


NAMES = {
    "tree": {"mapp": "ad.tree.map", "leafs": "ad.tree.leaves", "tree_map": "ad.tree.map"},
    "debug": {"prnt": "ad.debug.print", "call_back": "ad.debug.callback", "nan": "ad.debug.nans"},
    "random": {"norml": "ad.random.normal", "PRNGKey": "ad.random.key", "unform": "ad.random.uniform"},
    "testing": {"check_grad": "ad.testing.check_grads"},
}


@pytest.mark.parametrize("module", NAMES)
def test_names_that_may_have_been_meant(module):
    """As for names of `ad` itself."""
    for name, meant in NAMES[module].items():
        with pytest.raises(AttributeError, match=rf"'ad\.{module}' has no attribute '{name}': .*{meant}"):
            getattr(getattr(ad, module), name)
    assert not hasattr(getattr(ad, module), "xyzzy")
    assert inspect.ismodule(getattr(ad, module))


def test_parameters_of_draws():
    """Texts and objects are no parameters."""
    key = ad.random.key(0)
    for draw in (ad.random.normal, ad.random.uniform, ad.random.exponential):
        with pytest.raises(TypeError, match="numbers or arrays"):
            draw(key, 3, "text")
    for draw in (ad.random.beta, ad.random.gamma):
        with pytest.raises(TypeError, match="numbers or arrays"):
            draw(key, object(), 1.0)
