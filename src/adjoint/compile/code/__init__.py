"""Writing code: loops, their insides, vectors, and the kernel that holds them all."""
