"""What is wrong with an entry of the catalogue, said when it is declared and not at the first derivative."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import Formatter
from typing import Any

from ..core.entry.algebra import Monoid
from ..core.entry.facts import Facts, Form, Kernel
from ..core.entry.moves import Addressed, Overwrite, Pad, Pieces, Same, View
from .partials import NAMES, VARIADIC, Partial, arity_of, wanted

KEYWORDS = 0x08
"""The flag of a function that takes any parameters by name."""


def check(name: str, derivative: Any, evaluate: Any, arity: int | None) -> None:
    """Refuse an entry whose partials or transposes do not fit what evaluates it."""
    partials = getattr(derivative, "partials", getattr(derivative, "weights", None))
    if partials is not None:
        _check_partials(name, partials, arity)
    transposes = getattr(derivative, "transposes", None)
    if transposes and arity is not None:
        _check_transposes(name, transposes, evaluate, arity)


def _check_partials(name: str, partials: Sequence[Partial | None], arity: int | None) -> None:
    if not partials and arity is None:
        raise ValueError(f"{name} is given no partials: write one for each argument, None where there is none to give.")
    if arity is not None and len(partials) != arity:
        raise ValueError(
            f"{name} takes {_several(arity, 'argument')} and is given {_several(len(partials), 'partial')}: "
            "write one for each, None where there is none to give."
        )
    known = (*NAMES[: len(partials)], "out")
    for partial in partials:
        unknown = [] if partial is None else [n for n in wanted(partial) if n not in known]
        if unknown:
            raise ValueError(f"A partial of {name} asks for {', '.join(unknown)}; it may ask for {', '.join(known)}.")


def _check_transposes(name: str, transposes: Sequence[Partial | None], evaluate: Any, arity: int) -> None:
    if len(transposes) > arity:
        raise ValueError(
            f"{name} takes {_several(arity, 'argument')} and is given {_several(len(transposes), 'transpose')}."
        )
    parameters = _named(evaluate)
    for transpose in transposes:
        if transpose is None:
            continue
        code = transpose.__code__
        if not code.co_flags & VARIADIC and arity_of(transpose) not in (None, arity + 2):
            raise ValueError(
                f"A transpose of {name} takes {_several(code.co_argcount, 'argument')}: "
                f"it is given the cotangent, the result and {_several(arity, 'argument')}."
            )
        if parameters is not None and not code.co_flags & KEYWORDS and _named(transpose) != parameters:
            given = ", ".join(sorted(parameters)) or "none"
            raise ValueError(f"A transpose of {name} does not have its parameters, which are: {given}.")


def check_listed(name: str, partials: Any) -> None:
    """Refuse one function where a list with one for each argument is meant."""
    if callable(partials):
        raise TypeError(f"The partials of {name} are a list with one for each argument: write  partials=[...].")


KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(Facts._fields, ()),
    "kernel": (Kernel,),
    "form": (Form,),
    "moves": (Same, View, Pad, Overwrite, Pieces),
    "addressed": (Addressed,),
    "reduces": (Monoid,),
    "accumulates": (Monoid,),
}
"""Every fact, and what it is stated with if it has a class of its own."""

HANDED: dict[type, tuple[str, ...]] = {
    View: ("have", "want"),
    Pad: ("whole",),
    Overwrite: ("whole",),
    Pieces: ("shapes",),
    Addressed: ("whole", "shapes"),
}
"""What the function of a fact is called with, besides the parameters of the operation."""


def check_kinds(name: str, facts: dict[str, Any], options: Iterable[str]) -> None:
    """Refuse facts that there are none of, and those that are not stated with their class."""
    for fact, value in facts.items():
        kinds = KINDS.get(fact)
        if kinds is None:
            raise TypeError(f"{name} is given {fact}, which is no fact of an operation{_meant(fact, options)}")
        if kinds and value is not None and not isinstance(value, kinds):
            known = " or ".join([kind.__name__ for kind in kinds])
            raise TypeError(f"The fact {fact} of {name} has to be {known}, not {type(value).__name__}.")


def _meant(fact: str, options: Iterable[str]) -> str:
    import difflib  # for a slip of the pen, not whenever the library is imported

    close = difflib.get_close_matches(fact, [*KINDS, *options], n=1)
    return f": did you mean {close[0]}?" if close else "; they are in core/entry/facts.py."


def check_facts(name: str, evaluate: Any, facts: Facts) -> None:
    """Refuse facts that do not fit the parameters of what evaluates the operation."""
    _check_handed(name, facts.moves)
    _check_handed(name, facts.addressed)
    parameters = _named(evaluate)
    if parameters is None:
        return
    for function in (*_functions(facts.moves), *_functions(facts.addressed), facts.contracts, facts.composition):
        known = parameters if function is None else _named(function)
        if known is not None and not parameters <= known:
            given = ", ".join(sorted(parameters))
            raise ValueError(f"A fact of {name} does not take its parameters, which are: {given}.")
    for fact, wanted_ones in ((facts.reduces, {"axis", "keepdims"}), (facts.accumulates, {"axis"})):
        if fact is not None and parameters != wanted_ones:
            raise ValueError(f"{name} is a reduction: its parameters have to be {', '.join(sorted(wanted_ones))}.")
    if isinstance(facts.form.source, str):
        asked = {field for _, field, _, _ in Formatter().parse(facts.form.source) if field and not field.isdigit()}
        if asked - parameters - PLACEHOLDERS:
            unknown = ", ".join(sorted(asked - parameters - PLACEHOLDERS))
            raise ValueError(f"The source of {name} asks for {unknown}, which is none of its parameters.")


def check_formula(name: str, evaluate: Any, formula: Any, *, of_each_element: bool, multiple: bool) -> None:
    """Refuse a formula that nobody could take in the place of what evaluates the operation."""
    if multiple:
        raise ValueError(f"{name} has several results, and a formula gives one: leave it out.")
    if not of_each_element:
        raise ValueError(f"The formula of {name} is that of an element: say its  domain,  or write  composition=.")
    arity, parameters, count = arity_of(evaluate), _named(evaluate), arity_of(formula)
    if arity is not None and count is not None and count != arity:
        raise ValueError(f"{name} takes {_several(arity, 'argument')} and its formula {_several(count, 'argument')}.")
    if parameters is not None and _named(formula) not in (None, parameters):
        given = ", ".join(sorted(parameters)) or "none"
        raise ValueError(f"The formula of {name} does not have its parameters, which are: {given}.")
    if arity is None or parameters:
        return
    from .probe import decides  # few entries have a formula

    if decides(formula, arity):
        raise ValueError(f"The formula of {name} decides on values, which a program cannot: write  np.where.")


PLACEHOLDERS = frozenset(("all", "along", "named", "subscripts"))
"""What a source may ask for besides operands and parameters."""


def _check_handed(name: str, fact: tuple[Any, ...] | None) -> None:
    """Refuse a function that does not take what such a fact is called with."""
    handed = HANDED.get(type(fact))
    if handed is None:
        return
    for function in _functions(fact):
        count = arity_of(function)
        if count is not None and count != len(handed):
            kind = type(fact).__name__
            raise ValueError(
                f"The function in {kind} of {name} takes {_several(count, 'argument')} by position: "
                f"it is given {' and '.join(handed)}, and the parameters of {name} by name."
            )


def _functions(fact: tuple[Any, ...] | None) -> list[Any]:
    return [part for part in fact or () if callable(part)]


def _named(function: Any) -> frozenset[str] | None:
    """The parameters that a function takes by name alone; None if it takes any, or cannot be asked."""
    code = getattr(function, "__code__", None)
    if code is None:
        return frozenset() if hasattr(function, "nin") else None
    if code.co_flags & KEYWORDS:
        return None
    first = code.co_argcount
    return frozenset(code.co_varnames[first : first + code.co_kwonlyargcount])


def _several(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
