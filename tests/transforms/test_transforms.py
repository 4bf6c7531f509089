"""The public transformations: arguments, containers, signatures."""

import math
import re
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad


@dataclass
class Model:
    """Parameters in a dataclass."""

    weight: np.ndarray
    bias: float


Pair = namedtuple("Pair", "first second")


def loss(model, x):
    return np.sum(np.tanh(x @ model.weight + model.bias) ** 2)


def test_containers_come_back_as_they_went_in():
    """Dicts, lists, tuples, named tuples and dataclasses, nested."""
    x = np.array([[1.0, 2.0], [0.5, -1.0]])
    model = Model(np.array([0.3, -0.2]), 0.1)
    g = ad.grad(loss)(model, x)
    assert isinstance(g, Model)
    np.testing.assert_allclose(g.weight, ad.grad(lambda w: loss(Model(w, 0.1), x))(model.weight))
    assert type(g.bias) is float
    nested = {"a": [1.0, (2.0, np.ones(2))], "b": Pair(3.0, {"c": 4.0})}
    g = ad.grad(lambda p: p["a"][0] * p["a"][1][0] * p["a"][1][1].sum() + p["b"].first * p["b"].second["c"])(nested)
    assert g["a"][0] == 4.0
    assert g["a"][1][0] == 2.0
    assert g["a"][1][1].tolist() == [2.0, 2.0]
    assert g["b"] == Pair(4.0, {"c": 3.0})


def test_several_layers_of_one_class():
    """A list of dataclasses that were never met before; their settings are no parameters."""

    @dataclass
    class Layer:
        weight: np.ndarray
        activation: str = "tanh"
        squash: object = np.tanh
        trained: bool = True

    layers = [Layer(np.array([0.3, -0.2])), Layer(np.array([0.5, 0.1]), "none")]
    g = ad.grad(lambda p: sum(np.sum(q.squash(q.weight) if q.activation == "tanh" else q.weight) for q in p))(layers)
    assert [type(q) for q in g] == [Layer, Layer]
    assert [q.activation for q in g] == ["tanh", "none"]
    np.testing.assert_allclose(g[0].weight, 1 - np.tanh(layers[0].weight) ** 2)
    assert g[1].weight.tolist() == [1.0, 1.0]


def test_argnums_and_aux():
    """One argument, several, negative numbers; anything besides the value."""
    f = lambda x, y: x**2 * y  # noqa: E731
    assert ad.grad(f)(3.0, 2.0) == 12.0
    assert ad.grad(f, argnums=1)(3.0, 2.0) == 9.0
    assert ad.grad(f, argnums=-1)(3.0, 2.0) == 9.0
    assert ad.grad(f, argnums=(1, 0))(3.0, 2.0) == (9.0, 12.0)
    value, g = ad.value_and_grad(lambda x: (x**2, {"seen": x * 2, "note": "text"}), has_aux=True)(3.0)
    assert value == (9.0, {"seen": 6.0, "note": "text"})
    assert g == 6.0
    assert ad.grad(lambda x: (x**2, x), has_aux=True)(3.0) == (6.0, 3.0)
    assert ad.grad(lambda x, *, k: x * k)(3.0, k=4.0) == 4.0


def test_vjp_of_several_arguments():
    """A tuple with one cotangent for each primal; zeros for what does not matter."""
    y, pullback = ad.vjp(lambda x, y, z: {"s": x @ y, "x": x}, np.ones(2), np.arange(2.0), 5.0)
    assert y["s"] == 1.0
    gx, gy, gz = pullback({"s": 2.0, "x": np.array([10.0, 0.0])})
    assert gx.tolist() == [10.0, 2.0]
    assert gy.tolist() == [2.0, 2.0]
    assert gz == 0.0
    assert ad.vjp(lambda x: (x, "kept"), 1.0, has_aux=True)[2] == "kept"


def test_jvp_aux_and_constants():
    """A result that does not depend on the input has a zero tangent."""
    value, tangent, aux = ad.jvp(lambda x: ((x * 2, np.ones(2)), "note"), (3.0,), (1.0,), has_aux=True)
    assert value[0] == 6.0
    assert tangent[0] == 2.0
    assert tangent[1].tolist() == [0.0, 0.0]
    assert aux == "note"


def test_linearize_runs_the_function_once():
    """The linear map is applied without evaluating the function again, and agrees with jvp."""
    calls = []

    def f(x, y):
        calls.append(1)
        return np.sin(x) * y, x[0]

    x, y = np.array([0.1, 0.2]), 3.0
    value, push = ad.linearize(f, x, y)
    for dx, dy in [(np.ones(2), 0.0), (np.array([1.0, -1.0]), 2.0)]:
        found = push(dx, dy)
        assert len(calls) == 1
        want = ad.jvp(f, (x, y), (dx, dy))[1]
        calls.pop()
        np.testing.assert_allclose(found[0], want[0], rtol=1e-15)
        assert found[1] == want[1]
    np.testing.assert_array_equal(value[0], np.sin(x) * y)


def test_linear_transpose_is_the_transpose():
    """<g, A t> = <A* g, t>; only shapes are looked at."""
    a = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    transpose = ad.linear_transpose(lambda x, y: a @ x + 2.0 * y, np.zeros(3), np.zeros(2))
    gx, gy = transpose(np.array([1.0, -1.0]))
    assert gx.tolist() == [-3.0, -3.0, -3.0]
    assert gy.tolist() == [2.0, -2.0]


def test_jacobians_of_containers():
    """out-structure of in-structure, each leaf out.shape + in.shape."""
    f = lambda p: {"y": p["w"] @ p["x"], "s": p["x"].sum()}  # noqa: E731
    p = {"w": np.arange(6.0).reshape(2, 3), "x": np.ones(3)}
    for mode in (ad.jacobian, ad.jacfwd, ad.jacrev):
        j = mode(f)(p)
        np.testing.assert_array_equal(j["y"]["x"], p["w"])
        assert j["y"]["w"].shape == (2, 2, 3)
        assert j["s"]["x"].tolist() == [1.0, 1.0, 1.0]
        assert j["s"]["w"].tolist() == [[0.0] * 3] * 2
    assert ad.jacobian(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0) == (3.0, 2.0)
    j, aux = ad.jacobian(lambda x: (x**2, "aux"), has_aux=True)(np.ones(2))
    assert aux == "aux"


@pytest.mark.parametrize("chunk_size", [None, 1, 2, 3, 100])
def test_chunks_change_nothing(chunk_size):
    """Memory is bounded, the result is the same."""
    x = np.arange(5.0)
    f = lambda x: np.outer(x, np.sin(x)).ravel()  # noqa: E731
    want = ad.numerical.jacobian(f, method="complex")(x)
    for mode in (ad.jacobian, ad.jacfwd, ad.jacrev):
        np.testing.assert_allclose(mode(f, chunk_size=chunk_size)(x), want, atol=1e-14)
    xs = np.stack([x, x + 1, x - 1, 2 * x])
    np.testing.assert_allclose(ad.vmap(f, chunk_size=chunk_size)(xs), np.stack([f(a) for a in xs]), atol=1e-15)


def test_the_cheaper_mode_is_chosen():
    """Few inputs: columns; few outputs: rows. Counted by the evaluations of a rule."""
    pushed, pulled = [], []
    f = ad.custom_rule(
        lambda x: x * 1.0,
        jvp=lambda primals, out, tangents: pushed.append(1) or tangents[0],
        vjp=lambda primals, out, g: pulled.append(1) or (g,),
    )
    ad.jacobian(lambda x: np.concatenate([f(x), f(x)]))(np.ones(2))
    assert pushed
    assert not pulled
    pushed.clear()
    ad.jacobian(lambda x: np.sum(f(x)))(np.ones(2))
    assert pulled
    assert not pushed


def test_custom_rule_around_code_for_plain_numbers_inside_vmap():
    """The function is called with the plain values of one example after the other."""
    sine = ad.custom_rule(lambda x, k: math.sin(x) * k, jvp=lambda p, out, t: np.cos(p[0]) * t[0] * p[1])
    xs = np.array([0.3, 0.7, 1.1])
    np.testing.assert_allclose(ad.vmap(sine, in_axes=(0, None))(xs, 2), 2 * np.sin(xs))
    np.testing.assert_allclose(ad.vmap(ad.grad(sine), in_axes=(0, None))(xs, 2), 2 * np.cos(xs))
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(ad.vmap(lambda v: sine(v, 2))(x)))(xs), 2 * np.cos(xs))
    nested = ad.vmap(ad.vmap(lambda v: sine(v, 2)))(np.outer(xs, xs))
    np.testing.assert_allclose(nested, 2 * np.sin(np.outer(xs, xs)))


def test_hessians():
    """Symmetric; of a vector field (m, n, n); of containers, blocks; times a vector."""
    x = np.array([0.3, 0.7, -0.2])
    f = lambda x: np.exp(x[0] * x[1]) + x[2] ** 3 * x[0]  # noqa: E731
    h = ad.hessian(f)(x)
    np.testing.assert_allclose(h, h.T)
    np.testing.assert_allclose(h, ad.numerical.jacobian(ad.grad(f))(x), atol=1e-8)
    field = ad.hessian(lambda x: np.array([f(x), x @ x]))(x)
    assert field.shape == (2, 3, 3)
    np.testing.assert_allclose(field[1], 2 * np.eye(3), atol=1e-15)
    t = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(ad.hvp(f, (x,), (t,)), h @ t)
    blocks = ad.hessian(lambda p: p["a"] * p["b"] ** 2)({"a": 2.0, "b": 3.0})
    assert blocks["a"]["b"] == 6.0
    assert blocks["b"]["b"] == 4.0


def test_vmap_axes():
    """Axes for each argument, nested, none, negative; where the new axis goes."""
    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(ad.vmap(np.sum, in_axes=1)(x), x.sum(0))
    np.testing.assert_array_equal(ad.vmap(lambda a: a * 2, in_axes=-1, out_axes=-1)(x), x * 2)
    f = lambda p, y: p["w"] @ y + p["b"]  # noqa: E731
    w, b, y = np.ones((5, 2, 3)), np.arange(5.0), np.arange(3.0)
    found = ad.vmap(f, in_axes=({"w": 0, "b": 0}, None))({"w": w, "b": b}, y)
    np.testing.assert_array_equal(found, np.stack([w[i] @ y + b[i] for i in range(5)]))
    a, c = ad.vmap(lambda x: (x, x.sum()), out_axes=(1, 0))(x)
    assert a.shape == (4, 3)
    assert c.shape == (3,)
    np.testing.assert_array_equal(ad.vmap(lambda x, k: x * k)(x, k=np.arange(3.0)), x * np.arange(3.0)[:, None])
    constant = ad.vmap(lambda x: np.ones(2))(x)
    assert constant.shape == (3, 2)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ad.vmap(np.sin, in_axes=2)(np.ones(3)), "vmap cannot map over axis 2 of the argument x"),
        (lambda: ad.vmap(np.add)(np.ones(3), np.ones(2)), "vmap got arguments of different sizes along"),
        (lambda: ad.vmap(np.sin, in_axes=None)(np.ones(3)), "vmap needs at least one argument to map over"),
        (lambda: ad.vmap(np.add, in_axes=(0,))(np.ones(3), 1.0), "in_axes of vmap has to be one axis, or one entry"),
        (lambda: ad.derivative(np.sin, -1), "derivative needs n, a whole number of at least 0 and at most 100."),
        (lambda: ad.numerical.grad(np.sin, method="spectral"), "method must be one of central, forward, complex"),
        (lambda: ad.testing.check_grads(np.sin, (1.0,), modes=("up",)), "modes must be among forward, reverse; got up"),
    ],
)
def test_wrong_arguments(call, text):
    """Plain mistakes get plain ValueErrors."""
    with pytest.raises(ValueError, match=f"^{re.escape(text)}"):  # from the first word: the line of the call is quoted
        call()


def test_checkpoint_computes_again_instead_of_storing():
    """Four blocks, all but the third stored: one evaluation more than the four, 1.25 times the computation."""
    runs = dict.fromkeys(range(1, 5), 0)

    def block(k):
        def evaluate(x):
            runs[k] += 1
            return np.sin(x) * k

        return evaluate

    plain = ad.grad(lambda x: np.sum(block(4)(block(3)(block(2)(block(1)(x))))))(np.ones(3))
    assert sum(runs.values()) == 4
    runs.update(dict.fromkeys(runs, 0))
    stored = ad.grad(lambda x: np.sum(block(4)(ad.checkpoint(block(3))(block(2)(block(1)(x))))))(np.ones(3))
    np.testing.assert_array_equal(stored, plain)
    assert runs == {1: 1, 2: 1, 3: 2, 4: 1}
    assert sum(runs.values()) / 4 == 1.25


def test_checkpoints_nest():
    """A checkpoint inside a checkpoint, to second order, with containers and constants among the arguments."""
    inner = ad.checkpoint(lambda p, n: {"y": np.sin(p["x"]) ** n})
    outer = ad.checkpoint(lambda p, n: inner({"x": inner(p, n)["y"]}, n)["y"].sum())
    plain = lambda p: np.sum(np.sin(np.sin(p["x"]) ** 3) ** 3)  # noqa: E731
    p = {"x": np.array([0.3, 0.8])}
    np.testing.assert_allclose(ad.grad(lambda p: outer(p, 3))(p)["x"], ad.grad(plain)(p)["x"], rtol=1e-14)
    x = p["x"]
    h = ad.hessian(lambda x: outer({"x": x}, 3))(x)
    np.testing.assert_allclose(h, ad.hessian(lambda x: plain({"x": x}))(x), rtol=1e-12)
    np.testing.assert_allclose(ad.jacfwd(lambda x: outer({"x": x}, 3))(x), ad.grad(plain)(p)["x"], rtol=1e-14)


def test_checkpoint_holds_less_memory():
    """The intermediate arrays of a checkpointed block are gone when the forward sweep is over."""
    import tracemalloc

    def block(x):
        for _ in range(20):
            x = np.sin(x) * 1.01
        return x

    def peak(f):
        tracemalloc.start()
        ad.grad(lambda x: np.sum(f(f(f(f(x))))))(np.ones(50_000))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(ad.checkpoint(block)) < 0.5 * peak(block)


@pytest.mark.parametrize("given", ["jvp", "vjp", "both"])
def test_custom_rules_in_every_mode(given):
    """Of JVP and VJP one is enough: the other is its transpose."""
    rules = {
        "jvp": lambda primals, out, tangents: (
            np.cos(primals[0] * primals[1]) * (tangents[0] * primals[1] + primals[0] * tangents[1])
        ),
        "vjp": lambda primals, out, g: (
            g * np.cos(primals[0] * primals[1]) * primals[1],
            np.sum(g * np.cos(primals[0] * primals[1]) * primals[0]),
        ),
    }
    used = rules if given == "both" else {given: rules[given]}
    f = ad.custom_rule(lambda x, k: np.sin(x * k), **used)
    x = np.array([0.2, 0.5])
    ad.testing.check_grads(f, (x, 1.5), order=2)
    xs = np.stack([x, 2 * x, x - 1])
    want = np.stack([ad.grad(lambda x: np.sum(np.sin(1.5 * x)))(a) for a in xs])
    np.testing.assert_allclose(ad.vmap(ad.grad(lambda x: np.sum(f(x, 1.5))))(xs), want, rtol=1e-14)
    np.testing.assert_allclose(ad.grad(lambda xs: np.sum(ad.vmap(lambda x: f(x, 1.5))(xs)))(xs), want, rtol=1e-14)


def test_custom_rule_for_code_that_is_not_numpy():
    """The function itself only ever sees plain values."""
    import math

    seen = []

    @ad.custom_rule
    def gamma(x):
        seen.append(type(x))
        return math.gamma(x)

    @gamma.def_jvp
    def _(primals, out, tangents):
        from scipy import special

        return tangents[0] * out * special.digamma(primals[0])

    assert ad.grad(gamma)(3.0) == pytest.approx(2 * (1.5 - np.euler_gamma))
    assert set(seen) == {float}
    assert gamma.__name__ == "gamma"


def test_custom_rule_with_containers_and_complex_numbers():
    """Arguments and results may be containers; cotangents follow the convention of grad."""
    f = ad.custom_rule(
        lambda p: {"y": p["z"] ** 2}, vjp=lambda primals, out, g: ({"z": g["y"] * np.conj(2 * primals[0]["z"])},)
    )
    z = 1.0 + 2.0j
    want = ad.grad(lambda z: np.real(z**2) + np.imag(z**2))(z)
    assert ad.grad(lambda z: np.real(f({"z": z})["y"]) + np.imag(f({"z": z})["y"]))(z) == pytest.approx(want)


def test_stop_gradient_and_value():
    """The two ways to say that no derivative is wanted."""
    assert ad.grad(lambda x: ad.stop_gradient(x) * x)(3.0) == 3.0
    assert ad.jvp(lambda x: ad.stop_gradient({"a": x})["a"] * x, (3.0,), (1.0,))[1] == 3.0
    assert ad.grad(lambda x: x * float(ad.value(x)))(3.0) == 3.0
    found = ad.vmap(ad.grad(lambda x: ad.stop_gradient(x) * x))(np.array([1.0, 2.0]))
    assert found.tolist() == [1.0, 2.0]

    def f(x):
        seen = ad.value(x)
        with pytest.raises(ValueError, match="read-only"):
            seen[0] = 1.0
        return x.sum()

    ad.grad(f)(np.ones(2))
    assert ad.value({"a": 1.0, "b": "text"}) == {"a": 1.0, "b": "text"}


def test_numerical_errors_are_honest():
    """The error estimate bounds the error, for every method."""
    x = np.array([0.4, 1.3, 2.0])
    f = lambda x: np.sum(np.exp(np.sin(x)) * x)  # noqa: E731
    want = ad.grad(f)(x)
    for method, accuracy in (("central", 1e-8), ("forward", 1e-6), ("complex", 1e-13)):
        g, error = ad.numerical.grad(f, method=method, error=True)(x)
        assert np.all(np.abs(g - want) <= error + 1e-14)
        assert np.all(error < accuracy)


def test_derivative_of_high_order():
    """Nested forward mode, elementwise on arrays."""
    np.testing.assert_allclose(ad.derivative(np.exp, 6)(np.array([0.0, 1.0])), [1.0, np.e], rtol=1e-14)
    assert ad.derivative(lambda x: 1 / x, 5)(2.0) == pytest.approx(-120 / 64)
    assert ad.derivative(np.sin, 0)(1.0) == np.sin(1.0)
