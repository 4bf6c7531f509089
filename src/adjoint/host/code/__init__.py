"""What the instructions of Python code say, in the same words for every version of Python that is known."""
