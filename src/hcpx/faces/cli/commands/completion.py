"""`hcpx completion`: the script by which a shell completes command lines."""

from __future__ import annotations

import sys

import click
from click.shell_completion import get_completion_class

from hcpx.faces.cli.kinds import Command

_SHELLS = ("bash", "zsh", "fish")


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print a completion script; for bash: eval "$(hcpx completion bash)"."""
    from hcpx.faces.cli.groups import root

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    writer = found(root, {}, "hcpx", "_HCPX_COMPLETE")
    # The template itself: asking bash for its version, as click would, starts a process.
    sys.stdout.write(writer.source_template % writer.source_vars())
