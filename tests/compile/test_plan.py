"""Where the values of a program are: in registers, in memory, or computed where they are read; and why."""

from dataclasses import replace

import numpy as np
import pytest

from adjoint.compile.program.expand import expanded
from adjoint.compile.program.placement import INLINE, Inline, Memory, Register
from adjoint.compile.program.plan import Fused, Straight, Whole
from adjoint.compile.program.planning import planned
from adjoint.compile.program.storing import REASONS, _kind_of
from adjoint.ops.indexing import unindex

from .lowering import recorded

X = np.linspace(0.1, 1.0, 50)
M = np.linspace(0.1, 1.0, 2500).reshape(50, 50)


def plan_of(fun, *args):
    """The plan of a function at a point."""
    return planned(expanded(recorded(fun, *args)), {})


def made_by(plan, name):
    """The value that the first step of this name makes."""
    return next(s.outs[0] for s in plan.program.steps if s.primitive.name == name)


def pad(x):
    """An array with zeros around it."""
    return unindex(x, template=(slice(3, 53),), shape=(60,))


STORED = {
    "it is dear, and wanted for few elements": ("sin", lambda x, m: np.sin(x)[3] + 1.0),
    "the operation needs an address": ("multiply", lambda x, m: (m * 2.0) @ m),
    "the loops of a whole operation are not cut at pads": ("unindex", lambda x, m: np.concatenate([pad(x), x])),
    "it would be computed again for each row it is broadcast to": ("multiply", lambda x, m: (x * 2.0) + m),
    "places that are not row by row would have to be found by division": (
        "transpose",
        lambda x, m: np.sin(np.reshape(m.T, (-1,))),
    ),
    "it would be computed across its rows, which is slow": ("sqrt", lambda x, m: np.sqrt(m).T + m),
}


@pytest.mark.parametrize("reason", STORED)
def test_reasons(reason):
    """A value that could be computed where it is read is stored for this reason alone."""
    name, fun = STORED[reason]
    plan = plan_of(fun, X, M)
    v = made_by(plan, name)
    assert isinstance(plan.placement[v], Memory)
    before = replace(plan, placement={**plan.placement, v: INLINE})
    found = [r.why for s in plan.readers[v] for r in REASONS if r.reader is _kind_of(plan, s) and r.holds(before, v, s)]
    assert found == [reason]


def test_every_reason_is_tested():
    """The table has no other reasons."""
    assert [r.why for r in REASONS] == list(STORED)


def test_places():
    """Small values are in registers, outputs in memory, and what is read in one loop alone is nowhere."""
    plan = plan_of(lambda x, y: (np.sum(np.sin(x) * x), y + 1.0), X, np.ones(3))
    places = {s.primitive.name: plan.placement[s.outs[0]] for s in plan.program.steps}
    assert isinstance(places["sin"], Inline)
    assert isinstance(places["multiply"], Inline)
    assert places["sum"] == Memory(1)
    assert isinstance(places["add"], Register)
    assert all(plan.placement[n] == Memory(0) for n in plan.program.inputs)
    assert [type(unit) for unit in plan.units] == [Straight, Fused]


def test_what_is_read_in_several_loops_is_stored():
    """A dear value is computed once, for a loop over its own shape and one over another."""
    plan = plan_of(lambda x, m: (np.sum(np.exp(x)), np.exp(x)[::-1] + m), X, M)
    exp = made_by(plan, "exp")
    assert isinstance(plan.placement[exp], Memory)
    assert not plan.is_computed(exp, plan.level[exp] + 1)
    assert plan.is_computed(exp, plan.level[exp])


def test_units_of_one_time_and_shape_are_one():
    """Three sums over one shape share a loop; a product is a unit of its own."""
    plan = plan_of(lambda x, m: (np.sum(x), np.sum(x * x), np.max(x), m @ m), X, M)
    assert [type(unit) for unit in plan.units] == [Whole, Fused]
    assert len(plan.units[1].reduced) == 3


def test_a_plan_does_not_change():
    """Whoever reads a plan cannot write to it."""
    plan = plan_of(lambda x: x + 1.0, X)
    with pytest.raises(TypeError):
        plan.placement[0] = Register()
    with pytest.raises(AttributeError):
        plan.units = ()
