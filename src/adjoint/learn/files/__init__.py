"""Models as files that hold arrays and JSON alone: saved, loaded, described; no code is in them, and none is run."""

from .layout import ModelFileError, reseal
from .models import describe, load, save

__all__ = ["ModelFileError", "describe", "load", "reseal", "save"]
