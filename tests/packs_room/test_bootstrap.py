"""The bootstrap pack `hcp-cli` (Spec 02 section 5)."""

from __future__ import annotations

import json

from hcpx.packs.bootstrap.deferred import LINES
from hcpx.packs.bootstrap.pack import bootstrap_pack
from hcpx.rendering.command import compile_command
from hcpx.vocabulary.policy import PolicyRow

PACK = bootstrap_pack("1.2.3")


def test_every_command_has_a_row_that_any_live_session_may_call() -> None:
    assert (PACK.id, PACK.version, PACK.kind) == ("hcp-cli", "1.2.3", "composite")
    assert PACK.policy == dict.fromkeys(PACK.commands, PolicyRow("read", everyone=True, idempotent=True))


def test_the_commands_are_those_of_the_specification() -> None:
    reads = ["hcp.list", "hcp.availability", "hcp.skill", "hcp.doctor"]
    assert set(PACK.commands) == {*reads, *LINES}
    assert all(command.handler == key and command.summary for key, command in PACK.commands.items())


def test_args_are_judged() -> None:
    def refused(verb_key: str, args: dict[str, object]) -> str | None:
        denial = compile_command(PACK, PACK.commands[verb_key]).check_args(args)
        return None if denial is None else denial.error

    assert refused("hcp.list", {}) is None
    assert refused("hcp.list", {"pack": "x"}) == "invalid args: /pack: unknown argument"
    assert refused("hcp.availability", {"pack": "x", "verb_key": "y"}) is None
    assert refused("hcp.skill", {"pack": "x", "name": "y", "full": True}) is None
    assert refused("hcp.skill", {"pak": "x"}) == "invalid args: /pak: unknown argument, did you mean pack?"
    assert refused("hcp.activate", {}) == "invalid args: /pack: missing"
    assert refused("hcp.grant", {"capability": "verb.exec.write", "pack": "tool"}) is None
    assert refused("hcp.grant", {"pack": "tool"}) == "invalid args: /capability: missing"
    assert refused("hcp.session_new", {"actor": "agent:x", "read_only": True, "ttl": "8h"}) is None
    assert refused("hcp.policy_tighten", {"pack": "x", "verb_key": "y", "confirm": True, "timeout_s": 5}) is None


def test_every_schema_is_closed() -> None:
    for command in PACK.commands.values():
        assert json.loads(command.args_schema or "")["additionalProperties"] is False


def test_its_digest_is_its_content_and_its_version() -> None:
    assert bootstrap_pack("1.2.3") == PACK
    assert bootstrap_pack("1.2.4").digest != PACK.digest
