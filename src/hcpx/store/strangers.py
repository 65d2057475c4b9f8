"""How many calls without a session were recorded lately."""

from __future__ import annotations

from . import queries
from .database import Database


class Strangers:
    """The port `StrangerRows` over the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def recorded(self) -> tuple[float, int]:
        """Return since when (Unix seconds), and how many."""
        row = self._database.one(queries.STRANGERS)
        return (row[0], row[1]) if row else (0.0, 0)

    def count(self, since: float, recorded: int) -> None:
        """Write both; only inside a write transaction."""
        self._database.run(queries.STRANGERS_COUNT, (since, recorded))
