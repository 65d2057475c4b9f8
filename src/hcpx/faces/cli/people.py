"""What people read: a result as text or table, a denial with its hint; no control codes reach a terminal."""

from __future__ import annotations

import json
import sys
from typing import TextIO, cast

from msgspec import UNSET

from hcpx.vocabulary.result import Result


def visible(text: str) -> str:
    """Return text with control and invisible characters escaped, line breaks and tabs kept."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\u{{{ord(c):04X}}}" for c in text)


def print_result(result: Result, *, streamed: bool) -> None:
    """Print a Result for people: its value on stdout, what is wrong and what to do on stderr.

    With `streamed` the program's own output was shown live, and is not printed again.
    """
    if not streamed:
        _print_output(result)
    if not result.ok:
        sys.stderr.write(f"{result.code}: {_plain(str(result.error), sys.stderr)}\n")
    if result.hint is not UNSET:
        sys.stderr.write(f"hint: {_plain(result.hint, sys.stderr)}\n")
    if result.truncated is not UNSET:
        sys.stderr.write(f"note: output was cut: {', '.join(result.truncated)}\n")
    for warning in result.warnings if result.warnings is not UNSET else ():
        sys.stderr.write(f"note: {_plain(warning, sys.stderr)}\n")


def _print_output(result: Result) -> None:
    value = result.result
    if isinstance(value, str):
        sys.stdout.write(_ended(_plain(value, sys.stdout)))
    elif value is not UNSET:
        print_value(value)
    # Of a failure the error line repeats stderr; of a success it is a program's talk beside its result.
    if result.ok and result.stderr:
        sys.stderr.write(_ended(_plain(str(result.stderr), sys.stderr)))


def print_value(value: object) -> None:
    """Print a JSON value: a list of flat objects as a table, anything else as indented JSON."""
    rows = _rows(value)
    if rows is None:
        sys.stdout.write(_plain(json.dumps(value, indent=2, ensure_ascii=False), sys.stdout) + "\n")
    else:
        print_table(rows)


def print_table(rows: list[dict[str, object]]) -> None:
    """Print rows as columns: drawn with rich on a terminal, else as plain lines, wide as they need to be.

    A column in which no row has anything is left out.
    """
    if not rows:
        sys.stdout.write("nothing\n")
        return
    known = dict.fromkeys(name for row in rows for name in row)
    names = [name for name in known if any(row.get(name) not in (None, "") for row in rows)] or list(known)
    cells = [[_cell(row.get(name)) for name in names] for row in rows]
    if sys.stdout.isatty():
        from .terminal import draw_table

        draw_table(names, cells)
        return
    widths = [max(len(line[place]) for line in [names, *cells]) for place in range(len(names))]
    for line in [names, *cells]:
        padded = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        sys.stdout.write(padded.rstrip() + "\n")


def _rows(value: object) -> list[dict[str, object]] | None:
    if isinstance(value, dict) and len(cast("dict[str, object]", value)) == 1:
        (value,) = cast("dict[str, object]", value).values()
    if not isinstance(value, list) or not value:
        return None
    items = cast("list[object]", value)
    if not all(isinstance(item, dict) for item in items):
        return None
    rows = cast("list[dict[str, object]]", items)
    flat = all(not isinstance(cell, (dict, list)) for row in rows for cell in row.values())
    return rows if flat else None


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else visible(text).replace("\n", "\\n").replace("\t", "\\t")


def plain(text: str) -> str:
    """Return text that sends no control codes, however it was stored; line breaks and tabs stay."""
    return visible(text)


def _plain(text: str, stream: TextIO) -> str:
    return visible(text) if stream.isatty() else text


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
