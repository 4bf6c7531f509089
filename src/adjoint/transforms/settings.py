"""Settings of compiled code: threads, where it is kept, switching it off for a while, forgetting it."""

from __future__ import annotations

import os
import weakref
from types import TracebackType
from typing import Any

from ..core.arguments import Count, checked
from ..host.code import versions
from .compiler import can_compile


@checked()
def set_threads(n: Count | None) -> None:
    """Let large loops of compiled code use `n` threads.

    Parameters
    ----------
    n : int or None
        A whole number from 1 on; None goes back to the default, which is the environment variable
        `ADJOINT_NUM_THREADS`, else the number of processors this process may use. Results do not depend on it.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.config.set_threads(1)
    >>> ad.config.set_threads(None)
    """
    if can_compile():
        from ..compile.runtime.threads import set_threads as use

        use(n)


@checked()
def set_cache(folder: str | os.PathLike[str] | None) -> None:
    """Keep compiled code in a folder, from which later processes take it instead of compiling anew.

    Parameters
    ----------
    folder : str, path or None
        Created if it is missing. What is in it is run as it is, so neither it nor a folder around it may be writable by
        others. It holds at most 256 MB; what has not been used for 90 days is removed. None keeps code in memory only,
        which is the default; the environment variable `ADJOINT_CACHE` sets one too (0 or off: none).

    Raises
    ------
    InputError
        If others can write to the folder. One that cannot be made is a warning.

    Examples
    --------
    >>> import tempfile, adjoint as ad
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ad.config.set_cache(folder)
    ...     ad.jit(lambda x: 2.0 * x)(1.0)
    ...     ad.config.set_cache(None)
    2.0
    """
    from ..compile.runtime.cache import set_cache as use

    use(folder)


JITTED: weakref.WeakSet[Any] = weakref.WeakSet()
"""Every jitted function that is alive."""

_off = 0
"""How many `disable_jit` blocks are open."""


def is_off() -> bool:
    """Whether jitted functions are called as they are."""
    return _off > 0 or not versions.IS_KNOWN


class disable_jit:  # noqa: N801  (used as a function)
    """Call jitted functions as they are, and run loops step by step: prints and debuggers see every step.

    A context manager. It holds for all threads while it is open.

    Examples
    --------
    >>> import adjoint as ad
    >>> @ad.jit
    ... def f(x):
    ...     print("x is", x)
    ...     return 2 * x
    >>> with ad.config.disable_jit():
    ...     f(1.0), f(2.0)
    x is 1.0
    x is 2.0
    (2.0, 4.0)
    """

    def __enter__(self) -> None:
        global _off
        _off += 1
        for jitted in list(JITTED):
            jitted.switched()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        global _off
        _off -= 1
        for jitted in list(JITTED):
            jitted.switched()


def clear_caches() -> None:
    """Forget all recordings and compiled programs; functions are recorded anew when they are next called.

    Nothing changes but the time of the next call. Memory goes back to the system, but for code that a call is under way
    in, perhaps of another thread: that goes with the next recording of its function.

    Examples
    --------
    >>> import adjoint as ad
    >>> f = ad.jit(lambda x: 2 * x)
    >>> f(1.0), f.stats()["recordings"]
    (2.0, 1)
    >>> ad.config.clear_caches()
    >>> f.stats()["recordings"]
    0
    """
    from ..rolling.loop import forget as forget_rolled
    from .loops.capture import forget

    for jitted in list(JITTED):
        jitted.clear()
    forget()
    forget_rolled()
    if can_compile():
        from ..compile.runtime.engine import forget as forget_code
        from ..compile.runtime.room import give_back

        forget_code()
        give_back()
