"""The evidence that each step hands to the next: a later step cannot be called without the earlier one's.

Each type is constructed in its own step's module only; a test sees to that.
"""

from __future__ import annotations

import msgspec

from hcpx.ports import Call, KeyUse, Replay
from hcpx.rendering.command import CompiledCommand
from hcpx.vocabulary.binding import Binding
from hcpx.vocabulary.envelope import Envelope
from hcpx.vocabulary.invocation import OpenDirectory, Ran, Target


class Resolved(msgspec.Struct, frozen=True):
    """Step 1: the pack exists in this tenant, is active on this session, and the command has a row."""

    call: Call
    envelope: Envelope
    target: Target
    compiled: CompiledCommand


class Authenticated(msgspec.Struct, frozen=True):
    """Step 2: what the row's land and the workspace need is in scope; a project's directory is open."""

    resolved: Resolved
    directory: OpenDirectory | None


class Permitted(msgspec.Struct, frozen=True):
    """Step 3: a grant covers the call, and so does the session's scope."""

    resolved: Resolved
    directory: OpenDirectory | None


class Confirmed(msgspec.Struct, frozen=True):
    """Step 4: agreed to, args valid, argv rendered, key free, approvals live."""

    resolved: Resolved
    directory: OpenDirectory | None
    argv: tuple[str, ...]
    key: KeyUse | None
    approval_ids: tuple[str, ...]
    warnings: tuple[str, ...]


class Replayed(msgspec.Struct, frozen=True):
    """Step 4, the other way out: this write happened already under its idempotency key."""

    resolved: Resolved
    replay: Replay
    warnings: tuple[str, ...]


class Intended(msgspec.Struct, frozen=True):
    """Step 5, before the mint: the intent is durable where one is owed."""

    confirmed: Confirmed
    durable: bool


class Bound(msgspec.Struct, frozen=True):
    """Step 5: the Binding is minted."""

    intended: Intended
    binding: Binding


class Outcome(msgspec.Struct, frozen=True):
    """Step 6: how the Adapter's run ended."""

    bound: Bound
    ran: Ran
