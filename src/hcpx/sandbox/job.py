"""What the sandbox is asked to run and how that ended: between adapters and backends (Spec 04)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

import msgspec

from hcpx.vocabulary.invocation import Cancel, Contact, Enforced, OpenDirectory, Program
from hcpx.vocabulary.policy import Limits


class PrivateFile(msgspec.Struct, frozen=True):
    """A 0600 file in the private temporary directory; its path is put into the variable `env`."""

    name: str
    content: bytes
    env: str

    def __repr__(self) -> str:
        """Name the file, never its content."""
        return f"PrivateFile({self.name!r}, ...)"


class Job(msgspec.Struct, frozen=True):
    """One program to run, fully decided: nothing here is looked up again.

    `argv` is what the program gets behind its own name. `env` is the whole environment but for `HOME`,
    `TMPDIR` and the variables of private files, which the backend sets to the private places that it makes.
    `directory` is the working directory (opened); it is writable where `writable` is true.
    `read_only` are further paths the child may see. `network` lists `host` or `host:port`; empty means none.
    Of each stream the first `keep` bytes come back; the rest is read, counted and dropped. `on_output` gets
    raw bytes as they come.
    """

    program: Program
    name: str
    argv: tuple[str, ...]
    env: dict[str, str]
    pack_root: str
    directory: OpenDirectory
    writable: bool
    limits: Limits
    keep: int
    cancel: Cancel
    network: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    files: tuple[PrivateFile, ...] = ()
    on_output: Callable[[str, bytes], None] | None = None

    def __repr__(self) -> str:
        """Name the program, never its arguments or environment."""
        return f"Job({self.name!r}, ...)"


class Ended(msgspec.Struct, frozen=True):
    """How a started program ended.

    `exit_code` is its status, 128+N for signal N; 124 after a timeout, 130 cancelled.
    """

    how: Literal["exit", "timeout", "cancelled"]
    exit_code: int
    stdout: bytes
    stderr: bytes
    stdout_size: int
    stderr_size: int
    enforced: Enforced
    warnings: tuple[str, ...] = ()
    network: tuple[Contact, ...] = ()

    def __repr__(self) -> str:
        """Tell the end, never the output: it is not redacted yet."""
        return f"Ended({self.how!r}, {self.exit_code})"


class NotStarted(msgspec.Struct, frozen=True):
    """Why nothing was started: `not_executable` (the reason names what is wrong) or `sandbox_unavailable`."""

    code: Literal["not_executable", "sandbox_unavailable"]
    why: str


class Backend(Protocol):
    """One way to run a job."""

    name: str

    def run(self, job: Job) -> Ended | NotStarted:
        """Run the job to its end: streams drained, limits held, nothing of its tree alive afterwards."""
        ...

    def enforced(self, job: Job) -> Enforced:
        """Say what would hold for this job, without starting anything."""
        ...

    def close(self) -> None:
        """Give back what is kept ready or on record, once nothing runs any more."""
        ...

    def can_mock(self) -> bool:
        """Tell whether no network and an ephemeral workspace can be guaranteed (Spec 01 section 3, mock)."""
        ...
