"""Which lines of a loop's inside are the same for all elements, which count along with it, and which hold data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

SIZES = {"double": 8, "i64": 8, "float": 4, "i32": 4, "i16": 2, "i8": 1, "i1": 1}
ARITHMETIC = re.compile(
    r"(fadd|fsub|fmul|fdiv|frem|add|sub|mul|sdiv|udiv|srem|urem|and|or|xor|shl|lshr|ashr)"
    r"((?: [a-z]+)*) (\w+) (\S+), (\S+)$"
)
NEGATION = re.compile(r"(fneg) (\w+) (\S+)$")
COMPARISON = re.compile(r"([if]cmp \w+) (\w+) (\S+), (\S+)$")
CHOICE = re.compile(r"select i1 (\S+), (\w+) (\S+), (\w+) (\S+)$")
CONVERSION = re.compile(r"(zext|sext|trunc|fptrunc|fpext|fptosi|fptoui|sitofp|uitofp|bitcast) (\w+) (\S+) to (\w+)$")
CALL = re.compile(r"call (\w+) @([\w.]+)\((.*?)\)(?: #\d+)?$")
LOAD = re.compile(r"load (\w+), ptr (\S+)$")
ADDRESS = re.compile(r"getelementptr (?:inbounds )?(\w+), ptr (\S+), i64 (\S+)$")
STORE = re.compile(r"  store (\w+) (\S+), ptr (\S+)$")
DEFINITION = re.compile(r"  (%[\w.]+) = (.*)$")


class NoVectorError(Exception):
    """The inside of the loop is not of the kind that can be turned."""


@dataclass(frozen=True)
class Sum:
    """A value that is added up over the rounds: its reduction, its type, the register it has inside, the new one."""

    name: str
    kind: str
    is_signed: bool
    start: str
    inside: str
    new: str


class Inside:
    """The inside of a loop over `counter`, sorted."""

    def __init__(self, lines: list[str], counter: str, sums: list[Sum]) -> None:
        self.counter = counter
        self.sums = sums
        self.moving: dict[str, int] = {counter: 1}
        """Registers that count along, and how fast: indices in elements, addresses in elements of their type."""
        self.data: dict[str, str] = {s.inside: s.kind for s in sums}
        """Registers that hold data, and of what type."""
        self.before: list[str] = []
        self.inside: list[tuple[str, Any]] = []
        self.types: set[str] = {s.kind for s in sums}
        self.uniform: dict[str, str] = {}
        for line in lines:
            self._sort(line)
        self._check_sums()

    # What kind each line is

    def _sort(self, line: str) -> None:
        found = STORE.match(line)
        if found:
            kind, _, place = found.groups()
            if self.moving.get(place) != 1:
                raise NoVectorError
            self.types.add(kind)
            self.inside.append(("store", found.groups()))
            return
        definition = DEFINITION.match(line)
        if definition is None:
            raise NoVectorError
        name, text = definition.groups()
        for pattern, handle in (
            (ADDRESS, self._address), (LOAD, self._load), (ARITHMETIC, self._arithmetic), (COMPARISON, self._compare),
            (CHOICE, self._choose), (CALL, self._call), (CONVERSION, self._convert), (NEGATION, self._negate),
        ):  # fmt: skip
            parts = pattern.match(text)
            if parts:
                handle(name, text, parts.groups())
                return
        raise NoVectorError

    def _is_data(self, *operands: str) -> bool:
        if any([o in self.moving for o in operands]):
            raise NoVectorError
        return any([o in self.data for o in operands])

    def _keep(self, name: str, text: str, kind: str) -> None:
        self.before.append(f"  {name} = {text}")
        self.uniform[name] = kind

    def _address(self, name: str, text: str, parts: Any) -> None:
        _, base, index = parts
        if index in self.data or base in self.data:
            raise NoVectorError
        speed = self.moving.get(index, 0)
        if base in self.moving:
            raise NoVectorError
        if speed == 0:
            self._keep(name, text, "ptr")
            return
        self.moving[name] = speed
        self.inside.append(("scalar", (name, text)))

    def _load(self, name: str, text: str, parts: Any) -> None:
        kind, place = parts
        speed = self.moving.get(place, 0)
        if speed == 0 and place not in self.data:
            self._keep(name, text, kind)
            return
        if speed != 1:
            raise NoVectorError
        self.data[name] = kind
        self.types.add(kind)
        self.inside.append(("load", (name, kind, place)))

    def _arithmetic(self, name: str, text: str, parts: Any) -> None:
        word, flags, kind, x, y = parts
        if kind == "i64" and (x in self.moving or y in self.moving):
            speeds = self.moving.get(x, 0), self.moving.get(y, 0)
            if x in self.data or y in self.data:
                raise NoVectorError
            if word == "add":
                self.moving[name] = speeds[0] + speeds[1]
            elif word == "sub" and speeds[1] == 0:
                self.moving[name] = speeds[0]
            elif word == "mul" and speeds[1] == 0 and y.lstrip("-").isdigit():
                self.moving[name] = speeds[0] * int(y)
            else:
                raise NoVectorError
            self.inside.append(("scalar", (name, text)))
            return
        if not self._is_data(x, y):
            self._keep(name, text, kind)
            return
        self._value(name, kind, f"{word}{flags} {{w}} {{0}}, {{1}}", kind, [(kind, x), (kind, y)])

    def _compare(self, name: str, text: str, parts: Any) -> None:
        word, kind, x, y = parts
        if not self._is_data(x, y):
            self._keep(name, text, "i1")
            return
        self._value(name, "i1", f"{word} {{w}} {{0}}, {{1}}", kind, [(kind, x), (kind, y)])

    def _choose(self, name: str, text: str, parts: Any) -> None:
        condition, kind, x, _, y = parts
        if not self._is_data(condition, x, y):
            self._keep(name, text, kind)
            return
        operands = [("i1", condition), (kind, x), (kind, y)]
        self._value(name, kind, "select {i1} {0}, {w} {1}, {w} {2}", kind, operands)

    def _convert(self, name: str, text: str, parts: Any) -> None:
        word, kind, x, target = parts
        if not self._is_data(x):
            self._keep(name, text, target)
            return
        self._value(name, target, f"{word} {{w}} {{0}} to {{{target}}}", kind, [(kind, x)])

    def _negate(self, name: str, text: str, parts: Any) -> None:
        word, kind, x = parts
        if not self._is_data(x):
            self._keep(name, text, kind)
            return
        self._value(name, kind, f"{word} {{w}} {{0}}", kind, [(kind, x)])

    def _call(self, name: str, text: str, parts: Any) -> None:
        kind, symbol, arguments = parts
        pairs = [tuple(a.split(" ", 1)) for a in arguments.split(", ")]
        if any([p[0] != kind for p in pairs]):
            raise NoVectorError
        if not self._is_data(*[p[1] for p in pairs]):
            self._keep(name, text, kind)
            return
        self.types.add(kind)
        self.data[name] = kind
        self.inside.append(("call", (name, kind, symbol, [p[1] for p in pairs])))

    def _value(self, name: str, kind: str, pattern: str, working: str, operands: list[tuple[str, str]]) -> None:
        self.types.update((kind, working))
        self.data[name] = kind
        self.inside.append(("value", (name, pattern, working, operands)))

    def _check_sums(self) -> None:
        for s in self.sums:
            if s.new not in self.data:
                raise NoVectorError
