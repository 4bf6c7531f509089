"""Missing values and categories; a text that is missing is the empty one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..labels import Array
from .registry import InputColumns, Results, converts, refuse
from .scalers import transformed

if TYPE_CHECKING:
    from .graph import OnnxGraph


@converts("sklearn.SimpleImputer")
def imputer(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """A number or a text in the place of missing ones; truth values beside them, if asked for."""
    if not (isinstance(model.missing_values, float) and np.isnan(model.missing_values)):
        raise refuse(model, f"missing_values={model.missing_values!r}")
    kept = _kept(model)
    columns: list[str] = []
    texts = model.statistics_.dtype.kind in "OU"
    for place, column in zip(kept, (x.each()[k] for k in kept), strict=True):
        value = np.asarray(str(model.statistics_[place]) if texts else float(model.statistics_[place]))
        columns.append(g("Where", _missing(g, column, text=texts), value, column))
    if model.indicator_ is not None:
        columns += [g.number(_missing(g, x.each()[k], text=texts)) for k in model.indicator_.features_]
    if texts:
        return {"transformed": InputColumns(g, columns, width=len(columns))}
    return transformed(g, g.joined(*columns), len(columns))


def _kept(model: Any) -> list[int]:
    """Columns that are left: those without any value are dropped, unless they are to be kept."""
    numbers = model.statistics_.dtype.kind == "f"
    empty = np.isnan(model.statistics_) if numbers and not model.keep_empty_features else np.zeros(model.n_features_in_)
    return np.flatnonzero(empty == 0).tolist()


def _missing(g: OnnxGraph, column: str, *, text: bool) -> str:
    if not text:
        return g("IsNaN", column)
    return g("Equal", _numbered(g, column, [""]), np.int64(0))


def _numbered(g: OnnxGraph, column: str, categories: list[str]) -> str:
    """The place of each text in a list, or -1."""
    return g(
        "LabelEncoder", column, domain="ai.onnx.ml", keys_strings=categories,
        values_int64s=list(range(len(categories))), default_int64=-1,
    )  # fmt: skip


def _codes(g: OnnxGraph, column: str, categories: Array) -> str:
    """Whether a column of shape (n, 1) is each of the categories, (n, categories)."""
    if categories.dtype.kind in "OU":
        texts = ["" if c is None or c != c else str(c) for c in categories]  # nan is not itself
        if len(set(texts)) != len(texts):
            raise ValueError("Categories cannot be exported to ONNX if two of them look alike as texts.")
        return g("Equal", _numbered(g, column, texts), np.arange(len(texts), dtype=np.int64)[None])
    same = g("Equal", column, categories.astype(np.float64)[None])
    if categories.dtype.kind == "f" and np.isnan(categories).any():
        return g("Or", same, g("And", g("IsNaN", column), np.isnan(categories)[None]))
    return same


@converts("sklearn.OneHotEncoder")
def one_hot(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """A column for each category; unknown ones have zeros in all, whatever the encoder does with them."""
    parts = []
    for k, column in enumerate(x.each()):
        categories = model.categories_[k]
        hits = g.number(_codes(g, column, categories))
        groups = model._default_to_infrequent_mappings[k] if model._infrequent_enabled else None
        drop = None if model._drop_idx_after_grouping is None else model._drop_idx_after_grouping[k]
        width = len(categories)
        if groups is not None:
            width = int(np.max(groups)) + 1
            hits = g.affine(hits, np.eye(width)[groups])
        if groups is not None and model.handle_unknown in ("infrequent_if_exist", "warn"):
            rest = g("Sub", np.array(1.0), g.total(hits, keep=True))
            hits = g("Add", hits, g("Mul", rest, np.eye(width)[-1:]))
        parts.append(hits if drop is None else g.columns(hits, [j for j in range(width) if j != drop]))
    return transformed(g, g.joined(*parts), sum(model._n_features_outs))


@converts("sklearn.OrdinalEncoder")
def ordinal(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """The number of the category; of unknown ones what the encoder says."""
    if model._infrequent_enabled:
        raise refuse(model, "rare categories")
    parts = []
    for k, column in enumerate(x.each()):
        hits = g.number(_codes(g, column, model.categories_[k]))
        values = np.arange(len(model.categories_[k]), dtype=np.float64)
        missing = model._missing_indices.get(k)
        known = g.total(hits, keep=True)
        if missing is not None:  # nan times 0 would be nan
            values[missing] = 0.0
        code = g.affine(hits, values[:, None])
        if model.handle_unknown == "use_encoded_value":
            code = g("Where", g("Equal", known, np.array(0.0)), np.array(float(model.unknown_value)), code)
        if missing is not None:
            at = g.columns(hits, [missing])
            code = g("Where", g("Equal", at, np.array(1.0)), np.array(float(model.encoded_missing_value)), code)
        parts.append(code)
    return transformed(g, g.joined(*parts), x.width)


@converts("sklearn.KBinsDiscretizer")
def bins(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """The number of the bin, or a column for each."""
    parts = []
    for k, column in enumerate(x.each()):
        inner = np.asarray(model.bin_edges_[k][1:-1], dtype=np.float64)
        number = g.total(g.number(g("GreaterOrEqual", column, inner[None])), keep=True) if len(inner) else g(
            "Mul", column, np.array(0.0)
        )  # fmt: skip
        one_hot = model.encode != "ordinal"
        count = np.arange(len(inner) + 1, dtype=np.float64)
        parts.append(g.number(g("Equal", number, count[None])) if one_hot else number)
    width = x.width if model.encode == "ordinal" else int(np.sum(model.n_bins_))
    return transformed(g, g.joined(*parts), width)
