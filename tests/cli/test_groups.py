"""The table of commands: what is listed is there, loads by itself, and keeps its promises about --json."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from hcpx.faces.cli.exec_line import FLAGS, USAGE, VALUED
from hcpx.faces.cli.groups import COMMANDS, root
from tests.cli.conftest import Hcpx
from tests.cli.shell import run

# Of Spec 05 section 1; each is listed on the day it is built.
NOT_YET = {"sense", "serve", "resident", "console", "mcp", "agent", "shim"}
GROUPS = {
    "config": {"set", "get", "list", "unset"},
    "pack": {"add", "list", "show", "lint", "new", "remove", "diff"},
    "project": {"add", "list", "remove"},
    "session": {"new", "list", "show", "revoke"},
    "principal": {"list", "disable", "enable"},
    "policy": {"show", "tighten"},
    "vault": {"status", "rotate"},
    "approvals": {"list", "show", "watch", "approve", "deny"},
    "audit": {"list", "show", "verify", "export"},
    "brain": {"list", "show"},
}


def leaves() -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by its words."""
    ctx = click.Context(root)
    for name in COMMANDS:
        found = root.get_command(ctx, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from ((f"{name} {below}", command) for below, command in found.commands.items())
        else:
            yield name, found


LEAVES = dict(leaves())


def test_help_lists_every_command_with_its_line(hcpx: Hcpx) -> None:
    said = hcpx("--help")
    assert said.status == 0
    assert [line.split()[0] for line in said.out.split("Commands:\n")[1].splitlines() if line[:3].strip()] == [
        *COMMANDS,
        "First",
    ]


def test_what_is_not_built_is_not_listed() -> None:
    assert not NOT_YET & set(COMMANDS)


def test_every_group_has_the_commands_of_the_specification() -> None:
    ctx = click.Context(root)
    found = {name: root.get_command(ctx, name) for name in COMMANDS}
    assert {name: set(group.commands) for name, group in found.items() if isinstance(group, click.Group)} == GROUPS


@pytest.mark.parametrize("words", LEAVES)
def test_every_command_takes_json_and_has_help(words: str, hcpx: Hcpx) -> None:
    assert "--json" in [option for param in LEAVES[words].params for option in param.opts]
    said = hcpx(*words.split(), "--help")
    assert (said.status, said.err) == (0, "")
    assert said.out


def test_the_help_of_exec_names_every_option_that_it_reads() -> None:
    assert [name for name in (*VALUED, *FLAGS) if name not in USAGE] == []


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["nosuch"], "no command 'nosuch'"),
        (["sesion"], "no command 'sesion', did you mean session?"),
        (["--nosuch"], "no such option '--nosuch'"),
        (["pack", "show"], "missing argument 'PACK'"),
        (["pack", "show", "a", "b", "c"], "got unexpected extra argument (c)"),
        (["schema", "nosuch"], "invalid value for '{pack|envelope|result|errors}': 'nosuch' is not one of"),
        (["exec"], "a pack and a verb are missing"),
        (["exec", "ledger"], "the verb is missing"),
    ],
)
def test_a_line_that_cannot_be_read_is_one_usage_error(words: list[str], error: str, hcpx: Hcpx) -> None:
    said = hcpx(*words, "--json")
    document = said.document()
    assert (said.status, said.err, document["ok"], document["code"]) == (2, "", False, "usage")
    assert document["error"].startswith(error)
    people = hcpx(*words)
    assert (people.status, people.out) == (2, "")
    assert people.err.startswith(f"hcpx: {error}")


def test_a_group_without_a_command_shows_its_help_on_stderr(hcpx: Hcpx) -> None:
    said = hcpx("pack")
    assert (said.status, said.out) == (2, "")
    assert "Usage: hcpx pack" in said.err


def test_version_is_the_packages_own(hcpx: Hcpx) -> None:
    from hcpx import __version__

    assert hcpx("--version") == (0, f"hcpx {__version__}\n", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_shells_script(shell: str, hcpx: Hcpx) -> None:
    said = hcpx("completion", shell)
    assert said.status == 0
    assert f"_HCPX_COMPLETE={shell}_complete" in said.out


@pytest.mark.parametrize("name", ["pack", "envelope", "result", "errors"])
def test_schema_is_one_json_document_with_json_and_without(name: str, hcpx: Hcpx) -> None:
    said = hcpx("schema", name, "--json")
    assert (said.status, bool(said.document())) == (0, True)
    assert hcpx("schema", name) == said


@pytest.mark.parametrize(
    ("line", "word", "found"),
    [
        ("hcpx pol", 1, ["plain,policy"]),
        ("hcpx session n", 2, ["plain,new"]),
        ("hcpx exec ledger balance --j", 4, ["plain,--json"]),
        ("hcpx session new --read", 3, ["plain,--read-only"]),
    ],
)
def test_a_shell_that_completes_gets_the_words(line: str, word: int, found: list[str], home: Path) -> None:
    said = run(home, _HCPX_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=str(word))
    assert (said.out.splitlines(), said.err) == (found, "")
    assert not home.exists()


def test_exec_behind_a_double_dash_is_still_exec(hcpx: Hcpx, store: Path) -> None:
    said = hcpx("--", "exec", "transit", "stops", "--json")
    assert (said.status, said.document()["verb_key"]) == (0, "stops")
