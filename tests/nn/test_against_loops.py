"""Layers against plain loops over single numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adjoint import nn

RANDOM = np.random.default_rng(1)


def filled(model):
    """The layer with random numbers in all its arrays, so that biases count."""
    return nn.replace(model, {name: RANDOM.normal(size=p.shape) for name, p in nn.parameters(model).items()})


@pytest.mark.parametrize("padding", ["same", "valid", 2, (0, 1)])
@pytest.mark.parametrize("stride", [1, 2, (1, 3)])
@pytest.mark.parametrize("kernel", [1, 3, (2, 3), (4, 1)])
def test_conv2d(kernel, stride, padding):
    """A sum over the kernel for each place of the result."""
    layer = filled(nn.Conv2d(2, 3, kernel, stride=stride, padding=padding, key=0))
    x = RANDOM.normal(size=(2, 6, 5, 2))
    (kh, kw), (sh, sw) = layer.weight.shape[:2], layer.stride
    sides = {"same": (((kh - 1) // 2, kh // 2), ((kw - 1) // 2, kw // 2)), "valid": ((0, 0), (0, 0))}.get(
        padding, tuple((p, p) for p in ((padding, padding) if isinstance(padding, int) else padding))
    )
    wide = np.zeros((2, 6 + sum(sides[0]), 5 + sum(sides[1]), 2))
    wide[:, sides[0][0] : sides[0][0] + 6, sides[1][0] : sides[1][0] + 5] = x
    high, long = (wide.shape[1] - kh) // sh + 1, (wide.shape[2] - kw) // sw + 1
    wanted = np.zeros((2, high, long, 3))
    for n, i, j, o in np.ndindex(*wanted.shape):
        wanted[n, i, j, o] = layer.bias[o] + sum(
            wide[n, sh * i + a, sw * j + b, c] * layer.weight[a, b, c, o]
            for a in range(kh)
            for b in range(kw)
            for c in range(2)
        )
    np.testing.assert_allclose(layer(x), wanted, atol=1e-12)


@pytest.mark.parametrize(("kernel", "stride", "padding"), [(3, 1, "same"), (2, 2, "valid"), (4, 3, 1), (1, 1, 0)])
def test_conv1d(kernel, stride, padding):
    """As `np.convolve` with the kernel turned around, for each pair of channels."""
    layer = filled(nn.Conv1d(2, 3, kernel, stride=stride, padding=padding, key=0))
    x = RANDOM.normal(size=(4, 9, 2))
    before, after = layer.padding[0]
    wanted = [
        [
            layer.bias[o]
            + sum(
                np.convolve(np.pad(x[n, :, c], (before, after)), layer.weight[::-1, c, o], "valid")[::stride]
                for c in range(2)
            )
            for o in range(3)
        ]
        for n in range(4)
    ]
    np.testing.assert_allclose(layer(x), np.moveaxis(np.array(wanted), 1, -1), atol=1e-12)


@pytest.mark.parametrize("padding", ["same", "valid", (2, 1)])
@pytest.mark.parametrize("stride", [1, (2, 1)])
@pytest.mark.parametrize("dilation", [1, 2, (1, 3)])
@pytest.mark.parametrize(("groups", "inputs", "outputs"), [(1, 2, 3), (2, 4, 6), (4, 4, 4), (4, 4, 8)])
def test_conv2d_in_groups_and_dilated(groups, inputs, outputs, dilation, stride, padding):
    """Each output channel sums over the inputs of its group, at places `dilation` apart; depthwise is groups=inputs."""
    layer = filled(
        nn.Conv2d(
            inputs, outputs, (2, 3), groups=groups, dilation=dilation, stride=stride, padding=padding, bias=False, key=0
        )
    )
    x = RANDOM.normal(size=(2, 6, 7, inputs))
    (sh, sw), (dh, dw) = layer.stride, layer.dilation
    wide = np.pad(x, ((0, 0), *layer.padding, (0, 0)))
    if padding == "same":
        assert [sum(zeros) for zeros in layer.padding] == [dh, 2 * dw]
    each, own = inputs // groups, outputs // groups
    assert layer.weight.shape == (2, 3, each, outputs)
    wanted = np.zeros((2, (wide.shape[1] - dh - 1) // sh + 1, (wide.shape[2] - 2 * dw - 1) // sw + 1, outputs))
    for n, i, j, o in np.ndindex(*wanted.shape):
        wanted[n, i, j, o] = sum(
            wide[n, sh * i + dh * a, sw * j + dw * b, o // own * each + c] * layer.weight[a, b, c, o]
            for a in range(2)
            for b in range(3)
            for c in range(each)
        )
    np.testing.assert_allclose(layer(x), wanted, atol=1e-12)


@pytest.mark.parametrize(("groups", "dilation"), [(1, 2), (2, 1), (2, 3), (4, 2)])
def test_conv1d_in_groups_and_dilated(groups, dilation):
    """As a convolution of images that are one place high."""
    layer = filled(nn.Conv1d(4, 8, 3, groups=groups, dilation=dilation, stride=2, padding=3, key=0))
    x = RANDOM.normal(size=(2, 9, 4))
    flat = nn.Conv2d(4, 8, (1, 3), groups=groups, dilation=(1, dilation), stride=(1, 2), padding=(0, 3), key=0)
    flat = nn.replace(flat, {"weight": layer.weight[None], "bias": layer.bias})
    np.testing.assert_allclose(layer(x), flat(x[:, None])[:, 0], atol=1e-12)


@pytest.mark.parametrize("padding", ["same", "valid", 1, (0, 1)])
@pytest.mark.parametrize("stride", [1, 2, (1, 3)])
@pytest.mark.parametrize("kernel", [2, 3, (2, 3)])
def test_conv_transpose2d(kernel, stride, padding):
    """Each place of the image adds its multiple of the kernel to the result, whose borders are cut off."""
    layer = filled(nn.ConvTranspose2d(2, 3, kernel, stride=stride, padding=padding, key=0))
    x = RANDOM.normal(size=(2, 4, 3, 2))
    (kh, kw), (sh, sw) = layer.weight.shape[:2], layer.stride
    full = np.zeros((2, 3 * sh + max(kh, sh), 2 * sw + max(kw, sw), 3))
    for n, i, j, a, b in np.ndindex(2, 4, 3, kh, kw):
        full[n, sh * i + a, sw * j + b] += x[n, i, j] @ layer.weight[a, b]
    surplus = [max(k - s, 0) for k, s in ((kh, sh), (kw, sw))]
    sides = {"same": [(n // 2, n - n // 2) for n in surplus], "valid": [(0, 0), (0, 0)], 1: [(1, 1), (1, 1)]}.get(
        padding, [(0, 0), (1, 1)]
    )
    (top, bottom), (left, right) = sides
    high = 4 * sh if padding == "same" else 3 * sh + kh - top - bottom
    long = 3 * sw if padding == "same" else 2 * sw + kw - left - right
    wanted = full[:, top : top + high, left : left + long] + layer.bias
    np.testing.assert_allclose(layer(x), wanted, atol=1e-12)


def test_conv_transpose_is_the_transpose_of_a_convolution():
    """<y, conv(x)> = <transpose(y), x> with the same kernel, its channels exchanged."""
    forward = nn.Conv1d(2, 3, 4, stride=2, padding=1, bias=False, key=0)
    back = nn.ConvTranspose1d(3, 2, 4, stride=2, padding=1, bias=False, key=0)
    back = nn.replace(back, {"weight": np.swapaxes(forward.weight, 1, 2)})
    x, y = RANDOM.normal(size=(8, 2)), RANDOM.normal(size=(4, 3))
    np.testing.assert_allclose(np.sum(y * forward(x)), np.sum(back(y) * x), rtol=1e-12)


def test_same_padding_keeps_the_size():
    """For odd and even kernels."""
    for kernel in range(1, 6):
        assert nn.Conv2d(1, 1, kernel, key=0)(np.zeros((7, 8, 1))).shape == (7, 8, 1)


@pytest.mark.parametrize(("window", "stride"), [(2, None), (3, 2), ((1, 2), (2, 1)), ((3, 3), 3)])
def test_pooling(window, stride):
    """The largest and the mean of each window."""
    x = RANDOM.normal(size=(2, 7, 6, 2))
    for kind, combine in ((nn.MaxPool2d, max), (nn.AvgPool2d, lambda found: sum(found) / len(found))):
        layer = kind(window, stride)
        (kh, kw), (sh, sw) = layer.window, layer.stride
        wanted = np.zeros((2, (7 - kh) // sh + 1, (6 - kw) // sw + 1, 2))
        for n, i, j, c in np.ndindex(*wanted.shape):
            wanted[n, i, j, c] = combine([x[n, sh * i + a, sw * j + b, c] for a in range(kh) for b in range(kw)])
        np.testing.assert_allclose(layer(x), wanted, atol=1e-12)


def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


def sums(x, h, cell, column):
    """The sums over inputs and state for a column of the weights."""
    of_x = sum(x[k] * cell.weight[k, column] for k in range(len(x))) + cell.bias[column]
    return of_x, sum(h[k] * cell.recurrent[k, column] for k in range(len(h)))


def rnn_step(cell, state, x):
    h = [math.tanh(sum(sums(x, state, cell, k))) for k in range(len(state))]
    return h, h


def gru_step(cell, h, x):
    d = len(h)
    new = []
    for k in range(d):
        r, z = sigmoid(sum(sums(x, h, cell, k))), sigmoid(sum(sums(x, h, cell, d + k)))
        of_x, of_h = sums(x, h, cell, 2 * d + k)
        new.append((1 - z) * math.tanh(of_x + r * of_h) + z * h[k])
    return new, new


def lstm_step(cell, state, x):
    h, c = state
    d = len(h)
    i, f, g, o = [[sum(sums(x, h, cell, gate * d + k)) for k in range(d)] for gate in range(4)]
    c = [sigmoid(f[k]) * c[k] + sigmoid(i[k]) * math.tanh(g[k]) for k in range(d)]
    h = [sigmoid(o[k]) * math.tanh(c[k]) for k in range(d)]
    return (h, c), h


CELLS = {
    "RNN": (nn.RNNCell, rnn_step, lambda d: [0.0] * d),
    "GRU": (nn.GRUCell, gru_step, lambda d: [0.0] * d),
    "LSTM": (nn.LSTMCell, lstm_step, lambda d: ([0.0] * d, [0.0] * d)),
}


@pytest.mark.parametrize("name", CELLS)
def test_recurrent_cells(name):
    """Step by step, number by number; backwards too, and the last output alone."""
    kind, step, start = CELLS[name]
    cell = filled(kind(2, 3, key=0))
    x = RANDOM.normal(size=(4, 5, 2))
    for reverse in (False, True):
        wanted = np.zeros((4, 5, 3))
        for n in range(4):
            state = start(3)
            for t in reversed(range(5)) if reverse else range(5):
                state, wanted[n, t] = step(cell, state, x[n, t])
        np.testing.assert_allclose(nn.Recurrent(cell, reverse=reverse)(x), wanted, atol=1e-12)
        last = wanted[:, 0 if reverse else -1]
        np.testing.assert_allclose(nn.Recurrent(cell, last=True, reverse=reverse)(x), last, atol=1e-12)


@pytest.mark.parametrize("name", CELLS)
def test_a_sequence_in_two_parts(name):
    """The state after the first part is where the second one starts."""
    layer = nn.Recurrent(filled(CELLS[name][0](2, 3, key=0)))
    x = RANDOM.normal(size=(4, 6, 2))
    whole, end = layer.run(x)
    first, state = layer.run(x[:, :2])
    second, other_end = layer.run(x[:, 2:], state)
    np.testing.assert_allclose(np.concatenate([first, second], axis=1), whole, atol=1e-12)
    np.testing.assert_allclose(np.array(other_end), np.array(end), atol=1e-12)


def test_a_cell_of_ones_own():
    """`start` and the call are enough."""

    class Sum:
        def start(self, shape, dtype):
            return np.zeros((*shape, 2), dtype)

        def __call__(self, state, x):
            return state + x, state + x

    x = RANDOM.normal(size=(4, 6, 2))
    np.testing.assert_allclose(nn.Recurrent(Sum())(x), np.cumsum(x, axis=1))


def attended(q, k, v, allowed):
    """Attention of one sequence, number by number."""
    out = np.zeros((len(q), v.shape[1]))
    for i in range(len(q)):
        weights = [
            math.exp(sum(q[i, c] * k[j, c] for c in range(q.shape[1])) / math.sqrt(q.shape[1]))
            if allowed[i][j]
            else 0.0
            for j in range(len(k))
        ]
        for e in range(v.shape[1]):
            out[i, e] = sum(weights[j] * v[j, e] for j in range(len(k))) / (sum(weights) or 1.0)
    return out


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_attention(causal, masked):
    """With and without masks; a query that may look nowhere gets zeros."""
    q, k, v = RANDOM.normal(size=(4, 3)), RANDOM.normal(size=(5, 3)), RANDOM.normal(size=(5, 2))
    mask = RANDOM.random((4, 5)) < 0.5 if masked else None
    if masked:
        mask[2] = False
    allowed = [[(not causal or j <= i) and (mask is None or mask[i, j]) for j in range(5)] for i in range(4)]
    np.testing.assert_allclose(nn.attention(q, k, v, mask=mask, causal=causal), attended(q, k, v, allowed), atol=1e-12)


def test_multi_head_attention():
    """Each head attends with its own columns; to a context too."""
    layer = filled(nn.MultiHeadAttention(6, 2, key=0))
    x, context = RANDOM.normal(size=(3, 4, 6)), RANDOM.normal(size=(3, 5, 6))
    for other in (x, context):
        q, k, v = x @ layer.query.weight + layer.query.bias, layer.key(other), layer.value(other)
        everything = np.ones((4, len(other[0])))
        wanted = [
            np.concatenate(
                [attended(q[n, :, h], k[n, :, h], v[n, :, h], everything) for h in (slice(3), slice(3, 6))], 1
            )
            for n in range(3)
        ]
        found = layer(x) if other is x else layer(x, context)
        np.testing.assert_allclose(found, np.array(wanted) @ layer.output.weight + layer.output.bias, atol=1e-12)


def test_causal_attention_sees_nothing_of_what_follows():
    """Another last place changes the last output only."""
    layer = nn.MultiHeadAttention(6, 2, causal=True, key=0)
    x = RANDOM.normal(size=(4, 6))
    other = x.copy()
    other[-1] += 1.0
    np.testing.assert_array_equal(layer(x)[:-1], layer(other)[:-1])
    assert np.all(layer(x)[-1] != layer(other)[-1])


def test_layer_norm():
    """Each row has mean 0 and variance 1, then scale and shift."""
    x = RANDOM.normal(size=(4, 5))
    rows = [[(v - sum(r) / 5) / math.sqrt(sum((u - sum(r) / 5) ** 2 for u in r) / 5 + 1e-5) for v in r] for r in x]
    np.testing.assert_allclose(nn.LayerNorm(5)(x), rows, atol=1e-12)
    layer = filled(nn.LayerNorm(5))
    np.testing.assert_allclose(layer(x), np.array(rows) * layer.scale + layer.shift, atol=1e-12)


def test_rms_norm():
    """Each row is divided by the root of its mean square, then scaled."""
    x = RANDOM.normal(size=(4, 5))
    layer = filled(nn.RMSNorm(5))
    rows = [
        [v / math.sqrt(sum(u * u for u in r) / 5 + 1e-5) * s for v, s in zip(r, layer.scale, strict=True)] for r in x
    ]
    np.testing.assert_allclose(layer(x), rows, atol=1e-12)


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
@pytest.mark.parametrize("shape", [(4,), (2, 5), (2, 3, 4)])
def test_group_norm(groups, shape):
    """Mean and variance of each example over all its places and the channels of a group."""
    x = RANDOM.normal(size=(*shape, 6))
    layer = filled(nn.GroupNorm(groups, 6))
    wanted = np.zeros_like(x)
    for n in range(len(x)):
        for g in range(groups):
            own = slice(g * (6 // groups), (g + 1) * (6 // groups))
            part = x[n][..., own]
            mean = sum(part.ravel()) / part.size
            variance = sum((v - mean) ** 2 for v in part.ravel()) / part.size
            wanted[n][..., own] = (part - mean) / math.sqrt(variance + 1e-5) * layer.scale[own] + layer.shift[own]
    np.testing.assert_allclose(layer(x), wanted, atol=1e-12)


def test_mlp():
    """Dense layers with the activation between them."""
    model = filled(nn.MLP([3, 4, 2], "relu", key=0))
    x = RANDOM.normal(size=3)
    first, last = model.layers
    h = [max(sum(x[k] * first.weight[k, j] for k in range(3)) + first.bias[j], 0.0) for j in range(4)]
    y = [sum(h[k] * last.weight[k, j] for k in range(4)) + last.bias[j] for j in range(2)]
    np.testing.assert_allclose(model(x), y, atol=1e-12)
