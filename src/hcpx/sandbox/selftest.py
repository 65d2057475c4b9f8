"""Proof, on this machine and since this boot, that a backend isolates (Spec 04 section 1).

A probe is run in it that tells what it is allowed and tries to read a secret planted for it. Only a success
is remembered, with all that it depends on: another boot, another helper program or another policy of ours
asks for a new one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Final

import msgspec

from hcpx.vocabulary.invocation import Cancel, Program
from hcpx.vocabulary.policy import Limits

from .job import Backend, Ended, Job
from .journal import boot_id

_PROBE: Final = """\
while read -r name value _; do
    case $name in CapEff:|CapPrm:|CapBnd:|NoNewPrivs:|Seccomp:) echo "$name $value";; esac
done </proc/self/status
{ read -r _; read -r _; while read -r name _; do echo "net $name"; done; } </proc/net/dev
(read -r secret <"$1" && echo "secret $secret") 2>/dev/null
(echo changed >"$1") 2>/dev/null
echo end
"""
_NO_PROC: Final = """\
(read -r secret <"$1" && echo "secret $secret") 2>/dev/null
(echo changed >"$1") 2>/dev/null
echo end
"""
_NOTHING: Final = "0000000000000000"
_WANTED: Final = {
    f"CapEff: {_NOTHING}",
    f"CapPrm: {_NOTHING}",
    f"CapBnd: {_NOTHING}",
    "NoNewPrivs: 1",
    "Seccomp: 2",
    "end",
}
_LOOPBACK: Final = "net lo:"


class Folder:
    """An open directory for the probe."""

    problem = None

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)
        self.fd = os.open(self.path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def close(self) -> None:
        """Close it; more than once is fine."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def failure(backend: Backend, private: str, *, proc: bool = True) -> str | None:
    """Run the probe below the folder of private directories; returns what did not hold, None for success."""
    made: list[str] = []
    try:
        os.makedirs(private, mode=0o700, exist_ok=True)
        made.append(tempfile.mkdtemp(prefix="proof-", dir=private))
        made.append(tempfile.mkdtemp(prefix="hcpx-proof-"))
        return _probed(backend, *made, proc=proc)
    except OSError as error:
        return f"the self-test could not be made: {error.strerror}"
    finally:
        for folder in made:
            shutil.rmtree(folder, ignore_errors=True)


def _probed(backend: Backend, workspace: str, planted: str, *, proc: bool) -> str | None:
    secret = os.path.join(planted, "secret")
    pack = os.path.join(planted, "pack")
    token = os.urandom(8).hex()
    os.mkdir(pack, 0o755)
    with open(secret, "w", encoding="ascii") as file:
        file.write(token + "\n")
    for path in (planted, pack, secret):
        os.chmod(path, 0o777)  # noqa: S103 - only the isolation is to stand in the way
    directory = Folder(workspace)
    try:
        ended = backend.run(_job(_PROBE if proc else _NO_PROC, secret, pack, directory))
    finally:
        directory.close()
    if not isinstance(ended, Ended):
        return ended.why
    told = ended.stdout.decode("ascii", "replace").splitlines()
    with open(secret, encoding="ascii") as file:
        if file.read() != token + "\n":
            return "a file outside of the sandbox could be written"
    if any(line.startswith("secret") for line in told):
        return "a file outside of the sandbox could be read"
    if not proc:
        return None if told == ["end"] else "the probe did not come to its end"
    # Without namespaces, one who is not root cannot shrink the set that exec would draw from.
    wanted = _WANTED if backend.name != "landlock" else {line for line in _WANTED if not line.startswith("CapBnd")}
    missing = sorted(wanted - set(told))
    if missing:
        return f"not as it must be: {', '.join(missing)}"
    if {line for line in told if line.startswith("net")} - {_LOOPBACK}:
        return "the network of the host could be seen"
    return None


def _job(script: str, secret: str, pack: str, directory: Folder) -> Job:
    return Job(
        program=Program(os.path.realpath("/bin/sh"), ""),
        name="sh",
        argv=("-c", script, "probe", secret),
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        pack_root=os.path.realpath(pack),
        directory=directory,
        writable=True,
        limits=Limits(timeout_s=20),
        keep=65536,
        cancel=Cancel(),
    )


class Proof(msgspec.Struct, frozen=True):
    """What a success depends on (`key`), and what was found out on the way."""

    boot: str
    key: str
    backend: str
    program: str = ""
    version: str = ""
    mark: str = ""
    nobody: int = -1
    bind_fd: bool = True
    proc: bool = True


_DECODER = msgspec.json.Decoder(Proof)


def recall(path: str, key: str) -> Proof | None:
    """Return a proof of this boot for exactly this key, None where there is none to be trusted."""
    proof = read(path)
    return proof if proof is not None and proof.boot == boot_id() and proof.key == key else None


def read(path: str) -> Proof | None:
    """Return what was remembered last, None where others than we could have written it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if found.st_uid != os.geteuid() or found.st_mode & 0o022:
                return None
            return _DECODER.decode(file.read(65536))
    except (OSError, msgspec.MsgspecError):
        return None


def remember(path: str, proof: Proof) -> None:
    """Keep a proof; where it cannot be kept, the next start makes a new one."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        descriptor, fresh = tempfile.mkstemp(dir=os.path.dirname(path))
        with open(descriptor, "wb") as file:
            file.write(msgspec.json.encode(proof))
        os.replace(fresh, path)
    except OSError:
        return
