"""ReLU with trained slopes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...typing import Array, DTypeLike
from .. import checks
from ..activations import leaky_relu
from ..layer import layer, set_fields


@layer
class PReLU:
    """x for x > 0, else a x, with a slope a for each neuron, which is trained.

    Parameters
    ----------
    width : int
        The number of neurons, the length of the last axis of x.
    slope : float, default 0.25
        Where the slopes start.
    dtype : dtype, default float64
        float64 or float32.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.PReLU(3)(np.array([-1.0, 0.0, 2.0]))
    array([-0.25,  0.  ,  2.  ])
    """

    slope: np.ndarray

    def __init__(self, width: int, *, slope: float = 0.25, dtype: DTypeLike = np.float64) -> None:
        kind = checks.real("PReLU", dtype)
        set_fields(
            self, slope=np.full(checks.count("PReLU", "width", width), checks.finite("PReLU", "slope", slope), kind)
        )

    def __call__(self, x: Array) -> Any:
        """Apply the layer to the last axis."""
        checks.last_axis("PReLU", x, self.slope.shape[0])
        return leaky_relu(x, self.slope)
