"""Programs that are not well formed are found, whatever is wrong with them; those of the library are not."""

import numpy as np
import pytest

from adjoint.ir.passes import OBSERVERS, program_pass
from adjoint.ir.program import GUARD, Program, Step, Type
from adjoint.ir.verify import MalformedProgramError, after_passes, verify
from adjoint.ops.arithmetic import add
from adjoint.ops.complex import conjugate
from adjoint.ops.contraction import matmul
from adjoint.ops.indexing import assign, index
from adjoint.ops.reduction import sum as summed
from adjoint.ops.shape import astype, broadcast_to, concatenate, reshape, transpose
from adjoint.transforms.loops.scan import scan

VECTOR = Type(np.dtype(float), (3,), False)
NUMBER = Type(np.dtype(float), (), False)
PYTHONS = Type(np.dtype(float), (), True)


def sound():
    """A sum of twice a vector, and a guard: v0 is the input, v1 a constant."""
    return Program(
        [VECTOR, PYTHONS, VECTOR, NUMBER],
        [0],
        {1: 2.0},
        [
            Step(add, (0, 1), {}, (2,)),
            Step(summed, (2,), {"axis": (-1,), "keepdims": False}, (3,)),
            Step(GUARD, (3,), {"expected": np.float64(9.0)}, ()),
        ],
        [3],
    )


def test_a_sound_program_passes():
    """Nothing is said of what is well formed."""
    verify(sound())


def test_many_axes():
    """An array may have more axes than NumPy's own function for shapes takes."""
    verify(one_step(add, [(1,) * 40, (2,) * 40], (2,) * 40))


def with_step(place, **parts):
    """The program with another step at a place."""
    steps = list(sound().steps)
    steps[place] = steps[place]._replace(**parts)
    return sound().having(steps=steps)


def with_part(**parts):
    """The program with another part."""
    program = sound()
    names = ("types", "inputs", "constants", "steps", "outputs", "frozen")
    return Program(**{name: parts.get(name, getattr(program, name)) for name in names})


BROKEN = {
    "a number without a value": (with_step(0, args=(0, 7)), "every number is that of a value, but there is no v7"),
    "an output that is no value": (with_part(outputs=[-1]), "every number is that of a value, but there is no v-1"),
    "a value made twice": (with_step(1, outs=(2,)), "a value has one origin, but v2 is defined twice"),
    "an input that is computed": (with_part(inputs=[0, 3]), "a value has one origin, but v3 is defined twice"),
    "an operand from the future": (with_step(0, args=(0, 3)), "a value is defined before it is read, but add reads v3"),
    "an output that nobody makes": (
        with_part(steps=sound().steps[:1]),
        "a value is defined before it is read, but the output v3 is never made",
    ),
    "a constant of another type": (with_part(constants={1: np.ones(3)}), "a constant is of its type, but v1"),
    "a frozen input": (with_part(frozen={0}), "what never changes is an array among the constants, but v0 is not"),
    "two results": (
        with_step(1, outs=(3, 4)),
        "a step has one result, unless its operation has several, but it has 2",
    ),
    "too few operands": (with_step(0, args=(0,)), "an operation has as many operands as it takes, but it has 1"),
    "too many operands": (with_step(1, args=(2, 2)), "an operation has as many operands as it takes, but it has 2"),
    "a parameter too few": (
        with_step(1, params={"axis": (-1,)}),
        "an operation has the parameters it takes, but it lacks keepdims",
    ),
    "a parameter too many": (
        with_step(1, params={"axis": (-1,), "keepdims": False, "where": True}),
        "an operation has the parameters it takes, but it has where",
    ),
    "a guard without a value": (with_step(2, args=()), "a guard says what it awaits of one value, but it looks at 0"),
    "a guard of another shape": (
        with_step(2, args=(2,)),
        "a guard says what it awaits of one value, but it awaits np.float64(9.0) of a float64[3]",
    ),
    "a guard with a result": (with_step(2, outs=(4,)), "a step has one result, unless its operation has several"),
    "a result of another shape": (
        with_part(types=[VECTOR, PYTHONS, NUMBER, NUMBER]),
        "a universal function has the shape of its operands together, but operands of [(3,), ()] give float64[]",
    ),
}


def one_step(primitive, shapes, out, **params):
    """A program of one step, of operands of these shapes, to a result of this one."""
    types = [Type(np.dtype(float), shape, False) for shape in (*shapes, out)]
    args = tuple(range(len(shapes)))
    return Program(types, list(args), {}, [Step(primitive, args, params, (len(args),))], [len(args)])


BODY = one_step(add, [(3,), (3,)], (3,))
LOOP = {"body": BODY, "length": 4, "reverse": False}

MOVES = "what moves elements has a place for each of them"
LOOPS = "the programs of a loop take what it is given"
BROKEN |= {
    "another type": (
        with_part(types=[VECTOR, PYTHONS, VECTOR._replace(dtype=np.dtype(np.float32)), NUMBER]),
        "a universal function gives what NumPy gives for these types, but float64[3], python float64 give float32",
    ),
    "a reshape that loses elements": (one_step(reshape, [(6,)], (2, 2), shape=(2, 2)), MOVES),
    "a transpose of other axes": (one_step(transpose, [(2, 3)], (2, 3), axes=(1, 0)), MOVES),
    "a broadcast to another shape": (
        one_step(broadcast_to, [(3,)], (2, 3), shape=(4, 3)),
        "what moves elements gives the shape that it names, but (4, 3) becomes float64[2,3]",
    ),
    "a slice that is too long": (one_step(index, [(5,)], (6,), template=(slice(None),)), MOVES),
    "a conversion of another shape": (one_step(astype, [(5,)], (6,), dtype=np.dtype(float)), MOVES),
    "a write to an array of another shape": (one_step(assign, [(5,), (2,)], (6,), template=(slice(0, 2),)), MOVES),
    "a join with a gap": (one_step(concatenate, [(2,), (3,)], (6,), axis=-1), MOVES),
    "a sum that keeps its axis": (
        one_step(summed, [(2, 3)], (2, 3), axis=(-1,), keepdims=False),
        "a reduction keeps the axes that it does not reduce, but (2, 3) becomes float64[2,3]",
    ),
    "a product of another length": (
        one_step(matmul, [(2, 3), (4, 5)], (2, 5)),
        "axes with the same label are of one length, but (4, 5) has another length of k",
    ),
    "a product with an axis too many": (
        one_step(matmul, [(2, 3), (3, 5)], (1, 2, 5)),
        "axes with the same label are of one length, but (1, 2, 5) has axes",
    ),
    "a body of other rows": (one_step(scan, [(3,), (4, 2)], (3,), sizes=(0, 1, 1), **LOOP), f"{LOOPS}, but body takes"),
    "a body with an input too many": (
        one_step(scan, [(3,)], (3,), sizes=(0, 1, 0), **LOOP),
        f"{LOOPS}, but body takes",
    ),
    "a carry of another shape": (
        one_step(scan, [(3,), (4, 3)], (3,), sizes=(0, 1, 1), **{**LOOP, "body": one_step(add, [(3,), (3,)], (1, 3))}),
        f"{LOOPS}, but body is given [(3,)] and hands on [(1, 3)]",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_found(name):
    """Each requirement of the table is broken once, and named in the error."""
    program, sentence = BROKEN[name]
    program = Program(
        [*program.types, NUMBER], program.inputs, program.constants, program.steps, program.outputs, program.frozen
    )
    with pytest.raises(MalformedProgramError) as caught:
        verify(program, "a pass")
    assert str(caught.value).startswith(f"a pass: {sentence}")


def test_bodies_are_looked_at():
    """A program inside a step is a program too."""
    outer = with_step(1, params={**sound().steps[1].params, "body": BROKEN["two results"][0]})
    with pytest.raises(MalformedProgramError):
        verify(outer)


def test_every_pass_is_watched():
    """The tests have every program verified; a pass that gives a broken one is named."""

    @program_pass
    def careless(program):
        return program.having(steps=[Step(conjugate, (9,), {}, (0,))])

    with pytest.raises(MalformedProgramError, match="careless: every number"):
        careless(sound())
    seen = len(OBSERVERS)
    assert seen > 0
    with after_passes():
        assert len(OBSERVERS) == seen + 1
    assert len(OBSERVERS) == seen
