"""Functions of other packages that NumPy cannot dispatch: their code is replaced, so that traced arguments go to ours.

SciPy's plain Python functions (`logsumexp`, `expm`) convert their arguments themselves, so traced values need versions
of them that are written with NumPy's functions. `adjoint.scipy.<topic>` holds those for `scipy.<topic>`; it is imported
when a function is traced and SciPy's module is found loaded, never before. The function object itself is changed, once,
so that it also works for who has imported it by name; without a traced argument it does what it always did.

What becomes of each function is an `Answer`: it has a derivative, by a version of ours or through its own code, or it
is constant, or it is refused. `docs/scipy-functions.md` is the list of them.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any, Literal, NoReturn, TypeVar

import numpy as np

from ...core.errors import UnsupportedError, message
from ...core.traced import LOCAL, Traced, is_differentiated
from ...core.tree import flatten
from ...core.values import dtype_of, is_inexact
from ...host.patches.changes import MISSING, Attribute, WholeFunction
from ..dispatch.agreement import CALLS
from ..dispatch.arguments import holds_traced
from ..dispatch.opaque_calls import as_constant, as_one_step

F = TypeVar("F", bound=Callable[..., Any])

REPLACED_PATCH = {
    "what": "plain Python functions of SciPy (`logsumexp`, `lfilter`), methods of its classes (splines, sparse "
    "matrices, `ShortTimeFFT`) and distributions, `np.vectorize`, functions of `statistics`, operators of polars, "
    "products of pandas: they hand traced arguments to ours, or to a twin of their own code whose arrays are handles "
    "(`scipy/module_copies.py`). The code of the function changes; for compiled functions and generators, another one "
    "is set on their module or class",
    "when": "from then on",
    "why": "they convert their arguments themselves; other code also works for who imported the function by name",
    "undone": "`ad.debug.unpatch()`",
}
TOPICS: dict[str, str] = {
    "scipy.special": "adjoint.scipy.special",
    "scipy.linalg": "adjoint.scipy.linalg",
    "scipy.sparse": "adjoint.scipy.sparse",
    "scipy.sparse.linalg": "adjoint.scipy.sparse.spectra",  # which brings `linear`
    "scipy.fft": "adjoint.scipy.fft",
    "scipy.signal": "adjoint.scipy.signal",
    "scipy.signal.windows": "adjoint.scipy.signal",
    "scipy.ndimage": "adjoint.scipy.ndimage",
    "scipy.interpolate": "adjoint.scipy.interpolate",
    "scipy.spatial.distance": "adjoint.scipy.spatial",
    "scipy.spatial.transform": "adjoint.scipy.spatial.rotations",
    "scipy.fftpack": "adjoint.scipy.fft.fftpack",
    "scipy.cluster.vq": "adjoint.scipy.cluster",
    "scipy.cluster.hierarchy": "adjoint.scipy.cluster",
    "scipy.optimize": "adjoint.scipy.optimize",
    "scipy.optimize.elementwise": "adjoint.scipy.optimize.elements",
    "scipy.integrate": "adjoint.scipy.integrate",
    "scipy.stats": "adjoint.scipy.stats",
}
"""Foreign modules, and the module of ours that registers their replacements."""


@dataclass(frozen=True)
class Answer:
    """What becomes of a foreign function that meets traced values.

    A function that differentiates has a version of `ours`, or none if its own code takes traced values. A program calls
    the original as one step, with its own checks and precision, or takes ours apart, `in_parts`. One that `calls_back`
    what it is given, as solvers do, is called with the original in front, in every thread that traces: traced values
    may be in the closure of its argument, where nobody sees them before they come out. `fills` names a parameter for
    an array that the function writes to, which a step does not do. `note` is a line for the docs, for what is refused
    the reason, and `fix` what to write instead.
    """

    kind: Literal["differentiates", "constant", "refused"] = "differentiates"
    ours: Callable[..., Any] | None = None
    in_parts: bool = False
    calls_back: bool = False
    fills: str = ""
    note: str = ""
    fix: str = ""


REPLACEMENTS: dict[str, dict[str, Answer]] = {}
"""Foreign module and name, to what becomes of it; signatures of ours are those of the originals."""

_diverted: set[str] = set()
"""The foreign modules that have been met."""


def replaces(
    module: str, *names: str, in_parts: bool = False, calls_back: bool = False, fills: str = "", note: str = ""
) -> Callable[[F], F]:
    """Register the decorated function for names in a module, as in `@replaces("scipy.special", "logsumexp")`."""

    def register(implementation: F) -> F:
        _answer(
            module, names, Answer(ours=implementation, in_parts=in_parts, calls_back=calls_back, fills=fills, note=note)
        )
        return implementation

    return register


def runs_through(module: str, *names: str, note: str = "") -> None:
    """Say that the own code of these functions takes traced values, so that nothing has to be replaced."""
    _answer(module, names, Answer(note=note))


def constant(module: str, *names: str, note: str = "") -> None:
    """Say that these functions are constant in pieces: they are called with plain values, and nothing flows."""
    _answer(module, names, Answer("constant", note=note))


def refuses(module: str, *names: str, reason: str, fix: str) -> None:
    """Say that these functions are not differentiated, why, and what to write instead."""
    _answer(module, names, Answer("refused", note=reason, fix=fix))


def _answer(module: str, names: tuple[str, ...], answer: Answer) -> None:
    REPLACEMENTS.setdefault(module, {}).update(dict.fromkeys(names, answer))


def answer_to(name: str) -> Answer | None:
    """What becomes of a function, by its full name."""
    module, _, entry = name.rpartition(".")
    return REPLACEMENTS.get(module, {}).get(entry)


def install(complete: Any = None) -> None:
    """Teach every module that has been imported by now, and one that is about to be."""
    if len(_diverted) == len(TOPICS):
        return
    for name, topic in TOPICS.items():
        module = sys.modules.get(name)
        if name in _diverted or module is None or (module is not complete and is_being_imported(module)):
            continue
        _diverted.add(name)
        importlib.import_module(topic)
        for entry, answer in REPLACEMENTS.get(name, {}).items():
            original = getattr(module, entry, None)
            if original is None or (answer.ours is None and answer.kind == "differentiates"):
                continue
            if isinstance(original, type):  # it stays what it is, for whoever asks whether something is one of it
                original = vars(original).get("__init__")
            if isinstance(original, np.ufunc):
                continue  # NumPy dispatches it, and its refusal asks for the answer
            if isinstance(original, FunctionType) and not inspect.isgeneratorfunction(original):
                divert(original, answer, f"{name}.{entry}")
            elif original is not None:
                set_attribute(module, entry, functools.wraps(original)(chosen(original, answer, f"{name}.{entry}")))


def is_being_imported(module: Any) -> bool:
    """Whether a module is not complete yet."""
    return bool(getattr(vars(module).get("__spec__"), "_initializing", False))


def divert(original: FunctionType, answer: Answer, name: str) -> None:
    """Let a function choose, each time it is called, between what it did and the answer."""
    code = original.__code__
    plain = FunctionType(code, original.__globals__, original.__name__, original.__defaults__, original.__closure__)
    plain.__kwdefaults__, plain.__annotations__ = original.__kwdefaults__, original.__annotations__
    shown = vars(original).get("__wrapped__", MISSING if hasattr(original, "__signature__") else plain)
    new = _calling(len(code.co_freevars)).replace(
        co_name=code.co_name, co_qualname=code.co_qualname, co_freevars=code.co_freevars
    )
    WholeFunction(REPLACED_PATCH, original, "", (new, None, {"_chosen": chosen(plain, answer, name)}, shown))


def set_attribute(owner: Any, name: str, value: Any) -> None:
    """Set something in the place of a compiled function, or of a generator, on its module or class."""
    Attribute(REPLACED_PATCH, owner, name, value)


def chosen(original: Callable[..., Any], answer: Answer, name: str) -> Callable[..., Any]:
    """What chooses, each time it is called, between a function and the answer."""
    return functools.partial(_choose, original, answer, name)


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


def _choose(original: Callable[..., Any], answer: Answer, name: str, /, *args: Any, **kwargs: Any) -> Any:
    if answer.calls_back and answer.ours is not None:
        return answer.ours(original, *args, **kwargs) if LOCAL.depth else original(*args, **kwargs)
    if not (holds_traced(args) or (kwargs and holds_traced(kwargs.values()))):
        return original(*args, **kwargs)
    traced = [x for x in flatten((args, kwargs))[0] if isinstance(x, Traced)]
    in_batch = not answer.fills and all([x.traced_by.lead and not is_differentiated(x) for x in traced])
    if answer.kind == "constant" or (in_batch and all([dtype_of(x).char not in REALS for x in traced])):
        return as_constant(name, original, args, kwargs)
    in_parts = answer.in_parts or _fills(original, answer, args, kwargs)
    if not in_parts or (args and isinstance(args[0], Traced) and not is_inexact(args[0])):
        # with its own checks and precision, unless a derivative has to look inside
        from ...capture.environment.randomness import (
            SettingAside,  # brings numpy.random, which NumPy itself imports late
        )

        with SettingAside():
            found = as_one_step(name, original, args, kwargs)
        if found is not NotImplemented:
            return found
    try:
        return answer.ours(*args, **kwargs) if answer.ours is not None else _refuse(answer, name)
    except UnsupportedError:
        if not in_batch:
            raise
        return as_constant(name, original, args, kwargs)  # nobody asks for its derivative


CALLS[_choose.__code__] = "original"
REALS = "fdgFDG"
"""What ours are written for. Of integers, truth values and half precision the original makes what it likes."""


def _fills(original: Callable[..., Any], answer: Answer, args: Any, kwargs: Any) -> bool:
    """Whether a call is given an array to write to that others hold."""
    if not answer.fills:
        return False
    given = inspect.signature(original).bind_partial(*args, **kwargs).arguments.get(answer.fills)
    return isinstance(given, Traced)


def _refuse(answer: Answer, name: str) -> NoReturn:
    raise UnsupportedError(message(f"{name} is not differentiated: {answer.note}.", fix=answer.fix))
