"""The catalog: compiled packs by digest, linked ones as they are now (Spec 02 section 3)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from hcpx.packs import gate
from hcpx.packs.catalog import UNREADABLE
from hcpx.packs.install import Added, Refused
from hcpx.vocabulary.finding import errors
from hcpx.vocabulary.pack import BOOTSTRAP, Pack
from hcpx.vocabulary.policy import Overlay
from tests.packs_room.conftest import Later, Room
from tests.packs_room.sound import SKILL, SOUND, laid_over, write_pack

if TYPE_CHECKING:
    from collections.abc import Callable

PURGE = SOUND.replace("[tool, look]", "[tool, purge, --all]")
REORDERED = "skills: [SKILL.md]  # moved\n" + SOUND.replace("skills: [SKILL.md]\n", "")


def linked(room: Room, folder: Path) -> Pack:
    outcome = room.installer.link("acme", str(folder))
    assert isinstance(outcome, Added), outcome
    return outcome.pack


def found(room: Room, pack_id: str = "demo") -> Pack:
    pack = room.catalog.find("acme", pack_id)
    assert pack is not None
    return pack


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every folder that is read whole from here on."""
    seen: list[str] = []
    real = gate.read_pack

    def counted(path: str, **options: object) -> object:
        seen.append(path)
        return real(path, **options)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(gate, "read_pack", counted)
    return seen


def test_a_linked_pack_is_the_folder_itself(room: Room, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "pack")
    pack = linked(room, folder)
    assert (pack.root, pack.linked) == (str(folder), True)
    assert found(room) == pack
    (row,) = room.catalog.list("acme")
    assert (row.root, row.linked) == (str(folder), True)


def test_a_link_is_followed_once_when_it_is_made(room: Room, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "pack")
    (tmp_path / "alias").symlink_to(folder)
    assert linked(room, tmp_path / "alias").root == str(folder)


CHANGES: dict[str, Callable[[Path], object]] = {
    "a command line": lambda d: (d / "pack.yaml").write_text(PURGE),
    "the bin file": lambda d: (d / "bin/tool").write_text("#!/bin/sh\nevil\n"),
    "the bin file, in place and with its old times": lambda d: keep_times(d / "bin/tool", b"#!/bin/sh\nevil '{}'\n"),
    "the run bit": lambda d: (d / "bin/tool").chmod(0o644),
    "the Skill": lambda d: (d / "SKILL.md").write_text(SKILL + "And purge everything.\n"),
    "a new file beside the program": lambda d: (d / "bin/lib.py").write_text("x"),
    "a file that was swapped for another": lambda d: (
        (d / "x").write_text("y"),
        (d / "x").rename(d / "COPY.md"),
    ),
}


def keep_times(path: Path, content: bytes) -> None:
    before = path.stat()
    assert before.st_size == len(content)
    with path.open("r+b") as file:
        file.write(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_shows_in_the_digest_of_the_very_next_call(
    change: str, room: Room, tmp_path: Path, later: Later
) -> None:
    folder = write_pack(tmp_path / "pack", files={"bin/tool": "#!/bin/sh\necho '{}'\n"})
    with later():
        pinned = linked(room, folder).digest
        assert found(room).digest == pinned
        CHANGES[change](folder)
        assert found(room).digest not in (pinned, UNREADABLE)
        assert room.fresh_catalog().find("acme", "demo").digest != pinned  # pyright: ignore[reportOptionalMemberAccess]


def test_a_new_order_of_keys_is_still_fine(room: Room, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "pack")
    pinned = linked(room, folder).digest
    (folder / "pack.yaml").write_text(REORDERED)
    assert found(room).digest == pinned


def test_a_change_taken_back_is_the_old_pack_again(room: Room, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "pack")
    pinned = linked(room, folder).digest
    (folder / "pack.yaml").write_text(PURGE)
    assert found(room).digest != pinned
    (folder / "pack.yaml").write_text(SOUND)
    assert found(room).digest == pinned


def test_an_unchanged_folder_is_not_read_again_by_this_process_nor_by_the_next(
    room: Room, tmp_path: Path, later: Later, reads: list[str]
) -> None:
    folder = write_pack(tmp_path / "pack")
    with later():
        pack = linked(room, folder)
        assert [found(room), found(room), room.fresh_catalog().find("acme", "demo")] == [pack] * 3
        assert reads == []
        # A touch alone costs one reading, and only for the first process that sees it.
        os.utime(folder / "SKILL.md")
        assert [found(room), found(room), room.fresh_catalog().find("acme", "demo")] == [pack] * 3
        assert reads == [str(folder)]


def test_a_folder_written_to_just_now_is_read_each_time(room: Room, tmp_path: Path, reads: list[str]) -> None:
    linked(room, write_pack(tmp_path / "pack"))
    found(room)
    found(room)
    assert len(reads) == 2


SPOILT: dict[str, Callable[[Path], object]] = {
    "no YAML": lambda d: (d / "pack.yaml").write_text("a: ["),
    "refused by lint": lambda d: (d / "pack.yaml").write_text(laid_over("policy: {}")),
    "another id": lambda d: (d / "pack.yaml").write_text(laid_over("id: other")),
    "no manifest": lambda d: (d / "pack.yaml").unlink(),
    "gone": lambda d: d.rename(d.parent / "moved"),
    "a link that leads out": lambda d: (d / "x").symlink_to("/etc/passwd"),
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_folder_that_cannot_be_used_is_a_pack_without_commands_that_no_activation_fits(
    how: str, room: Room, tmp_path: Path
) -> None:
    folder = write_pack(tmp_path / "pack")
    pinned = linked(room, folder)
    SPOILT[how](folder)
    pack = found(room)
    assert (pack.digest, pack.commands, pack.policy, pack.skills) == (UNREADABLE, {}, {}, ())
    assert (pack.id, pack.title, pack.root, pack.linked) == ("demo", "A demo", str(folder), True)
    assert errors(room.catalog.findings("acme", "demo"))
    if how == "gone":
        (folder.parent / "moved").rename(folder)
    else:
        (folder / "pack.yaml").write_text(SOUND)
        (folder / "x").unlink(missing_ok=True)
    assert found(room) == pinned


def test_a_folder_that_lint_refuses_cannot_be_linked(room: Room, tmp_path: Path) -> None:
    outcome = room.installer.link("acme", str(write_pack(tmp_path / "pack", laid_over("policy: {}"))))
    assert isinstance(outcome, Refused)
    assert outcome.denial.code == "lint_failed"
    assert room.catalog.find("acme", "demo") is None


@pytest.mark.parametrize("name", ["turn\u202e", "line\nbreak", "not-\udcff-utf8"])
def test_a_folder_whose_path_is_no_plain_text_cannot_be_linked(name: str, room: Room, tmp_path: Path) -> None:
    outcome = room.installer.link("acme", str(write_pack(tmp_path / name)))
    assert isinstance(outcome, Refused)
    assert outcome.denial.error.isprintable()


def test_a_link_in_the_place_of_an_installed_pack_needs_replace(room: Room, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "pack")
    installed = room.installer.add("acme", str(folder))
    assert isinstance(installed, Added)
    outcome = room.installer.link("acme", str(folder))
    assert isinstance(outcome, Refused)
    assert outcome.denial.code == "exists"
    outcome = room.installer.link("acme", str(folder), replace=True)
    assert isinstance(outcome, Added)
    assert (outcome.pack.linked, outcome.pack.digest) == (True, installed.pack.digest)
    assert found(room).root == str(folder)


def test_every_version_that_was_seen_can_be_compared_with(room: Room, tmp_path: Path, later: Later) -> None:
    folder = write_pack(tmp_path / "pack")
    with later():
        first = linked(room, folder)
        (folder / "pack.yaml").write_text(PURGE)
        second = found(room)
    bare = {"root": "", "linked": False}
    assert room.catalog.version(first.digest) == msgspec.structs.replace(first, **bare)
    assert room.catalog.version(second.digest) == msgspec.structs.replace(second, **bare)
    for nothing in ("sha256:" + "0" * 64, "", UNREADABLE, "../../x", "sha256:../x"):
        assert room.catalog.version(nothing) is None


def test_a_version_that_was_seen_only_in_passing_can_be_compared_with_too(room: Room, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "pack")
    linked(room, folder)
    (folder / "pack.yaml").write_text(PURGE)
    assert room.catalog.version(found(room).digest) is not None


def test_two_linked_composites_that_call_each_other_do_not_read_each_other_for_ever(room: Room, tmp_path: Path) -> None:
    def chain(name: str, to: str) -> str:
        return laid_over(
            f"id: {name}\nkind: composite\nwrap:\n"
            f"commands: {{go: {{steps: [{{name: s, pack_id: {to}, verb_key: {to}}}]}}, "
            f"{name}: {{steps: [{{name: s, pack_id: x, verb_key: x}}]}}}}\n"
            f"policy: {{go: {{operation: read}}, {name}: {{operation: read}}}}"
        )

    for name, to in (("a", "b"), ("b", "a")):
        linked(room, write_pack(tmp_path / name, chain(name, to)))
    assert [found(room, name).digest != UNREADABLE for name in ("a", "b")] == [True, True]


def test_a_shelf_that_cannot_be_written_to_is_no_reason_to_deny(
    room: Room, tmp_path: Path, later: Later, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_pack(tmp_path / "pack")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with later():
        linked(room, folder)
        (folder / "pack.yaml").write_text(PURGE)
        monkeypatch.setattr(room.shelf, "keep", full)
        assert found(room).commands["look"].cli == ("tool", "purge", "--all")


def test_a_damaged_note_about_a_link_is_not_believed(room: Room, tmp_path: Path, later: Later) -> None:
    folder = write_pack(tmp_path / "pack")
    with later():
        pack = linked(room, folder)
        for note in (Path(room.shelf.folder) / "links").iterdir():
            note.write_bytes(b'{"signature": 5')
        assert room.fresh_catalog().find("acme", "demo") == pack


def test_the_bootstrap_pack_is_there_for_everybody_and_made_once(room: Room) -> None:
    pack = room.catalog.find("acme", BOOTSTRAP)
    assert pack is not None
    assert pack is room.catalog.find("other", BOOTSTRAP)
    assert pack.version == "0.0.1"


def test_an_id_is_matched_byte_for_byte_and_never_a_path(room: Room, tmp_path: Path) -> None:
    assert isinstance(room.installer.add("acme", str(write_pack(tmp_path / "pack"))), Added)
    for pack_id in ("Demo", "demo ", " demo", "demo\0", "../demo", "demo/../demo", "", "dem", "x" * 300):
        assert room.catalog.find("acme", pack_id) is None


def test_overlays_come_from_their_rows(room: Room) -> None:
    room.rows.overlays["acme", "demo", "look"] = Overlay(confirm=True)
    assert room.catalog.overlay("acme", "demo", "look") == Overlay(confirm=True)
    assert room.catalog.overlay("other", "demo", "look") is None


def test_the_cache_of_compiled_packs_does_not_grow_without_bound(room: Room, tmp_path: Path) -> None:
    assert isinstance(room.installer.add("acme", str(write_pack(tmp_path / "pack"))), Added)
    row = room.rows.rows["acme", "demo"]
    for number in range(600):
        room.rows.rows["acme", f"p{number}"] = msgspec.structs.replace(row, pack_id=f"p{number}", digest=str(number))
        assert room.catalog.find("acme", f"p{number}") is not None
    assert len(room.catalog._compiled) == 512


def test_finding_an_installed_pack_imports_no_yaml_and_nothing_else_that_only_installing_needs() -> None:
    code = (
        "import sys, hcpx.packs.catalog, hcpx.packs.shelf, hcpx.packs.bootstrap.pack\n"
        "heavy = {'ruamel.yaml', 'jsonschema_rs', 'tempfile', 'shutil', 'pathlib', 'hashlib', 'zipfile',"
        " 'tarfile', 'gzip', 'logging', 'dataclasses', 'subprocess', 'importlib.metadata'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    environment = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    bare = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert bare.stdout == "[]\n"
