"""Settings, for the whole process: threads, the cache of compiled code, and running without it.

>>> import adjoint as ad
>>> ad.config.set_threads(1)
>>> ad.config.set_threads(None)
"""

from .core.hints import missing
from .transforms.settings import clear_caches, disable_jit, set_cache, set_threads

__all__ = ["clear_caches", "disable_jit", "set_cache", "set_threads"]

ELSEWHERE = {
    "update": "ad.config.set_threads, ad.config.set_cache or ad.config.disable_jit",
    "jax_disable_jit": "with ad.config.disable_jit()",
    "jax_debug_nans": "with ad.debug.nans()",
    "jax_enable_x64": "nothing: computations are in the precision of the arrays, double by default",
}
"""Settings of other libraries, to what does the same here."""

__getattr__ = missing("adjoint.config", __all__, ELSEWHERE)


def __dir__() -> list[str]:
    return __all__
