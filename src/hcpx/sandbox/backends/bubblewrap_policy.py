"""What bubblewrap is told: the policy of Spec 04 section 2 as its arguments.

All of it goes through `--args`, so that no path of the host stands in a command line that the child can read,
and all that is bound from the host is bound by descriptor or is a path that root alone can change. The order
matters: what the caller controls comes last, and nothing is ever mounted below it.
"""

from __future__ import annotations

import os
import stat

import msgspec

from hcpx.sandbox import view
from hcpx.sandbox.identity import Identity
from hcpx.sandbox.job import Job

from .handover import Handover

_SHARED_MEMORY = 64 * 1024 * 1024
_LARGEST_COPY = 1024 * 1024


class Refused(msgspec.Struct, frozen=True):
    """Why a job cannot be shown its files."""

    why: str


def base(*, proc: bool) -> list[str]:
    """Return what is the same for every job: namespaces, no capabilities, the system, /proc and /dev."""
    arguments = [
        "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
        "--unshare-cgroup-try",
        "--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--cap-drop", "ALL",
        "--die-with-parent", "--new-session", "--clearenv",
        "--ro-bind", "/usr", "/usr",
    ]  # fmt: skip
    for path, target in view.system_folders():
        arguments += ["--symlink", target, path] if target is not None else ["--ro-bind", path, path]
    arguments += ["--perms", "0755", "--dir", "/etc"]
    for name in view.ETC:
        arguments += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    if proc:
        arguments += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--remount-ro", "/proc"]
    arguments += ["--dev", "/dev"]
    return [*arguments, "--size", str(_SHARED_MEMORY), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]  # noqa: S108


def arguments(
    job: Job, place: view.Place, who: Identity, pass_on: Handover, etc_files: list[tuple[str, bytes]]
) -> list[str] | Refused:
    """Return what is added to `base` for one job; its descriptors go into `pass_on`. Raises OSError."""
    size = str(private_bytes(job))
    made = ["--size", size, "--tmpfs", view.TEMPORARY]
    made += ["--size", size, "--perms", "0700", "--tmpfs", view.HOME]
    for name, content in (*view.MADE.items(), *etc_files):
        made += ["--perms", "0644", "--file", str(pass_on.content(content)), f"/etc/{name}"]
    made += ["--perms", "0700", "--dir", view.PRIVATE_FILES] if job.files else []
    for file in job.files:
        inside = f"{view.PRIVATE_FILES}/{file.name}"
        made += [
            "--perms",
            "0600",
            "--file",
            str(pass_on.content(file.content)),
            inside,
            "--setenv",
            file.env,
            inside,
        ]
    for name, value in (*job.env.items(), ("HOME", view.HOME), ("TMPDIR", view.TEMPORARY)):
        made += ["--setenv", name, value]
    covered: list[str] = []
    for path in sorted({*job.read_only, *_program_outside(job)}, key=len):
        if view.in_system(path) or any(view.below(path, folder) for folder in (place.path, *covered)):
            continue  # seen already; and nothing is mounted below what a caller may control
        shown = _read_only(path, place, who, pass_on)
        if isinstance(shown, Refused):
            return shown
        covered.append(path)
        made += shown
    made += pass_on.bind(pass_on.folder(job.pack_root), view.PACK)
    name = renamed(job)
    made += ["--symlink", job.program.path, name] if name is not None else []
    if not place.pack:
        made += pass_on.bind(job.directory.fd, place.path, writable=is_writable(job, place))
    return [*made, "--chdir", place.path, "--remount-ro", "/"]


def is_writable(job: Job, place: view.Place) -> bool:
    """Tell whether the working directory is; a pack's own never is."""
    return job.writable and not place.pack


def private_bytes(job: Job) -> int:
    """Return the size of /tmp, and of HOME: half of what the job may hold in memory, at most 512 MiB."""
    return min(job.limits.memory_mb // 2 or 1, 512) * 1024 * 1024


def program(job: Job) -> str:
    """Return the path of the job's program inside."""
    path = job.program.path
    if view.below(path, job.pack_root):
        return view.PACK + path[len(job.pack_root.rstrip("/")) :]
    return renamed(job) or path


def renamed(job: Job) -> str | None:
    """Return the link that starts a program of the host under the name it was called by, where that differs.

    Programs with several names (`psql` of a common wrapper) look at it to know what they are to do.
    """
    name = job.name.rsplit("/", 1)[-1]
    path = job.program.path
    if view.below(path, job.pack_root) or name in {"", ".", ".."} or name == path.rsplit("/", 1)[-1]:
        return None
    return f"{view.RENAMED}/{name}"


def _program_outside(job: Job) -> tuple[str, ...]:
    """Return the program where it is neither the pack's own nor in the system's folders."""
    path = job.program.path
    return () if view.below(path, job.pack_root) or view.in_system(path) else (path,)


def _read_only(path: str, place: view.Place, who: Identity, pass_on: Handover) -> list[str] | Refused:
    """Show a path of the host under its own name."""
    if not view.may_keep_path(path) or view.below(place.path, path):
        return Refused(f"{path} cannot be shown in a sandbox")
    descriptor = pass_on.path(path)
    found = os.fstat(descriptor)
    if stat.S_ISDIR(found.st_mode):
        return pass_on.bind(descriptor, path)
    if not stat.S_ISREG(found.st_mode):
        return Refused(f"{path} is no file or folder")
    if who.drop and not found.st_mode & stat.S_IROTH and found.st_size <= _LARGEST_COPY:
        # the child's uid could not read it: it gets the content as it is now
        with open(f"/proc/self/fd/{descriptor}", "rb") as file:
            return ["--perms", "0400", "--file", str(pass_on.content(file.read())), path]
    return pass_on.bind(descriptor, path)
