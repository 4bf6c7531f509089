"""Activations: values, both derivatives, large numbers, limits, single precision."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.special

import adjoint as ad
from adjoint import nn

POINTS = np.array([-3.0, -1.2, -0.4, 0.3, 0.9, 2.5])
ELEMENTWISE = {
    "identity": (nn.identity, lambda x: x),
    "sigmoid": (nn.sigmoid, lambda x: 1 / (1 + math.exp(-x))),
    "sigmoid, slope 3": (lambda x: nn.sigmoid(x, slope=3.0), lambda x: 1 / (1 + math.exp(-3 * x))),
    "tanh": (nn.tanh, math.tanh),
    "relu": (nn.relu, lambda x: max(x, 0.0)),
    "relu, half at 0": (lambda x: nn.relu(x, at_zero=0.5), lambda x: max(x, 0.0)),
    "leaky_relu": (nn.leaky_relu, lambda x: x if x > 0 else 0.01 * x),
    "leaky_relu, slope 0.3": (lambda x: nn.leaky_relu(x, 0.3), lambda x: x if x > 0 else 0.3 * x),
    "softplus": (nn.softplus, lambda x: math.log(1 + math.exp(x))),
    "elu": (nn.elu, lambda x: x if x > 0 else math.exp(x) - 1),
    "elu, alpha 2": (lambda x: nn.elu(x, alpha=2.0), lambda x: x if x > 0 else 2 * math.exp(x) - 2),
    "gelu": (nn.gelu, lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2)))),
    "silu": (nn.silu, lambda x: x / (1 + math.exp(-x))),
}
ALL = {
    **{name: f for name, (f, _) in ELEMENTWISE.items()},
    "gelu, approximate": lambda x: nn.gelu(x, approximate=True),
    "softmax": nn.softmax,
    "softmax, tau 2": lambda x: nn.softmax(x, 2.0),
    "log_softmax": nn.log_softmax,
    "log_softmax, tau 2": lambda x: nn.log_softmax(x, 2.0),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_values(name):
    """Each is its formula."""
    f, formula = ELEMENTWISE[name]
    np.testing.assert_allclose(f(POINTS), [formula(x) for x in POINTS], rtol=1e-14)


@pytest.mark.parametrize("name", ALL)
def test_derivatives(name):
    """First and second derivatives, in all modes."""
    ad.testing.check_grads(ALL[name], (POINTS,), order=2)


@pytest.mark.parametrize("name", ALL)
def test_jit_and_vmap_give_the_same(name):
    """Compiled, and for each row of a batch; nothing is left to NumPy."""
    X = np.stack([POINTS, -POINTS])
    f = ad.jit(ALL[name])
    np.testing.assert_allclose(f(X), ALL[name](X), rtol=1e-14)
    np.testing.assert_allclose(f(X), ALL[name](X), rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(ad.vmap(ALL[name])(X), ALL[name](X), rtol=1e-14)
    assert "called by NumPy  -" in str(f.stats())


@pytest.mark.parametrize("name", ALL)
def test_single_precision_stays(name):
    """Values and gradients of float32 are float32."""
    x = POINTS.astype(np.float32)
    assert ALL[name](x).dtype == np.float32
    assert ad.grad(lambda x: np.sum(ALL[name](x)))(x).dtype == np.float32
    np.testing.assert_allclose(ALL[name](x), ALL[name](POINTS), rtol=1e-5)


@pytest.mark.parametrize("name", ALL)
def test_large_numbers(name):
    """At -1000 and 1000 value and both derivatives are finite, without a warning."""
    x = np.array([-1000.0, 1000.0])
    f = ALL[name]
    first = ad.grad(lambda x: np.sum(f(x) * np.array([1.0, 2.0])))
    second = ad.grad(lambda x: np.sum(first(x) * np.array([1.0, 2.0])))
    for found in (f(x), first(x), second(x)):
        assert np.all(np.isfinite(found))


@pytest.mark.parametrize("name", [n for n in ALL if n != "identity"])
def test_nan_is_not_hidden(name):
    """nan stays nan, so that it is found."""
    with np.errstate(invalid="ignore"):  # as np.logaddexp warns
        assert np.isnan(ALL[name](np.array([np.nan, 1.0]))[0])


@pytest.mark.parametrize("at_zero", [0.0, 0.25, 0.5, 1.0])
def test_subgradient_of_relu(at_zero):
    """Any number of [0, 1] at 0, also compiled; nothing else changes."""
    slope = ad.grad(lambda x: np.sum(nn.relu(x, at_zero)))
    x = np.array([-1.0, 0.0, 2.0])
    for f in (slope, ad.jit(slope)):
        np.testing.assert_array_equal(f(x), [0.0, at_zero, 1.0])
        np.testing.assert_array_equal(f(x), [0.0, at_zero, 1.0])


def test_slopes_at_zero():
    """What the docstrings promise."""
    at = 0.0
    assert ad.grad(nn.sigmoid)(at, 3.0) == 0.75
    assert ad.grad(nn.leaky_relu)(at, 0.3) == 0.3
    assert ad.grad(nn.elu)(at, 2.0) == 2.0
    assert ad.grad(nn.softplus)(at) == 0.5


def test_softmax_by_temperature():
    """tau -> inf gives equal shares, tau -> 0 the arg max; shares of equals are equal."""
    x = np.array([[1.0, 3.0, 2.0], [5.0, 5.0, -1.0]])
    np.testing.assert_allclose(nn.softmax(x, 1e12), np.full((2, 3), 1 / 3))
    np.testing.assert_allclose(nn.softmax(x, np.inf), np.full((2, 3), 1 / 3))
    for tau in (1e-3, 0.0):
        np.testing.assert_allclose(nn.softmax(x, tau), [[0, 1, 0], [0.5, 0.5, 0]])
    np.testing.assert_allclose(nn.softmax(x, 0.7), scipy.special.softmax(x / 0.7, axis=-1))
    np.testing.assert_allclose(nn.softmax(x, axis=0), scipy.special.softmax(x, axis=0))
    np.testing.assert_allclose(nn.log_softmax(x, 0.7), scipy.special.log_softmax(x / 0.7, axis=-1))


def test_temperature_has_a_derivative():
    """So that it can be trained, as temperature scaling does."""
    x = np.array([1.0, 3.0, 2.0])
    ad.testing.check_grads(lambda tau: nn.log_softmax(x, tau), (0.7,), order=2)
    ad.testing.check_grads(lambda tau: nn.softmax(x, tau), (0.7,), order=2)


def test_approximate_gelu_is_close():
    """Within 5e-4 everywhere."""
    x = np.linspace(-8, 8, 2001)
    assert np.max(np.abs(nn.gelu(x, approximate=True) - nn.gelu(x))) < 5e-4


@pytest.mark.parametrize("name", ["relu", "Leaky-ReLU", "tanh", "log_softmax"])
def test_by_name(name):
    """Names in any spelling; a function is given back."""
    f = nn.activation(name)
    assert f is getattr(nn, name.lower().replace("-", "_"))
    assert nn.activation(f) is f


def test_prelu_has_a_slope_for_each_neuron():
    """Which is trained."""
    layer = nn.replace(nn.PReLU(3), {"slope": [0.1, 0.2, 0.3]})
    x = np.array([[-1.0, -1.0, 2.0], [1.0, -2.0, -1.0]])
    np.testing.assert_allclose(layer(x), [[-0.1, -0.2, 2.0], [1.0, -0.4, -0.3]])
    ad.testing.check_grads(lambda layer, x: layer(x), (layer, x), order=2)
