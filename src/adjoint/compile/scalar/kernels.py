"""The machine code of elementwise primitives, found by the kernel that each entry of the catalogue names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType

import numpy as np

from ...core.primitive import Primitive
from ..assembly.emit import Emitter
from ..assembly.kinds import is_known
from ..assembly.values import Value
from . import basic, division, mathematics, special, types
from .casting import cast
from .types import Loop, Resolve, by_ufunc

EMITTERS: tuple[ModuleType, ...] = (basic, division, mathematics, special)
"""Where the code of a kernel is, by its name."""


@dataclass(frozen=True)
class Scalar:
    """The code of an elementwise primitive for one element.

    `scalar(e, args, dtype, **params)` writes it: `args` are registers or literals of the types `loop` names, the
    register of the result comes back. `loop` is None where NumPy has to do it (complex, float16, objects, errors).
    """

    emit: basic.Emit
    resolve: Resolve
    cost: str
    kinds: str

    def __call__(self, e: Emitter, args: list[Value], dtype: np.dtype, /, **params: object) -> Value:
        """Write the code; the register of the result."""
        return self.emit(e, args, dtype, **params)

    def loop(self, dtypes: Sequence[object], literals: Sequence[object] = (), /, **params: object) -> Loop | None:
        """The types for operands of these types; a Python number's is `int`, `float` or `bool`, as it has none.

        `literals` holds the values of operands that are known now, None for the others.
        """
        found = self.resolve(tuple(dtypes), literals, params)
        if found is None or found.dtype.kind not in self.kinds:
            return None
        return found if all([is_known(d) for d in (*found.operands, found.result)]) else None


@cache
def scalar_of(primitive: Primitive) -> Scalar:
    """The code for one element of a primitive that has a kernel."""
    facts = primitive.facts
    kernel = facts.kernel
    assert kernel is not None
    word, *rest = kernel.code.split()
    if word == SCIPY:
        rest = [primitive.name]
    emit = next(getattr(module, word) for module in EMITTERS if hasattr(module, word))
    source = kernel.types or facts.ufunc
    resolve = getattr(types, source) if isinstance(source, str) else by_ufunc(source)  # type: ignore[arg-type]
    return Scalar(emit(*rest) if rest else emit, resolve, kernel.cost, kernel.kinds)


SCIPY = "scipy"
"""What calls the function that has the primitive's own name."""

__all__ = ["Loop", "Scalar", "cast", "scalar_of"]
