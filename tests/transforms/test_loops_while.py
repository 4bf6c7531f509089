"""`while_loop` and `cond`: loops and branches that depend on values, alone and inside each other."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_grads


def python_while(cond, body, init):
    """What `ad.while_loop` has to be equal to."""
    state = init
    while cond(state):
        state = body(state)
    return state


def python_cond(pred, true_fun, false_fun, *operands):
    """What `ad.cond` has to be equal to."""
    return true_fun(*operands) if pred else false_fun(*operands)


def same(got, want):
    """Leaf by leaf."""
    import optree

    a, b = optree.tree_leaves(got), optree.tree_leaves(want)
    assert len(a) == len(b)
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)


def growth(loop):
    """Grow until a bound; the number of steps depends on the values."""

    def f(x, a):
        n, y = loop(lambda s: np.sum(s[1]) < 10.0, lambda s: (s[0] + 1, s[1] * a + np.sin(x)), (0, x))
        return np.sum(y**2) + n

    return f


X, A = np.array([1.0, 0.5]), 1.3
XB, AB = np.stack([X, 3 * X, X + 20.0, X * 0.1]), np.array([1.3, 1.1, 2.0, 1.5])
TRANSFORMS = {
    "value": lambda f: f,
    "gradient": lambda f: ad.grad(f, (0, 1)),
    "tangent": lambda f: lambda *a: ad.jvp(f, a, (np.cos(a[0]), 0.7))[1],
    "hessian": ad.hessian,
    "forward twice": lambda f: lambda x, a: ad.jvp(lambda a: ad.jvp(f, (x, a), (x, 1.0))[1], (a,), (1.0,))[1],
    "reverse twice": lambda f: ad.grad(lambda x, a: np.sum(ad.grad(f)(x, a) ** 2), (0, 1)),
    "third": lambda f: lambda x, a: ad.jvp(lambda x: ad.hessian(f)(x, a), (x,), (x,))[1],
}


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_while_under_every_transform(transform):
    """A while loop is Python's."""
    same(TRANSFORMS[transform](growth(ad.while_loop))(X, A), TRANSFORMS[transform](growth(python_while))(X, A))


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_while_jitted(transform):
    """One recording, whatever the number of steps; a second sweep back needs the number, and has one for each."""
    f = ad.jit(TRANSFORMS[transform](growth(ad.while_loop)))
    for a in (1.3, 1.1, 2.0):
        same(f(X, a), TRANSFORMS[transform](growth(python_while))(X, a))
    if transform in ("value", "gradient", "tangent"):
        assert f.stats()["recordings"] == 1


@pytest.mark.parametrize("transform", [w for w in TRANSFORMS if w != "third"])
@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0)])
def test_while_in_batches(transform, axes):
    """Examples that stop at different times."""
    x, a = XB if axes[0] == 0 else X, AB if axes[1] == 0 else A
    got = ad.vmap(TRANSFORMS[transform](growth(ad.while_loop)), axes)(x, a)
    plain = TRANSFORMS[transform](growth(python_while))
    each = [plain(x[k] if axes[0] == 0 else x, a[k] if axes[1] == 0 else a) for k in range(4)]
    import optree

    same(got, optree.tree_map(lambda *parts: np.stack(parts), *each))


def test_gradient_of_a_batch_of_while_loops():
    """The sweep back waits for those who took fewer steps."""
    f = lambda loop: lambda x, a: sum([growth(loop)(x[k], a[k]) ** 2 for k in range(4)])  # noqa: E731
    g = lambda x, a: np.sum(ad.vmap(growth(ad.while_loop))(x, a) ** 2)  # noqa: E731
    same(ad.grad(g, (0, 1))(XB, AB), ad.grad(f(python_while), (0, 1))(XB, AB))


def test_batch_with_a_common_condition():
    """If the condition is the same for all, nobody waits."""
    f = lambda loop: lambda x: loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, s[1] * x + 1.0), (0, x))[1]  # noqa: E731
    same(ad.vmap(ad.grad(f(ad.while_loop)))(AB), np.array([ad.grad(f(python_while))(a) for a in AB]))


def test_while_of_no_steps():
    """The state as it was, with gradient 1."""
    f = lambda x: ad.while_loop(lambda y: y < 0, lambda y: y * -2, x)  # noqa: E731
    assert f(3.0) == 3.0
    assert ad.grad(f)(3.0) == 1.0
    assert ad.vmap(ad.grad(f))(np.array([3.0, -3.0])).tolist() == [1.0, -2.0]


def test_laws():
    """Central differences and the adjoint law."""
    check_grads(growth(ad.while_loop), (X, A), order=2)


def test_while_finite_at_singular_points():
    """Masked roots contribute nothing."""

    def f(loop):
        def step(s):
            k, y = s
            return k + 1, np.where(y > 0, np.sqrt(y), 0.0) * 2

        return lambda y: np.sum(loop(lambda s: s[0] < 3, step, (0, y))[1])

    y = np.array([0.0, 4.0])
    same(ad.grad(f(ad.while_loop))(y), ad.grad(f(python_while))(y))


def test_while_errors():
    """A condition that is not one truth value, a state that changes its type."""
    with pytest.raises(TypeError, match="one truth value"):
        ad.while_loop(lambda y: y < np.zeros(2), lambda y: y, 0.0)
    with pytest.raises(TypeError, match="has to keep its type"):
        ad.while_loop(lambda y: np.sum(y) < 3, lambda y: np.concatenate([y, y]), np.ones(2))


def test_while_with_a_branch_falls_back():
    """A body with an if is Python's loop."""
    f = lambda loop: lambda x: loop(lambda y: y < 30, lambda y: y * 2 if y < 10 else y * x, x)  # noqa: E731
    same(ad.grad(f(ad.while_loop))(3.0), ad.grad(f(python_while))(3.0))
    same(ad.jit(ad.grad(f(ad.while_loop)))(3.0), ad.grad(f(python_while))(3.0))


def choice(cond):
    """A branch with closures over both arguments."""
    return lambda x, a: cond(np.sum(x) > a, lambda y: np.sum(y**2) * a, lambda y: np.sum(np.sin(y * a)), x)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_cond_under_every_transform(transform):
    """Eagerly, jitted and in batches."""
    f, g = TRANSFORMS[transform](choice(ad.cond)), TRANSFORMS[transform](choice(python_cond))
    jitted = ad.jit(f)
    for a in (0.5, 2.5):
        same(f(X, a), g(X, a))
        same(jitted(X, a), g(X, a))
    import optree

    each = [g(x, a) for x, a in zip(XB, AB, strict=True)]
    same(ad.vmap(f)(XB, AB), optree.tree_map(lambda *parts: np.stack(parts), *each))


def test_cond_has_one_recording():
    """Both branches are in it."""
    f = ad.jit(choice(ad.cond))
    f(X, 0.5), f(X, 2.5)
    assert f.stats()["recordings"] == 1


def test_cond_is_finite_where_its_branch_is():
    """The other branch has an infinite slope, and is not taken."""
    f = lambda x: np.sum(ad.map(lambda x: ad.cond(x > 0, np.sqrt, lambda x: 0.0 * x, x), x))  # noqa: E731
    x = np.array([0.0, 4.0])
    assert ad.grad(f)(x).tolist() == [0.0, 0.25]
    g = lambda x: ad.cond(x > 0, np.sqrt, lambda x: 0.0 * x, x)  # noqa: E731
    assert ad.vmap(ad.grad(g))(x).tolist() == [0.0, 0.25]
    assert ad.grad(lambda x: np.sum(ad.vmap(g)(x)))(x).tolist() == [0.0, 0.25]


def test_cond_containers_and_types():
    """An integer in one branch and a real number in the other; shapes that differ."""
    f = ad.jit(lambda p, x: ad.cond(p > 0, lambda x: {"a": x, "b": 1}, lambda x: {"a": 2 * x, "b": 0.5}, x))
    got = f(1.0, X)
    assert got["b"] == 1.0
    assert np.asarray(got["b"]).dtype == np.float64
    with pytest.raises(TypeError, match="same containers and shapes"):
        ad.jit(lambda p, x: ad.cond(p > 0, lambda x: x, lambda x: x[:1], x))(1.0, X)
    with pytest.raises(TypeError, match="same containers and shapes"):
        ad.jit(lambda p, x: ad.cond(p > 0, lambda x: x, lambda x: (x, x), x))(1.0, X)
    with pytest.raises(TypeError, match="cond needs pred, True, False, or one real number"):
        ad.cond(np.array([True, False]), np.sin, np.cos, 1.0)


def test_cond_with_a_branch_inside_falls_back():
    """An if inside a branch is decided, with a guard."""
    f = lambda x: ad.cond(x > 0, lambda x: x**2 if x > 5 else x**3, lambda x: -x, x)  # noqa: E731
    g = ad.jit(ad.grad(f))
    assert [g(6.0), g(2.0), g(-1.0)] == [12.0, 12.0, -1.0]


def nested(scan, loop, cond):
    """A while loop and a branch inside a scan."""

    def step(c, x):
        c = loop(lambda y: np.sum(y) < x + 3, lambda y: y * 1.5 + 0.1 * c, c)
        c = cond(np.sum(c) > 4, lambda c: c / 2 + np.sin(x), lambda c: c * x, c)
        return c, np.sum(c**2)

    return lambda c, xs: np.sum(scan(step, c, xs)[1])


def python_scan(f, init, xs):
    """What `ad.scan` has to be equal to."""
    carry, ys = init, []
    for x in xs:
        carry, y = f(carry, x)
        ys.append(y)
    return carry, np.stack(ys)


ROLLED, PLAIN = nested(ad.scan, ad.while_loop, ad.cond), nested(python_scan, python_while, python_cond)


@pytest.mark.parametrize(
    "transform", [w for w in TRANSFORMS if w not in ("forward twice", "third", "reverse twice", "tangent")]
)
def test_nested(transform):
    """A while loop and a branch inside a scan, eagerly, jitted and in batches."""
    c, xs = np.array([0.5, 0.2]), np.array([0.5, 1.5, 2.5])
    want = TRANSFORMS[transform](PLAIN)(c, xs)
    same(TRANSFORMS[transform](ROLLED)(c, xs), want)
    same(ad.jit(TRANSFORMS[transform](ROLLED))(c, xs), want)
    got = ad.vmap(TRANSFORMS[transform](ROLLED))(np.stack([c, 2 * c]), np.stack([xs, xs + 1]))
    import optree

    each = [want, TRANSFORMS[transform](PLAIN)(2 * c, xs + 1)]
    same(got, optree.tree_map(lambda *parts: np.stack(parts), *each))


def test_reverse_twice_through_a_while_loop_in_a_scan():
    """Nobody knows the number of steps in advance; in a program, too."""
    c, xs = np.array([0.5, 0.2]), np.array([0.5, 1.5, 2.5])
    twice = TRANSFORMS["reverse twice"]
    same(twice(ROLLED)(c, xs), twice(PLAIN)(c, xs))
    of = lambda f: ad.grad(lambda c: np.sum(ad.grad(f)(c, xs) ** 2))  # noqa: E731
    same(ad.jit(of(ROLLED))(c), of(PLAIN)(c))


def test_scan_in_while():
    """The other way round."""

    def f(scan, loop):
        inner = lambda y: scan(lambda c, x: (c * x, c), y, np.array([1.1, 1.2]))[0]  # noqa: E731
        return lambda x: loop(lambda y: y < 10, lambda y: inner(y) + np.sin(x), x)

    got, want = f(ad.scan, ad.while_loop), f(python_scan, python_while)
    same(ad.grad(got)(1.0), ad.grad(want)(1.0))
    same(ad.grad(ad.grad(got))(1.0), ad.grad(ad.grad(want))(1.0))
    same(ad.hessian(got)(1.0), ad.hessian(want)(1.0))


def nested(start, *, mode):
    """Descent inside descent, by derivatives of either mode: thousands of steps, of which each loop has few."""

    def argmin(f, x, slope):
        def body(s):
            x, _ = s
            d = slope(f)(x)
            return x - 0.2 * d, d * d

        return ad.while_loop(lambda s: s[1] > 1e-12, body, (x, 1.0))[0]

    slopes = {"reverse": ad.grad, "forward": lambda f: lambda x: ad.jvp(f, (x,), (1.0,))[1]}
    inner = lambda x: argmin(lambda y: (y - x) ** 2 + 0.1 * y**4, 1.0, ad.grad)  # noqa: E731
    return argmin(lambda x: (inner(x) - 0.3) ** 2, start, slopes[mode])


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_long_loops_go_on_in_machine_code(mode, monkeypatch):
    """Python hands over what it has taken too long for, in the middle of a loop, and the result is the same."""
    from adjoint.transforms.loops import running

    monkeypatch.setattr(running, "LONG", 10**9)
    by_python = nested(1.5, mode=mode)
    for steps in (0, 50, 1_000, 20_000):
        monkeypatch.setattr(running, "LONG", steps)
        assert nested(1.5, mode=mode) == pytest.approx(by_python, rel=1e-9)
    assert by_python == pytest.approx(0.3 + 0.2 * 0.3**3, rel=1e-4)


LOOPS_OF_NO_STEPS = {
    "while": lambda a: ad.while_loop(lambda s: s[0] < 0, lambda s: (s[0] + 1, np.linalg.inv(s[1])), (0, a))[1],
    "of values": lambda a: ad.while_loop(lambda s: np.sum(s) > 1.0, np.linalg.cholesky, a),
    "fori": lambda a: ad.fori_loop(3, 3, lambda i, s: np.linalg.inv(s), a),
}


@pytest.mark.parametrize("name", LOOPS_OF_NO_STEPS)
@pytest.mark.parametrize("how", ["plain", "jit", "grad", "jit(grad)"])
def test_a_body_that_would_raise_is_not_asked(name, how):
    """A loop of no steps returns what it started with, whatever its body would do there."""
    f = LOOPS_OF_NO_STEPS[name]
    loss = ad.grad(lambda a: np.sum(f(a) * 2.0))
    fun = {"plain": f, "jit": ad.jit(f), "grad": loss, "jit(grad)": ad.jit(loss)}[how]
    for a in (np.zeros((2, 2)), -np.eye(2), np.zeros((2, 2))):
        np.testing.assert_array_equal(fun(a), np.full((2, 2), 2.0) if "grad" in how else a)
    with pytest.raises(np.linalg.LinAlgError):
        ad.fori_loop(0, 1, lambda i, s: np.linalg.inv(s), np.zeros((2, 2)))


@pytest.mark.parametrize("n", [0, 1, 3])
def test_two_sweeps_back_through_a_loop_in_a_scan(n):
    """The outer loop is gone through step by step, also if there is none."""

    def last(p, xs):
        def step(c, x):
            found = ad.while_loop(lambda s: s > 0.5, lambda s: s * 0.7 * np.cos(p), c + x)
            return found, found * x

        found, rows = ad.scan(step, p, xs)
        return found**2 + np.sum(rows)

    slope, xs = ad.grad(last), np.linspace(0.5, 1.0, n)
    np.testing.assert_allclose(ad.grad(slope)(0.3, xs), ad.hessian(last)(0.3, xs))


def test_a_gradient_in_every_round_costs_what_ordinary_points_need():
    """Where no slope is infinite, the program of the derivative has nothing for such points."""

    def f(w):
        def potential(x):
            return 1.0 / np.sqrt(np.sum((x - w) ** 2))

        return np.sum(ad.while_loop(lambda x: x[0] < 3.0, lambda x: x - ad.grad(potential)(x), np.array([1.0, 2.0])))

    slope = ad.jit(lambda w: ad.jvp(f, (w,), (1.0,)))
    for _ in range(2):  # what was captured before is used again, and says the same
        steps = slope.lower(0.3).program.steps
        assert {s.primitive.name for s in steps if "body" in s.params} == {"while_loop"}
        assert slope(0.3) == pytest.approx(ad.jvp(f, (0.3,), (1.0,)))
    assert slope(0.3)[1] == pytest.approx((f(0.3 + 1e-6) - f(0.3 - 1e-6)) / 2e-6, rel=1e-6)


ROOTS = {
    "scan": lambda x: ad.scan(lambda c, _: (np.sqrt(c) ** 2, None), x, length=3)[0],
    "while": lambda x: ad.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, np.sqrt(s[1]) ** 2), (0, x))[1],
}


@pytest.mark.parametrize("name", ROOTS)
@pytest.mark.parametrize("how", ["jvp", "jit(jvp)", "grad", "jit(grad)", "vmap"])
def test_hopes_in_vain(name, how):
    """A singular point that is met inside a loop is dealt with, the first time and later, alone and among others."""
    f = ROOTS[name]
    jvp = lambda x: ad.jvp(f, (x,), (1.0,))[1]  # noqa: E731
    slope = {"jvp": jvp, "jit(jvp)": ad.jit(jvp), "grad": ad.grad(f), "jit(grad)": ad.jit(ad.grad(f))}.get(how)
    if slope is None:
        found = ad.vmap(jvp)(np.array([4.0, 0.0, 1.0]))
        assert found == pytest.approx([1.0, np.nan if np.isnan(found[1]) else 1.0, 1.0], nan_ok=True)
        return
    for x in (4.0, 0.0, 4.0, 0.0):
        assert slope(x) == pytest.approx(1.0)
