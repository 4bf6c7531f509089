"""The entry of a recording: what a call must look like, and the world be, for its machine code to be the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...ir.recording import Fixed, Recording, is_dynamic
from ...ir.varying import Counts, is_named
from ..build import Native
from .entry import entry_text
from .signature import (
    Array,
    Constant,
    Dict,
    List,
    NumpyScalar,
    Output,
    Result,
    Signature,
    Static,
    Tuple,
    VariableOf,
)
from .signature import leaves as each_leaf
from .watching import watches_of

Given = tuple[Sequence[Any], dict[str, Any], frozenset[Any]]
"""Positional and keyword arguments of a call, and which of them are declared static."""


class _OddError(Exception):
    """Something that an entry cannot check or make: the slow way has to."""


def attach(
    native: Native, name: str, recording: Recording, call: Given, leaves: Sequence[Any], counts: Counts
) -> list[Any] | None:
    """Add an entry for calls like this one to the module; the objects it wants, or None if there can be none."""
    try:
        signature, order = _signature(native, recording, call, leaves, counts)
    except _OddError:
        return None
    native.has_entry = True
    return entry_text(native.module, name, signature, _reordered(native, order))


def _reordered(native: Native, order: list[int]) -> str:
    """The kernel for arguments that come in another order: a dict's own, not that of its sorted keys."""
    if order == sorted(order):
        return native.main
    rest = range(len(order), len(native.signature.arguments) + len(native.captured) + len(native.outputs))
    given = ", ".join([f"ptr %a{k}" for k in (*order, *rest)])
    passed = ", ".join([f"ptr %a{k}" for k in (*range(len(order)), *rest)])
    body = f"  %r = call i32 @{native.main}({passed})\n  ret i32 %r"
    return native.module.function("main", "internal i32", f"({given}) nounwind alwaysinline {{\nentry:\n{body}\n}}")


def _signature(
    native: Native, recording: Recording, call: Given, leaves: Sequence[Any], counts: Counts
) -> tuple[Signature, list[int]]:
    args, kwargs, statics = call
    if list(kwargs) != sorted(kwargs):
        raise _OddError
    kinds = list(native.signature.arguments)
    met = _Leaves(leaves, counts, kinds)
    given = [*enumerate(args), *kwargs.items()]
    trees = tuple([met.static(k, x) if k in statics else _argument(x, met) for k, x in given])
    if met.count != len(leaves):
        raise _OddError
    rest = iter(kinds[met.inputs :])
    variables = tuple([VariableOf(v.owner, v.key, _leaf(kind, rest)) for v, kind, _ in recording.variables])
    number = {id(kind): k for k, kind in enumerate(kinds)}
    order = [number[id(leaf)] for tree in trees for leaf in each_leaf(tree) if id(leaf) in number]
    outputs = list(native.outputs)
    marks: list[Any] = []
    for o in recording.outputs:
        if isinstance(o, Fixed):
            marks.append(_constant(o))
            continue
        if o.is_array:
            outputs[o.place] = Output(outputs[o.place].dtype, (), "array")
        marks.append(Result(o.place))
    result = _result(recording.restore(marks))
    made = Signature(
        trees,
        tuple(outputs),
        result,
        watches_of(recording.watch),
        native.captured,
        tuple(kwargs),
        native.release_gil,
        calm=True,
        variables=variables,
    )
    return made, order


def _leaf(kind: Any, kinds: Iterator[Any]) -> Any:
    """What is expected in a variable that holds a number, or a tuple of them."""
    if type(kind) is tuple and is_named(kind[0]):
        raise _OddError
    return Tuple(tuple([_leaf(k, kinds) for k in kind])) if type(kind) is tuple else next(kinds)


def _constant(leaf: Fixed) -> Constant:
    """A leaf that can be given away again and again."""
    value = leaf.of([])
    if value is None or type(value) in (str, bytes, int, bool):
        return Constant(value)
    raise _OddError


class _Leaves:
    """The leaves of the arguments, as they are met from left to right: inputs of the program, or static."""

    def __init__(self, leaves: Sequence[Any], counts: Counts, kinds: list[Any]) -> None:
        self.leaves, self.counts, self.kinds = leaves, counts, kinds
        self.count = 0
        self.inputs = 0

    def static(self, name: Any, x: Any) -> Static:
        """An argument that is declared static: by position it leaves a None behind, by name nothing."""
        self.count += isinstance(name, int)
        return Static(x)

    def leaf(self, x: Any) -> Any:
        """What is expected in the place of a leaf."""
        k = self.count
        if k >= len(self.leaves) or self.leaves[k] is not x:  # an object with leaves inside
            raise _OddError
        self.count += 1
        if k not in self.counts and not is_dynamic(x):
            return Static(x)
        kind = self.kinds[self.inputs]
        if type(kind) is NumpyScalar and isinstance(x, np.ndarray):
            kind = self.kinds[self.inputs] = Array(kind.dtype, ())
        self.inputs += 1
        return kind


def _argument(x: Any, met: _Leaves) -> Any:
    """What is expected in the place of an argument."""
    if type(x) is tuple:
        return Tuple(tuple([_argument(item, met) for item in x]))
    if type(x) is list:
        return List(tuple([_argument(item, met) for item in x]))
    if type(x) is dict:
        try:
            keys = sorted(x)  # as containers are taken apart
        except TypeError:
            raise _OddError from None
        parts = {k: _argument(x[k], met) for k in keys}
        return Dict(tuple(x), tuple([parts[k] for k in x]), any_order=False)
    return met.leaf(x)


def _result(x: Any) -> Any:
    if isinstance(x, (Result, Constant)):
        return x
    if type(x) is tuple:
        return Tuple(tuple([_result(item) for item in x]))
    if type(x) is list:
        return List(tuple([_result(item) for item in x]))
    if type(x) is dict:
        return Dict(tuple(x), tuple([_result(item) for item in x.values()]))
    raise _OddError
