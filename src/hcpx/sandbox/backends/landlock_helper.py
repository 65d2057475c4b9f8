"""Run by itself, single-threaded: starts one program under Landlock and sees that nothing of it outlives it.

`landlock_helper.py ORDER CONTROL`: a descriptor with the order as JSON, and a socket. On the socket it is
told `g` (go), `t` (ask the program to end) or `k` (end everything); if the socket ends, the runtime is gone,
and everything ends too. It answers `ok` once the program runs, or `no` and why it does not.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
from typing import Any

_LIBC = ctypes.CDLL(None, use_errno=True)
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_ALL_FILES, _ALL_NETWORK, _ALL_SCOPES = 0xFFFF, 0x3, 0x3
_READ = 0x1 | 0x4 | 0x8  # execute, read files, read folders
_WRITE = 0x2 | 0x4000 | 0x10 | 0x20 | 0x80 | 0x100 | 0x400 | 0x1000 | 0x2000  # no devices, no sockets
_OF_FILES = 0x1 | 0x2 | 0x4 | 0x4000 | 0x8000
_SUBREAPER, _NO_NEW_PRIVILEGES, _SECCOMP, _DROP_BOUNDING, _SECURE_BITS, _DEATH_SIGNAL = 36, 38, 22, 24, 28, 1
_AMBIENT, _AMBIENT_CLEAR = 47, 4
_NO_ROOT = 0x2F  # uid 0 gets no capabilities from exec, no ambient ones, and all of that is locked
_OWN_FACTS = ("status", "stat", "statm", "maps", "cmdline", "limits", "fd")
_CAPABILITY_VERSION = 0x20080522


def version() -> int:
    """Return the kernel's Landlock ABI, 0 without one."""
    return max(0, _LIBC.syscall(ctypes.c_long(_CREATE), None, ctypes.c_long(0), ctypes.c_long(1)))


def main(order: int, control: int) -> int:
    """Carry an order out; returns the exit status."""
    with open(order, "rb") as file:
        wanted = json.load(file)
    channel = socket.socket(fileno=control)
    _check(_LIBC.prctl(_SUBREAPER, 1, 0, 0, 0))
    rules = [(_opened(rule["at"]), rule["write"]) for rule in wanted["rules"]]
    directory = _opened(wanted["directory"])
    if _heard(channel) != b"g":
        return 125
    nowhere = os.open("/dev/null", os.O_RDWR)
    os.dup2(nowhere, 0)
    reading, writing = os.pipe()
    supervisor = os.getpid()
    program = os.fork()
    if program == 0:
        channel.close()
        os.close(reading)
        _become(wanted, rules, directory, writing, supervisor)
    os.close(writing)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    trouble = b""
    while piece := os.read(reading, 4096):
        trouble += piece
    with contextlib.suppress(OSError):  # the runtime may be gone: then _watch ends it all
        channel.send(b"no " + trouble if trouble else b"ok", socket.MSG_NOSIGNAL)
    return _watch(program, channel)


def _heard(channel: socket.socket) -> bytes:
    """Return the next word; none where the runtime is gone, also with words of ours unread."""
    try:
        return channel.recv(1)
    except OSError:
        return b""


def _opened(at: int | str) -> int:
    return at if isinstance(at, int) else os.open(at, os.O_PATH | os.O_CLOEXEC)


def _watch(program: int, channel: socket.socket) -> int:
    handle = os.pidfd_open(program)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.register(channel, select.POLLIN)
    status = 128 + signal.SIGKILL
    while True:
        ready = {descriptor for descriptor, _ in poll.poll()}
        if handle in ready:
            _, end = os.waitpid(program, 0)
            code = os.waitstatus_to_exitcode(end)
            status = code if code >= 0 else 128 - code
            break
        if _heard(channel) != b"t":
            break
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGTERM)
    _end_all()
    return status


def _end_all() -> None:
    """Freeze, then kill, all that descends from here: orphans have become our own children."""
    while True:
        frozen: set[int] = set()
        while fresh := _descendants() - frozen:
            for pid in fresh:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGSTOP)
            frozen |= fresh
        for pid in frozen:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitid(os.P_ALL, 0, os.WEXITED | (0 if frozen else os.WNOHANG)) is not None and frozen:
                frozen = _descendants()
        except ChildProcessError:
            return


def _descendants() -> set[int]:
    parents: dict[int, int] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, IndexError, ValueError):
            with open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rsplit(b")", 1)[1].split()[:2]
            if state not in b"ZX":
                parents[int(name)] = int(parent)
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def _die_with(supervisor: int) -> None:
    """Have the kernel end this process with its supervisor, also where that has ended just now."""
    _check(_LIBC.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0))
    if os.getppid() != supervisor:
        os._exit(126)


def _become(
    wanted: dict[str, Any], rules: list[tuple[int, bool]], directory: int, trouble: int, supervisor: int
) -> None:
    """Give everything up and become the program; never returns."""
    try:
        _die_with(supervisor)
        os.fchdir(directory)
        for name, value in wanted["limits"].items():
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (bound, bound))
        ruleset = _ruleset(rules)
        _drop_rights(wanted["uid"], wanted["gid"], drop=wanted["drop"])
        _die_with(supervisor)  # another uid has made the kernel forget
        for name in _OWN_FACTS:  # of the program alone: all of /proc/self would show the host's network and mounts
            _add(ruleset, os.open(f"/proc/self/{name}", os.O_PATH), _READ)
        _check(_LIBC.syscall(ctypes.c_long(_RESTRICT), ctypes.c_long(ruleset), ctypes.c_long(0)))
        _filter(bytes.fromhex(wanted["seccomp"]))
        os.closerange(3, trouble)
        os.closerange(trouble + 1, 1 << 20)
        os.execve(wanted["argv"][0], wanted["argv"], wanted["env"])
    except OSError as error:
        os.write(trouble, (error.strerror or "cannot be started").encode())
    finally:
        os._exit(126)


def _ruleset(rules: list[tuple[int, bool]]) -> int:
    attributes = struct.pack("QQQ", _ALL_FILES, _ALL_NETWORK, _ALL_SCOPES)
    size = ctypes.c_long(len(attributes))
    ruleset = _check(_LIBC.syscall(ctypes.c_long(_CREATE), attributes, size, ctypes.c_long(0)))
    for descriptor, write in rules:
        _add(ruleset, descriptor, _READ | (_WRITE if write else 0))
    return ruleset


def _add(ruleset: int, descriptor: int, access: int) -> None:
    if not os.path.isdir(f"/proc/self/fd/{descriptor}"):
        access &= _OF_FILES
    rule = struct.pack("=Qi", access, descriptor)
    one, zero = ctypes.c_long(1), ctypes.c_long(0)
    _check(_LIBC.syscall(ctypes.c_long(_ADD), ctypes.c_long(ruleset), one, rule, zero))


def _drop_rights(uid: int, gid: int, *, drop: bool) -> None:
    _LIBC.prctl(_AMBIENT, _AMBIENT_CLEAR, 0, 0, 0)
    if os.geteuid() == 0:
        for capability in range(64):
            _LIBC.prctl(_DROP_BOUNDING, capability, 0, 0, 0)
        _check(_LIBC.prctl(_SECURE_BITS, _NO_ROOT, 0, 0, 0))
    if drop:
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    elif os.geteuid() == 0:
        with contextlib.suppress(PermissionError):  # a user namespace that cannot: then they are the user's own
            os.setgroups([])
    head = struct.pack("Ii", _CAPABILITY_VERSION, 0)
    _check(_LIBC.capset(head, bytes(24)))
    _check(_LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))


def _filter(program: bytes) -> None:
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    _check(_LIBC.prctl(_SECCOMP, 2, header, 0, 0))


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno() or errno.EPERM
        raise OSError(number, os.strerror(number))
    return result


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
