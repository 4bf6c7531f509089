"""The names of `scipy.special` that are no universal functions with a rule: sequences, polynomials, zeros, settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.special as sc

from ..core.errors import UnsupportedError, message
from ..core.primitive import Primitive
from ..core.values import Value
from ..numpy.dispatch.arguments import as_value
from ..numpy.patching.replacements import constant, refuses, replaces, runs_through
from ..rules.opaque import Opaque
from ..rules.stacking import one_by_one
from .options import refuse
from .patched_methods import has_traced, method

HIGHEST = 2
"""Up to which order SciPy gives derivatives of Legendre functions."""


def _of_order(z: Any, *, function: Any, before: Any, options: Any, order: int, row: bool) -> Any:
    found = function(*before, z, diff_n=order, **dict(options))
    return np.asarray(found[order] if order or row else found)


def _next(args: Sequence[Value], params: dict[str, Any]) -> Value:
    if params["order"] == HIGHEST:
        raise UnsupportedError(
            message(
                "SciPy's Legendre functions are differentiated twice at most.",
                fix="Use  scipy.special.eval_legendre,  which has derivatives of all orders.",
            )
        )
    return legendre_function(args[0], **{**params, "order": params["order"] + 1})


legendre_function = Primitive(
    "legendre_function",
    _of_order,
    derivative=Opaque(
        lambda tangents, out, args, params: _next(args, params) * tangents[0],
        lambda g, out, args, params, needed: [_next(args, params) * g],
    ),
    stacking=one_by_one,
)
"""The derivative of some order of a Legendre function, or of rows of them, in its place."""


def _in_its_place(function: Any, count: int, *, rows: bool) -> Callable[..., Any]:
    """Our version of a Legendre function with so many arguments before its place."""

    def ours(*args: Any, diff_n: int = 0, **options: Any) -> Any:
        z = as_value(args[count])
        before = args[:count]
        branch = dict(zip(("branch_cut",), args[count + 1 :], strict=False))
        how = {
            "function": function, "before": before, "options": tuple({**branch, **options}.items()), "row": rows,
        }  # fmt: skip
        parts = [legendre_function(z, order=k, **how) for k in range(diff_n + 1)]
        return np.stack(parts) if rows or diff_n else parts[0]

    return ours


LEGENDRE = {"legendre_p": 1, "assoc_legendre_p": 2, "sph_legendre_p": 2}
"""Legendre functions, and how many orders come before the place."""
VERSIONS = {
    id(getattr(sc, name + suffix)): _in_its_place(getattr(sc, name + suffix), count, rows=bool(suffix))
    for name, count in LEGENDRE.items()
    for suffix in ("", "_all")
}
"""Our versions, by the identity of SciPy's objects, which are of one class."""
runs_through(
    "scipy.special", *LEGENDRE, *[f"{name}_all" for name in LEGENDRE], note="in its place, twice; called as one step"
)


@method(type(sc.legendre_p), "__call__")
def call(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    """SciPy's Legendre functions, which are objects that are called."""
    if id(self) in VERSIONS and has_traced(*args):
        return VERSIONS[id(self)](*args, **kwargs)
    return original(self, *args, **kwargs)


@replaces("scipy.special", "riccati_jn")
def riccati_jn(n: int, x: Any) -> Any:
    """`scipy.special.riccati_jn`: x j(x), and its slope."""
    return _riccati(sc.spherical_jn, n, as_value(x))


@replaces("scipy.special", "riccati_yn")
def riccati_yn(n: int, x: Any) -> Any:
    """`scipy.special.riccati_yn`: x y(x), and its slope."""
    return _riccati(sc.spherical_yn, n, as_value(x))


def _riccati(function: Any, n: int, x: Any) -> Any:
    values = [function(k, x) for k in range(n + 1)]
    slopes = [function(k, x, derivative=True) for k in range(n + 1)]
    return np.stack([x * v for v in values]), np.stack([v + x * s for v, s in zip(values, slopes, strict=True)])


def _sequence(function: Any) -> Callable[..., Any]:
    """Parabolic cylinder functions of the orders up to v."""

    def ours(v: Any, x: Any) -> Any:
        refuse(f"special.{function.__name__}_seq", v < 0, "a negative order")
        orders = (v - int(v)) + np.arange(max(int(v), 1) + 1)
        both = [function(order, as_value(x)) for order in orders]
        return np.stack([a for a, _ in both]), np.stack([b for _, b in both])

    return ours


replaces("scipy.special", "pbdv_seq", note="for orders that are not negative")(_sequence(sc.pbdv))
replaces("scipy.special", "pbvv_seq", note="for orders that are not negative")(_sequence(sc.pbvv))

runs_through("scipy.special", "h1vp", "h2vp", "ivp", "jvp", "kvp", "yvp", note="in its place")
runs_through("scipy.special", "assoc_laguerre", note="in its place")
POLYNOMIALS = (
    "legendre", "chebyt", "chebyu", "chebyc", "chebys", "hermite", "hermitenorm", "laguerre", "genlaguerre",
    "gegenbauer", "jacobi", "sh_legendre", "sh_chebyt", "sh_chebyu", "sh_jacobi",
)  # fmt: skip
runs_through("scipy.special", *POLYNOMIALS, note="the polynomial, in its place; parameters are plain")
runs_through("scipy.special", "errstate", "geterr", "seterr", note="a setting")

ZEROS = (
    "ai_zeros", "bei_zeros", "beip_zeros", "ber_zeros", "berp_zeros", "bi_zeros", "erf_zeros", "fresnel_zeros",
    "fresnelc_zeros", "fresnels_zeros", "jn_zeros", "jnjnp_zeros", "jnp_zeros", "jnyn_zeros", "kei_zeros", "keip_zeros",
    "kelvin_zeros", "ker_zeros", "kerp_zeros", "y0_zeros", "y1_zeros", "y1p_zeros", "yn_zeros", "ynp_zeros",
)  # fmt: skip
constant("scipy.special", *ZEROS, note="of whole numbers")
constant("scipy.special", "bernoulli", "euler", "stirling2", "factorial2", "factorialk", note="of whole numbers")
ROOTS = {
    "legendre": "p", "chebyt": "t", "chebyu": "u", "chebyc": "c", "chebys": "s", "hermite": "h", "hermitenorm": "he",
    "laguerre": "l", "sh_legendre": "ps", "sh_chebyt": "ts", "sh_chebyu": "us",
}  # fmt: skip
constant(
    "scipy.special", *[f"roots_{name}" for name in ROOTS], *[f"{short}_roots" for short in ROOTS.values()],
    note="of the degree",
)  # fmt: skip
refuses(
    "scipy.special", "j_roots", "roots_jacobi", "js_roots", "roots_sh_jacobi", "la_roots", "roots_genlaguerre",
    "cg_roots", "roots_gegenbauer",
    reason="nodes and weights are not followed in the parameters of the polynomials",
    fix="Pass plain parameters: nodes and weights are then constants.",
)  # fmt: skip
refuses(
    "scipy.special", "bdtrik", "bdtrin", "btdtria", "btdtrib", "chdtriv", "chndtridf", "fdtridfd", "gdtrib", "nbdtrik",
    "nbdtrin", "ncfdtridfd", "ncfdtridfn", "nctdtridf", "pdtrik", "stdtridf",
    reason="the slope of its distribution in a shape, a count or degrees of freedom has no closed form",
    fix="Give it a rule with  ad.custom_rule,  by a difference quotient of the distribution.",
)  # fmt: skip
refuses(
    "scipy.special", "zetac",
    reason="the slope of the zeta function has no closed form",
    fix="Give it a rule with  ad.custom_rule.",
)  # fmt: skip
refuses(
    "scipy.special", "obl_ang1_cv", "obl_rad1_cv", "obl_rad2_cv", "pro_ang1_cv", "pro_rad1_cv", "pro_rad2_cv",
    reason="its characteristic value is an argument that depends on the others",
    fix="Use the function without  _cv,  which differentiates in its place.",
)  # fmt: skip
refuses(
    "scipy.special", "obl_rad2",
    reason="SciPy's value and slope contradict each other for odd n - m",
    fix="Use  scipy.special.obl_rad1,  or give it a rule with  ad.custom_rule.",
)  # fmt: skip
refuses(
    "scipy.special", "obl_cv_seq", "pro_cv_seq", "mathieu_even_coef", "mathieu_odd_coef",
    reason="characteristic values and coefficients are not followed in their parameter",
    fix="Pass a plain parameter.",
)  # fmt: skip
refuses(
    "scipy.special", "ellip_harm", "ellip_harm_2", "ellip_normal",
    reason="ellipsoidal harmonics are found by compiled code that gives no slopes",
    fix="Give it a rule with  ad.custom_rule.",
)  # fmt: skip
refuses(
    "scipy.special", "lqn", "lqmn",
    reason="compiled code fills whole tables of them",
    fix="Write the closed form,  0.5 * np.log((1 + z) / (1 - z))  for degree 0, or give a rule with  ad.custom_rule.",
)  # fmt: skip
refuses(
    "scipy.special", "lmbda", "pbdn_seq",
    reason="compiled code fills a whole sequence of them",
    fix="Use  gamma(v + 1) * jv(v, x) / (x / 2)**v  for lmbda,  pbdv  or  pbdv_seq  for parabolic cylinders.",
)  # fmt: skip
refuses(
    "scipy.special", "sph_harm_y_all",
    reason="compiled code fills a whole table of them",
    fix="Use  scipy.special.sph_harm_y  for each order, which differentiates.",
)  # fmt: skip
