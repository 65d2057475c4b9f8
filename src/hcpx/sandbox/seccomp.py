"""The seccomp program of a sandbox: assembled here, loaded by a backend (Spec 04 section 2, processes).

Classic BPF over `struct seccomp_data`. The kernel passes 64-bit registers, but reads `int` arguments as 32
bits: so does every rule here, else a caller could hide a forbidden value behind a high bit.
"""

from __future__ import annotations

import errno
from struct import pack
from typing import Final, Literal

from . import syscalls

Machine = Literal["x86_64", "aarch64"]
_AUDIT_ARCH: Final[dict[Machine, int]] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_COLUMN: Final[dict[Machine, int]] = {"x86_64": 0, "aarch64": 1}

_LOAD, _JUMP_EQUAL, _JUMP_MORE, _JUMP_BITS, _RETURN, _AND = 0x20, 0x15, 0x25, 0x45, 0x06, 0x54
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16

_X32_BIT = 0x40000000
# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; NEWTIME is no flag of clone
_NEW_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_SET_ID_BITS = 0o6000
_MAKES_FILE = 0o100 | 0o20000000  # O_CREAT, and what O_TMPFILE has beside O_DIRECTORY
# TIOCSTI, TIOCLINUX type into the terminal; TIOCSETD loads line disciplines
_TERMINAL_REQUESTS = (0x5412, 0x541C, 0x5423)
_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_SOCKET_TYPE = 0xF
_STREAM, _DATAGRAM, _SEQUENCE = 1, 2, 5
_PROTOCOLS = (
    0,
    6,
    17,
)  # the family's own, TCP, UDP: no others, whose modules the kernel would load on demand
_PERSONALITIES = (0, 8, 0xFFFFFFFF)  # Linux, its 32-bit face, "only tell"


def assemble(machine: Machine, *, namespaces: bool = True) -> bytes:
    """Return the program as an array of `struct sock_filter`.

    Another architecture than the machine's own ends the process; x32 and calls newer than this list do not
    exist. Without `namespaces` it is stricter: no sockets, nothing that reaches the host's files or processes
    unseen.
    """
    column = _COLUMN[machine]
    code = _load(_ARCHITECTURE) + _unless_equal(_AUDIT_ARCH[machine], _return(_KILL))
    code += _load(_NUMBER)
    if machine == "x86_64":
        code += _if_bits(_X32_BIT, _refuse(errno.ENOSYS))
    code += _if_more(syscalls.NEWEST, _refuse(errno.ENOSYS))
    if not namespaces:
        code += _without_namespaces(column)
    for table, error in ((syscalls.REFUSED, errno.EPERM), (syscalls.ABSENT, errno.ENOSYS)):
        for numbers in table.values():
            code += _if_equal(numbers[column], _refuse(error))
    code += _if_equal(syscalls.CLONE[column], _argument(0) + _if_bits(_NEW_NAMESPACES, _refuse(errno.EPERM)) + _allow())
    for *numbers, index in syscalls.SET_ID.values():
        code += _if_equal(numbers[column], _mode_rule(index))
    for *numbers, index in syscalls.OPEN.values():
        code += _if_equal(numbers[column], _argument(index) + _if_bits(_MAKES_FILE, _mode_rule(index + 1)) + _allow())
    code += _if_equal(syscalls.IOCTL[column], _terminal_rule())
    code += _if_equal(syscalls.SOCKET[column], _socket_rule())
    code += _if_equal(syscalls.SOCKETPAIR[column], _socketpair_rule())
    code += _if_equal(syscalls.PERSONALITY[column], _only(0, _PERSONALITIES, errno.EPERM) + _allow())
    return code + _allow()


def _without_namespaces(column: int) -> bytes:
    code = b"".join(
        _if_equal(numbers[column], _refuse(errno.EPERM)) for numbers in syscalls.WITHOUT_NAMESPACES.values()
    )
    for *numbers, index in syscalls.ONLY_ITSELF.values():
        code += _if_equal(numbers[column], _only(index, (0,), errno.EPERM) + _allow())
    no_path = b"".join(_load(_FIRST_ARGUMENT + 8 + half) + _unless_equal(0, _refuse(errno.EPERM)) for half in (0, 4))
    code += _if_equal(syscalls.UTIMENSAT[column], no_path + _allow())
    return code + _if_equal(syscalls.SOCKET[column], _refuse(errno.EAFNOSUPPORT))


def _mode_rule(index: int) -> bytes:
    """No set-uid or set-gid file: on the host's side of the workspace it would be one for real."""
    return _argument(index) + _if_bits(_SET_ID_BITS, _refuse(errno.EPERM)) + _allow()


def _terminal_rule() -> bytes:
    refusals = b"".join(_if_equal(request, _refuse(errno.EPERM)) for request in _TERMINAL_REQUESTS)
    return _argument(1) + refusals + _allow()


def _socket_rule() -> bytes:
    """Only TCP and UDP: a socket of the host may lie in the bound workspace, so AF_UNIX is refused too."""
    families = _only(0, (_AF_INET, _AF_INET6), errno.EAFNOSUPPORT)
    types = _only(1, (_STREAM, _DATAGRAM), errno.EPERM, mask=_SOCKET_TYPE)
    return families + types + _only(2, _PROTOCOLS, errno.EPROTONOSUPPORT) + _allow()


def _socketpair_rule() -> bytes:
    """Pairs of connected kinds: an AF_UNIX datagram socket, even of a pair, can send anywhere by path."""
    families = _only(0, (_AF_UNIX,), errno.EAFNOSUPPORT)
    return families + _only(1, (_STREAM, _SEQUENCE), errno.EPERM, mask=_SOCKET_TYPE) + _allow()


def _only(index: int, values: tuple[int, ...], error: int, *, mask: int | None = None) -> bytes:
    """Go on where the argument is one of the values."""
    code = _argument(index) + (_instruction(_AND, mask) if mask is not None else b"")
    rest = _refuse(error)
    for value in reversed(values):
        rest = _unless_equal(value, rest)
    return code + rest


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return pack("=HBBI", code, if_true, if_false, value)


def _load(offset: int) -> bytes:
    return _instruction(_LOAD, offset)


def _argument(index: int) -> bytes:
    """Load the lower half (both machines are little-endian)."""
    return _load(_FIRST_ARGUMENT + 8 * index)


def _return(value: int) -> bytes:
    return _instruction(_RETURN, value)


def _allow() -> bytes:
    return _return(_ALLOW)


def _refuse(error: int) -> bytes:
    return _return(0x00050000 | error)


def _length(block: bytes) -> int:
    return len(block) // 8


def _if_equal(value: int | None, block: bytes) -> bytes:
    return b"" if value is None else _instruction(_JUMP_EQUAL, value, 0, _length(block)) + block


def _unless_equal(value: int, block: bytes) -> bytes:
    return _instruction(_JUMP_EQUAL, value, _length(block), 0) + block


def _if_more(value: int, block: bytes) -> bytes:
    return _instruction(_JUMP_MORE, value, 0, _length(block)) + block


def _if_bits(bits: int, block: bytes) -> bytes:
    return _instruction(_JUMP_BITS, bits, 0, _length(block)) + block
