"""Operands of other packages: tables of pandas, sparse and masked arrays, fractions, numbers of SymPy.

What has the meaning of an array or a number is taken for one. What has an arithmetic of its own, which a traced array
does not have, is refused.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from ...core.calls.current_call import met
from ...core.errors import DerivativeDroppedError, UnsupportedError, message
from ...core.traced import Traced
from ...core.values import describe
from ...host.frames.ownership import package_of
from ..numbers.exact import is_fraction
from .table_methods import note, outermost

_local = threading.local()
NOTHING: tuple[int, dict[int, Any]] = (0, {})


def foreign(x: Any, handle: Any) -> Any:
    """An operand that is neither traced, nor NumPy's, nor Python's: as an array, a number, or `NotImplemented`."""
    if is_fraction(x):
        return float(x)  # as Python does beside floats
    package = type(x).__module__.partition(".")[0]
    if package in ("pandas", "polars"):
        numbers = _of_pandas(x, handle) if package == "pandas" else _of_polars(x)
        if isinstance(numbers, np.ndarray):
            note(numbers, handle)
        return numbers
    if package == "sympy" and getattr(x, "is_number", False):
        return float(x) if x.is_real else complex(x)
    if isinstance(x, np.ndarray) and not _has_arithmetic(type(x)):
        return x
    if _is_masked(x):
        unmasked(x, handle)
        return NotImplemented  # its own operator knows what to do
    if isinstance(x, np.ndarray):
        refuse_arithmetic(type(x), handle)
    return NotImplemented  # sparse matrices know what to do


def _is_masked(x: Any) -> bool:
    """Whether it is a masked array of NumPy's, and no more than that."""
    return type(x).__name__ == "MaskedArray" and type(x) is sys.modules["numpy.ma"].MaskedArray


def unmasked(x: Any, handle: Any) -> Any:
    """The data of a masked array in which nothing is masked; anything else as it is."""
    if not _is_masked(x):
        return x
    if np.any(x.mask):
        refuse_arithmetic(type(x), handle)
    return x.data


def _has_arithmetic(kind: Any) -> bool:
    """Whether a subclass of ndarray computes otherwise than arrays do: masks, units, products of matrices."""
    own = kind.__mro__[: kind.__mro__.index(np.ndarray)]
    return any([name in vars(base) for base in own for name in ARITHMETIC])


ARITHMETIC = ("__array_ufunc__", "__array_function__", "__array_wrap__", "__add__", "__mul__", "__matmul__")
"""What a class has of its own if its arithmetic is its own."""


def refuse_subclasses(kinds: Iterable[type], handle: Any) -> None:
    """Refuse arguments of a function whose classes have an arithmetic of their own: masks would be lost on the way."""
    for kind in kinds:
        is_another = kind is not np.ndarray and issubclass(kind, np.ndarray) and not issubclass(kind, np.memmap)
        if is_another and _has_arithmetic(kind):
            refuse_arithmetic(kind, handle)


def taken(inputs: tuple[Any, ...], handle: Any) -> tuple[Any, ...]:
    """The arguments of a universal function, with operands of other packages as arrays and numbers."""
    return tuple([_taken(x, handle) for x in inputs])


def _taken(x: Any, handle: Any) -> Any:
    kind = type(x)
    if kind is np.ndarray or isinstance(x, (Traced, np.generic, np.memmap)) or kind.__module__ == "builtins":
        return x
    found = foreign(x, handle)
    return unmasked(x, handle) if found is NotImplemented else found


def _of_polars(x: Any) -> Any:
    """The numbers of a column or table, which has no labels."""
    return _numbers_of(x, "polars", "series.cast(pl.Float64)")


def _numbers_of(x: Any, package: str, conversion: str) -> Any:
    """What a column or table holds, as an array of numbers."""
    if not hasattr(x, "to_numpy"):
        return NotImplemented
    numbers = x.to_numpy()
    if numbers.dtype.kind in "fciub":
        return numbers
    kind = type(x).__name__
    raise UnsupportedError(
        message(
            f"A {package} {kind} that does not hold plain numbers cannot be combined with a traced value.",
            got=f"dtype {getattr(x, 'dtype', numbers.dtype)}",
            fix=f"Convert it first, as in  {conversion}.",
        )
    )


def _of_pandas(x: Any, handle: Any) -> Any:
    """The numbers of a table, if all tables that are met have the same labels: a traced array has none to align by."""
    numbers = _numbers_of(x, "pandas", "series.to_numpy(float)")
    if numbers is NotImplemented:
        return NotImplemented
    labels = getattr(x, "index", None)
    if labels is not None:
        check_labels(x, labels, handle)
    return numbers


def check_labels(x: Any, labels: Any, handle: Any) -> None:
    """pandas puts tables together by their labels: refuse where that would not be by position."""
    level, known = getattr(_local, "labels", NOTHING)
    if level != outermost(handle):
        level, known = _local.labels = outermost(handle), {}
    if not known.setdefault(len(labels), labels).equals(labels):
        raise UnsupportedError(
            message(
                "Two pandas objects with different labels meet in a traced function, where they cannot be aligned.",
                got=f"{type(x).__name__} of labels {labels[:3].tolist()}..., not {known[len(labels)][:3].tolist()}...",
                fix="Align them before, as with  other.reindex(table.index),  or use  series.to_numpy().",
            )
        )


def is_sparse(x: Any) -> bool:
    """Whether a value is a sparse matrix or array of SciPy's."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(x))


FIXES = {
    "MaskedArray": "Use  np.where(mask, 0.0, x)  for the data and the mask as plain arrays.",
    "matrix": "Use  np.asarray(m),  and  @  for products of matrices.",
}


def refuse_arithmetic(kind: type, handle: Any) -> NoReturn:
    """Say that a class of arrays cannot be combined with traced values."""
    fix = next((FIXES[base.__name__] for base in kind.__mro__ if base.__name__ in FIXES), "") or _fix_of_subclass(kind)
    if not issubclass(kind, np.ndarray):
        fix = "Use  S.toarray(),  or give the product a rule with  ad.custom_rule:  its VJP is  S.T @ g."
    raise UnsupportedError(
        message(
            f"{_public(kind)} has an arithmetic of its own, which traced values do not take part in.",
            got=f"{describe(handle)} and {kind.__name__}",
            fix=fix,
        )
    )


def _fix_of_subclass(kind: type) -> str:
    """What to write instead of a subclass of arrays: the numbers without what it adds to them, as units."""
    plain = next((f"q.{name}" for name in ("value", "magnitude") if hasattr(kind, name)), "np.asarray(q)")
    return (
        f"Compute with the numbers,  {plain},  and make a  {kind.__name__}  of the result, outside the function;\n"
        "where a package makes it, give the function that calls it a rule with  ad.custom_rule."
    )


def refuse_containers(frame: FrameType, handle: Any) -> None:
    """Refuse to be put into a table or a sparse matrix, whose code asks for an array and takes what it gets for one."""
    module = str(frame.f_globals.get("__name__", ""))
    if module.startswith("scipy.sparse") and not module.startswith("scipy.sparse.linalg"):
        refuse_arithmetic(sys.modules["scipy.sparse"].csr_array, handle)
    if module.startswith("pandas."):
        raise UnsupportedError(
            message(
                "pandas cannot hold traced values.",
                got=describe(handle),
                fix="Compute with arrays,  series.to_numpy(),  and make the table of the result, outside the function.",
            )
        )


def refuse_compiled(frame: FrameType, handle: Any) -> None:
    """Refuse to be taken for memory by numba, which asks an array for its layout before it calls compiled code."""
    if package_of(frame.f_globals) != "numba":
        return
    name = met().call or "A function"
    raise DerivativeDroppedError(
        message(
            f"{name} is compiled by numba, and cannot take a traced value: its derivative would be lost.",
            got=describe(handle),
            fix="Give it a rule with  ad.custom_rule,  or call the function that it was compiled from, its  .py_func.",
        )
    )


def refuse_masked(frame: FrameType, handle: Any) -> None:
    """Refuse to be put into a masked array."""
    if str(frame.f_globals.get("__name__", "")).startswith("numpy.ma."):
        refuse_arithmetic(sys.modules["numpy.ma"].MaskedArray, handle)


def _public(kind: type) -> str:
    parts = [part for part in kind.__module__.split(".") if not part.startswith("_")]
    return ".".join(["np" if part == "numpy" else part for part in parts] + [kind.__name__])


Traced.__array_priority__ = 1000.0  # type: ignore[attr-defined]
Traced.__pandas_priority__ = 10_000  # type: ignore[attr-defined]
