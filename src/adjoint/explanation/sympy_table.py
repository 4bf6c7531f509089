"""Primitives of the catalogue as SymPy's functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any


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


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """What each primitive does with SymPy's expressions; a primitive that is not here has no form there."""
    return {name: _of_numbers(f) for name, f in {**_elementary(), **_special()}.items()} | _logical()


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: function(*[as_number(a) for a in args])


def _elementary() -> dict[str, Callable[..., Any]]:
    import sympy as sp  # type: ignore[import-untyped]

    one, half = sp.Integer(1), sp.Rational(1, 2)

    def heaviside(x: Any, y: Any) -> Any:
        return sp.Piecewise((0, x < 0), (y, sp.Eq(x, 0)), (1, True))

    def clip(x: Any, low: Any, high: Any) -> Any:
        return sp.Min(sp.Max(x, low), high)

    def copysign(x: Any, y: Any) -> Any:
        return sp.Abs(x) if y.is_nonnegative else sp.Piecewise((-sp.Abs(x), y < 0), (sp.Abs(x), True))

    def rounded(x: Any) -> Any:
        """To the nearest whole number; halves to the even one."""
        low = sp.floor(x)
        even = sp.Piecewise((low, sp.Eq(sp.Mod(low, 2), 0)), (low + 1, True))
        return sp.Piecewise((low, x - low < half), (low + 1, x - low > half), (even, True))

    def truncated(x: Any) -> Any:
        return sp.sign(x) * sp.floor(sp.Abs(x))

    return {
        "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y,
        "divide": lambda x, y: x / y, "negative": lambda x: -x, "positive": lambda x: x, "square": lambda x: x**2,
        "power": lambda x, y: x**y, "float_power": lambda x, y: x**y, "reciprocal": lambda x: 1 / x,
        "sqrt": sp.sqrt, "cbrt": lambda x: sp.sign(x) * sp.Abs(x) ** sp.Rational(1, 3), "exp": sp.exp,
        "exp2": lambda x: 2**x, "exp10": lambda x: 10**x, "expm1": lambda x: sp.exp(x) - 1, "log": sp.log,
        "log2": lambda x: sp.log(x) / sp.log(2), "log10": lambda x: sp.log(x) / sp.log(10),
        "log1p": lambda x: sp.log(1 + x), "logaddexp": lambda x, y: sp.log(sp.exp(x) + sp.exp(y)),
        "logaddexp2": lambda x, y: sp.log(2**x + 2**y) / sp.log(2),
        "sin": sp.sin, "cos": sp.cos, "tan": sp.tan, "arcsin": sp.asin, "arccos": sp.acos, "arctan": sp.atan,
        "arctan2": sp.atan2, "hypot": lambda x, y: sp.sqrt(x**2 + y**2), "sinh": sp.sinh, "cosh": sp.cosh,
        "tanh": sp.tanh, "arcsinh": sp.asinh, "arccosh": sp.acosh, "arctanh": sp.atanh,
        "sech_squared": lambda x: 1 / sp.cosh(x) ** 2, "deg2rad": lambda x: sp.pi * x / 180,
        "rad2deg": lambda x: 180 * x / sp.pi, "expit": lambda x: one / (1 + sp.exp(-x)),
        "logistic": lambda x: one / (1 + sp.exp(-x)), "logit": lambda x: sp.log(x / (1 - x)),
        "log_expit": lambda x: -sp.log(1 + sp.exp(-x)), "absolute": sp.Abs, "fabs": sp.Abs, "sign": sp.sign,
        "maximum": sp.Max, "minimum": sp.Min, "fmax": sp.Max, "fmin": sp.Min, "clip": clip, "heaviside": heaviside,
        "copysign": copysign, "floor": sp.floor, "ceil": sp.ceiling, "trunc": truncated, "rint": rounded,
        "floor_divide": lambda x, y: sp.floor(x / y), "remainder": lambda x, y: x - y * sp.floor(x / y),
        "fmod": lambda x, y: x - y * truncated(x / y), "fraction": lambda x: x - truncated(x),
        "ldexp": lambda x, n: x * 2**n, "real": sp.re, "imag": sp.im, "conjugate": sp.conjugate,
        **dict.fromkeys(("astype", "item", "stop_gradient", "reshape", "broadcast_to", "sum", "prod", "max", "min",
                         "index", "transpose", "peak"), lambda x: x),
    }  # fmt: skip


def _special() -> dict[str, Callable[..., Any]]:
    import sympy as sp  # type: ignore[import-untyped]

    root = sp.sqrt

    def zero_at(x: Any, rest: Any) -> Any:
        return sp.Piecewise((0, sp.Eq(x, 0)), (rest, True))

    def normal(x: Any) -> Any:
        return (1 + sp.erf(x / root(2))) / 2

    return {
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


def _logical() -> dict[str, Callable[..., Any]]:
    import sympy as sp  # type: ignore[import-untyped]

    def compared(relation: Any) -> Callable[..., Any]:
        return lambda x, y: relation(as_number(x), as_number(y))

    def joined(operation: Any) -> Callable[..., Any]:
        return lambda *args: operation(*[as_condition(a) for a in args])

    def chosen(condition: Any, x: Any, y: Any) -> Any:
        rest = as_number(y)
        others = rest.args if isinstance(rest, sp.Piecewise) else [(rest, True)]  # one list of cases is easier to read
        return sp.Piecewise((as_number(x), as_condition(condition)), *others)

    conditions = {
        "greater": sp.Gt, "greater_equal": sp.Ge, "less": sp.Lt, "less_equal": sp.Le, "equal": sp.Eq,
        "not_equal": sp.Ne,
    }  # fmt: skip
    return {
        **{name: compared(relation) for name, relation in conditions.items()},
        **dict.fromkeys(("logical_and", "bitwise_and", "all"), joined(sp.And)),
        **dict.fromkeys(("logical_or", "bitwise_or", "any"), joined(sp.Or)),
        **dict.fromkeys(("logical_xor", "bitwise_xor"), joined(sp.Xor)),
        **dict.fromkeys(("logical_not", "invert"), joined(sp.Not)),
        "where": chosen,
        "signbit": lambda x: x < 0,
        "isnan": lambda x: sp.false,
        "isinf": lambda x: sp.false,
        "isfinite": lambda x: sp.true,
    }
