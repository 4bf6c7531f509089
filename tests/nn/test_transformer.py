"""Transformer blocks, rotary positions, caches, and blocks repeated in a loop."""

from __future__ import annotations

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn

RANDOM = np.random.default_rng(3)


def steps_of(program):
    """How many steps a lowered program has, with those inside loops."""
    return sum([1 + sum([steps_of(p) for p in inner(step)]) for step in program.steps])


def inner(step):
    """The programs inside a step."""
    return [p for p in step.params.values() if hasattr(p, "steps")]


def test_rotary():
    """Each pair is turned by its angle, number by number; what counts is how far apart places are."""
    x = RANDOM.normal(size=(2, 5, 6))
    wanted = np.zeros_like(x)
    for n, p, k in np.ndindex(2, 5, 3):
        angle = p * 100.0 ** (-2 * k / 6)
        a, b = x[n, p, k], x[n, p, k + 3]
        wanted[n, p, k] = a * math.cos(angle) - b * math.sin(angle)
        wanted[n, p, k + 3] = a * math.sin(angle) + b * math.cos(angle)
    np.testing.assert_allclose(nn.rotary(x, base=100.0), wanted, rtol=1e-12)
    q, k = RANDOM.normal(size=(2, 1, 8))
    near = nn.rotary(q, np.array([5])) @ nn.rotary(k, np.array([2])).T
    far = nn.rotary(q, np.array([1005])) @ nn.rotary(k, np.array([1002])).T
    np.testing.assert_allclose(near, far, rtol=1e-10)


def test_rotary_in_single_precision():
    """The angles of far places are computed in double precision."""
    x, places = np.ones((1, 4), np.float32), np.array([100_000])
    turned = nn.rotary(x, places)
    assert turned.dtype == np.float32
    np.testing.assert_allclose(turned, nn.rotary(np.float64(x), places), atol=1e-6)


@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_block_by_its_parts(norm):
    """x + attention(norm(x)), then + mlp(norm(...)), written out."""
    block = nn.TransformerBlock(8, 2, norm=norm, rotary=False, key=0)
    x = RANDOM.normal(size=(3, 5, 8))
    y = x + block.attention(block.attention_norm(x))
    y = y + block.mlp(block.mlp_norm(y))
    np.testing.assert_array_equal(block(x), y)
    first, last = block.mlp.layers
    hidden = nn.gelu(block.mlp_norm(x) @ first.weight + first.bias)
    np.testing.assert_allclose(block.mlp(block.mlp_norm(x)), hidden @ last.weight + last.bias, rtol=1e-12)


def test_parameters_of_a_block():
    """As many as its docstring says."""
    assert nn.count_parameters(nn.TransformerBlock(6, 3, key=0)) == 12 * 36 + 13 * 6


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("parts", [[1] * 7, [3, 1, 3], [7], [2, 2, 3]])
@pytest.mark.parametrize("rotary", [False, True])
def test_the_cache_gives_what_the_whole_sequence_gives(rotary, parts, jit):
    """However many places come at a time, with room for more than there are."""
    block = nn.TransformerBlock(8, 2, rotary=rotary, key=0)
    x = RANDOM.normal(size=(3, 7, 8))
    whole = block(x)
    extend = ad.jit(lambda block, x, cache: block.extend(x, cache)) if jit else type(block).extend
    cache, found, at = block.start((3,), 9), [], 0
    for t in parts:
        y, cache = extend(block, x[:, at : at + t], cache)
        found.append(y)
        at += t
    np.testing.assert_allclose(np.concatenate(found, axis=1), whole, rtol=1e-12, atol=1e-12)
    assert int(cache.length) == 7
    if jit and set(parts) == {1}:
        assert extend.stats()["recordings"] == 1
        assert extend.stats()["called by NumPy"] == []


def test_caches_in_single_precision():
    """They are float32 if the block is, and so is what comes out; the length is a whole number."""
    model = nn.Repeat(lambda key: nn.TransformerBlock(8, 2, key=key, dtype=np.float32), 2, key=0)
    x = np.float32(RANDOM.normal(size=(3, 4, 8)))
    y, cache = model.extend(x, model.start((3,), 5))
    assert y.dtype == cache.key.dtype == cache.value.dtype == np.float32
    assert cache.length.dtype == np.int64
    np.testing.assert_allclose(y, model(x), rtol=1e-5, atol=1e-5)


def test_generation_is_one_loop():
    """A cache is carried by `ad.scan`, through blocks that are repeated: places one after another, as all at once."""
    model = nn.Repeat(lambda key: nn.TransformerBlock(8, 2, key=key), 3, key=0)
    x = RANDOM.normal(size=(2, 6, 8))

    def step(cache, one):
        y, cache = model.extend(one, cache)
        return cache, y[:, 0]

    generate = ad.jit(lambda cache, x: ad.scan(step, cache, np.swapaxes(x, 0, 1)[:, :, None])[1])
    for _ in range(2):
        found = generate(model.start((2,), 6), x)
    np.testing.assert_allclose(np.swapaxes(found, 0, 1), model(x), rtol=1e-12, atol=1e-12)
    assert generate.stats()["called by NumPy"] == []


def test_causal_blocks_see_nothing_of_what_follows():
    """Another last place changes the last output only."""
    block = nn.TransformerBlock(8, 2, key=0)
    x = RANDOM.normal(size=(5, 8))
    other = x.copy()
    other[-1] += 1.0
    np.testing.assert_array_equal(block(x)[:-1], block(other)[:-1])
    assert not np.allclose(nn.TransformerBlock(8, 2, causal=False, key=0)(x)[0], block(x)[0])


def test_dropout_of_a_block():
    """In training only: what is added is dropped, x itself is not."""
    block = nn.TransformerBlock(8, 2, dropout=0.5, key=0)
    x = RANDOM.normal(size=(4, 5, 8))
    assert nn.is_stochastic(block)
    y, same = nn.training(block, x, key=0)
    assert same is block
    assert not np.allclose(y, block(x))
    first, second = ad.random.split(ad.random.key(0), 2)
    middle = x + nn.training(block.dropout, block.attention(block.attention_norm(x)), first)[0]
    wanted = middle + nn.training(block.dropout, block.mlp(block.mlp_norm(middle)), second)[0]
    np.testing.assert_array_equal(y, wanted)
    assert not nn.is_stochastic(nn.TransformerBlock(8, 2, key=0))


def blocks_of(kind):
    return {
        "dense": lambda key: nn.Sequential(nn.Dense(4, 4, key=key), "tanh"),
        "all": lambda key: nn.Sequential(nn.BatchNorm(4), nn.Dense(4, 4, key=key), "relu", nn.Dropout(0.3)),
        "transformer": lambda key: nn.TransformerBlock(4, 2, key=key, dropout=0.2),
    }[kind]


@pytest.mark.parametrize("kind", ["dense", "all", "transformer"])
def test_repeat_is_the_sequence_of_its_blocks(kind):
    """Values, gradients, and the same blocks out as went in."""
    make = blocks_of(kind)
    model = nn.Repeat(make, 3, key=0)
    apart = [make(key) for key in ad.random.split(ad.random.key(0), 3)]
    plain = nn.Sequential(*apart)
    x = RANDOM.normal(size=(5, 6, 4))
    np.testing.assert_allclose(model(x), plain(x), rtol=1e-12, atol=1e-14)
    for mine, theirs in zip(model, apart, strict=True):
        for a, b in zip(ad.tree.leaves(mine), ad.tree.leaves(theirs), strict=True):
            np.testing.assert_array_equal(a, b)
    slopes = ad.grad(lambda m: np.sum(np.sin(m(x))))(model)
    wanted = ad.grad(lambda m: np.sum(np.sin(m(x))))(plain)
    for k in range(3):
        for a, b in zip(ad.tree.leaves(slopes[k]), ad.tree.leaves(wanted[k]), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(nn.Repeat(apart)(x), model(x), rtol=1e-12, atol=1e-14)


def test_statistics_of_repeated_blocks():
    """Each block has its own, which move in training as those of a sequence do."""
    make = lambda key: nn.Sequential(nn.BatchNorm(4), nn.Dense(4, 4, key=key))  # noqa: E731
    model = nn.Repeat(make, 3, key=0)
    x = RANDOM.normal(size=(5, 4))
    y, new = nn.training(model, x)
    z, other = nn.training(nn.Sequential(*model), x)
    np.testing.assert_allclose(y, z, rtol=1e-12)
    for k in range(3):
        np.testing.assert_allclose(new[k][0].mean, other[k][0].mean, rtol=1e-12)
        np.testing.assert_allclose(new[k][0].variance, other[k][0].variance, rtol=1e-12)
    assert not np.allclose(new[0][0].mean, new[1][0].mean)


def test_copies_of_one_block():
    """A layer in place of a function: copies that start alike, and are trained apart."""
    layer = nn.Dense(3, 3, key=0)
    model = nn.Repeat(layer, 2)
    x = RANDOM.normal(size=(4, 3))
    np.testing.assert_allclose(model(x), layer(layer(x)), rtol=1e-12)
    slopes = ad.grad(lambda m: np.sum(np.sin(m(x))))(model)
    assert not np.allclose(slopes.blocks.weight[0], slopes.blocks.weight[1])
    np.testing.assert_array_equal(nn.Repeat(nn.Activation("tanh"), 2)(x), np.tanh(np.tanh(x)))  # no arrays at all


@pytest.mark.parametrize("of", ["value", "gradient", "training"])
def test_what_is_compiled_does_not_grow_with_depth(of):
    """The lowered program has as many steps for 24 blocks as for 3."""
    x = RANDOM.normal(size=(2, 5, 8))

    def value(model, x):
        return np.sum(model(x) ** 2)

    def trained(model, x, key):
        return ad.value_and_grad(lambda m: np.sum(nn.training(m, x, key)[0] ** 2))(model)

    compiled = ad.jit({"value": value, "gradient": ad.grad(value), "training": trained}[of])
    more = (ad.random.key(0),) if of == "training" else ()
    sizes = []
    for depth in (3, 24):
        model = nn.Repeat(lambda key: nn.TransformerBlock(8, 2, dropout=0.1, key=key), depth, key=0)
        sizes.append(steps_of(compiled.lower(model, x, *more).program))
    assert sizes[0] == sizes[1] > 10


def test_a_summary_of_repeated_blocks(capsys):
    """A row for the loop, and rows for what is in it."""
    nn.summary(nn.Sequential(nn.Dense(4, 4, key=0), nn.Repeat(nn.Dense(4, 4, key=0), 3)), np.zeros((2, 4)))
    lines = capsys.readouterr().out.splitlines()
    assert lines[3].split()[:2] == ["layers.1", "Repeat"]
    assert lines[4].split() == ["layers.1.blocks", "Dense", "60", "480", "B"]
    assert lines[-1].startswith("80 parameters")


def test_training_a_small_language_model():
    """Embedding, repeated blocks, logits: the loss goes down, and what is generated continues the pattern."""
    keys = ad.random.split(ad.random.key(0), 3)
    model = nn.Sequential(
        nn.Embedding(5, 16, key=keys[0]),
        nn.Repeat(lambda key: nn.TransformerBlock(16, 2, key=key), 2, key=keys[1]),
        nn.Dense(16, 5, key=keys[2]),
    )
    text = np.array([[(s + k) % 5 for k in range(9)] for s in range(5)])
    loss = lambda outputs, targets: ad.losses.cross_entropy(outputs, targets)  # noqa: E731
    fit = ad.train(model, loss, (text[:, :-1], text[:, 1:]), ad.optim.adam(1e-2), epochs=40, batch_size=5)
    assert fit.history["loss"][-1] < 0.2 < fit.history["loss"][0]
    embed, blocks, head = fit.model.layers
    cache, word, said = blocks.start((1,), 6), np.array([[2]]), []
    for _ in range(5):
        y, cache = blocks.extend(embed(word), cache)
        word = np.argmax(head(y), axis=-1)
        said.append(int(word[0, 0]))
    assert said == [3, 4, 0, 1, 2]
