"""What was read from the store, and holds as long as its change counter stands still."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

from hcpx.ports.rows import Changes

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

_LIMIT: Final = 4096


class Cache(Generic[_Key, _Value]):
    """A dictionary that is empty after every change; any number of threads may use it.

    The counter is read before the rows are: what is kept is at least as new as its number says.
    """

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._state: tuple[int, dict[_Key, _Value]] = (-1, {})

    def current(self) -> dict[_Key, _Value]:
        """Return what is still true, to be looked up and added to."""
        return self.at(self._changes.changes())

    def at(self, now: int) -> dict[_Key, _Value]:
        """Return what is true at that count of changes, which the caller has just read."""
        at, held = self._state
        if at != now or len(held) > _LIMIT:
            held = {}
            self._state = (now, held)
        return held
