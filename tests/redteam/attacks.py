#!/usr/bin/python3
"""What a hostile program would try. Runs as it is, inside and outside of a sandbox, with the standard library
alone.

`attacks.py NAME` tries one of them and prints JSON: whether it worked, and the evidence. An attack returns
its evidence; one that returns None or raises has failed. `facts.json` tells of the targets that were laid out
for it.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import pathlib
import platform
import resource
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

Facts = dict[str, Any]
LIBC = ctypes.CDLL(None, use_errno=True)
ARM = platform.machine() == "aarch64"
NEW_USER, NEW_MOUNTS = 0x10000000, 0x00020000


def call(name_x86: int, name_arm: int, *arguments: object) -> int:
    wide = [ctypes.c_long(part) if isinstance(part, int) else part for part in arguments]
    result = LIBC.syscall(ctypes.c_long(name_arm if ARM else name_x86), *wide)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def reaches(numbers: tuple[int, int], *arguments: object) -> str | None:
    """Tell whether a call gets past every guard: the kernel then finds fault with the arguments."""
    try:
        return f"answered {call(*numbers, *arguments)}"
    except OSError as error:
        return None if error.errno in {errno.EPERM, errno.EACCES, errno.ENOSYS} else f"reached: {error.strerror}"


def child(work: Callable[[], str | None]) -> str | None:
    """Try something that would spoil this process in a fork of it."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            os.write(writing, (work() or "").encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(pid, 0)
    return os.read(reading, 65536).decode() or None


# --- files ----------------------------------------------------------------------------------------


def contains(path: str, facts: Facts) -> str | None:
    return "read" if facts["secret"] in pathlib.Path(path).read_text() else None


def read_secret(facts: Facts) -> str | None:
    return contains(facts["secret_file"], facts)


def list_home(facts: Facts) -> str | None:
    return "listed" if "secret" in os.listdir(facts["outside"]) else None


def read_accounts(facts: Facts) -> str | None:
    return "read" if facts["account"] in pathlib.Path("/etc/passwd").read_text() else None


def read_other_workspace(facts: Facts) -> str | None:
    return contains(facts["sibling"] + "/secret", facts)


def read_other_workspace_upwards(facts: Facts) -> str | None:
    return contains("../" + os.path.basename(facts["sibling"]) + "/secret", facts)


def read_host_tmp(facts: Facts) -> str | None:
    return contains(facts["tmp_file"], facts)


def read_host_shm(facts: Facts) -> str | None:
    return contains(facts["shm_file"], facts)


def list_run(facts: Facts) -> str | None:
    return "seen" if set(os.listdir("/run")) & set(facts["run_names"]) else None


def write_outside(facts: Facts) -> str | None:
    with open(facts["outside"] + "/target", "r+", encoding="utf-8") as file:
        return "opened for writing" if facts["secret"] in file.read() else None


def chmod_outside(facts: Facts) -> str | None:
    os.chmod(facts["outside"] + "/target", 0o666)
    return "changed"


def touch_outside(facts: Facts) -> str | None:
    os.utime(facts["outside"] + "/target", (1, 1))
    return "changed"


def label_outside(facts: Facts) -> str | None:
    os.setxattr(facts["outside"] + "/target", "user.hcpx", b"x")
    return "changed"


def truncate_outside(facts: Facts) -> str | None:
    os.truncate(facts["outside"] + "/target", len(facts["secret"]))
    return "changed"


def watch_outside(facts: Facts) -> str | None:
    watch = LIBC.inotify_add_watch(LIBC.inotify_init(), facts["outside"].encode(), 0x100)
    return "watched" if watch >= 0 else None


def read_through_link(facts: Facts) -> str | None:
    os.symlink(facts["secret_file"], "link-to-secret")
    try:
        return contains("link-to-secret", facts)
    finally:
        os.unlink("link-to-secret")


def write_through_planted_link(facts: Facts) -> str | None:
    with open("planted-link/target", "r+", encoding="utf-8") as file:
        return "opened for writing" if facts["secret"] in file.read() else None


def hardlink_secret(facts: Facts) -> str | None:
    os.link(facts["secret_file"], "hard")
    try:
        return contains("hard", facts)
    finally:
        os.unlink("hard")


def rename_into_workspace(facts: Facts) -> str | None:
    os.rename(facts["outside"] + "/movable", "moved")
    os.rename("moved", facts["outside"] + "/movable")
    return "moved"


def write_pack(facts: Facts) -> str | None:
    folder = os.path.dirname(os.path.abspath(sys.argv[0]))
    with open(folder + "/data", "r+", encoding="utf-8") as file:
        return "opened for writing" if facts["secret"] in file.read() else None


def write_system(_: Facts) -> str | None:
    with open("/usr/share/hcpx-redteam", "w", encoding="utf-8"):
        os.unlink("/usr/share/hcpx-redteam")
    return "written"


def climb_above_root(facts: Facts) -> str | None:
    up = os.open("../" * 64, os.O_PATH)
    descriptor = os.open(facts["secret_file"].lstrip("/"), os.O_RDONLY, dir_fd=up)
    return "read" if facts["secret"].encode() in os.read(descriptor, 4096) else None


def chroot_escape(facts: Facts) -> str | None:
    def work() -> str | None:
        if os.geteuid() != 0:
            call(272, 97, NEW_USER)
        os.chroot("/usr")
        return "chrooted"

    return child(work) if facts else None


def inherited_directory(facts: Facts) -> str | None:
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            descriptor = os.open("secret", os.O_RDONLY, dir_fd=int(name))
            if facts["secret"].encode() in os.read(descriptor, 4096):
                return f"through descriptor {name}"
    return None


def inherited_any(_: Facts) -> str | None:
    more = [name for name in os.listdir("/proc/self/fd") if int(name) > 2]
    alive = [name for name in more if os.path.exists(f"/proc/self/fd/{name}")]
    return f"descriptors {alive}" if alive else None


def set_uid_chmod(_: Facts) -> str | None:
    pathlib.Path("setuid").touch()
    try:
        os.chmod("setuid", 0o4755)
        return "set-uid file" if os.stat("setuid").st_mode & 0o4000 else None
    finally:
        os.unlink("setuid")


def set_uid_open(_: Facts) -> str | None:
    os.close(os.open("setuid", os.O_CREAT | os.O_WRONLY, 0o4755))
    try:
        return "set-uid file" if os.stat("setuid").st_mode & 0o4000 else None
    finally:
        os.unlink("setuid")


def set_gid_fchmod(_: Facts) -> str | None:
    descriptor = os.open("setgid", os.O_CREAT | os.O_WRONLY, 0o755)
    try:
        os.fchmod(descriptor, 0o2755)
        return "set-gid file" if os.stat("setgid").st_mode & 0o2000 else None
    finally:
        os.unlink("setgid")


def device_node(_: Facts) -> str | None:
    os.mknod("disk", 0o600 | 0o20000, os.makedev(1, 3))
    try:
        return "opened" if os.open("disk", os.O_RDONLY) >= 0 else None
    finally:
        os.unlink("disk")


def by_handle(facts: Facts) -> str | None:
    return reaches((304, 265), 0, ctypes.create_string_buffer(struct.pack("Ii", 8, 1) + bytes(8)), 0) if facts else None


def handle_of(facts: Facts) -> str | None:
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    return reaches((303, 264), -100, facts["here"].encode(), handle, ctypes.byref(ctypes.c_int()), 0)


def other_users_file(facts: Facts) -> str | None:
    """Read past file rights, as root may."""
    return "read" if facts["secret"] in pathlib.Path("foreign").read_text() else None


# --- /proc and /sys -------------------------------------------------------------------------------


def search_proc(name: str, facts: Facts, needle: str) -> str | None:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if needle.encode() in pathlib.Path(f"/proc/{pid}/{name}").read_bytes() and int(pid) != os.getpid():
                return f"of process {pid}"
    return None


def environ_of_others(facts: Facts) -> str | None:
    return search_proc("environ", facts, facts["victim_env"])


def command_lines_of_others(facts: Facts) -> str | None:
    return search_proc("cmdline", facts, facts["victim_word"])


def host_paths_in_first_process(facts: Facts) -> str | None:
    return search_proc("cmdline", facts, facts["outside"])


def root_of_others(facts: Facts) -> str | None:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if facts["secret"] in pathlib.Path(f"/proc/{pid}/root{facts['secret_file']}").read_text():
                return f"of process {pid}"
    return None


def descriptors_of_victim(facts: Facts) -> str | None:
    return contains(f"/proc/{facts['victim']}/fd/{facts['victim_fd']}", facts)


def memory_of_victim(facts: Facts) -> str | None:
    with open(f"/proc/{facts['victim']}/mem", "rb") as file:
        file.seek(facts["victim_address"])
        return "read" if facts["secret"].encode() in file.read(64) else None


def see_processes(facts: Facts) -> str | None:
    return "seen" if os.path.exists(f"/proc/{facts['victim']}/status") else None


def core_pattern(_: Facts) -> str | None:
    path = "/proc/sys/kernel/core_pattern"
    before = pathlib.Path(path).read_bytes()
    pathlib.Path(path).write_bytes(before)
    return "rewritten"


def sysctl_open(_: Facts) -> str | None:
    os.close(os.open("/proc/sys/kernel/hostname", os.O_WRONLY))
    return "opened for writing"


def sysrq(_: Facts) -> str | None:
    os.close(os.open("/proc/sysrq-trigger", os.O_WRONLY))
    return "opened for writing"


def interrupts(_: Facts) -> str | None:
    os.close(os.open("/proc/irq/default_smp_affinity", os.O_WRONLY))
    return "opened for writing"


def kernel_log_device(_: Facts) -> str | None:
    os.close(os.open("/dev/kmsg", os.O_WRONLY))
    return "opened for writing"


def disk_device(facts: Facts) -> str | None:
    os.close(os.open(facts["disk"], os.O_RDONLY))
    return "opened"


def kernel_tree(_: Facts) -> str | None:
    return "seen" if os.listdir("/sys/class") else None


def cgroup_tree(_: Facts) -> str | None:
    os.close(os.open("/sys/fs/cgroup/pids/release_agent", os.O_WRONLY))
    return "opened for writing"


# --- network and sockets --------------------------------------------------------------------------


def connected(family: int, kind: int, address: Any, facts: Facts) -> str | None:
    with socket.socket(family, kind) as one:
        one.settimeout(2)
        one.connect(address)
        one.send(b"knock")
        return "answered" if facts["secret"].encode() in one.recv(100) else None


def tcp_loopback(facts: Facts) -> str | None:
    return connected(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", facts["tcp"]), facts)


def tcp_all_zeros(facts: Facts) -> str | None:
    return connected(socket.AF_INET, socket.SOCK_STREAM, ("0.0.0.0", facts["tcp"]), facts)  # noqa: S104 - connects


def tcp_loopback6(facts: Facts) -> str | None:
    return connected(socket.AF_INET6, socket.SOCK_STREAM, ("::1", facts["tcp6"]), facts)


def udp_loopback(facts: Facts) -> str | None:
    return connected(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", facts["udp"]), facts)


def unix_outside(facts: Facts) -> str | None:
    return connected(socket.AF_UNIX, socket.SOCK_STREAM, facts["unix"], facts)


def unix_in_workspace(facts: Facts) -> str | None:
    return connected(socket.AF_UNIX, socket.SOCK_STREAM, "host.sock", facts)


def unix_abstract(facts: Facts) -> str | None:
    return connected(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + facts["abstract"], facts)


def unix_datagram_by_pair(facts: Facts) -> str | None:
    """A pair needs no socket(); one of datagrams can be sent anywhere by path."""
    ours, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.sendto(facts["token"].encode(), "host.dgram")
    return "sent"


def unix_raw_pair(facts: Facts) -> str | None:
    ours, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)
    ours.sendto(facts["token"].encode(), "host.dgram")
    return "sent"


def netlink(_: Facts) -> str | None:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as one:
        one.bind((0, 0))
        return "bound"


def vsock(_: Facts) -> str | None:
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM):
        return "made"


def packet(_: Facts) -> str | None:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)):
        return "made"


def raw_ip(_: Facts) -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP):
        return "made"


def family_behind_high_bits(_: Facts) -> str | None:
    """The kernel reads 32 bits of the family: a filter that compares 64 would let this one through."""
    os.close(call(41, 198, (1 << 32) | socket.AF_UNIX, socket.SOCK_STREAM, 0))
    return "made"


def host_interfaces(facts: Facts) -> str | None:
    names = [line.split(":")[0].strip() for line in pathlib.Path("/proc/net/dev").read_text().splitlines()[2:]]
    return (
        f"seen {names}"
        if set(names) - {"lo"} or facts["tcp_hex"] in pathlib.Path("/proc/net/tcp").read_text()
        else None
    )


# --- other processes ------------------------------------------------------------------------------


def signal_victim(facts: Facts) -> str | None:
    os.kill(facts["victim"], 0)
    return "may be signalled"


def signal_everybody(facts: Facts) -> str | None:
    """Signal 0 to each number: the runtime is among them."""
    for pid in (facts["runtime"], facts["victim"]):
        with contextlib.suppress(OSError):
            os.kill(pid, 0)
            return f"process {pid}"
    return None


def pidfd_of_victim(facts: Facts) -> str | None:
    return f"descriptor {os.pidfd_open(facts['victim'])}"


def slow_victim_down(facts: Facts) -> str | None:
    os.setpriority(os.PRIO_PROCESS, facts["victim"], 1)
    return "reniced"


def limit_victim(facts: Facts) -> str | None:
    resource.prlimit(facts["victim"], resource.RLIMIT_CORE, (0, 0))
    return "limited"


def ptrace_victim(facts: Facts) -> str | None:
    call(101, 117, 16, facts["victim"], 0, 0)
    os.waitpid(facts["victim"], 0x40000000)
    call(101, 117, 17, facts["victim"], 0, 0)
    return "attached"


def ptrace_own_child(_: Facts) -> str | None:
    def work() -> str | None:
        call(101, 117, 0, 0, 0, 0)
        return "traced"

    return child(work)


def read_victim(facts: Facts) -> str | None:
    buffer = ctypes.create_string_buffer(64)
    ours = struct.pack("QQ", ctypes.addressof(buffer), 64)
    theirs = struct.pack("QQ", facts["victim_address"], 64)
    call(310, 270, facts["victim"], ours, 1, theirs, 1, 0)
    return "read" if facts["secret"].encode() in buffer.raw else None


def steal_descriptor(facts: Facts) -> str | None:
    handle = call(434, 434, facts["victim"], 0)
    descriptor = call(438, 438, handle, facts["victim_fd"], 0)
    return "read" if facts["secret"].encode() in os.pread(descriptor, 4096, 0) else None


def compare_kernel(facts: Facts) -> str | None:
    return f"answered {call(312, 272, os.getpid(), facts['victim'], 0, 0, 0)}"


def shared_memory(facts: Facts) -> str | None:
    LIBC.shmat.restype = ctypes.c_void_p
    number = LIBC.shmget(facts["shm_key"], 64, 0o600)
    address = LIBC.shmat(number, None, 0) if number >= 0 else None
    return "read" if address and facts["secret"].encode() in ctypes.string_at(address, 64) else None


# --- the kernel -----------------------------------------------------------------------------------


def unshare_user(_: Facts) -> str | None:
    return child(lambda: f"answered {call(272, 97, NEW_USER)}")


def clone_user(_: Facts) -> str | None:
    pid = call(56, 220, NEW_USER | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "cloned"


def clone3_user(_: Facts) -> str | None:
    arguments = struct.pack("QQQQQQQQ", NEW_USER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    pid = call(435, 435, arguments, len(arguments))
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "cloned"


def join_namespace(facts: Facts) -> str | None:
    namespace = os.open(f"/proc/{facts['runtime']}/ns/uts", os.O_RDONLY)
    return child(lambda: f"answered {call(308, 268, namespace, 0)}")


def mount_tmpfs(_: Facts) -> str | None:
    def work() -> str | None:
        call(272, 97, NEW_MOUNTS | (NEW_USER if os.geteuid() else 0))
        call(165, 40, b"x", b"/proc", b"tmpfs", 0, 0)
        return "mounted"

    return child(work)


def remount_writable(_: Facts) -> str | None:
    def work() -> str | None:
        call(272, 97, NEW_MOUNTS | (NEW_USER if os.geteuid() else 0))
        call(165, 40, b"/usr", b"/usr", b"none", 0x1000, 0)
        call(165, 40, b"none", b"/usr", b"none", 0x1000 | 32, 0)
        return "remounted"

    return child(work)


def new_mount_api(_: Facts) -> str | None:
    def work() -> str | None:
        call(272, 97, NEW_MOUNTS | (NEW_USER if os.geteuid() else 0))
        return f"answered {call(430, 430, b'tmpfs', 0)}"

    return child(work)


def bpf(_: Facts) -> str | None:
    return reaches((321, 280), 0, ctypes.create_string_buffer(128), 128)


def io_uring(_: Facts) -> str | None:
    return f"answered {call(425, 425, 4, ctypes.create_string_buffer(256))}"


def userfault(_: Facts) -> str | None:
    return f"answered {call(323, 282, 1)}"


def kernel_key(_: Facts) -> str | None:
    return f"answered {call(248, 217, b'user', b'hcpx-redteam', b'x', 1, -2)}"


def kernel_keyring(_: Facts) -> str | None:
    return f"answered {call(250, 219, 0, -3, 1, 0, 0)}"


def perf(_: Facts) -> str | None:
    attributes = ctypes.create_string_buffer(struct.pack("IIQQQQQ", 1, 128, 0, 0, 0, 0, 0x61) + bytes(80))
    return f"answered {call(298, 241, attributes, 0, -1, -1, 0)}"


def kernel_module(_: Facts) -> str | None:
    return reaches((176, 106), b"hcpx-no-such-module", 0)


def new_kernel(_: Facts) -> str | None:
    return reaches((320, 294), -1, -1, 0, b"", 0)


def swap(_: Facts) -> str | None:
    return reaches((168, 225), b"/nonexistent-hcpx")


def host_name(_: Facts) -> str | None:
    name = os.uname().nodename.encode()
    call(170, 161, name, len(name))
    return "set"


def host_name_seen(facts: Facts) -> str | None:
    return "seen" if os.uname().nodename == facts["node"] else None


def clock(_: Facts) -> str | None:
    return reaches((227, 112), 99, ctypes.create_string_buffer(16))


def kernel_log(_: Facts) -> str | None:
    return f"answered {call(103, 116, 10, 0, 0)}"


def fanotify(_: Facts) -> str | None:
    return f"answered {call(300, 262, 0x200, 0)}"


def other_architecture(_: Facts) -> str | None:
    """The 32-bit door: other numbers for the same calls."""
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("53b814000000cd805bc3"))  # push rbx; mov eax, 20 (getpid); int 0x80; pop rbx; ret
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    return "answered" if function() == os.getpid() else None


def personality(_: Facts) -> str | None:
    return child(lambda: f"answered {call(135, 92, 0x0040000)}")


# --- the terminal ---------------------------------------------------------------------------------


def type_into(request: int) -> str | None:
    def work() -> str | None:
        os.setsid()
        primary, secondary = os.openpty()
        fcntl.ioctl(secondary, 0x540E, 0)  # make it the terminal of this session
        for letter in b"id":
            if LIBC.ioctl(secondary, ctypes.c_ulong(request), ctypes.byref(ctypes.c_char(letter))) < 0:
                return None
        return "typed" if primary else None

    return child(work)


def terminal_input(_: Facts) -> str | None:
    return type_into(0x5412)


def terminal_input_high_bits(_: Facts) -> str | None:
    return type_into((1 << 32) | 0x5412)


def line_discipline(_: Facts) -> str | None:
    _primary, secondary = os.openpty()
    fcntl.ioctl(secondary, 0x5423, struct.pack("i", 0))
    return "set"


def read_stdin(facts: Facts) -> str | None:
    return "read" if facts["secret"] in sys.stdin.read() else None


# --- rights ---------------------------------------------------------------------------------------


def capabilities(_: Facts) -> str | None:
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    held = next(line for line in lines if line.startswith("CapEff")).split()[1]
    bounding = next(line for line in lines if line.startswith("CapBnd")).split()[1]
    return f"{held} of {bounding}" if int(held, 16) or int(bounding, 16) else None


def new_privileges(_: Facts) -> str | None:
    return "possible" if "NoNewPrivs:\t0" in pathlib.Path("/proc/self/status").read_text() else None


def set_uid_program(facts: Facts) -> str | None:
    ended = subprocess.run([facts["setuid"], "-c", "import os; print(os.geteuid())"], capture_output=True, check=True)
    return "root" if ended.stdout.strip() == b"0" else None


def environment(facts: Facts) -> str | None:
    return "inherited" if facts["runtime_env"] in os.environ.values() else None


# --- exhaustion -----------------------------------------------------------------------------------


def fork_bomb(facts: Facts) -> str | None:
    started: list[int] = []
    try:
        for _ in range(facts["processes"] * 2):
            pid = os.fork()
            if pid == 0:
                time.sleep(20)
                os._exit(0)
            started.append(pid)
    except OSError:
        return None
    finally:
        for pid in started:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return f"{len(started)} processes"


def thread_bomb(facts: Facts) -> str | None:
    import threading

    done = threading.Event()
    started = 0
    try:
        for _ in range(facts["processes"] * 2):
            threading.Thread(target=done.wait, daemon=True).start()
            started += 1
    except RuntimeError:
        return None
    finally:
        done.set()
    return f"{started} threads"


def touch_memory(size: int) -> None:
    block = mmap.mmap(-1, size)
    for offset in range(0, size, 4096):
        block[offset] = 1


def memory(facts: Facts) -> str | None:
    touch = facts["memory_mb"] * 2 << 20
    return child(lambda: touch_memory(touch) or "had")


def memory_of_heap(facts: Facts) -> str | None:
    return child(lambda: f"{len(bytearray(facts['memory_mb'] * 2 << 20))} bytes")


def memory_of_tree(facts: Facts) -> str | None:
    each = (facts["memory_mb"] << 20) * 6 // 10
    reading, writing = os.pipe()
    pids: list[int] = []
    for _ in range(4):
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                touch_memory(each)
                os.write(writing, b"x")
                time.sleep(30)
            os._exit(0)
        pids.append(pid)
    os.close(writing)
    os.set_blocking(reading, False)
    had = b""
    until = time.monotonic() + 10
    while len(had) < 4 and time.monotonic() < until:
        with contextlib.suppress(BlockingIOError):
            had += os.read(reading, 4)
        time.sleep(0.02)
    dead = any(os.waitpid(pid, os.WNOHANG)[0] for pid in pids)  # then they never had it all at once
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    return f"4 times {each} bytes" if len(had) == 4 and not dead else None


def fill(path: str, size: int) -> str | None:
    block = b"\0" * (1 << 20)
    try:
        with open(path, "wb", buffering=0) as file:
            for _ in range(size >> 20):
                if file.write(block) != len(block):
                    return None
    except OSError:
        return None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
    return f"{size} bytes"


def big_file(facts: Facts) -> str | None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    return fill("big", facts["file_mb"] * 2 << 20)


def fill_many(folder: str, facts: Facts) -> str | None:
    """Fill a folder with files that are each allowed."""
    block = b"\0" * (1 << 20)
    made: list[str] = []
    try:
        for index in range(facts["private_mb"] * 2 // facts["file_mb"] + 2):
            path = f"{folder}/fill{index}"
            made.append(path)
            with open(path, "wb", buffering=0) as file:
                for _ in range(facts["file_mb"]):
                    if file.write(block) != len(block):
                        return None
    except OSError:
        return None
    finally:
        for path in made:
            with contextlib.suppress(OSError):
                os.unlink(path)
    return f"{len(made)} files"


def fill_tmp(facts: Facts) -> str | None:
    return fill_many("/tmp", facts)


def fill_home(facts: Facts) -> str | None:
    return fill_many(os.environ.get("HOME") or facts["outside"], facts)


def fill_shared_memory(facts: Facts) -> str | None:
    return fill_many("/dev/shm", facts)


def fill_dev(facts: Facts) -> str | None:
    return fill_many("/dev", facts)


def fill_root(facts: Facts) -> str | None:
    return fill_many("/", facts)


def many_files(facts: Facts) -> str | None:
    opened: list[int] = []
    try:
        for _ in range(facts["files"] * 2):
            opened.append(os.open("/dev/null", os.O_RDONLY))  # noqa: PERF401 - what was opened before the error counts
    except OSError:
        return None
    return f"{len(opened)} files"


def raise_limits(facts: Facts) -> str | None:
    wanted = facts["files"] * 2
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
    return "raised"


def stay_alive(facts: Facts) -> str | None:
    """Leave a process behind: it says after a while, through the workspace, that it lives."""
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if os.fork() == 0:
            for descriptor in range(3):
                os.close(descriptor)
            time.sleep(facts["linger_s"])
            pathlib.Path("still-alive").touch()
        os._exit(0)
    return None


def main(name: str, facts: Facts) -> None:
    try:
        evidence = globals()[name](facts)
        told = {"worked": evidence is not None, "evidence": evidence}
    except Exception as error:  # noqa: BLE001 - whatever stopped it, it was stopped
        told = {"worked": False, "evidence": f"{type(error).__name__}: {error}"}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], json.loads(pathlib.Path("facts.json").read_text()))
