"""Settings of all tests: a property is judged by what is found, never by how long the machine takes."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("hcpx", deadline=None)
settings.load_profile("hcpx")
