"""The entry of a recording: what a call must look like, and the world be, for its machine code to be the answer."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...capture.environment.captured_inputs import ArrayKind, Counts, Variable
from ...capture.environment.copying import is_named
from ...capture.recording.recording import Fixed, Given, Recording, is_dynamic
from ...core.classes import KNOWN, Fields, Parts, form_of
from ..assembly.instructions import Call, Instruction
from ..assembly.kinds import I32, VOID
from ..assembly.values import Function, Parameter
from ..build import Native
from .classes import guard, is_plainly_made, is_settable, readable
from .signature import (
    Array,
    Condition,
    Constant,
    Dict,
    List,
    NumpyScalar,
    Object,
    Output,
    Result,
    Signature,
    Static,
    Tree,
    Tuple,
    VariableOf,
)
from .signature import leaves as each_leaf
from .watching import watches_of


class _NotCompilableError(Exception):
    """Something that an entry cannot check or make: the slow way has to."""


def attach(
    native: Native, name: str, recording: Recording, call: Given, leaves: Sequence[object], counts: Counts
) -> list[Any] | None:
    """Add an entry for calls like this one to the module; the objects it wants, or None if there can be none."""
    try:
        signature, order = _signature(native, recording, call, leaves, counts)
    except _NotCompilableError:
        return None
    native.has_entry = True
    return native.enter(name, signature, _reordered(native, order))


def _reordered(native: Native, order: list[int]) -> Function:
    """The kernel for arguments that come in another order: a dict's own, not that of its sorted keys."""
    if order == sorted(order):
        return native.main
    passed = [Parameter(f"%a{k}", kind) for k, kind in enumerate(native.main.parameters)]
    given = [*[passed[k] for k in order], *passed[len(order) :]]
    result = Call("%r", native.main, tuple(passed))
    body = [result, Instruction("", VOID, "ret", (result,))]
    return native.module.define("main", I32, given, body, "nounwind alwaysinline")


def _signature(
    native: Native, recording: Recording, call: Given, leaves: Sequence[object], counts: Counts
) -> tuple[Signature, list[int]]:
    args, kwargs, statics, donated = call
    if list(kwargs) != sorted(kwargs):
        raise _NotCompilableError
    kinds = list(native.signature.arguments)
    met = _Leaves(leaves, counts, kinds)
    given = [*enumerate(args), *kwargs.items()]
    trees = tuple([met.static(k, x) if k in statics else _argument(x, met) for k, x in given])
    if met.count != len(leaves):
        raise _NotCompilableError
    rest = iter(kinds[met.inputs :])
    if not all([_is_in_reach(v) for v, _, _ in recording.variables]):
        raise _NotCompilableError
    variables = tuple([VariableOf(v.owner, v.key, _leaf(kind, rest)) for v, kind, _ in recording.variables])
    number = {id(kind): k for k, kind in enumerate(kinds)}
    order = [number[id(leaf)] for tree in trees for leaf in each_leaf(tree) if id(leaf) in number]
    outputs = list(native.outputs)
    marks: list[Result | Constant] = []
    for o in recording.outputs:
        if isinstance(o, Fixed):
            marks.append(_constant(o))
            continue
        if o.is_array:
            outputs[o.place] = Output(outputs[o.place].dtype, (), "array")
        marks.append(Result(o.place))
    for k, j in native.over.items():
        donor = kinds[j]
        if isinstance(donor, Array):
            outputs[k] = replace(outputs[k], over=donor)
    result = _result(_form(recording, marks))
    made = Signature(
        trees,
        tuple(outputs),
        result,
        (*watches_of(recording.watch), *_guards(trees, result)),  # these last: nothing comes between them and arguments
        native.captured,
        tuple(kwargs),
        native.release_gil,
        no_errstate=True,
        variables=variables,
        donated=donated,
    )
    return made, order


def _is_in_reach(variable: Variable) -> bool:
    """Whether machine code can read a variable."""
    owner = variable.owner
    return type(owner) in (types.CellType, dict, list) or readable(type(owner), (variable.key,)) is not None


def _leaf(kind: object, kinds: Iterator[Tree]) -> Tree:
    """What is expected in a variable that holds a number or an array, or a tuple of them."""
    if type(kind) is tuple:
        named, parts = kind if is_named(kind[0]) else (tuple, kind)
        return Tuple(tuple([_leaf(k, kinds) for k in parts]), named)
    leaf = next(kinds)
    return Array(leaf.dtype, ()) if type(leaf) is NumpyScalar and isinstance(kind, ArrayKind) else leaf


def _constant(leaf: Fixed) -> Constant:
    """A leaf that can be given away again and again."""
    value = leaf.of([])
    if value is None or type(value) in (str, bytes, int, bool):
        return Constant(value)
    raise _NotCompilableError


class _Leaves:
    """The leaves of the arguments, as they are met from left to right: inputs of the program, or static."""

    def __init__(self, leaves: Sequence[object], counts: Counts, kinds: list[Tree]) -> None:
        self.leaves, self.counts, self.kinds = leaves, counts, kinds
        self.count = 0
        self.inputs = 0

    def static(self, name: Hashable, x: object) -> Static:
        """An argument that is declared static: by position it leaves a None behind, by name nothing."""
        self.count += isinstance(name, int)
        return Static(x)

    def leaf(self, x: object) -> Tree:
        """What is expected in the place of a leaf."""
        k = self.count
        if k >= len(self.leaves) or self.leaves[k] is not x:  # an object with leaves inside
            raise _NotCompilableError
        self.count += 1
        if k not in self.counts and not is_dynamic(x):
            return Static(x)
        kind = self.kinds[self.inputs]
        if type(kind) is NumpyScalar and isinstance(x, np.ndarray):
            kind = self.kinds[self.inputs] = Array(kind.dtype, ())
        self.inputs += 1
        return kind


def _argument(x: object, met: _Leaves) -> Tree:
    """What is expected in the place of an argument."""
    kind = type(x)
    if isinstance(x, tuple) and (kind is tuple or _is_named(kind)):
        return Tuple(tuple([_argument(item, met) for item in x]), kind)
    if type(x) is list:
        return List(tuple([_argument(item, met) for item in x]))
    if type(x) is dict:
        try:
            keys = sorted(x)  # as containers are taken apart
        except TypeError:
            raise _NotCompilableError from None
        parts = {k: _argument(x[k], met) for k in keys}
        return Dict(tuple(x), tuple([parts[k] for k in x]), any_order=False)
    fields = KNOWN.get(kind)
    if fields is not None:
        if readable(kind, fields.names) is None:
            raise _NotCompilableError
        return Object(kind, _interned(fields.names), tuple([_field(x, name, fields, met) for name in fields.names]))
    return met.leaf(x)


def _field(x: object, name: str, fields: Fields, met: _Leaves) -> Tree:
    part = getattr(x, name)
    return _setting(part) if fields.is_setting(name, part) else _argument(part, met)


def _setting(x: object) -> Tree:
    """A part of the structure: of tuples, the items count."""
    return Tuple(tuple([_setting(item) for item in x])) if type(x) is tuple else Static(x)


def _is_named(kind: type) -> bool:
    """Whether objects of a class are named tuples and nothing more: made of their items, taken apart into them."""
    if not issubclass(kind, tuple) or kind is tuple or kind in KNOWN:
        return False
    base = kind.__mro__[kind.__mro__.index(tuple) - 1]
    made: Any = kind.__new__
    return "_fields" in vars(base) and made is base.__new__ and made.__module__ == f"namedtuple_{base.__name__}"


def _interned(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(sys.intern, names))


def _guards(arguments: Sequence[Tree], result: Tree) -> list[Condition]:
    """That classes are as they were, so that their objects can be read and made as they could."""
    read = {x.kind: x.names for tree in arguments for x in _objects(tree)}
    made = {x.kind: x.names for x in _objects(result) if not x.is_called}
    return [
        *[guard(kind, functools.partial(_is_read, kind, names, readable(kind, names))) for kind, names in read.items()],
        *[guard(kind, functools.partial(_is_made, kind, names)) for kind, names in made.items()],
    ]


def _is_read(kind: type, names: tuple[str, ...], asked: Any) -> bool:
    """Whether attributes are still read as they were."""
    return readable(kind, names) == asked


def _objects(tree: Tree) -> Iterator[Object]:
    if isinstance(tree, (Tuple, List, Dict, Object)):
        if isinstance(tree, Object):
            yield tree
        for item in tree.items:
            yield from _objects(item)


def _form(recording: Recording, marks: list[Any]) -> Any:
    """The result with marks in place of its leaves."""
    try:
        return form_of(recording.restore, marks)
    except Exception:  # a class registered with functions, or a named tuple that looks at what it is made of
        raise _NotCompilableError from None


def _result(x: object) -> Tree:
    if isinstance(x, (Result, Constant)):
        return x
    if x is None:  # an empty container
        return Constant(None)
    if type(x) is Parts:
        return _made(x)
    if isinstance(x, tuple) and (type(x) is tuple or _is_named(type(x))):
        return Tuple(tuple([_result(item) for item in x]), type(x))
    if type(x) is list:
        return List(tuple([_result(item) for item in x]))
    if type(x) is dict:
        return Dict(tuple(x), tuple([_result(item) for item in x.values()]))
    raise _NotCompilableError


def _made(x: Parts) -> Tree:
    """An object of the result: put together by its class, or here if that does nothing else."""
    fields = KNOWN.get(x.kind)
    if fields is None:
        raise _NotCompilableError
    known = {name: Constant(value) for name, value in x.settings.items()}
    items = tuple([known.get(name) or _result(x.parts[name]) for name in fields.names])
    is_made = _is_made(x.kind, fields.names)
    if not is_made and not fields.is_called:
        raise _NotCompilableError
    return Object(x.kind, _interned(fields.names), items, not is_made)


def _is_made(kind: type, names: tuple[str, ...]) -> bool:
    """Whether an object of a class is a new one with these attributes."""
    fields = KNOWN.get(kind)
    if fields is None or fields.names != tuple(names):
        return False
    return is_plainly_made(kind, names) if fields.is_called else is_settable(kind, names)
