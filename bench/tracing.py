"""Reads a system call trace: what was on disk when a program started, and when an answer was given."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

CALLS = "execve,fdatasync,fsync,pwrite64,write,writev,sendto"
SYNCS = ("fdatasync", "fsync")
WRITES = ("pwrite64", "write", "writev")
LINE = re.compile(r"^(\d+) +(?:<\.\.\. (\w+) resumed>|(\w+)\()(.*)$")
FILE = re.compile(r"^\d+<([^>]*)>")
TEXT = re.compile(r'^"([^"]*)"')


@dataclass(frozen=True)
class Moment:
    """A program started, or an answer given: the syncs up to here, and the logs with bytes not yet synced."""

    what: str
    syncs: int
    unsynced: tuple[str, ...]


@dataclass
class _File:
    written: int = 0
    synced: int = 0


@dataclass
class _Ledger:
    files: dict[str, _File] = field(default_factory=dict[str, _File])
    syncs: int = 0

    def of(self, path: str) -> _File:
        return self.files.setdefault(path, _File())

    def moment(self, what: str) -> Moment:
        behind = sorted(path for path, file in self.files.items() if file.synced < file.written)
        return Moment(what, self.syncs, tuple(behind))


def traced(argv: Sequence[str], into: Path) -> list[str]:
    """The command line that runs `argv` under a trace. Raises `FileNotFoundError` without strace."""
    strace = shutil.which("strace", path="/usr/local/bin:/usr/bin:/bin")
    if strace is None:
        raise FileNotFoundError("strace is not installed")
    return [
        strace,
        "-f",
        "-y",
        "-qq",
        "-s",
        "256",
        "-e",
        f"trace={CALLS}",
        "-e",
        "signal=none",
        "-o",
        str(into),
        *argv,
    ]


def moments(lines: Iterable[str], *, program: str, answer: str, log: str) -> Iterator[Moment]:
    """Yield, in order, each start of `program` and each write of a text with `answer` in it.

    `log` is how the path of a write-ahead log ends: only those are watched for bytes that are not on disk. A
    sync counts when it has returned, and for what was written before it was called; a start or an answer
    counts when it begins.
    """
    ledger = _Ledger()
    begun: dict[str, tuple[str, str]] = {}  # pid -> the call that has not returned, its arguments
    covered: dict[str, int] = {}  # pid -> writes before the sync that has not returned
    for line in lines:
        found = LINE.match(line)
        if not found:
            continue
        pid, resumed, called, rest = found.groups()
        if resumed:
            call, arguments = begun.pop(pid, (resumed, ""))
        else:
            call, arguments = called, rest
            covered[pid] = _writes(ledger, arguments)
            yield from _begins(ledger, call, arguments, program, answer)
            if rest.endswith("<unfinished ...>"):
                begun[pid] = (call, arguments)
                continue
        _ends(ledger, call, arguments, covered[pid], log)


def _path(arguments: str) -> str:
    found = FILE.match(arguments)
    return found.group(1) if found else ""


def _writes(ledger: _Ledger, arguments: str) -> int:
    file = ledger.files.get(_path(arguments))
    return file.written if file else 0


def _begins(ledger: _Ledger, call: str, arguments: str, program: str, answer: str) -> Iterator[Moment]:
    if call == "execve":
        found = TEXT.match(arguments)
        if found and found.group(1) == program:
            yield ledger.moment("start")
    elif call not in SYNCS and answer in arguments.replace('\\"', '"'):
        yield ledger.moment("answer")


def _ends(ledger: _Ledger, call: str, arguments: str, covered: int, log: str) -> None:
    path = _path(arguments)
    if call in SYNCS:
        ledger.syncs += 1
        if path.endswith(log):
            file = ledger.of(path)
            file.synced = max(file.synced, covered)
    elif call in WRITES and path.endswith(log):
        ledger.of(path).written += 1
