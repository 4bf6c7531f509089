"""Where traced values enter SciPy's own code of distributions: its modules make handles, and nothing is extracted."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from scipy._lib import _util
from scipy.stats import _distn_infrastructure as infrastructure

from ...core.traced import LOCAL
from ...host.frames.ownership import NUMPY_CODE
from ...numpy.dispatch.arguments import holds_traced
from ...numpy.patching.imported import adopt
from ...numpy.patching.replacements import Answer, divert, set_attribute
from ..array_api import vendored
from . import elements

MODULES = (
    "scipy.stats._distn_infrastructure",
    "scipy.stats._continuous_distns",
    "scipy.stats._discrete_distns",
)


def let_run_through() -> None:
    """Let the code of these modules take traced values."""
    NUMPY_CODE.update(MODULES)
    for name in MODULES:
        adopt(vars(sys.modules[name]))
    for name in ("place", "putmask"):
        chosen = functools.partial(_chosen, elements.placed, getattr(infrastructure, name))
        set_attribute(infrastructure, name, chosen)
    _divert(infrastructure.argsreduce, elements.extracted)
    _divert(vendored("array_api_extra").apply_where, elements.apply_where, _if_traced)
    _divert(_util._lazyselect, elements.select, _if_traced)


def _divert(original: Any, ours: Callable[..., Any], choose: Callable[..., Any] | None = None) -> None:
    """Also where the first argument is a condition, which has no derivative."""
    answer = Answer(ours=functools.partial(choose or _chosen, ours), calls_back=True)
    divert(original, answer, f"scipy.{original.__name__}")


def _chosen(ours: Callable[..., Any], original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Ours in a thread that traces, whatever the arguments: what one of them extracts, another one puts back."""
    return (ours if LOCAL.depth else original)(*args, **kwargs)


def _if_traced(ours: Callable[..., Any], original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return (ours if holds_traced(args) else original)(*args, **kwargs)
