"""Through a loop once more and back: with every carry kept, or as many as a budget of memory has room for.

With a budget, the carries that are kept follow the binomial schedule, as `transforms/loops/schedule.py` has it for
Python; how far to go before the next one is kept is found in machine code too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.loops import PullOperands
from ...ir.program import Step, Type
from ..assembly.counted_loop import counted
from ..assembly.kinds import I8, I32, I64
from ..assembly.module import Module
from ..assembly.values import NULL, Function, Operand, Value, number
from ..code.kernel_function import KernelFunction
from ..program.loop_checks import sliced
from .bodies import BodyCaller, in_rows, row, size_of, without

Cleanup = Callable[[], object]


def pull(kernel: KernelFunction, step: Step) -> None:
    """Write the code of a sweep through a loop and back."""
    _Sweep(kernel, step).write(step.params["memory"])


class _Sweep:
    """The function of a sweep under construction: one step on, one step back, and which come when."""

    def __init__(self, kernel: KernelFunction, step: Step) -> None:
        params, operands = step.params, PullOperands.of(step)
        self.kernel, self.reverse = kernel, params["reverse"]
        self.types = operands.map(lambda a: kernel.plan.types[a], stacked=lambda a: sliced(kernel.plan.types[a]))
        n_carry, n_state = len(self.types.carry), len(self.types.state)
        others = {k: k for k in range(n_carry, len(params["body"].outputs))}
        self.body, self.back = kernel.body(without(params["body"], others)), kernel.body(params["back"])
        self.f = f = BodyCaller(kernel)
        self.given = operands.map(lambda a: f.take(in_rows(kernel, a)))
        ends = [f.take(kernel.pointer(o)) for o in step.outs]
        self.ends, self.stacks = ends[:n_state], ends[n_state:]
        self.pieces = [sliced(kernel.plan.types[o]) for o in step.outs[n_state:]]
        self.now, self.new = [[f.buffer(t) for t in self.types.state] for _ in range(2)]

    def write(self, memory: int) -> None:
        """The whole function, with so many bytes for carries; 0 if every one is kept."""
        f, e, types = self.f, self.f.e, self.types
        f.copy_all(types.state, self.now, self.given.state)
        steps = e.load(I64, self.given.steps[0])
        self.last = e.op("sub", steps, 1)
        if memory:
            slots = max(memory // max(sum([t.size * t.dtype.itemsize for t in types.carry]), 1), 1)
            fewer = e.compare("slt", steps, slots)
            self._with_budget(steps, e.select(fewer, steps, number(slots, I64)))
        else:
            self._with_all(steps)
        f.copy_all(types.state, self.ends, self.now)
        f.finish("sweep")
        self.kernel.module.is_unbounded = True
        self.kernel.work += 100_000  # nobody knows

    def _forth(self, k: Value, here: Sequence[Value], there: Sequence[Value], cleanup: Cleanup) -> None:
        """Take step k, from one carry to the next."""
        rows = self._rows(self.given.xs, self.types.xs, k)
        self.f.run(self.body, [*self.given.body_consts, *here, *rows, *there], cleanup)

    def _step_back(self, k: Value, carry: Sequence[Value], cleanup: Cleanup) -> None:
        """Take step k back, given the carry before it."""
        given, types = self.given, self.types
        rows = [*self._rows(given.xs, types.xs, k), *self._rows(given.arrived, types.arrived, k)]
        outs = self._rows(self.stacks, self.pieces, k)
        self.f.run(self.back, [*given.back_consts, *self.now, *carry, *rows, *self.new, *outs], cleanup)
        self.f.copy_all(types.state, self.now, self.new)

    def _rows(self, stacks: Sequence[Value], types: Sequence[Type], k: Value) -> list[Value]:
        """Of stacks, the slices of step k."""
        i = self.f.e.op("sub", self.last, k) if stacks and self.reverse else k
        return [row(self.f.e, stack, t, i) for stack, t in zip(stacks, types, strict=True)]

    def _with_all(self, steps: Value) -> None:
        e, tape = self.f.e, _Tape(self.f, steps, self.types.carry)
        self.f.copy_all(self.types.carry, tape.at(0), self.given.carry)
        forth, turn = e.label("forth"), e.label("turn")
        e.branch(e.compare("sgt", self.last, 0), forth, turn)
        e.start(forth)
        counted(e, 0, self.last, lambda k: self._forth(k, tape.at(k), tape.at(e.op("add", k, 1)), tape.drop))
        e.jump(turn)
        e.start(turn)

        def step_back(k: Value) -> None:
            k = e.op("sub", self.last, k)
            self._step_back(k, tape.at(k), tape.drop)

        counted(e, 0, steps, step_back)
        tape.end()

    def _with_budget(self, steps: Value, slots: Value) -> None:
        """The carry in slot j is that before step `places[j]`; two more slots are for going on from one of them."""
        e, f, carries = self.f.e, self.f, self.types.carry
        next_stop = _next_stop(self.kernel.module)
        tape = _Tape(f, e.op("add", slots, 2), carries, places=slots, if_any=steps)
        kept = e.allocate(I64)
        f.copy_all(carries, tape.at(0), self.given.carry)
        e.store(number(0, I64), tape.place(0))
        e.store(number(1, I64), kept)

        def go_on(origin: Value, start: Value, stop: Value, target: Value) -> None:
            """From the carry in one slot to that of a later step, in another one."""
            f.copy_all(carries, tape.at(slots), tape.at(origin))

            def one(k: Value) -> None:
                odd = e.op("and", e.op("sub", k, start), 1)
                here, there = tape.at(e.op("add", slots, odd)), tape.at(e.op("add", slots, e.op("xor", odd, 1)))
                self._forth(k, here, there, tape.drop)

            counted(e, start, stop, one)
            parity = e.op("and", e.op("sub", stop, start), 1)
            f.copy_all(carries, tape.at(target), tape.at(e.op("add", slots, parity)))

        def step_back(j: Value) -> None:
            k = e.op("sub", self.last, j)
            head, keep, reach, go, done = [e.label(name) for name in ("look", "keep", "reach", "go", "back")]
            e.jump(head)
            e.start(head)
            count = e.load(I64, kept)
            top = e.op("sub", count, 1)
            place = e.load(I64, tape.place(top))
            is_before, has_room = e.compare("slt", place, k), e.compare("slt", count, slots)
            e.branch(e.op("and", is_before, has_room), keep, reach)
            e.start(keep)
            length, free = e.op("add", e.op("sub", k, place), 1), e.op("add", e.op("sub", slots, count), 1)
            stop = e.op("add", place, e.call(next_stop, length, free))
            go_on(top, place, stop, count)
            e.store(stop, tape.place(count))
            e.store(e.op("add", count, 1), kept)
            e.jump(head)
            e.start(reach)
            e.branch(is_before, go, done)
            e.start(go)
            go_on(top, place, k, e.op("add", slots, 1))
            e.jump(done)
            e.start(done)
            where = e.select(is_before, e.op("add", slots, 1), top)
            self._step_back(k, tape.at(where), tape.drop)
            e.store(e.select(is_before, count, top), kept)

        counted(e, 0, steps, step_back)
        tape.end()


class _Tape:
    """Memory for a number of carries, as code that runs only if there are steps."""

    def __init__(
        self, f: BodyCaller, count: Value, carries: Sequence[Type], *, places: Value | None = None,
        if_any: Value | None = None,
    ) -> None:  # fmt: skip
        self.e = f.e
        self.offsets, self.slot = [], 0
        for t in carries:
            self.offsets.append(self.slot)
            self.slot += -(-size_of(t) // 16) * 16
        malloc, self.free = f.kernel.module.memory()
        e = self.e
        some, ready, poor, self.done = e.label("some"), e.label("ready"), e.label("poor"), e.label("end")
        e.branch(e.compare("sgt", count if if_any is None else if_any, 0), some, self.done)
        e.start(some)
        size = e.op("mul", count, self.slot)
        self._places = size
        self.base = e.call(malloc, size if places is None else e.op("add", size, e.op("mul", places, 8)))
        e.branch(e.compare("eq", self.base, NULL), poor, ready)
        e.start(poor)
        e.give(number(3, I32))
        e.start(ready)

    def at(self, k: Operand) -> list[Value]:
        """Where the k-th carry is."""
        base = self.e.address(I8, self.base, self.e.op("mul", number(k, I64), self.slot), flags="")
        return [self.e.address(I8, base, offset, flags="") for offset in self.offsets]

    def place(self, k: Operand) -> Value:
        """Where it is written before which step the k-th carry is."""
        return self.e.address(I64, self.e.address(I8, self.base, self._places, flags=""), k, flags="")

    def drop(self) -> Value:
        """Give the memory back."""
        return self.e.call(self.free, self.base)

    def end(self) -> None:
        """From here on the code runs in any case."""
        self.drop()
        self.e.jump(self.done)
        self.e.start(self.done)


def _next_stop(module: Module) -> Function:
    """How many steps to go before the next carry is kept: `next_stop` of the schedule, in machine code.

    With C(s + r, s) = `reach`, which grows with r until it is the length at least.
    """
    return module.function("next_stop", I64, (I64, I64), NEXT_STOP)


NEXT_STOP = """(i64 %length, i64 %slots) nounwind {
entry:
  %first = add i64 %slots, 1
  br label %look
look:
  %r = phi i64 [1, %entry], [%r.next, %more]
  %before = phi i64 [1, %entry], [%reach, %more]
  %reach = phi i64 [%first, %entry], [%reach.next, %more]
  %short = icmp slt i64 %reach, %length
  br i1 %short, label %more, label %found
more:
  %r.next = add i64 %r, 1
  %top = add i64 %slots, %r.next
  %product = mul i64 %reach, %top
  %reach.next = sdiv i64 %product, %r.next
  br label %look
found:
  ; C(slots + r - 2, slots) = before * (r - 1) / (slots + r - 1), and C(slots - 1 + r, slots - 1) = reach - before
  %r.less = sub i64 %r, 1
  %scaled = mul i64 %before, %r.less
  %sum = add i64 %slots, %r.less
  %least = sdiv i64 %scaled, %sum
  %gap = sub i64 %reach, %before
  %rest = sub i64 %length, %gap
  %larger = icmp sgt i64 %least, %rest
  %most = select i1 %larger, i64 %least, i64 %rest
  %some = icmp sgt i64 %most, 1
  %stop = select i1 %some, i64 %most, i64 1
  ret i64 %stop
}"""
