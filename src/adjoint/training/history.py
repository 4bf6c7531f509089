"""What was measured, epoch by epoch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

MEANT = {
    "val_loss": "Write  'validation_loss',  with  validation=  given to  ad.train",
    "validation_loss": "It is measured with  validation=(X, y)  or  validation=0.2  given to  ad.train",
    "train_loss": "Write  'loss'",
    "lr": "Write  'rate'",
    "learning_rate": "Write  'rate'",
    "training_loss": "Write  'loss'",
    "accuracy": "It is measured with  metrics={'accuracy': ...}  given to  ad.train",
    "val_accuracy": "It is measured with  metrics={'accuracy': ...}  given to  ad.train",
}
"""What to do about names that are missing."""


class History(Mapping[str, np.ndarray]):
    """Numbers by name, one for each epoch: `history["loss"]`, `history["validation_loss"]`, `history["seconds"]`.

    `history["gradient_norm"]` is that of the whole gradient; `history.gradient_norms` has a column for each parameter
    array, in the order of `history.names`. Each is the root of the mean square over the steps of the epoch.
    `history["rate"]` is the optimiser's rate at the first step of the epoch; of groups there is one for each, as
    `history["rate[head.*]"]`. `history.steps` has numbers step by step, where these were asked for.
    """

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self._rows: list[dict[str, float]] = []
        self._norms: list[np.ndarray] = []
        self._steps: list[dict[str, float]] = []

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        meant = f": use  history[{name!r}]" if not name.startswith("_") and name in self else ""
        raise AttributeError(f"'History' object has no attribute {name!r}{meant}")

    def append(self, found: dict[str, float], norms: np.ndarray, seconds: float) -> None:
        """Add an epoch."""
        whole = float(np.sqrt(np.sum(norms.astype(float) ** 2)))
        self._rows.append({**found, "gradient_norm": whole, "seconds": seconds})
        self._norms.append(norms)

    def append_step(self, found: dict[str, float]) -> None:
        """Add a step."""
        self._steps.append(found)

    @property
    def steps(self) -> dict[str, np.ndarray]:
        """Numbers step by step, by name: "step" and "epoch", counted from 1, "loss", "gradient_norm", "rate".

        Loss and gradient are those of the step's batch, before the step is taken. Empty without `step_every=`.
        """
        names = self._steps[0] if self._steps else ()
        whole = ("step", "epoch")
        return {name: np.array([row[name] for row in self._steps], int if name in whole else float) for name in names}

    @property
    def gradient_norms(self) -> np.ndarray:
        """Norms of the gradients, one row for each epoch, one column for each parameter array."""
        return np.stack(self._norms) if self._norms else np.zeros((0, len(self.names)))

    @property
    def epochs(self) -> int:
        """How many epochs there are."""
        return len(self._rows)

    @property
    def last(self) -> dict[str, float]:
        """The numbers of the last epoch."""
        return self._rows[-1] if self._rows else {}

    def best(self, name: str) -> int:
        """The epoch, counted from 1, with the smallest value."""
        return int(np.argmin(np.where(np.isnan(self[name]), np.inf, self[name]))) + 1

    def __getitem__(self, name: str) -> np.ndarray:
        if not any([name in row for row in self._rows]):
            meant = f". {MEANT[name]}" if name in MEANT else ""
            raise KeyError(f"{name!r} was not measured; there are {', '.join(map(repr, self)) or 'no epochs'}{meant}")
        return np.array([row.get(name, np.nan) for row in self._rows])

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows[-1] if self._rows else ())

    def __len__(self) -> int:
        return len(self._rows[-1]) if self._rows else 0

    def __repr__(self) -> str:
        if not self._rows:
            return "<history of 0 epochs>"
        last = ", ".join([f"{name} {value:.4g}" for name, value in self._rows[-1].items()])
        return f"<history of {self.epochs} epochs; the last: {last}>"

    def saved(self) -> dict[str, Any]:
        """As arrays, for a file."""
        steps = self.steps
        return {
            "names": np.array(list(self), dtype=str),
            "values": np.array([[row.get(name, np.nan) for name in self] for row in self._rows], dtype=float),
            "norms": self.gradient_norms,
            **({"step_names": np.array(list(steps), dtype=str)} if steps else {}),
            **({"step_values": np.array(list(steps.values()), dtype=float).T} if steps else {}),
        }

    @classmethod
    def loaded(cls, names: list[str], saved: Mapping[str, np.ndarray], watched: str) -> History:
        """From what `saved` gave; a ValueError if it did not give this."""
        measured, values, norms = saved["names"], saved["values"], saved["norms"]
        if measured.dtype.kind != "U" or values.dtype != np.float64 or norms.dtype.kind != "f":
            raise ValueError("the history is not of numbers and their names")
        if values.shape != (len(values), measured.size) or norms.shape != (len(values), len(names)):
            raise ValueError("the history has not a number for each name and epoch")
        needed = {"loss", "gradient_norm", "seconds", watched}
        if not len(values) or len({*measured.tolist()}) != measured.size or not needed <= {*measured.tolist()}:
            raise ValueError("the names of the history are not those of a run")
        history = cls(names)
        history._rows = [dict(zip(measured.tolist(), row, strict=True)) for row in values.tolist()]
        history._norms = list(norms)
        if "step_names" in saved:
            history._steps = _loaded_steps(saved["step_names"], saved["step_values"])
        return history


def _loaded_steps(names: np.ndarray, values: np.ndarray) -> list[dict[str, float]]:
    """Steps from what was saved of them."""
    if names.dtype.kind != "U" or values.dtype != np.float64 or values.shape != (len(values), names.size):
        raise ValueError("the steps of the history have not a number for each name")
    if len({*names.tolist()}) != names.size or not {"step", "epoch", "loss", "gradient_norm"} <= {*names.tolist()}:
        raise ValueError("the names of the steps of the history are not those of a run")
    return [dict(zip(names.tolist(), row, strict=True)) for row in values.tolist()]
