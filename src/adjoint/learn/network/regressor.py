"""A network that predicts numbers, their distribution, or their quantiles."""

from __future__ import annotations

import functools
from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.stats import norm as normal
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from adjoint import losses, nn

from ..labels import Array
from .building import built, of_weights
from .choices import REGRESSION, in_scales, pinball, unit_of
from .estimator import Network
from .measures import explained
from .units import Ascending, Units, folded, unfolded, units_of

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


class MLPRegressor(RegressorMixin, Network):
    """A network that predicts numbers, their distribution, or their quantiles.

    Inside, values have mean 0 and variance 1, whatever their units; losses are in the units of y, those of several
    outputs in units of their standard deviations. Plain networks (dense layers, "adam", squares) are trained by NumPy,
    without a compiler; all others by `ad.train`, whose machine code serves all folds and points of a grid.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int
        The widths of the hidden layers; () for none.
    activation : str or callable
        "relu", "tanh", "logistic", "identity", any name that `nn.activation` knows, or a function of an array.
    loss : str or callable
        "squared", "absolute", "huber", "poisson" (outputs are logarithms of rates), or `loss(outputs, y) -> number`, of
        arrays (n, outputs) in the units of y, with `sample_weight=` if weights are to be used.
    distribution : {"gaussian", "quantiles"} or None
        "gaussian": a mean and a standard deviation for each row, by maximum likelihood; then `loss` is not used.
        "quantiles": those of `quantiles`, by their pinball losses; they cannot cross.
    quantiles : sequence of float
        Ascending levels between 0 and 1.
    optimizer : str or Optimizer
        "adam", "adamw", "adagrad", "lion", "rmsprop", "sgd" (with momentum 0.9), with the rate `learning_rate_init`;
        "lbfgs", on all rows at once; or one of `optim` with a rate of its own.
    alpha : float or "auto"
        The strength of the penalty: alpha / (2 n) times the squares of the weights, beside the mean loss of n rows (in
        `partial_fit`, of all rows so far), over that of the mean of y. Biases are not penalised. "auto" is 10, or 1 for
        a distribution.
    batch_size : int or "auto"
        Rows of a step; "auto" is 200, or all if there are fewer.
    learning_rate_init : float
        The rate of the optimiser.
    max_iter : int
        Epochs, at most.
    shuffle : bool
        Whether rows come in a new order in each epoch.
    dropout : float
        The probability that a hidden number is set to 0 in training.
    norm : {"batch", "layer"} or None
        The normalisation of hidden layers.
    regularizer : callable, optional
        `regularizer(parameters) -> number`, added to the mean loss: `losses.gaussian_prior(1.0, n=len(X))`.
    early_stopping : bool
        Whether to hold rows out and choose the epoch that has the least loss on them.
    refit : bool or "auto"
        Whether to train once more on all rows after that, for as many epochs; "auto" if there are fewer than 5,000.
    validation_fraction : float
        The share of rows that is held out; at least 50 rows are, or a quarter of them if there are few.
    n_iter_no_change, tol : int, float
        A run ends when the loss (that of the rows held out, if there are any) has not become smaller by tol for so many
        epochs.
        Here tol is a share of the loss of the mean of y.
    warm_start : bool
        Whether a further `fit` goes on where the last one ended.
    model : nn model or callable, optional
        A model to train in place of hidden_layer_sizes, activation, dropout and norm, or a function
        `(n_features, n_outputs, rng)` that makes one.
    callbacks : callable or list of callable, optional
        Called after each epoch with the `ad.Fit` so far; one that returns True ends the run.
    random_state : int, RandomState or None
        Decides first weights, the order of rows, and which are held out.

    Attributes
    ----------
    n_outputs_ : int
        Columns of y.
    model_ : nn model
        The network: `model_(X)` gives values (n, outputs);
        for "gaussian" means and logarithms of standard deviations (n, 2 outputs); for "quantiles" (n, outputs, levels).
    fit_ : ad.Fit
        The run: `fit_.plot()`, `fit_.page("training.html")`, `fit_.stopped`.
    history_ : dict of str to array
        "loss" of each epoch; with rows held out also "validation_loss" and "score".
    loss_curve_, validation_loss_curve_ : list
        The first two of these.
    n_iter_, best_epoch_ : int
        Epochs that were taken, and the one that was best.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import learn
    >>> X = np.random.default_rng(0).uniform(-1.0, 1.0, (500, 1))
    >>> y = np.random.default_rng(1).normal(10.0 * X[:, 0], 1.0 + 2.0 * (X[:, 0] > 0.0))
    >>> model = learn.MLPRegressor(distribution="gaussian", learning_rate_init=0.01, random_state=0).fit(X, y)
    >>> mean, std = model.predict([[-0.5], [0.5]], return_std=True)
    >>> bool(std[1] > 2.0 * std[0])
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Network._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "loss": [StrOptions({*REGRESSION}), callable],
        "distribution": [StrOptions({"gaussian", "quantiles"}), None],
        "quantiles": ["array-like"],
    }

    def __init__(
        self,
        hidden_layer_sizes: Any = (100,),
        activation: str | Callable[[Any], Any] = "relu",
        *,
        loss: str | Callable[..., Any] = "squared",
        distribution: str | None = None,
        quantiles: Any = LEVELS,
        optimizer: Any = "adam",
        alpha: float | str = "auto",
        batch_size: int | str = "auto",
        learning_rate_init: float = 2e-3,
        max_iter: int = 200,
        shuffle: bool = True,
        dropout: float = 0.0,
        norm: str | None = None,
        regularizer: Callable[..., Any] | None = None,
        early_stopping: bool = False,
        refit: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
        warm_start: bool = False,
        model: Any = None,
        callbacks: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            hidden_layer_sizes, activation, loss, optimizer, alpha, batch_size, learning_rate_init, max_iter, shuffle,
            dropout, norm, regularizer, early_stopping, refit, validation_fraction, n_iter_no_change, tol, warm_start,
            model, callbacks, random_state,
        )  # fmt: skip
        self.distribution = distribution
        self.quantiles = quantiles

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One epoch more; the first call decides the scale that values are trained in."""
        return self._more(X, y, sample_weight)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Values: means, or medians of "quantiles".

        Parameters
        ----------
        X : array (n, columns)
            Rows.
        return_std : bool
            Whether to give standard deviations too; for `distribution="gaussian"`.
        """
        outputs = self._outputs(X)
        values = self._shaped(self._centre(outputs))
        if not return_std:
            return values
        if self.distribution != "gaussian":
            raise ValueError(f'return_std needs distribution="gaussian", got distribution={self.distribution!r}.')
        return values, self._shaped(np.exp(outputs[:, outputs.shape[1] // 2 :]))

    def predict_quantile(self, X: Any, quantiles: Any = None) -> Array:
        """Quantiles of the values, shape (n, levels) or (n, outputs, levels).

        Parameters
        ----------
        X : array (n, columns)
            Rows.
        quantiles : float or sequence of float, optional
            Levels between 0 and 1, by default those of the constructor. For `distribution="quantiles"` they have to be
            within those of the constructor, between which quantiles are interpolated.
        """
        levels = np.atleast_1d(np.asarray(self.quantiles if quantiles is None else quantiles, dtype=np.float64))
        if not np.all((levels > 0.0) & (levels < 1.0)):
            raise ValueError(f"quantiles have to be between 0 and 1, got {quantiles!r}.")
        if self.distribution == "gaussian":
            outputs = self._outputs(X)
            mean, log_sigma = np.split(outputs[..., None], 2, axis=1)
            found = mean + np.exp(log_sigma) * normal.ppf(levels)
        elif self.distribution == "quantiles":
            found = _between(self._outputs(X), self._levels(), levels)
        else:
            raise ValueError(
                f'predict_quantile needs distribution="gaussian" or "quantiles", got {self.distribution!r}.'
            )
        return found[:, 0] if self._is_flat else found

    @classmethod
    def from_parameters(
        cls, weights: Any, *, activation: Any = "relu", X: Any = None, y: Any = None, **options: Any
    ) -> Self:
        """A fitted regressor of weights that were found elsewhere, to score, explain or train on.

        Parameters
        ----------
        weights : list or mapping
            Pairs (W, b), one for each layer, with W of shape (inputs, outputs); `[coefs_, intercepts_]` of
            scikit-learn; or a `state_dict` of PyTorch's, whose matrices are transposed.
        activation : str or callable
            The activation between layers.
        X : array (n, columns), optional
            Rows, for the names of the columns.
        y : array, optional
            Values, for their shape.
        **options
            Parameters of the regressor.
        """
        if options.get("distribution") == "quantiles":
            raise ValueError('distribution="quantiles" has a last layer of its own, of which there are no weights.')
        network = of_weights(weights, activation)
        made = cls(tuple([layer.weight.shape[1] for layer in network.layers[:-1]]), activation, **options)
        made._adopt(network, X)
        width = network.layers[-1].weight.shape[1]
        made.n_outputs_ = width // 2 if made.distribution == "gaussian" else width
        made._is_flat = made.n_outputs_ == 1 if y is None else np.ndim(y) == 1
        return made

    def _given(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, names_classes: bool
    ) -> tuple[Array, Array, Array | None]:
        X, y = self._rows(X, y, reset=reset, multi_output=True, y_numeric=True)
        weights = self._weights(sample_weight, X)
        if reset:
            self._is_flat, self.n_outputs_ = y.ndim == 1, 1 if y.ndim == 1 else y.shape[1]
        y = self._columns(y, X.dtype)
        if weights is not None:
            counts = weights > 0.0
            X, y, weights = X[counts], y[counts], weights[counts]
        return X, y, weights

    def _columns(self, y: Array, dtype: Any) -> Array:
        y = np.asarray(y, dtype=dtype).reshape(len(y), -1)
        if y.shape[1] != self.n_outputs_:
            raise ValueError(f"y has {y.shape[1]} outputs, but the network was made for {self.n_outputs_}.")
        return y

    def _held_out(self, X: Any, y: Any) -> tuple[Array, Array]:
        X, y = self._rows(X, y, reset=False, multi_output=True, y_numeric=True)
        return X, self._columns(y, X.dtype)

    def _levels(self) -> Array:
        levels = np.asarray(self.quantiles, dtype=np.float64)
        if (
            levels.ndim != 1
            or not len(levels)
            or not np.all((levels > 0.0) & (levels < 1.0) & (np.diff(levels, prepend=0.0) > 0.0))
        ):
            raise ValueError(f"quantiles have to be ascending numbers between 0 and 1, got {self.quantiles!r}.")
        return levels

    def _start(self, X: Array, y: Array, weights: Array | None, rng: Any) -> Any:
        if hasattr(self, "fit_"):
            return unfolded(self.model_, self._units) if isinstance(self._units, Units) else self.model_
        units = units_of(y, weights)
        if self._is_log:
            if np.any(y < 0.0) or not np.all(np.any(y, axis=0)):
                raise ValueError("y has to be counts for the loss 'poisson': none below 0, and not all of them 0.")
            units = Units(
                scale=np.ones_like(units.scale), shift=np.log(np.maximum(units.shift, np.finfo(y.dtype).tiny))
            )
        if self.distribution == "gaussian":
            ones = np.ones_like(units.scale)
            units = Units(scale=np.append(units.scale, ones), shift=np.append(units.shift, np.log(units.scale)))
        self._units: Any = units
        if hasattr(self, "model_"):
            return unfolded(self.model_, units)
        if self.distribution == "quantiles":
            self._units = Ascending(scale=units.scale, shift=units.shift)
            count = len(self._levels()) * self.n_outputs_
        else:
            count = len(units.scale)
        return nn.Sequential(built(self, X, count, rng), self._units)

    @property
    def _is_log(self) -> bool:
        return self.distribution is None and self.loss in ("poisson", losses.poisson)

    def _finished(self, model: Any) -> Any:
        return folded(model)

    def _loss(self) -> Callable[..., Any]:
        if self.distribution == "gaussian":
            return functools.partial(losses.gaussian, sigma=None)
        if self.distribution is None and callable(self.loss):
            return self.loss
        loss: Callable[..., Any] = (
            functools.partial(pinball, levels=tuple(map(float, self._levels())))
            if self.distribution == "quantiles"
            else REGRESSION[self.loss]
        )
        if self.n_outputs_ == 1 or self._is_log:
            return loss
        return functools.partial(in_scales, loss=loss, scales=tuple(map(float, self._units.scale)))

    def _unit(self, y: Array, weights: Array | None) -> float:
        if self.distribution == "gaussian" or self._is_log or (self.distribution is None and callable(self.loss)):
            return 1.0
        middle = np.broadcast_to(np.average(y, axis=0, weights=weights), y.shape)
        if self.distribution == "quantiles":
            middle = np.broadcast_to(middle[..., None], (*y.shape, len(self._levels())))
        return unit_of(self._loss(), middle, y, weights)

    def _penalty(self) -> float:
        return float(self.alpha) if self.alpha != "auto" else 10.0 if self.distribution is None else 1.0

    def _strata(self, y: Array, count: int) -> None:
        return None

    def _measure(self) -> Callable[..., Any]:
        return lambda outputs, y: explained(self._centre(np.asarray(outputs)), y)

    def _centre(self, outputs: Array) -> Array:
        """Means or medians of what the network gives."""
        if self.distribution == "gaussian":
            return outputs[:, : outputs.shape[1] // 2]
        if self.distribution == "quantiles":
            levels = self._levels()
            return _between(outputs, levels, np.clip([0.5], levels[0], levels[-1]))[..., 0]
        return np.exp(outputs) if self._is_log else outputs

    def _shaped(self, values: Array) -> Array:
        return values[:, 0] if self._is_flat else values


def _between(found: Array, known: Array, wanted: Array) -> Array:
    """Quantiles at other levels, on the lines between those that are known."""
    if np.any(wanted < known[0]) or np.any(wanted > known[-1]):
        raise ValueError(f"quantiles are known from {known[0]} to {known[-1]}, got {wanted.tolist()}: train with more.")
    above = np.clip(np.searchsorted(known, wanted), 1, max(len(known) - 1, 1))
    if len(known) == 1:
        return np.repeat(found, len(wanted), axis=-1)
    lower, upper = found[..., above - 1], found[..., above]
    share = (wanted - known[above - 1]) / (known[above] - known[above - 1])
    return np.where(share < 1.0, np.minimum(lower + share * (upper - lower), upper), upper)  # rounding crosses nothing
