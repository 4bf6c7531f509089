"""JSON and arrays to objects: the grammar of `encoding.py`, read from somebody who may mean harm.

Classes and functions are looked up in the table. Objects are made without their `__init__`, get the attributes that the
file has for them, and then have to be what their class takes: all its parameters, within their constraints.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..labels import Array
from .checks import check_attribute, check_object, tree_of
from .encoding import LARGEST
from .layout import RefusalError
from .table import TYPES, classes, functions, optimizers

MOST = 2**21
"""How many values a model may have where objects that are there several times count each time."""
FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
TYPE_NAMES = {kind.__name__: kind for kind in TYPES}


class Decoder:
    """What is decoded of one file: its arrays, and the objects that were made."""

    def __init__(self, arrays: dict[str, Array]) -> None:
        self.arrays = arrays
        self.unused = set(arrays)
        self.shared: dict[tuple[str, str, bool], Array] = {}
        self.made: list[tuple[Any, int]] = []
        self.count = 0
        self.readers: dict[str, Callable[[Any], Any]] = {
            "array": self._array, "dict": self._dict, "dtype": _dtype, "float": _float, "function": _function,
            "object": self._object, "objects": self._objects, "optimizer": self._optimizer, "random": self._random,
            "same": self._same, "scalar": self._scalar, "set": lambda v: set(self._all(v)),
            "slice": lambda v: slice(*self._all(v)), "tree": self._tree, "tuple": lambda v: tuple(self._all(v)),
            "type": _type,
        }  # fmt: skip

    def decoded(self, spec: Any) -> Any:
        """The value that a part of the spec stands for."""
        self.count += 1
        if self.count > MOST:
            raise RefusalError("has too many values.")
        if spec is None or isinstance(spec, (bool, str, float)):
            return spec
        if isinstance(spec, int):
            if abs(spec) >= LARGEST:
                raise RefusalError("has a whole number of more than 64 bits.")
            return spec
        if isinstance(spec, list):
            return self._all(spec)
        ((kind, value),) = spec.items() if len(spec) == 1 else (("", None),)
        if kind not in self.readers:
            raise RefusalError(f"has a value of the kind {kind[:30]!r}, which there is not.")
        return self.readers[kind](value)

    def _all(self, values: Any) -> list[Any]:
        if not isinstance(values, list):
            raise RefusalError("has something else where a list should be.")
        return [self.decoded(v) for v in values]

    def _some(self, values: Any, count: int, what: str) -> list[Any]:
        if not isinstance(values, list) or len(values) != count:
            raise RefusalError(f"has {what} that is not made of {count} parts.")
        return values

    def _dict(self, pairs: Any) -> dict[Any, Any]:
        if not isinstance(pairs, list):
            raise RefusalError("has something else where a list should be.")
        found = [(self.decoded(key), self.decoded(value)) for key, value in (self._some(p, 2, "a pair") for p in pairs)]
        made = dict(found)
        if len(made) != len(found):
            raise RefusalError("has a key twice.")
        return made

    def _array(self, value: Any) -> Array:
        name, note = (*value, {}) if isinstance(value, list) and len(value) == 1 else self._some(value, 2, "an array")
        if not isinstance(name, str) or name not in self.arrays or not isinstance(note, dict):
            raise RefusalError(f"refers to an array {str(name)[:20]!r} that is not there.")
        key = name, str(note.get("dtype")), "order" in note
        if key in self.shared:
            return self.shared[key]
        if name not in self.unused:
            raise RefusalError(f"refers to the array {name[:20]!r} in two ways.")
        self.unused.remove(name)
        array = self.arrays[name]
        if "dtype" in note:
            dtype = _dtype(note["dtype"])
            if dtype.kind not in "USMmc" or array.ndim == 0 or array.shape[-1] * array.itemsize != dtype.itemsize:
                raise RefusalError(f"has an array {name[:20]!r} that is not of the type {note['dtype'][:20]!r}.")
            if dtype.kind == "U" and array.size and (array.dtype != np.uint32 or array.max() > 0x10FFFF):
                raise RefusalError(f"has texts in {name[:20]!r} that are none.")
            array = array.view(dtype)[..., 0]
        self.shared[key] = array.T if "order" in note else array
        return self.shared[key]

    def _objects(self, value: Any) -> Array:
        shape, elements = self._some(value, 2, "an array of objects")
        if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape):
            raise RefusalError("has an array of objects without a shape.")
        values = self._all(elements)
        if math.prod(shape) != len(values):
            raise RefusalError("has an array of objects with more or fewer than its shape says.")
        array = np.empty(len(values), dtype=object)
        array[:] = values if not any(isinstance(v, (list, tuple, np.ndarray)) for v in values) else None
        for k, v in enumerate(values):
            array[k] = v
        return array.reshape(shape)

    def _scalar(self, value: Any) -> Any:
        code, spec = self._some(value, 2, "a number")
        array = self.decoded(spec)
        if not isinstance(array, np.ndarray) or array.shape != () or array.dtype != _dtype(code):
            raise RefusalError("has a number that is none.")
        return array[()]

    def _same(self, number: Any) -> Any:
        if type(number) is not int or not 1 <= number <= len(self.made):
            raise RefusalError("refers to an object that is not there.")
        x, weight = self.made[number - 1]
        self.count += weight
        return x

    def _kept(self, x: Any, since: int) -> Any:
        self.made.append((x, self.count - since))
        return x

    def _object(self, value: Any) -> Any:
        name, state = self._some(value, 2, "an object")
        since = self.count
        kind = classes().get(name) if isinstance(name, str) else None
        if kind is None or not isinstance(state, dict):
            raise RefusalError(
                f"has an object of the class {str(name)[:60]!r}, which is not in the table of this version."
            )
        for attribute in state:
            check_attribute(name, kind, attribute)
        made = object.__new__(kind) if not issubclass(kind, dict) else kind()
        attributes = {key: self.decoded(part) for key, part in state.items()}
        if isinstance(made, dict):
            made.update(attributes)
        elif hasattr(kind, "__setstate__"):
            made.__setstate__(attributes)  # type: ignore[attr-defined]
        else:
            vars(made).update(attributes)
        check_object(name, made, attributes)
        return self._kept(made, since)

    def _optimizer(self, value: Any) -> Any:
        name, args, options = self._some(value, 3, "an optimiser")
        if not isinstance(name, str) or name not in optimizers():
            raise RefusalError(f"has an optimiser {str(name)[:30]!r}, which there is not.")
        return optimizers()[name](*self.decoded(args), **self.decoded(options))

    def _random(self, value: Any) -> Any:
        since = self.count
        kind, state = self._some(value, 2, "random numbers")
        if kind == "RandomState":
            made: Any = np.random.RandomState(0)
            made.set_state(self.decoded(state))
        elif kind == "PCG64":
            a, b, has, integer = self._some(state, 4, "random numbers")
            bits: Any = np.random.PCG64(0)
            words = {"state": int(a, 16), "inc": int(b, 16)}
            bits.state = {"bit_generator": "PCG64", "state": words, "has_uint32": has, "uinteger": integer}
            made = np.random.Generator(bits)
        else:
            raise RefusalError("has random numbers of a kind that there is not.")
        return self._kept(made, since)

    def _tree(self, value: Any) -> Any:
        since = self.count
        features, counts, outputs, depth, values, columns = self._all(self._some(value, 6, "a tree"))
        return self._kept(tree_of(features, counts, outputs, depth, values, columns), since)


def _dtype(code: Any) -> np.dtype:
    try:
        dtype = np.dtype(code) if isinstance(code, str) and len(code) < 20 else None
    except (TypeError, ValueError, SyntaxError):
        dtype = None
    if dtype is None or dtype.kind in "V" or dtype.fields or (dtype.itemsize == 0 and dtype.kind not in "US"):
        raise RefusalError(f"has a type {str(code)[:20]!r} that there is not.")
    return dtype


def _float(text: Any) -> float:
    if not isinstance(text, str) or text not in FLOATS:
        raise RefusalError(f"has a number {str(text)[:20]!r} that is none.")
    return FLOATS[text]


def _type(name: Any) -> Any:
    if not isinstance(name, str) or name not in TYPE_NAMES:
        raise RefusalError(f"has a type {str(name)[:30]!r}, which there is not.")
    return TYPE_NAMES[name]


def _function(name: Any) -> Any:
    if not isinstance(name, str) or name not in functions():
        raise RefusalError(f"has the function {str(name)[:60]!r}, which is not in the table of this version.")
    return functions()[name]
