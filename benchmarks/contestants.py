"""How each contestant is asked: `CONTESTANTS[name](row)` is a pair (callable, argument), ready to be timed."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from .row import Function, Row
from .trees import leaves, mapped, rebuilt

THREADS = 2
PACKAGES = ("adjoint", "llvmlite", "jax", "torch", "autograd", "numpy", "scipy")


def same(x: Any) -> Any:
    """What libraries without such a step do."""
    return x


def assigned(array: Any, place: Any, value: Any) -> Any:
    """`array[place] = value`, as NumPy and PyTorch write it; JAX writes it otherwise."""
    array[place] = value
    return array


@dataclass(frozen=True)
class Library:
    """The names a row may use; None is what a library does not have."""

    np: Any
    array: Function
    """An array of numbers that may be traced: `np.array([a, b])`."""
    value_and_grad: Function | None = None
    grad: Function | None = None
    jvp: Function | None = None
    jacobian: Function | None = None
    """By columns."""
    hessian: Function | None = None
    laplacian: Function | None = None
    """A way of its own to the trace of the Hessian."""
    vmap: Function | None = None
    taylor: Function | None = None
    """`(f, x, direction, order) -> coefficients`."""
    scan: Function | None = None
    while_loop: Function | None = None
    assigned: Function = assigned
    jit: Function = same
    place: Function = same
    """Makes the library's own array of one leaf, before anything is timed."""
    ready: Function | None = None
    """Waits for a result."""


def plain_scan(f: Function, init: Any, xs: Any, length: int | None = None) -> Any:
    """A loop in Python; rows that scan for the last state alone need no more."""
    for i in range(len(xs) if length is None else length):
        init, _ = f(init, None if xs is None else xs[i])
    return init, None


def plain() -> Library:
    """NumPy without derivatives: where an independent value comes from."""
    return Library(np=np, array=lambda entries: np.array(entries), scan=plain_scan)


def adjoint_library(compiled: bool) -> Library:
    """This library, on plain NumPy code and NumPy arrays."""
    import adjoint as ad

    return Library(
        np=np,
        array=lambda entries: np.array(entries),
        value_and_grad=ad.value_and_grad,
        grad=ad.grad,
        jvp=ad.jvp,
        jacobian=ad.jacfwd,
        hessian=ad.hessian,
        laplacian=ad.curvature.laplacian,
        vmap=ad.vmap,
        taylor=lambda f, x, v, order: ad.taylor(f, x, order, direction=v).coefficients,
        scan=ad.scan if compiled else plain_scan,
        while_loop=ad.while_loop,
        jit=ad.jit if compiled else same,
    )


def nested(jvp: Function) -> Function:
    """Taylor coefficients by tangents of tangents."""

    def taylor(f: Function, x: Any, v: Any, order: int) -> list[Any]:
        found, scale = [f(x)], 1.0
        for k in range(1, order + 1):
            f = _along(jvp, f, v)
            scale *= k
            found.append(f(x) / scale)
        return found

    return taylor


def _along(jvp: Function, f: Function, v: Any) -> Function:
    return lambda x: jvp(f, (x,), (v,))[1]


def jet(f: Function, x: Any, v: Any, order: int) -> list[Any]:
    """Taylor coefficients by JAX's jet, which gives derivatives."""
    import jax
    from jax.experimental.jet import jet as expanded

    first, others = expanded(f, (x,), ((v, *[jax.numpy.zeros_like(v)] * (order - 1)),))
    return [first, *[c / math.factorial(k) for k, c in enumerate(others, 1)]]


def jax_library(by_jet: bool = False) -> Library:
    """JAX in the precision of its arguments, on its own device arrays; waits for the result."""
    import jax

    jax.config.update("jax_enable_x64", True)
    return Library(
        np=jax.numpy,
        array=jax.numpy.array,
        value_and_grad=jax.value_and_grad,
        grad=jax.grad,
        jvp=jax.jvp,
        jacobian=jax.jacfwd,
        hessian=jax.hessian,
        vmap=jax.vmap,
        taylor=jet if by_jet else nested(jax.jvp),
        scan=jax.lax.scan,
        while_loop=jax.lax.while_loop,
        assigned=lambda array, place, value: array.at[place].set(value),
        jit=jax.jit,
        place=jax.numpy.asarray,
        ready=jax.block_until_ready,
    )


def autograd_library() -> Library:
    """HIPS autograd."""
    import autograd
    import autograd.numpy as anp

    return Library(
        np=anp,
        array=anp.array,
        value_and_grad=autograd.value_and_grad,
        grad=autograd.grad,
        jacobian=autograd.jacobian,
        hessian=autograd.hessian,
        scan=plain_scan,
    )


def torch_library(compiled: bool) -> Library:
    """PyTorch on its own tensors, eager or with `torch.compile`."""
    import torch

    torch.set_num_threads(THREADS)
    torch.set_default_dtype(torch.float64)
    compile_ = torch.compile if compiled else same
    if compiled:
        torch.compiler.reset()  # or sizes of earlier rows would make it compile for any size

    def value_and_grad(f: Function) -> Function:
        # the forward pass is compiled, and with it PyTorch compiles its own backward pass
        f = compile_(f)

        def both(point: Any) -> Any:
            value = f(point)
            return value, rebuilt(point, list(torch.autograd.grad(value, leaves(point))))

        both.compiled = True  # type: ignore[attr-defined]
        return both

    def array(entries: list[Any]) -> Any:
        parts = [array(entry) if isinstance(entry, list) else torch.as_tensor(entry) for entry in entries]
        return torch.stack(parts)

    def place(x: Any) -> Any:
        dtype = torch.from_numpy(np.asarray(x)).dtype
        return torch.tensor(x, dtype=dtype, requires_grad=dtype.is_floating_point)

    return Library(
        np=torch,
        array=array,
        value_and_grad=value_and_grad,
        grad=torch.func.grad,
        jvp=torch.func.jvp,
        jacobian=torch.func.jacfwd,
        hessian=torch.func.hessian,
        vmap=torch.func.vmap,
        taylor=nested(torch.func.jvp),
        scan=plain_scan,
        jit=lambda f: f if hasattr(f, "compiled") else compile_(f),
        place=place,
    )


def asked_of(library: Callable[[], Library]) -> Callable[[Row], tuple[Function, Any]]:
    """A contestant that differentiates the row's function."""

    def contestant(row: Row) -> tuple[Function, Any]:
        chosen = library()
        call = chosen.jit(row.derive(chosen, row.function(chosen)))
        point = mapped(chosen.place, row.point())
        if chosen.ready is None:
            return call, point
        return lambda point, call=call, ready=chosen.ready: ready(call(point)), point

    return contestant


def by_differences(row: Row) -> tuple[Function, Any]:
    """One more evaluation of the plain function for each element of its argument, one array."""
    f = row.function(plain())

    def value_and_grad(x: np.ndarray) -> tuple[Any, np.ndarray]:
        value, slopes, step = f(x), np.empty(x.size), 1e-8
        for k in range(x.size):
            moved = x.copy()
            moved[k] += step
            slopes[k] = (f(moved) - value) / step
        return value, slopes

    return value_and_grad, row.point()


def in_c(suffix: str) -> Callable[[Row], tuple[Function, Any]]:
    """C, called as an extension function: the row's name, and which of its versions."""

    def contestant(row: Row) -> tuple[Function, Any]:
        from .native import module

        function = getattr(module(), f"{row.in_c}{suffix}")
        return functools.partial(function, *row.captured()) if row.captured else function, row.point()

    return contestant


CONTESTANTS: dict[str, Callable[[Row], tuple[Function, Any]]] = {
    "adjoint": asked_of(lambda: adjoint_library(compiled=True)),
    "adjoint eager": asked_of(lambda: adjoint_library(compiled=False)),
    "JAX": asked_of(jax_library),
    "JAX jet": asked_of(lambda: jax_library(by_jet=True)),
    "PyTorch": asked_of(lambda: torch_library(compiled=False)),
    "torch.compile": asked_of(lambda: torch_library(compiled=True)),
    "autograd": asked_of(autograd_library),
    "differences": by_differences,
    "NumPy by hand": lambda row: (row.by_hand, row.point()),  # type: ignore[dict-item, return-value]
    "Python by hand": lambda row: (row.in_python, row.point()),  # type: ignore[dict-item, return-value]
    "C by hand": in_c(""),
    "C with libmvec": in_c("_vectorised"),
}
COMPILING = ("adjoint", "JAX", "JAX jet", "torch.compile")


def takes_part(name: str, row: Row) -> bool:
    """Whether the row has something for this contestant."""
    if name in row.without:
        return False
    if name == "differences":
        return name in row.asked
    if name == "NumPy by hand":
        return row.by_hand is not None
    if name == "Python by hand":
        return row.in_python is not None
    if name in ("C by hand", "C with libmvec"):
        from .native import FUNCTIONS

        return row.in_c is not None and (name == "C by hand" or f"{row.in_c}_vectorised" in FUNCTIONS)
    return True


def warmed(name: str) -> None:
    """Start the contestant's compiler on something small, so that first calls are about the row alone."""
    if name in COMPILING:
        small = Row("", lambda library: lambda x: library.np.sum(x * x), lambda: np.ones(3))
        call, point = CONTESTANTS[name](small)
        call(point)


def versions() -> str:
    """The versions of everything that takes part."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return ", ".join(found)
