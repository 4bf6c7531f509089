"""What the columns of a table are: numbers, texts or dates; found out when a model is fitted, and kept with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import CommandError, suggestion
from .tables import TableFile, problem

Kinds = dict[str, str]
"""By the name of the column: "number", "text", "date", or "days" for a date that is taken as a number."""
MOSTLY = 0.9
"""A column with more numbers than this share has mistakes in it, where it has something else."""
MOST_CLASSES = 20
"""Whole numbers with no more distinct values than this are classes, unless said otherwise."""


def kind_of(column: Any) -> str:
    """What a column is."""
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(column):
        return "date"
    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        return "number"
    known = column.dropna()
    if len(known) == 0:
        return "number"
    texts = known.astype(str)
    if _numbers(texts).notna().mean() > MOSTLY:
        return "number"
    if texts.str.match(r"\d{4}-\d{2}-\d{2}").all() and _dates(texts).notna().all():
        return "date"
    return "text"


def _numbers(texts: Any) -> Any:
    import pandas as pd

    return pd.to_numeric(texts, errors="coerce")


def _dates(texts: Any) -> Any:
    import pandas as pd

    return pd.to_datetime(texts, errors="coerce", format="ISO8601", utc=True).dt.tz_localize(None)


def as_kind(table: TableFile, name: str, kind: str, notes: list[str]) -> Any:
    """A column as numbers, texts or dates; numbers that are none are missing, and said."""
    import pandas as pd

    column = table.frame[name]
    if kind == "text":
        found = column.astype(object).where(column.notna(), None)
        return pd.Series([None if v is None else str(v) for v in found], index=column.index, dtype=object)
    if kind in ("date", "days"):
        found = column if pd.api.types.is_datetime64_any_dtype(column) else _dates(column.astype(object))
    elif pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        found = column.astype(np.float64)
    else:
        found = _numbers(column.astype(object)).astype(np.float64)
    lost = np.flatnonzero((found.isna() & column.notna()).to_numpy())
    if len(lost):
        where = table.problem(
            int(lost[0]), name, f"{column.iloc[lost[0]]!r} is no {'number' if kind == 'number' else 'date'}"
        ).what
        notes.append(f"{where}: taken as missing, {len(lost)} in all")
    return (found - pd.Timestamp(0)) / pd.Timedelta(days=1) if kind == "days" else found


def features(table: TableFile, kinds: Kinds, notes: list[str], *, beside: Sequence[str] = ()) -> Any:
    """The columns that a model takes, each as its kind; others are noted, but for those that are known to be there."""
    import pandas as pd

    missing = [name for name in kinds if name not in table.frame.columns]
    if missing:
        close = suggestion(missing[0], [str(c) for c in table.frame.columns])
        what = f"{table.path} has no column {missing[0]!r}, which the model takes"
        raise problem(what, hint=close or f"Its columns are {', '.join(map(repr, table.frame.columns))}."[:300])
    extra = [name for name in table.frame.columns if name not in kinds and name not in beside]
    if extra:
        notes.append(f"{table.path}: columns that the model does not take: {', '.join(map(str, extra))}"[:200])
    return pd.DataFrame({name: as_kind(table, name, kind, notes) for name, kind in kinds.items()})


def described(table: TableFile, kinds: Kinds, target: str | None = None) -> str:
    """Rows, and how many columns there are of which kind."""
    counts = Counter({"days": "date"}.get(kind, kind) for kind in kinds.values())
    words = [
        f"{counts[kind]} {kind}{'s' if counts[kind] != 1 else ''}"
        for kind in ("number", "text", "date")
        if counts[kind]
    ]
    gaps = int(table.frame[list(kinds)].isna().sum().sum())
    aim = f"; target {target!r}" if target else ""
    return f"{table.path}: {len(table.frame):,} rows, columns: {', '.join(words)}; {gaps:,} values missing{aim}"


def target_column(table: TableFile, name: str) -> Any:
    """The column that is to be predicted."""
    if name not in table.frame.columns:
        hint = suggestion(name, [str(c) for c in table.frame.columns])
        raise problem(
            f"{table.path} has no column {name!r}",
            hint=hint or f"Its columns are {', '.join(map(repr, table.frame.columns))}."[:300],
        )
    return table.frame[name]


def task_of(column: Any) -> str:
    """Whether classes are predicted, or numbers."""
    import pandas as pd

    known = column.dropna()
    if pd.api.types.is_bool_dtype(column) or kind_of(column) != "number":
        return "classify"
    numbers = _numbers(known.astype(object))
    whole = bool((numbers.dropna() % 1 == 0).all())
    return "classify" if whole and numbers.nunique() <= MOST_CLASSES else "regress"


def target_values(table: TableFile, name: str, task: str) -> tuple[Any, Any]:
    """The values of the target, and which rows have one; a number that is none is an error."""
    import pandas as pd

    column = target_column(table, name)
    there = column.notna().to_numpy()
    if not there.any():
        raise problem(f"{table.path}: the target {name!r} has no values")
    if task == "classify":
        if kind_of(column) == "number" and not pd.api.types.is_bool_dtype(column):
            numbers = _checked(table, name, column)
            whole = bool((numbers.dropna() % 1 == 0).all())
            values = numbers.where(there, 0).astype(np.int64 if whole else np.float64).to_numpy()
        elif pd.api.types.is_bool_dtype(column):
            values = column.astype(bool).to_numpy()
        else:
            values = column.astype(object).where(there, "").astype(str).to_numpy().astype(str)
        if len(np.unique(values[there])) < 2:
            raise problem(f"{table.path}: the target {name!r} has a single class, {str(values[there][0])!r}")
        return values, there
    return _checked(table, name, column).astype(np.float64).to_numpy(), there


def _checked(table: TableFile, name: str, column: Any) -> Any:
    """A target of numbers."""
    import pandas as pd

    numbers = column if pd.api.types.is_numeric_dtype(column) else _numbers(column.astype(object))
    wrong = np.flatnonzero(
        (numbers.isna() & column.notna()).to_numpy() | np.isinf(numbers.astype(np.float64).to_numpy())
    )
    if len(wrong):
        what = f"{column.iloc[wrong[0]]!r} is not a number, in the target"
        hint = f"{len(wrong)} of {len(column)} are not. For classes say  --task classify."
        raise table.problem(int(wrong[0]), name, what, hint=hint)
    return numbers


def kinds_in(table: TableFile, leave_out: list[str], *, dates: str) -> Kinds:
    """The kinds of all columns but some; dates are "date" or "days"."""
    for name in leave_out:
        target_column(table, name)
    found = {str(name): kind_of(table.frame[name]) for name in table.frame.columns if name not in leave_out}
    found = {name: dates if kind == "date" else kind for name, kind in found.items()}
    if not found:
        raise CommandError("there is no column left to predict from")
    return found
