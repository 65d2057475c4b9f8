"""Where root hands directories to a helper that has given up root's rights.

Bubblewrap, run by a uid that nobody uses, could not walk the paths to the runtime's private folders. So the
thread that starts it gets a mount namespace of its own, in which what the job needs is mounted, from open
descriptors, below a folder that anybody may enter. Nobody else sees these mounts; they are gone with the
thread, or with the runtime.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    import ctypes

Outcome = TypeVar("Outcome")

_ROOT: Final = "/sys/kernel"  # every machine has it; neither a sandbox nor the thread itself needs it
_OPEN_TREE, _MOVE_MOUNT = 428, 429
_CLONE, _CLOEXEC, _EMPTY_PATH, _RECURSIVE, _FROM_EMPTY_PATH = 1, 0o2000000, 0x1000, 0x8000, 4
_AT_FDCWD: Final = -100
_NEW_MOUNTS: Final = 0x00020000
_MS_RECURSIVE, _MS_SLAVE, _MS_NOSUID_NODEV = 0x4000, 0x80000, 0x2 | 0x4


class Stage:
    """The things of one job: taken first, mounted later on the job's own thread."""

    def __init__(self) -> None:
        self._trees: list[tuple[int, bool]] = []

    def add(self, descriptor: int) -> str:
        """Take an open file or directory as it is now; returns the path that it will have. Raises OSError."""
        tree = _syscall(_OPEN_TREE, descriptor, b"", _CLONE | _CLOEXEC | _EMPTY_PATH | _RECURSIVE)
        self._trees.append((tree, stat.S_ISDIR(os.fstat(descriptor).st_mode)))
        return f"{_ROOT}/{len(self._trees) - 1}"

    def mount(self) -> None:
        """Give the calling thread mounts of its own, with all of it in them. Raises OSError."""
        libc = _libc()
        _check(libc.unshare(_NEW_MOUNTS))
        _check(libc.mount(b"none", b"/", None, _MS_RECURSIVE | _MS_SLAVE, None))
        _check(libc.mount(b"hcpx", _ROOT.encode(), b"tmpfs", _MS_NOSUID_NODEV, b"mode=0711,size=64k"))
        for index, (tree, is_folder) in enumerate(self._trees):
            path = f"{_ROOT}/{index}"
            if is_folder:
                os.mkdir(path)
            else:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            _syscall(_MOVE_MOUNT, tree, b"", _AT_FDCWD, path.encode(), _FROM_EMPTY_PATH)

    def close(self) -> None:
        """Give back what was taken."""
        for tree, _ in self._trees:
            os.close(tree)
        self._trees.clear()


def on_own_thread(work: Callable[[], Outcome], interrupted: Callable[[], None]) -> Outcome:
    """Do something on a thread made for it, and wait for it to the end whatever happens to this one.

    `interrupted` is called where this thread is (Ctrl-C). Raises what `work` raises, and `OSError` where no thread
    can be had: nothing of `work` has happened then.
    """
    results: list[Outcome] = []
    errors: list[BaseException] = []

    def body() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - it is raised again, where it is waited for
            errors.append(error)

    thread = threading.Thread(target=body, name="hcpx-sandbox", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # of threads the interpreter says so in its own way
        raise OSError(errno.EAGAIN, "no thread can be started") from None
    try:
        thread.join()
    except BaseException:
        interrupted()
        thread.join()
        raise
    for error in errors:
        raise error
    return results[0]


def _libc() -> ctypes.CDLL:
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def _syscall(*arguments: int | bytes) -> int:
    import ctypes

    wide = [ctypes.c_long(part) if isinstance(part, int) else ctypes.c_char_p(part) for part in arguments]
    return _check(_libc().syscall(*wide))


def _check(result: int) -> int:
    import ctypes

    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
