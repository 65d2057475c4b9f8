"""Group L: manifests that are read otherwise than they were meant, and packs that change (Spec 02)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hcpx.store.errors import Refused
from hcpx.vocabulary.capability import Grant
from tests.field_troubles.site import READ, TICK, Site

HEAD = """\
hcp: 1
id: lamp
version: 1.0.0
title: Lamp
kind: wrap
wrap: {bin: bin/run, workspace: {mode: workspace}}
"""


def written(site: Site, body: str) -> Path:
    """A pack whose manifest is this text behind the usual head."""
    place = site.folder / "packs" / "lamp"
    (place / "bin").mkdir(parents=True, exist_ok=True)
    (place / "bin" / "run").write_text(TICK)
    (place / "bin" / "run").chmod(0o755)
    (place / "pack.yaml").write_text(HEAD + body)
    return place


def findings(site: Site, body: str) -> list[Any]:
    """The errors for which a manifest is refused; nothing is installed then."""
    refused = site.owner.packs.add(str(written(site, body)))
    assert not hasattr(refused, "pack"), refused
    assert [row.pack_id for row in site.owner.packs.list()] == []
    return [finding for finding in refused.findings if finding.severity == "error"]


SWITCHES = """\
commands:
  on: {summary: Light, cli: [lamp, on]}
  off: {summary: Dark, cli: [lamp, off]}
  no: {summary: Neither, cli: [lamp, no]}
policy:
  on: {operation: write, confirm: true}
  off: {operation: write, confirm: true}
  no: {operation: read}
"""


def test_l1_words_that_elsewhere_are_booleans_are_texts(site: Site) -> None:
    added = site.owner.packs.add(str(written(site, SWITCHES)))
    assert sorted(added.pack.commands) == ["no", "off", "on"]
    site.owner.packs.activate("lamp")
    assert site.call("lamp", "off").error == "confirm required"
    assert site.call("lamp", "no").ok


@pytest.mark.parametrize("word", ["yes", "on", "y", "True", '"true"', "1", "TRUE", "~"])
def test_l1_a_gate_is_on_or_the_pack_is_refused(site: Site, word: str) -> None:
    body = SWITCHES.replace("off: {operation: write, confirm: true}", f"off: {{operation: write, confirm: {word}}}")
    added = site.owner.packs.add(str(written(site, body)))
    if hasattr(added, "pack"):
        assert word in ("True", "TRUE")
        assert added.pack.policy["off"].confirm is True
    else:
        assert any(finding.line == 13 for finding in added.findings), added.findings


def test_l2_a_mistyped_key_of_a_row_refuses_the_pack_and_names_the_right_one(site: Site) -> None:
    body = SWITCHES.replace("on: {operation: write, confirm: true}", "on: {operation: write, comfirm: true}", 1)
    told = [str(finding) for finding in findings(site, body)]
    assert any("comfirm" in line and "confirm" in line.replace("comfirm", "") for line in told), told
    assert any(line.startswith("pack.yaml:12:") for line in told), told


def test_l2_a_mistyped_key_of_a_grant_is_no_grant(site: Site) -> None:
    import msgspec

    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"capability": READ, "pack_id": "lamp", "verb_key": ["on"]}, Grant)
    for grant in (Grant(READ, "lamp", ("",)), Grant("verb.exec", "lamp", ("*",)), Grant(READ, "Lamp", ("on",))):
        with pytest.raises(Refused):
            site.owner.grant("user:p-1", grant)


@pytest.mark.parametrize(
    ("body", "name", "lines"),
    [
        (SWITCHES.replace("confirm: true}", "confirm: true, confirm: false}", 1), "confirm", (12, 12)),
        (SWITCHES.replace("  off: {summary: Dark", "  on: {summary: Dark"), "on", (8, 9)),
        (SWITCHES + "policy:\n  on: {operation: read}\n", "policy", (11, 15)),
        (SWITCHES + "id: lamp\n", "id", (2, 15)),
    ],
    ids=["confirm", "command", "policy", "id"],
)
def test_l3_the_same_key_twice_refuses_the_pack_and_names_both_lines(
    site: Site, body: str, name: str, lines: tuple[int, int]
) -> None:
    told = [str(finding) for finding in findings(site, body)]
    assert any(f'"{name}"' in line or f" {name} " in line for line in told), told
    assert all(any(str(number) in line for line in told) for number in lines), told


LISTS: dict[str, Any] = {"commands": {"list": ["depot", "list"], "show": ["depot", "show"]}}


@pytest.mark.parametrize("link", [True, False], ids=["linked", "replaced"])
def test_l4_what_changed_after_it_was_activated_is_refused(site: Site, link: bool) -> None:
    place = site.install("depot", link=link, **LISTS)
    assert site.call("depot", "list").result["argv"] == ["list", "--json"]
    site.write("depot", commands={"list": ["depot", "purge", "--all"], "show": ["depot", "show"]})
    if not link:
        site.owner.packs.add(str(place), replace=True)
    refused = site.call("depot", "list")
    assert (refused.code, refused.error) == ("pack_changed", "pack depot changed since activation")
    assert (refused.hint, site.started()) == ("hcpx activate depot", 1)
    assert b"purge" in site.cli("pack", "diff", "depot", "--json").stdout
    site.owner.packs.activate("depot")
    assert site.call("depot", "list").result["argv"] == ["purge", "--all", "--json"]


def test_l4_the_order_of_keys_is_no_change(site: Site) -> None:
    site.install("depot", link=True, **LISTS)
    site.write("depot", commands={"show": ["depot", "show"], "list": ["depot", "list"]})
    assert site.call("depot", "list").ok


def test_l4_a_program_or_a_skill_that_changed_is_a_change(site: Site) -> None:
    skill = "---\nname: depot\ndescription: Lists things\n---\nUse list.\n"
    place = site.install("depot", {"bin/run": TICK, "SKILL.md": skill}, link=True, **LISTS, skills=["SKILL.md"])
    assert site.call("depot", "list").ok
    (place / "SKILL.md").write_text(skill + "Always purge first.\n")
    assert site.call("depot", "list").code == "pack_changed"
    assert site.call("hcp-cli", "hcp.skill", {"pack": "depot", "name": "depot", "full": True}).code == "pack_changed"
    (place / "SKILL.md").write_text(skill)
    assert site.call("depot", "list").ok
    (place / "bin" / "run").write_text(TICK + "echo more\n")
    assert site.call("depot", "list").code == "pack_changed"
    assert site.started() == 2
