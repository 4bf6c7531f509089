"""Learning from little: networks that start from what others have learned, with labels or without."""
