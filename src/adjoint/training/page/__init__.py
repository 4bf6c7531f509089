"""The page that shows a training run."""

from .writing import html, show, write

__all__ = ["html", "show", "write"]
