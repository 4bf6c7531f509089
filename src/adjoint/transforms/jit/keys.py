"""Which recording fits which arguments: one for each structure, dtype, shape, layout and static value."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from ...capture.environment.facts import fact
from ...capture.recording.recording import Given, is_dynamic
from ...core.errors import InputError, message
from ...core.traced import Traced
from ...core.tree import LEAVES, NAMESPACE, containers, flatten
from ...core.values import describe
from ...ir.counts import is_count
from ...ir.program import KINDS

PLAIN = frozenset((str, bytes, bool, int, type(None), FunctionType, BuiltinFunctionType, np.ufunc))
"""Types of settings of which equal ones cannot be told apart, and that have nothing inside."""


class CallParts(NamedTuple):
    """The arguments of a call, taken apart."""

    leaves: list[Any]
    """All leaves of the arguments that are not static."""
    rebuild: Callable[[Sequence[Any]], tuple[Any, dict[str, Any]]]
    """From such leaves to positional and keyword arguments."""
    key: Any
    """Equal for calls that one recording fits."""
    counts: frozenset[int] = frozenset()
    """Places of Python's integers and truth values that are inputs, as floats are, not part of the key."""

    @property
    def statics(self) -> Any:
        """The part of the key that is made of values."""
        return tuple([k for k in self.key[1] if type(k) is StaticKey]), self.key[2:]

    @property
    def loose(self) -> Any:
        """The key without the values of Python's integers and truth values."""
        return self.key[0], tuple([_loose(k) for k in self.key[1]]), *self.key[2:]

    @property
    def inputs(self) -> list[Any]:
        """The leaves that a program takes anew at each run."""
        return [x for k, x in enumerate(self.leaves) if k in self.counts or is_dynamic(x)]

    @property
    def numbers(self) -> dict[int, Any]:
        """Python's integers and truth values among the leaves that a program could take."""
        return {k: x for k, x in enumerate(self.leaves) if is_count(x)}

    def with_counts(self, counts: frozenset[int]) -> CallParts:
        """The same call, with these numbers as inputs."""
        kinds = tuple([type(self.leaves[k]) if k in counts else kind for k, kind in enumerate(self.key[1])])
        return self._replace(key=(self.key[0], kinds, *self.key[2:]), counts=counts)

    def without_counts(self) -> CallParts:
        """The same call, with all these numbers as part of the key."""
        kinds = tuple([StaticKey(self.leaves[k]) if k in self.counts else kind for k, kind in enumerate(self.key[1])])
        return self._replace(key=(self.key[0], kinds, *self.key[2:]), counts=frozenset())


def taken_apart(
    args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Sequence[int], names: frozenset[str]
) -> CallParts:
    """The leaves that may vary, how to put them back, and the key of the recordings for such arguments."""
    if not kwargs and not numbers and LEAVES.issuperset(map(type, args)):
        return CallParts(list(args), _as_arguments, (len(args), tuple([_kind(x) for x in args])))
    fixed = {k % len(args): args[k] for k in numbers if -len(args) <= k < len(args)}
    named = {k: v for k, v in kwargs.items() if k in names}
    free = tuple([None if k in fixed else a for k, a in enumerate(args)])
    loose = {k: v for k, v in kwargs.items() if k not in named}
    leaves, structure = _flattened((free, loose))
    leaves = [x.view(np.ndarray) if type(x) is np.memmap else x for x in leaves]

    def rebuild(new: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        given, words = structure.unflatten(new)
        return tuple([fixed.get(k, a) for k, a in enumerate(given)]), {**words, **named}

    statics = [*[(k, _static(k, v)) for k, v in fixed.items()], *[(k, _static(k, named[k])) for k in sorted(named)]]
    if classes := containers(leaves, structure):  # a structure is equal to another if 2 is where the other has 2.0
        statics.append((None, _settings(classes)))
    return CallParts(
        leaves, rebuild, ((structure, *_orders((free, loose))), tuple([_kind(x) for x in leaves]), *statics)
    )


def donated_inputs(call: CallParts, given: Given) -> list[int]:
    """The numbers of the inputs that belong to donated arguments."""
    sizes = [1 if k in given.static else len(_flattened(x)[0]) for k, x in enumerate(given.args)]
    owner = [k for k, size in enumerate(sizes) for _ in range(size)]
    inputs = [k for k, x in enumerate(call.leaves) if k in call.counts or is_dynamic(x)]
    return [n for n, k in enumerate(inputs) if k < len(owner) and owner[k] in given.donated]


def check_objects(call: CallParts, numbers: Sequence[int], names: frozenset[str]) -> None:
    """Refuse objects whose fields are others once they have been put together again: a recording is made with those."""
    objects = next((value.value for name, value in call.key[2:] if name is None), ())
    if not objects:
        return
    again = taken_apart(*call.rebuild(call.leaves), numbers, names)
    if again.key[0] != call.key[0] or not all(map(_is_same, again.leaves, call.leaves)):
        raise InputError(
            message(
                "An argument is not the same after it has been put together again from its fields.",
                got=" or ".join(dict.fromkeys([kind.__name__ for kind, _ in objects])),
                fix="Let  __post_init__  leave alone what it has made already, or make the class a container with\n"
                '  ad.tree.register(Class, fields=("weight", "bias")),  which does not call it.',
            )
        )


def _is_same(x: Any, y: Any) -> bool:
    """Whether two leaves are one, or hold the same."""
    if x is y or type(x) is not type(y):
        return x is y
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
    return type(x) not in (int, float, complex, bool) or repr(x) == repr(y)


def _loose(kind: Any) -> Any:
    """A part of a key without the value; an input has none."""
    return type(kind.value) if type(kind) is StaticKey and type(kind.value) in (int, bool) else kind


def _as_arguments(leaves: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return tuple(leaves), {}


def _flattened(tree: Any) -> tuple[list[Any], Any]:
    import optree

    flatten(tree)  # teaches optree the dataclasses in it
    return optree.tree_flatten(tree, namespace=NAMESPACE, none_is_leaf=True)


def _orders(tree: Any) -> list[tuple[Any, ...]]:
    """The keys of all dicts in their own order, which optree does not look at but the function may."""
    found: list[tuple[Any, ...]] = []
    if hasattr(tree, "__dataclass_fields__"):
        tree = [getattr(tree, name, None) for name in tree.__dataclass_fields__]
    for part in tree.values() if isinstance(tree, dict) else tree:
        if isinstance(part, dict):  # 1, 1.0 and True are equal keys, but not the same ones
            found.append(tuple([key if type(key) is str else StaticKey(key, by_value=True) for key in part]))
        if isinstance(part, (dict, list, tuple)) or hasattr(part, "__dataclass_fields__"):
            found += _orders(part)
    return found


def _kind(leaf: Any) -> Any:
    """What of a leaf decides which recording fits."""
    kind = type(leaf)
    if kind is float or kind is Traced:
        return kind
    if kind is np.ndarray:
        if leaf.dtype.kind not in KINDS:
            raise InputError(
                message(
                    "jit takes arrays of numbers and truth values.",
                    got=describe(leaf),
                    fix="Convert it with  x.astype(float),  or use it without passing it as an argument.",
                )
            )
        if leaf.ndim < 2 or leaf.flags.c_contiguous:
            return (leaf.dtype, leaf.shape)
        return (leaf.dtype, leaf.shape, leaf.strides)  # NumPy's order="K" looks at it
    if issubclass(kind, np.ndarray):
        raise InputError(
            message(
                "jit does not take subclasses of ndarray: their arithmetic is their own.",
                got=f"{kind.__module__}.{kind.__name__}",
                fix="Pass  np.asarray(x).",
            )
        )
    return kind if is_dynamic(leaf) or isinstance(leaf, Traced) else StaticKey(leaf)


class StaticKey:
    """A value that belongs to the key: compared by type and value, or by identity."""

    __slots__ = ("_fact", "_hash", "value")

    def __init__(self, value: Any, *, by_value: bool = False, known: Any = None) -> None:
        self.value = value
        self._fact = fact(value, by_value=by_value) if known is None else known
        self._hash = hash(self._fact)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StaticKey) and self._hash == other._hash and bool(self._fact == other._fact)


def _static(name: Any, value: Any) -> StaticKey:
    try:
        return StaticKey(value, by_value=True)
    except TypeError:
        raise InputError(
            message(
                f"The static argument {name!r} cannot be hashed, so no recording could be found for it again.",
                got=describe(value),
                fix="Pass a tuple instead of a list, or leave it out of  static_argnums,  and it is traced.",
            )
        ) from None


def _settings(classes: list[tuple[type, Any]]) -> StaticKey:
    """What is not among the leaves of objects: methods and settings, as far as a structure does not tell them apart."""
    try:
        return StaticKey(tuple(classes), known=tuple([_difference(settings) for _, settings in classes]))
    except TypeError:
        raise InputError(
            message(
                "The settings of an object cannot be hashed, so no recording could be found for it again.",
                got=" or ".join(dict.fromkeys([kind.__name__ for kind, _ in classes])),
                fix="Register its class so that  flatten  gives a tuple of what can be hashed, not a list.",
            )
        ) from None


def _difference(settings: Any) -> Any:
    """What tells settings that are equal from each other: of plain ones, that 1 and True are of different types."""
    if type(settings) is tuple and all([type(item) is tuple and len(item) == 2 for item in settings]):
        kinds = tuple([type(value) for _, value in settings])
        if PLAIN.issuperset(kinds):
            return kinds
    return fact(settings, by_value=True)


def several(x: Any, kind: type, name: str, words: str) -> tuple[Any, ...]:
    """One or several of a kind, as a tuple."""
    found = (x,) if isinstance(x, kind) else tuple(x) if isinstance(x, Iterable) else (None,)
    if not all([isinstance(item, kind) for item in found]):
        raise InputError(
            message(
                f"{name} of jit are {words}: one, or a tuple of them.",
                got=repr(x),
                fix=f"Leave  {name}  out, or name arguments.",
            )
        )
    return found


def check_static(fun: Any, numbers: tuple[int, ...], names: tuple[str, ...], word: str = "static") -> None:
    """Refuse static or donated arguments that the function does not have."""
    if not numbers and not names:
        return
    try:
        parameters = inspect.signature(fun).parameters
    except (TypeError, ValueError):  # a builtin that does not say
        return
    kinds = [p.kind for p in parameters.values()]
    positional = [k for k in kinds if k in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    count = len(positional)
    bad: list[Any] = []
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        bad += [name for name in names if name not in parameters]
    if inspect.Parameter.VAR_POSITIONAL not in kinds:
        bad += [n for n in numbers if not -count <= n < count]
    if bad:
        raise InputError(
            message(
                f"The function has no argument {bad[0]!r} that could be {word}.",
                got=f"{getattr(fun, '__name__', fun)}({', '.join(parameters)})",
                fix="Name one of its arguments, or count them from 0.",
            )
        )
