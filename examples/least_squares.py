"""Least squares in four ways that agree: QR, SVD, gradient descent, and ridge regression by either.

    python examples/least_squares.py          # add --plot for a picture, least_squares.png

The loss |Xw - y|^2 / n has the gradient (2/n) X^T (Xw - y). Ridge adds lam |w|^2: w = (X^T X + n lam I)^-1 X^T y.
"""

import sys
import warnings

import numpy as np

from adjoint import data, losses, optim

LAM = 0.1


def by_qr(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """X = QR, so X w = y in the least-squares sense is R w = Q^T y. Warns if small errors in y become large in w."""
    condition = np.linalg.cond(X)
    if condition > 1e6:
        warnings.warn(f"X has condition number {condition:.1e}: standardise the inputs, or add ridge", stacklevel=2)
    Q, R = np.linalg.qr(X)
    return np.linalg.solve(R, Q.T @ y)


def by_descent(X: np.ndarray, y: np.ndarray, lam: float = 0.0) -> optim.Result:
    """Gradient descent until a step is short; its rate is one over the largest curvature."""
    penalty, rate = losses.l2(lam), 0.5 / (np.linalg.norm(X, 2) ** 2 / len(X) + lam)
    return optim.minimize(
        lambda w: losses.squared(X @ w, y) + penalty(w), np.zeros(4), optim.sgd(rate), stop=optim.stop.step(1e-20)
    )


def main() -> None:
    """Fit a cubic polynomial to noisy numbers by year."""
    years = np.linspace(2000.0, 2020.0, 200)
    t = data.standardize(years).apply(years)
    y = 1.0 + 2.0 * t - 0.5 * t**3 + np.random.default_rng(0).normal(0.0, 0.5, t.shape)
    X = np.stack([np.ones_like(t), t, t**2, t**3], axis=1)

    descent, ridge = by_descent(X, y), by_descent(X, y, LAM)
    found = {
        "those that made the data": np.array([1.0, 2.0, 0.0, -0.5]),
        "QR": by_qr(X, y),
        "SVD": np.linalg.lstsq(X, y)[0],
        f"gradient descent, {descent.steps} steps": descent.x,
        f"ridge, lam = {LAM}, closed form": np.linalg.solve(X.T @ X + len(X) * LAM * np.eye(4), X.T @ y),
        f"ridge by gradient descent, {ridge.steps} steps": ridge.x,
    }
    print(f"{'weights of':37}{'1':>8}{'t':>10}{'t^2':>10}{'t^3':>10}")
    for name, w in found.items():
        print(f"{name:37}{w[0]:8.5f}{w[1]:10.5f}{w[2]:10.5f}{w[3]:10.5f}")
    print(f"variance of the noise: {losses.estimate_sigma(X @ descent.x, y) ** 2:.4f} is estimated, it was {0.5**2}")
    with warnings.catch_warnings(record=True, action="always") as caught:
        by_qr(years[:, None] ** np.arange(4), y)
    print(f"with years as they are: {caught[0].message}")
    if "--plot" in sys.argv:
        picture(years, X, y, descent, ridge)


def picture(years: np.ndarray, X: np.ndarray, y: np.ndarray, descent: optim.Result, ridge: optim.Result) -> None:
    """The fits, and how gradient descent gets there."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(years, y, ".", color="0.7", markersize=4)
    for step in (1, 10, 100):
        left.plot(years, X @ descent.path[step], color="C0", alpha=0.2 + 0.15 * np.log10(step), label=f"step {step}")
    left.plot(years, X @ descent.x, color="C0", label="least squares")
    left.plot(years, X @ ridge.x, "--", color="C3", label=f"ridge, λ = {LAM}")
    left.set(title="a cubic polynomial", xlabel="year", xticks=[2000, 2005, 2010, 2015, 2020])
    left.legend()
    descent.plot(right)
    figure.savefig("least_squares.png", dpi=120)


if __name__ == "__main__":
    main()
