"""Operations in SymPy's words: as their entry says, or as the table of SciPy's special functions does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ...core.entry.facts import SIGNS
from ...core.primitive import Marker, Primitive
from ...rules.partials import NAMES
from .expression import is_unmoved


def as_number(e: Any) -> Any:
    """A truth value as the 1 or 0 that it is in arithmetic."""
    from sympy import Integer, Piecewise, true  # type: ignore[import-untyped]

    if not is_condition(e):
        return e
    return Integer(int(e == true)) if e.is_Atom else Piecewise((1, e), (0, True))


def as_condition(e: Any) -> Any:
    """A number as a truth value: whether it is not 0."""
    from sympy import Ne  # type: ignore[import-untyped]

    return e if is_condition(e) else Ne(e, 0)


def is_condition(e: Any) -> bool:
    """Whether it is a truth value."""
    from sympy import Symbol  # type: ignore[import-untyped]
    from sympy.logic.boolalg import Boolean  # type: ignore[import-untyped]

    return isinstance(e, Boolean) and not isinstance(e, Symbol)  # SymPy lets a symbol stand for both


CONDITIONS = frozenset(("And", "Or", "Xor", "Not"))
"""SymPy's functions of truth values."""


def form_of(primitive: Primitive | Marker) -> Callable[..., Any] | None:
    """What an operation does with SymPy's expressions; None if it has no form there."""
    facts = primitive.facts
    if is_unmoved(facts):
        return _unmoved
    if facts.reduces is not None:
        return as_condition if facts.reduces.combines in (np.logical_and, np.logical_or) else _unmoved
    text = facts.form.sympy or (facts.form.sign if facts.form.sign in SIGNS else "")
    if text in CONDITIONS:
        return _of_conditions(text)
    if text == "chosen":
        return _chosen
    if text:
        return _of_numbers(lambda *args: _evaluated(text, args))
    if facts.usual_name:
        return _of_numbers(lambda *args: _evaluated(facts.usual_name, args))
    special = _special().get(primitive.name)
    return special and _of_numbers(special)


def _unmoved(x: Any) -> Any:
    return x


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: function(*[as_number(a) for a in args])


def _of_conditions(name: str) -> Callable[..., Any]:
    import sympy as sp  # type: ignore[import-untyped]

    return lambda *args: getattr(sp, name)(*[as_condition(a) for a in args])


def _evaluated(text: str, args: Sequence[Any]) -> Any:
    """A name, a sign, or an expression in SymPy's words, of what stands for x, y, z and w."""
    import sympy as sp  # type: ignore[import-untyped]

    if text.isidentifier() and text not in NAMES:
        return getattr(sp, text)(*args)
    if text in SIGNS:
        text = f"x {text} y" if len(args) > 1 else f"{text}x"
    return eval(text, {**vars(sp), **dict(zip(NAMES, args, strict=False))})  # noqa: S307  (from the catalogue)


def _chosen(condition: Any, x: Any, y: Any) -> Any:
    import sympy as sp  # type: ignore[import-untyped]

    rest = as_number(y)
    others = rest.args if isinstance(rest, sp.Piecewise) else [(rest, True)]  # one list of cases is easier to read
    return sp.Piecewise((as_number(x), as_condition(condition)), *others)


@cache
def _special() -> dict[str, Callable[..., Any]]:
    """SciPy's special functions: their forms are SymPy's mathematics, and long; a law compares the two.

    All others are written in their entry of the catalogue.
    """
    import sympy as sp  # type: ignore[import-untyped]

    root = sp.sqrt

    def zero_at(x: Any, rest: Any) -> Any:
        return sp.Piecewise((0, sp.Eq(x, 0)), (rest, True))

    def normal(x: Any) -> Any:
        return (1 + sp.erf(x / root(2))) / 2

    return {
        "exp10": lambda x: 10**x, "expit": lambda x: 1 / (1 + sp.exp(-x)), "logit": lambda x: sp.log(x / (1 - x)),
        "log_expit": lambda x: -sp.log(1 + sp.exp(-x)),
        "erf": sp.erf, "erfc": sp.erfc, "erfi": sp.erfi, "erfinv": sp.erfinv, "erfcinv": lambda x: sp.erfinv(1 - x),
        "erfcx": lambda x: sp.exp(x**2) * sp.erfc(x), "ndtr": normal, "log_ndtr": lambda x: sp.log(normal(x)),
        "dawsn": lambda x: root(sp.pi) / 2 * sp.exp(-(x**2)) * sp.erfi(x), "gamma": sp.gamma,
        "gammaln": lambda x: sp.log(sp.Abs(sp.gamma(x))), "loggamma": sp.loggamma, "rgamma": lambda x: 1 / sp.gamma(x),
        "psi": sp.digamma, "polygamma": sp.polygamma, "zeta": sp.zeta, "beta": lambda x, y: _beta(sp, x, y),
        "betaln": lambda x, y: sp.log(sp.Abs(_beta(sp, x, y))), "binom": sp.binomial, "poch": sp.RisingFactorial,
        "gammainc": lambda a, x: sp.lowergamma(a, x) / sp.gamma(a),
        "gammaincc": lambda a, x: sp.uppergamma(a, x) / sp.gamma(a), "exp1": lambda x: sp.expint(1, x), "expi": sp.Ei,
        "expn": sp.expint, "sici": lambda x: (sp.Si(x), sp.Ci(x)), "shichi": lambda x: (sp.Shi(x), sp.Chi(x)),
        "fresnel": lambda x: (sp.fresnels(x), sp.fresnelc(x)),
        "jv": sp.besselj, "yv": sp.bessely, "iv": sp.besseli, "kv": sp.besselk, "yn": sp.bessely, "kn": sp.besselk,
        "j0": lambda x: sp.besselj(0, x), "j1": lambda x: sp.besselj(1, x), "y0": lambda x: sp.bessely(0, x),
        "y1": lambda x: sp.bessely(1, x), "special.i0": lambda x: sp.besseli(0, x), "i1": lambda x: sp.besseli(1, x),
        "k0": lambda x: sp.besselk(0, x), "k1": lambda x: sp.besselk(1, x), "spherical_jn": sp.jn,
        "spherical_yn": sp.yn,
        "airy": lambda x: (sp.airyai(x), sp.airyaiprime(x), sp.airybi(x), sp.airybiprime(x)),
        "ellipk": sp.elliptic_k, "ellipe": sp.elliptic_e, "ellipkinc": sp.elliptic_f, "ellipeinc": sp.elliptic_e,
        "hyp0f1": lambda b, x: sp.hyper((), (b,), x), "hyp1f1": lambda a, b, x: sp.hyper((a,), (b,), x),
        "hyp2f1": lambda a, b, c, x: sp.hyper((a, b), (c,), x), "lambertw": lambda x, k=0, tol=0: sp.LambertW(x, k),
        "entr": lambda x: zero_at(x, -x * sp.log(x)), "xlogy": lambda x, y: zero_at(x, x * sp.log(y)),
        "xlog1py": lambda x, y: zero_at(x, x * sp.log(1 + y)), "rel_entr": lambda x, y: zero_at(x, x * sp.log(x / y)),
        "kl_div": lambda x, y: y - x + zero_at(x, x * sp.log(x / y)),
        "exprel": lambda x: sp.Piecewise((1, sp.Eq(x, 0)), ((sp.exp(x) - 1) / x, True)),
        "cosm1": lambda x: sp.cos(x) - 1, "powm1": lambda x, y: x**y - 1,
        "pseudo_huber": lambda d, r: d**2 * (root(1 + (r / d) ** 2) - 1),
        "huber": lambda d, r: sp.Piecewise((r**2 / 2, sp.Abs(r) <= d), (d * (sp.Abs(r) - d / 2), True)),
        "boxcox": lambda x, y: sp.Piecewise((sp.log(x), sp.Eq(y, 0)), ((x**y - 1) / y, True)),
        "eval_legendre": sp.legendre, "eval_chebyt": sp.chebyshevt, "eval_chebyu": sp.chebyshevu,
        "eval_laguerre": sp.laguerre, "eval_hermite": sp.hermite, "eval_gegenbauer": sp.gegenbauer,
        "eval_genlaguerre": sp.assoc_laguerre, "eval_jacobi": sp.jacobi,
        "eval_hermitenorm": lambda n, x: 2 ** (-n / sp.Integer(2)) * sp.hermite(n, x / root(2)),
        "sindg": lambda x: sp.sin(sp.pi * x / 180), "cosdg": lambda x: sp.cos(sp.pi * x / 180),
        "tandg": lambda x: sp.tan(sp.pi * x / 180), "cotdg": lambda x: sp.cot(sp.pi * x / 180),
        "i0e": lambda x: sp.exp(-sp.Abs(x)) * sp.besseli(0, x), "i1e": lambda x: sp.exp(-sp.Abs(x)) * sp.besseli(1, x),
        "k0e": lambda x: sp.exp(x) * sp.besselk(0, x), "k1e": lambda x: sp.exp(x) * sp.besselk(1, x),
        "ive": lambda v, x: sp.exp(-sp.Abs(x)) * sp.besseli(v, x), "kve": lambda v, x: sp.exp(x) * sp.besselk(v, x),
        "ellipkm1": lambda x: sp.elliptic_k(1 - x), "ndtri": lambda x: root(2) * sp.erfinv(2 * x - 1),
        "betainc": lambda a, b, x: sp.betainc_regularized(a, b, 0, x), "gammasgn": lambda x: sp.sign(sp.gamma(x)),
        "wrightomega": lambda x: sp.LambertW(sp.exp(x)),
        "inv_boxcox": lambda y, x: sp.Piecewise((sp.exp(y), sp.Eq(x, 0)), ((1 + x * y) ** (1 / x), True)),
        "sinc_derivative": lambda x, order: _slope(sp, lambda t: sp.sin(sp.pi * t) / (sp.pi * t), x, order),
        "i0_derivative": lambda x, order: _slope(sp, lambda t: sp.besseli(0, t), x, order),
    }  # fmt: skip


def _beta(sp: Any, x: Any, y: Any) -> Any:
    return sp.gamma(x) * sp.gamma(y) / sp.gamma(x + y)


def _slope(sp: Any, function: Callable[[Any], Any], x: Any, order: Any) -> Any:
    """The derivative of that order; whether the function is defined at 0 is not asked."""
    t = sp.Symbol("t", real=True)
    return sp.diff(function(t), t, int(order)).subs(t, x)
