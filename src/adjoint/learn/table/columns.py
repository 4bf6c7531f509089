"""Columns of frames and arrays, each as what it is: numbers, words or dates.

Kinds are found in `fit` and kept: what was a number stays one. Missing is nan in numbers, NaT in dates, and the empty
word in words, whether it came as None, NaN, NA or NaT.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from numbers import Real
from typing import Any, Literal

import numpy as np

from ..labels import Array

Kind = Literal["number", "word", "date"]
MISSING_WORD = ""
SECOND = np.timedelta64(1, "s")
DATES = (datetime.date, np.datetime64)
DURATIONS = (datetime.timedelta, np.timedelta64)


def is_frame(X: Any) -> bool:
    """Whether columns have names and types of their own: a frame of pandas, polars or their like."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "shape")


def columns_in(X: Any) -> Iterator[tuple[str, Any]]:
    """Each column with its name; those of an array are called x0, x1, ..."""
    if is_frame(X):
        for name in X.columns:
            yield str(name), X[name]
    else:
        for k in range(X.shape[1]):
            yield f"x{k}", X[:, k]


def values_of(column: Any) -> tuple[Array, bool]:
    """The values of a column as numbers (durations are seconds), dates or objects; and whether its type says words."""
    kind = getattr(column, "dtype", None)
    if isinstance(column, np.ndarray):
        return _plain(column), False
    is_words = hasattr(kind, "categories") or str(kind).startswith(("Categorical", "Enum"))
    if is_words:
        return np.asarray(column.astype(object) if hasattr(column, "astype") else column.to_numpy(), object), True
    if getattr(kind, "tz", None) is not None:  # the hour of the day is that of the place
        column = column.dt.tz_localize(None)
    elif getattr(kind, "time_zone", None) is not None:
        column = column.dt.replace_time_zone(None)
    if getattr(kind, "kind", "") in tuple("biuf") and not isinstance(kind, np.dtype):  # nullable, of pandas
        return column.to_numpy(dtype=np.float64, na_value=np.nan), False
    return _plain(np.asarray(column.to_numpy())), False


def _plain(values: Array) -> Array:
    """Numbers as doubles, dates and durations in seconds, all else as objects."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind == "M":
        return values.astype("datetime64[s]")
    if values.dtype.kind == "m":
        return np.where(np.isnat(values), np.nan, values / SECOND)
    return values.astype(object)


def kind_of(values: Array, is_words: bool) -> Kind:
    """What a column is: objects are numbers or dates if all that are not missing can be read as such."""
    if values.dtype.kind == "M":
        return "date"
    if values.dtype.kind == "f" and not is_words:
        return "number"
    if not is_words:
        met = [v for v in values if not is_missing(v)]
        for kind, one in (("number", number), ("date", date)):
            if all(_can(one, v) for v in met):  # up to the first that cannot
                return kind  # type: ignore[return-value]
    return "word"


def read(values: Array, kind: Kind, name: str) -> Array:
    """A column as the kind that it was in `fit`."""
    if kind == "word":
        return np.array([word(v) for v in values.tolist()], dtype=object)
    if kind == "number" and values.dtype.kind == "f":
        return values
    if kind == "date" and values.dtype.kind == "M":
        return values
    one, none = (number, np.nan) if kind == "number" else (date, np.datetime64("NaT", "s"))
    found = np.empty(len(values), np.float64 if kind == "number" else "datetime64[s]")
    for k, value in enumerate(values):
        try:
            found[k] = none if is_missing(value) else one(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"The column {name!r} was {kind}s in fit, but row {k} has {value!r}, which is none."
            ) from None
    return found


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, NA, NaT or a blank text."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, (Real, np.datetime64, np.timedelta64)) and bool(value != value)


def number(value: Any) -> float:
    """A number, a text that is one, or a duration in seconds."""
    if isinstance(value, DURATIONS):
        return float(np.timedelta64(value) / SECOND)
    if isinstance(value, (Real, str)) or hasattr(value, "__float__"):
        return float(value)
    raise TypeError(f"{type(value).__name__} is no number")


def date(value: Any) -> np.datetime64:
    """A date, or a text that is one in the form of ISO 8601."""
    if isinstance(value, datetime.datetime):
        value = value.replace(tzinfo=None)
    if isinstance(value, (*DATES, str)):
        return np.datetime64(value).astype("datetime64[s]")
    raise TypeError(f"{type(value).__name__} is no date")


def word(value: Any) -> str:
    """The text of a value; 1.0 and 1 are the same."""
    if is_missing(value):
        return MISSING_WORD
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _can(one: Any, value: Any) -> bool:
    try:
        one(value)
    except (TypeError, ValueError):
        return False
    return True
