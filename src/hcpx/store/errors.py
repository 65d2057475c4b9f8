"""What an owner's command can end with; the messages are for people."""

from __future__ import annotations

from hcpx.ports import StoreUnavailable


class NotFound(Exception):
    """What was named is not there."""


class Exists(Exception):
    """What was to be made is there already."""


class Refused(Exception):
    """What was to be stored is against the rules; nothing has changed."""


class StoreMissing(StoreUnavailable):
    """There is no store here yet."""


class StoreDamaged(StoreUnavailable):
    """The store's file is not what was written; it was left as it is."""
