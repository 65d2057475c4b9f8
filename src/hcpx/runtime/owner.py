"""What only the store's owner may change (Spec 06 section 1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from hcpx.hub.vault import VaultStatus
from hcpx.rendering.arguments import args_schema
from hcpx.store.errors import NotFound, Refused
from hcpx.store.grant_rows import GrantRow, GrantRows
from hcpx.store.host_rows import SettingRows
from hcpx.store.principals import Principals
from hcpx.store.projects import Projects
from hcpx.store.session_rows import NewSession, SessionRow, SessionRows
from hcpx.vocabulary.capability import ANY, NEEDED, Grant
from hcpx.vocabulary.pack import BOOTSTRAP
from hcpx.vocabulary.policy import Overlay, PolicyRow
from hcpx.vocabulary.text import nearest

if TYPE_CHECKING:
    from .bindings import BindingDesk
    from .pack_desk import PackDesk
    from .parts import Parts

CONFIGURABLE = {"sandbox": ("sandbox", "native-local")}
"""What `hcpx config set` knows, with the values each may have."""


class Owner:
    """The owner's desk. What it changes is on disk when a method returns.

    Raises `NotFound`, `Exists` and `Refused` with messages for people, and `StoreUnavailable`.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.grants = GrantRows(parts.database, parts.clock)
        self.sessions = SessionRows(parts.database, parts.clock)
        self.principals = Principals(parts.database, parts.clock)
        self.projects = Projects(parts.database, parts.clock)
        self.allow_list = parts.allow_list
        self.overlays = parts.overlays
        self._settings = SettingRows(parts.database)

    @cached_property
    def session(self) -> SessionRow:
        """The owner's own session: what is activated there is what the owner uses without a token."""
        return self.sessions.owner()

    @property
    def tenant(self) -> str:
        """The tenant of the owner's session."""
        return self.session.tenant

    @property
    def packs(self) -> PackDesk:
        """Installed packs and their activations."""
        from .pack_desk import PackDesk

        return PackDesk(self._parts, self)

    @property
    def bindings(self) -> BindingDesk:
        """Connected credentials."""
        from .bindings import BindingDesk

        return BindingDesk(self._parts, self)

    def new_session(  # noqa: PLR0913 -- a session has this many sides, each by its name
        self,
        *,
        principal: str | None = None,
        actor: str | None = None,
        tenant: str | None = None,
        project: str | None = None,
        packs: Sequence[str] = (),
        verbs: Sequence[str] = (),
        read_only: bool = False,
        ttl_s: float | None = None,
    ) -> tuple[str, SessionRow]:
        """Make a session and return its token, which is stored nowhere, with it.

        Named packs, commands or `read_only` narrow it; without any of them it has the principal's rights. It has the
        owner's activations, or those of the named packs: a pack that the owner has not activated is `NotFound`.
        """
        held = self.sessions.owner().activations
        for pack_id in packs:
            if pack_id not in held and pack_id != BOOTSTRAP:
                raise NotFound(f"pack {pack_id} is not activated; run: hcpx activate {pack_id}")
        return self.sessions.new(
            NewSession(
                tenant=tenant if tenant is not None else self.tenant,
                principal=principal if principal is not None else self.session.principal,
                actor=actor,
                project=project,
                scope=_scope(packs, verbs, read_only=read_only),
                expires_at=None if ttl_s is None else self._parts.clock.now() + ttl_s,
                activations={pack_id: held[pack_id] for pack_id in packs if pack_id in held} if packs else dict(held),
            )
        )

    def grant(self, principal: str, grant: Grant, tenant: str | None = None) -> GrantRow:
        """Give a right. Raises `Refused` for what is no grant, `Exists` where the very same one is there."""
        _check_schema(grant.args_schema)
        return self.grants.add(tenant if tenant is not None else self.tenant, principal, grant)

    def tighten(self, pack_id: str, verb_key: str, overlay: Overlay) -> PolicyRow:
        """Lay more demands over a row and return what then holds.

        Raises `NotFound` for a command that is not there, `Refused` for what would loosen the row or ask nothing.
        """
        pack = self.packs.show(pack_id)
        if verb_key not in pack.policy:
            near = nearest(verb_key, tuple(pack.policy))
            raise NotFound(f"no policy for {pack_id}.{verb_key}" + (f", did you mean {near}?" if near else ""))
        for schema in overlay.schemas:
            _check_schema(schema)
        row = self.packs.row(pack, verb_key)
        looser = [
            f"{name} is {getattr(row.limits, name):g} there already"
            for name, value in overlay.limits.items()
            if not 0 < value <= getattr(row.limits, name)
        ]
        if looser or overlay.approvals < 0:
            raise Refused(f"an overlay only tightens: {looser[0] if looser else 'approvals cannot be negative'}")
        if overlay == Overlay():
            raise Refused("nothing to tighten: say what the row is to demand")
        self.overlays.tighten(self.tenant, pack_id, verb_key, overlay)
        return self.packs.row(pack, verb_key)

    def allow(self, name: str) -> str:
        """Put a program of this host on the allow-list and return its real path."""
        from hcpx.adapters.assembly import host_program

        real = host_program(name, self._parts.settings.path)
        if real is None:
            where = f"no program {name!r} on the search path {self._parts.settings.path}"
            raise NotFound(f"{where}; a program of a pack's own lies in the pack's folder and needs no allow")
        self._parts.allow_list.allow(name, real)
        return real

    def vault_status(self) -> VaultStatus:
        """Say how the vault stands; nothing is made, changed or decrypted."""
        return self._parts.vault.status()

    def rotate_vault(self) -> int:
        """Encrypt every secret under a new key; returns how many there are."""
        return self._parts.vault.rotate()

    def settings(self) -> dict[str, str]:
        """Return every setting with what it is: what was configured, else its default."""
        return {name: values[0] for name, values in CONFIGURABLE.items()} | dict(self._settings.all())

    def configure(self, name: str, value: str | None) -> None:
        """Write a setting, or with None go back to its default. An unknown name or value is `Refused`."""
        if name not in CONFIGURABLE:
            near = nearest(name, tuple(CONFIGURABLE))
            meant = f", did you mean {near}?" if near else f"; known are {', '.join(CONFIGURABLE)}"
            raise Refused(f"unknown setting {name!r}{meant}")
        if value is None:
            self._settings.remove(name)
        elif value not in CONFIGURABLE[name]:
            raise Refused(f"{name} is one of {', '.join(CONFIGURABLE[name])}, not {value!r}")
        else:
            self._settings.put(name, value)


def _check_schema(text: str | None) -> None:
    """Refuse a schema that nothing could ever meet because it cannot be used."""
    fault = None if text is None else args_schema(text).fault()
    if fault is not None:
        raise Refused(f"the schema of the args cannot be used: {fault}")


def _scope(packs: Sequence[str], verbs: Sequence[str], *, read_only: bool) -> tuple[Grant, ...] | None:
    if not packs and not verbs and not read_only:
        return None
    capabilities = ("verb.exec.read",) if read_only else tuple(NEEDED.values())
    keys = tuple(verbs) or (ANY,)
    return tuple(Grant(capability, pack, keys) for pack in packs or (ANY,) for capability in capabilities)
