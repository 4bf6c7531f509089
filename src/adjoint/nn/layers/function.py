"""A plain function of a dict of arrays as a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad

from ...arguments import NUMBERS_IN_CONTAINERS
from .. import checks
from ..layer import described, layer, static, text_of


@layer
class Function:
    """A model that is a function of parameters and inputs: model(x) = predict(params, x).

    Parameters
    ----------
    predict : callable
        `predict(params, x)`, in plain NumPy.
    params : any containers of arrays
        The parameters, all of them real numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> line = nn.Function(lambda p, x: p["slope"] * x + p["start"], {"slope": np.array(2.0), "start": np.array(1.0)})
    >>> line(3.0), list(nn.parameters(line))
    (np.float64(7.0), ['params.slope', 'params.start'])
    """

    predict: Callable[[Any, Any], Any] = static()
    params: Any

    def __post_init__(self) -> None:
        if not callable(self.predict):
            raise checks.refuse(
                "Function needs a function  predict(params, x)  first, then the parameters.", text_of(self.predict)
            )
        if not NUMBERS_IN_CONTAINERS.accepts(self.params):
            raise checks.refuse(f"Function needs params, {NUMBERS_IN_CONTAINERS.words}.", text_of(self.params))
        for path, leaf in zip(ad.tree.paths(self.params), ad.tree.leaves(self.params), strict=True):
            if isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind in "biu":
                raise checks.refuse(
                    f"Function: the parameter {path or 'given'} has whole numbers, which cannot be trained.",
                    described(leaf),
                    "Write  x.astype(float)  for what is trained; let  predict  read other arrays from a variable.",
                )

    def __call__(self, x: Any) -> Any:
        """The function of the parameters and x."""
        return self.predict(self.params, x)
