"""`fold` goes over a program with anything in the place of numbers; passes and questions about steps."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.ir.builder import Builder
from adjoint.ir.fold import (
    every_step,
    fold,
    guards_in,
    has_kind,
    last_reads,
    leading_to,
    made_by,
    makers,
    may_fail,
    reached,
    read_by,
    rewritten,
    rewritten_back,
    uses_of,
    values_of,
    values_wanted,
)
from adjoint.ir.interpret import Interpreter, replay
from adjoint.ir.loops import LoopPrimitive
from adjoint.ir.program import GUARD, Step, Type
from adjoint.ops.arithmetic import add, multiply, negative
from adjoint.transforms.loops.scan import scan

VECTOR = Type(np.dtype(float), (3,), False)


def example():
    """(x * 2.0) + y, and beside it what nobody reads, -y."""
    work = Builder()
    x, y = work.input(VECTOR), work.input(VECTOR)
    twice = work.add(multiply, (x, work.constant(2.0)), VECTOR)
    work.add(negative, (y,), VECTOR)
    return work.build([work.add(add, (twice, y), VECTOR)])


class Texts:
    """An algebra of texts, and how often it was asked."""

    def __init__(self):
        self.asked = []

    def constant(self, number, value):
        return repr(value) if value is not None else f"c{number}"

    def step(self, step, args):
        self.asked.append(step.primitive.name)
        return [f"{step.primitive.name}({', '.join(args)})"]


def test_an_algebra_of_texts():
    """The outputs, or every value, in terms of what the inputs are."""
    assert fold(example(), Texts(), "xy") == ["add(multiply(x, 2.0), y)"]
    found = values_of(example(), Texts(), "xy")
    assert found[4] == "negative(y)"
    assert values_of(example(), Texts(), "xy", example().steps[:1]).keys() == {0, 1, 2, 3}


def test_too_few_inputs_are_an_error():
    """Nothing is left out in silence, nor are results."""
    with pytest.raises(ValueError, match="zip"):
        fold(example(), Texts(), "x")

    class Careless(Texts):
        def step(self, step, args):
            return []

    with pytest.raises(ValueError, match="zip"):
        fold(example(), Careless(), "xy")


def test_an_input_is_what_is_given_even_if_it_is_a_constant():
    """Arrays of a body are handed in, and are constants of the program it was recorded in."""
    program = example().having(inputs=[0, 1, 2])
    assert fold(program, Texts(), ["x", "y", "z"]) == ["add(multiply(x, z), y)"]


def test_only_what_is_wanted():
    """Steps that nobody asks for are not taken, and none twice; what has no maker is a constant."""
    program, texts = example(), Texts()
    known = {0: "x"}
    found = values_wanted([5, 3], makers(program.steps).get, texts, known)
    assert found is known
    assert found[5] == "add(multiply(x, c2), c1)"
    assert texts.asked == ["multiply", "add"]


def test_replaying_is_a_fold():
    """Through primitives, so that a handle is differentiated; the same numbers as NumPy's."""
    program, x, y = example(), np.arange(3.0), np.ones(3)
    (found,) = replay(program, [x, y])
    (run,) = Interpreter(program).run([x, y])
    np.testing.assert_array_equal(found, run)
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(replay(program, [x, y])[0]))(x), [2.0, 2.0, 2.0])


def test_a_pass_rewrites_steps():
    """A step becomes another one, or its result the same as another value: readers and outputs have that then."""

    def change(step):
        if step.primitive is multiply:
            return (step.args[0],)
        return step._replace(primitive=add) if step.primitive is negative else step

    found = rewritten(example(), change)
    assert [(s.primitive, s.args) for s in found.steps] == [(add, (1,)), (add, (0, 1))]
    assert found.outputs == (5,)
    assert rewritten(example(), lambda s: s.args[:1]).outputs == (0,)
    assert rewritten(example(), lambda s: s).steps == example().steps


def test_a_pass_from_the_end():
    """A step may become another one by what those after it read."""
    seen = []

    def change(step, needed):
        seen.append((step.primitive, set(needed)))
        return step._replace(args=(0, 0)) if step.primitive is add else step

    found = rewritten_back(example(), change)
    assert seen == [(add, {5}), (negative, {5, 0}), (multiply, {5, 0, 1})]
    assert [s.args for s in found.steps] == [(0, 2), (1,), (0, 0)]


def test_questions():
    """What is made, read, depended on, by whom."""
    steps = example().steps
    assert made_by(steps) == makers(steps).keys() == {3, 4, 5}
    assert read_by(steps[:1], [7]) == {0, 2, 7}
    assert reached(steps, [0]) == {0, 3, 5}
    assert reached(steps, [0], lambda step: ()) == {0}
    assert [s.outs for s in leading_to(steps, [5])[0]] == [(3,), (5,)]
    assert uses_of(steps, [5, 1]) == {0: 1, 1: 3, 2: 1, 3: 1, 5: 1}
    assert last_reads(steps) == {0: 0, 2: 0, 1: 2, 3: 2}
    guard = Step(GUARD, (0,), {"expected": True}, ())
    assert guards_in([*steps, guard]) == [guard]
    assert has_kind(steps, type(add))
    assert not has_kind(steps, LoopPrimitive)
    assert leading_to(steps, [3], lambda step: step.primitive is negative)[1] == {0, 1, 2, 3}


def test_steps_inside_steps():
    """A body is gone over after the step that it is inside of."""
    body = example()
    outer = Step(scan, (0, 1), {"body": body, "sizes": (0, 1, 1), "length": 2, "reverse": False}, (2, 3))
    assert [s.primitive for s in every_step([outer, *body.steps[:1]])] == [scan, multiply, negative, add, multiply]


def test_what_may_fail():
    """Guards, and bodies with guards in them."""
    program = example()
    guard = Step(GUARD, (0,), {"expected": True}, ())
    assert may_fail(program, guard)
    assert not any(may_fail(program, step) for step in program.steps)
    inside = program.having(steps=[*program.steps, guard])
    assert may_fail(program, Step(scan, (0, 1), {"body": inside}, (2,)))
