"""`fisher`: the information that a model's predictions carry about its parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.arguments import Positive, checked
from ...core.derived import derived
from ...core.errors import InputError, message
from ...core.values import describe
from ..calling import entrance
from ..interface.checking import checked_function
from .examples import jacobian_of_examples
from .likelihoods import LIKELIHOODS, Likelihood, of_examples, scores
from .linearized import Linearized, only_array
from .metric import taken_apart


@checked("model", "likelihood")
def fisher(
    model: Callable[..., Any], likelihood: str | Callable[..., Any] = "categorical", *,
    empirical: bool = False, per_sample: bool = False, variance: Positive = 1.0, product: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """The Fisher information matrix of a model: the mean over examples of E[g g'], g = d log p(y | x) / d params.

    The expectation over y as the model predicts it is exact: J' L J, with the Jacobian J of the outputs and L the
    information of the likelihood, 1 / variance for Gaussian outputs, p (1 - p) for logits of Bernoulli outputs and
    diag(p) - p p' for logits of categories, whose probabilities are their softmax. With the mean negative
    log-likelihood as loss this is also the Gauss-Newton matrix.

    Parameters
    ----------
    model : callable
        `model(params, *inputs)`: outputs as one array, examples along the first axis.
    likelihood : str or callable
        What the outputs are: "gaussian" (means), "bernoulli" (logits), "categorical" or "softmax" (logits, along the
        last axis). With `empirical=True` also a function `(output, target) -> negative log-likelihood` of one example.
    empirical : bool, default False
        Whether to take g at the targets that are given instead of the expectation over all: the mean of the outer
        products of the gradients of the examples. It is another matrix, and no approximation of the Fisher matrix
        away from a model that fits.
    per_sample : bool, default False
        Whether to give the terms of the mean, one for each example along a first axis.
    variance : float, default 1.0
        The variance of Gaussian outputs.
    product : bool, default False
        Whether to give the function v -> F v instead of the matrix, with v and the product in the containers of the
        parameters: by one sweep forward and one back for each v, without J.

    Returns
    -------
    callable
        A function of `(params, *inputs)`, with `empirical=True` of `(params, *inputs, targets)`, that returns the
        matrix of shape (n, n), for the n numbers of the parameters in the order of `ad.tree.ravel`, with `per_sample`
        (examples, n, n); or the product.

    Raises
    ------
    InputError
        If the likelihood is not known, or the outputs or targets do not fit it.

    References
    ----------
    Martens, New Insights and Perspectives on the Natural Gradient Method, 2020.

    Kunstner, Balles and Hennig, Limitations of the Empirical Fisher Approximation for Natural Gradient Descent, 2019.

    Examples
    --------
    Logistic regression at w = 0, where every p (1 - p) is 1/4:

    >>> import numpy as np, adjoint as ad
    >>> X, y = np.array([[1.0, -1.0], [1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([0.0, 0.0, 1.0, 1.0])
    >>> def model(w, X):
    ...     return X @ w
    >>> ad.curvature.fisher(model, "bernoulli")(np.zeros(2), X)
    array([[0.25 , 0.125],
           [0.125, 0.375]])
    >>> ad.curvature.fisher(model, "bernoulli", product=True)(np.zeros(2), X)(np.array([1.0, 0.0]))
    array([0.25 , 0.125])
    >>> ad.curvature.fisher(model, "bernoulli", empirical=True)(np.zeros(2), X, y)
    array([[0.25 , 0.125],
           [0.125, 0.375]])
    """
    checked_function(model, "fisher", 'ad.curvature.fisher(model, "categorical")(params, X)')
    kind = _checked(likelihood, empirical, variance)

    def of_model(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if empirical:
            params, inputs, targets = taken_apart(args, "The empirical Fisher matrix")
            return _of_gradients(model, kind, (params, inputs, targets), kwargs, per_sample, product)
        if not args:
            raise InputError(message("fisher is called with the parameters and the inputs of the model.", got="none"))
        params, inputs = args[0], args[1:]

        def predicted(p: Any, *inputs: Any) -> Any:
            return of_examples(model(p, *inputs, **kwargs), kind)

        at = Linearized(lambda p: predicted(p, *inputs), params, "fisher")
        outputs = only_array(at, "fisher")
        assert not callable(kind.name)
        if product and not per_sample:
            return lambda v: at.pulled([kind.times(outputs, at.pushed(v)[0]) / len(outputs)])
        jacobian = jacobian_of_examples(predicted, params, inputs, at)
        factors = kind.factor(outputs, np.reshape(jacobian, (*outputs.shape, at.size)))
        return _of_factors(np.reshape(factors, (len(outputs), -1, at.size)), at, per_sample, product)

    return derived(entrance(of_model), "fisher", model, how="<likelihood>")  # type: ignore[no-any-return]


def _of_gradients(
    model: Any, kind: Likelihood, call: tuple[Any, Any, Any], kwargs: Any, per_sample: bool, product: bool
) -> Any:
    """The mean, or all, of the outer products of the gradients of each example's negative log-likelihood."""
    params, inputs, targets = call
    if not targets:
        raise InputError(
            message(
                "The empirical Fisher matrix needs targets.",
                got="parameters alone",
                fix="Write  ad.curvature.fisher(model, likelihood, empirical=True)(params, X, y).",
            )
        )
    outputs = only_array(
        Linearized(lambda p: of_examples(model(p, *inputs, **kwargs), kind), params, "fisher"), "fisher"
    )

    def weighted(p: Any, weights: Any, *inputs: Any) -> Any:
        z = of_examples(model(p, *inputs, **kwargs), kind)
        return np.sum(np.reshape(weights * z, (len(weights), -1)), axis=1)

    given = (scores(kind, outputs, targets[0]), *inputs)
    at = Linearized(lambda p: weighted(p, *given), params, "fisher")  # a row for each example, which is its gradient
    if product and not per_sample:
        return lambda v: at.pulled([at.pushed(v)[0] / len(outputs)])
    return _of_factors(jacobian_of_examples(weighted, params, given, at)[:, None, :], at, per_sample, product)


def _of_factors(factors: Any, at: Linearized, per_sample: bool, product: bool) -> Any:
    """From A_b with F_b = A_b' A_b, for each example b."""
    if per_sample and product:

        def each(v: Any) -> Any:
            moved = np.matmul(factors, at.ravelled(v))
            return at.stacked(np.matmul(moved[:, None, :], factors)[:, 0, :])

        return each
    if per_sample:
        return np.matmul(np.swapaxes(factors, 1, 2), factors)
    flat = np.reshape(factors, (-1, at.size))
    return np.matmul(np.transpose(flat), flat) / len(factors)


def _checked(likelihood: Any, empirical: bool, variance: Any) -> Likelihood:
    if callable(likelihood) and not empirical:
        raise InputError(
            message(
                "The expectation over targets is known for named likelihoods only.",
                got=describe(likelihood),
                fix='Choose "gaussian", "bernoulli" or "categorical",  give  empirical=True,  '
                "or use  ad.curvature.gauss_newton.",
            )
        )
    if not callable(likelihood) and likelihood not in LIKELIHOODS:
        raise InputError(
            message(
                "fisher knows the likelihoods gaussian, bernoulli and categorical (or softmax, the same).",
                got=f"likelihood = {describe(likelihood)}",
                fix="For another one use  ad.curvature.gauss_newton(model, loss),  "
                "or  empirical=True  with a function.",
            )
        )
    if not variance > 0:
        raise InputError(message("The variance of Gaussian outputs has to be positive.", got=describe(variance)))
    if variance != 1.0 and likelihood != "gaussian":
        raise InputError(
            message(
                "Only Gaussian outputs have a variance of their own.",
                got=f"variance = {describe(variance)} with likelihood = {describe(likelihood)}",
                fix='Leave  variance  out, or choose  "gaussian".',
            )
        )
    return Likelihood(likelihood if callable(likelihood) else LIKELIHOODS[likelihood], variance)
