"""Keys and draws: golden values, the documented scheme, distributions, derivatives, batches, errors."""

import doctest
import threading
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import adjoint as ad
from adjoint import random
from adjoint.ops.words import words
from adjoint.random.gamma import slope

KEY = random.key(0)
MASK = 2**64 - 1


def philox(counter, key):
    """Philox 4x64-10 as published (Salmon et al. 2011), in Python's own numbers."""
    c, (k, m) = list(counter), key
    for _ in range(10):
        p, q = 0xD2E7470EE14C6C93 * c[0], 0xCA5A826395121157 * c[2]
        c = [(q >> 64) ^ c[1] ^ k, q & MASK, (p >> 64) ^ c[3] ^ m, p & MASK]
        k, m = (k + 0x9E3779B97F4A7C15) & MASK, (m + 0xBB67AE8584CAA73B) & MASK
    return c


# The same numbers forever -------------------------------------------------------------------------------------------

GOLDEN = {
    "key": (lambda: random.key(0), [15793235383387715774, 12390638538380655177]),
    "key of a large seed": (lambda: random.key(10**30), [3343706100478247728, 16115287522528297348]),
    "split": (lambda: random.split(KEY)[1], [12885069150845639902, 6370427667298282036]),
    "fold_in": (lambda: random.fold_in(KEY, 7), [12520925846412897962, 1953903836312573072]),
    "bits": (lambda: random.bits(KEY, 2), [259491006799949737, 4754966410622352325]),
    "uniform": (lambda: random.uniform(KEY, 3), [0.014067035665647709, 0.2577672456246177, 0.47156538101528966]),
    "uniform, float32": (
        lambda: random.uniform(KEY, 3, dtype=np.float32),
        [0.014066994190216064, 0.2577672004699707, 0.4715653657913208],
    ),
    "integers": (lambda: random.integers(random.key(5), -50, 50, 6), [35, -8, 3, -23, 38, -30]),
    "bernoulli": (lambda: random.bernoulli(random.key(5), 0.3, 6), [False, False, False, True, False, False]),
    "permutation": (lambda: random.permutation(random.key(5), 7), [3, 6, 2, 4, 5, 0, 1]),
    "choice": (lambda: random.choice(random.key(5), 7, 4, p=np.arange(7.0)), [6, 6, 4, 3]),
    "choice, once": (lambda: random.choice(random.key(5), 7, 4, replace=False, p=np.arange(7.0)), [6, 3, 5, 4]),
    "categorical": (lambda: random.categorical(random.key(5), np.arange(4.0), shape=6), [1, 3, 1, 3, 3, 3]),
    "normal": (lambda: random.normal(KEY, 3), [-0.1424603727776995, 2.9167700066653546, 1.0293543638841092]),
    "normal, float32": (
        lambda: random.normal(KEY, 3, dtype=np.float32),
        [-0.14246037602424622, 2.9167699813842773, 1.0293543338775635],
    ),
    "exponential": (lambda: random.exponential(KEY, 3), [0.014166914181270744, 0.29809239986162983, 0.637836191854973]),
    "gumbel": (lambda: random.gumbel(KEY, 3), [-1.4501891864103489, -0.3043166352440699, 0.2854212692879452]),
    "laplace": (lambda: random.laplace(KEY, 3), [-3.5707739342373417, -0.6625510694234525, -0.058550339969788784]),
    "logistic": (lambda: random.logistic(KEY, 3), [-4.2497542006160165, -1.057605850121768, -0.11386132867476106]),
    "cauchy": (lambda: random.cauchy(KEY, 3), [-22.613338427865127, -0.9523502256107509, -0.08956836423637433]),
    "truncated_normal": (
        lambda: random.truncated_normal(KEY, -1.0, 2.0, 3),
        [-0.9534918825029145, -0.3327483280012129, 0.1122215660685458],
    ),
    "gamma": (
        lambda: random.gamma(KEY, np.array([0.1, 1.0, 30.0])),
        [0.8491489055699294, 1.876149030624278, 32.30976293833157],
    ),
    "beta": (lambda: random.beta(KEY, 0.5, 2.0, 3), [0.060385161572718664, 0.23171959983653315, 0.11084434747526252]),
    "dirichlet": (
        lambda: random.dirichlet(KEY, [0.5, 1.0, 2.0]),
        [0.2531837494455174, 0.3313422662239169, 0.41547398433056554],
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_values(name):
    """These never change: programs are repeated by their keys."""
    draw, want = GOLDEN[name]
    got = draw()
    if got.dtype.kind == "f" and not name.startswith("uniform"):
        np.testing.assert_allclose(got, want, rtol=2e-6 if got.dtype == np.float32 else 1e-13)
    else:
        np.testing.assert_array_equal(got, want)


def test_words_are_those_of_the_published_algorithm():
    """The table of counters in docs/random.md."""
    k = [int(word) for word in KEY]
    assert [int(w) for w in random.bits(KEY, 6)] == (philox([1, 0, 0, 0], k) + philox([2, 0, 0, 0], k))[:6]
    assert (
        random.split(KEY, 3).tolist()
        == np.reshape(np.array(philox([1, 0, 0, 1], k) + philox([2, 0, 0, 1], k), np.uint64), (4, 2))[:3].tolist()
    )
    assert random.fold_in(KEY, 41).tolist() == philox([42, 0, 0, 2], k)[:2]
    assert random.fold_in(KEY, MASK).tolist() == philox([0, 1, 0, 2], k)[:2]
    assert words(KEY, 1, part=3).tolist() == philox([1, 3, 0, 0], k)[:1]


def test_element_depends_on_its_place_alone():
    """Neither on the size nor on the shape of the draw, across the blocks in which numbers are made."""
    for draw in (random.uniform, random.normal, random.exponential):
        long = draw(KEY, 20_001)
        for n in (1, 2, 7, 8191, 8193, 20_000):
            np.testing.assert_array_equal(draw(KEY, n), long[:n])
        np.testing.assert_array_equal(draw(KEY, (3, 5)).ravel(), long[:15])


def test_split_does_not_depend_on_how_many():
    """So that more keys may be asked for later."""
    np.testing.assert_array_equal(random.split(KEY, 2), random.split(KEY, 9)[:2])


def test_threads_do_not_disturb_each_other():
    """Every thread draws the same numbers at the same time."""
    want, found = random.normal(KEY, 50_000), []
    workers = [threading.Thread(target=lambda: found.append(random.normal(KEY, 50_000))) for _ in range(4)]
    [w.start() for w in workers]
    [w.join() for w in workers]
    for got in found:
        np.testing.assert_array_equal(got, want)
    assert len(found) == 4


# Distributions ------------------------------------------------------------------------------------------------------

N = 20_000
CONTINUOUS = {
    "uniform": (lambda k, d: random.uniform(k, N, -1.0, 2.0, d), stats.uniform(-1, 3)),
    "normal": (lambda k, d: random.normal(k, N, 1.0, 2.0, d), stats.norm(1, 2)),
    "exponential": (lambda k, d: random.exponential(k, N, 2.0, d), stats.expon(scale=2)),
    "gumbel": (lambda k, d: random.gumbel(k, N, 1.0, 2.0, d), stats.gumbel_r(1, 2)),
    "laplace": (lambda k, d: random.laplace(k, N, 1.0, 2.0, d), stats.laplace(1, 2)),
    "logistic": (lambda k, d: random.logistic(k, N, 1.0, 2.0, d), stats.logistic(1, 2)),
    "cauchy": (lambda k, d: random.cauchy(k, N, 1.0, 2.0, d), stats.cauchy(1, 2)),
    "truncated_normal": (lambda k, d: random.truncated_normal(k, -0.5, 2.0, N, d), stats.truncnorm(-0.5, 2)),
    "tail": (lambda k, d: random.truncated_normal(k, 6.0, np.inf, N, d), stats.truncnorm(6, np.inf)),
    "gamma below 1": (lambda k, d: random.gamma(k, 0.3, N, 2.0, d), stats.gamma(0.3, scale=2)),
    "gamma": (lambda k, d: random.gamma(k, 1.7, N, 1.0, d), stats.gamma(1.7)),
    "large gamma": (lambda k, d: random.gamma(k, 500.0, N, 1.0, d), stats.gamma(500)),
    "beta": (lambda k, d: random.beta(k, 0.5, 2.0, N, d), stats.beta(0.5, 2)),
    "dirichlet": (lambda k, d: random.dirichlet(k, [1.0, 2.0, 0.5], N, d)[:, 1], stats.beta(2, 1.5)),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_distribution(name, dtype):
    """Kolmogorov and Smirnov find nothing; the keys are fixed, so this cannot fail by chance."""
    draw, distribution = CONTINUOUS[name]
    x = draw(random.key(11), dtype)
    assert x.shape == (N,)
    assert x.dtype == dtype
    assert stats.kstest(x.astype(float), distribution.cdf).pvalue > 0.01


def test_streams_of_split_and_folded_keys_are_independent():
    """Neither correlated with each other nor with the old key's own draw; nor are their squares."""
    keys = [KEY, *random.split(KEY, 4), *[random.fold_in(KEY, i) for i in range(4)]]
    keys += [*random.split(keys[1], 2), random.fold_in(keys[1], 0), random.key(1), random.key(2)]
    draws = np.array([random.normal(k, N) for k in keys])
    for table in (draws, draws**2, np.roll(draws, 1, axis=1) * draws):
        between = np.corrcoef(table) - np.eye(len(keys))
        assert np.max(np.abs(between)) < 4.5 / np.sqrt(N)


def test_first_numbers_of_many_keys_are_uniform():
    """One number from each of many derived keys is as good as many from one."""
    for keys in (random.split(KEY, 5000), ad.vmap(lambda i: random.fold_in(KEY, i))(np.arange(5000))):
        assert np.unique(keys, axis=0).shape == (5000, 2)
        assert stats.kstest(ad.vmap(random.uniform)(keys), "uniform").pvalue > 0.01


def test_whole_numbers():
    """All equally likely, over any range of any integer dtype."""
    x = random.integers(KEY, -3, 4, N)
    assert stats.chisquare(np.bincount(x + 3, minlength=7)).pvalue > 0.01
    wide = random.integers(KEY, -(2**63), 2**63 - 1, N)
    assert stats.kstest(wide.astype(float) / 2**64 + 0.5, "uniform").pvalue > 0.01
    assert random.integers(KEY, 0, 256, 1000, dtype=np.uint8).max() == 255
    assert random.integers(KEY, 5).shape == ()
    np.testing.assert_array_equal(random.integers(KEY, [0, 10, 20], [1, 11, 21]), [0, 10, 20])


def test_categories_and_choices():
    """As often as their probabilities say; what is impossible is never drawn."""
    p = np.array([0.5, 0.0, 0.2, 0.3])
    with np.errstate(divide="ignore"):
        logits = np.log(p)
    for drawn in (random.categorical(KEY, logits, shape=N), random.choice(KEY, 4, N, p=10 * p)):
        counts = np.bincount(drawn, minlength=4)
        assert counts[1] == 0
        assert stats.chisquare(counts[p > 0], N * p[p > 0]).pvalue > 0.01
    assert random.categorical(KEY, np.zeros((4, 3)), axis=0).shape == (3,)
    assert sorted(random.choice(KEY, 4, 3, replace=False, p=p)) == [0, 2, 3]
    assert sorted(random.choice(KEY, np.arange(5.0), (5,), replace=False)) == [0, 1, 2, 3, 4]
    assert random.choice(KEY, np.zeros((3, 4)), (2, 5), axis=1).shape == (3, 2, 5)


def test_choice_without_repetition_follows_successive_draws():
    """The second entry is drawn from what is left, in proportion."""
    p = np.array([0.6, 0.3, 0.1])
    pairs = ad.vmap(lambda k: random.choice(k, 3, 2, replace=False, p=p))(random.split(KEY, 6000))
    counts = [np.count_nonzero((pairs == [i, j]).all(1)) for i in range(3) for j in range(3) if i != j]
    want = [p[i] * p[j] / (1 - p[i]) for i in range(3) for j in range(3) if i != j]
    assert stats.chisquare(counts, 6000 * np.array(want)).pvalue > 0.01


def test_orders_are_equally_likely():
    """All six orders of three things."""
    orders = ad.vmap(lambda k: random.permutation(k, 3))(random.split(KEY, 6000))
    assert stats.chisquare(np.bincount(orders @ [9, 3, 1])[np.unique(orders @ [9, 3, 1])]).pvalue > 0.01


# Derivatives --------------------------------------------------------------------------------------------------------

B = np.array([0.5, 1.5])
DIFFERENTIABLE = {
    "uniform": (lambda low, high: random.uniform(KEY, None, low, high), (B, B + 1)),
    "normal": (lambda loc, scale: random.normal(KEY, (3, 2), loc, scale), (B, B + 1)),
    "exponential": (lambda scale: random.exponential(KEY, 3, scale), (1.3,)),
    "gumbel": (lambda loc, scale: random.gumbel(KEY, None, loc, scale), (B, 2.0)),
    "truncated_normal": (lambda low, high: random.truncated_normal(KEY, low, high, (4, 2)), (B - 1.0, B + 1)),
    "tail": (lambda low: random.truncated_normal(KEY, low, shape=(4, 2)), (B + 3.0,)),
    "permutation": (lambda x: random.permutation(KEY, x, 1), (np.ones((2, 5)),)),
    "choice": (lambda x: random.choice(KEY, x, 4, p=[1, 2, 3]), (np.array([1.0, 2.0, 3.0]),)),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_parameters_have_derivatives(name):
    """The same draw with other parameters: forward, reverse, second order."""
    function, args = DIFFERENTIABLE[name]
    ad.testing.check_grads(function, args, order=2)


@pytest.mark.parametrize("a", [1.0, 1.1, 2.5, 30.0, 1000.0])
def test_slope_of_gamma_is_that_of_its_quantile(a):
    """Against differences of SciPy's quantile; and its own derivative against those of it."""
    u = np.array([1e-9, 1e-3, 0.1, 0.5, 0.9, 0.999])
    step = 1e-4 * a
    ends = [special.gammaincinv(a + s * step, u) for s in (-2, -1, 1, 2)]
    want = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * step)
    np.testing.assert_allclose(slope(a, special.gammaincinv(a, u)), want, rtol=2e-7)

    def along(b):
        return slope(b, special.gammaincinv(ad.stop_gradient(b), u))

    near = [slope(a + s * step, special.gammaincinv(a, u)) for s in (-1, 1)]
    np.testing.assert_allclose(
        ad.jvp(along, (np.full(6, a),), (np.ones(6),))[1], (near[1] - near[0]) / (2 * step), rtol=1e-5, atol=1e-12
    )


def test_mean_of_gamma_gradients_is_the_gradient_of_the_mean():
    """E x = a, E x**2 = a + a**2, E log x = psi(a): also below 1, and to second order."""
    for a in (0.3, 0.8, 2.0, 40.0):
        draws, error = 40_000, 0.03
        assert ad.grad(lambda a: np.mean(random.gamma(KEY, a, draws)))(a) == pytest.approx(1.0, rel=error)
        second = ad.grad(lambda a: np.mean(random.gamma(KEY, a, draws) ** 2))(a)
        assert second == pytest.approx(1 + 2 * a, rel=2 * error)
        logs = ad.grad(lambda a: np.mean(np.log(random.gamma(KEY, a, draws))))(a)
        assert logs == pytest.approx(special.polygamma(1, a), rel=2 * error)
    curvature = ad.hessian(lambda a: np.mean(random.gamma(KEY, a, 5000) ** 2))(2.0)
    assert curvature == pytest.approx(2.0, rel=0.1)


def test_beta_and_dirichlet_have_derivatives():
    """Means a / (a + b) and alpha / sum(alpha), also for parameters so small that gamma numbers vanish."""
    want = ad.grad(lambda a: a / (a + 2.0))(0.7)
    assert ad.grad(lambda a: np.mean(random.beta(KEY, a, 2.0, 40_000)))(0.7) == pytest.approx(want, rel=0.03)
    alpha = np.array([0.5, 1.0, 3.0])
    got = ad.jacobian(lambda alpha: np.mean(random.dirichlet(KEY, alpha, 40_000), axis=0))(alpha)
    np.testing.assert_allclose(got, ad.jacobian(lambda a: a / np.sum(a))(alpha), atol=0.005)
    tiny = random.dirichlet(KEY, np.full(4, 1e-3), 100)
    np.testing.assert_allclose(tiny.sum(-1), 1.0)
    assert np.isfinite(ad.grad(lambda a: np.sum(random.beta(KEY, a, a, 100)))(1e-3))


# Batches ------------------------------------------------------------------------------------------------------------

KEYS = random.split(random.key(3), 4)
BATCHED = {
    "uniform": lambda k: random.uniform(k, 5, 1.0, 2.0),
    "normal": lambda k: random.normal(k, (3, 1)),
    "one normal": lambda k: random.normal(k),
    "normal, float32": lambda k: random.normal(k, 3, dtype=np.float32),
    "none": lambda k: random.normal(k, 0),
    "truncated_normal": lambda k: random.truncated_normal(k, 0.0, shape=3),
    "gamma": lambda k: random.gamma(k, 0.5, 3),
    "dirichlet": lambda k: random.dirichlet(k, [0.5, 1.0, 2.0], 3),
    "bits": lambda k: random.bits(k, (2, 2)),
    "integers": lambda k: random.integers(k, 0, 9, 3),
    "bernoulli": lambda k: random.bernoulli(k, np.array([0.2, 0.8]), (3, 2)),
    "categorical": lambda k: random.categorical(k, np.arange(6.0).reshape(2, 3)),
    "permutation": lambda k: random.permutation(k, 6),
    "choice": lambda k: random.choice(k, 5, 3, p=np.arange(5.0)),
    "split": lambda k: random.split(k, 3),
    "fold_in": lambda k: random.fold_in(k, 3),
    "in turn": lambda k: random.normal(random.split(random.fold_in(k, 1))[1], 3),
}


@pytest.mark.parametrize("name", BATCHED)
def test_each_example_has_its_own_stream(name):
    """`vmap` over keys is a loop over keys, to the bit; nested too."""
    draw = BATCHED[name]
    want = np.stack([draw(k) for k in KEYS])
    np.testing.assert_array_equal(ad.vmap(draw)(KEYS), want)
    square = KEYS.reshape(2, 2, 2)
    np.testing.assert_array_equal(ad.vmap(ad.vmap(draw))(square), want.reshape(2, 2, *want.shape[1:]))


@pytest.mark.parametrize("name", BATCHED)
def test_jitted_draws_are_the_eager_ones(name):
    """Also for a key that came after the recording; to the last digits, where a quotient or a logarithm follows."""
    draw, jitted = BATCHED[name], ad.jit(BATCHED[name])
    for k in KEYS[:3]:
        np.testing.assert_allclose(jitted(k), draw(k), rtol=1e-14, atol=0)
    np.testing.assert_allclose(ad.jit(ad.vmap(draw))(KEYS), ad.vmap(draw)(KEYS), rtol=1e-14, atol=0)


def test_batched_parameters_share_the_key():
    """Common random numbers: the key is the same for all, the parameters are not."""
    a = np.array([0.5, 1.5, 4.0])
    for draw in (
        lambda a: random.normal(KEY, 3, a, a),
        lambda a: random.gamma(KEY, a, 3),
        lambda a: random.bernoulli(KEY, a / 4, 3),
        lambda a: random.categorical(KEY, a * np.arange(3.0), shape=5),
        lambda a: random.truncated_normal(KEY, -a, a, 3),
    ):
        np.testing.assert_allclose(ad.vmap(draw)(a), np.stack([draw(x) for x in a]), rtol=1e-14)
    np.testing.assert_array_equal(
        ad.vmap(lambda i: random.fold_in(KEY, i))(np.arange(3)), [random.fold_in(KEY, i) for i in range(3)]
    )
    seeds = np.arange(3)
    np.testing.assert_array_equal(ad.vmap(random.key)(seeds), [random.key(s) for s in range(3)])
    gradients = ad.vmap(ad.grad(lambda a, k: np.sum(random.gamma(k, a, 3))))(a, KEYS[:3])
    want = [ad.grad(lambda a, k=k: np.sum(random.gamma(k, a, 3)))(x) for x, k in zip(a, KEYS, strict=False)]
    np.testing.assert_allclose(gradients, want, rtol=1e-12)


def test_page_runs():
    """The examples of docs/random.md."""
    page = Path(__file__).parents[2] / "docs" / "random.md"
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    names = {"np": np, "ad": ad}
    assert doctest.testfile(str(page), module_relative=False, globs=names, optionflags=options).failed == 0
