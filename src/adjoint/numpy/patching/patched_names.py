"""The names of NumPy's that stand for our versions while a function is traced: all of them, with the reason for each.

Only the thread that traces gets our versions, and only while it does; see `naming` for how. Universal functions
(`np.sin`, `scipy.special.erf`) and types of numbers (`np.float64`) are the other two groups: called with a list of
traced numbers, or with one to convert, they would ask for plain numbers.
"""

from __future__ import annotations

CONVERTERS = ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray")
"""`np.array([x, y])` reads the elements of a list itself, and NumPy gives no hook for lists."""

FILLERS = (
    "zeros", "ones", "empty", "eye", "identity", "zeros_like", "ones_like", "empty_like", "full_like", "full", "copy",
)  # fmt: skip
"""Arrays that are made to be filled: `y[0] = x` stores a traced value, for which plain memory has no place."""

GRIDS = (
    "arange", "linspace", "logspace", "geomspace", "tile", "repeat", "fromiter", "tri", "concatenate", "stack",
    "hstack", "vstack", "column_stack",
)  # fmt: skip
"""Arrays that are seldom written to: they stay plain, and quick, but in functions that store elements."""

OBJECTS = ("r_", "c_", "broadcast", "ndenumerate", "nditer", "require", "asarray_chkfinite")
"""Objects, and functions that convert by themselves, without a hook; their versions are in `index_tricks`."""
