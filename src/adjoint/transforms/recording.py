"""Running a user's function on traced inputs, and what its results depend on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.callsite import stands_for_the_user
from ..core.careful import pull_careful
from ..core.errors import InputError, OutputError, TangentError, message
from ..core.finite import all_finite
from ..core.float_warnings import quiet, redirect, restore
from ..core.folding import fold
from ..core.reverse import ReverseTrace, pull
from ..core.swallowed import behind
from ..core.trace import is_differentiated
from ..core.traced import FLOAT64, LOCAL, Traced, snapshot
from ..core.tree import flatten, paths
from ..core.values import Value, cannot_branch, cast, describe, dtype_of, is_python, plain, shape_of, zeros_for
from ..ir.capture import is_captured
from ..numpy.naming import prepare
from ..numpy.tracing import enter, leave
from ..ops.shape import item
from ..rules.keeping import Ghost


def checked_inputs(leaves: list[Any], args: tuple[Any, ...], walk: str) -> list[Value]:
    """The values to differentiate at, which are the leaves of `args`."""
    return [checked_input(x, walk, (args, k)) for k, x in enumerate(leaves)]


def checked_input(x: Any, walk: str, place: tuple[tuple[Any, ...], int] | None = None) -> Value:
    """The value to differentiate at: a Python float, or an array of real or complex numbers."""
    kind = type(x)
    if kind is float or (kind is np.ndarray and x.dtype is FLOAT64):
        return x
    if kind is complex:
        return np.complex128(x)
    if isinstance(x, Traced):
        return _checked_kind(snapshot(x), walk, place)
    if isinstance(x, np.ndarray) and kind is not np.ndarray and kind is not np.memmap:
        raise InputError(
            message(
                f"{walk} does not differentiate with respect to subclasses of ndarray: their arithmetic is their own.",
                got=f"{kind.__module__}.{kind.__name__}",
                fix="Pass  x.filled(0.0),  and the mask as another argument."
                if isinstance(x, np.ma.MaskedArray)
                else "Pass  np.asarray(x).",
            )
        )
    if isinstance(x, (np.ndarray, np.generic)):
        x = _checked_kind(x, walk, place)
        if kind is np.float64:
            return float(x)
        if isinstance(x, np.ndarray) and not x.dtype.isnative:
            x = x.astype(x.dtype.newbyteorder("="))
        return np.asarray(x) if isinstance(x, np.ndarray) else x
    raise InputError(_refusal(x, walk, place))


def _checked_kind(x: Any, walk: str, place: tuple[tuple[Any, ...], int] | None) -> Any:
    if dtype_of(x).kind not in "fc":
        raise InputError(_refusal(x, walk, place))
    return x


def _refusal(x: Any, walk: str, place: tuple[tuple[Any, ...], int] | None) -> str:
    inside = paths(place[0])[place[1]] if place else ""
    other = (
        "; keep what is not differentiated in an argument of its own."
        if inside
        else "; choose the arguments to differentiate with  argnums."
    )
    return message(
        f"{walk} needs real or complex numbers to differentiate with respect to.",
        got=describe(x) + (f" at {inside}" if inside else ""),
        fix=_remedy(x) + other,
    )


def _remedy(x: Any) -> str:
    """What to pass instead of an argument that cannot be differentiated."""
    if type(x).__module__.partition(".")[0] == "pandas":
        return "Pass  x.to_numpy(float)"
    if isinstance(x, (Traced, np.ndarray, np.generic, str, bytes, int, range)):
        return "Pass a float (3.0, not 3) or  x.astype(float)"
    if isinstance(x, (set, frozenset)) or hasattr(x, "__next__"):
        return "Pass a list or a tuple"
    if callable(x):
        return "Pass the numbers, and the function in an argument of its own"
    return f"Make  {type(x).__name__}  a dataclass, or register it with  ad.tree.register"


def checked_function(fun: Any, walk: str, example: str = "") -> None:
    """Refuse what cannot be called, before anything else is said about it."""
    if not callable(fun):
        raise InputError(
            message(f"{walk} needs a function.", got=describe(fun), fix=f"Write  {example or f'ad.{walk}(f)(x)'}.")
        )


Evaluation = Callable[[tuple[Any, ...], dict[str, Any]], Any]
"""A function of the arguments by position and those by name."""


def entrance(evaluated: Evaluation, wanted: Callable[[Any], Any] | None = None) -> Callable[..., Any]:
    """What a transformation returns: `evaluated(args, kwargs)`, or what is wanted of it, as the user calls it.

    Nans are looked for if that is asked for, in all that was evaluated, and errors leave without the library's frames.
    """

    def transformed(*args: Any, **kwargs: Any) -> Any:
        try:
            if LOCAL.seeks_nans:
                found = looking_for_nans(lambda *a, **k: evaluated(a, k), args, kwargs)
            else:
                found = evaluated(args, kwargs)
            return found if wanted is None else wanted(found)
        except Exception as error:
            fold(error)
            raise

    return transformed


def looking_for_nans(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call, unless it has a nan."""
    from ..core.nans import looking_for_nans  # seldom needed, so not when the library is imported

    return looking_for_nans(function, args, kwargs)


def run(f: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call the user's function while NumPy's array makers know traced values."""
    outside = LOCAL.depth
    token = None
    if not outside:
        prepare(f)
        token = redirect()
    try:
        enter(outside)
        return f(*args, **kwargs)
    except Exception as error:
        # NumPy hides a refused conversion behind "setting an array element with a sequence", compiled code likewise
        refusal = behind(error)
        if refusal is None or refusal is error:
            raise
        raise refusal from None
    finally:
        restore(token)
        try:
            leave(outside)
        except BaseException:  # Ctrl-C just now
            leave(outside)
            raise


stands_for_the_user(run.__code__)


def own_copy(x: Value) -> Value:
    """An array of its own: somebody else may write to this one."""
    return x.copy() if type(x) is np.ndarray else x


def released(x: Any, trace: Any) -> Any:
    """A result without this trace's handle; a number may be Python's, although it stands for one of NumPy's."""
    return snapshot(x.value if x.walk is trace else x) if isinstance(x, Traced) else x


def finished(x: Any, trace: Any) -> Any:
    """A result as the caller should see it: without this trace's handle."""
    if isinstance(x, Traced):
        value = released(x, trace)
        return np.float64(value) if type(value) is float and not is_python(x) else value
    return x


def pair(result: Any) -> tuple[Any, Any]:
    """What a function with `has_aux=True` returned."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise OutputError(
            message(
                "With has_aux=True the function has to return a pair (value, aux).",
                got=describe(result),
                fix="Write  return value, aux.",
            )
        )
    return result


def output_leaves(result: Any, walk: str) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """The leaves of what the function returned, each a number or an array."""
    if type(result) is Traced:
        return [result], _only
    leaves, unflatten = flatten(result)
    for leaf in leaves:
        if isinstance(leaf, (Traced, np.ndarray, np.generic, bool, int, float, complex)):
            continue
        raise OutputError(
            message(
                f"{walk} needs a function that returns numbers, arrays or containers of them.",
                got=describe(leaf),
                fix="A generator or coroutine has to be run inside the function; to return anything else as well, "
                "use  has_aux=True.",
            )
        )
    return leaves, unflatten


def _only(leaves: list[Any]) -> Any:
    return leaves[0]


@quiet
def pulled_back(
    trace: ReverseTrace, seeds: list[tuple[int, Value]], inputs: list[Value], *, is_inside: bool = False
) -> list[Value]:
    """Cotangents of the inputs, which are the first places of the trace; zeros where nothing arrives.

    The plain walk is tried first. If a result is not finite, or an outer derivative is watching (so that structural
    zeros matter to it too), the careful walk is the one that counts. Inside a step of another trace, what is not
    decided here stays nan: that trace knows more of the cotangents.
    """
    is_watched = _is_watched(trace, seeds, inputs)
    found = None if is_watched else _plainly_pulled(trace, seeds, len(inputs))
    is_large = not is_inside and not _is_finite(trace, seeds)
    if found is None or is_large:
        from ..rules.again import WalkBack  # seldom needed, so not when the library is imported
        from ..rules.limits import decided
    if found is not None and is_large:
        found = decided(found, [None] * len(found), WalkBack, trace, seeds, inputs, run, is_large=True)
    elif found is None:
        found, doubts = pull_careful(trace, seeds, len(inputs), is_asked=not is_inside)
        if is_inside:
            found = [
                g if d is None or g is None else np.where(d, np.nan, g) for g, d in zip(found, doubts, strict=True)
            ]
        else:
            found = decided(found, doubts, WalkBack, trace, seeds, inputs, run, is_large=is_large)
    arrays: list[Value] = []
    for k, g in enumerate(found):
        if g is None:
            found[k] = zeros_for(inputs[k])
        elif type(g) is np.ndarray:  # a result shares memory with nothing else: neither a seed nor another result
            if g.base is not None or any([g is seed for _, seed in seeds]) or any([g is other for other in arrays]):
                found[k] = g.copy()
            arrays.append(g)
    return found


def _is_watched(trace: ReverseTrace, seeds: list[tuple[int, Value]], inputs: list[Value]) -> bool:
    """Whether a derivative further out is looking on, or a program that cannot choose between the two walks."""
    for x in inputs:
        if type(x) not in PLAIN and _is_watching(x):
            return True
    for place, g in seeds:
        out = trace[place][3]
        if (type(g) not in PLAIN and _is_watching(g)) or (type(out) not in PLAIN and _is_watching(out)):
            return True
    return False


def _is_finite(trace: ReverseTrace, seeds: list[tuple[int, Value]]) -> bool:
    """Whether all that was computed is finite; yes, if a program cannot ask."""
    if not seeds:
        return True
    if len(seeds) == 1 and type(out := trace[seeds[0][0]][3]) is float:
        return math.isfinite(out)
    outs = [trace[place][3] for place, _ in seeds]
    known = [out for out in outs if type(out) is not Ghost]
    return any(map(cannot_branch, known)) or all_finite(known)


PLAIN = frozenset((float, np.ndarray))


def _is_watching(x: Value) -> bool:
    return isinstance(x, Traced) and (is_differentiated(x) or cannot_branch(x))


def _plainly_pulled(trace: ReverseTrace, seeds: list[tuple[int, Value]], count: int) -> list[Value | None] | None:
    try:
        found = pull(trace, seeds, count)
    except (ZeroDivisionError, OverflowError):
        return None
    return found if all_finite(found) else None


def check_numbers(x: Any, value: Value, what: str) -> None:
    """Refuse a tangent or cotangent that is a text, an object or the like."""
    if not isinstance(x, Traced) and dtype_of(x).kind not in "fciub":
        raise TangentError(
            message(
                f"{what} has to be a number or an array of numbers.",
                got=f"{describe(x)} for {describe(value)}",
                fix="Give what its value could be moved by: a number for a number, an array for an array.",
            )
        )


def checked_cotangent(g: Any, out: Value, walk: str) -> Value:
    """A cotangent with the shape and dtype of its value; conjugated, as the walk uses plain transposes."""
    if type(g) is float and type(out) is float:
        return g
    check_numbers(g, out, f"The cotangent given to {walk}")
    if shape_of(g) != shape_of(out):
        raise TangentError(
            message(
                f"The cotangent given to {walk} does not have the shape of its value.",
                got=f"{describe(g)} for {describe(out)}",
                fix="Give an array of the same shape as the result.",
            )
        )
    g = g if isinstance(g, Traced) else np.asarray(g)
    want = dtype_of(out)
    if dtype_of(g).kind == "c":
        g = np.conjugate(g) if want.kind == "c" else np.real(g)
    return cast(g, want)


def of_kind(x: Traced, given: Any) -> Any:
    """While a program is captured: a Python number if a Python number was given, NumPy's number if that was."""
    mine, its = plain(x), plain(given)
    if np.ndim(mine) or isinstance(its, np.ndarray) or not is_captured(x):
        return x
    if isinstance(its, np.generic):
        return x[()] if isinstance(mine, np.ndarray) else x  # type: ignore[index]
    return item(x) if isinstance(mine, (np.ndarray, np.generic)) else x


def presented(g: Value, given: Any) -> Any:
    """A gradient as the user should see it: the kind of number that was given, conjugated back."""
    kind = type(given)
    if kind is np.ndarray and type(g) is np.ndarray and g.dtype is FLOAT64:
        return g
    if kind is Traced and is_captured(given):
        kind = type(plain(given))
        if isinstance(g, Traced):
            return of_kind(np.conjugate(g) if g.dtype.kind == "c" else g, given)
    if kind is float:
        return g if type(g) is float or isinstance(g, Traced) else float(g)
    if isinstance(g, Traced):
        return np.conjugate(g) if g.dtype.kind == "c" else g
    if kind is complex:
        return complex(g).conjugate()
    if kind is np.ndarray:
        g = np.asarray(g)
        return np.conjugate(g) if g.dtype.kind == "c" else g
    g = dtype_of(given).type(g)
    return np.conjugate(g) if g.dtype.kind == "c" else g
