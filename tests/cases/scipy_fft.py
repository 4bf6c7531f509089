"""SciPy's Fourier, cosine, sine and Hankel transforms."""

import numpy as np
import scipy.fft as fft

from adjoint.testing.laws import Case

rng = np.random.default_rng(4)

R = rng.normal(size=(4, 5))
Z = R + 1j * rng.normal(size=R.shape)
BRIEF = ("value", "tangent", "adjoint", "stacking", "precision")
FIRST = ("value", "tangent", "adjoint", "linearize")

CASES = [
    *[
        Case(name, lambda x, n=name: getattr(fft, n)(x), (Z,), BRIEF)
        for name in (
            "fft",
            "ifft",
            "irfft",
            "hfft",
            "fft2",
            "ifft2",
            "irfft2",
            "hfft2",
            "fftn",
            "ifftn",
            "irfftn",
            "hfftn",
        )
    ],
    *[
        Case(name, lambda x, n=name: getattr(fft, n)(x), (R,), BRIEF)
        for name in ("rfft", "ihfft", "rfft2", "ihfft2", "rfftn", "ihfftn", "fftshift", "ifftshift")
    ],
    Case("fft real", lambda x: fft.fft(x, 7, 0, "ortho"), (R,)),
    Case("irfft odd", lambda x: fft.irfft(x, 7, norm="forward"), (Z,)),
    Case("hfftn lengths", lambda x: fft.hfftn(x, (3, 8), norm="ortho"), (Z,)),
    Case("ihfftn lengths", lambda x: fft.ihfftn(x, (3, 8), axes=(1, 0)), (R,)),
    Case("fftn axes", lambda x: fft.fftn(x, 3, 0), (Z,)),
    *[
        Case(f"{name} {kind} {norm}", lambda x, n=name, k=kind, m=norm: getattr(fft, n)(x, k, norm=m), (R,), BRIEF)
        for name, norm in (("dct", None), ("idct", "forward"), ("dst", "ortho"), ("idst", None), ("dct", "ortho"))
        for kind in (1, 2, 3, 4)
    ],
    *[
        Case(name, lambda x, n=name: getattr(fft, n)(x, 2, (5, 3), norm="ortho"), (R,))
        for name in ("dctn", "idctn", "dstn", "idstn")
    ],
    Case("dct orthogonal", lambda x: fft.dct(x, 3, 7, 0, orthogonalize=True), (R,)),
    Case("dct complex", lambda x: fft.dct(x, 1, norm="ortho"), (Z,)),
    Case("fht", lambda x: fft.fht(x, 0.3, 1.5, offset=0.1, bias=0.2), (R,)),
    Case("ifht", lambda x: fft.ifht(x, 0.3, 1.5, offset=0.1, bias=0.2), (R,)),
    Case("fht parameters", lambda x, d, o, b: fft.fht(x, d, 1.5, o, b), (R, 0.3, 0.1, 0.2), FIRST),
    Case("fhtoffset", lambda d, b: fft.fhtoffset(d, 1.5, 0.1, b), (0.3, 0.2), FIRST),
    Case("fftfreq", lambda d: fft.fftfreq(5, d), (0.3,)),
    Case("rfftfreq", lambda d: fft.rfftfreq(5, d), (0.3,)),
]
