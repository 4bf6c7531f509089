"""`scipy.optimize.elementwise`: roots and minima of many functions of one number, each by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ...core.traced import Traced
from ...core.values import dtype_of, is_captured, shape_of
from ...transforms.implicit.rule import by_elements
from ...transforms.jvp import jvp
from .roots import TWICE
from .solving import Given, Problem, as_tuple, numbers_of, pinned, teach

MODULE = "scipy.optimize.elementwise"


def _values(x: Any, given: Given) -> Any:
    """The user's function at each element."""
    return np.reshape(given["f"](x, *as_tuple(given.get("args", ()))), shape_of(x))


def _slopes(x: Any, others: Any, given: Given) -> Any:
    """Its slope at each element, which is 0 at a minimum."""
    return jvp(lambda x: _values(x, given), (x,), (np.ones(shape_of(x), dtype_of(x)),))[1]


def _found(raw: Any, given: Given) -> tuple[Any, ...]:
    return raw.x, numbers_of(raw)


def _result(found: tuple[Any, ...], given: Given) -> Any:
    x, fields = found
    return _as_raw({**fields, "x": x, "f_x": pinned(fields["f_x"], _values(x, given))})


def _as_raw(fields: Given) -> Any:
    """SciPy's record of results, which `numbers_of` took apart."""
    from scipy._lib._util import _RichResult

    return _RichResult(**fields)


def _ends(raw: Any, given: Given) -> tuple[Any, ...]:
    """How many steps a search takes decides where it ends, so its end does not move with the function."""
    return np.zeros(()), numbers_of(raw)


def _refuse_starts(given: Given) -> None:
    for name, value in given.items():
        if name not in ("f", "args") and isinstance(value, Traced) and not is_captured(value):
            raise UnsupportedError(
                message(
                    f"{MODULE} does not differentiate a bracket with respect to {name}.",
                    fix=f"Roots and minima do not depend on it: pass  ad.stop_gradient({name}).",
                )
            )


teach(
    Problem(_found, lambda x, others, given: _values(x, given), _result, solve=lambda given: by_elements),
    "find_root",
    module=MODULE,
    note=TWICE,
)
teach(
    Problem(_found, _slopes, _result, solve=lambda given: by_elements),
    "find_minimum",
    module=MODULE,
    note="`x` and `f_x` have derivatives",
)
teach(
    Problem(_ends, lambda x, others, given: x, lambda found, given: _as_raw(found[1]), check=_refuse_starts),
    "bracket_root", "bracket_minimum",
    module=MODULE,
    note="constant: a search ends where steps from its start lead",
)  # fmt: skip
