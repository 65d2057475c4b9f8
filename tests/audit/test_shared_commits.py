"""Every call of a burst is in the audit: for readers of the same process, after a close, after an exit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hcpx.audit.views import Filter
from hcpx.runtime import Runtime

BURST = 40
UNCLOSED = f"""
from hcpx import Hcp
hcp = Hcp.open()
for _ in range({BURST}):
    assert hcp.exec("hcp-cli", "hcp.list").ok
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HCP_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def burst(runtime: Runtime) -> list[str]:
    call = {"pack_id": "hcp-cli", "verb_key": "hcp.list"}
    return [str(runtime.execute(call, token=None, face="api").audit_id) for _ in range(BURST)]


def recorded(runtime: Runtime) -> list[str]:
    assert [verdict.broken for verdict in runtime.books.verify()] == [None]
    entries = runtime.books.audit.list(["local"], Filter(limit=None))
    return [str(entry["audit_id"]) for entry in reversed(entries)]


@pytest.mark.usefixtures("home")
def test_a_reader_of_the_same_process_sees_every_call_in_order() -> None:
    runtime = Runtime.open(create_missing=True, lasting=True)
    try:
        made = burst(runtime)
        assert recorded(runtime) == made
    finally:
        runtime.close()


@pytest.mark.usefixtures("home")
def test_closing_writes_what_waits() -> None:
    runtime = Runtime.open(create_missing=True, lasting=True)
    made = burst(runtime)
    runtime.close()
    later = Runtime.open()
    try:
        assert recorded(later) == made
    finally:
        later.close()


@pytest.mark.usefixtures("home")
def test_a_process_that_never_closes_its_store_leaves_every_record() -> None:
    subprocess.run([sys.executable, "-c", UNCLOSED], check=True, timeout=60)
    later = Runtime.open()
    try:
        assert len(recorded(later)) == BURST
    finally:
        later.close()
