"""Integrals of functions: differentiated under the integral sign, and at the limits by Leibniz's rule.

The integral of a derivative is found as the integral itself, to the same tolerances and over the same break points; it
may be differentiated again. Cotangents of many values are found by one integral of a vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ...core.tree import flatten
from ...core.values import dtype_of, shape_of
from ...numpy.patching.replacements import replaces
from ...transforms.callbacks.reach import Reach
from ...transforms.callbacks.rule import SolverRule, with_moved
from ...transforms.callbacks.solver import Callbacks
from ...transforms.jvp import jvp
from ...transforms.step import conjugated
from ...transforms.stop import stop_gradient
from ...transforms.vjp import vjp_inside
from .calling import SCIPY, Given, SolverCall, as_tuple

FEW = 3
"""So many integrals of numbers are found one by one, with all that QUADPACK does at singular ends."""
UNDER = "under the integral sign; limits and break points by Leibniz's rule, infinite ones stay"


@replaces(SCIPY, "quad", calls_back=True, note=UNDER)
def quad(original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """`scipy.integrate.quad`."""
    return _integrated("quad", "func", original, args, kwargs)


@replaces(SCIPY, "quad_vec", calls_back=True, note=UNDER)
def quad_vec(original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """`scipy.integrate.quad_vec`."""
    return _integrated("quad_vec", "f", original, args, kwargs)


def _integrated(
    name: str, key: str, original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    asked = SolverCall(name, original, args, kwargs, key)
    if not asked.is_traced:
        return asked.plain()

    def solve(given: Given, values: Sequence[Any]) -> Any:
        found = asked.run(asked.looked_at(given))
        return _in_dicts(found) if name == "quad_vec" else found

    found = asked.callbacks.solved(asked.name, solve, IntegralRule(name, key, asked.callbacks).opaque)
    return _in_bunches(found) if name == "quad_vec" else found


def _in_dicts(found: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*found[:2], *[vars(info) for info in found[2:]])


def _in_bunches(found: tuple[Any, ...]) -> tuple[Any, ...]:
    from types import SimpleNamespace

    return (*found[:2], *[SimpleNamespace(**info) for info in found[2:]])


class IntegralRule(SolverRule):
    """What moves an integral: the integrand, the limits, the break points."""

    results = 1

    def __init__(self, name: str, key: str, callbacks: Callbacks) -> None:
        super().__init__(callbacks)
        self.name, self.key = name, key
        marks = [object() for _ in callbacks.values]
        where, _ = callbacks.parts(marks)
        numbers = {id(mark): k for k, mark in enumerate(marks)}
        self.places = {
            part: [numbers[id(x)] for x in flatten(where.get(part))[0] if id(x) in numbers]
            for part in ("a", "b", "points", "weight", "wvar", "wopts")
        }
        """Of which values the limits and the break points are made."""
        objects = Reach((where[key], where.get("args", ()))).objects
        self.used = {k for number, k in numbers.items() if number in objects}
        """Which values are behind the integrand."""

    def push(self, found: Sequence[Any], values: Sequence[Any], moving: list[int], along: tuple[Any, ...]) -> list[Any]:
        """Integrate the tangent of the integrand, and add what the ends move by."""
        self._check(moving)
        primals = tuple([values[k] for k in moving])
        moved = 0.0
        if inside := self._inside(moving):
            of = [moving.index(k) for k in inside]
            within, size = tuple([primals[k] for k in of]), _size([along[k] for k in of])
            ahead = tuple([along[k] / size for k in of])

            def integrand(x: Any) -> Any:
                return jvp(lambda *moved: self._at(x, values, inside, moved), within, ahead)[1]

            moved = size * self._again(integrand, values, is_vector=shape_of(found[0]) != ())
        for f, ends in self._ends(values, moving):
            moved = moved + f * jvp(lambda *moved, ends=ends: ends(moved), primals, along)[1]
        return [moved]

    def pull(
        self, found: Sequence[Any], values: Sequence[Any], moving: list[int], arrived: Sequence[Any]
    ) -> Sequence[Any]:
        """Integrate the cotangents of the values in the integrand, and add those of the ends."""
        self._check(moving)
        c, inside = arrived[0], self._inside(moving)
        sums: dict[int, Any] = dict(zip(inside, self._pulled(values, inside, c), strict=True))
        for f, ends in self._ends(values, moving):
            _, pullback = vjp_inside(lambda *moved, ends=ends: ends(moved), *[values[k] for k in moving])
            back = pullback(conjugated(np.real(np.sum(c * f)) if dtype_of(c).kind != "c" else np.sum(c * f)))
            for k, part in zip(moving, back, strict=True):
                sums[k] = conjugated(part) if k not in sums else sums[k] + conjugated(part)
        return [sums.get(k) for k in moving]

    def _pulled(self, values: Sequence[Any], inside: list[int], c: Any) -> list[Any]:
        """The integrals of the cotangents of all values that the integrand uses."""
        if not inside:
            return []
        shapes = [shape_of(values[k]) for k in inside]
        sizes = [int(np.prod(s)) for s in shapes]
        size = _size([c])
        c = c / size

        def back(x: Any) -> Any:
            value, pullback = vjp_inside(
                lambda *moved: self._at(x, values, inside, moved), *[values[k] for k in inside]
            )
            parts = pullback(conjugated(np.reshape(c, shape_of(value))))
            return np.concatenate([np.reshape(conjugated(p), (-1,)) for p in parts])

        total = sum(sizes)
        if self.name == "quad" and (total <= FEW or self._is_weighted(values)):
            parts = [self._again(_one_of(back, k), values, is_vector=False) for k in range(total)]
            flat = np.stack(parts)
        else:
            flat = self._again(back, values, is_vector=True)
        ends = np.cumsum(sizes)
        return [size * np.reshape(flat[e - n : e], s) for e, n, s in zip(ends, sizes, shapes, strict=True)]

    def _again(self, integrand: Callable[[Any], Any], values: Sequence[Any], *, is_vector: bool) -> Any:
        """The integral of another integrand between the same limits, by SciPy's function, traced as this one."""
        from scipy import integrate

        given, _ = self.callbacks.parts(values)
        given = {k: v for k, v in given.items() if k not in (self.key, "args", "full_output")}
        if self.name == "quad_vec" or not is_vector:
            return getattr(integrate, self.name)(**{**given, self.key: integrand})[0]
        how = {k: given[k] for k in ("a", "b", "epsabs", "epsrel", "points") if k in given}
        return integrate.quad_vec(integrand, **{"epsabs": 1.49e-8, "epsrel": 1.49e-8, **how}, limit=1000, norm="max")[0]

    def _inside(self, moving: Sequence[int]) -> list[int]:
        """Which of the values that move the integrand may use: all but those that are limits alone."""
        return [k for k in moving if k in self.used]

    def _at(self, x: Any, values: Sequence[Any], moving: Sequence[int], moved: Sequence[Any]) -> Any:
        """The integrand, with these values."""
        given, _ = self.callbacks.parts(with_moved(values, moving, moved))
        if not callable(given[self.key]):
            raise UnsupportedError(
                message(
                    f"{SCIPY}.{self.name} cannot be differentiated in its limits if the integrand is compiled.",
                    fix="Write the integrand in Python.",
                )
            )
        return given[self.key](x, *as_tuple(given.get("args", ())))

    def _ends(self, values: Sequence[Any], moving: Sequence[int]) -> list[tuple[Any, Callable[[Any], Any]]]:
        """For each end and break point that moves: the jump of the integrand there, and the point by what moves."""
        found: list[tuple[Any, Callable[[Any], Any]]] = []
        for part, sign in (("b", 1.0), ("a", -1.0)):
            if set(self.places[part]) & set(moving):
                found.append((sign * self._at_end(self._part(part, values), values), self._of(part, values, moving)))
        if set(self.places["points"]) & set(moving):
            for k in range(len(self._part("points", values))):
                p = self._part("points", values)[k]
                beside = np.spacing(np.abs(stop_gradient(p)) + 1.0)
                jump = self._at(p - beside, values, (), ()) - self._at(p + beside, values, (), ())
                found.append((jump, self._of("points", values, moving, k)))
        return found

    def _at_end(self, x: Any, values: Sequence[Any]) -> Any:
        """The integrand at a limit; nothing comes from one that is infinite."""
        is_far = np.isinf(stop_gradient(x))
        return np.where(is_far, 0.0, self._at(np.where(is_far, 0.0, x), values, (), ()))

    def _part(self, part: str, values: Sequence[Any]) -> Any:
        return self.callbacks.parts(values)[0][part]

    def _of(self, part: str, values: Sequence[Any], moving: Sequence[int], k: int | None = None) -> Callable[..., Any]:
        def of(moved: Any) -> Any:
            found = self._part(part, with_moved(values, moving, moved))
            return found if k is None else found[k]

        return of

    def _is_weighted(self, values: Sequence[Any]) -> bool:
        return self.name == "quad" and self.callbacks.parts(values)[0].get("weight") is not None

    def _check(self, moving: Sequence[int]) -> None:
        """A weight is a factor that QUADPACK knows, so what it depends on is not differentiated."""
        if not self._is_weighted(self.callbacks.values):
            return
        if {k for part in ("a", "b", "wvar", "wopts") for k in self.places[part]} & set(moving):
            raise UnsupportedError(
                message(
                    f"{SCIPY}.quad with a weight is not differentiated in its limits or in  wvar.",
                    fix="Write the weight as a factor of the integrand.",
                )
            )


def _size(vectors: Sequence[Any]) -> Any:
    """The largest of the numbers of a tangent or cotangent: integrals of it keep to their absolute tolerance."""
    largest = np.max(np.stack([np.max(np.abs(v)) for v in stop_gradient(list(vectors))]))
    return np.where((largest > 0) & np.isfinite(largest), largest, 1.0)


def _one_of(f: Callable[[Any], Any], k: int) -> Callable[[Any], Any]:
    """One number of a vector-valued function."""
    return lambda x: f(x)[k]
