"""Random numbers as pure functions of a key: the same eager, jitted, in any thread, and for each example of a batch.

>>> import adjoint as ad
>>> key = ad.random.key(0)
>>> noise, mask = ad.random.split(key)  # one key for each draw
>>> ad.random.normal(noise, 3).shape, ad.random.bernoulli(mask, 0.5, 3).dtype
((3,), dtype('bool'))
"""

from ..core.hints import missing
from .discrete import bernoulli, categorical, choice, integers, permutation
from .distributions import (
    cauchy,
    exponential,
    gumbel,
    laplace,
    logistic,
    normal,
    truncated_normal,
    uniform,
)
from .draws import bits
from .gamma import beta, dirichlet, gamma
from .keys import fold_in, key, split

__all__ = [
    "bernoulli", "beta", "bits", "categorical", "cauchy", "choice", "dirichlet", "exponential", "fold_in", "gamma",
    "gumbel", "integers", "key", "laplace", "logistic", "normal", "permutation", "split", "truncated_normal", "uniform",
]  # fmt: skip

__getattr__ = missing("ad.random", __all__)


def __dir__() -> list[str]:
    return __all__
