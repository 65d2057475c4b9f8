from __future__ import annotations

import os
from pathlib import Path

import pytest

from hcpx.sandbox.workspace import GONE, Folder, Folders, Workspaces

OWNER = ("acme", "user:ada", "ledger")


def described(folder: Folder) -> tuple[str, bool, str | None]:
    return folder.path, folder.fd >= 0, folder.problem


def test_a_directory_is_opened_under_its_real_path(tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / "below").mkdir(parents=True)
    (tmp_path / "link").symlink_to(real)
    folder = Folders().open(str(tmp_path / "link" / "below"))
    assert described(folder) == (str(real / "below"), True, None)
    assert os.fstat(folder.fd).st_ino == (real / "below").stat().st_ino
    folder.close()
    folder.close()
    assert folder.fd == -1


def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    cases = {
        "gone": GONE,
        "file": "working directory is no directory",
        "link": "working directory is a symlink",
        "file/below": "working directory is no directory",
        "x" * 300: "working directory: File name too long",
        "a\0b": "no path of a directory",
    }
    for name, problem in cases.items():
        path = f"{tmp_path}/{name}"
        assert described(Folders().open(path)) == (path, False, problem)


def test_mode_pack_is_the_packs_own_directory(tmp_path: Path) -> None:
    workspaces = Workspaces(str(tmp_path / "state"))
    folder = workspaces.open("pack", str(tmp_path), None, OWNER)
    assert described(folder) == (str(tmp_path), True, None)
    folder.close()
    assert described(workspaces.open("pack", f"{tmp_path}/gone", None, OWNER)) == (
        f"{tmp_path}/gone",
        False,
        GONE,
    )


def test_mode_project_is_the_opened_directory_and_leaves_it_open(tmp_path: Path) -> None:
    opened = Folders().open(str(tmp_path))
    folder = Workspaces(str(tmp_path / "state")).open("project", "/", opened, OWNER)
    assert described(folder) == (str(tmp_path), True, None)
    assert os.fstat(folder.fd).st_ino == tmp_path.stat().st_ino
    folder.close()
    assert os.fstat(opened.fd).st_ino == tmp_path.stat().st_ino
    opened.close()


def test_a_project_that_is_gone_before_or_after_it_was_opened_is_gone(tmp_path: Path) -> None:
    workspaces = Workspaces(str(tmp_path / "state"))
    before = Folders().open(str(tmp_path / "gone"))
    assert workspaces.open("project", "/", before, OWNER).problem == GONE
    assert workspaces.open("project", "/", None, OWNER).problem == GONE
    (tmp_path / "there").mkdir()
    after = Folders().open(str(tmp_path / "there"))
    (tmp_path / "there").rmdir()
    assert workspaces.open("project", "/", after, OWNER).problem == GONE
    after.close()


def test_mode_workspace_keeps_one_private_directory_for_each_owner(tmp_path: Path) -> None:
    workspaces = Workspaces(str(tmp_path))
    paths: dict[tuple[str, str, str], Path] = {}
    owners = [
        OWNER,
        ("acme", "user:ada", "ledger2"),
        ("acme", "user:adal", "edger"),
        ("acm", "euser:ada", "ledger"),
        ("..", "../..", "/etc"),
        ("acme", "user:\ud800", "x"),
    ]
    for owner in owners:
        folder = workspaces.open("workspace", "/", None, owner)
        paths[owner] = Path(folder.path)
        (paths[owner] / "kept").touch()
        assert paths[owner].stat().st_mode & 0o7777 == 0o700
        folder.close()
    assert len({*paths.values()}) == len(owners)
    assert {path.parent for path in paths.values()} == {tmp_path / "workspaces"}
    assert not any("acme" in path.name or "ada" in path.name for path in paths.values())
    again = Workspaces(str(tmp_path)).open("workspace", "/", None, OWNER)
    assert again.path == str(paths[OWNER])
    assert os.listdir(again.path) == ["kept"]
    again.close()


def test_a_link_in_the_place_of_a_private_directory_is_not_followed(tmp_path: Path) -> None:
    workspaces = Workspaces(str(tmp_path))
    folder = workspaces.open("workspace", "/", None, OWNER)
    folder.close()
    Path(folder.path).rmdir()
    Path(folder.path).symlink_to("/etc")
    refused = workspaces.open("workspace", "/", None, OWNER)
    assert described(refused) == (folder.path, False, "working directory is a symlink")


def test_mode_ephemeral_is_an_empty_private_directory_that_is_gone_afterwards(tmp_path: Path) -> None:
    workspaces = Workspaces(str(tmp_path))
    first = workspaces.open("ephemeral", "/", None, OWNER)
    second = workspaces.open("ephemeral", "/", None, OWNER)
    assert first.path != second.path
    assert Path(first.path).stat().st_mode & 0o7777 == 0o700
    (Path(first.path) / "left").mkdir(0o000)
    first.close()
    first.close()
    assert not Path(first.path).exists()
    second.close()
    third = workspaces.open("ephemeral", "/", None, OWNER)
    assert list(Path(third.path).iterdir()) == []
    third.close()
    workspaces.close()
    assert list((tmp_path / "ephemeral").iterdir()) == []


@pytest.mark.parametrize("mode", ["workspace", "ephemeral"])
def test_a_private_directory_that_cannot_be_made_is_a_problem_and_no_exception(mode: str, tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    workspaces = Workspaces(str(tmp_path / "state"))
    folder = workspaces.open(mode, "/", None, OWNER)  # pyright: ignore[reportArgumentType]
    assert described(folder) == ("", False, "no private workspace: Not a directory")
