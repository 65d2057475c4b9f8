"""What `hcpx doctor` looks at: each check says what holds, and the one command that would mend it.

No check names a host path or another tenant, nor counts what tenants have, since sessions without any grant may ask
(Spec 02 section 5).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

import msgspec

from hcpx.audit.verify import verify_all
from hcpx.audit.views import AuditViews
from hcpx.packs.bootstrap.handlers import Check
from hcpx.pipeline.trail import timestamp
from hcpx.ports import StoreUnavailable
from hcpx.settings import read_settings

from .clock import SystemClock

if TYPE_CHECKING:
    from .parts import Parts

Look = Callable[["Parts"], Check | Sequence[Check]]

_EARLIEST: Final = 1_735_689_600
"""2025-01-01: a clock before that was never set."""
_SKEW_S: Final = 60.0
_RECENT = 10_000
"""How many records of each chain are checked: anybody with a session may ask, however long the audit is."""


def checks(parts: Parts) -> Sequence[Check]:
    """Run every check; one that cannot be run has failed."""
    return [check for name, look in _CHECKS.items() for check in _checked(name, look, parts)]


def without_store(*, missing: bool, why: str) -> dict[str, object]:
    """Return what doctor says where no store opens: what can be looked at without one. For its owner alone.

    A store that is `missing` is no fault: the first change makes it.
    """
    settings = read_settings()
    found = [
        Check("store", ok=missing, detail=f"{why}; the first change makes it" if missing else why),
        _searched(settings.path),
        _timed(SystemClock().now()),
    ]
    return {"ok": all(one.ok for one in found), "checks": [msgspec.to_builtins(one) for one in found]}


def _checked(name: str, look: Look, parts: Parts) -> Sequence[Check]:
    try:
        found = look(parts)
    except (StoreUnavailable, OSError):
        return [Check(name, ok=False, detail="cannot be looked at", fix="run hcpx doctor as the store's owner")]
    return [found] if isinstance(found, Check) else found


def _store(parts: Parts) -> Check:
    return Check("store", ok=True, detail=f"opens, schema {parts.database.schema()}")


def _audit(parts: Parts) -> Check:
    if any(verdict.broken is not None for verdict in verify_all(parts.chains, _RECENT)):
        return Check("audit", ok=False, detail="a chain is broken", fix="hcpx audit verify")
    return Check("audit", ok=True, detail="the newest records hold; hcpx audit verify reads all")


def _outcomes(parts: Parts) -> Check:
    if AuditViews(parts.chains, parts.intents, parts.processes).unknown():
        detail = "of some calls nobody knows how they ended"
        return Check("outcomes", ok=False, detail=detail, fix="hcpx audit list --outcome unknown")
    return Check("outcomes", ok=True, detail="every call that began has ended or still runs")


def _sandbox(parts: Parts) -> Sequence[Check]:
    from hcpx.adapters.assembly import sandbox_facts

    facts = sandbox_facts(parts.sandbox_mode, parts.state)
    return [Check(fact.name, ok=fact.ok, detail=fact.detail, fix=fact.fix or None) for fact in facts]


def _vault(parts: Parts) -> Check:
    status = parts.vault.status()
    if status.problem is not None:
        return Check("vault", ok=False, detail="its key cannot be had", fix="hcpx vault status")
    return Check("vault", ok=True, detail="its key can be had; what it keeps is encrypted")


def _search_path(parts: Parts) -> Check:
    return _searched(parts.settings.path)


def _searched(path: str) -> Check:
    bad = [folder for folder in path.split(":") if not _is_safe(folder)]
    if bad:
        detail = f"{len(bad)} folder(s) of the search path can be written by anybody"
        return Check("search path", ok=False, detail=detail, fix="chmod o-w those folders")
    return Check(
        "search path",
        ok=True,
        detail=f"{len(path.split(':'))} folders, none writable by anybody",
    )


def _is_safe(folder: str) -> bool:
    try:
        return not os.stat(folder).st_mode & 0o002
    except FileNotFoundError:
        return True


def _clock(parts: Parts) -> Check:
    now = parts.clock.now()
    latest = timestamp(now + _SKEW_S)
    for tenant in parts.chains.tenants():
        with parts.chains.backward(tenant) as records:
            behind = any(record.at > latest for record in islice(records, _RECENT))
        if behind:
            detail = "the clock is behind newer records of the audit: what was made to end may not count"
            return Check("clock", ok=False, detail=detail, fix="set the clock of this machine")
    return _timed(now)


def _timed(now: float) -> Check:
    if now < _EARLIEST:
        return Check("clock", ok=False, detail="the clock was never set", fix="set the clock of this machine")
    return Check("clock", ok=True, detail="is set")


_CHECKS: Final[dict[str, Look]] = {
    "store": _store,
    "audit": _audit,
    "outcomes": _outcomes,
    "sandbox": _sandbox,
    "vault": _vault,
    "search path": _search_path,
    "clock": _clock,
}
