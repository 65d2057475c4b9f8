"""The filter's decisions, as a table, on both machines: interpreted here, run by the red team."""

from __future__ import annotations

import errno
import socket
import struct

import pytest

from hcpx.sandbox import syscalls
from hcpx.sandbox.seccomp import Machine, assemble

ARCHITECTURE: dict[Machine, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL = 0x7FFF0000, 0x80000000
MACHINES: tuple[Machine, ...] = ("x86_64", "aarch64")
HIGH = 1 << 32


def verdict(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """Run the program as the kernel would over one call."""
    data = struct.pack("=IIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    code = list(struct.iter_unpack("=HBBI", program))
    accumulator = at = 0
    while True:
        operation, if_true, if_false, value = code[at]
        at += 1
        if operation == 0x20:
            accumulator = struct.unpack_from("=I", data, value)[0]
        elif operation == 0x54:
            accumulator &= value
        elif operation == 0x06:
            return value
        else:
            holds = {0x15: accumulator == value, 0x25: accumulator > value, 0x45: bool(accumulator & value)}[operation]
            at += if_true if holds else if_false


def asked(machine: Machine, number: int | None, *arguments: int, namespaces: bool = True) -> int | None:
    if number is None:
        return None
    return verdict(assemble(machine, namespaces=namespaces), ARCHITECTURE[machine], number, *arguments)


def refused(error: int) -> int:
    return 0x50000 | error


@pytest.mark.parametrize("machine", MACHINES)
def test_every_call_of_the_list_is_refused(machine: Machine) -> None:
    column = MACHINES.index(machine)
    for table, error in ((syscalls.REFUSED, errno.EPERM), (syscalls.ABSENT, errno.ENOSYS)):
        for name, numbers in table.items():
            assert asked(machine, numbers[column]) in {None, refused(error)}, name
    for name, numbers in syscalls.WITHOUT_NAMESPACES.items():
        assert asked(machine, numbers[column], namespaces=False) in {None, refused(errno.EPERM)}, name


@pytest.mark.parametrize("machine", MACHINES)
def test_no_number_stands_for_two_calls(machine: Machine) -> None:
    column = MACHINES.index(machine)
    numbers = [
        found[column]
        for table in (syscalls.REFUSED, syscalls.ABSENT, syscalls.SET_ID, syscalls.OPEN, syscalls.ONLY_ITSELF)
        for found in table.values()
        if found[column] is not None
    ]
    numbers += [found[column] for found in (syscalls.CLONE, syscalls.IOCTL, syscalls.SOCKET, syscalls.SOCKETPAIR)]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_other_architecture_ends_the_process(machine: Machine) -> None:
    other = next(value for name, value in ARCHITECTURE.items() if name != machine)
    for architecture in (other, 0x40000003, 0):
        assert verdict(assemble(machine), architecture, 0) == KILL


def test_x32_and_what_is_newer_than_the_list_do_not_exist() -> None:
    assert asked("x86_64", 0x40000000 | 39) == refused(errno.ENOSYS)
    for machine in MACHINES:
        assert asked(machine, syscalls.NEWEST) != refused(errno.ENOSYS)
        assert asked(machine, syscalls.NEWEST + 1) == refused(errno.ENOSYS)
        assert asked(machine, 0xFFFFFFFF) == refused(errno.ENOSYS)


NO_FAMILY, NO_TYPE, NO_PROTOCOL = (
    refused(errno.EAFNOSUPPORT),
    refused(errno.EPERM),
    refused(errno.EPROTONOSUPPORT),
)
CLOSE_ON_EXEC = socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
SOCKETS = [
    ((socket.AF_INET, socket.SOCK_STREAM, 0), ALLOW),
    ((socket.AF_INET6, socket.SOCK_DGRAM | CLOSE_ON_EXEC, 17), ALLOW),
    ((socket.AF_INET | HIGH, socket.SOCK_STREAM | HIGH, 6 | HIGH), ALLOW),
    ((socket.AF_UNIX, socket.SOCK_STREAM, 0), NO_FAMILY),
    ((socket.AF_UNIX | HIGH, socket.SOCK_STREAM, 0), NO_FAMILY),
    ((socket.AF_NETLINK, socket.SOCK_RAW, 0), NO_FAMILY),
    ((socket.AF_PACKET, socket.SOCK_RAW, 0), NO_FAMILY),
    ((socket.AF_VSOCK, socket.SOCK_STREAM, 0), NO_FAMILY),
    ((0, socket.SOCK_STREAM, 0), NO_FAMILY),
    ((socket.AF_INET, socket.SOCK_RAW, 1), NO_TYPE),
    ((socket.AF_INET, socket.SOCK_SEQPACKET, 132), NO_TYPE),
    ((socket.AF_INET, socket.SOCK_STREAM, 132), NO_PROTOCOL),
    ((socket.AF_INET, socket.SOCK_DGRAM, 1), NO_PROTOCOL),
]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("arguments", "answer"), SOCKETS)
def test_sockets_are_tcp_and_udp_only(machine: Machine, arguments: tuple[int, ...], answer: int) -> None:
    number = syscalls.SOCKET[MACHINES.index(machine)]
    assert asked(machine, number, *arguments) == answer
    assert asked(machine, number, *arguments, namespaces=False) == NO_FAMILY


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("family", "kind", "answer"),
    [
        (socket.AF_UNIX, socket.SOCK_STREAM | CLOSE_ON_EXEC, ALLOW),
        (socket.AF_UNIX, socket.SOCK_SEQPACKET, ALLOW),
        (socket.AF_UNIX, socket.SOCK_DGRAM, NO_TYPE),
        (socket.AF_UNIX, socket.SOCK_DGRAM | HIGH, NO_TYPE),
        (socket.AF_UNIX, socket.SOCK_RAW, NO_TYPE),
        (socket.AF_TIPC, socket.SOCK_STREAM, NO_FAMILY),
    ],
)
def test_socket_pairs_are_connected_ones_only(machine: Machine, family: int, kind: int, answer: int) -> None:
    assert asked(machine, syscalls.SOCKETPAIR[MACHINES.index(machine)], family, kind) == answer


@pytest.mark.parametrize("machine", MACHINES)
def test_arguments_are_read_as_the_kernel_reads_them(machine: Machine) -> None:
    column = MACHINES.index(machine)
    for request, answer in (
        (0x5412, refused(errno.EPERM)),
        (0x5412 | HIGH, refused(errno.EPERM)),
        (0x5413, ALLOW),
    ):
        assert asked(machine, syscalls.IOCTL[column], 0, request) == answer
    for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert asked(machine, syscalls.CLONE[column], flag | 17) == refused(errno.EPERM)
    assert asked(machine, syscalls.CLONE[column], 0x3D0F00) == ALLOW  # a thread
    assert asked(machine, syscalls.PERSONALITY[column], 0xFFFFFFFF) == ALLOW
    assert asked(machine, syscalls.PERSONALITY[column], 0x0040000) == refused(errno.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_no_call_makes_a_set_uid_file(machine: Machine) -> None:
    column = MACHINES.index(machine)
    for table, before in ((syscalls.SET_ID, 0), (syscalls.OPEN, 1)):
        for name, (*numbers, index) in table.items():
            for mode, answer in (
                (0o755, ALLOW),
                (0o4755, refused(errno.EPERM)),
                (0o2755, refused(errno.EPERM)),
            ):
                arguments = [0] * (index + before) + [mode]
                if before:
                    arguments[index] = 0o100
                assert asked(machine, numbers[column], *arguments) in {None, answer}, name
    number, index = syscalls.OPEN["openat"][column], syscalls.OPEN["openat"][2]
    assert asked(machine, number, *[0] * index, 0, 0o4755) == ALLOW  # makes nothing: the mode is whatever was there


@pytest.mark.parametrize("machine", MACHINES)
def test_without_namespaces_a_process_changes_only_itself(machine: Machine) -> None:
    column = MACHINES.index(machine)
    for name, (*numbers, index) in syscalls.ONLY_ITSELF.items():
        for who, answer in ((0, ALLOW), (7, refused(errno.EPERM))):
            arguments = [0] * index + [who]
            assert asked(machine, numbers[column], *arguments, namespaces=False) in {None, answer}, name
    for path, answer in ((0, ALLOW), (1, refused(errno.EPERM)), (HIGH, refused(errno.EPERM))):
        assert asked(machine, syscalls.UTIMENSAT[column], 3, path, namespaces=False) == answer
