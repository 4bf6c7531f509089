"""Laplace's approximation of a network: laplace-torch and ours, with the same weights and prior."""

from __future__ import annotations

import resource
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator

from .measuring import cell, has, in_turn, table

TITLE = "Laplace: a network 20-64-64-5, 2,000 rows, variances of 500 new ones"
KINDS = {
    "last layer, full": ("last", "full"),
    "kron": ("all", "kron"),
    "diag": ("all", "diag"),
    "full": ("all", "full"),
}
SIZES = (20, 64, 64, 5)


class Given(ClassifierMixin, BaseEstimator):
    """A network that is there already."""

    def fit(self, X: Any, y: Any) -> Given:
        from adjoint import nn

        self.model_ = nn.MLP(SIZES, activation="tanh", key=0)
        self.classes_ = np.arange(SIZES[-1])
        return self

    def predict_proba(self, X: Any) -> Any:
        return softmax(self.model_(X), axis=1)


def problem() -> tuple[Any, Any, Any]:
    """Rows, labels, new rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, SIZES[0]))
    y = np.argmax(X @ rng.normal(size=(SIZES[0], SIZES[-1])) + rng.normal(size=(2000, SIZES[-1])), axis=1)
    return X, y, rng.normal(size=(500, SIZES[0]))


def ours(kind: str) -> Callable[[], Any]:
    """Fit the posterior, and ask for variances."""
    from adjoint import learn

    X, y, new = problem()
    weights, curvature = KINDS[kind]
    model = FrozenEstimator(Given().fit(X, y))
    around = learn.Laplace(model, weights=weights, curvature=curvature, prior_precision=1.0)
    model.predict_proba(new)
    return _with_peak(lambda: around.fit(X, y).function_variance(new))


def theirs(kind: str) -> Callable[[], Any]:
    """The same by laplace-torch."""
    import torch
    from laplace import Laplace

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    X, y, new = problem()
    layers: list[Any] = []
    for dense in Given().fit(X, y).model_.layers:
        linear = torch.nn.Linear(*dense.weight.shape)
        with torch.no_grad():
            linear.weight[:] = torch.tensor(dense.weight.T.copy())
            linear.bias[:] = torch.tensor(dense.bias.copy())
        layers += [linear, torch.nn.Tanh()]
    network = torch.nn.Sequential(*layers[:-1])
    data = torch.utils.data.TensorDataset(torch.tensor(X), torch.tensor(y))
    rows = torch.utils.data.DataLoader(data, batch_size=2000)
    weights, curvature = KINDS[kind]

    def run() -> Any:
        subset = "last_layer" if weights == "last" else "all"
        model = Laplace(network, "classification", subset, curvature, prior_precision=1.0)
        model.fit(rows)
        covariance = model._glm_predictive_distribution(torch.tensor(new))[1]
        return covariance.diagonal(dim1=1, dim2=2).detach().numpy()

    return _with_peak(run)


def _with_peak(run: Callable[[], Any]) -> Callable[[], Any]:
    """The first variances, and by how many MB the process has grown: what torch allocates is seen by nobody else."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def measured() -> Any:
        variances = run()
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        return {"variances": variances[:3].ravel().tolist(), "MB": grown}

    return measured


def measured(rounds: int) -> str:
    """A table."""
    peers = {"ours": "ours"} | ({"laplace-torch": "theirs"} if has("laplace") else {})
    rows = []
    for kind in KINDS:
        calls = {who: (f"{__name__}:{function}", kind) for who, function in peers.items()}
        found = in_turn(calls, rounds=rounds, repeats=1 if kind == "full" else 2)
        results = [each["result"] for each in found.values() if "result" in each]
        pairs = [each["variances"] for each in results]
        apart = f"{np.max(np.ptp(pairs, axis=0)):.0e}" if len(pairs) > 1 else ""
        for who, each in found.items():
            grown = f"{each['result']['MB']:.0f}" if "result" in each else ""
            rows.append((kind, who, cell(each, "first"), cell(each, "least"), grown, apart))
    return table(("curvature", "who", "first, s", "least, s", "MB more", "variances differ by"), rows)
