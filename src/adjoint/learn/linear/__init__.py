"""Linear models: closed forms and Newton's method from LAPACK, with nothing to compile."""
