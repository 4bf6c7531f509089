"""A primitive is a function among functions: it has a name and parameters."""

import inspect

from adjoint.ops.declare import CATALOGUE


def test_name_and_parameters():
    """Its own name, and the parameters of what evaluates it."""
    assert CATALOGUE["exp"].__name__ == "exp"
    assert list(inspect.signature(CATALOGUE["exp"]).parameters) == ["x"]
    assert list(inspect.signature(CATALOGUE["sum"]).parameters) == ["x", "axis", "keepdims"]
