"""Frames of pandas, polars and their like, as arrays, through narwhals."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import checked
from ..typing import Array, Tree

FRAMES = frozenset(("cudf", "dask", "duckdb", "ibis", "modin", "narwhals", "pandas", "polars", "pyarrow", "pyspark"))
"""Packages whose objects narwhals reads."""


@checked("data")
def as_arrays(data: Any, name: str = "X") -> Any:
    """Frames, series and lists as arrays; arrays and containers of arrays as they are.

    Parameters
    ----------
    data : array, list, frame, series, or containers of these
        The data. Of a frame all columns have to be numbers or truth values.
    name : str, default "X"
        What errors call the data.

    Returns
    -------
    array or containers of arrays
        A frame becomes an array of two axes, of the smallest dtype that holds all its columns. What is missing or
        masked becomes nan. Memory maps and None stay what they are.

    Raises
    ------
    TypeError
        If a column is text, dates or other objects.
    ImportError
        If there is a frame but no narwhals.

    Examples
    --------
    >>> import pandas as pd
    >>> from adjoint import data
    >>> data.as_arrays(pd.DataFrame({"height": [1.8, 1.6], "age": [31, 42]}))
    array([[ 1.8, 31. ],
           [ 1.6, 42. ]])
    """
    if isinstance(data, dict):
        return {key: as_arrays(part, f"{name}.{key}") for key, part in data.items()}
    if type(data) is tuple:
        return tuple([as_arrays(part, f"{name}.{k}") for k, part in enumerate(data)])
    if is_frame(data):
        return _of_frame(data, name)
    if isinstance(data, (list, int, float, np.generic)):
        return _of_list(data, name)
    if type(data) is np.ndarray:  # before NumPy has to load its masked arrays
        return data
    if isinstance(data, np.ma.MaskedArray):
        return np.ma.filled(data.astype(np.result_type(data.dtype, np.float16)), np.nan)
    if isinstance(data, np.ndarray):
        return data if isinstance(data, np.memmap) else np.asarray(data)
    if hasattr(data, "__array__") and not isinstance(getattr(data, "dtype", None), np.dtype):
        return np.asarray(data)  # a tensor of another library
    return data


def _of_list(data: Tree, name: str) -> np.ndarray:
    try:
        return np.asarray(data)
    except ValueError as error:
        raise ValueError(
            ad.errors.message(
                f"{name} needs rows of one length.",
                got=f"{name}: a list whose items differ in shape",
                fix="Pad them; or pass  iter(chunks)  if these are pieces of the data, each of many rows.",
            )
        ) from error


def is_frame(data: Any) -> bool:
    """Whether this is of a package of frames."""
    return type(data).__module__.partition(".")[0] in FRAMES


def _of_frame(data: Tree, name: str) -> np.ndarray:
    """The columns side by side."""
    try:
        import narwhals as nw
    except ImportError as error:
        raise ImportError(
            ad.errors.message(
                f"{name} is a frame of {type(data).__module__.partition('.')[0]}, which is read by narwhals.",
                got="no narwhals",
                fix=f"Run  pip install 'adjoint[data]',  or pass  {name}.to_numpy().",
            )
        ) from error
    table = nw.from_native(data, allow_series=True)
    if isinstance(table, nw.LazyFrame):
        table = table.collect()
    columns = [table] if isinstance(table, nw.Series) else list(table.iter_columns())
    arrays = [_column(column, name) for column in columns]
    if isinstance(table, nw.Series):
        return arrays[0]
    return np.stack(arrays, axis=1) if arrays else np.empty((len(table), 0))


def _column(column: Array, name: str) -> np.ndarray:
    """The numbers of a column; what is missing becomes nan."""
    if not (column.dtype.is_numeric() or str(column.dtype) == "Boolean") or str(column.dtype).startswith("Decimal"):
        raise TypeError(
            ad.errors.message(
                f"Columns of {name} have to be numbers.",
                got=f"column {column.name!r} of type {column.dtype}",
                fix="Leave it out, number its values with  np.unique(values, return_inverse=True)[1],  or write one "
                "column for each of them with  data.one_hot.",
            )
        )
    missing = column.is_null()
    if not missing.any():
        return np.ascontiguousarray(column.to_numpy())
    import narwhals as nw

    return np.ascontiguousarray(column.cast(nw.Float64).to_numpy()).astype(np.float64)
