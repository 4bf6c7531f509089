"""Functions that a transformation has made of others: what they are called, and how they are pickled.

`ad.grad(loss)` is called `grad(models/loss)`. The name says what it was made of, so another process finds it as it does
any function, by reference: this module has an attribute of that name, which is made when it is asked for.
"""

from __future__ import annotations

import importlib
import operator
import sys
import weakref
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

from .hints import public_name

if TYPE_CHECKING:
    import ast

_made: dict[str, weakref.ref[Any]] = {}
"""By name, so that a function that is made twice of the same is the same, as pickle wants it, while it is there."""


def derived(function: Any, transform: str, fun: Any, **options: Any) -> Any:
    """The function under its name, `transform(fun, option=...)`, unless usual; one of that name if it exists."""
    said = ""
    for key, value in options.items():
        if value is not USUAL[key] and value != USUAL[key]:
            said += f", {key}={value!r}"
    name = f"{transform}({reference(fun)}{said})"
    known = _made[name]() if name in _made else None
    if known is not None and known.__wrapped__ is fun:
        return known
    function.__name__ = getattr(fun, "__name__", type(fun).__name__)
    function.__doc__ = getattr(fun, "__doc__", None)
    function.__module__ = __name__
    function.__qualname__ = name
    function.__wrapped__ = fun
    if "<" not in name:
        _made[name] = weakref.ref(function)
    return function


USUAL: dict[str, Any] = {
    "argnums": 0, "has_aux": False, "argnames": None, "holomorphic": False, "in_axes": 0, "out_axes": 0,
    "chunk_size": None, "n": 1, "pattern": None, "product": False, "how": None,
}  # fmt: skip
"""What options are if nothing is said."""


def reference(fun: Any) -> str:
    """How a function is found: `models/loss`, `loss` in the program itself, or the name of one made by us."""
    if hasattr(fun, "lower") and callable(getattr(fun, "fun", None)):
        return f"jit({reference(fun.fun)})"
    name, module = getattr(fun, "__qualname__", None), getattr(fun, "__module__", None)
    if not isinstance(fun, (FunctionType, BuiltinFunctionType, type)) and not _is_at(fun, module, name):
        return f"<{name or type(fun).__name__}>"
    if module == __name__:
        return str(name)
    return str(name) if module in ("__main__", None) else f"{module}.{name}".replace(".", "/")


def _is_at(fun: Any, module: Any, name: Any) -> bool:
    """Whether an object that can be called is what its name means: not a method, which has an object of its own."""
    return name is not None and getattr(sys.modules.get(module), name, None) is fun


def found(name: str) -> Any:
    """The function of a name, made anew if need be."""
    return _of(_parsed(name))


def _parsed(name: str) -> Any:
    import ast  # seldom needed, so not when the library is imported

    return ast.parse(name, mode="eval").body


def found_jitted(name: str, static: dict[str, Any]) -> Any:
    """A jitted function by its name: the very one, if it was decorated, else another of the same function."""
    inner = _of(_parsed(name).args[0])
    if reference(inner) == name:
        return inner
    return _library().jit(inner, **static)


def _library() -> Any:
    """The library itself, whose names are the transformations."""
    return sys.modules[__name__.partition(".")[0]]


def _of(node: ast.expr) -> Any:
    import ast

    if not isinstance(node, ast.Call):
        return _imported(ast.unparse(node).replace(" ", "").split("/"))
    transform = ast.unparse(node.func)
    inner = _of(node.args[0])
    if reference(inner) == ast.unparse(node).replace(" / ", "/"):
        return inner  # it was decorated: what is found under the name of the function is what was made of it
    made = operator.attrgetter(public_name(transform))(_library())
    return made(inner, **{k.arg: ast.literal_eval(k.value) for k in node.keywords if k.arg})


def _imported(parts: list[str]) -> Any:
    """What a dotted name means: a module as far as there is one, then attributes."""
    module, rest = sys.modules["__main__"], parts
    for k in range(len(parts) - 1, 0, -1):
        try:
            module, rest = importlib.import_module(".".join(parts[:k])), parts[k:]
            break
        except ImportError:
            continue
    thing: Any = module
    for part in rest:
        thing = getattr(thing, part)
    return thing


def _is_same(fun: Any, inner: Any, known: Any) -> bool:
    """Whether what is found by name is what a function was made of, or, where it was decorated, that function."""
    return inner is fun or inner is known or (hasattr(inner, "lower") and reference(inner) == reference(fun))


def __getattr__(name: str) -> Callable[..., Any]:
    """A function by its name, for pickle."""
    if "(" not in name or "<" in name:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        known = _made[name]() if name in _made else None
        if known is not None and _is_same(known.__wrapped__, _of(_parsed(name).args[0]), known):
            return known  # type: ignore[no-any-return]
        return found(name)  # type: ignore[no-any-return]
    except (SyntaxError, ValueError, AttributeError, ImportError) as error:
        raise AttributeError(f"{name} cannot be found again: {error}") from None
