"""An adapter that remembers whether anything was started."""

from __future__ import annotations

from hcpx.ports import Adapter
from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.invocation import Enforced, Invocation, Program, Ran, Target


class RecordingAdapter:
    """Passes everything on and counts what was started. Implements `hcpx.ports.Adapter`."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self.started = 0

    def inspect(self, target: Target) -> Program | Denial:
        """Pass on."""
        return self._adapter.inspect(target)

    def foreseen(self, target: Target) -> Enforced | None:
        """Pass on."""
        return self._adapter.foreseen(target)

    def can_mock(self, target: Target) -> bool:
        """Pass on."""
        return self._adapter.can_mock(target)

    def run(self, invocation: Invocation) -> Ran | Denial:
        """Pass on, and count."""
        ran = self._adapter.run(invocation)
        if isinstance(ran, Ran) and ran.started:
            self.started += 1
        return ran
