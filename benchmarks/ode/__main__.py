"""`python -m benchmarks.ode [--only WORK ...] [--rounds N]`: measure and print; without JAX, its columns stay empty."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import adjoint as ad

from .works import WORKS, Work

Contestants = dict[str, Callable[[], Any]]


def ours(work: Work) -> Contestants:
    """`ad.odeint` under `ad.jit`."""
    how = {"rtol": work.tolerance, "atol": work.tolerance}
    slope = work.slope(np)
    value = ad.jit(lambda y, p: ad.odeint(slope, y, work.times, p, **how))
    gradient = ad.jit(ad.grad(lambda y, p: np.sum(ad.odeint(slope, y, work.times, p, **how) ** 2), (0, 1)))
    return {"value": lambda: value(work.start, work.parameters), "grad": lambda: gradient(work.start, work.parameters)}


def scipys(work: Work) -> Contestants:
    """`scipy.integrate.solve_ivp` on the plain function."""
    slope = work.slope(np)

    def value() -> Any:
        return solve_ivp(
            lambda t, y: slope(y, t, work.parameters), (work.times[0], work.times[-1]), work.start,
            t_eval=work.times, rtol=work.tolerance, atol=work.tolerance,
        ).y.T  # fmt: skip

    return {"value": value}


def jaxs(work: Work) -> Contestants:
    """`jax.experimental.ode.odeint`, whose gradient is that of the continuous adjoint equation."""
    try:
        import jax
    except ImportError:
        return {}
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    from jax.experimental.ode import odeint

    slope, times, start = work.slope(jnp), jnp.asarray(work.times), jnp.asarray(work.start)
    parameters = jax.tree.map(jnp.asarray, work.parameters)
    how = {"rtol": work.tolerance, "atol": work.tolerance}
    value = jax.jit(lambda y, p: odeint(slope, y, times, p, **how))
    gradient = jax.jit(jax.grad(lambda y, p: jnp.sum(odeint(slope, y, times, p, **how) ** 2), (0, 1)))
    return {
        "value": lambda: jax.block_until_ready(value(start, parameters)),
        "grad": lambda: jax.block_until_ready(gradient(start, parameters)),
    }


def smallest(contestants: dict[str, Callable[[], Any]], rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """The time of the first call and the smallest of later ones; they take turns."""
    first = {name: _timed(run) for name, run in contestants.items()}
    found = dict.fromkeys(contestants, np.inf)
    for _ in range(rounds):
        for name, run in contestants.items():
            found[name] = min(found[name], _timed(run))
    return first, found


def _timed(run: Callable[[], Any]) -> float:
    """Seconds on the clock: the time of a process does not count all that its threads do."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def measured(work: Work, rounds: int) -> list[str]:
    """The cells of one row."""
    sides = {"ours": ours(work), "SciPy": scipys(work), "JAX": jaxs(work)}
    exact = solve_ivp(
        lambda t, y: work.slope(np)(y, t, work.parameters), (work.times[0], work.times[-1]), work.start,
        t_eval=work.times, rtol=1e-12, atol=1e-12, method="DOP853",
    ).y.T  # fmt: skip
    errors = {name: np.max(np.abs(np.asarray(side["value"]()) - exact)) for name, side in sides.items() if side}
    runs = {f"{name} {what}": run for name, side in sides.items() for what, run in side.items()}
    if "JAX grad" in runs:
        for a, b in zip(_leaves(runs["ours grad"]()), _leaves(runs["JAX grad"]()), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-2, atol=1e-3 * np.max(np.abs(b)))
    _, found = smallest(runs, rounds)

    def cell(name: str) -> str:
        return f"{found[name] * 1e6:,.0f} µs" if name in found else "-"

    def ratio(name: str, other: str) -> str:
        return f"{found[name] / found[other]:.1f}" if name in found and other in found else "-"

    return [
        work.title, cell("ours value"), cell("JAX value"), cell("SciPy value"), ratio("JAX value", "ours value"),
        ratio("SciPy value", "ours value"), cell("ours grad"), cell("JAX grad"), ratio("JAX grad", "ours grad"),
        " / ".join([f"{errors[name]:.0e}" for name in ("ours", "JAX", "SciPy") if name in errors]),
    ]  # fmt: skip


def _leaves(tree: Any) -> list[Any]:
    import optree

    return [np.asarray(x) for x in optree.tree_leaves(tree)]


HEAD = [
    "equation", "value", "JAX", "SciPy", "JAX / ours", "SciPy / ours", "gradient", "JAX", "JAX / ours",
    "errors (ours / JAX / SciPy)",
]  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ode", description="Time differential equations.")
    parser.add_argument("--only", nargs="+", metavar="WORK", choices=list(WORKS), default=list(WORKS))
    parser.add_argument("--rounds", type=int, default=30)
    chosen = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for name in chosen.only:
        print(f"| {' | '.join(measured(WORKS[name], chosen.rounds))} |", flush=True)


if __name__ == "__main__":
    main()
