"""Compiled code that can talk to the world: by what its library asks the system for, not by what it is called.

A call into such a library may send a message, read a file or start a process, which a recording would not repeat. What
only computes asks for memory and mathematics.
"""

from __future__ import annotations

import functools
import mmap
import pathlib
import struct
import sys
import time
import types
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any

from ...host.frames.ownership import OURS, Owner, owner_of
from ..recording.executed import Executed

KNOWN = frozenset(
    f"{OURS} numpy scipy optree llvmlite numba pandas polars pyarrow xarray sklearn jax jaxlib torch sympy gmpy2 flint "
    "shapely skimage statsmodels astropy erfa numexpr bottleneck matplotlib PIL cv2 lxml regex cffi _cffi_backend "
    "Cython".split()
)
"""Packages that compute with what they are given, though some of them can read files as well: `open` is seen apart."""
SYSTEM = frozenset(
    (
        "socket", "connect", "accept", "send", "recv", "sendto", "recvfrom", "sendmsg", "recvmsg", "popen", "system",
        "fork", "vfork", "execv", "execve", "execvp", "posix_spawn", "posix_spawnp", "open", "open64", "openat",
        "fopen", "fopen64", "shm_open", "mq_open", "mq_send", "mq_receive", "dlopen",
    )
)  # fmt: skip
"""Functions of the system by which one reaches others: processes, files, networks."""
PYTHONS = frozenset(
    (
        "_io", "_socket", "socket", "ssl", "_ssl", "select", "_queue", "queue", "subprocess", "sqlite3", "http.client",
        "multiprocessing.connection", "multiprocessing.queues", "multiprocessing.managers", "multiprocessing.pool",
        "multiprocessing.synchronize", "multiprocessing.sharedctypes", "concurrent.futures.process",
    )
)  # fmt: skip
"""Modules of Python's own whose objects reach others."""
TALKERS = frozenset(("mpi4py", "zmq", "h5py", "netCDF4", "serial", "psycopg", "redis", "pyodbc"))
"""Packages that are known to, where a library cannot be read."""
PREFIXES = ("MPI_", "zmq_", "nccl", "H5F", "sqlite3_", "curl_")
"""How the names begin of functions of libraries by which one reaches others."""
NO_CLOCKS = ("sleep", "struct_time", "tzset", "mktime", "strptime", "asctime", "get_clock_info")
CALLED = (types.BuiltinFunctionType, types.FunctionType, type)
DYNAMIC_SYMBOLS = 11
"""The type of the part of a library that says what it asks for."""


def is_talker(module: Any) -> bool:
    """Whether a module is compiled, and can reach others by itself."""
    if not issubclass(type(module), types.ModuleType):
        return False
    names = vars(module)
    package, path = str(names.get("__name__")).partition(".")[0], names.get("__file__")
    if package in KNOWN or package in sys.stdlib_module_names:
        return False
    if not isinstance(path, str) or not path.endswith(tuple(EXTENSION_SUFFIXES)):
        return False
    return package in TALKERS or _reaches_others(path)


def is_of_talker(x: object) -> bool:
    """Whether the class of an object is of such a module."""
    name: Any = type(x).__module__
    if type(name) is str and name in PYTHONS:
        return all([x is not stream for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)])
    return type(name) is str and name != "builtins" and _is_talkers_name(name, sys.modules.get(name))


@functools.lru_cache(4096)
def _is_talkers_name(name: str, module: Any) -> bool:
    return is_talker(module)


@functools.cache
def _reaches_others(path: str) -> bool:
    """Whether a library asks for something by which one reaches others."""
    return any([name in SYSTEM or name.startswith(PREFIXES) for name in _asked_for(path)])


def _asked_for(path: str) -> list[str]:
    """The functions that a library has from others; none if it cannot be read."""
    try:
        with pathlib.Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _undefined(data) if data[:6] == b"\x7fELF\x02\x01" else []
    except (OSError, ValueError, struct.error):
        return []


def _undefined(data: mmap.mmap) -> list[str]:
    """The names of the symbols that a library in the format of Linux does not define itself."""
    start, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + k * size) for k in range(count)]
    found: list[str] = []
    for _, kind, _, _, at, length, link, _, _, step in sections:
        if kind == DYNAMIC_SYMBOLS:
            names = sections[link][4]
            for k in range(length // step):
                name, _, _, section = struct.unpack_from("<IBBH", data, at + k * step)
                if section == 0 and name:
                    end = data.find(b"\0", names + name)
                    found.append(data[names + name : end].decode("ascii", "replace"))
    return found


def talk_of(x: Any, names: set[str]) -> str:
    """The method of an object that can talk to the world and that code mentions; empty if there is none."""
    kind = type(x)
    for name in sorted(names):
        held = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
        if held is not None and not isinstance(held, type) and callable(held):
            return f"{kind.__name__}.{name}"
    return ""


def functions_of(module: types.ModuleType, names: set[str]) -> str:
    """The function of a module that can talk to the world and that code mentions; empty if there is none."""
    held = {name: vars(module)[name] for name in sorted(names & vars(module).keys())}
    found = [name for name, x in held.items() if callable(x) and not isinstance(x, type)]
    return f"{module.__name__}.{found[0]}" if found else ""


CLOCKS = {
    "time": frozenset([name for name in dir(time) if callable(getattr(time, name)) and name not in NO_CLOCKS]),
    "datetime": frozenset(("now", "today", "utcnow")),
    "os": frozenset(("urandom", "times", "getrandom", "getloadavg")),
    "uuid": frozenset(("uuid1", "uuid4")),
    "secrets": frozenset(("token_bytes", "token_hex", "randbelow", "randbits", "choice", "SystemRandom")),
}
"""Functions that give something else each time, by the module that has them."""


def clock_in(executed: Executed) -> str:
    """A function that gives something else each time, as code mentions it; empty if none is."""
    for code, variables in executed.items():
        if owner_of(variables) in (Owner.OURS, Owner.LIBRARY):
            continue
        names = set(code.co_names)
        for name in code.co_names:
            what = _clock(name, variables.get(name), names)
            if what:
                return what
    return ""


def _clock(name: str, held: Any, names: set[str]) -> str:
    if held is None and name in CLOCKS:  # imported by the function
        held = sys.modules.get(name)
    module: Any
    kind = type(held)  # what an object calls its class may be code of the user's
    if issubclass(kind, types.ModuleType):
        module = held.__name__
    elif not issubclass(kind, CALLED):
        return ""
    else:
        module, name = getattr(held, "__module__", None), getattr(held, "__name__", "")
        names = names | ({name} if type(name) is str else set())  # what an object says may be anything
    found = sorted(CLOCKS.get(module, frozenset()) & names) if type(module) is str else []
    return f"{module}.{found[0]}" if found else ""
