"""Transformers of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..labels import Array
from .registry import InputColumns, Results, converts, refuse

if TYPE_CHECKING:
    from .graph import OnnxGraph

FUNCTIONS = {np.log: "Log", np.exp: "Exp", np.sqrt: "Sqrt", np.abs: "Abs", np.tanh: "Tanh", np.sign: "Sign"}


def transformed(g: OnnxGraph, matrix: str, width: int) -> Results:
    """The result of a transformer."""
    return {"transformed": InputColumns(g, matrix=matrix, width=width)}


@converts("sklearn.StandardScaler")
def standard(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """(x - mean) / scale."""
    value = x.numbers()
    if model.with_mean:
        value = g("Sub", value, model.mean_[None])
    if model.with_std:
        value = g("Div", value, model.scale_[None])
    return transformed(g, value, x.width)


@converts("sklearn.RobustScaler")
def robust(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """(x - median) / range."""
    value = x.numbers()
    if model.with_centering:
        value = g("Sub", value, model.center_[None])
    if model.with_scaling:
        value = g("Div", value, model.scale_[None])
    return transformed(g, value, x.width)


@converts("sklearn.MinMaxScaler", "sklearn.MaxAbsScaler")
def ranged(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """X times a scale, plus a start."""
    if not hasattr(model, "min_"):
        return transformed(g, g("Div", x.numbers(), model.scale_[None]), x.width)
    value = g("Add", g("Mul", x.numbers(), model.scale_[None]), model.min_[None])
    low, high = model.feature_range
    return transformed(
        g, g("Clip", value, np.array(float(low)), np.array(float(high))) if model.clip else value, x.width
    )


@converts("sklearn.PCA", "sklearn.TruncatedSVD")
def projected(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """(x - mean) V, of variance 1 if whitened."""
    directions = model.components_.T
    if getattr(model, "whiten", False):
        directions = directions / np.sqrt(model.explained_variance_)
    mean = getattr(model, "mean_", None)
    value = x.numbers() if mean is None else g("Sub", x.numbers(), mean[None])
    return transformed(g, g.affine(value, directions), directions.shape[1])


@converts("sklearn.SelectKBest", "sklearn.SelectPercentile", "sklearn.VarianceThreshold")
def selected(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Some of the columns."""
    return {"transformed": x.only(np.flatnonzero(model.get_support()).tolist())}


@converts("sklearn.Normalizer")
def normalised(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Rows of length 1."""
    value = x.numbers()
    size = {
        "l1": lambda: g.total(g("Abs", value), keep=True),
        "l2": lambda: g("Sqrt", g.total(g("Mul", value, value), keep=True)),
        "max": lambda: g("ReduceMax", g("Abs", value), np.array([1]), keepdims=1),
    }[model.norm]()
    return transformed(g, g("Div", value, g("Where", g("Equal", size, np.array(0.0)), np.array(1.0), size)), x.width)


@converts("sklearn.FunctionTransformer")
def function(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """The identity, or one of NumPy's functions."""
    if model.func is None:
        return {"transformed": x}
    if model.kw_args or model.func not in (*FUNCTIONS, np.log1p, np.expm1):
        raise refuse(model, f"the function {getattr(model.func, '__name__', 'given')!r}")
    if model.func is np.log1p:
        return transformed(g, g("Log", g("Add", x.numbers(), np.array(1.0))), x.width)
    if model.func is np.expm1:
        return transformed(g, g("Sub", g("Exp", x.numbers()), np.array(1.0)), x.width)
    return transformed(g, g(FUNCTIONS[model.func], x.numbers()), x.width)


@converts("sklearn.PolynomialFeatures")
def polynomial(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Products of columns: of so many factors each, 1 among them."""
    ones = g("Add", g("Mul", x.only([0]).numbers(), np.array(0.0)), np.array(1.0))
    columns = g.joined(x.numbers(), ones)
    factors = [np.repeat(np.arange(x.width), powers) for powers in model.powers_]
    most = max([len(f) for f in factors])
    table = np.array([[*f, *[x.width] * (most - len(f))] for f in factors], dtype=np.int64)
    value = g.columns(columns, table[:, 0]) if most else g.columns(columns, [x.width] * len(factors))
    for k in range(1, most):
        value = g("Mul", value, g.columns(columns, table[:, k]))
    return transformed(g, value, len(factors))


@converts("sklearn.QuantileTransformer")
def quantiles(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Between the quantiles that were seen; where several are equal, the middle of what they stand for."""
    if model.output_distribution != "uniform":
        raise refuse(model, f"output_distribution={model.output_distribution!r}")
    parts = []
    for k, column in enumerate(x.each()):
        knots, at = model.quantiles_[:, k], model.references_
        upwards = interpolated(g, column, knots, at)
        downwards = interpolated(g, g("Neg", column), -knots[::-1], -at[::-1])
        middle = g("Mul", g("Sub", upwards, downwards), np.array(0.5))
        ends = g("Where", g("LessOrEqual", column, np.array(knots[0])), np.array(0.0), middle)
        parts.append(g("Where", g("GreaterOrEqual", column, np.array(knots[-1])), np.array(1.0), ends))
    return transformed(g, g.joined(*parts), x.width)


def interpolated(g: OnnxGraph, column: str, knots: Array, values: Array) -> str:
    """`np.interp` of a column of shape (n, 1): lines between knots, constant outside."""
    inside = g("Clip", column, np.array(knots[0]), np.array(knots[-1]))
    if len(knots) == 1:
        return g("Add", g("Mul", inside, np.array(0.0)), values[:1])
    # as np.interp does where knots are equal: the last of them counts
    place = g.cast(g.total(g.number(g("GreaterOrEqual", inside, knots[None, 1:-1])), keep=True), np.int64)
    width = np.diff(knots)
    slope = np.divide(np.diff(values), width, out=np.zeros(len(width)), where=width > 0.0)
    step = g("Sub", inside, g("Gather", g.constant(knots[:-1]), place))
    return g("Add", g("Gather", g.constant(values[:-1]), place), g("Mul", step, g("Gather", g.constant(slope), place)))
