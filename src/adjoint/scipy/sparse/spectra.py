"""A few eigenvalues and singular values of sparse matrices: SciPy's numbers, corrected by steps of Newton's.

The steps change nothing at the point, but give value and vector their derivatives: with the factors of the plain
bordered matrix each one is right in one order more. A repeated eigenvalue has a singular bordered matrix: nan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sparse

from ...core.errors import UnsupportedError, message
from ...core.primitive import Primitive
from ...core.traced import LOCAL
from ...core.values import Value, dtype_of
from ...numpy.dispatch.opaque_calls import as_constant
from ...numpy.patching.replacements import REPLACEMENTS, Answer, replaces
from ...ops.linalg.patterns import Pattern
from ...rules.opaque import Opaque
from ...rules.stacking import one_by_one
from ..options import refuse
from .linear import met, taken

ORDERS = 3
"""Up to which order derivatives of eigenvectors are right."""


def _bordered(r: Any, elements: Any, w: Any, v: Any, *, pattern: Pattern, back: bool) -> Any:
    """x with J x = r, J the derivative of (a v - w v, (v.v - c) / 2); nan where that is singular."""
    matrix = pattern.matrix(elements) - w * sparse.eye_array(pattern.shape[0])
    whole = sparse.block_array([[matrix, -v[:, None]], [v[None], None]], format="csc")
    from scipy.sparse.linalg import splu

    depth, LOCAL.depth = LOCAL.depth, 0  # the values are plain: SciPy's own functions, whoever is tracing
    try:
        return splu(whole).solve(r, "T" if back else "N")
    except RuntimeError:
        return np.full_like(r, np.nan)
    finally:
        LOCAL.depth = depth


def _bordered_jvp(tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Value:
    return 0.0 * out if tangents[0] is None else bordered(tangents[0], *args[1:], **params)


def _bordered_vjp(g: Value, out: Value, args: Sequence[Value], params: dict, needed: Any) -> list[Value | None]:
    return [bordered(g, *args[1:], pattern=params["pattern"], back=not params["back"]), None, None, None]


bordered = Primitive(
    "bordered_solution", _bordered, derivative=Opaque(_bordered_jvp, _bordered_vjp), stacking=one_by_one
)


def refined(a: Any, w: Any, v: Any, length: float) -> tuple[Any, Any]:
    """Eigenvalues and eigenvectors of a symmetric matrix of ours, with derivatives, given their plain values."""
    elements = as_constant("fixed", lambda x: np.array(x), (a._values,), {})
    values, vectors = [], []
    for k in range(np.shape(w)[0]):
        value, vector = w[k], v[:, k]
        for _ in range(ORDERS):
            rest = a @ vector - value * vector
            short = (np.sum(vector * vector) - length) / 2
            step = bordered(
                np.concatenate([rest, short[None]]), elements, w[k], v[:, k], pattern=a._pattern, back=False
            )
            vector, value = vector - step[:-1], value - step[-1]
        values.append(value)
        vectors.append(vector)
    return np.stack(values), np.stack(vectors, axis=1)


@replaces("scipy.sparse.linalg", "eigsh", calls_back=True, note="for symmetric perturbations; nan if repeated")
def eigsh(original: Any, A: Any, k: int = 6, M: Any = None, *args: Any, **kwargs: Any) -> Any:
    """`scipy.sparse.linalg.eigsh`."""
    if not met(A, M):
        return original(A, k, M, *args, **_seeded(kwargs))  # also on behalf of `svds`
    refuse("sparse.linalg.eigsh", M is not None, "M=")
    vectors = kwargs.pop("return_eigenvectors", True)
    a = taken(A)
    refuse("sparse.linalg.eigsh", dtype_of(a._values).kind == "c", "complex matrices")
    pattern = a._pattern

    def run(elements: Any, *args: Any, **kwargs: Any) -> Any:
        return original(pattern.matrix(elements), k, None, *args, **_seeded(kwargs))

    w, v = as_constant("scipy.sparse.linalg.eigsh", run, (a._values, *args), kwargs)
    w, v = refined((a + a.T) * 0.5, w, v, 1.0)
    return (w, v) if vectors else np.sort(w)


def _seeded(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Options with a seed, unless one is given: the vector it starts from is drawn, and a recording repeats it."""
    given = any([name in kwargs for name in ("rng", "random_state")])
    return kwargs if given else {**kwargs, "rng": np.random.default_rng(0)}


@replaces("scipy.sparse.linalg", "svds", calls_back=True, note="nan for repeated singular values")
def svds(original: Any, A: Any, k: int = 6, *args: Any, **kwargs: Any) -> Any:
    """`scipy.sparse.linalg.svds`: eigenvalues of [[0, A], [A^T, 0]]."""
    if not met(A):
        return original(A, k, *args, **kwargs)
    wanted = kwargs.pop("return_singular_vectors", True)
    a = taken(A)
    refuse("sparse.linalg.svds", dtype_of(a._values).kind == "c", "complex matrices")
    refuse("sparse.linalg.svds", wanted not in (True, False), f"return_singular_vectors={wanted!r}")
    pattern, m = a._pattern, a.shape[0]

    def run(elements: Any, *args: Any, **kwargs: Any) -> Any:
        return original(pattern.matrix(elements), k, *args, **_seeded(kwargs))

    u, s, vt = as_constant("scipy.sparse.linalg.svds", run, (a._values, *args), kwargs)
    from .building import _stacked

    s, both = refined(_stacked([[None, a], [a.T, None]], matrix=False), s, np.concatenate([u, np.transpose(vt)]), 2.0)
    return (both[:m], s, np.transpose(both[m:])) if wanted else s


@replaces("scipy.sparse.linalg", "lobpcg", calls_back=True, note="with B=None; nan for repeated eigenvalues")
def lobpcg(original: Any, A: Any, X: Any, B: Any = None, *args: Any, **kwargs: Any) -> Any:
    """`scipy.sparse.linalg.lobpcg`: the first approximation X and preconditioners have no influence."""
    if not met(A, X, B):
        return original(A, X, B, *args, **kwargs)
    refuse("sparse.linalg.lobpcg", B is not None, "B=")
    a, pattern = taken(A), taken(A)._pattern

    def run(elements: Any, start: Any, *args: Any, **kwargs: Any) -> Any:
        return tuple(original(pattern.matrix(elements), np.array(start), None, *args, **kwargs))[:2]  # it writes to it

    w, v = as_constant("scipy.sparse.linalg.lobpcg", run, (a._values, X, *args), kwargs)
    return refined((a + a.T) * 0.5, w, v, 1.0)


REASONS = {
    "eigs": (
        "the phases of its eigenvectors are left to chance, and the matrix has no symmetry that would fix them",
        "Use  np.linalg.eig(A.toarray()),  or  eigsh  if the matrix is symmetric.",
    ),
    "funm_multiply_krylov": (
        "its Krylov space depends on the matrix in a way that is not followed",
        "Use  scipy.linalg.expm(A.toarray()) @ b  or another function of the dense matrix.",
    ),
    "onenormest": (
        "it is an estimate that is put together by chance",
        "Use  scipy.sparse.linalg.norm(A, 1).",
    ),
}
"""What is refused for traced elements: why, and what to write instead."""


def _refusing(name: str, reason: str, fix: str) -> Answer:
    def ours(original: Any, *args: Any, **kwargs: Any) -> Any:
        if not met(*args):
            return original(*args, **kwargs)
        raise UnsupportedError(message(f"scipy.sparse.linalg.{name} is not differentiated: {reason}.", fix=fix))

    return Answer("refused", ours, calls_back=True, note=reason, fix=fix)


for _name, (_reason, _fix) in REASONS.items():
    REPLACEMENTS["scipy.sparse.linalg"][_name] = _refusing(_name, _reason, _fix)
