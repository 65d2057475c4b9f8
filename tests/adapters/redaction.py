"""A small redaction: one secret, found only as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from hcpx.ports import RedactedStream, Redactor
    from hcpx.vocabulary.binding import Binding

SHOWN = b"[redacted]"


class OneSecret:
    """Hides one secret."""

    def __init__(self, secret: bytes) -> None:
        self.secret = secret
        self.slack = len(secret)

    def output(self, data: bytes) -> bytes:
        return data.replace(self.secret, SHOWN) if self.secret else data

    def text(self, text: str) -> str:
        return self.output(text.encode()).decode()

    def value(self, value: object, replace: Callable[[str], str] | None = None) -> object:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        return [self.value(item) for item in value] if isinstance(value, list) else value

    def stream(self) -> RedactedStream:
        return _Stream(self)


class _Stream:
    def __init__(self, redactor: OneSecret) -> None:
        self._redactor = redactor
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        whole = self._redactor.output(self._held + data)
        secret = self._redactor.secret
        most = max((n for n in range(len(secret)) if whole.endswith(secret[:n])), default=0)
        self._held = whole[len(whole) - most :]
        return whole[: len(whole) - most]

    def finish(self) -> bytes:
        held, self._held = self._held, b""
        return held


class OneSecretEach:
    """Hides the first secret of a Binding."""

    def of(self, binding: Binding) -> Redactor:
        return OneSecret(binding.secrets[0].encode() if binding.secrets else b"")
