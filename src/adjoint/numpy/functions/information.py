"""Data types, memory, text and files: what is asked of arrays without a derivative."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ...core.errors import DerivativeDroppedError, message
from ...core.traced import Traced
from ...core.values import contents, describe, dtype_of, shape_of
from ..dispatch.registry import implements


def _by_dtype(function: Any) -> Any:
    """A function that looks at dtypes only."""

    def ask(*args: Any, **kwargs: Any) -> Any:
        return function(*[dtype_of(a) if isinstance(a, Traced) else a for a in args], **kwargs)

    return ask


implements(np.result_type, formal=True)(_by_dtype(np.result_type))
implements(np.can_cast)(_by_dtype(np.can_cast))


def _by_example(function: Any) -> Any:
    """A function that looks at shapes and dtypes, not at values."""

    def ask(*args: Any, **kwargs: Any) -> Any:
        return function(*[np.empty(shape_of(a), dtype_of(a)) if isinstance(a, Traced) else a for a in args], **kwargs)

    return ask


implements(np.common_type)(_by_example(np.common_type))
implements(np.einsum_path)(_by_example(np.einsum_path))


def _by_value(function: Any) -> Any:
    """A function for printing, or about memory: it sees the plain array."""

    def ask(*args: Any, **kwargs: Any) -> Any:
        return function(*[np.asarray(contents(a)) if isinstance(a, Traced) else a for a in args], **kwargs)

    return ask


_function: Any
for _function in (
    np.array2string,
    np.array_repr,
    np.array_str,
    np.may_share_memory,
    np.shares_memory,
    np.min_scalar_type,
):
    implements(_function)(_by_value(_function))


def _refusing(function: Any) -> Any:
    """A function that writes plain numbers to a file."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        met = next((a for a in [*args, *kwargs.values()] if isinstance(a, Traced)), None)
        raise DerivativeDroppedError(
            message(
                f"np.{function.__name__} writes plain numbers, so a traced value would lose its derivative there.",
                got="" if met is None else describe(met),
                fix="Write the value:  ad.value(x).",
            )
        )

    return refuse


for _function in (np.save, np.savetxt, np.savez, np.savez_compressed):
    implements(_function, to_file=True)(_refusing(_function))
