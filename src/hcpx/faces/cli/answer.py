"""What a command answers, and the one place where that is printed (Spec 05 section 1)."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import cast

import msgspec

from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.json_text import encode, mended

from .people import plain, print_table


class Answer(msgspec.Struct, frozen=True):
    """What a command came to: `value` is its JSON; people read `text`, then `rows` as a table.

    `notes` go to stderr beside either. `status` other than 0 says that what was looked at does not hold.
    """

    value: Mapping[str, object]
    text: str | None = None
    rows: Sequence[Mapping[str, object]] | None = None
    notes: tuple[str, ...] = ()
    status: int = 0


class Stop(Exception):
    """Ends a command with a denial of the catalogue.

    `details` are further fields of its JSON, `text` is what people read before the message.
    """

    def __init__(self, denial: Denial, details: Mapping[str, object] | None = None, text: str = "") -> None:
        super().__init__(denial.code)
        self.denial = denial
        self.details = details or {}
        self.text = text


def stop(code: str, *, hint: str | None = None, step: int | None = None, **fields: str) -> Stop:
    """Return what ends a command with this code."""
    return Stop(deny(code, step=step, hint=hint, **fields))


def show(answer: Answer, *, as_json: bool) -> None:
    """Print an answer: exactly one JSON document, or what people read."""
    if as_json:
        notes = {"warnings": list(answer.notes)} if answer.notes else {}
        print_json({"ok": answer.status == 0} | dict(answer.value) | notes)
        return
    if answer.text:
        sys.stdout.write(plain(answer.text if answer.text.endswith("\n") else answer.text + "\n"))
    if answer.rows is not None:
        print_table([dict(row) for row in answer.rows])
    for note in answer.notes:
        sys.stderr.write(f"note: {plain(note)}\n")


def fields(value: Mapping[str, object], above: str = "") -> list[Mapping[str, object]]:
    """Return a value as rows of field and value, as people read it: what lies inside has a line of its own."""
    rows: list[Mapping[str, object]] = []
    for name, inner in value.items():
        if isinstance(inner, dict):
            rows += fields(cast("Mapping[str, object]", inner), f"{above}{name}.")
        elif inner not in (None, "", []):
            rows.append({"field": f"{above}{name}", "value": inner})
    return rows


def print_json(value: object) -> None:
    """Print one JSON document."""
    sys.stdout.buffer.write(encode(mended(value)) + b"\n")
    sys.stdout.buffer.flush()
