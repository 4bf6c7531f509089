"""What a function and its derivatives cost: counted steps, compared with programs that are really run."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy.special import expit

import adjoint as ad
from adjoint.explanation.explain import explain
from adjoint.explanation.record.recorder import Notebook, is_elementwise
from adjoint.explanation.show.cost import Cost, cost_of, needed
from adjoint.explanation.show.flops import is_estimated, operations, primitives_of
from adjoint.ops import CATALOGUE
from adjoint.transforms.loops.schedule import advances
from tests.explanation.looks import operations_without_looks

rng = np.random.default_rng(4)


def cost(fun, *args) -> Cost:
    return cost_of(explain(fun)(*args)._view)


def operations_of_gradient(fun, *args) -> int:
    """The operations of the program that `ad.jit` records of value and gradient, but for the look at finiteness."""

    def value_and_gradient(seed, *args):
        value, pullback = ad.vjp(fun, *args)
        return value, pullback(seed)

    return operations_without_looks(ad.jit(value_and_gradient).lower(1.0, *args).program).total()


def chain(x):
    for _ in range(10):
        x = np.sin(x) * 2.0
    return np.sum(x)


X, T = rng.normal(size=(5, 3)), rng.normal(size=5)


def logistic_loss(w):
    return np.sum((T - expit(X @ w)) ** 2)


def branching(x):
    return np.sum(np.where(x > 0, np.exp(x), x**3)) + np.max(x)


def several_products(x):
    return np.sum(np.tanh(np.outer(x, x) @ x) / (1 + x @ x))


def matrix_functions(x):
    a = np.outer(x, x) + 4.0 * np.eye(3)
    return np.sum(np.linalg.solve(a, x)) + np.log(np.linalg.det(a))


def loops(x):
    y = ad.scan(lambda y, a: (np.sin(y) * a, None), x, np.arange(1.0, 6.0))[0]
    return np.sum(ad.while_loop(lambda y: y[0] > 0.1, lambda y: y * 0.5, y))


@pytest.mark.parametrize("fun", [chain, logistic_loss, branching, several_products, matrix_functions])
def test_reverse_sweep_is_the_gradient(fun):
    """Value and gradient are counted as the program that `ad.jit` records of them, to the last operation."""
    x = rng.uniform(0.5, 1.5, size=3)
    assert cost(fun, x).reverse.operations == operations_of_gradient(fun, x)


@pytest.mark.parametrize("fun", [chain, logistic_loss, branching, several_products, loops])
def test_forward_sweep_is_the_directional_derivative(fun):
    """The function and one tangent are counted as what `ad.jvp` computes, loops with their turns."""
    x = rng.uniform(0.5, 1.5, size=3)
    notebook = Notebook()
    found = ad.jvp(fun, (notebook.input(x),), (notebook.input(np.ones(3)),))
    steps = needed(notebook.program.steps, [notebook.number_of(y)[0] for y in found])
    assert cost(fun, x).forward.operations == operations(notebook.program, steps, notebook.values).total()


@pytest.mark.parametrize(("m", "n", "k"), [(2, 3, 4), (1, 5, 2), (7, 1, 3)])
def test_products_of_matrices(m, n, k):
    """A product takes 2 m n k operations, its way back one such product for each factor."""
    found = cost(lambda a, b: a @ b, rng.normal(size=(m, k)), rng.normal(size=(k, n)))
    assert found.function.operations == 2 * m * n * k
    assert found.reverse.operations == 3 * 2 * m * n * k
    assert (found.inputs, found.outputs) == (m * k + k * n, m * n)


def test_contractions_count_their_labels():
    """Every combination of labels is a product, and an addition if a label is summed."""
    a, b = rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 5))
    assert cost(lambda a: np.einsum("ijk,kl->ijl", a, b), a).function.operations == 2 * 2 * 3 * 4 * 5
    assert cost(lambda a: np.einsum("i,j->ij", a, b[0]), a[0, 0]).function.operations == 4 * 5


@pytest.mark.parametrize("turns", [1, 10, 50])
def test_reverse_is_a_small_multiple_of_the_function(turns):
    """However long an elementwise chain is, its gradient costs at most five times its value."""

    def fun(x):
        for _ in range(turns):
            x = np.sin(x) * np.exp(-x)
        return np.sum(x)

    found = cost(fun, np.linspace(0.1, 0.9, 7))
    assert found.function.operations == 7 * (4 * turns + 1)
    assert found.function.functions == {"sin": 7 * turns, "exp": 7 * turns}
    assert found.reverse.operations <= 5 * found.function.operations


def test_forward_mode_grows_with_the_number_of_inputs():
    """Per number of the input, forward mode takes ever more operations and reverse mode always the same."""
    found = {n: cost(chain, np.linspace(0, 1, n)) for n in (10, 100, 1000)}
    tangents = [(c.forward_total - c.function.operations) / c.inputs for c in found.values()]
    assert tangents[1] == 10 * tangents[0]
    assert tangents[2] == 10 * tangents[1]
    assert len({c.reverse_total / c.inputs for c in found.values()}) == 1


def test_forward_mode_wins_for_many_outputs():
    """A curve has one input and many outputs."""
    found = cost(lambda t: np.cos(t * np.arange(1.0, 101.0)), 0.3)
    assert (found.inputs, found.outputs) == (1, 100)
    assert found.forward_total < found.reverse_total
    assert found.verdict.startswith("Forward mode wins by a factor of ")
    assert f"{found.reverse_total:,} with 100 sweeps, one for each output" in found.verdict


def test_complex_numbers_count_twice():
    """A complex input is two real ones to differentiate with respect to."""
    assert cost(lambda z: np.real(z * np.conj(z)), 1.0 + 2.0j).inputs == 2


def test_memory_of_a_long_chain():
    """Forward mode holds a few arrays, with their tangents; reverse mode one for each sine."""
    found = cost(chain, np.ones(100))
    assert found.function.memory == 3 * 800
    assert found.forward.memory == 2 * found.function.memory
    assert found.kept.bytes[0] == 10 * 800
    assert 10 * 800 < found.reverse.memory <= 12 * 800


def test_linear_functions_keep_nothing():
    """The derivative of a linear function needs no value of it."""
    assert str(cost(lambda x: np.sum(3.0 * x[::-1] - x), np.ones(4)).kept).startswith("stored: nothing (0 of ")


def test_views_take_no_memory():
    """A reshaped array lies where the array lies."""
    found = cost(lambda x: np.sum(x.reshape(2, 3).T.ravel(order="K") ** 2), np.ones(6))
    assert found.kept.bytes[0] == 48


def test_loops_count_their_turns():
    """`scan` and `while_loop` cost what is inside them, as often as they turn."""
    length = 12
    found = cost(lambda x: ad.scan(lambda y, _: (np.sin(y) * 2.0, None), x, length=length)[0], 0.3)
    assert found.function.operations == 2 * length
    assert found.function.functions == {"sin": length}
    halved = cost(lambda x: ad.while_loop(lambda y: y > 0.1, lambda y: y * 0.5, x), 3.0)
    assert halved.function.operations == 5 + 6  # 3, 1.5, 0.75, 0.375, 0.1875, 0.09375: five turns, six questions


def test_a_loop_with_little_memory_turns_more_often():
    """With room for a few carries, the way back takes turns again, as few as the schedule needs."""
    length, slots = 100, 8

    def fun(x, **memory):
        return ad.scan(lambda y, _: (np.sin(y), None), x, length=length, **memory)[0]

    found = cost(lambda x: fun(x, memory=8 * slots), 0.4)
    assert found.reverse.operations == 3 * length + advances(length, slots)
    assert cost(fun, 0.4).reverse.operations == 3 * length  # sin; cos and a product back
    assert found.reverse.memory < cost(fun, 0.4).reverse.memory


def test_a_choice_costs_the_branch_that_is_taken():
    """`cond` costs what is done, not what might be."""

    def fun(x):
        return ad.cond(x > 0, lambda x: x * 2.0, lambda x: np.sin(np.exp(x * 2.0)), x)

    assert cost(fun, 1.0).function.operations == 2
    assert cost(fun, -1.0).function.operations == 4


def test_no_derivative_costs_nothing():
    """A function that does not depend on its input has no sweep back."""
    found = cost(lambda x: 3.0, 1.0)
    assert found.verdict == "The result does not depend on the inputs: its derivative is 0 and costs nothing."
    assert found.reverse_total == found.function.operations


def test_unknown_operations_are_named():
    """What the table of counts does not know is said."""
    found = cost(lambda x: np.sum(np.unwrap(x)), np.linspace(0, 9, 5))
    assert found.estimated == ("unwrap",)
    assert "Not in the table of counts, so one operation for each number: unwrap." in str(found)


@pytest.mark.parametrize("name", ["cholesky", "eigh", "inv", "qr", "svd", "det"])
def test_decompositions_are_cubic(name):
    """Twice the size costs eight times as much, and a batch of three costs three times as much."""
    fun = getattr(np.linalg, name)

    def counted(*shape):
        a = rng.normal(size=shape)
        a = a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1])
        program = ad.jit(lambda a: fun(a)).lower(a).program
        assert not any(is_estimated(p) for p in primitives_of(program))
        return sum([n for p, n in operations(program).items() if not is_elementwise(CATALOGUE[p])])

    assert counted(12, 12) == pytest.approx(8 * counted(6, 6), rel=0.01)
    assert counted(3, 6, 6) == pytest.approx(3 * counted(6, 6), rel=0.01)


def counted_down(x):
    def turn(y, _):
        return ad.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, np.sin(s[1])), (0, y))[1], y

    return ad.scan(turn, x, np.arange(4))[0]


def chosen_inside(x):
    def turn(y, k):
        return ad.cond(k > 1, np.sin, lambda z: z * 2.0, y), y

    return ad.scan(turn, x, np.arange(4))[0]


@pytest.mark.parametrize(
    ("fun", "said"),
    [
        (
            counted_down,
            ["A while_loop inside a loop or a choice is counted as one turn: how often it turns is not known."],
        ),
        (
            chosen_inside,
            ["A choice inside a loop is counted as its dearest branch: which one is taken is not known."],
        ),
        (loops, []),
    ],
)
def test_what_is_not_known_is_said(fun, said):
    """Of loops and choices inside others the count is a guess, and the table says so below; of others it is exact."""
    found = cost(fun, np.ones(2) if fun is loops else 1.0)
    assert list(found.guessed) == said
    assert str(found).splitlines()[-len(said) :] == said or not said


def test_shown_as_it_is_printed():
    """The last line of a notebook's cell shows the table; nothing of it can be changed."""
    found = cost(chain, np.ones(3))
    assert repr(found) == str(found)
    with pytest.raises(FrozenInstanceError):
        found.inputs = 4


def test_printed():
    """The table and the sentences."""
    w = np.array([-1.0, 1.5, 0.5])
    features, classes = np.array([[1.0, 1.0, 1.5], [1.0, 1.5, -1.0]]), np.array([0.0, 1.0])
    found = cost(lambda w: np.sum((classes - expit(features @ w)) ** 2), w)
    assert str(found) == PRINTED


PRINTED = """\
                                             operations   x function      memory
function                                             20            1    56 bytes
forward sweep: function and one tangent              48          2.4   112 bytes
reverse sweep: function and one sweep back           46          2.3    96 bytes
derivative by forward mode: 3 tangents              104          5.2   112 bytes
derivative by reverse mode: 1 sweep                  46          2.3    96 bytes

Reverse mode wins by a factor of 2.26: forward mode takes 104 operations with 3 tangents, one for each input, \
reverse mode 46 with 1 sweep.
Forward mode holds 112 bytes at a time; reverse mode 96 bytes, with what the way back needs.
Stored: v1, v2, v3 (3 of 6 values, 48 of 96 bytes).
The table writes v2 as σ(v1).
Evaluations of functions, one operation each: expit 2."""
