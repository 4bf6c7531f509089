"""The methods and attributes of ndarray on traced values."""

from __future__ import annotations

import builtins
import gc
import itertools
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...core.errors import AssignmentError, UnsupportedError, message
from ...core.hints import hint
from ...core.reverse import INPUT, ReverseTrace
from ...core.traced import CONSTANTS, Traced, is_array, is_kept, kind_of, released, settled, snapshot
from ...core.values import concrete, describe, is_captured, is_python
from ...host.frames.ownership import is_library
from ...ir.capture import example
from ...ops.shape import astype as astype_primitive
from ...ops.shape import constant_astype
from ...ops.shape import item as item_primitive
from ...ops.shape import reshape as reshape_primitive
from .assignment import getitem, store
from .conversions import decided, refuse, to_ratio
from .foreign import refuse_arithmetic, refuse_compiled
from .protocols import array_function
from .table_methods import refuse_rules_of_tables
from .views import Flat, ViewHandle, fresh_handle


def _function(function: Any) -> Callable[..., Any]:
    """A method that is the NumPy function with the array as first argument."""

    def method(self: Traced, *args: Any, **kwargs: Any) -> Any:
        refuse_rules_of_tables(self, function, args, kwargs)
        if not args and not kwargs:
            return array_function(self, function, (), (self,), kwargs)  # as NumPy would, after a longer look
        return function(self, *args, **kwargs)

    method.__name__ = function.__name__
    method.__doc__ = f"As `np.{function.__name__}`."
    return method


def reshape(self: Traced, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    """`x.reshape(2, -1)`; a view, as in NumPy."""
    return np.reshape(self, shape[0] if len(shape) == 1 else shape, order, copy=copy)


def transpose(self: Traced, *axes: Any) -> Any:
    """`x.transpose()`, `x.transpose(1, 0)`; a view."""
    many = len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list, range)))
    return np.transpose(self, axes[0] if many else axes or None)


def astype(
    self: Traced, dtype: Any, order: Any = "K", casting: Any = "unsafe", subok: Any = True, copy: Any = True
) -> Any:
    """`x.astype(np.float32)`; integers and booleans are constants. Without a copy, it may be the array itself."""
    if is_kept(self):
        return np.asarray(released(self)).astype(dtype, order, casting, subok, copy)
    dtype = np.dtype(dtype)
    if dtype == self.dtype:
        plain = None if copy else np.asarray(example(self))
        return fresh_handle(self) if plain is None or plain.astype(dtype, order, copy=False) is not plain else self
    if dtype.kind in "fc":
        source = np.real(self) if self.dtype.kind == "c" and dtype.kind == "f" else self
        return astype_primitive(source, dtype=dtype)
    if dtype.kind in "OV" and self.traced_by is not CONSTANTS:
        refuse(self, "objects", f"an array of {dtype}")
    return constant_astype(self, dtype=dtype)


def compress(self: Traced, condition: Any, axis: Any = None, out: Any = None) -> Any:
    """`x.compress(condition)`; the function takes the condition first."""
    return np.compress(condition, self, axis, out)


def fill(self: Traced, value: Any) -> None:
    """`x.fill(v)`; numbers of NumPy's have the method too, and nothing to fill."""
    if is_array(self):
        self[...] = value  # type: ignore[index]
    elif is_python(self):
        raise AttributeError(f"{kind_of(self).__name__!r} object has no attribute 'fill'")


def sort(self: Traced, axis: int = -1, kind: Any = None, order: Any = None, **kwargs: Any) -> None:
    """`x.sort()`, in place."""
    store(self, np.sort(self, axis))


def partition(self: Traced, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None) -> None:
    """`x.partition(k)`, in place."""
    store(self, np.partition(self, kth, axis, kind))


def resize(self: Traced, *new_shape: Any, refcheck: bool = True) -> None:
    """`x.resize(shape)` would change the size of an array that others look at."""
    raise AssignmentError(
        message(
            "A traced array cannot change its size in place.",
            got=f"{describe(self)} to {new_shape}",
            fix="Write  x = np.resize(x, shape).",
        )
    )


def set_dtype(self: Traced, dtype: Any) -> None:
    """`x.dtype = float` would read the bits anew."""
    if np.dtype(dtype) != self.dtype:
        view(self, dtype)


def set_strides(self: Traced, strides: Any) -> None:
    """`x.strides = ...` would lead elsewhere in memory, which a traced array has none of."""
    raise AssignmentError(
        message(
            "A traced array cannot change its strides.", got=describe(self), fix="Use  x[::2]  or  x.reshape(shape)."
        )
    )


def set_shape(self: Traced, shape: Any) -> None:
    """`x.shape = (2, 2)`: the handle stands for the same elements in another shape; not if others look at it."""
    if is_kept(self):
        released(self).shape = shape
        return
    trace = self.traced_by
    is_given = isinstance(trace, ReverseTrace) and trace[self.node][0] is INPUT  # by who calls, and keeps it
    if is_given or any([type(other) is ViewHandle and other.base is self for other in gc.get_referrers(self)]):
        raise AssignmentError(
            message(
                "A traced array cannot change its shape in place if it is an argument, or while there are views of it.",
                got=f"{describe(self)} to {shape}",
                fix="Write  x = x.reshape(shape).",
            )
        )
    shape = np.empty(self.shape, bool).reshape(shape).shape  # with -1 filled in
    if type(self) is ViewHandle:
        self.take_shape(shape)
    else:
        self.become(reshape_primitive(snapshot(self), shape=shape))


def view(self: Traced, dtype: Any = None, type: Any = None) -> Any:
    """`x.view()`: another handle of the same elements; as another dtype their bits have no derivative."""
    if is_kept(self):
        return released(self).view(*[k for k in (dtype, type) if k is not None])
    for kind in (dtype, type) if self.traced_by is not CONSTANTS else ():
        if isinstance(kind, builtins.type) and issubclass(kind, np.ndarray) and kind is not np.ndarray:
            refuse_arithmetic(kind, self)  # asked for by a masked array or a matrix that meets a traced one
    kinds = (("dtype", dtype), ("type", type))
    wanted = {name: kind for name, kind in kinds if kind is not None and kind is not np.ndarray}
    if wanted and self.traced_by is CONSTANTS:
        return self.value.view(**wanted)
    if wanted and wanted != {"dtype": self.dtype}:
        raise UnsupportedError(
            message(
                "The bits of a traced array cannot be read as another dtype.",
                got=f"{describe(self)} as {wanted}",
                fix="Convert the numbers with  x.astype(dtype),  or use  ad.value(x).view(dtype).",
            )
        )
    return getitem(self, ...)


def item(self: Traced, *args: Any) -> Any:
    """`x.item()`: still traced, so nothing is lost."""
    if is_kept(self):
        return np.asarray(settled(self)).item(*args)
    if not args:
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return _python(getitem(self, (0,) * self.ndim))
    if len(args) == 1 and not isinstance(args[0], tuple):
        return _python(np.reshape(self, (-1,))[args[0]])
    return _python(getitem(self, args[0] if len(args) == 1 else args))


def _python(x: Any) -> Any:
    """A Python number, as the plain method gives. In a batch an integer has 64 bits then; floats stay as they are."""
    if is_captured(x):  # machine code has no Python integers above 63 bits
        return int(decided(x)) if x.dtype == np.uint64 else item_primitive(x)
    return constant_astype(x, dtype=INT) if x.dtype.kind in "iu" and x.dtype.itemsize < INT.itemsize else x


INT = np.dtype(np.int64)


def tolist(self: Traced) -> Any:
    """`x.tolist()`: nested lists of traced numbers."""
    if not self.traced_by.level:
        return np.asarray(settled(self)).tolist()
    return (
        _python(self)
        if self.shape == ()
        else [tolist(part) if isinstance(part, Traced) else part for part in iterate(self)]
    )


def iterate(self: Traced) -> Iterator[Any]:
    """`for row in x`: each is read when its turn comes, as what is written to the array until then is seen."""
    shape = self.shape
    if shape == ():
        raise TypeError("iteration over a 0-d array")
    return map(getitem, itertools.repeat(self, shape[0]), range(shape[0]))


def length(self: Traced) -> int:
    """`len(x)`."""
    if self.shape == ():
        raise TypeError("len() of unsized object")
    return self.shape[0]


def contains(self: Traced, value: Any) -> bool:
    """`v in x`."""
    return bool(np.any(self == value))


def copy(self: Any, order: str = "C") -> Any:
    """`x.copy()`: of a handle that was kept from a trace that has ended, a copy of its value."""
    return np.copy(released(self)) if isinstance(self, Traced) and is_kept(self) else fresh_handle(self)


def conjugate(self: Traced) -> Any:
    """`x.conj()`, `x.conjugate()`; a real number of Python's is its own."""
    return self if self.dtype.kind != "c" and is_python(self) else np.conjugate(self)


def real(self: Traced) -> Any:
    """`x.real`; a real number of Python's is its own."""
    return self if self.dtype.kind != "c" and is_python(self) else np.real(self)


def imaginary(self: Traced) -> Any:
    """`x.imag`; of a real number of Python's it is 0.0."""
    return 0.0 if self.dtype.kind == "f" and is_python(self) else np.imag(self)


def is_integer(self: Traced) -> bool:
    """`x.is_integer()`, of a number: a decision, as `x == int(x)` is."""
    return bool(self == np.floor(self)) and bool(np.isfinite(self))


def _of_numbers(name: str, method: Callable[[Traced], Any]) -> property:
    """A method of floats, which arrays do not have."""

    def read(self: Traced) -> Callable[[], Any]:
        if self.shape != () or self.dtype.kind != "f":
            raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        return lambda: method(self)

    return property(read)


OF_FLOATS = frozenset(("as_integer_ratio", "hex"))

FUNCTIONS = (
    "sum", "prod", "mean", "var", "std", "max", "min", "argmax", "argmin", "argsort", "any", "all", "cumsum",
    "cumprod", "clip", "round", "dot", "trace", "diagonal", "repeat", "take", "searchsorted", "nonzero", "choose",
    "argpartition", "ptp", "put", "squeeze", "swapaxes", "ravel",
)  # fmt: skip
"""Methods that are functions of NumPy with the array as first argument."""

METHODS: dict[str, Any] = {
    **{name: _function(getattr(np, name)) for name in FUNCTIONS},
    "__iter__": iterate,
    "__len__": length,
    "__contains__": contains,
    "__copy__": lambda self: copy(self),
    "__deepcopy__": lambda self, memo: copy(self),
    "astype": astype,
    "compress": compress,
    "conj": conjugate,
    "conjugate": conjugate,
    "is_integer": is_integer,
    "as_integer_ratio": _of_numbers("as_integer_ratio", to_ratio),
    "hex": _of_numbers("hex", lambda self: float(concrete(self)).hex()),
    "copy": copy,
    "fill": fill,
    "flatten": lambda self, order="C": copy(np.reshape(self, (-1,), order)),
    "item": item,
    "partition": partition,
    "reshape": reshape,
    "resize": resize,
    "sort": sort,
    "tolist": tolist,
    "transpose": transpose,
    "view": view,
    "T": property(lambda self: transpose(self)),
    "mT": property(lambda self: np.matrix_transpose(self)),
    "shape": vars(Traced)["shape"].setter(set_shape),
    "dtype": vars(Traced)["dtype"].setter(set_dtype),
    "ndim": property(lambda self: len(self.shape)),
    "size": property(lambda self: math.prod(self.shape)),
    "itemsize": property(lambda self: self.dtype.itemsize),
    "nbytes": property(lambda self: self.size * self.dtype.itemsize),
    "flags": property(lambda self: flags(self)),
    "strides": property(lambda self: strides(self), set_strides),
    "setflags": property(lambda self: set_flags(self)),
    "device": property(lambda self: "cpu"),
    "__array_namespace__": lambda self, *, api_version=None: namespace(),
    "flat": property(
        lambda self: released(self).flat if is_kept(self) else Flat(self), lambda self, value: fill_flat(self, value)
    ),
    "real": property(real, lambda self, value: set_part(self.real, value)),
    "imag": property(imaginary, lambda self, value: set_imaginary(self, value)),
}


def flags(self: Traced) -> Any:
    """`x.flags`: those of a new array, as a traced one has no memory; compiled code would go on to look for it."""
    if not self.traced_by.level:
        return np.asarray(settled(self)).flags
    refuse_compiled(sys._getframe(2), self)
    return np.empty((2,) * self.ndim).flags


def strides(self: Traced) -> tuple[int, ...]:
    """`x.strides`: those of a new array."""
    if not self.traced_by.level:
        return np.asarray(settled(self)).strides
    refuse_compiled(sys._getframe(2), self)
    return tuple([self.dtype.itemsize * math.prod(self.shape[k + 1 :]) for k in range(self.ndim)])


def namespace() -> Any:
    """Where functions of arrays are found: NumPy, or the view of it that SciPy's own code compares with."""
    if not is_library(sys._getframe(2)):
        return np
    used = sys.modules.get("scipy._lib._array_api")
    return np if used is None else used.np_compat


def set_flags(self: Traced) -> Any:
    """`x.setflags`, for NumPy's and SciPy's own code alone, which protects arrays: here nothing needs it."""
    if not self.traced_by.level:
        return np.asarray(settled(self)).setflags
    if not is_library(sys._getframe(2)):
        raise AttributeError("a traced array has no attribute 'setflags'; ad.value(x) is the plain array")
    return lambda write=None, align=None, uic=None: None


def fill_flat(self: Traced, value: Any) -> None:
    """`x.flat = v`."""
    store(self, np.reshape(np.resize(value, self.size), self.shape))


def set_part(part: Any, value: Any) -> None:
    """`z.real = v`."""
    part[...] = value


def set_imaginary(self: Traced, value: Any) -> None:
    """`z.imag = v`."""
    if self.dtype.kind != "c":
        raise TypeError("array does not have imaginary part to set")
    set_part(self.imag, value)  # type: ignore[attr-defined]


def _plain_attribute(name: str) -> property:
    """What has no traced counterpart (`flags`, `tobytes`): of a constant, the plain array's own."""

    def read(self: Traced) -> Any:
        if not self.traced_by.level:
            return getattr(np.asarray(settled(self)), name)
        end = hint(name, ()) or "; ad.value(x) is the plain array"
        raise AttributeError(f"a traced array has no attribute {name!r}{end}")

    return property(read)


for _name, _method in METHODS.items():
    setattr(Traced, _name, _method)
OF_TENSORS = {"backward", "detach", "requires_grad", "requires_grad_", "zero_grad", "block_until_ready"}
_plain: set[str] = set()
for _name in (*dir(np.ndarray), *OF_TENSORS):
    if not _name.startswith("_") and not hasattr(Traced, _name):  # a `__getattr__` would slow down every attribute
        setattr(Traced, _name, _plain_attribute(_name))
        _plain.add(_name)


def names(self: Traced) -> list[str]:
    """`dir(x)`: what a traced value has, without the attributes that only plain arrays have."""
    hidden = _plain | {"setflags"} if self.traced_by.level else OF_TENSORS
    hidden = hidden | OF_FLOATS if self.shape != () or self.dtype.kind != "f" else hidden
    return [name for name in dir(type(self)) if name not in hidden and (name != "mT" or len(self.shape) > 1)]


Traced.__dir__ = names  # type: ignore[method-assign,assignment]
