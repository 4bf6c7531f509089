"""`jit`: record a function once, run the recording from then on."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..core.errors import InputError, message
from ..core.traced import CONSTANTS, Traced
from ..core.tree import flatten
from ..core.values import describe
from ..ir.capture import ForeignValueError, is_captured
from ..ir.interpret import Interpreter
from ..ir.passes import simplified
from ..ir.program import GUARD
from ..ir.recording import Recording, is_dynamic, record
from .recording import run

MAX_PATHS = 32
"""Recordings for arguments of one kind, which differ by the branches taken; one more, and the function runs eagerly."""


class Path:
    """One recording and what runs it."""

    __slots__ = ("executable", "program", "recording")

    def __init__(self, recording: Recording, builder: Any) -> None:
        self.recording = recording
        self.program = simplified(recording.program)
        self.executable = builder(self.program)


class Jitted:
    """A function that records itself: made by `jit`, called like the function."""

    def __init__(self, fun: Callable[..., Any], static_argnums: Iterable[int], static_argnames: Iterable[str]) -> None:
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.static_argnums = tuple(static_argnums)
        self.static_argnames = frozenset(static_argnames)
        self._paths: dict[Any, list[Path]] = {}
        self._eager: dict[Any, str] = {}
        self._derived: dict[Any, Jitted] = {}
        self._lock = threading.RLock()
        self._compiled = 0
        self._warned = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the recording that fits; record where none does."""
        leaves, rebuild, key = self._sorted(args, kwargs)
        for leaf in leaves:
            if isinstance(leaf, Traced):
                return self._traced(args, kwargs, leaves)
        paths = self._paths.get(key)
        if paths:
            dynamic = [x for x in leaves if is_dynamic(x)]
            for path in list(paths):
                if not path.recording.is_valid():
                    continue
                found = _attempted(path, dynamic)
                if found is not None:
                    return path.recording.result(found)
        if key in self._eager:
            return self.fun(*args, **kwargs)
        return self._record(args, kwargs, leaves, rebuild, key)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        """Bind as a function does, so that methods can be jitted."""
        return self if owner is None else functools.partial(self, owner)

    def _sorted(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Any, Any]:
        """The leaves that may vary, how to put them back, and the key of the recordings for such arguments."""
        fixed = {k % len(args): args[k] for k in self.static_argnums if -len(args) <= k < len(args)}
        named = {k: v for k, v in kwargs.items() if k in self.static_argnames}
        free = tuple([None if k in fixed else a for k, a in enumerate(args)])
        loose = {k: v for k, v in kwargs.items() if k not in named}
        leaves, structure = _flattened((free, loose))

        def rebuild(new: list[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
            given, words = structure.unflatten(new)
            return tuple([fixed.get(k, a) for k, a in enumerate(given)]), {**words, **named}

        key = (structure, tuple([_kind(x) for x in leaves]), *_statics(fixed, named))
        return leaves, rebuild, key

    def _record(self, args: Any, kwargs: Any, leaves: list[Any], rebuild: Any, key: Any) -> Any:
        with self._lock:
            paths = self._paths.setdefault(key, [])
            paths[:] = [p for p in paths if p.recording.is_valid()]
            try:
                recording, result = record(run, self.fun, leaves, rebuild, *[x for x in leaves if not is_dynamic(x)])
            except ForeignValueError:
                return self.fun(*args, **kwargs)
            self._compiled += 1
            if len(paths) >= MAX_PATHS:
                self._give_up(key, recording)
                return result
            paths.append(Path(recording, _builder()))
            return result

    def _give_up(self, key: Any, recording: Recording) -> None:
        lines = [s.line for s in recording.program.steps if s.primitive is GUARD]
        self._eager[key] = lines[-1] if lines else ""
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"{self.fun.__name__!r} has taken {MAX_PATHS} different paths, so it now runs without jit.\n"
                f"  The last decision was at {self._eager[key]}\n"
                "  Use  ad.while_loop, ad.scan  or  ad.cond  for a loop or branch that depends on values, "
                "or  np.where.",
                RuntimeWarning,
                stacklevel=3,
            )

    def _traced(self, args: Any, kwargs: Any, leaves: list[Any]) -> Any:
        """Inside another walk: part of the recording under way, or one step with derivatives that are jitted too."""
        if any(is_captured(x) or (isinstance(x, Traced) and x.walk is CONSTANTS) for x in leaves):
            return self.fun(*args, **kwargs)
        return self.fun(*args, **kwargs)

    def stats(self) -> dict[str, Any]:
        """How often it was recorded, which paths exist, and what runs without machine code."""
        paths = [p for group in self._paths.values() for p in group]
        return {
            "recordings": self._compiled,
            "signatures": len(self._paths),
            "paths": len(paths),
            "guards": [[f"{s.line}" for s in p.program.steps if s.primitive is GUARD] for p in paths],
            "called by NumPy": sorted({name for p in paths for name in p.executable.hosted}),
            "eager": sorted(set(self._eager.values())),
        }


def _attempted(path: Path, dynamic: list[Any]) -> list[Any] | None:
    """Run a recording; an error inside it may come from a branch that is not to be taken, so it is no result."""
    try:
        return path.executable.run(dynamic)
    except (ArithmeticError, ValueError, IndexError, TypeError, np.linalg.LinAlgError):
        return None


def _flattened(tree: Any) -> tuple[list[Any], Any]:
    import optree

    flatten(tree)  # teaches optree the dataclasses in it
    return optree.tree_flatten(tree, namespace="adjoint", none_is_leaf=True)


def _kind(leaf: Any) -> Any:
    """What of a leaf decides which recording fits."""
    kind = type(leaf)
    if kind is float:
        return float
    if kind is np.ndarray:
        if leaf.dtype.kind in "fciub":
            return (leaf.dtype, leaf.shape)
        raise InputError(
            message(
                "jit takes arrays of numbers and truth values.",
                got=describe(leaf),
                fix="Convert it with  x.astype(float),  or declare the argument with  static_argnums.",
            )
        )
    if isinstance(leaf, np.ndarray):
        raise InputError(
            message(
                "jit does not take subclasses of ndarray: their arithmetic is their own.",
                got=f"{kind.__module__}.{kind.__name__}",
                fix="Pass  np.asarray(x).",
            )
        )
    if is_dynamic(leaf):
        return kind
    return _Static(leaf)


class _Static:
    """A value that belongs to the key, compared by type and value; what cannot be compared, by identity."""

    __slots__ = ("hash", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        try:
            self.hash = hash((type(value), value))
        except TypeError:
            self.hash = id(value)

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Static) or type(self.value) is not type(other.value) or self.hash != other.hash:
            return False
        return self.value is other.value or (self.hash != id(self.value) and bool(self.value == other.value))


def _statics(fixed: dict[int, Any], named: dict[str, Any]) -> tuple[Any, ...]:
    for name, value in [*fixed.items(), *named.items()]:
        try:
            hash(value)
        except TypeError:
            raise InputError(
                message(
                    f"The static argument {name!r} cannot be hashed, so no recording could be found for it again.",
                    got=describe(value),
                    fix="Pass a tuple instead of a list, or let the argument be traced.",
                )
            ) from None
    return (
        tuple([(k, _Static(v)) for k, v in fixed.items()]),
        tuple([(k, _Static(named[k])) for k in sorted(named)]),
    )


def _builder() -> Any:
    return Interpreter


def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Iterable[int] = (),
    static_argnames: str | Iterable[str] = (),
) -> Any:
    """The same function, recorded at its first call and run as machine code from then on.

    Parameters
    ----------
    fun : the function; plain NumPy code, which may branch on values.
    static_argnums, static_argnames : arguments that are not numbers to compute with; each value has its own recording.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> step = ad.jit(ad.grad(lambda x: np.sum(np.sin(x) ** 2)))
    >>> step(np.array([0.0, 1.0]))
    array([0.        , 0.90929743])
    """
    if fun is None:
        return functools.partial(jit, static_argnums=static_argnums, static_argnames=static_argnames)
    if not callable(fun):
        raise InputError(message("jit needs a function.", got=describe(fun), fix="Write  ad.jit(f)(x)."))
    numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    return Jitted(fun, numbers, names)
