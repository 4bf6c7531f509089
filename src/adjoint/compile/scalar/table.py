"""Every elementwise primitive that has machine code of its own, by name, with the types it takes and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..emit import Emitter, is_known
from . import basic as basic
from . import division as division
from . import mathematics as math_
from .casting import cast
from .mathematics import libm
from .special import FUNCTIONS, special

BOOL, INT32, INT64 = np.dtype(np.bool), np.dtype(np.int32), np.dtype(np.int64)
CHEAP, MEDIUM, DEAR = "cheap", "medium", "dear"


class Loop(NamedTuple):
    """The types of one application: of each operand as `emit` wants it, the type `emit` is told, the result's."""

    operands: tuple[np.dtype, ...]
    dtype: np.dtype
    result: np.dtype


Resolve = Callable[[tuple[Any, ...]], Loop | None]


@dataclass(frozen=True)
class Scalar:
    """The code of an elementwise primitive for one element.

    `scalar(e, args, dtype, **params)` writes it: `args` are registers or literals of the types `loop` names, the
    register of the result comes back. `loop` is None where NumPy has to do it (complex, float16, objects, errors).
    """

    name: str
    emit: basic.Emit
    resolve: Resolve
    cost: str
    kinds: str

    def __call__(self, e: Emitter, args: list[str], dtype: np.dtype, /, **params: Any) -> str:
        """Write the code; the register of the result."""
        return self.emit(e, args, dtype, **params)

    def loop(self, dtypes: Sequence[Any], literals: Sequence[Any] = (), /, **params: Any) -> Loop | None:
        """The types for operands of these types; a Python number's is `int`, `float` or `bool`, as it has none.

        `literals` holds the values of operands that are known now, None for the others.
        """
        if self.name == "astype":
            return _conversion(dtypes[0], np.dtype(params["dtype"]))
        found = self.resolve(tuple(dtypes))
        if found is None or found.dtype.kind not in self.kinds or not _known(*found.operands, found.result):
            return None
        if self.name == "power" and found.dtype.kind == "i" and not _never_negative(literals):
            return None  # NumPy raises for negative exponents
        return found


def _conversion(from_dtype: Any, to_dtype: np.dtype) -> Loop | None:
    from_dtype = np.dtype(from_dtype)
    return Loop((from_dtype,), from_dtype, to_dtype) if _known(from_dtype, to_dtype) else None


def _known(*dtypes: np.dtype) -> bool:
    return all([is_known(d) for d in dtypes])


def _never_negative(literals: Sequence[Any]) -> bool:
    return len(literals) > 1 and literals[1] is not None and literals[1] >= 0


def by_ufunc(ufunc: np.ufunc, *, arity: int = 0) -> Resolve:
    """The types NumPy itself chooses; operands of different types (int64 < uint64) are left to it."""

    @cache
    def resolve(dtypes: tuple[Any, ...]) -> Loop | None:
        operands = dtypes * (arity or 1)
        try:
            found = ufunc.resolve_dtypes((*operands, *[None] * ufunc.nout))  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return None
        chosen = tuple(found[: len(dtypes)])
        if any([d != chosen[0] for d in chosen]):
            return None
        return Loop(chosen, chosen[0], found[ufunc.nin])

    return resolve


def by_scipy(name: str) -> Resolve:
    """The types SciPy chooses for its function, which is looked up when it is first met."""

    @cache
    def resolve(dtypes: tuple[Any, ...]) -> Loop | None:
        import scipy.special

        return by_ufunc(getattr(scipy.special, name))(dtypes)

    return resolve


@cache
def same(dtypes: tuple[Any, ...]) -> Loop | None:
    """The argument's type for everything."""
    dtype = np.dtype(dtypes[0])
    return Loop((dtype,), dtype, dtype)


_PAIR = by_ufunc(np.maximum)


@cache
def choosing(dtypes: tuple[Any, ...]) -> Loop | None:
    """`where`: a condition, and two values of one type."""
    found = _PAIR(dtypes[1:])
    return found and Loop((BOOL, *found.operands), found.dtype, found.dtype)


@cache
def clipping(dtypes: tuple[Any, ...]) -> Loop | None:
    """`clip`: three values of one type."""
    raised = _PAIR(dtypes[:2])
    found = raised and _PAIR((raised.dtype, dtypes[2]))
    return found and Loop((found.dtype,) * 3, found.dtype, found.dtype)


@cache
def scaling(dtypes: tuple[Any, ...]) -> Loop | None:
    """`ldexp`: a float and an integer."""
    try:
        found = np.ldexp.resolve_dtypes((*dtypes, None))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return Loop((found[0], INT64), found[0], found[2])


_FREXP = by_ufunc(np.frexp)


@cache
def splitting(dtypes: tuple[Any, ...]) -> Loop | None:
    """The exponent of a float, as int32."""
    found = _FREXP(dtypes)
    return found and Loop(found.operands, found.dtype, INT32)


SCALARS: dict[str, Scalar] = {}
"""The elementwise primitives with machine code, by the name they have in the catalogue."""


def _enter(name: str, emit: basic.Emit, cost: str, kinds: str, resolve: Resolve | None = None) -> None:
    SCALARS[name] = Scalar(name, emit, resolve or by_ufunc(getattr(np, name)), cost, kinds)


for _name, _emit, _cost, _kinds in (
    ("add", basic.ADD, CHEAP, "fiub"),
    ("subtract", basic.SUBTRACT, CHEAP, "fiu"),
    ("multiply", basic.MULTIPLY, CHEAP, "fiub"),
    ("divide", basic.DIVIDE, MEDIUM, "f"),
    ("negative", basic.negate, CHEAP, "fiu"),
    ("positive", basic.identity, CHEAP, "fiu"),
    ("conjugate", basic.identity, CHEAP, "fiu"),
    ("reciprocal", basic.reciprocal, MEDIUM, "fiu"),
    ("absolute", basic.absolute, CHEAP, "fiub"),
    ("fabs", basic.intrinsic("fabs"), CHEAP, "f"),
    ("sqrt", basic.intrinsic("sqrt"), MEDIUM, "f"),
    ("copysign", basic.intrinsic("copysign"), CHEAP, "f"),
    ("floor", basic.intrinsic("floor", whole=basic.identity), CHEAP, "fiub"),
    ("ceil", basic.intrinsic("ceil", whole=basic.identity), CHEAP, "fiub"),
    ("trunc", basic.intrinsic("trunc", whole=basic.identity), CHEAP, "fiub"),
    ("rint", basic.intrinsic("rint"), CHEAP, "f"),
    ("sign", basic.sign, CHEAP, "fiu"),
    ("heaviside", basic.heaviside, CHEAP, "f"),
    ("maximum", basic.MAXIMUM, CHEAP, "fiub"),
    ("minimum", basic.MINIMUM, CHEAP, "fiub"),
    ("fmax", basic.extreme("gt", over_nan=True), CHEAP, "fiub"),
    ("fmin", basic.extreme("lt", over_nan=True), CHEAP, "fiub"),
    ("equal", basic.comparison("eq"), CHEAP, "fiub"),
    ("not_equal", basic.comparison("ne"), CHEAP, "fiub"),
    ("less", basic.comparison("lt"), CHEAP, "fiub"),
    ("less_equal", basic.comparison("le"), CHEAP, "fiub"),
    ("greater", basic.comparison("gt"), CHEAP, "fiub"),
    ("greater_equal", basic.comparison("ge"), CHEAP, "fiub"),
    ("isnan", basic.isnan, CHEAP, "fiub"),
    ("isinf", basic.isinf, CHEAP, "fiub"),
    ("isfinite", basic.isfinite, CHEAP, "fiub"),
    ("signbit", basic.signbit, CHEAP, "f"),
    ("logical_and", basic.logical("and"), CHEAP, "fiub"),
    ("logical_or", basic.logical("or"), CHEAP, "fiub"),
    ("logical_xor", basic.logical("xor"), CHEAP, "fiub"),
    ("logical_not", basic.logical_not, CHEAP, "fiub"),
    ("bitwise_and", basic.binary("", "and", boolean="and"), CHEAP, "iub"),
    ("bitwise_or", basic.binary("", "or", boolean="or"), CHEAP, "iub"),
    ("bitwise_xor", basic.binary("", "xor", boolean="xor"), CHEAP, "iub"),
    ("invert", basic.invert, CHEAP, "iub"),
    ("left_shift", basic.left_shift, CHEAP, "iu"),
    ("right_shift", basic.right_shift, CHEAP, "iu"),
    ("bitwise_count", basic.bitwise_count, CHEAP, "iub"),
    ("floor_divide", division.floor_divide, DEAR, "fiu"),
    ("remainder", division.remainder, DEAR, "fiu"),
    ("fmod", division.fmod, DEAR, "fiu"),
    ("power", division.power, DEAR, "fiu"),
    ("float_power", division.float_power, DEAR, "f"),
    ("deg2rad", math_.scaled(np.pi, 180.0), CHEAP, "f"),
    ("rad2deg", math_.scaled(180.0, np.pi), CHEAP, "f"),
    ("nextafter", libm("nextafter"), DEAR, "f"),
    ("spacing", math_.spacing, DEAR, "f"),
    ("logaddexp", math_.logaddexp, DEAR, "f"),
    ("logaddexp2", math_.logaddexp2, DEAR, "f"),
):  # fmt: skip
    _enter(_name, _emit, _cost, _kinds)

LIBM = {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "cbrt": "cbrt", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "arctan2": "atan2", "hypot": "hypot", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh",
    "arccosh": "acosh", "arctanh": "atanh",
}  # fmt: skip
"""NumPy's names of functions, to the C library's."""

for _name, _function in LIBM.items():
    _enter(_name, libm(_function), DEAR, "f")

for _name, _emit, _cost, _kinds, _resolve in (
    ("square", basic.square, CHEAP, "fiub", by_ufunc(np.multiply, arity=2)),
    ("real", basic.identity, CHEAP, "fiub", same),
    ("imag", basic.imag, CHEAP, "fiub", same),
    ("stop_gradient", basic.identity, CHEAP, "fiub", same),
    ("astype", basic.astype, CHEAP, "fiub", same),
    ("where", basic.where, CHEAP, "fiub", choosing),
    ("clip", basic.clip, CHEAP, "fiub", clipping),
    ("ldexp", math_.ldexp, DEAR, "f", scaling),
    ("fraction", basic.fraction, CHEAP, "f", by_ufunc(np.modf)),
    ("exponent", math_.exponent, DEAR, "f", splitting),
    ("logistic", math_.logistic, DEAR, "f", by_ufunc(np.exp)),
    ("sech_squared", math_.sech_squared, DEAR, "f", by_ufunc(np.cosh)),
    ("expit", math_.expit, DEAR, "f", by_scipy("expit")),
    ("log_expit", math_.log_expit, DEAR, "f", by_scipy("log_expit")),
    ("logit", math_.logit, DEAR, "f", by_scipy("logit")),
    ("entr", math_.entr, DEAR, "f", by_scipy("entr")),
    ("ndtr", math_.ndtr, DEAR, "f", by_scipy("ndtr")),
    ("exprel", math_.exprel, DEAR, "f", by_scipy("exprel")),
    ("erf", libm("erf"), DEAR, "f", by_scipy("erf")),
    ("erfc", math_.erfc, DEAR, "f", by_scipy("erfc")),
    ("xlogy", math_.times_log("log"), DEAR, "f", by_scipy("xlogy")),
    ("xlog1py", math_.times_log("log1p"), DEAR, "f", by_scipy("xlog1py")),
):
    _enter(_name, _emit, _cost, _kinds, _resolve)

for _name in FUNCTIONS:
    _enter(_name, special(_name), DEAR, "f", by_scipy(_name))

__all__ = ["SCALARS", "Loop", "Scalar", "cast"]
