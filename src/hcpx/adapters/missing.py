"""Stands in for the adapters of kinds that are not built (Spec 01 section 5)."""

from __future__ import annotations

from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.invocation import Invocation, Program, Ran, Target


class Missing:
    """Answers every call of one kind of pack with `adapter <kind> is not executable`."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def inspect(self, target: Target) -> Program | Denial:  # noqa: ARG002 -- the port's shape
        """Deny."""
        return deny("adapter_not_executable", kind=self._kind)

    def foreseen(self, target: Target) -> None:
        """Nothing is started."""

    def can_mock(self, target: Target) -> bool:  # noqa: ARG002 -- the port's shape
        """Tell that nothing runs here."""
        return False

    def run(self, invocation: Invocation) -> Ran | Denial:  # noqa: ARG002 -- the port's shape
        """Deny."""
        return deny("adapter_not_executable", kind=self._kind)
