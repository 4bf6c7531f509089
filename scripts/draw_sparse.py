"""Draw patterns with the colours of their products, for `docs/sparse.md`: run with `make docs`.

The picture differs from machine to machine by the fonts, so nothing compares it.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import adjoint as ad

TARGET = Path(__file__).parent.parent / "docs" / "sparse" / "patterns.svg"


def chain(x: Any) -> Any:
    """Rosenbrock's function of many variables: tridiagonal."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def arrow(x: Any) -> Any:
    """The first input meets all others."""
    return np.concatenate([[np.sum(x**2)], x[1:] * x[0]])


def laplacian(u: Any) -> Any:
    """Five points on a grid, and a term that is not linear."""
    p = np.pad(u, 1)
    return 4.0 * u - p[2:, 1:-1] - p[:-2, 1:-1] - p[1:-1, 2:] - p[1:-1, :-2] + np.exp(u)


def main() -> None:
    """Write the picture."""
    patterns = {
        "chain, Hessian": ad.sparse.hessian_sparsity(chain)(np.ones(24)),
        "arrow, Jacobian": ad.sparse.sparsity(arrow)(np.ones(24)),
        "grid of 6 x 6, Jacobian": ad.sparse.sparsity(laplacian)(np.ones((6, 6))),
    }
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "sparse", "font.size": 8}):
        figure = Figure(figsize=(8.4, 3.0), layout="constrained")
        for ax, (name, pattern) in zip(figure.subplots(1, 3), patterns.items(), strict=True):
            pattern.plot(ax).set_title(f"{name}: {pattern.products} products", fontsize=8)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(out.getvalue(), encoding="utf-8")
    print(f"wrote docs/sparse/patterns.svg, {len(out.getvalue()) // 1024} KB")


if __name__ == "__main__":
    main()
