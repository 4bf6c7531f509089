"""The callable: a function like any other, in many threads, and no reference too many or too few."""

import contextlib
import copy
import ctypes
import functools
import gc
import subprocess
import sys
import threading
import time
import tracemalloc
import weakref
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from adjoint.compile.call.objects import is_available

if not is_available():
    pytest.skip("objects of this interpreter have another layout", allow_module_level=True)

from adjoint.compile.call.callable import NativeCallable
from adjoint.compile.call.signature import (
    Array,
    Constant,
    Dict,
    Input,
    List,
    Output,
    PythonFloat,
    Result,
    Signature,
    Static,
    Tuple,
)

from .entries import (
    FLOAT,
    FLOAT64,
    SQUARE,
    Slow,
    echo,
    echo_kernel,
    echo_signature,
    entry,
    function,
    nothing,
    same,
    slow,
    square,
)

NAP = "  %nap = call i32 @usleep(i32 150000)"


def test_is_a_function_like_any_other():
    """Binding, attributes, weak references, subclasses, copies."""

    def twice(self, x):
        """Twice."""
        return (self, 2 * x)

    class Model:
        method = NativeCallable(twice)

    model = Model()
    assert model.method(3) == (model, 6)
    bound = model.method
    assert bound(3) == (model, 6)
    assert Model.method is Model.__dict__["method"]
    wrapped = functools.update_wrapper(NativeCallable(twice), twice)
    assert wrapped.__doc__ == "Twice."
    assert wrapped.__name__ == "twice"
    assert copy.deepcopy(wrapped) is wrapped
    assert weakref.ref(wrapped)() is wrapped
    assert list(map(square(), [1.0, 2.0])) == [1.0, 4.0]
    assert functools.partial(square(), 3.0)() == 9.0

    class Named(NativeCallable):
        def __init__(self, slow, name):
            super().__init__(slow)
            self.name = name

    named = Named(slow, "n")
    entry(Signature((PythonFloat(),), (FLOAT,), Result(0)), SQUARE).install(named)
    assert named(3.0) == 9.0
    assert named.name == "n"


def test_calls_are_vectorcalls():
    """No tuple of arguments is made on the way to the machine code."""
    where = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(("PyVectorcall_Function", ctypes.pythonapi))

    class Derived(NativeCallable):
        pass

    for kind in (NativeCallable, Derived):
        f = kind(slow)
        signature = Signature((PythonFloat(),), (FLOAT,), Result(0))
        entry(signature, SQUARE).install(f)
        assert where(f) == f.entry
        assert kind.__flags__ & (1 << 11)
        f.set_entry(None)
        assert f.entry is None
        assert isinstance(f(1.0), Slow)


def test_without_a_slow_way():
    """An instance that was taken apart, or never finished, says so."""
    f = square()
    del f._slow
    assert f(2.0) == 4.0
    with pytest.raises(RuntimeError, match="no longer be called"):
        f(2)
    with pytest.raises(RuntimeError, match="no longer be called"):
        NativeCallable.__new__(NativeCallable)(1)


def test_endless_recursion():
    """Ends as in Python."""
    f = NativeCallable(lambda x: f(x))
    entry(Signature((PythonFloat(),), (FLOAT,), Result(0)), SQUARE).install(f)
    with pytest.raises(RecursionError):
        f(1)


def test_cycles_are_collected():
    """A callable that its own slow way refers to goes away, with its code, also if it is called on the way."""
    seen = []

    class Last:
        def __del__(self):
            try:
                seen.append(type(self.f(1)))
            except RuntimeError as error:
                seen.append(type(error))

    def make():
        f, last = square(), Last()
        f._slow = lambda x: (f, last)
        f.last, last.f = last, f
        return weakref.ref(f._code[0])

    gone = make()
    gc.collect()
    gc.collect()
    assert gone() is None
    assert seen in ([tuple], [RuntimeError])


AT_EXIT = """
import os
from tests.compile.entries import square

class Last:
    def __init__(self):
        self.f, self.write, self.cycle = square(), os.write, self
    def __del__(self):
        self.write(1, f"{self.f(3.0)} {type(self.f(3)).__name__};".encode())

last, square.last = Last(), Last()
"""


def test_calls_while_the_interpreter_ends():
    """Finalisers may call compiled functions to the very end."""
    command = [sys.executable, "-X", "faulthandler", "-c", AT_EXIT]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == 2 * "9.0 Slow;"


# threads


def nap(trees, **options):
    """A copy after a while without the GIL."""
    signature = echo_signature(trees, release_gil=True, **options)
    text = echo_kernel(signature).replace("{\n", "{\n" + NAP + "\n", 1)
    return function(signature, "declare i32 @usleep(i32)\n" + text)


def during(call, action):
    """Do something in this thread while another is inside the kernel; the other's result."""
    results = []
    thread = threading.Thread(target=lambda: results.append(call()))
    thread.start()
    time.sleep(0.05)
    action()
    thread.join()
    return results[0]


def test_arrays_live_as_long_as_the_kernel():
    """Containers emptied, arrays dropped, code replaced by another thread during the call."""
    leaf = Array(FLOAT64, (200,))
    f = nap([List((leaf, leaf)), Dict(("k",), (leaf,))])
    rows = [np.ones(200), np.full(200, 2.0)]
    table = {"k": np.full(200, 3.0)}
    expected = ([r.copy() for r in rows], {"k": table["k"].copy()})

    def wreck():
        f.set_entry(None)
        rows.clear()
        table.clear()
        gc.collect()
        [np.full(200, 9.0) for _ in range(10)]

    result = during(lambda: f(rows, table), wreck)
    assert same(result, expected)


def test_returned_inputs_live_too():
    """An argument that is returned as it came is not lost when its list is emptied during the call."""
    signature = Signature(
        (List((Array(FLOAT64, (3,)), Static(None))),), (), Tuple((Input(0), Input(1))), release_gil=True
    )
    f = function(signature, "declare i32 @usleep(i32)\n" + nothing(signature, NAP))
    rows = [np.arange(3.0), None]
    result = during(lambda: f(rows), rows.clear)
    assert same(result, (np.arange(3.0), None))


def test_a_refusal_sees_the_arguments_as_they_are_now():
    """If a guard fails after another thread changed a container, the slow way gets that container."""
    signature = Signature((List((Array(FLOAT64, (3,)),)),), (Output(FLOAT64, (3,)),), Result(0), release_gil=True)
    text = nothing(signature, NAP, answer=1)
    f = function(signature, "declare i32 @usleep(i32)\n" + text)
    rows = [np.ones(3)]
    result = during(lambda: f(rows), rows.clear)
    assert result.args[0] is rows
    assert rows == []


def test_many_threads():
    """One callable, its entry set and unset, called from several threads."""
    leaf = Array(FLOAT64, (50,))
    f = echo([leaf, PythonFloat()], release_gil=True)
    native = f._code[0]
    wrong, stop = [], threading.Event()

    def work(number):
        x = np.full(50, float(number))
        while not stop.is_set():
            result = f(x, 1.0)
            if not isinstance(result, Slow) and not same(result, (x, 1.0)):
                wrong.append(result)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(500):
        f.set_entry(None)
        native.install(f)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(f._code) == 1


# references


def test_references_are_balanced():
    """A hundred thousand calls of each way out leave every count, and the memory, as they were."""
    x, constant, leaf = np.ones((2, 3)), object(), Array(FLOAT64, (2, 3))
    new, scalar = Output(FLOAT64, (2, 3)), Output(np.dtype("f4"), kind="numpy scalar")
    truth = Output(np.dtype(bool), kind="numpy scalar")
    tree = Tuple((Result(0), List((Result(0), Input(1), Constant(constant))), Dict(("a", "b"), (Result(1), Result(3)))))
    arguments = (List((leaf, PythonFloat())), Dict(("w",), (leaf,)), Static("mode"))
    signature = Signature(arguments, (new, scalar, FLOAT, truth), tree, captured=(x,), release_gil=True)
    number = 1234.5
    rows, table, mode = [x, number], {"w": x}, "mo" + "de"
    good = function(signature, nothing(signature, "  store i8 1, ptr %p7"))
    refused = function(signature, nothing(signature, answer=1), lambda *a: None)
    large = Signature(arguments, (new, Output(FLOAT64, (2**45, 2**10))), Tuple((Result(0), Result(1), Input(0))))
    failing = function(large, nothing(large))
    assert type(good(rows, table, mode)) is tuple
    watched = (
        x,
        number,
        rows,
        table,
        mode,
        constant,
        x.dtype,
        np.dtype("f4"),
        np.True_,
        good,
        refused._slow,
        np.float32,
    )

    def run(count):
        for _ in range(count):
            good(rows, table, mode)
            refused(rows, table, mode)
            refused(rows, table, 3)
        for _ in range(count // 10):
            with contextlib.suppress(MemoryError):
                failing(rows, table, mode)

    run(100)
    gc.collect()
    tracemalloc.start()
    run(10)
    size, counts = tracemalloc.get_traced_memory()[0], [sys.getrefcount(w) for w in watched]
    tracemalloc.stop()
    run(100_000)
    assert [sys.getrefcount(w) for w in watched] == counts
    tracemalloc.start()
    run(10)
    base = tracemalloc.get_traced_memory()[0]
    run(5000)
    assert tracemalloc.get_traced_memory()[0] - base < 2000
    tracemalloc.stop()
    assert base < size + 2000
