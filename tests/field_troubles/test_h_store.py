"""Group H: a locked, read-only, full or damaged store, and what the audit shows (Spec 06)."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from hcpx.vocabulary.capability import Grant
from tests.field_troubles.site import READ, TICK, Answer, Site

TICKS: dict[str, Any] = {
    "commands": {"tick": ["ledger", "tick"], "balance": ["ledger", "balance"]},
    "policy": {"tick": {"operation": "write", "confirm": True}},
}
CALL = ("exec", "ledger", "tick", "--json", "--", "confirm=true")


def database(site: Site) -> Path:
    (path,) = site.home.glob("*.db")
    return path


@pytest.mark.slow
def test_h1_writers_wait_for_a_lock_and_lose_nothing(site: Site) -> None:
    site.install("ledger", TICK, **TICKS)
    held, let_go = Event(), Event()

    def hold() -> None:
        other = sqlite3.connect(database(site), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        held.set()
        let_go.wait(3)
        other.execute("COMMIT")
        other.close()

    holding = Thread(target=hold)
    holding.start()
    held.wait()
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: site.cli(*CALL), range(8)))
    holding.join()
    assert [one.body.get("error") for one in done if one.status] == []
    assert site.started() == 8
    ended = [entry for entry in site.records(verb_key="tick") if entry["outcome"] == "ok"]
    assert (len(ended), len({entry["audit_id"] for entry in ended}), site.holds()) == (8, 8, True)


def read_only(site: Site, *words: str) -> Answer:
    """A command line that sees the store's folder read-only; programs still find theirs."""
    site.close()
    if os.geteuid() == 0:
        script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
        command = ["unshare", "--mount", "sh", "-c", script, str(site.home), sys.executable, "-m", "hcpx", *words]
        if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
            pytest.skip("this root may not mount anything")
        done = subprocess.run(command, capture_output=True, env=site.environment(), timeout=120, check=False)
        return Answer(done.returncode, done.stdout, done.stderr)
    folders = [site.home, *(path for path in site.home.rglob("*") if not path.is_symlink())]
    modes = [(path, path.stat().st_mode) for path in folders]
    try:
        for path, mode in reversed(modes):
            path.chmod(mode & ~0o222)
        return site.cli(*words)
    finally:
        for path, mode in modes:
            path.chmod(mode)


def test_h2_where_nothing_can_be_recorded_no_write_is_started(site: Site) -> None:
    site.install("ledger", TICK, **TICKS)
    done = read_only(site, *CALL)
    assert (done.status, done.body["ok"], b"Traceback" in done.stderr) == (70, False, False)
    assert done.body["code"] in ("audit_unavailable", "store_unavailable")
    assert site.started() == 0


def test_h2_a_read_on_such_a_store_is_answered_or_refused_but_never_breaks(site: Site) -> None:
    site.install("ledger", TICK, **TICKS)
    body = read_only(site, "exec", "ledger", "balance", "--json").body
    if body["ok"]:
        assert any("audit record" in warning for warning in body["warnings"])
    else:
        assert body["code"] in ("store_unavailable", "sandbox_unavailable", "audit_unavailable")


def test_h2_where_only_the_closing_record_fails_the_result_says_so(site: Site) -> None:
    site.install("ledger", TICK, **TICKS)
    spoilt = Event()

    def spoil(_name: str, _data: bytes) -> None:
        if not spoilt.is_set():
            spoilt.set()
            other.execute("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(FAIL, 'full'); END")

    other = sqlite3.connect(database(site), isolation_level=None, check_same_thread=False)
    result = site.call("ledger", "tick", {"confirm": True}, on_output=spoil)
    other.execute("DROP TRIGGER full")
    other.close()
    assert (result.ok, site.started()) == (True, 1)
    assert "the audit record of this call could not be written" in result.warnings


FULL = """
import json, os, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from hcpx.runtime import Runtime, StoreUnavailable
from hcpx.vocabulary.capability import Grant
runtime = Runtime.open()
most = max(os.path.getsize(os.path.join(runtime.settings.home, name)) for name in json.loads(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
try:
    for n in range(200):
        runtime.owner.grant("user:p-9", Grant("verb.exec.write", "ledger", (f"verb-{n}-" + "x" * 100,)))
    print("granted all")
except StoreUnavailable as trouble:
    print(trouble)
"""


def test_h3_a_full_disk_changes_nothing_and_the_old_rights_go_on_holding(site: Site) -> None:
    site.install("ledger", TICK, **TICKS)
    token = site.person("user:p-1", (READ, "ledger", ["balance"]))
    site.close()
    names = json.dumps([path.name for path in site.home.iterdir() if path.is_file()])
    command = [sys.executable, "-c", FULL, names]
    done = subprocess.run(command, env=site.environment(), capture_output=True, timeout=60, check=False)
    told = done.stdout.decode()
    assert (done.stderr, "granted all" in told) == (b"", False)
    assert str(database(site)) in told
    assert "space" in told or "limit on file sizes" in told

    here = Site(site.folder)
    try:
        kept = [row.grant for row in here.owner.grants.list(here.owner.tenant, "user:p-9")]
        assert kept == [Grant("verb.exec.write", "ledger", (f"verb-{n}-" + "x" * 100,)) for n in range(len(kept))]
        assert here.call("ledger", "balance", token=token).ok
        assert here.call("ledger", "tick", {"confirm": True}, token=token).code == "denied"
        assert here.holds()
    finally:
        here.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
def test_h3_a_change_on_a_full_volume_is_refused_with_its_reason(site: Site) -> None:
    site.install("ledger", TICK, **TICKS)
    site.close()
    script = (
        'mount -t tmpfs -o size=4m tmpfs "$1" && cp -a "$0/." "$1" || exit; '
        'head -c 100000000 /dev/zero >"$1/filler" 2>/dev/null; before=$(sha256sum "$1/hcpx.db"); export HCP_HOME="$1"; '
        '"$2" -m hcpx grant user:p-9 verb.exec.read --pack ledger --verb "*" --json; echo status=$?; '
        'test "$before" = "$(sha256sum "$1/hcpx.db")"; echo same=$?'
    )
    volume = site.folder / "volume"
    volume.mkdir()
    words = ["unshare", "--mount", "sh", "-c", script, str(site.home), str(volume), sys.executable]
    done = subprocess.run(words, env=site.environment(), capture_output=True, timeout=60, check=False)
    if b"permission denied" in done.stderr.lower():
        pytest.skip("this root may not mount anything")
    told, status, same = done.stdout.decode().splitlines()
    body = json.loads(told)
    assert (body["ok"], body["code"], status, same) == (False, "store_unavailable", "status=70", "same=0")
    assert "no space is left" in body["error"]


def test_h3_a_damaged_store_is_an_error_and_never_no_rules(site: Site) -> None:
    site.install("ledger", TICK, **TICKS)
    site.close()
    path = database(site)
    for name in ("-wal", "-shm"):
        path.with_name(path.name + name).unlink(missing_ok=True)
    whole = path.read_bytes()
    for damaged in (b"", whole[:100], b"x" * len(whole), whole[: len(whole) // 2]):
        path.write_bytes(damaged)
        done = site.cli(*CALL)
        assert (done.status, done.body["code"], b"Traceback" in done.stderr) == (70, "store_unavailable", False)
        assert str(path) in done.body["error"]
        assert path.read_bytes() == damaged
    assert site.started() == 0


FORGED = "ok\n2030-01-01T00:00:00Z ALLOW ledger.transfer principal=root\r\x1b[2K\u2028\x07end"


def test_h4_text_of_a_caller_forges_no_record(site: Site) -> None:
    site.install("notes", commands={"add": ["notes", "add", "{{text}}"]})
    result = site.call("notes", "add", {"text": FORGED})
    assert result.ok
    assert [entry["args"] for entry in site.records(verb_key="add")] == [{"text": FORGED}]
    (line,) = [line for line in site.exported().splitlines() if b"principal=root" in line]
    assert json.loads(line)["args"] == {"text": FORGED}
    assert not any(byte < 0x20 for byte in line)


def test_h4_people_see_one_line_without_control_codes(site: Site) -> None:
    site.install("notes", commands={"add": ["notes", "add", "{{text}}"]})
    result = site.call("notes", "add", {"text": FORGED}, request_id=FORGED[:40])
    denied = site.cli("exec", "notes", "ad\x1b[2K\nd")
    assert (denied.status, denied.stdout) == (69, b"")
    assert denied.stderr.decode().splitlines()[0] == "no_policy: no policy for ad\\u{001B}[2K\\u{000A}d"
    for words in (("audit", "list"), ("audit", "show", result.audit_id)):
        told = site.cli(*words).stdout.decode()
        assert not [sign for sign in told if sign != "\n" and not sign.isprintable()]
        assert not [line for line in told.splitlines() if line.startswith("2030-01-01")]
    (row,) = [line for line in site.cli("audit", "list").stdout.decode().splitlines() if result.audit_id in line]
    assert "add" in row
    shown = site.cli("audit", "show", result.audit_id, "--json").body
    assert json.dumps(FORGED)[1:-1] in json.dumps(shown)
