"""What the owner said about this host: programs that may run, and settings."""

from __future__ import annotations

from collections.abc import Mapping

from hcpx.ports import Clock

from . import queries
from .cache import Cache
from .database import Database
from .errors import NotFound, Refused


class AllowList:
    """Programs of the host that packs may run: the name as it was asked for, and its real path then."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._held: Cache[None, Mapping[str, str]] = Cache(database)

    def real_path(self, name: str) -> str | None:
        """Return the real path that was allowed under exactly that name, or None."""
        return self.list().get(name)

    def list(self) -> Mapping[str, str]:
        """Return name to real path, as it is now: a program may start long after its call was judged."""
        held = self._held.at(self._database.changes_now())
        allowed = held.get(None)
        if allowed is None:
            allowed = held[None] = dict(self._database.all(queries.ALLOWED))
        return allowed

    def allow(self, name: str, real_path: str) -> None:
        """Allow a program, in the place of an older entry of that name. Raises `Refused`."""
        if not name or name != name.strip() or not real_path.startswith("/"):
            raise Refused(f"{name!r} cannot be allowed: a name without blanks around it, and a real path")
        with self._database.changing():
            self._database.run(queries.ALLOWED_PUT, (name, real_path, self._clock.now()))

    def remove(self, name: str) -> None:
        """Forget a program. Raises `NotFound`."""
        with self._database.changing():
            if self._database.run(queries.ALLOWED_REMOVE, (name,)) == 0:
                raise NotFound(f"{name} is not on the allow-list")


class SettingRows:
    """The settings that the owner wrote, each a text; which names there are is for the caller to say."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> Mapping[str, str]:
        """Return name to value."""
        return dict(self._database.all(queries.SETTINGS))

    def put(self, name: str, value: str) -> None:
        """Write a setting in the place of an older value."""
        with self._database.changing():
            self._database.run(queries.SETTING_PUT, (name, value))

    def remove(self, name: str) -> None:
        """Go back to the default. Raises `NotFound` where nothing was set."""
        with self._database.changing():
            if self._database.run(queries.SETTING_REMOVE, (name,)) == 0:
                raise NotFound(f"{name} is not set")
