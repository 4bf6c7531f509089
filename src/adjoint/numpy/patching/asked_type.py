"""`type(x)` in the user's code: of a traced value it is the type of what it stands for, as `isinstance` answers.

Python has no hook there, and `type(x) is np.ndarray` would be false of a handle without a word. So a module with a
function that calls `type` gets a name `type` of its own: a class that is `type` to everybody, and knows handles.
"""

from __future__ import annotations

import builtins
import copyreg
from types import CodeType, FunctionType
from typing import Any

from ...core.traced import Traced

NAME = "type"
TYPE_PATCH = {
    "what": "the global name `type`, in modules of the user that use it: a class that is `type` to everybody",
    "when": "from then on",
    "why": "`type(x) is np.ndarray` gives no hook",
    "undone": "`ad.debug.unpatch()`",
}
PICKLED_TYPE_PATCH = {
    "what": "the table of `copyreg`: an entry for that class, which is pickled as `type`",
    "when": "from then on",
    "why": "whoever pickles something that holds it does not need this library to read it",
    "undone": "never: the entry is about a class of this library",
}


class MetaOfType(type):
    """The class of `TypeForHandles`: it is called, compared and asked for instances as `type` itself is."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """`type(x)`, or a new class; of metaclasses made of it what they do."""
        if cls is not TypeForHandles:
            return super().__call__(*args, **kwargs)
        if len(args) == 1 and not kwargs:
            kind = builtins.type(args[0])
            if issubclass(kind, Traced):
                return args[0].__class__
            return TypeForHandles if kind is builtins.type else kind  # so that  type(K) is type  holds of a class K
        return builtins.type(*args, **kwargs)

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, builtins.type) if cls is TypeForHandles else super().__instancecheck__(x)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, builtins.type) if cls is TypeForHandles else super().__subclasscheck__(kind)

    def __eq__(cls, other: object) -> bool:
        return cls is other or (cls is TypeForHandles and other is builtins.type)

    def __hash__(cls) -> int:
        return hash(builtins.type) if cls is TypeForHandles else super().__hash__()

    def __repr__(cls) -> str:
        return repr(builtins.type) if cls is TypeForHandles else super().__repr__()


class TypeForHandles(type, metaclass=MetaOfType):
    """`type`, for a module in which traced values are met."""


TypeForHandles.__name__ = TypeForHandles.__qualname__ = NAME
TypeForHandles.__module__ = "builtins"  # so that it is pickled as `type`, and shown as it


copyreg.pickle(MetaOfType, lambda kind: (builtins.type, (int,)) if kind is TypeForHandles else kind.__qualname__)  # type: ignore[arg-type,return-value]


def asks(x: Any) -> bool:
    """Whether a function, one inside it, or a method of a class uses `type`."""
    if issubclass(type(x), type):
        return any([_code_asks(f.__code__) for f in vars(x).values() if type(f) is FunctionType])
    return type(x) is FunctionType and _code_asks(x.__code__)


def _code_asks(code: CodeType) -> bool:
    return NAME in code.co_names or any([_code_asks(c) for c in code.co_consts if type(c) is CodeType])
