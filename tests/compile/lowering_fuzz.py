"""Random programs as kernels, against NumPy; run as a program, so that a crash is seen as one: `first last` seeds."""

import sys
import warnings
from collections import Counter

import numpy as np

from adjoint.compile.build import Native, build
from adjoint.core.errors import DerivativeDroppedError
from tests.compile.lowering import Lowered, is_exact, recorded
from tests.compile.lowering_programs import UNSIGNED_ZEROS, writer


def agree(have, want, *, signs):
    """Whether two results are the same; the signs of zeros only where they are NumPy's choice too."""
    have, want = np.asarray(have), np.asarray(want)
    if is_exact(have, want):
        return True
    same = (have == want) | ((have != have) & (want != want))
    return not signs and have.shape == want.shape and have.dtype == want.dtype and bool(np.all(same))


def attempt(seed):
    """Record one program at a point, run it at three; what became of it."""
    w = writer(seed)
    points = [w.point(k) for k in range(3)]
    try:
        eager = w(*points[0])
    except (IndexError, DerivativeDroppedError):  # the random function itself is wrong
        return "refused"
    program = recorded(w, *points[0])
    names = {s.primitive.name for s in program.steps}
    signs = not names & {*UNSIGNED_ZEROS, "scan", "cond", "while_loop"}
    made = Lowered(program, points[0], at_end=bool(seed % 2))
    for k, point in enumerate(points):
        want = made.oracle.run(list(point))
        have = _mixed(program, point) if made.hosted else made.run(list(point))
        if want is None:
            assert have is None or have == 1, f"seed {seed}: a guard holds that should not"
            continue
        assert isinstance(have, list), f"seed {seed}: gave up with {have}"
        for place, (h, x) in enumerate(zip(have, want, strict=True)):
            assert agree(h, x, signs=signs), f"seed {seed}, point {k}, output {place}:\n{h}\n{x}\n{program}"
        if k == 0:
            for e, x in zip(eager, want, strict=True):
                assert agree(e, x, signs=False), f"seed {seed}: the program is not the function"
    return "mixed" if made.hosted else "native"


def _mixed(program, point):
    made = build(program, point)
    return (made.finish() if isinstance(made, Native) else made).run(list(point))


def main(first, last):
    """Try all seeds from `first` below `last`."""
    warnings.simplefilter("ignore")
    counts = Counter()
    for seed in range(first, last):
        print("seed", seed, file=sys.stderr, flush=True)  # noqa: T201  (the last one is what a crash is blamed on)
        with np.errstate(all="ignore"):
            counts[attempt(seed)] += 1
    print("survived", dict(counts))  # noqa: T201


if __name__ == "__main__":
    main(*[int(word) for word in sys.argv[1:]])
