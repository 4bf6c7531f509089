"""Loops over numbers made ones over vectors: what each instruction becomes, and why some loops stay as they are."""

import numpy as np
import pytest

from adjoint.compile.assembly.emit import Emitter
from adjoint.compile.assembly.instructions import Call, Instruction, Load, Phi, Store, Widening
from adjoint.compile.assembly.kinds import DOUBLE, I8, I32, I64, POINTER, VOID
from adjoint.compile.assembly.module import Module
from adjoint.compile.assembly.values import Constant, Function, Parameter, Value, Vectors, literal, number
from adjoint.compile.assembly.verify import verify
from adjoint.compile.code.loop_body import Accumulator, LoopBody, NoVectorError, Total
from adjoint.compile.code.loops import by_vectors
from adjoint.compile.code.vectorise import vector_bytes
from adjoint.compile.scalar.vector import call
from adjoint.core.entry.algebra import Monoid

FLOAT64 = np.dtype(np.float64)
A, B, X = Parameter("%a", POINTER), Parameter("%b", POINTER), Parameter("%x", DOUBLE)
SUM = Accumulator(literal(0, FLOAT64), Monoid(np.add), True)
LANES = vector_bytes() // 8


def read(e, base, i):
    """An element of an array of doubles."""
    return e.load(DOUBLE, e.address(DOUBLE, base, i))


def write(e, value, i):
    """An element of the result."""
    e.store(value, e.address(DOUBLE, B, i))


def made(body, *, length=64, accumulators=()):
    """A function with a loop: its emitter and the totals."""
    e = Emitter(Module())
    totals = by_vectors(e, 0, length, lambda i, *so_far: body(e, i, *so_far), accumulators)
    e.give()
    verify(e.body, [A, B, X], VOID)
    return e, totals


def test_a_map():
    """Loads, arithmetic and stores become those of vectors; what is the same for all is spread before the loop."""
    e, _ = made(lambda e, i: write(e, e.op("fmul", read(e, A, i), e.op("fadd", X, X)), i), length=LANES)
    assert e.module.unwidened == []
    kinds = {i.kind for i in e.body if isinstance(i, Load)}
    assert kinds == {DOUBLE.wide(LANES)}
    ops = [i.op for i in e.body]
    assert ops[:3] == ["fadd", "insertelement", "shufflevector"]
    assert ops[3:] == ["getelementptr", "load", "fmul", "getelementptr", "store", "ret"]


def test_the_last_round_has_a_mask():
    """Elements that are left over are computed by a vector too, of which the other lanes are not touched."""
    e, _ = made(lambda e, i: write(e, e.negative(read(e, A, i)), i), length=LANES + 1)
    calls = [i.function.symbol for i in e.body if isinstance(i, Call)]
    assert calls == [f"llvm.masked.load.v{LANES}f64.p0", f"llvm.masked.store.v{LANES}f64.p0"]


def test_a_total():
    """Lanes are summed up apart, and put together in the end."""
    e, (total,) = made(
        lambda e, i, t: [e.op("fadd", t, read(e, A, i), "reassoc")], length=16 * LANES, accumulators=[SUM]
    )
    assert isinstance(total, Call)
    assert total.function.symbol == f"llvm.vector.reduce.fadd.v{LANES}f64"
    assert total.kind is DOUBLE
    assert {i.kind for i in e.body if isinstance(i, Phi)} == {I64, DOUBLE.wide(LANES)}


def test_functions_say_how_they_are_called():
    """An intrinsic exists for every kind; other functions have versions for vectors, or are called lane by lane."""
    odd = Function("@odd", DOUBLE, (DOUBLE,), vectors=Vectors.LANES)
    e, _ = made(lambda e, i: write(e, e.call(odd, e.intrinsic("fabs", read(e, A, i))), i), length=2)
    calls = [i.function.symbol for i in e.body if isinstance(i, Call)]
    assert calls == ["llvm.fabs.v2f64", "odd", "odd"]
    e, _ = made(lambda e, i: write(e, call(e, "sin", [read(e, A, i)], FLOAT64), i), length=2 * LANES)
    called = {i.function.symbol for i in e.body if isinstance(i, Call)}
    assert len(called) == 1
    assert e.module.unwidened == []


def a_number_beside(e, i):
    """A call with a number beside the vector."""
    ldexp = Function("@llvm.ldexp.f64.i32", DOUBLE, (DOUBLE, I32))
    write(e, e.call(ldexp, read(e, A, i), number(2, I32)), i)


def two_blocks(e, i):
    """A body with a branch in it."""
    e.jump("on")
    e.start("on")
    write(e, read(e, A, i), i)


def through_data(e, i):
    """An element whose index is an element."""
    place = e.load(I64, e.address(I64, A, i))
    write(e, read(e, A, place), i)


REASONS = {
    "a function of one number": (a_number_beside, "@llvm.ldexp.f64.i32: it takes one number at a time"),
    "memory on the stack": (
        lambda e, i: e.store(read(e, A, i), e.allocate(DOUBLE)), "alloca: it has no form for vectors",
    ),
    "a branch": (two_blocks, "br: it has no form for vectors"),
    "every other element": (
        lambda e, i: write(e, read(e, A, e.op("mul", i, 2)), i), "load: elements are no neighbours in memory",
    ),
    "backwards": (
        lambda e, i: write(e, read(e, A, e.op("mul", i, -1)), i), "load: elements are no neighbours in memory",
    ),
    "always the same place": (lambda e, i: e.store(read(e, A, i), B), "store: elements are no neighbours in memory"),
    "an index that is data": (through_data, "getelementptr: an index that does not count along evenly"),
    "an index divided": (
        lambda e, i: write(e, read(e, A, e.op("udiv", i, 2)), i), "udiv: an index that does not count along evenly",
    ),
    "an index as a number": (
        lambda e, i: write(e, e.convert("sitofp", i, DOUBLE), i), "sitofp: an index that does not count along evenly",
    ),
    "an index stored": (lambda e, i: e.store(i, e.address(I64, B, i)), "store: an index is used as a number"),
}  # fmt: skip


@pytest.mark.parametrize("case", REASONS)
def test_loops_that_stay(case):
    """Why a loop is left to LLVM is a property of an instruction or of a function, and can be read off the module."""
    body, reason = REASONS[case]
    e = Emitter(Module())

    def inside(i):
        body(e, i)

    by_vectors(e, 0, 8, inside)
    assert e.module.unwidened == [reason]
    assert e.module.wants_vectors
    assert not any([i.kind.lanes for i in e.body])


def test_a_total_of_nothing():
    """A total that no element changes stays in a loop over numbers."""
    body = LoopBody([], Value("%i", I64), [])
    assert (body.before, body.inside) == ([], [])
    with pytest.raises(NoVectorError, match="a total does not depend on the elements"):
        LoopBody([], Value("%i", I64), [Total(SUM, Value("%t", DOUBLE), Constant("1.0", DOUBLE, 1.0))])


def test_the_widest_kind_decides():
    """As many elements as fit of the widest kind are computed together; truth values do not count."""
    e = Emitter(Module())

    def body(i):
        wide = e.convert("zext", e.load(I8, e.address(I8, A, i)), I64)
        e.store(wide, e.address(I64, B, i))

    by_vectors(e, 0, 4 * LANES, body)
    loads = {i.kind for i in e.body if isinstance(i, Load)}
    assert loads == {I8.wide(LANES)}


def test_every_instruction_says_what_becomes_of_it():
    """Only what is listed here is turned; all else is refused by its class."""
    kinds = {}
    stack = [Instruction]
    while stack:
        kind = stack.pop()
        stack += kind.__subclasses__()
        kinds.setdefault(kind.widening, set()).add(kind.__name__)
    assert kinds[Widening.LANES] == {"Arithmetic", "Listed", "Conversion"}
    assert (kinds[Widening.LOAD], kinds[Widening.STORE]) == ({"Load"}, {"Store"})
    assert (kinds[Widening.ADDRESS], kinds[Widening.CALL]) == ({"Address"}, {"Call"})
    assert kinds[Widening.NEVER] == {"Instruction", "Phi", "Allocation", "Field", "Branch", "Label"}
    assert Store.widening is not Widening.NEVER
