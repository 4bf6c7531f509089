"""Machine code for one element of each elementwise function."""
