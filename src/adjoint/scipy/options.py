"""Options of SciPy's functions that have no derivative here."""

from __future__ import annotations

from ..core.errors import UnsupportedError, message


def refuse(name: str, asked: bool, what: str) -> None:
    """Refuse an option of a function of SciPy, if it was asked for."""
    if asked:
        raise UnsupportedError(
            message(
                f"scipy.{name} is not differentiated with {what}.",
                fix="Leave it out, or pass  ad.stop_gradient(x)  if no derivative is wanted.",
            )
        )
