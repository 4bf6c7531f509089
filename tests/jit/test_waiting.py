"""What a user is told who waits for a recording: once, after a while, in the words of his own code."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import adjoint as ad
from adjoint.ir import progress_line as waiting


def steps(x):
    """A long loop whose rounds differ, so that nothing is rolled up."""
    for i in range(200):
        for function in (np.sin, np.cos, np.tanh, np.arctan)[: 1 + i * i % 4]:
            x = function(x) + 0.1 * i
    return np.sum(x)


@pytest.fixture
def impatient(monkeypatch, caplog):
    """Nobody wants to wait here; the lines of the logger."""
    monkeypatch.setattr(waiting, "LONG", -1.0)
    caplog.set_level(logging.WARNING, logger="adjoint")
    return caplog


def test_a_short_compilation_is_silent(caplog):
    """Nothing is said of what does not take long."""
    ad.jit(ad.grad(steps))(np.ones(3))
    assert not caplog.records


def test_one_line_for_a_function(impatient):
    """Which function, where it is written, how many steps, and what to do; once, whatever is recorded later."""
    compiled = ad.jit(ad.grad(steps))
    compiled(np.ones(3))
    compiled(np.ones(4))
    (record,) = impatient.records
    text = record.getMessage()
    recorded = len(ad.jit(ad.grad(steps)).lower(np.ones(3)).program.steps)
    line = steps.__code__.co_firstlineno
    assert text == (
        f"adjoint: still compiling after 0 s: steps, from test_waiting.py:{line} on; {recorded:,} steps. "
        "A loop of Python's is recorded round by round; ad.scan or ad.fori_loop would record one round."
    )
    assert recorded >= waiting.MANY
    assert "\n" not in text


def test_no_advice_for_few_steps(impatient):
    """A function without a long loop is told what it waits for, not to write another one."""
    ad.jit(lambda x: x + 1.0)(2.0)
    (record,) = impatient.records
    assert record.getMessage().endswith("; 1 step.")


def test_slow_functions_are_left_alone(impatient):
    """While a function runs it may be slow for reasons of its own: only many steps are worth a word then."""
    with waiting.Waiting(steps):
        waiting.look(3, recording=True)
        assert not impatient.records
        waiting.look(waiting.MANY, recording=True)
        assert len(impatient.records) == 1


def test_what_is_expected_counts(monkeypatch, caplog):
    """Before a long part of the work the line is written, not after it."""
    monkeypatch.setattr(waiting, "LONG", 1000.0)
    with waiting.Waiting(steps):
        waiting.look(5, expected=10.0)
        assert not caplog.records
        waiting.look(5, expected=2000.0)
        assert len(caplog.records) == 1
    waiting.look(5, expected=2000.0)
    assert len(caplog.records) == 1


def test_it_can_be_silenced(impatient, capsys):
    """The level of the logger decides."""
    logging.getLogger("adjoint").setLevel("ERROR")
    ad.jit(steps)(np.ones(3))
    assert not impatient.records
    assert capsys.readouterr().err == ""


def test_functions_that_hold_each_other_have_a_home():
    """A derivative may hold itself in its closure: its name is looked for once around, not for ever."""
    from adjoint.host.frames.definition import home

    assert "test_waiting.py" in home(ad.grad(ad.grad(lambda x: x**3)))
    assert home(ad.vmap(ad.grad(np.sum)))
