"""Random bodies, loops inside loops: `scan`, `while_loop` and `cond` agree with Python's under every transformation."""

from __future__ import annotations

import numpy as np
import optree
import pytest

import adjoint as ad

OF_ONE = [
    np.sin,
    np.tanh,
    np.abs,
    lambda x: np.sqrt(np.abs(x)),
    lambda x: np.maximum(x, 0),
    lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), 0.0),
    lambda x: np.clip(x, -1, 1) ** 2,
]
OF_TWO = [
    np.add,
    np.multiply,
    np.minimum,
    np.hypot,
    np.logaddexp,
    lambda x, y: x / (1 + y**2),
    lambda x, y: np.where(x > y, x, y * 0.5),
]
OF_ALL = [np.sum, np.max, np.prod, np.linalg.norm, lambda v: np.sqrt(np.sum(v**2)), lambda v: v[1]]


def python_scan(f, init, xs):
    """What `ad.scan` has to be equal to."""
    carry, rows = init, []
    for x in xs:
        carry, y = f(carry, x)
        leaves, structure = optree.tree_flatten(y)
        rows.append(leaves)
    return carry, optree.tree_unflatten(structure, [np.stack(parts) for parts in zip(*rows, strict=True)])


def python_while(cond, body, state):
    """What `ad.while_loop` has to be equal to."""
    while cond(state):
        state = body(state)
    return state


def python_cond(pred, true_fun, false_fun, *operands):
    """What `ad.cond` has to be equal to."""
    return true_fun(*operands) if pred else false_fun(*operands)


PYTHON = python_scan, python_while, python_cond


def random_loss(seed, loops):
    """A loop whose body is a random program, with another loop or a branch inside."""
    rng = np.random.default_rng(seed)
    plan = [(kind, rng.integers(0, 100, 4)) for kind in rng.integers(0, 6, rng.integers(3, 9))]
    scan, while_loop, cond = loops

    def step_for(a, w):
        def step(carry, x):
            number, vector, k = carry
            numbers, vectors = [number, x[0], a], [vector, x, vector * x]
            for kind, (f, i, j, which) in plan:
                one, other = numbers[i % len(numbers)], numbers[j % len(numbers)]
                v, u = vectors[i % len(vectors)], vectors[j % len(vectors)]
                if kind == 0:
                    numbers.append(OF_ONE[f % len(OF_ONE)](one))
                elif kind == 1:
                    numbers.append(OF_TWO[f % len(OF_TWO)](one, other))
                elif kind == 2:
                    vectors.append(OF_ONE[f % len(OF_ONE)](v))
                elif kind == 3:
                    vectors.append(OF_TWO[f % len(OF_TWO)](v, u if which % 2 else other))
                elif kind == 4:
                    numbers.append(OF_ALL[f % len(OF_ALL)](v))
                else:
                    vectors.append(np.tanh(w @ v))
            number, vector = np.tanh(numbers[-1]), np.tanh(vectors[-1]) * 1.1
            if seed % 4 == 1:
                number, _ = scan(lambda d, z: (np.sin(d * z + a), d), number, vector)
            elif seed % 4 == 2:
                number = while_loop(lambda y: y < 2.0, lambda y: y * 1.5 + 0.7 + np.cos(a) ** 2, number)
            elif seed % 4 == 3:
                vector = cond(number > 0.2, lambda v: np.sin(v) * a, lambda v: v * number, vector)
            return (number, vector, k + 1), (number * 1.0, vector * k)

        return step

    def loss(a, w, start, xs):
        (number, vector, _), (ys, zs) = scan(step_for(a, w), (0.3, start, 0), xs)
        return number + np.sum(vector**2) + np.sum(np.sin(ys)) + 0.1 * np.sum(zs)

    return loss


TRANSFORMS = {
    "gradient": lambda f: ad.grad(f, (0, 1, 2, 3)),
    "tangent": lambda f: lambda *p: ad.jvp(f, p, (0.5, *[np.cos(x) for x in p[1:]]))[1],
    "hvp": lambda f: lambda a, w, start, xs: ad.hvp(lambda s: f(a, w, s, xs), (start,), (np.cos(start),)),
    "jit": lambda f: ad.jit(ad.grad(f, (0, 2))),
}
HOW = [{}, {"checkpoint_every": 2}, {"memory": 70}]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the plain function
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("seed", range(12))
def test_random_loops(seed, transform):
    """With zeros among the inputs, so that kinks and vertices are met."""
    rng = np.random.default_rng(100 + seed)
    start, xs = [rng.normal(size=s) * (rng.uniform(size=s) > 0.3) for s in ((3,), (5, 3))]
    args = (float(rng.normal()), rng.normal(size=(3, 3)) * 0.5, start, xs)
    rolled = lambda f, init, xs: ad.scan(f, init, xs, **HOW[seed % 3])  # noqa: E731
    got = TRANSFORMS[transform](random_loss(seed, (rolled, ad.while_loop, ad.cond)))(*args)
    want = TRANSFORMS[transform](random_loss(seed, PYTHON))(*args)
    for x, y in zip(optree.tree_leaves(got), optree.tree_leaves(want), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-10)
