"""scipy.stats: distributions in their argument and all their parameters, statistics of samples, refusals by name."""

import numpy as np
import pytest
import scipy.stats as stats
from scipy.stats._distn_infrastructure import rv_generic

import adjoint as ad
from adjoint.numpy.patching.replacements import REPLACEMENTS, install
from adjoint.testing.laws import LAWS, Case, check_case
from tests.cases.scipy_stats import (
    BY_PLACE,
    CONTINUOUS,
    DISCRETE,
    FIXED,
    MULTIVARIATE,
    SAMPLES,
    SLOW,
    WHOLE,
)

install()
pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # at the ends of supports, as SciPy's own
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
LOC, SCALE = 0.3, 1.4


def marked(names):
    return [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in names]


def difference(function, args, k):
    """A central difference, by Richardson's extrapolation."""

    def quotient(h):
        ahead, behind = [[*args[:k], args[k] + s * h, *args[k + 1 :]] for s in (1, -1)]
        return (np.asarray(function(*ahead)) - np.asarray(function(*behind))) / (2 * h)

    h = 1e-3 * max(0.1, min(1.0, abs(args[k])))
    return (4 * quotient(h / 2) - quotient(h)) / 3


def moving_shapes(name, dist):
    """The places of shapes in which a derivative is known."""
    counts = [info.integrality and name not in ("erlang", "nbinom") for info in dist._shape_info()]
    return [k for k in range(dist.numargs) if not counts[k] and k not in FIXED.get(name, ()) and name not in BY_PLACE]


def check(function, args, moving, name):
    """Value, and gradient in both modes, against differences."""

    def moved(*values):
        full = list(args)
        for k, v in zip(moving, values, strict=True):
            full[k] = v
        return function(*full)

    given = [args[k] for k in moving]
    value, pullback = ad.vjp(moved, *given)
    rows = np.array([pullback(row) for row in np.eye(len(value))])
    np.testing.assert_allclose(value, function(*args), rtol=1e-12, err_msg=name)
    for k, got in zip(moving, rows.T, strict=True):
        want = difference(function, args, k)
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6 * (1 + np.abs(want).max()), err_msg=f"{name} by {k}")
    direction = [0.3 + 0.1 * k for k in range(len(moving))]
    forward = ad.jvp(moved, tuple(given), tuple(direction))[1]
    np.testing.assert_allclose(forward, rows @ direction, rtol=1e-7, atol=1e-9, err_msg=f"{name}, forward")


@pytest.mark.parametrize("name", marked(CONTINUOUS))
def test_continuous(name):
    """Densities, levels and quantiles, in place, location, scale and shapes."""
    dist, shapes = getattr(stats, name), CONTINUOUS[name]
    x = float(dist.ppf(0.37, *shapes, LOC, SCALE))

    def of_place(x, *p):
        levels = [dist.cdf(x, *p), dist.sf(x, *p), dist.logcdf(x, *p), dist.logsf(x, *p)]
        return np.stack(levels if name in BY_PLACE else [dist.pdf(x, *p), dist.logpdf(x, *p), *levels])

    def of_level(q, *p):
        return np.stack([dist.ppf(q, *p), dist.isf(q, *p)])

    n = len(shapes)
    moving = [0, *[1 + k for k in moving_shapes(name, dist)], n + 1, n + 2]
    check(of_place, (x, *shapes, LOC, SCALE), moving, name)
    check(of_level, (0.37, *shapes, LOC, SCALE), moving, name)


NO_MOMENTS = {"alpha", "cauchy", "crystalball", "dpareto_lognorm", "foldcauchy", "halfcauchy", "kappa3", "landau",
              "levy", "levy_l", "levy_stable", "lomax", "skewcauchy", "studentized_range"}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in CONTINUOUS if n not in BY_PLACE | WHOLE])
def test_moments(name):
    """Entropy, mean and variance, by formulas or by integrals."""
    dist, shapes = getattr(stats, name), CONTINUOUS[name]
    methods = [dist.entropy] if name in FIXED or name in NO_MOMENTS else [dist.entropy, dist.mean, dist.var]

    def function(*p):
        return np.stack([method(*p) for method in methods])

    moving = [*moving_shapes(name, dist), len(shapes), len(shapes) + 1]
    check(function, (*shapes, LOC, SCALE), moving, name)


@pytest.mark.parametrize("name", [n for n in DISCRETE if not n.startswith("nchypergeom") and n != "zipfian"])
def test_discrete(name):
    """Probabilities and levels in the parameters that are no whole numbers; places and quantiles are constant."""
    dist, shapes = getattr(stats, name), DISCRETE[name]
    k = float(dist.ppf(0.37, *shapes))
    moving = moving_shapes(name, dist)
    methods = [dist.pmf, dist.logpmf, dist.cdf, dist.sf, dist.logcdf, dist.logsf]
    if moving:
        check(lambda *p: np.stack([f(k, *p) for f in methods]), shapes, moving, name)
        check(lambda *p: np.stack([dist.mean(*p), dist.var(*p)]), shapes, moving, name)
    assert ad.grad(lambda x: dist.logpmf(x, *shapes))(k) == 0.0
    assert ad.grad(lambda loc: dist.ppf(0.37, *shapes, loc))(2.0) == 1.0


SMOOTH = {
    "gamma": (1.2, 2.3), "beta": (0.4, 2.0, 3.0), "t": (0.7, 4.0), "f": (1.1, 5.0, 7.0), "chi2": (2.2, 4.0),
    "vonmises": (0.5, 1.3), "skewnorm": (0.4, 1.1), "invgauss": (0.5, 0.6), "exponnorm": (0.9, 1.2),
    "genextreme": (0.3, 0.2), "argus": (0.6, 1.3), "pearson3": (0.4, 0.7), "norminvgauss": (0.3, 1.4, 0.3),
}  # fmt: skip
"""A place, and shapes, of distributions that SciPy knows by formulas, by integrals or by roots."""


@pytest.mark.parametrize("method", ["logpdf", "cdf", "ppf"])
@pytest.mark.parametrize("name", SMOOTH)
def test_second_derivatives(name, method):
    """In place and shapes, mixed ones too."""
    function = getattr(getattr(stats, name), method)
    point = np.array([0.41 if method == "ppf" else SMOOTH[name][0], *SMOOTH[name][1:]])
    gradient = ad.grad(lambda v: function(v[0], *[v[k] for k in range(1, len(point))]))
    want = [(gradient(point + 1e-4 * e) - gradient(point - 1e-4 * e)) / 2e-4 for e in np.eye(len(point))]
    found = ad.jacobian(gradient)(point)
    np.testing.assert_allclose(found, want, rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(found, found.T, rtol=1e-6, atol=1e-8)


LAWFUL = [
    Case("norm", lambda x, m, s: stats.norm.logpdf(x, m, s), (np.array([0.3, -1.0]), 0.2, 1.3)),
    Case("gamma", lambda x, a: stats.gamma.cdf(x, a), (np.array([0.3, 2.0]), 1.7)),
    Case("beta", lambda x, a, b: stats.beta.sf(x, a, b), (np.array([0.3, 0.8]), 1.7, 2.2)),
    Case("t ppf", lambda q, d: stats.t.ppf(q, d), (np.array([0.3, 0.8]), 4.5)),
    Case("frozen", lambda a, s: stats.weibull_min(a, scale=s).logpdf(np.array([0.4, 1.2])), (1.7, 2.2)),
    Case("poisson", lambda m: stats.poisson.logpmf(np.array([0, 2, 5]), m), (np.array([1.2, 0.4, 3.0]),)),
    Case("nbinom", lambda n, p: stats.nbinom.cdf(3, n, p), (2.7, 0.4)),
    Case("genpareto at 0", lambda x, c: stats.genpareto.logpdf(x, c), (0.7, 0.0)),
    Case("genextreme at 0", lambda x, c: stats.genextreme.cdf(x, c), (0.7, 0.0)),
]


@pytest.mark.parametrize("law", [law for law in LAWS if law != "precision"])
@pytest.mark.parametrize("case", LAWFUL, ids=lambda case: case.name)
def test_distributions_obey_the_laws(case, law):
    """Second derivatives in all nestings, batches, Taylor coefficients."""
    LAWS[law](case)


@pytest.mark.parametrize("case", LAWFUL, ids=lambda case: case.name)
def test_distributions_under_jit(case):
    """Compiled, values and gradients are the same."""

    def total(*args):
        return np.sum(case.function(*args))

    np.testing.assert_allclose(ad.jit(case.function)(*case.args), case.function(*case.args), rtol=1e-13)
    numbers = tuple(range(len(case.args)))
    wanted, found = [f(*case.args) for f in (ad.grad(total, numbers), ad.jit(ad.grad(total, numbers)))]
    for want, got in zip(wanted, found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9)


@pytest.mark.parametrize("case", SAMPLES + MULTIVARIATE, ids=lambda case: case.name)
def test_samples(case):
    """Value, tangent and adjoint of statistics of samples and densities of vectors."""
    check_case(case, ("value", "tangent", "adjoint"))


@pytest.mark.parametrize("name", ["zscore", "skew", "pearsonr", "ttest_ind", "multivariate_normal", "gmean"])
def test_samples_under_jit(name):
    """Compiled, values and gradients are the same."""
    case = next(c for c in SAMPLES + MULTIVARIATE if c.name == name)
    np.testing.assert_allclose(ad.jit(case.function)(*case.args), case.function(*case.args), rtol=1e-12)
    gradient = ad.grad(lambda *args: np.sum(case.function(*args) ** 2))
    np.testing.assert_allclose(ad.jit(gradient)(*case.args), gradient(*case.args), rtol=1e-9, atol=1e-12)


def test_every_name_has_an_answer_and_a_case():
    """No public name is without an answer, and what differentiates is tested."""
    answers = REPLACEMENTS["scipy.stats"]
    public = [n for n in stats.__all__ if callable(getattr(stats, n))]
    errors = [n for n in public if isinstance(getattr(stats, n), type) and issubclass(getattr(stats, n), BaseException)]
    assert set(public) - set(errors) <= set(answers)
    tested = {case.name.split()[0] for case in SAMPLES + MULTIVARIATE} | set(CONTINUOUS) | set(DISCRETE)
    functions = [n for n in public if not isinstance(getattr(stats, n), (type, rv_generic))]
    of_objects = {"abs", "exp", "log", "make_distribution", "order_statistic", "truncate"}
    assert {n for n in functions if answers.get(n) and answers[n].kind == "differentiates"} <= tested | of_objects
    aliases = {"loguniform", "reciprocal", "frechet_l", "frechet_r", "trapz"}
    assert {n for n in public if isinstance(getattr(stats, n), rv_generic)} - tested - aliases <= {"poisson_binom"}


def test_outside_the_support():
    """A density is 0 there, with a gradient of 0; its logarithm is minus infinity, and moves nothing."""
    x = np.array([-1.0, 0.5, 2.0])
    gradient = ad.grad(lambda x, a: np.sum(stats.gamma.pdf(x, a)), (0, 1))(x, 2.0)
    assert gradient[0][0] == 0.0
    assert np.all(np.isfinite(gradient[0]))
    assert np.isfinite(gradient[1])
    assert ad.grad(lambda x: stats.uniform.logpdf(x))(2.0) == 0.0
    assert ad.grad(lambda m: stats.uniform.cdf(5.0, m))(0.2) == 0.0


def test_draws_move_with_their_parameters():
    """Values are SciPy's for the same state; location and scale by their formula, shapes along their level."""

    def draw(a, loc, scale):
        return stats.gamma.rvs(a, loc, scale, size=4, random_state=3)

    jacobian = ad.jacobian(draw, (0, 1, 2))(2.0, 0.5, 1.5)
    value = ad.vjp(draw, 2.0, 0.5, 1.5)[0]
    np.testing.assert_array_equal(value, stats.gamma.rvs(2.0, 0.5, 1.5, size=4, random_state=3))
    standard = (value - 0.5) / 1.5
    np.testing.assert_allclose(jacobian[1], 1.0)
    np.testing.assert_allclose(jacobian[2], standard)
    levels = stats.gamma.cdf(standard, 2.0)
    moved = [stats.gamma.ppf(levels, 2.0 + h) for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(jacobian[0], 1.5 * (moved[0] - moved[1]) / 2e-5, rtol=1e-7)
    np.testing.assert_array_equal(ad.jit(draw)(2.0, 0.5, 1.5), draw(2.0, 0.5, 1.5))


REFUSED = {
    "binom.pmf has no derivative with respect to n": lambda n: stats.binom.pmf(3, n, 0.4),
    "poisson.rvs is not differentiated": lambda m: stats.poisson.rvs(m, random_state=1),
    "norm.fit is not differentiated": lambda x: stats.norm.fit(x * np.arange(3.0))[0],
    "kappa4.pdf has no known derivative with respect to h at 0": lambda h: stats.kappa4.pdf(0.3, h - 5.0, 0.2),
    "ncx2.pdf is not differentiated": lambda df: stats.ncx2.pdf(1.0, df, 2.0),
    "landau.pdf is not differentiated": lambda x: stats.landau.pdf(x),
    "nchypergeom_fisher.pmf is not differentiated": lambda odds: stats.nchypergeom_fisher.pmf(2, 9, 5, 4, odds),
    "boxcox is not differentiated without lmbda": lambda x: stats.boxcox(x * np.arange(1.0, 4.0))[1],
    "ppcc_max is not differentiated": lambda x: stats.ppcc_max(x * np.arange(1.0, 4.0)),
    "shapiro is not differentiated": lambda x: stats.shapiro(x * np.arange(1.0, 6.0))[0],
    "multivariate_normal.cdf is not differentiated": lambda x: stats.multivariate_normal.cdf(x * np.ones(2)),
    "truncate is not differentiated": lambda x: stats.truncate(stats.Normal(mu=x), 0, 1).pdf(0.3),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals_name_the_call(text):
    """What cannot be done is refused by the name of the method, at the user's line."""
    with pytest.raises(ad.AdjointError, match=text) as caught:
        ad.grad(REFUSED[text])(5.0)
    assert "test_stats.py" in str(caught.value)


def test_ranks_are_constant():
    """Statistics of ranks are numbers, and nothing flows through them."""
    x = np.array([0.3, -1.0, 0.7, 2.0])
    for f in (stats.kendalltau, stats.spearmanr, stats.weightedtau, stats.mannwhitneyu):
        assert np.all(ad.grad(lambda x, f=f: f(x, x[::-1] ** 2).statistic)(x) == 0.0)
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(stats.rankdata(x) * x))(x), stats.rankdata(x))


def test_new_distributions():
    """Random variables of SciPy's newer kind."""

    def function(m):
        x = stats.Normal(mu=m, sigma=1.2)
        return x.logpdf(0.3) + x.cdf(0.1) + x.icdf(0.4) + x.mean() + (2.0 * x).pdf(0.2)

    np.testing.assert_allclose(ad.grad(function)(0.7), difference(function, (0.7,), 0), rtol=1e-8)


def test_own_distribution():
    """A class of the user's, of which only a density is given."""

    class Bump(stats.rv_continuous):
        def _pdf(self, x, c):
            return (1.0 + c * x) / (2.0 + 2.0 * c)

    bump = Bump(a=0.0, b=2.0, name="bump")
    check(lambda x, c: np.stack([bump.pdf(x, c), bump.cdf(x, c), bump.ppf(0.4, c)]), (0.7, 0.8), (0, 1), "bump")
