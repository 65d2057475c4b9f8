"""The network of one run: its list, its proxy while it runs, and what was decided."""

from __future__ import annotations

import threading

from hcpx.sandbox.network_list import NetworkList
from hcpx.sandbox.proxy import Decision, Proxy

from .netns import listener


class Outlet:
    """Raises ValueError for a list that cannot be read."""

    def __init__(self, entries: tuple[str, ...]) -> None:
        self._allowed = NetworkList(entries)
        self._lock = threading.Lock()
        self._decisions: dict[Decision, int] = {}
        self._proxy: Proxy | None = None

    def open(self, first: int) -> None:
        """Serve the namespace of that process. Raises OSError."""
        self._proxy = Proxy(listener(first), self._allowed, self._decided)

    def close(self) -> None:
        """End what is still connected; more than once is fine."""
        if self._proxy is not None:
            self._proxy.close()
            self._proxy = None

    def decisions(self) -> dict[Decision, int]:
        """Return what was decided, and how often."""
        with self._lock:
            return dict(self._decisions)

    def _decided(self, decision: Decision) -> None:
        with self._lock:
            self._decisions[decision] = self._decisions.get(decision, 0) + 1
