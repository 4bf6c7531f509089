"""Code in two tiers: made quickly at first, and with care by a thread in the background once it is called again.

LLVM's code generator takes two to four times as long to make good code as to make code that is one to seven times
slower. So the first call of a function waits for quick code only. A kernel is called through a variable that holds its
address; the quick one counts its calls, and after a few of them starts a thread which compiles it with care and then
sets the variable. Loops call their bodies through such variables too, so that one that goes on for long has the good
code of its rounds as soon as there is some. Both tiers are made of the same instructions, with the same results to the
bit.

Nothing waits for the thread but a fork and the end of the process, and these for the module under way only: LLVM cannot
be stopped, and would not survive either. `ADJOINT_QUICK=off` compiles with care at once.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import threading
import weakref
from typing import Any

from ...host.forking import Lock, around_fork, in_child
from ..assembly.module import Module, in_place
from ..assembly.values import Function
from . import cache
from .engine import Code, is_known

THREADS_PATCH = {
    "what": "the threads of the process: one that compiles, and workers for large loops "
    "(`compile/runtime/threads.py`), both stopped before a fork; and what is done at exit (`atexit`), where the first "
    "is waited for",
    "when": "from then on",
    "why": "first calls do not wait for good code; large loops use all processors",
    "undone": "the first ends when there is nothing to compile; workers sleep until the process ends, or "
    "`ad.config.set_threads(1)`",
}
VARIABLE = "ADJOINT_QUICK"
CALLS = 3
"""Calls after which a kernel is worth its care."""
KERNEL = "kernel"
"""The function that does the work, in the code of either tier."""
CURRENT = "kernel.current"
"""The variable that holds the address of the one to call."""
QUICKER = 3
"""How many times less LLVM takes for quick code."""
NOTICEABLE = 150
"""Lines from which on quick code comes first: some milliseconds."""
PER_LINE = 100_000
"""Work for each line, in additions, up to which quick code comes first: it may take half a nanosecond more for each."""
LEFT, ASK = "calls.left", "calls.ask"
"""Variables of quick code: how many calls are left until it asks for better code, and the function that it asks."""

_waiting: dict[int, weakref.ref[Tiers]] = {}
"""What has asked for good code and has none yet, in this order; the first is the one under way."""
_lock = Lock()
"""Held for moments, when a thread begins or ends."""
_thread: threading.Thread | None = None
"""The one that compiles: there is none when nothing waits."""
_pauses = 0
"""It goes on while this is 0: not where the process forks, or ends."""
_Asked = ctypes.CFUNCTYPE(None)


@functools.cache
def is_on() -> bool:
    """Whether quick code is made at all."""
    wish = os.environ.get(VARIABLE)
    return wish is None or wish.strip().lower() not in cache.OFF


def are_wanted(module: Module, level: int, lines: int, work: int) -> bool:
    """Whether quick code should come first: where one waits for less long, and it is not slow for longer than that.

    `level` is how hard LLVM tries in the end; 0 is quick already.
    """
    if not is_on() or not level or lines < NOTICEABLE:
        return False
    if work - module.called > PER_LINE * lines and not module.is_unbounded:
        return False
    return level < 2 or not module.may_reorder()  # else quick code would have other digits


class Tiers:
    """The machine code of a kernel and of the entry that calls it; the kernel's is replaced by better code."""

    def __init__(self, entry: Module, module: Module, main: Function, level: int, *, at_once: bool) -> None:
        """`level` is how hard LLVM tries in the end; if `at_once`, that begins before anybody calls."""
        self._text = good_text(module, main)
        self._level, self._carries = level, module.carries
        self._bodies = tuple(module.bodies)
        self._codes: list[Code] = []
        """Those that calls may be in; the first has the entry."""
        self.is_final = is_known(self._text, level)
        """Whether calls run the good code."""
        if self.is_final:
            self._codes.append(Code(entry.text(None, f"@{CURRENT} = global ptr null"), 0))
            self._use(self._good())
            self._text = ""
            return
        more = [f.written for name, f in entry.declarations.items() if name not in module.declarations]
        more += [*entry.functions, _counted(main), f"@{CURRENT} = global ptr @{KERNEL}"]
        self._codes.append(Code(module.text(_replaceable, *more), 0))
        self._asks = _Asked(functools.partial(_ask, weakref.ref(self)))
        self._variable(ASK).value = ctypes.cast(self._asks, ctypes.c_void_p).value
        self._variable(LEFT).value = CALLS
        if at_once:
            self.ask()

    def address(self, name: str) -> int:
        """Where a function or a variable of the entry is."""
        return self._codes[0].address(name)

    @property
    def bytes(self) -> int:
        """What it takes in memory, about, once there is good code, which is about as long as quick code."""
        return sum([code.bytes for code in self._codes]) if self.is_final else 2 * self._codes[0].bytes

    def ask(self) -> None:
        """Let the thread make the good code, unless there is some: it may have come while a call was about to ask."""
        if self.is_final:
            return
        _waiting[id(self)] = weakref.ref(self)
        _begin()

    def ask_again(self) -> None:
        """Ask at the next call, as the thread is gone."""
        self._variable(LEFT).value = 1

    @property
    def is_waiting(self) -> bool:
        """Whether it has asked for good code and has none yet."""
        return id(self) in _waiting

    def improve(self) -> None:
        """Make the good code and use it, once: its text is let go then."""
        if self.is_final:
            return
        self._use(self._good(alongside=True))
        self.is_final, self._text = True, ""

    def _good(self, *, alongside: bool = False) -> Code:
        return Code(self._text, self._level, carries=self._carries, alongside=alongside)

    def _use(self, code: Code) -> None:
        """Let calls run this code from now on, and loops that are in the code before it, from their next round on."""
        self._codes.append(code)
        if not self.is_final:
            for name in self._bodies:
                self._variable(f"{name}.address").value = code.address(name)
        self._variable(CURRENT).value = code.address(KERNEL)

    def _variable(self, name: str) -> Any:
        """A variable of the first code that holds a whole number or an address."""
        return ctypes.c_uint64.from_address(self._codes[0].address(name))


def good_text(module: Module, main: Function) -> str:
    """The text of the good code of a kernel."""
    return module.text(_offered, in_place(KERNEL, main, ""))


def _ask(reference: weakref.ref[Tiers]) -> None:
    """Quick code has been called often enough."""
    tiers = reference()
    if tiers is not None:
        tiers.ask()


def _begin() -> None:
    """Start the thread, unless it is there."""
    global _thread
    with _lock:
        if not _pauses and _thread is None and _waiting:
            _thread = threading.Thread(target=_improve, name="adjoint compiles", daemon=True)
            try:
                _thread.start()
            except RuntimeError:  # no more threads, or the process ends: the code at hand will do
                _thread = None


def _improve() -> None:
    """What the thread does: one after the other, in the order in which they asked."""
    global _thread
    while True:
        with _lock:
            if _pauses or not _waiting:
                _thread = None
                return
            key, reference = next(iter(_waiting.items()))
        tiers = reference()
        try:
            if tiers is not None:
                tiers.improve()
        except Exception:
            import logging

            logging.getLogger("adjoint").warning("adjoint: a function keeps its first, slower code", exc_info=True)
        del tiers
        if _waiting.get(key) is reference:  # and not that of an object in the place of one that is gone
            del _waiting[key]


def _counted(main: Function) -> str:
    """The quick kernel: as `main`; after so many calls that went well it asks for better code.

    It asks when all is done, as Python may run then, and other threads with it.
    """
    names = _names(main)
    return f"""@{LEFT} = global i64 0
@{ASK} = global ptr null
define i32 @{KERNEL}({names}) nounwind {{
  %r = call i32 {main.name}({names})
  %good = icmp eq i32 %r, 0
  br i1 %good, label %count, label %end
count:
  %left = atomicrmw sub ptr @{LEFT}, i64 1 monotonic
  %last = icmp eq i64 %left, 1
  br i1 %last, label %ask, label %end
ask:
  %asked = load ptr, ptr @{ASK}
  call void %asked()
  br label %end
end:
  ret i32 %r
}}"""


def _replaceable(name: str, body: Function) -> str:
    """In quick code, what a loop calls in every round: whatever a variable says."""
    names, kind = _names(body), body.result.name
    return f"""@{name}.address = global ptr {body.name}
define internal {kind} @{name}({names}) nounwind {{
  %now = load atomic ptr, ptr @{name}.address monotonic, align 8
  %r = call {kind} %now({names})
  ret {kind} %r
}}"""


def _offered(name: str, body: Function) -> str:
    """In good code, the same: in place, and for loops of the quick code to call."""
    return in_place(name, body, "")


def _names(function: Function) -> str:
    return ", ".join([f"{kind.name} %a{k}" for k, kind in enumerate(function.parameters)])


def _pause() -> None:
    """End the thread after the module under way: LLVM can neither be torn apart nor be taken down meanwhile."""
    global _pauses
    with _lock:  # not while another thread starts it; and it has to be let go, as the thread needs it to end
        _pauses += 1
        thread = _thread
    if thread is None or thread is threading.current_thread():
        return
    if thread.ident is not None:  # else this very thread is about to start it, and it compiles nothing before that
        thread.join()


def _go_on() -> None:
    global _pauses
    with _lock:
        _pauses -= 1
    _begin()


def _in_child() -> None:
    """A child makes the code that is called there."""
    global _lock, _pauses, _thread
    _lock, _pauses, _thread = Lock(), 0, None
    found = [reference() for reference in _waiting.values()]
    _waiting.clear()
    for tiers in found:
        if tiers is not None:
            tiers.ask_again()


around_fork(_pause, _go_on)
in_child(_in_child)
atexit.register(_pause)
