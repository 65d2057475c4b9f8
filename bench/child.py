"""The measured side of a worker: runs inside a peer's own interpreter, standard library only.

A worker reads one number a line, makes that many calls, times each alone, checks each answer, and answers one
line of JSON: the nanoseconds. With `once` it makes a single call and exits, for the cost of a cold start.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterable
from time import perf_counter_ns
from typing import NamedTuple, TextIO

TRUE = "/bin/true"
Tool = Callable[[str], dict[str, str]]


class Caller(NamedTuple):
    """One way to call the tool: `call` or `acall`, how a good answer looks, how many calls are on record."""

    call: Callable[[], object] | None
    right: Callable[[object], bool]
    records: Callable[[], int] | None = None
    acall: Callable[[], Awaitable[object]] | None = None


def echo(text: str) -> dict[str, str]:
    """The tool that does nothing but answer."""
    return {"echo": text}


def spawn(text: str) -> dict[str, str]:
    """The tool that runs a program and keeps both its streams."""
    done = subprocess.run([TRUE], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return {"echo": text + done.stdout.decode()}


def spawn_apart(text: str) -> dict[str, str]:
    """The same in a session of its own, which a sandbox owes and the scheduler treats as another group."""
    done = subprocess.run([TRUE], stdin=subprocess.DEVNULL, capture_output=True, check=True, start_new_session=True)
    return {"echo": text + done.stdout.decode()}


TOOLS = {"echo": echo, "spawn": spawn, "spawn_apart": spawn_apart}


def main(build: Callable[[Tool], Caller]) -> None:
    """Serve the tool of `TOOLS` that the command line names, for one call only if it says `once`."""
    serve(lambda: build(TOOLS[sys.argv[1]]))


def serve(build: Callable[[], Caller]) -> None:
    """Take orders until there are no more."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints is no answer
    caller = build()
    book = _Book(caller, answers)
    if caller.call is not None:
        _serve(caller.call, book)
    elif caller.acall is not None:
        asyncio.run(_aserve(caller.acall, book))


def _orders() -> Iterable[int | str]:
    return [1] if sys.argv[2:] == ["once"] else sys.stdin


def _serve(call: Callable[[], object], book: _Book) -> None:
    for order in _orders():
        taken, results = [], []
        for _ in range(int(order)):
            start = perf_counter_ns()
            result = call()
            taken.append(perf_counter_ns() - start)
            results.append(result)
        book.answer(taken, results)


async def _aserve(call: Callable[[], Awaitable[object]], book: _Book) -> None:
    for order in _orders():
        taken, results = [], []
        for _ in range(int(order)):
            start = perf_counter_ns()
            result = await call()
            taken.append(perf_counter_ns() - start)
            results.append(result)
        book.answer(taken, results)


class _Book:
    """Checks each batch, answers and records, before it is reported."""

    def __init__(self, caller: Caller, answers: TextIO) -> None:
        self._caller = caller
        self._answers = answers
        self._recorded = caller.records() if caller.records else 0

    def answer(self, taken: list[int], results: list[object]) -> None:
        """Report a batch, or what is wrong with it and end."""
        wrong = [result for result in results if not self._caller.right(result)]
        grown = self._growth() if self._caller.records else len(taken)
        reply: dict[str, object] = {"ns": taken}
        if wrong:
            reply = {"error": f"{len(wrong)} wrong answers, the first: {wrong[0]!r}"[:500]}
        elif grown != len(taken):
            reply = {"error": f"{len(taken)} calls left {grown} records"}
        print(json.dumps(reply), file=self._answers)
        if "error" in reply:
            sys.exit(1)

    def _growth(self) -> int:
        before, self._recorded = self._recorded, self._caller.records() if self._caller.records else 0
        return self._recorded - before
