"""Align one image with another: rotation, scale and shift, then a smooth local warp."""

import numpy as np
from scipy.ndimage import affine_transform, gaussian_filter, map_coordinates, sobel, zoom
from scipy.optimize import minimize

rng = np.random.default_rng(9)
fixed = gaussian_filter(rng.normal(size=(16, 16)), 2.0)
fixed /= fixed.std()
rows, columns = np.mgrid[:16, :16].astype(float)
centre = np.array([7.5, 7.5])


def matrix(angle, log_scale):
    c, s = np.cos(angle), np.sin(angle)
    return np.exp(log_scale) * np.array([[c, -s], [s, c]])


def move(image, angle, log_scale, shift):
    A = matrix(angle, log_scale)
    return affine_transform(image, A, offset=centre - A @ centre + shift, order=3, mode="nearest")


moving = move(fixed, 0.12, 0.05, np.array([0.8, -0.6])) + 0.02 * rng.normal(size=(16, 16))


def dissimilarity(p):
    aligned = move(moving, p[0], p[1], p[2:4])
    warp = zoom(p[4:].reshape(2, 2, 2), (1, 8, 8), order=1)
    aligned = map_coordinates(aligned, [rows + warp[0], columns + warp[1]], order=3, mode="reflect")
    inner = (slice(3, -3), slice(3, -3))
    a, b = aligned[inner].ravel(), fixed[inner].ravel()
    correlation = np.corrcoef(a, b)[0, 1]
    edges = np.hypot(sobel(aligned, 0), sobel(aligned, 1)) - np.hypot(sobel(fixed, 0), sobel(fixed, 1))
    return 1 - correlation + 1e-3 * np.mean(edges[inner] ** 2) + 1e-2 * np.sum(warp**2) / warp.size


if __name__ == "__main__":
    fit = minimize(dissimilarity, np.zeros(12))
    print(fit.message, fit.fun, fit.x[:4])
