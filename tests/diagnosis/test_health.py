"""`ad.debug.health`: norms at every step, block and parameter, and verdicts."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad


def sigmoid(z):
    """Whose slope is at most a quarter."""
    return 1.0 / (1.0 + np.exp(-z))


def deep(activation, scale, layers=20, width=16):
    """Parameters and a loss of a deep network, each layer a block."""
    random = np.random.default_rng(0)
    weights = [random.normal(size=(width, width)) * scale / np.sqrt(width) for _ in range(layers)]
    x = random.normal(size=(8, width))

    def loss(weights):
        h = x
        for k, w in enumerate(weights):
            with ad.block(f"layer {k}"):
                h = activation(h @ w)
        return np.mean(h**2)

    return loss, weights


def relu(z):
    """No slope for negative inputs, 1 for positive ones."""
    return np.maximum(z, 0.0)


def test_deep_sigmoids_vanish_and_scaled_relus_do_not():
    """Twenty layers: the first ones of the sigmoids get next to nothing."""
    loss, weights = deep(sigmoid, 1.0)
    found = ad.debug.health(loss)(weights)
    assert found.vanishing[0] == "layer 0"
    assert found.blocks[-1].verdict == "healthy"
    assert not found.exploding
    assert not found.is_healthy
    assert all(a.rms < b.rms for a, b in zip(found.blocks, found.blocks[1:], strict=False))
    loss, weights = deep(relu, np.sqrt(2.0))
    assert ad.debug.health(loss)(weights).is_healthy


def test_large_weights_explode():
    """Derivatives above 1 make gradients explode, not those below."""
    loss, weights = deep(lambda z: z, 3.0)
    found = ad.debug.health(loss)(weights)
    assert found.exploding[0] == "layer 0"
    assert not found.vanishing
    assert "exploding: layer 0, layer 1" in str(found)


def test_norms_are_those_of_the_gradient():
    """Of parameters as ad.grad gives them; of blocks with respect to what they hand on."""
    loss, weights = deep(np.tanh, 1.0, layers=3)
    found = ad.debug.health(loss)(weights)
    gradient = ad.grad(loss)(weights)
    assert [row.name for row in found.parameters] == ["0", "1", "2"]
    for row, g, w in zip(found.parameters, gradient, weights, strict=True):
        np.testing.assert_allclose(row.gradient_norm, np.linalg.norm(g))
        np.testing.assert_allclose(row.value_norm, np.linalg.norm(w))
        np.testing.assert_allclose(row.rms, np.sqrt(np.mean(g**2)))
    np.testing.assert_allclose(found.gradient_norm, np.linalg.norm(np.concatenate([g.ravel() for g in gradient])))
    np.testing.assert_allclose(found.value, loss(weights))
    x = np.random.default_rng(0)
    [x.normal(size=(16, 16)) for _ in weights]
    h1 = np.tanh(x.normal(size=(8, 16)) @ weights[0])
    after = ad.grad(lambda h: np.mean(np.tanh(np.tanh(h @ weights[1]) @ weights[2]) ** 2))(h1)
    np.testing.assert_allclose(found.blocks[0].gradient_norm, np.linalg.norm(after))
    np.testing.assert_allclose(found.blocks[0].value_norm, np.linalg.norm(h1))


def test_steps_have_lines_blocks_and_norms():
    """One for each operation, in the order of execution."""

    def f(x):
        with ad.block("inner"):
            y = np.sin(x)
        return np.sum(y * x)

    found = ad.debug.health(f)(np.array([1.0, 2.0]))
    assert [s.name for s in found.steps] == ["sin", "multiply", "sum"]
    assert [s.block for s in found.steps] == ["inner", "", ""]
    assert "y = np.sin(x)" in found.steps[0].line
    np.testing.assert_allclose(found.steps[0].gradient_norm, np.sqrt(5.0))
    np.testing.assert_allclose(found.steps[1].gradient_norm, np.sqrt(2.0))


def test_blocks_that_are_entered_again_are_numbered_and_nested_ones_named_in_full():
    """A loop over one block has a row for each round."""

    def f(x):
        for _ in range(3):
            with ad.block("outer"), ad.block("round"):
                x = np.tanh(x)
        return np.sum(x)

    found = ad.debug.health(f)(np.ones(2))
    assert [row.name for row in found.blocks] == ["outer/round 1", "outer/round 2", "outer/round 3"]


def test_parameters_are_blocks_where_there_are_none():
    """By their names, in the order of use; unused ones have no gradient."""
    p = {"late": np.ones(2), "early": np.ones(2), "unused": np.ones(3)}
    found = ad.debug.health(lambda p: np.sum(np.exp(p["early"]) * p["late"]))(p)
    assert [row.name for row in found.blocks] == ["early", "late", "unused"]
    assert found.vanishing == ["unused"]
    assert found.blocks[-1].verdict == "zero"
    model = ad.nn.MLP([3, 4, 1], key=0)
    names = [row.name for row in ad.debug.health(lambda m, x: np.sum(m(x) ** 2))(model, np.ones((5, 3))).blocks]
    assert names == ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"]
    both = ad.debug.health(lambda a, b: a * b["c"], argnums=(0, 1))(2.0, {"c": 3.0})
    assert [row.name for row in both.blocks] == ["a", "b.c"]


def test_dead_relus_are_zero():
    """All inputs negative: nothing is handed back."""
    found = ad.debug.health(lambda p: np.sum(relu(p["w"] * 2.0 - 5.0)) + p["b"])({"b": 1.0, "w": np.ones(3)})
    assert [row.verdict for row in found.parameters] == ["zero", "healthy"]


def test_inside_jit_loops_and_checkpoints():
    """What is inside is seen step by step."""

    @ad.jit
    def f(x):
        y, _ = ad.scan(lambda c, t: (np.sin(c) * t, None), x, np.arange(1.0, 4.0))
        return ad.checkpoint(lambda y: np.sum(y**2))(y)

    found = ad.debug.health(f)(np.array([0.5, 1.0]))
    assert [s.name for s in found.steps].count("sin") == 3
    np.testing.assert_allclose(found.gradient_norm, np.linalg.norm(ad.grad(f)(np.array([0.5, 1.0]))))


def test_what_is_printed():
    """Aligned columns, then what is wrong."""
    text = str(ad.debug.health(lambda p: p["w"] ** 2 + p["dead"] * 0.0)({"dead": 1.0, "w": 3.0}))
    assert text == (
        "block     value  gradient       rms     ratio  verdict\n"
        "w      3.00e+00  6.00e+00  6.00e+00  1.00e+00  healthy\n"
        "dead   1.00e+00  0.00e+00  0.00e+00  0.00e+00  zero\n"
        "vanishing: dead"
    )


def test_single_precision_overflow_is_no_norm_of_infinity():
    """Norms are computed in double precision."""
    found = ad.debug.health(lambda x: np.sum(x * np.float32(1e30)))(np.ones(4, np.float32))
    assert found.blocks[0].verdict == "healthy"
    np.testing.assert_allclose(found.gradient_norm, 2e30, rtol=1e-6)


def test_the_plot_has_a_point_for_each_block():
    """On a logarithmic scale, several in one axes."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    loss, weights = deep(sigmoid, 1.0, layers=5)
    found = ad.debug.health(loss)(weights)
    figure = found.plot(label="sigmoid")
    axes = figure.axes[0]
    assert axes.get_yscale() == "log"
    assert len(axes.lines[0].get_xdata()) == 5
    assert found.plot(axes, label="again") is figure
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["sigmoid", "again"]


def test_refusals():
    """Arrays as results, limits out of order, traces, integers."""
    with pytest.raises(ad.errors.OutputError) as e:
        ad.debug.health(lambda x: x)(np.ones(2))
    assert "health needs a function that returns one real number." in str(e.value)
    assert "got float64[2]" in str(e.value)
    with pytest.raises(ad.errors.InputError, match="A gradient vanishes below some ratio under 1"):
        ad.debug.health(np.sin, vanishing=2.0)
    with pytest.raises(ad.errors.InputError, match="health needs at least one real or complex number"):
        ad.debug.health(np.sin)(np.int64(3))
    with pytest.raises(ad.errors.UnsupportedError, match="health looks at numbers"):
        ad.grad(lambda x: ad.debug.health(np.sin)(x).value)(1.0)
    with pytest.raises(ad.errors.InputError, match="health needs a function"):
        ad.debug.health(3)
