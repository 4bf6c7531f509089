"""What `jit` makes of a function: it is recorded once, and the recording is run from then on."""

from __future__ import annotations

import functools
import pickle
import types
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Generic, ParamSpec, TypeVar

from ...core.derived import found_jitted as made_again
from ...core.derived import reference
from ...core.forking import renewed_lock
from ...core.traced import LOCAL, Traced, settled
from ...core.values import is_captured
from ...ir.capture import ForeignValueError
from ...ir.conditions import floating_errors
from ...ir.program import GUARD
from ...ir.recording.recording import NOT_YET, Given
from ...ir.recording.waiting import Waiting
from ..callbacks.raised import RAISED_ONCE, is_pending
from ..recording import call_traced, looking_for_nans, run
from ..settings import JITTED, is_off
from .keys import CallParts, check_objects, taken_apart
from .native import kind_of_jitted
from .numbers import Captured, NumberChoices
from .path import MAX_PATHS, Path, branches_of, most, recorded
from .show import Lengths, Lowered, Stats, say, say_if_unknown, stats_of
from .step import call_inside

P = ParamSpec("P")
R = TypeVar("R")
Numbers = int | Iterable[int]
Names = str | Iterable[str]

MAX_CHANGES = 8
"""Recordings after changes of one captured variable; one more, and the function runs eagerly."""
MAX_STATICS = 64
"""Different static values of a function; calls with any other run eagerly."""


class Jitted(Generic[P, R]):
    """A function that records itself: made by `jit`, called like the function."""

    def __init__(
        self,
        fun: Callable[P, R],
        static_argnums: Iterable[int],
        static_argnames: Iterable[str],
        donate_argnums: Iterable[int] = (),
    ) -> None:
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.donate_argnums = tuple(donate_argnums)
        self.static_argnums = tuple(static_argnums)
        self.static_argnames = frozenset(static_argnames)
        self._lock = renewed_lock(self)
        self.clear()
        JITTED.add(self)

    def clear(self) -> None:
        """Forget every recording; the next call records anew.

        Examples
        --------
        >>> import adjoint as ad
        >>> f = ad.jit(lambda x: 2 * x)
        >>> f(1.0), f.clear(), f.stats()["recordings"]
        (2.0, None, 0)
        """
        self._uninstalled()
        self._paths: dict[Any, tuple[Path, ...]] = {}
        self._statics: set[Any] = set()
        self._numbers = NumberChoices()
        self._captured = Captured()
        self._lengths = Lengths()
        self._branches: dict[Any, Any] = {}
        self._changes: Counter[Any] = Counter()
        self._derived: dict[Any, Jitted] = {}
        self._eager: dict[Any, str] = {}
        self._given_up = ""
        self._recordings = 0
        self._warned = False
        self._waiting = Waiting(self.fun)

    def switched(self) -> None:
        """Let calls begin in Python or in machine code, as jit has been switched off or on."""
        if is_off():
            self._uninstalled()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the recording that fits; record where none does."""
        try:
            with RAISED_ONCE:
                return self.on_plain(*args, **kwargs)
        except ForeignValueError:  # the function itself is right for any value it closes over
            return self.fun(*args, **kwargs)
        except Exception as error:
            from ...core.arguments.naming import as_it_leaves  # seldom needed, so not when the library is imported

            found = as_it_leaves(error, self.fun, args, kwargs)
            if found is error:
                raise
            raise found from error

    def __reduce__(self) -> Any:
        """By reference, as functions are pickled: another process records anew."""
        name = reference(self)
        if "<" in name:
            raise pickle.PicklingError(f"Can't pickle {self!r}: its function cannot be imported by name")
        options = {"static_argnums": self.static_argnums, "static_argnames": tuple(sorted(self.static_argnames))}
        options["donate_argnums"] = self.donate_argnums
        return made_again, (name, {key: value for key, value in options.items() if value})

    def __repr__(self) -> str:
        return f"<jit of {getattr(self.fun, '__qualname__', self.fun)}>"

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        """Bind as a function does, so that methods can be jitted."""
        return self if owner is None else types.MethodType(self, owner)

    def __copy__(self) -> Jitted:
        return self

    def __deepcopy__(self, memo: Any) -> Jitted:
        return self

    def on_plain(self, *args: Any, **kwargs: Any) -> Any:
        """As a call, but the caller has to see to a function that closes over a traced value."""
        if self._given_up or is_off():
            say_if_unknown(self.fun)
            if LOCAL.seeks_nans:
                return looking_for_nans(lambda *a, **k: run(self.fun, a, k), args, kwargs)
            return self.fun(*args, **kwargs)
        call = taken_apart(args, kwargs, self.static_argnums, self.static_argnames)
        for leaf in call.leaves:
            if isinstance(leaf, Traced):
                return self._inside(args, kwargs, call)
        if errors := floating_errors():  # a recording under np.seterr(all="raise") is not for other times
            call = call._replace(key=(*call.key, ("np.errstate", errors)))
        paths = self._paths.get(call.key, ())
        found = self._attempted(call, paths) if paths else None
        if found is None:
            varied = self._numbers.of(call)
            if varied is not call:
                call, paths = varied, self._paths.get(varied.key, ())
                found = self._attempted(call, paths) if paths else None
        if found is not None:
            return found[0].recording.result(found[1])
        if call.key in self._eager:
            return self.fun(*args, **kwargs)
        with self._waiting:
            return self._record(args, kwargs, call, paths)

    def lower(self, *args: P.args, **kwargs: P.kwargs) -> Lowered:
        """The program for such arguments, for reading: `.program`, `.optimised`, `.assembly`, or print the whole.

        Parameters
        ----------
        *args : any containers
            Arguments as for a call; only their kinds and shapes matter, and the branches they lead to.
        **kwargs : any containers
            Likewise, by name.

        Returns
        -------
        Lowered
            What was recorded, and what runs.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> print(ad.jit(lambda x: 2.0 * np.sin(x)).lower(np.ones(3)).optimised)
        program(v0: float64[3]):
            v1: float64[3] = sin(v0)
            v3: float64[3] = multiply(2.0, v1)
            return v3
        """
        call = taken_apart(args, kwargs, self.static_argnums, self.static_argnames)
        recording, _ = recorded(self.fun, call)
        path = Path(recording, call)
        return Lowered(recording.program, path.program, path.executable)

    def stats(self) -> Stats:
        """How often it was recorded, for what arguments, which paths exist, and what runs without machine code.

        Returns
        -------
        Stats
            A dict that prints as a few lines.

        Examples
        --------
        >>> import adjoint as ad
        >>> f = ad.jit(lambda x: 2 * x)
        >>> f(1.0), f.stats()["recordings"]
        (2.0, 1)
        """
        eager = [*self._eager.values(), *([self._given_up] if self._given_up else [])]
        return stats_of(self._recordings, self._paths, eager)

    @property
    def recordings(self) -> int:
        """How often it was recorded so far."""
        return self._recordings

    def derived(self, key: Any, make: Callable[[], Callable[..., Any]]) -> Jitted:
        """A jitted function that belongs to this one: a derivative or a batch of it."""
        found = self._derived.get(key)
        if found is None:
            found = self._derived.setdefault(key, kind_of_jitted(Jitted)(make(), (), ()))
            found._lengths.is_said = True  # of this function, if at all
        return found

    def _installed(self, entry: Any) -> None:
        """Calls may go straight to this machine code."""

    def _uninstalled(self) -> None:
        """Calls no longer go straight to machine code."""

    def _inside(self, args: Any, kwargs: Any, call: CallParts) -> Any:
        """Inside another trace: part of the recording under way, or one step with rules that are jitted too."""
        traced = [x for x in call.leaves if isinstance(x, Traced)]
        if not all(x.traced_by.level for x in traced):
            args, kwargs = call.rebuild([settled(x) for x in call.leaves])
            return self.on_plain(*args, **kwargs)
        if any(is_captured(x) for x in traced):
            return call_traced(self.fun, args, kwargs)
        return call_inside(self, call)

    def _attempted(self, call: CallParts, paths: tuple[Path, ...]) -> tuple[Path, list[Any]] | None:
        """The first path whose guards hold, with its outputs."""
        for k, path in enumerate(paths):
            if is_pending():  # an error of the user's own: the function itself says what becomes of it
                return None
            found = path.outputs(call) if path.recording.is_valid() else None
            if found is not None:
                if k:  # the next call is likely to take the same path
                    with self._lock:
                        now = self._paths.get(call.key, ())
                        self._paths[call.key] = (path, *[p for p in now if p is not path])
                return path, found
        return None

    def _record(self, args: Any, kwargs: Any, call: CallParts, paths: tuple[Path, ...], *, defers: bool = True) -> Any:
        """Record one more path. Nothing is locked meanwhile, as the function may wait for others that are jitted."""
        if call.counts and len(paths) >= MAX_PATHS:
            self._numbers.fix(call, call.counts)  # each value has its own recording
            call = call.without_counts()
            return self._record(args, kwargs, call, self._paths.get(call.key, ()), defers=defers)
        exactly = any([not p.recording.is_valid() for p in paths])  # perhaps because of something that is not used
        if self._captured.note_changes([p.recording for p in paths]):
            self._paths[call.key] = paths = tuple([p for p in paths if p.recording.is_valid()])
        if self._is_too_much(call, paths):
            return self.fun(*args, **kwargs)
        check_objects(call, self.static_argnums, self.static_argnames)
        inputs = self._captured.inputs
        branches = branches_of(self._branches, call, paths, anew=exactly)
        recording, result = recorded(self.fun, call, inputs, exactly=exactly, branches=branches, defers=defers)
        if recording.counts != call.counts:
            self._numbers.fix(call, call.counts)
            call = call.without_counts()
            paths = self._paths.get(call.key, ())
        self._numbers.note(call, recording)
        self._captured.note(recording)
        if recording.watch.unwatchable:
            self._give_up(recording.watch.unwatchable, recording.watch.fix)
        if recording.watch.unwatchable or recording.is_for_once:
            return (
                recorded(self.fun, call, inputs, exactly=exactly, branches=branches)[1] if result is NOT_YET else result
            )
        self._recordings += 1
        statics = frozenset([k % max(len(args), 1) for k in self.static_argnums]) | self.static_argnames
        donated = frozenset([k % max(len(args), 1) for k in self.donate_argnums])
        path = Path(recording, call, Given(args, kwargs, statics, donated))
        if result is NOT_YET:
            result = path.result(args, kwargs, call)
        with self._lock:
            now = self._paths.get(call.key, ())
            new = tuple([p for p in now if not any(p is old for old in paths)])
            quicker = self._attempted(call, new) if new else None
            if quicker:  # another thread was
                return quicker[0].recording.result(quicker[1]) if result is NOT_YET else result
            self._statics.add(call.statics)
            stale = [p for p in now if not p.recording.is_valid()][2:]  # a few, as they are often set back and forth
            self._paths[call.key] = (path, *[p for p in now if p not in stale])
            if path.entry is not None:
                self._installed(path.entry)
        hint = self._lengths.note(self.fun, call)
        if hint is not None:
            say(self.fun, *hint)
        if result is NOT_YET:  # a decision was not what is likely
            return self._record(args, kwargs, call, self._paths[call.key], defers=False)
        return result

    def _is_too_much(self, call: CallParts, paths: tuple[Path, ...]) -> bool:
        """Whether recording once more would not pay."""
        changes = {p.recording.watch.changed() or p.recording.watch.rewritten() for p in paths} - {""}
        for what in changes:
            self._changes[what, call.key] += 1
            if self._changes[what, call.key] > MAX_CHANGES:
                self._give_up(f"{what} changes between calls", "Pass it as an argument.")
                return True
        if len(paths) - len(changes) >= most(paths):
            lines = [s.line for p in paths[:1] for s in p.recording.program.steps if s.primitive is GUARD]
            self._eager[call.key] = lines[-1] if lines else ""
            self._warn(
                f"has taken {most(paths)} different paths, so it now runs without jit where none of them fits.\n"
                f"  The last decision was at {self._eager[call.key]}",
                "Use  ad.while_loop, ad.scan  or  ad.cond  for a loop or branch that depends on values, or  np.where;\n"
                "  NumPy's functions instead of math's, which take one number at a time.",
            )
            return True
        if len(self._statics) >= MAX_STATICS and call.statics not in self._statics:
            self._eager[call.key] = "static values"
            self._warn(
                f"has been called with {MAX_STATICS} different static values, so it now runs without jit for others.",
                "Strings, objects and integers that choose a shape are static: pass what varies as numbers or arrays.",
            )
            return True
        return False

    def _give_up(self, why: str, fix: str) -> None:
        self._given_up = why
        self._uninstalled()
        self._warn(f"now runs without jit: {why}.", fix)

    def _warn(self, what: str, fix: str) -> None:
        if not self._warned:
            self._warned = True
            say(self.fun, what, fix)
