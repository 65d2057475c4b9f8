"""What the bench calls answers as the bench expects, on a home made by the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from bench.commands import COMMANDS
from bench.home import Home
from bench.worker import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder: Path = tmp_path_factory.mktemp("bench")
    program = folder / "hcpx"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}/src" exec "{sys.executable}" -m hcpx "$@"\n')
    program.chmod(0o755)
    return Home.fresh(folder / "homes", program)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_measured_command_answers_right_and_leaves_its_records(home: Home, name: str) -> None:
    command = COMMANDS[name]
    before = home.records()
    said = json.loads(home.tell(*command.line()))
    assert command.right(said["ok"], said["result"]), said
    assert home.records() - before == command.records
    assert home.ended(said["audit_id"])


def test_a_wrong_answer_is_not_taken_for_a_right_one() -> None:
    command = COMMANDS["read"]
    assert not command.right(False, command.result)
    assert not command.right("true", command.result)
    assert not command.right(True, {"deferred_to_cli": True})


def test_a_store_filled_in_bulk_has_what_was_asked_for_and_a_sound_chain(home: Home) -> None:
    argv = [sys.executable, "-m", "bench.populate", os.fspath(home.folder), "12", "30", "600"]
    environment = {**home.environment(), "PYTHONPATH": f"{ROOT}/src:{ROOT}"}
    subprocess.run(argv, env=environment, check=True)
    assert home.records() == 600
    home.tell("audit", "verify")
    assert len(json.loads(home.tell("pack", "list", "--json"))["packs"]) >= 12
    said = json.loads(home.tell(*COMMANDS["look"].line()))
    assert COMMANDS["look"].right(said["ok"], said["result"])
