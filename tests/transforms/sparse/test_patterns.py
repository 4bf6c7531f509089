"""Patterns hold what dense derivatives hold: for every primitive of the catalogue, and for programs."""

import numpy as np
import pytest
import scipy.sparse

import adjoint as ad
from adjoint.ops.declare import CATALOGUE
from tests.cases.primitives import DIFFERENTIABLE, cases_of

X = np.random.default_rng(0).normal(size=12)


def real_places(args):
    return tuple([k for k, a in enumerate(args) if np.asarray(a).dtype.kind == "f"])


def is_real(case):
    arrays = [np.asarray(a) for a in case.args]
    out = case.function(*case.args)
    parts = out if isinstance(out, tuple) else (out,)
    return all([a.dtype.kind != "c" for a in arrays]) and all([np.asarray(o).dtype.kind != "c" for o in parts])


def flat_jacobian(function, places, args):
    """The dense Jacobian as a matrix, for containers of results and several arguments."""
    found = ad.jacobian(function, places)(*args)
    rows = found if isinstance(found[0], tuple) else (found,)
    sizes = [np.asarray(args[k]).size for k in places]
    blocks = [[np.reshape(b, (-1, n)) for b, n in zip(row, sizes, strict=True)] for row in rows]
    return np.vstack([np.hstack(row) for row in blocks])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_a_pattern_holds_every_derivative(name):
    """Of each primitive: what is not 0 in the Jacobian is in the pattern, and likewise for the Hessian."""
    for case in cases_of(CATALOGUE[name]):
        places = real_places(case.args)
        if not places or not is_real(case):
            continue
        args = [float(a) if isinstance(a, float) else a for a in case.args]
        dense = flat_jacobian(case.function, places, args)
        pattern = ad.sparse.sparsity(case.function, places)(*args).toarray()
        assert pattern.shape == dense.shape
        assert not np.any((dense != 0) & ~pattern)

        def total(*given, case=case):
            out = case.function(*given)
            return sum([np.sum(part * 0.7) for part in (out if isinstance(out, tuple) else (out,))])

        with np.errstate(all="ignore"):
            rows = ad.jacobian(ad.grad(total, places), places)(*args)
        sizes = [np.asarray(args[k]).size for k in places]
        second = np.vstack([
            np.hstack([np.reshape(b, (m, n)) for b, n in zip(row, sizes, strict=True)])
            for row, m in zip(rows, sizes, strict=True)
        ])  # fmt: skip
        assert not np.any((second != 0) & ~ad.sparse.hessian_sparsity(total, places)(*args).toarray())


def assigned(x):
    y = np.zeros(12)
    y[:3] = x[:3] ** 2
    y[2] = x[5]
    y[[4, 4, 5]] = x[7:10]
    y[6:] += x[6:]
    return y


def added_at(x):
    y = np.zeros(4)
    np.add.at(y, np.array([0, 2, 0]), x[:3] * x[3:6])
    return y


MATRIX = scipy.sparse.diags_array([1.0, 2.0, 1.0], offsets=[-1, 0, 1], shape=(12, 12)).tocsr()
FUNCTIONS = {
    "tridiagonal": (lambda x: np.exp(x[1:]) * x[:-1], 22),
    "rolled": (lambda x: np.where(x > 0, x**2, np.roll(x, 1)), 24),
    "maximum": (lambda x: np.maximum(x, x[::-1]), 24),
    "rows": (lambda x: np.max(x.reshape(3, 4), axis=1), 12),
    "matrices": (lambda x: x.reshape(3, 4) @ x.reshape(4, 3), 60),
    "assigned": (assigned, 11),
    "added at": (added_at, 6),
    "gathered": (lambda x: x[np.array([1, 1, 3])] * x[np.array([2, 3, 4])], 6),
    "masked": (lambda x: x[x > 0] ** 2, int(np.sum(X > 0))),
    "sorted": (lambda x: np.sort(x), 12),
    "summed": (np.cumsum, 78),
    "convolved": (lambda x: np.convolve(x, np.array([1.0, 2.0, 1.0]), "same"), 34),
    "both convolved": (lambda x: np.convolve(x[:3], x[4:], "valid"), 36),
    "sparse product": (lambda x: MATRIX @ x**2, 34),
    "empty rows": (lambda x: np.concatenate([x[1:3] ** 2, np.zeros(3), x[-2:]]), 4),
    "constant": (np.floor, 0),
    "median": (lambda x: np.median(x.reshape(4, 3), axis=1), 4),
    "sinc": (np.sinc, 12),
    "stopped": (lambda x: x * ad.stop_gradient(np.sum(x)), 12),
    "scan, previous": (lambda x: ad.scan(lambda c, v: (v, (v - c) ** 2), 0.0, x)[1], 23),
    "scan, recurrence": (lambda x: ad.scan(lambda c, v: (np.sin(c) * v, c), 0.3, x)[1], 66),
    "scan, reversed": (lambda x: ad.scan(lambda c, v: (v, v * c), 0.3, x, reverse=True)[1], 23),
    "scan, constants": (lambda x: ad.scan(lambda c, v: (v * x[0], v * c + x[1]), 0.3, x)[1], 43),
    "scan, two": (lambda x: ad.scan(lambda c, v: ((c[1], v[0]), c[0] * v[1]), (0.1, x[0]), (x, x[::-1]))[1], 23),
    "scan, places": (lambda x: ad.scan(lambda c, v: (c, x[np.array([0, 3])] * v), 0.0, x)[1], 46),
    "while": (
        lambda x: ad.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x), (0, np.roll(x, 1)))[1],
        24,
    ),
    "cond": (lambda x: ad.cond(np.sum(x) > 0, lambda x: x**2, lambda x: np.roll(x, 1), x), 24),
    "solved": (lambda x: np.linalg.solve(4 * np.eye(3) + x[:9].reshape(3, 3), x[9:]), 36),
    "einsum": (lambda x: np.einsum("ij,kj->ik", x.reshape(3, 4), x.reshape(3, 4)), 60),
    "gradient": (ad.grad(lambda x: np.sum((x[1:] - x[:-1]) ** 2)), 34),
    "gradient of a scan": (ad.grad(lambda x: ad.scan(lambda c, v: (v, v**2 * c), 0.2, x)[0]), None),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_pattern_of_a_program(name):
    """It has just the entries that it should, and the matrix is the dense one."""
    function, entries = FUNCTIONS[name]
    found = ad.sparse.sparsity(function)(X)
    dense = ad.jacobian(function)(X).reshape(-1, 12)
    assert entries is None or found.nnz == entries
    assert not np.any((dense != 0) & ~found.toarray())
    np.testing.assert_allclose(ad.sparse.jacobian(function)(X).toarray(), dense, rtol=1e-12, atol=1e-12)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


ENERGIES = {
    "tridiagonal": (rosenbrock, 34),
    "diagonal": (lambda x: np.sum(np.sin(x)), 12),
    "linear": (np.sum, 0),
    "products": (lambda x: np.sum(x[1:] * x[:-1]), 22),
    "quotients": (lambda x: np.sum(x[1:] / x[:-1]), 33),
    "powers": (lambda x: np.sum(np.abs(x[1:]) ** x[:-1]), 34),
    "maxima": (lambda x: np.sum(np.maximum(x[1:], x[:-1])), 0),
    "matrices": (lambda x: np.sum(x.reshape(3, 4) @ x.reshape(4, 3)), 60),
    "three matrices": (
        lambda x: np.einsum("ij,jk,ki->", x.reshape(3, 4), x.reshape(4, 3), x[:9].reshape(3, 3)),
        None,
    ),
    "blocks": (lambda x: np.sum(np.log(np.sum(np.exp(x.reshape(3, 4)), axis=1))), 48),
    "product of all": (np.prod, 144),
    "overwritten": (lambda x: np.sum(assigned(x) ** 2), 9),
    "sorted": (lambda x: np.sum(np.sort(x)[1:] * np.sort(x)[:-1]), 22),
    "scan, previous": (lambda x: np.sum(ad.scan(lambda c, v: (v, (v - c) ** 2), 0.0, x)[1]), 34),
    "scan, recurrence": (lambda x: ad.scan(lambda c, v: (np.sin(c) * v, c), 0.3, x)[0], None),
    "scan, linear": (lambda x: ad.scan(lambda c, v: (0.5 * c + v, None), 0.3, x)[0], 0),
    "while": (
        lambda x: np.sum(ad.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x), (0, np.roll(x, 1)))[1]),
        36,
    ),
    "cond": (lambda x: np.sum(ad.cond(np.sum(x) > 0, lambda x: x**3, lambda x: x[0] * x, x)), 34),
    "convolved": (lambda x: np.sum(np.convolve(x[:3], x[4:])), 48),
    "nothing": (lambda x: 3.0, 0),
}


@pytest.mark.parametrize("name", ENERGIES)
def test_a_pattern_of_second_derivatives(name):
    """It has just the entries that it should, and the matrix is the dense one."""
    function, entries = ENERGIES[name]
    found = ad.sparse.hessian_sparsity(function)(X)
    dense = ad.hessian(function)(X)
    assert entries is None or found.nnz == entries
    assert not np.any((dense != 0) & ~found.toarray())
    np.testing.assert_allclose(ad.sparse.hessian(function)(X).toarray(), dense, rtol=1e-10, atol=1e-10)


def test_too_many_dependences_are_refused():
    """Where everything depends on everything, memory is not filled before it is said."""
    with pytest.raises(ad.errors.UnsupportedError) as caught:
        ad.sparse.sparsity(lambda x: x * np.sum(x))(np.ones(100_000))
    assert str(caught.value).splitlines()[::2] == [
        "There are too many dependences to write down: these derivatives are not sparse.",
        "  got more than 2e+08 in one step",
    ]
    assert str(caught.value).endswith("or give the pattern yourself with  pattern=.")
