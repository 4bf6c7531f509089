"""Instructions are printed as LLVM reads them, functions once each; bodies that are not well formed are found."""

import pytest

from adjoint.compile.assembly.counted_loop import counted
from adjoint.compile.assembly.emit import Emitter
from adjoint.compile.assembly.instructions import Arithmetic, Branch, Instruction, Label, Phi
from adjoint.compile.assembly.kinds import DOUBLE, FLOAT, I1, I8, I32, I64, POINTER, VOID, block_of, pair
from adjoint.compile.assembly.module import OBSERVERS, Module
from adjoint.compile.assembly.requirements import REQUIREMENTS
from adjoint.compile.assembly.values import FALSE, NULL, TRUE, Constant, Function, Parameter, Value, first_lanes, number
from adjoint.compile.assembly.verify import MalformedBodyError, before_printing, verify
from adjoint.compile.runtime.engine import Code

X, Y = Parameter("%x", DOUBLE), Parameter("%y", DOUBLE)
N, P, C = Parameter("%n", I64), Parameter("%p", POINTER, "noalias"), Parameter("%c", I1)
V = Parameter("%w", DOUBLE.wide(4))
PAIR = pair(DOUBLE, I32)
BOTH = Value("%both", PAIR)

LINES = {
    "arithmetic": (lambda e: e.op("fadd", X, Y, "reassoc"), "%v1 = fadd reassoc double %x, %y"),
    "an integer on the right": (lambda e: e.op("mul", N, 3, "nsw"), "%v1 = mul nsw i64 %n, 3"),
    "an integer on the left": (lambda e: e.op("sub", 7, N), "%v1 = sub i64 7, %n"),
    "a comparison": (lambda e: e.compare("olt", X, Y), "%v1 = fcmp olt double %x, %y"),
    "one of integers": (lambda e: e.compare("slt", N, -1), "%v1 = icmp slt i64 %n, -1"),
    "one of vectors": (lambda e: e.compare("olt", V, V), "%v1 = fcmp olt <4 x double> %w, %w"),
    "the opposite": (lambda e: e.negative(X), "%v1 = fneg double %x"),
    "a choice": (lambda e: e.select(C, 0, N), "%v1 = select i1 %c, i64 0, i64 %n"),
    "a conversion": (lambda e: e.convert("fptrunc", X, FLOAT), "%v1 = fptrunc double %x to float"),
    "a load": (lambda e: e.load(DOUBLE, P), "%v1 = load double, ptr %p"),
    "an aligned load": (lambda e: e.load(DOUBLE, P, 8), "%v1 = load double, ptr %p, align 8"),
    "a store": (lambda e: e.store(X, P), "store double %x, ptr %p"),
    "an aligned store": (lambda e: e.store(V, P, 8), "store <4 x double> %w, ptr %p, align 8"),
    "an address": (lambda e: e.address(DOUBLE, P, N), "%v1 = getelementptr inbounds double, ptr %p, i64 %n"),
    "one anywhere": (lambda e: e.address(I8, P, 16, flags=""), "%v1 = getelementptr i8, ptr %p, i64 16"),
    "memory": (lambda e: e.allocate(block_of(24, I8), 16), "%v1 = alloca [24 x i8], align 16"),
    "a lane set": (lambda e: e.insert(V, X, 2), "%v1 = insertelement <4 x double> %w, double %x, i64 2"),
    "a lane read": (lambda e: e.extract(V, 2), "%v1 = extractelement <4 x double> %w, i64 2"),
    "one of two results": (lambda e: e.one_of(BOTH, 1, I32), "%v1 = extractvalue { double, i32 } %both, 1"),
    "an intrinsic": (lambda e: e.intrinsic("fabs", X), "%v1 = call double @llvm.fabs.f64(double %x)"),
    "one of vectors, too": (
        lambda e: e.intrinsic("fabs", V), "%v1 = call <4 x double> @llvm.fabs.v4f64(<4 x double> %w)",
    ),
    "a call": (lambda e: e.call(Function("@f", VOID, (I64, I1)), N, TRUE), "call void @f(i64 %n, i1 true)"),
    "one with all": (
        lambda e: e.call(Function("@f", I32, (POINTER,)), NULL, how="tail call", flags="fast", site="#0"),
        "%v1 = tail call fast i32 @f(ptr null) #0",
    ),
    "a phi": (lambda e: e.phi((X, "entry"), (Y, "b")), "%v1 = phi double [ %x, %entry ], [ %y, %b ]"),
    "a jump": (lambda e: e.jump("b"), "br label %b"),
    "a branch": (lambda e: e.branch(C, "a", "b", ", !llvm.loop !0"), "br i1 %c, label %a, label %b, !llvm.loop !0"),
    "a value given": (lambda e: e.give(X), "ret double %x"),
    "nothing given": (lambda e: e.give(), "ret void"),
}  # fmt: skip


@pytest.mark.parametrize("case", LINES)
def test_line(case):
    """Every instruction is one line, as LLVM writes it; its result is the next register."""
    make, line = LINES[case]
    e = Emitter(Module())
    make(e)
    assert [i.line() for i in e.body] == ["  " + line]


def test_spread():
    """A number in all lanes of a vector, and a mask of the first few."""
    e = Emitter(Module())
    assert e.spread(X, 2).kind is DOUBLE.wide(2)
    assert [i.line() for i in e.body] == [
        "  %v1 = insertelement <2 x double> poison, double %x, i64 0",
        "  %v2 = shufflevector <2 x double> %v1, <2 x double> poison, <2 x i32> zeroinitializer",
    ]
    assert first_lanes(1, 2).name == "<i1 true, i1 false>"


def test_counted_loop():
    """A loop hands on what its body returns; the first block comes before it."""
    e = Emitter(Module())
    (total,) = counted(e, 0, N, lambda i, t: [e.op("fadd", t, X)], carried=[Y])
    e.give(total)
    assert (
        "\n".join([i.line() for i in e.body])
        == """\
  br label %head1
head1:
  %i.head1 = phi i64 [ 0, %entry ], [ %n.head1, %latch2 ]
  %c0.head1 = phi double [ %y, %entry ], [ %v4, %latch2 ]
  %v4 = fadd double %c0.head1, %x
  br label %latch2
latch2:
  %n.head1 = add nuw nsw i64 %i.head1, 1
  %v5 = icmp sge i64 %n.head1, %n
  br i1 %v5, label %done3, label %head1
done3:
  ret double %v4"""
    )


def test_equal_functions_are_written_once():
    """A function is found again by what it does; LLVM takes the text."""
    module = Module()

    def twice(x):
        e = Emitter(module)
        e.give(e.op("fadd", x, x))
        return e.define("twice", [x], x.kind)

    assert twice(X) is twice(X)
    assert twice(X) is not twice(Parameter("%x", FLOAT))
    assert [f.split(" {")[0] for f in module.functions] == [
        "define internal double @twice_1(double %x) nounwind",
        "define internal float @twice_2(float %x) nounwind",
    ]
    e = Emitter(module)
    e.give(e.call(twice(X), X))
    module.entry("go", DOUBLE, [X], e.body, "")
    assert Code(module.text(), level=1).address("go")


def body_of(*instructions):
    """Instructions and a return."""
    return [*instructions, Instruction("", VOID, "ret")]


ADD = Arithmetic("%a", DOUBLE, "fadd", (X, Y))
BROKEN = {
    "no end": ([ADD], "the last block has no end"),
    "an end too early": ([Branch(("b",)), ADD], "a block goes on up to its end and no further"),
    "no such block": ([Branch(("b",))], "there is no block b"),
    "two blocks of a name": (
        [Branch(("b",)), Label("b"), Branch(("b",)), Label("b"), Instruction("", VOID, "ret")],
        "there is a block of this name already",
    ),
    "defined twice": (body_of(ADD, ADD), "the register is defined already"),
    "not defined": (body_of(Arithmetic("%a", DOUBLE, "fadd", (X, Value("%z", DOUBLE)))), "%z is not there yet"),
    "defined on another way": (
        [
            Branch(("b", "c"), (C,)), Label("b"), ADD, Branch(("c",)), Label("c"),
            Instruction("", VOID, "ret", (ADD,)),
        ],
        "%a is not there yet",
    ),
    "of another kind": (body_of(Arithmetic("%a", FLOAT, "fadd", (Value("%x", FLOAT),) * 2)), "%x is double"),
    "two kinds": (body_of(Arithmetic("%a", DOUBLE, "fadd", (X, N))), "the operands are of two kinds"),
    "no such operation": (body_of(Arithmetic("%a", I64, "fadd", (N, N))), "there is no fadd of i64"),
    "no such relation": (body_of(Arithmetic("%a", I1, "icmp", (N, N), "lt")), "there is no relation 'lt'"),
    "a phi from nowhere": (body_of(Phi("%a", DOUBLE, [(X, "b")])), "control comes from nowhere"),
    "another result": ([Instruction("", VOID, "ret", (X,))], "the function gives void"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_malformed(case):
    """What is wrong with a body is said before LLVM sees it."""
    body, message = BROKEN[case]
    with pytest.raises(MalformedBodyError, match=f"^{message}"):
        verify(body, [X, Y, N, P, C], VOID)


WRONG = {
    "a choice by a number": lambda e: e.select(N, X, Y),
    "a choice of two kinds": lambda e: e.select(C, X, N),
    "the opposite of an integer": lambda e: e.negative(N),
    "a conversion upwards": lambda e: e.convert("trunc", Parameter("%c", I1), I64),
    "a conversion of another number of lanes": lambda e: e.convert("fptrunc", X, FLOAT.wide(2)),
    "a load from a number": lambda e: e.load(DOUBLE, N),
    "a store to a number": lambda e: e.store(X, N),
    "an address that is counted by a float": lambda e: e.address(DOUBLE, P, X),
    "a lane of a number": lambda e: e.extract(X, 0),
    "a call with too little": lambda e: e.call(Function("@f", DOUBLE, (DOUBLE, DOUBLE)), X),
    "a call with another kind": lambda e: e.call(Function("@f", DOUBLE, (I64,)), X),
}


@pytest.mark.parametrize("case", WRONG)
def test_operands_that_do_not_fit(case):
    """Every class of instructions says which operands it takes."""
    e = Emitter(Module())
    WRONG[case](e)
    e.give()
    with pytest.raises(MalformedBodyError):
        verify(e.body, [X, Y, N, P, C, V], VOID)


def test_every_class_is_verified():
    """No class of instructions is forgotten; a new one needs an entry in the table."""

    def classes(kind):
        return {kind}.union(*[classes(k) for k in kind.__subclasses__()])

    assert classes(Instruction) == set(REQUIREMENTS)


def test_verified_in_tests():
    """Bodies are verified as they are printed, while that is asked for."""
    count = len(OBSERVERS)
    with before_printing():
        assert len(OBSERVERS) == count + 1
        with pytest.raises(MalformedBodyError, match="the last block has no end"):
            Module().define("f", VOID, [], [])
    assert len(OBSERVERS) == count


def test_small_integers_are_shared():
    """Most integers are small: there is one constant of each."""
    assert number(3, I64) is number(3, I64)
    assert number(3, I64) is not number(3, I32)
    assert number(10**6, I64).name == "1000000"
    assert number(X, I64) is X
    assert (FALSE.number, Constant("-0.0", DOUBLE).number) == (False, None)
