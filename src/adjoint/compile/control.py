"""Loops and choices whose bodies are programs: each body becomes a kernel, called from machine code."""

from __future__ import annotations

from typing import Any

from ..ir.program import Program, Step, Type, decides
from .emit import Emitter, memory_type
from .expand import expanded
from .indices import row_major
from .loops import LoopFunction, counted

TINY_BYTES = 128
"""Carries up to this size are put on the stack, from where LLVM moves them into registers."""


def loop(kernel: Any, step: Step) -> None:
    """Write the code of `scan`, `while_loop`, its walk back, or `cond`."""
    {"scan": _scan, "rolled": _scan, "while_loop": _while, "while_pull": _while_pull, "cond": _cond}[
        step.primitive.name
    ](kernel, step)


def is_fit(program: Program, step: Step) -> bool:
    """Whether the bodies take exactly what they are given: types are the same and all arrays come in as arguments."""
    from .classify import inner_programs, is_number

    for body in inner_programs(step):
        if not all([is_number(c) for c in body.constants.values()]):
            return False
    types = [program.types[a] for a in step.args]
    name, params = step.primitive.name, step.params
    if name in ("scan", "rolled"):
        body, whole = params["body"], params["n_consts"] + params["n_carry"]
        want = [body.types[n] for n in body.inputs]
        have = [t if k < whole else Type(t.dtype, t.shape[1:], t.weak) for k, t in enumerate(types)]
        carries = range(params["n_consts"], whole)
        ends = [body.types[o] for o in body.outputs]
        starts = [have[k] for k in carries]
        return params["length"] > 0 and _same(want, have) and _same(starts, ends[: params["n_carry"]])
    if name == "while_loop":
        cond, body = params["cond"], params["body"]
        n_cond, n_body = params["n_cond"], params["n_body"]
        of_cond, of_body, carry = types[:n_cond], types[n_cond : n_cond + n_body], types[n_cond + n_body :]
        return (
            _same([cond.types[n] for n in cond.inputs], [*of_cond, *carry])
            and _same([body.types[n] for n in body.inputs], [*of_body, *carry])
            and _same([body.types[o] for o in body.outputs], carry)
            and cond.types[cond.outputs[0]].dtype.kind == "b"
        )
    if name == "while_pull":
        return _fits_pull(types, params)
    if name == "cond":
        return (
            types[0].dtype.kind in "bi"
            and types[0].size == 1
            and all([_same([b.types[n] for n in b.inputs], types[1:]) for b in params["branches"]])
        )
    return False


def _fits_pull(types: list[Type], params: dict[str, Any]) -> bool:
    body, back = params["body"], params["back"]
    of_body, of_back, consts, carry, xs, state, arrived = _groups(types[1:], params)
    return (
        not params["memory"]
        and not xs
        and not arrived
        and types[0].dtype.name == "int64"
        and types[0].size == 1
        and bool(carry)
        and _same([body.types[n] for n in body.inputs], [*of_body, *consts, *carry])
        and _same([body.types[o] for o in body.outputs], carry)
        and _same([back.types[n] for n in back.inputs], [*of_back, *consts, *state, *carry])
        and _same([back.types[o] for o in back.outputs], state)
    )


def _groups(items: list[Any], params: dict[str, Any]) -> list[list[Any]]:
    """The arguments of a walk back, by what they are for; cotangents that are met on the way come last."""
    found, start = [], 0
    for name in ("n_body", "n_back", "n_consts", "n_carry", "n_xs", "n_state"):
        found.append(items[start : start + params[name]])
        start += params[name]
    return [*found, items[start:]]


def _same(want: list[Type], have: list[Type]) -> bool:
    return len(want) == len(have) and all(
        [w.dtype == h.dtype and w.shape == h.shape for w, h in zip(want, have, strict=True)]
    )


def _body(kernel: Any, program: Program) -> Any:
    """The kernel of a body, in the same module."""
    from .kernel import Kernel

    made = Kernel(kernel.module, expanded(program), is_body=True)
    kernel.inner_workspace(made.space)
    return made


def in_rows(kernel: Any, v: int) -> str:
    """The address of a value that lies row by row in memory; a copy, if it does not."""
    plan = kernel.plan
    t = plan.types[v]
    place = plan.layout(v)
    if place is not None:
        base, offset, strides = place
        matters = [(s, r) for s, r, n in zip(strides, row_major(t.shape), t.shape, strict=True) if n != 1]
        if all([s == r for s, r in matters]):
            address = kernel.pointer(base)
            if offset:
                address = kernel.e.op(f"getelementptr {memory_type(t.dtype)}, ptr {address}, i64 {offset}")
            return str(address)
    from .elements import store

    address = kernel.scratch(t.size * t.dtype.itemsize)
    if t.size == 0:
        return str(address)
    f = LoopFunction(kernel.module, plan, kernel.elements.level)

    def body(spot: Any) -> None:
        target = f.elements.offset(spot, row_major(t.shape))
        there = f.e.op(f"getelementptr inbounds {memory_type(t.dtype)}, ptr %to, i64 {target}")
        store(f.e, there, f.elements.at(v, spot if t.shape else ()), t.dtype)

    f.nest([(0, n) for n in t.shape] or [(0, 1)], body)
    kernel.call(f.end("rows", "ptr noalias %to"), f.resources, extra=f"ptr {address}")
    return str(address)


def _size(t: Type) -> int:
    return max(1, t.size) * t.dtype.itemsize


class _Function:
    """A function under construction that is given some addresses and the workspace of its bodies."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.e = Emitter(kernel.module)
        self.given: list[str] = []

    def take(self, address: str) -> str:
        """A parameter for an address of the caller."""
        self.given.append(address)
        return f"%g{len(self.given) - 1}"

    def buffer(self, t: Type) -> str:
        """Memory for one value: on the stack of this function if it is small."""
        if _size(t) <= TINY_BYTES:
            return self.e.op(f"alloca [{_size(t)} x i8], align 16")
        return self.take(self.kernel.scratch(_size(t)))

    def copy(self, target: str, source: str, t: Type) -> None:
        """Move a value."""
        if t.size == 0:
            return
        if t.size == 1:
            kind = memory_type(t.dtype)
            self.e.do(f"store {kind} {self.e.op(f'load {kind}, ptr {source}')}, ptr {target}")
            return
        self.kernel.module.declare("llvm.memcpy.p0.p0.i64", "void {}(ptr, ptr, i64, i1)")
        self.e.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {_size(t)}, i1 false)")

    def copy_all(self, types: list[Type], targets: list[str], sources: list[str]) -> None:
        """Move several values."""
        for t, target, source in zip(types, targets, sources, strict=True):
            self.copy(target, source, t)

    def run(self, body: Any, pointers: list[str], cleanup: str = "") -> None:
        """Call a body's kernel; leave if it fails."""
        arguments = ", ".join([f"ptr {p}" for p in [*pointers, "%ws"]])
        code = self.e.op(f"call i32 @{body.name}({arguments})")
        bad = self.e.op(f"icmp ne i32 {code}, 0")
        on, off = self.e.label("on"), self.e.label("off")
        self.e.branch(bad, off, on)
        self.e.start(off)
        if cleanup:
            self.e.do(cleanup)
        self.e.do(f"ret i32 {code}")
        self.e.start(on)

    def finish(self, stem: str, has_guards: bool = False) -> None:
        """End the function and call it."""
        self.e.do("ret i32 0")
        parameters = ", ".join([*[f"ptr %g{k}" for k in range(len(self.given))], "ptr %ws"])
        text = f"({parameters}) nounwind {{\nentry:\n" + "\n".join(self.e.lines) + "\n}"
        name = self.kernel.module.function(stem, "internal i32", text)
        space = self.kernel.inner_workspace(0)
        arguments = ", ".join([f"ptr {p}" for p in [*self.given, space]])
        code = self.kernel.e.op(f"call i32 @{name}({arguments})")
        if has_guards:
            self.kernel.check(self.kernel.e.op(f"icmp eq i32 {code}, 1"), 1)
        self.kernel.check(self.kernel.e.op(f"icmp ne i32 {code}, 0"), 2)


def _scan(kernel: Any, step: Step) -> None:
    params, types = step.params, kernel.plan.types
    n_consts, n_carry, length = params["n_consts"], params["n_carry"], params["length"]
    carries = [types[a] for a in step.args[n_consts : n_consts + n_carry]]
    kept = {} if params.get("reverse") else _kept(params["body"], carries)
    body = _body(kernel, _without(params["body"], kept))
    f = _Function(kernel)
    addresses = [f.take(in_rows(kernel, a)) for a in step.args]
    consts, starts, xs = addresses[:n_consts], addresses[n_consts : n_consts + n_carry], addresses[n_consts + n_carry :]
    ends = [f.take(kernel.pointer(o)) for o in step.outs]
    large = [_size(t) > TINY_BYTES for t in carries]
    now = ["" if k in kept else f.buffer(t) for k, t in enumerate(carries)]
    new = ["" if k in kept else f.buffer(t) for k, t in enumerate(carries)]
    for k, t in enumerate(carries):
        if k not in kept:
            f.copy(now[k], starts[k], t)
    slices = [Type(types[a].dtype, types[a].shape[1:], False) for a in step.args[n_consts + n_carry :]]
    pieces = [Type(types[o].dtype, types[o].shape[1:], False) for o in step.outs[n_carry:]]

    def inside(i: str) -> None:
        e = f.e
        odd = e.op(f"icmp ne i64 {e.op(f'and i64 {i}, 1')}, 0")
        begins = e.op(f"icmp eq i64 {i}, 0")
        before = e.op(f"sub nsw i64 {i}, 1")
        if params.get("reverse"):
            i = e.op(f"sub nsw i64 {length - 1}, {i}")
        here, there = list(now), list(new)
        for k, t in enumerate(carries):
            if k in kept:  # what was kept of it last time
                last = _row(e, ends[n_carry + kept[k]], t, before)
                here[k] = e.op(f"select i1 {begins}, ptr {starts[k]}, ptr {last}")
            elif large[k]:  # two pieces of memory take turns
                here[k] = e.op(f"select i1 {odd}, ptr {new[k]}, ptr {now[k]}")
                there[k] = e.op(f"select i1 {odd}, ptr {now[k]}, ptr {new[k]}")
        rows = [_row(e, p, t, i) for p, t in zip(xs, slices, strict=True)]
        outs = [_row(e, p, t, i) for p, t in zip(ends[n_carry:], pieces, strict=True)]
        f.run(body, [*consts, *here, *rows, *[p for k, p in enumerate(there) if k not in kept], *outs])
        for k, t in enumerate(carries):
            if k not in kept and not large[k]:
                f.copy(now[k], new[k], t)

    counted(f.e, "0", str(length), inside)
    for k, t in enumerate(carries):
        source = new[k] if large[k] and length % 2 else now[k]
        f.copy(ends[k], _row(f.e, ends[n_carry + kept[k]], t, str(length - 1)) if k in kept else source, t)
    f.finish("scan", has_guards=decides(step))
    kernel.work += length * (body.work + 5 + len(body.program.steps))


def _kept(body: Program, carries: list[Type]) -> dict[int, int]:
    """Large carries that are kept in a stack as well, and in which one: the next step reads them there."""
    stacks = {o: k for k, o in enumerate(body.outputs[len(carries) :])}
    return {k: stacks[o] for k, (o, t) in enumerate(zip(body.outputs, carries, strict=False))
            if o in stacks and _size(t) > TINY_BYTES}  # fmt: skip


def _without(body: Program, kept: dict[int, int]) -> Program:
    """A body without some of its results."""
    return body.with_steps(body.steps, [o for k, o in enumerate(body.outputs) if k not in kept]) if kept else body


def _row(e: Emitter, base: str, t: Type, i: str) -> str:
    place = i if t.size == 1 else e.op(f"mul nsw i64 {i}, {t.size}")
    return e.op(f"getelementptr inbounds {memory_type(t.dtype)}, ptr {base}, i64 {place}")


def _while(kernel: Any, step: Step) -> None:
    params, types = step.params, kernel.plan.types
    n_cond, n_body = params["n_cond"], params["n_body"]
    asks, body = _body(kernel, params["cond"]), _body(kernel, params["body"])
    f = _Function(kernel)
    addresses = [f.take(in_rows(kernel, a)) for a in step.args]
    of_cond, of_body, starts = addresses[:n_cond], addresses[n_cond : n_cond + n_body], addresses[n_cond + n_body :]
    carries = [types[a] for a in step.args[n_cond + n_body :]]
    ends = [f.take(kernel.pointer(o)) for o in step.outs]
    now = [f.buffer(t) for t in carries]
    new = [f.buffer(t) for t in carries]
    e = f.e
    flag = e.op("alloca i8")
    f.copy_all(carries, now, starts)
    e.do(f"store i64 0, ptr {ends[-1]}")
    head, inside, done = e.label("while"), e.label("do"), e.label("end")
    e.jump(head)
    e.start(head)
    f.run(asks, [*of_cond, *now, flag])
    goes_on = e.op(f"icmp ne i8 {e.op(f'load i8, ptr {flag}')}, 0")
    e.branch(goes_on, inside, done)
    e.start(inside)
    f.run(body, [*of_body, *now, *new])
    f.copy_all(carries, now, new)
    count = e.op(f"add nuw nsw i64 {e.op(f'load i64, ptr {ends[-1]}')}, 1")
    e.do(f"store i64 {count}, ptr {ends[-1]}")
    e.jump(head)
    e.start(done)
    f.copy_all(carries, ends[: len(carries)], now)
    f.finish("while")
    kernel.work += 100_000  # nobody knows


def _while_pull(kernel: Any, step: Step) -> None:
    """Through a while loop once more, every carry kept on a tape of the length it took, and back."""
    params, types = step.params, kernel.plan.types
    module = kernel.module
    module.declare("malloc", "noalias ptr {}(i64)")
    module.declare("free", "void {}(ptr)")
    body, back = _body(kernel, params["body"]), _body(kernel, params["back"])
    f = _Function(kernel)
    e = f.e
    addresses = [f.take(in_rows(kernel, a)) for a in step.args]
    of_body, of_back, consts, starts, _, states, _ = _groups(addresses[1:], params)
    _, _, _, carries, _, kinds, _ = _groups([types[a] for a in step.args[1:]], params)
    ends = [f.take(kernel.pointer(o)) for o in step.outs]
    now = [f.buffer(t) for t in kinds]
    new = [f.buffer(t) for t in kinds]
    f.copy_all(kinds, now, states)
    offsets, slot = [], 0
    for t in carries:
        offsets.append(slot)
        slot += -(-_size(t) // 16) * 16
    count = e.op(f"load i64, ptr {addresses[0]}")
    some, ready, poor, done = e.label("some"), e.label("ready"), e.label("poor"), e.label("end")
    e.branch(e.op(f"icmp sgt i64 {count}, 0"), some, done)
    e.start(some)
    tape = e.op(f"call ptr @malloc(i64 {e.op(f'mul i64 {count}, {slot}')})")
    e.branch(e.op(f"icmp eq ptr {tape}, null"), poor, ready)
    e.start(poor)
    e.do("ret i32 3")
    e.start(ready)
    drop = f"call void @free(ptr {tape})"

    def on_tape(k: str) -> list[str]:
        base = e.op(f"getelementptr i8, ptr {tape}, i64 {e.op(f'mul i64 {k}, {slot}')}")
        return [e.op(f"getelementptr i8, ptr {base}, i64 {offset}") for offset in offsets]

    f.copy_all(carries, on_tape("0"), starts)
    forth, turn = e.label("forth"), e.label("turn")
    last = e.op(f"sub i64 {count}, 1")
    e.branch(e.op(f"icmp sgt i64 {last}, 0"), forth, turn)
    e.start(forth)

    def step_forth(k: str) -> None:
        f.run(body, [*of_body, *consts, *on_tape(k), *on_tape(e.op(f"add i64 {k}, 1"))], drop)

    counted(e, "0", last, step_forth)
    e.jump(turn)
    e.start(turn)

    def step_back(k: str) -> None:
        f.run(back, [*of_back, *consts, *now, *on_tape(e.op(f"sub i64 {last}, {k}")), *new], drop)
        f.copy_all(kinds, now, new)

    counted(e, "0", count, step_back)
    e.do(drop)
    e.jump(done)
    e.start(done)
    f.copy_all(kinds, ends, now)
    f.finish("walk")
    kernel.work += 100_000  # nobody knows


def _cond(kernel: Any, step: Step) -> None:
    branches = [_body(kernel, b) for b in step.params["branches"]]
    f = _Function(kernel)
    t = kernel.plan.types[step.args[0]]
    addresses = [f.take(in_rows(kernel, a)) for a in step.args]
    ends = [f.take(kernel.pointer(o)) for o in step.outs]
    e = f.e
    kind = memory_type(t.dtype)
    index = e.op(f"load {kind}, ptr {addresses[0]}")
    done = e.label("end")
    last = len(branches) - 1
    for k, body in enumerate(branches):
        after = e.label("next")
        if k < last:
            here = e.label("take")
            e.branch(e.op(f"icmp eq {kind} {index}, {k}"), here, after)
            e.start(here)
        f.run(body, [*addresses[1:], *ends])
        e.jump(done)
        if k < last:
            e.start(after)
    e.start(done)
    f.finish("cond")
    kernel.work += max([b.work for b in branches])
