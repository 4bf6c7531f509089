"""Looking inside while it runs: `ad.debug.print` and `ad.debug.callback`, also under jit, and `ad.debug.nans`.

`ad.debug.patches` lists what is changed outside the library, and `ad.debug.unpatch` undoes it.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable, Sequence
from string import Formatter
from typing import Any

import numpy as np

from ..capture.environment.effect_arguments import takes_an_effect
from ..core.arguments import checked
from ..core.errors import ImpureError, InputError, message
from ..core.nans import look_for
from ..core.traced import Traced
from ..core.tree import flatten
from ..core.values import contents, describe
from ..host.patches.listing import PatchedPlace, places
from ..ir.effects import perform, users_own
from ..numpy.patching import first_trace
from ..numpy.patching.tracing import THREADS
from ..transforms.settings import disable_jit

NUMBERS = (Traced, np.ndarray, np.generic, bool, int, float, complex)


@takes_an_effect
@checked()
def callback(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Call a function with plain values, at every run of the code around it, also under jit.

    For what is done besides the computation: logging, plotting, collecting, checking. What the function returns is
    dropped, and nothing is differentiated. In jitted code the calls are made at the end of each run, in their order;
    inside `vmap` there is one call for each example; a loop (`ad.scan` and the like) with a callback in it is run step
    by step.

    Parameters
    ----------
    function : callable
        Gets the arguments with plain numbers and arrays in place of traced ones.
    *args : any containers
        What it is called with.
    **kwargs : any containers
        What it is called with, by name.

    Raises
    ------
    InputError
        If `function` cannot be called.

    Examples
    --------
    >>> import adjoint as ad
    >>> seen = []
    >>> @ad.jit
    ... def f(x):
    ...     y = x**2
    ...     ad.debug.callback(seen.append, y)
    ...     return 2 * y
    >>> f(1.0), f(3.0), seen
    (2.0, 18.0, [1.0, 9.0])
    """
    if not callable(function):
        raise InputError(
            message("callback needs a function.", got=describe(function), fix="Write  ad.debug.callback(print, x).")
        )
    function = users_own(function)
    leaves, rebuild = flatten((args, kwargs))
    places = [k for k, x in enumerate(leaves) if isinstance(x, NUMBERS)]
    bare = [_under_traces(leaves[k]) for k in places]
    batches = sorted({trace for _, traces in bare for trace in traces}, key=lambda trace: trace.level)

    def call(values: Sequence[Any]) -> None:
        for example in itertools.product(*[range(trace.size) for trace in batches]):
            at = dict(zip(batches, example, strict=True))
            given = list(leaves)
            for k, value, (_, traces) in zip(places, values, bare, strict=True):
                value = contents(value)
                given[k] = value[tuple([at[trace] for trace in traces])] if traces else _own(value)
            words = rebuild(given)
            function(*words[0], **words[1])

    perform(call, [x for x, _ in bare])


@checked()
def print(text: str, *args: Any, **kwargs: Any) -> None:
    """Print at every run, also under jit: `text.format(*args, **kwargs)`.

    As `callback` with the builtin print.

    Parameters
    ----------
    text : str
        With braces where the values go, as for `str.format`.
    *args : any containers
        What goes into the braces.
    **kwargs : any containers
        What goes into the braces with names.

    Raises
    ------
    InputError
        If `text` is not a string.

    Examples
    --------
    >>> import adjoint as ad
    >>> @ad.jit
    ... def f(x):
    ...     ad.debug.print("x = {:.2f}, squared {y:.2f}", x, y=x**2)
    ...     return x
    >>> f(1.5), f(2.0)
    x = 1.50, squared 2.25
    x = 2.00, squared 4.00
    (1.5, 2.0)
    """
    if not isinstance(text, str):
        raise InputError(
            message(
                "debug.print needs a text to put the values into.",
                got=describe(text),
                fix='Write  ad.debug.print("x = {}", x).',
            )
        )
    _check_fields(text, args, kwargs)
    callback(functools.partial(_print, text), *args, **kwargs)


def _check_fields(text: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse a text whose fields have no values, before anything is recorded."""
    try:
        names = [
            name.partition(".")[0].partition("[")[0] for _, name, *_ in Formatter().parse(text) if name is not None
        ]
    except ValueError as error:
        raise InputError(_about_text(f"The text of debug.print cannot be read: {error}.", text)) from None
    numbers = [int(name) for name in names if name.isdigit()]
    if max([names.count(""), *[n + 1 for n in numbers]], default=0) > len(args):
        what = f"The text of debug.print has more fields than the {len(args)} values that are given without a name."
        raise InputError(_about_text(what, text))
    unknown = [name for name in names if name and not name.isdigit() and name not in kwargs]
    if unknown:
        close = ", ".join(kwargs) or "no names"
        raise InputError(_about_text(f"debug.print got no value for  {{{unknown[0]}}}.", f"{text!r} with {close}"))


def _about_text(what: str, got: str) -> str:
    return message(what, got=got, fix='Write  ad.debug.print("x = {x:.3f}", x=x).')


def _print(text: str, *given: Any, **named: Any) -> None:
    sys.stdout.write(text.format(*given, **named) + "\n")
    sys.stdout.flush()


class nans:  # noqa: N801  (used as a function)
    """Raise an error that names the step and the line of the first nan, if a result has one.

    A context manager. Inside it, `grad`, `vjp`, `jvp`, `vmap`, `jit` and all that is made of them look at every step,
    of the function and of its derivative. Nothing is compiled meanwhile, so it is slow. A nan that does not reach the
    result is no error.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> def loss(x):
    ...     y = np.log(x)
    ...     return np.sum(y**2)
    >>> with ad.debug.nans(), np.errstate(invalid="ignore"):
    ...     ad.grad(loss)(np.array([1.0, -2.0]))
    Traceback (most recent call last):
        ...
    adjoint.core.errors.NanError: The first nan was made by log.
      at ...
    """

    def __enter__(self) -> None:
        self._before = look_for(True)
        self._jit = disable_jit()
        self._jit.__enter__()

    def __exit__(self, *error: Any) -> None:
        look_for(self._before)
        self._jit.__exit__(*error)


@checked()
def patches(module: str | None = None) -> list[PatchedPlace]:
    """List what has been changed outside the library and stays so until `unpatch`: names, functions, attributes.

    `docs/how-it-works.md` says which kinds of changes there are, those among them that end by themselves.

    Parameters
    ----------
    module : str, optional
        The name of a module, for what is changed in it and in those below it: `"__main__"`, `"scipy"`.

    Returns
    -------
    places : list of PatchedPlace
        Tuples with the full name of what is changed (`where`), what sort of thing it is (`what`), `why`, and `since`
        when; in the order in which it was done. As a text, each is one line.

    Examples
    --------
    >>> import numpy as np, scipy.special, adjoint as ad
    >>> ad.grad(scipy.special.logsumexp)(np.zeros(2))
    array([0.5, 0.5])
    >>> place = next(p for p in ad.debug.patches("scipy.special") if p.where.endswith(".logsumexp"))
    >>> place.what, place.why
    ('function', 'they convert their arguments themselves; other code also works for who imported the function by name')
    """
    return places(module)


@checked()
def unpatch() -> int:
    """Undo what has been changed outside the library: users' modules, NumPy's and SciPy's functions are as they were.

    The next function that is traced has all of it again. What somebody else has changed since then is left alone, and
    so are a few names with a blank in them (`_float for handles`), as long as code that reads them is running.

    Returns
    -------
    count : int
        How many changes have been undone.

    Raises
    ------
    ImpureError
        If a function is being traced, in any thread: it relies on them.

    Examples
    --------
    >>> import numpy as np, scipy.special, adjoint as ad
    >>> ad.grad(lambda x: scipy.special.softmax(x)[0])(np.zeros(2))
    array([ 0.25, -0.25])
    >>> ad.debug.unpatch() > 0, ad.debug.patches("scipy")
    (True, [])
    >>> ad.grad(lambda x: scipy.special.softmax(x)[0])(np.zeros(2))
    array([ 0.25, -0.25])
    """
    if THREADS:
        what = "ad.debug.unpatch was called while a function is traced, which relies on what it would undo."
        raise ImpureError(message(what, fix="Call it before or afterwards."))
    return first_trace.put_back()


def _under_traces(x: Any) -> tuple[Any, tuple[Any, ...]]:
    """A value without its derivatives (a captured program's stays one), and the batches it is in, outermost first."""
    traces: list[Any] = []
    while isinstance(x, Traced) and not x.traced_by.is_capture:
        if x.traced_by.lead:
            traces.insert(0, x.traced_by)
        x = x.value
    return x, tuple(traces)


def _own(x: Any) -> Any:
    """The function may keep what it is given."""
    return x.copy() if type(x) is np.ndarray else x
