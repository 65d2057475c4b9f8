"""What changed between two versions, and what a first one asks for (Spec 02 section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hcpx.packs.diff import changes, lines
from hcpx.packs.gate import read_pack
from hcpx.vocabulary.change import Change
from tests.packs_room.sound import SKILL, laid_over, write_pack

if TYPE_CHECKING:
    from pathlib import Path

    from hcpx.vocabulary.pack import Pack

BASE = """
binding: {env: {TOKEN: '{{secret}}'}, local: {files: [~/.tool]}}
wrap: {bin: bin/tool, network: [api.example], agent_env: {MODE: quiet}}
commands:
  look: {summary: Look around, cli: [tool, look], args: {}}
  pay: {summary: Pay, cli: [tool, pay, '{{n}}'], args: {n: {type: integer}}}
policy:
  look: {operation: read}
  pay: {operation: write, confirm: true, binding: user}
"""


def pack_of(folder: Path, overlay: str = BASE, files: dict[str, str] | None = None) -> Pack:
    pack = read_pack(str(write_pack(folder, laid_over(overlay), files=files)), judged=False).pack
    assert pack is not None
    return pack


def told(tmp_path: Path, after: str, files: dict[str, str] | None = None) -> list[tuple[str, str, str]]:
    found = changes(pack_of(tmp_path / "a"), pack_of(tmp_path / "b", after, files))
    return [(change.part, change.name, change.how) for change in found]


def test_a_first_activation_is_told_all_that_the_pack_asks_for(tmp_path: Path) -> None:
    found = changes(None, pack_of(tmp_path))
    assert {change.how for change in found} == {"added"}
    assert lines(found) == (
        "+ pack kind: wrap",
        "+ pack version: 1.0.0",
        "+ pack title: A demo",
        "+ program bin: bin/tool",
        "+ program content of bin: exec 78ab54e7e093",
        '+ program json_flag: ["--json"]',
        "+ workspace mode: pack",
        "+ network api.example",
        "+ variable MODE: quiet",
        "+ binding env TOKEN: {{secret}}",
        "+ of this machine file ~/.tool",
        "+ command look: tool look",
        "+ command pay: tool pay '{{n}}'",
        "+ policy look: read",
        "+ policy pay: write, confirm, binding user",
        "+ skill demo: file c0e80a77a31e",
    )


def test_the_same_pack_has_no_changes_whatever_the_order_of_its_keys(tmp_path: Path) -> None:
    assert told(tmp_path, BASE) == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("[tool, look]", "[tool, purge, --all]", ("command", "look", "changed")),
        ("{type: integer}", "{type: number}", ("command", "pay", "changed")),
        ("confirm: true", "confirm: false", ("policy", "pay", "changed")),
        ("binding: user", "binding: mothership", ("policy", "pay", "changed")),
        ("operation: read", "operation: read, privacy: {land: brain}", ("land", "look", "added")),
        ("bin: bin/tool", "bin: sh", ("program", "bin", "changed")),
        ("bin: bin/tool", "bin: bin/tool, json_flag: null", ("program", "json_flag", "changed")),
        ("bin: bin/tool", "bin: bin/tool, argv_template: [x]", ("program", "argv_template", "added")),
        ("bin: bin/tool", "bin: bin/tool, workspace: {mode: project}", ("workspace", "mode", "changed")),
        ("[api.example]", "[api.example, evil.example]", ("network", "evil.example", "added")),
        ("[api.example]", "[]", ("network", "api.example", "removed")),
        ("{MODE: quiet}", "{MODE: loud}", ("agent_env", "MODE", "changed")),
        ("{MODE: quiet}", "{MODE: quiet}, unsafe_env: [PATH]", ("unsafe_env", "PATH", "added")),
        ("{{secret}}", "{{access_token}}", ("binding", "env TOKEN", "changed")),
        ("local: {", "oauth: {issuer: i}, local: {", ("binding", "oauth", "added")),
        ("local: {", "file: {name: k, content: c, env: K}, local: {", ("binding", "file", "added")),
        ("[~/.tool]", "[~/.tool, ~/.ssh/id_ed25519]", ("local", "file ~/.ssh/id_ed25519", "added")),
        ("[~/.tool]", "[~/.tool], command: [tool, login]", ("local", "command", "added")),
    ],
)
def test_each_change_is_told_by_its_part(
    before: str, after: str, expected: tuple[str, str, str], tmp_path: Path
) -> None:
    assert before in BASE
    assert expected in told(tmp_path, BASE.replace(before, after))


def test_a_command_and_its_row_come_and_go(tmp_path: Path) -> None:
    after = BASE.replace("  pay:", "  send:")
    assert told(tmp_path, after) == [
        ("command", "pay", "removed"),
        ("command", "send", "added"),
        ("policy", "pay", "removed"),
        ("policy", "send", "added"),
    ]


def test_the_program_the_skill_and_every_other_file_are_told_apart(tmp_path: Path) -> None:
    files = {"bin/tool": "#!/bin/sh\nevil\n", "SKILL.md": f"{SKILL}More.\n", "lib/x": "1"}
    assert told(tmp_path, BASE, files) == [
        ("program", "content of bin", "changed"),
        ("skill", "demo", "changed"),
        ("file", "lib/x", "added"),
    ]


def test_a_change_holds_both_values(tmp_path: Path) -> None:
    after = pack_of(tmp_path / "b", BASE.replace("confirm: true", "confirm: false, limits: {timeout_s: 5}"))
    assert changes(pack_of(tmp_path / "a"), after) == (
        Change(
            "policy",
            "pay",
            "changed",
            '~ policy pay: confirm true -> false; limits none -> {"timeout_s": 5}',
            {"operation": "write", "confirm": True, "approvals": 0, "binding": "user", "idempotent": False},
            {
                "operation": "write",
                "confirm": False,
                "approvals": 0,
                "binding": "user",
                "idempotent": False,
                "limits": {"timeout_s": 5},
            },
        ),
    )


def test_another_digest_is_never_passed_over_in_silence(tmp_path: Path) -> None:
    # An explicit default changes the manifest, and nothing of what it means.
    assert told(tmp_path, BASE.replace("operation: read", "operation: read, approvals: 0")) == [
        ("pack", "digest", "changed")
    ]


def test_a_line_shows_where_long_values_begin_to_differ_and_no_control_characters(tmp_path: Path) -> None:
    long = "x" * 500
    before = pack_of(tmp_path / "a", f"description: {long}one{long}")
    after = pack_of(tmp_path / "b", f'description: "{long}two\\e[2K{long}"')
    (line,) = lines(changes(before, after))
    assert "one" in line
    assert "two\\u{001B}[2K" in line
    assert len(line) < 500
    assert line.isprintable()


def test_a_composite_is_told_by_its_steps(tmp_path: Path) -> None:
    text = (
        "kind: composite\nwrap:\ncommands: {go: {steps: [{name: a, pack_id: bank, verb_key: pay}, "
        "{name: b, pack_id: bank, verb_key: who}]}}\n"
        "policy: {go: {operation: write, confirm: true, approvals: 2, limits: {timeout_s: 1}}}"
    )
    told_lines = lines(changes(None, pack_of(tmp_path, text)))
    assert "+ command go: bank.pay > bank.who" in told_lines
    assert '+ policy go: write, confirm, 2 approvals, limits {"timeout_s": 1}' in told_lines
