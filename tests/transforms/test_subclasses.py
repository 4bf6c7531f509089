"""Masked arrays, matrices and dates are no plain numbers: every entrance refuses them by name."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import AdjointError, InputError, UnsupportedError

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


def _updated(x):
    y = x * 1.0
    y += MASKED
    return y


def _stored(x):
    y = x * 1.0
    y[1] = MASKED[1]
    return y


INSIDE = {
    "masked_where": lambda x: np.ma.masked_where(x > 0, x).sum(),
    "ma.array": lambda x: np.ma.array(x, mask=[0, 1, 0]).sum(),
    "masked_invalid": lambda x: np.ma.masked_invalid(x).sum(),
    "ma.mean": lambda x: np.ma.mean(x),
    "ma.log": lambda x: np.ma.log(x).sum(),
    "view": lambda x: x.view(np.ma.MaskedArray).sum(),
    "operator": lambda x: (MASKED * x).sum(),
    "comparison": lambda x: np.sum(np.where(x < MASKED, x, 0.0)),
    "maximum": lambda x: np.maximum(x, MASKED).sum(),
    "outer": lambda x: np.multiply.outer(x, MASKED).sum(),
    "clip": lambda x: np.clip(x, MASKED, 9.0).sum(),
    "concatenate": lambda x: np.concatenate([x, MASKED]).sum(),
    "list": lambda x: np.sum([x, MASKED]),
    "array of a list": lambda x: np.array([x, MASKED]).sum(),
    "dot": lambda x: x.dot(MASKED),
    "weights": lambda x: np.average(x, weights=MASKED),
    "in place": _updated,
    "assignment": _stored,
    "the masked constant": lambda x: MASKED[1] * x,
}
RIGHT = {
    "data": lambda x: (MASKED.data * x).sum(),
    "filled": lambda x: (MASKED.filled(0.0) * x).sum(),
    "mask": lambda x: np.where(MASKED.mask, 0.0, x).sum() + x[MASKED.mask].sum(),
    "sum": lambda x: MASKED.sum() * x.sum() + MASKED[0] * x[0],
}
MODES = {
    "vjp": lambda f: ad.vjp(f, np.ones(3))[0],
    "jvp": lambda f: ad.jvp(f, (np.ones(3),), (np.ones(3),))[0],
    "vmap": lambda f: ad.vmap(f)(np.ones((2, 3)))[0],
    "jit": lambda f: ad.jit(f)(np.ones(3)),
    "scan": lambda f: ad.scan(lambda c, x: (c, f(x)), 0.0, np.ones((2, 3)))[1][0],
}


@pytest.mark.parametrize("mode", MODES)
def test_masked_arrays_inside_are_refused(mode):
    """By their name, made in the function or met there as operands of operators and functions."""
    for f in INSIDE.values():
        with pytest.raises(
            UnsupportedError, match=r"np\.ma\.[\w.]+ has an arithmetic of its own(.|\n)*np\.where\(mask"
        ):
            MODES[mode](f)
    for f in RIGHT.values():
        np.testing.assert_array_equal(MODES[mode](f), f(np.ones(3)))
