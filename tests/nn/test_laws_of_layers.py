"""What holds for every layer: derivatives, jit, vmap, single precision, the round trip through `ad.tree`."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn


def normal(*shape):
    return np.random.default_rng(0).normal(size=shape)


def low_rank(dtype):
    """One that has moved from where it starts."""
    layer = nn.LowRank(nn.Dense(3, 2, key=0, dtype=dtype), 1, key=1)
    return nn.replace(layer, {"right": normal(1, 2)})


def cases(dtype):
    """Layers, and inputs for a batch of four."""
    own = {"key": 0, "dtype": dtype}
    return {
        "Dense": (nn.Dense(3, 2, **own), normal(4, 3)),
        "Dense without bias": (nn.Dense(3, 2, bias=False, **own), normal(4, 3)),
        "LowRank": (low_rank(dtype), normal(4, 3)),
        "Frozen": (nn.Sequential(nn.Frozen(nn.BatchNorm(3, dtype=dtype)), nn.Dense(3, 2, **own)), normal(4, 3)),
        "Sequential": (nn.Sequential(nn.Dense(3, 2, **own), "gelu", nn.Dense(2, 2, **own)), normal(4, 3)),
        "MLP": (nn.MLP([3, 5, 2], "tanh", **own), normal(4, 3)),
        "MLP with all": (nn.MLP([3, 5, 4, 2], "prelu", norm="batch", dropout=0.3, **own), normal(4, 3)),
        "MLP with layer norm": (nn.MLP([3, 5, 4, 2], "silu", norm="layer", **own), normal(4, 3)),
        "Dropout": (nn.Dropout(0.4), normal(4, 3)),
        "BatchNorm": (nn.BatchNorm(3, dtype=dtype), normal(4, 3)),
        "LayerNorm": (nn.LayerNorm(3, dtype=dtype), normal(4, 3)),
        "RMSNorm": (nn.RMSNorm(3, dtype=dtype), normal(4, 3)),
        "GroupNorm": (nn.GroupNorm(2, 4, dtype=dtype), normal(4, 3, 4)),
        "GroupNorm of rows": (nn.GroupNorm(2, 6, dtype=dtype), normal(4, 6)),
        "PReLU": (nn.PReLU(3, dtype=dtype), normal(4, 3)),
        "Conv1d": (nn.Conv1d(2, 3, 3, **own), normal(4, 6, 2)),
        "Conv1d in steps": (nn.Conv1d(2, 3, 4, stride=2, padding=1, **own), normal(4, 7, 2)),
        "Conv2d": (nn.Conv2d(2, 3, 3, **own), normal(4, 5, 6, 2)),
        "Conv2d in steps": (nn.Conv2d(2, 3, (2, 3), stride=(2, 1), padding="valid", **own), normal(4, 5, 6, 2)),
        "Conv1d, dilated": (nn.Conv1d(2, 3, 3, dilation=2, **own), normal(4, 6, 2)),
        "Conv1d in groups": (nn.Conv1d(4, 6, 3, groups=2, **own), normal(4, 6, 4)),
        "Conv2d, dilated": (nn.Conv2d(2, 3, 2, dilation=(2, 1), stride=2, **own), normal(4, 5, 6, 2)),
        "Conv2d in groups": (nn.Conv2d(4, 2, 2, groups=2, dilation=2, **own), normal(4, 5, 6, 4)),
        "Conv2d, depthwise": (nn.Conv2d(3, 3, 3, groups=3, **own), normal(4, 5, 6, 3)),
        "Conv2d, depthwise, twice": (nn.Conv2d(3, 6, 3, groups=3, stride=2, **own), normal(4, 5, 6, 3)),
        "ConvTranspose1d": (nn.ConvTranspose1d(2, 3, 4, stride=2, **own), normal(4, 6, 2)),
        "ConvTranspose2d": (nn.ConvTranspose2d(2, 3, 3, **own), normal(4, 5, 6, 2)),
        "ConvTranspose2d in steps": (
            nn.ConvTranspose2d(2, 3, (2, 3), stride=(3, 2), padding="valid", bias=False, **own),
            normal(4, 3, 4, 2),
        ),
        "MaxPool1d": (nn.MaxPool1d(2), normal(4, 5, 2)),
        "MaxPool2d": (nn.MaxPool2d(3, stride=2), normal(4, 7, 6, 2)),
        "AvgPool1d": (nn.AvgPool1d(3, stride=1), normal(4, 5, 2)),
        "AvgPool2d": (nn.AvgPool2d((2, 1)), normal(4, 5, 4, 2)),
        "RNN": (nn.Recurrent(nn.RNNCell(2, 3, **own)), normal(4, 5, 2)),
        "GRU": (nn.Recurrent(nn.GRUCell(2, 3, **own), last=True), normal(4, 5, 2)),
        "LSTM": (nn.Recurrent(nn.LSTMCell(2, 3, **own), reverse=True), normal(4, 5, 2)),
        "MultiHeadAttention": (nn.MultiHeadAttention(4, 2, **own), normal(4, 5, 4)),
        "causal attention": (nn.MultiHeadAttention(4, 2, causal=True, bias=False, **own), normal(4, 5, 4)),
        "rotary attention": (nn.MultiHeadAttention(4, 2, rotary=True, **own), normal(4, 5, 4)),
        "TransformerBlock": (nn.TransformerBlock(4, 2, **own), normal(4, 5, 4)),
        "TransformerBlock with all": (
            nn.TransformerBlock(
                4, 2, hidden=6, causal=False, activation="silu", norm="rms", dropout=0.3, bias=False, **own
            ),
            normal(4, 5, 4),
        ),
        "Repeat": (nn.Repeat(lambda key: nn.Dense(3, 3, key=key, dtype=dtype), 3, key=0), normal(4, 3)),
        "Repeat with all": (nn.Repeat(lambda key: block(key, dtype), 3, key=0), normal(4, 3)),
        "Repeat of TransformerBlock": (
            nn.Repeat(lambda key: nn.TransformerBlock(4, 2, key=key, dtype=dtype), 2, key=0),
            normal(4, 5, 4),
        ),
    }


def block(key, dtype):
    """One with statistics, dropout and a plain function."""
    return nn.Sequential(nn.BatchNorm(3, dtype=dtype), "tanh", nn.Dense(3, 3, key=key, dtype=dtype), nn.Dropout(0.2))


DOUBLE, SINGLE = cases(np.float64), cases(np.float32)
every_layer = pytest.mark.parametrize("name", DOUBLE)


@every_layer
def test_derivatives(name):
    """In the parameters and in the input, in all modes."""
    model, x = DOUBLE[name]
    params, rebuild = nn.partition(model)
    ad.testing.check_grads(lambda p, x: rebuild(p)(x), (params, x[:2]))


@every_layer
def test_jit_gives_the_same(name):
    """Of the model as an argument; machine code takes every step."""
    model, x = DOUBLE[name]
    compiled = ad.jit(lambda m, x: m(x))
    for _ in range(2):
        np.testing.assert_allclose(compiled(model, x), model(x), rtol=1e-12, atol=1e-14)
    assert "called by NumPy  -" in str(compiled.stats())


@every_layer
def test_jit_of_the_gradient_gives_the_same(name):
    """In training, with a key and statistics as arguments."""
    model, x = DOUBLE[name]
    params, rebuild = nn.partition(model)
    rest = nn.statistics(model)

    def loss(p, rest, x, key):
        y, new = nn.training(rebuild(p, rest), x, key)
        return np.sum(np.sin(y)), nn.statistics(new)

    key = ad.random.key(5)
    plain = ad.value_and_grad(loss, argnums=(0, 2), has_aux=True)
    compiled = ad.jit(plain)
    wanted = ad.tree.leaves(plain(params, rest, x, key))
    for _ in range(2):
        for found, value in zip(ad.tree.leaves(compiled(params, rest, x, key)), wanted, strict=True):
            np.testing.assert_allclose(found, value, rtol=1e-9, atol=1e-12)
    assert "called by NumPy  -" in str(compiled.stats())


@every_layer
def test_vmap_gives_the_same(name):
    """Of one example at a time; where the first axis is that of examples by definition, of batches of one."""
    model, x = DOUBLE[name]
    one = x[:, None] if isinstance(model, nn.GroupNorm) else x
    np.testing.assert_allclose(ad.vmap(model)(one).reshape(model(x).shape), model(x), rtol=1e-12, atol=1e-14)


@every_layer
def test_single_precision_stays(name):
    """Outputs, statistics and gradients of float32 are float32."""
    model, x = SINGLE[name]
    x = x.astype(np.float32)
    params, rebuild = nn.partition(model)
    assert all([p.dtype == np.float32 for p in (*params.values(), *nn.statistics(model).values())])

    def loss(p, x, key):
        y, new = nn.training(rebuild(p), x, key)
        return np.sum(y**2), (y, nn.statistics(new))

    (value, aux), slopes = ad.value_and_grad(loss, has_aux=True)(params, x, ad.random.key(0))
    assert all([leaf.dtype == np.float32 for leaf in ad.tree.leaves((value, aux, slopes))])
    assert model(x).dtype == np.float32
    np.testing.assert_allclose(model(x), DOUBLE[name][0](x), rtol=1e-3, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "MLP with all",
        "MLP with layer norm",
        "Conv2d",
        "Conv2d, depthwise",
        "ConvTranspose2d",
        "GRU",
        "causal attention",
        "Repeat",
    ],
)
def test_epochs_are_machine_code(name):
    """Steps of descent in single precision, one after another in `ad.scan`: nothing is left to NumPy."""
    model, x = SINGLE[name]
    params, rebuild = nn.partition(model)
    X, keys = np.stack([x.astype(np.float32)] * 6), ad.random.split(ad.random.key(0), 6)

    def step(carry, batch):
        params, rest = carry
        x, key = batch

        def loss(p):
            y, new = nn.training(rebuild(p, rest), x, key)
            return np.mean(y**2), nn.statistics(new)

        (value, rest), slopes = ad.value_and_grad(loss, has_aux=True)(params)
        return ({name: p - np.float32(0.1) * slopes[name] for name, p in params.items()}, rest), value

    epoch = ad.jit(lambda carry, batches: ad.scan(step, carry, batches))
    start = (params, nn.statistics(model))
    epoch(start, (X, keys))
    (end, _), values = epoch(start, (X, keys))
    carry, wanted = start, []
    for batch in zip(X, keys, strict=True):
        carry, value = step(carry, batch)
        wanted.append(value)
    np.testing.assert_allclose(values, wanted, rtol=1e-4)
    assert all([p.dtype == np.float32 for p in end.values()])
    assert "called by NumPy  -" in str(epoch.stats())


@every_layer
def test_round_trips(name):
    """Through `ad.tree`, pickle, copies and `dataclasses.replace`; the repr is short and has no numbers of arrays."""
    model, x = DOUBLE[name]
    for same in (
        ad.tree.map(lambda leaf: leaf, model),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        dataclasses.replace(model),
    ):
        assert ad.tree.structure(same) == ad.tree.structure(model)
        np.testing.assert_array_equal(same(x), model(x))
        assert repr(same) == repr(model)
    assert "array" not in repr(model)


@every_layer
def test_layers_do_not_change(name):
    """They are frozen."""
    model, _ = DOUBLE[name]
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(model, dataclasses.fields(model)[0].name, 1.0)


def test_a_layer_of_ones_own_needs_five_lines():
    """A frozen dataclass with a call: it has parameters, trains, and stands among others."""

    @dataclasses.dataclass(frozen=True)
    class Scale:
        gain: np.ndarray

        def __call__(self, x):
            return x * self.gain

    model = nn.Sequential(nn.Dense(2, 3, key=0), Scale(np.ones(3)))
    assert list(nn.parameters(model)) == ["layers.0.weight", "layers.0.bias", "layers.1.gain"]
    params, rebuild = nn.partition(model)
    gradient = ad.grad(lambda p: np.sum(rebuild(p)(np.ones(2))))(params)
    np.testing.assert_allclose(gradient["layers.1.gain"], model.layers[0](np.ones(2)))


def test_embedding():
    """Rows of the table; the gradient adds up where a number comes twice."""
    model = nn.Embedding(5, 2, key=0)
    x = np.array([[1, 1], [4, 4]])
    np.testing.assert_array_equal(model(x), model.weight[x])
    for gradient in (ad.grad(lambda m: np.sum(m(x))), ad.jit(ad.grad(lambda m: np.sum(m(x))))):
        np.testing.assert_array_equal(gradient(model).weight[:, 0], [0, 2, 0, 0, 2])
        np.testing.assert_array_equal(gradient(model).weight[:, 0], [0, 2, 0, 0, 2])
    np.testing.assert_array_equal(ad.vmap(model)(x), model(x))
    compiled = ad.jit(model)
    for other in (x, x[::-1], 0 * x):
        np.testing.assert_array_equal(compiled(other), model(other))
    assert "guards           -" in str(compiled.stats())
