"""The kernel of a program: one function that does all units of its plan."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..ir.program import Program
from .across.group import by_examples, side_by_side
from .assembly.module import Module
from .code.fused_loop import FusedLoop
from .code.kernel_function import Kernel, KernelFunction
from .code.tiny_steps import straight
from .program.classify import Sort, sort_of
from .program.expand import expanded
from .program.plan import Fused, Straight, Whole
from .program.planning import planned
from .steps.structural import whole

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
