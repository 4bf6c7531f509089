"""Where machine code meets `jit`: the callable whose calls go straight to it, and what makes it."""

from __future__ import annotations

import functools
import types
import warnings
from typing import Any

from ...capture.environment.watch import QUICK
from ...capture.recording.recording import Given, Recording
from ...ir.interpret import Interpreter
from ...ir.program import Program
from ...rolling.loop import RUNNERS
from ..compiler import can_compile
from ..settings import is_off
from .keys import CallParts, donated_inputs

if can_compile():  # loaded with jit itself, so that no call has to wait for it
    from ...compile.build import Native, build
    from ...compile.call.attach import attach
    from ...compile.call.callable import NativeCallable
    from ...compile.call.chain import EntryChain
    from ...compile.call.entry import Entry
    from ...compile.call.objects import is_available
    from ...compile.call.table import WatchTable

    if is_available():
        QUICK.append(WatchTable)


@functools.cache
def has_compiler() -> bool:
    """As `can_compile`; if not, a warning says once what to install."""
    if not can_compile():
        warnings.warn(
            "ad.jit runs its programs with NumPy, as llvmlite is not installed: same results, less speed.\n"
            "  Install it with  pip install 'adjoint[jit]'.",
            RuntimeWarning,
            stacklevel=4,
        )
    return can_compile()


def kind_of_jitted(plain: Any) -> Any:
    """The class of jitted functions: as `plain`, with calls that begin in machine code where there is a compiler."""
    return _native_kind(plain) if has_compiler() else plain


@functools.cache
def _native_kind(plain: Any) -> Any:
    class Jitted(NativeCallable, plain):  # type: ignore[misc,valid-type]
        __doc__ = plain.__doc__
        __get__ = plain.__get__

        def __init__(self, *args: Any) -> None:
            NativeCallable.__init__(self, types.MethodType(plain.__call__, self))
            self._chain = EntryChain(self)
            plain.__init__(self, *args)

        def clear(self) -> None:
            with self._lock:
                self._chain.clear()
                plain.clear(self)

        def switched(self) -> None:
            with self._lock:
                self._chain.lead(is_on=self._is_on())

        def _installed(self, entry: Any) -> None:
            with self._lock:
                self._chain.put_first(entry, is_on=self._is_on())

        def _unlinked(self, entry: Any) -> None:
            with self._lock:
                self._chain.take_out(entry, is_on=self._is_on())

        def _is_on(self) -> bool:
            return not is_off() and not self._policy.given_up

    Jitted.__name__ = Jitted.__qualname__ = plain.__name__
    Jitted.__module__ = plain.__module__
    return Jitted


def executable(
    program: Program,
    inputs: list[Any],
    recording: Recording | None = None,
    call: CallParts | None = None,
    given: Given | None = None,
) -> tuple[Any, Any]:
    """What runs a program, and the entry for calls like this one, if there can be one."""
    if not has_compiler():
        return Interpreter(program), None
    made = build(program, inputs, donated_inputs(call, given) if call and given and given.donated else ())
    if not isinstance(made, Native):
        return made, None
    if recording is None or call is None or given is None or recording.effects:
        return made.finish(), None
    wanted = attach(made, "entry", recording, given, call.leaves, call.counts)
    made.finish()
    assert made.code is not None
    return made, None if wanted is None else Entry(made.code, "entry", wanted)


def called_once(entry: Any, args: Any, kwargs: dict[str, Any], otherwise: Any) -> Any:
    """What an entry gives that nobody uses yet; `otherwise` if the call is not for it."""
    function = NativeCallable(lambda *args, **kwargs: otherwise)
    entry.install(function)
    return function(*args, **kwargs)


RUNNERS.append(lambda body: executable(body, [])[0])
