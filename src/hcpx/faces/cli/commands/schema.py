"""`hcpx schema`: what is published for editors and programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import click
import msgspec

from hcpx.faces.cli.kinds import Command
from hcpx.runtime.schemas import envelope_schema, pack_schema, result_schema
from hcpx.vocabulary.denial import CATALOGUE

_SCHEMAS: dict[str, Callable[[], object]] = {
    "pack": pack_schema,
    "envelope": envelope_schema,
    "result": result_schema,
    "errors": lambda: {"errors": [msgspec.to_builtins(entry) for entry in CATALOGUE.values()]},
}


@click.command("schema", cls=Command)
@click.argument("name", type=click.Choice(tuple(_SCHEMAS)))
def schema(name: str) -> None:
    """Print a JSON Schema, or the catalogue of errors; the same JSON with --json and without."""
    sys.stdout.write(json.dumps(_SCHEMAS[name](), indent=2, ensure_ascii=False) + "\n")
