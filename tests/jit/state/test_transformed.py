"""What users set on jitted functions, on the results of `grad` and its like, on partials and on rules."""

import functools

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import ImpureError

from .table import X, follows, setting, table

CASES, case = table()

TRANSFORMED = {
    "jit": ad.jit,
    "grad": ad.grad,
    "value_and_grad": ad.value_and_grad,
    "vmap": ad.vmap,
    "jacobian": ad.jacobian,
    "hessian": ad.hessian,
    "checkpoint": ad.checkpoint,
    "derivative": ad.derivative,
    "custom_rule": lambda f: ad.custom_rule(f, vjp=lambda primals, out, g: (g,)),
    "partial": functools.partial,
    "partial of jit": lambda f: functools.partial(ad.jit(f)),
}


def square(x):
    return x * x


@pytest.mark.parametrize("transform", TRANSFORMED.values(), ids=TRANSFORMED.keys())
def test_attributes_of_what_is_captured(transform):
    """They are watched as those of any other object are, from the moment they exist."""
    held = transform(square)
    held.scale = 3.0
    follows(lambda x: x * held.scale, setting(held, "scale", 5.0))
    follows(lambda x: x * getattr(held, "offset", 2.0), setting(held, "offset", 7.0))
    held._hidden = {"a": 1.0}
    follows(lambda x: x * held._hidden["a"], lambda: held._hidden.update(a=4.0))


@pytest.mark.parametrize(
    "wrap",
    [ad.jit, lambda f: ad.jit(ad.jit(f)), lambda f: ad.jit(ad.checkpoint(f)), lambda f: ad.jit(functools.partial(f))],
    ids=["jit", "jit jit", "jit checkpoint", "jit partial"],
)
def test_attributes_of_the_function_itself(wrap):
    """A function that reads what is set on its own jitted form."""

    def f(x):
        return x * jitted.scale

    jitted = wrap(f)
    for scale in (3.0, 5.0, 7.0, 7.0, 9.0):
        jitted.scale = scale
        np.testing.assert_allclose(jitted(X), X * scale)


def test_attributes_of_a_gradient():
    """`jit(grad(f))` reads them too."""

    def f(x):
        return np.sum(x * x) * slope.scale

    slope = ad.grad(f)
    jitted = ad.jit(slope)
    for scale in (3.0, 5.0, 7.0):
        slope.scale = scale
        np.testing.assert_allclose(jitted(X), 2 * X * scale)


@pytest.mark.parametrize("name", TRANSFORMED)
def test_counting_in_them_is_repeated(name):
    """As counting in any other object; refused in those that no copy stands for."""
    held = TRANSFORMED[name](square)
    held.calls = 0

    def f(x):
        held.calls += 1
        return x * held.calls

    jitted = ad.jit(f)
    if name in ("jit", "custom_rule", "partial", "partial of jit"):
        with pytest.raises(ImpureError, match=r"calls|attribute of a"):
            jitted(X)
        return
    for n in (1, 2, 3):
        np.testing.assert_array_equal(jitted(X), X * n)
        assert held.calls == n


@case
def keywords_of_a_partial():
    held = functools.partial(lambda x, a: x * a, a=2.0)
    return lambda x: held(x), *[lambda a=a: held.keywords.update(a=a) for a in (3.0, 4.0, 5.0, 6.0)]


@case
def keywords_of_the_partial_itself():
    held = functools.partial(lambda x, a: x * a, a=2.0)
    return held, *[lambda a=a: held.keywords.update(a=a) for a in (3.0, 4.0, 5.0, 6.0)]


@case
def items_of_keyword_defaults():
    def f(x, *, a=2.0):
        return x * a

    return f, *[lambda a=a: f.__kwdefaults__.update(a=a) for a in (3.0, 4.0, 5.0, 6.0)]


@case
def items_of_captured_keyword_defaults():
    def inner(x, *, a=2.0):
        return x * a

    return lambda x: inner(x), *[lambda a=a: inner.__kwdefaults__.update(a=a) for a in (3.0, 4.0, 5.0, 6.0)]


@case
def attribute_of_a_function_of_a_package():
    held = np.testing.assert_allclose
    held.scale = 2.0
    return lambda x: x * held.scale, setting(held, "scale", 3.0), setting(held, "scale", 4.0)


@pytest.mark.parametrize("make", CASES.values(), ids=CASES.keys())
def test_changes_are_seen(make):
    """Also where a number has become an input, which it does with its second change."""
    f, *changes = make()
    follows(f, *changes)


def test_rules_that_are_replaced():
    """A recording of a gradient is made with the rules of its time."""
    rule = ad.custom_rule(lambda x: x * x, vjp=lambda primals, out, g: (10.0 * g,))
    slope = ad.jit(ad.grad(lambda x: rule(x)))
    assert slope(3.0) == 10.0
    rule.def_vjp(lambda primals, out, g: (20.0 * g,))
    assert slope(3.0) == 20.0
