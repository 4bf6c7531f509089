"""The `adjoint` command: derivatives from a terminal, with the public API of the library only."""
