"""`ad.tree.static`: fields of dataclasses that are part of the structure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import adjoint as ad


@dataclass(frozen=True)
class Power:
    scale: Any
    exponent: Any = ad.tree.static(2)
    shifts: Any = field(default=(), metadata={"static": True})

    def __call__(self, x):
        return self.scale * x**self.exponent + sum(self.shifts)


@dataclass(frozen=True)
class Model:
    powers: Any
    bias: Any
    rounds: int = ad.tree.static(1)
    kind: ClassVar[str] = "model"

    def __call__(self, x):
        for _ in range(self.rounds):
            for power in self.powers:
                x = power(x)
        return x + self.bias


MODEL = Model([Power(2.0), Power(np.array([1.0, 3.0]), 3, (0.5, 1))], 1.0, 2)


def test_is_part_of_the_structure():
    """No leaf, no path; equal structures have equal static values."""
    assert ad.tree.paths(MODEL) == ["powers.0.scale", "powers.1.scale", "bias"]
    assert ad.tree.structure(Power(1.0)) == ad.tree.structure(Power(5.0))
    assert ad.tree.structure(Power(1.0, 3)) != ad.tree.structure(Power(1.0))
    again = ad.tree.map(lambda x: 2 * x, MODEL)
    assert (again.rounds, again.powers[1].exponent, again.powers[1].shifts, again.bias) == (2, 3, (0.5, 1), 2.0)
    with pytest.raises(ad.errors.InputError, match="same structure"):
        ad.tree.map(lambda x, y: x, Power(1.0, 2), Power(1.0, 3))


def test_defaults():
    """As for any field: a default, a factory, or none."""

    @dataclass
    class Sizes:
        first: int = ad.tree.static()
        second: tuple = ad.tree.static(default_factory=tuple)

    assert Sizes(3) == Sizes(first=3, second=())
    with pytest.raises(TypeError, match="first"):
        Sizes()
    assert ad.tree.leaves(Sizes(3)) == []


def test_derivatives_leave_it_alone():
    """Gradients, tangents and second derivatives have it as it was."""

    def loss(model):
        return np.sum(model(np.array([0.3, 0.4])))

    for transform in (ad.grad(loss), ad.jit(ad.grad(loss)), ad.grad(ad.jit(loss))):
        g = transform(MODEL)
        assert ad.tree.structure(g) == ad.tree.structure(MODEL)
        h = 1e-6
        up, down = (loss(replace(MODEL, bias=1.0 + s * h)) for s in (1, -1))
        np.testing.assert_allclose(g.bias, (up - down) / (2 * h), rtol=1e-6)
    _, tangent = ad.jvp(lambda m: replace(m, bias=m.bias * m.rounds), (MODEL,), (MODEL,))
    assert (tangent.bias, tangent.rounds) == (2.0, 2)


def test_each_value_has_a_recording():
    """And an equal one none; 2, 2.0 and True are different, as are 0.0 and -0.0."""
    f = ad.jit(lambda power, x: power(x))
    x = np.array([1, 2, 3], np.int32)
    for k, exponent in enumerate([2, 3, 2.0, True, 1, 0.0, -0.0]):
        for _ in range(3):
            power = Power(np.int32(2), exponent)
            found, want = f(power, x), power(x)
            assert found.dtype == want.dtype
            np.testing.assert_array_equal(found, want)
            assert f.stats()["recordings"] == k + 1
    f = ad.jit(lambda power, x: power(x))
    shifts = [1]
    for _ in range(3):
        assert f(Power(1.0, 2, tuple(shifts)), 3.0) == 10.0
    assert f.stats()["recordings"] == 1
    assert f(Power(1.0, 2, (True,)), 3.0) == 10.0
    assert f.stats()["recordings"] == 2


def test_jit_looks_into_static_values():
    """An object among them is told from another by its attributes, and seen when it changes."""

    class Options:
        def __init__(self, rate, note):
            self.rate, self.note = rate, note

        def __eq__(self, other):
            return self.rate == other.rate  # whatever the note

        def __hash__(self):
            return hash(self.rate)

    @dataclass
    class Step:
        x: Any
        options: Any = ad.tree.static()

    f = ad.jit(lambda s: s.x * s.options.rate * s.options.note)
    options = Options(2.0, 1.0)
    assert [f(Step(1.0, options)), f(Step(1.0, Options(2.0, 3.0))), f(Step(1.0, Options(2.0, 1.0)))] == [2.0, 6.0, 2.0]
    options.rate = 5.0
    assert f(Step(1.0, options)) == 5.0


def test_vmap_and_loops():
    """Mapped over what is no setting; a carry keeps its settings, and has to."""
    powers = Power(np.array([1.0, 2.0]), 3)
    np.testing.assert_array_equal(ad.vmap(lambda p: p(2.0))(powers), [8.0, 16.0])
    np.testing.assert_array_equal(ad.vmap(lambda p, x: p(x), (0, None))(powers, 2.0), [8.0, 16.0])
    mapped = ad.vmap(lambda p: replace(p, scale=-p.scale))(powers)
    assert mapped.exponent == 3
    for run in (ad.scan, ad.jit(ad.scan, static_argnums=0)):
        carry, outs = run(lambda p, x: (replace(p, scale=p(x)), p), Power(1.0, 2), np.array([1.0, 2.0]))
        assert (float(carry.scale), carry.exponent, outs.exponent) == (4.0, 2, 2)
        np.testing.assert_array_equal(outs.scale, [1.0, 1.0])
    with pytest.raises(ad.AdjointError):
        ad.scan(lambda p, x: (replace(p, exponent=p.exponent + 1), x), Power(1.0, 2), np.array([1.0, 2.0]))


def test_explained_without_it():
    """An explanation and its source know the numbers alone."""
    f = ad.explain(lambda p: p(3.0))(Power(2.0, 2))
    assert "exponent" not in str(f)
    assert "scale" in str(f)


@pytest.mark.parametrize(("value", "text"), [
    (
        [1, 2],
        "The static field 'exponent' of Power cannot be hashed, so it cannot be part of a structure.\n  at {line}\n"
        "  got list\n  Give it a tuple instead of a list, or an object that can be hashed.",
    ),
    (
        np.ones(2),
        "The static field 'exponent' of Power holds what is computed with.\n  at {line}\n"
        "  got float64[2]\n  Leave  static  out: arrays and numbers of other fields are leaves.",
    ),
    (
        (1, (np.ones(2),)),
        "The static field 'exponent' of Power holds what is computed with.\n  at {line}\n"
        "  got float64[2]\n  Leave  static  out: arrays and numbers of other fields are leaves.",
    ),
])  # fmt: skip
def test_refused(value, text):
    """What cannot be compared, in every transformation."""
    power = Power(1.0, value)
    calls = [
        lambda: ad.grad(lambda p: p.scale)(power),
        lambda: ad.jit(lambda p: p.scale)(power),
        lambda: ad.tree.leaves(power),
        lambda: ad.vmap(lambda x: power)(np.ones(2)),
    ]
    for call in calls:
        with pytest.raises(ad.errors.InputError) as caught:
            call()
        lines = str(caught.value).split("\n")
        want = text.split("\n")
        del want[1]
        assert [line for line in lines if not line.startswith("  at ")] == want


def test_traced_values_are_refused():
    """A number that is computed cannot become part of the structure, not even inside a tuple."""
    with pytest.raises(ad.errors.InputError, match="The static field 'exponent' of Power holds"):
        ad.jit(lambda x: Power(1.0, x > 0))(np.ones(2))
    for make in (lambda x: Power(1.0, x), lambda x: Power(1.0, (x, 2))):
        for call in (
            lambda make=make: ad.jit(make)(2.0),
            lambda make=make: ad.vmap(make)(np.ones(2)),
            lambda make=make: ad.jvp(make, (2.0,), (1.0,)),
            lambda make=make: ad.scan(lambda c, x: (c, make(x)), 1.0, np.ones(2)),
        ):
            with pytest.raises(ad.errors.InputError, match="The static field 'exponent' of Power holds"):
                call()
