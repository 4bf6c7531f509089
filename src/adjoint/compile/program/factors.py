"""Linear algebra in the words of LAPACK: matrices are factored once, and all that is asked is read from the factors.

`det(a)`, `slogdet(a)`, `inv(a)`, `solve(a, b)` and the same of `a` transposed share one elimination; a system whose
matrix is a Cholesky factor is triangular. LAPACK counts columns first, so that it is given transposed matrices and
gives them: these are views, which cost nothing. Small matrices are eliminated row by row, in registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.primitive import Marker, Primitive
from ...ir.builder import Builder
from ...ir.fold import makers
from ...ir.program import Step, Type
from ...ops.linalg.matrix_functions import triangular_solve
from ...ops.linalg.solving import cholesky, det, inv, slogdet, solve
from ...ops.shape import astype, broadcast_to, transpose
from ..runtime.lapack import whole_numbers

SMALL = 8
"""Rows up to which a matrix is eliminated in registers."""


class Routine(Marker):
    """A part of an operation of linear algebra, which may fail for some matrices."""

    __slots__ = ("fails_from",)

    def __init__(self, name: str, *, fails: bool = False, multiple: bool = False) -> None:
        super().__init__(name, multiple=multiple)
        self.fails_from = 0 if fails else None


ELIMINATE: Any = Routine("eliminate", multiple=True)
"""The factors of a matrix, both in one, and its pivots, as LAPACK gives them; of a small matrix row by row."""
DETERMINANT: Any = Routine("determinant")
LOG_DETERMINANT: Any = Routine("log_determinant", multiple=True)
SUBSTITUTE: Any = Routine("substitute", fails=True)
"""The solution, given factors, pivots and the right-hand side. `turned`: of the transposed system, whose matrix comes
last, for where a pivot is small or not finite: the factors of one are then not good enough for the other."""
INVERT: Any = Routine("invert", fails=True)
"""The inverse, given factors and pivots, and likewise if it is `turned`; transposed, unless the matrix is small."""
CHOLESKY: Any = Routine("factor_symmetric", fails=True)
"""The transposed Cholesky factor of a transposed matrix."""
TRIANGULAR: Any = Routine("substitute_triangular", fails=True)
"""The transposed solution, given the transposed matrix and right-hand side."""
DOUBLE = frozenset((det, slogdet, inv, solve, cholesky))
"""What NumPy computes in double precision, whatever it is given."""
ROUTINES = frozenset((ELIMINATE, DETERMINANT, LOG_DETERMINANT, SUBSTITUTE, INVERT, CHOLESKY, TRIANGULAR))


def with_factors(work: Builder) -> None:
    """Rewrite the steps of a program, with operations of linear algebra in terms of factors."""
    if any([step.primitive in EXPANSIONS for step in work.steps]) and whole_numbers() is not None:
        work.rewrite(_in_double(work))
        work.rewrite(_Factors(work).steps())


def _in_double(work: Builder) -> list[Step]:
    """The steps of a program, with NumPy's linear algebra of single precision in double, as NumPy computes it.

    Otherwise other matrices would be singular, or not positive definite.
    """
    single, double = np.dtype(np.float32), np.dtype(np.float64)
    steps: list[Step] = []
    wide: dict[int, int] = {}
    maker = makers(work.steps)

    def widened(n: int) -> int:
        if n not in wide:
            step = maker.get(n)
            wide[n] = work.new(work.types[n]._replace(dtype=double))
            if step is not None and step.primitive is transpose:  # both share one elimination
                steps.append(step._replace(args=(widened(step.args[0]),), outs=(wide[n],)))
            else:
                steps.append(Step(astype, (n,), {"dtype": double}, (wide[n],)))
        return wide[n]

    for step in work.steps:
        if step.primitive not in DOUBLE or any([work.types[n].dtype != single for n in (*step.args, *step.outs)]):
            steps.append(step)
            continue
        args = tuple([widened(a) for a in step.args])
        outs = tuple([work.new(work.types[o]._replace(dtype=double)) for o in step.outs])
        steps.append(step._replace(args=args, outs=outs))
        if step.primitive is cholesky:  # what is solved with it is a triangular system
            wide[step.outs[0]] = outs[0]
        steps += [Step(astype, (w,), {"dtype": single}, (o,)) for w, o in zip(outs, step.outs, strict=True)]
    return steps


class _Factors:
    """What is known of the matrices of a program while its steps are rewritten."""

    def __init__(self, work: Builder) -> None:
        self.work = work
        self.types = work.types
        self.made: list[Step] = []
        self.maker = makers(work.steps)
        self.factors: dict[int, tuple[int, int]] = {}
        """Factors and pivots, by matrix."""
        self.triangles: dict[int | None, int] = {}
        """Transposed Cholesky factors, by the factor."""
        plain = [s.args[0] for s in work.steps if s.primitive in ELIMINATED]
        self.upright = {a for a in plain if self.below(a) not in plain}
        """Matrices that are factored as they are, though they are views of others: nobody wants those."""

    def steps(self) -> list[Step]:
        for step in self.work.steps:
            expansion = EXPANSIONS.get(step.primitive)
            if expansion is None or not self.is_known(step) or not expansion(self, step):
                self.made.append(step)
        return self.made

    def is_known(self, step: Step) -> bool:
        """Whether LAPACK has it for such values: real ones of one precision, and some."""
        types = [self.types[n] for n in (*step.args, *step.outs)]
        first = types[0].dtype
        return first.char in "fd" and all([t.dtype == first and t.size for t in types])

    def below(self, a: int) -> int | None:
        """The matrices that these are the transposed ones of."""
        step = self.maker.get(a)
        if step is None or step.primitive is not transpose:
            return None
        return step.args[0] if tuple(step.params["axes"]) in _turns(len(self.types[a].shape)) else None

    def add(self, primitive: Any, args: tuple[int, ...], t: Type, **params: object) -> int:
        out = self.work.new(t)
        self.made.append(Step(primitive, args, params, (out,)))
        return out

    def turned(self, a: int, out: int | None = None) -> int:
        """The transposed matrices."""
        t = self.types[a]
        *lead, m, n = t.shape
        if out is None:
            out = self.work.new(t._replace(shape=(*lead, n, m)))
        self.made.append(Step(transpose, (a,), {"axes": _turns(len(t.shape))[0]}, (out,)))
        return out

    def eliminated(self, a: int) -> tuple[int, int, bool]:
        """Factors and pivots of a matrix, and whether they are those of the transposed one."""
        below = self.below(a)
        is_turned = below is not None and a not in self.upright
        base = below if is_turned and below is not None else a
        if base not in self.factors:
            t = self.types[base]
            whole = whole_numbers()
            assert whole is not None
            outs = self.work.new(t), self.work.new(Type(np.dtype(whole), t.shape[:-1], False))
            given = base if is_small(t) else self.turned(base)
            self.made.append(Step(ELIMINATE, (given,), {}, outs))
            self.factors[base] = outs
        return (*self.factors[base], is_turned)

    def again(self, a: int, is_turned: bool) -> tuple[int, ...]:
        """What is eliminated after all where the factors of the transposed matrix are not good enough, if it is."""
        if not is_turned:
            return ()
        return (a if is_small(self.types[a]) else self.turned(a),)

    def broadcast(self, b: int, t: Type) -> int:
        """A right-hand side for each matrix."""
        return b if self.types[b].shape == t.shape else self.add(broadcast_to, (b,), t, shape=t.shape)


def is_small(t: Type) -> bool:
    """Whether a matrix is eliminated in registers."""
    return t.shape[-1] <= SMALL


def _turns(rank: int) -> list[tuple[int, ...]]:
    """How the axes change places when matrices are transposed; counted from the front and from behind."""
    order = (*range(rank - 2), rank - 1, rank - 2)
    return [order, tuple([a - rank for a in order])]


def _determinant(f: _Factors, step: Step) -> bool:
    lu, pivots, _ = f.eliminated(step.args[0])
    found = DETERMINANT if step.primitive is det else LOG_DETERMINANT
    f.made.append(Step(found, (lu, pivots), {}, step.outs, step.line))
    return True


def _inverse(f: _Factors, step: Step) -> bool:
    (a,), (out,) = step.args, step.outs
    lu, pivots, is_turned = f.eliminated(a)
    args, params = (lu, pivots, *f.again(a, is_turned)), {"turned": is_turned}
    if is_small(f.types[out]):
        f.made.append(Step(INVERT, args, params, step.outs, step.line))
    else:
        f.turned(f.add(INVERT, args, f.types[out], **params), out)
    return True


def _solution(f: _Factors, step: Step) -> bool:
    (a, b), out = step.args, f.types[step.outs[0]]
    if f.types[a].shape[:-2] not in ((), out.shape[:-2]):
        return False
    b = f.broadcast(b, out)
    below = f.below(a)
    for factor, transposed in ((a, False), (below, True)):
        if factor in f.triangles:
            _by_triangle(f, f.triangles[factor], b, step, transposed=transposed)
            return True
    lu, pivots, is_turned = f.eliminated(a)
    again, params = f.again(a, is_turned), {"turned": is_turned}
    if is_small(f.types[lu]):
        f.made.append(Step(SUBSTITUTE, (lu, pivots, b, *again), params, step.outs, step.line))
        return True
    right = f.turned(b)
    f.turned(f.add(SUBSTITUTE, (lu, pivots, right, *again), f.types[right], **params), step.outs[0])
    return True


def _by_triangle(
    f: _Factors, triangle: int, b: int, step: Step, *, transposed: bool, lower: bool = True, unit: bool | None = None
) -> None:
    """Solve with a triangular matrix that is given transposed, or with the transposed one of that.

    Given `unit`, it is SciPy's solution, which takes neither infinities nor nan, nor a zero on the diagonal.
    """
    right = f.turned(b)
    params = {"transposed": transposed, "lower": lower, "unit": bool(unit), "checks": unit is not None}
    f.turned(f.add(TRIANGULAR, (triangle, right), f.types[right], **params), step.outs[0])


def _triangular(f: _Factors, step: Step) -> bool:
    """SciPy's solution of a triangular system."""
    a, b = step.args
    out = f.types[step.outs[0]]
    if f.types[a].shape[:-2] not in ((), out.shape[:-2]):
        return False
    b = f.broadcast(b, out)
    lower, unit = step.params["lower"], step.params["unit"]
    below = f.below(a)  # what LAPACK reads by columns is there already if a is a transposed view
    if below is not None:
        _by_triangle(f, below, b, step, transposed=False, lower=lower, unit=unit)
    else:
        _by_triangle(f, a, b, step, transposed=True, lower=not lower, unit=unit)
    return True


def _cholesky(f: _Factors, step: Step) -> bool:
    (a,), (out,) = step.args, step.outs
    f.triangles[out] = f.add(CHOLESKY, (f.turned(a),), f.types[out])
    f.turned(f.triangles[out], out)
    return True


Expansion = Callable[[_Factors, Step], bool]
EXPANSIONS: dict[Primitive, Expansion] = {
    det: _determinant,
    slogdet: _determinant,
    inv: _inverse,
    solve: _solution,
    cholesky: _cholesky,
    triangular_solve: _triangular,
}
ELIMINATED = (det, slogdet, inv, solve)
