"""Named tuples made quickly are named tuples."""

from __future__ import annotations

from adjoint.core.entry.facts import Form, Kernel
from adjoint.core.entry.moves import Index


def test_records_are_named_tuples():
    """Fields with defaults, by place and by name; frozen, equal by value, with methods and a docstring."""
    kernel = Kernel("libm sin", cost="cheap")
    assert kernel == ("libm sin", "f", "cheap", None) == Kernel("libm sin", "f", "cheap")
    assert kernel._fields == tuple(Kernel.__annotations__) == ("code", "kinds", "cost", "types")
    assert repr(kernel) == "Kernel(code='libm sin', kinds='f', cost='cheap', types=None)"
    assert kernel._replace(kinds="i").kinds == "i"
    assert Kernel.__module__ == "adjoint.core.entry.facts"
    assert Form.__doc__.startswith("How an operation is written")
    assert Index(0, 1, 2).moved(3, 4) == (0, 3, 10)
    assert not hasattr(kernel, "__dict__")
