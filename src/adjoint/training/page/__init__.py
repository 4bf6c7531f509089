"""The page that shows a training run."""

from .writing import TrainingPage, html, show, write

__all__ = ["TrainingPage", "html", "show", "write"]
