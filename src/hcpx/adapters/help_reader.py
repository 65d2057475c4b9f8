"""Runs a program for its `--help` (`hcpx pack new --from-help`): empty folder, clean environment, limits."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from typing import Final, Self

from hcpx.sandbox.backends.native import Native
from hcpx.sandbox.environment import Environments
from hcpx.sandbox.job import Ended, Job
from hcpx.sandbox.workspace import Folders
from hcpx.vocabulary.invocation import Cancel, Program
from hcpx.vocabulary.policy import Limits

_LIMITS: Final = Limits(timeout_s=10, output_bytes=1024 * 1024, memory_mb=1024, processes=64, file_mb=1)
_ALL_S: Final = 60.0


class HelpReader:
    """Asks one program for its help texts, in a folder of its own that is gone at the end of the block."""

    def __init__(self, path: str, search_path: str, locale: Mapping[str, str], cancel: Cancel) -> None:
        self._path = path
        self._environments = Environments(search_path, locale)
        self._cancel = cancel
        self._deadline = time.monotonic() + _ALL_S

    def __enter__(self) -> Self:
        self._place = tempfile.mkdtemp(prefix="hcpx-help-")
        self._work = os.path.join(self._place, "work")
        os.mkdir(self._work, 0o700)
        self._native = Native(os.path.join(self._place, "calls"))
        return self

    def __exit__(self, *_: object) -> None:
        self._native.close()
        shutil.rmtree(self._place, ignore_errors=True)

    def text(self, words: tuple[str, ...] = ()) -> str | None:
        """Return what `PROGRAM WORDS --help` prints, None where it prints nothing or may not be started."""
        left = self._deadline - time.monotonic()
        if left <= 0 or self._cancel.cancelled:
            return None
        directory = Folders().open(self._work)
        try:
            ended = self._native.run(
                Job(
                    program=Program(self._path),
                    name=os.path.basename(self._path),
                    argv=(*words, "--help"),
                    env=self._environments.of({}, {}, {"HCP_SANDBOX": self._native.name}),
                    pack_root=self._work,
                    directory=directory,
                    writable=True,
                    limits=_LIMITS,
                    keep=_LIMITS.output_bytes,
                    cancel=self._cancel,
                )
            )
        finally:
            directory.close()
        if not isinstance(ended, Ended) or ended.how != "exit":
            return None
        # Some print their help on stderr, and some end with a status that is not 0.
        printed = ended.stdout if ended.stdout.strip() else ended.stderr
        return printed.decode("utf-8", "replace") if printed.strip() else None
