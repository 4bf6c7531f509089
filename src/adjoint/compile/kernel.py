"""The kernel of a program: one function that does all units of its plan."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..ir.program import Program
from .assembly.emit import Emitter
from .assembly.instructions import Allocation, Call
from .assembly.kinds import I8, I32, POINTER, block_of
from .assembly.module import Module
from .assembly.values import Function, Parameter
from .code.fused_loop import FusedLoop
from .code.kernel_function import Kernel, KernelFunction
from .code.tiny_steps import straight
from .lanes.group import by_examples, side_by_side
from .program.classify import Sort, sort_of
from .program.expand import expanded
from .program.plan import Fused, Straight, Whole
from .program.planning import planned
from .runtime.engine import WORKSPACE, allocator
from .runtime.threads import parallel_symbol
from .steps.structural import whole

STACK = 1 << 15
"""Bytes of memory that are taken from the stack."""
PARALLEL = 400_000
"""Work, in additions, from which on a loop is shared among threads: waking them costs some microseconds."""


def kernel_of(
    module: Module,
    program: Program,
    strides: dict[int, tuple[int, ...]] | None = None,
    sorts: Mapping[int, Sort] | None = None,
    *,
    donated: Collection[int] = (),
    is_body: bool = False,
) -> Kernel:
    """Write the kernel of a program, all of whose steps have machine code, into a module.

    It may write results over `donated` inputs where the plan says so: if the caller passes the same address for both.
    """
    known = sorts or {id(s): sort for s in program.steps if (sort := sort_of(program, s)) is not None}
    program, known = by_examples(program, known)
    plan = planned(program, {**(strides or {}), **side_by_side(program)}, known, donated)
    kernel = KernelFunction(module, plan, body_of=_body_of, parallel_from=PARALLEL)
    for unit in plan.units:
        kernel.begin(unit.level)
        match unit:
            case Straight():
                straight(kernel, unit.step)
            case Whole():
                whole(kernel, unit.step)
            case Fused():
                FusedLoop(kernel, unit).emit()
    return kernel.finish(is_body)


def _body_of(module: Module, program: Program) -> Kernel:
    return kernel_of(module, expanded(program), is_body=True)


def with_workspace(module: Module, kernel: Kernel) -> Function:
    """The kernel with memory of its own: from the stack, or kept from one call to the next."""
    if "malloc" in module.declarations:
        allocator()
    count = len(kernel.program.inputs) + len(kernel.captured) + len(kernel.program.outputs)
    given = [Parameter(f"%a{k}", POINTER) for k in range(count)]
    if "adjoint_parallel" in module.declarations:
        parallel_symbol()
    if kernel.space <= STACK:
        e = Emitter(module)
        space = e.add(Allocation("%ws", POINTER, block_of(max(kernel.space, 1), I8), flags="align 64"))
        e.give(e.add(Call("%r", kernel.function, (*given, space))))
        return e.define("main", given, I32, "nounwind alwaysinline")
    allocator()
    module.memory()
    arguments = ", ".join([p.text() for p in given])
    inner = ", ".join([*[p.text() for p in given], "ptr %ws"])
    module.functions.append(f"@{WORKSPACE} = global ptr null")
    body = f"""  %kept = atomicrmw xchg ptr @{WORKSPACE}, ptr null acq_rel
  %none = icmp eq ptr %kept, null
  br i1 %none, label %new, label %ready
new:
  %fresh = call ptr @malloc(i64 {kernel.space + 64})
  %failed = icmp eq ptr %fresh, null
  br i1 %failed, label %poor, label %ready
poor:
  ret i32 3
ready:
  %raw = phi ptr [ %kept, %entry ], [ %fresh, %new ]
  %number = ptrtoint ptr %raw to i64
  %up = add i64 %number, 63
  %aligned = and i64 %up, -64
  %ws = inttoptr i64 %aligned to ptr
  %r = call i32 @{kernel.name}({inner})
  %old = atomicrmw xchg ptr @{WORKSPACE}, ptr %raw acq_rel
  %spare = icmp ne ptr %old, null
  br i1 %spare, label %drop, label %end
drop:
  call void @free(ptr %old)
  br label %end
end:
  ret i32 %r
"""
    text = f"({arguments}) nounwind {{\nentry:\n{body}}}"
    return module.function("main", I32, tuple([p.kind for p in given]), text)
