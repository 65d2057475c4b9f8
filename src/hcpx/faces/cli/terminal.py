"""Tables on a terminal. Only this module loads rich, and only where there is a terminal."""

from __future__ import annotations

from hcpx.runtime import BadSettings, read_settings


def draw_table(names: list[str], cells: list[list[str]]) -> None:
    """Draw rows under their names, as wide as the terminal is; colour unless `NO_COLOR` says otherwise."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(Text(name), overflow="fold")
    for line in cells:
        # Texts, so that brackets in a value are no markup.
        table.add_row(*(Text(cell) for cell in line))
    Console(color_system="auto" if _colour() else None, highlight=False).print(table)


def _colour() -> bool:
    try:
        return read_settings().colour
    except BadSettings:
        return False
