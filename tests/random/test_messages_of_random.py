"""What is refused: every message word by word."""

import numpy as np
import pytest

from adjoint import random

KEY = random.key(0)
KEYS = random.split(KEY, 4)

ERRORS = {
    "a seed for a key": (
        lambda: random.normal(7, 3),
        TypeError,
        "A random draw needs a key: two uint64 in an array.",
        "got int 7",
        "Make one with  ad.random.key(7),  and more of them with  ad.random.split(key).",
    ),
    "another array": (
        lambda: random.split(np.array([1, 2])),
        TypeError,
        "A random draw needs a key: two uint64 in an array.",
        "got int64[2]",
        "Make one with  ad.random.key(seed),  and more of them with  ad.random.split(key).",
    ),
    "many keys": (
        lambda: random.uniform(KEYS),
        ValueError,
        "One draw takes one key.",
        "got uint64[4,2], which is an array of keys",
        "Pass one of them, as  keys[0],  or draw for all with  ad.vmap(lambda key: ...)(keys).",
    ),
    "a seed that is not whole": (
        lambda: random.key(1.5),
        TypeError,
        "A seed has to be a whole number.",
        "got float 1.5",
        "Write  ad.random.key(0);  for another key in every run,  ad.random.key(secrets.randbits(64)).",
    ),
    "a negative seed": (
        lambda: random.key(-1),
        ValueError,
        "A seed must not be negative.",
        "got seed = int -1",
        "Write  ad.random.key(abs(seed)),  or choose another seed.",
    ),
    "folding a fraction": (
        lambda: random.fold_in(KEY, 0.5),
        TypeError,
        "A key is folded with one whole number.",
        "got data = float 0.5",
        "Write  ad.random.fold_in(key, step);  for many numbers use  ad.vmap.",
    ),
    "folding below zero": (
        lambda: random.fold_in(KEY, -1),
        ValueError,
        "A key is folded with a number from 0 to 2**64 - 1.",
        "got data = int -1",
        "Count from 0,  or fold in the sign and the size one after the other.",
    ),
    "a shape too small": (
        lambda: random.normal(KEY, 2, np.zeros(3)),
        ValueError,
        "The parameters do not fit into the shape of the draw.",
        "got shape (2,) for parameters of shape (3,)",
        "Leave  shape  out to draw one number for each parameter, (3,), or give a shape that ends with it.",
    ),
    "half precision": (
        lambda: random.normal(KEY, 2, dtype=np.float16),
        TypeError,
        "Random real numbers are drawn as float64 or float32.",
        "got dtype float16",
        "Draw float32 and convert with  .astype(dtype);  for whole numbers use  ad.random.integers.",
    ),
    "no whole number": (
        lambda: random.integers(KEY, 3, 3),
        ValueError,
        "There is no whole number between the ends.",
        "got low=3, high=3",
        "low  is included and  high  is not: it has to be larger.",
    ),
    "too large for the dtype": (
        lambda: random.integers(KEY, 0, 300, dtype=np.uint8),
        ValueError,
        "The ends do not fit into uint8.",
        "got low=0, high=300",
        "Pass another  dtype.",
    ),
    "an unlikely probability": (
        lambda: random.bernoulli(KEY, 1.5),
        ValueError,
        "A probability has to be between 0 and 1.",
        "got 1.5",
        "Clip it with  np.clip(p, 0.0, 1.0).",
    ),
    "too many": (
        lambda: random.choice(KEY, 3, 4, replace=False),
        ValueError,
        "4 entries cannot be drawn from 3 without repetition.",
        "got int 3",
        "Ask for fewer, or write  replace=True.",
    ),
    "nothing possible": (
        lambda: random.categorical(KEY, np.full(3, -np.inf)),
        ValueError,
        "No category is possible: the logits are all -inf, or one is nan.",
        "got float64[3]",
        "Let at least one logit of each draw be finite.",
    ),
    "a negative shape parameter": (
        lambda: random.gamma(KEY, -0.5),
        ValueError,
        "The shape parameters of gamma, beta and Dirichlet numbers have to be positive.",
        "got -0.5",
        "Write  np.exp(log_a)  for a parameter that is to be learned.",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    """What is wrong, what was met, what to do, word by word."""
    call, kind, what, got, fix = ERRORS[name]
    with pytest.raises(kind) as caught:
        call()
    lines = str(caught.value).splitlines()
    assert lines[0] == what
    assert lines[1].startswith("  at test_messages_of_random.py:")
    assert lines[2:] == [f"  {got}", f"  {fix}"]
