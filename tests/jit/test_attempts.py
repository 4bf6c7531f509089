"""How often a function is run in order to be recorded, and why: each row of the table, and that it comes to an end."""

import itertools
import threading
import time
import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.capture.recording import attempts, record
from adjoint.core.errors import ImpureError
from adjoint.ir import deferring
from adjoint.transforms.control.branches import Branches
from adjoint.transforms.jit.keys import taken_apart
from adjoint.transforms.jit.path import recorded

WEIGHTS = np.arange(3.0)
FLAG = threading.Lock()


class Thing:
    """An object of the user's own."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Watched(dict):
    """How often a function was run, and by which rows of the table."""

    def whys(self):
        """The words of the rows."""
        return [row.why for row in self["rows"]]

    def first_words(self, words):
        """The same, each as far as the words that are expected."""
        lengths = itertools.chain([len(w) for w in words], itertools.repeat(None))
        return [why[:n] for why, n in zip(self.whys(), lengths, strict=False)]


@pytest.fixture
def seen(monkeypatch):
    """The rows that were used, and how many runs there were."""
    found = Watched(rows=[], runs=0)
    following = record.following

    def noted(outcome):
        after = following(outcome)
        found["runs"] += 1
        found["rows"] += [after.row] if after.row is not None else []
        return after

    monkeypatch.setattr(record, "following", noted)
    return found


def with_loops(f, *args):
    """The recording of a call in which loops and branches are looked for."""
    return recorded(f, taken_apart(args, {}, (), frozenset()), branches=Branches())[0]


def raises_with_an_object():
    thing = Thing(a=np.ones(3))

    def f(x):
        raise ValueError(str(np.sum(thing.a * x).shape))

    return f


def keeps_a_count(**others):
    thing = Thing(n=0, **others)

    def f(x):
        thing.n += 1
        return x * thing.n

    return f


def takes_places_by_turns(x):
    k = 0
    while x > 1.0:
        x = x * [0.5, 0.25][k % 2]
        k += 1
    return x


def raises_after_a_loop(x):
    while x > 1.0:
        x = x * 0.5
    raise ValueError("too small")


def raises_after_a_body(a):
    b = ad.scan(lambda c, _: (c @ a / 3, None), a, length=3)[0]
    ad.scan(lambda c, _: (c @ b, None), a, length=2)
    raise ValueError("too small")


def sets_an_attribute_of_its_own(x):
    sets_an_attribute_of_its_own.last = x
    return x


def counter():
    held = itertools.count(2)
    return lambda x: x * next(held)


INDEX = "a truth value is an index"
ASTRAY = "it failed after a decision"
STATE_IN_LOOPS = "it keeps state, so that loops"
NO_LOOP = "what was taken for a loop is none"
LOOP = "it failed, perhaps because of a loop"
PACKAGES = "something changed in a package meanwhile"
COPIES = "it failed, perhaps because of copies"
HANDLES = "it failed, perhaps because of handles in place of arrays"
UNWATCHED = "something cannot be watched"
CLOCK = "its code mentions a clock"
STATE = "it replaces numbers or arrays"
X = 2.0

ANSWERED = {
    "nothing": (lambda: ad.jit(np.sin)(X), []),
    "truth as index": (lambda: ad.jit(lambda x: [1.0, 2.0][x > 0] * x)(X), [INDEX]),
    "compiled code": (lambda: ad.jit(lambda x: x * memoryview(WEIGHTS).nbytes)(X), [HANDLES]),
    "state": (lambda: ad.jit(keeps_a_count())(X), [STATE]),
    "state with an array": (lambda: ad.jit(keeps_a_count(a=WEIGHTS))(X), [COPIES, STATE]),
    "state in loops": (
        lambda: with_loops(keeps_a_count(), X),
        [LOOP, STATE, STATE_IN_LOOPS],
    ),
    "no loop": (lambda: with_loops(takes_places_by_turns, 1e5), [NO_LOOP]),
    "a lock": (lambda: ad.jit(lambda x: x * 2 if FLAG.locked() else x)(X), [UNWATCHED]),
    "a clock that measures": (lambda: ad.jit(lambda x: (time.perf_counter(), x * 2)[1])(X), [CLOCK]),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_rows_that_lead_to_a_recording(name, seen):
    """A function is run again for these reasons, in this order, and for no others."""
    call, rows = ANSWERED[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()
    assert seen.first_words(rows) == rows
    assert seen["runs"] == len(rows) + 1


REFUSED = {
    "its own error": (lambda: ad.jit(raises_with_an_object())(X), ValueError, [COPIES, HANDLES]),
    "after a loop": (lambda: with_loops(raises_after_a_loop, 1e5), ValueError, [NO_LOOP, LOOP]),
    "a counter": (lambda: ad.jit(counter())(X), ImpureError, [PACKAGES, PACKAGES]),
    "a clock": (lambda: ad.jit(lambda x: x * time.time())(X), ImpureError, [CLOCK]),
    "random numbers": (lambda: ad.jit(lambda x: x * np.random.normal())(X), ImpureError, []),
    "an attribute": (lambda: ad.jit(sets_an_attribute_of_its_own)(X), ImpureError, []),
}


@pytest.mark.parametrize("name", REFUSED)
def test_rows_that_lead_to_an_error(name, seen):
    """What is raised in the end is what the function raises, or what it is refused for."""
    call, error, rows = REFUSED[name]
    with pytest.raises(error):
        call()
    assert seen.first_words(rows) == rows


def test_numbers_that_may_not_be_inputs(seen):
    """An integer that differs is an input; a function that fails then is run once more with the integer."""
    f = ad.jit(lambda n, x: x / (1 // n))
    assert [f(1, X), f(-1, X)] == [X, -X]
    seen["rows"].clear()
    with pytest.raises(ZeroDivisionError):
        f(0, X)
    assert seen.whys() == ["it failed, perhaps because of handles in place of Python's numbers"]


def test_a_decision_without_its_value(seen, monkeypatch):
    """A function that raises after large steps were put off is run again with all steps taken."""
    monkeypatch.setattr(deferring, "LARGE", 0)
    with pytest.raises(ValueError, match="too small"):
        ad.jit(raises_after_a_body)(np.eye(2))
    assert [why[: len(ASTRAY)] for why in seen.whys()] == [ASTRAY]


def test_numbers_drawn_while_there_are_threads(seen):
    """They may be another thread's: the function is run once more, and the generator goes on meanwhile."""
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        with pytest.raises(ImpureError, match="hidden random generator"):
            ad.jit(lambda x: x * np.random.normal())(X)
    finally:
        stop.set()
        thread.join()
    (row,) = seen["rows"]
    assert row.goes_on_drawing


def test_values_of_other_traces_end_it(seen):
    """A function that closes over a traced value is not recorded, whatever else could be tried."""
    assert ad.grad(lambda x: ad.jit(lambda y: y * x)(2.0))(3.0) == 2.0
    assert (seen["runs"], seen["rows"]) == (1, [])


def test_stats_say_why():
    """Why runs were repeated is in the statistics."""
    f = ad.jit(lambda x: [1.0, 2.0][x > 0] * x)
    f(X)
    assert f.stats()["run again"] == ["a truth value is an index: a list takes it for 0 or 1, an array for a mask"]
    assert ad.jit(np.sin).stats()["run again"] == []


def test_a_second_recording_of_one_call_counts_on():
    """Where a decision was not as is likely, the runs of the first recording count too."""
    before = ("the call", "a decision was not what is likely")
    made, _ = recorded(lambda x: [1.0, 2.0][x > 0] * x, taken_apart((X,), {}, (), frozenset()), before=before)
    assert made.attempts[:2] == before
    assert len(made.attempts) == 3


def restless():
    """A function that replaces another number each time it is run, and what holds the numbers."""
    things = [Thing(n=0) for _ in range(5_000)]

    def f(x):
        thing = things[time.perf_counter_ns() % len(things)]
        thing.n += 1
        return x * thing.n

    return f, things


def test_there_is_an_end_to_it(seen):
    """A function that is never the same twice is run so often and not more; everything is as before then."""
    f, things = restless()
    with pytest.raises(ImpureError) as caught:
        ad.jit(f)(X)
    assert seen["runs"] == attempts.MOST_RUNS_PER_CALL
    assert not any([thing.n for thing in things])
    assert isinstance(caught.value.__cause__, ImpureError)
    text = str(caught.value).splitlines()
    assert text[0] == "The function was run 32 times in order to be recorded, and never as it has to be."
    assert text[2].startswith("  got restless.<locals>.f, from test_attempts.py:")
    assert text[3].startswith("  The last time, it ")
    assert text[-1] == "  Call it without jit, or let jit have a part of it that is the same each time."


def many_loops(count):
    """A function with so many loops that are none."""
    lines = ["def f(x):"]
    for k in range(count):
        lines += [f"    y{k}, k = x, 0", f"    while y{k} > 1.0:", f"        y{k} = y{k} * [0.5, 0.25][k % 2]"]
        lines += ["        k += 1"]
    names = {}
    exec("\n".join([*lines, f"    return {' + '.join([f'y{k}' for k in range(count)])}"]), names)
    return names["f"]


def test_loops_are_given_up_first(seen):
    """A function with many loops that are none is recorded in the end, without any."""
    f = many_loops(20)
    made = with_loops(f, 1e5)
    assert made.program.outputs
    assert seen["runs"] == attempts.MOST_RUNS_WITH_LOOPS + 1
    assert {why[: len(NO_LOOP)] for why in seen.whys()} == {NO_LOOP}


def test_an_error_keeps_its_cause():
    """What a function raises from another error is raised as it was."""

    def f(x):
        try:
            {}["a"]
        except KeyError as error:
            raise ValueError("no a") from error

    with pytest.raises(ValueError, match="no a") as caught:
        ad.jit(f)(X)
    assert isinstance(caught.value.__cause__, KeyError)
