"""What users hand in and get back, looked at first: inputs, functions, results, tangents and cotangents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import AdjointError, InputError, OutputError, TangentError, message
from ...core.hints import public_name
from ...core.traced import ARRAY, FLOAT64, Traced, kind_of, settled, snapshot
from ...core.tree import flatten, holder, paths, same_structure, ways
from ...core.values import Value, cast, concrete, describe, dtype_of, shape_of
from ...ir.counts import EXACT, Count


def given_leaves(leaves: list[Any], args: tuple[Any, ...]) -> list[Any]:
    """The leaves of `args` as they count for a derivative: of a real function a Python integer, 3, is 3.0.

    A field of a dataclass stays an integer, which may be a setting, and so does one that no float is equal to.
    """
    return [_as_real(settled(x), (args, k)) for k, x in enumerate(leaves)]


def _as_real(x: Any, place: tuple[tuple[Any, ...], int]) -> Any:
    if type(x) is not int and (not isinstance(x, Count) or kind_of(x) is not int):
        return x
    if abs(concrete(x)) > EXACT or _is_field(*place):
        return x
    return float(x) if type(x) is int else x * 1.0


def checked_inputs(leaves: list[Any], args: tuple[Any, ...], transform: str) -> list[Value]:
    """The values to differentiate at, which are the leaves of `args`."""
    return [
        x if type(x) is ARRAY and x.dtype is FLOAT64 else checked_input(x, transform, (args, k))
        for k, x in enumerate(leaves)
    ]


def checked_input(x: Any, transform: str, place: tuple[tuple[Any, ...], int] | None = None) -> Value:
    """The value to differentiate at: a Python float, or an array of real or complex numbers."""
    kind = type(x)
    if kind is float or (kind is ARRAY and x.dtype is FLOAT64):
        return x
    if kind is complex:
        return np.complex128(x)
    if isinstance(x, Traced):
        return _checked_kind(snapshot(x), transform, place)
    refuse_subclass(x, f"{transform} does not differentiate with respect to")
    if isinstance(x, (np.ndarray, np.generic)):
        x = _checked_kind(x, transform, place)
        if kind is np.float64:
            return float(x)
        if isinstance(x, np.ndarray) and not x.dtype.isnative:
            x = x.astype(x.dtype.newbyteorder("="))
        return np.asarray(x) if isinstance(x, np.ndarray) else x
    raise InputError(_refusal(x, transform, place))


def refuse_subclass(x: Any, refusal: str) -> None:
    """Refuse masked arrays, matrices and the like: as plain arrays they would be other numbers, without a word."""
    kind = type(x)
    if kind is ARRAY or issubclass(kind, Traced) or not isinstance(x, np.ndarray) or kind is np.memmap:
        return
    raise InputError(
        message(
            f"{refusal} subclasses of ndarray: their arithmetic is their own.",
            got=f"{kind.__module__}.{kind.__name__}",
            fix="Pass  x.filled(0.0),  and the mask as another argument."
            if isinstance(x, np.ma.MaskedArray)
            else "Pass  np.asarray(x).",
        )
    )


def _checked_kind(x: Any, transform: str, place: tuple[tuple[Any, ...], int] | None) -> Any:
    if dtype_of(x).kind not in "fc":
        raise InputError(_refusal(x, transform, place))
    return x


def _refusal(x: Any, transform: str, place: tuple[tuple[Any, ...], int] | None) -> str:
    inside = paths(place[0])[place[1]] if place else ""
    other = "; choose the arguments to differentiate with  argnums."
    if place and inside:
        other = f"; keep what is not differentiated in an argument of its own{_as_a_setting(x, *place)}."
    first = f"{transform} needs real or complex numbers to differentiate with respect to"
    if isinstance(x, (Traced, np.ndarray, np.generic)) and dtype_of(x).kind in "iu":
        first += ", and integers are none: pass  x.astype(float)"
    return message(
        f"{first}.",
        got=describe(x) + (f" at {inside}" if inside else ""),
        fix=_remedy(x) + other,
    )


def _as_a_setting(x: Any, args: tuple[Any, ...], k: int) -> str:
    """How the field of a dataclass that holds an integer would be none of its leaves."""
    if type(x) is not int or not _is_field(args, k):
        return ""
    return f", or make it a setting,  {ways(args)[k][-1]}: int = ad.tree.static()"


def _is_field(args: tuple[Any, ...], k: int) -> bool:
    """Whether a leaf is a field of a dataclass."""
    way = ways(args)[k]
    return len(way) > 1 and hasattr(type(holder(args, way)), "__dataclass_fields__")


def _remedy(x: Any) -> str:
    """What to pass instead of an argument that cannot be differentiated."""
    if type(x).__module__.partition(".")[0] == "pandas":
        return "Pass  x.to_numpy(float)"
    if type(x).__module__.partition(".")[0] == "polars":
        return "Pass  x.to_numpy()"
    if isinstance(x, (Traced, np.ndarray, np.generic, str, bytes, int, range)):
        return "Pass a float or  x.astype(float)"
    if isinstance(x, (set, frozenset)) or hasattr(x, "__next__"):
        return "Pass a list or a tuple"
    if callable(x):
        return "Pass the numbers, and the function in an argument of its own"
    if hasattr(x, "__array__"):  # a tensor of another library
        return "Pass  np.asarray(x)"
    return f"Make  {type(x).__name__}  a dataclass, or register it with  ad.tree.register"


def checked_function(fun: Any, transform: str, example: str = "") -> None:
    """Refuse what cannot be called, before anything else is said about it."""
    if not callable(fun):
        raise InputError(
            message(
                f"{transform} needs a function.",
                got=describe(fun),
                fix=f"Write  {example or f'ad.{public_name(transform)}(f)(x)'}.",
            )
        )


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


def output_leaves(result: Any, transform: str) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """The leaves of what the function returned, each a number or an array."""
    if type(result) is Traced:
        return [result], _only
    leaves, unflatten = flatten(result)
    for leaf in leaves:
        if isinstance(leaf, (Traced, np.ndarray, np.generic, bool, int, float, complex)):
            continue
        raise OutputError(
            message(
                f"{transform} needs a function that returns numbers, arrays or containers of them.",
                got=describe(leaf),
                fix="A generator or coroutine has to be run inside the function; to return anything else as well, "
                "use  has_aux=True.",
            )
        )
    return leaves, unflatten


def _only(leaves: list[Any]) -> Any:
    return leaves[0]


def check_tuples(primals: Any, tangents: Any, transform: str) -> None:
    """Refuse a single array, which would be taken apart as if it were the arguments."""
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TangentError(
            message(
                f"{transform} takes the arguments as one tuple, and their tangents as another.",
                got=f"{describe(primals)} and {describe(tangents)}",
                fix=f"Write  ad.{transform}(f, (x,), (dx,)).",
            )
        )


def checked_tangents(primals: Any, tangents: Any, given: list[Any], transform: str) -> list[Value]:
    """The leaves of the tangents, each with the shape and dtype of its primal."""
    moves, _ = flatten(tangents)
    if not same_structure(primals, tangents):
        raise TangentError(
            message(
                f"The tangents given to {transform} do not have the structure of the primals.",
                got=f"{type(tangents).__name__} of {len(moves)} leaves for {len(given)}{_missing(primals, tangents)}",
                fix="Give tuples of the same containers, as in  ad.jvp(f, (x, y), (dx, dy)).",
            )
        )
    return [_checked_tangent(t, x, transform) for t, x in zip(moves, given, strict=True)]


def _missing(primals: Any, tangents: Any) -> str:
    """The leaves that only one of the two has, for a message."""
    have, want = ways(tangents), ways(primals)
    without = [f"primals{_indexed(way)}" for way in want if way not in have]
    beyond = [f"tangents{_indexed(way)}" for way in have if way not in want]
    return (f", none for {', '.join(without)}" if without else "") + (
        f", {', '.join(beyond)} for no primal" if beyond else ""
    )


def _indexed(way: tuple[Any, ...]) -> str:
    return "".join([f"[{step!r}]" for step in way])


def note_one_tuple(error: TypeError, primals: tuple[Any, ...], transform: str) -> None:
    """Say beside an error of the user's function that its arguments may have been meant by the one tuple it got."""
    if len(primals) == 1 and type(primals[0]) is tuple and not isinstance(error, AdjointError):
        error.add_note(
            "The function was called with one tuple. If that was meant as its arguments: "
            f"{transform} takes them one by one, as  ad.{transform}(f, x, y)."
        )


def _checked_tangent(t: Any, x: Value, transform: str) -> Value:
    if type(t) in (float, int) and type(concrete(x)) is float:
        return float(t)
    check_numbers(t, x, f"A tangent given to {transform}")
    if shape_of(t) != shape_of(x):
        raise TangentError(
            message(
                f"A tangent given to {transform} does not have the shape of its primal.",
                got=f"{describe(t)} for {describe(x)}",
                fix="Give an array of the same shape.",
            )
        )
    t = snapshot(t) if isinstance(t, Traced) else np.asarray(t)
    if dtype_of(t).kind == "c" and dtype_of(x).kind != "c":
        raise TangentError(
            message(
                "A real argument cannot move in a complex direction.",
                got=f"{describe(t)} for {describe(x)}",
                fix="Give a real tangent, or a complex primal.",
            )
        )
    return cast(t, dtype_of(x))


def check_numbers(x: Any, value: Value, what: str) -> None:
    """Refuse a tangent or cotangent that is a text, an object, a masked array or the like."""
    if type(x) is not ARRAY and type(x) is not float:
        refuse_subclass(x, f"{what} cannot be one of the")
    if not isinstance(x, Traced) and dtype_of(x).kind not in "fciub":
        raise TangentError(
            message(
                f"{what} has to be a number or an array of numbers.",
                got=f"{describe(x)} for {describe(value)}",
                fix="Give what its value could be moved by: a number for a number, an array for an array.",
            )
        )


def checked_cotangent(g: Any, out: Value, transform: str) -> Value:
    """A cotangent with the shape and dtype of its value; conjugated, as the sweep uses plain transposes."""
    if type(g) is float and type(out) is float:
        return g
    check_numbers(g, out, f"The cotangent given to {transform}")
    if shape_of(g) != shape_of(out):
        raise TangentError(
            message(
                f"The cotangent given to {transform} does not have the shape of its value.",
                got=f"{describe(g)} for {describe(out)}",
                fix="Give an array of the same shape as the result.",
            )
        )
    g = g if isinstance(g, Traced) else np.asarray(g)
    want = dtype_of(out)
    if dtype_of(g).kind == "c":
        g = np.conjugate(g) if want.kind == "c" else np.real(g)
    return cast(g, want)
