"""Entries come and go while calls are under way in them: none runs code that is gone, and nothing is kept in vain."""

import random
import threading
import time
import weakref

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from adjoint.compile.call.objects import is_available

if not is_available():
    pytest.skip("objects of this interpreter have another layout", allow_module_level=True)

from adjoint.compile.call import chain as chains
from adjoint.compile.call.callable import NativeCallable
from adjoint.compile.call.chain import EntryChain
from adjoint.compile.call.signature import Array, Holds, Output, PythonFloat, Result, Signature, Tuple

from .entries import FLOAT, FLOAT64, SQUARE, Slow, echo_kernel, echo_signature, entry, nothing, slow

NAP = "  %nap = call i32 @usleep(i32 150000)"


def chained(*entries):
    """A function whose calls try these entries, the last one first."""
    f = NativeCallable(slow)
    chain = EntryChain(f)
    for made in entries:
        chain.put_first(made, is_on=True)
    return f, chain


def copy_of(length):
    """An entry that copies arrays of one length."""
    signature = echo_signature([Array(FLOAT64, (length,))])
    return entry(signature, echo_kernel(signature))


def napping(answer=0):
    """An entry that takes a while, without the GIL, for one array."""
    signature = Signature((Array(FLOAT64, (3,)),), (Output(FLOAT64, (3,)),), Result(0), release_gil=True)
    return entry(signature, "declare i32 @usleep(i32)\n" + nothing(signature, NAP, answer))


def during(call, action):
    """Do something in this thread while another is inside the kernel; the other's result."""
    results = []
    thread = threading.Thread(target=lambda: results.append(call()))
    thread.start()
    time.sleep(0.05)
    action()
    thread.join()
    return results[0]


def test_whoever_is_in_the_chain_answers(monkeypatch):
    """After any coming and going calls are answered by the entries that are there, and the function holds no others."""
    monkeypatch.setattr(chains, "LONGEST", 4)
    lengths = range(1, 7)
    entries = {n: copy_of(n) for n in lengths}
    f, chain = chained()
    draw, there = random.Random(0), []
    for _ in range(100):
        n = draw.choice(lengths)
        if draw.random() < 0.6:
            chain.put_first(entries[n], is_on=True)
            there = there if n in there else [*there, n][-4:]
        else:
            chain.take_out(entries[n], is_on=True)
            there = [k for k in there if k != n]
        assert {id(kept) for kept in f._code} == {id(entries[k]) for k in there}
        for k in lengths:
            result = f(np.arange(float(k)))
            assert isinstance(result, Slow) == (k not in there)
            assert k not in there or np.array_equal(result[0], np.arange(float(k)))
            assert entries[k].was_used() == (k in there)
            assert not entries[k].is_busy
    chain.clear()
    assert f._code == []
    assert isinstance(f(np.arange(1.0)), Slow)


def test_machine_code_can_be_off():
    """The chain stays, but calls begin in Python."""
    f, chain = chained(copy_of(3))
    chain.lead(is_on=False)
    assert isinstance(f(np.ones(3)), Slow)
    chain.put_first(copy_of(4), is_on=False)
    assert isinstance(f(np.ones(4)), Slow)
    chain.lead(is_on=True)
    assert not any(isinstance(f(np.ones(n)), Slow) for n in (3, 4))


def test_code_lives_while_a_call_is_under_way():
    """The function lets go of it only when the call is over."""
    f, chain = chained(napping())
    gone = weakref.ref(f._code[0])
    seen = []

    def drop():
        seen.append(gone().is_busy)
        chain.clear()
        seen.append(gone() is not None)

    result = during(lambda: f(np.ones(3)), drop)
    assert isinstance(result, np.ndarray)
    assert seen == [True, True]
    chain.clear()
    assert gone() is None


def test_a_call_that_is_refused_does_not_go_on_to_code_that_is_gone():
    """Those that come after it in the chain may be freed, as no call is under way in them."""
    f, chain = chained(copy_of(3), napping(answer=1))
    gone = weakref.ref(f._code[0])

    def drop():
        chain.clear()
        assert gone() is None

    assert isinstance(during(lambda: f(np.ones(3)), drop), Slow)


@pytest.mark.parametrize("is_right", [True, False])
def test_a_call_may_drop_its_own_code(is_right):
    """A condition that Python is asked for lets go of the code that asks."""

    def check():
        chain.clear()
        return is_right

    signature = Signature((PythonFloat(),), (FLOAT,), Result(0), watches=(Holds(check),))
    f, chain = chained(entry(signature, SQUARE))
    result = f(3.0)
    assert result == 9.0 if is_right else isinstance(result, Slow)
    assert isinstance(f(3.0), Slow)
    chain.clear()
    assert f._code == []


def test_a_call_that_raises_is_over():
    """An error on the way out is not a call under way."""

    class Refuses(tuple):
        def __new__(cls, *items):
            raise ValueError("no")

    signature = Signature((PythonFloat(),), (FLOAT,), Tuple((Result(0),), Refuses))
    f, chain = chained(entry(signature, SQUARE))
    made = f._code[0]
    with pytest.raises(ValueError, match="no"):
        f(3.0)
    assert not made.is_busy
    chain.clear()
    assert f._code == []
