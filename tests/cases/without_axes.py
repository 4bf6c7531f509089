"""What NumPy gives where there are no axes, a number or an array, and what becomes of it when it is updated."""

import numpy as np

POINT = 1.5
MAKERS = {
    "argument": lambda x: x,
    "array": lambda x: np.array(x),
    "asarray": lambda x: np.asarray(x),
    "asanyarray": lambda x: np.asanyarray(x),
    "copy": lambda x: np.copy(x),
    "float64": lambda x: np.float64(x),
    "where": lambda x: np.where(x > 0, x, 0.0),
    "select": lambda x: np.select([x > 0], [x]),
    "piecewise": lambda x: np.piecewise(x, [x > 0], [lambda t: t * 1.0]),
    "median": lambda x: np.median(x),
    "quantile": lambda x: np.quantile(np.array([x, 2 * x]), 0.5),
    "sum": lambda x: np.sum(x),
    "mean": lambda x: np.mean(x),
    "max": lambda x: np.max(x),
    "product along an axis": lambda x: np.prod(np.array([x, x]), axis=0),
    "sin": lambda x: np.sin(x),
    "times": lambda x: x * 2.0,
    "negative": lambda x: -x,
    "abs": lambda x: abs(x),
    "clip": lambda x: np.clip(x, 0.0, 9.0),
    "round": lambda x: np.round(x, 1),
    "real": lambda x: np.real(x),
    "nan_to_num": lambda x: np.nan_to_num(x),
    "interp": lambda x: np.interp(x, np.array([0.0, 9.0]), np.array([0.0, 18.0])),
    "reshape": lambda x: np.reshape(x, ()),
    "squeeze": lambda x: np.squeeze(x),
    "transpose": lambda x: np.transpose(x),
    "broadcast": lambda x: np.broadcast_to(x, ()).copy(),
    "full": lambda x: np.full((), x),
    "full_like": lambda x: np.full_like(1.0, x),
    "ones_like": lambda x: np.ones_like(x),
    "zeros": lambda x: np.zeros(()),
    "zeros and a number": lambda x: np.zeros(()) + x,
    "astype": lambda x: np.array(x).astype(float),
    "method copy": lambda x: np.array(x).copy(),
    "ellipsis": lambda x: np.array(x)[...],
    "empty key": lambda x: np.array(x)[()],
    "first": lambda x: np.array([x, 2 * x])[0],
    "first and ellipsis": lambda x: np.array([x, 2 * x])[0, ...],
    "ravel": lambda x: np.ravel(x)[0],
    "at least 1d": lambda x: np.atleast_1d(x)[0],
    "take": lambda x: np.take(np.array([x, x]), 0),
    "dot": lambda x: np.dot(x, x),
    "product of vectors": lambda x: np.array([x, x]) @ np.array([x, 1.0]),
    "einsum": lambda x: np.einsum("i,i->", np.array([x, x]), np.array([x, 1.0])),
    "tensordot": lambda x: np.tensordot(np.array([x, x]), np.array([x, 1.0]), 1),
    "trace": lambda x: np.trace(np.array([[x, x], [x, x]])),
    "norm": lambda x: np.linalg.norm(np.array([x, x])),
    "det": lambda x: np.linalg.det(np.array([[x, 1.0], [0.0, x]])),
    "covariance": lambda x: np.cov(np.array([x, 2 * x])),
}


def add(y):
    y += 1.0
    return y


def subtract(y):
    y -= 1.0
    return y


def multiply(y):
    y *= 2.0
    return y


def divide(y):
    y /= 2.0
    return y


def power(y):
    y **= 2
    return y


def at_ellipsis(y):
    y[...] = 4.0
    return y


def at_nothing(y):
    y[()] = 5.0
    return y


def out(y):
    np.add(y, 1.0, out=y)
    return y


def fill(y):
    y.fill(3.0)
    return y


def copyto(y):
    np.copyto(y, 7.0)
    return y


def nothing(y):
    return y


UPDATES = (add, subtract, multiply, divide, power, at_ellipsis, at_nothing, out, fill, copyto, nothing)
ERRORS = {TypeError: 1.0, ValueError: 2.0, AttributeError: 3.0}


def kinds(y):
    """What code may ask about a value, as a number."""
    asked = [isinstance(y, kind) for kind in (np.ndarray, float, np.generic, np.float64)]
    return float(sum(2.0**k for k, answer in enumerate([*asked, np.isscalar(y), np.ndim(y) == 0]) if answer))


def program(make, update):
    """Everything that tells a number from an array: who else sees the update, what it is, how it is refused."""

    def f(x):
        y = make(x)
        other, before, failed = y, kinds(y), 0.0
        try:
            y = update(y)
        except tuple(ERRORS) as error:
            failed = next(code for kind, code in ERRORS.items() if isinstance(error, kind))
        return np.stack([other * 2.0, y * 3.0, y - other + 0.0, *[0.0 * x + k for k in (before, kinds(y), failed)]])

    return f
