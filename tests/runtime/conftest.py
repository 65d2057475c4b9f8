"""A store of its own for each test, with a pack around the corpus's probe."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hcpx.runtime import Runtime

PROBE = Path(__file__).parents[2] / "conformance" / "bin" / "probe"


class House:
    """One store, its runtime, and a folder to make packs in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.runtime = Runtime.open(home=str(self.home), create_missing=True)

    @property
    def owner(self) -> Any:
        return self.runtime.owner

    def pack(self, pack_id: str = "tool", **fields: Any) -> Path:
        """Write a pack's folder."""
        place = self.folder / "packs" / pack_id
        (place / "bin").mkdir(parents=True, exist_ok=True)
        shutil.copy(PROBE, place / "bin" / "probe")
        (place / "pack.yaml").write_text(json.dumps(manifest(pack_id, **fields)))
        return place

    def installed(self, pack_id: str = "tool", *, link: bool = False, **fields: Any) -> None:
        """Install and activate a pack for the owner."""
        added = self.owner.packs.add(str(self.pack(pack_id, **fields)), link=link)
        assert added.pack.id == pack_id, added
        self.owner.packs.activate(pack_id)

    def call(
        self,
        verb: str,
        args: Mapping[str, Any] | None = None,
        *,
        pack: str = "tool",
        token: str | None = None,
    ) -> Any:
        envelope = {"pack_id": pack, "verb_key": verb, "args": dict(args or {})}
        return self.runtime.execute(envelope, token=token, face="api")

    def asked(self, verb: str, args: Mapping[str, Any] | None = None, token: str | None = None) -> Any:
        """The value that a command of the bootstrap pack answers with."""
        result = self.call(verb, args, pack="hcp-cli", token=token)
        assert result.ok, result
        return result.result


def manifest(pack_id: str, **fields: Any) -> dict[str, Any]:
    """A pack with a read, a confirmed write, a write with a Binding and one that wants an approval."""
    body: dict[str, Any] = {
        "hcp": 1,
        "id": pack_id,
        "version": "1.0.0",
        "title": "A tool",
        "kind": "wrap",
        "wrap": {"bin": "bin/probe"},
        "binding": {"env": {"TOOL_TOKEN": "{{access_token}}"}},
        "commands": {
            "see": {"summary": "See it", "cli": [pack_id, "argv", "see", "{{what}}"]},
            "set": {"summary": "Set it", "cli": [pack_id, "argv", "set"]},
            "send": {"summary": "Send it", "cli": [pack_id, "env", "TOOL_TOKEN"]},
            "wire": {"summary": "Wire it", "cli": [pack_id, "argv", "wire"]},
            "sleep": {"summary": "Sleep", "cli": [pack_id, "sleep", "{{s}}"]},
        },
        "policy": {
            "see": {"operation": "read"},
            "set": {"operation": "write", "confirm": True},
            "send": {"operation": "write", "confirm": True, "binding": "user"},
            "wire": {"operation": "write", "confirm": True, "approvals": 1},
            "sleep": {"operation": "read"},
        },
    }
    return body | fields


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    for name in [name for name in os.environ if name.startswith("HCP_")]:
        monkeypatch.delenv(name)
    here = House(tmp_path)
    yield here
    here.runtime.close()
