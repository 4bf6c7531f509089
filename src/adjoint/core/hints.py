"""What to write instead of a name that `adjoint` does not have: names of other libraries, and slips of the keyboard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

PLAIN = "plain NumPy arrays are differentiated; there is no array type of its own"
EAGER = "results are computed at once, on this machine; there is nothing to wait for or to move"

ELSEWHERE: dict[str, str] = {
    # JAX
    "lax": "ad.scan, ad.while_loop, ad.fori_loop, ad.cond, ad.switch, ad.map, ad.associative_scan",
    "make_jaxpr": "ad.jit(f).lower(x), which prints the program",
    "jaxpr": "ad.jit(f).lower(x), which prints the program",
    "pure_callback": "ad.custom_rule, which gives any code a derivative",
    "io_callback": "ad.debug.callback",
    "remat": "ad.checkpoint",
    "custom_vjp": "ad.custom_rule, with vjp=",
    "custom_jvp": "ad.custom_rule, with jvp=",
    "custom_gradient": "ad.custom_rule",
    "defvjp": "ad.custom_rule, with vjp=",
    "defjvp": "ad.custom_rule, with jvp=",
    "closure_convert": "not needed: functions may close over traced values",
    "pmap": "ad.vmap; large loops use all processors",
    "shard_map": "ad.vmap; large loops use all processors",
    "xmap": "ad.vmap",
    "device_put": EAGER,
    "device_get": EAGER,
    "devices": EAGER,
    "block_until_ready": EAGER,
    "ensure_compile_time_eval": "not needed: values are concrete, so plain Python is run while a function is recorded",
    "tree_util": "ad.tree",
    "tree_map": "ad.tree.map",
    "tree_leaves": "ad.tree.leaves",
    "tree_flatten": "ad.tree.flatten",
    "tree_unflatten": "ad.tree.unflatten",
    "tree_structure": "ad.tree.structure",
    "register_pytree_node": "ad.tree.register",
    "register_dataclass": "not needed: dataclasses are containers by themselves",
    "flatten_util": "ad.tree.ravel",
    "ravel_pytree": "ad.tree.ravel",
    "named_call": "ad.block",
    "named_scope": "ad.block",
    "enable_x64": "not needed: computations are in the precision of the arrays, double by default",
    "check_grads": "ad.testing.check_grads",
    "test_util": "ad.testing.check_grads",
    "PRNGKey": "ad.random.key",
    "jnp": "use numpy itself",
    "numpy_grad": "ad.grad",
    "linear_call": "ad.linear_transpose",
    "fwd_and_bwd": "ad.vjp",
    "pjit": "ad.jit",
    "xla_computation": "ad.jit(f).lower(x)",
    "debug_nans": "ad.debug.nans",
    "host_callback": "ad.debug.callback",
    "jet": "ad.taylor",
    "experimental": "ad.explain and ad.tree are not hidden away",
    # PyTorch
    "tensor": PLAIN,
    "Tensor": PLAIN,
    "as_tensor": PLAIN,
    "from_numpy": PLAIN,
    "Variable": PLAIN,
    "array": PLAIN,
    "ndarray": PLAIN,
    "Parameter": PLAIN,
    "no_grad": "ad.stop_gradient(x); nothing is recorded outside ad.grad and the like",
    "inference_mode": "ad.stop_gradient(x); nothing is recorded outside ad.grad and the like",
    "enable_grad": "ad.grad, which records what is called inside",
    "set_grad_enabled": "ad.stop_gradient(x)",
    "detach": "ad.stop_gradient, or ad.value for the plain array",
    "backward": "ad.grad(f)(x): gradients are results, not attributes",
    "zero_grad": "not needed: gradients are results, and are not added up",
    "requires_grad": "ad.grad with argnums=",
    "requires_grad_": "ad.grad with argnums=",
    "autograd": "ad.grad, ad.vjp, ad.jvp",
    "Function": "ad.custom_rule",
    "func": "ad.grad, ad.vjp, ad.jvp, ad.vmap",
    "functional_call": "ad.grad of a function of the parameters",
    "script": "ad.jit",
    "trace": "ad.jit",
    "gradcheck": "ad.testing.check_grads",
    "gradgradcheck": "ad.testing.check_grads, with order=2",
    "hooks": "ad.custom_rule, or ad.debug.callback",
    "manual_seed": "ad.random.key(seed)",
    "Generator": "ad.random.key(seed)",
    "cuda": EAGER,
    "Module": "ad.nn.layer, or a frozen dataclass with a call",
    "Linear": "ad.nn.Dense",
    "DataLoader": "ad.data.batches",
    "Trainer": "ad.train",
    "fit": "ad.train",
    "evaluate": "ad.losses.empirical_risk",
    "save": "np.savez(path, **nn.parameters(model)); ad.train with checkpoint= keeps the state of a run",
    "load": "nn.replace(model, np.load(path)); ad.train with checkpoint= goes on with a run",
    # HIPS autograd, TensorFlow and others
    "elementwise_grad": "ad.derivative, which takes arrays element by element",
    "egrad": "ad.derivative, which takes arrays element by element",
    "multigrad": "ad.grad with argnums=(0, 1)",
    "multigrad_dict": "ad.grad with argnames=",
    "grad_named": "ad.grad with argnames=",
    "holomorphic_grad": "ad.grad with holomorphic=True",
    "grad_and_aux": "ad.grad with has_aux=True",
    "value_and_grad_and_aux": "ad.value_and_grad with has_aux=True",
    "make_vjp": "ad.vjp",
    "make_jvp": "ad.jvp",
    "make_hvp": "ad.hvp",
    "make_ggnvp": "ad.vjp and ad.jvp together",
    "hessian_vector_product": "ad.hvp",
    "hessian_tensor_product": "ad.hvp",
    "vector_jacobian_product": "ad.vjp",
    "tensor_jacobian_product": "ad.vjp",
    "jacobian_vector_product": "ad.jvp",
    "vhp": "ad.hvp",
    "primitive": "ad.custom_rule",
    "extend": "ad.custom_rule",
    "GradientTape": "ad.grad",
    "function": "ad.jit",
    "constant": "ad.stop_gradient",
    "gradient": "ad.grad",
    "gradients": "ad.grad",
    "jac": "ad.jacobian",
    "hess": "ad.hessian",
    "diff": "ad.derivative, or ad.grad",
    "differentiate": "ad.grad",
    "vectorize": "ad.vmap",
    "njit": "ad.jit",
    "print": "ad.debug.print",
    "callback": "ad.debug.callback",
    "nans": "ad.debug.nans",
    "check": "ad.testing.check_grads",
    "key": "ad.random.key",
    "normal": "ad.random.normal",
    "uniform": "ad.random.uniform",
    "where": "np.where",
    "for_loop": "ad.fori_loop",
    "foreach": "ad.scan",
    "if_else": "ad.cond",
    "jvps": "ad.vmap of ad.jvp",
}
"""Names that people know from elsewhere, to what does the same here."""

MOVED: dict[str, str] = {
    "classify": "curvature.classify",
    "fisher": "curvature.fisher",
    "gauss_newton": "curvature.gauss_newton",
    "hessian_diagonal": "curvature.hessian_diagonal",
    "is_convex_between": "curvature.is_convex_between",
    "laplacian": "curvature.laplacian",
    "metric": "curvature.pullback_metric",
    "partial": "curvature.partial_derivative",
    "taylor_polynomial": "curvature.taylor_polynomial",
    "hessian_sparsity": "sparse.hessian_sparsity",
    "sparse_hessian": "sparse.hessian",
    "sparse_jacobian": "sparse.jacobian",
    "sparsity": "sparse.sparsity",
    "clear_caches": "config.clear_caches",
    "disable_jit": "config.disable_jit",
    "set_cache": "config.set_cache",
    "set_threads": "config.set_threads",
    "find_nan": "debug.find_nan",
    "health": "debug.health",
}
"""Names that were in `ad` itself, to where they are in it now. The old ones go on working, with a warning."""

NEVER_AT_THE_TOP = ("pullback_metric", "partial_derivative")


def public_name(transform: str) -> str:
    """Where users find a transformation, after `ad.`: that of `laplacian` is `curvature.laplacian`."""
    return f"curvature.{transform}" if transform in NEVER_AT_THE_TOP else MOVED.get(transform, transform)


def hint(name: str, known: Sequence[str], place: str = "ad") -> str:
    """The end of a sentence: what the name is called here, or what may have been meant."""
    instead = ELSEWHERE.get(name)
    if instead is not None and (place == "ad" or instead.startswith("ad.")):
        return f": use  {instead}" if instead.startswith(("ad.", "np.")) else f": {instead}"
    import difflib

    lowered = {k.lower(): k for k in known}
    close = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.7)
    return f": did you mean  {place}.{lowered[close[0]]}?" if close else ""


def missing(place: str, names: Sequence[str], elsewhere: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """The `__getattr__` of one of the modules that users see, as `ad.tree`: it says what may have been meant.

    `elsewhere` has names of other libraries, to what does the same here.
    """

    def find(name: str) -> Any:
        known = (elsewhere or {}).get(name)
        end = hint(name, names, place.removeprefix("adjoint.")) if known is None else f": use  {known}"
        raise AttributeError(f"module {place!r} has no attribute {name!r}{end}")

    return find


def warn_of_old_name(old: str, new: str) -> None:
    """Say what a name that still works is called now, at the line that uses it."""
    import warnings

    warnings.warn(f"{old} is  {new}  now: write that instead", DeprecationWarning, stacklevel=3)


def unknown_keyword(owner: str, given: Iterable[str], known: Iterable[str], elsewhere: Mapping[str, str]) -> str:
    """The message for the first keyword that is not known."""
    import difflib

    wanted = [name for name in known if name != "self"]
    name = next(name for name in given if name not in wanted)
    close = difflib.get_close_matches(name, wanted, n=1, cutoff=0.6)
    end = f": did you mean  {close[0]}=?" if close else ""
    end = f": use  {elsewhere[name]}" if name in elsewhere else end
    return f"{owner}() got an unexpected keyword argument {name!r}{end}"
