"""Captured arrays in source: by the user's name, quickly said, written out, or a parameter if they are large."""

from __future__ import annotations

import hashlib

import numpy as np

from .containers import wrapped
from .literals import SMALL, array_text, literal_text
from .names import Names

Key = tuple[tuple[int, ...], str, bytes]


class Arrays:
    """The arrays that a source needs; each is written once, however often it is used."""

    def __init__(self, names: Names, owned: list[tuple[np.ndarray, str]]) -> None:
        self._names = names
        self.definitions: list[str] = []
        """The lines above the function."""
        self.parameters: dict[str, np.ndarray] = {}
        """Keyword-only parameters: arrays that are too large to be written out."""
        self._known: dict[Key, str] = {}
        self._owners: dict[Key, str] = {}
        self._turned: dict[Key, str] = {}
        for array, name in owned:
            self._owners.setdefault(_key(array), name)
            if array.ndim == 2:
                self._turned.setdefault(_key(array.T), name)

    def text(self, x: np.ndarray, wish: str = "") -> str:
        """What stands for an array; `wish` is a better name for it than the user's, which is that of a parameter."""
        key = _key(x)
        if key in self._known:
            return self._known[key]
        owner = self._owners.get(key, "")
        if not owner and key in self._turned:
            return f"{self.text(x.T)}.T"
        quick = array_text(x)
        if not owner and (quick or (x.size <= 4 and x.dtype.kind in "fiub")):
            return quick or literal_text(x)
        name = self._names.free(wish or owner or "array_1")
        if x.size <= SMALL or quick:
            self.definitions += wrapped(f"{name} = {literal_text(x)}")
        else:
            self.parameters[name] = x
        self._known[key] = name
        if x.ndim == 2:
            self._known.setdefault(_key(x.T), f"{name}.T")
        return name

    def is_shared(self, text: str) -> bool:
        """Whether a text is an array that the next call uses as well."""
        return text in self._known.values()


def _key(x: np.ndarray) -> Key:
    """Arrays with the same key hold the same bits."""
    return x.shape, x.dtype.str, hashlib.blake2b(x.tobytes()).digest()
