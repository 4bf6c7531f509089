"""Every step of a derivative, for eyes."""

import sys
import types
from typing import Any


class _Temporary(types.ModuleType):  # until the room is renamed
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from .explanation import explain

        return explain(*args, **kwargs)


sys.modules[__name__].__class__ = _Temporary
