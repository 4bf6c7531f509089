"""Masked arrays, matrices and dates are no plain numbers: every entrance refuses them by name."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import AdjointError, InputError

MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
ENTRANCES = {
    "scan": lambda v: ad.scan(lambda c, x: (c, x), 0.0, v),
    "scan, carry": lambda v: ad.scan(lambda c, x: (c, x), v, np.ones(2)),
    "fori_loop": lambda v: ad.fori_loop(0, 2, lambda i, c: c, v),
    "while_loop": lambda v: ad.while_loop(lambda c: False, lambda c: c, v),
    "map": lambda v: ad.map(lambda x: x, v),
    "associative_scan": lambda v: ad.associative_scan(lambda a, b: a + b, v),
    "vmap": lambda v: ad.vmap(lambda x: 2 * x)(v),
    "numerical.grad": lambda v: ad.numerical.grad(lambda x: 1.0 * x.size)(v),
    "numerical.jacobian": lambda v: ad.numerical.jacobian(lambda x: np.ones(2))(v),
    "jvp": lambda v: ad.jvp(lambda x: x, (np.ones(3),), (v,)),
    "vjp": lambda v: ad.vjp(lambda x: x, np.ones(3))[1](v),
}


@pytest.mark.parametrize("name", ENTRANCES)
def test_masked_arrays_are_refused(name):
    """With the class and what to pass instead."""
    with pytest.raises(InputError, match=r"subclasses of ndarray(.|\n)*MaskedArray(.|\n)*filled"):
        ENTRANCES[name](MASKED)


@pytest.mark.parametrize("name", ["scan", "scan, carry", "map", "numerical.grad", "numerical.jacobian", "jvp", "vjp"])
@pytest.mark.parametrize("kind", ["M8[D]", "m8[s]"])
def test_dates_are_refused(name, kind):
    """They would be taken for the integers they are stored as."""
    with pytest.raises(AdjointError):
        ENTRANCES[name](np.arange(3).astype(kind))
