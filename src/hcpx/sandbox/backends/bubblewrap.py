"""The primary backend: bubblewrap, with our own seccomp program and our own gate inside (Spec 04)."""

from __future__ import annotations

import contextlib
import os
import platform
import threading
from typing import Final

import msgspec

from hcpx.sandbox import cgroup, identity, interpreter, spawn, view
from hcpx.sandbox.capture import Capture
from hcpx.sandbox.descriptors import Descriptors
from hcpx.sandbox.follow import follow
from hcpx.sandbox.identity import Identity
from hcpx.sandbox.job import Ended, Job, NotStarted
from hcpx.sandbox.journal import Journal
from hcpx.sandbox.seccomp import assemble
from hcpx.vocabulary.invocation import Enforced

from . import bubblewrap_policy as policy
from .gate import Gate, command
from .inner import Namespace, first_process

_SETUP_S: Final = 10.0
_END_S: Final = 5.0
_PIPES_S: Final = 0.5
_SETPRIV: Final = "/usr/bin/setpriv"


class Machine(msgspec.Struct, frozen=True):
    """What this backend needs to know of the machine: found once per boot by the self-test."""

    bwrap: str
    nobody: int
    private: str
    sites: cgroup.Sites


class Bubblewrap:
    """Runs each job in a sandbox of its own. Jobs may run at the same time, each on its own thread.

    The thread that calls `run` waits there for the end: bubblewrap would kill the sandbox of a thread that goes away.
    """

    name = "bubblewrap"

    def __init__(self, machine: Machine, journal: Journal) -> None:
        self._machine = machine
        self._journal = journal
        self._filter = assemble("aarch64" if platform.machine() == "aarch64" else "x86_64")
        self._made_over = threading.Lock()

    def can_mock(self) -> bool:
        """No network and an ephemeral workspace are what this backend gives to every job that asks for no more."""
        return True

    def enforced(self, job: Job) -> Enforced:
        """Name what holds: paths are those inside."""
        place = self._place(job)
        limits = job.limits
        held: dict[str, float] = {
            "timeout_s": limits.timeout_s,
            "output_bytes": job.keep,
            "processes": limits.processes,
            "files": limits.files,
            "file_mb": limits.file_mb,
        }
        held["memory_mb" if self._bounds(cgroup.MEMORY) else "memory_mb_each_process"] = limits.memory_mb
        writable = (place.path,) if policy.is_writable(job, place) else ()
        return Enforced(self.name, "none", (*writable, view.TEMPORARY, view.HOME), held)

    def run(self, job: Job) -> Ended | NotStarted:
        """Run a job to its end (Spec 04)."""
        place = self._place(job)
        who = identity.of(place, job.directory.fd, self._machine.nobody)
        trouble = self._trouble(job, who)
        if trouble is not None:
            return trouble
        try:
            if who.drop and place.private:
                with self._made_over:
                    identity.make_over(job.directory.fd, who)
            group = cgroup.make(self._machine.sites, str(id(job)), job.limits)
        except OSError as error:
            return NotStarted("sandbox_unavailable", f"{error.filename or 'a directory'}: {error.strerror}")
        try:
            return self._confined(job, place, who, group)
        finally:
            group.remove()

    def _place(self, job: Job) -> view.Place:
        return view.place(job.directory.path, job.pack_root, self._machine.private)

    def _bounds(self, controller: str) -> bool:
        return self._machine.sites.bounds(controller)

    def _trouble(self, job: Job, who: Identity) -> NotStarted | None:
        if job.directory.fd < 0:
            return NotStarted("not_executable", job.directory.problem or "working directory missing")
        if job.network:
            return NotStarted("sandbox_unavailable", "no network list here yet")
        if who.is_root and not self._bounds(cgroup.PIDS):
            why = "the working directory is root's, and without a pids cgroup nothing would bound its processes"
            return NotStarted("sandbox_unavailable", f"{why}: give the directory to another user, or mount cgroups")
        why = interpreter.problem(job.program.path, job.read_only)
        return NotStarted("not_executable", why) if why is not None else None

    def _confined(self, job: Job, place: view.Place, who: Identity, group: cgroup.Group) -> Ended | NotStarted:
        gate = Gate()
        status, status_theirs = os.pipe2(os.O_CLOEXEC)
        run = self._journal.begin(stdin=os.fstat(gate.stdin).st_ino, groups=group.folders)
        try:
            with Descriptors() as pass_on:
                pass_on.give(status_theirs)
                arguments = policy.arguments(job, place, who, pass_on)
                if isinstance(arguments, policy.Refused):
                    return NotStarted("sandbox_unavailable", arguments.why)
                arguments += ["--json-status-fd", str(status_theirs), "--seccomp", str(pass_on.content(self._filter))]
                listed = pass_on.content(b"".join(os.fsencode(part) + b"\0" for part in arguments))
                inside = command(
                    job.limits,
                    (policy.program(job), *job.argv),
                    data=cgroup.MEMORY not in group.controllers,
                    processes=not who.is_root,
                )
                argv = [*_as(who), self._machine.bwrap, "--args", str(listed), "--", *inside]
                out, out_theirs = os.pipe2(os.O_CLOEXEC)
                err, err_theirs = os.pipe2(os.O_CLOEXEC)
                pass_on.give(out_theirs)
                pass_on.give(err_theirs)
                child = spawn.start(argv, env={}, stdin=gate.stdin, stdout=out_theirs, stderr=err_theirs, pass_fds=pass_on.passed)
            gate.handed_over()
            return self._attend(job, child, gate, status, Capture(out, err, job.keep, job.on_output), group, run)
        finally:
            gate.close()
            os.close(status)
            self._journal.done(run)

    def _attend(self, job: Job, child, gate: Gate, status: int, capture: Capture, group: cgroup.Group, run: int) -> Ended | NotStarted:
        first = first_process(status, child.pid, _SETUP_S)
        pidfd = os.pidfd_open(child.pid)
        if first is None:
            child.kill()
            child.wait()
            capture.rest(0.5)
            return NotStarted("sandbox_unavailable", capture.stderr.decode(errors="replace").strip()[:500])
        space = Namespace(first)
        try:
            with contextlib.suppress(ProcessLookupError):
                group.take(first)
                for pid in inner_children(first):
                    group.take(pid)
            self._journal.started(run, child.pid, first)
            gate.open()
            how = follow(job, capture, pidfd, space.ask, space.kill)
            space.kill()
            space.gone(_END_S)
            code = child.wait()
            capture.rest(_PIPES_S)
            verdict = gate.verdict()
        finally:
            space.close()
            os.close(pidfd)
        stdout_size, stderr_size = capture.sizes
        if verdict == "shut" and how == "exit":
            return NotStarted("sandbox_unavailable", capture.stderr.decode(errors="replace").strip()[:500] or "gate shut")
        if verdict == "not executed":
            return NotStarted("not_executable", capture.stderr.decode(errors="replace").strip()[:200])
        exit_code = {"timeout": 124, "cancelled": 130}.get(how, code)
        return Ended(how, exit_code, capture.stdout, capture.stderr, stdout_size, stderr_size, self.enforced(job))


from .inner import children_of as inner_children


def _as(who: Identity) -> list[str]:
    if not who.drop:
        return []
    return [_SETPRIV, f"--reuid={who.uid}", f"--regid={who.gid}", "--clear-groups", "--inh-caps=-all", "--"]
