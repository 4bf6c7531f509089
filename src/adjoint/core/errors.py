"""The exceptions, as a tree: every one derives from `AdjointError` and from the builtin a user would catch.

    AdjointError
    ├── NotDifferentiableError   (TypeError)       an argument or function has no derivative to give
    ├── DerivativeDroppedError   (TypeError)       a conversion would lose the derivative silently
    ├── InputError               (TypeError)       an argument cannot be differentiated: string, ...
    │   └── ArgumentError        (ValueError too)  an argument is not of the kind that the function takes
    ├── OutputError              (TypeError)       the function's result is not what the transformation needs
    ├── TangentError             (ValueError)      a tangent, cotangent or rule's result does not fit its value
    ├── AssignmentError          (ValueError)      an in-place update that cannot be done as NumPy would
    ├── UnsupportedError         (TypeError)       a function, keyword or operation without a rule
    ├── BatchError               (TypeError)       a value of one example was asked for inside vmap
    ├── BatchSizeError           (ValueError)      the arguments of vmap do not fit together
    ├── NanError                 (FloatingPointError)  a step made a nan, which was to be found
    ├── ImpureError              (RuntimeError)    a jitted function does what a recording cannot repeat
    └── GradientCheckError       (AssertionError)  check_grads found a wrong derivative

The docstring of each class is its page in `docs/errors.md`.
"""

from __future__ import annotations

import linecache
import os.path
import sys
from collections.abc import Iterator
from types import FrameType

from ..host.frames.callsite import is_entrance
from ..host.frames.ownership import is_library
from ..host.frames.ownership import is_users_code as is_users_code
from .hints import missing as missing
from .hints import unknown_keyword as unknown_keyword

__all__ = [
    "AdjointError", "ArgumentError", "AssignmentError", "BatchError", "BatchSizeError", "DerivativeDroppedError",
    "GradientCheckError", "ImpureError", "InputError", "NanError", "NotDifferentiableError", "OutputError",
    "TangentError", "UnsupportedError",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


class AdjointError(Exception):
    """Base of all errors of the library; catch it to catch every one of them.

    Examples
    --------
    >>> import adjoint as ad
    >>> try:
    ...     ad.grad(lambda x: x**2)("3")
    ... except ad.AdjointError as error:
    ...     print(type(error).__name__)
    InputError
    """


class NotDifferentiableError(AdjointError, TypeError):
    """An argument has no useful derivative.

    Wrong: differentiating with respect to the order of a Bessel function, for which no closed form is known.

        ad.grad(lambda v: scipy.special.jv(v, 2.0))(1.0)

    Right: mark the argument as a constant, if that is what you mean.

        ad.grad(lambda v: scipy.special.jv(ad.stop_gradient(v), 2.0))(1.0)
    """


class DerivativeDroppedError(AdjointError, TypeError):
    """A conversion to a plain number or array would lose the derivative silently.

    Wrong: `float` makes a plain number; an array made outside the function only stores plain numbers.

        ad.grad(lambda x: float(x) ** 2)(1.0)
        y[0] = x

    Right: leave the conversion out; make the array inside the function, or with `like=`; or say that the derivative is
    not wanted.

        ad.grad(lambda x: x**2)(1.0)
        y = np.empty(3, like=x); y[0] = x
        float(ad.value(x))
    """


class InputError(AdjointError, TypeError):
    """An argument cannot be differentiated: it is an array of integers, a boolean, a string or an object.

    Wrong: `ad.grad(f)(np.arange(3))`. Right: `ad.grad(f)(np.arange(3.0))`, or choose other arguments with `argnums`.

    A Python integer is the float that it is equal to, `ad.grad(f)(3)` is `ad.grad(f)(3.0)`, also in lists, tuples and
    dicts. As a field of a dataclass it is refused, since it may be a setting; so is one that no float is equal to,
    above 2^53, and what has a dtype, as `np.int64(3)`.
    """


class ArgumentError(InputError, ValueError):
    """An argument of one of the library's functions is not of the kind that the function takes, or out of its range.

    The message names the argument, what it has to be, and what it is. Errors of other classes name it too, by the
    parameter of the function that was called, `got fun = float 3.0`, or of yours that one was made of,
    `got weights = int64[3]`. Where no one argument is at fault, as with shapes that do not go together, a note lists
    them: `in elu(x = float64[3], alpha = float64[2])`. What your own function raises stays as it is.

    Wrong: `ad.data.order(-3)`, or `ad.train(..., shuffle="no")`.
    Right: `ad.data.order(3)`, `ad.train(..., shuffle=False)`.
    """


class OutputError(AdjointError, TypeError):
    """The function returned something the transformation cannot use, for example an array where `grad` needs a number.

    Wrong: `ad.grad(np.sin)(np.ones(3))`. Right: `ad.jacobian(np.sin)(np.ones(3))`, or sum the result.
    """


class TangentError(AdjointError, ValueError):
    """A tangent, a cotangent or a custom rule's result does not have the structure, shape or dtype of its value.

    Wrong: `ad.jvp(np.sin, (np.ones(3),), (1.0,))`. Right: `ad.jvp(np.sin, (np.ones(3),), (np.ones(3),))`.
    """


class AssignmentError(AdjointError, ValueError):
    """An in-place update that NumPy refuses too (shape, dtype, read-only), or that cannot be followed.

    Wrong: `y = x[:1].copy(); y += x`, which would change the shape of y. Right: `y = y + x`.
    """


class UnsupportedError(AdjointError, TypeError):
    """A function, keyword or operation that has no rule, so its derivative cannot be found.

    Wrong: `np.quantile(x, 0.5, weights=w, method="inverted_cdf")`, as there is no rule for the weights.
    Right: leave the keyword out, give the function a derivative with `ad.custom_rule`, or pass `ad.stop_gradient(x)` if
    no derivative is wanted.
    """


class BatchError(AdjointError, TypeError):
    """Inside `vmap` a value stands for a whole batch, so it has no single truth value, number or shape.

    Wrong: `ad.vmap(lambda x: x if x > 0 else -x)(xs)`. Right: `ad.vmap(lambda x: np.where(x > 0, x, -x))(xs)`.
    """


class BatchSizeError(AdjointError, ValueError):
    """The arguments of `vmap` cannot be mapped over together: sizes or axes do not fit.

    Wrong: `ad.vmap(np.dot)(rows, vector)`, where only the rows are a batch.
    Right: `ad.vmap(np.dot, in_axes=(0, None))(rows, vector)`.
    """


class ImpureError(AdjointError, RuntimeError):
    """A function given to `ad.jit` draws hidden random numbers, or changes something besides its result.

    Wrong: `ad.jit(lambda x: x + np.random.normal())`, or appending to a list outside.
    Right: `ad.jit(lambda x, key: x + ad.random.normal(key))`, and returning what is to be collected.
    """


class NanError(AdjointError, FloatingPointError):
    """A result has a nan, which `ad.debug.nans` was asked to find.

    The message names the step that made the first nan out of numbers, and its line.

    Wrong: `np.log(x)` where x may be negative. Right: `np.log(np.where(x > 0, x, 1.0))`.
    """


class GradientCheckError(AdjointError, AssertionError):
    """`check_grads` found a derivative that disagrees with its numerical estimate.

    Wrong: a rule given to `ad.custom_rule` that returns `tangents[0] * primals[0]` for `x**2`.
    Right: one that returns `2 * tangents[0] * primals[0]`.
    """


def user_line() -> str:
    """Where the user's code stands: the innermost frame outside the library and NumPy, with its source line."""
    frame = user_frame()
    if frame is None:
        return "<unknown>"
    path, line, name = frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
    source = linecache.getline(path, line).strip()
    place = f"{os.path.basename(path)}:{line}" + ("" if name == "<module>" else f" in {name}()")
    return f"{place}:  {source}" if source else place


def user_frame() -> FrameType | None:
    """The frame of the user's code: the innermost one inside what is traced.

    A function that is traced counts as the user's, also if it is one of a compiled package; what it calls there does
    not.
    """
    first: FrameType | None = None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_users_code(frame):
            return frame
        if not is_library(frame):
            first = first or frame
        elif first is not None and is_entrance(frame):
            return first
        frame = frame.f_back
    return first


def user_frames() -> list[FrameType]:
    """The frames that are not the library's, from where the user's code stands outwards."""
    return list(_user_frames(sys._getframe(1)))


def _user_frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        if not is_library(frame):
            yield frame
        frame = frame.f_back


def message(what: str, *, at: str = "", got: str = "", fix: str = "") -> str:
    """The one form of a message: what could not be done, where (else the user's line), what was met, what to do."""
    lines = [what, f"  at {at or user_line()}"]
    lines += [f"  got {got}"] if got else []
    lines += [f"  {line}" for line in fix.splitlines()]
    return "\n".join(lines)
