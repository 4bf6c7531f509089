"""Patterns of every function that can be differentiated hold its dense derivatives."""

import numpy as np
import pytest

import adjoint as ad
from tests.cases.catalogue import every_entry


def is_real(x):
    return np.asarray(x).dtype.kind != "c"


def places_of(entry):
    """The arguments to differentiate with respect to; none for functions of or to complex numbers."""
    arrays = [isinstance(a, (np.ndarray, float)) and np.asarray(a).dtype.kind == "f" for a in entry.args]
    results = ad.tree.leaves(entry.function(*entry.args))
    every = [*results, *[a for a in entry.args if isinstance(a, (np.ndarray, complex))]]
    has_rows = sum([np.size(r) for r in results]) > 0
    return tuple(np.flatnonzero(arrays).tolist()) if has_rows and all(map(is_real, every)) else ()


def as_matrix(blocks, rows):
    return np.hstack([np.reshape(b, (rows, -1)) for b in blocks])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("chunk", range(16))
def test_patterns_of_the_whole_catalogue(chunk):
    """What is not 0 in the Jacobian is in the pattern, and likewise for the Hessian of a weighted sum."""
    for entry in every_entry()[chunk::16]:
        places = places_of(entry)
        if not places:
            continue

        def line(*args, entry=entry):
            return np.concatenate([np.reshape(r, -1) for r in ad.tree.leaves(entry.function(*args))])

        count = len(line(*entry.args))
        dense = as_matrix(ad.jacobian(line, places)(*entry.args), count)
        assert not np.any((dense != 0) & ~ad.sparse.sparsity(line, places)(*entry.args).toarray()), entry.name
        weights = np.linspace(0.5, 1.5, count)

        def total(*args, line=line, weights=weights):
            return np.sum(line(*args) * weights)

        sizes = [np.size(entry.args[k]) for k in places]
        rows = ad.hessian(total, places)(*entry.args)
        second = np.vstack([as_matrix(row, n) for row, n in zip(rows, sizes, strict=True)])
        assert not np.any((second != 0) & ~ad.sparse.hessian_sparsity(total, places)(*entry.args).toarray()), entry.name
