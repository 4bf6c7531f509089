"""`rvs` with traced parameters: SciPy's draws for the same state, which move with the parameters.

A draw y of a continuous distribution keeps its level F(y, p), so dy = -(dF/dp) dp / f(y): the same as for a quantile.
Location and scale need no rule, as the draw is y * scale + loc.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.stats import _distn_infrastructure as infrastructure

from ...core.errors import UnsupportedError, message
from ...core.primitive import Primitive
from ...core.traced import is_differentiated
from ...core.values import shape_of
from ...numpy.dispatch.arguments import holds_traced, joined
from ...numpy.dispatch.opaque_calls import as_constant
from ...rules.opaque import Opaque
from ...rules.stacking import aligned
from .elements import by_elements
from .numerical import distribution_slope


def _array(x: Any) -> Any:
    """Lists in which traced values stand as arrays."""
    return joined(x) if isinstance(x, (list, tuple)) and holds_traced(x) else x


def rvs(original: Callable[..., Any], self: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Draws of a distribution."""
    words = dict(kwargs)
    state, discrete = words.pop("random_state", None), words.pop("discrete", None)
    shapes, loc, scale, size = _parsed(self, args, words)
    shapes, (loc, scale) = [list(map(_array, given)) for given in (shapes, (loc, scale))]
    if isinstance(self, infrastructure.rv_discrete) and any([is_differentiated(s) for s in shapes]):
        raise UnsupportedError(
            message(
                f"scipy.stats.{self.name}.rvs is not differentiated: whole numbers do not move with the parameters.",
                fix="Pass  ad.stop_gradient(p)  for the draws, and use the gradient of  logpmf  times the result.",
            )
        )
    draw = functools.partial(_draw, original, self, size, state, discrete)
    drawn = as_constant(f"scipy.stats.{self.name}.rvs", draw, tuple(shapes), {})
    if not isinstance(self, infrastructure.rv_discrete) and any([is_differentiated(s) for s in shapes]):
        drawn = by_elements(f"{self.name}.rvs", _path(self), drawn, *shapes)
    return drawn + loc if isinstance(self, infrastructure.rv_discrete) else drawn * scale + loc


def _parsed(self: Any, args: Any, words: Any) -> tuple[Sequence[Any], Any, Any, tuple[int, ...]]:
    """Shapes, location, scale, and the shape of the result, which SciPy finds from those of the parameters."""
    size = words.pop("size", None)
    names = [part.strip() for part in (self.shapes or "").split(",") if part.strip()]
    names += ["loc"] if isinstance(self, infrastructure.rv_discrete) else ["loc", "scale"]
    if len(args) > len(names):
        *args, size = args
    given = {"loc": 0.0, "scale": 1.0, **dict(zip(names, args, strict=False)), **words}
    *shapes, loc, scale = [given[n] for n in names] + ([1.0] if names[-1] == "loc" else [])
    sizes = [np.ones(shape_of(np.asarray(v))) for v in (*shapes, loc, scale)]
    return shapes, loc, scale, self._argcheck_rvs(*sizes, size=size)[-1]


def _draw(original: Callable[..., Any], self: Any, size: Any, state: Any, discrete: Any, /, *shapes: Any) -> Any:
    words = {"random_state": state} if state is not None else {}
    return original(self, *shapes, size=size or None, **words)


def _path(self: Any) -> Primitive:
    def push(tangents: Sequence[Any], out: Any, args: Sequence[Any], params: Any) -> Any:
        _, *shapes = args
        return -distribution_slope(self, out, shapes, tangents[1:]) / self._pdf(out, *shapes)

    return Primitive(f"{self.name}.rvs", lambda y, *shapes: y, derivative=Opaque(jvp=push), stacking=aligned)
