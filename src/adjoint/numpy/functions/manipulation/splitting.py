"""Array manipulation: splitting arrays. The parts are views."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ....core.values import shape_of
from ...dispatch.arguments import as_value, axis_of, ndim_of
from ...dispatch.registry import implements


@implements(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """`np.array_split`."""
    ary = as_value(ary)
    where = axis_of(axis, ndim_of(ary))
    total = shape_of(ary)[where]
    if np.ndim(indices_or_sections):
        cuts = [0, *[int(i) for i in indices_or_sections], total]
    else:
        sections = int(indices_or_sections)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, extras = divmod(total, sections)
        cuts = [i * each + min(i, extras) for i in range(sections + 1)]
    rest = (slice(None),) * (-where - 1)
    return [ary[(..., slice(start, stop), *rest)] for start, stop in itertools.pairwise(cuts)]


@implements(np.split)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """`np.split`."""
    ary = as_value(ary)
    if not np.ndim(indices_or_sections) and shape_of(ary)[axis_of(axis, ndim_of(ary))] % int(indices_or_sections):
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


@implements(np.hsplit)
def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """`np.hsplit`."""
    if ndim_of(ary) == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ndim_of(ary) > 1 else 0)


@implements(np.vsplit)
def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """`np.vsplit`."""
    if ndim_of(ary) < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


@implements(np.dsplit)
def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """`np.dsplit`."""
    if ndim_of(ary) < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


@implements(np.unstack)
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """`np.unstack`."""
    if ndim_of(x) == 0:
        raise ValueError("Input array must be at least 1-d.")
    return tuple(np.moveaxis(x, axis, 0))
