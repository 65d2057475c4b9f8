"""In-process handlers of packs in Python packages: the entry point group `hcpx.handlers` (Spec 02 section 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from hcpx.vocabulary.invocation import Invocation

GROUP = "hcpx.handlers"
Handler = Callable[[Invocation], object]


class PackagedHandlers(Mapping[str, Handler]):
    """The runtime's own handlers, then those that installed packages declare; loaded when called for."""

    def __init__(self, own: Mapping[str, Handler]) -> None:
        self._found = dict(own)
        self._looked = False

    def __getitem__(self, name: str) -> Handler:
        if name not in self._found:
            self._look()
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        self._look()
        return iter(self._found)

    def __len__(self) -> int:
        self._look()
        return len(self._found)

    def _look(self) -> None:
        if self._looked:
            return
        from importlib.metadata import entry_points

        for point in entry_points(group=GROUP):
            # A package cannot take the place of a handler of the runtime's own.
            if point.name not in self._found:
                self._found[point.name] = point.load()
        self._looked = True


def packaged_handlers(own: Mapping[str, Handler]) -> Mapping[str, Handler]:
    """Return every handler there is, by name."""
    return PackagedHandlers(own)
