"""The runtime: one open store and the pipeline on it, as every face sees it."""

from __future__ import annotations

from hcpx.pipeline.outlook import Explanation
from hcpx.ports import StoreUnavailable
from hcpx.settings import BadSettings, Settings, read_settings
from hcpx.store.errors import Exists, NotFound, Refused, StoreMissing

from .runtime import Runtime

__all__ = [
    "BadSettings",
    "Exists",
    "Explanation",
    "NotFound",
    "Refused",
    "Runtime",
    "Settings",
    "StoreMissing",
    "StoreUnavailable",
    "read_settings",
]
