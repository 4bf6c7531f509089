"""What a compiled function takes, relies on and gives back: the data that the text of its entry is written from.

Every part is frozen and compared by identity: it names Python objects, and equal ones may differ tomorrow.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class PythonFloat:
    """An exact `float`; the kernel gets a pointer to one double."""


@dataclass(frozen=True, eq=False)
class PythonInt:
    """An exact `int` that fits 64 bits; the kernel gets a pointer to one i64."""


@dataclass(frozen=True, eq=False)
class PythonBool:
    """`True` or `False`; the kernel gets a pointer to one byte."""


@dataclass(frozen=True, eq=False)
class NumpyScalar:
    """A scalar of exactly this dtype's type; the kernel gets a pointer to one element."""

    dtype: np.dtype


@dataclass(frozen=True, eq=False)
class Array:
    """An exact `ndarray`, native and aligned; the kernel gets its data pointer.

    `strides` in bytes, or "C" / "F" for contiguous arrays. Strides of axes of length one are not looked at, as they are
    never used; an array without elements has any.
    """

    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...] | str = "C"
    writeable: bool = False


@dataclass(frozen=True, eq=False)
class Static:
    """An object as it is; for an exact int, float or str another of the same value will do. The kernel gets nothing."""

    value: object


@dataclass(frozen=True, eq=False)
class Tuple:
    """A tuple of these, of exactly this class, as argument or as result; a class but `tuple` is called to make one."""

    items: tuple[Tree, ...]
    kind: type = tuple


@dataclass(frozen=True, eq=False)
class List:
    """An exact list of these, as argument or as result."""

    items: tuple[Tree, ...]


@dataclass(frozen=True, eq=False)
class Dict:
    """An exact dict with these keys and no others, as argument or as result.

    Keys are compared as `Static` objects are. In an argument they may come in another order if `any_order`, and all
    keys are exact str or int. A result has the order given here.
    """

    keys: tuple[object, ...]
    items: tuple[Tree, ...]
    any_order: bool = True


@dataclass(frozen=True, eq=False)
class Object:
    """An object of exactly this class with these attributes, as argument or as result.

    An argument may have others, which are not looked at; reading these must not run Python code (`readable`). A result
    is made by calling the class if `is_called`; else it gets these attributes and no others (`is_settable`).
    """

    kind: type
    names: tuple[str, ...]
    items: tuple[Tree, ...]
    is_called: bool = False


@dataclass(frozen=True, eq=False)
class Result:
    """In the result tree: the output with this number."""

    index: int


@dataclass(frozen=True, eq=False)
class Input:
    """In the result tree: the argument leaf with this number, itself; static leaves count too."""

    index: int


@dataclass(frozen=True, eq=False)
class Constant:
    """In the result tree: this very object."""

    value: object


@dataclass(frozen=True, eq=False)
class Output:
    """What the kernel writes: a new array, or one element that becomes a scalar.

    `kind` is "array", "numpy scalar", "python float", "python int" or "python bool"; the element of a Python scalar is
    a double, an i64 or a byte, whatever `dtype` says.
    """

    dtype: np.dtype
    shape: tuple[int, ...] = ()
    kind: str = "array"
    order: str = "C"
    over: Array | None = None
    """The argument whose memory may be taken, if nobody else has a reference to it."""


Leaf = PythonFloat | PythonInt | PythonBool | NumpyScalar | Array | Static
"""What an argument, or a part of one, is to be."""
Part = Result | Input | Constant
"""Where a part of the result comes from."""
Tree = Leaf | Part | Tuple | List | Dict | Object
"""An argument with leaves, or a result with parts."""


@dataclass(frozen=True, eq=False)
class CellIs:
    """A variable of an enclosing function still holds this object."""

    cell: types.CellType
    value: object


@dataclass(frozen=True, eq=False)
class DictIs:
    """A dict (a module's globals, an instance's `__dict__`) still has this object under this key."""

    mapping: dict
    key: object
    value: object


@dataclass(frozen=True, eq=False)
class DictLacks:
    """A dict still has nothing under this key."""

    mapping: dict
    key: object


@dataclass(frozen=True, eq=False)
class ClassIs:
    """A class has not been changed, nor one that it inherits from: it still has this version. If not,
    Python is asked.
    """

    kind: type
    version: int
    check: Callable[[], bool] = lambda: False


@dataclass(frozen=True, eq=False)
class AttributeIs:
    """`getattr(owner, name)` still gives this object."""

    owner: object
    name: str
    value: object


@dataclass(frozen=True, eq=False)
class TypeIs:
    """An object still has this class."""

    owner: object
    kind: type


@dataclass(frozen=True, eq=False)
class FieldIs:
    """An object still has this one at an offset; nothing there stands for None."""

    owner: object
    offset: int
    value: object


@dataclass(frozen=True, eq=False)
class OwnDictIs:
    """An object still keeps its attributes in this dict."""

    owner: object
    value: dict


@dataclass(frozen=True, eq=False)
class DictHas:
    """A dict still has exactly these keys in this order, and under them these objects."""

    mapping: dict
    keys: tuple[object, ...]
    values: tuple[object, ...]


@dataclass(frozen=True, eq=False)
class Holds:
    """A function of Python says so."""

    check: Callable[[], bool]


@dataclass(frozen=True, eq=False)
class Unchanged:
    """All rows of a table hold; if not, Python is asked."""

    header: np.ndarray
    check: Callable[[], bool]


@dataclass(frozen=True, eq=False)
class ListIs:
    """A list still has exactly these objects."""

    container: list
    items: tuple[object, ...]


@dataclass(frozen=True, eq=False)
class ArrayIs:
    """An array's dtype, shape and strides are what they were when the signature was written; its values may differ."""

    array: np.ndarray


# fmt: off
Condition = (
    CellIs | DictIs | DictLacks | ClassIs | AttributeIs | TypeIs
    | FieldIs | OwnDictIs | DictHas | Holds | Unchanged | ListIs | ArrayIs
)
# fmt: on
"""What machine code looks at before it runs."""


@dataclass(frozen=True, eq=False)
class VariableOf:
    """A number or array that is read from a closure cell, from a dict or list under a key, or from a slot of an object:
    `leaf` says what is expected.
    """

    owner: object
    key: object
    leaf: Tree


@dataclass(frozen=True, eq=False)
class Signature:
    """All that an entry checks and does.

    `keywords` names the last of the arguments, given by keyword in this order. `captured` arrays are checked as by
    `ArrayIs`, and their data pointers go to the kernel between the inputs and the outputs. `release_gil` lets other
    threads run during the kernel. `no_errstate` says that no floating-point condition may be an error where it is
    called. `variables` are inputs too, after those of the arguments. `donated` are numbers of arguments, whose memory
    may be taken, as `Output.over` says.
    """

    arguments: tuple[Tree, ...]
    outputs: tuple[Output, ...]
    result: Tree
    watches: tuple[Condition, ...] = ()
    captured: tuple[np.ndarray, ...] = ()
    keywords: tuple[str, ...] = ()
    release_gil: bool = False
    no_errstate: bool = False
    variables: tuple[VariableOf, ...] = ()
    donated: frozenset[int] = frozenset()


def leaves(tree: Tree) -> Iterator[Leaf | Part]:
    """The leaves of an argument or result tree, from left to right: the order in which `Input` counts them."""
    if isinstance(tree, (Tuple, List, Dict, Object)):
        for item in tree.items:
            yield from leaves(item)
    else:
        yield tree


def array_of(array: np.ndarray) -> Array:
    """The leaf that describes this array."""
    strides = "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else array.strides
    return Array(array.dtype, array.shape, strides)
