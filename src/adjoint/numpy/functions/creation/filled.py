"""Array creation: from a shape or a value, and from existing data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.traced import CONSTANTS, Traced
from ....core.values import dtype_of, shape_of
from ...dispatch.registry import implements
from ...dispatch.views import fresh_handle
from ...patching.constructors import CONVERTERS, NUMPY, array, full_like


def _buffer(shape: Any, dtype: Any, fill: float | None) -> Traced:
    made = NUMPY["empty"](shape, dtype) if fill is None else NUMPY["full"](shape, fill, dtype)
    return Traced(made, CONSTANTS, None)


def _like(fill: float | None) -> Callable[..., Any]:
    def make(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **kwargs: Any) -> Any:
        return _buffer(shape_of(a) if shape is None else shape, dtype_of(a) if dtype is None else dtype, fill)

    return make


def _made(fill: float | None) -> Callable[..., Any]:
    def make(shape: Any, dtype: Any = None, order: str = "C", **kwargs: Any) -> Any:
        return _buffer(shape, dtype, fill)

    return make


for _function, _like_function, _fill in (
    (NUMPY["zeros"], np.zeros_like, 0.0),
    (NUMPY["ones"], np.ones_like, 1.0),
    (NUMPY["empty"], np.empty_like, None),
):
    implements(_function)(_made(_fill))
    implements(_like_function, exact=True)(_like(_fill))
for _name, _converter in CONVERTERS.items():
    implements(NUMPY[_name])(_converter)
implements(np.full_like, exact=True)(full_like)


@implements(np.copy)
def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    """`np.copy`."""
    return array(a) if shape_of(a) == () else fresh_handle(a)
