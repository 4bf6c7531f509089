"""The contestants: each gives a function from data and a seed to a trained function of inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .works import Work

Trainer = Callable[[np.ndarray, np.ndarray, int], Callable[[np.ndarray], np.ndarray]]


def adjoint(work: Work) -> Trainer:
    """`ad.train`."""
    import adjoint as ad
    from adjoint import losses, nn, optim

    def model(seed: int) -> Any:
        if not work.convolutional:
            return nn.MLP(list(work.sizes), key=seed, dtype=np.float32)
        channels, classes = work.sizes
        return nn.Sequential(
            lambda x: x.reshape(len(x), 8, 8, 1),
            nn.Conv2d(1, channels, 3, padding="valid", key=seed, dtype=np.float32),
            "relu",
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Dense(9 * channels, classes, key=seed + 1, dtype=np.float32),
        )

    def train(X: np.ndarray, y: np.ndarray, seed: int) -> Any:
        fit = ad.train(
            model(seed), losses.cross_entropy, (X, y), optim.adam(work.rate), epochs=work.epochs,
            batch_size=work.batch, seed=seed, progress=False,
        )  # fmt: skip
        return lambda X: np.argmax(fit.model(X), axis=1)

    return train


def scikit_learn(work: Work) -> Trainer:
    """`MLPClassifier`, without its early stopping."""
    from sklearn.neural_network import MLPClassifier

    def train(X: np.ndarray, y: np.ndarray, seed: int) -> Any:
        model = MLPClassifier(
            work.sizes[1:-1], batch_size=work.batch, learning_rate_init=work.rate, max_iter=work.epochs, alpha=0.0,
            random_state=seed, tol=0.0, n_iter_no_change=work.epochs + 1,
        )  # fmt: skip
        return model.fit(X, y).predict

    return train


def _jax(work: Work, *, scanned: bool) -> Trainer:  # noqa: C901  (one program, in its parts)
    """A jitted step, or a jitted epoch; the data are on the device from the start of a run."""
    import jax
    import jax.numpy as jnp

    def first(seed: int) -> list[Any]:
        random = np.random.default_rng(seed)
        if work.convolutional:
            channels, classes = work.sizes
            shapes = [(3, 3, 1, channels), (9 * channels, classes)]
        else:
            shapes = list(zip(work.sizes, work.sizes[1:], strict=False))
        scale = [np.sqrt(2.0 / np.prod(s[:-1])) for s in shapes]
        return [
            (jnp.asarray(random.normal(size=s) * k, jnp.float32), jnp.zeros(s[-1], jnp.float32))
            for s, k in zip(shapes, scale, strict=True)
        ]

    def outputs(params: Any, x: Any) -> Any:
        if work.convolutional:
            (w, b), (v, c) = params
            x = jax.lax.conv_general_dilated(
                x.reshape(-1, 8, 8, 1), w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jax.nn.relu(x + b)
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
            return x.reshape(len(x), -1) @ v + c
        for w, b in params[:-1]:
            x = jax.nn.relu(x @ w + b)
        return x @ params[-1][0] + params[-1][1]

    def loss(params: Any, x: Any, y: Any) -> Any:
        z = jax.nn.log_softmax(outputs(params, x))
        return -jnp.mean(jnp.take_along_axis(z, y[:, None], axis=1))

    def step(carry: Any, chosen: Any, X: Any, y: Any) -> Any:
        params, m, v, t = carry
        value, g = jax.value_and_grad(loss)(params, X[chosen], y[chosen])
        t = t + 1
        m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)

        def moved(p: Any, a: Any, b: Any) -> Any:
            return p - work.rate * (a / (1 - 0.9**t)) / (jnp.sqrt(b / (1 - 0.999**t)) + 1e-8)

        return (jax.tree.map(moved, params, m, v), m, v, t), value

    one = jax.jit(step)
    epoch = jax.jit(lambda carry, order, X, y: jax.lax.scan(lambda c, i: step(c, i, X, y), carry, order))

    def train(X: np.ndarray, y: np.ndarray, seed: int) -> Any:
        Xd, yd = jnp.asarray(X), jnp.asarray(y)
        params = first(seed)
        zeros = jax.tree.map(jnp.zeros_like, params)
        carry = (params, zeros, zeros, jnp.zeros((), jnp.float32))
        random, n = np.random.default_rng(seed), len(X)
        whole = n // work.batch
        for _ in range(work.epochs):
            order = random.permutation(n)
            rows = order[: whole * work.batch].reshape(whole, work.batch)
            if scanned:
                carry, _ = epoch(carry, rows, Xd, yd)
            else:
                for chosen in rows:
                    carry, _ = one(carry, chosen, Xd, yd)
            if n % work.batch:
                carry, _ = one(carry, order[whole * work.batch :], Xd, yd)
        jax.block_until_ready(carry)
        return lambda X: np.argmax(np.asarray(outputs(carry[0], jnp.asarray(X))), axis=1)

    return train


def pytorch(work: Work) -> Trainer:
    """Modules and Adam, batches by indices, as a `DataLoader` takes longer."""
    import torch
    from torch import nn

    torch.set_num_threads(2)

    def model() -> Any:
        if work.convolutional:
            channels, classes = work.sizes
            return nn.Sequential(
                nn.Unflatten(1, (1, 8, 8)), nn.Conv2d(1, channels, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                nn.Linear(9 * channels, classes),
            )  # fmt: skip
        layers: list[Any] = []
        for c, d in zip(work.sizes, work.sizes[1:], strict=False):
            layers += [nn.Linear(c, d), nn.ReLU()]
        return nn.Sequential(*layers[:-1])

    def train(X: np.ndarray, y: np.ndarray, seed: int) -> Any:
        torch.manual_seed(seed)
        net = model()
        Xt, yt = torch.from_numpy(X), torch.from_numpy(y)
        optimizer = torch.optim.Adam(net.parameters(), lr=work.rate)
        loss = nn.CrossEntropyLoss()
        for _ in range(work.epochs):
            for chosen in torch.randperm(len(X)).split(work.batch):
                optimizer.zero_grad()
                loss(net(Xt[chosen]), yt[chosen]).backward()
                optimizer.step()
        return lambda X: net(torch.from_numpy(X)).argmax(dim=1).numpy()

    return train


CONTESTANTS: dict[str, Callable[[Work], Trainer]] = {
    "adjoint": adjoint,
    "scikit-learn": scikit_learn,
    "JAX, jitted step": lambda work: _jax(work, scanned=False),
    "JAX, scan": lambda work: _jax(work, scanned=True),
    "PyTorch": pytorch,
}
