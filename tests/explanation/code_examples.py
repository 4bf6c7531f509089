"""Functions of every kind, each with the point where it is recorded and another one of the same branch."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.special as sc

import adjoint as ad

rng = np.random.default_rng(0)
VECTOR = np.array([0.7, -1.3, 0.4])
POSITIVE = np.array([0.7, 1.3, 0.4])
MATRIX = np.array([[2.0, 0.3, -0.4], [0.1, 1.5, 0.2], [-0.3, 0.4, 1.8]])
DATA = np.array([[1.0, 1.0, 1.5], [1.0, 1.5, -1.0]])
LARGE = rng.normal(size=(20, 30))


def worked(x):
    a = x**2
    b = np.exp(a)
    c = a + b
    return np.sqrt(c) + np.cos(c)


def newton(a):
    y = 1.0
    while abs(y * y - a) > 1e-3:
        y = (y + a / y) / 2
    return y


def running(x):
    y = np.zeros(3)
    y[0] = x[0]
    for i in range(1, 3):
        y[i] = y[i - 1] * x[i]
    y[1:] *= 2
    return np.sum(y)


def branches(x):
    if x[0] > 0:
        return np.sum(np.sin(x))
    return np.sum(x)


def chosen(x):
    k = int(np.argmax(x))
    return x[k] * np.sum(x)


def masked(x):
    return np.sum(x[x > 0] ** 2)


def written_twice(x):
    y = np.zeros(2)
    y[np.array([0, 0, 1])] = x
    return np.sum(y**2)


def softmax(x):
    z = np.exp(x - np.max(x))
    return np.sum(z / np.sum(z) * VECTOR)


def logistic_loss(w):
    return np.sum((np.array([0.0, 1.0]) - sc.expit(DATA @ w)) ** 2)


def lists(x):
    return np.sum(np.array([x[0] * x[1], x[2], 1.0]) ** 2)


FUNCTIONS = {
    # elementwise, numbers
    "worked example": (worked, 1.3, 0.8),
    "quotient": (lambda x: x / (1 + x), 0.5, 1.5),
    "power": (lambda x: x**2.5 + 2.0**x + x**x, 1.3, 0.7),
    "reciprocal power": (lambda x: x**-2 + 1 / x, 1.3, 0.7),
    "negative base": (lambda x: x**3 - abs(x), -1.3, -0.7),
    "Newton": (newton, 2.0, 2.01),
    "constant": (lambda x: x * 0.0 + 3.0, 1.0, 2.0),
    "identity": (lambda x: x, 1.0, 2.0),
    "two uses": (lambda x: np.sin(x) * np.sin(x) + np.sin(x), 1.0, 2.0),
    "logs": (lambda x: np.log(x) + np.log2(x) * np.log10(x) + np.log1p(x), 1.4, 2.0),
    "hyperbolic": (lambda x: np.tanh(x) + np.sinh(x) * np.arctanh(x / 4) + np.arcsinh(x), 1.4, 2.0),
    "trigonometric": (lambda x: np.tan(x) + np.arcsin(x) * np.arccos(x) + np.arctan2(x, 2.0), 0.4, 0.6),
    # arrays
    "square": (lambda x: np.sum(x**2), VECTOR, VECTOR + 0.1),
    "broadcasting": (lambda x: np.sum(x[:, None] * x + DATA[0]), VECTOR, VECTOR + 0.1),
    "rows and columns": (lambda x: np.sum(DATA * x) + np.sum(DATA.T @ DATA @ x), VECTOR, VECTOR + 0.1),
    "mean, var, std": (lambda x: np.mean(x) + np.var(x) * np.std(x), VECTOR, VECTOR * 1.1),
    "axis": (lambda x: np.sum(np.sum(x**2, axis=0) * np.mean(x, axis=1)), MATRIX, MATRIX * 1.1),
    "keepdims": (lambda x: np.sum(x / np.sum(x, axis=1, keepdims=True)), MATRIX, MATRIX * 1.1),
    "product": (lambda x: np.prod(x), VECTOR, VECTOR * 1.1),
    "product at zero": (lambda x: np.prod(x), np.array([0.0, 3.0, 5.0]), np.array([1.0, 0.0, 2.0])),
    "running sum and product": (lambda x: np.sum(np.cumsum(x) * np.cumprod(x)), VECTOR, VECTOR * 1.1),
    "maximum": (lambda x: np.max(x) * np.min(x), VECTOR, VECTOR * 1.1),
    "ties": (lambda x: np.max(x), np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.5, 2.0])),
    "relu": (lambda x: np.sum(np.maximum(x, 0) * x), VECTOR, -VECTOR),
    "where": (lambda x: np.sum(np.where(x > 0.5, x**2, np.abs(x))), VECTOR, -VECTOR),
    "where with a root": (lambda x: np.sum(np.where(x > 0, np.sqrt(np.abs(x)), 0.0)), VECTOR, -VECTOR),
    "clip": (lambda x: np.sum(np.clip(x, -0.5, 0.5) * x), VECTOR, -VECTOR),
    "sort": (lambda x: np.sum(np.sort(x) * DATA[1]), VECTOR, VECTOR[::-1] * 1.1),
    "median": (lambda x: np.median(x), VECTOR, VECTOR * 1.1),
    "softmax": (softmax, VECTOR, VECTOR * 2),
    "logsumexp": (lambda x: sc.logsumexp(x), VECTOR, VECTOR * 2),
    "interpolation": (lambda x: np.sum(np.interp(x, DATA[0].cumsum(), VECTOR)), POSITIVE + 1, POSITIVE + 1.01),
    "rounding": (lambda x: np.sum(x * np.floor(x) + np.round(x, 1) * x), VECTOR, VECTOR * 1.01),
    # shapes and places
    "reshape": (lambda x: np.sum(x.reshape(3, 2).T @ VECTOR), DATA, DATA + 0.1),
    "stack": (lambda x: np.sum(np.stack([x, x**2], 1) @ np.array([1.0, 2.0])), VECTOR, VECTOR + 0.1),
    "concatenate": (lambda x: np.sum(np.concatenate([x, x[:2]]) ** 2), VECTOR, VECTOR + 0.1),
    "list of numbers": (lists, VECTOR, VECTOR + 0.1),
    "flip and roll": (lambda x: np.sum(np.flip(x) * np.roll(x, 1)), VECTOR, VECTOR + 0.1),
    "slices": (lambda x: np.sum(x[1:] * x[:-1]) + x[..., -1] * x[0], VECTOR, VECTOR + 0.1),
    "index array": (lambda x: np.sum(x[np.array([0, 2, 0])] ** 2), VECTOR, VECTOR + 0.1),
    "mask": (masked, VECTOR, VECTOR * 1.1),
    "assignment": (running, VECTOR, VECTOR + 0.1),
    "last write counts": (written_twice, VECTOR, VECTOR + 0.1),
    "choice": (chosen, VECTOR, VECTOR * 1.1),
    "branch": (branches, VECTOR, VECTOR * 1.1),
    "padding": (lambda x: np.sum(np.pad(x, 1, mode="reflect") ** 2), VECTOR, VECTOR * 1.1),
    # products
    "matrix and vector": (lambda x: np.sum(np.tanh(MATRIX @ x)), VECTOR, VECTOR * 1.1),
    "einsum": (lambda x: np.einsum("ij,jk,ki->", x, MATRIX, x), MATRIX, MATRIX * 1.1),
    "outer": (lambda x: np.sum(np.outer(x, x) * MATRIX), VECTOR, VECTOR * 1.1),
    "convolution": (lambda x: np.sum(np.convolve(x, DATA[0]) ** 2), VECTOR, VECTOR * 1.1),
    "logistic loss": (logistic_loss, np.array([-1.0, 1.5, 0.5]), VECTOR),
    "large array": (lambda x: np.sum(np.tanh(LARGE @ x) ** 2), rng.normal(size=30), rng.normal(size=30)),
    # linear algebra
    "inverse": (lambda a: np.sum(np.linalg.inv(a) ** 2), MATRIX, MATRIX * 1.1),
    "solve": (lambda a: np.sum(np.linalg.solve(a, VECTOR) ** 2), MATRIX, MATRIX * 1.1),
    "determinant": (lambda a: np.linalg.det(a) + np.linalg.slogdet(a)[1], MATRIX, MATRIX * 1.1),
    "cholesky": (lambda a: np.sum(np.linalg.cholesky(a @ a.T)), MATRIX, MATRIX * 1.1),
    "eigh": (lambda a: np.sum(np.linalg.eigh(a + a.T)[0] ** 3), MATRIX, MATRIX * 1.1),
    "eig": (lambda a: np.sum(np.abs(np.linalg.eigvals(a)) ** 3), MATRIX, MATRIX * 1.1),
    "svd": (lambda a: np.sum(np.linalg.svd(a)[1][:2]), MATRIX, MATRIX * 1.1),
    "qr": (lambda a: np.sum(np.linalg.qr(a)[1] ** 3), MATRIX, MATRIX * 1.1),
    "pinv": (lambda a: np.sum(np.linalg.pinv(a) ** 2), DATA, DATA * 1.1),
    "norm": (lambda x: np.linalg.norm(x), VECTOR, VECTOR * 1.1),
    "expm": (lambda a: np.sum(scipy.linalg.expm(a)), MATRIX, MATRIX * 1.1),
    "triangular": (lambda a: np.sum(scipy.linalg.solve_triangular(a, VECTOR, lower=True)), MATRIX, MATRIX * 1.1),
    # transforms
    "fft": (lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2 * VECTOR), VECTOR, VECTOR * 1.1),
    "rfft": (lambda x: np.sum(np.abs(np.fft.rfft(x)) ** 3), VECTOR, VECTOR * 1.1),
    "irfft": (lambda x: np.sum(np.fft.irfft(x * 1j) ** 3), VECTOR, VECTOR * 1.1),
    # special functions
    "erf": (lambda x: np.sum(sc.erf(x) * sc.ndtr(x)), VECTOR, VECTOR * 1.1),
    "gamma": (lambda x: np.sum(sc.gamma(x) + sc.gammaln(x) * sc.psi(x)), POSITIVE, POSITIVE * 1.1),
    "bessel": (lambda x: np.sum(sc.jv(2, x) + sc.i0(x) * sc.k1(x)), POSITIVE, POSITIVE * 1.1),
    "airy": (lambda x: np.sum(sc.airy(x)[0] * sc.airy(x)[2]), VECTOR, VECTOR * 1.1),
    "sinc": (lambda x: np.sum(np.sinc(x)), VECTOR, VECTOR * 1.1),
    "i0": (lambda x: np.sum(np.i0(x)), VECTOR, VECTOR * 1.1),
    "xlogy": (lambda x: np.sum(sc.xlogy(x, x) + sc.entr(x)), POSITIVE, POSITIVE * 1.1),
    # precision
    "single precision": (
        lambda x: np.sum(np.exp(x) / 3 * np.float32(0.1)), VECTOR.astype("f4"), VECTOR.astype("f4") * np.float32(1.1)
    ),
    "single number": (lambda x: np.sin(x) * 2.0, np.float32(0.7), np.float32(0.8)),
    "number and single precision": (lambda x: np.sum(VECTOR.astype("f4") * np.exp(x)), 0.7, 0.8),
    "cast": (lambda x: np.sum(np.exp(x.astype(np.float32)) * 0.1), VECTOR, VECTOR * 1.1),
    # complex
    "modulus": (lambda z: np.real(z * np.conj(z)), 3.0 + 4.0j, 1.0 - 2.0j),
    "complex array": (lambda z: np.sum(np.abs(np.exp(z) * VECTOR)), VECTOR + 1j, VECTOR - 0.5j),
    # other orders and kinds
    "gradient": (lambda x: np.sum(ad.grad(lambda y: np.sum(y**3 * np.sin(y)))(x)), VECTOR, VECTOR * 1.1),
    "derivative": (ad.grad(lambda x: np.exp(np.sin(x))), 0.7, 0.9),
    "Hessian": (lambda x: np.sum(ad.hessian(lambda y: np.prod(y))(x) ** 2), VECTOR, VECTOR * 1.1),
    "tangent": (lambda x: np.sum(ad.jvp(lambda y: y**3, (x,), (VECTOR,))[1]), VECTOR, VECTOR * 1.1),
    "batch": (lambda x: np.sum(ad.vmap(lambda y: y @ y)(x)), MATRIX, MATRIX * 1.1),
    "jitted": (ad.jit(lambda x: np.sum(np.sin(x) * x)), VECTOR, VECTOR * 1.1),
    "checkpointed": (ad.checkpoint(lambda x: np.sum(np.sin(np.exp(x)))), VECTOR, VECTOR * 1.1),
    "stopped": (lambda x: np.sum(x * ad.stop_gradient(x)), VECTOR, VECTOR * 1.1),
}  # fmt: skip
