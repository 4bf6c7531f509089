"""NumPy's Fourier transforms, with their keywords, on real and complex signals."""

import numpy as np

from adjoint.testing.laws import Case

rng = np.random.default_rng(2)

LINE = rng.normal(size=7)

PLANE = rng.normal(size=(4, 6))

SOLID = rng.normal(size=(3, 4, 5))

REAL_ONLY = ("rfft", "ihfft", "rfft2", "rfftn")


def in_complex(x):
    return x + 1j * rng.normal(size=x.shape)


def cases():
    """Every transform with its keywords, on real and complex signals."""
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        function = getattr(np.fft, name)
        line = LINE if name in REAL_ONLY else in_complex(LINE)
        for words in ({}, {"n": 5}, {"n": 10, "norm": "ortho"}, {"n": 8, "norm": "forward"}, {"norm": "backward"}):
            yield Case(f"{name} {words}", lambda x, f=function, words=words: f(x, **words), (line,))
        yield Case(f"{name} real, first axis", lambda x, f=function: f(x, axis=0), (PLANE,))
        yield Case(f"{name} one element", lambda x, f=function: f(x, n=1), (LINE,))
    for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"):
        function = getattr(np.fft, name)
        solid = SOLID if name in REAL_ONLY else in_complex(SOLID)
        for words in (
            {},
            {"s": (3, 7), "axes": (0, 2)},
            {"axes": (2, 1), "norm": "ortho"},
            {"s": (-1, 6), "axes": (1, 2)},
            {"axes": (1,), "norm": "forward"},
        ):
            yield Case(f"{name} {words}", lambda x, f=function, words=words: f(x, **words), (solid,))
    for name in ("fftshift", "ifftshift"):
        function = getattr(np.fft, name)
        yield Case(name, function, (in_complex(SOLID),))
        yield Case(f"{name} one axis", lambda x, f=function: f(x, axes=1), (SOLID,))
        yield Case(f"{name} two axes", lambda x, f=function: f(x, axes=(0, 2)), (SOLID,))
