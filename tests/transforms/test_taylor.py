"""`ad.taylor` and `ad.curvature.taylor_polynomial`: what they give, with all else, and where there is no series."""

import math
import re
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.linalg
import scipy.special as sc

import adjoint as ad


def f(x):
    """The scalar example of lecture 003."""
    c = x**2 + np.exp(x**2)
    return np.sqrt(c) + np.cos(c)


def derivatives(function, x, order):
    """By nesting."""
    return [ad.derivative(function, k)(x) for k in range(order + 1)]


def same(got, want, rtol=1e-9):
    np.testing.assert_allclose(np.array(got, float), np.array(want, float), rtol=rtol, atol=1e-10)


def series_is_nested(function, x=0.4, order=4):
    """The derivatives of a series are those found by nesting."""
    same(ad.taylor(function, x, order).derivatives, derivatives(function, x, order))


def test_series_of_the_scalar_example():
    """Its derivatives are those found by nesting, its value and slope those of the lecture."""
    t = ad.taylor(f, 1.3, 6)
    assert t.order == 6
    assert len(t.coefficients) == 7
    assert round(t.derivatives[1], 6) == -9.144885
    same(t.derivatives, derivatives(f, 1.3, 6))
    same(t(0.001), f(1.301), rtol=1e-12)
    assert 0.1 < abs(t(0.01) - f(1.31)) / t.remainder(0.01) < 10.0


def test_lecture_polynomial_of_a_polynomial():
    """x**4 at 1: coefficients 1, 4, 6, 4, 1, then 0, so that T_6 is the polynomial itself (equation 12)."""
    t = ad.taylor(lambda x: x**4, 1.0, 6)
    assert t.coefficients == (1.0, 4.0, 6.0, 4.0, 1.0, 0.0, 0.0)
    assert str(t) == "1 + 4 s + 6 s^2 + 4 s^3 + s^4 + O(s^7)"
    assert t.radius == math.inf
    assert t.remainder(3.0) == 0.0
    same(t(2.0), 81.0)


def test_lecture_maclaurin_series():
    """sin(x) + cos(x) at 0: 1 + x - x^2/2! - x^3/3! + x^4/4! + x^5/5! - ..."""
    t = ad.taylor(lambda x: np.sin(x) + np.cos(x), 0.0, 7)
    signs = [1, 1, -1, -1, 1, 1, -1, -1]
    same(t.coefficients, [sign / math.factorial(k) for k, sign in enumerate(signs)])


def test_lecture_terms_of_several_variables():
    """x^2 + 2xy + y^3 at (1, 2): the terms for k = 0, ..., 3 as written out in the lecture (equations 56 to 61)."""

    def g(v):
        return v[0] ** 2 + 2.0 * v[0] * v[1] + v[1] ** 3

    x0, delta = np.array([1.0, 2.0]), np.array([0.3, -0.2])
    p = ad.curvature.taylor_polynomial(g, x0, 3)
    assert p.tensor(0) == 13.0
    same(p.tensor(1), [6.0, 14.0])
    same(p.tensor(2), [[2.0, 2.0], [2.0, 12.0]])
    third = np.zeros((2, 2, 2))
    third[1, 1, 1] = 6.0
    same(p.tensor(3), third)
    terms = p.terms(delta)
    same(terms[0], 13.0)
    same(terms[1], p.tensor(1) @ delta)
    same(terms[2], delta @ p.tensor(2) @ delta / 2.0)
    same(terms[2], np.trace(p.tensor(2) @ np.outer(delta, delta)) / 2.0)
    same(terms[3], np.einsum("ijk,i,j,k", p.tensor(3), delta, delta, delta) / 6.0)
    same(p(delta), g(x0 + delta))


def test_tensors_are_derivatives():
    """The first three are Jacobian, Hessian and the Jacobian of the Hessian, for results of any shape."""

    def g(x):
        return {"a": np.exp(x[0, 0] * x[1, 0]) * x[0, 1], "b": np.sin(x).reshape(-1)[:3] * x[1, 1]}

    x0 = np.array([[0.3, 0.7], [-0.2, 0.5]])
    p = ad.curvature.taylor_polynomial(g, x0, 1)
    for name in "ab":
        same(p.tensor(1)[name], ad.jacobian(lambda x, name=name: g(x)[name])(x0))
        second = ad.jacobian(ad.jacobian(lambda x, name=name: g(x)[name]))
        same(p.tensor(2)[name], second(x0))
        same(p.tensor(3)[name], ad.jacobian(second)(x0))
    assert ad.curvature.taylor_polynomial(np.sin, 0.5, 3).tensor(3) == -np.cos(0.5)


def test_entries_of_a_tensor_are_computed_once(monkeypatch):
    """Of the 10^3 entries of a third derivative, 220."""
    from adjoint.transforms.taylor import polynomial

    sizes = []

    def counting(fun, chunk_size):
        def mapped(*directions):
            sizes.append(len(directions[0]))
            return ad.vmap(fun, chunk_size=chunk_size)(*directions)

        return mapped

    monkeypatch.setattr(polynomial, "vmap", counting)
    ad.curvature.taylor_polynomial(lambda x: np.sum(np.exp(x)), np.ones(10), 1).tensor(3)
    assert sum(sizes) == 220


@dataclass
class Point:
    """A container."""

    x: float
    y: np.ndarray


def test_containers():
    """Containers go in, with a direction of the same structure, and come out, once for each order."""

    def g(p):
        return {"a": p.x * np.sum(p.y**2), "b": [np.exp(p.y), 3.0]}

    point, way = Point(0.5, np.array([1.0, 2.0])), Point(1.0, np.array([0.1, -0.2]))
    t = ad.taylor(g, point, 3, direction=way)
    along = [lambda s: g(Point(0.5 + s, point.y + s * way.y))["a"], lambda s: np.sum(np.exp(point.y + s * way.y))]
    same([c["a"] for c in t.derivatives], derivatives(along[0], 0.0, 3))
    same([np.sum(c["b"][0]) for c in t.derivatives], derivatives(along[1], 0.0, 3))
    assert [c["b"][1] for c in t.coefficients] == [3.0, 0.0, 0.0, 0.0]
    same(t(0.1)["a"], along[0](0.1), rtol=1e-4)
    assert set(t.remainder(0.1)) == {"a", "b"}
    assert str(t).splitlines()[-1].endswith("3 + O(s^4)")
    p = ad.curvature.taylor_polynomial(g, point, 3)
    same(p(way)["a"], sum([c["a"] for c in t.coefficients]))


def test_arrays_in_a_direction():
    """A direction has the shape of the array; results have the function's shape in every order."""
    rng = np.random.default_rng(0)
    a, v = rng.normal(size=(3, 3)) + 3 * np.eye(3), rng.normal(size=(3, 3))
    t = ad.taylor(np.linalg.inv, a, 5, direction=v)
    assert all([c.shape == (3, 3) for c in t.coefficients])
    same(t(0.01), np.linalg.inv(a + 0.01 * v), rtol=1e-8)


def test_precision_and_kinds():
    """float32 stays float32, complex numbers are as good as real ones, and numbers are of the kind that was given."""
    assert {c.dtype for c in ad.taylor(lambda x: np.exp(x) / (1 + x**2.5), np.float32(0.3), 4).coefficients} == {
        np.dtype(np.float32)
    }
    z = 0.3 + 0.2j
    same(np.abs(np.array(ad.taylor(np.exp, z, 3).derivatives) - np.exp(z)), np.zeros(4))
    assert [type(c) for c in ad.taylor(lambda x: x**3 + 1.0, 0.5, 5).coefficients] == [float] * 6


def scanned(x):
    c, ys = ad.scan(lambda c, t: (c * np.cos(x * t) + 0.1 * c * c, np.sin(c)), x, np.linspace(0, 1, 5))
    return c + np.sum(ys)


def looped(x):
    return ad.while_loop(lambda c: c[0] < 4.0, lambda c: (c[0] + 1.0, np.sin(c[1]) * x + c[1]), (0.0, x))[1]


def chosen(x):
    return ad.cond(x > 0, lambda x: np.exp(x), lambda x: -x, x) * ad.cond(x > 1, lambda x: x, lambda x: np.cos(x), x)


def assigned(x):
    y = np.zeros(3)
    y[0] = x
    y[1:] = np.sin(x) * np.array([1.0, 2.0])
    y[y > 0.5] *= x
    y += x
    return y[0] * y[1] + y[2]


def branching(x):
    total = x
    while total < 2.0:
        total = total + np.exp(x) * (x if total > 1.0 else 1.0)
    return total


def own_jvp(x):
    rule = ad.custom_rule(np.exp, jvp=lambda primals, out, tangents: out * tangents[0])
    return rule(x * x)


def own_vjp(x):
    rule = ad.custom_rule(np.exp, vjp=lambda primals, out, cotangent: (out * cotangent,))
    return rule(x * x)


def loop_in_a_rule(x):
    """A rule whose tangent is itself a loop."""

    def jvp(primals, out, tangents):
        return ad.scan(lambda c, _: (c * 1.0 + out * tangents[0] / 3.0, None), 0.0 * out, None, 3)[0]

    return ad.custom_rule(np.exp, jvp=jvp)(x * x)


def linear_algebra(x):
    a = np.array([[2.0, 0.3], [0.1, 1.5]]) + x * np.array([[0.0, 1.0], [0.5, 0.2]])
    s = a @ a.T + np.eye(2)
    w, v = np.linalg.eigh(s)
    return (
        np.sum(np.linalg.solve(a, np.array([1.0, x]))) + w[0] * v[0, 0] ** 2 + np.linalg.det(a) + np.linalg.norm(a, 2)
    )


def scanned_within_memory(x):
    return ad.scan(lambda c, t: (c * np.cos(x * t) + 0.1 * c * c, None), x, np.linspace(0, 1, 5), memory=100)[0]


def switched(x):
    return ad.switch(1, [lambda y: y, lambda y: np.sin(y) * y], x) + np.sum(ad.map(lambda t: np.exp(t * x), np.ones(3)))


PROGRAMS = [
    scanned, looped, chosen, assigned, branching, own_jvp, own_vjp, loop_in_a_rule, linear_algebra, ad.jit(f),
    ad.checkpoint(f), ad.grad(f), ad.grad(scanned), ad.grad(looped), lambda x: ad.taylor(f, x, 2).coefficients[2],
    scanned_within_memory, ad.grad(scanned_within_memory), switched,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: getattr(p, "__qualname__", "?"))
def test_programs(program):
    """Loops, branches, assignment, rules of one's own, linear algebra, and other transformations inside."""
    series_is_nested(program)


@pytest.mark.parametrize("program", [f, scanned, looped, chosen, linear_algebra], ids=lambda p: p.__qualname__)
def test_jit(program):
    """The coefficients of a jitted series are the same, at points other than the one it was recorded at too."""
    jitted = ad.jit(lambda x: ad.taylor(program, x, 5).coefficients)
    for x in (0.4, 0.5):
        same(jitted(x), ad.taylor(program, x, 5).coefficients, rtol=1e-12)


def test_series_of_jitted_code():
    """A jitted function has the series of its steps, to high orders, with several results, at kinks that cancel."""
    inner = ad.jit(lambda x, y: (np.sin(x) * y, np.argmax(x), np.exp(np.sum(x**3))))
    x, v = np.array([0.3, 0.5]), np.array([1.0, -2.0])
    found = ad.taylor(lambda x: inner(x, x**2), x, 12, direction=v).coefficients
    wanted = ad.taylor(lambda x: inner.fun(x, x**2), x, 12, direction=v).coefficients
    for c, d in zip(found, wanted, strict=True):
        for got, want in zip(c, d, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12)
    same(ad.taylor(ad.jit(lambda x: np.abs(x) ** 2), 0.0, 3).coefficients, [0.0, 0.0, 1.0, 0.0])
    same(ad.taylor(ad.jit(lambda x: np.sqrt(x * x) ** 2), 0.0, 3).coefficients, [0.0, 0.0, 1.0, 0.0])


@pytest.mark.filterwarnings("ignore:Matrix is singular")
def test_root_of_a_singular_matrix():
    """Its slope is infinite, and not one over the precision."""
    found = ad.taylor(lambda x: scipy.linalg.sqrtm(np.diag(np.array([1.0, x]))), 0.0, 2).coefficients
    assert not np.any(np.isfinite(found[1][1, 1]))
    assert not np.any(np.isfinite(found[2][1, 1]))


def test_pseudoinverse_of_low_rank():
    """Along matrices of the same rank it has a series."""
    u, v = np.array([1.0, 2.0]), np.array([0.5, -1.0, 2.0])
    t = ad.taylor(lambda x: np.linalg.pinv(np.outer(u * (1.0 + x), v + x)), 0.0, 3)
    np.testing.assert_allclose(t(1e-3), np.linalg.pinv(np.outer(u * 1.001, v + 1e-3)), rtol=1e-9)


def test_series_from_jitted_code():
    """A series itself may be the result of a jitted function."""
    t = ad.jit(lambda x: ad.taylor(f, x, 3))(0.4)
    same(t.coefficients, ad.taylor(f, 0.4, 3).coefficients)
    assert str(t) == str(ad.taylor(f, 0.4, 3))


def test_other_transformations_outside():
    """Gradients, tangents and batches of a coefficient."""
    want = 4.0 * ad.taylor(f, 0.4, 4).coefficients[4]
    same(ad.grad(lambda x: ad.taylor(f, x, 3).coefficients[3])(0.4), want)
    same(ad.jvp(lambda x: ad.taylor(f, x, 3).coefficients[3], (0.4,), (1.0,))[1], want)
    xs = np.array([0.4, 0.5])
    same(ad.vmap(lambda x: ad.taylor(f, x, 3).coefficients[3])(xs), [ad.taylor(f, x, 3).coefficients[3] for x in xs])
    way = np.array([1.0, 2.0])
    same(ad.grad(lambda v: ad.taylor(lambda x: np.prod(x), xs, 2, direction=v).coefficients[2])(way), [2.0, 1.0])
    same(ad.grad(ad.taylor(f, 0.4, 3))(0.1), ad.derivative(ad.taylor(f, 0.4, 3))(0.1))


def test_order_zero():
    """A series of order 0 is the value."""
    assert ad.taylor(lambda x: x * x, 3.0, 0).coefficients == (9.0,)
    assert ad.taylor(scanned, 0.4, 0).coefficients[0] == scanned(0.4)


def test_long_programs():
    """Steps are expanded as they are taken: nothing recurses over the program."""

    def g(x):
        for _ in range(5000):
            x = x + 0.0001 * np.sin(x)
        return x

    same(ad.taylor(g, 0.4, 2).derivatives, derivatives(g, 0.4, 2), rtol=1e-8)


NOWHERE = {
    "sqrt": (np.sqrt, 0.0, 1),
    "root of a square": (lambda x: np.sqrt(x * x), 0.0, 1),
    "half power of a square": (lambda x: (x * x) ** 0.5, 0.0, 1),
    "norm": (lambda x: np.linalg.norm(np.array([x, 2.0 * x])), 0.0, 1),
    "abs": (np.abs, 0.0, 1),
    "hypot": (lambda x: np.hypot(x, 2.0 * x), 0.0, 1),
    "arctan2": (lambda x: np.arctan2(x, 2.0 * x), 0.0, 1),
    "power 2.5": (lambda x: x**2.5, 0.0, 3),
    "cbrt": (np.cbrt, 0.0, 1),
    "arcsin": (np.arcsin, 1.0, 1),
    "relu": (lambda x: np.maximum(x, 0.0), 0.0, 1),
    "clip": (lambda x: np.clip(x, 0.0, 1.0), 1.0, 1),
    "max": (lambda x: np.max(np.array([x, 2.0 * x, -1.0])), 0.0, 1),
    "tie of second order": (lambda x: np.maximum(x, x + x**3), 0.0, 3),
    "x log x": (lambda x: sc.xlogy(x, x), 0.0, 1),
    "x log1p(x - 1)": (lambda x: sc.xlog1py(x, x - 1.0), 0.0, 1),
    "relative entropy": (lambda x: sc.rel_entr(x, 2.0 * x), 0.0, 1),
    "divergence": (lambda x: sc.kl_div(x, 2.0 * x), 0.0, 1),
    "scaled Bessel function": (sc.i0e, 0.0, 1),
    "scaled Bessel function of order 1": (lambda x: sc.ive(1, x), 0.0, 1),
    "power of 0": (lambda x: 0.0**x, 0.0, 1),
    "singular value": (lambda x: np.linalg.svd(np.diag(np.array([x, 1.0])), compute_uv=False)[1], 0.0, 1),
    "singular values": (lambda x: np.linalg.norm(np.array([[x, x], [x, 2.0 * x], [x, x]]), 2), 0.0, 1),
    "Legendre function": (lambda x: sc.lpmv(0, 2, x), 1.0, 2),
    "clipped by what has none": (lambda x: np.clip(x**3, np.abs(x), 1.0), 0.0, 1),
    "pseudoinverse that gains rank": (lambda x: np.linalg.pinv(np.diag(np.array([1.0, x])))[1, 1], 0.0, 1),
    "jitted": (ad.jit(np.abs), 0.0, 1),
    "square of a ramp": (lambda x: np.maximum(x, 0.0) ** 2, 0.0, 2),
    "x abs(x)": (lambda x: x * np.abs(x), 0.0, 2),
    "cube of a distance": (lambda x: np.linalg.norm(np.array([x, 2.0 * x])) ** 3, 0.0, 3),
    "root of a sixth power": (lambda x: np.sqrt(x**6), 0.0, 3),
    "root of what may be rounding": (lambda x: np.abs(1e-17 * x**2 + x**3), 0.0, 2),
    "tie up to what may be rounding": (lambda x: np.maximum(1e-17 * x**2 + x**3, 0.0), 0.0, 2),
}


@pytest.mark.parametrize("name", NOWHERE)
def test_where_there_is_no_series(name):
    """Coefficients that do not exist, or cannot be told, are inf or nan, in jitted code too; those before are not."""
    function, x, first = NOWHERE[name]
    for order in (3, 4):
        plain = ad.taylor(function, x, order).coefficients
        jitted = ad.jit(lambda x, order=order: ad.taylor(function, x, order).coefficients)(x)
        for found in (plain, jitted):
            assert np.all(np.isfinite(found[:first]))
            assert not np.any(np.isfinite(found[first:]))


def test_what_does_not_move_at_such_points():
    """Constants at the end of a domain, or at a tie with themselves, have a series: themselves."""
    way = np.array([0.0, 1.0])
    same(ad.taylor(np.sqrt, way, 2, direction=way).coefficients, [[0.0, 1.0], [0.0, 0.5], [0.0, -0.125]])
    same(ad.taylor(np.abs, way, 1, direction=way).coefficients, [[0.0, 1.0], [0.0, 1.0]])
    same(ad.taylor(lambda x: np.maximum(x, x * 1.0), 0.3, 2).coefficients, [0.3, 1.0, 0.0])
    same(ad.taylor(lambda x: np.max(np.array([x, x])), 0.3, 2).coefficients, [0.3, 1.0, 0.0])
    same(ad.taylor(lambda x: x ** np.array([2, 3]), 0.0, 3).coefficients, [[0, 0], [0, 0], [1, 0], [0, 1]])
    same(ad.taylor(lambda x: (x * way) ** 2.5, 1.0, 3).coefficients, [[0, 1], [0, 2.5], [0, 1.875], [0, 0.3125]])
    same(ad.taylor(lambda x: 0.0**x, 2.0, 2).coefficients, [0.0, 0.0, 0.0])
    same(ad.taylor(lambda x: sc.xlogy(0.0, x), 0.0, 2).coefficients, [0.0, 0.0, 0.0])
    sizes = ad.taylor(lambda x: np.linalg.svd(np.diag(np.array([x, 0.0])), compute_uv=False), 2.0, 2).coefficients
    same(sizes[:2], [[2.0, 0.0], [1.0, 0.0]])


SMOOTH = {
    "square of the absolute value": (lambda x: np.abs(x) ** 2, [0, 0, 1, 0, 0]),
    "absolute value of a square": (lambda x: np.abs(x**2 - x**3), [0, 0, 1, -1, 0]),
    "root of a fourth power": (lambda x: np.sqrt(x**4 + x**5), [0, 0, 1, 0.5, -0.125]),
    "square of a distance": (lambda x: np.linalg.norm(np.array([x, x * x])) ** 2, [0, 0, 1, 0, 1]),
    "squared hypotenuse": (lambda x: np.hypot(x, x * x) ** 2, [0, 0, 1, 0, 1]),
    "fourth power of a root": (lambda x: np.sqrt(x * x) ** 4, [0, 0, 0, 0, 1]),
    "power of a square": (lambda x: (x * x) ** 1.5 * np.abs(x), [0, 0, 0, 0, 1]),
    "cosine of a distance": (lambda x: np.cos(np.abs(x)), [1, 0, -0.5, 0, 1 / 24]),
    "tie of squares": (lambda x: np.maximum(x, x + x * x), [0, 1, 1, 0, 0]),
    "tie that does not matter": (lambda x: np.maximum(x, 0.0) + np.minimum(x, 0.0), [0, 1, 0, 0, 0]),
    "clipped at its lowest": (lambda x: np.clip(x * x, 0.0, 1.0), [0, 0, 1, 0, 0]),
    "largest of several": (lambda x: np.max(np.array([x**4, x * x, -x * x, 0.0])), [0, 0, 1, 0, 0]),
    "smallest of several": (lambda x: np.min(np.array([x * x, -x * x, 1.0])) - x, [0, -1, -1, 0, 0]),
    "distances of which one is 0": (
        lambda x: np.sum(np.sqrt(np.array([x**2, (x - 1.0) ** 2, 0.0 * x])) ** 2), [1, -2, 2, 0, 0],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SMOOTH)
def test_kinks_that_cancel(name):
    """Where the series of both sides are the same there is one, in plain and in jitted code and in a batch."""
    function, wanted = SMOOTH[name]
    same(ad.taylor(function, 0.0, 4).coefficients, wanted)
    jitted = ad.jit(lambda x: ad.taylor(function, x, 4).coefficients)
    ordinary = jitted(0.3)
    same(jitted(0.0), wanted)
    same(ordinary, ad.taylor(function, 0.3, 4).coefficients)
    batch = ad.vmap(lambda x: ad.taylor(function, x, 4).coefficients)(np.array([0.0, 0.3]))
    same([c[0] for c in batch], wanted)
    same([c[1] for c in batch], ordinary)


def test_elements_with_and_without_kinks():
    """Each element by itself; what the rules know without sides stays."""
    x, v = np.array([0.0, 0.0, 2.0, -1.0]), np.array([1.0, 0.0, 1.0, 1.0])
    found = ad.taylor(lambda x: np.abs(x) * x**2 + np.abs(x) ** 2, x, 3, direction=v).coefficients
    wanted = [[0.0, 0.0, 12.0, 2.0], [0.0, 0.0, 16.0, -5.0], [1.0, 0.0, 7.0, 4.0], [np.nan, 0.0, 1.0, -1.0]]
    np.testing.assert_allclose(found, wanted)
    slope = ad.grad(lambda t: ad.taylor(lambda x: np.abs(x * t) ** 2, 0.0, 2).coefficients[2])(3.0)
    assert slope == 6.0


def test_high_orders():
    """Derivatives whose factorials are beyond the range of floating-point numbers."""
    found = ad.taylor(lambda x: 1.0 / (2.0 - x), 1.0, 172).derivatives
    assert np.isclose(found[170], float(math.factorial(170)))
    assert found[171] == np.inf
    assert np.isclose(ad.taylor(lambda x: np.exp(0.2 * x), 0.0, 172).derivatives[10], 0.2**10)


def test_orders_that_there_are_not():
    """A polynomial of an order that was not asked for."""
    t = ad.taylor(np.sin, 0.5, 3)
    for order in (-1, 4, 1.5):
        with pytest.raises(ad.errors.InputError, match="has the orders from 0 to 3"):
            t.up_to(order, 0.1)


def test_nothing():
    """Functions of no numbers have series, and tensors, of no numbers."""
    none = np.zeros(0)
    assert [c.shape for c in ad.taylor(np.sin, none, 2, direction=none).coefficients] == [(0,)] * 3
    assert ad.curvature.taylor_polynomial(lambda x: np.sum(x**2), none, 2).tensor(2).shape == (0, 0)
    assert ad.curvature.taylor_polynomial(lambda x: np.ones(3), none, 2).tensor(1).shape == (3, 0)


def test_estimates():
    """The radius is the distance of the nearest singularity, the remainder what is left out, both roughly."""
    for function, x, radius in (
        (np.log, 2.0, 2.0),
        (np.tan, 0.0, math.pi / 2),
        (lambda x: 1 / (1 + x * x), 1.0, 2**0.5),
    ):
        t = ad.taylor(function, x, 16)
        assert 0.85 < t.radius / radius < 1.2
        assert 0.1 < abs(function(x + 0.5) - t(0.5)) / t.remainder(0.5) < 10.0
        assert t.remainder(2.0 * radius) == math.inf
    assert ad.taylor(np.exp, 0.0, 12).radius > 5.0
    assert math.isnan(ad.taylor(np.exp, 0.0, 1).radius)


def test_text():
    """Numbers, arrays and complex numbers as text and as LaTeX."""
    assert str(ad.taylor(lambda x: x * x - x, 0.0, 3)) == "-s + s^2 + O(s^4)"
    assert str(ad.taylor(lambda x: x * 0.0, 0.0, 2)) == "0 + O(s^3)"
    assert ad.taylor(np.exp, 0.0, 2).latex() == "1 + s + 0.5 s^{2} + O(s^{3})"
    both = ad.taylor(lambda x: np.array([1.0, 0.5]) * x, 1.0, 2)
    assert str(both) == "[1. 0.5] + [1. 0.5] s + O(s^3)"
    assert both.latex() == r"\begin{pmatrix}1 \\ 0.5\end{pmatrix} + \begin{pmatrix}1 \\ 0.5\end{pmatrix} s + O(s^{3})"
    assert repr(ad.taylor(lambda x: x, 2.0, 1)) == "<Taylor series of order 1: 2 + s + O(s^2)>"
    assert repr(ad.curvature.taylor_polynomial(np.sum, np.ones(3), 2)) == "<Taylor polynomial of order 2 at float64[3]>"


def test_picture():
    """The function and one line for each order, over x; and a refusal for more than one number."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    axes = ad.taylor(f, 1.0, 4).plot()
    assert [line.get_label() for line in axes.lines[:6]] == [*[f"order {k}" for k in range(5)], "the function"]
    assert axes.get_xlabel() == "x"
    assert ad.taylor(np.sum, np.ones(2), 2, direction=np.ones(2)).plot(np.linspace(0, 1, 5)).get_xlabel() == "s"
    with pytest.raises(ad.errors.InputError, match="one real number"):
        ad.taylor(np.exp, np.ones(2), 2, direction=np.ones(2)).plot()


REFUSED = {
    "order": (lambda: ad.taylor(np.exp, 0.0, -1), "taylor needs order, a whole number of at least 0", "order = int -1"),
    "direction": (
        lambda: ad.taylor(np.exp, np.ones(2), 2),
        "taylor needs a direction to go from arrays and containers.",
        "x0 = float64[2]",
    ),
    "containers": (
        lambda: ad.taylor(lambda p: p["a"], {"a": 1.0}, 2),
        "taylor needs a direction to go from arrays and containers.",
        "x0 = dict of 1 leaves",
    ),
    "function": (lambda: ad.taylor(3.0, 0.0, 2), "taylor needs a function.", "fun = float 3.0"),
    "shape": (
        lambda: ad.taylor(np.exp, np.ones(2), 2, direction=np.ones(3)),
        "A tangent given to taylor does not have the shape of its primal.",
        "direction = float64[3] for float64[2]",
    ),
    "integers": (
        lambda: ad.taylor(np.exp, np.int64(1), 2, direction=1),
        "taylor needs real or complex numbers",
        "x0 = int64[]",
    ),
    "tensor": (
        lambda: ad.curvature.taylor_polynomial(lambda p: p["a"], {"a": 1.0}, 2).tensor(1),
        "A derivative tensor needs a function of one number or one array.",
        "dict of 1 leaves",
    ),
    "polynomial": (
        lambda: ad.curvature.taylor_polynomial(np.exp, 0.0, 1.5),
        "taylor_polynomial needs order, a whole",
        "order = float 1.5",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    """What cannot be expanded is refused, with what was met."""
    call, what, got = REFUSED[name]
    with pytest.raises(ad.AdjointError, match=re.escape(what)) as refusal:
        call()
    assert f"got {got}" in str(refusal.value)


def test_no_partial():
    """An argument with respect to which no derivative is known is refused at the user's line."""
    special = pytest.importorskip("scipy.special")
    with pytest.raises(ad.errors.NotDifferentiableError, match="no known derivative with respect to argument 1"):
        ad.taylor(lambda v: special.jv(v, 1.0), 0.5, 2)
