"""`hcpx conformance`: this runtime held against a corpus of cases."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from hcpx.faces.cli.kinds import Command

# By name: the runner stands above the faces, which it drives.
_RUNNER = "hcpx.conformance.main"


class _Conformance(Command):
    def invoke(self, ctx: click.Context) -> int:
        given: dict[str, Any] = ctx.params
        return import_module(_RUNNER).run(given["folder"], given["faces"], as_json=given["as_json"])


@click.command("conformance", cls=_Conformance)
@click.argument("folder", metavar="DIR")
@click.option("--face", "faces", default="sdk,cli", show_default=True, metavar="NAMES", help="Which faces, by commas.")
def conformance(**_: object) -> None:
    """Run every case of a folder through the faces, and say which ended otherwise than it should."""
