"""What entries say of their operations is true: elements moved, reduced and multiplied as the facts have it."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
import adjoint.random
from adjoint.core.entry.algebra import Monoid
from adjoint.core.entry.moves import ADDS, MARKS, READS, WRITES, Index, Overwrite, Pad, Pieces, Same, View, is_same
from adjoint.explanation.show.flops import operations
from adjoint.ir.formulas import composition_of, formula_of
from adjoint.ir.interpret import Interpreter
from adjoint.ir.program import GUARD, type_of
from adjoint.ops import CATALOGUE
from adjoint.ops.keys import HOLE
from adjoint.testing import Case
from tests.cases.primitives import CUBE, PLACES, cases_of

MEANT = {"moves", "addressed", "reduces", "accumulates", "contracts"}


def has_structure(primitive):
    return any(getattr(primitive.facts, name) is not None for name in MEANT)


def steps_of(case):
    """Every step of a case's program that is not elementwise: its primitive, operands, parameters and result."""
    program = ad.jit(lambda *args: case.function(*args)).lower(*case.args).program
    values = {**program.constants, **dict(zip(program.inputs, case.args, strict=True))}
    for step in program.steps:
        if step.primitive is GUARD:
            continue
        args = [np.asarray(values[a]) for a in step.args]
        out = step.primitive.evaluate(*[values[a] for a in step.args], **step.params)
        values.update(zip(step.outs, out if step.primitive.multiple else [out], strict=True))
        if has_structure(step.primitive):
            yield step.primitive.facts, args, step.params, np.asarray(out)


def at(indices, place):
    """An index of one array from a place in another."""
    return tuple([i.shift + (0 if i.axis is None else i.scale * place[i.axis]) for i in indices])


def spread_over(shape):
    return np.ndindex(*shape)


def moved(moves, args, params, out):
    """What the fact says of the result of an operation that computes nothing."""
    found = np.zeros(out.shape, out.dtype)
    if isinstance(moves, Same):
        return args[0].astype(out.dtype) if args[0].dtype.kind in moves.of else out
    if isinstance(moves, View):
        reads = moves.reads(args[0].shape, out.shape, **params)
        if reads is None:
            return args[0].reshape(out.shape) if moves.in_order else out
        for place in spread_over(out.shape):
            found[place] = args[0][at(reads, place)]
        return found
    if isinstance(moves, Pieces):
        for piece in moves.parts([a.shape for a in args], **params):
            for place in spread_over(piece.shape):
                found[at(piece.target, place)] = args[piece.operand][at(piece.source, place)]
        return found
    assert isinstance(moves, (Pad, Overwrite))
    if isinstance(moves, Overwrite):
        found[...] = args[0]
    region = moves.region(out.shape, **params)
    if region is None:
        return out
    part = np.broadcast_to(args[-1], region.shape)
    for place in spread_over(region.shape):
        found[at(region.places, place)] = part[place]
    return found


def addressed(fact, args, params, out):
    """What the fact says of an operation whose places are values."""
    arrays = args[fact.first :]
    whole = tuple(params["shape"]) if fact.does == MARKS else args[0].shape if fact.does == READS else out.shape
    found = fact.addresses(whole, [a.shape for a in arrays], **params)
    if found is None or any(a.dtype.kind == "b" for a in arrays):
        return out
    lengths = [found.part[k] for k in found.axes]
    arrays = [np.broadcast_to(a, lengths) for a in arrays]
    made = {READS: np.zeros(out.shape, out.dtype), ADDS: np.zeros(whole), WRITES: np.array(args[0])}.get(fact.does)
    last = {}
    for place in spread_over(found.part):
        here = tuple([place[k] for k in found.axes])
        spot = tuple([at((i,), place)[0] if isinstance(i, Index) else int(arrays[i][here]) for i in found.whole])
        last[tuple([k % n for k, n in zip(spot, whole, strict=True)])] = place
        if fact.does == READS:
            made[place] = args[0][spot]
        elif fact.does == ADDS:
            made[spot] += np.broadcast_to(args[0], found.part)[place]
        elif fact.does == WRITES:
            made[spot] = np.broadcast_to(args[1], found.part)[place]
    if fact.does == MARKS:
        made = np.zeros(found.part, bool)
        for place in last.values():
            made[place] = True
    return made


def expected(facts, args, params, out):
    """The result by the facts alone."""
    if facts.addressed is not None and len(args) > facts.addressed.first:
        return addressed(facts.addressed, args, params, out)
    if facts.moves is not None:
        return moved(facts.moves, args, params, out)
    if facts.reduces is not None:
        return facts.reduces.combines.reduce(args[0], **params)
    if facts.accumulates is not None:
        return facts.accumulates.combines.accumulate(args[0], params["axis"])
    first, second, result = facts.contracts(args[0].shape, args[1].shape, **params)
    number = {label: k for k, label in enumerate(dict.fromkeys([*first, *second]))}
    return np.einsum(
        args[0], [number[k] for k in first], args[1], [number[k] for k in second], [number[k] for k in result]
    )


def more_cases(name):
    """Keys of full slices and arrays, with numbers counted from the end; reductions of truth values."""
    primitive, pairs = CATALOGUE[name], np.array([[1, 0, -1], [-2, 0, 1]])
    first, both = (slice(None), HOLE), (HOLE, HOLE)
    calls = {
        "index": [lambda x: primitive(x, pairs, template=first), lambda x: primitive(x, pairs, PLACES, template=both)],
        "unindex": [lambda x: primitive(x[0, :2], pairs[:, 0], PLACES[:2], template=both, shape=(3, 4, *x.shape[2:]))],
        "assign": [lambda x: primitive(x, 2 * x[:, :3], PLACES, template=first)],
        "last_writes": [lambda x: x[:, :3] * primitive(PLACES, template=first, shape=x.shape)],
        "any": [lambda x: x * primitive(x > 0, axis=(-1,), keepdims=True)],
        "all": [lambda x: x * primitive(x > 0, axis=(-3, -1), keepdims=True)],
    }
    return [Case(name, function, (CUBE,)) for function in calls.get(name, ())]


@pytest.mark.parametrize("name", [n for n, p in CATALOGUE.items() if has_structure(p)])
def test_results_follow_from_the_facts(name):
    """For each case of a primitive that moves, reduces or contracts, and the steps around it."""
    for case in [*cases_of(CATALOGUE[name]), *more_cases(name)]:
        for facts, args, params, out in steps_of(case):
            np.testing.assert_allclose(expected(facts, args, params, out), out, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, bool])
@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.minimum, np.logical_or, np.logical_and])
def test_identities(ufunc, dtype):
    """What a reduction starts from changes nothing."""
    if np.dtype(dtype).kind != "b" and ufunc in (np.logical_or, np.logical_and):
        return
    values = np.array([0, 1, 3]).astype(dtype)
    start = np.asarray(Monoid(ufunc).identity(np.dtype(dtype))).astype(dtype)
    np.testing.assert_array_equal(ufunc(values, start), values)


def test_what_stays():
    """A view of the operand's own shape stays only if every element does."""
    reshape, flip, index = (CATALOGUE[name].facts.moves for name in ("reshape", "flip", "index"))
    assert is_same(reshape, (2, 3), "f", {"shape": (2, 3)})
    assert not is_same(flip, (3,), "f", {"axis": (-1,)})
    assert is_same(flip, (3, 1), "f", {"axis": (-1,)})
    assert is_same(index, (3,), "f", {"template": (slice(None),)})
    assert not is_same(index, (3,), "f", {"template": (slice(None, None, -1),)})
    assert is_same(CATALOGUE["conjugate"].facts.moves, (3,), "f", {})
    assert not is_same(CATALOGUE["conjugate"].facts.moves, (3,), "c", {})


@pytest.mark.parametrize(
    "name", [n for n, p in CATALOGUE.items() if p.facts.commutative or p.facts.neutral is not None]
)
def test_algebra(name):
    """Operands of commutative operations may change places, and neutral numbers change nothing."""
    primitive = CATALOGUE[name]
    neutral = primitive.facts.neutral
    numbers = [True, False] if type(neutral) is bool else [0.5, 3.0, -0.0, np.inf]
    for x in numbers:
        for y in numbers if primitive.facts.commutative else ():
            np.testing.assert_array_equal(primitive.evaluate(x, y), primitive.evaluate(y, x))
        if neutral is not None:
            found = primitive.evaluate(x, neutral)
            assert found == x
            assert np.signbit(float(found)) == np.signbit(float(x))


def written_in_others():
    """Every step of a case whose operation has a formula or a composition: with its types, and that as a program."""
    for primitive in CATALOGUE.values():
        facts = primitive.facts
        for case in cases_of(primitive) if facts.formula or facts.composition else ():
            program = ad.jit(lambda *args, f=case.function: f(*args)).lower(*case.args).program
            for step in program.steps:
                if step.primitive is primitive:
                    takes, gives = [[program.types[n] for n in numbers] for numbers in (step.args, step.outs)]
                    write = formula_of if facts.formula else composition_of
                    yield step, takes, gives, write(primitive, takes, step.params)


def test_formulas_do_not_decide():
    """Formulas and compositions can be written down without a guard, and give what the operation gives."""
    assert "logsumexp" in {step.primitive.name for step, *_ in written_in_others()}
    for step, takes, _, program in written_in_others():
        assert program is not None, f"the formula of {step.primitive.name} decides on values, or is not for {takes}"
        args = [np.random.default_rng(3).normal(size=t.shape).astype(t.dtype) for t in takes]
        found, wanted = Interpreter(program).run(args)[0], step.primitive.evaluate(*args, **step.params)
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-14)


def test_costs_are_those_of_formulas():
    """A cost is about what the steps of the formula or composition take: half as much, or twice, at most."""
    for step, takes, gives, program in written_in_others():
        if step.primitive.facts.cost is not None:
            each = 1 if step.primitive.facts.composition else gives[0].size
            counted = each * operations(program).total()
            stated = step.primitive.facts.cost(takes, gives, step.params)
            assert counted / 2 <= stated <= 2 * counted, f"{step.primitive.name}: {stated}, by its formula {counted}"


REAL = {"shape": (3, 5), "dtype": np.dtype(float)}
COMPOSED = {
    "random_bernoulli": ((np.array([0.2, 0.5, 0.1, 0.9, 1.0]),), {"shape": (3, 5)}),
    "random_bits": ((), {"shape": (3, 5)}),
    "random_fold_in": ((np.int64(41),), {}),
    "random_integers": ((np.int64(-3), np.arange(1, 6)), {"shape": (3, 5), "dtype": np.dtype(np.int16)}),
    "random_split": ((), {"n": 3, "region": 1}),
}
"""Operands besides the key, and parameters, of operations with a composition; those of the others are `REAL`."""


@pytest.mark.parametrize("name", [n for n, p in CATALOGUE.items() if p.facts.composition and not cases_of(p)])
def test_compositions(name):
    """The same numbers by other operations, and true if nothing is raised."""
    args, params = COMPOSED.get(name, ((), REAL))
    args = (ad.random.key(5), *args)
    primitive = CATALOGUE[name]
    program = composition_of(primitive, [type_of(x) for x in args], params)
    got, *holds = Interpreter(program).run(args)
    want = primitive.evaluate(*args, **params)
    assert type_of(got) == type_of(want)
    np.testing.assert_allclose(got, want, rtol=1e-15)
    assert holds == [np.True_] * (primitive.fails_from is not None)
