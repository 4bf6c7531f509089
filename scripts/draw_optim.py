"""Draw the path of every optimiser on Rosenbrock's function, for `docs/optim.md`: run with `make docs`.

The pictures differ from machine to machine in the last digits of their numbers, so nothing compares them.
"""

from __future__ import annotations

import dataclasses
import io
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from adjoint import optim

FOLDER = Path(__file__).parent.parent / "docs" / "optim"
START = np.array([-1.2, 1.0])
BOX = (-1.7, 1.5, -0.5, 1.7)


def rosenbrock(x: Any) -> Any:
    """The banana valley, with its minimum at (1, 1)."""
    return 100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2


def residuals(x: Any) -> Any:
    """Half of their sum of squares is half of Rosenbrock's function."""
    return np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]])


def metric(x: Any) -> Any:
    """2 J'J of the residuals: the Gauss-Newton matrix of Rosenbrock's function."""
    return 2.0 * np.array([[400.0 * x[0] ** 2 + 1.0, -200.0 * x[0]], [-200.0 * x[0], 100.0]])


def cosine(rate: float) -> Any:
    """A rate that falls to 0 in 2,000 steps."""
    return optim.schedule.cosine(rate, steps=2000)


PICTURES = {
    "sgd": (optim.sgd(1e-3), 2000),
    "momentum": (optim.sgd(1e-3, momentum=0.9), 500),
    "nesterov": (optim.sgd(1e-3, momentum=0.9, nesterov=True), 500),
    "subgradient": (optim.subgradient(0.1, normalize=True), 2000),
    "adagrad": (optim.adagrad(0.5), 1000),
    "rmsprop": (optim.rmsprop(cosine(0.01)), 2000),
    "adam": (optim.adam(0.05), 1000),
    "adamw": (optim.adamw(0.05, weight_decay=0.01), 1000),
    "lion": (optim.lion(cosine(0.01)), 2000),
    "armijo": (optim.armijo(), 500),
    "wolfe": (optim.wolfe(), 500),
    "exact": (optim.exact(), 500),
    "lbfgs": (optim.lbfgs(), 500),
    "newton": (optim.newton(), 500),
    "gauss_newton": (optim.gauss_newton(), 500),
    "levenberg_marquardt": (optim.levenberg_marquardt(), 500),
    "natural_gradient": (optim.natural_gradient(0.1, metric=metric), 500),
}


def main() -> None:
    """Write every picture."""
    FOLDER.mkdir(exist_ok=True)
    for name, (optimizer, steps) in PICTURES.items():
        of_residuals = name in ("gauss_newton", "levenberg_marquardt")
        found = optim.minimize(residuals if of_residuals else rosenbrock, START, optimizer, max_steps=steps)
        text = drawn(found, name)
        (FOLDER / f"{name}.svg").write_text(text, encoding="utf-8")
        print(f"wrote docs/optim/{name}.svg, {len(text) // 1024} KB: {found.steps} steps to {found.x.round(3)}")


def drawn(found: optim.Result, name: str) -> str:
    """A small picture: text as text, coordinates with one decimal."""
    settings = {"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 8, "path.simplify_threshold": 0.5}
    with mpl.rc_context(settings):
        figure = Figure(figsize=(3.6, 2.5), layout="constrained")
        ax = figure.subplots()
        dataclasses.replace(found, function=rosenbrock).plot(ax, levels=9, box=BOX)
        ax.plot(1.0, 1.0, "+", color="#1f618d", markersize=9)
        ax.set_title(f"{name}: {found.steps} steps, value {found.value:.1e}", fontsize=8)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return re.sub(r' d="[^"]*"', lambda d: re.sub(r"(\.\d)\d+", r"\1", d.group()), out.getvalue())


if __name__ == "__main__":
    main()
