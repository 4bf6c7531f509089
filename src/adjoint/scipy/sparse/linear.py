"""What becomes of `scipy.sparse.linalg` on traced values: solutions are implicit functions of the matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

from ...core.errors import UnsupportedError, message
from ...core.primitive import Primitive
from ...core.traced import Traced
from ...core.values import shape_of
from ...numpy.dispatch.arguments import as_value, ndim_of
from ...numpy.dispatch.opaque_calls import as_constant
from ...numpy.patching.replacements import replaces
from ...ops.linalg.patterns import iterated_solution, pattern_product, pattern_solution
from ...rules.linear import Linear
from ...rules.opaque import Opaque
from ...rules.stacking import one_by_one
from ..options import refuse
from ..patched_methods import has_traced, plain
from .matrices import is_ours, lifted, made, of_array


def met(*values: Any) -> bool:
    """Whether a traced value or a matrix with traced elements is among these."""
    return any([is_ours(v) for v in values]) or has_traced(*values)


def taken(a: Any) -> Any:
    """A matrix of ours of anything: sparse, dense, traced."""
    return lifted(a) if sparse.issparse(a) else of_array(a, sparse.csr_array)


def without_traces(a: Any) -> Any:
    """A matrix or array with plain elements."""
    if not is_ours(a):
        return plain(a)
    return a._pattern.matrix(np.asarray(plain(a._values)))


def _solved(a: Any, b: Any, transposed: bool = False) -> Any:
    """The solution for a vector, or for columns, which may be a sparse matrix."""
    if sparse.issparse(b):
        dense = pattern_solution(a._values, lifted(b).toarray(), pattern=a._pattern, transposed=transposed)
        return of_array(dense, type(b)) if not is_ours(b) else of_array(dense, b._plain_kind)
    return pattern_solution(a._values, as_value(b), pattern=a._pattern, transposed=transposed)


@replaces("scipy.sparse.linalg", "spsolve", calls_back=True, note="the sweep back uses the same factors")
def spsolve(original: Any, A: Any, b: Any, permc_spec: Any = None, use_umfpack: bool = True) -> Any:
    """`scipy.sparse.linalg.spsolve`."""
    if not met(A, b):
        return original(A, b, permc_spec, use_umfpack)
    a = taken(A)
    if a.shape[0] != a.shape[1] or shape_of(b)[0] != a.shape[0]:
        return original(without_traces(A), without_traces(b), permc_spec, use_umfpack)  # SciPy's own error
    if not sparse.issparse(b) and ndim_of(as_value(b)) == 2 and shape_of(b)[1] == 1:
        return _solved(a, as_value(b)[:, 0])
    return _solved(a, b)


@replaces("scipy.sparse.linalg", "spsolve_triangular", calls_back=True)
def spsolve_triangular(
    original: Any, A: Any, b: Any, lower: bool = True, overwrite_A: bool = False, overwrite_b: bool = False,
    unit_diagonal: bool = False,
) -> Any:  # fmt: skip
    """`scipy.sparse.linalg.spsolve_triangular`."""
    if not met(A, b):
        return original(A, b, lower, overwrite_A, overwrite_b, unit_diagonal)
    a = taken(A)
    if unit_diagonal:
        from .building import _triangle

        strict = _triangle(a, (lambda d: d < 0) if lower else (lambda d: d > 0), None)
        a = strict + sparse.eye_array(a.shape[0])
    return _solved(a, b)


class Factors:
    """What stands in for `SuperLU`: it solves, with respect to the matrix and the right-hand side."""

    def __init__(self, a: Any) -> None:
        self._a = a
        self.shape = a.shape
        self.nnz = a.nnz

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        """`SuperLU.solve`."""
        if trans == "H":
            return np.conjugate(_solved(self._a, np.conjugate(as_value(rhs)), True))
        return _solved(self._a, rhs, trans == "T")

    def __getattr__(self, name: str) -> Any:
        refuse("sparse.linalg.splu", name in ("L", "U", "perm_c", "perm_r"), f"its {name}; solve() is")
        raise AttributeError(name)


@replaces("scipy.sparse.linalg", "splu", calls_back=True, note="`solve` differentiates if the factors are made inside")
def splu(original: Any, A: Any, *args: Any, **kwargs: Any) -> Any:
    """`scipy.sparse.linalg.splu`; of a plain matrix too, as its factors may meet a traced right-hand side."""
    if not met(A):
        original(A, *args, **kwargs)  # its own errors
    return Factors(taken(A))


@replaces("scipy.sparse.linalg", "spilu", calls_back=True, note="constant: it is made to precondition")
def spilu(original: Any, A: Any, *args: Any, **kwargs: Any) -> Any:
    """`scipy.sparse.linalg.spilu`: of the plain values."""
    return original(without_traces(A), *args, **kwargs)


@replaces("scipy.sparse.linalg", "factorized", calls_back=True, note="if it is called inside the function")
def factorized(original: Any, A: Any) -> Callable[[Any], Any]:
    """`scipy.sparse.linalg.factorized`."""
    return Factors(taken(A)).solve


class Solver:
    """A solver that iterates, with its options; `exact` is the same one as far as it goes, for derivatives."""

    def __init__(self, original: Any, options: dict[str, Any], *, tight: bool = False) -> None:
        self.original, self.options, self.tight = original, options, tight

    @property
    def exact(self) -> Solver:
        """The solver for derivatives, which are those of the solution, not of the iteration."""
        return Solver(self.original, self.options, tight=True)

    def __call__(self, a: Any, b: Any, transposed: bool) -> tuple[Any, Any]:
        """The solution, and what the solver says of its success."""
        options = {k: without_traces(v) for k, v in self.options.items()}
        if self.tight:
            options |= {"rtol": 1e-13, "x0": None, "callback": None}
            options.pop("atol", None)
            if "show" in options:
                options["show"] = False
        if transposed and options.get("M") is not None:
            options["M"] = options["M"].T
        if ndim_of(b) == 2:
            found = [self.original(a, b[:, k], **options) for k in range(b.shape[1])]
            return np.stack([x for x, _ in found], 1), np.max([i for _, i in found])
        x, info = self.original(a, b, **options)
        return x, np.asarray(info)


ITERATIVE = ("bicg", "bicgstab", "cg", "cgs", "gmres", "gcrotmk", "lgmres", "minres", "qmr", "tfqmr")
"""Solvers that iterate, for a square matrix."""


def _iterative(name: str) -> Callable[..., Any]:
    def solver(original: Any, A: Any, b: Any, x0: Any = None, **options: Any) -> Any:
        is_operator = not sparse.issparse(A) and not isinstance(A, (np.ndarray, Traced, list, tuple))
        if is_operator:
            return _with_operator(original, name, A, b, {"x0": x0, **options})
        if not met(A, b):
            return original(A, b, x0=x0, **options)
        a, b = taken(A), as_value(b)
        column = ndim_of(b) == 2
        how = Solver(original, {"x0": x0, **options})
        x, info = iterated_solution(
            a._values, b[:, 0] if column else b, pattern=a._pattern, transposed=False, solver=how
        )
        return x, int(plain(info))

    return solver


for _name in ITERATIVE:
    replaces("scipy.sparse.linalg", _name, calls_back=True, note="the derivative of the solution")(_iterative(_name))


def _with_operator(original: Any, name: str, A: Any, b: Any, options: dict[str, Any]) -> Any:
    """A solver with an operator: linear in the right-hand side. Whatever the operator holds has to be plain."""
    n = A.shape[0]
    if has_traced(A.matvec(np.ones(n))):
        raise UnsupportedError(
            message(
                f"scipy.sparse.linalg.{name} is not differentiated with an operator that holds traced values.",
                fix="Use  ad.implicit.linear_solve(matvec, b),  or pass a matrix.",
            )
        )
    options = {k: without_traces(v) for k, v in options.items()}
    if not has_traced(b):
        return original(A, b, **options)
    found, info = operator_solution(
        as_value(b), solver=OperatorSolver(original, A, options, name in SYMMETRIC), back=False
    )
    return found, int(plain(info))


SYMMETRIC = ("cg", "minres")
"""Solvers whose operator is its own transpose."""


class OperatorSolver:
    """A solver, an operator and options, for the operator and its transpose."""

    def __init__(self, original: Any, operator: Any, options: dict[str, Any], symmetric: bool) -> None:
        self.original, self.operator, self.options, self.symmetric = original, operator, options, symmetric

    def __call__(self, b: Any, *, back: bool, tight: bool) -> tuple[Any, Any]:
        """The solution, and what the solver says of its success."""
        options = dict(self.options)
        if tight:
            options = {k: v for k, v in options.items() if k in ("maxiter", "restart", "M")} | {"rtol": 1e-13}
        if back and not self.symmetric and options.get("M") is not None:
            options["M"] = options["M"].T
        x, info = self.original(self.operator.T if back and not self.symmetric else self.operator, b, **options)
        return x, np.asarray(info)


def _operator_jvp(tangents: Any, out: Any, args: Any, params: dict[str, Any]) -> list[Any]:
    return [operator_solution(tangents[0], **{**params, "tight": True})[0], None]


def _operator_vjp(g: Any, out: Any, args: Any, params: dict[str, Any], needed: Any) -> list[Any]:
    return [operator_solution(g[0], **{**params, "tight": True, "back": not params["back"]})[0]]


operator_solution = Primitive(
    "operator_solution",
    lambda b, *, solver, back, tight=False: solver(b, back=back, tight=tight),
    derivative=Opaque(_operator_jvp, _operator_vjp),
    stacking=one_by_one,
    multiple=True,
    fails_from=0,
)


def _least_squares(original: Any, A: Any, b: Any, damp: Any, kwargs: dict[str, Any]) -> Any:
    """The solver's numbers, and the derivative of the solution of the normal equations."""
    refuse("sparse.linalg.lsqr", not sparse.issparse(A) and not isinstance(A, (np.ndarray, Traced)), "an operator")
    a, b = taken(A), as_value(b)
    pattern = a._pattern
    how = {k: without_traces(v) for k, v in kwargs.items()}

    def run(values: Any, right: Any, weight: Any) -> Any:
        return tuple(original(pattern.matrix(values), right, weight, **how))

    found = as_constant("scipy.sparse.linalg.lsqr", run, (a._values, b, np.asarray(damp) * 1.0), {})
    square = a.T @ a + sparse.eye_array(a.shape[1]) * as_value(damp * damp + 0.0 * damp)
    x = found[0]
    rest = pattern_product(a._values, b - a @ x, pattern=pattern, transposed=True) - damp * damp * x
    moved = pattern_solution(square._values, rest, pattern=square._pattern, transposed=False)
    return (x + moved - _fixed(moved), *found[1:])


def _fixed(x: Any) -> Any:
    return as_constant("fixed", lambda v: np.array(v), (x,), {})


@replaces("scipy.sparse.linalg", "lsqr", calls_back=True, note="the solution; norms and counts are constant")
def lsqr(original: Any, A: Any, b: Any, damp: Any = 0.0, *args: Any, **kwargs: Any) -> Any:
    """`scipy.sparse.linalg.lsqr`."""
    if not met(A, b, damp):
        return original(A, b, damp, *args, **kwargs)
    names = ("atol", "btol", "conlim", "iter_lim", "show", "calc_var", "x0")
    return _least_squares(original, A, b, damp, {**dict(zip(names, args, strict=False)), **kwargs})


@replaces("scipy.sparse.linalg", "lsmr", calls_back=True, note="the solution; norms and counts are constant")
def lsmr(original: Any, A: Any, b: Any, damp: Any = 0.0, *args: Any, **kwargs: Any) -> Any:
    """`scipy.sparse.linalg.lsmr`."""
    if not met(A, b, damp):
        return original(A, b, damp, *args, **kwargs)
    names = ("atol", "btol", "conlim", "maxiter", "show", "x0")
    return _least_squares(original, A, b, damp, {**dict(zip(names, args, strict=False)), **kwargs})


@replaces("scipy.sparse.linalg", "inv", calls_back=True)
def inv(original: Any, A: Any) -> Any:
    """`scipy.sparse.linalg.inv`."""
    return _solved(taken(A), sparse.eye_array(A.shape[0], format="csr")) if met(A) else original(A)


@replaces("scipy.sparse.linalg", "expm", calls_back=True, note="by the dense exponential")
def expm(original: Any, A: Any) -> Any:
    """`scipy.sparse.linalg.expm`."""
    if not met(A):
        return original(A)
    from ...ops.linalg.matrix_functions import expm as exponential

    found = exponential(taken(A).toarray())
    return of_array(found, A._plain_kind) if is_ours(A) else found


@replaces("scipy.sparse.linalg", "expm_multiply", calls_back=True, note="in the matrix by the dense exponential")
def expm_multiply(
    original: Any, A: Any, B: Any, start: Any = None, stop: Any = None, num: Any = None, endpoint: Any = None,
    traceA: Any = None,
) -> Any:  # fmt: skip
    """`scipy.sparse.linalg.expm_multiply`: linear in B, for a sparse matrix or an operator."""
    if not met(A, B, start, stop):
        return original(A, B, start, stop, num, endpoint, traceA)
    times = start is not None or stop is not None or num is not None
    if met(A, start, stop):
        from ...ops.linalg.matrix_functions import expm as exponential

        matrix = taken(A).toarray()
        if not times:
            return exponential(matrix) @ as_value(B)
        ends = (1.0 if endpoint is None else endpoint, 50 if num is None else num)
        grid = np.linspace(0.0, 1.0, ends[1], endpoint=bool(ends[0])) * (stop - start) + start
        return np.stack([exponential(matrix * t) @ as_value(B) for t in grid])
    refuse("sparse.linalg.expm_multiply", times, "several times at once for a constant matrix")
    return exponential_action(as_value(B), matrix=A)


exponential_action = Primitive(
    "exponential_action",
    lambda b, *, matrix: linalg.expm_multiply(matrix, b),
    derivative=Linear(lambda g, out, b, *, matrix: exponential_action(g, matrix=matrix.T)),
    stacking=one_by_one,
)


@replaces("scipy.sparse.linalg", "norm", calls_back=True)
def norm(original: Any, x: Any, ord: Any = None, axis: Any = None) -> Any:
    """`scipy.sparse.linalg.norm`: of the elements, or of sums of their sizes."""
    if not met(x):
        return original(x, ord, axis)
    a = taken(x)
    if axis is None:
        if ord in (None, "fro", "f"):
            return np.sqrt(np.sum(np.abs(a._values) ** 2))
        refuse("sparse.linalg.norm", ord not in (1, -1, np.inf, -np.inf), f"ord={ord!r}")
        sums = abs(a).sum(axis=0 if abs(ord) == 1 else 1)
        return np.max(sums) if ord > 0 else np.min(sums)
    refuse("sparse.linalg.norm", ord not in (None, 2, 1), f"ord={ord!r} along an axis")
    along = axis if isinstance(axis, int) else axis[0]
    if ord == 1:
        return np.ravel(abs(a).sum(axis=along))
    return np.sqrt(np.ravel(a.multiply(a).sum(axis=along)))


@replaces("scipy.sparse.linalg", "matrix_power", calls_back=True)
def matrix_power(original: Any, A: Any, power: int) -> Any:
    """`scipy.sparse.linalg.matrix_power`."""
    if not met(A):
        return original(A, power)
    found: Any = made(A._pattern, A._values, A._plain_kind)
    for _ in range(power - 1):
        found = found @ A
    return found if power else lifted(sparse.eye_array(A.shape[0]))
