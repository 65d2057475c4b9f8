"""Finds spellings in bytes: an automaton that is built as far as the bytes at hand need it.

A *thread* has read the beginning of a spelling: (spelling, position, begun writing of that position). A
*state* is the set of threads that are alive between two bytes. What follows a state for a byte is worked out
once and kept, so that a text costs the same whatever the secrets look like. Where matches begin is read off
backwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .spelling import Spelling

Thread = tuple[int, int, bytes]
Threads = frozenset[Thread]
Span = tuple[int, int]

_NONE: Threads = frozenset()
BLOCK: Final = 1 << 16
_KEPT: Final = 50_000


class _State(dict[int, "_State"]):
    """The threads that are alive at one place; as a mapping, the states that follow."""

    __slots__ = ("_automaton", "before", "ended", "open", "threads")

    def __init__(self, automaton: Automaton, threads: Threads) -> None:
        super().__init__()
        self._automaton = automaton
        self.threads = threads
        self.ended = frozenset(thread for thread in threads if automaton.is_end(thread))
        self.open = frozenset(thread for thread in threads if automaton.is_open(thread))
        self.before: dict[tuple[int, Threads, bool], Threads] = {}

    def __missing__(self, byte: int) -> _State:
        return self._automaton.follow(self, byte)


class Automaton:
    """All spellings of all values at once."""

    def __init__(self, spellings: Iterable[Spelling], longest: int) -> None:
        self._spellings = tuple(spellings)
        self._block = max(BLOCK, longest)
        self._beginnings: dict[int, set[Thread]] = {}
        for number, spelling in enumerate(self._spellings):
            for written in spelling.units[0]:
                if len(written) == 1:
                    self._beginnings.setdefault(written[0], set()).update(self._after((number, 0, b""), written[0]))
        self._states: dict[Threads, _State] = {}
        self._made = 0
        self._root = self._state(_NONE)

    def is_end(self, thread: Thread) -> bool:
        """Tell whether the thread has read a whole spelling."""
        number, position, begun = thread
        return not begun and position in self._spellings[number].ends

    def is_open(self, thread: Thread) -> bool:
        """Tell whether the thread can read on."""
        return thread[1] < len(self._spellings[thread[0]].units)

    def spans(self, data: bytes) -> list[Span]:
        """Return where spellings stand in `data`: in order, overlapping ones as one, touching ones apart."""
        found: list[Span] = []
        start, end = 0, 0
        while end < len(data):
            end = min(end + self._block, len(data))
            spans, held = self.look(data[start:end])
            for begin, stop in spans:
                # What begins behind `held` is found again, perhaps as a part of something longer.
                if begin < held or end == len(data):
                    join(found, (start + begin, start + stop))
            start += held
        return found

    def look(self, data: bytes) -> tuple[list[Span], int]:
        """Return the spans in `data`, and where the first beginning stands that could still be completed."""
        state = self._root
        states = [state]
        push = states.append
        for byte in data:
            state = state[byte]
            push(state)
        place, alive = len(data), state.open
        while alive:
            place -= 1
            alive = self._before(states[place], data[place], alive)
        return self._covered(states, data), place

    def _covered(self, states: list[_State], data: bytes) -> list[Span]:
        spans: list[Span] = []
        ends = [place for place, state in enumerate(states) if state.ended]
        while ends:
            place = stop = ends.pop()
            inside = states[stop].ended
            while inside:
                place -= 1
                inside = self._before(states[place], data[place], inside, joining=True)
                if inside and ends and ends[-1] == place:
                    ends.pop()
            spans.append((place, stop))
        spans.reverse()
        return spans

    def follow(self, state: _State, byte: int) -> _State:
        """Work out what follows a state, and keep it there."""
        threads = set(self._beginnings.get(byte, ()))
        for thread in state.threads:
            threads.update(self._after(thread, byte))
        self._count()
        following = state[byte] = self._state(frozenset(threads))
        return following

    def _before(self, state: _State, byte: int, after: Threads, *, joining: bool = False) -> Threads:
        """Return the threads of `state` that `byte` leads into `after`.

        Where there are any, `joining` adds those that have ended: their match overlaps the one looked at.
        """
        key = (byte, after, joining)
        known = state.before.get(key)
        if known is None:
            self._count()
            known = frozenset(t for t in state.threads if not after.isdisjoint(self._after(t, byte)))
            if known and joining:
                known |= state.ended
            state.before[key] = known
        return known

    def _after(self, thread: Thread, byte: int) -> list[Thread]:
        number, position, begun = thread
        units = self._spellings[number].units
        if position == len(units):
            return []
        written = begun + bytes((byte,))
        return [
            (number, position + way, b"") if way else (number, position, written)
            for way in units[position].get(written, ())
        ]

    def _state(self, threads: Threads) -> _State:
        state = self._states.get(threads)
        if state is None:
            state = self._states[threads] = _State(self, threads)
        return state

    def _count(self) -> None:
        """Forget what was worked out when it becomes much: a hostile text must not fill the memory."""
        self._made += 1
        if self._made > _KEPT:
            self._made = 0
            for state in list(self._states.values()):
                state.clear()
                state.before.clear()
            self._states = {_NONE: self._root}


def join(spans: list[Span], span: Span) -> None:
    """Add a span that ends behind all of `spans`; those that it overlaps become one with it."""
    begin, stop = span
    while spans and begin < spans[-1][1]:
        before = spans.pop()
        begin, stop = min(begin, before[0]), max(stop, before[1])
    spans.append((begin, stop))
