"""How what a job needs of the host reaches bubblewrap."""

from __future__ import annotations

from hcpx.sandbox.descriptors import Descriptors

from .staging import Stage


class Handover(Descriptors):
    """How the sources of binds reach bubblewrap: by descriptor, or staged where it has another uid."""

    def __init__(self, stage: Stage | None, *, bind_fd: bool) -> None:
        super().__init__()
        self._stage = stage
        self._bind_fd = bind_fd

    def bind(self, source: int, destination: str, *, writable: bool = False) -> list[str]:
        """Return the arguments that bind an open file or directory."""
        option = "--bind" if writable else "--ro-bind"
        if self._stage is not None:
            return [option, self._stage.add(source), destination]
        if self._bind_fd:
            return [option + "-fd", str(self.lend(source)), destination]
        return [option, f"/proc/self/fd/{self.lend(source)}", destination]
