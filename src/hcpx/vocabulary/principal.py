"""Who a call is made for: ids, sessions, projects (Spec 01 section 1)."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from .capability import Grant

_PRINCIPAL: Final = re.compile(r"[a-z]+:[A-Za-z0-9][A-Za-z0-9._@-]*")
_SLUG: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_VERB: Final = r"[a-z0-9][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*)*"
_RESERVED: Final = frozenset({"null", "none", "true", "false"})
MAX_SLUG: Final = 64
MAX_PRINCIPAL: Final = 256
MAX_VERB: Final = 128


def is_principal_id(text: str) -> bool:
    """Tell whether `text` is `kind:name` as Spec 01 section 1 writes principals and actors."""
    return len(text) <= MAX_PRINCIPAL and _PRINCIPAL.fullmatch(text) is not None


def is_pack_id(text: str) -> bool:
    """Tell whether `text` is a pack id (Spec 02 section 1)."""
    return len(text) <= MAX_SLUG and _SLUG.fullmatch(text) is not None


def is_verb_key(text: str) -> bool:
    """Tell whether `text` is a `verb_key` (Spec 02 section 1)."""
    return len(text) <= MAX_VERB and re.fullmatch(_VERB, text) is not None


def is_scope_id(text: str) -> bool:
    """Tell whether `text` is a tenant's or project's id: like a pack id, but no word of YAML's or JSON's."""
    return is_pack_id(text) and text not in _RESERVED


class Project(msgspec.Struct, frozen=True):
    """A directory that the store's owner registered under an id."""

    id: str
    directory: str


class Session(msgspec.Struct, frozen=True):
    """A live session: everything that later steps may know of the caller (Spec 01 section 1).

    `activations` maps pack ids to the digest they were activated with; `scope` is None where the session
    is not narrowed, and an empty scope allows nothing. `owner` is true for the session of the store's owner.
    """

    id: str
    tenant: str
    principal: str
    actor: str | None = None
    project: Project | None = None
    activations: dict[str, str] = {}
    scope: tuple[Grant, ...] | None = None
    expires_at: float | None = None
    owner: bool = False
