"""What an entry of the catalogue says of its operation besides values and derivatives: light facts for every room.

A fact that is left out has a default that is right, if slower or less pretty: without a kernel NumPy computes, without
a form an operation is a call under its own name. `formula` stands for all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .algebra import Contraction, Cost, Monoid
from .moves import Addressed, Moves

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ...host.records import NamedTuple

CHEAP, MEDIUM, DEAR = "cheap", "medium", "dear"
"""What one element costs: about an addition, about a division, a function such as exp."""

COMPARE, EITHER, EXCLUSIVE, BOTH, SHIFT, SUM, PRODUCT, SIGN, POWER, ATOM = range(10)
"""How tightly an expression holds together, in Python's order."""
SIGNS = frozenset(("+", "-", "*", "/", "<", "<=", ">", ">="))
"""The signs that mean the same in Python, JavaScript and SymPy."""
HOLDS = {"sum": SUM, "sign": SIGN, "atom": ATOM}
"""The words for it in templates: `{0:atom}` is in brackets unless it holds as tightly as that."""

Types = np.ufunc | str
"""A universal function whose types are meant, or the name of a function of `compile/scalar/types.py`."""

NUMBER, AN_ARRAY, AS_FIRST = "number", "array", "as the first operand"
"""What a result without axes is to NumPy: they are one to the numbers in it, and two to who updates it in place."""

EMBEDDED = "embedded"
"""The source of what evaluates the operation, which is plain NumPy, is put beside that which uses it."""


class Kernel(NamedTuple):
    """How machine code computes one element: by which code, of which kinds of number, at what cost."""

    code: str
    """The name of an emitter of `compile/scalar`, and what it is made with, as in `comparison lt` or `libm sin`."""
    kinds: str = "f"
    """The kinds of number (f, i, u, b) it takes; others are NumPy's."""
    cost: str = DEAR
    types: Types | None = None
    """Who says which types go in and come out, if it is not the operation's own universal function."""


class Form(NamedTuple):
    """How an operation is written: in formulas to read, in Python, in JavaScript, in SymPy's words."""

    sign: str = ""
    """Its sign, in Python and in formulas: between two operands, in front of one."""
    hold: int = ATOM
    """How tightly what is written with the sign holds together."""
    text: str = ""
    """What formulas call it, if not by its sign or name; a word in ASCII may follow, as in `σ sigmoid`."""
    source: str | Callable[[Sequence[tuple[int, ...]], dict[str, Any]], str] = ""
    """Python's expression, as `np.flip({0}, {axis})`, a function of shapes and parameters that gives it, or EMBEDDED;
    else the universal function is called. `{all}` are the operands, `{named}` the parameters by name, `{along}` the
    axes of a reduction, `{subscripts}` those of a contraction."""
    logical: str = ""
    """The operation that it is for truth values."""
    javascript: str = ""
    """JavaScript's expression, as `({0}*PI/180)`, or the function of `page/functions.js`, if it has another name."""
    sympy: str = ""
    """SymPy's name of it, or an expression in SymPy's words of x, y, z and w, as `exp(x) - 1`."""


class Facts(NamedTuple):
    """All that rooms further up may want to know of an operation."""

    ufunc: np.ufunc | None = None
    """The universal function that it is."""
    scalar: Callable[..., Any] | None = None
    """How Python computes it for floats; it may raise where NumPy has an infinity or nan.

    What `math` calls it, C, JavaScript and SymPy call it too: that is its kernel and form, if it has no others.
    """
    python: Callable[..., Any] | None = None
    """Python's own operator, if it raises where NumPy has an infinity or nan."""
    refuses_integers: bool = False
    """Whether it raises for some integers, as a power does for negative exponents."""
    formula: Callable[..., Any] | None = None
    """What it does to one element in terms of other operations, given its operands and parameters, without a branch:
    whoever finds no other fact takes this."""
    composition: Callable[..., Any] | None = None
    """The same by other operations on whole arrays, given its operands and parameters, without a branch: machine code
    takes these. It gives the result; of what may raise, a pair of the result and of what is true if it does not."""
    kernel: Kernel | None = None
    form: Form = Form()
    moves: Moves | None = None
    """How it moves elements, if it computes nothing."""
    addressed: Addressed | None = None
    """How it finds elements at places that are values."""
    reduces: Monoid | None = None
    """What it combines elements along axes with."""
    accumulates: Monoid | None = None
    """The same for a running reduction, along its one `axis`."""
    contracts: Contraction | None = None
    """The labels of a product that sums."""
    commutative: bool = False
    """Whether its two operands may change places."""
    neutral: float | bool | None = None
    """The second operand, or any if it is commutative, that leaves the other one as it is, sign and nan included."""
    stands_for_steps: bool = False
    """Whether it is a loop that nobody wrote, found in steps that repeat themselves: these are shown and named."""
    axisless: str | Callable[..., str] = NUMBER
    """What a result without axes is, a number or an array, or a function of the parameters that says so."""
    ragged: bool = False
    """Whether values decide how long its result is."""
    by_elements: Callable[..., Any] | None = None
    """The same by arithmetic on single elements, for arrays of objects, if what evaluates it does not take those."""
    cost: Cost | None = None
    """Operations it takes, if these do not follow from the other facts."""
    series: Callable[..., Any] | None = None
    """How the coefficients of its Taylor series follow, `(step) -> k -> coefficient`, where its partials would take
    more series with every order, or more work; it gives None where the partials will do."""
    sided: Callable[..., Any] | None = None
    """The same on one side of a point at which there is none for both, `(step, find) -> k -> coefficient`, with what is
    found at all other points."""

    asks: int = 0
    """1 if it compares numbers, 2 if it asks whether they are finite (`core/singular/replaced.py`)."""
    leaves_out: Callable[..., Any] | None = None
    """`(k, *args, **params) -> mask`: which elements of its k-th argument its result does without, as values say; those
    of the result if they are in their places. None for an argument that it has whole."""

    @property
    def usual_name(self) -> str:
        """What it is called in `math`, and everywhere but in NumPy; nothing if it is not there."""
        scalar: Any = self.scalar
        return str(scalar.__name__) if getattr(scalar, "__module__", "") == "math" else ""


NO_FACTS = Facts()
