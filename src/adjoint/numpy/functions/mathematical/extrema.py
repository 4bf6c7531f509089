"""Mathematical functions: finding extrema, with and without nan."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.traced import Traced
from ....core.values import decidable, dtype_of
from ....ops import reduction
from ....ops.selection import where as choose
from ...dispatch.arguments import NO_VALUE, as_value, given, is_true, ndim_of, of_reduction, reduced_axes, same_dtype
from ...dispatch.assignment import deliver
from ...dispatch.registry import implements
from .sums import filled


def _extreme(primitive: Any, pair: Any, worst: float) -> Any:
    def reduce(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Any:
        if isinstance(a, Traced) and out is None and initial is NO_VALUE and where is NO_VALUE:
            return a.traced_by.process(primitive, (a,), of_reduction(axis, a, keepdims))
        a = as_value(a)
        kind = dtype_of(a)
        if given(initial) and np.iscomplexobj(initial) and kind.kind not in "cb":
            raise TypeError(f"argument must be a string or a real number, not {type(initial).__name__!r}")
        if given(initial) and kind.kind in "biu":
            initial = kind.type(initial)
        if given(where) and where is not True:
            if not given(initial):
                raise ValueError(
                    f"reduction operation '{pair.__name__}' does not have an identity, so to use a where mask "
                    "one has to specify 'initial'"
                )
            a = choose(where, a, initial if kind.kind in "biu" else worst)  # beside infinity integers would be floats
        found = primitive(a, axis=reduced_axes(axis, ndim_of(a)), keepdims=is_true(keepdims))
        return deliver(same_dtype(pair(found, initial), kind) if given(initial) else found, out)

    return reduce


implements(np.max, np.amax, exact=True, by_column=True)(_extreme(reduction.max, np.maximum, -np.inf))


implements(np.min, np.amin, exact=True, by_column=True)(_extreme(reduction.min, np.minimum, np.inf))


def _without_nan(reduce: Any, worst: float) -> Callable[..., Any]:
    def find(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Any:  # fmt: skip
        a = as_value(a)
        if dtype_of(a).kind not in "fc":
            return reduce(a, axis, out, keepdims, initial, where)
        if given(initial) and np.iscomplexobj(initial) and dtype_of(a).kind != "c":
            raise TypeError(f"float() argument must be a string or a real number, not {type(initial).__name__!r}")
        is_nan = given(initial) and bool(np.isnan(initial))  # as an element that is nan, it is passed over
        found = reduce(filled(a, worst), axis, None, keepdims, worst if is_nan else initial, where)
        empty = np.all(np.isnan(a), axis, keepdims=is_true(keepdims), where=where)
        if is_nan:
            found = np.where(empty, np.nan, found)
        elif np.any(decidable(empty)) and not given(initial):
            warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=2)
            found = np.where(empty, np.nan, found)
        return deliver(found, out)

    return find


implements(np.nanmax, unasked=True)(_without_nan(np.max, -np.inf))


implements(np.nanmin, unasked=True)(_without_nan(np.min, np.inf))
