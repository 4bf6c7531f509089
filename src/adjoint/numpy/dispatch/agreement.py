"""Where NumPy's own function is asked: for its error where ours fails, and for the dtype its keywords ask for.

Ours are written for what can be differentiated. What NumPy refuses, and in which words, it knows best itself, so that
a call which fails is made once more with plain arrays. Keywords such as `dtype=`, `initial=` or `casting=` are rare
and have many cases: with them NumPy's function runs first, and the result has the dtype that it gives.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from types import CodeType, FrameType
from typing import Any, NoReturn

import numpy as np

from ...core.calls.float_warnings import REDIRECT
from ...core.traced import Traced, is_array
from ...core.tree import flatten
from ...core.values import contents, dtype_of, shape_of
from ...host.frames.variables import variables_in
from .registry import FUNCTIONS, behaviour_of

ASKED = frozenset((
    "dtype", "initial", "casting", "kind", "order", "stable", "descending", "min", "max", "correction", "rtol",
    "hermitian", "mode", "nan", "posinf", "neginf", "equal_nan", "to_begin", "to_end", "return_indices", "minlength",
    "density",
))  # fmt: skip
"""Keywords with which NumPy is asked first."""

REDUCED = frozenset((np.add, np.multiply, np.maximum, np.minimum, np.logaddexp, np.hypot))
"""Universal functions that are often used to reduce."""

_first: dict[Any, int] = {}


def is_asked(function: Any, args: Any, kwargs: Any) -> bool:
    """Whether a call has, as a keyword or by its position, something that NumPy is to be asked about."""
    if kwargs and not ASKED.isdisjoint(kwargs):
        return not behaviour_of(function).unasked
    if len(args) <= 2:
        return False
    first = _first.get(function)
    return len(args) > (_first_asked(function) if first is None else first) and not behaviour_of(function).unasked


def is_asked_of_ufunc(ufunc: Any, method: str, inputs: Any, kwargs: Any) -> bool:
    """The same for a universal function and its methods; there, all but a few have no meaning for some numbers."""
    if (kwargs and not ASKED.isdisjoint(kwargs)) or (method != "__call__" and ufunc not in REDUCED):
        return True
    return (method in ("reduce", "accumulate") and len(inputs) > 2) or (method == "reduceat" and len(inputs) > 3)


def _first_asked(function: Any) -> int:
    """The place of the first parameter to be asked about."""
    code = getattr(FUNCTIONS[function], "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code else ()
    found = _first[function] = next((k for k, name in enumerate(names) if name in ASKED), 1000)
    return found


def holds_no_reals(args: Any, kwargs: Any) -> bool:
    """Whether all that is traced are integers and truth values, which carry no derivative: NumPy's function is enough.

    Ours would do other arithmetic on the way, in which they wrap around elsewhere.
    """
    leaves = flatten((args, kwargs))[0]
    if any([callable(x) and not isinstance(x, type) for x in leaves]) or isinstance(kwargs.get("out"), (Traced, tuple)):
        return False
    return all([dtype_of(x).kind not in "fc" for x in leaves if isinstance(x, Traced)])


def is_numpys_own(function: Any) -> bool:
    """Whether ours is right for integers and truth values too, or does something else than to give numbers."""
    known = behaviour_of(function)
    return known.exact or known.formal or known.in_place or known.to_file


def is_exact_reduction(ufunc: Any, kwargs: dict[str, Any]) -> bool:
    """Whether a method of a universal function is one that adds up or compares, of all elements."""
    return ufunc in REDUCED and PLAIN.issuperset(kwargs)


PLAIN = frozenset(("axis", "keepdims"))


def asked(function: Any, ours: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What ours gives, with the dtypes of NumPy's own result; first of all its errors."""
    with np.errstate(all="ignore"):
        theirs = flatten(_own(function, args, kwargs))[0]
    found, rebuild = flatten(ours(*args, **kwargs))
    if len(found) != len(theirs) or all(dtype_of(f) == dtype_of(t) for f, t in zip(found, theirs, strict=True)):
        return rebuild(found)
    return rebuild([_cast(f, dtype_of(t)) for f, t in zip(found, theirs, strict=True)])


def _cast(x: Any, dtype: np.dtype) -> Any:
    return np.astype(x, dtype) if isinstance(x, Traced) else np.asarray(x).astype(dtype)[()]


def instead(function: Any, args: Any, kwargs: Any, error: Exception) -> Any:
    """Ours has failed: raise what NumPy raises. A result without any traced element to depend on is NumPy's own."""
    if isinstance(error, np.linalg.LinAlgError) or behaviour_of(function).to_file:
        raise error  # in NumPy's words, whose own search might not end here; or before a file has been opened
    leaves = flatten((args, kwargs))[0]
    if any(callable(x) and not isinstance(x, type) for x in leaves):
        raise error
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = _own(function, args, kwargs)
    except Exception as theirs:
        _raise(theirs, error)
    if any(0 not in shape_of(x) for x in leaves if isinstance(x, Traced)):
        raise error
    return found


def _raise(theirs: Exception, ours: Exception) -> NoReturn:
    if type(theirs) is type(ours):
        raise ours
    raise theirs.with_traceback(None) from None


CALLS: dict[CodeType, str] = {}
"""The functions that calls of NumPy and SciPy arrive at, by their code: what they call the function that was called."""


def warns_as_well(frame: FrameType | None, user: FrameType | None) -> bool:
    """Whether NumPy's own function warns, where ours is about to: it may have gone another way to the same numbers.

    It is asked with the plain values, of a batch with those of each example.
    """
    call: tuple[str, Mapping[str, Any]] | None = None
    while frame is not None and frame is not user:
        if frame.f_code in CALLS:
            call = CALLS[frame.f_code], variables_in(frame)
        frame = frame.f_back
    if call is None:
        return True
    name, known = call
    function = getattr(known["ufunc"], known["method"]) if name == "ufunc" else known[name]
    args, kwargs, conditions = known["inputs" if name == "ufunc" else "args"], known["kwargs"], []
    leaves = flatten((args, kwargs))[0]
    if any([callable(x) and not isinstance(x, type) for x in leaves]) or known.get("method") == "at":
        return True
    count = max(
        [np.size(contents(x)) // max(math.prod(x.shape), 1) for x in leaves if isinstance(x, Traced)], default=1
    )
    words = dict.fromkeys(("divide", "over", "invalid"), "call")
    try:
        with warnings.catch_warnings(), np.errstate(**words, call=lambda *met: conditions.append(met)):  # type: ignore[arg-type]
            warnings.simplefilter("ignore")
            for example in range(count):
                _own(function, args, kwargs, example)
    except Exception:  # its own refusals come when ours has ended
        return True
    return bool(conditions)


REDIRECT.is_numpys = warns_as_well


def _own(function: Any, args: Any, kwargs: Any, example: int = 0) -> Any:
    """NumPy's result for the plain arrays, inside vmap for those of one example; nothing is written to them."""
    leaves, rebuild = flatten((args, kwargs))
    again, words = rebuild([_example(x, example) for x in leaves])
    return function(*again, **words)


def _example(x: Any, k: int) -> Any:
    if not isinstance(x, Traced):
        return x.copy() if isinstance(x, np.ndarray) else x
    whole = contents(x)
    lead = np.ndim(whole) - len(x.shape)
    if not lead:
        return whole.copy() if isinstance(whole, np.ndarray) else np.asarray(whole)[()]  # traces keep Python floats
    if not whole.size:
        one = np.empty(x.shape, x.dtype)
    else:
        one = np.array(whole[np.unravel_index(k % math.prod(whole.shape[:lead]), whole.shape[:lead])])
    return one if is_array(x) else one[()]
