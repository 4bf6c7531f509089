"""What decides the numbers of a run decides whether a checkpoint is of it: every setting, by name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint import optim
from adjoint.training.checkpoints.facts import DEEPEST, Digests, facts_of
from tests.training.checkpoint_calls import CALL, bits, call

MODEL = CALL["model"]
FUNCTION = "nn.Function(lambda p, x: {}, dict(w=np.ones((2, 1))))"
SEQUENCE = {"model": "nn.Sequential(nn.Dense(2, 1, key=0), nn.tanh)"}
NET = {"model": "Net(np.full((2, 1), 0.3), 2.0)"}
MAPPED = {"data": "(np.load(path.parent / 'x.npy', mmap_mode='r'), Y)"}
STREAM = {"data": "Stream(8)"}
BATCHES = {"data": "data.batches(lambda: ((X[k::3], Y[k::3]) for k in range(3)), batch_size=8)"}
LAMBDA = {"loss": "lambda z, y: np.mean((z - y) ** 2)"}
VALIDATION = {"validation": "(X[:6], Y[:6])", "patience": "9", "metrics": "{'size': lambda z, y: np.mean(abs(z))}"}
OWN = {"optimizer": "optim.Optimizer(lambda p: (), lambda g, s, p=None, **c: (ad.tree.map(lambda g: -0.1 * g, g), s))"}
CHAIN = {"optimizer": "optim.chain(optim.clip_by_norm(1.0), optim.weight_decay(0.1), optim.sgd(0.1, momentum=0.5))"}

ROWS = [
    (LAMBDA, {"loss": "lambda z, y: np.mean((z - y) ** 4)"}, "loss"),
    (LAMBDA, {"loss": "lambda z, y: np.mean(abs(z - y))"}, "loss"),
    (LAMBDA, {"loss": "losses.squared"}, "loss"),
    ({}, {"loss": "losses.absolute"}, "loss"),
    ({"loss": "scaled(1.0)"}, {"loss": "scaled(2.0)"}, "loss.factor"),
    ({"loss": "scaled(np.ones(1))"}, {"loss": "scaled(np.full(1, 2.0))"}, "loss.factor"),
    ({"loss": "with_default"}, {"DEFAULT": "2.5"}, "loss.factor"),
    ({"loss": "nested"}, {"SCALE": "3.0"}, "loss.SCALE"),
    ({"loss": "nested"}, {"HELPER": "np.sinh(z)"}, "loss.helper"),
    ({"loss": "ad.jit(nested)"}, {"HELPER": "np.sinh(z)"}, "loss.function.helper"),
    ({"loss": "partial(losses.huber, delta=1.0)"}, {"loss": "partial(losses.huber, delta=2.0)"}, "loss.delta"),
    ({}, {"model": MODEL.replace("0.2", "0.3")}, "model.dropout.rate"),
    ({}, {"model": MODEL.replace("tanh", "relu")}, "model.layers[0].weight"),
    (SEQUENCE, {"model": SEQUENCE["model"].replace("nn.tanh", "np.sinh")}, "model.layers[1].function"),
    ({}, {"model": MODEL.replace("key=0", "key=1")}, "model.layers[0].weight"),
    ({"model": FUNCTION.format("x @ p['w']")}, {"model": FUNCTION.format("x @ (p['w'] * 2)")}, "model.predict"),
    (NET, {"CALL": "x @ (self.w * self.power)"}, "model.class.__call__"),
    (NET, {"model": NET["model"].replace("2.0", "3.0")}, "model.power"),
    ({"regularizer": "losses.l2(1e-3)"}, {"regularizer": "losses.l2(1e-2)"}, "regularizer.strength"),
    ({"regularizer": "losses.l2(1e-3)"}, {"regularizer": "losses.l1(1e-3)"}, "regularizer"),
    ({}, {"regularizer": "losses.l2(1e-3)"}, "regularizer"),
    ({}, {"clip_per_sample": "1.0"}, "clip_per_sample"),
    ({}, {"optimizer": "optim.adam(0.01, beta1=0.8)"}, "optimizer.beta1"),
    ({}, {"optimizer": "optim.sgd(0.01)"}, "optimizer"),
    (CHAIN, {"optimizer": CHAIN["optimizer"].replace("norm(1.0", "norm(2.0")}, "optimizer.optimizers[0].max"),
    (CHAIN, {"optimizer": CHAIN["optimizer"].replace("0.5", "0.6")}, "optimizer.optimizers[2].momentum"),
    (OWN, {"optimizer": OWN["optimizer"].replace("-0.1", "-0.2")}, "optimizer.update"),
    ({}, {"data": "(X, 2 * Y)"}, "data.targets"),
    ({}, {"data": "(X, Y)", "sample_weight": "np.arange(24.0)"}, "data.weights"),
    (MAPPED, {"data": "(np.load(path.parent / 'other.npy', mmap_mode='r'), Y)"}, "data.inputs"),
    (STREAM, {"data": "Stream(6)"}, "data.size"),
    (STREAM, {"TARGETS": "Y[k:k + self.size] + 1.0"}, "data.class.__iter__"),
    (BATCHES, {"data": BATCHES["data"].replace("Y[", "-Y[")}, "data.source"),
    (VALIDATION, {"validation": "(X[:7], Y[:7])"}, "validation.inputs"),
    (VALIDATION, {"validation": "0.25"}, "data.inputs"),
    (VALIDATION, {"patience": "8"}, "patience"),
    (VALIDATION, {"metrics": "{'size': lambda z, y: np.max(abs(z))}"}, "metrics.size"),
    (VALIDATION, {"metrics": VALIDATION["metrics"][:-1] + ", 'more': lambda z, y: 1.0}"}, "metrics.more"),
    ({}, {"freeze": "'layers.0.*'"}, "freeze[0]"),
    ({}, {"batch_size": "6"}, "batch_size"),
    ({}, {"seed": "1"}, "seed"),
    ({}, {"shuffle": "False"}, "shuffle"),
    ({}, {"drop_last": "True"}, "drop_last"),
    ({}, {"accumulate": "2"}, "accumulate"),
]  # fmt: skip
"""A call, what is changed about it, and the name under which that is told."""

LIKE = [
    ({}, {"optimizer": "optim.adam(0.02)"}),
    ({"loss": "nested"}, {"DOC": "of another user"}),
]
"""A call, and what may be changed about it."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """From a call to its checkpoint after an epoch; each is made once."""
    folder = tmp_path_factory.mktemp("runs")
    np.save(folder / "x.npy", np.linspace(0.0, 1.0, 48).reshape(24, 2))
    np.save(folder / "other.npy", np.linspace(0.0, 1.1, 48).reshape(24, 2))
    made: dict[str, Path] = {}

    def after_an_epoch(base):
        key = repr(base)
        if key not in made:
            made[key] = folder / f"{len(made)}.npz"
            call(made[key], base, {"epochs": "1"})
        return made[key]

    return after_an_epoch


@pytest.mark.parametrize(("base", "change", "name"), ROWS, ids=[f"{k}-{row[2]}" for k, row in enumerate(ROWS)])
def test_another_setting_is_refused(saved, base, change, name):
    """By a message that names it; the file stays as it is."""
    path = saved(base)
    before = path.read_bytes()
    with pytest.raises(ad.errors.InputError) as error:
        call(path, base, change)
    assert str(error.value).splitlines()[0] == f"The checkpoint {str(path)!r} is of another run: {name} differs."
    assert path.read_bytes() == before


@pytest.mark.parametrize(("base", "change"), LIKE)
def test_what_may_change(saved, base, change, tmp_path):
    """The optimiser's rate, and what decides no number."""
    path = tmp_path / "run.npz"
    path.write_bytes(saved(base).read_bytes())
    assert call(path, base, change).history.epochs == 3


@pytest.mark.slow
def test_the_same_call_goes_on_in_a_new_process(saved):
    """Bit by bit, whatever line its functions stand in."""
    bases = {repr(row[0]): row[0] for row in ROWS}.values()
    asked = json.dumps([(str(saved(base)), base) for base in bases])
    program = Path(__file__).with_name("checkpoint_calls.py")
    done = subprocess.run([sys.executable, program, asked], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for base, line in zip(bases, done.stdout.splitlines(), strict=True):
        path = saved(base).with_suffix(".whole.npz")
        assert json.loads(line) == bits(call(path, base)), base


def test_facts_are_of_what_is_there():
    """Circles, sets, slots, deep and wide containers, objects of packages: by content, not by identity."""

    class Slotted:
        __slots__ = ("value",)

        def __init__(self, value):
            self.value = value

    def things(number):
        circle = [number]
        circle.append(circle)
        deep = number
        for _ in range(DEEPEST + 3):
            deep = [deep]
        return [
            circle, {"a", "b", str(number)}, Slotted(number), deep, list(range(300, 600 + number)),
            np.random.default_rng(number), {(1, number): 2}, np.array([None, number]), slice(number), Path(f"{number}"),
            np.float32(number), optim.schedule.cosine(0.1 * number, steps=3), iter([number]), -0.0 * number,
        ]  # fmt: skip

    one, again, other = (facts_of("x", things(number)) for number in (1, 1, 2))
    assert one == again
    for k in range(len(things(1)) - 1):  # the last is alike
        assert {n: t for n, t in one.items() if n.startswith(f"x[{k}]")} != {
            n: t for n, t in other.items() if n.startswith(f"x[{k}]")
        }, things(1)[k]
    chain: list = []
    for _ in range(5000):
        chain = [chain]
    assert Digests().of(chain)
