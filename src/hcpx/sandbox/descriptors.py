"""Descriptors that a helper program is handed at its start, and that are closed here once it has them."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self


class Descriptors:
    """A set of descriptors to pass on; leaving the `with` block closes those that were opened for it."""

    def __init__(self) -> None:
        self.passed: list[int] = []
        self._ours: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close what is ours; more than once is fine."""
        while self._ours:
            os.close(self._ours.pop())

    def lend(self, descriptor: int) -> int:
        """Pass on one that stays the caller's."""
        if descriptor not in self.passed:
            self.passed.append(descriptor)
        return descriptor

    def keep(self, descriptor: int) -> int:
        """Close one here afterwards, without passing it on."""
        self._ours.append(descriptor)
        return descriptor

    def give(self, descriptor: int) -> int:
        """Pass on one that is closed here afterwards."""
        return self.lend(self.keep(descriptor))

    def content(self, data: bytes) -> int:
        """Pass on a memory file, ready to be read from its beginning. Used up by one reading."""
        descriptor = self.give(os.memfd_create("hcpx"))
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    def folder(self, path: str) -> int:
        """Open a directory without following a link at its end; not passed on yet. Raises OSError."""
        return self.keep(os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC))

    def path(self, path: str) -> int:
        """Open a file or directory without following a link at its end; not passed on yet. Raises OSError."""
        return self.keep(os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC))
