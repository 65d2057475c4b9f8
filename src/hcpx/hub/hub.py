"""Mints the Binding of a call for its principal, pack and family; never from anything ambient (Spec 03)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hcpx.vocabulary.binding import PUBLIC, Binding, MintRequest
from hcpx.vocabulary.denial import Denial, deny

from .master_key import VaultKeyProblem
from .minting import Minted, Minter
from .slot import FAMILIES, slot_of
from .templates import UnknownName, filled
from .times import rfc3339
from .vault import SecretRefused, Stored, Vault, ends_at


class Hub:
    """The port `BindingHub`."""

    def __init__(self, vault: Vault, minters: Mapping[str, Minter], now: Callable[[], float]) -> None:
        self._vault = vault
        self._minters = minters
        self._now = now

    def mint(self, request: MintRequest) -> Binding | Denial:
        """Mint, or say why not. Raises `StoreUnavailable` where the store cannot be read."""
        if request.family == "public":
            return PUBLIC
        if request.family == "mock":
            return _mock(request)
        stored = self._stored(request)
        if isinstance(stored, Denial):
            return stored
        minter = self._minters.get(stored.kind)
        if minter is None:
            return _no_minter(request, stored.kind)
        denial = self._expired(request, stored.expires_at)
        if denial is not None:
            return denial
        minted = minter.mint(request, stored)
        return minted if isinstance(minted, Denial) else _delivered(request, minted, stored.id)

    def state(self, request: MintRequest) -> Denial | None:
        """Say what `mint` would be denied with, as far as the store tells without decrypting anything."""
        if request.family in ("public", "mock"):
            return None
        row = self._vault.look(slot_of(request)) if request.family in FAMILIES else None
        if row is None:
            return _not_connected(request)
        kind = str(row.meta.get("kind"))
        minter = self._minters.get(kind)
        if minter is None:
            return _no_minter(request, kind)
        unknown = _unknown_name(request, dict.fromkeys(minter.names, ""))
        return unknown or self._expired(request, ends_at(row))

    def _stored(self, request: MintRequest) -> Stored | Denial:
        if request.family not in FAMILIES:
            return _not_connected(request)
        try:
            stored = self._vault.open(slot_of(request))
        except SecretRefused as problem:
            return _denied("binding_forbidden", request, str(problem))
        except VaultKeyProblem as problem:
            return _denied("binding_unavailable", request, str(problem), "hcpx vault status")
        return _not_connected(request) if stored is None else stored

    def _expired(self, request: MintRequest, end: float | None) -> Denial | None:
        if end is None or end > self._now():
            return None
        return _denied("binding_stale", request, f"expired at {rfc3339(end)}")


def _mock(request: MintRequest) -> Binding:
    """Return fake values under the same names (Spec 01 section 3, mock); they are nobody's secret."""
    file = request.file
    if file is not None:
        name, content, variable = file
        file = (name, filled(content, _Fake(f"mock-{variable}")), variable)
    return Binding("mock", env={variable: f"mock-{variable}" for variable in request.env}, file=file)


class _Fake(dict[str, str]):
    """Gives one value for every name."""

    def __init__(self, value: str) -> None:
        super().__init__()
        self._value = value

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        return self._value


def _delivered(request: MintRequest, minted: Minted, credential_id: str) -> Binding | Denial:
    unknown = _unknown_name(request, minted.values)
    if unknown is not None:
        return unknown
    env = {variable: filled(template, minted.values) for variable, template in request.env.items()}
    for variable, value in env.items():
        if "\0" in value:
            return _denied("binding_forbidden", request, f"the value of {variable} would hold a NUL")
    file = request.file
    if file is not None:
        name, content, variable = file
        file = (name, filled(content, minted.values), variable)
    return Binding(
        request.family,
        env=env,
        file=file,
        secrets=minted.secrets,
        credential_id=credential_id,
        expires_at=minted.expires_at,
    )


def _unknown_name(request: MintRequest, values: Mapping[str, str]) -> Denial | None:
    """Deny a template that asks for what the minter does not give: nothing is handed over half filled."""
    templates = dict(request.env)
    if request.file is not None:
        templates[request.file[2]] = request.file[1]
    for variable, template in templates.items():
        try:
            filled(template, values)
        except UnknownName as unknown:
            known = ", ".join(values)
            return _denied(
                "binding_forbidden",
                request,
                f"{variable} asks for {unknown.name}, and this credential gives only {known}",
                f"change the template of {variable} under binding in the pack's pack.yaml",
            )
    return None


def _not_connected(request: MintRequest) -> Denial:
    return deny("binding_missing", family=request.family, pack_id=request.pack_id)


def _no_minter(request: MintRequest, kind: str) -> Denial:
    return _denied("binding_forbidden", request, f"no minter here knows credentials of the kind {kind}")


def _denied(code: str, request: MintRequest, why: str, hint: str | None = None) -> Denial:
    return deny(code, hint=hint, family=request.family, pack_id=request.pack_id, why=why)
