"""The fallback where user namespaces are forbidden: Landlock and seccomp, from a helper (Spec 04).

Weaker than bubblewrap, and it says so: no private view of files (their names and metadata can be seen),
temporary files on the disk, no network at all, the machine's name visible. What it cannot promise, it
refuses.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import select
import socket
import sys
import threading
from typing import Any, Final

import msgspec

from hcpx.sandbox import cgroup, identity, interpreter, spawn, view
from hcpx.sandbox.descriptors import Descriptors
from hcpx.sandbox.identity import Identity
from hcpx.sandbox.job import Ended, Job, NotStarted
from hcpx.sandbox.journal import Journal
from hcpx.sandbox.private import PrivateFolder, PrivateFolders
from hcpx.sandbox.seccomp import assemble
from hcpx.sandbox.tree import Tree
from hcpx.vocabulary.invocation import Cancel, Enforced

from .bubblewrap import Machine, unavailable
from .inside import Record
from .staging import Stage, on_own_thread

ABI: Final = 6
"""The first with scopes: without them a program could signal any process of its user."""

_HELPER: Final = os.path.join(os.path.dirname(__file__), "landlock_helper.py")
_READ: Final = (
    "/usr",
    *(f"/{name}" for name in view.SYSTEM),
    *(f"/etc/{name}" for name in (*view.ETC, *view.ETC_FILES)),
)
_READ_PROC: Final = ("/proc/cpuinfo", "/proc/meminfo", "/proc/filesystems")
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_HOME, _TMP, _FILES = "home", "tmp", "files"
_END_S: Final = 5.0


def abi() -> int:
    """Return the kernel's Landlock ABI, 0 where it has none or it is switched off."""
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, libc.syscall(ctypes.c_long(444), None, ctypes.c_long(0), ctypes.c_long(1)))


class Landlock:
    """Runs each job behind a helper of its own. Private folders are made below `folder`."""

    name = "landlock"

    def __init__(self, machine: Machine, journal: Journal, folder: str) -> None:
        self._machine = machine
        self._journal = journal
        self._folders = PrivateFolders(folder, (_HOME, _TMP, _FILES))
        self._filter = assemble("aarch64" if platform.machine() == "aarch64" else "x86_64", namespaces=False)
        self._making_over = threading.Lock()

    def close(self) -> None:
        """Remove the private folders and the record of this runtime."""
        self._folders.close()
        self._journal.close()

    def can_mock(self) -> bool:
        """Tell that no network and an ephemeral workspace hold here."""
        return True

    def enforced(self, job: Job) -> Enforced:
        """Name what holds. The number of processes is the user's own where no cgroup can be had."""
        sites = self._machine.sites
        place = view.place(job.directory.path, os.path.realpath(job.pack_root), self._machine.private)
        limits: dict[str, float] = {
            "timeout_s": job.limits.timeout_s,
            "output_bytes": job.limits.output_bytes,
            "memory_mb" if sites.bounds(cgroup.MEMORY) else "memory_mb_per_process": job.limits.memory_mb,
            "processes" if sites.bounds(cgroup.PIDS) else "processes_of_user": job.limits.processes,
            "files": job.limits.files,
            "file_mb": job.limits.file_mb,
        }
        writable = (place.path,) if job.writable and not place.pack else ()
        return Enforced(self.name, "none", (*writable, "$TMPDIR", "$HOME"), limits)

    def run(self, job: Job) -> Ended | NotStarted:
        """Run a job to its end (Spec 04)."""
        if job.directory.fd < 0:
            return NotStarted("not_executable", job.directory.problem or "working directory gone")
        if job.network:
            why = "a network list needs user namespaces, and here is only Landlock"
            return NotStarted("sandbox_unavailable", why)
        job = msgspec.structs.replace(job, pack_root=os.path.realpath(job.pack_root))
        place = view.place(job.directory.path, job.pack_root, self._machine.private)
        who = identity.of(place, job.directory.fd, self._machine.nobody)
        trouble = self._trouble(job, who)
        if trouble is not None:
            return trouble
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            return unavailable(error)
        with ours, theirs:
            return self._run(job, place, who, (ours, theirs))

    def _run(
        self, job: Job, place: view.Place, who: Identity, pair: tuple[socket.socket, socket.socket]
    ) -> Ended | NotStarted:
        ours, theirs = pair
        name = cgroup.new_name()
        run = group = private = care = None
        try:
            if who.drop and place.private:
                with self._making_over:
                    identity.make_over(job.directory.fd, who)
            private = self._folders.take()
            inode = os.fstat(theirs.fileno()).st_ino
            run = self._journal.begin(stdin=inode, groups=cgroup.folders(self._machine.sites, name))
            group = cgroup.make(self._machine.sites, name, job.limits)
            care = _Care(ours, theirs, group, Record(self._journal, run), job.cancel)
            return self._confined(job, place, who, _Rooms(private, who, job), care)
        except OSError as error:
            if care is not None and care.has_begun:
                raise
            return unavailable(error)
        finally:
            if group is not None:
                group.remove()
            if private is not None:
                self._folders.give_back(private)
            if run is not None:
                self._journal.done(run)

    def _trouble(self, job: Job, who: Identity) -> NotStarted | None:
        if who.is_root and not self._machine.sites.bounds(cgroup.PIDS):
            why = "the working directory is root's, and without a pids cgroup nothing would bound its processes"
            return NotStarted("sandbox_unavailable", f"{why}: give it to another user, or mount the pids controller")
        texts = [job.name, *job.argv, *job.env, *job.env.values(), *job.read_only, *(file.env for file in job.files)]
        why = view.misnamed([file.name for file in job.files], texts)
        if why is None:
            why = interpreter.problem(job.program.path, job.read_only) or identity.unreadable(job.program.path, who)
        return NotStarted("not_executable", why) if why is not None else None

    def _confined(self, job: Job, place: view.Place, who: Identity, rooms: _Rooms, care: _Care) -> Ended | NotStarted:
        stage = Stage() if who.drop else None
        with Descriptors() as pass_on:
            order = self._order(job, place, who, rooms, _Ways(pass_on, stage))
            told = pass_on.content(msgspec.json.encode(order))
            argv = (sys.executable, "-I", "-S", _HELPER, str(told), str(pass_on.lend(care.channel)))
            start = spawn.Command(
                executable=sys.executable,
                argv=argv,
                env={},
                timeout_s=job.limits.timeout_s,
                keep=job.keep,
                cancel=job.cancel,
                stdin=care.channel,
                pass_fds=tuple(pass_on.passed),
                on_output=job.on_output,
            )
            return self._judged(job, care, _started(start, care, stage, job))

    def _judged(self, job: Job, care: _Care, finished: spawn.Finished | NotStarted) -> Ended | NotStarted:
        said = care.said()
        if said.startswith(b"no "):
            return NotStarted("not_executable", said[3:].decode("utf-8", "replace"))
        if isinstance(finished, NotStarted):
            return NotStarted("sandbox_unavailable", finished.why)
        if said != b"ok" and finished.how != "cancelled":
            why = finished.stderr.decode("utf-8", "replace").strip().rsplit("\n", 1)[-1][:500]
            return NotStarted("sandbox_unavailable", why or "the helper ended before the program began")
        return finished.ended(self.enforced(job))

    def _order(self, job: Job, place: view.Place, who: Identity, rooms: _Rooms, ways: _Ways) -> dict[str, Any]:
        """Return what the helper is told; paths are as the program will see them."""
        directory = ways.to(job.directory.fd)
        home, tmp, files = (ways.to_path(room) for room in rooms.paths)
        writable = job.writable and not place.pack
        rules: list[tuple[int | str, bool]] = [(path, False) for path in (*_READ, *_READ_PROC) if os.path.exists(path)]
        rules += [(path, True) for path in _DEVICES if os.path.exists(path)]
        pack = ways.to_path(job.pack_root)
        rules += [(directory, writable), (pack, False), (home, True), (tmp, True), (files, False)]
        program = job.program.path
        if view.below(program, job.pack_root):
            program = ways.path(pack, job.pack_root) + program[len(job.pack_root) :]
        elif not view.in_system(program):
            program = ways.path(at := ways.to_path(program), program)
            rules.append((at, False))
        rules += [(ways.to_path(path), False) for path in job.read_only]
        env = {**job.env, "HOME": ways.path(home, rooms.paths[0]), "TMPDIR": ways.path(tmp, rooms.paths[1])}
        env |= {file.env: f"{ways.path(files, rooms.paths[2])}/{file.name}" for file in job.files}
        return {
            "argv": [program, *job.argv],
            "env": env,
            "directory": directory,
            "rules": [{"at": at, "write": write} for at, write in rules],
            "uid": who.uid,
            "gid": who.gid,
            "drop": who.drop,
            "limits": self._limits(job, who),
            "seccomp": self._filter.hex(),
        }

    def _limits(self, job: Job, who: Identity) -> dict[str, int]:
        limits = {
            "RLIMIT_CORE": 0,
            "RLIMIT_FSIZE": job.limits.file_mb << 20,
            "RLIMIT_NOFILE": job.limits.files,
        }
        if not self._machine.sites.bounds(cgroup.MEMORY):
            limits["RLIMIT_DATA"] = job.limits.memory_mb << 20
        if not who.is_root:
            limits["RLIMIT_NPROC"] = _tasks_of(who.uid) + job.limits.processes
        return limits


class _Ways:
    """How the helper reaches things: by descriptor, or by a staged path where it will have another uid."""

    def __init__(self, pass_on: Descriptors, stage: Stage | None) -> None:
        self._pass_on = pass_on
        self._stage = stage

    def to(self, descriptor: int) -> int | str:
        return self._pass_on.lend(descriptor) if self._stage is None else self._stage.add(descriptor)

    def to_path(self, path: str) -> int | str:
        return self.to(self._pass_on.path(path))

    @staticmethod
    def path(way: int | str, path: str) -> str:
        return way if isinstance(way, str) else path


class _Rooms:
    """The private folders of one job, given to its uid, with its private files in one of them."""

    def __init__(self, private: PrivateFolder, who: Identity, job: Job) -> None:
        self.paths = [os.path.join(private.path, room) for room in (_HOME, _TMP, _FILES)]
        made: list[str] = []
        for file in job.files:
            path = os.path.join(self.paths[2], file.name)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            with open(descriptor, "wb") as one:
                one.write(file.content)
            made.append(path)
        if who.drop:
            for path in (*self.paths, *made):
                os.chown(path, who.uid, who.gid, follow_symlinks=False)


class _Care(spawn.Care):
    """What is done at the turns of a run: bound it, write it down, say go, ask, end."""

    def __init__(
        self, ours: socket.socket, theirs: socket.socket, group: cgroup.Group, record: Record, cancel: Cancel
    ) -> None:
        self._ours = ours
        self._theirs = theirs
        self._group = group
        self._record = record
        self._cancel = cancel
        self._goes = False
        self._handle = -1

    @property
    def has_begun(self) -> bool:
        """Whether the program was let go: from then on nobody may say that nothing was started."""
        return self._goes

    @property
    def channel(self) -> int:
        """The helper's end of the socket; as its stdin it names the helper to the janitor."""
        return self._theirs.fileno()

    def started(self, pid: int) -> str | None:
        self._theirs.close()
        self._handle = os.pidfd_open(pid)
        try:
            self._group.take(pid)
            self._record.started(pid)
        except OSError as error:
            return f"the process cannot be bounded: {error.strerror}"
        if not self._cancel.cancelled:
            self._goes = True
            self._say(b"g")
        return None

    def ask(self, tree: Tree) -> None:  # noqa: ARG002 - the helper knows its child
        self._say(b"t" if self._goes else b"k")

    def kill(self) -> None:
        self._say(b"k")
        if self._handle >= 0:
            poll = select.poll()
            poll.register(self._handle, select.POLLIN)
            poll.poll(_END_S * 1000)
            os.close(self._handle)
            self._handle = -1

    def said(self) -> bytes:
        """Return what the helper answered."""
        self._ours.setblocking(False)  # noqa: FBT003 - the standard library's own signature
        try:
            return self._ours.recv(4096)
        except OSError:
            return b""

    def _say(self, word: bytes) -> None:
        with contextlib.suppress(OSError):
            self._ours.send(word, socket.MSG_NOSIGNAL)


def _started(start: spawn.Command, care: _Care, stage: Stage | None, job: Job) -> spawn.Finished | NotStarted:
    if stage is None:
        return spawn.run(start, care)

    def staged() -> spawn.Finished | NotStarted:
        try:
            stage.mount()
        finally:
            stage.close()
        return spawn.run(start, care)

    return on_own_thread(staged, interrupted=job.cancel.cancel)


def _tasks_of(uid: int) -> int:
    """Return how many tasks of a user there are: the kernel counts them all under one limit."""
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
    return count
