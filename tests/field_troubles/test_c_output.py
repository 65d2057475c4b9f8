"""Group C: what a program prints (Spec 01 section 4, Spec 04 section 3)."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from tests.field_troubles.site import Site

MIB = 1024 * 1024
READS = {"operation": "read"}


def only(site: Site, script: str, **row: Any) -> None:
    """Install a pack with the one command `run`, without a JSON flag."""
    site.install(
        "depot",
        script,
        wrap={"json_flag": None},
        commands={"run": ["depot", "run"]},
        policy={"run": READS | row},
    )


@pytest.mark.parametrize("face", ["sdk", "cli"])
def test_c1_output_that_is_not_utf8_is_text_and_no_failure(site: Site, face: str) -> None:
    only(site, '#!/bin/sh\nprintf \'{"n":"caf\\351"}\'\n')
    result = site.faces('{"pack_id":"depot","verb_key":"run"}')[face]
    assert (result["ok"], result["stdout"], result["result"]) == (True, '{"n":"caf�"}', '{"n":"caf�"}')
    assert result["stdout_base64"] == "eyJuIjoiY2Fm6SJ9"


def test_c2_a_warning_in_front_of_json_leaves_all_of_it_text(site: Site) -> None:
    only(site, "#!/bin/sh\necho 'WARN cache cold'\necho '{\"n\":1}'\n")
    result = site.call("depot", "run")
    assert (result.ok, result.result) == (True, 'WARN cache cold\n{"n":1}\n')


def test_c2_a_warning_on_stderr_leaves_the_json_alone(site: Site) -> None:
    only(site, "#!/bin/sh\necho 'WARN cache cold' >&2\necho '{\"n\":1}'\n")
    result = site.call("depot", "run")
    assert (result.ok, result.result, result.stderr) == (True, {"n": 1}, "WARN cache cold\n")


def most_memory(site: Site) -> int:
    """The highest resident size, in bytes, of one `hcpx exec` and of what it started."""
    command = [sys.executable, "-m", "hcpx", "exec", "depot", "run", "--json"]
    with subprocess.Popen(command, env=site.environment(), stdout=subprocess.DEVNULL) as running:
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    assert running.returncode == 0
    return used.ru_maxrss * 1024


@pytest.mark.slow
def test_c3_a_flood_is_drained_and_memory_stays_near_the_cap(site: Site) -> None:
    only(site, "#!/bin/sh\necho little\n", limits={"output_bytes": MIB})
    usual = most_memory(site)
    site.install(
        "depot",
        "#!/bin/sh\nhead -c 200000000 /dev/zero | tr '\\0' x\n",
        replace=True,
        wrap={"json_flag": None},
        commands={"run": ["depot", "run"]},
        policy={"run": READS | {"limits": {"output_bytes": MIB}}},
    )
    result = site.call("depot", "run")
    assert (result.ok, result.exit_code, result.truncated) == (True, 0, ("stdout",))
    assert (len(result.stdout), result.result) == (MIB, result.stdout)
    assert site.audited(result)["output_sizes"]["stdout"] == 200_000_000
    assert most_memory(site) < usual + 16 * MIB


def test_c3_what_was_cut_is_never_parsed(site: Site) -> None:
    text = "#!/usr/bin/env python3\nprint('[' + '1,' * 1500000 + '1]')\n"
    only(site, text, limits={"output_bytes": MIB})
    result = site.call("depot", "run")
    assert (result.ok, result.exit_code, result.truncated) == (True, 0, ("stdout",))
    assert result.result == "[" + "1," * (MIB // 2 - 1) + "1"


def test_c3_an_endless_flood_ends_at_its_limit(site: Site) -> None:
    only(site, "#!/bin/sh\nexec yes\n", limits={"output_bytes": MIB, "timeout_s": 2})
    result = site.call("depot", "run")
    assert (result.ok, result.code, result.error) == (False, "timeout", "timeout after 2 s")
    assert (result.exit_code, result.truncated, len(result.stdout)) == (124, ("stdout",), MIB)


def test_c4_colour_forced_on_the_runtime_does_not_reach_the_program(site: Site) -> None:
    script = (
        "#!/bin/sh\n"
        'if [ -n "$CLICOLOR_FORCE$FORCE_COLOR" ]; then printf "\\033[32m"; fi\n'
        'printf \'{"no_color":"%s"}\' "$NO_COLOR"\n'
    )
    only(site, script)
    done = site.cli("exec", "depot", "run", "--json", env={"CLICOLOR_FORCE": "1", "FORCE_COLOR": "1"})
    assert done.body["result"] == {"no_color": "1"}
