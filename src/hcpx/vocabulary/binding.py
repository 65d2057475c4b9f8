"""The credential of one call (Spec 03): it knows its secrets and never shows them."""

from __future__ import annotations

import msgspec


class MintRequest(msgspec.Struct, frozen=True):
    """Whose credential step 5 asks the hub for; the family comes from the Policy row alone."""

    tenant: str
    principal: str
    actor: str | None
    pack_id: str
    pack_digest: str
    family: str
    env: dict[str, str]
    file: tuple[str, str, str] | None = None
    proposals: dict[str, object] = {}


class Binding(msgspec.Struct, frozen=True):
    """A minted Binding: variables and at most one private file for the child, and every secret in them.

    `file` is (name, content, variable). `secrets` are the values that redaction hides.
    A mock Binding has none. `credential_id` names the credential in the audit without telling anything
    of its value.
    """

    family: str
    env: dict[str, str] = {}
    file: tuple[str, str, str] | None = None
    secrets: tuple[str, ...] = ()
    credential_id: str | None = None
    expires_at: float | None = None

    def __repr__(self) -> str:
        """Name the family and nothing else."""
        return f"Binding({self.family!r}, ...)"


PUBLIC = Binding("public")
