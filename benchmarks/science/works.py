"""The models, as SciPy's users write them, and for JAX where it has what they need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.integrate import solve_ivp
from scipy.interpolate import make_lsq_spline
from scipy.linalg import cho_factor, cho_solve
from scipy.ndimage import gaussian_filter
from scipy.signal import fftconvolve
from scipy.sparse.linalg import spsolve
from scipy.spatial.distance import cdist

import adjoint as ad


@dataclass(frozen=True)
class Work:
    """A fit: the function of parameters, where it begins, the solver, the same for JAX, and other ways to write it."""

    title: str
    function: Callable[[Any], Any]
    start: Any
    squares: bool = False
    how: dict[str, Any] = field(default_factory=dict)
    jax: Callable[[], Callable[[Any], Any]] | None = None
    other: dict[str, Callable[[Any], Any]] = field(default_factory=dict)


def kinetics() -> Work:
    """Three rates of a chain of reactions with a step back."""
    times = np.linspace(0.0, 8.0, 25)
    start = np.array([1.0, 0.0, 0.0])

    def slope(xp: Any, y: Any, k: Any) -> Any:
        first, back, second = k[0] * y[0], k[1] * y[1], k[2] * y[1] ** 2
        return xp.stack([back - first, first - back - second, second])

    def by_scipy(p: Any) -> Any:
        k = np.exp(p)
        return solve_ivp(lambda t, y: slope(np, y, k), (0, 8), start, t_eval=times, rtol=1e-8, atol=1e-8).y.T

    data = by_scipy(np.log([0.9, 0.2, 0.5])) + 0.01 * np.random.default_rng(0).normal(size=(25, 3))

    def by_odeint(p: Any) -> Any:
        found = ad.odeint(lambda y, t, k: slope(np, y, k), start, times, np.exp(p), rtol=1e-8, atol=1e-8)
        return (found - data).ravel()

    def for_jax() -> Any:
        import jax.numpy as jnp
        from jax.experimental.ode import odeint

        def residuals(p: Any) -> Any:
            y = odeint(lambda y, t, k: slope(jnp, y, k), start, times, jnp.exp(p), rtol=1e-8, atol=1e-8)
            return (y - data).ravel()

        return residuals

    return Work(
        "rates of reactions, `solve_ivp`", lambda p: (by_scipy(p) - data).ravel(), np.zeros(3), squares=True,
        jax=for_jax, other={"adjoint, `ad.odeint`": by_odeint},
    )  # fmt: skip


def kalman() -> Work:
    """The likelihood of a local linear trend: a loop of 60 small matrix equations."""
    rng = np.random.default_rng(1)
    data = np.cumsum(0.3 * rng.normal(size=60) + 0.1) + 0.5 * rng.normal(size=60)

    def matrices(xp: Any, theta: Any) -> Any:
        s = xp.exp(2 * theta[:3])
        zero = 0.0 * s[0]
        F = xp.stack([xp.stack([zero + 1.0, zero + 1.0]), xp.stack([zero, xp.tanh(theta[3])])])
        return F, xp.diag(s[:2]), xp.reshape(s[2], (1, 1)), np.array([[1.0, 0.0]])

    def step(xp: Any, state: Any, y: Any, F: Any, Q: Any, R: Any, H: Any) -> Any:
        x, P, total = state
        x, P = F @ x, F @ P @ F.T + Q
        v, S = y - H @ x, H @ P @ H.T + R
        K = P @ H.T @ xp.linalg.inv(S)
        total = total + 0.5 * (xp.linalg.slogdet(S)[1] + v @ xp.linalg.solve(S, v))
        return x + K @ v, (xp.eye(2) - K @ H) @ P, total

    def likelihood(theta: Any) -> Any:
        model = matrices(np, theta)
        state = np.zeros(2), 10.0 * np.eye(2), 0.0
        for y in data:
            state = step(np, state, y, *model)
        return state[2]

    def for_jax() -> Any:
        import jax
        import jax.numpy as jnp

        def scanned(theta: Any) -> Any:
            model = matrices(jnp, theta)
            begin = jnp.zeros(2), 10.0 * jnp.eye(2), jnp.zeros(())
            return jax.lax.scan(lambda s, y: (step(jnp, s, y, *model), None), begin, jnp.asarray(data))[0][2]

        return scanned

    return Work("Kalman filter, 60 steps", likelihood, np.array([-1.0, -1.0, -0.5, 1.0]), jax=for_jax)


def gaussian_process() -> Work:
    """The marginal likelihood of 150 points in two dimensions."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-2, 2, size=(150, 2))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=150)

    def likelihood(theta: Any) -> Any:
        K = np.exp(2 * theta[2] - 0.5 * cdist(X / np.exp(theta[:2]), X / np.exp(theta[:2]), "sqeuclidean"))
        K[np.diag_indices_from(K)] += np.exp(2 * theta[3]) + 1e-8
        factor = cho_factor(K, lower=True)
        return 0.5 * y @ cho_solve(factor, y) + np.log(np.diag(factor[0])).sum()

    def for_jax() -> Any:
        import jax.numpy as jnp
        from jax.scipy import linalg

        def likelihood(theta: Any) -> Any:
            scaled = X / jnp.exp(theta[:2])
            distance = jnp.sum((scaled[:, None] - scaled) ** 2, axis=2)
            K = jnp.exp(2 * theta[2] - 0.5 * distance) + (jnp.exp(2 * theta[3]) + 1e-8) * jnp.eye(150)
            factor = linalg.cho_factor(K, lower=True)
            return 0.5 * y @ linalg.cho_solve(factor, y) + jnp.log(jnp.diag(factor[0])).sum()

        return likelihood

    return Work("Gaussian process, 150 points", likelihood, np.array([0.0, 0.0, 0.0, -1.0]), jax=for_jax)


def deconvolution() -> Work:
    """An image of 16 x 16 and the width of the point spread function, of which something is known."""
    rng = np.random.default_rng(3)
    truth = np.zeros((16, 16))
    truth[3, 4], truth[11, 8], truth[7, 13] = 20.0, 35.0, 12.0
    spike = np.zeros((9, 9))
    spike[4, 4] = 1.0
    counts = rng.poisson(np.maximum(fftconvolve(truth, gaussian_filter(spike, 1.1, mode="constant"), "same"), 0) + 2.0)

    def loss(xp: Any, sky: Any, blurred: Any) -> Any:
        model = xp.clip(blurred, 1e-9, None) + 2.0
        edges = xp.sqrt(xp.diff(sky, axis=0) ** 2 + 1e-6).sum() + xp.sqrt(xp.diff(sky, axis=1) ** 2 + 1e-6).sum()
        return (model - counts * xp.log(model)).sum() + 0.01 * edges

    def objective(p: Any) -> Any:
        sky = np.logaddexp(0, p[1:]).reshape(16, 16)
        kernel = gaussian_filter(spike, np.exp(p[0]), mode="constant", radius=4)
        return loss(np, sky, fftconvolve(sky, kernel, mode="same")) + 50 * p[0] ** 2

    def for_jax() -> Any:
        import jax.numpy as jnp
        from jax.scipy.signal import fftconvolve as convolve

        def objective(p: Any) -> Any:
            sky = jnp.logaddexp(0, p[1:]).reshape(16, 16)
            line = jnp.exp(-0.5 * (jnp.arange(-4.0, 5.0) / jnp.exp(p[0])) ** 2)
            line = line / line.sum()
            return loss(jnp, sky, convolve(sky, line[:, None] * line, mode="same")) + 50 * p[0] ** 2

        return objective

    start = np.concatenate([[0.0], 0.5 + 0.1 * counts.ravel()])
    how = {"method": "L-BFGS-B", "options": {"maxiter": 60, "maxfun": 100_000}}
    return Work("deconvolution, 257 unknowns", objective, start, how=how, jax=for_jax)


def spline() -> Work:
    """The delay, gain and offset between two series, by a spline through both."""
    rng = np.random.default_rng(4)
    t1, t2 = np.sort(rng.uniform(0, 10, 200)), np.sort(rng.uniform(1, 9, 150))
    f1 = np.sin(t1) + 0.4 * np.cos(2.3 * t1) + 0.03 * rng.normal(size=200)
    f2 = 0.8 * (np.sin(t2 - 0.6) + 0.4 * np.cos(2.3 * (t2 - 0.6))) + 0.1 + 0.03 * rng.normal(size=150)
    knots = np.r_[(-1.0,) * 4, np.linspace(0.5, 9.5, 12), (11.0,) * 4]

    def mismatch(p: Any) -> Any:
        t = np.concatenate([t1, t2 - p[0]])
        f = np.concatenate([f1, (f2 - p[2] - p[3] * t2) / p[1]])
        order = np.argsort(t)
        curve = make_lsq_spline(t[order], f[order], knots)
        return np.sum((curve(t) - f) ** 2) + 1e-3 * np.mean(curve.derivative(2)(t1) ** 2)

    return Work("spline through two series, `make_lsq_spline`", mismatch, np.array([0.4, 1.0, 0.0, 0.0]))


def conductivity() -> Work:
    """The conductivity of a plate of 12 x 12 cells from temperatures, by a sparse solver."""
    n, rng = 12, np.random.default_rng(5)
    h = 1.0 / (n + 1)
    x, y = np.meshgrid(np.linspace(h, 1 - h, n), np.linspace(h, 1 - h, n))
    source = np.exp(-30 * ((x - 0.3) ** 2 + (y - 0.6) ** 2)).ravel()
    difference = sp.diags([-1.0, 1.0], [-1, 0], shape=(n + 1, n)) / h
    average = abs(difference) * h / 2
    D = [sp.kron(sp.eye(n), difference).tocsr(), sp.kron(difference, sp.eye(n)).tocsr()]
    A = [sp.kron(sp.eye(n), average).tocsr(), sp.kron(average, sp.eye(n)).tocsr()]

    def temperature(p: Any) -> Any:
        kappa = np.exp(p)
        stiffness = D[0].T @ sp.diags(A[0] @ kappa) @ D[0] + D[1].T @ sp.diags(A[1] @ kappa) @ D[1]
        return spsolve(stiffness.tocsc(), source)

    data = temperature(0.8 * np.sin(3 * x * y).ravel()) * (1 + 0.01 * rng.normal(size=n * n))

    def objective(p: Any) -> Any:
        misfit = (temperature(p) - data) / 1e-3
        return 0.5 * misfit @ misfit + 1e-4 * sum([np.sum((d @ p) ** 2) for d in D])

    how = {"method": "L-BFGS-B", "options": {"maxiter": 30, "maxfun": 100_000}}
    return Work("sparse Poisson equation, 144 unknowns, `spsolve`", objective, np.zeros(n * n), how=how)


WORKS: dict[str, Callable[[], Work]] = {
    "kinetics": kinetics,
    "kalman": kalman,
    "gaussian-process": gaussian_process,
    "deconvolution": deconvolution,
    "spline": spline,
    "conductivity": conductivity,
}
