"""The runtime: one open store and the pipeline on it, as every face sees it."""

from __future__ import annotations

from hcpx.pipeline.outlook import Explanation
from hcpx.ports import StoreUnavailable
from hcpx.settings import BadSettings

from .runtime import Runtime

__all__ = ["BadSettings", "Explanation", "Runtime", "StoreUnavailable"]
