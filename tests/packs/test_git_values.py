"""Values that would be options, other files or other repositories: they work in plain git, and not here."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.packs.shipped import (
    SEARCH_PATH,
    as_nobody,
    compiled,
    exec_in,
    needs,
    open_folder,
    refusal,
    run,
    wrapped,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs("git", "prlimit", "setpriv")


@pytest.fixture
def repository() -> Iterator[Path]:
    with open_folder() as folder:
        sh(
            folder,
            """
            git init -q -b main .
            git config user.name Victim; git config user.email victim@example.org
            echo one > a.txt; echo -x > '*.txt'; git add .; git commit -qm one
            echo two >> a.txt; git commit -qam two; git branch side
            echo secret > ../secret
            """,
        )
        yield folder


def sh(folder: Path, script: str) -> str:
    done = run([*as_nobody(), "sh", "-ec", script], folder)
    return (done.stdout + done.stderr).decode()


def git(folder: Path, verb: str, **args: object) -> str:
    done = exec_in(folder, "git", verb, args)
    return (done.stdout + done.stderr).decode()


def test_an_output_option_as_revision_writes_a_file_in_plain_git_and_is_refused_here(
    repository: Path,
) -> None:
    value = "--output=leak.txt"
    sh(repository, f"git diff {value} HEAD~1")
    assert (repository / "leak.txt").exists()
    for verb in ("log", "show", "tree", "blame", "file"):
        assert refusal("git", verb, {"rev": value, "path": "a.txt"}) == "/rev"
    assert refusal("git", "grep", {"rev": value, "pattern": "x"}) == "/rev"
    for name in ("from", "to"):
        assert refusal("git", "diff.between", {"from": "HEAD", "to": "HEAD", name: value}) == f"/{name}"


def test_an_output_option_as_path_is_a_file_name(repository: Path) -> None:
    for verb in ("log", "diff", "diff.staged", "status", "files", "add", "unstage"):
        git(repository, verb, path="--output=leak.txt")
    for verb in ("show", "blame"):
        git(repository, verb, path="--output=leak.txt", rev="HEAD")
    git(repository, "grep", path="--output=leak.txt", pattern="one")
    assert not (repository / "leak.txt").exists()


def test_a_pattern_that_opens_a_pager_runs_a_program_in_plain_git_and_is_a_pattern_here(
    repository: Path,
) -> None:
    evil = repository.parent / "evil"
    evil.write_text("#!/bin/sh\necho ran\n")
    evil.chmod(0o755)
    value = f"--open-files-in-pager={evil}"
    assert "ran" in sh(repository, f"git grep {value} one")
    assert "ran" not in git(repository, "grep", pattern=value)
    assert git(repository, "grep", pattern="-x") == "*.txt:1:-x\n"


def test_two_paths_make_plain_diff_read_outside_and_one_does_not_here(repository: Path) -> None:
    assert "secret" in sh(repository, "git diff -- /dev/null ../secret || true")
    assert "+secret" not in git(repository, "diff", path="../secret")
    assert "+secret" not in git(repository, "diff", path="/dev/null ../secret")


@pytest.mark.parametrize("verb", ["status", "diff", "diff.staged", "log", "files", "add", "unstage"])
def test_a_path_outside_the_repository_is_refused_by_git(verb: str, repository: Path) -> None:
    assert "outside repository" in git(repository, verb, path="../secret")


def test_a_work_tree_elsewhere_shows_foreign_files_in_plain_git_and_not_here(repository: Path) -> None:
    elsewhere = repository.parent / "elsewhere"
    sh(
        repository,
        f"mkdir {elsewhere}; echo private > {elsewhere}/a.txt; git config core.worktree {elsewhere}",
    )
    assert "private" in sh(repository, "git diff")
    assert "private" not in git(repository, "diff") + git(repository, "grep", pattern="private")
    git(repository, "switch", name="side")
    assert (elsewhere / "a.txt").read_text() == "private\n"


def test_an_outer_repository_answers_in_plain_git_and_not_here(repository: Path) -> None:
    inner = repository / "inner"
    sh(repository, "mkdir inner")
    assert "two" in sh(inner, "git log --format=%s")
    assert "not a git repository" in git(inner, "log")


def test_a_path_is_no_pattern(repository: Path) -> None:
    assert sh(repository, "git ls-files '*.txt'") == "*.txt\na.txt\n"
    assert git(repository, "files", path="*.txt") == "*.txt\n"
    assert git(repository, "files", path=":(top)a.txt") == ""


def test_a_branch_name_is_no_option_and_deletes_nothing(repository: Path) -> None:
    for verb in ("branch.create", "branch.delete", "switch", "tag.create"):
        for value in ("-D", "--delete", "-f", "--force", "-C"):
            assert refusal("git", verb, {"name": value}) == "/name"
    assert sh(repository, "git branch --format='%(refname:short)'") == "main\nside\n"


def test_a_message_may_look_like_an_option(repository: Path) -> None:
    sh(repository, "echo three >> a.txt; git add a.txt")
    assert "[main " in git(repository, "commit", message="--amend")
    assert sh(repository, "git log --format=%s") == "--amend\ntwo\none\n"


def test_a_name_cannot_bring_another_setting_along(repository: Path) -> None:
    sh(repository, "echo three >> a.txt; git add a.txt")
    name = "Ada\n[core]\n\tfsmonitor = x"
    git(repository, "commit", message="m", name=name, email="ada@example.org")
    assert (
        sh(repository, "git log -1 --format=%an; git config core.fsmonitor || true").splitlines()[0].startswith("Ada")
    )
    assert "fsmonitor" not in sh(repository, "git config --list")


def test_a_commit_without_an_identity_is_refused_and_names_what_is_missing(repository: Path) -> None:
    sh(
        repository,
        "git config --unset user.name; git config --unset user.email; echo 3 >> a.txt; git add a.txt",
    )
    said = exec_in(repository, "git", "commit", {"message": "m"})
    assert said.returncode != 0
    assert b"identity" in said.stderr
    assert sh(repository, "git log --format=%s") == "two\none\n"


def test_a_pager_runs_at_a_terminal_in_plain_git_and_not_here(repository: Path) -> None:
    evil = repository.parent / "evil"
    evil.write_text(f"#!/bin/sh\necho ran > {repository.parent}/marks\ncat\n")
    evil.chmod(0o755)
    sh(repository, f"git config core.pager {evil}")
    settings = wrapped("git").agent_env
    assert at_terminal(repository, {}) is True
    assert at_terminal(repository, settings) is False


def at_terminal(repository: Path, env: dict[str, str]) -> bool:
    """Run `git log` with a terminal for its output; tell whether the attacker's pager ran."""
    marks = repository.parent / "marks"
    marks.unlink(missing_ok=True)
    ours, theirs = pty.openpty()
    clean = {"PATH": SEARCH_PATH, "HOME": "/nonexistent", "TERM": "xterm", **env}
    command = [*as_nobody(), "git", "log", "--oneline"]
    subprocess.run(command, cwd=repository, env=clean, stdin=theirs, stdout=theirs, stderr=theirs, check=True)
    os.close(theirs)
    os.close(ours)
    return marks.exists()


def test_uncommitted_work_in_a_submodule_stands_in_the_way_of_adding_all_and_of_nothing_else(
    repository: Path,
) -> None:
    sh(
        repository,
        """
        git init -q sub; cd sub; git config user.name V; git config user.email v@example.org
        echo one > f; git add f; git commit -qm one; cd ..
        git -c protocol.file.allow=always submodule --quiet add ./sub sub; git commit -qm sub
        echo two >> sub/f; echo three >> a.txt
        """,
    )
    assert "cannot fork() for status" in git(repository, "add", path=".")
    for verb, args in {
        "status": {},
        "diff": {},
        "add": {"path": "a.txt"},
        "commit": {"message": "three"},
    }.items():
        assert exec_in(repository, "git", verb, args).returncode == 0, verb
    assert sh(repository, "git log -1 --format=%s") == "three\n"


def test_a_persons_own_configuration_is_not_read(repository: Path) -> None:
    (repository.parent / ".gitconfig").write_text("[user]\n\tname = Foreign\n\temail = f@example.org\n")
    sh(repository, "git config --unset user.name; echo three >> a.txt; git add a.txt")
    done = exec_in(repository, "git", "commit", {"message": "m"}, HOME=str(repository.parent))
    assert (done.returncode != 0, b"identity" in done.stderr or b"name" in done.stderr) == (True, True)


def test_an_address_with_a_password_is_not_shown(repository: Path) -> None:
    sh(repository, "git remote add origin https://ada:hunter22@example.org/x.git")
    assert "hunter22" in sh(repository, "git remote -v")
    assert git(repository, "remote.list") == "origin\n"


def test_git_that_cannot_be_guarded_refuses_to_start(repository: Path) -> None:
    """Every command begins with an option of git 2.31, the first that reads the pack's list of settings."""
    for verb, command in compiled("git").commands.items():
        assert (command.cli or ())[:2] == ("git", "--config-env=core.hooksPath=NO_HOOKS"), verb


def test_the_list_of_settings_is_counted_right() -> None:
    env = wrapped("git").agent_env
    count = int(env["GIT_CONFIG_COUNT"])
    numbered = {name for name in env if name.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"))}
    assert numbered == {f"GIT_CONFIG_{part}_{n}" for part in ("KEY", "VALUE") for n in range(count)}


def test_every_command_that_writes_or_reads_working_files_may_start_no_process() -> None:
    """Filters are named by the repository, and git has no switch for them."""
    only_objects = {
        "log", "show", "diff.staged", "diff.between", "file", "tree", "files", "grep", "blame",
        "branch.list", "tag.list", "remote.list", "stash.list",
    }  # fmt: skip
    rows = compiled("git").policy
    free = {verb for verb, row in rows.items() if (row.limits.processes, "processes" in row.limits.asked) != (1, True)}
    assert free == only_objects
