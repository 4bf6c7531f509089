"""Which class is converted by which function; what has none is refused by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files.table import classes

if TYPE_CHECKING:
    from .graph import OnnxGraph


@dataclass
class InputColumns:
    """Columns of the input of an estimator: a matrix of numbers, or values of shape (n, 1), some of them texts."""

    graph: OnnxGraph
    columns: list[str] = field(default_factory=list)
    matrix: str | None = None
    width: int = 0

    def numbers(self) -> str:
        """All columns as one matrix."""
        return self.matrix if self.matrix is not None else self.graph.joined(*self.columns)

    def only(self, places: list[int]) -> InputColumns:
        """Some of the columns."""
        if self.matrix is None:
            return InputColumns(self.graph, [self.columns[k] for k in places], width=len(places))
        return InputColumns(self.graph, matrix=self.graph.columns(self.matrix, places), width=len(places))

    def each(self) -> list[str]:
        """Every column by itself, of shape (n, 1)."""
        if self.matrix is None:
            return self.columns
        return [self.graph.columns(self.matrix, [k]) for k in range(self.width)]


Results = dict[str, Any]
"""By name: "transformed" (`InputColumns`), "logits", "deviation", and the outputs of `to_onnx`."""
Converter = Callable[..., Results]

CONVERTERS: dict[str, Converter] = {}


def converts(*names: str) -> Callable[[Converter], Converter]:
    """A decorator: the function converts these classes, by their names in `files/table.py`."""

    def noted(function: Converter) -> Converter:
        CONVERTERS.update(dict.fromkeys(names, function))
        return function

    return noted


class ExportError(ValueError):
    """A model, or a part of it, has no form in ONNX: the message says which."""


def converted(g: OnnxGraph, model: Any, x: InputColumns, coverage: float | None = None) -> Results:
    """The results of a fitted estimator for these columns."""
    named = {kind: name for name, kind in classes().items()}
    for kind in type(model).__mro__:
        function = CONVERTERS.get(named.get(kind, ""))
        if function is not None:
            takes = function.__code__.co_varnames[: function.__code__.co_argcount]
            return function(g, model, x, coverage) if "coverage" in takes else function(g, model, x)
    raise ExportError(
        f"{type(model).__name__} cannot be exported to ONNX. What can be: {', '.join(sorted(CONVERTERS))}."
    )


def refuse(model: Any, what: str) -> ExportError:
    """The error for an option that has no form in ONNX."""
    return ExportError(f"{type(model).__name__} with {what} cannot be exported to ONNX.")


def probabilities_of(g: OnnxGraph, model: Any, x: InputColumns) -> str:
    """What `predict_proba` gives."""
    found = converted(g, model, x)
    if "probabilities" not in found:
        raise refuse(model, "no probabilities")
    return found["probabilities"]


def logits_of(g: OnnxGraph, model: Any, x: InputColumns) -> str:
    """What `scoring.logits_of` gives: logits, logarithms of probabilities, or the decision function."""
    found = converted(g, model, x)
    if getattr(model, "decision_function_is_logits", False) or "probabilities" not in found:
        return found["logits"]
    return logarithms(g, found["probabilities"])


def logarithms(g: OnnxGraph, p: str) -> str:
    """Of probabilities; of 0 that of the smallest number."""
    return g("Log", g("Max", p, np.array(np.finfo(g.dtype).tiny)))


def softmax(g: OnnxGraph, logits: str) -> str:
    """Probabilities of logits."""
    return g("Softmax", logits, axis=1)


def labelled(g: OnnxGraph, classes: Any, scores: str) -> str:
    """The class of the greatest score."""
    return g("Gather", labels(g, classes), g("ArgMax", scores, axis=1, keepdims=0), axis=0)


def labels(g: OnnxGraph, classes: Any) -> str:
    """Classes as a constant: whole numbers, real ones, or texts."""
    values = np.asarray(classes)
    if values.dtype.kind in "iub":
        return g.constant(values.astype(np.int64 if values.dtype.kind != "b" else np.bool_))
    return g.constant(values)
