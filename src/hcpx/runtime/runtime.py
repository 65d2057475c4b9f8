"""One open store with everything on it: what the faces see (Spec 05)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from hcpx.pipeline.outlook import Explanation
from hcpx.ports import Call, Credential
from hcpx.settings import Settings, read_settings
from hcpx.store.database import Database
from hcpx.store.errors import Exists, StoreMissing
from hcpx.vocabulary.envelope import Payload
from hcpx.vocabulary.invocation import Cancel, OnOutput
from hcpx.vocabulary.pack import BOOTSTRAP
from hcpx.vocabulary.principal import Session
from hcpx.vocabulary.result import Result

from .clock import SystemClock
from .parts import Parts

if TYPE_CHECKING:
    from .books import Books
    from .owner import Owner
    from .view import View

TENANT = "local"
"""The tenant of a store's owner."""

_POLL_S = 0.25


class Runtime:
    """One store, open. Of use to many threads at once."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.settings = parts.settings

    @classmethod
    def open(
        cls,
        *,
        home: str | None = None,
        settings: Settings | None = None,
        create_missing: bool = False,
        lasting: bool = False,
    ) -> Runtime:
        """Open the store of the settings (by default those of the environment), or the one in `home`.

        With `create_missing` a store that is not there is made, since first use needs no ceremony; a reading command
        never does that. `lasting` is for a process whose calls may come in bursts. Raises `BadSettings`, and
        `StoreUnavailable` with the way out in its message.
        """
        settings = settings if settings is not None else read_settings()
        if home is not None:
            settings = msgspec.structs.replace(settings, home=home)
        try:
            database = Database.open(settings.home)
        except StoreMissing:
            if not create_missing:
                raise
            _create(settings)
            database = Database.open(settings.home)
        return cls(Parts(settings, database, lasting=lasting))

    def execute(
        self,
        payload: Payload,
        *,
        token: str | None,
        face: str,
        cancel: Cancel | None = None,
        on_output: OnOutput | None = None,
        native_local: bool = False,
    ) -> Result:
        """Send one envelope through the pipeline, in the session of `token` or, with None, the owner's own."""
        return self._parts.gate.execute(
            Call(
                payload=payload,
                credential=self._credential(token),
                face=face,
                cancel=cancel if cancel is not None else Cancel(),
                on_output=on_output,
                native_local=native_local,
            )
        )

    def explain(self, payload: Payload, *, token: str | None) -> Explanation:
        """Say what steps 1 to 5 would answer to this call."""
        return self._parts.gate.explain(Call(payload, self._credential(token)))

    def session(self, token: str | None) -> Session | None:
        """Return the live session of a token, or the owner's own."""
        return self._parts.sessions.live(self._credential(token))

    def takes_text(self, token: str | None, pack_id: str, verb_key: str) -> dict[str, bool] | None:
        """Say for each declared arg of a command whether its schema admits a string; None where none are declared.

        Only for a session on which the pack is active: to any other the command is as good as unknown.
        """
        session = self.session(token)
        if session is None or (pack_id != BOOTSTRAP and pack_id not in session.activations):
            return None
        pack = self._parts.catalog.find(session.tenant, pack_id)
        command = pack.commands.get(verb_key) if pack is not None else None
        if command is None or command.args_schema is None:
            return None
        from hcpx.rendering.traits import text_takers

        return text_takers(msgspec.json.decode(command.args_schema))

    def wait_for_approval(self, result: Result, until: float) -> bool:
        """Wait until the approval that a result names is decided, and tell whether; `until` is monotonic seconds."""
        if not isinstance(result.approval, msgspec.Struct):
            return False
        approval_id = result.approval.id
        before = len(self._parts.approvals.show(approval_id).decisions)
        while time.monotonic() < until:
            found = self._parts.approvals.show(approval_id)
            if len(found.decisions) > before or found.state != "pending":
                return True
            time.sleep(_POLL_S)
        return False

    @property
    def owner(self) -> Owner:
        """What only the store's owner may change."""
        from .owner import Owner

        return Owner(self._parts)

    @property
    def books(self) -> Books:
        """What can be read: audit, approvals, brain, signals, doctor."""
        from .books import Books

        return Books(self._parts)

    def view(self, token: str | None) -> View | None:
        """Return what the session of a token, or the owner, may see; None where no live session is behind it."""
        from .view import View

        session = self.session(token)
        return None if session is None else View(self._parts, session)

    def close(self) -> None:
        """Close the store. Raises `AuditUnavailable` where what waits to be recorded cannot be."""
        self._parts.close()

    def _credential(self, token: str | None) -> Credential:
        return Credential(token, self.settings.cwd)


def _create(settings: Settings) -> None:
    from hcpx.store.create import create

    try:
        create(settings.home, TENANT, _owner_principal(), SystemClock())
    except Exists:
        return  # another process was faster


def _owner_principal() -> str:
    """Return `user:` and the login name of who owns this process, without what no principal id may hold."""
    import os
    import pwd

    try:
        login = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        login = ""
    name = "".join(sign for sign in login if sign.isascii() and (sign.isalnum() or sign in "._@-")).lstrip("._@-")
    return f"user:{name or 'owner'}"
