"""A value and its gradient as plain NumPy source, which runs without the library."""

from __future__ import annotations

import builtins
import json
import keyword
import re
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ...core.traced import Traced
from ...core.tree import flatten
from ...core.values import describe
from ...ir.bits import same_bits
from ..record import SUBSCRIPTS
from ..rows import View
from .containers import WIDTH, Leaf, last_key, leaves_of, shown, wrapped
from .flow import Check, Flow, Node
from .literals import ATOM, SMALL, array_text, literal_text, number_source, parameter
from .primitives import COMPARE, MAY_RAISE, PYTHON_STAYS, SUM, Needs, Operand, can_be_written, written

LONGEST = 60
"""A part of an expression that is longer gets a line of its own."""

CHEAP = frozenset(("index", "transpose", "negative"))
"""Operations that may stand in several places, if they are short."""

RESERVED = frozenset((*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "np", "numpy", "scipy", "math"))

DIGITS = str.maketrans({chr(code): digit for code, digit in zip(SUBSCRIPTS.values(), "0123456789", strict=True)})  # type: ignore[arg-type]


class Source(str):
    """Python source; `arrays` are the values of its keyword-only parameters, which are too large to be written out."""

    arrays: dict[str, np.ndarray]


def numpy_source(view: View, *, count: int | None = None) -> Source:
    """The function `..._and_gradient` of a view (vector level, nothing collapsed, swept back) as source.

    `count` is the number of arguments that the function was called with; without it, it is guessed from their names.
    """
    writer = _Writer(view, count)
    found = Source(writer.text())
    found.arrays = writer.arrays
    return found


class _Writer:
    """Writes the statements in the order of the program; what is used once stands where it is used."""

    def __init__(self, view: View, count: int | None) -> None:
        self.view, self.recorded = view, view.recorded
        self.flow = Flow(view)
        self.needs = Needs()
        self.arrays: dict[str, np.ndarray] = {}
        self.function = f"{_identifier(self.recorded.title)}_and_gradient"
        self.taken = {*RESERVED, self.function}
        self.lines: list[str] = []
        self.definitions: list[str] = []
        self.operands: dict[int, Operand] = {}
        self.places: dict[int, str] = {}
        self.count = 0
        """How many values got a name that says nothing."""
        self.known: list[tuple[np.ndarray, str]] = []
        self._parts = self._containers(count)
        self.parameters = self._inputs()

    def text(self) -> str:
        """The whole source."""
        self._statements()
        value = self._value()
        gradient = shown(self._gradient())
        self._line(f"return {value}, {gradient}")
        starred = ["*", *self.arrays] if self.arrays else []
        body = [f'"""{self._purpose()}"""', *self.lines]
        head = ['@np.errstate(all="ignore")'] if self.view.backward and self.view.backward.is_careful else []
        head.append(f"def {self.function}({', '.join([*self.parameters, *starred])}):")
        function = "\n".join([line for h in head for line in wrapped(h)] + ["    " + line for line in body])
        top = [self.needs.text(), *["\n".join(self.definitions)] * bool(self.definitions)]
        return "\n\n".join(top) + "\n\n\n" + function + "\n"

    def _line(self, line: str) -> None:
        self.lines += wrapped(line)

    # names

    def _name(self, wish: str) -> str:
        """An identifier that nothing else has."""
        name, k = _identifier(wish), 2
        free = name
        while free in self.taken:
            free, k = f"{name}_{k}", k + 1
        self.taken.add(free)
        return free

    def _place_name(self, place: int) -> str:
        """What the value at a place of the trace is called."""
        if place not in self.places:
            wish = self.view.labels.get(place, "")
            if not wish:
                is_result = [place] == self.view.outputs and self.recorded.title.isidentifier()
                wish = self.recorded.title if is_result else self.view.names[place]
            self.places[place] = self._name(wish)
        return self.places[place]

    def _number_name(self, number: int) -> str:
        symbol = self.flow.symbols.get(number)
        if symbol is None:
            self.count += 1
            return self._name(f"t{self.count}")
        name = self._place_name(symbol.place)
        return name if symbol.kind == "value" else self._name(f"d_{name}")

    # arguments

    def _containers(self, count: int | None) -> list[Any]:
        """The arguments with a leaf in the place of each input."""
        whole = self.recorded.rebuild([Leaf(k) for k in range(len(self.recorded.inputs))])
        if count is None:
            roots = {self._root(k, path) for k, _, path in leaves_of(whole, "", "")}
            count = 1 if (len(roots) == 1 and "" not in roots) or not isinstance(whole, tuple) else len(whole)
        return [whole] if count == 1 else list(whole)

    def _root(self, k: int, path: str) -> str:
        """What is left of an input's name without the way to it; nothing if that is not how it ends."""
        name = self.recorded.names[k]
        return name.removesuffix(path) if name.endswith(path) else ""

    def _inputs(self) -> list[str]:
        """The parameters; what is in containers is unpacked."""
        parameters, unpacked = [], []
        for part in self._parts:
            leaves = list(leaves_of(part, "", ""))
            if not leaves:
                continue
            first, _, path = leaves[0]
            parameter_name = self._name(self._root(first, path) or self.recorded.names[first])
            parameters.append(parameter_name)
            for k, access, path in leaves:
                if not self._is_used(k):
                    continue
                if access:
                    self.places[k] = self._name(last_key(path) or self.recorded.names[k])
                    unpacked.append(f"{self.places[k]} = {parameter_name}{access}")
                else:
                    self.places[k] = parameter_name
        self.lines += unpacked
        self._shapes()
        as_numpy = self._needs_numpy_numbers()
        for k, (x, number) in enumerate(zip(self.recorded.inputs, self.flow.program.inputs, strict=True)):
            if k not in self.places:
                continue
            name = self.places[k]
            is_python = type(x) is float and not as_numpy
            if type(x) is float and as_numpy:
                self.lines.append(
                    f"{name} = np.float64({name})  # division by zero is infinite, as everywhere in NumPy"
                )
            self.operands[number] = Operand(name, ATOM, self.flow.types[number], is_python)
        return parameters

    def _is_used(self, k: int) -> bool:
        """Whether an input is needed for anything: at least for the shape of its gradient."""
        return bool(self.flow.uses[self.flow.program.inputs[k]]) or isinstance(self.recorded.inputs[k], np.ndarray)

    def _shapes(self) -> None:
        arrays = [(self.places[k], x.shape) for k, x in enumerate(self.recorded.inputs) if isinstance(x, np.ndarray)]
        if not arrays:
            return
        expected = [parameter(shape) for _, shape in arrays]
        found = f"np.shape({arrays[0][0]}) != {expected[0]}"
        if len(arrays) > 1:
            found = f"({', '.join([f'np.shape({name})' for name, _ in arrays])}) != ({', '.join(expected)})"
        told = ", ".join([f"{name} of shape {shape}" for (name, _), shape in zip(arrays, expected, strict=True)])
        told = told if len(told) < LONGEST else "other shapes"
        self._line(f"if {found}:")
        self._line(f'    raise ValueError("recorded for {told}")')

    def _needs_numpy_numbers(self) -> bool:
        """Whether an operation on Python's numbers could raise where NumPy's would be infinite."""
        if self.flow.is_strict:
            return False
        inputs = zip(self.recorded.inputs, self.flow.program.inputs, strict=True)
        pythons = {n for x, n in inputs if type(x) is float}
        variable = set(pythons)
        for node in self.flow.nodes.values():
            name = node.primitive.name
            if name not in PYTHON_STAYS and name != "reciprocal":
                continue
            if all(a in pythons or (a in self.flow.constants and self.flow.types[a].weak) for a in node.args):
                if name in MAY_RAISE and node.args[-1] in variable:
                    return True
                if name == "power" and not _is_whole(self.flow.constants.get(node.args[1])):
                    return True
                pythons.update(node.outs)
                variable.update(node.outs if any(a in variable for a in node.args) else ())
        return False

    # statements

    def _statements(self) -> None:
        is_back = False
        for k in sorted({*self.flow.nodes, *self.flow.checks}):
            before = len(self.lines)
            if k in self.flow.checks:
                self._check(self.flow.checks[k])
            else:
                self._node(self.flow.nodes[k])
            if not is_back and k >= self.flow.back and len(self.lines) > before:
                self.lines.insert(before, "# back")
                is_back = True

    def _node(self, node: Node) -> None:
        if all(a in self.flow.constants for a in node.args) and not can_be_written(node.primitive):
            self.flow.constants.update({o: self.flow.notebook.value(o) for o in node.outs})
            return
        args = [self._operand(a) for a in node.args]
        try:
            found = written(node.primitive, args, node.params, self.needs)
        except (OSError, TypeError, KeyError) as error:
            raise self._refused(node) from error
        if found is None:
            raise self._refused(node)
        text, hold = found
        if node.primitive.multiple or len(node.outs) > 1:
            self._several(node, text)
            return
        (out,) = node.outs
        kind = self.flow.types[out]
        is_python = node.primitive.name in PYTHON_STAYS and all(a.is_python for a in args)
        if kind.weak and not is_python and self.flow.is_strict:
            text, hold, is_python = f"{'complex' if kind.dtype.kind == 'c' else 'float'}({text})", ATOM, True
        operand = Operand(text, hold, kind, is_python)
        self.operands[out] = operand
        depends = _depends_on_values(node, args)
        is_short = len(text) <= LONGEST and (
            self.flow.uses[out] == 1 or (node.primitive.name in CHEAP and len(text) < 16)
        )
        if out in self.flow.symbols or depends or not is_short:
            name = self._number_name(out)
            self._line(f"{name} = {text}")
            self.operands[out] = operand._replace(text=name, hold=ATOM)
            if depends:
                self._check_shape(name, out, node)

    def _several(self, node: Node, text: str) -> None:
        """A step of several results, of which perhaps one is used."""
        used = [o for o in node.outs if self.flow.uses[o]]
        names = {o: self._number_name(o) for o in used}
        if len(used) == 1:
            self._line(f"{names[used[0]]} = {text}[{node.outs.index(used[0])}]")
        else:
            self._line(f"{', '.join([names.get(o, '_') for o in node.outs])} = {text}")
        for o in used:
            self.operands[o] = Operand(names[o], ATOM, self.flow.types[o], False)
            if node.primitive.name == "unique":
                self._check_shape(names[o], o, node)

    def _check_shape(self, name: str, number: int, node: Node) -> None:
        """How many elements there are depends on values: all that follows is for so many."""
        shape = parameter(self.flow.types[number].shape)
        self._line(f"if {name}.shape != {shape}:")
        self._line(f'    raise ValueError("recorded for a result of shape {shape}{self._where(node)}")')

    def _check(self, check: Check) -> None:
        operand, expected = self._operand(check.number), check.expected
        if isinstance(expected, np.ndarray):
            condition = f"not np.array_equal({operand.text}, {literal_text(expected)})"
        elif isinstance(expected, (bool, np.bool)):
            condition = f"not {operand.inside(COMPARE + 1)}" if expected else operand.text
        else:
            condition = f"{operand.inside(SUM)} != {number_source(expected, strict=False)[0]}"
        why = "recorded for another branch" + (f": {check.line}" if check.line else " of the derivative")
        why = why if len(why) < WIDTH - 30 else f"{why[: WIDTH - 33]}..."
        self._line(f"if {condition}:")
        self._line(f"    raise ValueError({json.dumps(why, ensure_ascii=False)})")

    def _operand(self, number: int) -> Operand:
        if number not in self.operands:
            value = self.flow.constants[number]
            kind = self.flow.types[number]
            text, hold = self._constant(value)
            self.operands[number] = Operand(text, hold, kind, kind.weak or (kind.shape == () and text[:3] != "np."))
        return self.operands[number]

    def _constant(self, value: Any) -> tuple[str, int]:
        if isinstance(value, np.ndarray) and value.ndim:
            return self._array(value), ATOM
        return number_source(value, strict=self.flow.is_strict)

    def _array(self, x: np.ndarray) -> str:
        """A captured array: by the user's name, or quickly said, or written out, or a parameter."""
        for array, text in self.known:
            if same_bits(array, x):
                return text
            if x.ndim == 2 and array.ndim == 2 and same_bits(array.T, x):
                return f"{text}.T"
        owner, turned = self._owner(x)
        if turned:
            return f"{self._array(x.T)}.T"
        quick = array_text(x)
        if not owner and (quick or (x.size <= 4 and x.dtype.kind in "fiub")):
            return quick or literal_text(x)
        name = self._name(owner or "array_1")
        if x.size <= SMALL or quick:
            self.definitions += wrapped(f"{name} = {literal_text(x)}")
        else:
            self.arrays[name] = x
        self.known.append((x, name))
        return name

    def _owner(self, x: np.ndarray) -> tuple[str, bool]:
        """The user's name of an array, and whether what is used is its transpose."""
        arrays = self.view.arrays
        for turned in (False, True):
            for array, name in arrays:
                if (not turned and same_bits(array, x)) or (
                    turned and x.ndim == array.ndim == 2 and same_bits(array.T, x)
                ):
                    return name, turned
        return "", False

    # results

    def _value(self) -> str:
        leaves, restore = flatten(self.recorded.value)
        texts = [
            self._constant(leaf)[0] if number is None else self._operand(number).text
            for number, leaf in zip(self.flow.outputs, leaves, strict=True)
        ]
        return shown(restore([Leaf(text) for text in texts]))

    def _gradient(self) -> Any:
        texts = []
        for k, (x, number) in enumerate(zip(self.recorded.inputs, self.flow.gradients, strict=True)):
            if number is None:
                texts.append(f"np.zeros_like({self.places[k]})" if isinstance(x, np.ndarray) else "0.0")
            else:
                text = self._operand(number).text
                made = self.flow.maker(number)
                if made is not None and made.primitive.name == "broadcast_to":
                    text = f"np.array({text})" if self.flow.types[made.args[0]].shape else text  # to be written to
                texts.append(f"np.conj({text})" if np.iscomplexobj(x) else text)
        return self.recorded.rebuild([Leaf(text) for text in texts])

    def _purpose(self) -> str:
        kinds = ["float" if type(x) is float else describe(x) for x in self.recorded.inputs]
        given = ", ".join([f"{name}: {kind}" for name, kind in zip(self.recorded.names, kinds, strict=True)])
        text = f"Value and gradient of {self.recorded.title}, as recorded for {given}."
        if len(text) > WIDTH:
            text = f"Value and gradient of {self.recorded.title}, as recorded for arguments of these shapes."
        return text.replace("\\", "\\\\").replace('"', "'")

    def _where(self, node: Node) -> str:
        """The line of the user's code that a step comes from."""
        for (_, _, _, out, _), note in zip(self.recorded.trace, self.recorded.trace.notes, strict=True):
            results = out if isinstance(out, tuple) else (out,)
            if note.place is not None and any(isinstance(o, Traced) and o.node in node.outs for o in results):
                return f" at {note.place}"
        return ""

    def _refused(self, node: Node) -> UnsupportedError:
        return UnsupportedError(
            message(
                f"{node.primitive.name} cannot be written as NumPy source.",
                got=f"the step {node.primitive.name}{self._where(node)}",
                fix="Explain a function without it; the trace itself,  str(e),  shows every step.",
            )
        )


def _identifier(wish: str) -> str:
    """A valid name of a variable, without underscores in front: those are the helpers'."""
    text = re.sub(r"([₀₁₂₃₄₅₆₇₈₉]+)", lambda m: "_" + m.group().translate(DIGITS), wish)
    text = re.sub(r"\W+", "_", text).strip("_") or "v"
    return text if text.isidentifier() else f"v_{text}"


def _depends_on_values(node: Node, args: list[Operand]) -> bool:
    """Whether the shape of a result depends on values: of what a mask selects."""
    if node.primitive.name == "index":
        return any(a.type.dtype.kind == "b" and a.type.shape for a in args[1:])
    return node.primitive.name == "nonzero"


def _is_whole(x: Any) -> bool:
    return isinstance(x, (int, float)) and float(x).is_integer() and x >= 0
