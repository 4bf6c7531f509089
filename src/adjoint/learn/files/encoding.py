"""Objects to JSON and arrays: one grammar for all classes.

null, true, 3, 0.5, "text", [..]      as in Python; everything else is an object with one name:
{"float": "nan"}                      numbers that JSON has not
{"tuple": [..]}, {"set": [..]}, {"dict": [[key, value], ..]}, {"slice": [a, b, c]}
{"array": ["3"]}                      the array "3" of the file; what its type and order were, if others
{"objects": [[2], ["a", null]]}       an array of objects: its shape and its elements
{"scalar": ["<f8", value]}            a number of NumPy's
{"dtype": "<f8"}, {"type": "float64"}, {"function": "nn.relu"}
{"object": ["learn.Ridge", {"alpha": 1.0, ..}]}   a class of the table, and what `vars` of it has
{"same": 4}                           the fourth object that was met, again
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np

from adjoint import optim

from ..labels import Array
from .layout import NAMES, RefusalError
from .table import DROPPED, ROOM, TYPES, classes, functions, optimizers

LARGEST = 2**64
"""Whole numbers of a file are smaller."""


class Encoder:
    """What is encoded of one model: its arrays by name, and the objects that were met."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.met: dict[int, int | None] = {}
        self.shared: dict[int, Any] = {}
        self.kept: list[Any] = []  # what is kept, keeps its identity
        self.done = 0
        self.names = {kind: name for name, kind in classes().items()}
        self.functions = {id(f): name for name, f in functions().items()}

    def encoded(self, x: Any, at: str) -> Any:
        """JSON for a value, which is at `at` in the model."""
        if x is None or type(x) in (bool, str):
            return x
        if type(x) is int:
            if abs(x) >= LARGEST:
                raise RefusalError(f"{at} is a whole number of {x.bit_length()} bits; 64 can be saved.")
            return x
        if type(x) is float:
            return x if math.isfinite(x) else {"float": repr(x)}
        if isinstance(x, np.ndarray):
            if id(x) not in self.shared:  # one that is in two places, as tied weights are, stays one
                self.shared[id(x)] = self._array(np.asarray(x), at)
                self.kept.append(x)
            return self.shared[id(x)]
        if isinstance(x, np.generic):
            return {"scalar": [x.dtype.str, self._array(np.asarray(x), at)]}
        return self._container(x, at)

    def _container(self, x: Any, at: str) -> Any:
        if type(x) is list:
            return [self.encoded(v, f"{at}[{k}]") for k, v in enumerate(x)]
        if type(x) in (tuple, set, frozenset):
            name = "tuple" if type(x) is tuple else "set"
            return {name: [self.encoded(v, f"{at}[{k}]") for k, v in enumerate(x)]}
        if isinstance(x, optim.Optimizer) or getattr(x, "recipe", None) is not None:
            return self._recipe(x, at)
        if type(x).__name__ in ("dict", "defaultdict", "OrderedDict") and isinstance(x, dict):
            pairs = [[self.encoded(k, f"a key of {at}"), self.encoded(v, f"{at}[{k!r}]")] for k, v in x.items()]
            return {"dict": pairs}
        if isinstance(x, slice):
            return {"slice": [self.encoded(v, at) for v in (x.start, x.stop, x.step)]}
        if isinstance(x, np.dtype):
            return {"dtype": x.str}
        if isinstance(x, type) and x in TYPES:
            return {"type": x.__name__}
        if id(x) in self.functions:
            return {"function": self.functions[id(x)]}
        return self._object(x, at)

    def _array(self, x: Array, at: str) -> Any:
        """An array, by its number in the file; strings by their code points, times by their ticks."""
        if x.dtype.kind == "O":
            return {"objects": [list(x.shape), [self.encoded(v, f"{at}[{k}]") for k, v in enumerate(x.ravel())]]}
        note = {}
        plain = x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))
        if plain.flags.f_contiguous and not plain.flags.c_contiguous:
            plain, note["order"] = plain.T, "F"
        plain = np.ascontiguousarray(plain).reshape(plain.shape)
        if plain.dtype not in NAMES:
            if plain.dtype.kind not in "USMmc" or plain.dtype.itemsize == 0:
                raise RefusalError(f"{at} is an array of {plain.dtype}, which cannot be saved.")
            note["dtype"] = plain.dtype.str
            unit = {"U": "<u4", "S": "u1", "c": f"<f{plain.dtype.itemsize // 2}"}.get(plain.dtype.kind, "<i8")
            plain = plain.reshape(*plain.shape, 1).view(unit)
        name = str(len(self.arrays))
        self.arrays[name] = plain
        return {"array": [name, note]} if note else {"array": [name]}

    def _recipe(self, x: Any, at: str) -> Any:
        """An optimiser or a schedule by the call that made it."""
        recipe = getattr(getattr(x, "update", x), "recipe", None)
        name = getattr(getattr(recipe, "make", None), "__name__", "")
        if recipe is None or name not in optimizers():
            raise RefusalError(f"{at} is an optimiser of your own, whose functions cannot be saved.")
        args, options = self.encoded(list(recipe.args), at), self.encoded(dict(recipe.options), at)
        return {"optimizer": [name, args, options]}

    def _object(self, x: Any, at: str) -> Any:
        """An object of a class in the table."""
        if id(x) in self.met:
            number = self.met[id(x)]
            if number is None:
                raise RefusalError(f"{at} is an object that holds itself, which cannot be saved.")
            return {"same": number}
        self.met[id(x)] = None
        self.kept.append(x)
        found = self._random(x, at) or self._tree(x, at) or self._by_table(x, at)
        self.done += 1
        self.met[id(x)] = self.done
        return found

    def _by_table(self, x: Any, at: str) -> Any:
        name = self.names.get(type(x))
        if name is None:
            raise RefusalError(_why_not(x, at))
        state = x.__getstate__() if hasattr(type(x), "__setstate__") else vars(x)
        if name == "sklearn.Bunch":
            state = dict(x)
        if type(x).__module__.startswith(f"{ROOM}."):
            state = {key: value for key, value in state.items() if key not in DROPPED or key in _parameters(x)}
        return {"object": [name, {key: self.encoded(value, f"{at}.{key}") for key, value in state.items()}]}

    def _random(self, x: Any, at: str) -> Any:
        """A source of random numbers, by its state."""
        if isinstance(x, np.random.RandomState):
            return {"random": ["RandomState", self.encoded(x.get_state(), at)]}
        if isinstance(x, np.random.Generator) and isinstance(x.bit_generator, np.random.PCG64):
            state = x.bit_generator.state
            words = [f"{state['state'][key]:x}" for key in ("state", "inc")]
            return {"random": ["PCG64", [*words, state["has_uint32"], state["uinteger"]]]}
        return None

    def _tree(self, x: Any, at: str) -> Any:
        """A decision tree of scikit-learn's: its nodes column by column."""
        if f"{type(x).__module__}.{type(x).__name__}" != "sklearn.tree._tree.Tree":
            return None
        _, (features, counts, outputs), state = x.__reduce__()
        columns = {name: np.ascontiguousarray(state["nodes"][name]) for name in state["nodes"].dtype.names}
        parts = [features, counts, outputs, state["max_depth"], state["values"], columns]
        return {"tree": [self.encoded(part, at) for part in parts]}


def _parameters(x: Any) -> tuple[str, ...]:
    return tuple(inspect.signature(type(x).__init__).parameters)


def _why_not(x: Any, at: str) -> str:
    """Why something cannot be saved, by its place in the model."""
    kind = type(x)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if callable(x) and hasattr(x, "__name__"):
        return (
            f"{at} is the function {x.__name__!r}: code is not saved, so that files cannot run any. Take a name in its "
            "place where there is one, or a function of adjoint.nn or adjoint.losses."
        )
    if hasattr(x, "best_estimator_"):
        return f"{at} is a search, {name}: save its best_estimator_."
    return f"{at} is of the class {name}, which is not in the table of what can be saved."
