"""Real and imaginary parts, conjugation, angle. Transposes are plain, without conjugation: see docs/how-it-works.md."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rules.linear import Linear
from ..rules.stacking import aligned
from .declare import REAL, UFUNCS, declare

real = declare("real", np.real, Linear(lambda g, out, x: np.real(g), structural=True), stacking=aligned, domain=(REAL,))
imag = declare("imag", np.imag, Linear(lambda g, out, x: _turned(g, x)), stacking=aligned, domain=(REAL,))
conjugate = declare(
    "conjugate",
    np.conjugate,
    Linear(lambda g, out, x: np.conjugate(g), structural=True),
    stacking=aligned,
    domain=(REAL,),
)
UFUNCS[np.conjugate] = conjugate


def _turned(g: Any, x: Any) -> Any:
    return g * -1j if np.iscomplexobj(x) else g * 0.0
