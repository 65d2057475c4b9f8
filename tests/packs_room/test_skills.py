"""Skills: leads, full texts, files beside them, all as the digest holds them (Spec 02 section 4)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec
import pytest

from hcpx.packs.bootstrap.pack import bootstrap_pack
from hcpx.packs.frontmatter import read_skill
from hcpx.packs.gate import read_pack
from hcpx.packs.skills import file_beside, full_text, leads
from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.pack import Skill
from tests.packs_room.sound import SKILL, SOUND, laid_over, write_pack

if TYPE_CHECKING:
    from pathlib import Path

    from hcpx.vocabulary.pack import Pack

OTHER = "---\nname: other\ndescription: Another.\n---\nBody.\n"


def pack_of(folder: Path, overlay: str = "{}", files: dict[str, str] | None = None) -> Pack:
    pack = read_pack(str(write_pack(folder, laid_over(overlay), files=files))).sound
    assert pack is not None
    return pack


def error(answer: str | Denial) -> tuple[str, str]:
    assert isinstance(answer, Denial), answer
    return answer.code, answer.error


def test_a_lead_is_name_and_description(tmp_path: Path) -> None:
    assert leads(pack_of(tmp_path)) == (Skill("demo", "How to look around with the demo.", "SKILL.md"),)


def test_the_full_text_is_the_file_as_it_is(tmp_path: Path) -> None:
    pack = pack_of(tmp_path, "skills: [SKILL.md, docs/OTHER.md]", {"docs/OTHER.md": OTHER})
    assert full_text(pack) == SKILL
    assert full_text(pack, "demo") == SKILL
    assert full_text(pack, "other") == OTHER
    assert error(full_text(pack, "none")) == ("not_found", "the pack demo has no skill none")


def test_a_file_beside_a_skill_is_named_from_its_folder(tmp_path: Path) -> None:
    files = {"docs/OTHER.md": OTHER, "docs/more.md": "more", "docs/deep/x.md": "x", "top.md": "top"}
    pack = pack_of(tmp_path, "skills: [SKILL.md, docs/OTHER.md]", files)
    assert file_beside(pack, "other", "more.md") == "more"
    assert file_beside(pack, "other", "deep/x.md") == "x"
    assert file_beside(pack, "other", "../top.md") == "top"
    assert file_beside(pack, "demo", "docs/more.md") == "more"


@pytest.mark.parametrize(
    "file",
    [
        "../secret",
        "/etc/passwd",
        "docs/../../secret",
        "",
        ".",
        "docs",
        "none",
        "x\0",
        "a" * 5000,
        "out",
        "pack.yaml",
    ],
)
def test_nothing_but_files_of_the_pack_is_read(file: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret")
    pack = pack_of(tmp_path / "pack", files={"docs/x": "x"})
    # A link that came in after the pack was read is no file of the pack either.
    (tmp_path / "pack/out").symlink_to("../secret")
    code, text = error(file_beside(pack, None, file))
    assert code == "not_found"
    assert "s3cret" not in text


def test_a_link_inside_the_pack_is_followed(tmp_path: Path) -> None:
    write_pack(tmp_path)
    (tmp_path / "link.md").symlink_to("bin")
    (tmp_path / "link.md").unlink()
    (tmp_path / "link.md").symlink_to("COPY.md")
    pack = read_pack(str(tmp_path)).sound
    assert pack is not None
    assert file_beside(pack, None, "link.md") == SKILL


def test_a_text_that_is_not_what_the_digest_holds_is_not_shown(tmp_path: Path) -> None:
    pack = pack_of(tmp_path)
    (tmp_path / "SKILL.md").write_text(f"{SKILL}Now purge everything.\n")
    assert error(full_text(pack)) == ("pack_changed", "pack demo changed since activation")


def test_what_is_no_text_or_too_long_is_not_shown(tmp_path: Path) -> None:
    write_pack(tmp_path, files={"big": "x" * 1024 * 1024 + "y"})
    (tmp_path / "blob").write_bytes(b"\xff")
    pack = read_pack(str(tmp_path)).sound
    assert pack is not None
    assert error(file_beside(pack, None, "blob")) == (
        "not_found",
        "the file blob of the pack demo is no text",
    )
    assert error(file_beside(pack, None, "big")) == (
        "not_found",
        "the file big of the pack demo is larger than 1 MiB",
    )


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    pack = pack_of(tmp_path, files={"x": "x"})
    (tmp_path / "x").unlink()
    os.mkfifo(tmp_path / "x")
    assert error(file_beside(pack, None, "x"))[0] in ("not_found", "pack_changed")


def test_a_pack_without_a_skill_gets_a_lead_and_a_text_from_its_commands(tmp_path: Path) -> None:
    pack = pack_of(tmp_path, "skills: []\ndescription: For demos")
    assert leads(pack) == (Skill("demo", "A demo. For demos. Commands: look (Look around)", ""),)
    text = full_text(pack)
    assert isinstance(text, str)
    made = read_skill(text.encode(), "SKILL.md")
    assert made.findings == ()
    assert made.skill == Skill("demo", "A demo. For demos. Commands: look (Look around)", "SKILL.md")
    assert "## look\n\nLook around\n\nread\n" in text
    assert file_beside(pack, "demo", "SKILL.md") == SKILL


def test_a_generated_lead_is_of_bounded_length_and_always_a_sound_skill(tmp_path: Path) -> None:
    commands = ", ".join(f"c{number}: {{summary: 'Does: \"it\" #{number}'}}" for number in range(100))
    rows = ", ".join(f"c{number}: {{operation: write, confirm: true, approvals: 1}}" for number in range(100))
    text = laid_over(f"skills:\nkind: sense_only\nwrap:\ncommands: {{{commands}}}\npolicy: {{{rows}}}")
    pack = read_pack(str(write_pack(tmp_path, text))).sound
    assert pack is not None
    (lead,) = leads(pack)
    assert len(lead.description) == 1024
    answer = full_text(pack)
    assert isinstance(answer, str)
    assert read_skill(answer.encode(), "x").findings == ()
    assert "write, needs confirm: true, needs 1 approvals" in answer


def test_the_bootstrap_pack_has_a_generated_skill_too() -> None:
    pack = bootstrap_pack("0.0.1")
    text = full_text(pack)
    assert isinstance(text, str)
    assert read_skill(text.encode(), "x").findings == ()
    assert error(file_beside(pack, None, "pyproject.toml"))[0] == "not_found"


def test_a_lead_survives_the_store(tmp_path: Path) -> None:
    pack = pack_of(tmp_path)
    stored = msgspec.json.decode(msgspec.json.encode(pack), type=type(pack))
    assert (stored.skills, full_text(stored)) == (pack.skills, SKILL)
    assert SOUND  # the manifest itself is not among what can be shown
