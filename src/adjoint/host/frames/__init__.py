"""What the frames of the stack tell: who owns the code that runs, what it is about to do, what it still needs."""
