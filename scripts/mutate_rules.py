"""Mutation test of the derivative rules: break each rule in several ways and see whether the laws notice.

    python scripts/mutate_rules.py [NAME ...]

Every partial, weight, transpose and JVP/VJP of every primitive is negated, scaled and dropped, one at a time. A mutant
that passes all laws has survived; the script prints the score and the survivors, and fails if there are any.
"""

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from adjoint.rules.elementwise import Elementwise
from adjoint.rules.linear import Linear
from adjoint.rules.multi_output import Several
from adjoint.rules.multilinear import Multilinear
from adjoint.rules.opaque import Opaque
from adjoint.rules.reducing import Reducing
from adjoint.rules.selecting import Selecting
from adjoint.testing import check_case
from tests.cases.primitives import DIFFERENTIABLE, cases_of

LAWS = ("tangent", "adjoint", "orders")
EQUIVALENT = {"steady"}
"""A rule that is 0 wherever it is not nan: no factor changes it."""

MUTATIONS = {"sign": -1.0, "factor": 1.02, "dropped": 0.0}


def scaled(value, factor):
    """A rule's result, times a factor; containers leaf by leaf."""
    if value is None:
        return None
    if isinstance(value, (tuple, list)):
        return [scaled(v, factor) for v in value]
    return value * factor


def with_names(function, factor):
    """A mutant of a partial, with the same parameter names: they say what it wants."""
    names = ", ".join(function.__code__.co_varnames[: function.__code__.co_argcount])
    return eval(f"lambda {names}: scaled(f({names}), {factor})", {"f": function, "scaled": scaled})


def is_zero(function):
    """Whether a partial is the constant 0, so that no factor changes it."""
    return function.__code__.co_argcount == 0 and function() == 0.0


def replaced(items, k, new):
    """The items, with another one in place k."""
    return tuple(new if i == k else item for i, item in enumerate(items))


def mutants(rule):
    """Every broken version of a rule, with a name."""
    for name, factor in MUTATIONS.items():
        yield from ((f"{label}, {name}", broken) for label, broken in _broken(rule, factor) if broken is not None)


def _broken(rule, factor):  # noqa: C901 - one case for each kind of rule
    if isinstance(rule, (Elementwise, Several)):
        for k, p in enumerate(rule.partials):
            if p is not None and not is_zero(p):
                broken = replaced(rule.partials, k, with_names(p, factor))
                yield (
                    f"partial {k}",
                    Several(broken) if isinstance(rule, Several) else Elementwise(broken, vertex=rule.vertex),
                )
    elif isinstance(rule, Selecting):
        for k, w in enumerate(rule.weights):
            if w is not None and not is_zero(w):
                yield f"weight {k}", Selecting(*replaced(rule.weights, k, with_names(w, factor)))
    elif isinstance(rule, Linear) and rule.variadic:
        broken = lambda *a, f=rule.variadic: scaled(f(*a), factor)  # noqa: E731
        yield "transposes", Linear(variadic=broken, structural=rule.structural)
    elif isinstance(rule, Linear):
        for k, t in enumerate(rule.transposes):
            if t is not None:
                broken = lambda *a, f=t, **p: f(*a, **p) * factor  # noqa: E731
                yield (
                    f"transpose {k}",
                    Linear(*replaced(rule.transposes, k, broken), structural=rule.structural),
                )
    elif isinstance(rule, Multilinear):
        yield from _broken_multilinear(rule, factor)
    elif isinstance(rule, Reducing):
        yield "share", Reducing(lambda *a, **p: rule.share(*a, **p) * factor)
    elif isinstance(rule, Opaque):
        if rule.jvp:
            yield "jvp", Opaque(lambda *a: scaled(rule.jvp(*a), factor), rule.vjp)
        if rule.vjp:
            yield "vjp", Opaque(rule.jvp, lambda *a: scaled(rule.vjp(*a), factor))


def _broken_multilinear(rule, factor):
    for k, t in enumerate(rule.transposes):
        broken = lambda *a, f=t, **p: f(*a, **p) * factor  # noqa: E731
        yield f"transpose {k}", Multilinear(*replaced(rule.transposes, k, broken), elementwise=rule.elementwise)


def survives(primitive, broken):
    """Whether the laws hold with the broken rule."""
    cases = cases_of(primitive)
    original, primitive.derivative = primitive.derivative, broken
    try:
        for case in cases:
            for law in LAWS:
                check_case(case, [law])
    except AssertionError:
        return False
    else:
        return True
    finally:
        primitive.derivative = original


def main(names):
    """Break every rule in every way, and report the mutants that no law notices."""
    warnings.simplefilter("ignore")
    killed, survivors = 0, []
    chosen = {n: p for n, p in DIFFERENTIABLE.items() if n not in EQUIVALENT and (not names or n in names)}
    for name, primitive in chosen.items():
        for label, broken in mutants(primitive.derivative):
            if not survives(primitive, broken):
                killed += 1
            else:
                survivors.append(f"{name}: {label}")
    total = killed + len(survivors)
    print(f"{killed} of {total} mutants of the rules of {len(chosen)} primitives are caught by the laws")
    for survivor in survivors:
        print("  survived:", survivor)
    return len(survivors)


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
