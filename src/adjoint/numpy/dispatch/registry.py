"""Which of the library's functions stands for which of NumPy's, and what is known of NumPy's besides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ...host.records import NamedTuple

F = TypeVar("F", bound=Callable[..., Any])


class Behaviour(NamedTuple):
    """How a function of NumPy's behaves, and ours beside it; what is left out is right, if slower."""

    exact: bool = False
    """Ours gives NumPy's own numbers for integers and truth values too: a program need not call NumPy's for them."""
    whole: bool = False
    """It is one step of a program, although it has a derivative: its results at special values (nan, infinities, a rank
    that is not full) follow from the order of work inside NumPy, or its errors from its checks."""
    formal: bool = False
    """Its answers depend on shapes and dtypes alone, so that a program need not ask again."""
    in_place: bool = False
    """It writes to an argument."""
    to_file: bool = False
    """It writes to a file, so that it must not be tried."""
    unasked: bool = False
    """Ours looks after keywords such as `dtype=` itself, and NumPy's is not asked about them: it warns in Python, which
    would be heard twice, or it is not worth doing twice."""
    by_column: bool = False
    """Tables have a method of that name which goes column by column and leaves out missing numbers."""
    keeps_python: bool = False
    """It reads an attribute, so that it gives Python's numbers for Python's numbers."""


FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""NumPy's function, as it arrives in `__array_function__`, to ours. Signatures are NumPy's."""

_behaviours: dict[Any, Behaviour] = {}
_usual = Behaviour()


def implements(*functions: Any, **behaviour: bool) -> Callable[[F], F]:
    """Register the decorated function for NumPy functions, with what `Behaviour` is to say of them."""
    known = Behaviour(**behaviour) if behaviour else _usual

    def register(implementation: F) -> F:
        for function in functions:
            FUNCTIONS[function] = implementation
            _behaviours[function] = known
        return implementation

    return register


def behaviour_of(function: Any) -> Behaviour:
    """What is known of a function of NumPy's."""
    return _behaviours.get(function, _usual)
