"""The functions of `math` and `cmath` on traced numbers: the numbers and errors are those of `math`, with derivatives.

Both want true numbers and give no hook, so their names stand for these versions while a function is traced (see
`patching/naming.py`). A function is called on the values first, which raises where `math` raises; then a step is taken.
"""

from __future__ import annotations

import cmath
import functools
import math
import sys
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from ...core.primitive import Primitive
from ...core.singular.replaced import ASKS, tell
from ...core.traced import Traced
from ...core.values import concrete, contents, decidable
from ...ops.declare import CATALOGUE, UFUNCS, ratio
from ...ops.shape import astype, item
from ...rules.elementwise import Elementwise
from ...rules.opaque import Opaque
from ...rules.stacking import aligned
from ..dispatch.conversions import refuse_batch

FLOAT, COMPLEX = np.dtype(float), np.dtype(complex)


def named_versions() -> dict[Any, Callable[..., Any]]:
    """The functions that have a version, and the version."""
    return _versions()


def version_of(function: Any) -> Callable[..., Any] | None:
    """A function of `math` or `cmath` that takes traced numbers too; None if it needs no version."""
    return _versions().get(function) if type(function) is BuiltinFunctionType else None


@functools.cache
def _versions() -> dict[Any, Callable[..., Any]]:
    of_math = [p for p in CATALOGUE.values() if p.facts.usual_name]
    found: dict[Any, Callable[..., Any]] = {math.fsum: _summing(math.fsum), math.isclose: _deciding(math.isclose)}
    for primitive in of_math:
        function: Any = primitive.facts.scalar
        found[function] = _version(function, primitive, float) if primitive.is_smooth else _deciding(function)
        complex_one = getattr(cmath, primitive.facts.usual_name, None)
        if primitive.is_smooth and complex_one is not None:
            found[complex_one] = _version(complex_one, primitive, complex)
    found.update({function: _version(function, step, float) for function, step in OTHERS.items()})
    found.update({function: _version(function, step, complex) for function, step in COMPLEX_OTHERS.items()})
    return found


def _version(function: Any, step: Callable[..., Any], kind: type) -> Callable[..., Any]:
    """Call the function on the values, which may raise, and take the step; anything else is left to the function."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs or not _are_numbers(args):
            return function(*args, **kwargs)
        try:
            for values in _examples(args):
                function(*values)
        except Exception:
            _hold(args)  # what a program does after the error, it does for these values
            raise
        found = step(*[_number(a, kind) for a in args])
        _guard(function, args, found)
        return found

    return functools.wraps(function, updated=())(call)


def _are_numbers(args: Sequence[Any]) -> bool:
    """Whether a traced number is among these, and every traced value is a number or a list of them."""
    flat = [x for a in args for x in (a if isinstance(a, (list, tuple)) else [a])]
    traced = [x for x in flat if isinstance(x, Traced)]
    return bool(traced) and all([x.shape == () for x in traced])


def _examples(args: Sequence[Any]) -> Any:
    """The plain values of the arguments, for each example of a batch."""
    plain = [[contents(x) for x in a] if isinstance(a, (list, tuple)) else contents(a) for a in args]
    if any([isinstance(p, list) for p in plain]):
        return [plain]
    return zip(*[np.ravel(p).tolist() for p in np.broadcast_arrays(*plain)], strict=True)


def _number(x: Any, kind: type) -> Any:
    """A traced number as one of Python's; plain numbers and lists as they are."""
    if isinstance(x, (list, tuple)):
        return x
    if not isinstance(x, Traced):
        return kind(x)
    dtype = COMPLEX if kind is complex else FLOAT
    x = x if x.dtype == dtype else astype(x, dtype=dtype)
    return x if type(concrete(x)) is kind else item(x)


def in_python(x: Any) -> Any:
    """A number as one of Python's floats."""
    return _number(x, float)


def _guard(function: Any, args: Sequence[Any], found: Any) -> None:
    """In a program: where the result is not finite, `math` may raise, so that the values have to stay."""
    leaves = found if isinstance(found, tuple) else (found,)
    for result in map(decidable, leaves):
        if isinstance(result, Traced) and not result.traced_by.decided(UFUNCS[np.isfinite](result)):
            _hold(args)
            return


def _hold(args: Sequence[Any]) -> None:
    """In a program: the values have to stay."""
    flat = [x for a in args for x in (a if isinstance(a, (list, tuple)) else [a])]
    for x in flat:
        held = decidable(x) if isinstance(x, Traced) else x
        if isinstance(held, Traced):
            held.traced_by.decided(held)


def _logarithm(kind: type, x: Any, base: Any = None) -> Any:
    return UFUNCS[np.log](x) if base is None else UFUNCS[np.log](x) / UFUNCS[np.log](_number(base, kind))


def _of_many(function: Callable[[Sequence[float]], float], slope: Callable[..., Any]) -> Primitive:
    """A function of many numbers, of each element of batches, with one slope for each of them."""

    def push(tangents: Sequence[Any], out: Any, args: Sequence[Any], params: Any) -> Any:
        return sum([t * slope(out, a) for t, a in zip(tangents, args, strict=True) if t is not None])

    def evaluate(*args: Any) -> Any:
        if all([type(a) is float for a in args]):
            return function(args)
        rows = zip(*[np.ravel(a) for a in np.broadcast_arrays(*args)], strict=True)
        return np.array([function(row) for row in rows]).reshape(np.broadcast_shapes(*[np.shape(a) for a in args]))

    return Primitive(function.__name__, evaluate, derivative=Opaque(jvp=push), stacking=aligned)


def _fsum(numbers: Sequence[float]) -> float:
    return math.fsum(numbers)


def _hypot(numbers: Sequence[float]) -> float:
    return math.hypot(*numbers)


total = _of_many(_fsum, lambda out, x: 1.0)
length = _of_many(_hypot, lambda out, x: ratio(x, out))


def _distance(p: Any, q: Any) -> Any:
    return length(*[_number(a - b, float) for a, b in zip(p, q, strict=True)])


def _summing(function: Any) -> Callable[..., Any]:
    """`math.fsum`, which is rounded once."""

    def call(seq: Any, /) -> Any:
        numbers = list(seq)
        return total(*[_number(x, float) for x in numbers]) if _are_numbers([numbers]) else function(numbers)

    return functools.wraps(function, updated=())(call)


QUESTIONS = (math.isnan, math.isinf, math.isfinite)


def _deciding(function: Any) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if not any([isinstance(a, Traced) for a in args]):
            return function(*args, **kwargs)
        for a in args:
            if isinstance(a, Traced):
                refuse_batch(a, "a truth value", "Use  np.where(condition, a, b)  instead of  if.")
                if function in QUESTIONS:
                    tell(ASKS, None, a)
        plain = [decidable(a) if isinstance(a, Traced) else a for a in args]
        return function(*[p.traced_by.decided(p) if isinstance(p, Traced) else p for p in plain], **kwargs)

    return functools.wraps(function, updated=())(call)


def _smooth(function: Any, *partials: Callable[..., Any]) -> Callable[..., Any]:
    """A function that NumPy does not have, as a step with these partials."""

    def evaluate(*args: Any) -> Any:
        if all([type(a) is float for a in args]):
            return function(*args)
        return np.vectorize(function, otypes="d")(*args)[()]

    return Primitive(function.__name__, evaluate, derivative=Elementwise(partials), stacking=aligned)


def _psi(x: Any) -> Any:
    import scipy.special

    return scipy.special.psi(x)


_TWO_BY_ROOT_PI = 2.0 / math.sqrt(math.pi)
OTHERS: dict[Any, Callable[..., Any]] = {
    math.erf: _smooth(math.erf, lambda x: _TWO_BY_ROOT_PI * np.exp(-x * x)),
    math.erfc: _smooth(math.erfc, lambda x: -_TWO_BY_ROOT_PI * np.exp(-x * x)),
    math.gamma: _smooth(math.gamma, lambda out, x: out * _psi(x)),
    math.lgamma: _smooth(math.lgamma, lambda x: _psi(x)),
    math.log: functools.partial(_logarithm, float),
    math.hypot: lambda *args: length(*args),
    math.dist: _distance,
    math.fmod: lambda x, y: UFUNCS[np.fmod](x, y),
    math.remainder: lambda x, y: x - _nearest(x, y) * y,
    math.modf: lambda x: (x - UFUNCS[np.trunc](x), UFUNCS[np.trunc](x)),
    math.ldexp: lambda x, i: x * 2.0**i,
}
"""Functions of `math` that no entry has as its `scalar`, or that do more than it."""
if sys.version_info >= (3, 13):
    OTHERS[math.fma] = lambda x, y, z: x * y + z

COMPLEX_OTHERS: dict[Any, Callable[..., Any]] = {
    cmath.log: functools.partial(_logarithm, complex),
    cmath.phase: lambda z: np.angle(z),
    cmath.polar: lambda z: (np.abs(z), np.angle(z)),
    cmath.rect: lambda r, phi: r * np.exp(1j * phi),
}


def _nearest(x: Any, y: Any) -> Any:
    """The whole number nearest to x / y, to the even one at ties, which is constant in pieces."""
    return UFUNCS[np.rint](x / y)
