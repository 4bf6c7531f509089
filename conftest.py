"""Examples in docstrings are run as a user would run them: their code is nobody's module."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def examples_are_the_users(doctest_namespace: dict[str, object]) -> None:
    """Whose code it is follows from the name of its module, and an example is not the library's."""
    doctest_namespace.update(__name__="__main__", __package__=None)
