"""Convolutions of arrays and recursive filters: what SciPy's signals and images come down to.

A convolution is linear in each operand, and closed under transposition: the transpose of the whole one is the one
where the operands overlap completely. A recursive filter is y = u - a1 y' - a2 y'' - ..., where y' is y one sample
earlier: linear in u, with itself on the reversed signal as transpose. Its equation a * y = u says the rest: if a moves
by da, y moves as if u had moved by -da * y.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.entry.facts import Facts, Form
from ...core.primitive import Primitive
from ...core.values import shape_of
from ...rules.multilinear import Multilinear
from ...rules.opaque import Opaque
from ...rules.stacking import leading, one_by_one
from .. import costs


def _convolved(x: Any, y: Any, *, mode: str) -> Any:
    """The whole convolution of two arrays with as many axes, or where y fits into x."""
    dtype = np.result_type(x, y)
    if x.ndim == 1 and mode == "valid" and x.size < 2 * y.size:
        return _by_results(x, np.ascontiguousarray(y[::-1]), (x.size - y.size + 1,), dtype)
    if x.ndim == 1 or dtype.char not in "fdFD":
        import scipy.signal

        return scipy.signal.convolve(x, y, mode, "direct")
    if mode == "full":
        x, y = (x, y) if x.size >= y.size else (y, x)
        x = np.pad(x, [(n - 1, n - 1) for n in y.shape])
    shape = [n - k + 1 for n, k in zip(x.shape, y.shape, strict=True)]
    found = _by_results if math.prod(shape) <= y.size or not np.isfinite(y).all() else _by_image
    return found(x, y[(slice(None, None, -1),) * y.ndim], tuple(shape), dtype)


def _by_results(x: Any, y: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """A correlation with few results, each of which is a sum of products of many elements."""
    out = np.empty(shape, dtype)
    for at in np.ndindex(*shape):
        out[at] = np.sum(x[tuple([slice(a, a + n) for a, n in zip(at, y.shape, strict=True)])] * y)
    return out


def _by_image(x: Any, y: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """A correlation with a small array, in the loops for images, which are ten times quicker than those for signals."""
    import scipy.ndimage

    inside = tuple([slice(k // 2, k // 2 + n) for k, n in zip(y.shape, shape, strict=True)])
    long = [axis for axis, n in enumerate(y.shape) if n > 1]
    y = np.conjugate(y)  # as SciPy's correlation conjugates it again
    if len(long) == 1:
        found = scipy.ndimage.correlate1d(x, np.ravel(y), long[0], dtype, "constant")
    else:
        found = scipy.ndimage.correlate(x, y, dtype, "constant")
    return found[inside]


def _flipped(x: Any) -> Any:
    return x[(slice(None, None, -1),) * len(shape_of(x))]


def _to_first(g: Any, out: Any, x: Any, y: Any, *, mode: str) -> Any:
    return convolved(g, _flipped(y), mode="valid" if mode == "full" else "full")


def _to_second(g: Any, out: Any, x: Any, y: Any, *, mode: str) -> Any:
    if mode == "full":
        return convolved(g, _flipped(x), mode="valid")
    return _flipped(convolved(x, _flipped(g), mode="valid"))


def _stacked(
    primitive: Primitive, values: Sequence[Any], batched: Sequence[bool], params: dict[str, Any], size: int
) -> Any:
    """A batch of one operand is one more axis, along which the other has length 1; of both, one by one."""
    if all(batched) or size == 0:
        return one_by_one(primitive, values, batched, params, size)
    whole = [v if b else np.reshape(v, (1, *shape_of(v))) for v, b in zip(values, batched, strict=True)]
    if batched[1] and params["mode"] == "valid":  # the second would be the longer one along the new axis
        return one_by_one(primitive, values, batched, params, size)
    return primitive(*whole, **params)


convolved = Primitive(
    "convolution",
    _convolved,
    derivative=Multilinear(_to_first, _to_second),
    stacking=_stacked,
    note="of two arrays with as many axes; if the mode is valid, the first is at least as long along each",
    facts=Facts(form=Form(source="scipy.signal.convolve({0}, {1}, {mode}, 'direct')"), cost=costs.convolution),
)


def _recursive(u: Any, a: Any) -> Any:
    """The filter along the last axis; a is [1, a1, a2, ...], of which the 1 is not looked at."""
    import scipy.signal

    a = np.concatenate([np.ones(1, a.dtype), a[1:]])
    return scipy.signal.lfilter(np.ones(1, a.dtype), a, u)


def delayed(a: Any, y: Any) -> Any:
    """a1 y' + a2 y'' + ..., along the last axis."""
    n = shape_of(y)[-1]
    kernel = np.reshape(a[1:], (1,) * (len(shape_of(y)) - 1) + (-1,))
    past = convolved(y, kernel, mode="full")[..., : n - 1]
    return np.concatenate([np.zeros((*shape_of(y)[:-1], 1), past.dtype), past], -1)


def _push(tangents: Sequence[Any], out: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
    du, da = tangents
    u, a = args
    drive = du if du is not None else 0.0
    if da is not None and shape_of(a)[0] > 1:
        drive = drive - delayed(da, out)
    return recursive(drive + np.zeros(shape_of(u), u.dtype), a)


def _pull(g: Any, out: Any, args: Sequence[Any], params: dict[str, Any], needed: Sequence[bool]) -> list[Any]:
    a = args[1]
    back = recursive(g[..., ::-1], a)[..., ::-1]
    if not needed[1]:
        return [back, None]
    taps = [np.zeros((), back.dtype)]
    n = shape_of(out)[-1]
    for k in range(1, shape_of(a)[0]):
        taps.append(-np.sum(back[..., k:] * out[..., : n - k]) if k < n else taps[0])
    return [back if needed[0] else None, np.stack(taps)]


def _stack_recursive(
    primitive: Primitive, values: Sequence[Any], batched: Sequence[bool], params: dict[str, Any], size: int
) -> Any:
    stack = one_by_one if batched[1] else leading
    return stack(primitive, values, batched, params, size)


recursive = Primitive(
    "recursive_filter",
    _recursive,
    derivative=Opaque(_push, _pull, exact=False),
    stacking=_stack_recursive,
    facts=Facts(
        form=Form(source="scipy.signal.lfilter([1.0], {1}, {0})"),
        cost=lambda takes, gives, params: 2.0 * takes[0].size * takes[1].size,
    ),
)
"""y[n] = u[n] - a[1] y[n - 1] - a[2] y[n - 2] - ... along the last axis, y = 0 before."""
