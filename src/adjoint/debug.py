"""Looking inside: values while they are computed, also under jit, the first nan, health of gradients, patches."""

from .core.hints import missing
from .diagnosis.find import find_nan
from .diagnosis.health import health
from .tools.debug import callback, nans, patches, print, unpatch

__all__ = ["callback", "find_nan", "health", "nans", "patches", "print", "unpatch"]

__getattr__ = missing("ad.debug", __all__)


def __dir__() -> list[str]:
    return __all__
