"""Linear algebra in machine code: the numbers, errors and nan of NumPy, with one elimination for all that is asked."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import adjoint as ad
from adjoint.compile.program.expand import expanded
from adjoint.compile.program.factors import ELIMINATE, TRIANGULAR

SIZES = (1, 3, 8, 9)
"""Up to 8 rows are eliminated in registers, more in blocks of columns, from 129 on by LAPACK."""


def matrix(n, *lead, dtype=float):
    """A matrix that is far from singular."""
    return (np.random.default_rng(n).normal(size=(*lead, n, n)) + 3 * np.eye(n)).astype(dtype)


def positive(n, dtype=float):
    """A positive definite matrix."""
    a = matrix(n)
    return (a @ a.T + np.eye(n)).astype(dtype)


def results(found):
    """What a function gives, as a list of arrays."""
    return [x for part in found for x in results(part)] if isinstance(found, tuple) else [np.asarray(found)]


def check(f, *args, rtol=1e-11, hosted=()):
    """Machine code against plain, of the same types; the jitted function."""
    jitted = ad.jit(f)
    with np.errstate(all="ignore"):
        want = results(f(*args))
        for _ in range(2):
            found = results(jitted(*args))
            for x, y in zip(found, want, strict=True):
                assert (x.dtype, x.shape) == (y.dtype, y.shape)
                scale = np.max(np.abs(y), initial=0.0, where=np.isfinite(y))
                np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol * scale)
    assert jitted.stats()["called by NumPy"] == list(hosted)
    return jitted


def solve_both(a, b):
    """A system and the transposed one."""
    return np.linalg.solve(a, b), np.linalg.solve(a.T, b), np.linalg.det(a), np.linalg.inv(a.T), np.linalg.inv(a)


def by_cholesky(a, b):
    """A system by its Cholesky factor."""
    factor = np.linalg.cholesky(a)
    return factor, np.linalg.solve(factor.T, np.linalg.solve(factor, b))


FUNCTIONS = {
    "det": np.linalg.det,
    "det of the transposed": lambda a: np.linalg.det(a.T),
    "slogdet": lambda a: tuple(np.linalg.slogdet(a)),
    "slogdet of a negative one": lambda a: tuple(np.linalg.slogdet(a * np.where(np.arange(len(a)) == 0, -1, 1))),
    "inv": np.linalg.inv,
    "inv of the transposed": lambda a: np.linalg.inv(a.T),
    "inv of a part": lambda a: np.linalg.inv(a[::-1, ::-1]),
    "solve": lambda a: np.linalg.solve(a, a[:, 0]),
    "solve for columns": lambda a: np.linalg.solve(a, a[:, ::-1]),
    "solve for many columns": lambda a: np.linalg.solve(a, np.concatenate([a, 2 * a, a[:, :1]] * 3, axis=1)),
    "both ways": lambda a: solve_both(a, a[:, :2]),
    "gradient of det": ad.value_and_grad(np.linalg.det),
    "gradient of slogdet": ad.value_and_grad(lambda a: np.linalg.slogdet(a)[1]),
    "gradient of inv": ad.grad(lambda a: np.sum(np.sin(np.linalg.inv(a)))),
    "gradient of solve": ad.grad(lambda a: np.sum(np.sin(np.linalg.solve(a, a[:, :2] ** 2)))),
    "tangent of solve": lambda a: ad.jvp(lambda a: np.linalg.solve(a, a[:, :2] ** 2), (a,), (a.T,))[1],
    "second derivatives": ad.hessian(lambda t: np.linalg.slogdet(t * np.eye(len(t)) + 0.1)[1]),
}


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_numpy(name, n):
    """Values and derivatives, small and large."""
    check(FUNCTIONS[name], matrix(n) if name != "second derivatives" else np.arange(1.0, n + 1))


@pytest.mark.parametrize("n", [3, 12])
@pytest.mark.parametrize("name", ["det", "slogdet", "inv", "solve for columns", "both ways", "gradient of det"])
def test_in_single_precision(name, n):
    """In the precision that is given."""
    check(FUNCTIONS[name], matrix(n, dtype=np.float32), rtol=3e-5)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cholesky(n, dtype):
    """The factor, systems with it, and its derivative: triangular systems need no elimination."""
    rtol = 1e-11 if dtype is np.float64 else 1e-4
    jitted = check(by_cholesky, positive(n, dtype), matrix(n, dtype=dtype)[:, :1], rtol=rtol)
    gradient = ad.grad(lambda a: np.sum(np.sin(np.linalg.cholesky(a))))
    check(gradient, positive(n, dtype), rtol=rtol)
    steps = expanded(jitted.lower(positive(n, dtype), matrix(n, dtype=dtype)[:, :1]).optimized).steps
    assert [s.primitive for s in steps].count(TRIANGULAR) == 2
    assert ELIMINATE not in [s.primitive for s in steps]


@pytest.mark.parametrize("n", [11, 17, 128, 129])
def test_larger_matrices(n):
    """Blocks that are full and that are not, vectors that are full and that are not, and LAPACK."""
    check(ad.value_and_grad(lambda a: np.linalg.slogdet(a)[1]), matrix(n))
    check(lambda a: solve_both(a, a[:, :3]), matrix(n), rtol=1e-10)
    check(lambda a: (np.linalg.inv(a), np.linalg.det(a / 4)), matrix(n, dtype=np.float32), rtol=1e-4)


@pytest.mark.parametrize("n", [5, 12])
def test_pivots(n):
    """Zeros and small numbers on the diagonal: rows change places."""
    for turn in range(1, n):
        a = np.roll(matrix(n), turn, axis=0)
        a[0, 0] = 0.0
        check(lambda a: (np.linalg.det(a), np.linalg.inv(a), np.linalg.solve(a, a[:, :2] + 1)), a)


def test_cholesky_reads_the_lower_triangle():
    """As NumPy's, whatever is above the diagonal."""
    check(np.linalg.cholesky, positive(4) + np.triu(np.ones((4, 4)), 1))


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("unit_diagonal", [True, False])
def test_triangular_systems_of_scipy(lower, trans, unit_diagonal):
    """One triangle is read, and not its diagonal if it is one of ones."""

    def f(a, b):
        return scipy.linalg.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit_diagonal)

    check(ad.value_and_grad(lambda a, b: np.sum(f(a, b) ** 2), argnums=(0, 1)), matrix(6), matrix(6)[:, :2])


def test_one_elimination_for_all():
    """What is asked of a matrix, and of the transposed one, is read from the same factors."""
    program = ad.jit(solve_both).lower(matrix(9), matrix(9)[:, :2]).optimized
    assert [s.primitive for s in expanded(program).steps].count(ELIMINATE) == 1
    program = ad.jit(ad.value_and_grad(np.linalg.det)).lower(matrix(5)).optimized
    assert [s.primitive for s in expanded(program).steps].count(ELIMINATE) == 1


@pytest.mark.parametrize("n", [3, 9])
def test_stacks(n):
    """Any number of leading axes, and one matrix with a stack of right-hand sides."""

    def all_of_it(a):
        turned = np.linalg.inv(np.swapaxes(a, -1, -2))
        return np.linalg.inv(a), turned, np.linalg.det(a), *np.linalg.slogdet(a), np.linalg.solve(a, a[..., :2])

    for lead in ((2, 3), (1,)) if n == 3 else ((2, 2),):
        check(all_of_it, matrix(n, *lead))
        check(lambda a: np.linalg.cholesky(a @ np.swapaxes(a, -1, -2)), matrix(n, *lead))
    check(lambda a, b: (np.linalg.solve(a, b), np.linalg.solve(b, a)), matrix(n), matrix(n, 4))
    check(ad.vmap(ad.grad(np.linalg.det)), matrix(n, 4))


@pytest.mark.parametrize("n", [3, 9])
def test_any_strides(n):
    """Arguments that do not lie row by row."""
    wide = np.zeros((2 * n, 3 * n))
    wide[::2, ::3] = matrix(n)
    for a in (np.asfortranarray(matrix(n)), wide[::2, ::3], matrix(n)[::-1], np.broadcast_to(matrix(n), (3, n, n))):
        check(lambda a: (np.linalg.inv(a), np.linalg.det(a), np.linalg.solve(a, a[..., :1])), a)


@pytest.mark.parametrize("n", [3, 9])
def test_in_loops(n):
    """In the body of a loop, with its derivative."""

    def f(a):
        return ad.scan(lambda c, _: (np.linalg.inv(c) + a, np.linalg.slogdet(c)[1]), a, length=4)

    check(f, matrix(n))
    check(ad.grad(lambda a: np.sum(f(a)[0]) + np.sum(f(a)[1])), matrix(n), rtol=1e-9)
    check(lambda a: ad.scan(lambda c, _: (np.linalg.cholesky(c @ c.T), np.linalg.det(c)), a, length=3), matrix(n))
    check(lambda a: ad.while_loop(lambda s: s[1] < 3, lambda s: (np.linalg.inv(s[0]), s[1] + 1), (a, 0))[0], matrix(n))


def kinds_of_bad(n):
    """Matrices that are singular, exactly or nearly, not finite, or out of range."""
    a = matrix(n)
    twice = a.copy()
    twice[1] = 2 * twice[0]
    nearly = twice.copy()
    nearly[1, 1] *= 1 + 1e-14
    hole, endless = a.copy(), a.copy()
    hole[0, 0], endless[-1, 0] = np.nan, np.inf
    count = np.arange(float(n * n)).reshape(n, n)
    return [twice, nearly, hole, endless, count, np.zeros((n, n)), np.ones((n, n)), a * 1e300, a * 1e-300, -a]


FINE = 7
"""From here on they are far from singular."""


def outcome(f, *args):
    """What a call gives, or the error it raises."""
    with np.errstate(all="ignore"):
        try:
            return results(f(*args))
        except (np.linalg.LinAlgError, ValueError) as error:
            return str(error)


BAD = {
    "det": np.linalg.det,
    "slogdet": lambda a: tuple(np.linalg.slogdet(a)),
    "inv": np.linalg.inv,
    "solve": lambda a: np.linalg.solve(a, np.ones((len(a), 2))),
    "both ways": lambda a: solve_both(a, np.ones((len(a), 2)))[:3],
    "inverses": lambda a: (np.linalg.inv(a), np.linalg.inv(a.T)),
    "cholesky": np.linalg.cholesky,
    "stack": lambda a: np.linalg.inv(np.stack([a, a + 1.0])),
    "loop": lambda a: ad.scan(lambda c, _: (np.linalg.inv(c), None), a, length=2)[0],
    "triangular": lambda a: ad.jvp(lambda b: scipy.linalg.solve_triangular(a, b), (a[:, :1],), (a[:, 1:2],))[1],
}


@pytest.mark.parametrize("n", [2, 8, 9])
@pytest.mark.parametrize("name", BAD)
def test_singular_as_numpy(name, n):
    """The same errors and the same nan, and no new recording for them."""
    f = BAD[name]
    jitted = ad.jit(f)
    jitted(positive(n))
    for k, a in enumerate(kinds_of_bad(n)):
        want = outcome(f, a)
        for _ in range(2):
            found = outcome(jitted, a)
            if isinstance(want, str):
                assert found == want
                continue
            for x, y in zip(found, want, strict=True):
                np.testing.assert_array_equal(np.isfinite(x), np.isfinite(y))
                if k >= FINE:
                    np.testing.assert_allclose(x, y, rtol=1e-8)
    assert jitted.recordings == 1


def test_determinants_out_of_range():
    """Where a product of pivots leaves the range on the way, its logarithm does not."""
    check(np.linalg.det, np.diag([1e200, 1e200, 1e-200, 1e-200]))
    check(np.linalg.det, np.diag([1e-200, 1e-200, 1e200, 1e200, -1.0]))
    check(np.linalg.det, np.diag([1e200, 1e200, 1.0]))


def test_nothing_to_eliminate():
    """Matrices without elements are NumPy's."""
    check(np.linalg.inv, np.zeros((0, 0)), hosted=["np.linalg.inv"])
    check(np.linalg.det, np.zeros((0, 3, 3)), hosted=["np.linalg.det"])
    check(lambda a: np.linalg.solve(a, np.zeros((3, 0))), matrix(3), hosted=["solve"])


def test_an_error_that_nobody_sees_the_result_of():
    """A system that has no solution raises even if the solution is not used."""

    @ad.jit
    def f(a):
        np.linalg.inv(a)
        return np.sum(a)

    np.testing.assert_allclose(f(matrix(3)), f(matrix(3)))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        f(np.zeros((3, 3)))


@pytest.mark.parametrize("n", [4, 10])
def test_gaussian_process(n):
    """A likelihood with its gradient: kernel, Cholesky factor, system, logarithm of the determinant."""
    x = np.linspace(0.0, 1.0, n)

    def likelihood(p):
        kernel = np.exp(p[0] - 0.5 * (x[:, None] - x) ** 2 * np.exp(p[1])) + np.exp(p[2]) * np.eye(n)
        factor = np.linalg.cholesky(kernel)
        return 0.5 * np.sin(x) @ np.linalg.solve(kernel, np.sin(x)) + np.sum(np.log(np.diag(factor)))

    check(ad.value_and_grad(likelihood), np.array([0.1, 0.2, -1.0]))


@pytest.mark.parametrize("n", [3, 6, 9])
def test_single_precision_is_computed_in_double(n):
    """As in NumPy, which decides there whether a matrix is singular or positive definite, and rounds at the end."""
    rng = np.random.default_rng(n)
    functions = [np.linalg.det, lambda a: np.linalg.slogdet(a)[1], np.linalg.inv, lambda a: np.linalg.solve(a.T, a[0])]
    functions += [np.linalg.cholesky, lambda a: (np.linalg.inv(a), np.linalg.inv(a.T))[1]]
    hilbert = 1.0 / (np.arange(n)[:, None] + np.arange(n) + 1.0)
    matrices = [(rng.integers(-3, 4, (n, n - 1)) @ rng.integers(-3, 4, (n - 1, n))) * 1.0 for _ in range(20)]
    matrices += [np.ones((n, n)) + 1e-6 * np.eye(n), hilbert, np.zeros((n, n))]

    def result(f, a):
        try:
            return f(a)
        except np.linalg.LinAlgError:
            return "raised"

    for f in functions:
        jitted = ad.jit(f)
        jitted(np.eye(n, dtype=np.float32))
        for a in matrices:
            single = a.astype(np.float32)
            expected, found = result(f, single), result(jitted, single)
            assert isinstance(found, str) == isinstance(expected, str)
            if not isinstance(found, str):
                assert found.dtype == np.float32
                np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
                if (
                    a is matrices[-3]
                ):  # its condition, 3e6 n, loses that many of double's digits: an exact 0 need not come out
                    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * np.max(np.abs(expected)))
