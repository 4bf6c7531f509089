"""A function of one vector with its compiled derivatives, for those optimisers that look at the function."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

import adjoint as ad

from ..typing import Array, Tree
from .reuse import cached


class Objective:
    """A function of one vector, and its derivatives, each compiled when it is first asked for.

    The vector holds all numbers of a tree, as `ad.tree.ravel` has them. Give it to `update` as `function=`: optimisers
    take the derivatives from there, so that nothing is compiled twice.

    Parameters
    ----------
    function : callable
        The function of the parameters, and of `args`.
    params : any containers of arrays
        Parameters in the containers and shapes that the function takes.
    args : tuple, optional
        Further arguments of the function, such as data.
    jit : bool, optional
        Whether the derivatives are compiled.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> params = {"b": 1.0, "w": np.array([2.0, 3.0])}
    >>> objective = optim.Objective(lambda p, c: p["b"] + c * np.sum(p["w"] ** 2), params, args=(2.0,))
    >>> objective.start
    array([1., 2., 3.])
    >>> value, gradient = objective.value_and_grad(objective.start)
    >>> value, gradient
    (np.float64(27.0), array([ 1.,  8., 12.]))
    >>> objective.unravel(gradient)
    {'b': np.float64(1.0), 'w': array([ 8., 12.])}
    """

    def __init__(
        self, function: Callable[..., Any], params: Tree, args: tuple[Any, ...] = (), jit: bool = True
    ) -> None:
        self.function, self.args, self.jit = function, args, jit
        self.is_vector = type(params) is np.ndarray and params.ndim == 1
        self.start, unravel = (params, _same) if self.is_vector else ad.tree.ravel(params)
        self.unravel = unravel
        if self.is_vector:
            self.key: Any = (function, 1)
        else:
            form = tuple([(np.shape(p), np.result_type(p)) for p in ad.tree.leaves(params)])
            self.key = (function, form, ad.tree.structure(params))

    def __call__(self, vector: Array) -> Any:
        """The function of a vector."""
        return self.value(vector)

    @cached_property
    def value(self) -> Callable[[Any], Any]:
        """The function of a vector."""
        return self._of("value")

    @cached_property
    def value_and_grad(self) -> Callable[[Any], Any]:
        """Value and gradient at a vector."""
        return self._of("value_and_grad")

    @cached_property
    def along(self) -> Callable[[Any, Any, Any], Any]:
        """The point at a length along a direction from a vector, with value, gradient and slope there."""
        return self._of("along")

    @cached_property
    def hessian(self) -> Callable[[Any], Any]:
        """The matrix of second derivatives at a vector."""
        return self._of("hessian")

    @cached_property
    def hvp(self) -> Callable[[Any, Any], Any]:
        """The Hessian at a vector, times another vector."""
        return self._of("hvp")

    @cached_property
    def residuals(self) -> Callable[[Any], Any]:
        """The results at a vector, of whatever shapes, as one vector."""
        return self._of("residuals")

    @cached_property
    def residuals_and_jacobian(self) -> Callable[[Any], Any]:
        """The residuals at a vector, and their Jacobian."""
        return self._of("residuals_and_jacobian")

    def _of(self, name: str) -> Callable[..., Any]:
        """A derivative as a function of the vector alone, compiled anew only for a new function or form."""
        function, unravel, transform = self.function, self.unravel, TRANSFORMS[name]
        flat = function if self.is_vector else lambda vector, *args: function(unravel(vector), *args)
        made = cached((name, self.key), lambda: ad.jit(transform(flat))) if self.jit else transform(flat)
        args = self.args
        if not args:
            return made  # type: ignore[no-any-return]
        return lambda *vectors: made(*vectors, *args)


def derivative(function: Any, name: str) -> Callable[..., Any]:
    """A derivative of what was given as `function=`: that of an `Objective`, or one that is not compiled."""
    if isinstance(function, Objective):
        return getattr(function, name)  # type: ignore[no-any-return]
    return TRANSFORMS[name](function)  # type: ignore[no-any-return]


def _along(f: Callable[..., Any]) -> Callable[..., Any]:
    def along(x: Tree, direction: Array, length: Array, *args: Any) -> tuple[Any, Any, Any, Any]:
        at = x + length * direction
        value, gradient = ad.value_and_grad(f)(at, *args)
        return at, value, gradient, gradient.dot(direction)

    return along


def _product(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, v, *args: ad.jvp(lambda x: ad.grad(f)(x, *args), (x,), (v,))[1]


def _flat(f: Callable[..., Any]) -> Callable[..., Any]:
    def residuals(x: Tree, *args: Any) -> Any:
        parts = [np.reshape(part, -1) for part in ad.tree.leaves(f(x, *args))]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    return residuals


def _with_jacobian(f: Callable[..., Any]) -> Callable[..., Any]:
    flat = _flat(f)

    def twice(x: Tree, *args: Any) -> tuple[Any, Any]:
        r = flat(x, *args)
        return r, r

    def both(x: Tree, *args: Any) -> tuple[Any, Any]:
        jacobian, r = ad.jacobian(twice, has_aux=True)(x, *args)
        return r, jacobian

    return both


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "value": lambda f: f,
    "value_and_grad": ad.value_and_grad,
    "along": _along,
    "hessian": ad.hessian,
    "hvp": _product,
    "residuals": _flat,
    "residuals_and_jacobian": _with_jacobian,
}
"""What each derivative of an `Objective` is made with."""


def _same(x: Tree) -> Any:
    return x
