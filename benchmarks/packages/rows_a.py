"""Fitting, econometrics, filters, images and speech."""

from __future__ import annotations

from typing import Any

import numpy as np

from .row import Made, row

TIMES = np.linspace(0.0, 10.0, 12)
SEED = 7


def _rng() -> np.random.Generator:
    return np.random.default_rng(SEED)


# lmfit


@row("lmfit")
def line_shape() -> Made:
    """A line shape by itself."""
    from lmfit.lineshapes import expgaussian, gaussian

    x = np.linspace(-3.0, 3.0, 21)
    return lambda p: np.sum(gaussian(x, p[0], p[1], p[2]) * expgaussian(x, p[0], p[1], p[2], 1.5)), [2.0, 0.3, 0.8]


@row("lmfit")
def model_eval() -> Made:
    """`Model.eval` with parameters as keywords."""
    from lmfit.models import GaussianModel

    x, model = np.linspace(-3.0, 3.0, 21), GaussianModel()
    return lambda p: np.sum(model.eval(x=x, amplitude=p[0], center=p[1], sigma=p[2]) ** 2), [2.0, 0.3, 0.8]


@row("lmfit")
def parameters_residual() -> Made:
    """The residual of the first example: `Parameters` with bounds, read by name."""
    from lmfit import Parameters

    x = np.linspace(0.0, 5.0, 16)
    data = 2.0 * np.sin(1.3 * x + 0.2)

    def loss(p: Any) -> Any:
        params = Parameters()
        params.add("amp", value=p[0], min=0.0)
        params.add("freq", value=p[1])
        params.add("shift", value=p[2], min=-2.0, max=2.0)
        v = params.valuesdict()
        return np.sum((v["amp"] * np.sin(v["freq"] * x + v["shift"]) - data) ** 2)

    return loss, [1.7, 1.2, 0.1]


@row("lmfit")
def parameters_expression() -> Made:
    """Parameters bound by an expression."""
    from lmfit import Parameters

    def loss(p: Any) -> Any:
        params = Parameters()
        params.add("a", value=p[0])
        params.add("b", value=p[1])
        params.add("c", expr="2*a + exp(b)")
        return params["c"].value ** 2 + params["a"] * params["b"]

    return loss, [1.7, 0.4]


# pints


@row("pints")
def logistic_likelihood() -> Made:
    """The log-likelihood of the first example."""
    import pints
    import pints.toy

    model = pints.toy.LogisticModel()
    values = model.simulate([0.55, 40.0], TIMES) + _rng().normal(size=TIMES.size)
    likelihood = pints.GaussianLogLikelihood(pints.SingleOutputProblem(model, TIMES, values))
    return lambda p: likelihood(p), [0.5, 42.0, 1.2]


@row("pints")
def posterior() -> Made:
    """The log-posterior with a prior of several parts."""
    import pints
    import pints.toy

    model = pints.toy.LogisticModel()
    values = model.simulate([0.55, 40.0], TIMES) + _rng().normal(size=TIMES.size)
    likelihood = pints.GaussianKnownSigmaLogLikelihood(pints.SingleOutputProblem(model, TIMES, values), 1.0)
    prior = pints.ComposedLogPrior(pints.GaussianLogPrior(0.5, 0.2), pints.LogNormalLogPrior(3.0, 1.0))
    target = pints.LogPosterior(likelihood, prior)
    return lambda p: target(p), [0.5, 42.0]


@row("pints")
def sum_of_squares() -> Made:
    """An error measure of a model with several outputs."""
    import pints
    import pints.toy

    model = pints.toy.FitzhughNagumoModel()
    values = model.simulate([0.1, 0.5, 3.0], TIMES)
    error = pints.SumOfSquaresError(pints.MultiOutputProblem(model, TIMES, values))
    return lambda p: error(p), [0.12, 0.45, 2.9]


# py_vollib


@row("py_vollib")
def black_scholes_price() -> Made:
    """The price of a call."""
    from py_vollib.black_scholes import black_scholes

    return lambda p: black_scholes("c", p[0], 100.0, p[1], p[2], p[3]), [102.0, 0.5, 0.01, 0.2]


@row("py_vollib")
def analytical_vega() -> Made:
    """A Greek."""
    from py_vollib.black_scholes.greeks.analytical import delta, vega

    return (
        lambda p: vega("c", p[0], 100.0, p[1], p[2], p[3]) * delta("p", p[0], 100.0, p[1], p[2], p[3]),
        [102.0, 0.5, 0.01, 0.2],
    )


@row("py_vollib")
def implied_volatility() -> Made:
    """The implied volatility of a price."""
    from py_vollib.black_scholes.implied_volatility import implied_volatility

    return lambda p: implied_volatility(p[0], p[1], 100.0, 0.5, 0.01, "c"), [7.0, 102.0]


# pykalman


@row("pykalman")
def kalman_loglikelihood() -> Made:
    """The log-likelihood of observations."""
    from pykalman import KalmanFilter

    data = _rng().normal(size=(8, 2))

    def loss(p: Any) -> Any:
        kf = KalmanFilter(
            transition_matrices=np.array([[1.0, p[0]], [0.0, 1.0]]),
            observation_matrices=np.array([[0.1, 0.5], [-0.3, p[1]]]),
            transition_covariance=np.eye(2) * 0.3,
            observation_covariance=np.eye(2) * p[2],
        )
        return kf.loglikelihood(data)

    return loss, [0.9, 0.4, 0.7]


@row("pykalman")
def kalman_smooth() -> Made:
    """Smoothed states."""
    from pykalman import KalmanFilter

    data = _rng().normal(size=(6, 2))

    def loss(p: Any) -> Any:
        kf = KalmanFilter(
            transition_matrices=np.array([[1.0, p[0]], [0.0, 1.0]]),
            observation_matrices=np.array([[0.1, 0.5], [-0.3, p[1]]]),
        )
        means, covariances = kf.smooth(data)
        return np.sum(means**2) + np.sum(covariances)

    return loss, [0.9, 0.4]


# statsmodels


def _regression() -> tuple[Any, Any]:
    rng = _rng()
    x = np.column_stack([np.ones(20), rng.normal(size=(20, 2))])
    return x, rng


@row("statsmodels")
def glm_loglike() -> Made:
    """A generalised linear model."""
    import statsmodels.api as sm

    x, rng = _regression()
    model = sm.GLM(rng.poisson(2.0, 20).astype(float), x, family=sm.families.Poisson())
    return lambda p: model.loglike(p), [0.5, 0.1, -0.2]


@row("statsmodels")
def glm_gamma() -> Made:
    """Another family, with its own scale."""
    import statsmodels.api as sm

    x, rng = _regression()
    model = sm.GLM(rng.gamma(2.0, size=20), x, family=sm.families.Gamma(sm.families.links.Log()))
    return lambda p: model.loglike(p, scale=0.7), [0.5, 0.1, -0.2]


@row("statsmodels")
def logit_loglike() -> Made:
    """Binary choice."""
    import statsmodels.api as sm

    x, rng = _regression()
    model = sm.Logit((rng.random(20) < 0.4).astype(float), x)
    return lambda p: model.loglike(p), [0.5, 0.1, -0.2]


@row("statsmodels")
def ordered_model() -> Made:
    """Ordered choice."""
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    x, rng = _regression()
    model = OrderedModel(rng.integers(0, 3, 20), x[:, 1:], distr="probit")
    return lambda p: model.loglike(p), [0.5, 0.1, -0.2, 0.3]


@row("statsmodels")
def negative_binomial() -> Made:
    """Counts."""
    import statsmodels.api as sm

    x, rng = _regression()
    model = sm.NegativeBinomial(rng.poisson(2.0, 20).astype(float), x)
    return lambda p: model.loglike(p), [0.5, 0.1, -0.2, 0.4]


@row("statsmodels", compiled="statsmodels.tsa.statespace")
def sarimax_loglike() -> Made:
    """A state space model, whose filter is Cython."""
    import statsmodels.api as sm

    model = sm.tsa.SARIMAX(np.cumsum(_rng().normal(size=30)), order=(1, 0, 1))
    return lambda p: model.loglike(p), [0.5, 0.2, 1.1]


@row("statsmodels", compiled="hamilton_filter_log")
def markov_regression() -> Made:
    """Regimes, whose filter is Cython."""
    import statsmodels.api as sm

    model = sm.tsa.MarkovRegression(_rng().normal(size=30), k_regimes=2)
    return lambda p: model.loglike(p), [0.9, 0.2, -0.5, 0.6, 1.1]


@row("statsmodels")
def robust_norm() -> Made:
    """A robust loss."""
    import statsmodels.api as sm

    x, rng = _regression()
    y, norm = rng.normal(size=20), sm.robust.norms.TukeyBiweight()
    return lambda p: np.sum(norm.rho(y - np.dot(x, p))), [0.5, 0.1, -0.2]


# arch


@row("arch", compiled="garch_recursion")
def garch_loglikelihood() -> Made:
    """The likelihood of the first example; the recursion is compiled."""
    from arch import arch_model

    returns = _rng().normal(size=40)
    model = arch_model(returns, mean="Constant", vol="GARCH", p=1, q=1)
    bounds = model.volatility.variance_bounds(returns)
    backcast = model.volatility.backcast(returns)

    def loss(p: Any) -> Any:
        return model._loglikelihood(p, np.ones(40), backcast, bounds)

    return loss, [0.05, 0.1, 0.1, 0.8]


@row("arch")
def distribution_loglikelihood() -> Made:
    """A distribution of residuals."""
    from arch.univariate import StudentsT

    resids, dist = _rng().normal(size=20), StudentsT()
    return lambda p: dist.loglikelihood([p[0]], resids, np.full(20, 1.0) * p[1]), [6.0, 1.3]


@row("arch")
def skewed_loglikelihood() -> Made:
    """A distribution with a shape and a skew."""
    from arch.univariate import GeneralizedError, SkewStudent

    resids, skewed, general = _rng().normal(size=20), SkewStudent(), GeneralizedError()
    return (
        lambda p: (
            skewed.loglikelihood(p[:2], resids, np.full(20, 1.2)) + general.loglikelihood(p[2:], resids, np.ones(20))
        ),
        [6.0, 0.2, 1.4],
    )


# scikit-learn


@row("scikit-learn")
def gp_marginal_likelihood() -> Made:
    """The log-marginal likelihood of a Gaussian process."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    x = np.linspace(0.0, 5.0, 12)[:, None]
    kernel = ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(0.1)
    gp = GaussianProcessRegressor(kernel, optimizer=None).fit(x, np.sin(x[:, 0]))
    return lambda p: gp.log_marginal_likelihood(p), [0.1, -0.2, -2.0]


@row("scikit-learn")
def gp_predict() -> Made:
    """The mean of a Gaussian process at new points."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    x = np.linspace(0.0, 5.0, 12)[:, None]
    gp = GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None).fit(x, np.sin(x[:, 0]))
    return lambda p: np.sum(gp.predict(p[:, None]) ** 2), [0.3, 1.7, 2.9]


@row("scikit-learn")
def kernel_matern() -> Made:
    """A kernel at points."""
    from sklearn.gaussian_process.kernels import Matern

    y, kernel = np.linspace(0.0, 5.0, 5)[:, None], Matern(1.3, nu=2.5)
    return lambda p: np.sum(kernel(p[:, None], y) ** 2), [0.3, 1.7, 2.9]


@row("scikit-learn")
def pairwise_rbf() -> Made:
    """A kernel of pairs."""
    from sklearn.metrics.pairwise import rbf_kernel

    y = _rng().normal(size=(5, 2))
    return lambda p: np.sum(rbf_kernel(np.reshape(p, (2, 2)), y, gamma=0.3) ** 2), [0.3, 1.7, 2.9, -0.4]


# SALib


@row("SALib")
def ishigami() -> Made:
    """A test function."""
    from SALib.test_functions import Ishigami

    return lambda p: np.sum(Ishigami.evaluate(np.reshape(p, (2, 3)))), [0.3, 1.7, 2.9, -0.4, 0.2, 0.5]


@row("SALib")
def sobol_g() -> Made:
    """Another one."""
    from SALib.test_functions import Sobol_G

    return lambda p: np.sum(Sobol_G.evaluate(np.reshape(p, (1, 8)))), [0.3, 0.7, 0.9, 0.4, 0.2, 0.45, 0.1, 0.8]


@row("SALib")
def sobol_indices() -> Made:
    """Sensitivity indices of model results."""
    from SALib.analyze import sobol
    from SALib.sample import sobol as sampling

    problem = {"num_vars": 3, "names": ["a", "b", "c"], "bounds": [[-1.0, 1.0]] * 3}
    x = sampling.sample(problem, 8, calc_second_order=False, seed=1)

    def loss(p: Any) -> Any:
        y = np.sin(x[:, 0]) + p[0] * x[:, 1] ** 2 + p[1] * x[:, 2] ** 4 * np.sin(x[:, 0])
        found = sobol.analyze(problem, y, calc_second_order=False, num_resamples=4, seed=1)
        return np.sum(found["S1"]) + np.sum(found["ST"] ** 2)

    return loss, [0.7, 0.1]


# quantecon


@row("quantecon")
def lyapunov() -> Made:
    """A discrete Lyapunov equation by doubling."""
    from quantecon import solve_discrete_lyapunov

    def loss(p: Any) -> Any:
        return np.sum(solve_discrete_lyapunov(np.array([[p[0], 0.1], [0.0, p[1]]]), np.eye(2)) ** 2)

    return loss, [0.5, 0.3]


@row("quantecon")
def linear_state_space() -> Made:
    """Moments of a linear state space model."""
    from quantecon import LinearStateSpace

    def loss(p: Any) -> Any:
        model = LinearStateSpace(np.array([[p[0], p[1]], [0.0, 0.4]]), np.eye(2), np.array([[1.0, p[2]]]))
        mu_x, _, sigma_x, sigma_y, _ = model.stationary_distributions()
        return np.sum(sigma_x**2) + np.sum(sigma_y) + np.sum(mu_x)

    return loss, [0.5, 0.2, 0.7]


@row("quantecon")
def lq_control() -> Made:
    """Linear-quadratic control: the stationary value function."""
    from quantecon import LQ

    def loss(p: Any) -> Any:
        lq = LQ(np.array([[p[0]]]), np.array([[p[1]]]), np.array([[0.9]]), np.array([[1.0]]), beta=0.95)
        value, policy, _ = lq.stationary_values()
        return np.sum(value) + np.sum(policy)

    return loss, [1.5, 0.8]


@row("quantecon", compiled="gth_solve")
def markov_chain() -> Made:
    """The stationary distribution of a Markov chain, by numba."""
    from quantecon import MarkovChain

    def loss(p: Any) -> Any:
        chain = MarkovChain(np.array([[1.0 - p[0], p[0]], [p[1], 1.0 - p[1]]]))
        return np.sum(chain.stationary_distributions[0] ** 2)

    return loss, [0.3, 0.2]


# python_speech_features


def _signal() -> Any:
    return np.sin(np.arange(800) * 0.3) + 0.3 * _rng().normal(size=800)


@row("python_speech_features")
def mfcc() -> Made:
    """Cepstral coefficients of a signal."""
    from python_speech_features import mfcc

    signal = _signal()
    return lambda p: np.sum(mfcc(signal * p[0] + p[1] * signal**2, 16000) ** 2), [1.2, 0.3]


@row("python_speech_features")
def logfbank_delta() -> Made:
    """Filter banks and their differences in time."""
    from python_speech_features import delta, logfbank

    signal = _signal()
    return lambda p: np.sum(delta(logfbank(signal * p[0] + p[1], 16000), 2) ** 2), [1.2, 0.3]


# lifelines


@row("lifelines")
def weibull_likelihood() -> Made:
    """The likelihood that a Weibull fit minimises."""
    from lifelines import WeibullFitter

    durations = _rng().weibull(1.5, 20) + 0.1
    events = np.arange(20) % 3 > 0
    fitter = WeibullFitter().fit(durations, events)
    Ts = (durations, None)
    return lambda p: fitter._negative_log_likelihood_right_censoring(p, Ts, events, np.zeros(20), np.ones(20)), [
        1.1,
        1.4,
    ]


@row("lifelines")
def log_normal_hazard() -> Made:
    """A cumulative hazard."""
    from lifelines import LogLogisticFitter, LogNormalFitter

    t = np.linspace(0.1, 4.0, 9)
    return (
        lambda p: np.sum(LogNormalFitter()._cumulative_hazard(p, t) + LogLogisticFitter()._cumulative_hazard(p, t)),
        [0.7, 1.4],
    )


# filterpy


@row("filterpy")
def kalman_step() -> Made:
    """Predict and update, and the log-likelihood."""
    from filterpy.common import Q_discrete_white_noise
    from filterpy.kalman import KalmanFilter

    data = _rng().normal(size=5)

    def loss(p: Any) -> Any:
        f = KalmanFilter(dim_x=2, dim_z=1)
        f.x = np.array([[2.0], [0.0]])
        f.F = np.array([[1.0, p[0]], [0.0, 1.0]])
        f.H = np.array([[1.0, 0.0]])
        f.P *= 10.0
        f.R *= p[1]
        f.Q = Q_discrete_white_noise(2, 0.1, p[2])
        total = 0.0
        for z in data:
            f.predict()
            f.update(z)
            total += f.log_likelihood
        return total + np.sum(f.x**2)

    return loss, [0.9, 0.8, 0.3]


@row("filterpy")
def unscented() -> Made:
    """An unscented filter."""
    from filterpy.kalman import MerweScaledSigmaPoints, UnscentedKalmanFilter

    data = _rng().normal(size=4)

    def loss(p: Any) -> Any:
        points = MerweScaledSigmaPoints(2, alpha=0.1, beta=2.0, kappa=1.0)
        f = UnscentedKalmanFilter(
            2,
            1,
            0.1,
            hx=lambda x: x[:1],
            fx=lambda x, dt: np.array([x[0] + dt * x[1], p[0] * np.sin(x[1])]),
            points=points,
        )
        f.R *= p[1]
        for z in data:
            f.predict()
            f.update(z)
        return np.sum(f.x**2)

    return loss, [0.9, 0.8]


@row("filterpy")
def gh_filter() -> Made:
    """A g-h filter."""
    from filterpy.gh import GHFilter

    data = _rng().normal(size=6)

    def loss(p: Any) -> Any:
        f = GHFilter(x=p[0], dx=p[1], dt=1.0, g=p[2], h=0.02)
        found = f.batch_filter(data)
        return np.sum(found**2)

    return loss, [0.9, 0.8, 0.6]


# hmmlearn


@row("hmmlearn")
def normal_density() -> Made:
    """The densities that the models of Gaussians use."""
    from hmmlearn.stats import log_multivariate_normal_density

    x, covars = _rng().normal(size=(6, 2)), np.array([[1.0, 2.0], [0.5, 1.5]])
    return (
        lambda p: np.sum(log_multivariate_normal_density(x, np.reshape(p, (2, 2)), covars, "diag") ** 2),
        [0.3, 0.7, -0.2, 1.1],
    )


@row("hmmlearn", compiled="hmmlearn._hmmc")
def hmm_score() -> Made:
    """The score of observations, by C++."""
    from hmmlearn.hmm import GaussianHMM

    x = _rng().normal(size=(12, 1))

    def loss(p: Any) -> Any:
        model = GaussianHMM(2, covariance_type="diag")
        model.startprob_ = np.array([0.6, 0.4])
        model.transmat_ = np.array([[0.7, 0.3], [0.2, 0.8]])
        model.means_ = np.reshape(p, (2, 1))
        model.covars_ = np.array([[1.0], [2.0]])
        return model.score(x)

    return loss, [0.3, 1.1]


# emcee


@row("emcee")
def line_probability() -> Made:
    """The log-probability of the line-fitting tutorial, by the sampler."""
    import emcee

    x = np.sort(_rng().random(12) * 10.0)
    y = -0.9 * x + 4.3 + _rng().normal(size=12)

    def log_prob(theta: Any) -> Any:
        m, b, log_f = theta
        if not (-5.0 < m < 0.5 and 0.0 < b < 10.0 and -10.0 < log_f < 1.0):
            return -np.inf
        model = m * x + b
        sigma2 = 0.1**2 + model**2 * np.exp(2 * log_f)
        return -0.5 * np.sum((y - model) ** 2 / sigma2 + np.log(sigma2))

    sampler = emcee.EnsembleSampler(8, 3, log_prob)
    return lambda p: sampler.compute_log_prob(p[None, :] * np.ones((1, 1)))[0][0], [-0.8, 4.0, -1.0]


@row("emcee")
def autocorrelation() -> Made:
    """The integrated autocorrelation time of a chain."""
    from emcee.autocorr import function_1d

    chain = np.cumsum(_rng().normal(size=16))
    return lambda p: np.sum(function_1d(np.sin(p[0] * chain) + p[1] * chain)[:5] ** 2), [0.4, 0.7]


# scikit-image


def _image() -> Any:
    return _rng().random((12, 12))


@row("scikit-image")
def gaussian_filter() -> Made:
    """Smoothing."""
    from skimage.filters import gaussian, sobel

    image = _image()
    return lambda p: np.sum(sobel(gaussian(image * p[0] + p[1] * image**2, sigma=1.0)) ** 2), [0.7, 0.2]


@row("scikit-image")
def similarity() -> Made:
    """Structural similarity of two images."""
    from skimage.metrics import mean_squared_error, structural_similarity

    image = _image()
    other = image**2

    def loss(p: Any) -> Any:
        changed = image * p[0] + p[1] * other
        return structural_similarity(image, changed, data_range=1.0) + mean_squared_error(image, changed)

    return loss, [0.7, 0.2]


@row("scikit-image")
def rgb_to_lab() -> Made:
    """A change of colour space."""
    from skimage.color import rgb2lab

    image = _rng().random((4, 4, 3)) * 0.8 + 0.1
    return lambda p: np.sum(rgb2lab(image**p) ** 2) / 1000.0, [0.7, 1.2, 0.9]


@row("scikit-image")
def total_variation() -> Made:
    """Denoising by total variation."""
    from skimage.restoration import denoise_tv_chambolle

    image = _image()
    return lambda p: np.sum(denoise_tv_chambolle(image * p[0] + p[1], weight=0.1, max_num_iter=5) ** 2), [0.7, 0.2]


@row("scikit-image", compiled="_warp_fast")
def warp_image() -> Made:
    """A warp, by Cython."""
    from skimage.transform import rotate

    image = _image()
    return lambda p: np.sum(rotate(image * p[0] + p[1] * image**2, 30.0) ** 2), [0.7, 0.2]
