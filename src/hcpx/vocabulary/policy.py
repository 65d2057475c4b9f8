"""Policy rows: what a command demands (Spec 02 section 1), and overlays that can only tighten one."""

from __future__ import annotations

from typing import Literal

import msgspec

Operation = Literal["read", "write", "connect"]
Family = Literal["public", "user", "local", "mothership"]
Land = Literal["none", "local", "brain"]


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """Bounds of one run (Spec 04 section 3); sizes in bytes or MiB by name, times in seconds."""

    timeout_s: float = 60
    output_bytes: int = 8 * 1024 * 1024
    memory_mb: int = 1024
    processes: int = 256
    files: int = 1024
    file_mb: int = 1024
    concurrency: int = 16
    asked: tuple[str, ...] = ()
    """The limits that a Policy row or the operator set, by name: enforced, or the call is refused."""


class PolicyRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """The effective row of one command.

    `everyone` marks commands that any live session may call (only the bootstrap pack has them);
    `forbidden` and `args_schema` (JSON Schema texts) come from the tenant's overlay.
    """

    operation: Operation
    confirm: bool = False
    approvals: int = 0
    binding: Family = "public"
    land: Land = "none"
    limits: Limits = Limits()
    idempotent: bool = False
    everyone: bool = False
    forbidden: bool = False
    args_schema: tuple[str, ...] = ()


class Overlay(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an operator adds to a row for a tenant: never less than the pack asks for.

    `args_schema` is one JSON Schema text, or several that must all be met.
    """

    confirm: bool = False
    approvals: int = 0
    deny: bool = False
    limits: dict[str, float] = {}
    args_schema: str | tuple[str, ...] | None = None

    @property
    def schemas(self) -> tuple[str, ...]:
        """Each schema that the args must meet."""
        return (self.args_schema,) if isinstance(self.args_schema, str) else self.args_schema or ()


def tightened(row: PolicyRow, overlay: Overlay | None) -> PolicyRow:
    """Return the row with the overlay on it; every part ends at the stricter of the two."""
    if overlay is None:
        return row
    lower = {
        name: min(value, getattr(row.limits, name))
        if name == "timeout_s"
        else int(min(value, getattr(row.limits, name)))
        for name, value in overlay.limits.items()
    }
    asked = tuple(sorted({*row.limits.asked, *overlay.limits}))
    limits = msgspec.structs.replace(row.limits, **lower, asked=asked) if lower else row.limits
    return msgspec.structs.replace(
        row,
        confirm=row.confirm or overlay.confirm,
        approvals=max(row.approvals, overlay.approvals),
        forbidden=row.forbidden or overlay.deny,
        limits=limits,
        args_schema=(*row.args_schema, *overlay.schemas),
    )
