"""Everything of `hcpx` but `exec`: a table of commands, each loaded when asked for (Spec 05 section 1)."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Final

import click
import msgspec

from hcpx.runtime import BadSettings, Exists, NotFound, Refused, StoreMissing, StoreUnavailable
from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.text import nearest
from hcpx.vocabulary.version import VERSION

from .answer import Stop
from .exec_line import UsageError, wants_json
from .people import plain
from .statuses import INTERRUPTED, failure, quiet_pipe, unwritten

_HERE: Final = "hcpx.faces.cli.commands"

COMMANDS: Final = {
    "exec": (f"{_HERE}.exec:exec_", "Run one command of a pack."),
    "config": (f"{_HERE}.config:config", "Settings of this store: set, get, list, unset."),
    "pack": (f"{_HERE}.pack:pack", "Packs: add, list, show, lint, new, remove, diff."),
    "project": (f"{_HERE}.project:project", "Directories that calls may work in: add, list, remove."),
    "activate": (f"{_HERE}.activation:activate", "Pin a pack to a session, after showing what it asks for."),
    "deactivate": (f"{_HERE}.activation:deactivate", "Take a pack off a session."),
    "session": (f"{_HERE}.session:session", "Sessions: new, list, show, revoke."),
    "principal": (f"{_HERE}.principal:principal", "Principals and actors: list, disable, enable."),
    "grant": (f"{_HERE}.right:grant", "Give a principal a right."),
    "revoke": (f"{_HERE}.right:revoke", "Take a right back."),
    "grants": (f"{_HERE}.right:grants", "List rights."),
    "policy": (f"{_HERE}.policy:policy", "Policy rows as they hold here: show, tighten."),
    "allow": (f"{_HERE}.allow:allow", "Let packs run a program of this host."),
    "connect": (f"{_HERE}.connection:connect", "Store a credential for a pack, read from stdin or hidden."),
    "disconnect": (f"{_HERE}.connection:disconnect", "Forget a credential."),
    "bindings": (f"{_HERE}.connection:bindings", "List what is connected, without showing it."),
    "vault": (f"{_HERE}.vault:vault", "The encrypted credentials: status, rotate."),
    "approvals": (
        f"{_HERE}.approvals:approvals",
        "Requests for your word: list, show, watch, approve, deny.",
    ),
    "audit": (f"{_HERE}.audit:audit", "The record of every call: list, show, verify, export."),
    "brain": (f"{_HERE}.brain:brain", "Results kept under projects: list, show."),
    "skill": (f"{_HERE}.asking:skill", "What packs say about their use."),
    "availability": (f"{_HERE}.asking:availability", "Which commands would run now, and what is missing."),
    "doctor": (f"{_HERE}.asking:doctor", "Check store, audit, sandbox, vault, search path and clock."),
    "schema": (f"{_HERE}.schema:schema", "Published schemas: pack, errors, envelope, result."),
    "conformance": (f"{_HERE}.conformance:conformance", "Hold this runtime against a corpus of cases."),
    "demo": (f"{_HERE}.demo:demo", "The guided tour, in a temporary store."),
    "completion": (f"{_HERE}.completion:completion", "Print the completion script for bash, zsh or fish."),
}
"""Name -> where it is, and its line of help: listing commands loads none of them."""


class Lazy(click.Group):
    """The group of all commands, over the table."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        return getattr(import_module(module), name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one may be meant."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = nearest(args[0], tuple(COMMANDS))
            meant = f", did you mean {near}?" if near else ""
            raise click.UsageError(f"no command {args[0]!r}{meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with the lines of the table."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 -- click's own
    if value:
        sys.stdout.write(f"hcpx {VERSION}\n")
        ctx.exit()


root = Lazy(
    "hcpx",
    help="The HCP runtime: one exec envelope, one fail-closed pipeline, an audited result.",
    epilog="First use: hcpx demo. Every reading command takes --json.",
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Show the version.",
        )
    ],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def main(words: list[str]) -> int:
    """Run `hcpx ...` and return its exit status; whatever goes wrong is one message, never a trace."""
    as_json = wants_json(words)
    stdout = sys.stdout
    try:
        status = root.main(words, "hcpx", "_HCPX_COMPLETE", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        return quiet_pipe()
    except SystemExit as end:
        # click ends so after an answer to a shell that completes, and, with a stdout of its own, without a reader.
        return quiet_pipe() if sys.stdout is not stdout else int(end.code or 0)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as bare:
        if as_json:
            return failure(deny("usage", what="a command is missing"), as_json=True)
        sys.stderr.write(f"{bare.format_message()}\n")
        return bare.exit_code
    except Stop as end:
        if end.text and not as_json:
            sys.stderr.write(plain(end.text))
        return failure(end.denial, as_json=as_json, details=end.details)
    except Exception as problem:  # noqa: BLE001 -- the outermost guard of the face: a bug is an id, never a trace
        return failure(_denial(problem), as_json=as_json)
    return status if isinstance(status, int) else 0


def _denial(problem: Exception) -> Denial:
    match problem:
        case click.ClickException():
            return deny("usage", what=_sentence(problem.format_message()), hint=_help_of(problem))
        case UsageError() | BadSettings() | Refused():
            return msgspec.structs.replace(deny("usage", what=str(problem)), hint=None)
        case StoreMissing():
            return deny("not_found", what=str(problem))
        case StoreUnavailable():
            return deny("store_unavailable", why=str(problem))
        case NotFound():
            return deny("not_found", what=str(problem))
        case Exists():
            return deny("exists", what=str(problem))
        case OSError():
            return unwritten(problem)
        case _:
            from hcpx.runtime.trouble_log import report

            return deny("internal", id=report(problem))


def _sentence(text: str) -> str:
    """Write a message of click's in the style of ours: lower case, no full stop, one line."""
    line = " ".join(text.split()).rstrip(".")
    return line[:1].lower() + line[1:]


def _help_of(problem: click.ClickException) -> str:
    ctx = problem.ctx if isinstance(problem, click.UsageError) else None
    return f"{ctx.command_path} --help" if ctx is not None else "hcpx --help"
