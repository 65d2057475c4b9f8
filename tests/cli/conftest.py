"""A store that is empty, one with packs, and `hcpx` inside this process."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hcpx.faces.cli import exec_command, groups
from hcpx.runtime import Runtime
from tests.cli.shell import Said

Hcpx = Callable[..., Said]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the store will be; nothing is there yet."""
    place = tmp_path / "home"
    monkeypatch.setenv("HCP_HOME", str(place))
    for name in ("HCP_SESSION", "HCP_VAULT_KEY_FILE", "HCP_LOG", "CI"):
        monkeypatch.delenv(name, raising=False)
    return place


@pytest.fixture
def hcpx(home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hcpx:
    """Run a command line inside this process."""

    def call(*words: str, session: str | None = None) -> Said:
        if session is None:
            monkeypatch.delenv("HCP_SESSION", raising=False)
        else:
            monkeypatch.setenv("HCP_SESSION", session)
        capfd.readouterr()
        main = exec_command.main if words[:1] == ("exec",) else groups.main
        status = main(list(words))
        out, err = capfd.readouterr()
        return Said(status, out, err)

    return call


@pytest.fixture(scope="session")
def made_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `store` copies: making one for every test would cost more than the tests."""
    place = tmp_path_factory.mktemp("made") / "home"
    runtime = Runtime.open(home=str(place), create_missing=True)
    runtime.owner.configure("sandbox", "native-local")
    for pack_id in ("ledger", "transit"):
        runtime.owner.packs.add(pack_id)
        runtime.owner.packs.activate(pack_id)
    runtime.close()
    return place


@pytest.fixture
def store(home: Path, made_store: Path) -> Path:
    """A store with the packs ledger and transit, activated for its owner; programs run without isolation."""
    shutil.copytree(made_store, home, symlinks=True)
    return home


@pytest.fixture
def token(store: Path) -> str:
    """The token of an agent's session that may only read."""
    runtime = Runtime.open()
    made, _ = runtime.owner.new_session(actor="agent:test", packs=("transit",), read_only=True, ttl_s=3600)
    runtime.close()
    return made
