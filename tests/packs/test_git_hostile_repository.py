"""A repository that names programs to run: first that git runs them, then that no command of the pack does.

The attacks are what a cloned or unpacked repository can bring along in `.git` and its attributes.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.packs.shipped import as_nobody, compiled, exec_in, needs, open_folder, run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs("git", "prlimit", "setpriv")

ARGS: dict[str, dict[str, object]] = {
    "status": {},
    "log": {"max": 5},
    "show": {"rev": "HEAD"},
    "diff": {},
    "diff.staged": {},
    "diff.between": {"from": "HEAD~1", "to": "HEAD"},
    "file": {"rev": "HEAD", "path": "a.txt"},
    "tree": {"rev": "HEAD"},
    "files": {},
    "grep": {"pattern": "one"},
    "blame": {"path": "a.txt", "rev": "HEAD"},
    "branch.list": {},
    "tag.list": {},
    "remote.list": {},
    "stash.list": {},
    "unstage": {"path": "a.txt"},
    "add": {"path": "."},
    "commit": {"message": "from the pack", "name": "Ada", "email": "ada@example.org"},
    "branch.create": {"name": "fresh"},
    "branch.delete": {"name": "merged"},
    "tag.create": {"name": "v9", "message": "nine", "tagger": "Ada", "email": "ada@example.org"},
    "switch": {"name": "side"},
}


class Repository(NamedTuple):
    folder: Path
    evil: Path
    marks: Path

    def sh(self, script: str, **env: str) -> str:
        """Run a script in the repository as its owner, who is not the one that is being protected."""
        done = run([*as_nobody(), "sh", "-ec", script], self.folder, **env)
        return (done.stdout + done.stderr).decode()

    def attacked(self) -> bool:
        """Whether the program of the attacker has run since the last time this was asked."""
        ran = self.marks.exists()
        self.marks.unlink(missing_ok=True)
        return ran


@pytest.fixture
def repository() -> Iterator[Repository]:
    with open_folder() as folder:
        evil, marks = folder.parent / "evil", folder.parent / "marks"
        evil.write_text(f'#!/bin/sh\necho "$0 $*" >> {shlex.quote(str(marks))}\n')
        evil.chmod(0o755)
        made = Repository(folder, evil, marks)
        made.sh(
            """
            git init -q -b main .
            git config user.name Victim; git config user.email victim@example.org
            echo one > a.txt; git add a.txt; git commit -qm one
            git branch merged
            echo two >> a.txt; git commit -qam two
            git branch side; git switch -q side; echo side > s.txt; echo side > a.txt
            git add .; git commit -qm side; git switch -q main
            """
        )
        yield made


def hooks(at: Repository) -> None:
    names = "pre-commit commit-msg prepare-commit-msg post-commit post-checkout post-index-change"
    at.sh(f"for name in {names} reference-transaction; do cp {at.evil} .git/hooks/$name; done")


def hooks_elsewhere(at: Repository) -> None:
    at.sh(f"mkdir h; cp {at.evil} h/post-checkout; cp {at.evil} h/pre-commit; git config core.hooksPath h")


def monitor(at: Repository) -> None:
    at.sh(f"git config core.fsmonitor {at.evil}")


def external_diff(at: Repository) -> None:
    at.sh(f"git config diff.external {at.evil}; echo three >> a.txt")


def diff_driver(at: Repository) -> None:
    at.sh(f"echo '* diff=x' > .git/info/attributes; git config diff.x.command {at.evil}; echo three >> a.txt")


def text_conversion(at: Repository) -> None:
    at.sh(f"echo '* diff=x' > .gitattributes; git config diff.x.textconv {at.evil}; echo three >> a.txt")


def clean_filter(at: Repository) -> None:
    at.sh(f"echo '* filter=x' > .gitattributes; git config filter.x.clean {at.evil}")
    at.sh("printf 'one\\ntwO\\n' > a.txt")


def smudge_filter(at: Repository) -> None:
    at.sh(f"echo '* filter=x' > .git/info/attributes; git config filter.x.smudge {at.evil}")


def process_filter(at: Repository) -> None:
    at.sh(f"echo '* filter=x' > .gitattributes; git config filter.x.process {at.evil}; echo three >> a.txt")


def shown_signature(at: Repository) -> None:
    at.sh(
        f"""
        git config log.showSignature true; git config gpg.program {at.evil}
        line='gpgsig -----BEGIN PGP SIGNATURE-----\\n \\n -----END PGP SIGNATURE-----'
        git cat-file commit HEAD | sed "/^committer /a $line" > ../c
        git update-ref refs/heads/main "$(git hash-object -t commit -w ../c)"
        """
    )


def made_signature(at: Repository) -> None:
    settings = "commit.gpgSign tag.gpgSign tag.forceSignAnnotated"
    at.sh(f"for name in {settings}; do git config $name true; done; git config gpg.program {at.evil}")
    at.sh("echo three >> a.txt; git add a.txt")


def lost_object(at: Repository, **settings: str) -> None:
    """Make git want an object that it has to fetch from the remote of a partial clone."""
    at.sh("rm -f .git/objects/$(git rev-parse HEAD:a.txt | sed 's,^..,&/,')")
    settings = {"remote.origin.promisor": "true", "extensions.partialClone": "origin", **settings}
    at.sh("git config core.repositoryFormatVersion 1")
    for name, value in settings.items():
        at.sh(f"git config {name} {shlex.quote(value)}")


def remote_helper(at: Repository) -> None:
    lost_object(at, **{"remote.origin.url": f"ext::{at.evil} %S", "protocol.ext.allow": "always"})


def remote_program(at: Repository) -> None:
    lost_object(at, **{"remote.origin.url": ".", "remote.origin.uploadpack": str(at.evil)})


def remote_ssh(at: Repository) -> None:
    lost_object(at, **{"remote.origin.url": "ssh://host.invalid/x", "core.sshCommand": str(at.evil)})


def submodule(at: Repository) -> None:
    at.sh(
        f"""
        git init -q sub; cd sub; git config user.name V; git config user.email v@example.org
        echo one > f; git add f; git commit -qm one; cd ..
        git -c protocol.file.allow=always submodule --quiet add ./sub sub; git commit -qm sub
        git -C sub config core.fsmonitor {at.evil}; git -C sub config diff.external {at.evil}
        echo two > sub/f; git config diff.submodule diff
        """
    )


ATTACKS: dict[str, tuple[Callable[[Repository], None], str]] = {
    "hooks": (hooks, "git commit --allow-empty -qm x"),
    "hooks in another place": (hooks_elsewhere, "git switch -q side"),
    "file system monitor": (monitor, "git status"),
    "external diff": (external_diff, "git diff"),
    "diff driver": (diff_driver, "git diff"),
    "text conversion": (text_conversion, "git diff"),
    "text conversion by blame": (text_conversion, "git blame a.txt"),
    "clean filter": (clean_filter, "git status"),
    "smudge filter": (smudge_filter, "git switch -q side"),
    "process filter": (process_filter, "git diff"),
    "signature that is shown": (shown_signature, "git log"),
    "signature that is made": (made_signature, "git commit -qm x"),
    "remote helper": (remote_helper, "git show HEAD"),
    "remote's upload program": (remote_program, "git show HEAD"),
    "remote's ssh": (remote_ssh, "git show HEAD"),
    "submodule's settings": (submodule, "git status"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_plain_git_runs_the_attackers_program(name: str, repository: Repository) -> None:
    attack, control = ATTACKS[name]
    attack(repository)
    repository.attacked()
    said = repository.sh(f"{control} || true")
    assert repository.attacked(), said


@pytest.mark.parametrize("name", ATTACKS)
def test_no_command_of_the_pack_runs_the_attackers_program(name: str, repository: Repository) -> None:
    attack, _ = ATTACKS[name]
    attack(repository)
    repository.attacked()
    ran = []
    for verb, args in ARGS.items():
        done = exec_in(repository.folder, "git", verb, args)
        if repository.attacked():
            ran.append((verb, done))
    assert ran == []


def test_the_gauntlet_holds_every_command_of_the_pack() -> None:
    assert set(ARGS) == set(compiled("git").commands)


def test_every_command_works_in_an_honest_repository(repository: Repository) -> None:
    repository.sh("echo three >> a.txt; echo new > b.txt")
    failed = {}
    for verb, args in ARGS.items():
        done = exec_in(repository.folder, "git", verb, args)
        if done.returncode != 0 or done.stderr not in (b"", b"Switched to branch 'side'\n"):
            failed[verb] = done
    assert failed == {}
    assert repository.sh("git log -1 --format='%an <%ae> %s' main") == "Ada <ada@example.org> from the pack\n"
