"""Starts, ends and lists bindings for the store's owner (`hcpx connect`, `disconnect`, `bindings`)."""

from __future__ import annotations

import os

import msgspec

from hcpx.ports.rows import SecretRow
from hcpx.vocabulary.denial import Denial, deny

from .minters.vault_secret import KIND, PastedSecret
from .slot import FAMILIES, slot
from .spelling import SHORTEST
from .vault import Stored, Vault, ends_at


class Connection(msgspec.Struct, frozen=True):
    """One binding as it may be shown; times are Unix seconds. `principal` is `*` for the whole tenant."""

    tenant: str
    principal: str
    pack_id: str
    family: str
    credential_id: str
    kind: str
    expires_at: float | None
    connected_at: float
    warnings: tuple[str, ...] = ()


class Connections:
    """What the owner may do with bindings. Every method may raise `StoreUnavailable`."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def keep_secret(
        self,
        tenant: str,
        principal: str,
        pack_id: str,
        family: str,
        secret: str,
        expires_at: float | None = None,
    ) -> Connection | Denial:
        """Store a pasted secret, in the place of an older one; what no program can be given is refused."""
        problem = _unusable(family, secret)
        if problem is not None:
            return deny("usage", what=problem, hint=f"hcpx connect {pack_id}")
        content = msgspec.Raw(msgspec.json.encode(PastedSecret(secret)))
        stored = Stored(f"cred_{os.urandom(8).hex()}", KIND, content, expires_at)
        place = slot(tenant, principal, pack_id, family)
        return _connection(self._vault.keep(place, stored), _warnings(secret))

    def forget(self, tenant: str, principal: str, pack_id: str, family: str) -> bool:
        """Forget a binding; False where there was none."""
        return self._vault.forget(slot(tenant, principal, pack_id, family))

    def list(self, tenant: str) -> list[Connection]:
        """Return the tenant's bindings; nothing is decrypted."""
        return [_connection(row) for row in self._vault.list(tenant)]


def _connection(row: SecretRow, warnings: tuple[str, ...] = ()) -> Connection:
    return Connection(
        tenant=row.tenant,
        principal=row.principal,
        pack_id=row.pack_id,
        family=row.family,
        credential_id=str(row.meta.get("id")),
        kind=str(row.meta.get("kind")),
        expires_at=ends_at(row),
        connected_at=row.updated_at,
        warnings=warnings,
    )


def _unusable(family: str, secret: str) -> str | None:
    if family not in FAMILIES:
        return f"a binding is of the family {', '.join(FAMILIES)}; {family} has nothing to connect"
    if not secret:
        return "the secret is empty"
    if "\0" in secret:
        return "the secret holds a NUL, which no program can be given"
    try:
        secret.encode()
    except UnicodeEncodeError:
        return "the secret is not UTF-8"
    return None


def _warnings(secret: str) -> tuple[str, ...]:
    if len(secret) >= SHORTEST:
        return ()
    return (f"a secret of fewer than {SHORTEST} characters is not hidden in what programs print",)
