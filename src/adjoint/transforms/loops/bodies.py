"""From a user's function to the body of a loop: containers taken apart, types that stay the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import InputError, OutputError, message
from ...core.traced import Traced, snapshot
from ...core.tree import flatten, same_structure
from ...core.values import Value, describe, dtype_of, shape_of, spreads
from ...ir.capture import example
from ...ir.loops import split
from ...ir.program import Type, type_of
from ..interface.checking import output_leaves, refuse_subclass
from .capture import Body, as_numpy_scalar, captured, speculating_alike

Restore = Callable[[list[Any]], Any]
NUMBERS = (Traced, np.ndarray, np.generic, bool, int, float, complex)


def carry_leaves(tree: Any, transform: str) -> tuple[list[Value], Restore]:
    """The numbers and arrays of a carry, as they are now."""
    leaves, restore = flatten(tree)
    for leaf in leaves:
        refuse_subclass(leaf, f"{transform} does not carry")
        if not isinstance(leaf, NUMBERS) or dtype_of(leaf).kind not in "fciub":
            raise InputError(
                message(
                    f"{transform} carries numbers, arrays and containers of them from step to step.",
                    got=describe(leaf),
                    fix="What stays the same can be used by the function directly, without being carried.",
                )
            )
    return [snapshot(leaf) for leaf in leaves], restore


def item_leaves(tree: Any, transform: str) -> tuple[list[Value], Restore]:
    """The arrays that a loop takes slices of."""
    leaves, restore = flatten(tree)
    for leaf in leaves:
        refuse_subclass(leaf, f"{transform} does not take slices of")
        if not isinstance(leaf, (Traced, np.ndarray)) or not shape_of(leaf) or dtype_of(leaf).kind not in "fciub":
            raise InputError(
                message(
                    f"{transform} takes slices of arrays along their first axis.",
                    got=describe(leaf),
                    fix="Pass  np.array(xs);  what is the same in every step can be used by the function directly.",
                )
            )
    return [snapshot(leaf) for leaf in leaves], restore


def checked_length(items: Sequence[Value], length: Any, transform: str) -> int:
    """The number of steps."""
    lengths = sorted({shape_of(x)[0] for x in items})
    if length is not None:
        if not isinstance(length, (int, np.integer)) or isinstance(length, bool) or length < 0:
            raise InputError(
                message(f"The length of {transform} has to be an integer, 0 or more.", got=describe(length))
            )
        lengths = sorted({*lengths, int(length)})
    if len(lengths) == 1:
        return int(lengths[0])
    if not lengths:
        raise InputError(
            message(f"{transform} needs xs, arrays to take slices of, or the number of steps.", fix="Give  length=n.")
        )
    raise ValueError(
        message(
            f"The arrays given to {transform} have different lengths.",
            got=", ".join([str(n) for n in lengths]),
            fix="All of them, and  length=,  have to agree along the first axis.",
        )
    )


class flat_body:  # noqa: N801  (used as a function)
    """A user's `(carry, x) -> (carry, y)` as a function of leaves, which remembers the containers of y."""

    def __init__(self, f: Any, init: Any, restore: Restore, restore_items: Restore, transform: str) -> None:
        self.f = f
        self.init = init
        self.count = len(flatten(init)[0])
        self.parts = restore, restore_items
        self.transform = transform
        self.restore: Restore = list

    def __call__(self, *leaves: Value) -> list[Value]:
        """The leaves of the new carry and of y."""
        carry, items = split(leaves, self.count)
        result = self.f(self.parts[0](carry), self.parts[1](items))
        if not isinstance(result, tuple) or len(result) != 2:
            raise OutputError(
                message(
                    f"The function given to {self.transform} has to return a pair (carry, y).",
                    got=describe(result),
                    fix="Write  return carry, None  if there is nothing to stack.",
                )
            )
        after, ys = result
        if not same_structure(self.init, after):
            raise OutputError(
                message(
                    f"The function given to {self.transform} has to return its carry in the same containers.",
                    got=f"{_outline(after)} after {_outline(self.init)}",
                )
            )
        found, _ = output_leaves(after, self.transform)
        stacked, self.restore = output_leaves(ys, self.transform)
        return [_literal(x, before) for x, before in zip(found, carry, strict=True)] + stacked


def _literal(x: Value, before: Value) -> Value:
    """A number that stands in the function, as in  carry = 0,  in the dtype of what it replaces."""
    if type(x) in (bool, int, float) and np.can_cast(type(x), dtype_of(before), "same_kind"):
        return dtype_of(before).type(x)
    return x


def _outline(tree: Any) -> str:
    leaves, restore = flatten(tree)
    return str(restore([describe(x) for x in leaves])).replace("'", "")


ATTEMPTS = 3


def stable(
    body: Callable[..., Any], carry: list[Value], items: list[Value], transform: str, *, speculative: bool
) -> tuple[Body, list[Value]]:
    """The program of a body whose carry goes in as it comes out, and the first carry in these types.

    A carry that starts as an integer and becomes real, or as a number and becomes an array, is changed at the start.
    """
    narrow = any([_is_narrow(x) for x in (*carry, *items)])
    for attempt in range(ATTEMPTS):
        examples = [_number(example(c), weak=narrow) for c in carry]
        found = captured(body, [*examples, *items], speculative=speculative)
        if attempt == 0 and not narrow and any([_is_narrow(h) for h in found.hoisted]):
            narrow = any([type(example(c)) in (float, complex) for c in carry])
            if narrow:
                continue
        program = found.program
        after = [program.types[o] for o in program.outputs[: len(carry)]]
        before = [type_of(e) for e in examples]
        if all([_fits(b, a) for b, a in zip(before, after, strict=True)]):
            return found, carry
        last = attempt == ATTEMPTS - 1
        carry = [_changed(c, b, a, transform, last) for c, b, a in zip(carry, before, after, strict=True)]
    raise AssertionError  # the last attempt raises


def _is_narrow(x: Value) -> bool:
    """Whether a Python number that meets this value takes a precision lower than its own."""
    return dtype_of(x).kind in "fc" and dtype_of(x) not in (np.float64, np.complex128)


def _number(x: Value, *, weak: bool) -> Value:
    """A carry as the body sees it: NumPy's numbers, but a Python float where its precision has to be found out."""
    return x if weak and type(x) in (float, complex) else as_numpy_scalar(x)


def _fits(before: Type, after: Type) -> bool:
    return before.dtype == after.dtype and before.shape == after.shape


def _changed(x: Value, before: Type, after: Type, transform: str, last: bool) -> Value:
    """The value in the type that it will have after a step."""
    if _fits(before, after):
        return x
    castable = before.weak or np.can_cast(before.dtype, after.dtype, "same_kind")
    if last or not castable or not spreads(before.shape, after.shape):
        raise OutputError(
            message(
                f"The carry of {transform} has to keep its type from step to step.",
                got=f"{after} after {before}",
                fix="Start with a value of the type that the function returns, or convert what it returns.",
            )
        )
    x = x if isinstance(x, Traced) else np.asarray(x)
    x = x.astype(after.dtype) if dtype_of(x) != after.dtype else x
    return np.broadcast_to(x, after.shape) if shape_of(x) != after.shape else x


def condition(fun: Callable[[Any], Any], carry: list[Value], restore: Restore) -> Body:
    """The program of the condition of a while loop."""

    def ask(*leaves: Value) -> list[Value]:
        found = fun(restore(list(leaves)))
        if not isinstance(found, NUMBERS) or shape_of(found) != ():
            raise OutputError(
                message(
                    "The condition of while_loop has to be one truth value.",
                    got=describe(found),
                    fix="Use  np.any  or  np.all.",
                )
            )
        return [found if dtype_of(found).kind == "b" else np.not_equal(found, 0)]

    return captured(ask, [as_numpy_scalar(example(c)) for c in carry])


def branches(
    funs: Sequence[Callable[..., Any]], operands: tuple[Any, ...], transform: str, *, speculative: bool
) -> tuple[list[Body], list[Value], Restore]:
    """The programs of the branches of `cond` or `switch`, the numbers among the operands, the result's containers."""
    leaves, rebuild = flatten(operands)
    places = [k for k, leaf in enumerate(leaves) if isinstance(leaf, NUMBERS)]
    numbers = [snapshot(leaves[k]) for k in places]
    results: list[Any] = []
    dtypes: list[Any] = []

    def flat(fun: Callable[..., Any]) -> Callable[..., list[Value]]:
        def call(*values: Value) -> list[Value]:
            given = list(leaves)
            for k, v in zip(places, values, strict=True):
                given[k] = v
            result = fun(*rebuild(given))
            found, restore = output_leaves(result, transform)
            results.append((result, restore))
            return [_cast(x, d) for x, d in zip(found, dtypes or [None] * len(found), strict=True)]

        return call

    examples = [as_numpy_scalar(example(x)) for x in numbers]
    bodies = [captured(flat(fun), examples, speculative=speculative) for fun in funs]
    for other, _ in results[1:]:
        if not same_structure(results[0][0], other):
            _refuse_branches(transform, _outline(other), _outline(results[0][0]))
    types = [[b.program.types[o] for o in b.program.outputs[: len(b.program.outputs) - b.speculates]] for b in bodies]
    for first, *others in zip(*types, strict=True):
        for other in others:
            if other.shape != first.shape:
                _refuse_branches(transform, str(other), str(first))
    joint = [np.result_type(*[t.dtype for t in found]) for found in zip(*types, strict=True)]
    if any([t.dtype != d for row in types for t, d in zip(row, joint, strict=True)]):
        dtypes += joint
        bodies = [captured(flat(fun), examples, speculative=speculative) for fun in funs]
    return speculating_alike(bodies), numbers, results[0][1]


def _cast(x: Value, dtype: Any) -> Value:
    if dtype is None or dtype_of(x) == dtype:
        return x
    return x.astype(dtype) if isinstance(x, Traced) else np.asarray(x).astype(dtype)[()]


def _refuse_branches(transform: str, one: str, other: str) -> None:
    which = "two functions given to cond" if transform == "cond" else f"functions given to {transform}"
    raise OutputError(
        message(
            f"The {which} have to return the same containers and shapes.",
            got=f"{one} and {other}",
        )
    )
