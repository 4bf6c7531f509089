"""Python's numbers inside traced functions: they stay what Python makes of them."""
