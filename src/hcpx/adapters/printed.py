"""What a program printed, made fit to be shown: redacted, cut, read (Spec 01 section 4, Spec 03)."""

from __future__ import annotations

import msgspec

from hcpx.ports import Redactor
from hcpx.vocabulary.invocation import OnOutput
from hcpx.vocabulary.json_text import NOT_JSON, parse_output


class Printed(msgspec.Struct, frozen=True):
    """One stream as it is shown. `data` holds the exact bytes where they are not UTF-8."""

    text: str
    data: bytes | None
    cut: bool

    def __repr__(self) -> str:
        """Tell nothing of the text."""
        return f"Printed(cut={self.cut})"


def printed(raw: bytes, size: int, cap: int, redactor: Redactor) -> Printed:
    """Redact a stream of `size` bytes whose head `raw` was kept, and cut it at `cap` where it is longer.

    `raw` reaches `redactor.slack` bytes beyond the cap where the stream does, so a secret across the cap is
    found whole. What could be the beginning of one at the very end of a longer stream is left out.
    """
    cut = size > cap
    if cut:
        stream = redactor.stream()
        shown = stream.feed(raw)
        if size <= len(raw):
            shown += stream.finish()
        data = _headed(shown, cap)
    else:
        data = redactor.output(raw)
    try:
        return Printed(data.decode(), None, cut)
    except UnicodeDecodeError:
        return Printed(data.decode("utf-8", "replace"), data, cut)


def value_of(stdout: Printed, redactor: Redactor) -> object:
    """Return stdout as JSON where all of it is there and reads as such, else as text."""
    if stdout.cut or stdout.data is not None:
        return stdout.text
    value = parse_output(stdout.text)
    return stdout.text if value is NOT_JSON else redactor.value(value)


def _headed(data: bytes, cap: int) -> bytes:
    """Return the head of `data`, without a last character that would be cut in two."""
    head = data[:cap]
    for back in range(1, min(4, len(head)) + 1):
        lead = head[-back]
        if lead & 0xC0 != 0x80:
            return head[:-back] if _length(lead) > back else head
    return head


def _length(lead: int) -> int:
    """Return how many bytes the character takes that begins with this one; 1 where none does."""
    if 0xC2 <= lead <= 0xDF:
        return 2
    if 0xE0 <= lead <= 0xEF:
        return 3
    return 4 if 0xF0 <= lead <= 0xF4 else 1


class ViewerFailed(Exception):
    """Whoever was shown the output failed; never taken for trouble of the store's or of the machine's."""


class Live:
    """Passes output on while the program runs: redacted, and of each stream only the first `cap` bytes.

    Raises `ViewerFailed` where `show` raises anything.
    """

    def __init__(self, show: OnOutput, redactor: Redactor, cap: int) -> None:
        self._show = show
        self._streams = {name: (redactor.stream(), [cap]) for name in ("stdout", "stderr")}

    def take(self, name: str, data: bytes) -> None:
        """Take what was read."""
        stream, room = self._streams[name]
        if room[0] > 0:
            self._pass_on(name, stream.feed(data), room)

    def finish(self) -> None:
        """Pass on what was held back."""
        for name, (stream, room) in self._streams.items():
            if room[0] > 0:
                self._pass_on(name, stream.finish(), room)

    def _pass_on(self, name: str, data: bytes, room: list[int]) -> None:
        part = data[: room[0]]
        room[0] -= len(part)
        if part:
            try:
                self._show(name, part)
            except Exception as trouble:
                raise ViewerFailed from trouble
