"""Models of PyTorch as models here, and the way back."""
