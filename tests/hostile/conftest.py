from __future__ import annotations

from tests.field_troubles.conftest import site

__all__ = ["site"]
