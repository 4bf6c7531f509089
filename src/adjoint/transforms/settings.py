"""Settings of compiled code: threads, and where it is kept."""

from __future__ import annotations

import os

from .jit_native import can_compile


def set_threads(n: int | None) -> None:
    """Let large loops of compiled code use `n` threads.

    Parameters
    ----------
    n : a whole number from 1 on; None goes back to the default, which is the environment variable
        `ADJOINT_NUM_THREADS`, else the processors this process may use. Results do not depend on it.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.set_threads(1)
    >>> ad.set_threads(None)
    """
    if can_compile():
        from ..compile.threads import set_threads as use

        use(n)


def set_cache(folder: str | os.PathLike[str] | None) -> None:
    """Keep compiled code in a folder, from which later processes take it instead of compiling anew.

    Parameters
    ----------
    folder : made if it is missing. What is in it is run as it is, so it must not be writable by others. None keeps code
        in memory only, which is the default; the environment variable `ADJOINT_CACHE` sets a folder too.

    Examples
    --------
    >>> import tempfile, adjoint as ad
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ad.set_cache(folder)
    ...     ad.jit(lambda x: 2.0 * x)(1.0)
    ...     ad.set_cache(None)
    2.0
    """
    from ..compile.cache import set_cache as use

    use(folder)
