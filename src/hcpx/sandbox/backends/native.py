"""Runs a program without isolation: the operator's own choice, never a fallback (Spec 04 section 1).

The clean environment, the limits as far as the kernel holds them for a single program, and the end of the
whole tree hold here too; files, network and other processes are as open to the program as to the user who
runs it.
"""

from __future__ import annotations

import os
from typing import Final

from msgspec.structs import replace

from hcpx.sandbox import limits
from hcpx.sandbox.job import Ended, Job, NotStarted, PrivateFile
from hcpx.sandbox.private import PrivateFolders
from hcpx.sandbox.spawn import Care, Command, Finished, run
from hcpx.vocabulary.invocation import Enforced
from hcpx.vocabulary.policy import Limits

HOME: Final = "home"
TMP: Final = "tmp"
_LEFT_OVER: Final = "its private folder could not be removed whole"


class Native:
    """Starts programs as they are. Their private folders are made below `folder`."""

    name = "native-local"

    def __init__(self, folder: str) -> None:
        self._folders = PrivateFolders(folder, (HOME, TMP))

    def run(self, job: Job) -> Ended | NotStarted:
        """Run the job to its end: streams drained, limits held, nothing of its tree alive afterwards."""
        refusal = limits.refusal(job.limits, job.program.path)
        if refusal is not None:
            return NotStarted("sandbox_unavailable", refusal)
        try:
            private = self._folders.take()
        except OSError as problem:
            return _no_folder(problem)
        care = _Limited(job.limits)
        removed = False
        try:
            finished = self._run(job, private.path, care)
        finally:
            removed = self._folders.give_back(private)
        if isinstance(finished, NotStarted):
            return finished
        ended = finished.ended(_enforced(care.held))
        return ended if removed else replace(ended, warnings=(*ended.warnings, _LEFT_OVER))

    def _run(self, job: Job, private: str, care: Care) -> Finished | NotStarted:
        home, tmp = f"{private}/{HOME}", f"{private}/{TMP}"
        try:
            files = _written(job.files, tmp)
        except OSError as problem:
            return _no_folder(problem)
        return run(
            Command(
                executable=job.program.path,
                argv=(job.name, *job.argv),
                # The pack may set HOME and TMPDIR (`unsafe_env`), so these come first.
                env={"HOME": home, "TMPDIR": tmp, **job.env, **files},
                timeout_s=job.limits.timeout_s,
                keep=job.keep,
                cancel=job.cancel,
                directory=job.directory.fd,
                on_output=job.on_output,
                mark=private,
            ),
            care,
        )

    def enforced(self, job: Job) -> Enforced:
        """Say what would hold for this job, without starting anything."""
        return _enforced(limits.holding(job.limits))

    def can_mock(self) -> bool:
        """Tell that nothing here keeps a program off the network."""
        return False

    def close(self) -> None:
        """Remove the private folders that are kept to be used again."""
        self._folders.close()


class _Limited(Care):
    """Puts the limits on as soon as the program has started."""

    def __init__(self, wanted: Limits) -> None:
        self._wanted = wanted
        self.held = limits.holding(wanted)
        self._first = True

    def put_on(self, pid: int) -> str | None:
        """Put the limits on; one that was asked for and cannot be had ends the program."""
        held = limits.put_on(pid, self._wanted)
        if not self._first:
            return None
        self._first = False
        self.held = held
        missing = [name for name in limits.BY_KERNEL if name in self._wanted.asked and name not in self.held]
        return f"the limit {missing[0]} cannot be put on a program here" if missing else None


def _enforced(held: dict[str, float]) -> Enforced:
    return Enforced(sandbox=Native.name, network="unrestricted", writable=("/",), limits=held)


def _written(files: tuple[PrivateFile, ...], folder: str) -> dict[str, str]:
    """Write the private files, and return the variables that lead to them."""
    found: dict[str, str] = {}
    for file in files:
        path = os.path.join(folder, file.name)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(fd, "wb") as stream:
            stream.write(file.content)
        found[file.env] = path
    return found


def _no_folder(problem: OSError) -> NotStarted:
    return NotStarted("sandbox_unavailable", f"no private folder: {os.strerror(problem.errno or 0)}")
