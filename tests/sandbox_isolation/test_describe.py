"""What doctor is told, and why a machine has no sandbox (Spec 04 section 1)."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from hcpx.sandbox.choose import Places, choose
from hcpx.sandbox.describe import describe
from hcpx.sandbox.job import NotStarted
from tests.redteam.people import NOBODY, as_user, python
from tests.sandbox_isolation.bench import Bench

if TYPE_CHECKING:
    from pathlib import Path


def test_doctor_names_backend_memory_and_processes(bench: Bench) -> None:
    facts = describe("sandbox", Places(bench.state, (bench.private,)))
    assert [fact.name for fact in facts] == ["sandbox", "sandbox memory", "sandbox processes"]
    assert facts[0].detail.startswith("bubblewrap ")
    assert all(fact.ok or fact.fix for fact in facts)
    assert not any("/" in fact.detail.replace("/proc", "") for fact in facts)


def test_native_local_says_what_it_does_not_hold(bench: Bench) -> None:
    (fact,) = describe("native-local", Places(bench.state, (bench.private,)))
    assert fact.detail.startswith("native-local: no isolation")


def test_with_no_backend_the_reason_names_the_way_out(tmp_path: Path) -> None:
    chosen = choose("sandbox", Places(str(tmp_path / "state"), (str(tmp_path / "private"),)), ())
    assert isinstance(chosen, NotStarted)
    assert chosen.code == "sandbox_unavailable"
    assert "apt install bubblewrap" in chosen.why


def test_where_user_namespaces_are_forbidden_the_fallback_is_taken_and_said(bench: Bench) -> None:
    """In a user namespace whose own limit of further ones is none, as a container without them has it."""
    code = (
        "import sys\n"
        "from hcpx.sandbox.choose import Places, choose\n"
        "from hcpx.sandbox.describe import describe\n"
        "places = Places(sys.argv[1] + '/state', (sys.argv[1] + '/private',))\n"
        "print(choose('sandbox', places, ('bubblewrap',)).why)\n"
        "print(choose('sandbox', places).name)\n"
        "print(describe('sandbox', places)[0].fix)\n"
    )
    home = os.path.join(bench.folder, "home")
    os.mkdir(home)
    uid = NOBODY if os.geteuid() == 0 else os.geteuid()
    os.chown(home, uid, uid)
    script = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
    inner = ["/bin/sh", "-c", script, "sh", *python(bench.folder), "-c", code, home]
    command = as_user(uid, ["/usr/bin/unshare", "--user", "--map-root-user", *inner])
    told = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    refused, name, fix = told.stdout.splitlines()
    assert "user namespaces are switched off" in refused
    assert name == "landlock"
    assert fix == "user namespaces are switched off, allow them with: sysctl -w user.max_user_namespaces=15000"
