"""Troubles that have one line of their own and no row: X1 to X11 in the list of rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.field_troubles.site import TICK, Site


def test_x1_braces_that_are_meant_for_the_tool_reach_it_as_they_are(site: Site) -> None:
    cli = ["depot", "ps", "--format", "{{.Name}}", "{ }", "{{ name }}", "{{name}}", "{{9}}", "{name}"]
    site.install("depot", commands={"ps": cli})
    seen = site.call("depot", "ps", {"name": "box"}).result["argv"]
    assert seen == ["ps", "--format", "{{.Name}}", "{ }", "{{ name }}", "box", "{{9}}", "{name}", "--json"]


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        ({"k": 1}, "invalid args: /it: an object cannot become an argument"),
        ([{"k": 1}], "invalid args: /it: an object cannot become an argument"),
        ('{"k": [1]}', '{"k": [1]}'),
        ([1, "two", None, [3, 4]], "1,two,,3,4"),
        ("__import__('os').system('x')", "__import__('os').system('x')"),
    ],
    ids=str,
)
def test_x2_lists_and_objects_become_text_by_one_rule_or_not_at_all(site: Site, value: Any, outcome: str) -> None:
    site.install("depot", commands={"put": ["depot", "put", "{{it}}"]})
    result = site.call("depot", "put", {"it": value})
    assert (result.result["argv"][1] if result else result.error) == outcome


def test_x3_a_program_that_was_just_written_starts_while_other_threads_fork(site: Site) -> None:
    text = "#!/bin/sh\necho '{\"ok\":true}'\n"
    packs = ["one", "two", "three", "four"]
    places = {pack_id: site.install(pack_id, text, link=True, commands={"run": [pack_id, "run"]}) for pack_id in packs}

    def rewritten(pack_id: str) -> list[Any]:
        results: list[Any] = []
        for _ in range(5):
            path = places[pack_id] / "bin" / "run"
            path.unlink()
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            path.chmod(0o755)
            results.append(site.call(pack_id, "run"))
        return results

    with ThreadPoolExecutor(4) as pool:
        results = [result for found in pool.map(rewritten, packs) for result in found]
    assert [result.error for result in results if not result.ok] == []


def test_x3_a_program_that_is_being_written_is_named(site: Site) -> None:
    site.owner.configure("sandbox", "native-local")
    place = site.write("depot", commands={"run": ["depot", "run"]})
    (place / "bin" / "run").write_bytes(Path("/bin/true").read_bytes())
    site.owner.packs.add(str(place), link=True)
    site.owner.packs.activate("depot")
    with open(place / "bin" / "run", "r+b"):
        result = site.call("depot", "run")
    assert (result.ok, result.code) == (False, "not_executable")
    assert "text file busy" in str(result.error).lower()


@pytest.mark.parametrize("template", ["{{unset}}", "Bearer {{NAME}}", "{{access_token}}{{oops}}"])
def test_x5_a_name_that_nothing_fills_is_never_handed_on_as_a_credential(site: Site, template: str) -> None:
    manifest: dict[str, Any] = {
        "binding": {"env": {"DEPOT_TOKEN": template}},
        "commands": {"run": ["depot", "run"]},
        "policy": {"run": {"operation": "read", "binding": "user"}},
    }
    place = site.write("depot", **manifest)
    added = site.owner.packs.add(str(place))
    if hasattr(added, "pack"):
        site.owner.packs.activate("depot")
        site.owner.bindings.connect("depot", "minted-secret-1")
        result = site.call("depot", "run")
        assert (result.ok, result.code, result.step) == (False, "binding_forbidden", 5)
    assert site.started() == 0


def test_x5_signs_of_a_shell_in_a_packs_environment_stay_text(site: Site) -> None:
    texts = {"A": "${TOKEN}", "B": "$TOKEN", "C": "%TOKEN%", "D": "$(cat token)", "E": "`id`"}
    site.install("depot", wrap={"agent_env": texts}, commands={"run": ["depot", "run"]})
    done = site.cli("exec", "depot", "run", "--json", env={"TOKEN": "canary-7"})
    assert {name: done.body["result"]["env"][name] for name in texts} == texts
    assert b"canary-7" not in done.stdout


def test_x6_no_folder_of_the_search_path_can_be_written_to(site: Site) -> None:
    script = (
        "#!/bin/sh\n"
        'IFS=:; for folder in $PATH .; do touch "$folder/planted" 2>/dev/null && echo "$folder"; done; exit 0\n'
    )
    site.install("depot", script, wrap={"json_flag": None}, commands={"run": ["depot", "run"]})
    result = site.call("depot", "run")
    assert (result.ok, result.stdout) == (True, ".\n")
    seen = site.cli("exec", "depot", "run", "--json", env={"PATH": f"{site.folder}:{os.environ['PATH']}"})
    assert seen.body["stdout"] == ".\n"


@pytest.mark.parametrize("mode", ["sandbox", "native-local"])
def test_x7_no_call_sees_the_temporary_files_of_another(site: Site, mode: str) -> None:
    site.owner.configure("sandbox", mode)
    script = '#!/bin/sh\nls -A "$TMPDIR" "$HOME" | grep planted; : >"$TMPDIR/planted"; : >"$HOME/planted"; echo done\n'
    site.install("depot", script, wrap={"json_flag": None}, commands={"run": ["depot", "run"]})
    for _ in range(2):
        assert site.call("depot", "run").stdout == "done\n"
    assert not Path("/tmp/planted").exists()


@pytest.fixture
def no_store(site: Site) -> Iterator[Path]:
    yield site.folder / "nowhere"
    assert not (site.folder / "nowhere").exists()


def test_x9_completion_makes_no_store_and_runs_nothing(site: Site, no_store: Path) -> None:
    place = site.write("depot", TICK, commands={"run": {"summary": "`touch /tmp/planted` $(id)", "cli": ["d", "r"]}})
    site.owner.packs.add(str(place))
    site.owner.packs.activate("depot")
    asked = {"_HCPX_COMPLETE": "bash_complete", "COMP_WORDS": "hcpx pack ", "COMP_CWORD": "2"}
    for home in (site.home, no_store):
        told = [site.cli(env=asked | {"HCP_HOME": str(home)})]
        told += [site.cli("completion", shell, env={"HCP_HOME": str(home)}) for shell in ("bash", "zsh", "fish")]
        assert [one.status for one in told] == [0] * 4
        assert not [one for one in told if b"planted" in one.stdout or b"$(id)" in one.stdout or one.stderr]
        assert b"plain,lint" in told[0].stdout
    assert site.started() == 0


@pytest.mark.parametrize("deep", [9, 300], ids=["nine-levels", "many-uses"])
def test_x10_aliases_that_multiply_are_refused_at_once(site: Site, deep: int) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, deep)]
    place = site.write("depot", commands={"run": ["depot", "run"]})
    (place / "pack.yaml").write_text("\n".join(lines) + "\n")
    done = site.cli("pack", "lint", str(place), "--json")
    assert (done.status, done.body["ok"], len(done.stdout) < 100_000) == (65, False, True)
    assert b"Traceback" not in done.stderr


def test_x10_an_alias_bomb_under_a_key_that_is_known_is_refused_too(site: Site) -> None:
    bomb = ["x: &b0 [x, x, x, x, x, x, x, x, x, x]"]
    bomb += [f"y{n}: &b{n} [{', '.join([f'*b{n - 1}'] * 10)}]" for n in range(1, 9)]
    manifest = json.loads((site.write("depot", commands={"run": ["d", "r"]}) / "pack.yaml").read_text())
    manifest["commands"]["run"]["mock"] = "BOMB"
    text = json.dumps(manifest).replace('"BOMB"', "{" + ", ".join(line for line in bomb) + "}")
    (site.folder / "packs" / "depot" / "pack.yaml").write_text(text)
    command = [sys.executable, "-m", "hcpx", "pack", "lint", str(site.folder / "packs" / "depot"), "--json"]
    with subprocess.Popen(command, env=site.environment(), stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        told = running.stdout.read()
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    assert used.ru_maxrss < 400 * 1024
    assert json.loads(told)["ok"] is False
