"""The operands of loops in named groups, and who reads them."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.ir.keys import key_of
from adjoint.ir.loops import CondOperands, LoopPrimitive, Operands, PullOperands, ScanOperands, WhileOperands
from adjoint.ir.program import Program, Step, inner_programs
from adjoint.rolling.loop import rolled
from adjoint.transforms.loops.cond import cond
from adjoint.transforms.loops.scan import scan, scan_pull
from adjoint.transforms.loops.while_loop import while_loop, while_pull

RECORDS: dict[LoopPrimitive, type[Operands]] = {
    scan: ScanOperands,
    rolled: ScanOperands,
    while_loop: WhileOperands,
    cond: CondOperands,
    scan_pull: PullOperands,
    while_pull: PullOperands,
}


@pytest.mark.parametrize("record", sorted(set(RECORDS.values()), key=lambda record: record.__name__))
def test_a_flat_list_is_cut_and_put_together(record):
    """Sizes and groups say the same, whichever groups are empty."""
    names = record.names()
    for mask in range(2 ** len(names)):
        sizes = tuple([k + 1 if mask >> k & 1 else 0 for k in range(len(names))])
        flat = list(range(sum(sizes)))
        found = record.cut(flat, sizes)
        assert found.flat() == flat
        assert found.sizes == sizes
        assert record(*found) == found
        assert found.each(lambda group: group) == found


@pytest.mark.parametrize("record", sorted(set(RECORDS.values()), key=lambda record: record.__name__))
def test_parts_name_groups(record):
    """What a program takes and hands on, and what is stacked, are groups of the record."""
    for part in record.parts:
        assert set(part.takes) <= set(record.names())
        assert part.carries in ("", *part.takes)
    assert record.stacked <= set(record.names())


def test_maps():
    """Operand by operand, with those of other records; stacked ones in another way; some groups exchanged."""
    loop = ScanOperands((1, 2), (3,), (4, 5))
    assert loop.map(lambda x: 10 * x) == ScanOperands((10, 20), (30,), (40, 50))
    assert loop.map(lambda x: x, stacked=str) == ScanOperands((1, 2), (3,), ("4", "5"))
    assert loop.map(lambda x, y: x + y, loop) == loop.map(lambda x: 2 * x)
    assert loop.having(carry=[]) == ScanOperands((1, 2), (), (4, 5))
    with pytest.raises(ValueError, match="zip"):
        loop.map(lambda x, y: x, loop.having(carry=[]))


def test_a_program_takes_groups_in_its_own_order():
    """The step back takes its state before the carry."""
    loop = PullOperands((0,), (1,), (2,), (3, 4), (5,), (6,), (7,))
    assert loop.inputs(PullOperands.BODY) == [1, 3, 4, 5]
    assert loop.inputs(PullOperands.BACK) == [2, 6, 3, 4, 5, 7]
    program = Program(inputs=list("abcdef"))
    assert loop.inner(PullOperands.BACK, program)["carry"] == ["c", "d"]


def steps_of(program: Program) -> list[Step]:
    """The steps of a program and of those inside it."""
    return [s for step in program.steps for s in (step, *[t for q in inner_programs(step) for t in steps_of(q)])]


def branching(x):
    """A scan of a while loop and a choice."""

    def body(c, t):
        c = ad.while_loop(lambda y: np.sum(y * y) > 1, lambda y: y * 0.7, c + t)
        return ad.cond(c[0] > 0, np.sin, np.cos, c), c[0]

    carry, ys = ad.scan(body, x, np.linspace(0.1, 1.0, 4), memory=100)
    return np.sum(carry) + np.sum(ys)


TRANSFORMS = {
    "grad": (ad.grad, (2,)),
    "forward over reverse": (lambda f: ad.jacfwd(ad.grad(f)), (2,)),
    "batch": (lambda f: ad.vmap(ad.grad(f)), (3, 2)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_programs_take_what_the_record_says(name):
    """In derivatives and batches, every program of every loop has as many inputs as it is given."""
    transform, shape = TRANSFORMS[name]
    lowered = ad.jit(transform(branching)).lower(np.linspace(-0.5, 0.9, np.prod(shape)).reshape(shape))
    loops = [s for s in steps_of(lowered.program) if isinstance(s.primitive, LoopPrimitive)]
    assert {s.primitive.operands for s in loops} >= {ScanOperands, WhileOperands, PullOperands}
    for step in loops:
        assert RECORDS[step.primitive] is step.primitive.operands
        given = step.primitive.operands.of(step)
        assert given.flat() == list(step.args)
        for part in given.parts:
            bodies = step.params[part.param]
            for body in bodies if isinstance(bodies, tuple) else (bodies,):
                assert len(body.inputs) == len(given.inputs(part))


def test_keys_tell_numbers_apart():
    """Equal numbers of different kinds are different keys, as are zeros of different signs."""
    keys = [key_of(x) for x in (1, 1.0, True, 0.0, -0.0, np.float64(0.0), np.int64(1), (1,), [1], None, slice(1))]
    assert len(set(keys)) == len(keys)
    assert key_of({"axis": (0, 1)}) == key_of({"axis": (0, 1)})
    assert key_of(np.zeros(2)) != key_of(np.zeros(2, np.float32))
