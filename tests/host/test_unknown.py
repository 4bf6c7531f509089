"""A Python whose instructions are not in the table: nothing is guessed, everything works, and one warning says so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.host.unknown_programs import results

ROOT = Path(__file__).parent.parent.parent


def on_unknown(script):
    """What a script prints on such a Python, as JSON."""
    begin = "import sys, json; sys.path[:0] = [{!r}, {!r}]; import tests.unknown_python".format(
        str(ROOT), str(ROOT / "src")
    )
    run = subprocess.run(
        [sys.executable, "-c", f"{begin}\n{script}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert not run.returncode, run.stderr
    return json.loads(run.stdout)


def test_everything_works_and_one_warning_says_so():
    """The same numbers as without jit on a Python that is known, through every transformation."""
    found, said = on_unknown(
        "import adjoint as ad\nfrom tests.host.unknown_programs import warned\nprint(json.dumps(warned(ad.jit)))"
    )
    assert len(said) == 1
    assert "runs without jit, as do all functions: this is CPython 3.99, whose instructions are not known" in said[0]
    assert found == results(lambda f: f)


def test_nothing_is_said_without_jit():
    """Derivatives are as they are anywhere."""
    found, said = on_unknown(
        "from tests.host.unknown_programs import warned\nprint(json.dumps(warned(lambda f: f)))",
    )
    assert not said
    assert found == results(lambda f: f)


REFUSED = """
import adjoint as ad
from tests.host.unknown_programs import collected
try:
    print(ad.grad(collected)(2.0))
except ad.errors.ImpureError as error:
    print(json.dumps(str(error)))
"""


def test_what_may_be_wrong_is_refused():
    """Whether a list that a solver's function fills is read afterwards cannot be told: the derivative may be wrong."""
    assert "is used after the call" in on_unknown(REFUSED)
    assert results(lambda f: f)["solved"][0] == pytest.approx(0.5 ** (-2 / 3) / 3)


QUESTIONS = """
import adjoint
from adjoint.host.code import handing, reach, rewrite, uses
from adjoint.host.code.decode import instructions
from adjoint.host.frames import branch_points, callsite, in_progress, liveness, stores

def f(x, n):
    global total
    total = x
    return [n is True, len(total)]

here, code = sys._getframe(), f.__code__
try:
    instructions(code)
    is_refused = False
except LookupError:
    is_refused = True
print(json.dumps({
    "refused": is_refused,
    "test": branch_points.test_of(here),
    "loop": branch_points.loop_over_call(here),
    "resumption": liveness.resumption_of(here),
    "store": stores.store_of(here),
    "update": stores.updates(here),
    "called": in_progress.called_at(here),
    "argument": in_progress.argument_at(here) is in_progress.UNKNOWN,
    "site": callsite.site_of(here),
    "fills": callsite.stores_elements(code),
    "handed": handing.handings_in(code),
    "redirected": rewrite.called_globals(code),
    "compares": [uses.compares_objects(code), uses.compares_with_number(code)],
    "sets": sorted(uses.globals_set(code)),
    "globals": sorted(reach.globals_of(code)),
}))
"""


def test_unknown_answers():
    """Nobody is told what instructions do: who asks learns that nothing is known, or that anything may be."""
    assert on_unknown(QUESTIONS) == {
        "refused": True,
        "test": None,
        "loop": None,
        "resumption": None,
        "store": None,
        "update": None,
        "called": None,
        "argument": True,
        "site": [True, False],
        "fills": True,
        "handed": [],
        "redirected": [],
        "compares": [True, True],
        "sets": ["len", "total"],
        "globals": ["len", "total"],
    }


@pytest.mark.parametrize("version", [(3, 10), (3, 99), (4, 0)])
def test_versions_that_are_not_known(version):
    """Older and newer ones."""
    script = f"import tests.unknown_python as t\nt.VERSION = {(*version, 0, 'final', 0)!r}\nt.import_unknown()\n"
    assert on_unknown(script + "print(json.dumps(sys.modules['adjoint.host.code.versions'].IS_KNOWN))") is False
