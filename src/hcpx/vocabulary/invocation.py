"""What an Adapter gets and gives back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from .binding import Binding
from .denial import ApprovalTicket, Cause
from .envelope import Envelope
from .pack import Command, Pack
from .policy import PolicyRow
from .principal import Session

OnOutput = Callable[[str, bytes], None]
"""Called with `stdout` or `stderr` and redacted bytes, while the program runs."""


class Cancel:
    """A handle that ends a running call: `cancel()` may come from any thread, at any time, more than once."""

    def __init__(self) -> None:
        self.cancelled = False
        self._wakers: list[Callable[[], None]] = []

    def cancel(self) -> None:
        """Ask the running call to end; it answers `cancelled`."""
        self.cancelled = True
        for wake in tuple(self._wakers):
            wake()

    def on_cancel(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Have `wake` called at `cancel()` (at once where that has happened); returns what takes it back."""
        self._wakers.append(wake)
        if self.cancelled:
            wake()
        return lambda: self._wakers.remove(wake)


class OpenDirectory(Protocol):
    """A working directory that step 2 opened, no symlink followed.

    `fd` is -1 where it could not be opened, and `problem` then says why.
    """

    @property
    def path(self) -> str:
        """The directory's real path."""
        ...

    @property
    def fd(self) -> int:
        """The open descriptor."""
        ...

    @property
    def problem(self) -> str | None:
        """Why there is no descriptor."""
        ...

    def close(self) -> None:
        """Close the descriptor; more than once is fine."""
        ...


class Program(msgspec.Struct, frozen=True):
    """What an Adapter would start: its real path (empty where in-process) and its content's digest."""

    path: str = ""
    digest: str = ""


class Enforced(msgspec.Struct, frozen=True):
    """What really held while the program ran (Spec 01 section 4)."""

    sandbox: str
    network: str
    writable: tuple[str, ...]
    limits: dict[str, int | float]


class Contact(msgspec.Struct, frozen=True):
    """A host that the program wanted to reach, how often, and why it was refused (None: let through)."""

    host: str
    port: int
    refused: str | None
    times: int


class Target(msgspec.Struct, frozen=True):
    """A command with its effective row, for a session: what availability, approvals and explain look at."""

    pack: Pack
    command: Command
    row: PolicyRow
    session: Session


class Invocation(msgspec.Struct, frozen=True):
    """One permitted call, ready to run: only step 6 makes one."""

    pack: Pack
    command: Command
    row: PolicyRow
    session: Session
    envelope: Envelope
    argv: tuple[str, ...]
    binding: Binding
    mock: bool
    directory: OpenDirectory | None
    audit_id: str
    invoker: str
    depth: int
    cancel: Cancel
    on_output: OnOutput | None = None
    native_local: bool = False


class Ran(msgspec.Struct, frozen=True):
    """How a started call ended. `code` and `error` are None exactly where it succeeded.

    `value` is msgspec.UNSET where there is none. Streams are redacted text, with the exact (redacted)
    bytes beside them where they are not UTF-8. `output_sizes` and `contacts` are for the audit.
    """

    value: object = msgspec.UNSET
    code: str | None = None
    error: str | None = None
    exit_code: int | None = None
    stdout: str | None = None
    stderr: str | None = None
    stdout_bytes: bytes | None = None
    stderr_bytes: bytes | None = None
    truncated: tuple[str, ...] = ()
    enforced: Enforced | None = None
    cause: Cause | None = None
    approval: ApprovalTicket | None = None
    hint: str | None = None
    warnings: tuple[str, ...] = ()
    started: bool = True
    output_sizes: dict[str, int] = {}
    contacts: tuple[Contact, ...] = ()
