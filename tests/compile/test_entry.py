"""The native call: what an entry accepts, watches and returns; and that nothing crashes it."""

import gc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from adjoint.compile.call.objects import is_available

if not is_available():
    pytest.skip("objects of this interpreter have another layout", allow_module_level=True)

from adjoint.compile.call import arguments
from adjoint.compile.call.callable import NativeCallable
from adjoint.compile.call.signature import (
    Array,
    ArrayIs,
    AttributeIs,
    CellIs,
    Constant,
    Dict,
    DictIs,
    Input,
    List,
    NumpyScalar,
    Output,
    PythonBool,
    PythonFloat,
    PythonInt,
    Result,
    Signature,
    Tuple,
)

from .entries import FLOAT, FLOAT64, SQUARE, Slow, echo, entry, function, nothing, same, slow, square


def test_scalar():
    """A float in, a float out; anything else is not for machine code."""
    f = square()
    assert f(3.0) == 9.0
    assert type(f(3.0)) is float
    for other in (3, True, np.float64(3), np.float32(3), "3", None, np.array(3.0)):
        assert isinstance(f(other), Slow)
    assert isinstance(f(), Slow)
    assert isinstance(f(1.0, 2.0), Slow)
    assert f(x=1.0).keywords == {"x": 1.0}


@pytest.mark.parametrize("name", ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"])
def test_dtypes(name):
    """NumPy scalars and arrays of every type the machine has, copied to the bit."""
    dtype = np.dtype(name)
    f = echo([NumpyScalar(dtype), Array(dtype, (2, 3)), Array(dtype, ())])
    args = (dtype.type(1), np.arange(6).astype(dtype).reshape(2, 3), np.array(1, dtype))
    assert same(f(*args), args)
    if name == "?":
        assert f(*args)[0] is np.True_


def test_python_scalars():
    """Integers of up to 64 bits, truth values; larger integers are Python's affair."""
    f = echo([PythonInt(), PythonBool()])
    assert f(-(2**63), True) == (-(2**63), True)
    assert f(5, False)[1] is False
    for args in ((2**63, True), (10**400, True), (True, True), (1, 1), (1.0, True)):
        assert isinstance(f(*args), Slow)


@pytest.mark.parametrize("inline", [0, 8])
def test_layouts(inline, monkeypatch):
    """Strides are compared where they matter, with and without the helper."""
    monkeypatch.setattr(arguments, "ARRAYS_INLINE", inline)
    base = np.arange(24.0).reshape(4, 6)
    for view in (base[::2, ::3], base[::-1], base.T, base[:, :1], np.broadcast_to(base[0], (4, 6)), base[:0, ::2]):
        f = echo([Array(FLOAT64, view.shape, view.strides)])
        assert same(f(view), (view,))
        assert isinstance(f(np.ones((3, 3))), Slow)
    rows = echo([Array(FLOAT64, (4, 6))])
    assert isinstance(rows(np.asfortranarray(base)), Slow)
    assert isinstance(rows(base[::-1]), Slow)
    columns = echo([Array(FLOAT64, (4, 6), "F")])
    assert isinstance(columns(base), Slow)
    assert same(columns(np.asfortranarray(base)), (base,))
    writeable = echo([Array(FLOAT64, (4, 6), writeable=True)])
    base.flags.writeable = False
    assert isinstance(writeable(base), Slow)
    assert same(rows(base), (base,))


def test_keywords():
    """Names are part of a signature; another order or another name is another call."""
    f = echo([PythonFloat(), PythonFloat(), PythonFloat()], keywords=("scale", "shift"))
    assert f(1.0, scale=2.0, shift=3.0) == (1.0, 2.0, 3.0)
    assert f(1.0, **{"".join(["sca", "le"]): 2.0, "shift": 3.0}) == (1.0, 2.0, 3.0)
    assert isinstance(f(1.0, 2.0, 3.0), Slow)
    assert isinstance(f(1.0, shift=2.0, scale=3.0), Slow)
    assert isinstance(f(1.0, scale=2.0), Slow)
    assert isinstance(f(1.0, scale=2.0, other=3.0), Slow)


def test_result_trees():
    """Containers of outputs, inputs as they came, constants, one output twice, one not at all."""
    constant = object()
    array = Output(FLOAT64, (2,))
    row = Tuple((Result(0), Input(0), Result(0)))
    tree = Dict(("a", 3), (row, List((Constant(constant), Result(2), Tuple(()), Dict((), ())))))
    signature = Signature((Array(FLOAT64, (2,)),), (array, array, FLOAT), tree)
    f = function(signature, nothing(signature, "  store double 2.5, ptr %p3"))
    x = np.ones(2)
    result = f(x)
    assert list(result) == ["a", 3]
    first, again, last = result["a"]
    assert first is last
    assert again is x
    assert first.shape == (2,)
    assert first.flags.owndata
    assert result[3][0] is constant
    assert result[3][1:] == [2.5, (), {}]
    bare = Signature((Array(FLOAT64, (2,)),), (), Input(0))
    assert function(bare, nothing(bare))(x) is x


def test_order_of_new_arrays():
    """Outputs may be in Fortran order, without axes, without elements."""
    outputs = (Output(FLOAT64, (2, 3), order="F"), Output(FLOAT64), Output(FLOAT64, (0, 4)))
    signature = Signature((), outputs, List((Result(0), Result(1), Result(2))))
    f, c, e = function(signature, nothing(signature))()
    assert f.flags.f_contiguous
    assert not f.flags.c_contiguous
    assert type(c) is np.ndarray
    assert c.shape == ()
    assert e.shape == (0, 4)


def test_guard_drops_outputs():
    """A kernel that says no: its outputs vanish, the slow way gets the call, later entries come first."""
    signature = Signature((PythonFloat(),), (Output(FLOAT64, (3,)), FLOAT), Tuple((Result(0), Result(1))))
    for answer in (1, 2, -1):
        refusing = entry(signature, nothing(signature, answer=answer))
        f = NativeCallable(slow)
        refusing.install(f)
        assert isinstance(f(1.0), Slow)
        refusing.otherwise(entry(Signature((PythonFloat(),), (FLOAT,), Result(0)), SQUARE))
        assert f(3.0) == 9.0
        assert isinstance(f(3), Slow)
        refusing.otherwise(None)
        assert isinstance(f(3.0), Slow)


def test_no_memory():
    """An output that does not fit the machine is an error, and what was made before it is released."""
    signature = Signature((), (Output(FLOAT64, (3,)), Output(FLOAT64, (2**45, 2**10))), Tuple((Result(0), Result(1))))
    f = function(signature, nothing(signature))
    with pytest.raises(MemoryError):
        f()


def test_exceptions_pass():
    """What the slow way raises reaches the caller."""

    def fails(*args):
        raise KeyError(args)

    f = NativeCallable(fails)
    with pytest.raises(KeyError, match="1"):
        f(1)
    entry(Signature((PythonFloat(),), (FLOAT,), Result(0)), SQUARE).install(f)
    assert f(2.0) == 4.0
    with pytest.raises(KeyError, match="1"):
        f(1)


# captured variables


def test_watches():
    """Rebinding a captured variable, wherever it lives, is noticed at the next call."""
    value, table, owner = object(), {}, type("Owner", (), {})()
    cell = (lambda: value).__closure__[0]
    table["name"], owner.weight = value, value
    watches = (CellIs(cell, value), DictIs(table, "name", value), AttributeIs(owner, "weight", value))
    f = function(Signature((PythonFloat(),), (FLOAT,), Result(0), watches=watches), SQUARE)
    original = value

    def native():
        return f(3.0) == 9.0

    assert native()
    value = 1
    assert not native()
    value = original
    assert native()
    table["name"] = 1
    assert not native()
    del table["name"]
    assert not native()
    table["name"] = original
    del owner.weight
    assert not native()
    owner.weight = 3
    assert not native()
    owner.weight = original
    del value
    assert not native()
    value = original
    assert native()


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # from NumPy 2.5 on
def test_captured_arrays():
    """Data is read at call time, wherever it is now; another shape, dtype or layout is another program."""
    array = np.arange(6.0).reshape(2, 3).copy()
    f = echo([PythonFloat()], captured=(array,))
    assert same(f(1.0), (1.0, array))
    array[0, 0] = 7.0
    assert same(f(1.0), (1.0, array))
    array.resize((200, 300), refcheck=False)
    assert isinstance(f(1.0), Slow)
    array.resize((2, 3), refcheck=False)
    assert same(f(1.0), (1.0, array))
    array.shape = (3, 2)
    assert isinstance(f(1.0), Slow)
    array.shape = (2, 3)
    watched = np.zeros((2, 3), order="F")
    g = function(Signature((PythonFloat(),), (FLOAT,), Result(0), watches=(ArrayIs(watched),)), SQUARE)
    assert g(2.0) == 4.0
    watched.resize((2, 2), refcheck=False)
    assert isinstance(g(2.0), Slow)


def test_a_watch_may_run_code():
    """Looking up a variable may run anything, even code that throws away what the call is about."""
    box = [np.ones(3)]

    class Owner:
        @property
        def weight(self):
            box.clear()
            f.set_entry(None)
            gc.collect()
            return 1

    f = echo([List((Array(FLOAT64, (3,)),))], watches=(AttributeIs(Owner(), "weight", 1),))
    assert isinstance(f(box), Slow)


@pytest.mark.parametrize(
    "size", [(10, 50, 100, 0), pytest.param((150, 300, 1500, 1_000_000), marks=pytest.mark.slow)], ids=["quick", "long"]
)
def test_fuzz(size):
    """Random signatures, random arguments, in a process of their own."""
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.compile.entry_fuzz", *[str(n) for n in size]]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=280)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("survived")
