"""Running a user's function on traced inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core.calls.float_warnings import redirect, restore
from ..core.calls.suppressed_errors import behind
from ..core.classes import CALLERS
from ..core.traced import LOCAL
from ..host.frames.callsite import stands_for_the_user
from ..numpy.patching import first_trace
from ..numpy.patching.tracing import enter, leave

Evaluation = Callable[[tuple[Any, ...], dict[str, Any]], Any]
"""A function of the arguments by position and those by name."""


def entrance(evaluated: Evaluation, wanted: Callable[[Any], Any] | None = None) -> Callable[..., Any]:
    """What a transformation returns: `evaluated(args, kwargs)`, or what is wanted of it, as the user calls it.

    Nans are looked for if that is asked for, in all that was evaluated, and errors leave without the library's frames.
    """

    def transformed(*args: Any, **kwargs: Any) -> Any:
        try:
            if LOCAL.seeks_nans:
                found = looking_for_nans(lambda *a, **k: evaluated(a, k), args, kwargs)
            else:
                found = evaluated(args, kwargs)
            return found if wanted is None else wanted(found)
        except Exception as error:
            from ..core.arguments.naming import as_it_leaves  # seldom needed, so not when the library is imported

            found = as_it_leaves(error, transformed.__wrapped__, args, kwargs)  # type: ignore[attr-defined]
            if found is error:
                raise
            raise found from error

    return transformed


def entered(evaluated: Callable[..., Any], options: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    """`evaluated(*options, *args)`, where the user calls it, under `with FOLDING:`, with nans as for `entrance`."""
    if LOCAL.seeks_nans:
        return looking_for_nans(functools.partial(evaluated, *options), args, {})
    return evaluated(*options, *args)


def looking_for_nans(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call, unless it has a nan."""
    from ..core.nans import looking_for_nans  # seldom needed, so not when the library is imported

    return looking_for_nans(function, args, kwargs)


def call_traced(f: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call the user's function where one that calls it is being traced already."""
    return f(*args, **kwargs) if LOCAL.around is None else LOCAL.around(f, args, kwargs)


def run(f: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call the user's function while NumPy's array makers know traced values."""
    outside = LOCAL.depth
    token = None
    if not outside:
        first_trace.prepare(f)
        token = redirect()
    elif LOCAL.around is not None:
        f, args, kwargs = LOCAL.around, (f, args, kwargs), {}
    try:
        enter(outside)
        return f(*args, **kwargs)
    except Exception as error:
        # NumPy hides a refused conversion behind "setting an array element with a sequence", compiled code likewise
        refusal = behind(error)
        if refusal is None or refusal is error:
            raise
        raise refusal from None
    finally:
        restore(token)
        try:
            leave(outside)
        except BaseException:  # Ctrl-C just now
            leave(outside)
            raise


stands_for_the_user(run.__code__)
CALLERS.append(run)
