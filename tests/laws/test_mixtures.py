"""Every SciPy face in batches, with plain and batched arguments mixed: op(stack(xs), y) == stack([op(x, y)])."""

import importlib

import numpy as np
import pytest
import scipy.stats as stats

import adjoint as ad
from adjoint.core.errors import AdjointError
from adjoint.numpy.patching.replacements import install
from tests.cases import scipy_stats
from tests.cases.scipy_stats import BY_PLACE, CONTINUOUS, DISCRETE, FIXED, SLOW, WHOLE
from tests.laws.mixtures import check_mixture, mixtures, sizes

pytestmark = pytest.mark.filterwarnings("ignore")
TOPICS = ("special", "linalg", "interpolate", "signal", "fft", "ndimage", "distance", "integrate", "optimize")
LEFT = {
    "BSpline.design_matrix", "spline roots", "LinearNDInterpolator", "solve_ivp dense", "solve_ivp end", "solve_bvp",
    "TransferFunction", "ZerosPolesGain", "dlti", "lti", "lfilter fir", "fht parameters", "geometric_transform",
    "newton_cotes",
}  # fmt: skip
"""Refused in some batch: shapes or meshes depend on values, or objects that decide on them are made outside a call."""
NOISY = {"qmc_quad"}
"""Draws anew at each call."""


def _cases(topic):
    module = importlib.import_module(f"tests.cases.scipy_{topic}")
    install()
    return [c for c in module.CASES if c.name not in NOISY]


def _check(case, size=None):
    for batched in mixtures(len(case.args)):
        for n in sizes(case.args) if size is None else [size]:
            try:
                check_mixture(case.function, case.args, batched, n)
            except AdjointError:
                assert case.name in LEFT, (case.name, batched, n)
            except ValueError:
                assert case.name in LEFT, (case.name, batched, n)


@pytest.mark.slow
@pytest.mark.parametrize("topic", TOPICS)
def test_every_function_of_a_topic(topic):
    """Each argument batched alone, all but each, all; as many examples as there are data, and not as many."""
    for case in _cases(topic):
        _check(case)


@pytest.mark.parametrize("topic", [t for t in TOPICS if t not in ("integrate", "optimize")])
def test_some_functions_of_a_topic(topic):
    """The same for a part of each topic."""
    cases = [c for c in _cases(topic) if c.name not in LEFT]
    for case in cases[:: max(1, len(cases) // 8)]:
        _check(case, sizes(case.args)[-1])


@pytest.mark.parametrize("part", range(4))
def test_statistics_of_samples(part):
    """Statistics of samples and densities of vectors; SciPy's code decides on values in many."""
    install()
    for case in (scipy_stats.SAMPLES + scipy_stats.MULTIVARIATE)[part::4]:
        _check(case, sizes(case.args)[0])


@pytest.mark.slow
def test_statistics_of_as_many_samples():
    """The same with as many examples as there are data."""
    for case in scipy_stats.SAMPLES + scipy_stats.MULTIVARIATE:
        _check(case)


PLACES = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf")
MASSES = ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf")
LEVELS = np.array([0.3, 0.57, 0.8])


def _methods(name):
    """Methods of a distribution, each as a function of data and parameters, and where these are."""
    dist, is_continuous = getattr(stats, name), name in CONTINUOUS
    shapes = CONTINUOUS[name] if is_continuous else DISCRETE[name]
    params = (*shapes, 0.3, 1.4) if is_continuous else (*shapes, 1.0)
    x = dist.ppf(LEVELS, *params)
    counts = [info.integrality and name not in ("erlang", "nbinom") for info in dist._shape_info()]
    moving = [k for k in range(dist.numargs) if not counts[k] and k not in FIXED.get(name, ()) and name not in BY_PLACE]
    moving = [0, *[1 + k for k in moving], len(params) - 1, len(params)] if is_continuous else [1 + k for k in moving]
    for method in PLACES if is_continuous else MASSES:
        if not (method in ("pdf", "logpdf") and name in BY_PLACE):
            yield method, getattr(dist, method), (x, *params), moving
    if is_continuous:
        yield "ppf", dist.ppf, (LEVELS, *params), moving


def _check_distribution(name, every=1):
    for k, (_, function, args, moving) in enumerate(_methods(name)):
        if k % every:
            continue

        def of_moving(*values, function=function, args=args, moving=tuple(moving)):
            full = list(args)
            for place, v in zip(moving, values, strict=True):
                full[place] = v
            return function(*full)

        for place in range(len(moving)):
            for size in (2, 3):
                batched = tuple([m == place for m in range(len(moving))])
                check_mixture(of_moving, tuple([args[m] for m in moving]), batched, size)


COMMON = ("norm", "expon", "gamma", "beta", "t", "weibull_min", "laplace", "poisson", "binom", "nbinom", "geom")


@pytest.mark.parametrize("name", COMMON)
def test_distributions(name):
    """Plain data and one batched parameter, or batched data: the issue's own case among them."""
    install()
    _check_distribution(name, 3)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in (*CONTINUOUS, *DISCRETE) if n not in {*SLOW, *WHOLE, "argus"}])
def test_every_distribution(name):
    """All methods of all distributions."""
    if name in ("nchypergeom_fisher", "nchypergeom_wallenius", "zipfian", "hypergeom", "nhypergeom"):
        pytest.skip("not differentiated in all of its parameters")
    install()
    _check_distribution(name)


def test_plain_data_and_a_batched_parameter():
    """As many examples as data, one list, one keyword: shapes, values and gradients."""
    data, means = np.array([0.1, 0.5, 2.0]), np.array([0.0, 1.0, -1.0])
    want = stats.norm.logpdf(data, means[:, None], 1.0)
    for given in (data, list(data)):
        np.testing.assert_allclose(ad.vmap(lambda m, d=given: stats.norm.logpdf(d, m, 1.0))(means), want, rtol=1e-14)
        np.testing.assert_allclose(ad.vmap(lambda m, d=given: stats.norm.logpdf(d, loc=m))(means), want, rtol=1e-14)
    slope = ad.grad(lambda ms: np.sum(ad.vmap(lambda m: stats.norm.logpdf(data, m, 1.0))(ms) ** 2))(means)
    np.testing.assert_allclose(slope, np.sum(2 * want * (data - means[:, None]), axis=1), rtol=1e-12)


def test_results_of_a_batch_are_scipys_objects():
    """A whole result can be mapped over: its numbers are stacked."""
    rows, other = np.random.default_rng(0).normal(size=(2, 3, 12))
    found = ad.vmap(lambda x: stats.ttest_ind(x, other[0]))(rows)
    want = [stats.ttest_ind(row, other[0]) for row in rows]
    assert type(found) is type(want[0])
    np.testing.assert_allclose(found.statistic, [w.statistic for w in want], rtol=1e-12)
    np.testing.assert_allclose(found.df, [w.df for w in want], rtol=1e-12)


def test_samples_in_other_axes_and_with_nans():
    """What SciPy's wrapper for axis, nan_policy and keepdims does, it does for each example."""
    rows = np.random.default_rng(0).normal(size=(2, 10, 3))
    rows[0, 2, 1] = np.nan
    for words in ({"axis": None}, {"axis": 1}, {"nan_policy": "omit"}, {"keepdims": True}, {}):
        got = ad.vmap(lambda x, words=words: stats.skew(x, **words))(rows)
        np.testing.assert_allclose(got, np.stack([stats.skew(row, **words) for row in rows]), rtol=1e-12)


def test_slopes_of_entropies_have_all_digits():
    """Also where the mass is spread over decades, and its parts cancel; values by mpmath."""
    slope = ad.grad(lambda c: stats.fatiguelife.entropy(c))
    for c, want in ((0.5, 1.89321906330849), (2.0, 0.327839771209399)):
        np.testing.assert_allclose(slope(c), want, rtol=1e-12)
    for c in (29.0, 100.0):
        h = 1e-4 * c
        values = [stats.fatiguelife.entropy(c + s * h) for s in (-2, -1, 1, 2)]
        want = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
        np.testing.assert_allclose(slope(c), want, rtol=2e-8)
