"""Runs as on a Python whose instructions nobody has looked at: `python -m pytest -p tests.unknown_python ...`.

The library is imported with a table of versions that does not have this one; nothing else is changed. Whatever would be
read from instructions after all raises `LookupError`.
"""

import importlib.machinery
import importlib.util
import sys

VERSION = (3, 99, 0, "final", 0)


def import_unknown():
    """Put the table of versions into place before the library is imported, as a later Python would see it."""
    name = "adjoint.host.code.versions"
    folder = importlib.machinery.PathFinder.find_spec("adjoint").submodule_search_locations[0]
    spec = importlib.util.spec_from_file_location(name, f"{folder}/host/code/versions.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    before = sys.version_info
    sys.version_info = VERSION
    try:
        spec.loader.exec_module(module)
    finally:
        sys.version_info = before
    assert not module.IS_KNOWN


import_unknown()
