"""What `jit` makes of a function: it is recorded once, and the recording is run from then on."""

from __future__ import annotations

import functools
import pickle
import types
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar

from ...capture.recording.recording import NOT_YET, Given
from ...core.derived import found_jitted as made_again
from ...core.derived import reference
from ...core.traced import LOCAL, Traced, settled
from ...core.values import is_captured
from ...host.forking import renewed_lock
from ...ir.capture import ForeignValueError
from ...ir.conditions import floating_errors
from ...ir.progress_line import Waiting
from ..callbacks.raised import RAISED_ONCE, is_pending
from ..calling import call_traced, looking_for_nans, run
from ..settings import JITTED, is_off
from . import limits
from .keys import CallParts, check_objects, taken_apart
from .live import admit
from .native import kind_of_jitted
from .numbers import Captured, NumberChoices
from .path import AT_ONCE, MAX_PATHS, Path, branches_of, most, recorded, unused
from .reasons import change_of, reason
from .show import FEWER_PATHS, FEWER_STATICS, Lengths, Lowered, Stats, say, say_if_unknown, stats_of
from .step import call_inside

P = ParamSpec("P")
R = TypeVar("R")
Numbers = int | Iterable[int]
Names = str | Iterable[str]


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
        self._origin: tuple[weakref.ref[Jitted], Any] | None = None
        """The function that this one is a derivative or a batch of, and under which key."""
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
        self._reasons: list[str] = []
        self._dropped = 0
        self._warned = False
        self._waiting = Waiting(self.fun)
        self.keeps_state = False
        """Whether it was seen to leave something in its surroundings; then it is no step of another trace."""

    def switched(self) -> None:
        """Let calls begin in machine code, where there is some and jit is not switched off, or else in Python."""

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
        result = self._answered(args, kwargs, call, paths) if paths else NOT_YET
        if result is NOT_YET:
            varied = self._numbers.of(call)
            if varied is not call:
                call, paths = varied, self._paths.get(varied.key, ())
                result = self._answered(args, kwargs, call, paths) if paths else NOT_YET
        if result is not NOT_YET:
            return result
        if call.key in self._eager:
            return self.fun(*args, **kwargs)
        with self._waiting:
            return self._record(args, kwargs, call, paths)

    def lower(self, *args: P.args, **kwargs: P.kwargs) -> Lowered:
        """The program for such arguments, for reading: `.program`, `.optimized`, `.assembly`, or print the whole.

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
        >>> print(ad.jit(lambda x: 2.0 * np.sin(x)).lower(np.ones(3)).optimized)
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
        """How often it was recorded and why, what it has settled for, and what runs without machine code.

        Returns
        -------
        Stats
            A dict that prints as a few lines. Its `"reasons"` are one for each recording, with the line of a decision
            that came out differently, the argument that is another, or what was captured and has changed.

        Examples
        --------
        >>> import adjoint as ad
        >>> f = ad.jit(lambda x: 2 * x)
        >>> f(1.0), f(2j), f.stats()["recordings"]
        (2.0, 4j, 2)
        >>> print(f.stats()["reasons"][1])
        x is python complex, recorded python float, at ...
        """
        eager = [*self._eager.values(), *([self._given_up] if self._given_up else [])]
        return stats_of(self._recordings, self._reasons, self._dropped, self._paths, eager)

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
            found._origin = weakref.ref(self), key
        return found

    def _installed(self, entry: Any) -> None:
        """Calls may go straight to this machine code."""

    def _unlinked(self, entry: Any) -> None:
        """Calls no longer go to this machine code."""

    def _inside(self, args: Any, kwargs: Any, call: CallParts) -> Any:
        """Inside another trace: part of the recording under way, or one step with rules that are jitted too."""
        traced = [x for x in call.leaves if isinstance(x, Traced)]
        if not all(x.traced_by.level for x in traced):
            args, kwargs = call.rebuild([settled(x) for x in call.leaves])
            return self.on_plain(*args, **kwargs)
        if any(is_captured(x) for x in traced):
            return call_traced(self.fun, args, kwargs)
        return call_inside(self, call)

    def _answered(self, args: Any, kwargs: Any, call: CallParts, paths: tuple[Path, ...]) -> Any:
        """What one of the paths gives; `NOT_YET` if the guards of none hold."""
        for path in paths:
            if path.is_taken_again and path.entry is not None and not path.entry.is_linked and not is_pending():
                self._installed(path.entry)  # there was no room for it, but it is in use again
                result = path.result(args, kwargs, call)
                if result is not NOT_YET:
                    return result
        found = self._attempted(call, paths)
        return NOT_YET if found is None else found[0].recording.result(found[1])

    def _attempted(self, call: CallParts, paths: tuple[Path, ...]) -> tuple[Path, list[Any]] | None:
        """The first path whose guards hold, with its outputs."""
        for k, path in enumerate(paths):
            if is_pending():  # an error of the user's own: the function itself says what becomes of it
                return None
            found = path.outputs(call) if path.recording.is_valid() else None
            if found is not None:
                if k or not path.is_taken_again:  # the next call is likely to take the same path
                    with self._lock:
                        now = self._paths.get(call.key, ())
                        if path in now:
                            self._paths[call.key] = (path, *[p for p in now if p is not path])
                            self._used(path)
                return path, found
        return None

    def _used(self, path: Path) -> None:
        """Let calls go straight to the machine code of a path."""
        if path.entry is not None and not path.is_taken_again:
            self._installed(path.entry)
        path.is_taken_again = True

    def _record(self, args: Any, kwargs: Any, call: CallParts, paths: tuple[Path, ...], *, defers: bool = True) -> Any:
        """Record one more path. Nothing is locked meanwhile, as the function may wait for others that are jitted."""
        if call.counts and len(paths) >= MAX_PATHS:
            self._numbers.fix(call, call.counts)  # each value has its own recording
            call = call.without_counts()
            return self._record(args, kwargs, call, self._paths.get(call.key, ()), defers=defers)
        changed = [change_of(p) for p in paths]
        exactly = any(changed)  # perhaps because of something that is not used
        why = functools.partial(reason, self.fun, call, {**self._paths, call.key: paths}, changed)
        if self._captured.note_changes([p.recording for p in paths]):
            self._keep(call.key, [p for p in paths if p.recording.is_valid()])
            paths = self._paths.get(call.key, ())
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
            text, path.line = why(recording)
            self._recordings += 1
            self._reasons = [*self._reasons[1 - limits.MOST_REASONS :], text]
            self._statics.add(call.statics)
            stale = [p for p in now if not p.recording.is_valid()][2:]  # a few, as they are often set back and forth
            self._keep(call.key, [path, *[p for p in now if p not in stale]])
            if len(now) < AT_ONCE:  # of others nobody knows whether they will be taken again
                self._used(path)
        admit(self, call.key, path)
        hint = self._lengths.note(self.fun, call)
        if hint is not None:
            say(self.fun, *hint)
        if result is NOT_YET:  # a decision was not what is likely
            return self._record(args, kwargs, call, self._paths.get(call.key, ()), defers=False)
        return result

    def _keep(self, key: Any, paths: Sequence[Path]) -> None:
        """Let these be the paths for calls of a kind, and no others."""
        with self._lock:
            gone = [path for path in self._paths.get(key, ()) if path not in paths]
            if paths:
                self._paths[key] = tuple(paths)
            else:
                self._paths.pop(key, None)
            for path in gone:
                if path.entry is not None:
                    self._unlinked(path.entry)

    def drop(self, key: Any, path: Path) -> bool:
        """Forget one path; a call that needs it records it again. False if others are at work here: they go first."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            now = self._paths.get(key, ())
            self._keep(key, [p for p in now if p is not path])
            self._dropped += path in now
        finally:
            self._lock.release()
        if not self._paths and self._origin is not None:
            origin, name = self._origin
            owner = origin()
            if owner is not None:
                owner._derived.pop(name, None)
        return True

    def _is_too_much(self, call: CallParts, paths: tuple[Path, ...]) -> bool:
        """Whether recording once more would not pay."""
        changes = {p.recording.watch.changed() or p.recording.watch.rewritten() for p in paths} - {""}
        for what in changes:
            self._changes[what, call.key] += 1
            if self._changes[what, call.key] > limits.MAX_CHANGES:
                self._give_up(f"{what} changes between calls", "Pass it as an argument.")
                return True
        once = unused(paths)
        if once or len(paths) - len(changes) >= most(paths):
            lines = Counter([p.line for p in once or paths if p.line]).most_common(1)
            line = lines[0][0] if lines else ""
            self._run_eagerly(call.key, line)
            many = f"{most(paths)} different paths"
            if once:
                many = f"{len(paths)} different paths, {len(once)} of them only once"
                self._keep(call.key, [p for p in paths if p.is_taken_again])
            what = f"has taken {many}, so it now runs without jit where none of them fits.\n"
            self._warn(f"{what}  They differ in what is decided at {line}", FEWER_PATHS)
            return True
        if len(self._statics) >= limits.MAX_STATICS and call.statics not in self._statics:
            self._run_eagerly(call.key, "static values")
            what = f"has been called with {limits.MAX_STATICS} different static values"
            self._warn(f"{what}, so it now runs without jit for others.", FEWER_STATICS)
            return True
        return False

    def _run_eagerly(self, key: Any, why: str) -> None:
        """Run calls of this kind without jit; of the first kinds it is found out again, as keys hold static values."""
        self._eager[key] = why
        if len(self._eager) > limits.MAX_EAGER:
            del self._eager[next(iter(self._eager))]

    def _give_up(self, why: str, fix: str) -> None:
        self._given_up = why
        self.switched()
        self._warn(f"now runs without jit: {why}.", fix)

    def _warn(self, what: str, fix: str) -> None:
        if not self._warned:
            self._warned = True
            say(self.fun, what, fix)
