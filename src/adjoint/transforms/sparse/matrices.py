"""Sparse Jacobians and Hessians of one function: patterns and colourings are kept, what is left is one evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import InputError, OutputError, message
from ...ir.capture import ForeignValueError
from ..interface.inputs import Argnums, with_reals
from ..settings import JITTED
from .compression import CompressionPlan, assembled, hessian_plan, jacobian_plan, nothing
from .evaluating import Side, evaluated, products_of
from .finding import DerivativeCall, Traits, called, refusal
from .given import as_pattern, lacking, trial_vector
from .inside import SparseValues, values_of
from .sets import Sets, Shape, with_short_indices
from .sparsity import Sparsity

MOST_KEPT = 32
"""Patterns kept for arguments of one kind, which differ by the branches taken; the oldest is forgotten."""


class Kept:
    """A pattern with its colouring, for as long as the recording holds."""

    def __init__(self, traits: Traits, call: DerivativeCall, plan: CompressionPlan) -> None:
        self.traits, self.plan = traits, plan
        self.inputs = Side(call.shapes, call.dtypes)
        self.outputs = Side([t.shape for t in traits.outputs], [t.dtype for t in traits.outputs])
        self.seeds, self.places = plan.seeds(), plan.places
        self.trial: Any = None
        """The vector that a given pattern is tried with, besides the seeds."""

    def tried(self) -> Kept:
        """The same with one more product, behind those from the right, for a pattern that may lack entries."""
        self.trial = trial_vector(self.inputs.size)
        columns, rows = self.seeds
        self.seeds = np.concatenate([columns, self.trial[None]]), rows
        behind = self.plan.places >= len(columns) * self.plan.pattern.shape[0]
        self.places = self.plan.places + np.where(behind, self.plan.pattern.shape[0], 0)
        return self


class Sparse:
    """The sparse derivatives of a function, for any arguments."""

    def __init__(
        self, fun: Callable[..., Any], argnums: Argnums, pattern: Any, transform: str, *, second: bool
    ) -> None:
        self._fun, self._argnums, self._pattern = fun, argnums, pattern
        self._transform, self._second = transform, second
        self.clear()
        JITTED.add(self)

    def clear(self) -> None:
        """Forget all patterns."""
        self._kept: dict[Any, tuple[Kept, ...]] = {}
        self._given: dict[Any, tuple[Sparsity, CompressionPlan]] = {}
        self._products: Any = None

    def switched(self) -> None:
        """Whether jit is on makes no difference to what is kept."""

    def sparsity(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sparsity:
        """The pattern at a point."""
        args = with_reals(args, self._argnums)
        call = called(args, kwargs, self._argnums, self._transform)
        try:
            traits = Traits(self._fun, self._argnums, call, self._transform)
        except ForeignValueError:
            raise refusal(self._transform) from None
        pattern = with_short_indices(self._found(traits))
        return Sparsity(pattern, lambda: self.plan(pattern, traits, call), symmetric=self._second)

    def matrix(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The derivatives at a point, as a sparse array; what is traced in the function makes it one of values."""
        args = with_reals(args, self._argnums)
        call = called(args, kwargs, self._argnums, self._transform)
        kept = self._kept.get(call.parts.key, ())
        found = next((k for k in kept if k.traits.fits(call)), None)
        if found is not None:
            return self._evaluated(found, args, kwargs)
        try:
            found = self._planned(call)
        except ForeignValueError:
            if self._pattern is None:
                raise refusal(self._transform) from None
            return self.values(self._fun, args, kwargs)
        result = self._evaluated(found, args, kwargs)
        self._kept[call.parts.key] = (found, *kept)[:MOST_KEPT]
        return result

    def values(self, fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> SparseValues:
        """The entries of the given pattern, inside other transformations, of the function as it is there."""
        args = with_reals(args, self._argnums)
        return values_of(fun, self._argnums, (args, kwargs), self._stated, self._transform, second=self._second)

    def _planned(self, call: DerivativeCall) -> Kept:
        traits = Traits(self._fun, self._argnums, call, self._transform)
        pattern = self._found(traits)
        found = Kept(traits, call, self.plan(pattern, traits, call))
        return found if self._pattern is None else found.tried()

    def plan(self, pattern: Sets, traits: Traits, call: DerivativeCall) -> CompressionPlan:
        """The colours, and where in the products the entries are."""
        return self._coloured(pattern, call.shapes, [t.shape for t in traits.outputs])

    def _coloured(self, pattern: Sets, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> CompressionPlan:
        argument = inputs[0] if len(inputs) == 1 else None
        if self._second:
            return hessian_plan(pattern, argument)
        return jacobian_plan(pattern, argument, outputs[0] if len(outputs) == 1 else None)

    def _found(self, traits: Traits) -> Sets:
        """The given pattern, or that of the recording."""
        if self._second:
            self._check_number(traits)
        columns = traits.width
        shape = (columns, columns) if self._second else (sum([t.size for t in traits.outputs]), columns)
        if self._pattern is not None:
            return as_pattern(self._pattern, shape, self._transform, second=self._second)
        return traits.hessian() if self._second else traits.jacobian()

    def _stated(
        self, shape: tuple[int, int], inputs: list[Shape], outputs: list[Shape]
    ) -> tuple[Sparsity, CompressionPlan]:
        """The given pattern and its plan, for results and arguments of these shapes."""
        key = shape, *inputs, *outputs
        if key not in self._given:
            pattern = with_short_indices(as_pattern(self._pattern, shape, self._transform, second=self._second))
            plan = self._coloured(pattern, inputs, outputs)
            self._given[key] = Sparsity(pattern, lambda: plan, symmetric=self._second), plan
        return self._given[key]

    def _check_number(self, traits: Traits) -> None:
        if len(traits.outputs) != 1 or traits.outputs[0].shape != ():
            raise OutputError(
                message(
                    f"{self._transform} needs a function that returns one real number.",
                    got=", ".join(map(str, traits.outputs)) or "nothing",
                    fix="Sum the result to one number, or use  ad.sparse.jacobian.",
                )
            )

    def _evaluated(self, kept: Kept, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        pattern = kept.plan.pattern
        if not pattern.nnz and (kept.trial is None or not all(pattern.shape)):
            return nothing(pattern.shape, np.result_type(*kept.inputs.dtypes or [float]))
        if self._products is None:
            self._products = products_of(self._fun, self._argnums, self._second)
        outputs = kept.inputs if self._second else kept.outputs
        found = evaluated(self._products, (args, kwargs), kept.inputs, outputs, kept.seeds)
        result = assembled(pattern, kept.places, found)
        if kept.trial is not None:
            first = kept.plan.colours.counts[0] * pattern.shape[0]
            self._check(result, kept.trial.astype(found.dtype), found[first : first + pattern.shape[0]])
        return result

    def _check(self, found: Any, vector: Any, right: Any) -> None:
        """Compare a product with that of a random vector: a pattern that lacks an entry gives another one."""
        have, differs = lacking(found, vector, right)
        if differs.any():
            row = int(np.argmax(differs))
            raise InputError(
                message(
                    f"The pattern given to {self._transform} lacks entries: a product shows it.",
                    got=f"{have[row]:.6g} instead of {right[row]:.6g} in row {row}",
                    fix=f"Leave  pattern  out, or compare it with  ad.sparse.{SPARSITY[self._second]}(f)(x).",
                )
            )


SPARSITY = ("sparsity", "hessian_sparsity")
