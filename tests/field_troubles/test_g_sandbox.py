"""Group G: the sandbox, links across its border, a working directory that is gone (Spec 04)."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.field_troubles.site import Site

INSIDE = {"mode": "project"}

# Makes the kernel refuse what isolation needs, as a container's profile does, and then becomes `hcpx`.
CONTAINED = r"""
import ctypes, os, struct, sys
EPERM, ENOSYS = 1, 38
REFUSED = {272: EPERM, 308: EPERM, 435: ENOSYS, 444: ENOSYS, 445: ENOSYS, 446: ENOSYS, 165: EPERM}
NAMESPACES = 0x7E020000
code = [(0x20, 0, 0, 0)]
for number, errno in REFUSED.items():
    code += [(0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | errno)]
code += [(0x15, 0, 3, 56), (0x20, 0, 0, 16), (0x45, 0, 1, NAMESPACES), (0x06, 0, 0, 0x00050000 | EPERM)]
code += [(0x06, 0, 0, 0x7FFF0000)]
raw = b"".join(struct.pack("HBBI", *one) for one in code)
buffer = ctypes.create_string_buffer(raw)
program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(buffer))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
    sys.exit("no seccomp here")
os.execv(sys.executable, [sys.executable, "-m", "hcpx", *sys.argv[1:]])
"""


def contained(site: Site, *words: str) -> tuple[int, Any]:
    done = subprocess.run(
        [sys.executable, "-c", CONTAINED, *words],
        capture_output=True,
        env=site.environment(),
        timeout=120,
        check=False,
    )
    if b"no seccomp here" in done.stderr:
        pytest.skip("this machine lets nobody install a filter")
    return done.returncode, json.loads(done.stdout)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of system calls are those of x86-64")
def test_g1_where_nothing_isolates_nothing_is_started_bare(site: Site) -> None:
    site.install("depot", commands={"run": ["depot", "run"]})
    status, result = contained(site, "exec", "depot", "run", "--json")
    assert (status, result["ok"], result["code"]) == (127, False, "sandbox_unavailable")
    assert result["error"].startswith("sandbox: unavailable: ")
    assert site.started() == 0

    site.owner.configure("sandbox", "native-local")
    status, result = contained(site, "exec", "depot", "run", "--json")
    assert (status, result["result"]["env"]["HCP_SANDBOX"]) == (0, "native-local")
    assert (result["enforced"]["sandbox"], site.audited(result)["sandbox"]) == ("native-local", "native-local")


def in_project(site: Site, script: str, land: str = "local") -> str:
    """A pack that works in the project, and the token of a session that has it in scope."""
    (site.folder / "project").mkdir()
    site.owner.projects.add(site.owner.tenant, "p1", str(site.folder / "project"))
    site.install(
        "depot",
        script,
        wrap={"json_flag": None, "workspace": INSIDE},
        commands={"run": ["depot", "run"]},
        policy={"run": {"operation": "write", "confirm": False, "privacy": {"land": land}}},
    )
    return site.person("user:p-1", ("verb.exec.write", "depot", ["*"]), project="p1")


def test_g2_a_link_out_of_the_workspace_leads_nowhere_and_one_inside_works(site: Site) -> None:
    script = "#!/bin/sh\necho inside >ok/y && echo y\necho outside >out/x && echo x\necho outside >deep/x && echo x\n"
    token = in_project(site, script)
    project, victim = site.folder / "project", site.folder / "victim"
    victim.mkdir()
    (project / "real").mkdir()
    (project / "ok").symlink_to("./real")
    (project / "out").symlink_to("../../victim")
    (project / "deep").symlink_to(victim)
    result = site.call("depot", "run", token=token)
    assert (result.stdout, (project / "real" / "y").read_text()) == ("y\n", "inside\n")
    assert list(victim.iterdir()) == []


def test_g2_a_program_that_is_a_link_out_of_its_pack_is_refused(site: Site) -> None:
    place = site.write("depot", commands={"run": ["depot", "run"]})
    (place / "bin" / "run").unlink()
    (place / "bin" / "run").symlink_to("/usr/bin/env")
    assert any("bin/run" in error for error in site.refusal(place))


def test_g3_a_working_directory_that_is_gone_is_named(site: Site) -> None:
    token = in_project(site, "#!/bin/sh\npwd\n")
    site.install("notes", commands={"list": ["notes", "list"]})
    (site.folder / "project").rmdir()
    result = site.call("depot", "run", token=token)
    assert (result.ok, result.code, result.step) == (False, "not_executable", 6)
    assert result.error == 'sandbox: bin "bin/run" cannot be executed: working directory gone'
    assert site.call("notes", "list").ok


def test_g3_a_working_directory_removed_and_made_anew_is_the_new_one(site: Site) -> None:
    token = in_project(site, "#!/bin/sh\nls\n")
    project = site.folder / "project"
    project.rmdir()
    Path(project).mkdir()
    (project / "new").touch()
    assert site.call("depot", "run", token=token).stdout == "new\n"
    os.replace(project, site.folder / "elsewhere")
    project.symlink_to("elsewhere")
    result = site.call("depot", "run", token=token)
    assert (result.ok, result.code) == (False, "not_executable")
    assert "symlink" in str(result.error)
