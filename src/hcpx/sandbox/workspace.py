"""Working directories: the caller's own, and the four workspace modes (Spec 04 section 2)."""

from __future__ import annotations

import errno
import os
from hashlib import sha256
from typing import Final

from hcpx.vocabulary.invocation import OpenDirectory
from hcpx.vocabulary.pack import WorkspaceMode

from .private import PrivateFolder, PrivateFolders

GONE: Final = "working directory gone"
_FOLDER: Final = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC


class Folder:
    """An open folder, or why it could not be opened."""

    def __init__(self, path: str, fd: int = -1, problem: str | None = None) -> None:
        self.path = path
        self.fd = fd
        self.problem = problem

    def close(self) -> None:
        """Close the descriptor; more than once is fine."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Folders:
    """Opens the caller's working directory (the port `Directories`)."""

    def open(self, path: str) -> Folder:
        """Open a directory, no symlink followed on its last part; where that fails, the value says why."""
        folder = _opened(path, os.O_NOFOLLOW)
        if folder.fd >= 0:
            folder.path = os.readlink(f"/proc/self/fd/{folder.fd}")
        return folder


class Workspaces:
    """The directories that programs run in, below the runtime's `state` folder where they are private."""

    def __init__(self, state: str) -> None:
        self._kept = os.path.join(state, "workspaces")
        self._passing = PrivateFolders(os.path.join(state, "ephemeral"))

    def open(
        self, mode: WorkspaceMode, root: str, project: OpenDirectory | None, owner: tuple[str, str, str]
    ) -> Folder:
        """Open the directory of a mode: `root` is the pack's, `project` the opened one of the session.

        `owner` (tenant, principal, pack) has a private one in mode `workspace`. Where it cannot be had, the
        value says why. What comes back is to be given to `close`, a project's directory by a descriptor of
        its own.
        """
        if mode == "pack":
            return _opened(root)
        try:
            return _again(project) if mode == "project" else self._private(mode, owner)
        except OSError as problem:
            kind = "working directory" if mode == "project" else "no private workspace"
            return Folder("", problem=f"{kind}: {os.strerror(problem.errno or 0)}")

    def path(self, mode: WorkspaceMode, root: str, project: str | None, owner: tuple[str, str, str]) -> str:
        """Return where `open` would lead, without opening or making anything."""
        if mode == "pack":
            return root
        if mode == "project":
            return project or ""
        return os.path.join(self._kept, _digest(owner))

    def _private(self, mode: WorkspaceMode, owner: tuple[str, str, str]) -> Folder:
        if mode == "ephemeral":
            return _Passing(self._passing, self._passing.take())
        path = os.path.join(self._kept, _digest(owner))
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            pass
        except FileNotFoundError:
            os.makedirs(path, 0o700, exist_ok=True)
        return _opened(path, os.O_NOFOLLOW)

    def close(self) -> None:
        """Remove the private folders that are kept to be used again."""
        self._passing.close()


class _Passing(Folder):
    """A private folder that is emptied when it is closed."""

    def __init__(self, folders: PrivateFolders, folder: PrivateFolder) -> None:
        super().__init__(folder.path, folder.fd)
        self._folders = folders
        self._folder = folder

    def close(self) -> None:
        """Empty and give back the folder."""
        if self.fd >= 0:
            self.fd = -1
            self._folders.give_back(self._folder)


def is_gone(fd: int) -> bool:
    """Tell whether an open directory was removed meanwhile."""
    return os.fstat(fd).st_nlink == 0


def _opened(path: str, flags: int = 0) -> Folder:
    try:
        fd = os.open(path, _FOLDER | flags)
    except ValueError:
        return Folder(path, problem="no path of a directory")
    except OSError as problem:
        return Folder(path, problem=_why(problem, path))
    return Folder(path, fd)


def _why(problem: OSError, path: str) -> str:
    if problem.errno == errno.ENOENT:
        return GONE
    if problem.errno in (errno.ENOTDIR, errno.ELOOP):
        return "working directory is a symlink" if os.path.islink(path) else "working directory is no directory"
    return f"working directory: {os.strerror(problem.errno or 0)}"


def _again(project: OpenDirectory | None) -> Folder:
    """Return the opened directory under a descriptor of our own: the other one is not ours to close."""
    if project is None or project.fd < 0:
        return Folder("", problem=GONE if project is None else project.problem or GONE)
    if is_gone(project.fd):
        return Folder(project.path, problem=GONE)
    return Folder(project.path, os.dup(project.fd))


def _digest(owner: tuple[str, str, str]) -> str:
    """Name a private folder: ids never become parts of a path, and no two owners meet."""
    parts = b"".join(b"%d:%s" % (len(raw), raw) for raw in (part.encode("utf-8", "surrogatepass") for part in owner))
    return sha256(parts).hexdigest()[:32]
