"""NumPy's floating-point warnings at the user's line, and not at the line of the library that computes."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..errors import user_frame

P = ParamSpec("P")
T = TypeVar("T")
WARNINGS_PATCH = {
    "what": "what NumPy does with floating-point warnings (a context variable)",
    "when": "while a function is traced",
    "why": "warnings name the user's line, not one of the library",
    "undone": "when the function is done, in its context alone",
}
_variable: Any = getattr(np._core.umath, "_extobj_contextvar", None)  # type: ignore[attr-defined]
"""Where NumPy keeps what `np.errstate` says."""


class Redirect:
    """Takes the texts of NumPy's warnings, and gives the warnings where the user's code stands."""

    is_numpys: Callable[[FrameType, FrameType | None], bool] = staticmethod(lambda frame, user: True)
    """Whether NumPy warns in the call under way between two frames as well; `adjoint.numpy` asks it."""

    def write(self, text: str) -> None:
        """A floating-point condition was met; the text is `Warning: invalid value encountered in sqrt`."""
        what = text.strip().removeprefix("Warning: ")
        frame = user_frame()
        if not self.is_numpys(sys._getframe(1), frame):
            return
        if frame is None:
            warnings.warn(what, RuntimeWarning, stacklevel=2)
            return
        registry = frame.f_globals.setdefault("__warningregistry__", {})
        name = frame.f_globals.get("__name__", "<unknown>")
        warnings.warn_explicit(what, RuntimeWarning, frame.f_code.co_filename, frame.f_lineno, name, registry)


REDIRECT = Redirect()
_usual = None if _variable is None else _variable.get()
_usual_words = np.geterr(), np.geterrcall()
_unusual: Any = None
"""What was last found to say something else than the usual words."""
_redirected: Any = None
with np.errstate(all="ignore"):
    _silence = None if _variable is None else _variable.get()


def _says_the_usual(said: Any) -> bool:
    """Whether warnings are as they were at first: `np.seterr` and back leaves the same words in another object."""
    global _usual, _unusual
    if said is _redirected or said is _unusual:
        return False
    if (np.geterr(), np.geterrcall()) == _usual_words:
        _usual = said
        return True
    _unusual = said
    return False


def redirect() -> Any:
    """From now on, warnings are given at the user's line; what `restore` needs.

    Where the user has said something else with `np.errstate`, that holds. NumPy's variable is set directly, as
    `np.errstate` would take longer than a small gradient.
    """
    global _redirected
    if _variable is None or ((said := _variable.get()) is not _usual and not _says_the_usual(said)):
        return None
    if _redirected is None:
        if set(np.geterr().values()) != {"warn", "ignore"}:  # set for good before the library was imported
            return None
        words = {name: "log" for name, word in np.geterr().items() if word == "warn"}
        with np.errstate(call=REDIRECT, **words):  # type: ignore[arg-type]
            _redirected = _variable.get()
    return _variable.set(_redirected)


def restore(token: Any) -> None:
    """Let NumPy warn as it did before."""
    if token is not None:
        _variable.reset(token)


def quiet(function: Callable[P, T]) -> Callable[P, T]:
    """A decorator that silences the floating-point warnings of derivative rules: the plain function gives none.

    As for `redirect`, what NumPy keeps is set directly where it is what it usually is.
    """
    if _variable is None:
        return np.errstate(all="ignore")(function)

    @functools.wraps(function)
    def quietly(*args: P.args, **kwargs: P.kwargs) -> T:
        said = _variable.get()
        if said is _silence:
            return function(*args, **kwargs)
        if said is not _redirected and said is not _usual:
            with np.errstate(all="ignore"):
                return function(*args, **kwargs)
        token = _variable.set(_silence)
        try:
            return function(*args, **kwargs)
        finally:
            _variable.reset(token)

    return quietly


def is_quiet() -> bool:
    """Whether warnings are silenced already, as `quiet` does it: so in every sweep back."""
    return _variable is not None and _variable.get() is _silence


def words() -> dict[str, Any]:
    """What `np.errstate` says, without the redirection: to be said again elsewhere."""
    found: dict[str, Any] = dict(np.geterr())
    if np.geterrcall() is REDIRECT:
        found = {name: "warn" if word == "log" else word for name, word in found.items()}
    return found
