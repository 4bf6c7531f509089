"""How a packed network is fitted: each group leaves out rows of its own, by which the best epoch is found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.utils.parallel import _get_threadpool_controller

from adjoint import nn

from ..calibration.scaling import TemperatureScaling
from ..labels import Array
from .blending import FEW, Blended, best_share, line_of, mean_of
from .descent import Descent, Single, as_doubles, loss_of, slope_of_loss
from .packed import PackedNetwork, packed

GROUPS = 4
"""Groups of members, if there are so many: each shares weights, and leaves out rows of its own."""
PRIOR_ROWS = 20.0
"""So many rows that the network predicts right on average hold the temperature close to 1."""


@dataclass(frozen=True)
class PackedRecipe:
    """What is to be decided about a network and its training."""

    members: int
    sizes: Sequence[int]
    max_iter: int
    rate: float
    decay: float
    dropout: float
    batch: int
    left_out: float
    patience: int


@dataclass(frozen=True)
class TableRows:
    """Rows with targets (n, outputs), which are 0 and 1 for classes, and weights (n,)."""

    X: Array
    y: Array
    weights: Array
    classifies: bool


@dataclass(frozen=True)
class Trained:
    """A network, how it was trained, and what its groups say of the rows that they left out."""

    network: PackedNetwork | Blended
    groups: int
    history: dict[str, Array]
    best: int
    outputs: Array
    rows: Array


def trained(given: TableRows, recipe: PackedRecipe, seed: int) -> Trained:
    """The network of the best epoch."""
    random = np.random.default_rng(seed)
    groups = math.gcd(recipe.members, GROUPS)
    descent = Descent(
        packed(
            [given.X.shape[1], *recipe.sizes, given.y.shape[1]], groups=groups, members=recipe.members // groups,
            classifies=given.classifies, power=float(np.mean(np.sum(given.X**2, axis=1))) or 1.0, random=random,
        )
    )  # fmt: skip
    left_out = left_out_rows(given, groups, recipe.left_out, random)
    weights = np.tile(given.weights[:, None], groups)
    for group, rows in enumerate(left_out):
        weights[rows, group] = 0.0
    places, counts = _side_by_side(left_out)
    X, y = given.X.astype(Single), given.y.astype(Single)
    seen = np.flatnonzero(np.any(weights > 0.0, axis=1))
    run = Epochs(descent, X[seen], y[seen], weights[seen].astype(Single), recipe, random)
    judge = X[places], y[places], counts * given.weights[places]
    with _get_threadpool_controller().limit(
        limits=1, user_api="blas"
    ):  # products are small: threads would wait for each other
        history, best = run.to_the_best(judge, given.classifies)
        lines = _lines(given, left_out) if len(given.X) in FEW and given.X.shape[1] else []
    network: Any = as_doubles(descent.network)
    outputs, rows = network(given.X[places])[counts > 0.0], places[counts > 0.0]
    if lines:
        line = np.concatenate([one(given.X[part]) for one, part in zip(lines, left_out, strict=True)])
        judged_by = given.y[rows], given.weights[rows]
        share = best_share(line, outputs, *judged_by, classifies=given.classifies)
        network = Blended(network=network, line=mean_of(lines), share=np.array(share))
        outputs = share * line + (1.0 - share) * outputs
    return Trained(network, groups, history, best, outputs, rows)


def _lines(given: TableRows, left_out: list[Array]) -> list[nn.Dense]:
    """A linear model for each group, of the rows that it does not leave out; none if some rows do not allow any."""
    found = []
    for rows in left_out:
        kept = np.delete(np.arange(len(given.X)), rows)
        found.append(line_of(given.X[kept], given.y[kept], given.weights[kept], classifies=given.classifies))
    return [] if any(line is None for line in found) else found  # type: ignore[return-value]


@dataclass
class Epochs:
    """Epochs of steps on batches, at a rate that falls along half a cosine."""

    descent: Descent
    X: Array
    y: Array
    weights: Array
    recipe: PackedRecipe
    random: np.random.Generator

    def to_the_best(self, judge: tuple[Array, Array, Array], classifies: bool) -> tuple[dict[str, Array], int]:
        """Run until nothing gets better on rows left out; the parameters are those of the best epoch then."""
        X, y, weights = judge
        losses: list[float] = []
        kept, best = self.descent.parameters.copy(), 0
        for epoch in range(self.recipe.max_iter):
            self._take(epoch, classifies)
            losses.append(loss_of(self.descent.network(X), y, weights, classifies=classifies))
            if losses[-1] < min(losses[:-1], default=np.inf):
                kept, best = self.descent.parameters.copy(), epoch + 1
            elif epoch + 1 - best >= self.recipe.patience:
                break
        self.descent.parameters[:] = kept
        return {"validation_loss": np.array(losses)}, best

    def _take(self, epoch: int, classifies: bool) -> None:
        """The steps of an epoch."""
        order = self.random.permutation(len(self.X))
        starts = range(0, len(order), self.recipe.batch)
        for k, start in enumerate(starts):
            rows = order[start : start + self.recipe.batch]
            weights = self.weights[rows]
            if not np.any(weights):
                continue
            x = self.X[rows]
            z = self.descent.outputs(x, self.recipe.dropout, self.random)
            self.descent.slopes_at(x, slope_of_loss(z, self.y[rows], weights, classifies=classifies))
            done = (epoch + k / len(starts)) / self.recipe.max_iter
            self.descent.step(self.recipe.rate * (1.0 + math.cos(math.pi * done)) / 2.0, self.recipe.decay)


def left_out_rows(given: TableRows, groups: int, share: float, random: np.random.Generator) -> list[Array]:
    """For each group some rows, of every class about as many as there should be."""
    n = len(given.X)
    parts = max(groups, round(1.0 / share), 2)
    order = random.permutation(n)
    if given.classifies:
        order = order[np.argsort(np.argmax(given.y[order], axis=1), kind="stable")]
    return [np.sort(order[k::parts]) for k in range(groups)]


def temperature_of(given: TableRows, found: Trained) -> float:
    """The temperature for the ensemble, from the rows that its groups left out, with their own opinion as a prior.

    A group is surer of itself than the mean of all groups, which nobody can judge, as each row is left out by one of
    them at most: half of the logarithm of the groups' temperature is taken.
    """
    logits, truth = found.outputs, given.y[found.rows]
    n, classes = logits.shape
    prior = PRIOR_ROWS / (n + PRIOR_ROWS)
    shares = (1.0 - prior) * truth + prior * softmax(logits, axis=1)
    weights = shares * given.weights[found.rows, None]
    scaling = TemperatureScaling().fit(
        np.tile(logits, (classes, 1)), np.repeat(np.arange(classes), n), weights.T.ravel()
    )
    return float(scaling.temperature_ if found.groups == 1 else np.sqrt(scaling.temperature_))


def _side_by_side(left_out: list[Array]) -> tuple[Array, Array]:
    """Rows of all groups in one array (groups, most), filled up with rows that do not count."""
    most = max(len(rows) for rows in left_out)
    places = np.stack([np.resize(rows, most) for rows in left_out])
    counts = np.stack([np.arange(most) < len(rows) for rows in left_out]).astype(np.float64)
    return places, counts


def batch_of(n: int) -> int:
    """Rows of a step: four to eight steps of an epoch for few rows, 128 rows for many."""
    return int(min(128, max(16, 2 ** int(np.log2(max(n, 1) / 4)))))
