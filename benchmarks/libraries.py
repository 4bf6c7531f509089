"""How each library is asked for a value and its gradient: `LIBRARIES[name](workload)` is a call without arguments."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

from .workloads import Workload

THREADS = 2
Call = Callable[[], tuple[Any, Any]]


def adjoint(work: Workload) -> Call:
    """This library, eager."""
    import adjoint as ad

    both = ad.value_and_grad(work.function(np))
    return lambda: both(work.point)


def autograd(work: Workload) -> Call:
    """HIPS autograd."""
    import autograd
    import autograd.numpy as anp

    both = autograd.value_and_grad(work.function(anp))
    return lambda: both(work.point)


def torch(work: Workload) -> Call:
    """PyTorch, eager, in double precision; the tensors are made beforehand."""
    import torch

    torch.set_num_threads(THREADS)
    leaves: list[Any] = []

    def leaf(x: Any) -> Any:
        leaves.append(torch.tensor(x, dtype=torch.float64, requires_grad=True))
        return leaves[-1]

    point = mapped(leaf, work.point)
    f = work.function(torch)

    def call() -> tuple[Any, Any]:
        value = f(point)
        return value, torch.autograd.grad(value, leaves)

    return call


def jax(work: Workload) -> Call | None:
    """JAX, compiled; waits for the result. A long Python loop is left out: compiling it takes minutes."""
    if work.long:
        return None
    import jax

    jax.config.update("jax_enable_x64", True)
    point = mapped(jax.numpy.asarray, work.point)
    both = jax.jit(jax.value_and_grad(work.function(jax.numpy)))
    return lambda: jax.block_until_ready(both(point))


def by_hand(work: Workload) -> Call | None:
    """Plain NumPy, the derivative worked out by a person: what no library can beat."""
    return work.by_hand and (lambda: work.by_hand(work.point))


LIBRARIES: dict[str, Callable[[Workload], Call | None]] = {
    "adjoint": adjoint,
    "autograd": autograd,
    "torch": torch,
    "by hand": by_hand,
    "jax jit": jax,
}
PACKAGES = ("adjoint", "autograd", "torch", "jax", "numpy")


def versions() -> str:
    """The versions of everything that takes part."""
    return ", ".join(f"{name} {version(name)}" for name in PACKAGES)


def mapped(change: Callable[[Any], Any], point: Any) -> Any:
    """A list or tuple with every entry changed, or one value."""
    return type(point)([change(x) for x in point]) if isinstance(point, (list, tuple)) else change(point)


def flat(gradient: Any) -> list[float]:
    """All numbers of a gradient in one list, to compare and to send."""
    parts = gradient if isinstance(gradient, (list, tuple)) else [gradient]
    return np.concatenate([np.ravel(np.asarray(part, float)) for part in parts]).tolist()
