"""Blind deconvolution: the width of the point spread function and the stars of an image."""

import numpy as np
from scipy.ndimage import gaussian_filter, laplace
from scipy.optimize import minimize
from scipy.signal import fftconvolve

rng = np.random.default_rng(4)
shape = (12, 12)
truth = np.zeros(shape)
truth[3, 4], truth[8, 7], truth[6, 2] = 20.0, 35.0, 12.0
spike = np.zeros((9, 9))
spike[4, 4] = 1.0


def psf(width, ellipticity):
    kernel = gaussian_filter(spike, [width * (1 + ellipticity), width * (1 - ellipticity)], mode="constant")
    return kernel / kernel.sum()


def observe(sky, width, ellipticity):
    return fftconvolve(sky, psf(width, ellipticity), mode="same")


counts = rng.poisson(np.maximum(observe(truth, 1.1, 0.1), 0) + 2.0)


def objective(p, background=2.0, smooth=1e-3):
    width, ellipticity = np.exp(p[0]), 0.5 * np.tanh(p[1])
    sky = np.logaddexp(0, p[2:]).reshape(shape)
    model = np.clip(observe(sky, width, ellipticity), 1e-9, None) + background
    poisson = (model - counts * np.log(model)).sum()
    tv = np.sqrt(np.diff(sky, axis=0) ** 2 + 1e-6).sum() + np.sqrt(np.diff(sky, axis=1) ** 2 + 1e-6).sum()
    return poisson + smooth * tv + smooth * np.linalg.norm(laplace(sky, mode="nearest")) ** 2


def guess():
    return np.concatenate([[0.2, 0.1], 0.5 + 0.1 * counts.ravel()])


if __name__ == "__main__":
    fit = minimize(objective, guess(), method="L-BFGS-B", options={"maxiter": 200})
    print(fit.message, "width", np.exp(fit.x[0]), "stars", np.logaddexp(0, fit.x[2:]).reshape(shape).round(1))
