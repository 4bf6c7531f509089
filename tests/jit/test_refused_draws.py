"""A recording that is refused because it draws random numbers has not drawn any."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import AdjointError, ImpureError

generator = np.random.default_rng(1)
old_generator = np.random.RandomState(2)
pythons = random.Random(3)
bits = np.random.PCG64(4)
held = {"inner": [np.random.default_rng(5)]}


class Model:
    """Holds a generator."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(6)


model = Model()

FUNCTIONS = {
    "np.random": lambda x: x + np.random.normal(),
    "random": lambda x: x + random.random(),
    "Generator": lambda x: x + np.sum(generator.normal(size=700)),
    "RandomState": lambda x: x + old_generator.normal(),
    "Random": lambda x: x + pythons.gauss(0.0, 1.0),
    "BitGenerator": lambda x: x + float(bits.random_raw()),
    "in a container": lambda x: x + held["inner"][0].normal(),
    "attribute": lambda x: x + model.generator.normal(),
    "several": lambda x: x + generator.normal() + np.random.rand() + random.random(),
    "refused for another reason": lambda x: (generator.normal(), np.random.rand(), object())[2],
    "an error of the library": lambda x: ad.grad(lambda y: (generator.normal(), np.random.rand(), "text")[2])(x),
}


def states() -> str:
    """All of them, as text."""
    with np.printoptions(threshold=1000):
        return repr([
            np.random.get_state(), random.getstate(), generator.bit_generator.state, old_generator.get_state(),
            pythons.getstate(), bits.state, held["inner"][0].bit_generator.state, model.generator.bit_generator.state,
        ])  # fmt: skip


@pytest.mark.parametrize("transform", [ad.jit, lambda f: ad.jit(ad.vmap(f)), lambda f: ad.jit(f).lower])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_refused(name: str, transform: Any) -> None:
    """The caller's generators are as they were before the call."""
    before = states()
    with pytest.raises(AdjointError):
        transform(FUNCTIONS[name])(np.ones(2))
    assert states() == before


def test_given_as_an_argument() -> None:
    """Also those of the arguments."""
    given, before = np.random.default_rng(7), np.random.default_rng(7).bit_generator.state
    with pytest.raises(AdjointError):
        ad.jit(lambda x, g: x + g.normal())(1.0, given)
    assert given.bit_generator.state == before


def test_an_error_of_the_users() -> None:
    """The function's own error comes after one run of it, whatever was attempted: as without jit."""

    def f(x: Any) -> Any:
        if np.random.rand() < 2.0:
            raise KeyError("own")
        return x

    np.random.seed(8)
    with pytest.raises(KeyError):
        f(1.0)
    wanted = np.random.rand()
    np.random.seed(8)
    with pytest.raises(KeyError):
        ad.jit(f)(1.0)
    assert np.random.rand() == wanted


class Settings:
    """Where a seed may be kept."""

    seed = 7
    nothing = None


SEED, NOTHING = 5, None
SEEDED = {
    "number": lambda x: x * np.random.RandomState(3).normal(),
    "keyword": lambda x: x * np.random.RandomState(seed=3).normal(),
    "global": lambda x: x * np.random.RandomState(SEED).normal(),
    "attribute": lambda x: x * np.random.RandomState(seed=Settings.seed).normal(),
    "default_rng": lambda x: x * np.random.default_rng(SEED).normal(),
}
UNSEEDED = {
    "nothing": lambda x: x * np.random.RandomState().normal(),
    "None": lambda x: x * np.random.RandomState(None).normal(),
    "a name for None": lambda x: x * np.random.RandomState(NOTHING).normal(),
    "an attribute that is None": lambda x: x * np.random.RandomState(Settings.nothing).normal(),
    "default_rng": lambda x: x * np.random.default_rng().normal(),
}


@pytest.mark.parametrize("f", SEEDED.values(), ids=SEEDED.keys())
def test_seeded_generators_are_taken(f):
    """They give the same numbers at every call, recorded or not."""
    jitted = ad.jit(f)
    for x in (1.0, 2.0, 1.0):
        assert jitted(x) == f(x)


@pytest.mark.parametrize("f", UNSEEDED.values(), ids=UNSEEDED.keys())
def test_generators_without_a_seed_are_not(f):
    """A recording would repeat their numbers."""
    with pytest.raises(ImpureError, match="without a seed"):
        ad.jit(f)(1.0)
