"""Training: `ad.train` takes a model, a loss, data and an optimiser, and gives the trained model with its history."""

from .fit import Fit, TrainingStep
from .history import History
from .train import train

__all__ = ["Fit", "History", "TrainingStep", "train"]
