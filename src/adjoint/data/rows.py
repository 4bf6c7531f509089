"""Rows of arrays, of containers of arrays, and of what is read from a file as it is needed."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ..typing import Array, Tree


def is_lazy(array: Array) -> bool:
    """Whether rows are read from somewhere when they are asked for: a memory map, an open HDF5 or Zarr array."""
    return type(array) is not np.ndarray


def rows_of(data: Tree, places: Array) -> Any:
    """These rows of every array, as plain arrays in the containers of the data."""
    return ad.tree.map(lambda array: _rows(array, places), data)


def _rows(array: Array, places: Array) -> Any:
    if type(array) is np.ndarray:
        return array[places]
    if isinstance(places, slice):
        return _plain(array[places])
    # In the order of the file, which is quicker for memory maps and asked for by HDF5.
    upwards = np.argsort(places, kind="stable")
    back = np.empty_like(upwards)
    back[upwards] = np.arange(len(upwards))
    return _plain(array[places[upwards]])[back]


def _plain(rows: Array) -> np.ndarray:
    """An array of its own; rows of a sparse matrix are filled up."""
    return np.array(rows.toarray() if hasattr(rows, "toarray") else rows)


def leaves_of(data: Tree, name: str) -> list[tuple[str, Any]]:
    """Every array with its name: `X`, or `X.image` in a dict."""
    return [
        (f"{name}.{path}" if path else name, leaf)
        for path, leaf in zip(ad.tree.paths(data), ad.tree.leaves(data), strict=True)
    ]
