"""`pack new`: what it proposes from help texts, and that the result always passes lint (Spec 02)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hcpx.packs.gate import lint, read_pack
from hcpx.packs.help_text import Argument, Listed, arguments, json_flag, listed_commands
from hcpx.packs.scaffold import plainly_reads, propose, scaffold, slug, write_scaffold
from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.finding import errors
from hcpx.vocabulary.principal import is_pack_id

if TYPE_CHECKING:
    from pathlib import Path

    from hcpx.vocabulary.pack import Pack

ARGPARSE = """\
usage: ledger [-h] [--version] {transfer,balance,history} ...

A demo ledger

positional arguments:
  {transfer,balance,history}
    transfer            Move money to a payee
    balance             Show the balance of an account whose name is so
                        long that the line is wrapped
    history

options:
  -h, --help            show this help message and exit
  --version             show program's version number and exit
"""
CLICK = """\
Usage: app [OPTIONS] COMMAND [ARGS]...

  Manage things.

Options:
  --config FILE  Where the configuration is.
  --help         Show this message and exit.

Commands:
  add-user  Add a user.
  list      List users.
  sync      Synchronise with the server, which may take a long time and
            overwrites what is there.
"""
COBRA = """\
A tool for clusters

Usage:
  kc [command]

Available Commands:
  apply       Apply a configuration
  completion  Generate the autocompletion script for the specified shell
  get         Display one or many resources
  help        Help about any command

Flags:
  -h, --help               help for kc
      --kubeconfig string  path to the configuration

Use "kc [command] --help" for more information about a command.
"""
GIT = """\
usage: git [-v | --version] [-h | --help] [-C <path>] [-c <name>=<value>]
           <command> [<args>]

These are common Git commands used in various situations:

start a working area (see also: git help tutorial)
   clone     Clone a repository into a new directory

examine the history and state (see also: git help revisions)
   log       Show commit logs
   status    Show the working tree status

'git help -a' and 'git help -g' list available subcommands and some
concept guides. See 'git help <command>' or 'git help <concept>'
   trap      not a command
"""
GH = """\
Work seamlessly with GitHub from the command line.

USAGE
  gh <command> <subcommand> [flags]

CORE COMMANDS
  auth:          Authenticate gh and git with GitHub
  issue:         Manage issues

ADDITIONAL COMMANDS
  alias:         Create command shortcuts

FLAGS
  --help      Show help for command

EXAMPLES
  $ gh issue create
"""
CARGO = """\
Usage: cargo [OPTIONS] [COMMAND]

Commands:
    build, b    Compile the current package
    check, c    Analyze the current package and report errors, but don't build object files
    ...         See all commands with --list
"""
SYSTEMCTL = """\
systemctl [OPTIONS...] COMMAND ...

Unit Commands:
  list-units [PATTERN...]             List units currently in memory
  start UNIT...                       Start (activate) one or more units

Options:
  -h --help              Show this help
"""
NPM = """\
npm <command>

All commands:

    access, adduser, audit, bugs,
    cache, ci

Specify configs in the ini-formatted file:
    /root/.npmrc
"""
GNU = """\
Usage: ls [OPTION]... [FILE]...
List information about the FILEs (the current directory by default).

  -a, --all                  do not ignore entries starting with .
      --block-size=SIZE      with -l, scale sizes by SIZE when printing them
      --color[=WHEN]         color the output WHEN
  -w, --width=COLS           set output width to COLS.  0 means no limit
"""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (ARGPARSE, ["transfer", "balance", "history"]),
        (CLICK, ["add-user", "list", "sync"]),
        (COBRA, ["apply", "get"]),
        (GIT, ["clone", "log", "status"]),
        (GH, ["auth", "issue", "alias"]),
        (CARGO, ["build", "check"]),
        (SYSTEMCTL, ["list-units", "start"]),
        (NPM, ["access", "adduser", "audit", "bugs", "cache", "ci"]),
        (GNU, []),
        ("", []),
        ("no help at all\n", []),
    ],
    ids=["argparse", "click", "cobra", "git", "gh", "cargo", "systemctl", "npm", "gnu", "empty", "prose"],
)
def test_the_commands_of_each_style_are_found(text: str, names: list[str]) -> None:
    assert [one.name for one in listed_commands(text)] == names


def test_a_summary_that_is_wrapped_is_put_together() -> None:
    assert listed_commands(ARGPARSE)[1] == Listed(
        "balance", "Show the balance of an account whose name is so long that the line is wrapped"
    )
    assert listed_commands(GH)[0] == Listed("auth", "Authenticate gh and git with GitHub")


def test_colours_and_overstrikes_of_a_help_page_are_no_letters() -> None:
    text = "\x1b[1mCommands:\x1b[0m\n  \x1b[32mlist\x1b[0m    L\x08Li\x08ist users\n"
    assert listed_commands(text) == (Listed("list", "List users"),)


TRANSFER = """\
usage: ledger transfer [-h] --to TO [--memo MEMO] [--dry-run] [--json]
                       amount [note ...]

Move money

positional arguments:
  amount                how much
  note

options:
  -h, --help            show this help message and exit
  --to TO               the payee
  -m MEMO, --memo MEMO
                        what it is for
  --dry-run             change nothing
  --json                answer in JSON
"""


def test_arguments_of_argparse_are_found_with_what_is_required() -> None:
    assert arguments(TRANSFER, ("transfer",)) == (
        Argument("to", "--to", required=True, about="the payee"),
        Argument("memo", "--memo", required=False, about="what it is for"),
        Argument("amount", None, required=True),
        Argument("note", None, required=False),
    )


def test_arguments_of_click_are_found_with_what_is_required() -> None:
    text = (
        "Usage: app pay [OPTIONS] AMOUNT [NOTE]\n\nOptions:\n"
        "  --to TEXT                 The payee  [required]\n"
        "  -o, --output [text|json]  How\n"
        "  --shout / --no-shout      Loud\n"
        "  --help                    Show this message and exit.\n"
    )
    assert arguments(text, ("pay",)) == (
        Argument("to", "--to", required=True, about="The payee [required]"),
        Argument("output", "--output", required=False, about="How"),
        Argument("amount", None, required=True),
        Argument("note", None, required=False),
    )
    assert json_flag(text) == ("--output", "json")


def test_arguments_of_cobra_are_found() -> None:
    text = (
        "Usage:\n  kc scale <name> [flags]\n\nFlags:\n  -h, --help              help for scale\n"
        '      --replicas int      how many\n      --dry-run string[="client"]   x\n      --wait   wait\n'
    )
    assert arguments(text, ("scale",)) == (
        Argument("replicas", "--replicas", required=False, about="how many"),
        Argument("name", None, required=True),
    )


def test_arguments_of_gnu_are_found() -> None:
    assert arguments(GNU) == (
        Argument(
            "block-size",
            "--block-size",
            required=False,
            about="with -l, scale sizes by SIZE when printing them",
        ),
        Argument("width", "--width", required=False, about="set output width to COLS. 0 means no limit"),
        Argument("file", None, required=False),
    )


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        (TRANSFER, ("--json",)),
        ("  --format FORMAT  text, json or yaml\n", ("--format", "json")),
        ("  --output FILE  where to\n", ()),
        ("  --json FIELDS  some fields\n", ()),
        (CLICK, ()),
    ],
)
def test_the_json_flag_is_taken_from_the_help_text(text: str, flag: tuple[str, ...]) -> None:
    assert json_flag(text) == flag


@pytest.mark.parametrize(
    ("words", "reads"),
    [
        ("list", True),
        ("ls", True),
        ("status", True),
        ("show", True),
        ("get", True),
        ("log", True),
        ("describe", True),
        ("list-users", True),
        ("get_item", True),
        ("remote list", True),
        ("config get", True),
        ("add", False),
        ("transfer", False),
        ("run", False),
        ("getting", False),
        ("listen", False),
        ("get-or-create", False),
        ("list-and-delete", False),
        ("delete-list", False),
        ("reset status", False),
        ("show-all-and-purge", False),
        ("statusify", False),
        ("login", False),
        ("exec", False),
        ("fetch", False),
    ],
)
def test_only_what_is_plainly_a_read_is_one(words: str, reads: bool) -> None:
    assert plainly_reads(tuple(words.split())) is reads


def scaffolded(folder: Path, program: str, text: str | None = None, **options: object) -> Pack:
    files = scaffold(program, text, **options)  # pyright: ignore[reportArgumentType]
    assert not isinstance(files, Denial)
    assert write_scaffold(str(folder), files) is None
    assert errors(lint(str(folder))) == ()
    pack = read_pack(str(folder)).sound
    assert pack is not None
    return pack


def test_a_pack_from_a_name_alone_passes_lint_and_can_be_called(tmp_path: Path) -> None:
    pack = scaffolded(tmp_path / "git", "git")
    assert (pack.id, pack.wrap.bin if pack.wrap else None) == ("git", "git")
    assert pack.commands["version"].cli == ("git", "--version")
    assert lint(str(tmp_path / "git")) == ()


@pytest.mark.parametrize("text", [ARGPARSE, CLICK, COBRA, GIT, GH, CARGO, SYSTEMCTL, NPM, GNU])
def test_a_pack_from_any_help_text_passes_lint(text: str, tmp_path: Path) -> None:
    pack = scaffolded(tmp_path / "tool", "tool", text)
    assert pack.commands.keys() == pack.policy.keys()
    for verb_key, row in pack.policy.items():
        assert (row.operation, row.confirm) in (("read", False), ("write", True)), verb_key


def test_reads_and_writes_are_proposed_as_what_they_are(tmp_path: Path) -> None:
    pack = scaffolded(tmp_path / "app", "app", CLICK)
    assert {key: (row.operation, row.confirm) for key, row in pack.policy.items()} == {
        "add-user": ("write", True),
        "list": ("read", False),
        "sync": ("write", True),
    }


def test_help_of_single_commands_gives_their_arguments_and_nested_ones_take_their_place(
    tmp_path: Path,
) -> None:
    below = {
        ("transfer",): TRANSFER,
        ("history",): "Usage: ledger history COMMAND\n\nCommands:\n  list   List it\n  clear  Clear it\n",
    }
    pack = scaffolded(tmp_path / "ledger", "ledger", ARGPARSE, below=below)
    assert list(pack.commands) == ["transfer", "balance", "history.list", "history.clear"]
    transfer = pack.commands["transfer"]
    assert transfer.cli == (*("ledger", "transfer", "--to", "{{to}}", "--memo", "{{memo}}", "{{amount}}", "{{note}}"),)
    assert transfer.json_flag == ("--json",)
    assert transfer.args_schema == (
        '{"type":"object","properties":{"to":{"type":"string","description":"the payee"},'
        '"memo":{"type":"string","description":"what it is for"},"amount":{"type":"string"},'
        '"note":{"type":"string"}},"required":["to","amount"],"additionalProperties":false}'
    )
    assert pack.commands["history.clear"].cli == ("ledger", "history", "clear")
    assert pack.policy["history.list"].operation == "read"


def test_an_option_for_a_secret_is_marked_as_one(tmp_path: Path) -> None:
    below = {("list",): "Usage: app list [OPTIONS]\n\nOptions:\n  --api-token TEXT  The token\n"}
    pack = scaffolded(tmp_path / "app", "app", CLICK, below=below)
    assert '"x-secret":true' in (pack.commands["list"].args_schema or "")


def test_no_secret_of_a_help_text_gets_into_the_pack(tmp_path: Path) -> None:
    text = f"Commands:\n  list  Uses token={'ghp_' + 'a1B2' * 9}\n"
    pack = scaffolded(tmp_path / "app", "app", text)
    assert pack.commands["list"].summary == "app list"


@pytest.mark.parametrize(
    ("name", "pack_id"),
    [
        ("git", "git"),
        ("My_Tool.py", "my-tool-py"),
        ("7z", "pack-7z"),
        ("hcp-cli", "hcp-cli-pack"),
        ("x" * 100, "x" * 64),
        ("a" * 63 + "-b", "a" * 63),
        ("\u00e9", "pack"),
    ],
)
def test_a_pack_id_is_made_from_any_name(name: str, pack_id: str) -> None:
    assert slug(name) == pack_id
    assert is_pack_id(pack_id)


@pytest.mark.parametrize("name", ["", " ", ".", "..", "a b", "a\nb", "/"])
def test_what_is_no_name_of_a_program_is_refused(name: str) -> None:
    answer = scaffold(name)
    assert isinstance(answer, Denial)
    assert answer.code == "usage"


def test_a_path_stands_for_the_program_at_its_end(tmp_path: Path) -> None:
    assert scaffolded(tmp_path / "x", "/usr/bin/true").id == "true"


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("x")
    files = scaffold("git")
    assert not isinstance(files, Denial)
    for there in (tmp_path, tmp_path / "kept"):
        denial = write_scaffold(str(there), files)
        assert denial is not None
        assert denial.code == "exists"
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    (tmp_path / "empty").mkdir()
    assert write_scaffold(str(tmp_path / "empty"), files) is None


def test_no_more_than_two_hundred_commands_are_proposed() -> None:
    text = "Commands:\n" + "".join(f"  c{number}  Does it\n" for number in range(1000))
    assert len(propose(text)) == 200


HELP = st.text(alphabet="abcLIST-=[]{}<>().,:|'\"# \n\t\\x1b\u202e\u00e9\0", max_size=400)


@given(HELP, HELP)
@example("Commands:\n  null  x\n  true  y\n  no  z\n  on  w\n  1st  v\n", "")
@example("Commands:\n  a  '\"\u2028\x85\ud800\n", "usage: x a [--mode MODE] <confirm> {{verb}}\n  --apply X  y\n")
@example(
    "Commands:\n  list  x\n",
    "usage: x list [--access-token T] --verb V\n  --access-token T  x\n  --verb V y\n",
)
@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_help_text_gives_a_pack_that_passes_lint(
    tmp_path_factory: pytest.TempPathFactory, text: str, below: str
) -> None:
    top = f"Commands:\n  list  List it\n  save  Save it\n{text}"
    folder = tmp_path_factory.mktemp("any") / "pack"
    scaffolded(folder, "tool", top, below={("list",): below, ("save",): below})
