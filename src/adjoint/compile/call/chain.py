"""The entries of one function, one after the other: which come and go, while calls may be under way in any of them."""

from __future__ import annotations

from .callable import NativeCallable
from .entry import Entry

LONGEST = 256
"""Entries that are tried before the slow way: signatures and paths of one function."""


class EntryChain:
    """The entries that calls of a function are tried at.

    An entry that is taken out may still be called by whoever has its address, until the GIL is next given up, and left
    by whoever is inside: it leads to the slow way from then on, and the function holds it while calls are under way.
    Whoever changes a chain holds a lock.
    """

    def __init__(self, function: NativeCallable) -> None:
        self._function = function
        self._entries: list[Entry] = []
        """The last one is tried first."""

    def put_first(self, entry: Entry, *, is_on: bool) -> None:
        """Let calls try this entry first; of a chain that is too long, the one that was put there first is left out."""
        if entry.is_linked:
            return
        if len(self._entries) >= LONGEST:
            self.take_out(self._entries[0], is_on=is_on)
        entry.otherwise(self._entries[-1] if self._entries else None)
        entry.is_linked = True
        self._entries.append(entry)
        self.lead(is_on=is_on)

    def take_out(self, entry: Entry, *, is_on: bool) -> None:
        """Let no call try this entry."""
        if entry.is_linked:
            k = self._entries.index(entry)
            if k + 1 < len(self._entries):
                self._entries[k + 1].otherwise(self._entries[k - 1] if k else None)
            del self._entries[k]
            self._end(entry, is_on)
        self._function.keep_only(self._entries)

    def clear(self) -> None:
        """Let no call try any entry."""
        entries, self._entries = self._entries, []
        for entry in entries:
            self._end(entry, is_on=False)
        self._function.keep_only(())

    def lead(self, *, is_on: bool) -> None:
        """Let calls begin at the first entry, or in Python if there is none or machine code is not `on`."""
        if self._entries and is_on:
            self._entries[-1].install(self._function)
        else:
            self._function.set_entry(None)

    def _end(self, entry: Entry, is_on: bool) -> None:
        entry.is_linked = False
        self.lead(is_on=is_on)
        entry.otherwise(None)
