"""From programs to machine code."""
