"""Estimators of tables: numbers, words and dates in, encoded as `TableEncoder` does, and a packed network behind it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from .encoders import one_hot
from .networks import layer
from .registry import InputColumns, Results, converted, converts, labelled, softmax
from .scalers import transformed

if TYPE_CHECKING:
    from .graph import OnnxGraph

NOT_A_TIME = np.iinfo(np.int64).min
ERA = 146_097
"""Days in 400 years."""


@converts("learn.TableClassifier")
def classifier(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Logits of the ensemble, divided by the temperature."""
    outputs = _outputs(g, model, x)
    logits = g("Div", outputs, np.array(float(model.temperature_)))
    return {"logits": logits, "probabilities": softmax(g, logits), "label": labelled(g, model.classes_, logits)}


@converts("learn.TableRegressor")
def regressor(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """The mean of the members, in the units of y."""
    unit = g("Squeeze", _outputs(g, model, x), np.array([1]))
    return {"value": g("Add", g("Mul", unit, np.array(model.scale_)), np.array(model.center_))}


def _outputs(g: OnnxGraph, model: Any, x: InputColumns) -> str:
    return layer(g, model.model_, converted(g, model.encoder_, x)["transformed"].numbers())


@converts("learn.Blended")
def blended(g: OnnxGraph, part: Any, x: InputColumns) -> Results:
    """A line and a network, each with its share."""
    line = g("Mul", layer(g, part.line, x.numbers()), np.asarray(part.share, dtype=np.float64))
    rest = g("Mul", layer(g, part.network, x.numbers()), np.asarray(1.0 - part.share, dtype=np.float64))
    return {"output": g("Add", line, rest)}


@converts("learn.PackedNetwork")
def packed(g: OnnxGraph, part: Any, x: InputColumns) -> Results:
    """All members at once, (groups, members, n, outputs), and their mean: of numbers, or of probabilities."""
    value = x.numbers()
    for k, dense in enumerate(part.layers):
        value = g("MatMul", g("Relu", value) if k else value, dense.weight if k else part.scale * dense.weight)
        value = g("Add", value, dense.bias)
    members = np.array([0, 1])
    if not part.classifies:
        return {"output": g("ReduceMean", value, members, keepdims=0)}
    p = g("ReduceMean", g("Softmax", value, axis=-1), members, keepdims=0)
    return {"output": g("Log", g("Add", p, _constant("SMALLEST", part)))}


@converts("learn.TableEncoder")
def encoder(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Numbers in units of their range, whether they are missing, the pieces they lie in, and a column for each word."""
    numbers, words = [], []
    for kind, column in zip(model.kinds_, x.each(), strict=True):
        if kind == "word":
            words.append(column)
        else:
            numbers += [column] if kind == "number" else _parts_of_dates(g, column)
    parts, width = [], 0
    if numbers:
        matrix = g.joined(*numbers)
        missing = g("IsNaN", matrix)
        filled = g("Where", missing, model.center_[None], matrix)
        kept = np.flatnonzero(model.scale_ > 0.0)
        scaled = g.columns(g("Mul", g("Sub", filled, model.center_[None]), model.scale_[None]), kept)
        square = g("Div", g("Mul", scaled, scaled), _constant("LARGEST", model) ** 2)
        gappy = np.flatnonzero(model.is_gappy_)
        pieces = g("Sub", g.columns(filled, model.piece_column_), model.piece_left_[None])
        inside = g("Clip", g("Div", pieces, model.piece_width_[None]), np.array(0.0), np.array(1.0))
        smooth = g("Div", scaled, g("Sqrt", g("Add", square, np.array(1.0))))
        parts += [
            smooth,
            g.columns(g.number(missing), gappy),
            g("Mul", g("Sub", inside, np.array(0.5)), np.array(model.piece_size)),
        ]
        width += len(kept) + len(gappy) + len(model.piece_column_)
    if words:
        found = one_hot(g, model.words_, InputColumns(g, words, width=len(words)))["transformed"]
        parts.append(found.numbers())
        width += found.width
    return transformed(g, g.joined(*parts), width)


def _constant(name: str, made: Any) -> Any:
    """A constant of the module that an object is from: where numbers are bent, which probability is the smallest."""
    return np.array(float(getattr(sys.modules[type(made).__module__], name)))


def _parts_of_dates(g: OnnxGraph, seconds: str) -> list[str]:
    """Elapsed days, year, month, day of the year, weekday and hour, of seconds since 1970; nan for no date."""

    def whole(operation: str, a: Any, b: Any) -> str:
        return g(operation, *[np.int64(v) if isinstance(v, int) else v for v in (a, b)])

    gone = whole("Equal", seconds, int(NOT_A_TIME))
    safe = g("Where", gone, np.int64(0), seconds)
    shifted = whole("Add", safe, 86_400 * ERA * 5)  # 2,000 years, so that division rounds down
    day = whole("Sub", whole("Div", shifted, 86_400), ERA * 5)
    second = whole("Mod", shifted, 86_400)
    from_march = whole("Add", day, 719_468)  # since 1 March of year 0
    era = whole("Div", from_march, ERA)
    of_era = whole("Mod", from_march, ERA)
    leaps = whole(
        "Sub", whole("Div", of_era, 36_524), whole("Add", whole("Div", of_era, 1_460), whole("Div", of_era, 146_096))
    )
    year_of_era = whole("Div", whole("Add", of_era, leaps), 365)
    centuries = whole("Sub", whole("Div", year_of_era, 4), whole("Div", year_of_era, 100))
    day_of_year = whole("Sub", of_era, whole("Add", whole("Mul", year_of_era, 365), centuries))
    month = whole("Div", whole("Add", whole("Mul", day_of_year, 5), 2), 153)  # 0 is March
    is_next = whole("GreaterOrEqual", month, 10)
    calendar = whole("Add", month, g("Where", is_next, np.int64(-9), np.int64(3)))
    year = whole("Add", whole("Add", year_of_era, whole("Mul", era, 400)), g.cast(is_next, np.int64))
    past = whole("Sub", year, 1)
    leap_days = whole("Add", whole("Sub", whole("Div", past, 4), whole("Div", past, 100)), whole("Div", past, 400))
    first = whole("Sub", whole("Add", whole("Mul", past, 365), leap_days), 719_162)
    elapsed = g("Add", g.number(day), g("Div", g.number(second), np.array(86_400.0)))
    parts = [
        elapsed,
        *[g.number(v) for v in (year, calendar, whole("Add", whole("Sub", day, first), 1))],
        g.number(whole("Mod", whole("Add", whole("Add", day, 3), 7 * ERA * 5), 7)),
        g.number(whole("Div", second, 3_600)),
    ]
    return [g("Where", gone, np.array(np.nan), part) for part in parts]
