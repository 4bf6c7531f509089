"""Functions of other packages that NumPy cannot dispatch: they are taught to hand traced arguments to ours.

SciPy's plain Python functions (`logsumexp`, `expm`) convert their arguments themselves, so traced values need versions
of them that are written with NumPy's functions. `adjoint.scipy.<topic>` holds those for `scipy.<topic>`; it is imported
when a function is traced and SciPy's module is found loaded, never before. The function object itself is changed, once,
so that it also works for who has imported it by name; without a traced argument it does what it always did.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import Any, TypeVar

from ..core.traced import Traced
from ..core.values import is_inexact
from .hosting import hosted

F = TypeVar("F", bound=Callable[..., Any])

TOPICS: dict[str, str] = {
    "scipy.special": "adjoint.scipy.special",
    "scipy.linalg": "adjoint.scipy.linalg",
    "scipy.sparse": "adjoint.scipy.sparse",
}
"""Foreign modules, and the module of ours that registers their replacements."""

REPLACEMENTS: dict[str, dict[str, Callable[..., Any]]] = {}
"""Foreign module and name, to our function; signatures are those of the originals."""

QUICK = frozenset(("logsumexp", "softmax", "log_softmax", "expm", "logm", "sqrtm", "product", "vectorized"))
"""Functions that are better taken apart by a program."""

_taught: set[str] = set()
"""The foreign modules that have been met."""


def replaces(module: str, *names: str) -> Callable[[F], F]:
    """Register the decorated function for names in a module, as in `@replaces("scipy.special", "logsumexp")`."""

    def register(implementation: F) -> F:
        REPLACEMENTS.setdefault(module, {}).update(dict.fromkeys(names, implementation))
        return implementation

    return register


def install() -> None:
    """Teach every module that has been imported by now."""
    if len(_taught) == len(TOPICS):
        return
    for name, topic in TOPICS.items():
        module = sys.modules.get(name)
        if name in _taught or module is None or is_being_imported(module):
            continue
        _taught.add(name)
        importlib.import_module(topic)
        for entry, ours in REPLACEMENTS.get(name, {}).items():
            original = getattr(module, entry, None)
            if isinstance(original, FunctionType):
                teach(original, ours, name)
            elif original is not None:
                setattr(module, entry, functools.wraps(original)(functools.partial(_choose, original, ours, name)))


def is_being_imported(module: Any) -> bool:
    """Whether a module is not complete yet."""
    return bool(getattr(vars(module).get("__spec__"), "_initializing", False))


def teach(original: FunctionType, ours: Callable[..., Any], module: str) -> None:
    """Let a function choose, each time it is called, between what it did and ours."""
    code = original.__code__
    plain = FunctionType(code, original.__globals__, original.__name__, original.__defaults__, original.__closure__)
    plain.__kwdefaults__ = original.__kwdefaults__
    original.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
    original.__code__ = _calling(len(code.co_freevars)).replace(
        co_name=code.co_name, co_qualname=code.co_qualname, co_freevars=code.co_freevars
    )
    original.__defaults__ = None
    original.__kwdefaults__ = {"_chosen": functools.partial(_choose, plain, ours, module)}


@functools.cache
def _calling(count: int) -> CodeType:
    """Code that calls what was chosen, for a function that closes over so many variables.

    It has to take them over, though it does not use them: whoever reads the variables of its frame, as debuggers and
    printers of tracebacks do, would otherwise find nothing where cells should be, and crash.
    """
    names = [f"free{k}" for k in range(count)]
    lines = ["def outside():", *[f"    {name} = None" for name in names], CALLING]
    lines += [f"        if False: {name}" for name in names]
    lines += ["        return _chosen(*args, **kwargs)", "    return call"]
    known: dict[str, Any] = {}
    exec(compile("\n".join(lines), "<adjoint>", "exec"), known)  # noqa: S102  (put together above, from numbers alone)
    return known["outside"]().__code__  # type: ignore[no-any-return]


CALLING = "    def call(*args, _chosen, **kwargs):"


def _choose(original: Callable[..., Any], ours: Callable[..., Any], module: str, /, *args: Any, **kwargs: Any) -> Any:
    if holds_traced(args) or (kwargs and holds_traced(kwargs.values())):
        if ours.__name__ not in QUICK or (args and isinstance(args[0], Traced) and not is_inexact(args[0])):
            # with its own checks and precision, unless a derivative has to look inside
            from ..ir.chance import SettingAside  # brings numpy.random, which NumPy itself imports late

            with SettingAside():
                found = hosted(f"{module}.{original.__name__}", original, args, kwargs)
            if found is not NotImplemented:
                return found
        return ours(*args, **kwargs)
    return original(*args, **kwargs)


def holds_traced(values: Iterable[Any]) -> bool:
    """Whether a traced value is among these, or in lists and tuples among them."""
    return any([isinstance(v, Traced) or (isinstance(v, (list, tuple)) and holds_traced(v)) for v in values])
