"""The instructions of Python code, in the same words for every version: what `dis` says, and what the rooms ask for."""

from __future__ import annotations

import ast
import bisect
import dis
import inspect
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint.host.code import versions
from adjoint.host.code.decode import index_at, instructions
from adjoint.host.code.graph import graph_of
from adjoint.host.code.stack import depths_in, loops_around, loops_over
from adjoint.transforms.jit import path, show

SOURCE = Path(ad.__file__).parent
MODULES = [ast, bisect, dis, inspect, types, warnings, np.lib._function_base_impl]


def codes_in(code):
    """A code and those inside it."""
    yield code
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield from codes_in(c)


def said(code):
    """What the standard library says of a code, in our words."""
    reads = {*dis.hasname, *dis.hasconst, *dis.haslocal, *dis.hasfree}
    for step in dis.get_instructions(code):
        if step.opname in ("CACHE", "EXTENDED_ARG", "NOT_TAKEN"):
            continue
        if step.opname in versions.PAIRS:
            for k, name in enumerate(versions.PAIRS[step.opname]):
                yield step.offset + k, name, step.argval[k]
        elif step.opcode in reads and step.opname != "KW_NAMES":  # for which 3.11 has no value
            yield step.offset, versions.SAME.get(step.opname, step.opname), step.argval


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_what_the_standard_library_says(module):
    """Places, names and values of all instructions that have any, in the code of a module."""
    for code in codes_in(compile(Path(module.__file__).read_text(encoding="utf-8"), module.__file__, "exec")):
        found = {(i.place, i.name): i.value for i in instructions(code)}
        for place, name, value in said(code):
            assert repr(found[place, name]) == repr(value), (code.co_name, place, name)


def test_where_jumps_lead():
    """To the instruction that the standard library names, or to the one that its argument is extended for."""
    for code in codes_in(compile(Path(inspect.__file__).read_text(encoding="utf-8"), "inspect", "exec")):
        places = [i.place for i in instructions(code)]
        wanted = {s.offset: s.argval for s in dis.get_instructions(code) if s.opcode in dis.hasjrel}
        for step in instructions(code):
            if step.place in wanted:
                assert step.value == places[bisect.bisect_left(places, wanted[step.place])]


@pytest.mark.parametrize("file", sorted((SOURCE / "ops").glob("*.py")), ids=lambda f: f.name)
def test_stacks_agree(file):
    """Whichever way leads to an instruction, the stack is as deep: the effects of all instructions are known."""
    for code in codes_in(compile(file.read_text(encoding="utf-8"), str(file), "exec")):
        if not code.co_exceptiontable and not code.co_flags & inspect.CO_GENERATOR:
            depths = depths_in(code)
            assert depths
            ends = [i for i in instructions(code) if i.name == "RETURN_VALUE" and i.place in depths]
            assert all(depths[i.place] == 1 for i in ends)


def nested(n, xs):
    """Two loops around a test, and a variable that is not read after it."""
    total = 0.0
    for i in range(n):
        for x in xs:
            if x > i:
                total += x
    return total


def test_loops_and_variables():
    """The loops around the test, with nothing else on the stack, and what is still read there."""
    code = nested.__code__
    test = next(i for i in instructions(code) if i.name == "COMPARE_OP")
    loops = [i.place for i in instructions(code) if i.name == "FOR_ITER"]
    assert loops_over(code, test.place) == loops
    assert loops_around(code, test.place, depths_in(code)[test.place] - 2) == tuple(loops)
    assert loops_around(code, test.place, depths_in(code)[test.place]) is None
    assert graph_of(code).live[test.place] == {"n", "xs", "i", "x", "total"} - {"n"}
    assert index_at(code, test.place + 2) == index_at(code, test.place)  # a place in its caches


@pytest.fixture
def _unknown(monkeypatch):
    """A Python whose instructions nobody has looked at; nothing has been said of it yet."""
    monkeypatch.setattr(versions, "IS_KNOWN", False)
    monkeypatch.setattr(show, "_is_said", False)


@pytest.mark.usefixtures("_unknown")
def test_an_unknown_python():
    """It is said once, and every jitted function runs as it is."""
    f, g = ad.jit(lambda x: x if type(x) is float else -3.0 * x), ad.jit(ad.grad(lambda x: np.sin(x) * x))
    with pytest.warns(RuntimeWarning, match="whose instructions are not known") as caught:
        assert f(1.0) == 1.0
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert g(0.5) == ad.grad(lambda x: np.sin(x) * x)(0.5)
    assert f.stats()["recordings"] == g.stats()["recordings"] == 0


def collatz(x):
    """Branches, a loop that values end, an array that is filled, and a loop of the library."""
    seen = np.zeros(8)
    for k in range(8):
        seen[k] = x
        x = x * 0.5 if x > 1.0 else 3.0 * x + 0.25
        if x > 100.0:
            break
    return ad.scan(lambda total, y: (total + y * y, None), 0.0, seen)[0] * x


UNKNOWN = {
    "value": lambda f, jit: jit(f),
    "gradient": lambda f, jit: jit(ad.grad(f)),
    "inside a gradient": lambda f, jit: ad.grad(jit(f)),
    "inside another": lambda f, jit: jit(lambda x: jit(f)(x) * 2.0),
    "second derivative": lambda f, jit: jit(ad.grad(ad.grad(jit(f)))),
    "tangent": lambda f, jit: lambda x: ad.jvp(jit(f), (x,), (1.0,))[1],
}


@pytest.mark.usefixtures("_unknown")
@pytest.mark.parametrize("made", UNKNOWN.values(), ids=UNKNOWN)
def test_nothing_is_guessed_of_an_unknown_python(made, monkeypatch):
    """In no combination of transformations is anything recorded: numbers are those of the plain function, said once."""

    def refuse(*args, **kwargs):
        raise AssertionError("recorded")

    monkeypatch.setattr(path, "record", refuse)
    jitted, plain = made(collatz, ad.jit), made(collatz, lambda f: f)
    with pytest.warns(RuntimeWarning, match="whose instructions are not known") as caught:
        assert [jitted(x) for x in (0.5, 7.0, 2.5)] == [plain(x) for x in (0.5, 7.0, 2.5)]
    assert len(caught) == 1
