"""Which examples make which step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adjoint import data as loading


@dataclass(frozen=True)
class Schedule:
    """Which examples are taken when."""

    size: int
    """Examples in a batch."""
    seed: int
    shuffle: bool = True
    drop_last: bool = False
    accumulate: int = 1
    """Batches whose gradients make one step."""

    def of_epoch(self, n: int, epoch: int) -> np.ndarray:
        """The numbers of the examples, in their order."""
        return loading.order(n, self.seed, epoch) if self.shuffle else np.arange(n)

    @property
    def examples(self) -> int:
        """Examples of one step."""
        return self.size * self.accumulate

    def steps(self, n: int) -> int:
        """Steps in an epoch."""
        return n // self.examples if self.drop_last else -(-n // self.examples)
