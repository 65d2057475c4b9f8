"""The primary backend: bubblewrap, with our own seccomp program and our own gate inside (Spec 04)."""

from __future__ import annotations

import os
import platform
import threading
from typing import TYPE_CHECKING, Final

import msgspec

from hcpx.sandbox import cgroup, identity, interpreter, spawn, view
from hcpx.sandbox.etc_files import EtcFiles
from hcpx.sandbox.identity import Identity
from hcpx.sandbox.job import Ended, Job, NotStarted
from hcpx.sandbox.journal import Journal
from hcpx.sandbox.seccomp import assemble
from hcpx.vocabulary.invocation import Enforced

from . import bubblewrap_policy as policy
from .gate import Gate, command
from .handover import Handover
from .inside import Inside, Record
from .staging import Stage, on_own_thread

if TYPE_CHECKING:
    from .outlet import Outlet

_SETPRIV: Final = "/usr/bin/setpriv"
_TOO_LONG: Final = "argument list too long"
_MESSAGE: Final = 500


class Machine(msgspec.Struct, frozen=True):
    """What this backend needs to know of the machine.

    `private` holds the folders (real paths) of the runtime's private directories, `nobody` is the uid that
    these get where the runtime is root. `proc`: a fresh /proc can be mounted inside; else there is none.
    """

    bwrap: str
    private: tuple[str, ...]
    nobody: int = -1
    bind_fd: bool = True
    proc: bool = True
    sites: cgroup.Sites = cgroup.Sites()


class Bubblewrap:
    """Runs each job in a sandbox of its own. Jobs may run at the same time, each on its own thread.

    The thread that starts one waits for its end: bubblewrap would kill the sandbox of a thread that goes
    away.
    """

    name = "bubblewrap"

    def __init__(self, machine: Machine, journal: Journal) -> None:
        self._machine = machine
        self._journal = journal
        self._filter = assemble("aarch64" if platform.machine() == "aarch64" else "x86_64")
        self._base = policy.base(proc=machine.proc)
        self._etc_files = EtcFiles()
        self._making_over = threading.Lock()

    def close(self) -> None:
        """Take the record of this runtime away."""
        self._journal.close()

    def can_mock(self) -> bool:
        """Tell that no network and an ephemeral workspace hold here."""
        return True

    def enforced(self, job: Job) -> Enforced:
        """Name what holds; paths are those inside. Without a cgroup, memory is each process's own."""
        place = self._place(job)
        memory = "memory_mb" if self._machine.sites.bounds(cgroup.MEMORY) else "memory_mb_per_process"
        writable = (place.path,) if policy.is_writable(job, place) else ()
        limits: dict[str, float] = {
            "timeout_s": job.limits.timeout_s,
            "output_bytes": job.limits.output_bytes,
            memory: job.limits.memory_mb,
            "processes": job.limits.processes,
            "files": job.limits.files,
            "file_mb": job.limits.file_mb,
        }
        network = f"proxy: {', '.join(job.network)}" if job.network else "none"
        return Enforced(self.name, network, (*writable, view.TEMPORARY, view.HOME), limits)

    def run(self, job: Job) -> Ended | NotStarted:
        """Run a job to its end (Spec 04)."""
        if job.directory.fd < 0:
            return NotStarted("not_executable", job.directory.problem or "working directory gone")
        job = msgspec.structs.replace(job, pack_root=os.path.realpath(job.pack_root))
        place = self._place(job)
        who = identity.of(place, job.directory.fd, self._machine.nobody)
        trouble = self._trouble(job, who)
        if trouble is not None:
            return trouble
        try:
            outlet = _outlet(job)
        except ValueError as error:
            return NotStarted("sandbox_unavailable", f"the network list: {error}")
        return self._run(job, place, who, outlet)

    def _run(self, job: Job, place: view.Place, who: Identity, outlet: Outlet | None) -> Ended | NotStarted:
        name = cgroup.new_name()
        run = group = gate = inside = None
        try:
            gate = Gate()
            if who.drop and place.private:
                with self._making_over:
                    identity.make_over(job.directory.fd, who)
            run = self._journal.begin(stdin=gate.inode, groups=cgroup.folders(self._machine.sites, name))
            group = cgroup.make(self._machine.sites, name, job.limits)
            with Inside(gate, group, Record(self._journal, run), job.cancel, outlet) as inside:
                return self._confined(job, place, who, inside)
        except OSError as error:
            if inside is not None and inside.has_begun:
                raise
            return unavailable(error)
        finally:
            if gate is not None:
                gate.close()
            if outlet is not None:
                outlet.close()
            if group is not None:
                group.remove()
            if run is not None:
                self._journal.done(run)

    def _place(self, job: Job) -> view.Place:
        return view.place(job.directory.path, os.path.realpath(job.pack_root), self._machine.private)

    def _trouble(self, job: Job, who: Identity) -> NotStarted | None:
        if who.is_root and not self._machine.sites.bounds(cgroup.PIDS):
            why = "the working directory is root's, and without a pids cgroup nothing would bound its processes"
            return NotStarted("sandbox_unavailable", f"{why}: give it to another user, or mount the pids controller")
        texts = [job.name, *job.argv, *job.env, *job.env.values(), *job.read_only, *(file.env for file in job.files)]
        why = view.misnamed([file.name for file in job.files], texts)
        if why is None:
            why = interpreter.problem(job.program.path, job.read_only) or identity.unreadable(job.program.path, who)
        return NotStarted("not_executable", why) if why is not None else None

    def _confined(self, job: Job, place: view.Place, who: Identity, inside: Inside) -> Ended | NotStarted:
        stage = Stage() if who.drop else None
        with Handover(stage, bind_fd=self._machine.bind_fd) as pass_on:
            arguments = policy.arguments(job, place, who, pass_on, self._etc_files.now())
            if isinstance(arguments, policy.Refused):
                return NotStarted("sandbox_unavailable", arguments.why)
            arguments = [*self._base, *arguments, *inside.variables()]
            told = pass_on.give(inside.status_writer())
            arguments += ["--json-status-fd", str(told), "--seccomp", str(pass_on.content(self._filter))]
            listed = pass_on.content(b"".join(_bytes(part) + b"\0" for part in arguments))
            argv = [*self._as(who), self._machine.bwrap, "--args", str(listed), "--"]
            argv += command(
                job.limits,
                (policy.program(job), *job.argv),
                data=cgroup.MEMORY not in inside.group.controllers,
                processes=not who.is_root,
            )
            start = spawn.Command(
                executable=argv[0],
                argv=tuple(argv),
                env={},
                timeout_s=job.limits.timeout_s,
                keep=job.keep,
                cancel=job.cancel,
                stdin=inside.gate.stdin,
                pass_fds=tuple(pass_on.passed),
                on_output=job.on_output,
            )
            inside.on_start(pass_on.close)
            return self._judged(job, inside, _started(start, inside, stage, job))

    def _judged(self, job: Job, inside: Inside, finished: spawn.Finished | NotStarted) -> Ended | NotStarted:
        if isinstance(finished, NotStarted):
            if finished.code == "not_executable" and finished.why != _TOO_LONG:
                return NotStarted("sandbox_unavailable", f"{self._machine.bwrap}: {finished.why}")
            return finished
        verdict = inside.gate.verdict()
        said = finished.stderr.decode("utf-8", "replace").strip()[:_MESSAGE]
        if verdict == "not executed":
            return NotStarted("not_executable", said.rsplit(": ", 1)[-1] or "cannot be executed")
        if verdict == "shut" and finished.how != "cancelled":
            if said.endswith("Argument list too long"):
                return NotStarted("not_executable", _TOO_LONG)
            return NotStarted("sandbox_unavailable", said or "the sandbox ended before its program began")
        ended = finished.ended(self.enforced(job))
        contacts = inside.contacts()
        refused = tuple(f"network: {one.host}:{one.port}: {one.refused}" for one in contacts if one.refused)
        return msgspec.structs.replace(ended, network=contacts, warnings=(*ended.warnings, *refused))

    def _as(self, who: Identity) -> list[str]:
        if not who.drop:
            return []
        ids = [f"--reuid={who.uid}", f"--regid={who.gid}"]
        return [_SETPRIV, *ids, "--clear-groups", "--inh-caps=-all", "--"]


def _started(start: spawn.Command, inside: Inside, stage: Stage | None, job: Job) -> spawn.Finished | NotStarted:
    if stage is None:
        return spawn.run(start, inside)

    def staged() -> spawn.Finished | NotStarted:
        try:
            stage.mount()
        finally:
            stage.close()
        return spawn.run(start, inside)

    try:
        return on_own_thread(staged, interrupted=job.cancel.cancel)
    finally:
        stage.close()  # where its thread never began


def _outlet(job: Job) -> Outlet | None:
    if not job.network:
        return None
    from .outlet import Outlet  # it loads what no other job needs

    return Outlet(job.network)


def unavailable(error: OSError) -> NotStarted:
    """Return why nothing was started where the machine would not do something."""
    where = f"{error.filename}: " if isinstance(error.filename, str) else ""
    return NotStarted("sandbox_unavailable", where + (error.strerror or "input or output failed"))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
