"""What anything is made of, as far as it decides numbers: a label, and named parts.

The same in every process: nothing depends on identities, on the order of sets, on where code stands in its file, nor
on whether it was compiled twice. Functions of Python's own, of NumPy, SciPy and this library go by their names, and so
do classes of installed packages; of other functions of packages their own code counts, not what else it reads.
"""

from __future__ import annotations

import copyreg
import dataclasses
import functools
import hashlib
import inspect
import sys
import sysconfig
import types
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import adjoint as ad
from adjoint import optim

from ...host.code.labels import code_label
from .reading import globals_read

CHUNK = 2**22
"""So many bytes of an array are read at a time: those of a memory map need not fit into memory."""
LONG = 60
"""Texts that are longer go by a digest."""

OWN = ad.__name__
BY_NAME = frozenset((OWN, "numpy", "scipy"))
FREE = frozenset(("rate",))
"""Arguments of optimisers that may change in the middle of a run."""

INCIDENTAL = frozenset(
    (
        "__module__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__dataclass_fields__", "__slots__",
        "__dataclass_params__", "__match_args__", "__firstlineno__", "__static_attributes__", "__annotate_func__",
        "__annotations_cache__", "__abstractmethods__", "_abc_impl", "__qualname__", "__orig_bases__", "__parameters__",
        "__annotate__", "__hash__", "__subclasshook__",
    )
)  # fmt: skip
"""What classes have that decides nothing."""


class Anatomy(NamedTuple):
    """What something is made of."""

    label: str
    """All that is not in the parts."""
    parts: tuple[tuple[str, Any], ...] = ()
    """What it holds, by name."""
    unordered: bool = False
    """Whether the order of the parts means nothing."""


def digest(*texts: str | bytes | memoryview) -> str:
    """A few characters that differ if the texts do."""
    found = hashlib.blake2b(digest_size=8)
    for text in texts:
        piece = text.encode(errors="surrogatepass") if isinstance(text, str) else text
        found.update(f"{len(piece)}:".encode())
        found.update(piece)
    return found.hexdigest()


@functools.singledispatch
def anatomy(x: Any) -> Anatomy:
    """What an object is made of."""
    kind = type(x)
    if _package(kind.__module__) == OWN:
        return Anatomy(kind.__qualname__, tuple(_of_ours(x)))
    if is_installed(kind.__module__):
        wrapped = inspect.getattr_static(x, "__wrapped__", None) and x.__wrapped__  # as what a cache has
        return Anatomy(kind.__qualname__, (("function", wrapped),)) if wrapped else _as_pickled(x)
    return Anatomy(kind.__qualname__, (*_class_of(x), *_attributes(x)))


def _of_ours(x: Any) -> Iterable[tuple[str, Any]]:
    """The parts of an object of this library: the fields that count; of a jitted function the plain one."""
    if dataclasses.is_dataclass(x):
        return [(f.name, getattr(x, f.name, None)) for f in dataclasses.fields(x) if f.compare]
    if hasattr(x, "lower") and callable(getattr(x, "fun", None)):
        return [("function", x.fun)]
    return [(name, value) for name, value in _attributes(x) if not name.startswith("__")]


@anatomy.register(type(None))
@anatomy.register(type(...))
@anatomy.register(bool)
@anatomy.register(int)
@anatomy.register(float)
@anatomy.register(complex)
@anatomy.register(str)
@anatomy.register(bytes)
@anatomy.register(range)
@anatomy.register(np.dtype)
def _value(x: Any) -> Anatomy:
    text = repr(x)
    plain = type(x).__module__ in ("builtins", "types", "numpy") or isinstance(x, np.dtype)
    label = text if len(text) <= LONG else f"{text[: LONG // 2]}... {digest(text)}"
    return Anatomy(label if plain else f"{type(x).__qualname__} {label}", () if plain else tuple(_class_of(x)))


@anatomy.register
def _numpy_scalar(x: np.generic) -> Anatomy:
    return Anatomy(f"{x.dtype}({x})" if x.dtype.kind != "V" else f"{x.dtype} {digest(x.tobytes())}")


@anatomy.register
def _array(x: np.ndarray) -> Anatomy:
    label = f"{x.dtype}[{','.join(map(str, x.shape))}]"
    if x.dtype.hasobject:
        return Anatomy(label, tuple([(f"[{k}]", part) for k, part in enumerate(x.ravel().tolist())]))
    if type(x) not in (np.ndarray, np.memmap):
        return _as_pickled(x)
    content = hashlib.blake2b(digest_size=8)
    rows = x.reshape(1) if x.ndim == 0 else x
    step = max(1, CHUNK // max(1, rows[:1].nbytes))
    for k in range(0, len(rows), step):
        content.update(np.ascontiguousarray(rows[k : k + step]).view(np.uint8).reshape(-1).data)
    return Anatomy(f"{label} {content.hexdigest()}")


@anatomy.register
def _random_state(x: np.random.RandomState) -> Anatomy:
    """NumPy's global generator, which SciPy's distributions hold, has another seed in every process."""
    return Anatomy("NumPy's random numbers") if x is np.random.mtrand._rand else _as_pickled(x)  # type: ignore[attr-defined]


@anatomy.register
def _module(x: types.ModuleType) -> Anatomy:
    return Anatomy(f"module {x.__name__}")


@anatomy.register(tuple)
@anatomy.register(list)
def _sequence(x: Any) -> Anatomy:
    names = getattr(x, "_fields", None) or [f"[{k}]" for k in range(len(x))]
    return Anatomy(type(x).__qualname__, (*zip(names, x, strict=True), *_beyond(x)))


@anatomy.register
def _optimizer(x: optim.Optimizer) -> Anatomy:
    """By the call that made it, but for what may change; one of the user's own by its functions."""
    recipe = getattr(x.update, "recipe", None)
    if recipe is None:
        return Anatomy("an optimiser of your own", (("init", x.init), ("update", x.update)))
    call = inspect.signature(recipe.make).bind(*recipe.args, **recipe.options)
    call.apply_defaults()
    said = tuple([(name, value) for name, value in call.arguments.items() if name not in FREE])
    return Anatomy(f"optim.{recipe.make.__name__}", said)


@anatomy.register
def _dict(x: dict) -> Anatomy:
    items = tuple([(key if isinstance(key, str) else f"[{key!r}]", value) for key, value in x.items()])
    keys = tuple([("keys", key) for key in x if not isinstance(key, (str, int, float, bool, type(None)))])
    return Anatomy(type(x).__qualname__, (*keys, *items, *_beyond(x)))


@anatomy.register(set)
@anatomy.register(frozenset)
def _set(x: Any) -> Anatomy:
    return Anatomy(type(x).__qualname__, tuple([("", part) for part in x]), unordered=True)


@anatomy.register
def _function(f: types.FunctionType) -> Anatomy:
    if is_installed(f.__module__):
        if _package(f.__module__) == OWN and "(" in f.__qualname__:  # as grad(loss) is called
            return Anatomy(f.__qualname__, (("function", f.__wrapped__),))  # type: ignore[attr-defined]
        if "<" not in f.__qualname__:
            name, wrapped = f"{f.__module__}.{f.__qualname__}", getattr(f, "__wrapped__", None)
            if _is_by_name(f.__module__):
                return Anatomy(name)
            return Anatomy(f"{name} {digest(code_label(f.__code__))}", (("function", wrapped),) if wrapped else ())
        outside: Iterable[tuple[str, Any]] = ()
    else:
        attributes = [(name, value) for name, value in vars(f).items() if name != "__wrapped__"]
        outside = (*attributes, *globals_read(f.__code__, f.__globals__, is_installed))
    return Anatomy(f"{f.__name__} {digest(code_label(f.__code__))}", (*_defaults(f), *_cells(f), *outside))


def _is_by_name(module: str) -> bool:
    """Whether the name of a function of this module says all: its code is Python's, or is exchanged by this library."""
    return _package(module) in BY_NAME or _package(module) in sys.stdlib_module_names


def _defaults(f: types.FunctionType) -> list[tuple[str, Any]]:
    """The default values of arguments, by name."""
    code, values = f.__code__, f.__defaults__ or ()
    named = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    return [*zip(named, values, strict=True), *(f.__kwdefaults__ or {}).items()]


def _cells(f: types.FunctionType) -> list[tuple[str, Any]]:
    """The variables of functions around this one that it reads."""
    found = []
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        try:
            found.append((name, cell.cell_contents))
        except ValueError:  # it is not filled yet
            found.append((name, ...))
    return found


@anatomy.register
def _method(x: types.MethodType) -> Anatomy:
    return Anatomy("method", (("function", x.__func__), ("__self__", x.__self__)))


@anatomy.register
def _builtin(x: types.BuiltinFunctionType) -> Anatomy:
    of = x.__self__
    held = () if of is None or isinstance(of, (types.ModuleType, type)) else (("__self__", of),)
    return Anatomy(f"{x.__module__ or ''}.{x.__qualname__}", held)


@anatomy.register
def _code(x: types.CodeType) -> Anatomy:
    return Anatomy(f"code {digest(code_label(x))}")


@anatomy.register
def _partial(x: functools.partial) -> Anatomy:
    args = [(f"[{k}]", value) for k, value in enumerate(x.args)]
    return Anatomy("partial", (("function", x.func), *args, *x.keywords.items()))


@anatomy.register
def _class(x: type) -> Anatomy:
    """A class of the user's by what is defined in it and in its bases."""
    if is_installed(x.__module__):
        return Anatomy(f"{x.__module__}.{x.__qualname__}")
    bases = [base for base in x.__mro__ if not is_installed(base.__module__)]
    parts = [(name, value) for base in bases for name, value in vars(base).items() if name not in INCIDENTAL]
    return Anatomy(f"class {x.__name__}", tuple(parts))


@anatomy.register(classmethod)
@anatomy.register(staticmethod)
def _bound_to_class(x: Any) -> Anatomy:
    return Anatomy(type(x).__name__, (("function", x.__func__),))


@anatomy.register
def _property(x: property) -> Anatomy:
    return Anatomy("property", (("get", x.fget), ("set", x.fset)))


@anatomy.register(types.MemberDescriptorType)
@anatomy.register(types.GetSetDescriptorType)
def _slot(x: Any) -> Anatomy:
    return Anatomy(f"slot {x.__name__}")


def _as_pickled(x: Any) -> Anatomy:
    """An object of a package by what it would be pickled as; what cannot be pickled, by its type."""
    label = f"{type(x).__module__}.{type(x).__qualname__}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            known = copyreg.dispatch_table.get(type(x))
            made = x.__reduce_ex__(4) if known is None else known(x)
    except Exception:  # whatever an object raises that cannot be pickled
        return Anatomy(label)
    if isinstance(made, str):
        return Anatomy(f"{label} {made}")
    make, args, state, items, pairs = (*made, None, None, None, None)[:5]
    held = [("state", state), ("items", items and list(items)), ("pairs", pairs and list(pairs))]
    kind = ("class", type(x))
    return Anatomy(
        label, (kind, ("made by", make), *_sequence(args).parts, *[part for part in held if part[1] is not None])
    )


def _attributes(x: Any) -> Iterable[tuple[str, Any]]:
    """The attributes of an object, in its dict and in slots."""
    slots = [name for base in type(x).__mro__ for name in _slots(base) if hasattr(x, name)]
    return (*getattr(x, "__dict__", {}).items(), *[(name, getattr(x, name)) for name in slots])


def _slots(kind: type) -> list[str]:
    names: Any = vars(kind).get("__slots__", ())
    names = [names] if isinstance(names, str) else list(names)
    hidden = kind.__name__.lstrip("_")
    return [
        f"_{hidden}{name}" if name.startswith("__") and not name.endswith("__") else name
        for name in names
        if name not in ("__dict__", "__weakref__")
    ]


def _class_of(x: Any) -> Iterable[tuple[str, Any]]:
    """The class of an object as a part, if it is the user's."""
    return () if is_installed(type(x).__module__) else (("class", type(x)),)


def _beyond(x: Any) -> Iterable[tuple[str, Any]]:
    """What an object of a subclass of a container has besides its elements."""
    return (*_class_of(x), *_attributes(x)) if not is_installed(type(x).__module__) else ()


def _package(module: Any) -> str:
    return str(module).partition(".")[0]


def is_installed(module: Any) -> bool:
    """Whether a module is Python's, this library's, or of an installed package: its code goes by its name."""
    name = str(module)
    if name == "__main__" or name not in sys.modules:  # a program is the user's, also where a package runs it
        return False
    return _package(name) == OWN or _is_installed(name, getattr(sys.modules[name], "__file__", None))


@functools.cache
def _is_installed(name: str, file: str | None) -> bool:
    if _package(name) in sys.stdlib_module_names:
        return True
    places = [Path(sysconfig.get_paths()[key]).resolve() for key in ("purelib", "platlib")]
    path = Path(file).resolve() if file else None
    return path is not None and any([place in path.parents for place in places])
