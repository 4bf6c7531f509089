"""Cosine and sine transforms along one axis, without scaling: linear maps, each the transpose of one but for weights.

For kinds 1 and 4 the matrix is symmetric, for kinds 2 and 3 the one is the transpose of the other, as soon as the
elements that occur once, not twice, in the symmetric signal that is meant have their weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.entry.facts import Facts, Form
from ...core.primitive import Primitive
from ...core.values import dtype_of, shape_of
from ...rules.linear import Linear
from ...rules.stacking import leading
from .. import costs

DUAL = {1: 1, 2: 3, 3: 2, 4: 4}
"""The kind that is the transpose, and, scaled, the inverse."""

ONCE = {"dct": {1: (0, -1), 2: (0,), 3: (0,), 4: ()}, "dst": {1: (), 2: (-1,), 3: (-1,), 4: ()}}
"""Elements that occur once: of the operand for kinds 1 and 3, of the result for kinds 1 and 2."""


def weights(name: str, kind: int, x: Any, axis: int, weight: float) -> Any:
    """One for each element along the axis, but `weight` for those that occur once."""
    found = np.ones(shape_of(x)[axis], np.finfo(dtype_of(x)).dtype)
    found[list(ONCE[name][kind])] = weight
    return found.reshape((-1,) + (1,) * (-axis - 1))


def _evaluate(name: str, x: Any, kind: int, axis: int) -> Any:
    import scipy.fft

    return getattr(scipy.fft, name)(x, kind, axis=axis)


def _transposed(name: str, transform: Any, g: Any, kind: int, axis: int) -> Any:
    """The matrix is C = D S or S D or D S / D, where S is symmetric or has the dual as its transpose."""
    if kind in (1, 2) and ONCE[name][kind]:
        g = g * weights(name, kind, g, axis, 2.0)
    found = transform(g, kind=DUAL[kind], axis=axis)
    return found * weights(name, kind, found, axis, 0.5) if kind in (1, 3) and ONCE[name][kind] else found


cosine = Primitive(
    "cosine_transform",
    lambda x, *, kind, axis: _evaluate("dct", x, kind, axis),
    derivative=Linear(lambda g, out, x, *, kind, axis: _transposed("dct", cosine, g, kind, axis)),
    stacking=leading,
    facts=Facts(form=Form(source="scipy.fft.dct({0}, {kind}, axis={axis})"), cost=costs.fourier),
)
sine = Primitive(
    "sine_transform",
    lambda x, *, kind, axis: _evaluate("dst", x, kind, axis),
    derivative=Linear(lambda g, out, x, *, kind, axis: _transposed("dst", sine, g, kind, axis)),
    stacking=leading,
    facts=Facts(form=Form(source="scipy.fft.dst({0}, {kind}, axis={axis})"), cost=costs.fourier),
)
