"""Installing: copied by digest, read-only, all or nothing (Spec 02 section 3)."""

from __future__ import annotations

import io
import os
import signal
import stat
import sys
import tarfile
import threading
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from hcpx.packs.digest import folder_name
from hcpx.packs.gate import read_pack
from hcpx.packs.install import Added, Refused
from hcpx.ports import StoreUnavailable
from hcpx.vocabulary.finding import errors
from hcpx.vocabulary.pack import Pack
from tests.packs_room.conftest import Room
from tests.packs_room.sound import SKILL, SOUND, laid_over, write_pack

if TYPE_CHECKING:
    from hcpx.vocabulary.pack import Command

NEXT = SOUND.replace("version: 1.0.0", "version: 1.1.0")


def added(outcome: Added | Refused) -> Added:
    assert isinstance(outcome, Added), outcome
    return outcome


def refused(outcome: Added | Refused) -> Refused:
    assert isinstance(outcome, Refused), outcome
    return outcome


def names(folder: Path | str) -> set[str]:
    return {path.name for path in Path(folder).iterdir()}


def shelf(room: Room) -> list[str]:
    return sorted(names(room.shelf.folder) - {".lock", "compiled", "links"})


def test_a_folder_becomes_a_read_only_copy_named_by_its_digest(room: Room, tmp_path: Path) -> None:
    source = write_pack(tmp_path / "source")
    pack = added(room.installer.add("acme", str(source))).pack
    name = folder_name(pack.digest)
    assert shelf(room) == [name]
    assert pack.root == str(Path(room.shelf.folder) / name)
    modes = {str(path.relative_to(pack.root)): stat.S_IMODE(path.stat().st_mode) for path in Path(pack.root).rglob("*")}
    assert modes == {"pack.yaml": 0o444, "SKILL.md": 0o444, "COPY.md": 0o444, "bin": 0o555, "bin/tool": 0o555}
    assert stat.S_IMODE(Path(pack.root).stat().st_mode) == 0o555
    assert stat.S_IMODE(Path(room.shelf.folder).stat().st_mode) == 0o700
    assert room.catalog.find("acme", "demo") == pack
    assert room.catalog.find("other", "demo") is None


def test_the_row_says_what_is_installed(room: Room, tmp_path: Path) -> None:
    pack = added(room.installer.add("acme", str(write_pack(tmp_path / "source")))).pack
    (row,) = room.catalog.list("acme")
    assert (row.pack_id, row.version, row.title, row.digest) == ("demo", "1.0.0", "A demo", pack.digest)
    assert (row.root, row.linked, row.installed_at) == (folder_name(pack.digest), False, room.clock.now())
    assert msgspec.json.decode(row.compiled, type=Pack) == msgspec.structs.replace(pack, root="")


def test_changing_the_source_afterwards_changes_nothing(room: Room, tmp_path: Path) -> None:
    source = write_pack(tmp_path / "source")
    pack = added(room.installer.add("acme", str(source))).pack
    (source / "bin/tool").write_text("evil")
    assert (Path(pack.root) / "bin/tool").read_text() == "#!/bin/sh\necho '{}'\n"
    assert (Path(pack.root) / "bin/tool").stat().st_nlink == 1


def archives(source: Path, top: str) -> dict[str, bytes]:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        archive.add(source, arcname=top or ".")
    squeezed = io.BytesIO()
    with tarfile.open(fileobj=squeezed, mode="w:gz") as archive:
        archive.add(source, arcname=top or ".")
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        for path in source.rglob("*"):
            archive.write(path, Path(top) / path.relative_to(source))
    return {"tar": plain.getvalue(), "tar.gz": squeezed.getvalue(), "zip": zipped.getvalue()}


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "zip"])
@pytest.mark.parametrize("top", ["", "demo-1.0.0"])
def test_an_archive_is_the_same_pack_as_its_folder(kind: str, top: str, room: Room, tmp_path: Path) -> None:
    source = write_pack(tmp_path / "source")
    (source / ".git").mkdir()
    (source / ".git/config").write_text("x")
    (tmp_path / "archive").write_bytes(archives(source, top)[kind])
    pack = added(room.installer.add("acme", str(tmp_path / "archive"))).pack
    assert pack.digest == read_pack(str(source)).pack.digest  # pyright: ignore[reportOptionalMemberAccess]
    assert not (Path(pack.root) / ".git").exists()
    assert (Path(pack.root) / "bin/tool").stat().st_mode & 0o111


def test_the_same_pack_twice_is_fine_in_one_tenant_and_in_two(room: Room, tmp_path: Path) -> None:
    source = str(write_pack(tmp_path / "source"))
    first = added(room.installer.add("acme", source)).pack
    again = added(room.installer.add("acme", source))
    assert (again.pack, again.before) == (first, first)
    assert added(room.installer.add("other", source)).pack == first
    assert shelf(room) == [folder_name(first.digest)]


def test_another_version_needs_replace_and_changes_nothing_without(room: Room, tmp_path: Path) -> None:
    old = added(room.installer.add("acme", str(write_pack(tmp_path / "old")))).pack
    source = str(write_pack(tmp_path / "new", NEXT))
    outcome = refused(room.installer.add("acme", source))
    assert (outcome.denial.code, outcome.denial.error) == (
        "exists",
        "another version of the pack demo is installed; add --replace to take this one",
    )
    assert room.catalog.find("acme", "demo") == old
    new = added(room.installer.add("acme", source, replace=True))
    assert (new.pack.version, new.before) == ("1.1.0", old)
    assert room.catalog.find("acme", "demo") == new.pack
    # What runs on the old one goes on, and an activation can still be compared with it.
    assert Path(old.root, "bin/tool").exists()
    kept = room.catalog.version(old.digest)
    assert kept == msgspec.structs.replace(old, root="")


def test_a_removed_pack_is_gone_at_once_and_its_files_a_week_later(room: Room, tmp_path: Path) -> None:
    pack = added(room.installer.add("acme", str(write_pack(tmp_path / "source")))).pack
    assert room.installer.remove("acme", "demo") is None
    assert room.catalog.find("acme", "demo") is None
    denial = room.installer.remove("acme", "demo")
    assert denial is not None
    assert (denial.code, denial.error) == ("not_found", "no pack demo is installed")
    assert Path(pack.root).exists()
    other = str(write_pack(tmp_path / "other", laid_over("id: other")))
    room.clock.time += 6 * 24 * 3600
    added(room.installer.add("acme", other))
    assert Path(pack.root).exists()
    room.clock.time += 2 * 24 * 3600
    added(room.installer.add("acme", other))
    assert not Path(pack.root).exists()
    assert room.catalog.find("acme", "other") is not None


def test_what_somebody_else_put_beside_the_packs_stays(room: Room, tmp_path: Path) -> None:
    source = str(write_pack(tmp_path / "source"))
    added(room.installer.add("acme", source))
    notes = Path(room.shelf.folder, "notes.txt")
    notes.write_text("mine")
    room.clock.time += 365 * 24 * 3600
    added(room.installer.add("acme", source))
    assert notes.read_text() == "mine"


def test_files_that_another_tenant_uses_stay(room: Room, tmp_path: Path) -> None:
    source = str(write_pack(tmp_path / "source"))
    pack = added(room.installer.add("acme", source)).pack
    added(room.installer.add("other", source))
    room.installer.remove("acme", "demo")
    room.clock.time += 30 * 24 * 3600
    added(room.installer.add("other", source))
    assert Path(pack.root).exists()


def test_a_pack_that_lint_refuses_leaves_nothing(room: Room, tmp_path: Path) -> None:
    unguarded = SOUND.replace("policy:\n  look: {operation: read}", "policy: {}")
    source = str(write_pack(tmp_path / "source", unguarded))
    outcome = refused(room.installer.add("acme", source))
    assert outcome.denial.code == "lint_failed"
    assert outcome.denial.error == f"{source}: pack.yaml:8: the command look has no Policy row"
    assert [one.code for one in errors(outcome.findings)] == ["command_without_row"]
    assert (shelf(room), room.rows.rows) == ([], {})


def test_lint_can_be_left_out_but_not_the_form(room: Room, tmp_path: Path) -> None:
    climber = laid_over("wrap: {bin: ../tool}")
    source = str(write_pack(tmp_path / "source", climber))
    assert refused(room.installer.add("acme", source)).denial.code == "lint_failed"
    assert added(room.installer.add("acme", source, judged=False)).pack.wrap.bin == "../tool"  # pyright: ignore[reportOptionalMemberAccess]
    source = str(write_pack(tmp_path / "worse", laid_over("knd: wrap")))
    assert refused(room.installer.add("acme", source, judged=False)).denial.code == "lint_failed"


def test_what_is_not_there_is_not_found(room: Room, tmp_path: Path) -> None:
    for outcome in (
        room.installer.add("acme", str(tmp_path / "nowhere")),
        room.installer.link("acme", str(tmp_path / "nowhere")),
    ):
        assert refused(outcome).denial.code == "not_found"
    (tmp_path / "file").write_text("no archive")
    outcome = refused(room.installer.add("acme", str(tmp_path / "file")))
    assert outcome.denial.error == f"{tmp_path}/file: neither tar, tar.gz nor zip"
    assert [one.code for one in outcome.findings] == ["bad_archive"]
    assert refused(room.installer.link("acme", str(tmp_path / "file"))).denial.code == "not_found"


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda d: os.mkfifo(d / "fifo"), "odd_file"),
        (lambda d: (d / "bin/tool").chmod(0o4755), "setuid_file"),
        (lambda d: (d / "link").symlink_to("/etc/passwd"), "link_leaves_pack"),
        (lambda d: (d / "link").symlink_to("../../secret"), "link_leaves_pack"),
        (lambda d: (d / "SKILL.MD").write_text("x"), "name_clash"),
    ],
    ids=["fifo", "setuid", "absolute link", "link out", "case"],
)
def test_a_folder_with_what_no_pack_can_hold_is_refused(spoil: object, code: str, room: Room, tmp_path: Path) -> None:
    source = write_pack(tmp_path / "source")
    (tmp_path / "secret").write_text("x")
    spoil(source)  # pyright: ignore[reportCallIssue]
    outcome = refused(room.installer.add("acme", str(source)))
    assert code in {one.code for one in outcome.findings}
    assert shelf(room) == []


def test_a_link_inside_a_pack_is_installed_as_a_link(room: Room, tmp_path: Path) -> None:
    source = write_pack(tmp_path / "source")
    (source / "link").symlink_to("bin/tool")
    pack = added(room.installer.add("acme", str(source))).pack
    assert Path(pack.root, "link").readlink() == Path("bin/tool")


def test_a_damaged_copy_is_replaced_by_a_sound_one(room: Room, tmp_path: Path) -> None:
    source = str(write_pack(tmp_path / "source"))
    pack = added(room.installer.add("acme", source)).pack
    tool = Path(pack.root) / "bin/tool"
    tool.chmod(0o755)
    tool.write_text("damaged")
    assert added(room.installer.add("acme", source)).pack == pack
    assert tool.read_text() == "#!/bin/sh\necho '{}'\n"
    added(room.installer.add("acme", source))
    assert shelf(room) == [folder_name(pack.digest)]


def test_what_a_crash_left_behind_is_swept_by_the_next_install(room: Room, tmp_path: Path) -> None:
    source = str(write_pack(tmp_path / "source"))
    pack = added(room.installer.add("acme", source)).pack
    folder = Path(room.shelf.folder)
    write_pack(folder / ".incoming-crashed").chmod(0o500)
    (folder / "compiled/.draft").write_text("x")
    # A crash between the two renames of a repair: the damaged copy goes back to its place.
    (folder / folder_name(pack.digest)).chmod(0o700)
    (folder / folder_name(pack.digest)).rename(folder / f".outgoing-{folder_name(pack.digest)}")
    added(room.installer.add("acme", source))
    assert shelf(room) == [folder_name(pack.digest)]
    assert names(folder / "compiled") == {folder_name(pack.digest)}
    assert read_pack(pack.root).pack == msgspec.structs.replace(pack, root=pack.root)


def test_a_failing_store_leaves_the_old_pack_in_its_place(room: Room, tmp_path: Path) -> None:
    old = added(room.installer.add("acme", str(write_pack(tmp_path / "old")))).pack
    room.rows.fail_put = True
    with pytest.raises(RuntimeError):
        room.installer.add("acme", str(write_pack(tmp_path / "new", NEXT)), replace=True)
    room.rows.fail_put = False
    assert room.catalog.find("acme", "demo") == old
    assert not [name for name in shelf(room) if name.startswith(".")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_a_shelf_that_cannot_be_written_is_an_error_and_changes_nothing(room: Room, tmp_path: Path) -> None:
    added(room.installer.add("acme", str(write_pack(tmp_path / "old"))))
    Path(room.shelf.folder).chmod(0o500)
    try:
        with pytest.raises(StoreUnavailable, match="packs: Permission denied: make room"):
            room.installer.add("acme", str(write_pack(tmp_path / "new", NEXT)), replace=True)
    finally:
        Path(room.shelf.folder).chmod(0o700)
    assert room.catalog.find("acme", "demo").version == "1.0.0"  # pyright: ignore[reportOptionalMemberAccess]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_source_that_may_not_be_read_is_refused_and_named(room: Room, tmp_path: Path) -> None:
    source = write_pack(tmp_path / "source")
    (source / "SKILL.md").chmod(0)
    outcome = refused(room.installer.add("acme", str(source)))
    assert ("SKILL.md", "unreadable") in {(one.file, one.code) for one in outcome.findings}
    source.chmod(0)
    outcome = refused(room.installer.add("acme", str(source)))
    assert outcome.denial.error == f"{source}: the pack directory cannot be read: Permission denied"
    source.chmod(0o700)
    (tmp_path / "archive").write_bytes(b"x")
    (tmp_path / "archive").chmod(0)
    outcome = refused(room.installer.add("acme", str(tmp_path / "archive")))
    assert outcome.denial.error == f"{tmp_path}/archive: the archive cannot be read: Permission denied"


def test_a_full_disk_is_the_stores_trouble_and_changes_nothing(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = added(room.installer.add("acme", str(write_pack(tmp_path / "old")))).pack

    def full(_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreUnavailable, match="packs: No space left on device: make room"):
        room.installer.add("acme", str(write_pack(tmp_path / "new", NEXT)), replace=True)
    with pytest.raises(StoreUnavailable):
        room.installer.link("acme", str(tmp_path / "new"), replace=True)
    monkeypatch.undo()
    assert room.catalog.find("acme", "demo") == old
    assert shelf(room) == [folder_name(old.digest)]


def test_eight_installs_at_once_give_one_pack(room: Room, tmp_path: Path) -> None:
    source = str(write_pack(tmp_path / "source"))
    outcomes: list[Added | Refused] = []
    threads = [threading.Thread(target=lambda: outcomes.append(room.installer.add("acme", source))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({added(outcome).pack.digest for outcome in outcomes}) == 1
    assert len(shelf(room)) == 1


def sound_folders(room: Room) -> bool:
    """Whether every folder of the shelf holds exactly what its name says."""
    for name in shelf(room):
        if not name.startswith("."):
            pack = read_pack(f"{room.shelf.folder}/{name}").pack
            if pack is None or folder_name(pack.digest) != name:
                return False
    return True


def killed_at(moment: int, room: Room, source: str) -> bool:
    """Install in a child, killed at its `moment`th touch of the file system; False where it got through."""
    child = os.fork()
    if child == 0:
        count = 0

        def hook(event: str, _: object) -> None:
            nonlocal count
            if event == "open" or event.startswith(("os.", "shutil.", "fcntl.", "tempfile.")):
                count += 1
                if count == moment:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        try:
            room.installer.add("acme", source, replace=True)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.slow
def test_kill_9_at_any_moment_leaves_no_half_pack(room: Room, tmp_path: Path) -> None:
    old = added(room.installer.add("acme", str(write_pack(tmp_path / "old")))).pack
    source = write_pack(tmp_path / "new", NEXT, files={"lib/a": "a", "lib/b": "b"})
    (source / "link").symlink_to("lib/a")
    read_pack(str(source))
    moment = 0
    while True:
        moment += 2
        killed = killed_at(moment, room, str(source))
        assert sound_folders(room), f"after {moment}"
        assert read_pack(old.root).pack == old, f"after {moment}"
        if not killed:
            break
    assert moment > 20
    new = added(room.installer.add("acme", str(source), replace=True)).pack
    assert shelf(room) == sorted([folder_name(old.digest), folder_name(new.digest)])
    assert room.catalog.find("acme", "demo") == new


def test_composites_are_judged_against_what_the_tenant_has_installed(room: Room, tmp_path: Path) -> None:
    bank = laid_over("id: bank\npolicy: {look: {operation: write, confirm: true}}")
    daily = laid_over(
        "id: daily\nkind: composite\nwrap:\n"
        "commands: {close: {steps: [{name: s, pack_id: bank, verb_key: look}]}}\n"
        "policy: {close: {operation: read}}"
    )
    added(room.installer.add("acme", str(write_pack(tmp_path / "bank", bank))))
    source = str(write_pack(tmp_path / "daily", daily))
    assert [one.code for one in errors(refused(room.installer.add("acme", source)).findings)] == [
        "composite_unconfirmed"
    ]
    warnings = {one.code for one in added(room.installer.add("other", source)).findings}
    assert "step_unknown" in warnings


def test_a_packaged_pack_may_name_handlers(room: Room, tmp_path: Path) -> None:
    text = laid_over("kind: composite\nwrap:\ncommands: {look: {summary: s, args: {}, handler: mine}}")
    source = str(write_pack(tmp_path / "source", text, files={"SKILL.md": SKILL}))
    assert refused(room.installer.add("acme", source)).denial.code == "lint_failed"
    command: Command = added(room.installer.add("acme", source, packaged=True)).pack.commands["look"]
    assert command.handler == "mine"
