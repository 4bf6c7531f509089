"""A program is written by a `Builder`, and by nobody else; what it gives is never changed."""

import ast
import pathlib

import numpy as np
import pytest

import adjoint as ad
from adjoint.ir.builder import Builder
from adjoint.ir.program import DOUBLE, Program, Step, Type
from adjoint.ops.arithmetic import add, multiply

SOURCE = pathlib.Path(ad.__file__).parent
PARTS = ("types", "inputs", "constants", "steps", "outputs", "frozen")
WATCHED = (*PARTS, "params")
"""What nobody writes to: the parts of a program, and the parameters of its steps."""
VECTOR = Type(np.dtype(float), (3,), False)


def written():
    """A builder of  x * 2.0 + array."""
    work = Builder()
    x = work.input(VECTOR)
    twice = work.add(multiply, (x, work.constant(2.0)), VECTOR)
    work.give([work.add(add, (twice, work.constant(np.ones(3), frozen=True)), VECTOR)])
    return work


@pytest.mark.parametrize("name", PARTS)
def test_a_program_cannot_be_changed(name):
    """Neither by giving it another part, nor by taking one away, nor inside a part."""
    program = written().build()
    before = getattr(program, name)
    with pytest.raises(AttributeError, match="never changed"):
        setattr(program, name, before)
    with pytest.raises(AttributeError, match="never changed"):
        delattr(program, name)
    with pytest.raises(TypeError):
        before[0] = None
    for method in ("append", "add", "update", "clear", "pop", "setdefault", "__setitem__", "__delitem__"):
        assert not hasattr(before, method)
    assert getattr(program, name) is before


def test_a_recorded_program_cannot_be_changed():
    """What a user reads of a jitted function is as frozen as any other."""
    lowered = ad.jit(lambda x: np.sum(np.sin(x) * 2.0)).lower(np.ones(3))
    for program in (lowered.program, lowered.optimized):
        with pytest.raises(AttributeError, match="its steps"):
            program.steps = ()
        with pytest.raises(TypeError):
            program.constants[0] = 1.0


def test_what_is_written_later_is_not_part_of_it():
    """A program is a copy of what there was when it was built, and of what it was made of."""
    work = written()
    program = work.build()
    text = str(program)
    work.give([work.add(add, (0, 0), VECTOR)])
    work.retype(0, DOUBLE)
    work.set_constant(1, 3.0)
    assert str(program) == text
    types, constants, steps = [VECTOR, DOUBLE], {1: 2.0}, [Step(multiply, (0, 1), {}, (0,))]
    program = Program(types, [0], constants, steps, [0])
    text = str(program)
    types[0], constants[1] = DOUBLE, 4.0
    steps.clear()
    assert str(program) == text


def test_a_builder_reads_as_it_is_written():
    """Its lists are there to be read; its own methods say where in them something is."""
    work = written()
    assert (work.inputs, work.outputs, list(work.constants), work.frozen) == ([0], [4], [1, 3], {3})
    assert [s.primitive for s in work.steps] == [multiply, add]
    assert [s.primitive for s in work.cut(1)] == [add]
    assert work.give([2, 2]) == range(1, 3)
    work.rewrite([])
    work.append(Step(add, (0, 0), {}, (2,)))
    work.drop_constant(1)
    program = work.build([2])
    assert (len(program.steps), program.outputs, list(program.constants)) == (1, (2,), [3])
    assert program.having(inputs=[0, 1]).inputs == (0, 1)
    assert Builder.of(program).build().steps == ()


def test_values_are_shared_not_copied():
    """Passes that change steps alone are cheap: the rest is the very same."""
    program = written().build()
    other = program.having(steps=program.steps[:1], outputs=[2])
    assert all(getattr(other, name) is getattr(program, name) for name in ("types", "inputs", "constants", "frozen"))


CHANGES = frozenset((
    "append", "extend", "insert", "pop", "popitem", "remove", "clear", "sort", "reverse", "update", "setdefault", "add",
    "discard", "difference_update", "intersection_update",
))  # fmt: skip


def writes(tree):
    """Where a module changes a part of something that is not `self`: that of a program, or of one in the making.

    A part under another name is one as well, as `steps` after `steps = program.steps`.
    """
    functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    attributes = {name for name in _aliases(tree) if "." in name}
    for scope in (tree, *functions):
        names = {name for name in _aliases(scope) if "." not in name} if scope is not tree else set()
        yield from _writes(scope, names | attributes)


def _aliases(scope):
    """What is another name for a part: of variables of a function, and of attributes of `self`."""
    for node in ast.walk(scope):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            is_many = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            pairs = zip(target.elts, node.value.elts, strict=False) if is_many else [(target, node.value)]
            yield from [ast.unparse(name) for name, value in pairs if _is_part(value)]


def _is_part(node):
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return isinstance(node, ast.Attribute) and node.attr in WATCHED and not is_own


def _writes(scope, aliases):
    for node in ast.walk(scope):
        targets = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
            targets = [node.func.value]
            inside = targets
        else:
            targets = getattr(node, "targets", []) if isinstance(node, (ast.Assign, ast.Delete)) else []
            targets = [node.target] if isinstance(node, (ast.AugAssign, ast.AnnAssign)) else targets
            targets = [t for target in targets for t in (target.elts if isinstance(target, ast.Tuple) else (target,))]
            inside = [t.value for t in targets if isinstance(t, ast.Subscript)]
            inside += targets if isinstance(node, ast.AugAssign) else []
        for target in {*inside, *targets}:
            if _is_part(target) or (target in inside and ast.unparse(target) in aliases):
                yield f"{node.lineno}: {ast.unparse(target)}"


def test_writes_are_noticed():
    """The forms that a write can have."""
    for text in (
        "program.steps.append(s)", "a.program.outputs += x", "p.constants[n] = c", "p.inputs = []", "del p.steps[2:]",
        "p.types: list = []", "a.frozen.add(n)", "p.inputs, q = x, y", "self.program.types[0] = t",
        "step.params[k] = 1",
        "def f(p):\n    steps, k = p.steps, 1\n    steps[k] = s", "def f(p):\n    found = p.steps\n    found += [s]",
        "class A:\n    def f(self, p):\n        self.types = p.types\n    def g(self):\n        self.types[1] = t",
    ):  # fmt: skip
        assert list(writes(ast.parse(text))), text
    assert not list(
        writes(
            ast.parse(
                "self.steps = []\nself.steps.append(1)\np.steps.index(1)\ndef f(p):\n    types = p.types\n    types = 1"
            )
        )
    )


def test_nobody_else_writes():
    """In the whole source, parts of programs are changed in one file."""
    found = [
        f"{path.relative_to(SOURCE)}:{place}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path != SOURCE / "ir" / "builder.py"
        for place in writes(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []
