"""The entry of a recording: what a call must look like, and the world be, for its machine code to be the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.recording import Fixed, Recording, is_dynamic
from ..build import Native
from .entry import entry_text
from .signature import (
    Array,
    AttributeIs,
    CellIs,
    Constant,
    Dict,
    DictIs,
    List,
    NumpyScalar,
    Output,
    Result,
    Signature,
    Static,
    Tuple,
)  # fmt: skip


class _Odd(Exception):
    """Something that an entry cannot check or make: the slow way has to."""


def attach(
    native: Native, name: str, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any], leaves: Sequence[Any]
) -> list[Any] | None:
    """Add an entry for calls like this one to the module; the objects it wants, or None if there can be none."""
    try:
        signature = _signature(native, recording, args, kwargs, leaves)
    except _Odd:
        return None
    native.has_entry = True
    return entry_text(native.module, name, signature, native.main)


def _signature(
    native: Native, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any], leaves: Sequence[Any]
) -> Signature:
    if list(kwargs) != sorted(kwargs):
        raise _Odd
    dynamic = [x for x in leaves if is_dynamic(x)]
    met: list[Any] = []
    kinds = list(native.signature.arguments)
    trees = tuple([_argument(x, met, kinds) for x in (*args, *kwargs.values())])
    if len(met) != len(dynamic) or any([a is not b for a, b in zip(met, dynamic, strict=True)]):
        raise _Odd
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
    return Signature(
        trees, tuple(outputs), result, _watches(recording), native.captured, tuple(kwargs), native.release_gil
    )


def _constant(leaf: Fixed) -> Constant:
    """A leaf that can be given away again and again."""
    value = leaf.of([])
    if value is None or type(value) in (str, bytes, int, bool):
        return Constant(value)
    raise _Odd


def _argument(x: Any, met: list[Any], kinds: list[Any]) -> Any:
    """What is expected in the place of an argument."""
    if is_dynamic(x):
        kind = kinds[len(met)]
        met.append(x)
        return Array(kind.dtype, ()) if type(kind) is NumpyScalar and isinstance(x, np.ndarray) else kind
    if type(x) is tuple:
        return Tuple(tuple([_argument(item, met, kinds) for item in x]))
    if type(x) is list:
        return List(tuple([_argument(item, met, kinds) for item in x]))
    if type(x) is dict:
        try:
            keys = sorted(x)  # as containers are taken apart
        except TypeError:
            raise _Odd from None
        return Dict(tuple(keys), tuple([_argument(x[k], met, kinds) for k in keys]))
    if x is None or type(x) in (int, bool, str, float):
        return Static(x)
    raise _Odd


def _result(x: Any) -> Any:
    if isinstance(x, (Result, Constant)):
        return x
    if type(x) is tuple:
        return Tuple(tuple([_result(item) for item in x]))
    if type(x) is list:
        return List(tuple([_result(item) for item in x]))
    if type(x) is dict:
        return Dict(tuple(x), tuple([_result(item) for item in x.values()]))
    raise _Odd


def _watches(recording: Recording) -> tuple[Any, ...]:
    watch = recording.watch
    if watch.arrays or watch.containers or watch.generators:
        raise _Odd
    found: list[Any] = []
    for cell, content, _ in watch.cells:
        try:
            cell.cell_contents  # noqa: B018
        except ValueError:
            raise _Odd from None
        found.append(CellIs(cell, content))
    for owner, key, content, _ in watch.entries:
        if type(owner) is not dict:
            raise _Odd
        found.append(DictIs(owner, key, content))
    found += [AttributeIs(x, attribute, content) for x, attribute, content, _ in watch.attributes]
    return tuple(found)
