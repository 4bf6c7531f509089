"""What the frames of Python's stack tell: whose code is running, what it is about to do, which call is under way."""
