"""The health of gradients: how large they are at every step, and where the first nan or infinity comes from."""
