"""The rows that are also written in C: compiled when first asked for, with the compiler at hand."""

from __future__ import annotations

import functools
import importlib.util
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType

import numpy as np

FUNCTIONS = ("scalar", "chain", "chain_vectorised", "pendulum", "long_pendulum", "bundle", "hand")
FLAGS = ("-O3", "-march=native", "-fopenmp", "-shared", "-fPIC")


@functools.cache
def module() -> ModuleType:
    """The extension module `by_hand`, built in a temporary folder."""
    compiler = shutil.which("gcc")
    if compiler is None:
        raise ImportError("there is no gcc here")
    folder = Path(tempfile.mkdtemp(prefix="benchmarks-"))
    try:
        built = folder / f"by_hand{sysconfig.get_config_var('EXT_SUFFIX')}"
        here = Path(__file__).parent
        includes = [f"-I{sysconfig.get_paths()['include']}", f"-I{np.get_include()}"]
        parts = []
        for source in sorted(here.glob("*.c")):
            parts.append(str(folder / f"{source.name}.o"))
            extra = VECTORISED if source.stem.endswith("_vectorised") else ()
            run([compiler, *FLAGS, *extra, *includes, "-c", str(source), "-o", parts[-1]])
        run([compiler, *FLAGS, *parts, "-o", str(built), "-lmvec", "-lm"])
        spec = importlib.util.spec_from_file_location("by_hand", built)
        assert spec is not None
        assert spec.loader is not None
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        return made
    finally:
        shutil.rmtree(folder)


VECTORISED = ("-fno-math-errno", "-fno-trapping-math", "-mprefer-vector-width=512")
"""Without these the compiler keeps the calls one by one: it could not say which of them set errno."""


def run(command: list[str]) -> None:
    """Run the compiler; what it says is the error."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ImportError(done.stderr)
