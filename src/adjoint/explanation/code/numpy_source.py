"""A value and its gradient as plain NumPy source, which runs without the library."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.entry import moves
from ...core.entry.facts import COMPARE, SUM
from ...core.errors import UnsupportedError, message
from ...core.traced import Traced
from ...core.tree import flatten
from ...core.values import describe, zeros_for
from ...ops.arithmetic import negative, power, reciprocal
from ...ops.shape import broadcast_to
from ..record.sweeps import sweep_back
from ..show.rows import TraceView
from .arguments import CalledWith, is_named_tuple, is_record, otherwise, parts_of
from .arrays import Arrays
from .containers import WIDTH, Leaf, last_key, shown, wrapped
from .flow import Check, Flow, FlowStep
from .lifting import lifted
from .literals import ATOM, number_source, parameter
from .names import Names, identifier
from .primitives import Needs, Operand, can_be_written, keeps_python, written

LONGEST = 60
"""A part of an expression that is longer gets a line of its own."""


class Source(str):
    """Python source; `arrays` are the values of its keyword-only parameters, which are too large to be written out."""

    arrays: dict[str, np.ndarray]

    def __repr__(self) -> str:
        return str(self)  # to be read, where a notebook or a prompt shows it


def numpy_source(view: TraceView, *, fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Source:
    """The function `..._and_gradient` of a view (vector level, nothing collapsed, swept back) as source.

    It takes what the function was called with. Arrays and real numbers that are not differentiated are data, for which
    the function is run once more; whole numbers, text and other settings are checked to be what they were.
    """
    call = CalledWith(fun, args, kwargs)
    if view.backward is not None and view.backward.limits:  # numbers of this point: the source is for others too
        backward = sweep_back(view.recorded, view.given_seeds, is_for_all=True)
        view = TraceView(view.recorded, backward, None, seeds=view.given_seeds, collapse=False)
    data = lifted(view, call)
    if data is not None:
        try:
            return _Writer(data.view, call, data.numbers).source()
        except UnsupportedError:  # something that is only done with data: they have to stay as they were
            pass
    return _Writer(view, call, {}).source()


class _Writer:
    """Writes the statements in the order of the program; what is used once stands where it is used."""

    def __init__(self, view: TraceView, call: CalledWith, data: dict[str, int]) -> None:
        self.view, self.recorded = view, view.recorded
        self.flow = Flow(view)
        self.needs = Needs()
        self.names = Names()
        self.title = identifier(self.recorded.title)
        self.function = self.names.free(f"{self.title}_and_gradient")
        self.lines: list[str] = []
        self.operands: dict[int, Operand] = {}
        self.places: dict[int, str] = {}
        self.parameters: list[str] = []
        self.keywords: list[str] = []
        self.unchecked: list[str] = []
        """What the source relies on and cannot ask for."""
        self.count = 0
        """How many values got a name that says nothing."""
        self.lines_of: dict[int, str] | None = None
        self._inputs(call, data)

    def source(self) -> Source:
        """The text, with the arrays that it needs."""
        found = Source(self.text())
        found.arrays = self.arrays.parameters
        return found

    def text(self) -> str:
        """The whole source."""
        self._statements()
        value = self._value()
        gradient = shown(self._gradient())
        self._line(f"return {value}, {gradient}")
        keywords = [*self.keywords, *self.arrays.parameters]
        starred = ["*", *keywords] if keywords else []
        body = [*self._purpose(), *self.lines]
        head = ['@np.errstate(all="ignore")'] if self.view.backward and self.view.backward.is_careful else []
        head.append(f"def {self.function}({', '.join([*self.parameters, *starred])}):")
        inner = [f"    {line}" if line else "" for line in body]
        function = "\n".join([line for h in head for line in wrapped(h)] + inner)
        definitions = self.arrays.definitions
        top = [self.needs.text(), *["\n".join(definitions)] * bool(definitions)]
        return "\n\n".join(top) + "\n\n\n" + function + "\n"

    def _line(self, line: str) -> None:
        self.lines += wrapped(line)

    # names

    def _place_name(self, place: int) -> str:
        """What the value at a place of the trace is called."""
        if place not in self.places:
            wish = self.view.labels.get(place, "")
            if not wish:
                wish = self.title if place == self._result() else self.view.names[place]
            self.places[place] = self.names.free(wish)
        return self.places[place]

    def _result(self) -> int | None:
        """The place of the result, if there is one: of several that are the same, the one that is computed."""
        if len(self.view.outputs) != 1 or len(self.flow.outputs) != 1 or self.flow.outputs[0] is None:
            return None
        symbol = self.flow.symbols.get(self.flow.outputs[0])
        return self.view.outputs[0] if symbol is None or symbol.kind != "value" else symbol.place

    def _number_name(self, number: int) -> str:
        symbol = self.flow.symbols.get(number)
        if symbol is not None and symbol.kind == "value":
            return self._place_name(symbol.place)
        if symbol is not None and (symbol.place in self.places or symbol.place < len(self.recorded.inputs)):
            return self.names.free(f"d_{self._place_name(symbol.place)}")  # of a value that has a name in the source
        self.count += 1
        return self.names.free(f"t{self.count}")

    # arguments

    def _inputs(self, call: CalledWith, data: dict[str, int]) -> None:
        """The parameters; what is in containers is unpacked, what is part of the recording is checked."""
        roots = [(self.names.parameter(root), root, value) for root, value in call.roots()]
        self.parameters = [name for name, _, _ in roots[: len(call.args)]]
        self.keywords = [name for name, _, _ in roots[len(call.args) :]]
        self.arrays = Arrays(self.names, self.view.arrays)
        inputs = {name: k for k, name in enumerate(self.recorded.names)}
        unpacked: list[str] = []
        read: list[tuple[str, Any, int]] = []
        for name, root, whole in roots:
            for access, value in parts_of(whole):
                path = root + access
                k = inputs.get(path)
                if k is None and path not in data:
                    self._setting(f"{name}{access}", value)
                    continue
                number = data[path] if k is None else self.flow.program.inputs[k]
                value = value if k is None else self.recorded.inputs[k]
                if not self._is_needed(number, value):
                    continue
                variable = self.names.free(last_key(access) or path) if access else name
                unpacked += [f"{variable} = {name}{access}"] * bool(access)
                read.append((variable, value, number))
                if k is not None:
                    self.places[k] = variable
        pairs = zip(self.flow.program.inputs, self.recorded.inputs, strict=False)  # data come behind
        if missing := [k for k, pair in enumerate(pairs) if self._is_needed(*pair) and k not in self.places]:
            raise UnsupportedError(
                message(
                    "Arguments in such containers cannot be written as NumPy source.",
                    got=", ".join([self.recorded.names[k] for k in missing]),
                    fix="Use dicts, lists, tuples or dataclasses.",
                )
            )
        self.lines += unpacked
        self._shapes([(variable, value.shape) for variable, value, _ in read if isinstance(value, np.ndarray)])
        as_numpy = self._needs_numpy_numbers({number for _, value, number in read if type(value) is float})
        for variable, value, number in read:
            if type(value) is float and as_numpy:
                self.lines.append(
                    f"{variable} = np.float64({variable})  # division by zero is infinite, as everywhere in NumPy"
                )
            is_python = type(value) is float and not as_numpy
            self.operands[number] = Operand(variable, ATOM, self.flow.types[number], is_python)

    def _is_needed(self, number: int, value: Any) -> bool:
        """Whether an input is read: of an array at least the shape."""
        return bool(self.flow.uses[number]) or isinstance(value, np.ndarray)

    def _setting(self, text: str, value: Any) -> None:
        """Something that the recording relies on, and that is not read by the source."""
        found = otherwise(text, value, lambda x: self.arrays.text(x, f"recorded_{text}"))
        if found is not None:
            condition, told = found
            self._raise_if(condition, f"recorded for {told}")
        elif not is_record(value) and not is_named_tuple(value):  # their fields are asked for, one by one
            self.unchecked.append(text)

    def _shapes(self, arrays: list[tuple[str, tuple[int, ...]]]) -> None:
        if not arrays:
            return
        expected = [parameter(shape) for _, shape in arrays]
        found = f"np.shape({arrays[0][0]}) != {expected[0]}"
        if len(arrays) > 1:
            found = f"({', '.join([f'np.shape({name})' for name, _ in arrays])}) != ({', '.join(expected)})"
        told = ", ".join([f"{name} of shape {shape}" for (name, _), shape in zip(arrays, expected, strict=True)])
        self._raise_if(found, f"recorded for {told if len(told) < LONGEST else 'other shapes'}")

    def _raise_if(self, condition: str, why: str) -> None:
        why = why if len(why) < WIDTH - 30 else f"{why[: WIDTH - 33]}..."
        self._line(f"if {condition}:")
        self._line(f"    raise ValueError({json.dumps(why, ensure_ascii=False)})")

    def _needs_numpy_numbers(self, pythons: set[int]) -> bool:
        """Whether an operation on Python's numbers could raise where NumPy's would be infinite."""
        if self.flow.is_strict:
            return False
        variable, pythons = pythons, set(pythons)
        for node in self.flow.nodes.values():
            primitive = node.primitive
            if not keeps_python(primitive) and primitive is not reciprocal:
                continue
            if all(a in pythons or (a in self.flow.constants and self.flow.types[a].weak) for a in node.args):
                raises = primitive.facts.python is not None and len(node.args) == 2
                if (raises or primitive is reciprocal) and node.args[-1] in variable:
                    return True
                if primitive is power and not _is_whole(self.flow.constants.get(node.args[1])):
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
                self._node(self.flow.nodes[k], is_rule=k >= self.flow.back)
            if not is_back and k >= self.flow.back and len(self.lines) > before:
                self.lines.insert(before, "# back")
                is_back = True

    def _node(self, node: FlowStep, *, is_rule: bool) -> None:
        if all(a in self.flow.constants for a in node.args) and not can_be_written(node.primitive):
            self.flow.evaluate(node)
            return
        args = [self._operand(a) for a in node.args]
        try:
            found = written(node.primitive, args, node.params, self.flow.types[node.outs[0]], self.needs)
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
        is_python = keeps_python(node.primitive) and all(a.is_python for a in args)
        if kind.weak and not is_python and self.flow.is_strict and is_rule:  # rules keep numbers as Python's
            text, hold, is_python = f"{'complex' if kind.dtype.kind == 'c' else 'float'}({text})", ATOM, True
        operand = Operand(text, hold, kind, is_python)
        self.operands[out] = operand
        depends = out in self.flow.ragged
        is_short = len(text) <= LONGEST and (self.flow.uses[out] == 1 or (_is_cheap(node) and len(text) < 16))
        if out in self.flow.symbols or depends or not is_short:
            name = self._number_name(out)
            self._line(f"{name} = {text}")
            self.operands[out] = operand._replace(text=name, hold=ATOM)
            if depends:
                self._check_shape(name, out, node)

    def _several(self, node: FlowStep, text: str) -> None:
        """A step of several results, of which perhaps one is used."""
        used = [o for o in node.outs if self.flow.uses[o]]
        names = {o: self._number_name(o) for o in used}
        if len(used) == 1:
            self._line(f"{names[used[0]]} = {text}[{node.outs.index(used[0])}]")
        else:
            self._line(f"{', '.join([names.get(o, '_') for o in node.outs])} = {text}")
        for o in used:
            self.operands[o] = Operand(names[o], ATOM, self.flow.types[o], False)
            if o in self.flow.ragged:
                self._check_shape(names[o], o, node)

    def _check_shape(self, name: str, number: int, node: FlowStep) -> None:
        """How many elements there are depends on values: all that follows is for so many."""
        shape = parameter(self.flow.types[number].shape)
        self._raise_if(f"{name}.shape != {shape}", f"recorded for a result of shape {shape}{self._where(node)}")

    def _check(self, check: Check) -> None:
        operand, expected = self._operand(check.number), check.expected
        if isinstance(expected, np.ndarray):
            condition = f"not np.array_equal({operand.text}, {self.arrays.text(expected)})"
        elif isinstance(expected, (bool, np.bool)):
            condition = f"not {operand.inside(COMPARE + 1)}" if expected else operand.text
        else:
            condition = f"{operand.inside(SUM)} != {number_source(expected, strict=False)[0]}"
        self._raise_if(
            condition, "recorded for another branch" + (f": {check.line}" if check.line else " of the derivative")
        )

    def _operand(self, number: int) -> Operand:
        if number not in self.operands:
            value = self.flow.constants[number]
            kind = self.flow.types[number]
            text, hold = self._constant(value)
            self.operands[number] = Operand(text, hold, kind, kind.weak or (kind.shape == () and text[:3] != "np."))
        return self.operands[number]

    def _constant(self, value: Any) -> tuple[str, int]:
        if isinstance(value, np.ndarray) and value.ndim:
            return self.arrays.text(value), ATOM
        return number_source(value, strict=self.flow.is_strict)

    # results

    def _value(self) -> str:
        leaves, restore = flatten(self.recorded.value)
        texts = [
            self._own(self._constant(leaf)[0] if number is None else self._operand(number).text)
            for number, leaf in zip(self.flow.outputs, leaves, strict=True)
        ]
        return shown(restore([Leaf(text) for text in texts]))

    def _gradient(self) -> Any:
        texts = []
        for k, (x, number) in enumerate(zip(self.recorded.inputs, self.flow.gradients, strict=True)):
            if number is None:
                is_array = isinstance(x, np.ndarray)
                texts.append(f"np.zeros_like({self.places[k]})" if is_array else self._constant(zeros_for(x))[0])
            else:
                text = self._own(self._operand(number).text)
                made = self.flow.maker(number)
                if made is not None and made.primitive is broadcast_to:
                    text = f"np.array({text})" if self.flow.types[made.args[0]].shape else text  # to be written to
                texts.append(f"np.conj({text})" if np.iscomplexobj(x) else text)
        return self.recorded.rebuild([Leaf(text) for text in texts])

    def _own(self, text: str) -> str:
        """A result that may be written to."""
        return f"np.array({text})" if self.arrays.is_shared(text) else text

    def _purpose(self) -> list[str]:
        """The docstring: what the source is for, and what it cannot see to."""
        kinds = ["float" if type(x) is float else describe(x) for x in self.recorded.inputs]
        given = ", ".join([f"{name}: {kind}" for name, kind in zip(self.recorded.names, kinds, strict=True)])
        text = f"Value and gradient of {self.recorded.title}, as recorded for {given}."
        if len(text) > WIDTH:
            text = f"Value and gradient of {self.recorded.title}, as recorded for arguments of these shapes."
        more = []
        if self.flow.vertices and self.view.backward and not self.view.backward.is_careful:
            more.append(
                f"Where the derivative of {' or '.join(self.flow.vertices)} is infinite, the gradient may be nan."
            )
        if self.view.backward and self.view.backward.limits:
            more += [
                "Where slopes are 0 * inf, the gradient is a limit; it is known for the recorded inputs only,",
                "and nan for all others.",
            ]
        if self.unchecked:
            told = f"These have to be what they were, which is not checked: {', '.join(self.unchecked)}."
            more += textwrap.wrap(told, WIDTH, break_long_words=False)
        lines = [line.replace("\\", "\\\\").replace('"', "'") for line in (text, *more)]
        return [f'"""{lines[0]}', "", *lines[1:], '"""'] if more else [f'"""{lines[0]}"""']

    def _where(self, node: FlowStep) -> str:
        """The line of the user's code that a step comes from."""
        if self.lines_of is None:
            self.lines_of = {}
            for (_, _, _, out, _), note in zip(self.recorded.trace, self.recorded.trace.notes, strict=True):
                for o in out if isinstance(out, tuple) else (out,):
                    if note.place is not None and isinstance(o, Traced):
                        self.lines_of.setdefault(o.node, f" at {note.place}")
        return next((self.lines_of[o] for o in node.outs if o in self.lines_of), "")

    def _refused(self, node: FlowStep) -> UnsupportedError:
        return UnsupportedError(
            message(
                f"{node.primitive.name} cannot be written as NumPy source.",
                got=f"the step {node.primitive.name}{self._where(node)}",
                fix="Explain a function without it; the trace itself,  str(e),  shows every step.",
            )
        )


def _is_cheap(node: FlowStep) -> bool:
    """Whether an operation may stand in several places, if it is short: a view, or the other sign."""
    return isinstance(node.primitive.facts.moves, moves.View) or node.primitive is negative


def _is_whole(x: Any) -> bool:
    return isinstance(x, (int, float)) and float(x).is_integer() and x >= 0
