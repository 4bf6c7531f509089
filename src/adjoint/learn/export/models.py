"""`to_onnx`: a fitted model as a file that other programs run."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...core.files.replacing import replaced
from ..files.trial import categories_of, dates_of
from . import averages, calibrated, composite, conformal, encoders, linear, networks, scalers, tables, trees
from .registry import InputColumns, converted

OUTPUTS = ("label", "probabilities", "value", "deviation", "set", "interval", "decision", "expected_cost", "output")
"""What a graph may give, in this order."""
LOADED = (averages, calibrated, composite, conformal, encoders, linear, networks, scalers, tables, trees)
"""Modules that have filled the table."""


def to_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    dtype: Any = np.float64,
    opset: int = 18,
    coverage: float | None = None,
) -> Any:
    """Write a fitted model, its preprocessing included, as an ONNX graph.

    Parameters
    ----------
    model : estimator or nn model
        An estimator of this library, one of the usual ones of scikit-learn, a `Pipeline` or `ColumnTransformer` of
        them, or a model of `adjoint.nn` made of dense layers.
    path : str or path, optional
        The file, which is replaced in one move if it exists.
    dtype : dtype
        float64, or float32 where speed is more than the last digits.
    opset : int
        The version of the operators, 18 or more.
    coverage : float, optional
        The level of sets and intervals, which is fixed in the graph; that of the model by default.

    Returns
    -------
    onnx.ModelProto
        The graph. Its input is a matrix "X"; or one input of shape (n, 1) for each column, by its name, if some are
        texts (where "" is a missing one) or dates (int64, seconds since 1970, where the least number is a missing one,
        as of `datetime64[s]`). Its outputs are what the model has of "label", "probabilities", "value", "deviation",
        "set", "interval", "decision" and "expected_cost"; for a model of `nn` "output". Sets by "aps", "raps" and
        "saps" take one more input, "chance": numbers between 0 and 1 drawn for each row and fold.

    Raises
    ------
    ExportError
        A `ValueError` that names the part that has no form in ONNX, as a function of yours.
    ImportError
        If `onnx` is not installed.

    Examples
    --------
    >>> from adjoint import learn
    >>> graph = learn.to_onnx(learn.Ridge().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]))
    >>> [output.name for output in graph.graph.output]
    ['value']
    """
    if find_spec("onnx") is None:
        raise ImportError("to_onnx needs onnx:  pip install 'adjoint[learn]'")
    if np.dtype(dtype) not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype has to be float64 or float32, got {dtype!r}.")
    if opset < 18:
        raise ValueError(f"opset has to be 18 or more, got {opset!r}.")
    from .graph import OnnxGraph

    g = OnnxGraph(np.dtype(dtype), opset)
    found = converted(g, model, _inputs(g, model), coverage)
    outputs = {name: found[name] for name in OUTPUTS if name in found}
    if "transformed" in found:
        outputs["output"] = found["transformed"].numbers()
    made = g.finished(outputs, f"{type(model).__name__} of adjoint.learn")
    if path is not None:
        with replaced(path) as file:
            file.write(made.SerializeToString())
    return made


def _inputs(g: Any, model: Any) -> InputColumns:
    """One matrix, or a value for each column where some are texts."""
    kinds: dict[str, Any] = {**dict.fromkeys(categories_of(model), str), **dict.fromkeys(dates_of(model), np.int64)}
    count = int(model.n_features_in_) if hasattr(model, "n_features_in_") else networks.inputs_of(model)
    if not kinds:
        return InputColumns(g, matrix=g.input("X", count), width=count)
    names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{k}" for k in range(count)])]
    return InputColumns(g, [g.input(name, 1, kinds.get(name)) for name in names], width=count)
