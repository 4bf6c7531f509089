"""`find_nan`: where the first nan or infinity of a function or its gradient is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.arguments import checked
from ..host.frames.tracebacks import FOLDING
from ..transforms.interface.checking import checked_function
from .sweep import Bad, swept
from .watch import watched


@checked("fun")
def find_nan(fun: Callable[..., Any]) -> Callable[..., Bad | None]:
    """Where the first nan or infinity comes from: the step, the user's line and what it was given.

    The function is run once and swept back once, step by step; jitted functions and loops inside it too. What does not
    reach the result or the gradient is not reported.

    Parameters
    ----------
    fun : callable
        The function; its arguments and result may be any containers.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns None if the result and the gradient (of the sum of the
        results, with respect to all real arguments) are finite; else a record with `what` ("nan" or "inf"), `where`
        ("value", "derivative" or "argument"), `step`, `line` and `operands`, which prints as a message.

    Raises
    ------
    InputError
        If no argument is a real or complex number.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> def loss(x):
    ...     distance = np.sqrt(np.sum((x - 1.0) ** 2))
    ...     return np.log(distance - 2.0)
    >>> found = ad.debug.find_nan(loss)(np.ones(3))
    >>> found.what, found.where, found.step, found.operands
    ('nan', 'value', 'log', 'float -2.0')
    >>> ad.debug.find_nan(loss)(np.zeros(3) - 1.0) is None
    True
    """
    checked_function(fun, "find_nan")

    def found(*args: Any, **kwargs: Any) -> Bad | None:
        with FOLDING:
            return swept(watched(fun, args, kwargs, None, "find_nan")).bad

    return found
