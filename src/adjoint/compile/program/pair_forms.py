"""What complex steps are with pairs of floats: arithmetic as NumPy does it, part by part."""

from __future__ import annotations

import numpy as np

from ...core.primitive import Primitive
from ...ir.passes import program_pass
from ...ir.program import Program, Step
from ...ops import UFUNCS
from ...ops.complex import imag, real
from ...ops.reduction import sum as total
from ...ops.selection import where
from ...ops.shape import astype
from .calls import FUNCTIONS, fourier
from .pairs import Form, NoPairsError, Pairs, Parts, has_complex, real_of


@program_pass
def paired(program: Program) -> Program:
    """The program without complex numbers, if there is machine code for all it does with them; else as it is."""
    if not has_complex(program):
        return program
    border = [program.types[n] for n in (*program.inputs, *program.outputs)]
    if any([t.dtype.kind == "c" and not t.shape for t in border]):  # Python gives or takes a number
        return program
    try:
        return Pairs(program, FORMS).program()
    except NoPairsError:
        return program


def _operands(p: Pairs, step: Step) -> list[Parts]:
    """Both parts of each operand, in the precision of the result."""
    dtype = real_of(p.old.types[step.outs[0]].dtype)
    return [p.parts(a, dtype) for a in step.args]


def _each_part(ufunc: np.ufunc) -> Form:
    """The same function of the real and of the imaginary parts."""

    def form(p: Pairs, step: Step) -> None:
        taken = _operands(p, step)
        p.define(step.outs[0], *[p.op(ufunc, *[x[which] for x in taken]) for which in (0, 1)])

    return form


def _multiplied(p: Pairs, x: Parts, y: Parts) -> Parts:
    (a, b), (c, d) = x, y
    product, minus, plus = np.multiply, np.subtract, np.add
    re = p.op(minus, p.op(product, a, c), p.op(product, b, d))
    return re, p.op(plus, p.op(product, a, d), p.op(product, b, c))


def _multiply(p: Pairs, step: Step) -> None:
    x, y = _operands(p, step)
    p.define(step.outs[0], *_multiplied(p, x, y))


def _square(p: Pairs, step: Step) -> None:
    (x,) = _operands(p, step)
    p.define(step.outs[0], *_multiplied(p, x, x))


def _divide(p: Pairs, step: Step) -> None:
    """Smith's way, as NumPy's: the smaller part of the divisor is divided by the larger one."""
    (a, b), (c, d) = _operands(p, step)
    by_real = p.op(np.greater_equal, p.op(np.absolute, c), p.op(np.absolute, d))
    large, small = p.chosen(by_real, c, d), p.chosen(by_real, d, c)
    ratio = p.op(np.divide, small, large)
    scale = p.op(np.divide, p.number(p.types[c].dtype.type(1)), p.op(np.add, large, p.op(np.multiply, small, ratio)))
    first, second = p.chosen(by_real, a, b), p.chosen(by_real, b, a)
    re = p.op(np.multiply, p.op(np.add, first, p.op(np.multiply, second, ratio)), scale)
    im = p.chosen(
        by_real,
        p.op(np.subtract, b, p.op(np.multiply, a, ratio)),
        p.op(np.subtract, p.op(np.multiply, b, ratio), a),
    )
    im = p.op(np.multiply, im, scale)
    is_zero = p.op(np.equal, p.op(np.absolute, large), p.number(p.types[c].dtype.type(0)))
    size = p.op(np.absolute, c)
    re, im = p.chosen(is_zero, p.op(np.divide, a, size), re), p.chosen(is_zero, p.op(np.divide, b, size), im)
    p.define(step.outs[0], re, im)


def _exp(p: Pairs, step: Step) -> None:
    """e^a (cos b, sin b); in two factors where e^a alone would be too large, and as C has it where b is no angle."""
    ((a, b),) = _operands(p, step)
    dtype = p.types[a].dtype
    zero, infinity, most = (p.number(dtype.type(x)) for x in (0.0, np.inf, np.floor(np.log(np.finfo(dtype).max))))
    is_large = p.op(np.greater, a, most)
    size = p.op(np.exp, p.chosen(is_large, p.op(np.subtract, a, most), a))
    scale = p.chosen(is_large, p.op(np.exp, most), p.number(dtype.type(1)))
    re, im = [p.op(np.multiply, p.op(np.multiply, scale, p.op(f, b)), size) for f in (np.cos, np.sin)]
    is_angle, is_gone = p.op(np.isfinite, b), p.op(np.equal, a, p.op(np.negative, infinity))
    is_endless = p.op(np.equal, a, infinity)
    without = p.chosen(is_gone, zero, p.chosen(is_endless, a, re))
    re = p.chosen(is_angle, re, without)
    im = p.chosen(is_angle, im, p.chosen(is_gone, zero, im))
    p.define(step.outs[0], re, p.chosen(p.op(np.equal, b, zero), b, im))


def _conjugate(p: Pairs, step: Step) -> None:
    ((re, im),) = _operands(p, step)
    p.define(step.outs[0], re, p.op(np.negative, im))


def _part(which: int) -> Form:
    """The real or the imaginary part."""

    def form(p: Pairs, step: Step) -> None:
        (out,), found = step.outs, p.parts(step.args[0])[which]
        p.add(astype, (found,), p.types[out], out, dtype=p.types[out].dtype)

    return form


def _absolute(p: Pairs, step: Step) -> None:
    p.add(UFUNCS[np.hypot], p.parts(step.args[0]), p.types[step.outs[0]], step.outs[0])


def _finite(p: Pairs, step: Step) -> None:
    re, im = [p.op(np.isfinite, part) for part in p.parts(step.args[0])]
    p.add(UFUNCS[np.bitwise_and], (re, im), p.types[step.outs[0]], step.outs[0])


def _converted(p: Pairs, step: Step) -> None:
    (out,) = step.outs
    if not p.is_complex(out):
        raise NoPairsError
    p.define(out, *p.parts(step.args[0], real_of(p.old.types[out].dtype)))


def _where(p: Pairs, step: Step) -> None:
    condition, *rest = step.args
    if p.is_complex(condition):
        raise NoPairsError
    x, y = [p.parts(a, real_of(p.old.types[step.outs[0]].dtype)) for a in rest]
    p.define(step.outs[0], p.chosen(condition, x[0], y[0]), p.chosen(condition, x[1], y[1]))


FORMS: dict[Primitive, Form] = {
    UFUNCS[np.add]: _each_part(np.add),
    UFUNCS[np.subtract]: _each_part(np.subtract),
    UFUNCS[np.negative]: _each_part(np.negative),
    UFUNCS[np.multiply]: _multiply,
    UFUNCS[np.divide]: _divide,
    UFUNCS[np.square]: _square,
    UFUNCS[np.exp]: _exp,
    UFUNCS[np.conjugate]: _conjugate,
    UFUNCS[np.absolute]: _absolute,
    UFUNCS[np.isfinite]: _finite,
    real: _part(0),
    imag: _part(1),
    astype: _converted,
    where: _where,
    total: Pairs.by_parts,
    **dict.fromkeys(FUNCTIONS, fourier),
}
