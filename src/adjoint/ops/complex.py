"""Real and imaginary parts, conjugation, angle. Transposes are plain, without conjugation: see docs/how-it-works.md."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.entry.facts import AS_FIRST, CHEAP, Form, Kernel
from ..core.entry.moves import Same
from ..rules.linear import Linear
from ..rules.stacking import aligned
from . import costs
from .declare import CONSTANT, REAL, declare, universal

real = declare(
    "real",
    np.real,
    Linear(lambda g, out, x: np.real(g), structural=True),
    stacking=aligned,
    domain=(REAL,),
    moves=Same("fiub"),
    kernel=Kernel("identity", "fiub", CHEAP, "same"),
    form=Form(source="np.real({0})"),
    axisless=AS_FIRST,
)
imag = declare(
    "imag",
    np.imag,
    Linear(lambda g, out, x: _turned(g, x)),
    stacking=aligned,
    domain=(REAL,),
    kernel=Kernel("imag", "fiub", CHEAP, "same"),
    form=Form(source="np.imag({0})", sympy="im"),
    axisless=AS_FIRST,
    cost=costs.nothing,
)
conjugate = universal(
    np.conjugate,
    Linear(lambda g, out, x: np.conjugate(g), structural=True),
    moves=Same("fiub"),
    kernel=Kernel("identity", "fiu", CHEAP),
    form=Form(text="conj", source="np.conj({0})"),
    cost=costs.each_element,
)


def _turned(g: Any, x: Any) -> Any:
    return g * -1j if np.iscomplexobj(x) else g * 0.0


angle_of_real = declare(
    "angle_of_real",
    lambda x: np.angle(x),
    CONSTANT,
    note="piecewise constant: 0 or pi",
    form=Form(source="np.angle({0})"),
)
