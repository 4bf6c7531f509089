"""Sets of classes whose expected loss is at most a target: conformal risk control."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from ..labels import Array, encoded
from ..scoring import cross_fitted, fitted, is_frozen, probabilities_of, rows_of, seeds_of
from ..wrapping import CV, WITH_PROBABILITIES, Wrapper
from .quantiles import ROUNDING

Loss = Literal["miss", "false negative rate"] | Callable[[Array, Array], Any]


def miss(held: Array, truth: Array) -> Array:
    """1 if a true class is not in the set."""
    return np.any(truth & ~held, axis=1).astype(np.float64)


def false_negative_rate(held: Array, truth: Array) -> Array:
    """The share of true classes that are not in the set; 0 if there are none."""
    return np.sum(truth & ~held, axis=1) / np.maximum(np.sum(truth, axis=1), 1)


LOSSES: dict[str, Callable[[Array, Array], Any]] = {"miss": miss, "false negative rate": false_negative_rate}


class RiskControl(ClassifierMixin, Wrapper):
    """Any classifier, of one label or of several, with sets of classes whose expected loss is at most `target`.

    A set holds the classes with a probability of at least `threshold_`: the largest with
    (sum of calibration losses + bound) / (n + 1) <= target. If new examples are exchangeable with those of
    calibration, the expected loss of one is then at most `target`, whatever the classifier is worth. It is an average
    over examples and over calibration sets, no promise for each of them.

    Parameters
    ----------
    estimator : classifier with `predict_proba`
        Fitted on a part of the rows, calibrated with the rest; `FrozenEstimator(fitted)` is taken as it is, and all
        rows given to `fit` calibrate.
    loss : {"miss", "false negative rate"} or callable
        1 if a true class is not in the set; the share of true classes that are not; or a function of the set and the
        true classes, both bool of shape (n, classes), that gives a loss for each example. It must not grow as the set
        does, and lies between 0 and `bound`.
    target : float
        The expected loss that is allowed; may be given to `predict_set` instead.
    bound : float
        The largest loss.
    cv : float, int or splitter
        The share of rows held out for calibration; or folds, where all rows calibrate and the estimator is fitted again
        to all: better with few rows, but nothing is proved then.
    random_state : int, RandomState or None
        For the split.

    Attributes
    ----------
    classes_ : array
        The labels, which columns of sets stand for.
    threshold_ : float
        The probability from which on a class is in the set, for `target`.
    n_calibration_ : int
        Rows used for calibration.
    guarantee_ : str
        What is guaranteed, in words.

    Examples
    --------
    Of two costly mistakes in iris, missing class 2 is five times as bad:

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> def harm(held, truth):
    ...     return (truth & ~held) @ [0.2, 0.2, 1.0]
    >>> model = RiskControl(GaussianNB(), harm, target=0.05, random_state=0).fit(X, y)
    >>> model.guarantee_
    'an expected loss of at most 0.05 for new examples, if exchangeable with 30 of calibration (split)'
    >>> model.predict_set(X[:1])
    array([[ True, False, False]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": WITH_PROBABILITIES,
        "loss": [StrOptions(set(LOSSES)), callable],
        "target": [Interval(Real, 0, None, closed="neither")],
        "bound": [Interval(Real, 0, None, closed="neither")],
        "cv": CV,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        loss: Loss = "false negative rate",
        target: float = 0.1,
        *,
        bound: float = 1.0,
        cv: Any = 0.2,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.target = target
        self.bound = bound
        self.cv = cv
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._inner()).classifier_tags
        if tags.classifier_tags is not None and inner is not None:
            tags.classifier_tags.multi_label = inner.multi_label
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the estimator, and keep its probabilities of rows that it has not seen.

        `sample_weight` and what else is given go to the estimator's `fit` (`groups` to the splitter), by their requests
        if metadata routing is on. Rows calibrate alike whatever their sample weight.
        """
        X, y, sample_weight = self._taken(X, y, sample_weight)
        metadata = self._routed(sample_weight, params)
        (seed,) = seeds_of(self.random_state, 1)
        found = cross_fitted(self._inner(), X, y, cv=self.cv, metadata=metadata, random_state=seed)
        self.classes_ = np.arange(y.shape[1]) if y.ndim == 2 else found.classes
        parts = [self._probabilities(estimator, rows_of(X, rows)) for estimator, rows in found]
        self._calibration = np.concatenate(parts), self._truth(y[found.order])
        self.n_calibration_ = len(found.order)
        self._is_split = len(found.estimators) == 1
        self.threshold_ = self._threshold(self.target)
        inner = found.estimators[0]
        self.estimator_ = inner if self._is_split else fitted(clone(inner), X, y, metadata=metadata)
        return self

    @property
    def guarantee_(self) -> str:
        """What is guaranteed, in words."""
        check_is_fitted(self, "threshold_")
        at_most = f"an expected loss of at most {self.target:g} for new examples"
        with_rows = f"if exchangeable with {self.n_calibration_} of calibration"
        if not self._is_split:
            return f"as a rule {at_most}, {with_rows}, but nothing is proved (cross-fitting)"
        return f"{at_most}, {with_rows} ({'given estimator' if is_frozen(self.estimator) else 'split'})"

    def predict(self, X: Any) -> Array:
        """What the estimator predicts."""
        check_is_fitted(self, "threshold_")
        return self.estimator_.predict(X)

    @available_if(lambda self: hasattr(self._inner(), "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The probabilities of the estimator, as they are."""
        check_is_fitted(self, "threshold_")
        return self.estimator_.predict_proba(X)

    def predict_set(self, X: Any, target: float | None = None) -> Array:
        """Whether each class is in the set of each example, shape (n, classes).

        One calibration serves all targets; one for which there are too few calibration rows is refused.
        """
        check_is_fitted(self, "threshold_")
        return self._probabilities(self.estimator_, X) >= (
            self.threshold_ if target is None else self._threshold(target)
        )

    def risk_report(self, X: Any, y: Any, target: float | None = None) -> dict[str, float]:
        """The mean loss of new examples, how large their sets are, how often empty."""
        held = self.predict_set(X, target)
        sizes = held.sum(axis=1)
        losses = self._losses(held, self._truth(np.asarray(y)))
        return {
            "risk": float(np.mean(losses)),
            "mean size": float(np.mean(sizes)),
            "empty": float(np.mean(sizes == 0)),
        }

    def _threshold(self, target: float) -> float:
        """The largest level whose losses, with one more of the largest, are on average at most the target."""
        if not 0.0 < target < self.bound:
            raise ValueError(f"target has to be between 0 and bound={self.bound:g}, got {target!r}.")
        p, truth = self._calibration
        allowed = (target + ROUNDING) * (len(p) + 1) - self.bound
        if allowed < 0.0:
            needed = ceil(self.bound / target * (1.0 - ROUNDING)) - 1
            raise ValueError(f"target={target} takes {needed} calibration examples at the least, got {len(p)}.")
        levels = np.append(np.unique(p), np.inf)  # the last one for sets without any class
        low, high = 0, len(levels) - 1
        most, least = self._losses(p >= np.inf, truth), self._losses(p >= levels[0], truth)
        if np.sum(least) > allowed:
            raise ValueError(
                f"target={target} is out of reach: sets of all classes have a mean loss of {np.mean(least):.3g}."
            )
        if np.sum(most) <= allowed:
            return np.inf
        while high - low > 1:
            middle = (low + high) // 2
            losses = self._losses(p >= levels[middle], truth)
            if np.any(losses < least - ROUNDING) or np.any(losses > most + ROUNDING):
                raise ValueError("loss must not grow as the set does: there is an example for which it did.")
            if np.sum(losses) <= allowed:
                low, least = middle, losses
            else:
                high, most = middle, losses
        return float(levels[low])

    def _losses(self, held: Array, truth: Array) -> Array:
        loss = self.loss if callable(self.loss) else LOSSES[self.loss]
        found = np.asarray(loss(held, truth), dtype=np.float64)
        if found.shape != (len(held),):
            raise ValueError(
                f"loss has to give a number for each of {len(held)} examples, got the shape {found.shape}."
            )
        if not np.all((found >= 0.0) & (found <= self.bound * (1.0 + ROUNDING))):
            raise ValueError(
                f"loss has to be between 0 and bound={self.bound:g}, got {np.min(found)} to {np.max(found)}."
            )
        return found

    def _probabilities(self, estimator: Any, X: Any) -> Array:
        """Of each class; some classifiers of several labels give a list of pairs."""
        if not isinstance(estimator.classes_, list):
            return probabilities_of(estimator, X, self.classes_)
        pairs = zip(estimator.predict_proba(X), estimator.classes_, strict=True)
        return np.stack([np.asarray(p)[:, classes == 1].sum(axis=1) for p, classes in pairs], axis=1)

    def _truth(self, y: Array) -> Array:
        if y.ndim == 2:
            return y.astype(bool)
        return encoded(y, self.classes_)[:, None] == np.arange(len(self.classes_))

    def _target(self, y: Any) -> Array:
        """Labels, or a matrix with a column for each of several labels."""
        return np.asarray(y) if type_of_target(y) == "multilabel-indicator" else super()._target(y)
