"""Other points of the same shape, ordinary and special ones, and functions of many results as one number."""

import numpy as np

from adjoint.core.tree import flatten


def moved(x, how):
    """Another point of the same shape."""
    if isinstance(x, float):
        return {"near": x * 0.999, "zeros": 0.0, "nan": np.nan, "infinity": np.inf, "half": -0.0}.get(how, x)
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fc" or not x.size:
        return x
    y = x.copy()
    if how == "near":
        return x * (1 - 1e-3 * np.random.default_rng(0).random(x.shape))
    if how == "flipped":
        return np.flip(x).copy()
    if how == "nan":
        y.flat[0] = np.nan
    elif how == "infinity":
        y.flat[-1] = np.inf
    elif how == "ties":
        y[...] = y.flat[0]
    else:
        y.flat[:: 1 if how == "zeros" else 2] = 0.0
    return y


def weighted(f):
    """The function whose value is a sum over all elements of all results of `f`, each with a weight of its own."""

    def total(*args):
        found = 0.0
        for leaf in flatten(f(*args))[0]:
            leaf = np.asarray(leaf) if not hasattr(leaf, "dtype") else leaf
            if leaf.dtype.kind in "fc":
                found = found + np.sum(np.real(leaf * np.arange(1.0, 1.0 + leaf.size).reshape(leaf.shape)))
        return found

    return total
