"""Whether this runs in a notebook, which shows what a cell gives and has no terminal."""

from __future__ import annotations

import sys

__all__ = ["is_notebook"]


def is_notebook() -> bool:
    """Whether this runs in a kernel that shows HTML.

    Examples
    --------
    >>> is_notebook()
    False
    """
    asked = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = asked() if asked else None
    return shell is not None and hasattr(shell, "kernel")
