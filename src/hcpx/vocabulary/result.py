"""The Result: the one answer of every face (Spec 01 section 4)."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from .denial import ApprovalTicket, Cause
from .invocation import Enforced


class Result(msgspec.Struct, frozen=True):
    """What a call came to.

    A field that does not apply is UNSET and absent in JSON; `result` may be a JSON null.
    A Result is true where `ok` is, and can be matched on `code`.
    """

    ok: bool
    pack_id: str | None
    verb_key: str | None
    result: object = UNSET
    error: str | UnsetType = UNSET
    stdout: str | UnsetType = UNSET
    stderr: str | UnsetType = UNSET
    stdout_base64: str | UnsetType = UNSET
    stderr_base64: str | UnsetType = UNSET
    exit_code: int | UnsetType = UNSET
    code: str | UnsetType = UNSET
    step: int | UnsetType = UNSET
    cause: Cause | UnsetType = UNSET
    hint: str | UnsetType = UNSET
    approval: ApprovalTicket | UnsetType = UNSET
    truncated: tuple[str, ...] | UnsetType = UNSET
    enforced: Enforced | UnsetType = UNSET
    warnings: tuple[str, ...] | UnsetType = UNSET
    audit_id: str = ""
    duration_ms: float = 0
    request_id: str | UnsetType = UNSET

    def __bool__(self) -> bool:
        """Return `ok`."""
        return self.ok

    def to_dict(self) -> dict[str, object]:
        """Return the Result as plain JSON values, absent fields left out."""
        return msgspec.json.decode(self.to_json())

    def to_json(self) -> bytes:
        """Return the Result as strict JSON in UTF-8."""
        return msgspec.json.encode(self)
