"""Functions of other packages that NumPy cannot dispatch: while a function is traced, ours stand in their place.

SciPy's plain Python functions (`logsumexp`, `expm`) convert their arguments themselves, so traced values need versions
of them that are written with NumPy's functions. `adjoint.scipy.<topic>` holds those for `scipy.<topic>`; it is imported
when SciPy's module is found loaded, never before, and each one calls the original if no argument is traced.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ..core.traced import Traced

F = TypeVar("F", bound=Callable[..., Any])

TOPICS: dict[str, str] = {"scipy.special": "adjoint.scipy.special", "scipy.linalg": "adjoint.scipy.linalg"}
"""Foreign modules, and the module of ours that registers their replacements."""

REPLACEMENTS: dict[str, dict[str, Callable[..., Any]]] = {}
"""Foreign module and name, to our function; signatures are those of the originals."""

Names = dict[str, Callable[..., Any]]
_ready: dict[str, tuple[dict[str, Any], Names, Names]] = {}
"""For each module that has been met: its namespace, our functions, its own."""


def replaces(module: str, *names: str) -> Callable[[F], F]:
    """Register the decorated function for names in a module, as in `@replaces("scipy.special", "logsumexp")`."""

    def register(implementation: F) -> F:
        REPLACEMENTS.setdefault(module, {}).update(dict.fromkeys(names, implementation))
        return implementation

    return register


def install() -> None:
    """Put our functions in place, in every module that has been imported by now."""
    if len(_ready) < len(TOPICS):
        _meet()
    for namespace, ours, _ in _ready.values():
        namespace.update(ours)


def remove() -> None:
    """Give the modules their own functions back."""
    for namespace, _, theirs in _ready.values():
        namespace.update(theirs)


def _meet() -> None:
    for name, topic in TOPICS.items():
        module = sys.modules.get(name)
        if name in _ready or module is None or getattr(module.__spec__, "_initializing", False):
            continue
        importlib.import_module(topic)
        namespace = vars(module)
        theirs = {n: namespace[n] for n in REPLACEMENTS.get(name, {}) if n in namespace}
        ours = {n: _stand_in(original, REPLACEMENTS[name][n]) for n, original in theirs.items()}
        _ready[name] = namespace, ours, theirs


def _stand_in(original: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def stand_in(*args: Any, **kwargs: Any) -> Any:
        if holds_traced(args) or (kwargs and holds_traced(kwargs.values())):
            return ours(*args, **kwargs)
        return original(*args, **kwargs)

    return stand_in


def holds_traced(values: Iterable[Any]) -> bool:
    """Whether a traced value is among these, or in lists and tuples among them."""
    return any([isinstance(v, Traced) or (isinstance(v, (list, tuple)) and holds_traced(v)) for v in values])
