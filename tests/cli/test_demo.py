"""The guided tour: every outcome as told, on a machine as it is, and nothing left behind."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hcpx.faces.cli.commands import demo
from tests.cli.conftest import Hcpx
from tests.cli.shell import HCPX, environment, run
from tests.packs.shipped import NOBODY, open_folder

ENDS = [None, None, "denied", "confirm_required", None, "binding_missing", None, "not_allowlisted"]


def left_behind(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_tour_ends_as_it_tells_twice_and_leaves_nothing(tmp_path: Path) -> None:
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    temporary.mkdir()
    for _ in range(2):
        said = run(home, "demo", TMPDIR=str(temporary), LEDGER_TOKEN="my-own-token")
        assert (said.status, said.err) == (0, "")
        assert "Every call ended as it should." in said.out
    assert left_behind(temporary) == []
    assert not home.exists()


def test_the_tour_as_json_is_one_document_and_uses_nothing_of_the_callers_own(
    store: Path, token: str, tmp_path: Path
) -> None:
    before = run(store, "audit", "list", "--json").document()["calls"]
    said = run(store, "demo", "--json", HCP_SESSION=token, HCP_LOG=str(tmp_path / "log"))
    document = said.document()
    assert (document["ok"], document["wrong"], document["audit"]["ok"]) == (True, [], True)
    assert [call["result"].get("code") for call in document["calls"]] == ENDS
    assert "a-token-that-lies-around" not in said.out
    assert "the-secret-of-the-tour" not in said.out
    assert run(store, "audit", "list", "--json").document()["calls"] == before
    assert not (tmp_path / "log").exists()


def test_the_tour_fails_if_any_outcome_differs(hcpx: Hcpx, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, *_ = demo.STAGES
    wrong = demo.Stage(first.title, first.who, ("transit", "stops"), {}, "denied")
    monkeypatch.setattr(demo, "STAGES", (wrong, second))
    said = hcpx("demo")
    assert said.status == 1
    assert "NOT AS EXPECTED: denied was" in said.out
    assert f"Ended otherwise: {first.title}" in said.out


def test_ctrl_c_in_the_tour_leaves_nothing_behind(home: Path, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [*HCPX, "demo"],
        env=environment(home, TMPDIR=str(temporary)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"A tour of hcpx")
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode in {0, 130}
    assert left_behind(temporary) == []


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_the_tour_works_for_a_user_who_is_not_root(tmp_path: Path) -> None:
    with open_folder() as temporary:
        try:
            done = subprocess.run(
                [*HCPX, "demo"],
                env=environment(tmp_path / "none", TMPDIR=str(temporary)),
                cwd="/",
                user=NOBODY,
                group=NOBODY,
                extra_groups=[],
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
        except PermissionError:
            pytest.skip("this Python cannot be run by another user")
        assert (done.returncode, done.stderr) == (0, "")
        assert left_behind(temporary) == []
