"""Second derivatives without the Hessian, and a gradient for each example."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .row import Function, Row, doubled

INPUTS, HIDDEN = 100, 64
RIVALS = ("JAX", "PyTorch", "torch.compile", "NumPy by hand")
NO_BATCHES = {"autograd": "it has no vmap"}


def weights(dtype: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of a perceptron with two hidden layers."""
    random = np.random.default_rng(1)
    sizes = (INPUTS, HIDDEN, HIDDEN, 1)
    return [
        ((random.normal(size=(m, n)) / np.sqrt(m)).astype(dtype), (0.1 * random.normal(size=n)).astype(dtype))
        for m, n in pairwise(sizes)
    ]


def perceptron(dtype: Any) -> Any:
    """`function(library)`: a number, of its inputs."""

    def function(library: Any) -> Function:
        np = library.np
        layers = [[np.asarray(part) for part in layer] for layer in weights(dtype)]

        def f(x: Any) -> Any:
            for W, b in layers[:-1]:
                x = np.tanh(x @ W + b)
            W, b = layers[-1]
            return (x @ W + b)[0]

        return f

    return function


def by_hessian(library: Any, f: Function) -> Function:
    """The trace of the whole matrix; this library's own way where it has one."""
    if library.laplacian is not None:
        return library.laplacian(f)
    hessian = library.hessian(f)
    return lambda x: library.np.trace(hessian(x))


def forward(library: Any, f: Function) -> Function:
    """Two sweeps forward along each axis, all axes at once; this library's own way where it has one."""
    if library.laplacian is not None:
        return library.laplacian(f)

    def second(x: Any, v: Any) -> Any:
        return library.jvp(lambda y: library.jvp(f, (y,), (v,))[1], (x,), (v,))[1]

    def laplacian(x: Any) -> Any:
        axes = library.np.eye(INPUTS, dtype=x.dtype)
        return library.np.sum(library.vmap(second, (None, 0))(x, axes))

    return laplacian


def by_hand(dtype: Any) -> Function:
    """The forward Laplacian: values, Jacobian and sums of second derivatives, layer by layer."""
    (W, b), (V, c), (u, _) = weights(dtype)
    W_squared = np.sum(W * W, axis=0)

    def laplacian(x: np.ndarray) -> Any:
        h = np.tanh(x @ W + b)
        slope = 1.0 - h * h
        jacobian = (W * slope) @ V
        sums = (-2.0 * h * slope * W_squared) @ V
        h = np.tanh(h @ V + c)
        slope = 1.0 - h * h
        sums = sums * slope - 2.0 * h * slope * np.einsum("ij,ij->j", jacobian, jacobian)
        return (sums @ u)[0]

    return laplacian


def laplacian_error(row: Row, result: Any) -> float:
    """Against second differences of the function in NumPy, in double precision."""
    from .contestants import plain

    f, x, h = perceptron(np.float64)(plain()), doubled(row.point()), 1e-3
    total = 0.0
    for e in np.eye(INPUTS) * h:
        near, far = f(x + e) + f(x - e), f(x + 2.0 * e) + f(x - 2.0 * e)
        total += float(16.0 * near - far - 30.0 * f(x)) / (12.0 * h * h)
    return abs(float(result) - total) / abs(total)


def laplacian_row(title: str, dtype: Any, derive: Any) -> Row:
    """A row for one precision and one way of the others."""
    return Row(
        title,
        perceptron(dtype),
        lambda: np.random.default_rng(2).normal(size=INPUTS).astype(dtype),
        by_hand(dtype),
        derive=derive,
        asked=dict.fromkeys(RIVALS, 1.0),
        without=NO_BATCHES,
        tolerance=1e-7 if dtype is np.float64 else 2e-3,
        check=laplacian_error,
    )


BATCH, WIDTH, CLASSES = 256, 64, 10


def examples() -> tuple[np.ndarray, np.ndarray]:
    """Inputs and one-hot rows."""
    random = np.random.default_rng(0)
    X = random.normal(size=(BATCH, WIDTH)).astype(np.float32)
    return X, np.eye(CLASSES, dtype=np.float32)[random.integers(0, CLASSES, BATCH)]


def parameters() -> list[np.ndarray]:
    """Of a perceptron with one hidden layer."""
    random = np.random.default_rng(1)
    shapes = ((WIDTH, WIDTH), (WIDTH,), (WIDTH, CLASSES), (CLASSES,))
    return [(random.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32) for shape in shapes]


def loss_of_one(library: Any) -> Function:
    """The cross-entropy of one example."""
    np = library.np

    def loss(parameters: Any, x: Any, y: Any) -> Any:
        W, b, V, c = parameters
        z = np.tanh(x @ W + b) @ V + c
        top = np.amax(z, axis=0)
        return np.sum((top + np.log(np.sum(np.exp(z - top), axis=0)) - z) * y)

    return loss


def for_each(library: Any, loss: Function) -> Function:
    """One gradient for each example."""
    X, Y = (library.np.asarray(part) for part in examples())
    gradients = library.vmap(library.grad(loss), (None, 0, 0))
    return lambda parameters: gradients(parameters, X, Y)


def for_each_by_hand(parameters: list[np.ndarray]) -> Any:
    """Outer products, for the whole batch."""
    (X, Y), (W, b, V, c) = examples(), parameters
    h = np.tanh(X @ W + b)
    z = h @ V + c
    e = np.exp(z - z.max(axis=1, keepdims=True))
    e /= e.sum(axis=1, keepdims=True)
    e -= Y
    back = (e @ V.T) * (1.0 - h * h)
    return [X[:, :, None] * back[:, None, :], back, h[:, :, None] * e[:, None, :], e]


def for_each_error(row: Row, result: Any) -> float:
    """The slope of each example's loss along one direction, against central differences in double precision."""
    from .contestants import plain

    loss, point = loss_of_one(plain()), doubled(row.point())
    random = np.random.default_rng(7)
    direction = [random.normal(size=np.shape(p)) for p in point]
    X, Y = (part.astype(float) for part in examples())
    h, worst = 1e-4, 0.0
    for k in range(0, BATCH, 32):
        up, down = (loss([p + s * h * d for p, d in zip(point, direction, strict=True)], X[k], Y[k]) for s in (1, -1))
        found = sum(float(np.sum(g[k] * d)) for g, d in zip(result, direction, strict=True))
        worst = max(worst, abs(found - (up - down) / (2.0 * h)) / max(abs(found), 1.0))
    return worst


ROWS: dict[str, Row] = {
    "laplacian-hessian": laplacian_row(
        "Laplacian of an MLP 100-64-64-1, others by the trace of the Hessian, float64", np.float64, by_hessian
    ),
    "laplacian-forward": laplacian_row(
        "Laplacian of an MLP 100-64-64-1, others forward over forward, float64", np.float64, forward
    ),
    "laplacian-float32": laplacian_row(
        "Laplacian of an MLP 100-64-64-1, others forward over forward, float32", np.float32, forward
    ),
    "per-sample": Row(
        "A gradient for each example: MLP 64-64-10, batch 256, float32",
        loss_of_one,
        parameters,
        for_each_by_hand,
        derive=for_each,
        asked=dict.fromkeys(RIVALS, 1.0),
        without=NO_BATCHES,
        tolerance=2e-3,
        check=for_each_error,
    ),
}
