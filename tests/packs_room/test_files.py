"""The files of a pack: what belongs to it, what cannot, and what its digest sees (Spec 02)."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from hcpx.packs import files
from hcpx.packs.files import signature, take_inventory
from hcpx.packs.gate import lint, read_pack
from hcpx.vocabulary.finding import errors
from tests.packs_room.sound import SKILL, SOUND, write_pack

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.packs_room.conftest import Later

REORDERED = """\
# a comment
skills: [SKILL.md]
policy: {look: {operation: read}}
commands: {look: {args: {}, cli: ["tool", 'look'], summary: "Look around"}}
wrap:
  bin: bin/tool
kind: wrap
title: A demo
version: "1.0.0"
id: demo
hcp: 1
"""


def digest(folder: Path) -> str:
    pack = read_pack(str(folder)).pack
    assert pack is not None
    return pack.digest


def codes(folder: Path) -> list[tuple[str, str]]:
    return [(one.file, one.code) for one in errors(lint(str(folder)))]


def test_the_digest_names_its_algorithm_and_is_the_same_every_time(tmp_path: Path) -> None:
    first = digest(write_pack(tmp_path / "a"))
    assert first == digest(write_pack(tmp_path / "b"))
    assert first == "sha256:" + first.removeprefix("sha256:").lower()
    assert len(first) == len("sha256:") + 64


def test_order_of_keys_comments_and_style_are_not_part_of_the_digest(tmp_path: Path) -> None:
    assert digest(write_pack(tmp_path / "a")) == digest(write_pack(tmp_path / "b", REORDERED))


CHANGES: dict[str, Callable[[Path], object]] = {
    "another command line": lambda d: write_pack(d, SOUND.replace("tool, look", "tool, purge, --all")),
    "another summary": lambda d: write_pack(d, SOUND.replace("Look around", "Look away")),
    "another order of tokens": lambda d: write_pack(d, SOUND.replace("tool, look", "look, tool")),
    "the program's content": lambda d: (d / "bin/tool").write_text("#!/bin/sh\nrm -rf /\n"),
    "the program's run bit": lambda d: (d / "bin/tool").chmod(0o644),
    "the Skill's text": lambda d: (d / "SKILL.md").write_text(SKILL + "Do more.\n"),
    "a new file": lambda d: (d / "lib.py").write_text(""),
    "a new hidden file": lambda d: (d / "bin/.hidden").write_text(""),
    "a file gone": lambda d: (d / "COPY.md").unlink(),
    "a file renamed": lambda d: (d / "COPY.md").rename(d / "COPY2.md"),
    "a file become a link": lambda d: ((d / "COPY.md").unlink(), (d / "COPY.md").symlink_to("SKILL.md")),
    "compiled Python beside the source": lambda d: (
        (d / "__pycache__").mkdir(),
        (d / "__pycache__/tool.pyc").write_bytes(b"x"),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_else_changes_gives_another_digest(change: str, tmp_path: Path) -> None:
    before = digest(write_pack(tmp_path))
    CHANGES[change](tmp_path)
    assert digest(tmp_path) != before


def test_version_controls_own_folder_at_the_root_is_no_part_of_the_pack(tmp_path: Path) -> None:
    before = digest(write_pack(tmp_path))
    (tmp_path / ".git/hooks").mkdir(parents=True)
    (tmp_path / ".git/hooks/x").write_text("x")
    assert digest(tmp_path) == before
    (tmp_path / "sub/.git").mkdir(parents=True)
    (tmp_path / "sub/.git/x").write_text("x")
    assert digest(tmp_path) != before


def test_empty_folders_times_and_owner_bits_do_not_count(tmp_path: Path) -> None:
    before = digest(write_pack(tmp_path))
    (tmp_path / "empty").mkdir()
    (tmp_path / "SKILL.md").chmod(0o600)
    os.utime(tmp_path / "SKILL.md", (1, 1))
    assert digest(tmp_path) == before


def test_nothing_but_files_folders_and_links_can_be_in_a_pack(tmp_path: Path) -> None:
    write_pack(tmp_path)
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
    assert codes(tmp_path) == [("fifo", "odd_file"), ("socket", "odd_file")]


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o4644])
def test_a_setuid_file_is_refused(mode: int, tmp_path: Path) -> None:
    write_pack(tmp_path)
    (tmp_path / "bin/tool").chmod(mode)
    assert codes(tmp_path) == [("bin/tool", "setuid_file")]


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("bin/tool", None),
        ("./bin/../SKILL.md", None),
        ("bin", None),
        (".", None),
        ("/etc/hostname", "link_leaves_pack"),
        ("../outside", "link_leaves_pack"),
        ("bin/../../outside", "link_leaves_pack"),
        ("chain", "link_leaves_pack"),
        ("nowhere", "link_broken"),
        ("link", "link_broken"),
        (".git/config", "link_leaves_pack"),
    ],
)
def test_a_link_stays_in_the_pack(target: str, code: str | None, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "pack")
    (tmp_path / "outside").write_text("x")
    (folder / ".git").mkdir()
    (folder / ".git/config").write_text("x")
    if target == "chain":
        (folder / "chain").symlink_to("../outside")
    (folder / "link").symlink_to(target)
    assert [code for name, code in codes(folder) if name == "link"] == ([] if code is None else [code])


def test_an_absolute_link_is_refused_even_where_it_leads_into_the_pack(tmp_path: Path) -> None:
    write_pack(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "SKILL.md")
    assert codes(tmp_path) == [("link", "link_leaves_pack")]


def test_odd_names_are_refused_and_shown_escaped(tmp_path: Path) -> None:
    write_pack(tmp_path)
    (tmp_path / "new\nline").write_text("")
    (tmp_path / "turn\u202e").write_text("")
    (tmp_path / "not-\udcff-utf8").write_text("")
    assert codes(tmp_path) == [
        ("new\\u{000A}line", "odd_name"),
        ("not-\ufffd-utf8", "odd_name"),
        ("turn\\u{202E}", "odd_name"),
    ]


def test_names_that_differ_by_case_or_accents_only_are_refused(tmp_path: Path) -> None:
    write_pack(tmp_path, files={"Bin/x": "", "e\u0301.txt": "", "\u00e9.txt": ""})
    assert [code for _, code in codes(tmp_path)] == ["name_clash", "name_clash"]


def test_more_entries_or_bytes_than_a_pack_may_have_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pack(tmp_path)
    monkeypatch.setattr(files, "MAX_ENTRIES", 4)
    assert codes(tmp_path) == [(".", "pack_too_large")]
    monkeypatch.setattr(files, "MAX_ENTRIES", 100)
    monkeypatch.setattr(files, "MAX_BYTES", 100)
    assert codes(tmp_path) == [(".", "pack_too_large")]


def test_a_folder_so_deep_that_it_cannot_be_named_gives_a_finding(tmp_path: Path) -> None:
    write_pack(tmp_path)
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d" * 20, dir_fd=here)
        below = os.open("d" * 20, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert codes(tmp_path) == [(".", "unreadable")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    write_pack(tmp_path)
    (tmp_path / "SKILL.md").chmod(0)
    assert ("SKILL.md", "unreadable") in codes(tmp_path)


def test_the_signature_is_there_once_the_folder_has_settled_and_changes_with_any_touch(
    tmp_path: Path, later: Later
) -> None:
    write_pack(tmp_path)
    assert signature(str(tmp_path)) is None
    with later():
        first = signature(str(tmp_path))
        assert first is not None
        assert first == signature(str(tmp_path))
    stat = (tmp_path / "SKILL.md").stat()
    (tmp_path / "SKILL.md").write_text(SKILL.replace("look", "took"))
    os.utime(tmp_path / "SKILL.md", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert signature(str(tmp_path)) is None
    with later():
        assert signature(str(tmp_path)) not in (None, first)


def test_a_folder_that_is_not_there_has_no_signature(tmp_path: Path) -> None:
    assert signature(str(tmp_path / "nowhere")) is None


def test_the_inventory_is_sorted_and_tells_what_each_file_is(tmp_path: Path) -> None:
    write_pack(tmp_path)
    (tmp_path / "link").symlink_to("SKILL.md")
    looks = [(file.path, file.look.split(":")[0]) for file in take_inventory(str(tmp_path)).files]
    assert looks == [
        ("COPY.md", "file"),
        ("SKILL.md", "file"),
        ("bin/tool", "exec"),
        ("link", "link"),
        ("pack.yaml", "file"),
    ]
