"""Losses of rows of outputs, with slopes and curvatures: what a fit is differentiated through."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import adjoint as ad

from ..labels import Array
from ..linear.logistic import probabilities
from ..linear.newton import EntropyProblem
from ..linear.smooth import Smooth


class RowLoss(ABC):
    """A loss of outputs (n, m) and targets (n,), each row for itself."""

    @abstractmethod
    def value(self, outputs: Array, targets: Array) -> Array:
        """Shape (n,)."""

    @abstractmethod
    def slope(self, outputs: Array, targets: Array) -> Array:
        """Shape (n, m)."""

    @abstractmethod
    def curvature(self, outputs: Array, targets: Array) -> Array:
        """Shape (n, m, m)."""

    @abstractmethod
    def predictions(self, outputs: Array) -> Array:
        """What the estimator predicts: values (n,), probabilities (n, classes) or scores."""

    def judged(self, outputs: Array, targets: Array) -> tuple[Array, Array]:
        """The loss of what is predicted, and its slope by the outputs."""
        return self.value(outputs, targets), self.slope(outputs, targets)


@dataclass(frozen=True)
class OneOutput(RowLoss):
    """A loss of one output; `link` makes predictions of outputs."""

    smooth: Smooth
    link: Callable[[Array], Array]

    def value(self, outputs: Array, targets: Array) -> Array:
        """Shape (n,)."""
        return self.smooth.value(outputs[:, 0], targets)

    def slope(self, outputs: Array, targets: Array) -> Array:
        """Shape (n, m)."""
        return self.smooth.slope(outputs[:, 0], targets)[:, None]

    def curvature(self, outputs: Array, targets: Array) -> Array:
        """Shape (n, m, m)."""
        return self.smooth.curvature(outputs[:, 0], targets)[:, None, None]

    def predictions(self, outputs: Array) -> Array:
        """Values, probabilities or scores."""
        return self.link(outputs[:, 0])


@dataclass(frozen=True)
class Entropy(RowLoss):
    """The cross-entropy of logits, which are outputs times `basis.T`; predicted with a temperature."""

    basis: Array
    temperature: float = 1.0

    def value(self, outputs: Array, targets: Array) -> Array:
        """Shape (n,)."""
        p = self._problem(outputs, targets).value(np.eye(outputs.shape[1]))[1]
        with np.errstate(divide="ignore"):
            return -np.log(p[np.arange(len(p)), targets])

    def slope(self, outputs: Array, targets: Array) -> Array:
        """Shape (n, m)."""
        p = self._problem(outputs, targets).value(np.eye(outputs.shape[1]))[1]
        p[np.arange(len(p)), targets] -= 1.0
        return p @ self.basis

    def curvature(self, outputs: Array, targets: Array) -> Array:
        """Shape (n, m, m)."""
        problem = self._problem(outputs, targets)
        return problem.curvature(problem.value(np.eye(outputs.shape[1]))[1])

    def predictions(self, outputs: Array) -> Array:
        """Values, probabilities or scores."""
        return probabilities(outputs @ self.basis.T, self.temperature)

    def judged(self, outputs: Array, targets: Array) -> tuple[Array, Array]:
        """The log loss at the temperature, and its slope."""
        if self.temperature == 0.0:
            raise ValueError("temperature=0 decides, so its log loss is 0 or infinite: take a greater one.")
        cooled = outputs / self.temperature
        return self.value(cooled, targets), self.slope(cooled, targets) / self.temperature

    def _problem(self, outputs: Array, targets: Array) -> EntropyProblem:
        n, m = outputs.shape
        return EntropyProblem(outputs, targets, np.ones(n), np.zeros(m), self.basis)


@dataclass(frozen=True)
class ByDerivatives(RowLoss):
    """Any loss written with NumPy, of the mean or of each row; `shaped` makes what it gets of outputs."""

    loss: Callable[..., Any]
    shaped: Callable[[Any], Any]

    def value(self, outputs: Array, targets: Array) -> Array:
        """Shape (n,)."""
        found = np.asarray(self.loss(self.shaped(outputs), targets))
        if found.ndim:
            return np.mean(found.reshape(len(outputs), -1), axis=1)
        each = range(len(outputs))
        return np.array([float(self.loss(self.shaped(outputs[i : i + 1]), targets[i : i + 1])) for i in each])

    def slope(self, outputs: Array, targets: Array) -> Array:
        """Shape (n, m)."""
        return np.asarray(ad.grad(self._total)(outputs, targets))

    def curvature(self, outputs: Array, targets: Array) -> Array:
        """Shape (n, m, m)."""
        n, m = outputs.shape
        found = np.empty((n, m, m))
        for k in range(m):
            found[:, k] = self._along(outputs, targets, np.eye(m)[k] * np.ones((n, 1)))
        return found

    def check(self, outputs: Array, targets: Array) -> None:
        """Refuse a loss that is no mean over rows of a loss of each row by itself: its slopes would be wrong."""
        total = float(self._total(outputs, targets))
        means = abs(float(np.sum(self.value(outputs, targets))) - total) <= 1e-8 * (1.0 + abs(total))
        signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(len(outputs), 1))
        plain, turned = (self._along(outputs, targets, d * np.ones_like(outputs)) for d in (1.0, signs))
        if not means or not np.allclose(plain, signs * turned, rtol=1e-8, atol=1e-10 * (1.0 + np.max(np.abs(plain)))):
            raise ValueError(
                "loss has to be the mean over rows of a loss of each row by itself, or to give one loss for each row, "
                "if the fit is to be differentiated by the weights of rows; leave_one_out(method='refit') takes any."
            )

    def _along(self, outputs: Array, targets: Array, direction: Array) -> Array:
        return np.asarray(ad.hvp(lambda f: self._total(f, targets), (outputs,), (direction,)))

    def predictions(self, outputs: Array) -> Array:
        """Values, probabilities or scores."""
        return np.asarray(self.shaped(outputs))

    def _total(self, outputs: Any, targets: Array) -> Any:
        found = self.loss(self.shaped(outputs), targets)
        return found * len(targets) if np.ndim(found) == 0 else np.sum(found) * (len(targets) / np.size(found))
