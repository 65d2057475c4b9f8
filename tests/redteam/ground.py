"""Lays out the targets, tries every attempt there without and with a sandbox, and prints one JSON line for
each.

`python -m tests.redteam.ground SETTING BACKEND FOLDER`: a process of its own, so that it can have any uid.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
from typing import Any

from hcpx.sandbox.choose import Places, choose
from hcpx.sandbox.job import Backend, Ended, Job, NotStarted
from hcpx.sandbox.selftest import Folder
from hcpx.vocabulary.invocation import Cancel, Program
from hcpx.vocabulary.policy import Limits
from tests.redteam.attempts import ATTEMPTS, OWNED

SECRET = "planted-" + os.urandom(6).hex()
LIMITS = Limits(timeout_s=30, memory_mb=128, processes=40, files=128, file_mb=8)
LINGER_S = 0.3
VICTIM = """
import ctypes, mmap, os, sys
block = mmap.mmap(-1, 4096)
file = os.open(sys.argv[2], os.O_RDONLY)
block.write(open(sys.argv[2], 'rb').read())
print(ctypes.addressof(ctypes.c_char.from_buffer(block)), file, flush=True)
sys.stdin.read()
"""


class Ground:
    """The targets of one setting."""

    def __init__(self, setting: str, folder: str) -> None:
        self.folder = folder
        self.setting = setting
        self.private = os.path.join(folder, "private")
        self.workspace = os.path.join(folder if setting == OWNED else self.private, "workspace")
        self.outside = os.path.join(folder, "outside")
        self.pack = os.path.join(folder, "pack")
        self.facts: dict[str, Any] = {"secret": SECRET}
        self._ends: list[Any] = []
        for path in (self.private, self.workspace, self.outside, os.path.join(self.private, "sibling")):
            os.makedirs(path, exist_ok=True)
        self._files()
        self._sockets()
        self._victim()
        self._rest()

    def _write(self, path: str, mode: int = 0o644) -> str:
        pathlib.Path(path).write_text(SECRET, encoding="ascii")
        os.chmod(path, mode)
        return path

    def _files(self) -> None:
        for name in ("secret", "target", "movable"):
            self._write(os.path.join(self.outside, name), 0o666)
        sibling = os.path.join(self.private, "sibling")
        self._write(os.path.join(sibling, "secret"))
        self._write(os.path.join(self.pack, "data"), 0o666)
        os.symlink(self.outside, os.path.join(self.workspace, "planted-link"))
        os.mkfifo(os.path.join(self.workspace, "fifo"))
        pathlib.Path(self.workspace, "name with\nnewline").touch()
        if self.setting == OWNED:
            os.chown(self._write(os.path.join(self.workspace, "foreign"), 0o600), 12345, 12345)
        unique = f"hcpx-{os.getpid()}-{os.urandom(4).hex()}"
        self.leftovers = [self._write(f"/tmp/{unique}"), self._write(f"/dev/shm/{unique}")]
        disks = [
            *glob.glob("/dev/vd?"),
            *glob.glob("/dev/sd?"),
            *glob.glob("/dev/nvme?n?"),
            "/dev/mem",
        ]
        self.facts |= {
            "secret_file": os.path.join(self.outside, "secret"),
            "outside": self.outside,
            "sibling": sibling,
            "here": self.workspace,
            "account": pathlib.Path("/etc/passwd").read_text().splitlines()[1],
            "tmp_file": self.leftovers[0],
            "shm_file": self.leftovers[1],
            "run_names": os.listdir("/run"),
            "disk": disks[0],
            "setuid": os.path.join(self.pack, "setuid"),
            "node": os.uname().nodename,
        }

    def _sockets(self) -> None:
        tcp = self._listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        tcp6 = self._listen(socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0))
        udp = self._listen(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        abstract = f"hcpx-{os.urandom(6).hex()}"
        unix = os.path.join(self.outside, "host.sock")
        here = os.getcwd()
        os.chdir(self.workspace)  # a socket's path is short
        self._listen(socket.AF_UNIX, socket.SOCK_STREAM, "host.sock")
        self._listen(socket.AF_UNIX, socket.SOCK_DGRAM, "host.dgram")
        os.chdir(self.outside)
        self._listen(socket.AF_UNIX, socket.SOCK_STREAM, "host.sock")
        os.chdir(here)
        self._listen(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + abstract)
        port = tcp.getsockname()[1]
        self.facts |= {
            "tcp": port,
            "tcp_hex": f"0100007F:{port:04X}",
            "tcp6": tcp6.getsockname()[1],
            "udp": udp.getsockname()[1],
            "unix": unix,
            "abstract": abstract,
            "token": SECRET,
        }

    def _listen(self, family: int, kind: int, address: Any) -> socket.socket:
        one = socket.socket(family, kind)
        one.bind(address)
        if isinstance(address, str) and address[0] != "\0":
            os.chmod(address, 0o777)
        if kind == socket.SOCK_STREAM:
            one.listen()
        threading.Thread(target=_serve, args=(one, kind), daemon=True).start()
        self._ends.append(one)
        return one

    def _victim(self) -> None:
        word, env = f"word-{os.urandom(6).hex()}", f"env-{os.urandom(6).hex()}"
        argv = ["/usr/bin/python3", "-c", VICTIM, word, self.facts["secret_file"]]
        victim = subprocess.Popen(argv, env={"VICTIM": env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert victim.stdout is not None
        address, descriptor = victim.stdout.readline().split()
        self.victim = victim
        self.facts |= {
            "victim": victim.pid,
            "victim_word": word,
            "victim_env": env,
            "victim_address": int(address),
            "victim_fd": int(descriptor),
        }

    def _rest(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.shmat.restype = ctypes.c_void_p
        self.shm_key = int.from_bytes(os.urandom(3), "big") + 1
        self.shm = libc.shmget(self.shm_key, 4096, 0o1666)
        ctypes.memmove(libc.shmat(self.shm, None, 0), SECRET.encode() + b"\0", len(SECRET) + 1)
        self.facts |= {
            "shm_key": self.shm_key,
            "runtime": os.getpid(),
            "runtime_env": os.environ.setdefault("RUNTIME_SECRET", f"runtime-{os.urandom(6).hex()}"),
            "processes": LIMITS.processes,
            "memory_mb": LIMITS.memory_mb,
            "private_mb": LIMITS.memory_mb // 2,
            "file_mb": LIMITS.file_mb,
            "files": LIMITS.files,
            "linger_s": LINGER_S,
        }
        pathlib.Path(self.workspace, "facts.json").write_text(json.dumps(self.facts))
        # what a careless runtime would hand on: its stdin and an open directory
        reading, writing = os.pipe()
        os.write(writing, SECRET.encode())
        os.close(writing)
        self.stdin = reading
        self.directory = os.open(self.outside, os.O_RDONLY)
        os.set_inheritable(self.directory, True)

    def uncontrolled(self, attack: str) -> dict[str, Any]:
        """Run an attack with nothing in its way."""
        reading, writing = os.pipe()
        os.write(writing, SECRET.encode())
        os.close(writing)
        argv = [os.path.join(self.pack, "attacks.py"), attack]
        env = {**os.environ, "HOME": self.folder}
        ended = subprocess.run(
            argv,
            cwd=self.workspace,
            env=env,
            stdin=reading,
            capture_output=True,
            check=False,
            close_fds=False,
            timeout=60,
        )
        os.close(reading)
        return self._told(attack, ended.stdout, ended.stderr)

    def held(self, backend: Backend, attack: str) -> dict[str, Any]:
        """Run the same in a sandbox."""
        os.dup2(self.stdin, 0)
        directory = Folder(self.workspace)
        job = Job(
            program=Program(os.path.join(self.pack, "attacks.py"), ""),
            name="attacks.py",
            argv=(attack,),
            env={"PATH": "/usr/local/bin:/usr/bin:/bin"},
            pack_root=self.pack,
            directory=directory,
            writable=True,
            limits=LIMITS,
            keep=65536,
            cancel=Cancel(),
        )
        ended = backend.run(job)
        directory.close()
        if isinstance(ended, NotStarted):
            return {"worked": None, "evidence": ended.why}
        assert isinstance(ended, Ended)
        return self._told(attack, ended.stdout, ended.stderr)

    def _told(self, attack: str, stdout: bytes, stderr: bytes) -> dict[str, Any]:
        if attack == "stay_alive":
            time.sleep(LINGER_S * 2)  # what is to be seen is that nothing happens
            alive = os.path.exists(os.path.join(self.workspace, "still-alive"))
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(self.workspace, "still-alive"))
            return {"worked": alive, "evidence": "it wrote a file later" if alive else None}
        intact = all(
            pathlib.Path(self.outside, name).read_text() == SECRET for name in ("secret", "target", "movable")
        ) and sorted(os.listdir(self.outside)) == ["host.sock", "movable", "secret", "target"]
        if not intact or self.victim.poll() is not None:
            return {"worked": True, "evidence": "something outside has changed"}
        try:
            return json.loads(stdout)
        except ValueError:
            return {"worked": False, "evidence": f"ended: {stderr.decode(errors='replace').strip()[-200:]}"}

    def close(self) -> None:
        self.victim.kill()
        self.victim.wait()
        for path in self.leftovers:
            with contextlib.suppress(OSError):
                os.unlink(path)
        ctypes.CDLL(None).shmctl(self.shm, 0, None)


def _serve(one: socket.socket, kind: int) -> None:
    while True:
        with contextlib.suppress(OSError):
            if kind == socket.SOCK_DGRAM:
                _, address = one.recvfrom(100)
                if address:
                    one.sendto(SECRET.encode(), address)
            else:
                connection, _ = one.accept()
                with connection:
                    connection.recv(100)
                    connection.send(SECRET.encode())


def backend_of(name: str, ground: Ground) -> Backend:
    kinds = ("bubblewrap",) if name == "primary" else ("landlock",)
    chosen = choose("sandbox", Places(os.path.join(ground.folder, f"state-{name}"), (ground.private,)), kinds)
    if isinstance(chosen, NotStarted):
        raise SystemExit(chosen.why)
    return chosen


def main(setting: str, names: str, folder: str) -> None:
    ground = Ground(setting, folder)
    try:
        backends = {name: backend_of(name, ground) for name in names.split(",")}
        for attempt in ATTEMPTS:
            if setting not in attempt.where:
                continue
            row: dict[str, Any] = {"attack": attempt.attack, "control": ground.uncontrolled(attempt.attack)}
            for name, backend in backends.items():
                row[name] = ground.held(backend, attempt.attack)
            sys.stdout.write(json.dumps(row) + "\n")
            sys.stdout.flush()
    finally:
        ground.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
