"""How often a function is recorded before it runs without jit, and how much is kept of it."""

MAX_CHANGES = 8
"""Recordings after changes of one captured variable; one more, and the function runs eagerly."""
MAX_EAGER = 1_000
"""Kinds of calls that are known to run eagerly."""
MOST_REASONS = 1_000
"""Recordings of which is kept why they were made: the last ones."""
MAX_STATICS = 64
"""Different static values of a function; calls with any other run eagerly."""
