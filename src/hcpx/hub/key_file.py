"""A master key in a file that only its owner can read."""

from __future__ import annotations

import os
import stat
from binascii import Error as NotBase64
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterator
from typing import Final

from .master_key import KEY_BYTES, MasterKey, VaultKeyProblem, fresh_key, master_key

_LONGEST: Final = 1024
_HEX: Final = frozenset(b"0123456789abcdefABCDEF")
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class KeyFile:
    """The key at `path`, the next one at `path` + `.next`.

    The file holds 32 bytes: as they are, or as base64 or hexadecimal text. One that the operator configured
    is never made here; the one beside the store is, at first need.
    """

    def __init__(self, path: str, *, configured: bool = False) -> None:
        self.path: Final = os.path.realpath(path)
        self.name = f"the file {self.path}"
        self._next = f"{self.path}.next"
        self._configured = configured

    def found(self) -> Iterator[MasterKey]:
        """Return the key in use and the next one, as far as they exist."""
        for path in (self.path, self._next):
            key = _read(path)
            if key is not None:
                yield key

    def make(self) -> MasterKey:
        """Make the file where there is none: of two makers at once, one makes it and both use it."""
        if self._configured:
            raise VaultKeyProblem(
                f"HCP_VAULT_KEY_FILE names {self.path}, which does not exist; restore it, or make one:"
                f" (umask 077; head -c 32 /dev/urandom > {self.path})"
            )
        begun = f"{self.path}.new"
        try:
            _write(begun, fresh_key())
            try:
                os.link(begun, self.path)
            except FileExistsError:
                pass
            finally:
                os.unlink(begun)
            _sync_folder(self.path)
        except OSError as problem:
            raise _from_system(problem, self.path) from None
        key = _read(self.path)
        if key is None:
            raise VaultKeyProblem(f"{self.path} was removed while it was made; try again")
        return key

    def stage(self, key: MasterKey) -> None:
        """Make the next key durable beside the one in use."""
        begun = f"{self.path}.new"
        try:
            _write(begun, key)
            os.replace(begun, self._next)
            _sync_folder(self.path)
        except OSError as problem:
            raise _from_system(problem, self._next) from None

    def switch(self, key: MasterKey) -> None:
        """Put the next key in the place of the one in use, if it is this one."""
        staged = _read(self._next)
        if staged is None or staged.id != key.id:
            return
        try:
            os.replace(self._next, self.path)
            _sync_folder(self.path)
        except OSError as problem:
            raise _from_system(problem, self.path) from None


def _read(path: str) -> MasterKey | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise _from_system(problem, path) from None
    try:
        _check(os.fstat(fd), path)
        content = os.read(fd, _LONGEST)
    except OSError as problem:
        raise _from_system(problem, path) from None
    finally:
        os.close(fd)
    secret = _key_in(content)
    if secret is None:
        raise VaultKeyProblem(
            f"{path} holds no vault key: it must be {KEY_BYTES} random bytes, as they are or as base64 or"
            " hexadecimal text; restore it from where you keep a copy"
        )
    return master_key(secret)


def _check(found: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise VaultKeyProblem(f"{path} is not a plain file, so no vault key is read from it")
    if found.st_uid not in (os.geteuid(), 0):
        raise VaultKeyProblem(f"{path} belongs to another user (uid {found.st_uid}); run: chown {os.geteuid()} {path}")
    if found.st_mode & _OTHERS:
        raise VaultKeyProblem(f"{path} is open to other users, so its key is not used; run: chmod 600 {path}")


def _key_in(content: bytes) -> bytes | None:
    """Return the 32 bytes, or None: 32 characters of text are a password, not 32 random bytes."""
    if len(content) == KEY_BYTES and not (content.isascii() and content.decode().isprintable()):
        return content
    text = content.strip()
    if len(text) == 2 * KEY_BYTES and _HEX.issuperset(text):
        return bytes.fromhex(text.decode())
    try:
        found = a2b_base64(text, strict_mode=True)
    except (NotBase64, ValueError):
        return None
    return found if len(found) == KEY_BYTES else None


def _write(path: str, key: MasterKey) -> None:
    """Write a key and have it on disk; what a killed writer left under that name is replaced."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        content = b2a_base64(key.secret)
        if os.write(fd, content) != len(content):
            raise OSError(28, "no space left on device")
        os.fsync(fd)
    finally:
        os.close(fd)


def _sync_folder(path: str) -> None:
    fd = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _from_system(problem: OSError, path: str) -> VaultKeyProblem:
    why = (problem.strerror or "unknown error").lower()
    return VaultKeyProblem(f"the vault key {path}: {why}; mend that and try again, nothing was changed")
