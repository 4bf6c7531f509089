"""Random programs of two numbers, and what a page needs to know of a function."""

from __future__ import annotations

import linecache
import random
import sys

import numpy as np
import scipy.special

import adjoint as ad
from adjoint.core.tree import flatten
from adjoint.explanation.page.stepping import live_page
from adjoint.explanation.show.table import Table

ONE = """
np.sin({a}); np.exp(0.3*{a}); np.tanh({a}); {a}**2; {a}**3; -{a}; np.sqrt({a}); np.log({a}); np.abs({a}); 3/{a}
1/({a}**2+1); 2.0**{a}; {a}**-1; {a}**-0.5; abs({a})**1.5; np.maximum({a},0); np.maximum({a},0.1); np.minimum({a},0.0)
np.where({a}>0.2,{a},2*{a}); np.where({a},{a}*2,{a}-1); np.where({a}>0,np.sqrt({a}),0.0); np.clip({a},-0.5,0.7)
np.where({a}==0,1.0,np.sin({a})/{a}); np.sqrt({a}**2); np.cbrt({a}); np.expm1({a}); np.log1p({a}); np.exp2({a})
np.arctan({a}); np.arcsin({a}); np.sinh({a}); np.tan({a}); np.logaddexp({a},0.3); np.hypot({a},1.5); np.sign({a})*{a}
np.floor({a})+{a}; np.rint({a})*{a}; {a}%0.7; np.fmod({a},1.3); np.heaviside({a},0.5)*{a}; np.copysign({a},-1.0)
({a}>0)*{a}; (({a}>0)==1)*{a}; (({a}>0)+({a}>1))*{a}; (({a}>0)!=({a}>1))*{a}; np.logical_xor({a}>0,{a}>1)*{a}
(1.0*{a}).astype(int)*{a}; (1.0*{a}).astype(bool)*{a}; {a}*int({a}); ({a} if {a}>0.3 else -{a}); max({a},0.2)
({a} if not {a} else 2*{a}); {a}**0.0; 0*{a}; scipy.special.erf({a}); scipy.special.expit({a}); scipy.special.gamma({a})
"""

TWO = """
{a}+{b}; {a}-{b}; {a}*{b}; {a}/{b}; {a}**{b}; np.maximum({a},{b}); np.minimum({a},{b}); np.fmax({a},{b})
np.arctan2({a},{b}); np.hypot({a},{b}); np.logaddexp({a},{b}); np.copysign({a},{b}); np.remainder({a},{b})
np.where({a}>{b},{a}*2,{b}); np.where(({a}>0)&({b}>0),{a},{b}); np.where(({a}>0)|({b}>0),{a}*{b},{b})
({a} if {a}>{b} else {b}); min({a},{b},0.5); np.max(np.array([{a},{b},0.3])); np.sort(np.array([{a},{b}]))[0]
np.count_nonzero(np.array([{a},{b}])>0)*{a}; np.prod(np.array([{a},{b},{a}])); np.linalg.norm(np.array([{a},{b}]))
np.any(np.array([{a},{b}])>0)*{a}; np.var(np.array([{a},{b}])); np.interp({a},np.array([-1.,1.]),np.array([0.,{b}]))
"""

LOOPS = """
for _ in range(3): {n} = np.sin({n}) + {a}*0.1
while {n} < 2 and {n} > -2 and abs({a}) > 0.01: {n} = {n} + abs({a}) + 0.3
"""


def programs(seed, *, count):
    """Functions of two numbers, each with a point where it and its gradient can be computed."""
    choose, found = random.Random(seed), []
    while len(found) < count:
        fun, point = program(choose), [choose.gauss(0, 1.2), choose.gauss(0, 1.2)]
        try:
            with np.errstate(all="ignore"):
                results_of(fun, point), gradient_of(fun, point)
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
        found.append((fun, point))
    return found


def program(choose):
    """A few lines, each of which may use what is above it."""
    one, two, loops = (
        [p.strip() for p in text.replace("\n", ";").split(";") if p.strip()] for text in (ONE, TWO, LOOPS)
    )
    lines, names = [], ["x", "y"]
    for name in [f"a{k}" for k in range(choose.randint(1, 5))]:
        a, b, kind = choose.choice(names), choose.choice(names), choose.random()
        lines.append(f"{name} = 1.0*" + choose.choice(one if kind < 0.5 else two).format(a=a, b=b))
        if kind > 0.9:
            lines.append(choose.choice(loops).format(n=name, a=a))
        names.append(name)
    last = choose.choice([f"{names[-1]} + {choose.choice(names)}*x", f"{names[-1]} + x, y*{choose.choice(names)}"])
    source = "\n    ".join(["def f(x, y):", *lines, f"return {last}\n"])
    file = f"<program {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {"np": np, "scipy": scipy}
    exec(compile(source, file, "exec"), space)
    space["f"].source = source
    return space["f"]


def results_of(fun, point):
    """All numbers that a function returns."""
    return [float(np.asarray(x)) for x in flatten(fun(*map(np.float64, point)))[0]]


def gradient_of(fun, point):
    """The gradient of their sum, for each input."""

    def total(*args):
        return sum(1.0 * x for x in flatten(fun(*args))[0])

    return [float(g) for g in ad.grad(total, tuple(range(len(point))))(*map(np.float64, point))]


def live_data(fun, point):
    """The data of a page that computes a function of numbers."""
    args = [np.float64(x) if isinstance(x, float) else x for x in point]
    with np.errstate(all="ignore"):
        view = ad.explain(fun)(*args)._seen("scalar", collapse=False, mode="reverse")
    return live_page(view, Table(view, digits=4, names=True, lines=False, most=sys.maxsize))
