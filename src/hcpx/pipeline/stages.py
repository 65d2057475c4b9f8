"""The evidence that each step hands to the next: a later step cannot be called without the earlier one's.

Each type is constructed in its own step's module only; a test sees to that.
"""

from __future__ import annotations

import msgspec

from hcpx.ports import Call, KeyUse, Replay
from hcpx.vocabulary.binding import Binding
from hcpx.vocabulary.envelope import Envelope
from hcpx.vocabulary.invocation import OpenDirectory, Ran, Target


class Resolved(msgspec.Struct, frozen=True):
    """Step 1: the pack exists in this tenant, is active on this session, and the command has a row."""

    call: Call
    envelope: Envelope
    target: Target
    invoker: str
    audit_id: str


class Authenticated(msgspec.Struct, frozen=True):
    """Step 2: what the row's land and workspace need is in scope; the working directory is open."""

    resolved: Resolved
    directory: OpenDirectory | None


class Permitted(msgspec.Struct, frozen=True):
    """Step 3: a grant covers the call."""

    authenticated: Authenticated
    resolved: Resolved


class Confirmed(msgspec.Struct, frozen=True):
    """Step 4: agreed to, args valid, argv rendered, approvals live, key free."""

    permitted: Permitted
    resolved: Resolved
    argv: tuple[str, ...]
    approval_ids: tuple[str, ...] = ()
    key: KeyUse | None = None
    warnings: tuple[str, ...] = ()


class Replayed(msgspec.Struct, frozen=True):
    """Step 4, the other way out: the same write happened already under this idempotency key."""

    resolved: Resolved
    replay: Replay
    warnings: tuple[str, ...] = ()


class Bound(msgspec.Struct, frozen=True):
    """Step 5: the intent is durable where one is owed, and the Binding is minted."""

    confirmed: Confirmed
    resolved: Resolved
    binding: Binding
    intended: bool


class Outcome(msgspec.Struct, frozen=True):
    """Step 6: the Adapter started something, and this is how it ended."""

    bound: Bound
    resolved: Resolved
    ran: Ran
