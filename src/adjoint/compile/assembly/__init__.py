"""LLVM's assembly as objects: kinds, values, instructions; what makes them, checks them and prints them once."""
