"""What code does with names and objects, and what frames hold and will read: questions that the other rooms ask."""

from __future__ import annotations

import math
import sys
import types

import numpy as np
import pytest

from adjoint.host.code import handing, rewrite, uses
from adjoint.host.code.labels import code_label
from adjoint.host.frames import in_progress, liveness, variables

TOTAL = 0
LOG: list[float] = []


def counting(n):
    """Sets a global, reads attributes, stores entries, asks for identity."""
    global TOTAL
    TOTAL = n.size
    n.kept = math.pi
    n.table[0] = n is True
    return TOTAL


def harmless(n):
    """Compares with None and with a class."""
    return n is None or n.__class__ is n.__class__


def test_names_and_objects():
    """Each question, of a function for which it is so and of one for which it is not."""
    code, other = counting.__code__, harmless.__code__
    assert uses.globals_set(code) == {"TOTAL"}
    assert not uses.globals_set(other)
    assert uses.attributes_used(code) == ({"size", "pi", "table"}, {"kept"})
    assert uses.stores_entries(code)
    assert not uses.stores_entries(other)
    assert uses.compares_objects(code)
    assert not uses.compares_objects(other)
    assert uses.compares_with_number(code)
    assert not uses.compares_with_number(other)


def importing(path):
    """Imports a module by another name, and decides on one line."""
    import json as text

    found = text.loads(path)
    return 1.0 if found else math.inf


def test_lines_and_imports():
    """What is imported, and what each line mentions, loads, stores and decides."""
    code = importing.__code__
    assert uses.modules_imported(code) == {"text": sys.modules.get("json")}
    lines = [line for line in uses.lines_of(code) if line.mentioned]
    assert [line.decides for line in lines if "found" in line.mentioned] == [False, True]
    assert any("loads" in line.mentioned and line.stored == ("found",) for line in lines)


def reading():
    """A global, attributes of modules, a module that is imported."""
    import decimal

    return np.linalg.norm(TOTAL), math.pi, decimal.Decimal(1)


def test_readings():
    """Globals with the attributes that are read of them in turn, in order, and what is imported."""
    assert uses.readings_in(reading.__code__) == [
        (("decimal",), True),
        (("np", "linalg", "norm"), False),
        (("TOTAL",), False),
        (("math", "pi"), False),
    ]


def test_code_that_is_written_alike():
    """Whatever it is called and wherever it stands; another constant is another code."""
    sources = ["def f(x):\n    return x + 1.5", "\n\ndef g(x):\n    return x + 1.5", "def f(x):\n    return x + 2.5"]
    a, b, c = [
        next(k for k in compile(text, "text", "exec").co_consts if isinstance(k, types.CodeType)) for text in sources
    ]
    assert uses.does_the_same(a, b)
    assert not uses.does_the_same(a, c)
    assert uses.has_same_instructions(a, c)
    assert code_label(a) == code_label(b) != code_label(c)


def handing_over(callback, x):
    """Hands an attribute of a global to a function, and reads another global."""
    math.dist(LOG.append, x)
    return TOTAL


def test_handings():
    """The name, what takes it, and the names that are read besides."""
    code = handing_over.__code__
    (found,) = handing.handings_in(code)
    assert (found.name, found.callee) == ("LOG", ("math", "dist"))
    assert "TOTAL" in handing.names_besides(code, [found])
    assert "LOG" not in handing.names_besides(code, [found])


def calling(x):
    """A global and an attribute of a module that are called, and a method."""
    return float(x) + math.sqrt(x) + x.dot(x)


CALLING = calling.__code__  # as it is written: what is traced in this module later may have its calls led already


def test_calls_that_are_led():
    """Loads of what is called load other globals; the rest of the code stays as it is."""
    code = CALLING
    sites = rewrite.called_globals(code)
    assert [(site.name, site.attribute) for site in sites] == [("float", ""), ("math", "sqrt")]
    methods = rewrite.called_methods(code, {"dot"})
    assert [(site.name, site.attribute) for site in methods] == [("", "dot")]
    led, names = rewrite.with_calls_led(code, [(sites[0], "half")], [(methods[0], "twice")], code.co_consts)
    assert names == {"half", "twice"}
    module = {"math": math, "half": lambda x: x.value / 2, "twice": lambda x, y: 2 * y.value}
    number = types.SimpleNamespace(value=3.0)
    with pytest.raises(TypeError):
        types.FunctionType(led, module)(number)  # the call of `math` stays
    module["math"] = types.SimpleNamespace(sqrt=lambda x: 100.0)
    assert types.FunctionType(led, module)(number) == 1.5 + 100.0 + 6.0
    assert rewrite.with_calls_led(code, [], [], code.co_consts) == (code, set())


def asking(ask, x):
    """Asks in a loop: what is read in the next iteration is read later too, what is set before is not."""
    y = z = 0.0
    for _ in range(2):
        y = x
        ask()
        z = y
    return z


def test_what_is_read_later():
    """Of a frame that stands in a loop."""
    found = []
    asking(lambda: found.append(liveness.read_later(sys._getframe(1))), 1.0)
    assert found[0] >= {"x", "y", "z", "ask"}
    assert "_" not in found[0]


def test_variables_of_frames():
    """They are read, looked up and set, also while the frame is under way."""

    def inner():
        frame = sys._getframe(1)
        assert variables.variables_in(frame)["x"] == 1.0
        assert variables.looked_up(frame, "TOTAL") is TOTAL
        assert variables.looked_up(frame, "len") is len
        assert variables.looked_up(frame, "nothing of this name", 5) == 5
        assert variables.names_holding(frame, frame.f_locals["box"]) == ["box"]
        assert variables.held(frame, variables.HeldAt("box", ("value",))) == 2.0
        variables.hold(frame, variables.HeldAt("box", ("value",)), 3.0)
        variables.set_variables(frame, {"x": 4.0})
        return variables.instruction_of(frame) == (frame.f_code, frame.f_lasti)

    def outer():
        x, box = 1.0, types.SimpleNamespace(value=2.0)
        is_right = inner()
        return x, box.value, is_right

    assert outer() == (4.0, 3.0, True)


def test_errors_raised_by_hand():
    """By a statement, or by an operation."""

    def failed(f):
        try:
            f()
        except ArithmeticError as error:
            return error
        raise AssertionError

    def by_hand():
        raise OverflowError("too large")

    assert in_progress.is_raised_by_hand(failed(by_hand))
    assert not in_progress.is_raised_by_hand(failed(lambda: 1 / TOTAL))
