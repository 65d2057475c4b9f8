"""Odd homes and odd environments: an answer as ever, or a refusal that names what is wrong; never a trace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.field_troubles.site import SOURCE, Site

LIST = ("exec", "hcp-cli", "hcp.list", "--json")


class Told(NamedTuple):
    status: int
    body: Any


def told(env: Mapping[bytes, bytes], folder: Path, *words: str) -> Told:
    """A command line in exactly this environment."""
    own = {b"PATH": os.environb[b"PATH"], b"PYTHONPATH": os.fsencode(SOURCE), **env}
    done = subprocess.run(
        [sys.executable, "-m", "hcpx", *words], env=own, cwd=folder, capture_output=True, timeout=60, check=False
    )
    assert b"Traceback" not in done.stderr
    return Told(done.returncode, json.loads(done.stdout))


@pytest.mark.parametrize(
    "name",
    [
        b"new\nline",
        b"caf\xe9",
        b"a%20b?mode=memory#x",
        b"sp ace",
        b"q'uo\"te",
        b"-dash",
        b"a:b",
        b"a\\b",
        b"{{x}}",
        b"*",
    ],
    ids=repr,
)
def test_a_home_of_any_name_holds_a_store_and_runs_programs(tmp_path: Path, name: bytes) -> None:
    home = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    here = Site(tmp_path, home)
    try:
        here.install("depot", commands={"run": ["depot", "run"]})
        assert here.call("depot", "run").ok
        assert here.holds()
    finally:
        here.close()
    assert told({b"HCP_HOME": os.fsencode(home)}, tmp_path, "exec", "depot", "run", "--json").body["ok"] is True


def file(folder: Path) -> Path:
    (folder / "file").touch()
    return folder / "file"


def open_to_all(folder: Path) -> Path:
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)
    return folder / "open"


def readable(folder: Path) -> Path:
    (folder / "readable").mkdir()
    (folder / "readable").chmod(0o755)
    return folder / "readable"


def linked_to_open(folder: Path) -> Path:
    (folder / "link").symlink_to(open_to_all(folder))
    return folder / "link"


def looping(folder: Path) -> Path:
    (folder / "loop").symlink_to("loop")
    return folder / "loop"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (file, "not a folder"),
        (lambda folder: file(folder) / "below", "not a directory"),
        (open_to_all, "chmod 700"),
        (readable, "chmod 700"),
        (linked_to_open, "chmod 700"),
        (looping, "symbolic links"),
        (lambda folder: folder / ("x" * 300), "too long"),
        (lambda _: Path("/dev/null"), "not a folder"),
    ],
    ids=["file", "below-a-file", "world-writable", "world-readable", "linked", "looping", "long", "device"],
)
def test_a_home_that_is_no_place_for_a_store_is_refused_by_name(tmp_path: Path, make: Any, says: str) -> None:
    home = make(tmp_path)
    done = told({b"HCP_HOME": os.fsencode(home)}, tmp_path, *LIST)
    assert (done.status, done.body["ok"], done.body["code"]) == (70, False, "store_unavailable")
    assert says in done.body["error"].lower()
    assert not list(tmp_path.rglob("hcpx.db"))


@pytest.mark.parametrize("home", [b"", b"relative", b"./here", b"~/store"], ids=repr)
def test_a_home_that_depends_on_where_one_stands_is_refused(tmp_path: Path, home: bytes) -> None:
    done = told({b"HCP_HOME": home}, tmp_path, *LIST)
    assert (done.status, done.body["error"]) == (2, "HCP_HOME must be an absolute path")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_home_is_made_private_and_only_where_something_is_to_be_kept(tmp_path: Path) -> None:
    home = tmp_path / "a" / "b" / "home"
    env = {b"HCP_HOME": os.fsencode(home)}
    for words in (("audit", "list"), ("doctor",), ("pack", "list"), ("grants",)):
        assert told(env, tmp_path, *words, "--json").body["ok"] is True
    assert not (tmp_path / "a").exists()
    assert told(env, tmp_path, *LIST).body["ok"] is True
    assert home.stat().st_mode & 0o077 == 0


@pytest.fixture
def depot(site: Site) -> Site:
    site.install("depot", commands={"run": ["depot", "run"]})
    return site


ODD: dict[str, dict[bytes, bytes]] = {
    "not UTF-8": {b"\xff\xfe": b"\xff", b"LC_X": b"\xfe", b"LANG": b"xx_YY.none", b"TZ": b"/etc/passwd"},
    "huge": {b"BIG": b"x" * 131_000, b"LC_BIG": b"y" * 100_000} | {b"V%d" % n: b"x" * 100 for n in range(5000)},
    "no PATH": {b"PATH": b""},
    "for Python": {
        b"PYTHONINTMAXSTRDIGITS": b"640", b"PYTHONOPTIMIZE": b"2", b"PYTHONIOENCODING": b"utf-16", b"PYTHONUTF8": b"0",
        b"LC_ALL": b"C", b"PYTHONCOERCECLOCALE": b"0", b"PYTHONWARNINGS": b"error",
    },
    "no temporary folder": {b"TMPDIR": b"/nonexistent", b"SQLITE_TMPDIR": b"/nonexistent"},
    "from an outer call": {b"HCP_SANDBOX": b"native-local", b"HCP_BINDING": b"user", b"HCP_REQUEST_ID": b"x"},
}  # fmt: skip


@pytest.mark.parametrize("env", ODD.values(), ids=ODD.keys())
def test_an_odd_environment_changes_nothing(depot: Site, env: dict[bytes, bytes]) -> None:
    own = {b"HCP_HOME": os.fsencode(depot.home), **env}
    done = told(own, depot.folder, "exec", "depot", "run", "--json", "--", "n=" + "9" * 4300)
    assert (done.status, done.body["ok"], done.body["enforced"]["sandbox"]) == (0, True, "bubblewrap")
    assert done.body["result"]["env"]["HCP_SANDBOX"] == "sandbox"
    assert not {"BIG", "V1", "PYTHONUTF8", "SQLITE_TMPDIR"} & set(done.body["result"]["env"])


def test_programs_of_the_callers_path_are_never_started(depot: Site) -> None:
    evil = depot.folder / "evil"
    evil.mkdir()
    for name in ("bwrap", "sh", "env", "python3", "setpriv", "prlimit", "mount", "ldconfig", "getconf"):
        (evil / name).write_text(f'#!/bin/sh\n: >"{depot.folder}/hijacked"\nexit 1\n')
        (evil / name).chmod(0o755)
    for mode in ("sandbox", "native-local"):
        depot.owner.configure("sandbox", mode)
        env = {b"HCP_HOME": os.fsencode(depot.home), b"PATH": os.fsencode(f"{evil}:.")}
        assert told(env, evil, "exec", "depot", "run", "--json").body["ok"] is True
        assert told(env, evil, "doctor", "--json").body["checks"]
    assert not (depot.folder / "hijacked").exists()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (b"HCP_HOEM", "did you mean HCP_HOME?"),
        (b"HCP_SESION", "did you mean HCP_SESSION?"),
        (b"HCP_ZZZZZZZZZZ", "known are HCP_HOME"),
        (b"HCP_\xff\n", "HCP_\\u{DCFF}\\u{000A}"),
    ],
    ids=repr,
)
def test_a_mistyped_setting_is_refused_by_name(depot: Site, name: bytes, says: str) -> None:
    done = told({b"HCP_HOME": os.fsencode(depot.home), name: b"x"}, depot.folder, "exec", "depot", "run", "--json")
    assert (done.status, done.body["code"], says in done.body["error"]) == (2, "usage", True)
    assert depot.started() == 0


@pytest.mark.parametrize("token", [b"", b"\xff\xfe", b"a\nb", b"hcps_x" * 20_000], ids=lambda token: repr(token[:8]))
def test_a_dead_session_in_the_environment_never_becomes_the_owner(depot: Site, token: bytes) -> None:
    env = {b"HCP_HOME": os.fsencode(depot.home), b"HCP_SESSION": token}
    done = told(env, depot.folder, "exec", "depot", "run", "--json")
    assert (done.status, done.body["error"], depot.started()) == (77, "unauthenticated", 0)
