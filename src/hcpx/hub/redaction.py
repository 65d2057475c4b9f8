"""Who looks for secrets in what comes back: nobody, where a call has none (Spec 03, redaction)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from hcpx.vocabulary.binding import Binding

if TYPE_CHECKING:
    from .redactor import SecretRedactor


class SecretRedaction:
    """The port `Redaction`; what redacts is loaded for the first secret."""

    def of(self, binding: Binding) -> SecretRedactor | Unredacted:
        """Return the redactor for the secrets of this Binding."""
        if not binding.secrets:
            return UNREDACTED
        from .redactor import SecretRedactor
        from .spelling import searched

        values = searched(binding.secrets)
        return SecretRedactor(values) if values else UNREDACTED


class Unredacted:
    """The redactor, and the filter, of a call without secrets: it changes nothing."""

    slack = 0

    def output(self, data: bytes) -> bytes:
        """Return `data`."""
        return data

    def text(self, text: str) -> str:
        """Return `text`."""
        return text

    def value(self, value: object, replace: Callable[[str], str] | None = None) -> object:
        """Return `value`."""
        del replace
        return value

    def stream(self) -> Unredacted:
        """Return itself."""
        return self

    def feed(self, data: bytes) -> bytes:
        """Return `data`."""
        return data

    def finish(self) -> bytes:
        """Return nothing: nothing was held back."""
        return b""


UNREDACTED: Final = Unredacted()
